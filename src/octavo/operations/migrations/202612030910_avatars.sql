-- Photos that people uploaded for their account.
CREATE TABLE avatars (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,               -- part of the public URL; another one with each upload
  image BYTES NOT NULL                   -- a small PNG
);
