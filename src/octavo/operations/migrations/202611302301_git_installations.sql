-- Connections with a Git provider without a repository yet. Once one is chosen, git_syncs or git_projects has the
-- connection, and this row is deleted. id: the id of the space or site.
CREATE TABLE git_installations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
  site_id TEXT REFERENCES sites(id) ON DELETE CASCADE,
  provider TEXT NOT NULL,                -- github, gitlab
  instance_url TEXT,                     -- URL of a GitLab server; NULL: the provider's own server
  secret TEXT,                           -- the access token, encrypted
  repository TEXT,                       -- path of the repository at the provider
  branch TEXT,
  folder TEXT NOT NULL DEFAULT '',
  message TEXT,
  pulls INTEGER NOT NULL DEFAULT 0,
  user_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX git_installations_by_space ON git_installations (space_id);
CREATE INDEX git_installations_by_site ON git_installations (site_id);
