-- Numbers of repositories at providers, which clients of the public API send and expect. Once connected, the row is
-- kept for it, without the token.
ALTER TABLE git_installations ADD COLUMN repository_id BIGINT;
