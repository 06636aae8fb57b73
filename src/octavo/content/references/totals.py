"""Numbers of a space's references and targets, stored with the rows.

``reference_targets`` has a row for each target of main's references. ``reference_totals`` has their sums: a row for
each group of references that look the same to everyone. Each write of rows adds the resulting difference to the sums. A
large revision instead starts a new generation, which is then counted key by key in short transactions. In the meantime,
writes update only the keys that are already counted, and readers count the rows themselves.

Transactions that write a space's rows lock the space's row in ``spaces``, so these updates are serialized.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from octavo.kit.db.database import Database, Transaction
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.permits import waiting
from octavo.kit.work import jobs

from .row import IS_CURRENT, Row

MOST_LOCATIONS = 100
"""Maximum number of locations in one item of a list; a target with more locations continues in the next
item."""

_BATCH = 500
_PAUSE = 0.02
"""Seconds to pause between two batches, so that other transactions can write."""
_DEPENDENT = ("user", "collection", "openapi")
"""Kinds of targets that exist only for some callers."""


class ReferenceGroup(NamedTuple):
    """Properties that determine how a reference is shown. Irrelevant properties are empty. ``target_space``: the other
    space that contains the target."""

    status: str
    target_space: str
    kind: str
    target: str


Target = tuple[str, ReferenceGroup]
"""Key of a target, and the group of its references."""

_GROUP = ", ".join(ReferenceGroup._fields)


class ReferenceTotals(NamedTuple):
    """Number of references, and of list items, by group."""

    refs: Counter[ReferenceGroup]
    items: Counter[ReferenceGroup]

    def plus(self, more: ReferenceTotals) -> ReferenceTotals:
        refs, items = self.refs.copy(), self.items.copy()
        refs.update(more.refs)
        items.update(more.items)
        return ReferenceTotals(refs, items)

    def without(self, some: ReferenceTotals) -> ReferenceTotals:
        refs, items = self.refs.copy(), self.items.copy()
        refs.subtract(some.refs)
        items.subtract(some.items)
        return ReferenceTotals(refs, items)


def target_of(
    space_id: str, key: str, status: str, target_space: str | None, kind: str, target: str | None
) -> Target:
    """Return the target of a reference in the space ``space_id`` from the values of its row."""
    elsewhere = target_space if target_space is not None and target_space != space_id else ""
    kind, target = (kind, target or "") if kind in _DEPENDENT else ("", "")
    return key, ReferenceGroup(status, elsewhere, kind, target)


def target_of_row(row: Row) -> Target:
    return target_of(row.space_id, row.target_key, row.status, row.target_space, row.kind, row.target)


def total_of(targets: Mapping[Target, int]) -> ReferenceTotals:
    """Return the totals by group. ``targets``: the number of references to each target."""
    totals = ReferenceTotals(Counter(), Counter())
    for (_, group), refs in targets.items():
        totals.refs[group] += refs
        totals.items[group] += _items(refs)
    return totals


def _items(refs: int) -> int:
    return -(-refs // MOST_LOCATIONS)


# --- reading ------------------------------------------------------------------------------------------


class _Counting(NamedTuple):
    """Progress of counting. ``counted_to``: the key up to which the generation has been counted; None when counting is
    complete."""

    generation: int = 0
    counted_to: str | None = None


def _counting(tx: Transaction, space_id: str) -> _Counting:
    row = tx.one(
        "SELECT generation, counted_to FROM reference_counting WHERE space_id = :space", space=space_id
    )
    return _Counting(*row) if row is not None else _Counting()


def read_totals(tx: Transaction, space_id: str) -> ReferenceTotals | None:
    """Return the totals of main, or None while they are being counted."""
    generation, counted_to = _counting(tx, space_id)
    return _totals(tx, space_id, generation) if counted_to is None else None


def _totals(tx: Transaction, space_id: str, generation: int) -> ReferenceTotals:
    rows = tx.all(
        f"""SELECT {_GROUP}, refs, items FROM reference_totals
            WHERE space_id = :space AND generation = :generation""",
        space=space_id,
        generation=generation,
    )
    return ReferenceTotals(
        Counter({ReferenceGroup(*row[:4]): row[4] for row in rows}),
        Counter({ReferenceGroup(*row[:4]): row[5] for row in rows}),
    )


def read_targets(tx: Transaction, space_id: str, keys: Iterable[str]) -> Counter[Target]:
    """Return the number of main's references to each of these targets."""
    generation = _counting(tx, space_id).generation
    wanted = sorted(set(keys))
    found: Counter[Target] = Counter()
    for start in range(0, len(wanted), _BATCH):
        rows = tx.all(
            f"""SELECT target_key, {_GROUP}, refs FROM reference_targets
                WHERE space_id = :space AND generation = :generation AND target_key IN :keys""",
            space=space_id,
            generation=generation,
            keys=wanted[start : start + _BATCH],
        )
        found.update({(row[0], ReferenceGroup(*row[1:5])): row[5] for row in rows})
    return found


def count_targets(
    tx: Transaction, space_id: str, where: str = "1 = 1", columns: str = "r.*", **parameters: object
) -> Counter[Target]:
    """Count the rows ``r`` of a space's main by target, limited to rows that match ``where``. This reads every row.
    ``columns``: SQL for the columns of the rows."""
    # Count in the database: a page may have a hundred thousand references to one target, and writers are
    # waiting. Count in two steps, because otherwise it would scan all targets of a space to group those of
    # one page.
    rows = tx.all(
        f"""WITH found AS MATERIALIZED (
              SELECT target_key, status, target_space, kind, target FROM (
                SELECT {columns} FROM content_references r
              WHERE r.space_id = :space AND {IS_CURRENT} AND {where}) AS r)
            SELECT target_key, status, target_space, kind, target, count(*) FROM found
            GROUP BY target_key, status, target_space, kind, target""",
        space=space_id,
        **parameters,
    )
    found: Counter[Target] = Counter()
    for *target, refs in rows:
        found[target_of(space_id, *target)] += refs
    return found


# --- writing ------------------------------------------------------------------------------------------


def update_totals(tx: Transaction, old: Iterable[Row], new: Iterable[Row]) -> None:
    """Update the totals of each space after a change to its rows."""
    spaces: dict[str, Counter[Target]] = {}
    for rows, sign in ((old, -1), (new, 1)):
        for row in rows:
            spaces.setdefault(row.space_id, Counter())[target_of_row(row)] += sign
    for space_id, changed in sorted(spaces.items()):
        if any(changed.values()) and (counting := _counting(tx, space_id)).counted_to != "":
            _add(tx, space_id, counting, changed)


def add_all(tx: Transaction, space_id: str) -> None:
    """Count all references of a space that has rows but no totals yet."""
    _add(tx, space_id, _Counting(), count_targets(tx, space_id))


def _add(tx: Transaction, space_id: str, counting: _Counting, changed: Mapping[Target, int]) -> None:
    """Update the numbers of references. ``changed``: the difference for each target; targets that haven't been counted
    yet are ignored."""
    given = sorted([key, *group, refs] for (key, group), refs in changed.items() if refs)
    parameters = {"space": space_id, "generation": counting.generation}
    limit = "1 = 1"
    if counting.counted_to is not None:
        limit = "g.target_key <= :counted_to"
        parameters["counted_to"] = counting.counted_to
    rows = tx.all(
        f"""INSERT INTO reference_targets (space_id, generation, target_key, {_GROUP}, refs)
            SELECT :space, :generation, g.target_key, {", ".join(f"g.{name}" for name in ReferenceGroup._fields)},
              CAST(g.refs AS BIGINT)
            FROM {tx.given("given", "target_key", *ReferenceGroup._fields, "refs")} AS g WHERE {limit}
            ON CONFLICT (space_id, generation, target_key, {_GROUP})
              DO UPDATE SET refs = reference_targets.refs + excluded.refs
            RETURNING target_key, {_GROUP}, refs""",
        given=msgspec.json.encode(given).decode(),
        **parameters,
    )
    totals = ReferenceTotals(Counter(), Counter())
    for key, *seen, refs in rows:
        group = ReferenceGroup(*seen)
        more = changed[key, group]
        totals.refs[group] += more
        totals.items[group] += _items(refs) - _items(refs - more)
    tx.run_many(
        f"""INSERT INTO reference_totals (space_id, generation, {_GROUP}, refs, items)
            VALUES (:space, :generation, {", ".join(f":{name}" for name in ReferenceGroup._fields)}, :refs, :items)
            ON CONFLICT (space_id, generation, {_GROUP}) DO UPDATE SET
              refs = reference_totals.refs + excluded.refs, items = reference_totals.items + excluded.items""",
        [
            {**parameters, **group._asdict(), "refs": refs, "items": totals.items[group]}
            for group, refs in sorted(totals.refs.items())
        ],
    )
    if gone := [row[0] for row in rows if row[-1] == 0]:
        for start in range(0, len(gone), _BATCH):
            tx.run(
                """DELETE FROM reference_targets
                   WHERE space_id = :space AND generation = :generation AND target_key IN :keys AND refs = 0""",
                keys=gone[start : start + _BATCH],
                **parameters,
            )
        tx.run(
            "DELETE FROM reference_totals WHERE space_id = :space AND generation = :generation AND refs = 0",
            **parameters,
        )


def _lock(tx: Transaction, space_id: str) -> bool:
    """Lock a space so that no other transaction writes its rows. Return False if the space no longer
    exists."""
    return tx.one(f"SELECT 1 FROM spaces WHERE id = :space{tx.for_update}", space=space_id) is not None


def start_recount(tx: Transaction, space_id: str) -> None:
    """Start a new generation, in which nothing has been counted yet."""
    _lock(tx, space_id)
    tx.run(
        """INSERT INTO reference_counting (space_id, generation, counted_to) VALUES (:space, 1, '')
           ON CONFLICT (space_id) DO UPDATE SET generation = reference_counting.generation + 1, counted_to = ''""",
        space=space_id,
    )


def recount(db: Database, space_id: str) -> None:
    """Count all references again, or continue a count in progress."""
    with db.write() as tx:
        if _counting(tx, space_id).counted_to is None:
            start_recount(tx, space_id)
    finish_counting(db, space_id)


def finish_counting(db: Database, space_id: str) -> None:
    """Count the remaining targets and remove earlier generations, in short transactions."""
    has_more = True
    while has_more:
        deadlines.check()
        with db.write() as tx:
            has_more = _count_more(tx, space_id) or _remove_earlier(tx, space_id)
            jobs.advance(tx)
        if has_more:
            with waiting():
                time.sleep(_PAUSE)


def _count_more(tx: Transaction, space_id: str) -> bool:
    """Count some more targets. Return False when all are counted."""
    if not _lock(tx, space_id):
        return False
    generation, counted_to = _counting(tx, space_id)
    if counted_to is None:
        return False
    last = tx.value(
        """SELECT target_key FROM content_references WHERE space_id = :space AND target_key > :after
           ORDER BY target_key LIMIT 1 OFFSET :some""",
        space=space_id,
        after=counted_to,
        some=2 * _BATCH,
    )
    upto = "1 = 1" if last is None else "r.target_key <= :last"
    found = count_targets(
        tx,
        space_id,
        f"r.target_key > :after AND {upto}",
        after=counted_to,
        **({} if last is None else {"last": last}),
    )
    _add(tx, space_id, _Counting(generation), found)
    tx.run("UPDATE reference_counting SET counted_to = :to WHERE space_id = :space", to=last, space=space_id)
    return True


def _remove_earlier(tx: Transaction, space_id: str) -> bool:
    """Remove some rows of old generations. Return False when there are none."""
    generation = _counting(tx, space_id).generation
    removed = 0
    for table in ("reference_totals", "reference_targets"):
        keys = "target_key, " if table == "reference_targets" else ""
        removed += tx.run(
            f"""DELETE FROM {table} WHERE space_id = :space AND generation < :generation
                AND (generation, {keys}{_GROUP}) IN (SELECT generation, {keys}{_GROUP} FROM {table}
                  WHERE space_id = :space AND generation < :generation LIMIT {_BATCH})""",
            space=space_id,
            generation=generation,
        )
    return removed > 0


def check_totals(tx: Transaction, space_id: str) -> str | None:
    """Compare the stored totals with the rows. Return an error message or None; counting in progress isn't
    an error."""
    generation, counted_to = _counting(tx, space_id)
    if counted_to is not None:
        return None
    counted = count_targets(tx, space_id)
    rows = tx.all(
        f"""SELECT target_key, {_GROUP}, refs FROM reference_targets
            WHERE space_id = :space AND generation = :generation""",
        space=space_id,
        generation=generation,
    )
    kept = {(row[0], ReferenceGroup(*row[1:5])): row[5] for row in rows}
    if kept != counted:
        return f"references: totals of {len(kept)} targets are stored, {len(counted)} expected"
    if _totals(tx, space_id, generation) != total_of(counted):
        return "references: the space's totals don't match its targets' totals"
    return None
