-- The token, sealed, that an import over an API reads with, until the import is over.
ALTER TABLE import_runs ADD COLUMN secret TEXT;
