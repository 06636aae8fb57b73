-- Schema of the first release, package by package. 202611220000_beginning.upgrade.sql upgrades a database that has the
-- earlier migrations, which it lists.
--
-- IDs are 20 characters, times are milliseconds since 1970, and flags are 0 and 1.
--
-- Ids are 20 characters; moments are milliseconds since 1970; flags are 0 and 1.

-- --- access: organizations, people, and their permissions -----------------------------------------------

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  hostname TEXT UNIQUE,
  created_at BIGINT NOT NULL,
  default_role TEXT,
  email_domains TEXT NOT NULL DEFAULT '[]',
  settings TEXT NOT NULL DEFAULT '{}'    -- JSON: settings that are shown but rarely queried
);

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,            -- lowercase
  display_name TEXT NOT NULL,
  photo_url TEXT,
  password_hash TEXT,
  disabled INTEGER NOT NULL DEFAULT 0,
  email_verified INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  kind TEXT NOT NULL DEFAULT 'person',   -- person, service
-- The organization that created this account (through its identity provider, SCIM, or as a service account) and may
-- therefore change its name.
  -- therefore change its name.
  managed_by TEXT REFERENCES organizations(id) ON DELETE SET NULL
);
CREATE INDEX users_by_manager ON users (managed_by, id);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,             -- SHA-256 of the secret, which has full entropy
  hint TEXT NOT NULL,                    -- first characters of the token, to recognize it
  scopes TEXT,                           -- JSON array; NULL: all permissions of its user
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  revoked_at BIGINT,
-- NULL: valid wherever its user is a member; otherwise valid only in this organization.
  organization_id TEXT REFERENCES organizations(id) ON DELETE CASCADE
);
CREATE INDEX tokens_by_user ON tokens (user_id, id);

CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  role TEXT,                             -- NULL: guest
  disabled INTEGER NOT NULL DEFAULT 0,
  sso INTEGER NOT NULL DEFAULT 0,
  joined_at BIGINT NOT NULL,
  last_seen_at BIGINT,
  PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

-- Roles granted at an object, in addition to the role of a member.
CREATE TABLE grants (
  object_type TEXT NOT NULL,             -- space, collection
  object_id TEXT NOT NULL,
  subject_type TEXT NOT NULL,            -- user, team
  subject_id TEXT NOT NULL,
  role TEXT,                             -- NULL: no access
  created_at BIGINT NOT NULL,
  PRIMARY KEY (object_type, object_id, subject_type, subject_id)
);
CREATE INDEX grants_by_subject ON grants (subject_type, subject_id);

-- Audit log: actor, action, time, and client. No foreign keys, because events outlive their targets.
CREATE TABLE audit_events (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  action TEXT NOT NULL,                  -- such as member.updated
  actor_id TEXT,                         -- NULL: the server itself
  token_id TEXT,                         -- the token or session used
  client TEXT,                           -- the IP address of the client
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
-- end
-- only: postgresql
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'audit events are never changed'; END $$;
CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE ON audit_events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
-- end

-- --- orgs: teams ----------------------------------------------------------------------------------------

CREATE TABLE teams (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX teams_by_organization ON teams (organization_id, id);

CREATE TABLE team_members (
  team_id TEXT NOT NULL REFERENCES teams(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  joined_at BIGINT NOT NULL,
  role TEXT NOT NULL DEFAULT 'member',   -- owner, member: owners manage the members
  PRIMARY KEY (team_id, user_id)
);
CREATE INDEX team_members_by_user ON team_members (user_id);

-- --- identity: sign-in ----------------------------------------------------------------------------------

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  organization_id TEXT REFERENCES organizations(id) ON DELETE CASCADE,  -- see tokens.organization_id
  hash TEXT NOT NULL UNIQUE,             -- SHA-256 of the secret
  method TEXT NOT NULL,                  -- password, link, oidc, saml
  client TEXT NOT NULL,                  -- IP address at sign-in
  agent TEXT NOT NULL,                   -- user agent at sign-in
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id, id);
CREATE INDEX sessions_by_organization ON sessions (organization_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Failed or expensive attempts by hashed key (account, IP address) and time window.
CREATE TABLE attempts (
  key TEXT NOT NULL,
  window_start BIGINT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (key, window_start)
);
CREATE INDEX attempts_by_window ON attempts (window_start);

-- Short-lived secrets that can be used once: sign-in links, and states of a sign-in through a provider.
CREATE TABLE one_time_secrets (
  hash TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  payload TEXT NOT NULL,                 -- JSON
  expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_secrets_by_expiry ON one_time_secrets (expires_at);

CREATE TABLE second_factors (
  user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  secret TEXT NOT NULL,                  -- TOTP secret in base32
  confirmed INTEGER NOT NULL DEFAULT 0,
  last_step BIGINT NOT NULL DEFAULT 0,   -- time step of the last accepted code, so that each code is valid once
  recovery_hashes TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL
);

CREATE TABLE saml_providers (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  entity_id TEXT NOT NULL DEFAULT '',
  certificate TEXT NOT NULL DEFAULT '',
  sso_url TEXT NOT NULL DEFAULT '',
  default_team TEXT REFERENCES teams(id) ON DELETE SET NULL,
  default_role TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX saml_providers_by_organization ON saml_providers (organization_id, id);

-- Accepted assertions until they expire, so that each is valid once.
CREATE TABLE saml_assertions (
  provider_id TEXT NOT NULL REFERENCES saml_providers(id) ON DELETE CASCADE,
  assertion_id TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (provider_id, assertion_id)
);
CREATE INDEX saml_assertions_by_expiry ON saml_assertions (expires_at);

-- Identities of users at providers: the id of a SAML provider, or the issuer of OpenID Connect.
CREATE TABLE external_identities (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (provider, subject)
);
CREATE INDEX external_identities_by_user ON external_identities (user_id);

-- --- directory: names that SCIM clients give to the members and teams of an organization ----------------

CREATE TABLE scim_resources (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- user, group
  id TEXT NOT NULL,
  external_id TEXT,
  user_name TEXT,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, kind, id)
);
CREATE INDEX scim_resources_by_external_id ON scim_resources (organization_id, kind, external_id);

-- --- spaces: containers of content ----------------------------------------------------------------------

-- default_level: a role, 'inherit', or NULL for no access by default. A deleted collection is kept as long as spaces
-- that were deleted with it can be restored, because their permissions depend on it.
CREATE TABLE collections (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  parent_id TEXT REFERENCES collections(id),
  rank TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  default_level TEXT DEFAULT 'inherit',
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX collections_by_organization ON collections (organization_id, id);
CREATE INDEX collections_by_parent ON collections (parent_id, rank);
CREATE INDEX collections_deleted ON collections (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE spaces (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  collection_id TEXT REFERENCES collections(id),
  rank TEXT NOT NULL,
  title TEXT NOT NULL,
  emoji TEXT,
  icon TEXT,
  language TEXT,
  edit_mode TEXT NOT NULL DEFAULT 'live',
  default_level TEXT DEFAULT 'inherit',
  merge_rules TEXT NOT NULL DEFAULT '{"type":"inherit"}',
  main_branch TEXT NOT NULL,
  main_revision TEXT NOT NULL,           -- head of main, stored here so that it is read with the row
  comments INTEGER NOT NULL DEFAULT 0,   -- number of comments, updated with each change
  changes_total INTEGER NOT NULL DEFAULT 0,
  changes_open INTEGER NOT NULL DEFAULT 0,
  changes_draft INTEGER NOT NULL DEFAULT 0,
  created_by TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT                      -- time of deletion, while in the trash
);
CREATE INDEX spaces_by_organization ON spaces (organization_id, id);
CREATE INDEX spaces_by_collection ON spaces (collection_id, rank);
CREATE INDEX spaces_deleted ON spaces (deleted_at) WHERE deleted_at IS NOT NULL;
-- Visible objects are found by default level: all with a role, and of those that inherit, the ones in certain
-- collections.
CREATE INDEX spaces_by_level ON spaces (organization_id, deleted_at, default_level, collection_id, id);

-- Texts and files that may have lost their last reference, until they are checked.
CREATE TABLE leftovers (
  kind TEXT NOT NULL,                    -- body, file
  hash TEXT NOT NULL,
  left_at BIGINT NOT NULL,
  PRIMARY KEY (kind, hash)
);
CREATE INDEX leftovers_by_age ON leftovers (left_at);

-- --- invitations -----------------------------------------------------------------------------------------

-- Invitations by email address. The secret in the link can be used once. If an invitation is emailed, its secret is
-- created when the email is sent.
CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT,
  sso INTEGER NOT NULL DEFAULT 0,
  hash TEXT UNIQUE,                      -- SHA-256 of the secret
  mailed INTEGER NOT NULL,               -- whether only a reader of the mailbox can know the secret
  invited_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  UNIQUE (organization_id, email)
);

-- Links with which anyone can join. The id is the secret.
CREATE TABLE invite_links (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  target_type TEXT NOT NULL,             -- organization, space, collection
  target_id TEXT NOT NULL,
  role TEXT,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX invite_links_by_organization ON invite_links (organization_id, created_at, id);
CREATE INDEX invite_links_by_target ON invite_links (target_type, target_id);

-- --- content: branches, revisions, pages, and files -----------------------------------------------------

-- Branch: main or a change request.
CREATE TABLE branches (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  base_branch TEXT,                      -- main, for a change request
  sequence BIGINT NOT NULL,              -- sequence of the head
  revision TEXT NOT NULL                 -- id of the head
);
CREATE INDEX branches_by_space ON branches (space_id);

-- Revision: a numbered state of a branch.
CREATE TABLE revisions (
  id TEXT PRIMARY KEY,
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  sequence BIGINT NOT NULL,
  base_sequence BIGINT,                  -- sequence of the base branch that this state is on top of
  parents TEXT NOT NULL,                 -- JSON array of revision ids
  type TEXT NOT NULL,
  author TEXT,
  created_at BIGINT NOT NULL,
  message TEXT,
  git TEXT,                              -- JSON {oid, message, createdByService, url, ref}
  merged_from TEXT,                      -- id of the change request
  conflicts TEXT,                        -- JSON: open conflicts of this state
  UNIQUE (branch_id, sequence)
);

-- Valid from one sequence of the branch until another. A deleted row hides the page of the base branch.
CREATE TABLE page_versions (
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  parent_id TEXT NOT NULL DEFAULT '',    -- '' at the top level
  rank TEXT NOT NULL DEFAULT '',
  slug TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL DEFAULT 'document',
  title TEXT NOT NULL DEFAULT '',
  body TEXT,                             -- hash of the Markdown source
  file_path TEXT,                        -- path among the files, for export and relative links
  fields TEXT NOT NULL DEFAULT '{}',     -- JSON: fields that few pages have
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, page_id, from_seq)
);
CREATE INDEX page_versions_by_slug ON page_versions (branch_id, parent_id, slug, to_seq);
CREATE INDEX page_versions_by_file ON page_versions (branch_id, file_path);
CREATE INDEX page_versions_by_body ON page_versions (body);
-- For finding the changes of a branch after a sequence.
CREATE INDEX page_versions_by_change ON page_versions (branch_id, from_seq);
CREATE INDEX page_versions_by_end ON page_versions (branch_id, to_seq);
-- Computed pages, of which there are few and which every read of a tree needs.
CREATE INDEX page_versions_computed ON page_versions (branch_id, kind) WHERE kind = 'computed';

-- Files, reusable content, variables, and stored configuration sources, versioned like pages.
CREATE TABLE item_versions (
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL,                    -- file, reusable-content, variable, source
  name TEXT NOT NULL,
  path TEXT,
  content TEXT,                          -- hash of the file or of the Markdown; the JSON value of a variable
  size BIGINT NOT NULL DEFAULT 0,
  fields TEXT NOT NULL DEFAULT '{}',     -- JSON: contentType, dimensions
  created_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, item_id, from_seq)
);
CREATE INDEX item_versions_by_kind ON item_versions (branch_id, kind, to_seq, item_id);
CREATE INDEX item_versions_by_path ON item_versions (branch_id, path);
CREATE INDEX item_versions_by_content ON item_versions (content);
CREATE INDEX item_versions_by_change ON item_versions (branch_id, from_seq);
CREATE INDEX item_versions_by_end ON item_versions (branch_id, to_seq);

-- Markdown sources, compressed and stored once per hash.
CREATE TABLE bodies (
  hash TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  data BYTES NOT NULL
);

-- Keys of nodes that were carried over an edit, if reading the text alone assigns different keys.
CREATE TABLE node_keys (
  owner_id TEXT NOT NULL,                -- id of the page or reusable content
  body TEXT NOT NULL,
  keys TEXT NOT NULL,                    -- JSON: map from assigned keys to kept keys
  PRIMARY KEY (owner_id, body)
);

-- --- references: references in main of each space -------------------------------------------------------

-- References, with their meaning in the current main of all spaces.
CREATE TABLE content_references (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,                -- page or reusable content that contains the reference
  place INTEGER NOT NULL,                -- index among the references of its owner, from 0
  owner_kind TEXT NOT NULL,              -- page, reusable-content
  node TEXT,                             -- key of the block that contains it, as assigned by reading the text
  type TEXT NOT NULL,                    -- type of the node
  relation TEXT NOT NULL,                -- reference, dependsOn
  written TEXT NOT NULL,                 -- JSON: the reference as written
  kind TEXT NOT NULL,                    -- url, page, file, space, user, collection, reusable-content, openapi
  target_space TEXT,
  target TEXT,                           -- id of the target; the slug of an API specification
  anchor TEXT,
  status TEXT NOT NULL,                  -- ok, broken, in-app; access of the reader is checked at read time
  target_key TEXT NOT NULL,              -- equal for all references to the same target
  asked TEXT NOT NULL,                   -- JSON: [space, question] for each lookup that determined its meaning
  PRIMARY KEY (space_id, owner_id, place)
);
CREATE INDEX content_references_by_key ON content_references (space_id, target_key);
CREATE INDEX content_references_by_target ON content_references (target_space, target);

-- Lookups in each space: a revision that changes their answer finds the affected references.
CREATE TABLE reference_questions (
  asked_in TEXT NOT NULL,
  question TEXT NOT NULL,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (asked_in, question, space_id, owner_id, place)
);
CREATE INDEX reference_questions_by_owner ON reference_questions (space_id, owner_id, place);

-- --- changes: change requests and their reviews ---------------------------------------------------------

CREATE TABLE change_requests (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'draft',  -- draft, open, archived, merged
  subject TEXT NOT NULL DEFAULT '',
  description TEXT,                      -- JSON document
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  revision_initial TEXT NOT NULL,        -- revision of main it was created from
  revision_merged_ancestor TEXT,         -- revision of main it was last updated with
  revision_merged TEXT,                  -- revision of main created by its merge
  edits INTEGER NOT NULL DEFAULT 0,      -- number of edits of its content, which determines which reviews are outdated
  comments INTEGER NOT NULL DEFAULT 0,   -- number of open comments
  issues_cluster TEXT,
  UNIQUE (space_id, number)
);
CREATE INDEX change_requests_by_status ON change_requests (space_id, status, id);
CREATE INDEX change_requests_by_branch ON change_requests (branch_id);

CREATE TABLE change_contributors (
  change_id TEXT NOT NULL REFERENCES change_requests(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  action TEXT NOT NULL,                  -- edit, comment
  count INTEGER NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, user_id, action)
);
CREATE INDEX change_contributors_by_user ON change_contributors (user_id, change_id);

CREATE TABLE change_reviewers (
  change_id TEXT NOT NULL REFERENCES change_requests(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  requested_by TEXT NOT NULL,
  revision TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, user_id)
);
CREATE INDEX change_reviewers_by_user ON change_reviewers (user_id, change_id);

CREATE TABLE change_reviews (
  id TEXT PRIMARY KEY,
  change_id TEXT NOT NULL REFERENCES change_requests(id) ON DELETE CASCADE,
  reviewer TEXT NOT NULL,
  requested_by TEXT,
  status TEXT NOT NULL,                  -- approved, changes-requested
  revision TEXT NOT NULL,
  edits INTEGER NOT NULL,                -- number of edits of the change request at the time of the review
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX change_reviews_by_change ON change_reviews (change_id, id);

-- --- comments: comments on spaces and change requests, and their replies --------------------------------

CREATE TABLE comments (
  id TEXT PRIMARY KEY,
  place_id TEXT NOT NULL,                -- id of the change request, or of the space if there is none
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  change_id TEXT REFERENCES change_requests(id) ON DELETE CASCADE,
  review_id TEXT REFERENCES change_reviews(id) ON DELETE CASCADE,
  parent_id TEXT REFERENCES comments(id) ON DELETE CASCADE,  -- parent of a reply
  page_id TEXT,
  node_id TEXT,                          -- key of a node of the page
  record TEXT,                           -- row of a table cell
  definition TEXT,                       -- column of the table cell
  cell TEXT,                             -- key of the table cell, if it has one
  revision TEXT NOT NULL,                -- revision in which all of these existed
  body TEXT NOT NULL,                    -- Markdown
  posted_by TEXT NOT NULL,
  posted_at BIGINT NOT NULL,
  edited_at BIGINT,
  resolved_at BIGINT,
  resolved_by TEXT,
  replies INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX comments_by_place ON comments (place_id, parent_id, id);
CREATE INDEX comments_by_author ON comments (place_id, posted_by);
CREATE INDEX comments_by_parent ON comments (parent_id, id);
CREATE INDEX comments_by_space ON comments (space_id);
CREATE INDEX comments_by_review ON comments (review_id);

CREATE TABLE comment_reactions (
  comment_id TEXT NOT NULL REFERENCES comments(id) ON DELETE CASCADE,
  emoji TEXT NOT NULL,
  user_id TEXT NOT NULL,
  reacted_at BIGINT NOT NULL,
  PRIMARY KEY (comment_id, emoji, user_id)
);

-- --- search: text of main of each space, by section, with folded words ----------------------------------

CREATE TABLE search_pages (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  words TEXT NOT NULL,                   -- its distinct words, to subtract its counts
  titles TEXT NOT NULL DEFAULT '',       -- titles, one per line: a page with exactly the searched title comes first
  PRIMARY KEY (space_id, page_id)
);

CREATE TABLE search_sections (
  id SERIAL_KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  anchor TEXT,                           -- NULL: before the first heading
  heading TEXT NOT NULL,
  body TEXT NOT NULL                     -- plain text for quotations
);
CREATE INDEX search_sections_by_page ON search_sections (space_id, page_id);

-- Number of pages of a space that contain each word, for correcting mistyped words.
CREATE TABLE search_words (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  pages INTEGER NOT NULL,
  PRIMARY KEY (space_id, word)
);

-- only: sqlite
CREATE VIRTUAL TABLE search_index USING fts5(
  space, title, heading, body, title_stems, heading_stems, stems,
  tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
-- Delete the index entries of a purged space together with its sections.
CREATE TRIGGER search_sections_gone AFTER DELETE ON search_sections
  BEGIN DELETE FROM search_index WHERE rowid = OLD.id; END;
-- end
-- only: postgresql
-- No index by space: for unknown words, the planner would use it to read all of a large space instead of the matching
-- rows. Without fastupdate, because a search would otherwise read the list of recent writes.
CREATE TABLE search_index (
  section_id BIGINT PRIMARY KEY REFERENCES search_sections(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL,
  words TSVECTOR NOT NULL,
  stems TSVECTOR NOT NULL
);
CREATE INDEX search_index_words ON search_index USING gin (words) WITH (fastupdate = off);
CREATE INDEX search_index_stems ON search_index USING gin (stems) WITH (fastupdate = off);
-- end

-- --- uploads: the URL is created first, the bytes arrive later ------------------------------------------

CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                    -- import_file, customization_font
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size BIGINT NOT NULL,                  -- declared size, which limits the number of accepted bytes
  hash TEXT,                             -- hash of the bytes, once they have arrived
  expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_by_user ON uploads (user_id, organization_id);
CREATE INDEX uploads_by_hash ON uploads (hash);
CREATE INDEX uploads_by_expiry ON uploads (expires_at);

-- --- transfer: imports over the API ---------------------------------------------------------------------

CREATE TABLE import_runs (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  change_id TEXT,                        -- NULL: into main
  page_id TEXT,                          -- parent page
  user_id TEXT NOT NULL,
  source TEXT NOT NULL,                  -- JSON: {type: website, url} or {type: file, files: [upload ids]}
  status TEXT NOT NULL,                  -- `pending`, `in-progress`, `completed`, `failed`, or `cancelled`
  attempts INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  pages TEXT NOT NULL DEFAULT '[]',      -- JSON: [{id, sourceURL}]
  problems TEXT NOT NULL DEFAULT '[]',   -- JSON: [{path, line, code, message}]
  error TEXT,                            -- reason for the failure, shown to its owner
  revision TEXT,                         -- created revision
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  completed_at BIGINT
);
CREATE INDEX import_runs_by_user ON import_runs (organization_id, user_id, id);
CREATE INDEX import_runs_by_space ON import_runs (space_id, id);

-- --- printing and fonts ---------------------------------------------------------------------------------

-- PDFs of states of a space, created once for each state.
CREATE TABLE prints (
  id TEXT PRIMARY KEY,                   -- hash of everything that determines the content
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  revision_id TEXT NOT NULL,
  page_id TEXT,                          -- first page; NULL: the whole space
  single INTEGER NOT NULL DEFAULT 0,     -- 1: only that page
  subtitle TEXT NOT NULL DEFAULT '',
  file TEXT,                             -- hash of the bytes, once created
  size BIGINT,
  error TEXT,                            -- reason for the failure
  created_at BIGINT NOT NULL
);
CREATE INDEX prints_by_time ON prints (created_at);
CREATE INDEX prints_by_file ON prints (file);

CREATE TABLE fonts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  family TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX fonts_by_organization ON fonts (organization_id, id);

-- Weights of a font, each with its file.
CREATE TABLE font_faces (
  font_id TEXT NOT NULL REFERENCES fonts(id) ON DELETE CASCADE,
  weight INTEGER NOT NULL,
  hash TEXT NOT NULL,
  format TEXT NOT NULL,                  -- woff2, woff
  PRIMARY KEY (font_id, weight)
);
CREATE INDEX font_faces_by_hash ON font_faces (hash);

-- --- sites: published content ---------------------------------------------------------------------------

CREATE TABLE sites (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  type TEXT NOT NULL DEFAULT 'basic',
  title TEXT NOT NULL,
  basename TEXT NOT NULL,
  hostname TEXT UNIQUE,
  visibility TEXT NOT NULL DEFAULT 'public',
  published INTEGER NOT NULL DEFAULT 0,
  agents_context TEXT NOT NULL DEFAULT 'included',
  settings TEXT NOT NULL DEFAULT '{}',
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (organization_id, basename)
);

CREATE TABLE site_spaces (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  section_id TEXT,
  rank TEXT NOT NULL,
  path TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0,
  condition TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_spaces_by_site ON site_spaces (site_id, rank);
CREATE INDEX site_spaces_by_space ON site_spaces (space_id);

-- --- kit: events and jobs, written in the transaction of the change that causes them --------------------

CREATE TABLE events (
  id SERIAL_KEY,
  type TEXT NOT NULL,
  organization_id TEXT,
  space_id TEXT,
  payload TEXT NOT NULL,                 -- JSON: ids and a version number
  created_at BIGINT NOT NULL
);

CREATE TABLE event_cursors (
  consumer TEXT PRIMARY KEY,
  event_id BIGINT NOT NULL               -- last event that was processed
);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  unique_key TEXT UNIQUE,                -- at most one waiting job for each key
  run_at BIGINT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until BIGINT,
  parked INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (parked, run_at);

CREATE TABLE schedules (
  name TEXT PRIMARY KEY,
  next_at BIGINT NOT NULL
);

-- Secrets that the server creates for itself, such as the key for signed URLs.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
