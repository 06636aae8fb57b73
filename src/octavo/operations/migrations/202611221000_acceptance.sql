-- Whether somebody joined by themselves, or under an account that the organization made. The identity provider of an
-- organization vouches for nobody else. Of older members that is known only where the provider was used already.
ALTER TABLE members ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
UPDATE members SET accepted = 1
  WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = members.user_id AND u.managed_by = members.organization_id)
     OR EXISTS (SELECT 1 FROM external_identities e JOIN saml_providers p ON p.id = e.provider
                WHERE e.user_id = members.user_id AND p.organization_id = members.organization_id);

-- 1: answers are also taken that nobody asked for; a page asks the person before a session begins.
ALTER TABLE saml_providers ADD COLUMN idp_initiated INTEGER NOT NULL DEFAULT 0;

-- standing: made by a directory. It does not expire, and is taken by the account with its address alone.
ALTER TABLE invitations ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
CREATE INDEX invitations_by_email ON invitations (email, id);

-- user_id: who a resource of the kind 'user' is. NULL: somebody with an account who has not accepted the invitation;
-- user_name and display_name are then what the directory sent, and all it is told.
ALTER TABLE scim_resources ADD COLUMN user_id TEXT REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE scim_resources ADD COLUMN display_name TEXT;
ALTER TABLE scim_resources ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0;
UPDATE scim_resources SET user_id = id WHERE kind = 'user';
CREATE UNIQUE INDEX scim_resources_by_user ON scim_resources (organization_id, user_id);
CREATE UNIQUE INDEX scim_resources_invited ON scim_resources (organization_id, user_name)
  WHERE kind = 'user' AND user_id IS NULL;

-- The groups that a directory put somebody into who has not accepted yet.
CREATE TABLE scim_invited_members (
  team_id TEXT NOT NULL REFERENCES teams(id) ON DELETE CASCADE,
  resource_id TEXT NOT NULL,
  PRIMARY KEY (team_id, resource_id)
);
CREATE INDEX scim_invited_members_by_resource ON scim_invited_members (resource_id);

-- The secret of a link is sealed; its row is known by the secret's hash.
ALTER TABLE invite_links ADD COLUMN secret TEXT;
UPDATE invite_links SET secret = id;
