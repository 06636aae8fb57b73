-- Pages that are edited live: the order of all changes since the page was opened, and the last saved one. A version is
-- a number of steps; an epoch is a sequence of versions that starts with the same document.
CREATE TABLE page_live (
  branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  epoch TEXT NOT NULL,
  version BIGINT NOT NULL,
-- The revision whose content is part of this version, and the version that contains it.
  revision TEXT NOT NULL,
  saved_version BIGINT NOT NULL,
  unsaved_since BIGINT,
  save_at BIGINT,
  saving_until BIGINT NOT NULL,
-- Time until which no one can add steps, because the change request is being merged.
  held_until BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, page_id)
);
CREATE INDEX page_live_by_save ON page_live (save_at);
CREATE INDEX page_live_by_time ON page_live (touched_at);
-- Document at one of its versions.
CREATE TABLE page_snapshots (
  branch_id TEXT NOT NULL,
  page_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  document BYTES NOT NULL,
  PRIMARY KEY (branch_id, page_id),
  FOREIGN KEY (branch_id, page_id) REFERENCES page_live (branch_id, page_id) ON DELETE CASCADE
);
-- Batches of steps. version: the version after the last step.
CREATE TABLE page_steps (
  branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  client TEXT NOT NULL,
  batch BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  user_id TEXT,
  agent TEXT,
  steps TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, page_id, version)
);
CREATE UNIQUE INDEX page_steps_by_client ON page_steps (branch_id, page_id, client, batch);
CREATE INDEX page_steps_by_time ON page_steps (created_at);
CREATE TABLE page_carets (
  branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  client TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  version BIGINT NOT NULL,
  anchor BIGINT NOT NULL,
  head BIGINT NOT NULL,
  said_at BIGINT NOT NULL,
  PRIMARY KEY (branch_id, page_id, client)
);
CREATE INDEX page_carets_by_time ON page_carets (said_at);
CREATE INDEX page_carets_by_user ON page_carets (user_id);
-- Everyone whose changes a revision contains, if there are several authors.
CREATE TABLE revision_authors (
  revision_id TEXT NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  PRIMARY KEY (revision_id, user_id, agent)
);
-- Texts of writers that could not be added to the page.
CREATE TABLE set_aside (
  id TEXT PRIMARY KEY,
  branch_id TEXT NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  markdown TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX set_aside_by_page ON set_aside (branch_id, page_id, user_id, id);
CREATE INDEX set_aside_by_user ON set_aside (user_id);
