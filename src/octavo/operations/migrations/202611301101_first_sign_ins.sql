-- Administrators created by a first start who have not signed in yet. Existing people are not among them.
CREATE TABLE first_sign_ins (
  user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE
);
