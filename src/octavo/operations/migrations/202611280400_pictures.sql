-- Images that an organization uploaded for its sites: logos and icons.
CREATE TABLE pictures (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  type TEXT NOT NULL,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX pictures_by_organization ON pictures (organization_id, id);
CREATE INDEX pictures_by_hash ON pictures (hash);
