-- Notifications, one row for each subject: another event about the same subject marks the row as unread again.
CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  about TEXT NOT NULL,                   -- change:ID, comment:ID, edits:SPACE, edits:PAGE, run:ID
  reason TEXT NOT NULL,
  status TEXT,                           -- status of the change request or review
  actor_id TEXT,                         -- person who caused the last event, if any
  change_id TEXT,
  page_id TEXT,
  comment_id TEXT,
  reply_id TEXT,
  review_id TEXT,
  revision TEXT,
  problem TEXT,                          -- reason for a failure
  events INTEGER NOT NULL,               -- number of events since it was read
  state TEXT NOT NULL,                   -- unread, read, done
  digest INTEGER NOT NULL DEFAULT 0,     -- 1: pending for the next digest
  at BIGINT NOT NULL,                    -- time of the last event
  UNIQUE (user_id, about)
);
CREATE INDEX notifications_open ON notifications (user_id, at, id) WHERE state <> 'done';
CREATE INDEX notifications_unread ON notifications (user_id, at, id) WHERE state = 'unread';
CREATE INDEX notifications_done ON notifications (user_id, at, id) WHERE state = 'done';
CREATE INDEX notifications_digest ON notifications (user_id) WHERE digest = 1;
CREATE INDEX notifications_by_space ON notifications (space_id, user_id);
CREATE INDEX notifications_by_about ON notifications (about);
CREATE INDEX notifications_by_time ON notifications (state, at);

-- Stored numbers of notifications.
CREATE TABLE notification_counts (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  unread INTEGER NOT NULL,
  read INTEGER NOT NULL,
  done INTEGER NOT NULL,
  PRIMARY KEY (user_id, space_id)
);
CREATE INDEX notification_counts_by_space ON notification_counts (space_id);

-- Spaces and pages that people watch or have muted.
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
  channels TEXT NOT NULL,                -- JSON: app, mail, digest, or off by reason, if it is not the default
  updated_at BIGINT NOT NULL
);
