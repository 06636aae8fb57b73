-- Which run a run brings the newer state of, the folder its files are in, and what it changed.
ALTER TABLE import_runs ADD COLUMN origin TEXT;
ALTER TABLE import_runs ADD COLUMN folder TEXT;
ALTER TABLE import_runs ADD COLUMN changes TEXT;
CREATE INDEX import_runs_by_origin ON import_runs (origin, id);

-- What a run made of its source: what the space differs from it in was changed by people.
CREATE TABLE imported_parts (
  run_id TEXT NOT NULL REFERENCES import_runs(id) ON DELETE CASCADE,
  part_id TEXT NOT NULL,                 -- of a page or item
  written TEXT NOT NULL,                 -- JSON: {page or item, slug}
  body TEXT,                             -- hash of its text
  file TEXT,                             -- hash of its bytes
  PRIMARY KEY (run_id, part_id)
);
CREATE INDEX imported_parts_by_body ON imported_parts (body);
CREATE INDEX imported_parts_by_file ON imported_parts (file);
