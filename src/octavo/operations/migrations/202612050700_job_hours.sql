-- Number of jobs that were done and that failed permanently in each hour, for the chart of server administration.
CREATE TABLE job_hours (
  hour BIGINT PRIMARY KEY,               -- start in milliseconds
  done BIGINT NOT NULL,
  failed BIGINT NOT NULL
);

-- Storage by kind of data, measured once a day.
CREATE TABLE storage_usage (
  kind TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL,
  measured_at BIGINT NOT NULL
);
