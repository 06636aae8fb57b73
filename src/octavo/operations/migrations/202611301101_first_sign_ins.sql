-- Administrators whom a first start made and who have not signed in yet. Nobody who was there before is among them.
CREATE TABLE first_sign_ins (
  user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE
);
