-- Webhooks, and a common queue of events for webhooks and integrations.

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations(id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  events TEXT NOT NULL,                  -- JSON: event types that it receives
  active INTEGER NOT NULL,
  secret TEXT NOT NULL,                  -- encrypted signing secret
  old_secret TEXT,                       -- encrypted former secret, which also signs until
  overlap_until BIGINT,                  -- this time
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, id);

CREATE TABLE deliveries (
  number SERIAL_KEY,
  id TEXT NOT NULL UNIQUE,
  integration_id TEXT REFERENCES integrations(id) ON DELETE CASCADE,  -- the recipient is one of these two
  webhook_id TEXT REFERENCES webhooks(id) ON DELETE CASCADE,
  installation_id TEXT,                  -- outlives the installation, because its removal is also an event
  organization_id TEXT NOT NULL,         -- organization of the installation; without one, that of the integration
  queue TEXT NOT NULL,                   -- installation, integration, or webhook
  place_kind TEXT NOT NULL,              -- space, site, ''
  place_id TEXT NOT NULL,                -- events of one place are delivered in order
  type TEXT NOT NULL,
  event TEXT NOT NULL,                   -- JSON in the format of the recipient
  previous TEXT,                         -- encrypted JSON: the previous configuration of an installation
  status TEXT NOT NULL,                  -- waiting, success, failed
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  answered INTEGER,                      -- HTTP status of the last attempt
  error TEXT,
  logs TEXT NOT NULL DEFAULT '[]',       -- JSON: log of the script in the last attempt
  created_at BIGINT NOT NULL,
  attempted_at BIGINT,
  CHECK ((integration_id IS NULL) <> (webhook_id IS NULL))
);
INSERT INTO deliveries (number, id, integration_id, installation_id, organization_id, queue, place_kind, place_id,
    type, event, previous, status, attempts, next_at, error, logs, created_at)
  SELECT number, id, integration_id, installation_id, organization_id, queue, place_kind, place_id, type, event,
    previous, status, attempts, next_at, error, logs, created_at FROM integration_events;
-- only: postgresql
SELECT setval('deliveries_number_seq', (SELECT coalesce(max(number), 0) + 1 FROM deliveries), false);
-- end
CREATE INDEX deliveries_by_integration ON deliveries (integration_id, number);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, number);
CREATE INDEX deliveries_waiting ON deliveries (queue, number) WHERE status = 'waiting';
CREATE INDEX deliveries_waiting_by_place ON deliveries (queue, place_id, number) WHERE status = 'waiting';
CREATE INDEX deliveries_undone ON deliveries (status) WHERE status <> 'success';
CREATE INDEX deliveries_by_age ON deliveries (created_at);

-- At most one worker delivers the events of a queue.
CREATE TABLE delivery_queues (
  queue TEXT PRIMARY KEY,
  integration_id TEXT REFERENCES integrations(id) ON DELETE CASCADE,
  webhook_id TEXT REFERENCES webhooks(id) ON DELETE CASCADE,
  claimed_until BIGINT NOT NULL,
  silences INTEGER NOT NULL DEFAULT 0,   -- number of consecutive attempts without a response
  paused_until BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX delivery_queues_by_integration ON delivery_queues (integration_id);
CREATE INDEX delivery_queues_by_webhook ON delivery_queues (webhook_id);

DROP TABLE integration_events;
DROP TABLE integration_queues;
UPDATE jobs SET kind = 'deliverEvents' WHERE kind = 'deliverIntegrationEvents';
DELETE FROM jobs WHERE kind = 'pruneIntegrationEvents';
DELETE FROM schedules WHERE name = 'pruneIntegrationEvents';
