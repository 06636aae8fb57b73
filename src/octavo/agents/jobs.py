"""What goes by itself: programs that asked to be known and that nobody works with."""

from __future__ import annotations

from ..kit import jobs
from ..kit.context import Context
from . import store


@jobs.job("forgetPrograms", bound="what expired since the last one", seconds=60)
def forget_programs(context: Context) -> None:
    with context.db.write() as tx:
        store.forget_clients(tx)


jobs.schedule("forgetPrograms", 86_400, "forgetPrograms")
