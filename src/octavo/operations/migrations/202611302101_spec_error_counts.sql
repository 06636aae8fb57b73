-- Number of errors found in a specification, of which only the first are stored.
ALTER TABLE openapi_specs ADD COLUMN error_count INTEGER NOT NULL DEFAULT 0;
