"""World without any notifications."""

from __future__ import annotations

import pytest

from octavo.kit.clock import now
from octavo.kit.work import jobs, outbox


@pytest.fixture(autouse=True)
def _nothing_told(world):
    """Process all pending events and jobs of the setup, which takes most of a second."""
    with world.context.db.write() as tx:
        last = tx.value("SELECT max(id) FROM events")
        for name in outbox._consumers:
            tx.run("DELETE FROM event_cursors WHERE consumer = :name", name=name)
            tx.run(
                "INSERT INTO event_cursors (consumer, event_id) VALUES (:name, :last)", name=name, last=last
            )
        for name, (every, _) in jobs.schedules.items():
            tx.run("DELETE FROM schedules WHERE name = :name", name=name)
            tx.run("INSERT INTO schedules (name, next_at) VALUES (:name, :at)", name=name, at=now() + every)
        tx.run("DELETE FROM jobs")
        tx.run("DELETE FROM notifications")
        tx.run("DELETE FROM notification_counts")
