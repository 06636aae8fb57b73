-- Agents that visitors let read a site over its MCP server. A row begins with the code that its app turns into a token.
CREATE TABLE site_agents (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  redirect TEXT NOT NULL,
  challenge TEXT NOT NULL,
  preview BIGINT NOT NULL,               -- 1: the proof is the token of a preview
  proof TEXT NOT NULL,                   -- sealed; the token that the visitor signed in with
  code_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the secret, which has full entropy
  code_until BIGINT NOT NULL,
  access_hash TEXT UNIQUE,               -- NULL until the code was used
  access_until BIGINT,
  refresh_hash TEXT UNIQUE,
  former_refresh_hash TEXT,              -- the one before: whoever sends it has stolen it, or was stolen from
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX site_agents_by_site ON site_agents (site_id);
CREATE INDEX site_agents_by_client ON site_agents (client_id);
CREATE INDEX site_agents_by_former_refresh ON site_agents (former_refresh_hash);
CREATE INDEX site_agents_by_end ON site_agents (expires_at);
