-- The key that a space's commits are signed with: sealed, and its public part as OpenSSH writes it.
ALTER TABLE git_syncs ADD COLUMN signing_secret TEXT;
ALTER TABLE git_syncs ADD COLUMN signing_key TEXT;
