-- Connections through the app that the server administrator registered at GitHub or GitLab. The column secret then has
-- the tokens of a person (GitHub: only until a repository is connected).
ALTER TABLE git_installations ADD COLUMN collection_id TEXT REFERENCES collections(id) ON DELETE CASCADE;
ALTER TABLE git_installations ADD COLUMN authorized_by TEXT;     -- the person who signed in at the provider
ALTER TABLE git_installations ADD COLUMN account BIGINT;         -- id of the app's installation at GitHub
ALTER TABLE git_installations ADD COLUMN renewing_until BIGINT;  -- until when a process renews the tokens
CREATE INDEX git_installations_by_account ON git_installations (account, repository_id);
CREATE INDEX git_installations_by_collection ON git_installations (collection_id);
