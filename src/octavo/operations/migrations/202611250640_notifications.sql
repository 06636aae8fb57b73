-- What concerns somebody, one row for each thing that it is about: another event about the same makes the row new again.
CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  about TEXT NOT NULL,                   -- change:ID, comment:ID, edits:SPACE, edits:PAGE, run:ID
  reason TEXT NOT NULL,
  status TEXT,                           -- of the change request or the review
  actor_id TEXT,                         -- who did it last, where somebody did
  change_id TEXT,
  page_id TEXT,
  comment_id TEXT,
  reply_id TEXT,
  review_id TEXT,
  revision TEXT,
  problem TEXT,                          -- why something failed
  events INTEGER NOT NULL,               -- since it was read
  state TEXT NOT NULL,                   -- unread, read, done
  digest INTEGER NOT NULL DEFAULT 0,     -- 1: waits for the next digest
  at BIGINT NOT NULL,                    -- of the last event
  UNIQUE (user_id, about)
);
CREATE INDEX notifications_open ON notifications (user_id, at, id) WHERE state <> 'done';
CREATE INDEX notifications_unread ON notifications (user_id, at, id) WHERE state = 'unread';
CREATE INDEX notifications_done ON notifications (user_id, at, id) WHERE state = 'done';
CREATE INDEX notifications_digest ON notifications (user_id) WHERE digest = 1;
CREATE INDEX notifications_by_space ON notifications (space_id, user_id);
CREATE INDEX notifications_by_about ON notifications (about);
CREATE INDEX notifications_by_time ON notifications (state, at);

-- How many there are, so that nobody counts them.
CREATE TABLE notification_counts (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  unread INTEGER NOT NULL,
  read INTEGER NOT NULL,
  done INTEGER NOT NULL,
  PRIMARY KEY (user_id, space_id)
);
CREATE INDEX notification_counts_by_space ON notification_counts (space_id);

-- Which spaces and pages somebody watches, or wants to hear nothing of.
CREATE TABLE watches (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL DEFAULT '',      -- empty: the space
  level TEXT NOT NULL,                   -- watching, muted
  set_at BIGINT NOT NULL,
  PRIMARY KEY (user_id, space_id, page_id)
);
CREATE INDEX watches_by_space ON watches (space_id, level, page_id, user_id);

CREATE TABLE notification_settings (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  channels TEXT NOT NULL,                -- JSON: by reason app, mail, digest or off, where it is not the default
  updated_at BIGINT NOT NULL
);
