-- What the agent of a site may do by itself. Without a row, it creates no change requests.
CREATE TABLE site_agent_settings (
  site_id TEXT PRIMARY KEY REFERENCES sites(id) ON DELETE CASCADE,
  topics TEXT NOT NULL,                  -- auto, never
  change_requests TEXT NOT NULL,         -- auto-fixable, never
  kinds TEXT NOT NULL,                   -- JSON array: kinds of findings to fix
  per_day INTEGER NOT NULL,              -- maximum number of change requests in 24 hours
  updated_by TEXT NOT NULL,              -- person whose permissions the agent has
  updated_at BIGINT NOT NULL
);
