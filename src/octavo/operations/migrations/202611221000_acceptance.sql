-- Whether a person joined voluntarily or with an account that the organization created. The identity provider of an
-- organization vouches only for these. For existing members, this is only known if they have already used the provider.
ALTER TABLE members ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
UPDATE members SET accepted = 1
  WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = members.user_id AND u.managed_by = members.organization_id)
     OR EXISTS (SELECT 1 FROM external_identities e JOIN saml_providers p ON p.id = e.provider
                WHERE e.user_id = members.user_id AND p.organization_id = members.organization_id);

-- 1: responses without a request are also accepted; a page asks the person for confirmation before a session starts.
ALTER TABLE saml_providers ADD COLUMN idp_initiated INTEGER NOT NULL DEFAULT 0;

-- standing: created by a directory. The invitation does not expire and can only be accepted by the account with its
-- email address.
ALTER TABLE invitations ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
CREATE INDEX invitations_by_email ON invitations (email, id);

-- user_id: the account of a resource of the kind 'user'. NULL: the person has an account and has not accepted the
-- invitation; user_name and display_name are then the data sent by the directory, which gets nothing else back.
ALTER TABLE scim_resources ADD COLUMN user_id TEXT REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE scim_resources ADD COLUMN display_name TEXT;
ALTER TABLE scim_resources ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
UPDATE scim_resources SET user_id = id WHERE kind = 'user';
CREATE UNIQUE INDEX scim_resources_by_user ON scim_resources (organization_id, user_id);
CREATE UNIQUE INDEX scim_resources_invited ON scim_resources (organization_id, user_name)
  WHERE kind = 'user' AND user_id IS NULL;

-- Groups that a directory assigned to people who have not accepted yet.
CREATE TABLE scim_invited_members (
  team_id TEXT NOT NULL REFERENCES teams(id) ON DELETE CASCADE,
  resource_id TEXT NOT NULL,
  PRIMARY KEY (team_id, resource_id)
);
CREATE INDEX scim_invited_members_by_resource ON scim_invited_members (resource_id);

-- The secret of a link is encrypted; its row is found by the hash of the secret.
ALTER TABLE invite_links ADD COLUMN secret TEXT;
UPDATE invite_links SET secret = id;
