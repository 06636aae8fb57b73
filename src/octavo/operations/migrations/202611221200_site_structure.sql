-- Sections, groups of sections, former URLs, redirects, share links, and other records of sites.

ALTER TABLE sites ADD COLUMN adaptive_schema TEXT;
ALTER TABLE sites ADD COLUMN adaptive_updated_at BIGINT;
ALTER TABLE sites ADD COLUMN customization TEXT;
ALTER TABLE site_spaces ADD COLUMN customization TEXT;

CREATE TABLE site_section_groups (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  parent_id TEXT,
  rank TEXT NOT NULL,
  title TEXT NOT NULL,
  icon TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_section_groups_by_site ON site_section_groups (site_id, rank);

CREATE TABLE site_sections (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  group_id TEXT,
  rank TEXT NOT NULL,
  path TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  icon TEXT,
  condition TEXT,
  is_default INTEGER NOT NULL DEFAULT 0,
  draft INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_sections_by_site ON site_sections (site_id, rank);

-- Former location of a site space before a path or a default changed; visitors are redirected from it.
CREATE TABLE site_former_paths (
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  site_space_id TEXT NOT NULL REFERENCES site_spaces(id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (site_id, path)
);
CREATE INDEX site_former_paths_by_site_space ON site_former_paths (site_space_id);

CREATE TABLE site_former_names (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  basename TEXT NOT NULL,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, basename)
);
CREATE INDEX site_former_names_by_site ON site_former_names (site_id);

CREATE TABLE share_links (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE,
  active INTEGER NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL
);
CREATE INDEX share_links_by_site ON share_links (site_id, id);

CREATE TABLE site_redirects (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  source_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  section_id TEXT REFERENCES site_sections(id) ON DELETE CASCADE,
  site_space_id TEXT REFERENCES site_spaces(id) ON DELETE CASCADE,
  page_id TEXT,
  url TEXT,
  created_at BIGINT NOT NULL,
  UNIQUE (site_id, source_key)
);
CREATE INDEX site_redirects_by_site ON site_redirects (site_id, id);
CREATE INDEX site_redirects_by_section ON site_redirects (section_id);
CREATE INDEX site_redirects_by_site_space ON site_redirects (site_space_id);

CREATE TABLE site_mcp_servers (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  headers TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_mcp_servers_by_site ON site_mcp_servers (site_id, id);
