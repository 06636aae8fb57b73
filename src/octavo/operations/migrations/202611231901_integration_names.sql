-- Names of integrations belong to the organization that first published one with the name.

CREATE TABLE integration_names (
  name TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE
);
CREATE INDEX integration_names_by_organization ON integration_names (organization_id);
INSERT INTO integration_names (name, organization_id) SELECT name, organization_id FROM integrations;
