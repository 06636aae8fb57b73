-- Sources of context of a site, such as issue trackers, and the records that they contain.

-- setup and secrets: JSON, secrets encrypted. usage: JSON. cursor: where the next sync continues; NULL: from the start.
-- run: ID of the current or latest sync, so that a sync that was replaced stops.
CREATE TABLE context_connections (
  id TEXT PRIMARY KEY,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  connector TEXT NOT NULL,
  setup TEXT NOT NULL,
  secrets TEXT,
  label TEXT,
  filter TEXT,
  usage TEXT NOT NULL,
  status TEXT NOT NULL,                  -- pending, syncing, succeeded, failed
  failure_reason TEXT,                   -- authentication, misconfigured, rate_limited, upstream_unavailable, unknown
  failure_message TEXT,
  cursor TEXT,
  run TEXT,
  records INTEGER NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  synced_at BIGINT
);
CREATE INDEX context_connections_by_site ON context_connections (site_id, id);

-- external_id: ID at the source. fingerprint: hash of the content, so that unchanged records aren't written again.
-- run: the sync that found it last.
CREATE TABLE context_records (
  id TEXT PRIMARY KEY,
  connection_id TEXT NOT NULL REFERENCES context_connections(id) ON DELETE CASCADE,
  site_id TEXT NOT NULL REFERENCES sites(id) ON DELETE CASCADE,
  external_id TEXT NOT NULL,
  type TEXT NOT NULL,                    -- ticket, document
  title TEXT NOT NULL,
  description TEXT,
  text TEXT NOT NULL,
  url TEXT,
  metadata TEXT NOT NULL,                -- JSON
  fingerprint TEXT NOT NULL,
  run TEXT,
  created_at BIGINT NOT NULL,
  processed_at BIGINT NOT NULL,
  UNIQUE (connection_id, external_id)
);
CREATE INDEX context_records_by_site ON context_records (site_id, id);
