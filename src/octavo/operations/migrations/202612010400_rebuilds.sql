-- How much an upgrade left to jobs, so that their progress can be shown.
CREATE TABLE rebuilds (
  part TEXT PRIMARY KEY,
  total BIGINT NOT NULL,
  started_at BIGINT NOT NULL
);
