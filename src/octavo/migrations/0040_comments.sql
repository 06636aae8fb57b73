-- Comments on a space or a change request, and the replies to them.
CREATE TABLE comments (
  id TEXT PRIMARY KEY,
  place_id TEXT NOT NULL,                -- the change request; the space where there is none
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  change_id TEXT REFERENCES change_requests(id) ON DELETE CASCADE,
  review_id TEXT REFERENCES change_reviews(id) ON DELETE CASCADE,
  parent_id TEXT REFERENCES comments(id) ON DELETE CASCADE,  -- of a reply
  page_id TEXT,
  node_id TEXT,                          -- key of a node of that page
  record TEXT,                           -- of a table: where the cell stood,
  definition TEXT,
  cell TEXT,                             -- and its key, where it has one
  revision TEXT NOT NULL,                -- in which all this was there
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
