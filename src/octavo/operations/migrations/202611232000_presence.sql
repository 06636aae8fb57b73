-- People who are viewing or editing content, as reported by their clients. A row expires a minute after its last
-- report.
CREATE TABLE presence (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  change_request_id TEXT REFERENCES change_requests (id) ON DELETE CASCADE,
  page_id TEXT,
  activity TEXT NOT NULL,
  came_at BIGINT NOT NULL,
  said_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, client_id)
);
CREATE INDEX presence_by_space ON presence (space_id, user_id, client_id);
CREATE INDEX presence_by_change_request ON presence (change_request_id, user_id, client_id);
CREATE INDEX presence_by_time ON presence (said_at);
