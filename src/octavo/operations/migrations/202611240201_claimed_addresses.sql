-- Host names, and hosts and paths of proxies, that sites requested and that are not verified yet.

ALTER TABLE sites ADD COLUMN claimed_hostname TEXT;
ALTER TABLE sites ADD COLUMN claimed_proxy TEXT;
CREATE INDEX sites_by_claimed_hostname ON sites (claimed_hostname) WHERE claimed_hostname IS NOT NULL;

-- Organizations whose site locations are trusted by the operator; the first one is the operator's own.

CREATE TABLE trusted_organizations (
  organization_id TEXT PRIMARY KEY REFERENCES organizations(id) ON DELETE CASCADE
);
INSERT INTO trusted_organizations (organization_id) SELECT id FROM organizations ORDER BY id LIMIT 1;
