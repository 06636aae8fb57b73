-- seen: commit of the branch when the sync stopped, as in git_syncs; a decision applies to that commit.
ALTER TABLE git_projects ADD COLUMN seen TEXT;
