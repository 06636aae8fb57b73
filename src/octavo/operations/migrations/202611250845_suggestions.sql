-- Edits of blocks that people suggest in comments on a change request.
CREATE TABLE comment_suggestions (
  comment_id TEXT PRIMARY KEY REFERENCES comments (id) ON DELETE CASCADE,
  was TEXT NOT NULL,                     -- JSON: nodes of the block when the edit was suggested
  becomes TEXT NOT NULL,                 -- JSON: nodes that replace it; none: delete it
  status TEXT NOT NULL,                  -- open, accepted, declined
  settled_at BIGINT,
  settled_by TEXT,
  revision_before TEXT,                  -- revisions before and after the edit was accepted
  revision TEXT
);
