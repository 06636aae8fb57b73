-- Which branches of a repository become change requests: those of open pull requests (pulls, 0 or 1), and those whose names
-- fit a pattern. branches_error: why they could not be followed.
ALTER TABLE git_syncs ADD COLUMN pulls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE git_syncs ADD COLUMN pattern TEXT;
ALTER TABLE git_syncs ADD COLUMN branches_error TEXT;
-- How many change requests a run brought into step with their branches.
ALTER TABLE git_runs ADD COLUMN followed INTEGER NOT NULL DEFAULT 0;

-- Branches that a change request is kept in step with. ref: what is fetched. branch: its name where it is in this very
-- repository. pull: the number of its pull request. change_id: NULL for one that changes nothing yet. commit_id: what the
-- change request has of it. checked: the synced commit that it was last looked at beside. pushing: the commit on its way
-- there. pushes: whether edits of the change request are committed to it (0 or 1). status: open, merged, closed.
-- Moments in milliseconds.
CREATE TABLE git_branches (
  space_id TEXT NOT NULL REFERENCES git_syncs(space_id) ON DELETE CASCADE,
  ref TEXT NOT NULL,
  branch TEXT,
  pull TEXT,
  title TEXT NOT NULL,
  url TEXT,
  change_id TEXT,
  commit_id TEXT,
  checked TEXT,
  pushing TEXT,
  pushes INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL,
  error TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (space_id, ref)
);
CREATE INDEX git_branches_by_change ON git_branches (change_id);
