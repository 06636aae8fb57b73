"""Jobs that create PDFs, once per state, in a separate process."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
from msgspec.structs import replace

from octavo.content.revisions.computing import on_dependency_change
from octavo.content.revisions.files import store_file
from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import revision_state
from octavo.core.document.containing import report_failure
from octavo.errors import NotFound
from octavo.kit.clock import WEEK, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.processes.subprocesses import ProcessLimits, run_apart
from octavo.kit.temporary import TemporaryFolder
from octavo.kit.work import jobs
from octavo.organization.spaces.store import get_space

from . import store
from .inputs import collect_order
from .order import PrintOrder, PrintResult
from .store import PrintRow, PrintSubject
from .styles import find_look, write_look

log = logging.getLogger(__name__)

BOUNDS = ProcessLimits(memory=3 * 1024**3, file=512 * 1024**2, seconds=120)
"""Resource limits for creating a PDF."""
KEPT = WEEK
_SWEEP_EVERY = 6 * 3600.0
_TOO_MUCH = "Creating the PDF requires more memory or time than allowed. Create PDFs of single pages instead."


class CannotPrint(Exception):
    """Raised if not even the plain text can be typeset. The message is for the reader, and contains the reason."""


class FailedApart(Exception):
    """Raised if Octavo's code failed in the typesetting process. The message comes from that process."""


def order_print(tx: Transaction, wanted: PrintSubject, look: str) -> PrintRow | None:
    """Return the PDF's row, and enqueue the PDF's creation if necessary; None if the space was deleted. ``look``:
    the version of the space's appearance.

    Requires a write transaction."""
    print_id = wanted.id_in(look)
    if store.insert_print(tx, print_id, wanted):
        organization_id = get_space(tx, wanted.space_id).organization_id
        jobs.enqueue(tx, "makePrint", organization=organization_id, print_id=print_id)
    return store.find_print(tx, print_id)


@jobs.job(
    "makePrint",
    bound="one print, which a process with its own limits creates",
    attempts=3,
    seconds=3 * BOUNDS.longest,
)
def make_print(context: Context, print_id: str) -> None:
    """Create the PDF for a row in ``prints``."""
    with context.db.read() as tx:
        row = store.find_print(tx, print_id)
    if row is None or row.file is not None:
        return
    with TemporaryFolder("print") as name:
        folder = Path(name)
        try:
            with context.db.read() as tx:
                state = unrestricted(tx, revision_state(tx, row.wanted.space_id, row.wanted.revision_id))
                order = collect_order(context, tx, state, row.wanted, folder)
                look = find_look(context, tx, row.wanted.space_id)
            order = replace(order, look=write_look(context, look, folder))
            result = compile_order(order, folder)
        except (CannotPrint, NotFound) as error:
            with context.db.write() as tx:
                store.fail_print(tx, print_id, str(error))
                jobs.finish(tx)
            return
        for failure in result.contained:
            report_failure(failure.stage, FailedApart(failure.error), failure.count)
        if result.plain or result.broken:
            lost = {"print": print_id, "plain": result.plain, "broken": result.broken}
            log.warning("printed with problems", extra=lost)
        blob = store_file(context, (folder / "print.pdf").read_bytes())
    with context.db.write() as tx:
        store.finish_print(tx, print_id, blob.hash, blob.size)
        jobs.finish(tx)


def compile_order(order: PrintOrder, folder: Path) -> PrintResult:
    """Write ``print.pdf`` to the folder, which must contain the order's images. Raises CannotPrint if not even the
    plain text can be typeset.

    If the process runs out of time or memory, the PDF is created once more, as plain text.
    """
    (folder / "order.json").write_bytes(msgspec.json.encode(order))
    for arguments in ([], ["plain"]):
        if _run(folder, arguments):
            return msgspec.json.decode((folder / "result.json").read_bytes(), type=PrintResult)
    raise CannotPrint(_TOO_MUCH)


def _run(folder: Path, arguments: list[str]) -> bool:
    return run_apart("octavo.sites.printing.compiling", folder, arguments, bounds=BOUNDS)


@jobs.job("forgetOldPrints", bound="everything that expired since the last run")
def forget_old_prints(context: Context) -> None:
    """Delete PDFs after a week. Opening a link to a deleted PDF creates the PDF again."""
    with context.db.write() as tx:
        store.forget_prints(tx, now() - KEPT)
        jobs.finish(tx)


jobs.schedule("forgetOldPrints", _SWEEP_EVERY, "forgetOldPrints")


# Pages that depend on other data, such as pages computed by an integration, are reprinted when that data
# changes, because their revision doesn't reflect the change.
on_dependency_change(lambda tx, organization_id, space_ids: store.forget_prints_of(tx, organization_id))
