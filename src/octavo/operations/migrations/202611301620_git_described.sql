-- Up to which sequence of main the commits of the repository say who edited what; only while the space is ahead of it.
ALTER TABLE git_syncs ADD COLUMN described BIGINT;
