-- Space that is synced with a branch of a Git repository. folder: folder in the repository, empty or ending in a slash.
-- direction: both, import (from the repository), export (from the space). secret, hook_secret: encrypted. commit_id and
-- revision: last synced state on either side; git_ahead has the parts of the revision that the repository does not have
-- yet. pushing, pushing_revision: commit that is being pushed, and the revision it was created from. status: waiting,
-- running, synced, failed, stopped. reason: cause of a failure. first: action of the first sync, or of the next one
-- after a person's decision. seen: commit of the branch when the sync stopped. holder: the running job; held_until:
-- time after which another job can take over. Times are in milliseconds.
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

-- Pages and items that differ from the repository, with the repository's version. value: JSON; NULL if the repository
-- does not have it. content: hash of its text or bytes.
CREATE TABLE git_ahead (
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  object_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (space_id, object_id)
);
CREATE INDEX git_ahead_by_content ON git_ahead (content);

-- Git object ids of synced texts and files.
CREATE TABLE git_blobs (
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  oid TEXT NOT NULL,
  PRIMARY KEY (space_id, content)
);

-- Results of syncs. problems: JSON. change_id: change request with the conflicts.
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
