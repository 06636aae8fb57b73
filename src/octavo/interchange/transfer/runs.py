"""Job of an import run. It gathers, converts, and stores the content, and then creates one revision and ends the
run in the same transaction.

If the process is killed at any point, only data that nothing refers to is left behind, and the next attempt starts
over. A run can be canceled until the transaction that creates the revision begins.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.authorization import change_access
from octavo.content.changes.saving import edit_live, require_editable, require_live, revise_change
from octavo.content.changes.store import find_change
from octavo.content.revisions.page_versions import get_page, list_pages
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.content.revisions.states import State, main_state
from octavo.content.uploads.store import get_uploads
from octavo.core.links import app_hosts
from octavo.core.pages import slugify
from octavo.core.problems import Problem
from octavo.core.sources import Source, SourceError
from octavo.errors import NotFound, OctavoError, Unavailable
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Actor
from octavo.kit.net.fetch import Fetcher
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.deadlines import DeadlineExceeded
from octavo.kit.temporary import TemporaryFolder
from octavo.kit.work.jobs import LeaseLost, finish, job, renew
from octavo.kit.work.outbox import emit
from octavo.organization.access.authorization import space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import set_language_if_unset

from . import store
from .importing import StagedFiles, imported_from, stage_files
from .platforms import platform_at
from .previewing import plan_source
from .readme import ReadMe
from .recording import Canceled, record
from .store import ImportRunRow
from .types import Destination, KeptApiSource, KeptSource, WebsiteSource
from .updating import Update, add, find_base, update
from .variants import Variants, space_for_each

if TYPE_CHECKING:
    from octavo.interchange.readers.scratch import TemporaryFiles

ATTEMPTS = 3
SECONDS = 2 * 3600.0
"""Maximum number of seconds for an attempt. Reading a website takes at most half of that time."""
_TELL_EVERY = 0.5
_OWN_PROBLEMS = frozenset(["no_readme"])
"""Codes of problems that don't matter for import runs, because pages under other pages don't need a home page."""


class ProgressReporter:
    """Reporter that writes the progress of a run to the database, at most twice a second. Raises Canceled if the run
    has ended, and DeadlineExceeded if it takes too long."""

    def __init__(self, context: Context, run_id: str) -> None:
        self._context = context
        self._run_id = run_id
        self._told = 0.0
        self._gathered = 0

    def tick(self) -> None:
        """Count one more fetched or converted item."""
        self._gathered += 1
        self.report(0, self._gathered)

    def wait(self, seconds: float) -> None:
        """Wait while reporting progress."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _TELL_EVERY))
            self.report(0, self._gathered)

    def report(self, done: int, total: int) -> None:
        renew()
        moment = time.monotonic()
        if moment - self._told < _TELL_EVERY:
            return
        self._told = moment
        with self._context.db.write() as tx:
            if not store.set_progress(tx, self._run_id, done, total):
                raise Canceled


@job("runImport", bound=None, attempts=ATTEMPTS + 1, seconds=SECONDS)
def run_import(context: Context, run: str) -> None:
    """Run an import until it ends. If the source can't be imported, the run fails; after any other error, the run
    is retried."""
    with context.db.write() as tx:
        begun = store.begin_run(tx, run)
        if begun is None:
            return
        if begun.attempts > ATTEMPTS:
            _fail(tx, begun, "The server stopped during every attempt. Start the import again.")
            finish(tx)
            return
    try:
        _import(context, begun)
    except Canceled:
        return
    except LeaseLost:
        raise
    except (SourceError, OctavoError) as error:
        if isinstance(error, Unavailable) and begun.attempts < ATTEMPTS:
            raise
        with context.db.write() as tx:
            _fail(tx, begun, str(error))
            finish(tx)
    except DeadlineExceeded:
        with context.db.write() as tx:
            _fail(
                tx,
                begun,
                f"The import took longer than {SECONDS / 3600:g} hours. Import the source in smaller parts.",
            )
            finish(tx)
    except Exception:
        if begun.attempts < ATTEMPTS:
            raise
        with context.db.write() as tx:
            _fail(tx, begun, "The import failed because of a server error. Try again later.")
        raise


def _fail(tx: Transaction, run: ImportRunRow, error: str, problems: Sequence[Problem] = ()) -> bool:
    """End a run as failed, and notify the person who started it. Return False if the run has already ended."""
    ended = store.end_run(tx, run.id, "failed", problems=problems, error=error)
    if ended:
        emit(
            tx,
            "import_failed",
            organization_id=run.organization_id,
            space_id=run.space_id,
            run=run.id,
            user=run.user_id,
            problem=error,
        )
    return ended


def _import(context: Context, run: ImportRunRow) -> None:
    # Imported here so that only imports load the readers.
    from octavo.interchange.readers.scratch import TemporaryFiles

    progress = ProgressReporter(context, run.id)
    with ExitStack() as stack:
        path = stack.enter_context(TemporaryFolder("import"))
        source, urls = _gather(context, run, TemporaryFiles(Path(path)), stack, progress)
        if source.kind:
            with context.db.write() as tx:
                store.set_kind(tx, run.id, source.kind)
        if run.preview:
            _preview(context, run, source, progress)
            return
        actor = actor_for_job(run.user_id, run.organization_id)
        variants = stack.enter_context(space_for_each(context, actor, run, source))
        if variants is None:
            staged = stage_files(context, source, progress=progress.report)
        else:
            spaces = frozenset(variants.spaces.values())
            staged = stage_files(
                context, variants.linked(source), progress=progress.report, is_space=spaces.__contains__
            )
        problems = [problem for problem in staged.problems if problem.code not in _OWN_PROBLEMS]
        if not staged.plan.pages:
            with context.db.write() as tx:
                if _fail(tx, run, "The source has no pages to import.", problems):
                    finish(tx)
            raise Canceled
        if variants is not None:
            variants.import_others(progress.report)
        elif source.brand:
            problems.append(source.brand.left_out())
        _place(context, run, staged, urls, problems, variants)


def _gather(
    context: Context, run: ImportRunRow, folder: TemporaryFiles, stack: ExitStack, progress: ProgressReporter
) -> tuple[Source, dict[str, str] | None]:
    """Return the source and, for a website, the URL of each page."""
    # Imported here so that only imports load the readers.
    wanted: Any = msgspec.json.decode(run.source, type=KeptSource)
    if isinstance(wanted, WebsiteSource):
        from .website import crawl

        fetcher = Fetcher(context.settings.allow_private_fetch)
        crawled = crawl(wanted.url, fetcher, folder, progress.tick)
        return crawled.source, crawled.urls
    if isinstance(wanted, KeptApiSource):
        with context.db.read() as tx:
            user, token = store.find_secret(tx, context.sealer, run.id)
        fetcher = Fetcher(context.settings.allow_private_fetch)
        platform = platform_at(wanted.service, wanted.url, user, token, fetcher, progress.wait, progress.tick)
        if run.variants is not None and isinstance(platform, ReadMe):
            return platform.open_all(platform.project(), folder, wanted.space), None
        return platform.open(wanted.space, folder, stack), None
    from .uploads import gather_uploads

    with context.db.read() as tx:
        uploads = get_uploads(tx, run.organization_id, run.user_id, "import_file", wanted.files)
    kind = or_none(wanted.kind)
    several = run.variants is not None
    return gather_uploads(uploads, context.files, folder, stack, progress.tick, kind, several), None


def _preview(context: Context, run: ImportRunRow, source: Source, progress: ProgressReporter) -> None:
    """End a run that is only a preview, and store the plan of the import."""
    hosts = app_hosts(context.settings.url)
    plan, problems = plan_source(source, context.settings.page_size, hosts, progress.tick)
    problems = [problem for problem in problems if problem.code not in _OWN_PROBLEMS]
    with context.db.write() as tx:
        if not plan.page_count:
            ended = _fail(tx, run, "The source has no pages to import.", problems)
        else:
            ended = store.end_run(tx, run.id, "completed", problems=problems, plan=plan)
        if not ended:
            raise Canceled
        finish(tx)


def _place(
    context: Context,
    run: ImportRunRow,
    staged: StagedFiles,
    urls: dict[str, str] | None,
    problems: list[Problem],
    variants: Variants | None,
) -> None:
    """Create the revision, with the owner's current permissions, and end the run in the same transaction."""
    brought: Update
    was_empty = False
    is_over = False

    def make(tx: Transaction, state: State, _: State | None) -> EditedContent:
        nonlocal brought, was_empty
        if run.origin is not None:
            base = find_base(tx, run.space_id, run.origin, run.change_id)
            if base is None:
                raise SourceError(
                    "The pages from the earlier import aren't in the target. Either the import's change"
                    " request isn't merged, or the import is too old to be updated. Merge the change"
                    " request, or start a new import."
                )
            brought = update(tx, base, state, staged, in_change=run.change_id is not None)
            return brought.edited
        was_empty = run.page_id is None and not list_pages(tx, state)
        brought = add(
            tx, state, staged, folder=_folder_name(run), into=run.page_id, with_sources=urls is None
        )
        return brought.edited

    actor = actor_for_job(run.user_id, run.organization_id)

    def end(tx: Transaction, state: State, wrote: bool = True) -> None:
        nonlocal is_over
        # Permissions are checked when the revision is created, because preparing it may have taken a while.
        space = space_access(tx, actor, Can.EDIT, run.space_id)
        revision = state.revision_id if wrote else None
        said = [*problems, *staged.failures()]
        if variants is not None:
            said += [*variants.problems, *variants.arrange(tx, context, was_empty and run.change_id is None)]
        record(tx, run.id, brought, staged, space, revision, said, urls or {})
        is_over = True
        if was_empty and run.change_id is None and staged.language is not None:
            set_language_if_unset(tx, run.space_id, staged.language)
        finish(tx)

    with context.db.read() as tx:
        space = space_access(tx, actor, Can.EDIT, run.space_id)
        change = change_access(tx, space, run.change_id) if run.change_id else None
    while not is_over:
        deadlines.check()
        done = (
            edit_live(context, space, make, end, message=imported_from(staged))
            if change is None
            else revise_change(context, change, make, end)
        )
        if not is_over:
            # Nothing changed, so there is no revision to end the run with.
            with context.db.write() as tx:
                if change is None and main_state(tx, run.space_id).revision_id != done.state.revision_id:
                    continue
                end(tx, done.state, wrote=False)


def _folder_name(run: ImportRunRow) -> str:
    wanted: Any = msgspec.json.decode(run.source)
    return slugify(f"import-{wanted.get('url', '').partition('://')[2].partition('/')[0]}") or "import"


def check_destination(tx: Transaction, actor: Actor, into: Destination) -> tuple[str | None, str | None]:
    """Return the IDs of the change request and the page into which a run imports. Raises NotFound if either of them
    doesn't exist, Conflict if the change request isn't open, and Forbidden if the caller doesn't have permission."""
    space = space_access(tx, actor, Can.EDIT, into.space_id)
    change_id = None
    state = main_seen_by(tx, space)
    if into.change_request is not None:
        change = find_change(tx, into.space_id, into.change_request)
        if change is None:
            raise NotFound(
                f"target.changeRequest: there is no change request with the ID {into.change_request!r}"
            )
        require_editable(change)
        change_id, state = change.id, seen_by(tx, space, change.state)
    else:
        require_live(space)
    return change_id, None if into.page is None else get_page(tx, state, into.page).id
