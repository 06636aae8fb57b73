"""Scheduled jobs: deleting clients that registered and that nobody uses."""

from __future__ import annotations

from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store


@jobs.job("forgetPrograms", seconds=60)
def forget_programs(context: Context) -> None:
    with context.db.write() as tx:
        store.forget_clients(tx)


jobs.schedule("forgetPrograms", 86_400, "forgetPrograms")
