-- seen: where the branch was when the sync stopped, as in git_syncs: a decision is about that.
ALTER TABLE git_projects ADD COLUMN seen TEXT;
