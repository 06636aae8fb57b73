-- Sign-in with a password that an LDAP directory checks.
-- missing: the directory no longer has the person, or has disabled them, since the last synchronization.
-- deactivated: synchronization deactivated the account, and activates it once the person is back.
ALTER TABLE external_identities ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE external_identities ADD COLUMN deactivated INTEGER NOT NULL DEFAULT 0;

CREATE TABLE directory_groups (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  team_id TEXT NOT NULL REFERENCES teams(id) ON DELETE CASCADE,
  PRIMARY KEY (organization_id, subject)
);
CREATE INDEX directory_groups_by_team ON directory_groups (team_id);
