-- Passkeys (WebAuthn). credential_id and credential are base64url: the id by which browsers find it, and the data that
-- the authenticator returned at registration, with its public key. counter: number of uses according to the
-- authenticator; 0 if it does not count them.
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
