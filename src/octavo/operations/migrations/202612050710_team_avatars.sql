-- Pictures of teams.
CREATE TABLE team_avatars (
  team_id TEXT PRIMARY KEY REFERENCES teams (id) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,               -- part of the public URL; another one with each upload
  image BYTES NOT NULL                   -- a small PNG
);
