-- named: whether a model was asked for the title and summary of an issue. named_issues: number of issues of a cluster
-- when a model was asked for its label. by_model: whether its label and summary come from a model, so that analysis
-- keeps them.
ALTER TABLE conversation_issues ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversation_issues_unnamed ON conversation_issues (organization_id, id) WHERE named = 0;
ALTER TABLE issue_clusters ADD COLUMN named_issues BIGINT NOT NULL DEFAULT 0;
ALTER TABLE issue_clusters ADD COLUMN by_model INTEGER NOT NULL DEFAULT 0;
CREATE INDEX issue_clusters_unnamed ON issue_clusters (organization_id, id)
  WHERE issues > 1 AND issues >= 2 * named_issues;
