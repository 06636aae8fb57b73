-- Clients of different people can have the same ID. Positions expire within a minute.
DROP TABLE page_carets;
CREATE TABLE page_carets (
  branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  client TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  version BIGINT NOT NULL,
  anchor BIGINT NOT NULL,
  head BIGINT NOT NULL,
  said_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, page_id, client, user_id)
);
CREATE INDEX page_carets_by_time ON page_carets (said_at);
CREATE INDEX page_carets_by_user ON page_carets (user_id);
