-- Apps that have registered before a person connects them.
CREATE TABLE agent_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirects TEXT NOT NULL,               -- JSON array of URLs
  created_at BIGINT NOT NULL
);
CREATE INDEX agent_clients_by_age ON agent_clients (created_at);

-- Agent that a person allows to work in an organization on their behalf.
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,                  -- JSON array
  access_hash TEXT NOT NULL UNIQUE,      -- SHA-256 of the secret, which has full entropy
  access_until BIGINT NOT NULL,
  refresh_hash TEXT NOT NULL UNIQUE,
  former_refresh_hash TEXT,              -- previous refresh token: reuse means that it was stolen
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX agents_by_user ON agents (user_id, id);
CREATE INDEX agents_by_organization ON agents (organization_id, id);
CREATE INDEX agents_by_former_refresh ON agents (former_refresh_hash);

CREATE TABLE agent_codes (
  hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  redirect TEXT NOT NULL,
  challenge TEXT NOT NULL,
  scopes TEXT NOT NULL,                  -- JSON array
  agent_until BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  agent_id TEXT                          -- agent created from the code, which is then used up
);
CREATE INDEX agent_codes_by_end ON agent_codes (expires_at);

-- Actions of agents, so that they can be listed and undone.
CREATE TABLE agent_acts (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
  operation TEXT NOT NULL,
  space_id TEXT,
  change_request_id TEXT,
  object_id TEXT,                        -- comment, reply, review, or revision that it created
  parent_id TEXT,                        -- parent comment of a reply
  pages INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  undone_at BIGINT
);
CREATE INDEX agent_acts_by_agent ON agent_acts (agent_id, id);
CREATE INDEX agent_acts_by_time ON agent_acts (agent_id, created_at);
