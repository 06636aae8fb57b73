-- Conversations of people with the assistant: their questions, in order. Answers are not stored, because their content
-- depends on what the person can read at the time. id: chosen by the client, unique for the person.
CREATE TABLE agent_conversations (
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT,
  change_id TEXT REFERENCES change_requests(id) ON DELETE CASCADE,
  questions TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, user_id, id)
);
CREATE INDEX agent_conversations_by_change ON agent_conversations (change_id, updated_at);
CREATE INDEX agent_conversations_by_person ON agent_conversations (organization_id, user_id, updated_at);

-- Places outside of Octavo where the assistant of a site answers, each through an integration.
CREATE TABLE site_channels (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  type TEXT NOT NULL,                    -- slack, discord, linear, github
  patterns TEXT NOT NULL,                -- JSON array: channels, teams, or repositories; empty: all
  role TEXT NOT NULL,                    -- collaborator, support
  answers INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);
CREATE INDEX site_channels_by_site ON site_channels (site_id, id);
