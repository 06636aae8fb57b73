-- Latest answers of integration scripts for the computed pages of spaces.

CREATE TABLE integration_answers (
  question TEXT PRIMARY KEY,             -- hash of the installation, space, source, and list of dependencies
  installation_id TEXT NOT NULL REFERENCES integration_installations(id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  made_of TEXT NOT NULL,                 -- hash of all input of the script, with its version and configuration
  state TEXT NOT NULL,                   -- state of the answer
  answer TEXT NOT NULL,                  -- JSON
  used_at BIGINT NOT NULL
);
CREATE INDEX integration_answers_by_installation ON integration_answers (installation_id);
CREATE INDEX integration_answers_by_space ON integration_answers (space_id, used_at);
