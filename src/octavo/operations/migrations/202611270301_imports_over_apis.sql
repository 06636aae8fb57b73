-- Encrypted token for an import over an API, until the import ends.
ALTER TABLE import_runs ADD COLUMN secret TEXT;
