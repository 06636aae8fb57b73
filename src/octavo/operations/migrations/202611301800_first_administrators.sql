-- The person whom the first start created, who may choose their own email address in the browser.
CREATE TABLE first_administrators (
  user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE
);
INSERT INTO first_administrators (user_id) SELECT id FROM users WHERE email = 'admin@octavo.local' AND kind = 'person';
