-- Integrations, their installations, and the ids by which scripts find them.

CREATE TABLE integrations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,             -- unique on the server
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  version INTEGER NOT NULL,              -- incremented with each publication
  runtime TEXT NOT NULL,                 -- v1: a classic script, v2: a module
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  summary TEXT NOT NULL,
  visibility TEXT NOT NULL,              -- public, private, unlisted
  target TEXT NOT NULL,                  -- all, site, space, organization
  has_blocks INTEGER NOT NULL,
  has_content_sources INTEGER NOT NULL,
  manifest TEXT NOT NULL,                -- JSON: scopes, categories, blocks, ...: data that is shown but not queried
  secrets TEXT NOT NULL,                 -- encrypted JSON: secrets that the publisher passes to the scripts
  signing_secret TEXT NOT NULL,          -- encrypted; those of installations are derived from it
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX integrations_by_visibility ON integrations (visibility, name);
CREATE INDEX integrations_by_organization ON integrations (organization_id, name);

-- Tags by which lists of integrations are filtered.
CREATE TABLE integration_tags (
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- category, scope, domain
  value TEXT NOT NULL,
  PRIMARY KEY (integration_id, kind, value)
);

-- Script, icon, and preview images.
CREATE TABLE integration_files (
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  name TEXT NOT NULL,                    -- script, icon, preview-1 to preview-3
  hash TEXT NOT NULL,
  content_type TEXT NOT NULL,
  PRIMARY KEY (integration_id, name)
);
CREATE INDEX integration_files_by_hash ON integration_files (hash);

CREATE TABLE integration_installations (
  id TEXT PRIMARY KEY,
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  -- account as which it acts: a member of the organization
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  status TEXT NOT NULL,                  -- active, pending
  scopes TEXT NOT NULL,                  -- JSON: scopes that the organization agreed to
  space_selection TEXT NOT NULL,         -- all, selected
  site_selection TEXT NOT NULL,
  configuration TEXT NOT NULL,           -- encrypted JSON, in which scripts store credentials
  external_ids TEXT NOT NULL,            -- JSON
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (integration_id, organization_id)
);
CREATE INDEX integration_installations_by_integration ON integration_installations (integration_id, id);
CREATE INDEX integration_installations_by_organization ON integration_installations (organization_id, id);
CREATE INDEX integration_installations_by_user ON integration_installations (user_id);

-- Installation at one of its spaces or sites.
CREATE TABLE integration_places (
  installation_id TEXT NOT NULL REFERENCES integration_installations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- space, site
  place_id TEXT NOT NULL,
  space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,          -- the space or site, by its kind
  site_id TEXT REFERENCES sites(id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  configuration TEXT NOT NULL,           -- encrypted JSON
  external_ids TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (installation_id, kind, place_id)
);
CREATE INDEX integration_places_by_space ON integration_places (space_id);
CREATE INDEX integration_places_by_site ON integration_places (site_id);

-- Ids by which scripts find their installations.
CREATE TABLE integration_external_ids (
  installation_id TEXT NOT NULL REFERENCES integration_installations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- installation, space, site
  place_id TEXT NOT NULL,                -- '' for the installation itself
  space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
  site_id TEXT REFERENCES sites(id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  PRIMARY KEY (installation_id, kind, place_id, external_id)
);
CREATE INDEX integration_external_ids_by_value ON integration_external_ids (external_id, kind);
CREATE INDEX integration_external_ids_by_space ON integration_external_ids (space_id);
CREATE INDEX integration_external_ids_by_site ON integration_external_ids (site_id);
