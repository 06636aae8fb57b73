-- Latest backups by commands, successful or failed, for the health page and an alert.
CREATE TABLE backup_runs (
  id TEXT PRIMARY KEY,
  place TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  bytes BIGINT,
  problem TEXT                           -- NULL: successful
);
