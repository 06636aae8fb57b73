-- Files that somebody uploads to be used in a moment: a URL is given first, the bytes come later.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- import_file, customization_font
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size BIGINT NOT NULL,                  -- as announced; not a byte more is taken
  hash TEXT,                             -- of the bytes, once they came
  expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_by_user ON uploads (user_id, organization_id);
CREATE INDEX uploads_by_hash ON uploads (hash);
CREATE INDEX uploads_by_expiry ON uploads (expires_at);

CREATE TABLE import_runs (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  change_id TEXT,                        -- NULL: into main
  page_id TEXT,                          -- below which page
  user_id TEXT NOT NULL,
  source TEXT NOT NULL,                  -- JSON: {type: website, url} or {type: file, files: [upload ids]}
  status TEXT NOT NULL,                  -- pending, in-progress, completed, failed, cancelled
  attempts INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  pages TEXT NOT NULL DEFAULT '[]',      -- JSON: [{id, sourceURL}]
  problems TEXT NOT NULL DEFAULT '[]',   -- JSON: [{path, line, code, message}]
  error TEXT,                            -- why it failed, for its owner
  revision TEXT,                         -- what it made
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  completed_at BIGINT
);
CREATE INDEX import_runs_by_user ON import_runs (organization_id, user_id, id);
CREATE INDEX import_runs_by_space ON import_runs (space_id, id);
