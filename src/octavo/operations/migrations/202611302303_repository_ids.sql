-- Providers name repositories by number as well, which clients of the public API give and expect back. Once connected,
-- the row stays beside the sync for it, without the token.
ALTER TABLE git_installations ADD COLUMN repository_id BIGINT;
