-- Maintenance mode and announcement of the server: at most one row of each kind.
CREATE TABLE server_notices (
  kind TEXT PRIMARY KEY,                 -- maintenance, announcement
  message TEXT NOT NULL,
  starts_at BIGINT NOT NULL,
  ends_at BIGINT,                        -- maintenance: announced end; announcement: time at which it disappears
  created_by TEXT REFERENCES users(id) ON DELETE SET NULL,
  reminded_at BIGINT
);
