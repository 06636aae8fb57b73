-- Key that signs the commits of a space, encrypted, and its public part in the format of OpenSSH.
ALTER TABLE git_syncs ADD COLUMN signing_secret TEXT;
ALTER TABLE git_syncs ADD COLUMN signing_key TEXT;
