-- Unsaved customization of a site that a person is previewing; only the last one is kept.
CREATE TABLE site_look_drafts (
  site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  customization TEXT NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (site_id, user_id)
);
CREATE INDEX site_look_drafts_by_user ON site_look_drafts (user_id);
