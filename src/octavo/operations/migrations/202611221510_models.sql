-- Instructions of an organization to all models that work for it. instructions: JSON of a document.
CREATE TABLE agent_instructions (
  organization_id TEXT PRIMARY KEY REFERENCES organizations(id) ON DELETE CASCADE,
  instructions TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  updated_by TEXT NOT NULL
);

-- Calls of models, with their caller, purpose, and cost. cost_micros: millionths of the currency of the prices. request
-- and answer: only if content is logged.
CREATE TABLE model_calls (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  user_id TEXT,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  status TEXT NOT NULL,
  error TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micros BIGINT NOT NULL,
  duration INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  request TEXT,
  answer TEXT
);
CREATE INDEX model_calls_by_organization ON model_calls (organization_id, id);
