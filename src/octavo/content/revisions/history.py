"""Revisions: the authors and times of changes to a branch. Consecutive saves are shown as one revision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page

from .states import Layer, State, revision_state

SAVES_APART = 5 * 60_000
"""Maximum number of milliseconds between two saves by the same person that are shown as one."""
SAVES_LONGEST = 60 * 60_000
"""Maximum number of milliseconds between the first and the last of several saves that are shown as one."""
RevisionType = Literal["edits", "merge", "rollback", "update", "computed"]


class RevisionRow(Struct, frozen=True):
    id: str
    branch_id: str
    sequence: int
    base_sequence: int | None
    parents: list[str]
    type: str
    author: str | None
    created_at: int
    message: str | None
    git: dict[str, Any] | None
    merged_from: str | None
    conflicts: str | None
    agent: str | None
    saves_since: int | None
    """Sequence before the series of consecutive saves that this revision continues; None if it starts a new series."""

    @property
    def before(self) -> int:
        """Return the sequence of the state before this revision and the consecutive saves that it continues."""
        return self.sequence - 1 if self.saves_since is None else self.saves_since


def list_revisions(tx: Transaction, space_id: str, limit: int, page: str | None) -> Slice[RevisionRow]:
    """List the revisions of main, newest first; only the last of a series of consecutive saves is listed."""
    # A save that continues another one replaces it in the list.
    count = tx.value(
        """SELECT count(*) - count(r.saves_since) FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id
           WHERE s.id = :space""",
        space=space_id,
    )
    source = (
        f"FROM revisions r JOIN spaces s ON s.main_branch = r.branch_id WHERE s.id = :space AND {_IS_LAST}"
    )
    return _list_revisions(tx, source, count, limit, page, space=space_id)


def _list_revisions(
    tx: Transaction,
    source: str,
    count: int,
    limit: int,
    page: str | None,
    /,
    *,
    before: str = "",
    **given: str,
) -> Slice[RevisionRow]:
    return list_page(
        tx,
        limit,
        page,
        _REVISION,
        source,
        _revision,
        by="r.sequence",
        key_types=(int,),
        descending=True,
        before=before,
        count=count,
        **given,
    )


_OF_PAGE = """touched(sequence) AS (
    SELECT v.from_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page
    UNION SELECT v.to_seq FROM page_versions v WHERE v.branch_id = :branch AND v.page_id = :page),
  shown(sequence) AS (
    SELECT DISTINCT (SELECT min(r.sequence) FROM revisions r
                      WHERE r.branch_id = :branch AND r.sequence >= t.sequence AND {last})
      FROM touched t)"""
"""SQL for the sequences of main's revisions in which a page changed. Only the last of a series of consecutive saves
counts. The cost depends on the history of the page, not on the history of the space."""


def list_revisions_of_page(
    tx: Transaction, space_id: str, page_id: str, limit: int, page: str | None
) -> Slice[RevisionRow]:
    """List the revisions of main that changed a page, newest first; the last of a series of consecutive
    saves is listed if any of them changed the page. The result is empty if the page was never in main."""
    branch = tx.value("SELECT main_branch FROM spaces WHERE id = :id", id=space_id)
    given = {"branch": branch, "page": page_id}
    prefix = f"WITH {_OF_PAGE.format(last=_IS_LAST)}"
    count = tx.value(f"{prefix} SELECT count(sequence) FROM shown", **given)
    source = "FROM revisions r WHERE r.branch_id = :branch AND r.sequence IN (SELECT sequence FROM shown)"
    return _list_revisions(tx, source, count, limit, page, before=prefix, **given)


_REVISION = """r.id, r.branch_id, r.sequence, r.base_sequence, r.parents, r.type, r.author, r.created_at, r.message,
               r.git, r.merged_from, r.conflicts, r.agent, r.saves_since"""
_IS_LAST = """NOT EXISTS (SELECT 1 FROM revisions n WHERE n.branch_id = r.branch_id AND n.sequence = r.sequence + 1
                AND n.saves_since IS NOT NULL)"""
"""SQL condition for the last of consecutive saves, which follow each other without a gap."""


def get_revision(tx: Transaction, revision_id: str) -> RevisionRow:
    row = tx.one(f"SELECT {_REVISION} FROM revisions r WHERE r.id = :id", id=revision_id)
    if row is None:
        raise NotFound(f"There is no revision with the ID {revision_id!r}.")
    return _revision(row)


def find_revision_at(tx: Transaction, layer: Layer) -> RevisionRow | None:
    """Return the revision of a branch that has the layer's sequence."""
    row = tx.one(
        f"""SELECT {_REVISION} FROM revisions r WHERE r.branch_id = :branch AND r.sequence >= :seq
            ORDER BY r.sequence LIMIT 1""",
        branch=layer.branch_id,
        seq=layer.sequence,
    )
    return _revision(row) if row is not None else None


def find_last_update(tx: Transaction, layer: Layer) -> RevisionRow | None:
    """Return the last revision of a change request that updated it with main."""
    row = tx.one(
        f"""SELECT {_REVISION} FROM revisions r WHERE r.branch_id = :branch AND r.sequence <= :seq AND r.type = 'update'
            ORDER BY r.sequence DESC LIMIT 1""",
        branch=layer.branch_id,
        seq=layer.sequence,
    )
    return _revision(row) if row is not None else None


def state_before(tx: Transaction, space_id: str, revision: RevisionRow) -> State:
    """Return the state before a revision or, if the revision continues consecutive saves, before the first
    of them. Raises NotFound if there is no such state."""
    found = tx.value(
        """SELECT id FROM revisions WHERE branch_id = :branch AND sequence <= :before
           ORDER BY sequence DESC LIMIT 1""",
        branch=revision.branch_id,
        before=revision.before,
    )
    return revision_state(tx, space_id, found or "")


def list_beginnings(tx: Transaction, revisions: Iterable[RevisionRow]) -> dict[str, RevisionRow]:
    """Return the first revision of each series of consecutive saves, by the ID of the last revision in the series.
    Revisions that don't continue a series are omitted."""
    found = {}
    for revision in revisions:
        if revision.saves_since is not None:
            row = tx.one(
                f"SELECT {_REVISION} FROM revisions r WHERE r.branch_id = :branch AND r.sequence = :first",
                branch=revision.branch_id,
                first=revision.saves_since + 1,
            )
            if row is not None:
                found[revision.id] = _revision(row)
    return found


class RevisedPages(Struct, frozen=True):
    """Pages that a revision created or changed: their number, and the title of one of them."""

    count: int
    title: str


_revised: OwnCache[RevisedPages] = OwnCache("changed pages of revisions", 2)


def list_revised_pages(
    tx: Transaction, revisions: Sequence[RevisionRow], hidden: frozenset[str]
) -> dict[str, RevisedPages]:
    """Return the pages that each of these revisions changed, by revision ID. A revision's consecutive saves count as
    part of it, and hidden pages are left out."""
    known = _revised.of(tx)
    found = {one.id: known.get((one.id, hidden)) for one in revisions}
    missing = [id for id, revised in found.items() if revised is None]
    rows = tx.all(
        f"""SELECT r.id, count(*), min(v.title) FROM {tx.given("revisions", "id")} AS g
            JOIN revisions r ON r.id = g.id
            JOIN page_versions v ON v.branch_id = r.branch_id AND v.deleted = 0
              AND v.from_seq > coalesce(r.saves_since, r.sequence - 1) AND v.from_seq <= r.sequence
              AND v.to_seq > r.sequence AND NOT v.page_id {tx.among("hidden")}
            GROUP BY r.id""",
        revisions=json_list(missing),
        hidden=json_list(hidden),
    )
    made = dict.fromkeys(missing, RevisedPages(0, "")) | {
        row[0]: RevisedPages(row[1], row[2]) for row in rows
    }
    for id, revised in made.items():
        known.put((id, hidden), revised, 300 + 64 * len(hidden))
    return {id: revised for id, revised in (found | made).items() if revised is not None and revised.count}


def find_continued_saves(tx: Transaction, state: State, author: str, agent: str | None) -> int | None:
    """Return the sequence number of the revision before the current series of saves, if an edit to this state would
    continue that series; otherwise None. ``author`` and ``agent``: the author of the edit, and the agent that the
    author used."""
    last = get_revision(tx, state.revision_id)
    if (
        (last.type, last.author, last.agent) != ("edits", author, agent)
        or last.sequence == 1
        or last.message
        or last.git
    ):
        return None
    first = list_beginnings(tx, [last]).get(last.id, last)
    moment = now()
    if moment - last.created_at > SAVES_APART or moment - first.created_at > SAVES_LONGEST:
        return None
    return last.before


def _revision(row: Row) -> RevisionRow:
    values = list(row)
    values[4] = msgspec.json.decode(row[4])
    values[9] = msgspec.json.decode(row[9]) if row[9] else None
    return RevisionRow(*values)
