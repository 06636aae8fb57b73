-- Which source an import of the command came from, so that the next one of it is known: a hash of its place.
ALTER TABLE import_runs ADD COLUMN identity TEXT;
CREATE INDEX import_runs_by_identity ON import_runs (organization_id, identity, id) WHERE identity IS NOT NULL;
