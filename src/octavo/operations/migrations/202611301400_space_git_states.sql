-- Description of the repository that a space is synced with, written by Git sync.
CREATE TABLE space_git_states (
  space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
  state TEXT NOT NULL
);
