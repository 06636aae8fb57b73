-- Of which kind the source of an import is, and what a preview found in it.
ALTER TABLE import_runs ADD COLUMN kind TEXT;
ALTER TABLE import_runs ADD COLUMN preview INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import_runs ADD COLUMN plan TEXT;
