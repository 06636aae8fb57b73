-- Teams have owners, who manage their members: role is 'owner' or 'member'.
ALTER TABLE team_members ADD COLUMN role TEXT NOT NULL DEFAULT 'member';

-- A deleted collection is kept as long as the spaces that went to the trash with it: their rights hang on it.
ALTER TABLE collections ADD COLUMN deleted_at BIGINT;
CREATE INDEX collections_deleted ON collections (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX spaces_deleted ON spaces (deleted_at) WHERE deleted_at IS NOT NULL;
-- All that counting the spaces somebody sees looks at.
CREATE INDEX spaces_by_standing ON spaces (organization_id, deleted_at, collection_id, default_level, id);

-- Who did what, when and from where. No references: it outlives what it tells of.
CREATE TABLE audit_events (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  action TEXT NOT NULL,                  -- such as member.updated
  actor_id TEXT,                         -- NULL: the installation itself
  token_id TEXT,                         -- the token or session it was done with
  client TEXT,                           -- the address it came from
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  before_state TEXT,                     -- JSON
  after_state TEXT,                      -- JSON
  created_at BIGINT NOT NULL
);
CREATE INDEX audit_events_by_organization ON audit_events (organization_id, id);
CREATE INDEX audit_events_by_target ON audit_events (organization_id, target_id, id);
-- only: sqlite
CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events
  BEGIN SELECT RAISE(ABORT, 'audit events are never changed'); END;
CREATE TRIGGER audit_events_remain BEFORE DELETE ON audit_events
  BEGIN SELECT RAISE(ABORT, 'audit events are never deleted'); END;
-- What a purged space leaves in the search index goes with its sections.
CREATE TRIGGER search_sections_gone AFTER DELETE ON search_sections
  BEGIN DELETE FROM search_index WHERE rowid = OLD.id; END;
-- end
-- only: postgresql
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'audit events are never changed'; END $$;
CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- end

-- Invitations of one address; the secret in the link is good once. What is to be mailed gets it when it is.
CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT,
  sso INTEGER NOT NULL DEFAULT 0,
  hash TEXT UNIQUE,                      -- SHA-256 of the secret
  mailed INTEGER NOT NULL,               -- whether only who reads the address's mail can know the secret
  invited_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  UNIQUE (organization_id, email)
);

-- Links that whoever has them joins by. The id is the secret. target: 'organization', 'space' or 'collection'.
CREATE TABLE invite_links (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  role TEXT,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX invite_links_by_organization ON invite_links (organization_id, created_at, id);
CREATE INDEX invite_links_by_target ON invite_links (target_type, target_id);

CREATE TABLE fonts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  family TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX fonts_by_organization ON fonts (organization_id, id);

-- The weights of a font, each with its file.
CREATE TABLE font_faces (
  font_id TEXT NOT NULL REFERENCES fonts(id) ON DELETE CASCADE,
  weight INTEGER NOT NULL,
  hash TEXT NOT NULL,
  format TEXT NOT NULL,                  -- woff2, woff
  PRIMARY KEY (font_id, weight)
);
CREATE INDEX font_faces_by_hash ON font_faces (hash);
