-- Sequence of main up to which the authors of edits are named in the commits of the repository; only while the space is
-- ahead of it.
ALTER TABLE git_syncs ADD COLUMN described BIGINT;
