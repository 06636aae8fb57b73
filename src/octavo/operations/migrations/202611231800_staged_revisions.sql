-- Large revisions are written before they become active, including pages and items: with a sequence beyond the head of
-- their branch.

-- Data that is being written and that no revision has activated yet.
DROP TABLE staged_versions;
CREATE TABLE staged_versions (
  version BIGINT PRIMARY KEY,            -- version of the derived data
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  sequence BIGINT NOT NULL,              -- sequence of the pages and items
  began_at BIGINT NOT NULL,
  UNIQUE (branch_id, sequence)
);
CREATE INDEX staged_versions_by_space ON staged_versions (space_id);
