-- Sites that showed a permanently deleted space with restricted pages. Their questions, events, and findings can still
-- be about these pages.
CREATE TABLE site_purged_restrictions (
  site_id TEXT PRIMARY KEY REFERENCES sites(id) ON DELETE CASCADE
);
