-- Kind of the source of an import, and the result of a preview.
ALTER TABLE import_runs ADD COLUMN kind TEXT;
ALTER TABLE import_runs ADD COLUMN preview INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import_runs ADD COLUMN plan TEXT;
