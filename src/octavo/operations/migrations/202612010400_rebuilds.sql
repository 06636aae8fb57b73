-- Amount of data that an upgrade left to jobs, for showing their progress.
CREATE TABLE rebuilds (
  part TEXT PRIMARY KEY,
  total BIGINT NOT NULL,
  started_at BIGINT NOT NULL
);
