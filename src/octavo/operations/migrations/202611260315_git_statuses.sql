-- Whether the result of each commit is reported to the Git provider (0 or 1).
ALTER TABLE git_syncs ADD COLUMN statuses INTEGER NOT NULL DEFAULT 0;
