-- An edit of a block that somebody suggests with a comment in a change request.
CREATE TABLE comment_suggestions (
  comment_id TEXT PRIMARY KEY REFERENCES comments (id) ON DELETE CASCADE,
  was TEXT NOT NULL,                     -- JSON: nodes of the block when it was suggested
  becomes TEXT NOT NULL,                 -- JSON: nodes that are to take its place; none: it is to be deleted
  status TEXT NOT NULL,                  -- open, accepted, declined
  settled_at BIGINT,
  settled_by TEXT,
  revision_before TEXT,                  -- those before and after it was accepted
  revision TEXT
);
