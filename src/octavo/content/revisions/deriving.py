"""Data derived from the main branch of each space, in separate tables. Every revision of main updates it in
the same transaction, and it can be rebuilt if it is lost.

Expensive work isn't done under the write lock: derived data is read and computed before the transaction. For a large
revision, derived data is also written before the transaction, like the rows of the revision (``staging.py``), and the
transaction only activates it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.core.links import app_hosts
from octavo.errors import NotFound, Unavailable
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction, json_list
from octavo.kit.db.turns import short_write
from octavo.kit.work import jobs
from octavo.kit.work.jobs import enqueue
from octavo.kit.work.rebuilds import rebuilds_by_job
from octavo.organization.spaces.hooks import Copy

from . import staging
from .bodies import list_oversized
from .item_versions import ITEM_KINDS, find_items, list_items
from .page_versions import find_pages, list_pages
from .staging import list_unclaimed_branches, remove_unclaimed, write_before_revision
from .states import State, lock_branch, main_state
from .store import BranchMoved, Changes, Staged
from .versions import ABANDONED_AFTER, claim_version, current_version, end_versions, switch_version

DERIVATION = 3
"""Version of the derived rows. Increase it with every code change that derives different rows from the same main, such
as a change to parsing, indexing, or the selection of files. The next start then rebuilds all derived data."""
_REBUILD = "rebuildDerived"
_ATTEMPTS = 5
_SECONDS = 600.0
_AT_ONCE = 200
"""Maximum number of owners in one part of a rebuild. There are fewer if their text exceeds ``_BYTES_AT_ONCE``."""
_BYTES_AT_ONCE = 100_000
_OWNERS = 50
"""Number of owners whose replaced rows are removed in one transaction."""


class MainUpdate(NamedTuple):
    """Changes to a state of main, from which data is derived.

    ``hosts``: the hosts of this server (``core.links.app_hosts``). ``from_scratch``: whether to derive all data of the
    changed pages and items as if none had been derived before. ``whole``: whether to prepare all rows, which are then
    written under a version, instead of only the differences.
    """

    state: State
    changes: Changes
    hosts: tuple[str, ...]
    from_scratch: bool = False
    whole: bool = False


class Versioned(NamedTuple):
    """Functions for derived rows that a large revision writes beforehand, under a version.

    ``count(prepared)``: estimate the number of rows to write. ``batches(prepared, most)``: divide many rows into
    batches of about ``most`` rows. ``write(tx, space_id, batch, version)``: write one batch. ``switch(tx, space_id,
    prepared)``: complete the change in the transaction of the revision, in which the owners already have that version.

    ``owners``: the table and its column with the owners and versions of rows. ``remove(tx, space_id, [(owner_id,
    version)], most)``: remove about ``most`` of their rows, and return the number of owners, counted from the first
    one, that have no rows left. ``copy(tx, space_id, copy_id)``: copy the current rows to a duplicate of a space.
    ``recount(db, space_id)``: correct the numbers that are stored with the rows, in short transactions. ``finish(db,
    space_id)``: do the remaining work after ``switch``, also in short transactions. ``recount`` and ``finish`` run in
    jobs; the job for ``finish`` then removes replaced rows.
    """

    count: Callable[[Any], int]
    batches: Callable[[Any, int], Iterator[Any]]
    write: Callable[[Transaction, str, Any, int], None]
    switch: Callable[[Transaction, str, Any], None]
    owners: tuple[str, str]
    remove: Callable[[Transaction, str, Sequence[tuple[str, int]], int], int]
    copy: Callable[[Transaction, str, str], None]
    recount: Callable[[Database, str], None] = lambda db, space_id: None
    finish: Callable[[Database, str], None] = lambda db, space_id: None


class Derived(NamedTuple):
    """Functions for a kind of data that is derived from main.

    ``prepare(tx, update)``: compute the data in a read transaction, with the head of main before the change.
    ``is_still_true(tx, space_id, changes, page_ids, prepared)``: check, in the write transaction, whether the result
    would be the same after concurrent changes to the text and fields of these other pages. ``apply(tx, space_id,
    prepared)``: write the data under the current versions.

    ``clear(tx, space_id, owner_ids)``: delete the current derived data of these owners; for data that isn't
    ``versioned``, delete all data derived from the space. ``check(tx, space_id, hosts)``: return a description of the
    first problem with the data, or None. ``versioned``: the functions for large amounts of data, if any.
    """

    prepare: Callable[[Transaction, MainUpdate], Any]
    is_still_true: Callable[[Transaction, str, Changes, Set[str], Any], bool]
    apply: Callable[[Transaction, str, Any], None]
    clear: Callable[[Transaction, str, Sequence[str]], None]
    check: Callable[[Transaction, str, tuple[str, ...]], str | None]
    versioned: Versioned | None = None

    @classmethod
    def queued(
        cls,
        queue_all: Callable[[Transaction, str], None],
        clear: Callable[[Transaction, str, Sequence[str]], None],
        check: Callable[[Transaction, str, tuple[str, ...]], str | None],
    ) -> Derived:
        """Return the functions for data that jobs derive from queued files. A rebuild queues all files of a space. A
        revision, including one of a change request, queues its own files."""

        def apply(tx: Transaction, space_id: str, from_scratch: bool) -> None:
            if from_scratch:
                queue_all(tx, space_id)

        return cls(lambda tx, update: update.from_scratch, lambda *_: True, apply, clear, check)


class PreparedParts(Struct):
    """Data derived for one revision, or in one part of a rebuild. ``parts``: one item for each kind in ``derived``.

    ``owners``: the owners of the data, as ``json_list``. ``staged``: the version of the data and of the revision's
    rows, if all of them are already written; None if nothing is written yet. ``in_place``: whether the revision
    doesn't add, remove, or move any pages."""

    derived: list[Derived]
    parts: list[Any]
    owners: str
    staged: Staged | None = None
    in_place: bool = False


_derived: list[Derived] = []


def register_derived(derived: Derived) -> None:
    """Register a kind of data that is derived from main."""
    _derived.append(derived)


@contextmanager
def prepare_derived(
    db: Database, state: State, changes: Changes, hosts: tuple[str, ...]
) -> Iterator[PreparedParts]:
    """Prepare all data that is derived from these changes to main. The caller applies the data in one transaction
    inside the ``with`` block.

    Call this outside any transaction. If the block fails, the data is discarded.
    """
    with db.read() as tx:
        update = MainUpdate(state, changes, hosts)
        parts = [derived.prepare(tx, update) for derived in _derived]
        prepared = PreparedParts(_derived, parts, json_list([*changes.pages, *changes.items]))
        if _is_large(changes, prepared):
            prepared.parts = [derived.prepare(tx, update._replace(whole=True)) for derived in _derived]
    with _write_before_revision(db, state, changes, prepared):
        yield prepared


@contextmanager
def _write_before_revision(
    db: Database, state: State, changes: Changes, prepared: PreparedParts
) -> Iterator[None]:
    """Write the prepared data and the rows of the changes before the ``with`` block if there are many rows."""
    if not _is_large(changes, prepared):
        yield
        return
    versioned = _versioned(prepared)

    def write(how: Versioned, batch: object, tx: Transaction, staged: Staged) -> None:
        how.write(tx, state.space_id, batch, staged.version)

    derived = (
        partial(write, how, batch) for how, part in versioned for batch in how.batches(part, staging.BATCH)
    )
    with write_before_revision(db, state, changes, derived) as prepared.staged:
        yield


def _is_large(changes: Changes, prepared: PreparedParts) -> bool:
    """Return whether there is too much data to write in one transaction."""
    rows = sum(how.count(part) for how, part in _versioned(prepared))
    return len(changes) + rows > staging.MOST_AT_ONCE


def _versioned(prepared: PreparedParts) -> list[tuple[Versioned, object]]:
    pairs = (
        (derived.versioned, part) for derived, part in zip(prepared.derived, prepared.parts, strict=True)
    )
    return [(how, part) for how, part in pairs if how is not None]


def is_still_true(
    tx: Transaction, space_id: str, changes: Changes, moved: Set[str], prepared: PreparedParts
) -> bool:
    """Return whether all prepared data would be the same after concurrent changes to the text and fields of these
    pages."""
    return all(
        derived.is_still_true(tx, space_id, changes, moved, part)
        for derived, part in zip(prepared.derived, prepared.parts, strict=True)
    )


def apply_derived(tx: Transaction, space_id: str, prepared: PreparedParts) -> None:
    """Activate prepared data in the transaction of the revision. The transaction has
    already claimed the written rows."""
    if prepared.staged is None:
        for derived, part in zip(prepared.derived, prepared.parts, strict=True):
            derived.apply(tx, space_id, part)
        return
    switch_version(tx, space_id, prepared.owners, prepared.staged.version)
    for derived, part in zip(prepared.derived, prepared.parts, strict=True):
        (derived.versioned.switch if derived.versioned else derived.apply)(tx, space_id, part)


def rebuild_derived(db: Database, space_id: str, hosts: tuple[str, ...], after: str = "") -> None:
    """Rebuild all derived data of a space, regardless of its current state, including references to the
    space from other spaces.

    Each part, which covers some owners, is one transaction that also records the part as done for the current job; a
    large part is written before its transaction, like a large revision. The existing data stays available in the
    meantime. Call this outside any transaction.

    ``after``: the ID of the last page or item that was processed. Raises NotFound, or BranchMoved if main keeps
    changing.
    """
    moved = 0
    while True:
        try:
            last = _rebuild_part(db, space_id, hosts, after)
        except BranchMoved:
            moved += 1
            if moved == _ATTEMPTS:
                raise
            continue
        if last is None:
            break
        after, moved = last, 0
    for derived in _derived:
        if derived.versioned is not None:
            derived.versioned.recount(db, space_id)


def _rebuild_part(db: Database, space_id: str, hosts: tuple[str, ...], after: str) -> str | None:
    """Rebuild the data derived from the next owners, and return the last owner. If there are no more owners, rebuild
    the data that has no owner, and return None. Raises NotFound if the space doesn't exist, and BranchMoved if main
    keeps changing."""
    with db.read() as tx:
        head = main_state(tx, space_id)
        changes = _next_owners(tx, head, after)
        owners = sorted({*changes.pages, *changes.items})
        wanted = [derived for derived in _derived if (derived.versioned is not None) == bool(owners)]
        update = MainUpdate(head, changes, hosts, from_scratch=True)
        parts = [derived.prepare(tx, update) for derived in wanted]
    prepared = PreparedParts(wanted, parts, json_list(owners))
    last = owners[-1] if owners else None
    with _write_before_revision(db, head, Changes(), prepared), db.write() as tx:
        lock_branch(tx, head.layers[0].branch_id)
        if main_state(tx, space_id) != head:
            raise BranchMoved
        if prepared.staged is not None:
            # Rows under the previous version are removed later.
            claim_version(tx, space_id, prepared.staged)
        else:
            for derived in wanted:
                derived.clear(tx, space_id, owners)
        apply_derived(tx, space_id, prepared)
        if last is not None:
            jobs.advance(tx, after=last)
    return last


def _next_owners(tx: Transaction, head: State, after: str) -> Changes:
    """Return the next owners after an ID: pages and items that main has or once had, or that have derived rows. Their
    number is limited by the total size of their text. Owners that main no longer has are returned as None."""
    branch_id = head.layers[0].branch_id
    sources = [
        ("page_versions", "page_id", "branch_id = :branch"),
        ("item_versions", "item_id", "branch_id = :branch"),
        *((*derived.versioned.owners, "space_id = :space") for derived in _derived if derived.versioned),
    ]
    ids = {
        row[0]
        for table, column, where in sources
        for row in tx.all(
            f"""SELECT DISTINCT {column} FROM {table} WHERE {where} AND {column} > :after
                ORDER BY {column} LIMIT {_AT_ONCE}""",
            branch=branch_id,
            space=head.space_id,
            after=after,
        )
    }
    some = sorted(ids)[:_AT_ONCE]
    pages, items = find_pages(tx, head, some), find_items(tx, head, some)
    bodies = {page.id: page.body or "" for page in pages.values()}
    bodies |= {item.id: item.content or "" for item in items.values()}
    sizes = dict(list_oversized(tx, {*bodies.values()}, 0))
    found, size = Changes(), 0
    for id in some:
        size += sizes.get(bodies.get(id, ""), 0)
        if found and size > _BYTES_AT_ONCE:
            break
        if id in items:
            found.items[id] = items[id]
        else:
            found.pages[id] = pages.get(id)
    return found


def enqueue_rebuild(tx: Transaction, space_id: str) -> None:
    """Enqueue a job that rebuilds all derived data of a space."""
    organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    enqueue(tx, "indexSpace", organization=organization_id, key=f"index-{space_id}", space_id=space_id)


@jobs.job("indexSpace", bound=None, seconds=_SECONDS, in_maintenance=True)
def index_space(context: Context, space_id: str, after: str = "") -> None:
    """Rebuild all derived data of a space, starting after the page or item with the ID ``after``."""
    with suppress(NotFound):  # purged in the meantime
        rebuild_derived(context.db, space_id, app_hosts(context.settings.url), after)


def enqueue_outdated(db: Database) -> bool:
    """Enqueue the rebuild of all data derived by an earlier version of Octavo, and return whether there was
    any. This is called after migrations."""
    with db.read() as tx:
        if _derivation(tx) >= DERIVATION:
            return False
    with db.write() as tx:
        if _derivation(tx) >= DERIVATION:
            return False
        for space_id, organization_id in tx.all("SELECT id, organization_id FROM spaces ORDER BY id"):
            enqueue(
                tx,
                _REBUILD,
                organization=organization_id,
                key=f"rebuild-{space_id}",
                space_id=space_id,
                version=DERIVATION,
            )
        note_derivation(tx)
    return True


def note_derivation(tx: Transaction) -> None:
    """Record that this version of Octavo has built, or enqueued, all derived data."""
    tx.run("DELETE FROM derivation")
    tx.insert("derivation", version=DERIVATION)


def list_outdated(tx: Transaction) -> set[str]:
    """Return the spaces with a pending rebuild after an upgrade."""
    rows = tx.all("SELECT payload FROM jobs WHERE kind = :kind AND state <> 'parked'", kind=_REBUILD)
    return {msgspec.json.decode(row[0])["space_id"] for row in rows}


def _derivation(tx: Transaction) -> int:
    return tx.value("SELECT max(version) FROM derivation") or 0


@jobs.job(_REBUILD, bound=None, seconds=_SECONDS, in_maintenance=True)
def rebuild_outdated(context: Context, space_id: str, version: int, after: str = "") -> None:
    """Rebuild the data that an earlier version of Octavo derived from a space."""
    if version > DERIVATION:
        # During an upgrade, two versions run at the same time, and this job needs a worker of the newer
        # version.
        raise Unavailable(
            f"This rebuild requires a newer version of Octavo (derivation {version} instead of {DERIVATION})."
            " Upgrade this worker."
        )
    index_space(context, space_id, after)


rebuilds_by_job("search and references", _REBUILD)


def copy_derived(tx: Transaction, copy: Copy) -> None:
    """Copy the derived data of a space to its duplicate, or enqueue a job for a large space."""
    if copy.written:
        # The derived data of the source may already be from a later state than the duplicate.
        enqueue_rebuild(tx, copy.copy_id)
        return
    versioned = [derived.versioned for derived in _derived if derived.versioned is not None]
    rows = sum(
        tx.value(
            f"SELECT count(*) FROM (SELECT 1 FROM {how.owners[0]} WHERE space_id = :space LIMIT :most) AS rows_",
            space=copy.source_id,
            most=staging.MOST_AT_ONCE,
        )
        for how in versioned
    )
    if rows >= staging.MOST_AT_ONCE:
        enqueue_rebuild(tx, copy.copy_id)
        return
    for how in versioned:
        how.copy(tx, copy.source_id, copy.copy_id)


def check_derived(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> list[str]:
    """Return descriptions of problems with the derived data of a space: the first problem with each kind of data. The
    list is empty if there are no problems."""
    found = (derived.check(tx, space_id, hosts) for derived in _derived)
    return [what for what in found if what is not None]


def as_changes_from_nothing(tx: Transaction, space_id: str) -> tuple[State, Changes]:
    """Return an empty state, and the changes from that state to the current main."""
    head = main_state(tx, space_id)
    items = [item for kind in ITEM_KINDS for item in list_items(tx, head, kind)]
    changes = Changes({page.id: page for page in list_pages(tx, head)}, {item.id: item for item in items})
    return replace(head, layers=tuple(replace(layer, sequence=0) for layer in head.layers)), changes


@jobs.job("removeReplaced", bound=None, seconds=_SECONDS)
def remove_replaced(context: Context, space_id: str) -> None:
    """Do the remaining work after large revisions of a space, and remove obsolete rows: replaced derived data, and rows
    left behind by processes that were killed."""
    with context.db.write() as tx:
        end_versions(tx, space_id, begun_before=now() - ABANDONED_AFTER)
    with context.db.read() as tx:
        branches = list_unclaimed_branches(tx, space_id)
    for branch_id in branches:
        remove_unclaimed(context.db, branch_id)
    kept = [derived.versioned for derived in _derived if derived.versioned is not None]
    for versioned in kept:
        versioned.finish(context.db, space_id)
    for versioned in kept:
        table, column = versioned.owners
        with context.db.read() as tx:
            replaced = tx.all(
                f"""SELECT DISTINCT d.{column}, d.version FROM {table} d
                    WHERE d.space_id = :space AND d.version <> {current_version("d.space_id", f"d.{column}")}
                      AND d.version NOT IN (SELECT version FROM staged_versions WHERE space_id = :space)
                    ORDER BY d.{column}, d.version""",
                space=space_id,
            )
        owners = [(row[0], row[1]) for row in replaced]
        while owners:
            with short_write(context.db) as tx:
                done = versioned.remove(tx, space_id, owners[:_OWNERS], staging.BATCH)
                jobs.advance(tx)
            del owners[:done]
