"""Write branches and revisions. ``commit`` writes rows only for changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from octavo.core.pages import Page
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction, json_list
from octavo.organization.spaces.store import advance_main

from .item_versions import Item, item_row
from .page_versions import page_row
from .states import FOREVER, Layer, State, find_rows


class BranchMoved(Exception):
    """Raised if another writer created a revision on the branch first. The caller should read the branch
    again and retry."""


def open_branch(tx: Transaction, main: State, author: str | None) -> State:
    """Create a branch from this state of main, without changes."""
    branch_id, revision_id = ids.new_id(), ids.new_id()
    below = main.layers[0]
    tx.insert(
        "branches",
        id=branch_id,
        space_id=main.space_id,
        base_branch=below.branch_id,
        sequence=1,
        revision=revision_id,
    )
    tx.insert(
        "revisions",
        id=revision_id,
        branch_id=branch_id,
        sequence=1,
        base_sequence=below.sequence,
        parents=msgspec.json.encode([main.revision_id]).decode(),
        type="edits",
        author=author,
        created_at=now(),
    )
    return State(main.space_id, revision_id, (Layer(branch_id, 1), below))


def delete_branch(tx: Transaction, branch_id: str) -> None:
    """Delete a branch with its revisions and all of their data."""
    tx.run("DELETE FROM branches WHERE id = :branch", branch=branch_id)


def record_git_commit(tx: Transaction, revision_id: str, git: Mapping[str, object]) -> None:
    """Record the Git commit that was created from a revision. A revision that was created from a commit keeps that
    commit."""
    tx.run(
        "UPDATE revisions SET git = :git WHERE id = :id AND git IS NULL",
        git=msgspec.json.encode(git).decode(),
        id=revision_id,
    )


class Changes(Struct):
    """Changes in a revision: the new version of each page and item; None for deleted pages and items."""

    pages: dict[str, Page | None] = {}
    items: dict[str, Item | None] = {}

    def __bool__(self) -> bool:
        return bool(self.pages or self.items)

    def __len__(self) -> int:
        return len(self.pages) + len(self.items)


class Staged(Struct, frozen=True):
    """Revision whose rows are written before it is created.

    ``sequence``: the sequence of the rows, far beyond the head of the branch. ``version``: the version of the derived
    data. ``pages`` and ``items``: the IDs of the pages and items whose rows are replaced (``json_list``).
    """

    version: int
    branch_id: str
    sequence: int
    pages: str
    items: str


def list_replaced(tx: Transaction, layer: Layer, changes: Changes) -> tuple[str, str]:
    """Return the IDs of the changed pages and items for which a branch already has rows, as ``json_list``."""
    of_branch = State("", "", (layer,))
    pages = find_rows(tx, of_branch, "page_versions", "page_id", "p.page_id, p.deleted", changes.pages)
    items = find_rows(tx, of_branch, "item_versions", "item_id", "p.item_id, p.deleted", changes.items)
    return json_list(pages), json_list(items)


def _end_validity(tx: Transaction, table: str, column: str, branch_id: str, sequence: int, ids: str) -> None:
    """End the validity of the current rows. For the plus signs in the SQL, see ``VALID``."""
    tx.run(
        f"""UPDATE {table} SET to_seq = :seq
            WHERE branch_id = :branch AND {column} {tx.among("ids")}
              AND +from_seq < :seq AND +to_seq = {FOREVER}""",
        seq=sequence,
        branch=branch_id,
        ids=ids,
    )


def insert_rows(tx: Transaction, branch_id: str, sequence: int, changes: Changes, *, hides: bool) -> None:
    """Insert rows for the changes, valid from a sequence. ``hides``: whether the branch is on top of another branch, so
    that deletions require rows that hide lower rows. Main has no rows for deletions."""
    moment = now()
    tx.run_many(
        """INSERT INTO page_versions (branch_id, page_id, from_seq, to_seq, deleted, parent_id, rank, slug, kind, title,
                                      body, file_path, fields, restricted, created_at, updated_at)
           VALUES (:branch, :id, :seq, :forever, :deleted, :parent, :rank, :slug, :kind, :title,
                   :body, :file_path, :fields, :restricted, :created_at, :updated_at)""",
        (
            page_row(branch_id, sequence, page_id, page, moment)
            for page_id, page in changes.pages.items()
            if page is not None or hides
        ),
    )
    tx.run_many(
        """INSERT INTO item_versions (branch_id, item_id, from_seq, to_seq, deleted, kind, name, path, content, size,
                                      fields, created_at)
           VALUES (:branch, :id, :seq, :forever, :deleted, :kind, :name, :path, :content, :size, :fields,
           :created_at)""",
        (
            item_row(branch_id, sequence, item_id, item, moment)
            for item_id, item in changes.items.items()
            if item is not None or hides
        ),
    )


def _has_rows_between(tx: Transaction, branch_id: str, low: int, high: int) -> bool:
    return any(
        tx.one(
            f"SELECT 1 FROM {table} WHERE branch_id = :branch AND from_seq > :low AND from_seq < :high LIMIT 1",
            branch=branch_id,
            low=low,
            high=high,
        )
        for table in ("page_versions", "item_versions")
    )


def commit(
    tx: Transaction,
    state: State,
    changes: Changes,
    staged: Staged | None = None,
    *,
    type: str = "edits",
    author: str | None = None,
    agent: str | None = None,
    message: str | None = None,
    git: Mapping[str, object] | None = None,
    merged_from: str | None = None,
    parents: Iterable[str] = (),
    base_sequence: int | None = None,
    conflicts: str | None = None,
    continues: tuple[str, int] | None = None,
) -> State:
    """Create the next revision of the state's upper branch. Raises BranchMoved unless the state is its head.

    ``agent``: the agent that the author used. ``staged``: the rows of these changes, if they are already written.
    ``base_sequence``: the newer state of main to base a change request on. ``parents``: parents in addition to the
    previous revision. ``continues``: the previous revision and the start of the consecutive saves to continue, if no
    other revision was created in the meantime. Only changed rows are written, regardless of the size of the space.
    """
    branch, head = state.layers[0].branch_id, state.layers[0].sequence
    sequence = staged.sequence if staged else head + 1
    over = state.layers[1] if len(state.layers) > 1 else None
    if over is not None and base_sequence is not None:
        over = Layer(over.branch_id, base_sequence)
    revision_id, moment = ids.new_id(), now()
    moved = tx.run(
        "UPDATE branches SET sequence = :new, revision = :revision WHERE id = :branch AND sequence = :old",
        new=sequence,
        revision=revision_id,
        branch=branch,
        old=head,
    )
    # Rows that someone else wrote below this sequence would become active with it.
    if not moved or (staged and _has_rows_between(tx, branch, head, sequence)):
        raise BranchMoved
    tx.insert(
        "revisions",
        id=revision_id,
        branch_id=branch,
        sequence=sequence,
        base_sequence=over.sequence if over else None,
        parents=msgspec.json.encode([state.revision_id, *parents]).decode(),
        type=type,
        author=author,
        created_at=moment,
        message=message,
        git=msgspec.json.encode(git).decode() if git else None,
        merged_from=merged_from,
        conflicts=conflicts,
        agent=agent,
        saves_since=continues[1]
        if continues and staged is None and continues[0] == state.revision_id
        else None,
    )
    if staged is None:
        insert_rows(tx, branch, sequence, changes, hides=over is not None)
        replaced = json_list(changes.pages), json_list(changes.items)
    else:
        replaced = staged.pages, staged.items
    _end_validity(tx, "page_versions", "page_id", branch, sequence, replaced[0])
    _end_validity(tx, "item_versions", "item_id", branch, sequence, replaced[1])
    if over is None:
        advance_main(tx, branch, revision_id)
    layers = (Layer(branch, sequence), over) if over else (Layer(branch, sequence),)
    return State(state.space_id, revision_id, layers, state.limits, state.reader)
