-- What the scripts of integrations answered for the computed pages of spaces, until they answer something else.

CREATE TABLE integration_answers (
  question TEXT PRIMARY KEY,             -- of the installation, the space, the source, and which dependencies there are
  installation_id TEXT NOT NULL REFERENCES integration_installations(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  made_of TEXT NOT NULL,                 -- of all that the script was told, and its version and configuration
  state TEXT NOT NULL,                   -- of the answer
  answer TEXT NOT NULL,                  -- JSON
  used_at BIGINT NOT NULL
);
CREATE INDEX integration_answers_by_installation ON integration_answers (installation_id);
CREATE INDEX integration_answers_by_space ON integration_answers (space_id, used_at);
