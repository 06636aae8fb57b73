"""Events that waited for integrations before there was one queue for all keep waiting in it."""

from __future__ import annotations

import pytest

from octavo.extensions.deliveries.store import PREVIOUS, DeliveryRecipient, find_delivery, next_due
from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import load_migrations, migrate
from octavo.kit.secrets.sealing import Sealer

BEFORE = """
INSERT INTO organizations (id, title, created_at) VALUES ('org', 'Home', 1);
INSERT INTO integrations (id, name, organization_id, version, runtime, title, description, summary, visibility, target,
  has_blocks, has_content_sources, manifest, secrets, signing_secret, created_at, updated_at)
  VALUES ('int', 'chat', 'org', 1, 'v2', 'Chat', '', '', 'private', 'all', 0, 0, '{}', '', '', 1, 1);
INSERT INTO integration_events (number, id, integration_id, installation_id, organization_id, queue, place_kind,
  place_id, type, event, previous, status, attempts, next_at, logs, created_at)
  VALUES (7, 'event', 'int', 'installation', 'org', 'installation', '', '', 'installation_deleted', '{"a": 1}',
  'SEALED', 'waiting', 2, 1, '[]', 1);
INSERT INTO jobs (id, kind, organization_id, state, payload, run_at, created_at)
  VALUES ('job', 'deliverIntegrationEvents', 'org', 'ready', '{"queue": "installation"}', 1, 1);
"""
NUMBER = 202611230000


@pytest.mark.slow
def test_pending_deliveries_survive_upgrades(bare_url):
    everything = load_migrations("octavo.operations.migrations")
    sealer = Sealer([b"k" * 32])
    # As the previous version encrypted it: for the table of that name.
    sealed = sealer.seal("integration_events\0previous\0event", '{"configuration": {}}')
    database = open_database(bare_url)
    try:
        migrate(database, [migration for migration in everything if migration.number < NUMBER])
        with database.write() as tx:
            for statement in BEFORE.replace("SEALED", sealed).split(";\n"):
                if statement.strip():
                    tx.run(statement)
        migrate(database, everything)
        with database.write() as tx:
            row = find_delivery(tx, DeliveryRecipient("integration", "int"), "event")
            assert row == next_due(tx, "installation")
            assert (row.number, row.event, row.attempts, row.status) == (7, {"a": 1}, 2, "waiting")
            assert PREVIOUS.open(sealer, row.previous, row.id) == '{"configuration": {}}'
            assert tx.value("SELECT kind FROM jobs WHERE id = 'job'") == "deliverEvents"
            tx.run(
                "INSERT INTO deliveries (id, integration_id, organization_id, queue, place_kind, place_id, type, event,"
                " status, next_at, created_at)"
                " VALUES ('next', 'int', 'org', 'q', '', '', 'task', '{}', 'waiting', 1, 1)"
            )
            assert tx.value("SELECT number FROM deliveries WHERE id = 'next'") > 7
    finally:
        database.close()
