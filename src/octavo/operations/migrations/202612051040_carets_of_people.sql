-- Clients of different people can have the same ID.
CREATE TABLE new_carets (
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
INSERT INTO new_carets SELECT branch_id, page_id, client, user_id, version, anchor, head, said_at FROM page_carets;
DROP TABLE page_carets;
ALTER TABLE new_carets RENAME TO page_carets;
CREATE INDEX page_carets_by_time ON page_carets (said_at);
CREATE INDEX page_carets_by_user ON page_carets (user_id);
