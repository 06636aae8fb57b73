-- Time at which the person last confirmed their identity in a session, by signing in or with their password.
ALTER TABLE sessions ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET proved_at = created_at;
