-- Agents that visitors allow to read a site over its MCP server. A row starts with the code that its app exchanges for
-- a token.
CREATE TABLE site_agents (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  redirect TEXT NOT NULL,
  challenge TEXT NOT NULL,
  preview BIGINT NOT NULL,               -- 1: the proof is the token of a preview
  proof TEXT NOT NULL,                   -- encrypted token with which the visitor signed in
  code_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the secret, which has full entropy
  code_until BIGINT NOT NULL,
  access_hash TEXT UNIQUE,               -- NULL until the code is used
  access_until BIGINT,
  refresh_hash TEXT UNIQUE,
  former_refresh_hash TEXT,              -- previous refresh token: reuse means that it was stolen
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX site_agents_by_site ON site_agents (site_id);
CREATE INDEX site_agents_by_client ON site_agents (client_id);
CREATE INDEX site_agents_by_former_refresh ON site_agents (former_refresh_hash);
CREATE INDEX site_agents_by_end ON site_agents (expires_at);
