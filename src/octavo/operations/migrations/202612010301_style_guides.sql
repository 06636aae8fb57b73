-- Style guides: spaces whose pages are writing rules, which sites refer to.
ALTER TABLE spaces ADD COLUMN type TEXT;  -- styleguide; NULL: content
CREATE INDEX spaces_by_type ON spaces (organization_id, type);
ALTER TABLE sites ADD COLUMN styleguide_id TEXT REFERENCES spaces(id) ON DELETE SET NULL;
CREATE INDEX sites_by_styleguide ON sites (styleguide_id);

-- Checks of spaces against a style guide, each with the change requests that it created.
CREATE TABLE styleguide_runs (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  styleguide_id TEXT NOT NULL,
  spaces TEXT NOT NULL,                  -- JSON array of IDs
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX styleguide_runs_by_site ON styleguide_runs (site_id, id);
CREATE TABLE styleguide_run_changes (
  run_id TEXT NOT NULL REFERENCES styleguide_runs(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL,
  change_id TEXT NOT NULL REFERENCES change_requests(id) ON DELETE CASCADE,
  PRIMARY KEY (run_id, change_id)
);
CREATE INDEX styleguide_run_changes_by_change ON styleguide_run_changes (change_id);
CREATE INDEX styleguide_run_changes_by_space ON styleguide_run_changes (space_id);
