"""Scheduled jobs that delete unused clients and expired connections."""

from __future__ import annotations

from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store
from .site_agents import forget_site_agents


@jobs.job("forgetPrograms", bound="everything that expired since the last run", seconds=60)
def forget_unused_clients(context: Context) -> None:
    with context.db.write() as tx:
        forget_site_agents(tx)
        store.forget_clients(tx)


jobs.schedule("forgetPrograms", 86_400, "forgetPrograms")
