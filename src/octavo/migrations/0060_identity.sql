-- How people come in, and what ends when they go.

-- kind: 'person' or 'service'. managed_by: the organization that made this account (through its identity
-- provider, SCIM, or as a service account) and may therefore change its name.
ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person';
ALTER TABLE users ADD COLUMN managed_by TEXT REFERENCES organizations(id) ON DELETE SET NULL;
CREATE INDEX users_by_manager ON users (managed_by, id);

-- NULL: good wherever its user is a member. Otherwise good in this organization alone.
ALTER TABLE tokens ADD COLUMN organization_id TEXT REFERENCES organizations(id) ON DELETE CASCADE;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  organization_id TEXT REFERENCES organizations(id) ON DELETE CASCADE,  -- as tokens.organization_id
  hash TEXT NOT NULL UNIQUE,             -- SHA-256 of the secret
  method TEXT NOT NULL,                  -- password, link, oidc, saml
  client TEXT NOT NULL,                  -- address it began from
  agent TEXT NOT NULL,                   -- user agent it began with
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id, id);
CREATE INDEX sessions_by_organization ON sessions (organization_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Failed or costly tries by hashed key (account, address) and window of time.
CREATE TABLE attempts (
  key TEXT NOT NULL,
  window_start BIGINT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (key, window_start)
);
CREATE INDEX attempts_by_window ON attempts (window_start);

-- Secrets that are good once, for a short time: sign-in links, states of sign-in through a provider.
CREATE TABLE one_time_secrets (
  hash TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  payload TEXT NOT NULL,                 -- JSON
  expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_secrets_by_expiry ON one_time_secrets (expires_at);

CREATE TABLE second_factors (
  user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  secret TEXT NOT NULL,                  -- of TOTP, base32
  confirmed INTEGER NOT NULL DEFAULT 0,
  last_step BIGINT NOT NULL DEFAULT 0,   -- the time step of the last code taken: each is good once
  recovery_hashes TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL
);

CREATE TABLE saml_providers (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  entity_id TEXT NOT NULL DEFAULT '',
  certificate TEXT NOT NULL DEFAULT '',
  sso_url TEXT NOT NULL DEFAULT '',
  default_team TEXT REFERENCES teams(id) ON DELETE SET NULL,
  default_role TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX saml_providers_by_organization ON saml_providers (organization_id, id);

-- Assertions that were taken, until they expire: each is good once.
CREATE TABLE saml_assertions (
  provider_id TEXT NOT NULL REFERENCES saml_providers(id) ON DELETE CASCADE,
  assertion_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (provider_id, assertion_id)
);
CREATE INDEX saml_assertions_by_expiry ON saml_assertions (expires_at);

-- Who somebody is at a provider: a SAML provider's id, or the issuer of OpenID Connect.
CREATE TABLE external_identities (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (provider, subject)
);
CREATE INDEX external_identities_by_user ON external_identities (user_id);

-- What SCIM clients call the members and teams of an organization. kind: 'user' or 'group'.
CREATE TABLE scim_resources (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  external_id TEXT,
  user_name TEXT,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, kind, id)
);
CREATE INDEX scim_resources_by_external_id ON scim_resources (organization_id, kind, external_id);
