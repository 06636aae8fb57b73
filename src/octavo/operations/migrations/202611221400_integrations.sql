-- Integrations: what is published, where it is installed, and what its scripts are told.

CREATE TABLE integrations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,             -- in every installation of Octavo of its own
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  version INTEGER NOT NULL,              -- one more with each publishing
  runtime TEXT NOT NULL,                 -- v1: a classic script, v2: a module
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  summary TEXT NOT NULL,
  visibility TEXT NOT NULL,              -- public, private, unlisted
  target TEXT NOT NULL,                  -- all, site, space, organization
  has_blocks INTEGER NOT NULL,
  has_content_sources INTEGER NOT NULL,
  manifest TEXT NOT NULL,                -- JSON: scopes, categories, blocks, ...: what is shown and not asked for
  secrets TEXT NOT NULL,                 -- sealed JSON: what its publisher gives its scripts
  signing_secret TEXT NOT NULL,          -- sealed; those of installations are derived from it
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX integrations_by_visibility ON integrations (visibility, name);
CREATE INDEX integrations_by_organization ON integrations (organization_id, name);

-- What lists of integrations are filtered by.
CREATE TABLE integration_tags (
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- category, scope, domain
  value TEXT NOT NULL,
  PRIMARY KEY (integration_id, kind, value)
);

-- The script, the icon and the preview images.
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
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,   -- whom it acts as: a member of the organization
  status TEXT NOT NULL,                  -- active, pending
  scopes TEXT NOT NULL,                  -- JSON: those that the organization agreed to
  space_selection TEXT NOT NULL,         -- all, selected
  site_selection TEXT NOT NULL,
  configuration TEXT NOT NULL,           -- sealed JSON: scripts keep their credentials in it
  external_ids TEXT NOT NULL,            -- JSON
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (integration_id, organization_id)
);
CREATE INDEX integration_installations_by_integration ON integration_installations (integration_id, id);
CREATE INDEX integration_installations_by_organization ON integration_installations (organization_id, id);
CREATE INDEX integration_installations_by_user ON integration_installations (user_id);

-- An installation at one of its spaces or sites.
CREATE TABLE integration_places (
  installation_id TEXT NOT NULL REFERENCES integration_installations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- space, site
  place_id TEXT NOT NULL,
  space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,          -- the same, by its kind
  site_id TEXT REFERENCES sites(id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  configuration TEXT NOT NULL,           -- sealed JSON
  external_ids TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (installation_id, kind, place_id)
);
CREATE INDEX integration_places_by_space ON integration_places (space_id);
CREATE INDEX integration_places_by_site ON integration_places (site_id);

-- The ids that scripts find their installations by.
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
