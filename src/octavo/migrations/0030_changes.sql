-- Change requests: each is a line of its own over main; what is said about it stands here.
CREATE TABLE change_requests (
  id TEXT PRIMARY KEY,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  line_id TEXT NOT NULL REFERENCES lines(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'draft',  -- draft, open, archived, merged
  subject TEXT NOT NULL DEFAULT '',
  description TEXT,                      -- JSON document
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  revision_initial TEXT NOT NULL,        -- of main, where it started
  revision_merged_ancestor TEXT,         -- of main, where it was brought up to date last
  revision_merged TEXT,                  -- of main, what its merge made
  edits INTEGER NOT NULL DEFAULT 0,      -- how often its content was edited: tells which reviews are outdated
  comments INTEGER NOT NULL DEFAULT 0,   -- open ones
  issues_cluster TEXT,
  UNIQUE (space_id, number)
);
CREATE INDEX change_requests_by_status ON change_requests (space_id, status, id);
CREATE INDEX change_requests_by_line ON change_requests (line_id);

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
  edits INTEGER NOT NULL,                -- of the change request when it was reviewed
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX change_reviews_by_change ON change_reviews (change_id, id);

-- Keys of nodes that were carried over an edit, where reading the text alone gives others. JSON: read key to kept key.
CREATE TABLE node_keys (
  owner_id TEXT NOT NULL,                -- page or reusable content
  body TEXT NOT NULL,
  keys TEXT NOT NULL,
  PRIMARY KEY (owner_id, body)
);

-- What a line has changed or dropped after a sequence.
CREATE INDEX page_versions_by_end ON page_versions (line_id, to_seq);
CREATE INDEX item_versions_by_end ON item_versions (line_id, to_seq);
