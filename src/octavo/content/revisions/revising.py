"""Write revisions of main or of a change request, with all related data: sources, rows, data derived from main, kept
block keys, and the event.

All revisions are created with ``new_revision`` or ``first_revision``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from octavo.core.links import app_hosts
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.work.outbox import emit
from octavo.organization.access.limits import within_limit

from . import staging, store
from .bodies import put_bodies, store_bodies
from .deriving import PreparedParts, apply_derived, prepare_derived
from .keys import KeptKeys, put_keys
from .limits import require_limits
from .rebasing import is_in_place, lock_main
from .staging import remove_unclaimed, write_before_revision
from .states import State, main_state
from .store import BranchMoved, Changes, Staged, open_branch
from .versions import claim_version


class RevisionWriter(Struct):
    """Revision that is being written. ``tx``: the transaction. ``state``: the state that the revision is based on."""

    tx: Transaction
    state: State
    _write: Callable[..., State]
    _keys: Sequence[KeptKeys]

    def write(self, **about: object) -> State:
        """Create the revision. ``about``: the named arguments of ``store.commit``. Raises BranchMoved if the
        branch has changed in the meantime."""
        made = self._write(**about)
        put_keys(self.tx, self._keys)
        return made


@contextmanager
def new_revision(
    context: Context,
    state: State,
    changes: Changes,
    texts: Sequence[str] = (),
    keys: Sequence[KeptKeys] = (),
    *,
    if_any: bool = False,
) -> Iterator[RevisionWriter]:
    """Open the transaction of the next revision of main or of a change request with the head ``state``. The ``with``
    block checks preconditions, writes the revision, and writes related data.

    Large or slow work is done before the transaction. If the block fails, its results are discarded. ``texts``: the
    sources that the changes refer to. ``keys``: the kept keys of their blocks. ``if_any``: whether to create a revision
    only if there are changes; without changes, the result is the state itself, which must still be the head. Raises
    BadRequest or TooLarge if the space would exceed a limit.
    """
    db, size = context.db, context.settings.page_size
    if if_any and not changes:
        with db.write() as tx:
            yield RevisionWriter(tx, state, partial(_require_unchanged, tx, state), keys)
    elif len(state.layers) == 1:
        hosts = app_hosts(context.settings.url)
        with prepare_main(db, state, changes, texts, hosts, size) as derived, db.write() as tx:
            yield RevisionWriter(tx, state, partial(revise_main, tx, state, changes, derived), keys)
    else:
        with prepare_commit(db, state, changes, texts, size) as prepared, db.write() as tx:
            yield RevisionWriter(tx, state, partial(commit, tx, state, changes, prepared), keys)


def _require_unchanged(tx: Transaction, state: State, **about: object) -> State:
    if main_state(tx, state.space_id).revision_id != state.revision_id:
        raise BranchMoved
    return state


@contextmanager
def first_revision(
    context: Context,
    main: State,
    changes: Changes,
    texts: Sequence[str],
    keys: Sequence[KeptKeys],
    author: str | None,
) -> Iterator[RevisionWriter]:
    """Open a branch at the head of main and create its first revision, like ``new_revision``. Raises
    BranchMoved if ``main`` is no longer the head."""
    db, size = context.db, context.settings.page_size
    with prepare_branch(db, main, changes, texts, size, author) as prepared, db.write() as tx:
        if main_state(tx, main.space_id).layers != main.layers:
            raise BranchMoved
        state = prepared.opened or open_branch(tx, main, author)
        yield RevisionWriter(tx, state, partial(commit, tx, state, changes, prepared), keys)


def write_unchanged(tx: Transaction, state: State, **about: object) -> State:
    """Create a revision of a change request without changes to content, for example to record conflicts."""
    return _commit(tx, _organization_of(tx, state), state, Changes(), None, **about)


_on_commit: list[Callable[[Transaction, str, Changes], None]] = []


def on_commit(hook: Callable[[Transaction, str, Changes], None]) -> None:
    """Register ``hook(tx, space_id, changes)``, which is called in the transaction of every revision on any
    branch."""
    _on_commit.append(hook)


class PreparedCommit(Struct, frozen=True):
    """Input for ``commit``. ``staged``: the changes that are already checked and written, if any. ``opened``: the
    branch from ``prepare_branch``, if it is already open."""

    texts: Sequence[str]
    page_size: int
    staged: Staged | None = None
    opened: State | None = None


@contextmanager
def prepare_commit(
    db: Database, state: State, changes: Changes, texts: Sequence[str], page_size: int
) -> Iterator[PreparedCommit]:
    """Prepare the input for one ``commit`` in the ``with`` block. If there are many changes, they are written before
    the block, with the sources in ``texts`` that they refer to. ``page_size``: the maximum size of a page in bytes.
    Raises the errors of ``commit`` and ``write_before_revision``."""
    if len(changes) <= staging.MOST_AT_ONCE:
        yield PreparedCommit(texts, page_size)
        return
    store_bodies(db, texts)
    with db.read() as tx:
        require_limits(tx, state, changes, page_size)
    with write_before_revision(db, state, changes, ()) as staged:
        yield PreparedCommit((), page_size, staged)


@contextmanager
def prepare_branch(
    db: Database, main: State, changes: Changes, texts: Sequence[str], page_size: int, author: str | None
) -> Iterator[PreparedCommit]:
    """Prepare the first revision of a branch that is opened at the head of main (``open_branch``). Works like
    ``prepare_commit``."""
    if len(changes) <= staging.MOST_AT_ONCE:
        yield PreparedCommit(texts, page_size)
        return
    with db.write() as tx:
        opened = open_branch(tx, main, author)
    try:
        with prepare_commit(db, opened, changes, texts, page_size) as prepared:
            yield replace(prepared, opened=opened)
    except BaseException:
        branch_id = opened.layers[0].branch_id
        remove_unclaimed(db, branch_id)
        with db.write() as tx:
            tx.run("DELETE FROM branches WHERE id = :id", id=branch_id)
        raise


def commit(
    tx: Transaction, state: State, changes: Changes, prepared: PreparedCommit, **about: object
) -> State:
    """Create the next revision of a change request. ``about``: the named arguments of ``store.commit``.
    Raises BranchMoved if the branch has changed in the meantime, and BadRequest or TooLarge if the space
    would exceed a limit."""
    if prepared.staged is None:
        put_bodies(tx, prepared.texts)
        require_limits(tx, state, changes, prepared.page_size)
    return _commit(tx, _organization_of(tx, state), state, changes, prepared.staged, **about)


def _organization_of(tx: Transaction, state: State) -> str:
    found: str = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id)
    return found


def _commit(
    tx: Transaction,
    organization_id: str,
    state: State,
    changes: Changes,
    staged: Staged | None,
    **about: Any,
) -> State:
    if staged is not None:
        claim_version(tx, state.space_id, staged)
    with within_limit(tx, organization_id, "pages", "storage"):
        made = store.commit(tx, state, changes, staged, **about)
    for hook in _on_commit:
        hook(tx, state.space_id, changes)
    return made


@contextmanager
def prepare_main(
    db: Database,
    state: State,
    changes: Changes,
    texts: Sequence[str],
    hosts: tuple[str, ...],
    page_size: int,
) -> Iterator[PreparedParts]:
    """Provide the input for one ``revise_main`` call in the ``with`` block: the data derived from main. The data is
    computed before the transaction. A large amount of data is also written before the transaction, like the changes.

    The sources in ``texts``, which the changes refer to, are stored first. ``hosts``: the hosts of this server
    (``core.links.app_hosts``). ``page_size``: the maximum size of a page in bytes. Raises BadRequest or TooLarge if the
    space would exceed a limit.
    """
    store_bodies(db, texts)
    with db.read() as tx:
        require_limits(tx, state, changes, page_size)
        in_place = is_in_place(tx, state, changes)
    with prepare_derived(db, state.whole, changes, hosts) as prepared:
        prepared.in_place = in_place
        yield prepared


def revise_main(
    tx: Transaction,
    state: State,
    changes: Changes,
    prepared: PreparedParts,
    *,
    live: bool = False,
    **about: object,
) -> State:
    """Create the next revision of main. ``state``: its head, or an earlier head that the changes apply to
    in the same way. ``live``: whether it is a save of a live-edited page. ``about``: the named arguments of
    ``store.commit``. Raises BranchMoved if main has changed in the meantime."""
    head = lock_main(tx, state, changes, prepared)
    organization_id = _organization_of(tx, state)
    made = _commit(tx, organization_id, head, changes, prepared.staged, **about)
    apply_derived(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=organization_id,
        space_id=state.space_id,
        revision=made.revision_id,
        by=about.get("author"),
        **({"live": True} if live else {}),
        **changed_pages(changes),
    )
    return made


_MAX_NAMED = 50


def changed_pages(changes: Changes) -> dict[str, list[str]]:
    """Return the event field ``pages`` with the IDs of the changed pages, or an empty dict if there are many."""
    return {"pages": sorted(changes.pages)} if len(changes.pages) <= _MAX_NAMED else {}
