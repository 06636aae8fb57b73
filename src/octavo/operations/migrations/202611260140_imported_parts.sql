-- Earlier run of the same source, folder of the imported files, and counts of the changes.
ALTER TABLE import_runs ADD COLUMN origin TEXT;
ALTER TABLE import_runs ADD COLUMN folder TEXT;
ALTER TABLE import_runs ADD COLUMN changes TEXT;
CREATE INDEX import_runs_by_origin ON import_runs (origin, id);

-- Results of a run: differences from them in the space are edits by people.
CREATE TABLE imported_parts (
  run_id TEXT NOT NULL REFERENCES import_runs(id) ON DELETE CASCADE,
  part_id TEXT NOT NULL,                 -- id of the page or item
  written TEXT NOT NULL,                 -- JSON: {page or item, slug}
  body TEXT,                             -- hash of its text
  file TEXT,                             -- hash of its bytes
  PRIMARY KEY (run_id, part_id)
);
CREATE INDEX imported_parts_by_body ON imported_parts (body);
CREATE INDEX imported_parts_by_file ON imported_parts (file);
