-- Prints: PDFs of a state of a space, made once for each state and kept for as long as somebody may want them.
CREATE TABLE prints (
  id TEXT PRIMARY KEY,                   -- a hash of all that decides what is in it
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  revision_id TEXT NOT NULL,
  page_id TEXT,                          -- the page it begins with; NULL: the whole space
  single INTEGER NOT NULL DEFAULT 0,     -- that page alone
  subtitle TEXT NOT NULL DEFAULT '',
  file TEXT,                             -- hash of the bytes, once made
  size BIGINT,
  error TEXT,                            -- why it could not be made
  created_at BIGINT NOT NULL
);
CREATE INDEX prints_by_time ON prints (created_at);
CREATE INDEX prints_by_file ON prints (file);
