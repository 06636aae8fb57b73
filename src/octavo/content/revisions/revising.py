"""Writing a revision, of main or of a change request, with all that goes with it: the texts that it names, its rows, what
is derived from main, the keys that blocks keep, and the one event that says so. Whoever makes a revision does it through
``new_revision`` or ``first_revision``."""

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

from . import staging, store
from .bodies import put_bodies, store_bodies
from .deriving import PreparedParts, apply_derived, prepare_derived
from .keys import KeptKeys, put_keys
from .limits import require_limits
from .rebasing import is_in_place, lock_main
from .staging import remove_unclaimed, written_before
from .store import BranchMoved, Changes, Staged, State, main_state, open_branch
from .versions import claim_version


class Revision(Struct):
    """One that is being written. ``tx``: the transaction that does. ``state``: what it is written over."""

    tx: Transaction
    state: State
    _write: Callable[..., State]
    _keys: Sequence[KeptKeys]

    def write(self, **about: Any) -> State:
        """Makes it; ``about`` as for ``store.commit``. Raises BranchMoved when the branch was changed meanwhile."""
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
) -> Iterator[Revision]:
    """The transaction of the next revision of main or of a change request, whose head ``state`` is: the block looks at
    what it must still find there, has the revision written, and writes what belongs to it.

    What is much, or takes long, is done before the transaction; a block that fails leaves nothing. ``texts``: the
    sources that the changes name. ``keys``: those that blocks keep in them. ``if_any``: without changes there is no
    revision; what is then written is the state itself, which must be the head still. Raises BadRequest or TooLarge where the
    space would hold more than it may.
    """
    db, size = context.db, context.settings.page_size
    if if_any and not changes:
        with db.write() as tx:
            yield Revision(tx, state, partial(_stays, tx, state), keys)
    elif len(state.layers) == 1:
        hosts = app_hosts(context.settings.url)
        with prepare_main(db, state, changes, texts, hosts, size) as derived, db.write() as tx:
            yield Revision(tx, state, partial(revise_main, tx, state, changes, derived), keys)
    else:
        with prepare_commit(db, state, changes, texts, size) as prepared, db.write() as tx:
            yield Revision(tx, state, partial(commit, tx, state, changes, prepared), keys)


def _stays(tx: Transaction, state: State, **about: Any) -> State:
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
) -> Iterator[Revision]:
    """The same for a branch that is opened over the head of main with its first changes. Raises BranchMoved when
    ``main`` is no longer that."""
    db, size = context.db, context.settings.page_size
    with prepare_branch(db, main, changes, texts, size, author) as prepared, db.write() as tx:
        if main_state(tx, main.space_id).layers != main.layers:
            raise BranchMoved
        state = prepared.opened or open_branch(tx, main, author)
        yield Revision(tx, state, partial(commit, tx, state, changes, prepared), keys)


def write_unchanged(tx: Transaction, state: State, **about: Any) -> State:
    """A revision of a change request that changes nothing: it says something else, such as what conflicts."""
    return _commit(tx, state, Changes(), None, **about)


_on_commit: list[Callable[[Transaction, str, Changes], None]] = []


def on_commit(hook: Callable[[Transaction, str, Changes], None]) -> None:
    """Registers ``hook(tx, space_id, changes)``: called in the transaction of each revision of any branch."""
    _on_commit.append(hook)


class PreparedCommit(Struct, frozen=True):
    """What ``commit`` needs. ``staged``: what is checked and written already; None where nothing is. ``opened``: the
    branch of ``prepare_branch``, where it is there already."""

    texts: Sequence[str]
    page_size: int
    staged: Staged | None = None
    opened: State | None = None


@contextmanager
def prepare_commit(
    db: Database, state: State, changes: Changes, texts: Sequence[str], page_size: int
) -> Iterator[PreparedCommit]:
    """What one call of ``commit`` in the block needs. Many changes are written before it, with the sources ``texts``
    that they name. ``page_size`` is the setting. Raises as ``commit`` and ``written_before`` do."""
    if len(changes) <= staging.MOST_AT_ONCE:
        yield PreparedCommit(texts, page_size)
        return
    store_bodies(db, texts)
    with db.read() as tx:
        require_limits(tx, state, changes, page_size)
    with written_before(db, state, changes, ()) as staged:
        yield PreparedCommit((), page_size, staged)


@contextmanager
def prepare_branch(
    db: Database, main: State, changes: Changes, texts: Sequence[str], page_size: int, author: str | None
) -> Iterator[PreparedCommit]:
    """The same for a branch that is opened over main with its first changes (``open_branch``)."""
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


def commit(tx: Transaction, state: State, changes: Changes, prepared: PreparedCommit, **about: Any) -> State:
    """The next revision of a change request; ``about`` as for ``store.commit``. Raises BranchMoved, and BadRequest or
    TooLarge where the space would hold more than it may."""
    if prepared.staged is None:
        put_bodies(tx, prepared.texts)
        require_limits(tx, state, changes, prepared.page_size)
    return _commit(tx, state, changes, prepared.staged, **about)


def _commit(tx: Transaction, state: State, changes: Changes, staged: Staged | None, **about: Any) -> State:
    if staged is not None:
        claim_version(tx, state.space_id, staged)
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
    """What one call of ``revise_main`` in the block needs: what is derived from main, computed and where it is much
    also written before the transaction, as the changes are. The sources ``texts`` that these name are stored first;
    nothing names them before the revision does. ``hosts``: the addresses of this installation
    (``core.links.app_hosts``); ``page_size`` is the setting. Raises BadRequest or TooLarge where the space would hold
    more than it may."""
    store_bodies(db, texts)
    with db.read() as tx:
        require_limits(tx, state, changes, page_size)
        in_place = is_in_place(tx, state, changes)
    with prepare_derived(db, state, changes, hosts) as prepared:
        prepared.in_place = in_place
        yield prepared


def revise_main(
    tx: Transaction, state: State, changes: Changes, prepared: PreparedParts, **about: Any
) -> State:
    """The next revision of main. The state is its head, or was and means the same still; ``about`` as for
    ``store.commit``. Raises BranchMoved."""
    head = lock_main(tx, state, changes, prepared)
    made = _commit(tx, head, changes, prepared.staged, **about)
    apply_derived(tx, state.space_id, prepared)
    emit(
        tx,
        "space_content_updated",
        organization_id=tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=state.space_id),
        space_id=state.space_id,
        revision=made.revision_id,
        by=about.get("author"),
        **changed_pages(changes),
    )
    return made


_NAMED = 50


def changed_pages(changes: Changes) -> dict[str, list[str]]:
    """For an event: the ids of the pages that a revision changes, as ``pages``; nothing where they are many."""
    return {"pages": sorted(changes.pages)} if len(changes.pages) <= _NAMED else {}
