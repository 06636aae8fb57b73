-- What somebody has seen of a change request while reviewing it: good until the thing changes again there.
CREATE TABLE change_seen (
  change_id TEXT NOT NULL REFERENCES change_requests (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  object_id TEXT NOT NULL,               -- of a page, file or reusable content; variables for all of these
  sequence BIGINT NOT NULL,              -- of the branch, where it was seen
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (change_id, user_id, object_id)
);
CREATE INDEX change_seen_by_user ON change_seen (user_id);
