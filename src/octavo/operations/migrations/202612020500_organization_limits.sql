-- Limits that server administrators set for organizations. NULL means unlimited.
CREATE TABLE organization_limits (
  organization_id TEXT PRIMARY KEY REFERENCES organizations(id) ON DELETE CASCADE,
  members BIGINT,
  agents BIGINT,
  pages BIGINT,
  storage BIGINT,                        -- bytes of files
  requests BIGINT,                       -- per minute
  warned TEXT NOT NULL DEFAULT '[]'      -- JSON: the resources for which administrators were warned
);

-- The use of each day, as of its last measurement.
CREATE TABLE organization_usage (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  day TEXT NOT NULL,                     -- such as 2026-11-28
  members BIGINT NOT NULL,
  agents BIGINT NOT NULL,
  pages BIGINT NOT NULL,
  storage BIGINT NOT NULL,
  PRIMARY KEY (organization_id, day)
);
