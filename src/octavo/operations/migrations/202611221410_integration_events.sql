-- Events for integrations: a queue for each installation, and the outcome of each event.

-- development mode: URL that receives the events instead
ALTER TABLE integrations ADD COLUMN tunnel_url TEXT;
ALTER TABLE integrations ADD COLUMN tunnel_all INTEGER NOT NULL DEFAULT 0;

CREATE TABLE integration_events (
  number SERIAL_KEY,
  id TEXT NOT NULL UNIQUE,
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  installation_id TEXT,                  -- outlives the installation, because its removal is also an event
  organization_id TEXT NOT NULL,         -- organization of the installation; without one, that of the integration
  queue TEXT NOT NULL,                   -- installation or integration
  place_kind TEXT NOT NULL,              -- space, site, ''
  place_id TEXT NOT NULL,                -- events of one place are delivered in order
  type TEXT NOT NULL,
  event TEXT NOT NULL,                   -- JSON in the format of scripts
  previous TEXT,                         -- encrypted JSON: the previous configuration of an installation
  status TEXT NOT NULL,                  -- waiting, success, failed
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  error TEXT,
  logs TEXT NOT NULL DEFAULT '[]',       -- JSON: log of the script in the last attempt
  created_at BIGINT NOT NULL
);
CREATE INDEX integration_events_by_integration ON integration_events (integration_id, number);
CREATE INDEX integration_events_waiting ON integration_events (queue, place_id, number) WHERE status = 'waiting';
CREATE INDEX integration_events_by_age ON integration_events (created_at);

-- At most one worker delivers the events of a queue.
CREATE TABLE integration_queues (
  queue TEXT PRIMARY KEY,
  integration_id TEXT NOT NULL REFERENCES integrations(id) ON DELETE CASCADE,
  claimed_until BIGINT NOT NULL
);
CREATE INDEX integration_queues_by_integration ON integration_queues (integration_id);
