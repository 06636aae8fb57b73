-- Files in the repository of a synced space that its pages link to, such as source code, as the last scan saw them.
-- version: ID of the content in Git; empty after the file was removed. changed_at: when it changed for the first time
-- since Octavo knows it, or later; NULL if it didn't.
CREATE TABLE linked_code (
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  version TEXT NOT NULL,
  changed_at BIGINT,
  PRIMARY KEY (space_id, path)
);
