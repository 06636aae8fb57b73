-- When the person last proved in a session who they are: by signing in, or by their password since then.
ALTER TABLE sessions ADD COLUMN proved_at BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET proved_at = created_at;
