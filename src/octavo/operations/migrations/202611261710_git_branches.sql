-- Branches of a repository that become change requests: those of open pull requests (pulls, 0 or 1), and those whose
-- names match a pattern. branches_error: reason why they could not be followed.
ALTER TABLE git_syncs ADD COLUMN pulls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE git_syncs ADD COLUMN pattern TEXT;
ALTER TABLE git_syncs ADD COLUMN branches_error TEXT;
-- Number of change requests that a run synced with their branches.
ALTER TABLE git_runs ADD COLUMN followed INTEGER NOT NULL DEFAULT 0;

-- Branches that change requests are synced with. ref: the ref to fetch. branch: its name, if it is in this repository.
-- pull: number of its pull request. change_id: NULL for a branch without changes. commit_id: last commit in the change
-- request. checked: synced commit against which it was last compared. pushing: commit that is being pushed. pushes:
-- whether edits of the change request are committed to it (0 or 1). status: open, merged, closed. Times are in
-- milliseconds.
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
