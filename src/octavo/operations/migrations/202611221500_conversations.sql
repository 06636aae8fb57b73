-- Questions and reports from other services. external_id: the id in its source. parts, attributes: JSON. fingerprint:
-- hash of the submission, so that submitting it again has no effect. processed_at NULL: pending analysis.
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  subject TEXT,
  url TEXT,
  attributes TEXT NOT NULL DEFAULT '{}',
  parts TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  ingested_at BIGINT NOT NULL,
  processed_at BIGINT,
  UNIQUE (organization_id, source, external_id)
);
CREATE INDEX conversations_by_time ON conversations (organization_id, created_at, id);
CREATE INDEX conversations_by_source ON conversations (organization_id, source, created_at, id);
CREATE INDEX conversations_waiting ON conversations (organization_id, id) WHERE processed_at IS NULL;

-- vector: frequency of words in its issues, JSON of [number of a word, count]. A cluster with one issue is not shown
-- yet.
CREATE TABLE issue_clusters (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  summary TEXT NOT NULL,
  icon TEXT NOT NULL,
  vector TEXT NOT NULL,
  issues INTEGER NOT NULL DEFAULT 0,
  conversations INTEGER NOT NULL DEFAULT 0,
  tasks_total INTEGER NOT NULL DEFAULT 0,
  tasks_backlog INTEGER NOT NULL DEFAULT 0,
  tasks_started INTEGER NOT NULL DEFAULT 0,
  tasks_completed INTEGER NOT NULL DEFAULT 0,
  tasks_canceled INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX issue_clusters_by_change ON issue_clusters (organization_id, updated_at, id);
CREATE INDEX issue_clusters_by_issues ON issue_clusters (organization_id, issues, id);
CREATE INDEX issue_clusters_by_conversations ON issue_clusters (organization_id, conversations, id);
CREATE INDEX issue_clusters_by_tasks ON issue_clusters (organization_id, tasks_total, id);
CREATE INDEX issue_clusters_by_backlog ON issue_clusters (organization_id, tasks_backlog, id);
CREATE INDEX issue_clusters_by_started ON issue_clusters (organization_id, tasks_started, id);

CREATE TABLE conversation_issues (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
  cluster_id TEXT NOT NULL REFERENCES issue_clusters(id),
  source TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  ingested_at BIGINT NOT NULL
);
CREATE INDEX conversation_issues_by_time ON conversation_issues (organization_id, created_at, id);
CREATE INDEX conversation_issues_by_conversation ON conversation_issues (conversation_id, id);
CREATE INDEX conversation_issues_by_cluster ON conversation_issues (cluster_id, created_at, id);
CREATE INDEX conversation_issues_by_source ON conversation_issues (cluster_id, source);
CREATE INDEX conversation_issues_counted ON conversation_issues (cluster_id, conversation_id);

-- Number of issues that contain each word: JSON that maps the number of a word to a count. version: changes with each
-- batch.
CREATE TABLE issue_vocabularies (
  organization_id TEXT PRIMARY KEY REFERENCES organizations(id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  issues INTEGER NOT NULL,
  words TEXT NOT NULL
);

CREATE INDEX change_requests_by_cluster ON change_requests (issues_cluster) WHERE issues_cluster IS NOT NULL;

-- Requested work on the documentation, usually because of a cluster.
CREATE TABLE agent_tasks (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  cluster_id TEXT REFERENCES issue_clusters(id) ON DELETE SET NULL,
  change_id TEXT REFERENCES change_requests(id) ON DELETE SET NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  instructions TEXT NOT NULL,
  status TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX agent_tasks_by_organization ON agent_tasks (organization_id, id);
CREATE INDEX agent_tasks_by_space ON agent_tasks (space_id);
CREATE INDEX agent_tasks_by_cluster ON agent_tasks (cluster_id, status);
CREATE INDEX agent_tasks_by_change ON agent_tasks (change_id);
