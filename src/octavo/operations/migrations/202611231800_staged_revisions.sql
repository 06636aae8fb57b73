-- A large revision is written before it counts, its pages and items too: under a sequence beyond the head of its branch.

-- What is being written, and what no revision has switched to yet.
DROP TABLE staged_versions;
CREATE TABLE staged_versions (
  version BIGINT PRIMARY KEY,            -- of what is derived
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  sequence BIGINT NOT NULL,              -- of the pages and items
  began_at BIGINT NOT NULL,
  UNIQUE (branch_id, sequence)
);
CREATE INDEX staged_versions_by_space ON staged_versions (space_id);
