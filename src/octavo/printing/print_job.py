"""Prints are made by a job, once for each state, by a process of their own."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..content import on_dependency_change, revision_state, store_file
from ..core.document import tell_failure
from ..errors import NotFound
from ..kit import jobs
from ..kit.apart import ProcessLimits, run_apart
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.temporary import TemporaryFolder
from ..spaces import get_space
from . import store
from .inputs import gather
from .looks import find_look, put_look
from .order import Order, Result
from .store import PrintRow, PrintSubject

log = logging.getLogger(__name__)

BOUNDS = ProcessLimits(memory=3 * 1024**3, file=512 * 1024**2, seconds=120)
"""What a print may take."""
KEPT = 7 * 86_400_000
_SWEEP_EVERY = 6 * 3600.0
_TOO_MUCH = "This space could not be printed: it asks for more memory or time than a print is given."


class CannotPrint(Exception):
    """Even the plain text could not be set; the message says why, for a reader."""


class FailedApart(Exception):
    """What our own code failed with in the process that set a print, as it said it there."""


def order_print(tx: Transaction, wanted: PrintSubject, look: str) -> PrintRow | None:
    """The print as it stands; one that nobody asked for yet is now on its way. None: the space is gone. ``look``: the
    version of how its space looks.

    Needs a write transaction.
    """
    print_id = wanted.id_in(look)
    if store.insert_print(tx, print_id, wanted):
        organization_id = get_space(tx, wanted.space_id).organization_id
        jobs.enqueue(tx, "makePrint", organization=organization_id, print_id=print_id)
    return store.find_print(tx, print_id)


@jobs.job("makePrint", attempts=3, seconds=3 * BOUNDS.longest)
def make_print(context: Context, print_id: str) -> None:
    """Makes the PDF of a row of ``prints``."""
    with context.db.read() as tx:
        row = store.find_print(tx, print_id)
    if row is None or row.file is not None:
        return
    with TemporaryFolder("print") as name:
        folder = Path(name)
        try:
            with context.db.read() as tx:
                state = revision_state(tx, row.wanted.space_id, row.wanted.revision_id)
                order = gather(context, tx, state, row.wanted, folder)
                look = find_look(context, tx, row.wanted.space_id)
            order = replace(order, look=put_look(context, look, folder))
            result = compile_order(order, folder)
        except (CannotPrint, NotFound) as error:
            with context.db.write() as tx:
                store.fail_print(tx, print_id, str(error))
                jobs.finish(tx)
            return
        for failure in result.contained:
            tell_failure(failure.stage, FailedApart(failure.error), failure.count)
        if result.plain or result.broken:
            lost = {"print": print_id, "plain": result.plain, "broken": result.broken}
            log.warning("printed with losses", extra=lost)
        blob = store_file(context, (folder / "print.pdf").read_bytes())
    with context.db.write() as tx:
        store.finish_print(tx, print_id, blob.hash, blob.size)
        jobs.finish(tx)


def compile_order(order: Order, folder: Path) -> Result:
    """Leaves ``print.pdf`` in the folder, where the images of the order are. Raises CannotPrint.

    What does not end in time, or takes all memory, is tried once more as plain text.
    """
    (folder / "order.json").write_bytes(msgspec.json.encode(order))
    for arguments in ([], ["plain"]):
        if _run(folder, arguments):
            return msgspec.json.decode((folder / "result.json").read_bytes(), type=Result)
    raise CannotPrint(_TOO_MUCH)


def _run(folder: Path, arguments: list[str]) -> bool:
    return run_apart("octavo.printing.compiling", folder, arguments, bounds=BOUNDS)


@jobs.job("forgetOldPrints")
def forget_old_prints(context: Context) -> None:
    """Deletes prints after a week; whoever opens a link to one then has it made again."""
    with context.db.write() as tx:
        store.forget_prints(tx, now() - KEPT)
        jobs.finish(tx)


jobs.schedule("forgetOldPrints", _SWEEP_EVERY, "forgetOldPrints")


# Pages that show something else are printed anew when that has changed; their revision says nothing of it.
# Also where only a page that an integration computes shows it.
on_dependency_change(lambda tx, organization_id, space_ids: store.forget_prints_of(tx, organization_id))
