-- Vectors of texts as returned by a model (numbers of four bytes), by a hash of the model and the text.
CREATE TABLE embeddings (
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  digest TEXT NOT NULL,
  vector BYTES NOT NULL,
  used_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, digest)
);
CREATE INDEX embeddings_by_use ON embeddings (used_at);
-- Sum of the vectors of a cluster's issues.
CREATE TABLE cluster_embeddings (
  cluster_id TEXT NOT NULL PRIMARY KEY REFERENCES issue_clusters (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  vector BYTES NOT NULL
);
