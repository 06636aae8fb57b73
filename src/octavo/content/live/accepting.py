"""Accept batches of steps: put them in order, and rebase late batches on the steps that their authors hadn't seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.revisions.history import get_revision
from octavo.content.revisions.page_versions import find_page, get_page
from octavo.content.revisions.states import revision_state
from octavo.core.editor.columns import column_steps
from octavo.core.editor.differences import tidy_steps
from octavo.core.editor.schema import VERSION
from octavo.core.editor.steps import StepError, StepJson, map_steps, ranges_of
from octavo.errors import (
    BadRequest,
    Conflict,
    NoLongerStored,
    NotFound,
    PreconditionFailed,
    TemporarilyUnavailable,
    TooLarge,
    TooManyRequests,
    Unprocessable,
    format_size,
)
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.work.hub import wake_hub

from . import store
from .adding import add_batch
from .authorization import LiveAccess
from .branches import LiveBranch, get_branch, lock_branch, require_writable
from .commands import CaretInput, StepsInput
from .documents import (
    LivePage,
    LoadedBatch,
    batches_after,
    document_of,
    editable_page,
    encode_document,
    find_first_version,
    live_pages,
    load_page,
)
from .external import apply_external_edits
from .group_commit import GroupCommit
from .store import SERVER, BatchRow, CaretRow, LiveRow, PageKey

MOST_STEPS = 200
MOST_BYTES = 256 * 1024
MOST_BYTES_OF_ONE = 2 * 1024 * 1024
"""Maximum size in bytes of a batch, and of a batch with a single step."""
_BYTES_OF_PART = 60_000
"""Minimum size in bytes of each part of a change that editors send in several batches."""
_POSTS, _STEPS = 1_500, 13_000
"""Maximum number of requests, and of steps, per person and minute."""
_BATCHES_AT_ONCE = 1_000
MOST_WRITERS = 40
"""Maximum number of people who can edit a page at the same time."""
MOST_CLIENTS = 10
"""Maximum number of clients that a person can use to edit a page at the same time."""
_PRESENT = 60_000
"""Time in milliseconds for which a client counts as present after its last batch."""
EPOCH_LIFETIME = 7 * 86_400_000
"""Time in milliseconds to keep a page's steps after its last change."""
_TABLE = '"table_'
"""Start of the types of the nodes in steps that insert rows, columns, and cells of tables."""
_NEW_EPOCH = "r"
"""Prefix of the epoch of a page that no one has edited live yet. The ID of the page's revision follows the prefix."""


class Behind(Conflict):
    """Raised if a batch is based on an older version and only its author can rebase it. ``version``: the current
    version of the page. The exception includes the batches that the author hasn't seen."""

    reason = "behind"

    def __init__(self, version: int, missed: Sequence[LoadedBatch]) -> None:
        super().__init__(
            "version: the page was edited in the meantime. Rebase your steps on `batches`, and send them"
            " again."
        )
        self.version, self.missed = version, missed


class Accepted(Struct, frozen=True):
    """Result of a batch: the version of the page, and the batches that the author hasn't seen, including this batch."""

    version: int
    batches: Sequence[LoadedBatch]


class OutdatedEditor(PreconditionFailed):
    """Raised if the editor was loaded with a different version of the document schema."""

    reason = "schema"


class RefusedStep(Unprocessable):
    """Raised if a step can't be applied to the page."""

    reason = "step"


def new_epoch(revision: str) -> str:
    return _NEW_EPOCH + revision


class _Turn:
    """One transaction shared by several batches. The data read in the transaction stays valid until it ends."""

    def __init__(self, context: Context, tx: Transaction) -> None:
        self.context, self.tx = context, tx
        self.pages: dict[PageKey, LivePage] = {}
        self.rows: dict[PageKey, LiveRow] = {}
        """Locked rows of ``pages``."""
        self._branches: dict[tuple[str, str | None], LiveBranch] = {}
        self._checked: set[tuple[Any, str, str]] = set()

    def enter(self, access: LiveAccess, page_id: str) -> LiveBranch:
        """Return the locked branch after checking that the caller can still edit the page. Raises the errors of
        ``require_writable``."""
        branch = self.lock(access.space_id, access.change_id)
        checked = (access.actor, branch.id, page_id)
        if checked not in self._checked:
            require_writable(self.tx, access, branch, page_id)
            self._checked.add(checked)
        return branch

    def lock(self, space_id: str, change_id: str | None) -> LiveBranch:
        """Lock and return the branch of a change request, or main."""
        place = (space_id, change_id)
        branch = self._branches.get(place)
        if branch is None:
            branch = self._branches[place] = lock_branch(self.tx, space_id, change_id)
        return branch

    def page(self, branch: LiveBranch, key: PageKey, epoch: str, version: int) -> tuple[LiveRow, LivePage]:
        """Return a page with all its changes so far. ``version``: the version that the writer has. Raises
        NoLongerStored if the page has a different epoch."""
        row = self.rows.get(key) or store.lock_live(self.tx, key)
        if row is None:
            editable_page(self.tx, branch.state, key.page_id)
            if version != 0:
                # The steps of this epoch have been deleted.
                raise _gone()
            row = self._begin(branch, key, epoch)
        elif row.epoch != epoch:
            raise _gone()
        return self.current(branch, key, row)

    def current(self, branch: LiveBranch, key: PageKey, row: LiveRow) -> tuple[LiveRow, LivePage]:
        """Return a locked page with all its changes so far."""
        tx = self.tx
        page = self.pages.get(key) or load_page(tx, key, row)
        if row.revision != branch.revision:
            # A merge finds blocks by their keys, and would take a copy for its original.
            row, page = self.tidied(key, row, page)
            row, page = apply_external_edits(self.context, tx, key, branch, row, page)
        self.pages[key], self.rows[key] = page, row
        return row, page

    def tidied(self, key: PageKey, row: LiveRow, page: LivePage) -> tuple[LiveRow, LivePage]:
        """Return a locked page after adding the steps that make all of its parts savable."""
        return self._fixed(key, row, page, tidy_steps(page.doc, iter(ids.new_id, None)))

    def aligned(self, key: PageKey, row: LiveRow, page: LivePage) -> tuple[LiveRow, LivePage]:
        """Return a locked page after adding the steps that keep the cells of its tables in their columns."""
        return self._fixed(key, row, page, column_steps(page.doc, iter(ids.new_id, None)))

    def _fixed(
        self, key: PageKey, row: LiveRow, page: LivePage, steps: list[StepJson]
    ) -> tuple[LiveRow, LivePage]:
        if steps:
            batch = BatchRow(
                version=page.version + len(steps),
                client=SERVER + ids.new_id(),
                batch=1,
                attempt=0,
                user_id=None,
                agent=None,
                steps=msgspec.json.encode(steps).decode(),
                created_at=now(),
            )
            page = self.pages[key] = page.with_steps(batch, steps)
            row = self.rows[key] = add_batch(self.tx, key, row, page)
        return row, page

    def _begin(self, branch: LiveBranch, key: PageKey, epoch: str) -> LiveRow:
        """Start an epoch for a page at the first writer's revision, which can be older than the current revision."""
        tx, state = self.tx, branch.state
        if epoch != new_epoch(branch.revision):
            try:
                state = revision_state(tx, state.space_id, epoch.removeprefix(_NEW_EPOCH))
            except NotFound:
                raise _gone() from None
            if new_epoch(state.revision_id) != epoch or find_page(tx, state, key.page_id) is None:
                raise _gone()
            if get_revision(tx, state.revision_id).created_at < now() - EPOCH_LIFETIME:
                # This epoch may have begun before, and have been deleted since.
                raise _gone()
        document = document_of(self.context, tx, state, editable_page(tx, state, key.page_id))
        return store.insert_live(tx, key, epoch, state.revision_id, encode_document(document))


def _gone() -> NoLongerStored:
    return NoLongerStored("epoch: this version of the page is no longer available. Load the page again.")


class Accepting:
    """Service that accepts batches of steps and carets from editors, limits how many each person can send, and commits
    batches in groups."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._posts, self._steps = RateLimiter(_POSTS), RateLimiter(_STEPS)
        self._commits = GroupCommit(context.db, self._begin, self._keep)

    def _begin(self, tx: Transaction) -> _Turn:
        return _Turn(self._context, tx)

    def _keep(self, turn: _Turn) -> None:
        pages = live_pages(self._context.db)
        for key, page in turn.pages.items():
            pages.keep(key, page)
        wake_hub(self._context.db)

    def accept(self, access: LiveAccess, page_id: str, given: StepsInput) -> Future[Accepted]:
        """Add a batch to a page. If the batch was already added, the result is the same as the first time.

        Raises the following errors, directly or through the future: Behind, NoLongerStored, OutdatedEditor,
        RefusedStep, TooLarge, TooManyRequests, and the errors of an edit to the change request.
        """
        self._posts.check(access.user_id)
        self._steps.check(access.user_id, len(given.steps))
        if given.schema != VERSION:
            raise OutdatedEditor("schema: this editor is outdated. Reload the app.")
        encoded = _encode(given.steps)
        return self._commits.submit(lambda turn: _accept(turn, access, page_id, given, encoded))

    def place_caret(self, access: LiveAccess, page_id: str, caret: CaretInput) -> Future[None]:
        """Record the position of a client's caret for one minute, or remove it. Raises the errors of ``accept``."""
        if (caret.anchor is None) is not (caret.head is None):
            raise BadRequest("head: must be null if `anchor` is null, and must not be null otherwise")
        self._posts.check(access.user_id)

        def place(turn: _Turn) -> None:
            branch = turn.enter(access, page_id)
            key = PageKey(branch.id, page_id)
            if store.lock_live(turn.tx, key) is not None:
                _put_caret(turn.tx, key, access, caret)
            else:
                get_page(turn.tx, branch.state, page_id)

        return self._commits.submit(place)

    def tidy(self, key: PageKey) -> bool:
        """Update a live page with the latest revision of its branch, and make all parts of it savable.
        Return False if the page can no longer be edited."""
        return self._commits.submit(lambda turn: _tidy(turn, key)).result()


def accepting(context: Context) -> Accepting:
    """Return this process's ``Accepting`` instance."""
    caches = context.db.caches
    found: Accepting | None = caches.get(Accepting)
    return found if found is not None else caches.setdefault(Accepting, Accepting(context))


def _encode(steps: list[StepJson]) -> str:
    """Return steps in their stored form. Raises TooLarge if they are too large."""
    if len(steps) > MOST_STEPS:
        raise TooLarge(f"steps: must have at most {MOST_STEPS} steps")
    encoded = msgspec.json.encode(steps)
    most = MOST_BYTES if len(steps) > 1 else MOST_BYTES_OF_ONE
    if len(encoded) > most:
        raise TooLarge(f"steps: must be at most {format_size(most)}")
    return encoded.decode()


def _accept(turn: _Turn, access: LiveAccess, page_id: str, given: StepsInput, encoded: str) -> Accepted:
    tx = turn.tx
    branch = turn.enter(access, page_id)
    key = PageKey(branch.id, page_id)
    row, page = turn.page(branch, key, given.epoch, given.version)
    last = store.find_last_batch(tx, key, given.client, access.user_id)
    if last is None:
        _require_place(tx, key, access.user_id)
    if row.held_until > now():
        raise TemporarilyUnavailable("This change request is being merged. Try again in a moment.")
    missed = (
        batches_after(tx, key, page, given.version, _BATCHES_AT_ONCE)
        if given.version <= page.version
        else None
    )
    if missed is None or (missed and given.version < find_first_version(tx, key, branch.state)):
        raise _gone()
    if last is not None and last >= given.batch:
        return Accepted(page.version, missed)
    steps = given.steps
    if missed:
        mapped = _mapped(steps, missed) if missed[-1].row.version == page.version else None
        if mapped is None:
            raise Behind(page.version, missed)
        steps, encoded = mapped, msgspec.json.encode(mapped).decode()
    batch = BatchRow(
        version=page.version + len(steps),
        client=given.client,
        batch=given.batch,
        attempt=given.attempt,
        user_id=access.user_id,
        agent=access.author.agent,
        steps=encoded,
        created_at=now(),
    )
    size = page.doc.content.size
    try:
        page = page.with_steps(batch, steps)
    except StepError as error:
        if missed:
            raise Behind(page.version, missed) from None
        refused = RefusedStep(f"steps[{error.index}]: this step doesn't fit the page: {error}")
        refused.beside = {"index": error.index}
        raise refused from None
    if page.doc.content.size > max(size, 2 * turn.context.settings.page_size):
        raise TooLarge("steps: would make the page too large. Split the page.")
    turn.rows[key] = row = add_batch(tx, key, row, page)
    turn.pages[key] = page
    if given.caret is not None:
        caret = CaretInput(given.client, page.version, given.caret.anchor, given.caret.head)
        _put_caret(tx, key, access, caret)
    added = [page.tail[-1]]
    if not _goes_on(given.steps, encoded) and _may_misalign(encoded, added[0]):
        fixed = turn.aligned(key, row, page)[1]
        if fixed is not page:
            added.append(fixed.tail[-1])
    return Accepted(added[-1].row.version, [*missed, *added])


def _require_place(tx: Transaction, key: PageKey, user_id: str) -> None:
    """Raise TooManyRequests if too many people are editing the page, or if the person is editing it in too many
    clients."""
    writers = store.find_writers(tx, key, now() - _PRESENT)
    if user_id not in writers and len(writers) >= MOST_WRITERS:
        problem = f"At most {MOST_WRITERS} people can edit a page at the same time. Try again in a minute."
    elif writers.get(user_id, 0) >= MOST_CLIENTS:
        problem = (
            f"You are editing this page in {MOST_CLIENTS} tabs or apps, which is the limit. Close one of"
            " them, and try again in a minute."
        )
    else:
        return
    raise TooManyRequests(problem, **{"retry-after": str(_PRESENT // 1000)})


def _tidy(turn: _Turn, key: PageKey) -> bool:
    tx = turn.tx
    found = get_branch(tx, key.branch_id)
    branch = turn.lock(found.space_id, found.change.id if found.change is not None else None)
    row = store.lock_live(tx, key)
    if row is None or branch.is_closed:
        return False
    try:
        row, page = turn.current(branch, key, row)
    except (NotFound, Conflict):
        # The page has been deleted. Its steps are kept in case it is restored, and the next batch of each
        # writer is rejected.
        store.postpone_save(tx, key, row.version)
        return False
    turn.tidied(key, row, page)
    return True


def _mapped(steps: list[StepJson], missed: Sequence[LoadedBatch]) -> list[StepJson] | None:
    """Return steps rebased on batches that their author missed. Return None if only the author can do that."""
    try:
        fields = set(map(_fields_of, steps)) - {None}
        deletes = any(any(ranges_of(step)[1::3]) for step in steps)
        if fields or deletes:
            others = [step for batch in missed for step in msgspec.json.decode(batch.row.steps)]
            if any(_fields_of(step) in fields or (deletes and _sets_field(step)) for step in others):
                # Only the author's editor merges the fields of both, and keeps blocks with fields that its author
                # hasn't seen.
                return None
        return map_steps(steps, (ranges for batch in missed for ranges in batch.ranges))
    except (LookupError, TypeError, ValueError, AttributeError):
        # This is not a valid step. Its author gets the error once they are up to date.
        return None


def _goes_on(steps: list[StepJson], encoded: str) -> bool:
    """Return whether a batch may be the first part of a change that is too large for a batch, such as the move of a
    column in a long table."""
    return len(steps) >= MOST_STEPS or len(encoded) >= _BYTES_OF_PART


def _may_misalign(encoded: str, batch: LoadedBatch) -> bool:
    """Return whether the steps of a batch, with their JSON ``encoded``, may leave cells of a table in the wrong
    column."""
    return _TABLE in encoded or any(deleted > 1 for one in batch.ranges for deleted in one[1::3])


def _fields_of(step: StepJson) -> str | None:
    """Return the attribute that a step replaces as a whole, although other people may have changed some of its fields;
    None for other steps."""
    has_fields = step["stepType"] == "attr" and isinstance(step["value"], dict)
    return step["attr"] if has_fields else None


def _sets_field(step: StepJson) -> bool:
    return bool(step["stepType"] == "attr" and step["attr"] not in ("key", "col"))


def _put_caret(tx: Transaction, key: PageKey, access: LiveAccess, caret: CaretInput) -> None:
    if caret.anchor is None or caret.head is None:
        store.remove_caret(tx, key, caret.client, access.user_id)
    else:
        place = CaretRow(caret.client, access.user_id, caret.version, caret.anchor, caret.head, now())
        store.put_caret(tx, key, place)
