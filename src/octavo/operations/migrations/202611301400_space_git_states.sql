-- What a space says of the repository that it is synced with; written by Git sync, which knows it.
CREATE TABLE space_git_states (
  space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
  state TEXT NOT NULL
);
