-- People and what proves who they are.
CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,            -- lower case
  display_name TEXT NOT NULL,
  photo_url TEXT,
  password_hash TEXT,
  disabled INTEGER NOT NULL DEFAULT 0,
  email_verified INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,             -- SHA-256 of the secret, which has full entropy
  hint TEXT NOT NULL,                    -- its first characters, to recognise it by
  scopes TEXT,                           -- JSON array; NULL: all that its user may do
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX tokens_by_user ON tokens (user_id, id);

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  hostname TEXT UNIQUE,
  created_at BIGINT NOT NULL,
  default_role TEXT,
  email_domains TEXT NOT NULL DEFAULT '[]',
  settings TEXT NOT NULL DEFAULT '{}'    -- JSON: what is shown and seldom asked for
);

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

-- Who may do what where, beyond the role of a member. object: 'space' or 'collection'; subject: 'user' or 'team'.
CREATE TABLE grants (
  object_type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  role TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (object_type, object_id, subject_type, subject_id)
);
CREATE INDEX grants_by_subject ON grants (subject_type, subject_id);

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
  PRIMARY KEY (team_id, user_id)
);
CREATE INDEX team_members_by_user ON team_members (user_id);

-- Containers of content. default_level: a role, 'inherit', or NULL for guests (no access by default).
CREATE TABLE collections (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  parent_id TEXT REFERENCES collections(id),
  rank TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  default_level TEXT DEFAULT 'inherit',
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX collections_by_organization ON collections (organization_id, id);
CREATE INDEX collections_by_parent ON collections (parent_id, rank);

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
  main_line TEXT NOT NULL,
  main_revision TEXT NOT NULL,           -- the head of main, kept here for reading in one row
  comments INTEGER NOT NULL DEFAULT 0,   -- counts are kept, not counted
  changes_total INTEGER NOT NULL DEFAULT 0,
  changes_open INTEGER NOT NULL DEFAULT 0,
  changes_draft INTEGER NOT NULL DEFAULT 0,
  created_by TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX spaces_by_organization ON spaces (organization_id, id);
CREATE INDEX spaces_by_collection ON spaces (collection_id, rank);

-- Content: a line is main or one change request; a revision is a line's numbered state.
CREATE TABLE lines (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  base_line TEXT,                        -- for a change request: main
  sequence BIGINT NOT NULL,              -- of the head
  revision TEXT NOT NULL                 -- id of the head
);
CREATE INDEX lines_by_space ON lines (space_id);

CREATE TABLE revisions (
  id TEXT PRIMARY KEY,
  line_id TEXT NOT NULL REFERENCES lines(id) ON DELETE CASCADE,
  sequence BIGINT NOT NULL,
  base_sequence BIGINT,                  -- the sequence of the base line that this state is laid over
  parents TEXT NOT NULL,                 -- JSON array of revision ids
  type TEXT NOT NULL,
  author TEXT,
  created_at BIGINT NOT NULL,
  message TEXT,
  git TEXT,                              -- JSON {oid, message, createdByService, url, ref}
  merged_from TEXT,                      -- change request
  conflicts TEXT,                        -- JSON, open conflicts of this state
  UNIQUE (line_id, sequence)
);

-- Valid from one sequence of the line to before another. A deleted row hides the page of the base line.
CREATE TABLE page_versions (
  line_id TEXT NOT NULL REFERENCES lines(id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  parent_id TEXT NOT NULL DEFAULT '',    -- '' at the top
  rank TEXT NOT NULL DEFAULT '',
  slug TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL DEFAULT 'document',
  title TEXT NOT NULL DEFAULT '',
  body TEXT,                             -- hash of the Markdown source
  file_path TEXT,                        -- where it stands among the files, for export and relative links
  fields TEXT NOT NULL DEFAULT '{}',     -- JSON: the fields few pages have
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (line_id, page_id, from_seq)
);
CREATE INDEX page_versions_by_slug ON page_versions (line_id, parent_id, slug, to_seq);
CREATE INDEX page_versions_by_file ON page_versions (line_id, file_path);
CREATE INDEX page_versions_by_body ON page_versions (body);
CREATE INDEX page_versions_by_change ON page_versions (line_id, from_seq);

-- Files, reusable contents, variables and the kept configuration sources, versioned like pages.
CREATE TABLE item_versions (
  line_id TEXT NOT NULL REFERENCES lines(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL,                    -- file, reusable-content, variable, source
  name TEXT NOT NULL,
  path TEXT,
  content TEXT,                          -- hash of the blob or of the Markdown; for a variable its JSON value
  size BIGINT NOT NULL DEFAULT 0,
  fields TEXT NOT NULL DEFAULT '{}',     -- JSON: contentType, dimensions
  created_at BIGINT NOT NULL,
  PRIMARY KEY (line_id, item_id, from_seq)
);
CREATE INDEX item_versions_by_kind ON item_versions (line_id, kind, to_seq, item_id);
CREATE INDEX item_versions_by_path ON item_versions (line_id, path);
CREATE INDEX item_versions_by_change ON item_versions (line_id, from_seq);

-- Markdown sources, stored once by their hash, compressed.
CREATE TABLE bodies (
  hash TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  data BYTES NOT NULL
);

-- Bytes in the object store, by their hash; organizations are told apart where they are served.
CREATE TABLE blobs (
  hash TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);

-- Events and jobs ride in the transaction of the change that causes them.
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
  event_id BIGINT NOT NULL               -- the last one it has passed
);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  unique_key TEXT UNIQUE,                -- at most one waiting job of a key
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

-- Secrets the installation makes for itself, such as the key of signed URLs.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- Published sites.
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
