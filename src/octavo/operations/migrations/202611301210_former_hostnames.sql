-- Former host names: old links of an organization still work, and no other organization can take these names.
CREATE TABLE organization_former_hostnames (
  hostname TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  given_up_at BIGINT NOT NULL
);
CREATE INDEX organization_former_hostnames_by_organization ON organization_former_hostnames (organization_id);
CREATE TABLE site_former_hostnames (
  hostname TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  given_up_at BIGINT NOT NULL
);
CREATE INDEX site_former_hostnames_by_organization ON site_former_hostnames (organization_id);
