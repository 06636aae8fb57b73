-- Passkeys (WebAuthn). credential_id and credential are base64url: the id that browsers find it by, and what an
-- authenticator gave when it was made, with its public key. counter: how often the authenticator says it was used, 0
-- for one that does not count.
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  credential TEXT NOT NULL,
  counter BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, id);
