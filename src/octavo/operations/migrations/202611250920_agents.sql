-- Programs that asked to be known before somebody connects them.
CREATE TABLE agent_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirects TEXT NOT NULL,               -- JSON array of addresses
  created_at BIGINT NOT NULL
);
CREATE INDEX agent_clients_by_age ON agent_clients (created_at);

-- An agent that a person lets work in an organization for them.
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
  former_refresh_hash TEXT,              -- the one before: whoever sends it has stolen it, or was stolen from
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
  agent_id TEXT                          -- whom it was turned into; the code is used up then
);
CREATE INDEX agent_codes_by_end ON agent_codes (expires_at);

-- What an agent did, so that it can be shown and undone.
CREATE TABLE agent_acts (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
  operation TEXT NOT NULL,
  space_id TEXT,
  change_request_id TEXT,
  object_id TEXT,                        -- the comment, reply, review or revision that it made
  parent_id TEXT,                        -- the comment that a reply is below
  pages INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  undone_at BIGINT
);
CREATE INDEX agent_acts_by_agent ON agent_acts (agent_id, id);
CREATE INDEX agent_acts_by_time ON agent_acts (agent_id, created_at);
