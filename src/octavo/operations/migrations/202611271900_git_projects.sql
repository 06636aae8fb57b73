-- Branch with which several spaces are synced, each in a separate folder: the spaces of a collection, or of a site with
-- its docs.yaml. id: the collection or site. folder: the folder that contains theirs, empty or ending in a slash.
-- agreed: JSON, the last common state of folders and site structure. problems: JSON, the problems of the last run. All
-- other columns are as in git_syncs, where each space has its own row with a copy of these settings.
CREATE TABLE git_projects (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  collection_id TEXT UNIQUE REFERENCES collections(id) ON DELETE CASCADE,
  site_id TEXT UNIQUE REFERENCES sites(id) ON DELETE CASCADE,
  remote TEXT NOT NULL,
  branch TEXT NOT NULL,
  folder TEXT NOT NULL,
  provider TEXT NOT NULL,
  direction TEXT NOT NULL,
  secret TEXT,
  credential TEXT,
  public_key TEXT,
  signing_secret TEXT,
  signing_key TEXT,
  host_key TEXT,
  hook_secret TEXT NOT NULL,
  hooked_at BIGINT,
  message TEXT NOT NULL,
  statuses INTEGER NOT NULL,
  pulls INTEGER NOT NULL,
  pattern TEXT,
  poll BIGINT NOT NULL,
  user_id TEXT NOT NULL,
  commit_id TEXT,
  agreed TEXT,
  problems TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL,
  reason TEXT,
  error TEXT,
  first TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  held_until BIGINT,
  next_at BIGINT,
  synced_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX git_projects_by_time ON git_projects (next_at);
CREATE INDEX git_projects_by_organization ON git_projects (organization_id);

-- project: the collection or site whose sync includes the space. was: folder of its files at commit_id, if they were
-- moved.
ALTER TABLE git_syncs ADD COLUMN project TEXT REFERENCES git_projects(id) ON DELETE CASCADE;
ALTER TABLE git_syncs ADD COLUMN was TEXT;
CREATE INDEX git_syncs_by_project ON git_syncs (project);
