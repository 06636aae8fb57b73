"""Copy the content of a space to a new space: the current rows of main, inside the database.

Markdown sources and files aren't copied, because both spaces refer to them by hash. Pages and files keep their IDs,
which are unique within a space, so all links between them stay valid.
"""

from __future__ import annotations

from functools import partial

from octavo.errors import TemporarilyUnavailable
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.hooks import Copy, WriteCopy
from octavo.organization.spaces.store import get_space

from . import staging
from .page_versions import find_pages
from .restrictions import find_rules
from .states import FOREVER, Layer, State, main_state

_PAGE = (
    "page_id, parent_id, rank, slug, kind, title, body, file_path, fields, restricted, created_at, updated_at"
)
_ITEM = "item_id, kind, name, path, content, size, fields, created_at"
_TABLES = (("page_versions", "page_id", _PAGE), ("item_versions", "item_id", _ITEM))
_HELD = "branch_id = :source AND from_seq <= :sequence AND to_seq > :sequence"


def list_content_writes(tx: Transaction, source_id: str) -> list[WriteCopy]:
    """Return functions that each copy a part of the content that a space's main has now, even if main changes later.
    The result is empty for a small space."""
    source = main_state(tx, source_id).layers[0]
    ids = {
        table: [
            row[0]
            for row in tx.all(
                f"SELECT {key} FROM {table} WHERE {_HELD} ORDER BY {key}",
                source=source.branch_id,
                sequence=source.sequence,
            )
        ]
        for table, key, _ in _TABLES
    }
    if sum(map(len, ids.values())) <= staging.MOST_AT_ONCE:
        return []
    parts = (
        (table, found[start : start + staging.BATCH])
        for table, found in ids.items()
        for start in range(0, len(found), staging.BATCH)
    )
    return [partial(_write, source=source, only=(table, part[0], part[-1])) for table, part in parts]


def copy_content(tx: Transaction, copy: Copy) -> None:
    """Write the current main of the source into the first revision of the new space, unless it has already
    been written. Raises TemporarilyUnavailable if pages have been restricted since then."""
    source = main_state(tx, copy.source_id)
    if copy.written:
        _require_same_rules(tx, copy.copy_id, source)
    else:
        _write(tx, copy.copy_id, source.layers[0])


def _require_same_rules(tx: Transaction, copy_id: str, source: State) -> None:
    """Raise TemporarilyUnavailable unless the rules that apply to the source's pages also apply to the copied pages."""
    restricted = find_rules(tx, source)
    now = find_pages(tx, source, restricted)
    copied = State(copy_id, "", (Layer(get_space(tx, copy_id).main_branch, 1),))
    for id, page in find_pages(tx, copied, restricted).items():
        current = now.get(id)
        if current is None or (current.parent, current.visible_to) != (page.parent, page.visible_to):
            raise TemporarilyUnavailable(
                "Pages were restricted while the space was being duplicated. Nothing was created. Try again."
            )


def _write(tx: Transaction, copy_id: str, source: Layer, only: tuple[str, str, str] | None = None) -> None:
    """Write rows of the new space: all rows, or one table's rows in a range of IDs. ``only``: the table and the
    range."""
    for table, key, columns in _TABLES:
        if only is not None and only[0] != table:
            continue
        tx.run(
            f"""INSERT INTO {table} (branch_id, from_seq, to_seq, {columns}) SELECT :branch, 1, :forever, {columns}
                FROM {table} WHERE {_HELD}{f" AND {key} BETWEEN :first AND :last" if only else ""}""",
            branch=get_space(tx, copy_id).main_branch,
            forever=FOREVER,
            source=source.branch_id,
            sequence=source.sequence,
            **({"first": only[1], "last": only[2]} if only else {}),
        )
