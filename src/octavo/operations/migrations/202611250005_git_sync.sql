-- A space and a branch of a Git repository that stay in step. folder: in the repository, empty or ending in a slash.
-- direction: both, import (the repository says), export (the space says). secret, hook_secret: sealed. commit_id and
-- revision: what was synced last, on either side; what of the revision the repository has not yet is in git_ahead.
-- pushing, pushing_revision: the commit on its way, made of a revision. status: waiting, running, synced, failed, stopped.
-- reason: why not. first: what the first sync does, or the next one after somebody's decision.
-- seen: where the branch was when the sync stopped. holder: the job that runs; held_until: when another may take over. Moments in milliseconds.
CREATE TABLE git_syncs (
  space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
  remote TEXT NOT NULL,
  branch TEXT NOT NULL,
  folder TEXT NOT NULL,
  provider TEXT NOT NULL,
  direction TEXT NOT NULL,
  integration TEXT,
  tree_url TEXT,
  commit_url TEXT,
  secret TEXT,
  credential TEXT,
  public_key TEXT,
  host_key TEXT,
  hook_secret TEXT NOT NULL,
  hooked_at BIGINT,
  message TEXT NOT NULL,
  poll BIGINT NOT NULL,
  user_id TEXT NOT NULL,
  commit_id TEXT,
  revision TEXT,
  pushing TEXT,
  pushing_revision TEXT,
  status TEXT NOT NULL,
  reason TEXT,
  error TEXT,
  first TEXT,
  seen TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  holder TEXT,
  held_until BIGINT,
  next_at BIGINT,
  synced_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX git_syncs_by_time ON git_syncs (next_at);

-- Pages and items that the space has otherwise than the repository, as the repository has them. value: JSON, null for what
-- it has not. content: the hash of its text or bytes.
CREATE TABLE git_ahead (
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  object_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (space_id, object_id)
);
CREATE INDEX git_ahead_by_content ON git_ahead (content);

-- What Git calls the texts and bytes that were synced.
CREATE TABLE git_blobs (
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  oid TEXT NOT NULL,
  PRIMARY KEY (space_id, content)
);

-- What each sync did. problems: JSON. change_id: the change request that holds its conflicts.
CREATE TABLE git_runs (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  cause TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  commit_id TEXT,
  pushed TEXT,
  revision TEXT,
  change_id TEXT,
  imported INTEGER NOT NULL DEFAULT 0,
  exported INTEGER NOT NULL DEFAULT 0,
  conflicts INTEGER NOT NULL DEFAULT 0,
  problems TEXT NOT NULL DEFAULT '[]',
  reason TEXT,
  error TEXT
);
CREATE INDEX git_runs_by_space ON git_runs (space_id, id);
