-- Parts of a change request that a person marked as viewed. A mark is valid until the part changes again.
CREATE TABLE change_seen (
  change_id TEXT NOT NULL REFERENCES change_requests (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  object_id TEXT NOT NULL,               -- id of a page, file, or reusable content; variables for all variables
  sequence BIGINT NOT NULL,              -- sequence of the branch when it was viewed
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, user_id, object_id)
);
CREATE INDEX change_seen_by_user ON change_seen (user_id);
