"""A world in which nobody was told anything yet."""

from __future__ import annotations

import pytest

from octavo.kit.worker import Worker


@pytest.fixture(autouse=True)
def _nothing_told(world):
    Worker(world.context.db, world.context).run_pending()
    with world.context.db.write() as tx:
        tx.run("DELETE FROM notifications")
        tx.run("DELETE FROM notification_counts")
