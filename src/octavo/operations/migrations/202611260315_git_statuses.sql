-- Whether hosters are told what became of each commit (0 or 1).
ALTER TABLE git_syncs ADD COLUMN statuses INTEGER NOT NULL DEFAULT 0;
