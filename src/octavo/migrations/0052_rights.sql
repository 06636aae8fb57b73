-- Texts and files that may have lost their last use, until somebody looks. kind: 'body' or 'file'.
CREATE TABLE leftovers (
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  left_at BIGINT NOT NULL,
  PRIMARY KEY (kind, hash)
);
CREATE INDEX leftovers_by_age ON leftovers (left_at);

-- What somebody sees is found by default level: all of a role, and of those that inherit, some collections'.
DROP INDEX spaces_by_standing;
CREATE INDEX spaces_by_level ON spaces (organization_id, deleted_at, default_level, collection_id, id);
