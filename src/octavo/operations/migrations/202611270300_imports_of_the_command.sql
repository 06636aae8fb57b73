-- Identity of the source of an import by the command, a hash of its location, for finding it again.
ALTER TABLE import_runs ADD COLUMN identity TEXT;
CREATE INDEX import_runs_by_identity ON import_runs (organization_id, identity, id) WHERE identity IS NOT NULL;
