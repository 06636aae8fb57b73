-- Texts and files that may have lost their last use, until somebody looks. kind: 'body' or 'file'.
CREATE TABLE leftovers (
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  left_at BIGINT NOT NULL,
  PRIMARY KEY (kind, hash)
);
CREATE INDEX leftovers_by_age ON leftovers (left_at);
CREATE INDEX item_versions_by_content ON item_versions (content);
