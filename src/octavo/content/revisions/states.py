"""States of a space's content: stacks of branches, each at a sequence number.

A ``State`` identifies one immutable state as a stack of layers, each a branch at a sequence number. Main
has one layer; a change request has two: its own branch, and main at the revision it is based on. Reads
search the stack, starting at the top.

Rows with a ``from_seq`` beyond the head of their branch are invisible. They belong to a large revision that is being
written (``staging.py``) or that a process didn't finish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from octavo.errors import NotFound
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.organization.access.authorization import SpaceAccess

FOREVER = 2**62
"""``to_seq`` of rows that are still valid."""


class Layer(Struct, frozen=True):
    branch_id: str
    sequence: int


class ReaderLimits(Struct, frozen=True):
    """Limits on a person's access to a state with restricted pages. ``hidden``: the pages that the person can't see.
    ``read_only``: the pages that the person can see but not edit. ``silent``: the pages that the person can see but
    neither edit nor comment on. ``rules``: the rules that apply to each restricted page. ``key``: a key of the hidden
    pages, for caches. ``below``: the hidden pages by parent, if the parents are known; the parent of pages at the top
    level is empty."""

    hidden: frozenset[str]
    read_only: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    rules: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    key: str = ""
    below: Mapping[str, tuple[str, ...]] | None = None

    def within(self, parents: Mapping[str, str]) -> ReaderLimits:
        """Return these limits, with the parents of the existing pages."""
        below: dict[str, list[str]] = {}
        for id in self.hidden & parents.keys():
            below.setdefault(parents[id], []).append(id)
        return replace(self, below={parent: tuple(ids) for parent, ids in below.items()})

    @staticmethod
    def of(
        hidden: frozenset[str],
        read_only: frozenset[str] = frozenset(),
        silent: frozenset[str] = frozenset(),
        rules: Mapping[str, tuple[tuple[str, ...], ...]] | None = None,
    ) -> ReaderLimits:
        digest = blake2b(json_list(sorted(hidden)).encode(), digest_size=16)
        return ReaderLimits(hidden, read_only, silent, rules or {}, digest.hexdigest() if hidden else "")


class State(Struct, frozen=True):
    """Revision of a space, with the layers of branches that its content is read from. ``limits``: the limits of the
    person who reads it; None for the whole state. Functions that read pages don't return hidden pages. ``reader``: the
    person who reads it; None if the state is for code that runs on behalf of everyone."""

    space_id: str
    revision_id: str
    layers: tuple[Layer, ...]
    limits: ReaderLimits | None = None
    reader: SpaceAccess | None = None

    @property
    def hidden(self) -> frozenset[str]:
        return self.limits.hidden if self.limits is not None else frozenset()

    def hidden_below(self, parents: Iterable[str]) -> Iterable[str]:
        """Return hidden pages, including at least those that have one of these parents (empty: the top level)."""
        if self.limits is None or self.limits.below is None:
            return self.hidden
        return [id for parent in parents for id in self.limits.below.get(parent, ())]

    @property
    def whole(self) -> State:
        """Return the state without limits, for checks that depend on all pages."""
        return State(self.space_id, self.revision_id, self.layers)

    @property
    def key(self) -> str:
        """Return a cache key for the content that the state's reader can see."""
        return f"{self.revision_id}-{self.limits.key}" if self.limits is not None else self.revision_id


def main_state(tx: Transaction, space_id: str) -> State:
    """Return the head of main."""
    row = tx.one(
        """SELECT l.id, l.sequence, l.revision FROM spaces s JOIN branches l ON l.id = s.main_branch
           WHERE s.id = :space""",
        space=space_id,
    )
    if row is None:
        raise NotFound(f"There is no space with the ID {space_id!r}.")
    return State(space_id, row[2], (Layer(row[0], row[1]),))


def lock_branch(tx: Transaction, branch_id: str) -> bool:
    """Lock a branch until the transaction ends, so that no one else creates a revision or writes derived
    data. Return False if the branch no longer exists."""
    return tx.one(f"SELECT 1 FROM branches WHERE id = :id{tx.for_update}", id=branch_id) is not None


def revision_state(tx: Transaction, space_id: str, revision_id: str) -> State:
    """Return the state of a revision in this space. Raises NotFound if there is none."""
    row = tx.one(
        """SELECT r.branch_id, r.sequence, r.base_sequence, l.base_branch FROM revisions r JOIN branches l
           ON l.id = r.branch_id
           WHERE r.id = :revision AND l.space_id = :space""",
        revision=revision_id,
        space=space_id,
    )
    if row is None:
        raise NotFound(f"There is no revision with the ID {revision_id!r} in this space.")
    branch_id, sequence, base_sequence, base_branch = row
    layers = [Layer(branch_id, sequence)]
    if base_branch is not None:
        layers.append(Layer(base_branch, base_sequence))
    return State(space_id, revision_id, tuple(layers))


def branch_state(tx: Transaction, space_id: str, branch_id: str) -> State:
    """Return the head of a branch in this space. Raises NotFound if there is none."""
    revision = tx.value(
        "SELECT revision FROM branches WHERE id = :branch AND space_id = :space",
        branch=branch_id,
        space=space_id,
    )
    if revision is None:
        raise NotFound(f"There is no branch with the ID {branch_id!r} in this space.")
    return revision_state(tx, space_id, revision)


def is_head(tx: Transaction, state: State) -> bool:
    """Return whether a state is the head of its topmost branch."""
    head = tx.value("SELECT revision FROM branches WHERE id = :branch", branch=state.layers[0].branch_id)
    return bool(head == state.revision_id)


class TouchedIds(Struct, frozen=True):
    """IDs of the pages and items that a branch created, changed, or deleted."""

    pages: frozenset[str]
    items: frozenset[str]


def list_branch_content(tx: Transaction, layer: Layer) -> TouchedIds:
    """Return the IDs of the pages and items for which the upper branch of a change request has rows."""
    return _list_touched(
        tx, "+from_seq <= :seq AND to_seq > :seq", branch=layer.branch_id, seq=layer.sequence
    )


def list_changed(tx: Transaction, layer: Layer, after: int) -> TouchedIds:
    """Return the IDs of the pages and items that a branch changed or deleted after a sequence, up to the sequence of
    the layer."""
    new = _list_touched(
        tx, "from_seq > :after AND from_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    old = _list_touched(
        tx, "to_seq > :after AND to_seq <= :seq", branch=layer.branch_id, seq=layer.sequence, after=after
    )
    return TouchedIds(new.pages | old.pages, new.items | old.items)


def list_last_changes(tx: Transaction, layer: Layer) -> dict[str, tuple[str, int]]:
    """Return the pages (as ``page``) and items (by kind) that a branch contains or deleted, by ID. Each has the last
    sequence in which it changed, up to the sequence of the layer."""
    at = "max(CASE WHEN to_seq <= :seq THEN to_seq ELSE from_seq END)"
    where = "branch_id = :branch AND from_seq <= :seq"
    given = {"branch": layer.branch_id, "seq": layer.sequence}
    pages = tx.all(f"SELECT page_id, {at} FROM page_versions WHERE {where} GROUP BY page_id", **given)
    items = tx.all(
        f"SELECT item_id, max(kind), {at} FROM item_versions WHERE {where} GROUP BY item_id", **given
    )
    return {id: ("page", sequence) for id, sequence in pages} | {
        id: (kind, sequence) for id, kind, sequence in items
    }


def _list_touched(tx: Transaction, where: str, **parameters: object) -> TouchedIds:
    pages = tx.all(f"SELECT page_id FROM page_versions WHERE branch_id = :branch AND {where}", **parameters)
    items = tx.all(f"SELECT item_id FROM item_versions WHERE branch_id = :branch AND {where}", **parameters)
    return TouchedIds(frozenset(row[0] for row in pages), frozenset(row[0] for row in items))


# The plus signs keep query planners from scanning a branch by sequence instead of using the page or parent.
VALID = "p.branch_id = :branch AND +p.from_seq <= :seq AND +p.to_seq > :seq"
_BATCH = 500


def find_rows(
    tx: Transaction, state: State, table: str, key: str, columns: str, wanted: Iterable[str]
) -> dict[str, Row | None]:
    """Return the topmost row for each of these IDs, or None if that row is marked as deleted."""
    found: dict[str, Row | None] = {}
    left = list(dict.fromkeys(wanted))
    for layer in state.layers:
        for start in range(0, len(left), _BATCH):
            rows = tx.all(
                f"SELECT {columns} FROM {table} p WHERE {VALID} AND p.{key} IN :ids",
                branch=layer.branch_id,
                seq=layer.sequence,
                ids=left[start : start + _BATCH],
            )
            found.update((row[0], None if row[-1] else row) for row in rows)
        left = [id for id in left if id not in found]
    return found


def count_rows(tx: Transaction, state: State, table: str, key: str, where: str, **parameters: object) -> int:
    """Return the number of rows of the state that match ``where``."""
    top, *below = state.layers
    live = "p.branch_id = :branch AND +p.from_seq <= :seq AND p.to_seq > :seq AND p.deleted = 0"
    count: int = tx.value(
        f"SELECT count(*) FROM {table} p WHERE {live} AND {where}",
        branch=top.branch_id,
        seq=top.sequence,
        **parameters,
    )
    for layer in below:
        count += tx.value(
            f"""SELECT count(*) FROM {table} p WHERE {live} AND {where} AND NOT EXISTS (
                  SELECT 1 FROM {table} u WHERE u.branch_id = :top AND u.{key} = p.{key}
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)""",
            branch=layer.branch_id,
            seq=layer.sequence,
            top=top.branch_id,
            top_seq=top.sequence,
            **parameters,
        )
    return count
