"""Files, reusable content, variables, and configuration sources of a state."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import NotFound, require_found
from octavo.kit.db.database import Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page

from .states import FOREVER, VALID, State, count_rows, find_rows, revision_state

ItemKind = Literal["file", "reusable-content", "variable", "source"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)


class Item(Struct, frozen=True, kw_only=True):
    """File, reusable content, variable, or configuration source.

    ``content``: for a file, the hash of its bytes; for reusable content and sources, the hash of the text;
    for a variable, its JSON value. ``path``: the path among the space's files.
    """

    id: str
    kind: ItemKind
    name: str
    path: str | None = None
    content: str | None = None
    size: int = 0
    content_type: str | None = None
    width: int | None = None
    height: int | None = None
    created_at: int = 0


class ItemFields(Struct, forbid_unknown_fields=True):
    """Format of the column ``item_versions.fields``."""

    content_type: str | None = None
    width: int | None = None
    height: int | None = None


_ITEM = "p.item_id, p.kind, p.name, p.path, p.content, p.size, p.fields, p.created_at, p.deleted"


def _item(row: Row) -> Item:
    item_id, kind, name, path, content, size, fields, created_at, _ = row
    rare = {} if fields == "{}" else msgspec.json.decode(fields)
    return Item(
        id=item_id, kind=kind, name=name, path=path, content=content, size=size, created_at=created_at, **rare
    )


def find_item(tx: Transaction, state: State, item_id: str, kind: ItemKind) -> Item | None:
    for layer in state.layers:
        row = tx.one(
            f"SELECT {_ITEM} FROM item_versions p WHERE {VALID} AND p.item_id = :item",
            branch=layer.branch_id,
            seq=layer.sequence,
            item=item_id,
        )
        if row is not None:
            return None if row[-1] or row[1] != kind else _item(row)
    return None


def find_items(tx: Transaction, state: State, item_ids: Iterable[str]) -> dict[str, Item]:
    """Return the items with these IDs that exist in the state, of any kind, by ID."""
    rows = find_rows(tx, state, "item_versions", "item_id", _ITEM, item_ids)
    return {id: _item(row) for id, row in rows.items() if row is not None}


def get_item(tx: Transaction, state: State, item_id: str, kind: ItemKind) -> Item:
    return require_found(
        find_item(tx, state, item_id, kind),
        f"There is no {kind.replace('-', ' ')} with the ID {item_id!r} in this version of the space.",
    )


_NOT_ABOVE = """NOT EXISTS (SELECT 1 FROM item_versions u WHERE u.branch_id = :top AND u.item_id = p.item_id
                  AND +u.from_seq <= :top_seq AND +u.to_seq > :top_seq)"""


def _items_where(state: State, where: str) -> tuple[str, JsonObject]:
    """Return a SELECT statement over the state as a whole (a ``UNION ALL`` of its layers), and its parameters."""
    top, *below = state.layers
    parts = [
        f"""SELECT {_ITEM} FROM item_versions p WHERE p.branch_id = :top AND +p.from_seq <= :top_seq
            AND p.to_seq > :top_seq AND p.deleted = 0 AND {where}"""
    ]
    parameters: JsonObject = {"top": top.branch_id, "top_seq": top.sequence}
    for n, layer in enumerate(below):
        parts.append(
            f"""SELECT {_ITEM} FROM item_versions p WHERE p.branch_id = :branch{n} AND +p.from_seq <= :seq{n}
                AND p.to_seq > :seq{n} AND p.deleted = 0 AND {where} AND {_NOT_ABOVE}"""
        )
        parameters |= {f"branch{n}": layer.branch_id, f"seq{n}": layer.sequence}
    return " UNION ALL ".join(parts), parameters


def find_item_by_path(tx: Transaction, state: State, path: str) -> Item | None:
    sql, parameters = _items_where(state, "p.path = :path")
    row = tx.one(sql, path=path, **parameters)
    return _item(row) if row else None


def list_items(tx: Transaction, state: State, kind: ItemKind) -> list[Item]:
    """Return all items of a kind, oldest first."""
    sql, parameters = _items_where(state, "p.kind = :kind")
    return sorted((_item(row) for row in tx.all(sql, kind=kind, **parameters)), key=lambda item: item.id)


def list_content(tx: Transaction, space_id: str, suffixes: Iterable[str]) -> list[str]:
    """List the hashes of all files with one of these suffixes in any revision on any branch of a space."""
    ends = " OR ".join(f"lower(i.name) LIKE '%{suffix}'" for suffix in suffixes)
    rows = tx.all(
        f"""SELECT DISTINCT i.content FROM branches b JOIN item_versions i ON i.branch_id = b.id
            WHERE b.space_id = :space AND i.from_seq <= b.sequence AND i.kind = 'file' AND i.content IS NOT
            NULL AND ({ends})""",
        space=space_id,
    )
    return [row[0] for row in rows]


def list_rasters(tx: Transaction, space_id: str) -> list[Item]:
    """List the files with a width and height in any revision on any branch of a space, without duplicate
    content."""
    rows = tx.all(
        f"""SELECT {_ITEM} FROM branches b JOIN item_versions p ON p.branch_id = b.id
            WHERE b.space_id = :space AND p.from_seq <= b.sequence AND p.kind = 'file' AND p.content IS NOT NULL
              AND p.fields LIKE '%"width"%'""",
        space=space_id,
    )
    return list({item.content: item for item in map(_item, rows)}.values())


def list_variables(tx: Transaction, state: State) -> JsonObject:
    """Return the values of the space's variables by name."""
    return {
        item.name: msgspec.json.decode(item.content or "null") for item in list_items(tx, state, "variable")
    }


def list_items_page(
    tx: Transaction, state: State, kind: ItemKind, limit: int, page: str | None
) -> Slice[Item]:
    sql, parameters = _items_where(state, "p.kind = :kind")
    count = tx.value(f"SELECT count(*) FROM ({sql}) AS items", kind=kind, **parameters)
    # The condition is always true and makes SQLite use the index that is ordered by ID.
    source = f"FROM ({sql}) AS items WHERE item_id > ''"
    return list_page(
        tx, limit, page, "items.*", source, _item, by="item_id", count=count, kind=kind, **parameters
    )


def count_items(tx: Transaction, state: State, kind: ItemKind) -> int:
    return count_rows(tx, state, "item_versions", "item_id", "p.kind = :kind", kind=kind)


class FoundDocument(Struct, frozen=True):
    """Owner of a document, and a state that contains it."""

    state: State
    owner_id: str
    owner_kind: Literal["page", "reusable-content"]
    file_path: str | None


def get_document(
    tx: Transaction, space_id: str, document_id: str, hidden: Collection[str] = ()
) -> FoundDocument:
    """Return the latest document with this hash in main or, if main never had it, in any branch of the space.
    ``hidden``: the pages to skip. Raises NotFound if there is none."""
    found = tx.one(
        f"""SELECT v.owner, v.kind, v.path, r.id FROM (
             SELECT branch_id, from_seq, to_seq, page_id AS owner, 'page' AS kind, file_path AS path
               FROM page_versions
               WHERE body = :id AND deleted = 0 AND NOT page_id {tx.among("hidden")}
             UNION ALL
             SELECT branch_id, from_seq, to_seq, item_id AS owner, kind, path FROM item_versions
               WHERE content = :id AND kind = 'reusable-content' AND deleted = 0) AS v
           JOIN branches l ON l.id = v.branch_id AND v.from_seq <= l.sequence
           JOIN revisions r ON r.branch_id = v.branch_id
             AND r.sequence = CASE WHEN v.to_seq > l.sequence THEN l.sequence ELSE (
               SELECT max(b.sequence) FROM revisions b WHERE b.branch_id = v.branch_id AND b.sequence < v.to_seq) END
           WHERE l.space_id = :space
           ORDER BY CASE WHEN l.base_branch IS NULL AND v.to_seq > l.sequence THEN 0 ELSE 1 END, r.created_at DESC,
             v.owner LIMIT 1""",
        id=document_id,
        space=space_id,
        hidden=json_list(hidden),
    )
    if found is None:
        raise NotFound(f"There is no document with the ID {document_id!r} in this space.")
    owner, kind, path, revision = found
    return FoundDocument(revision_state(tx, space_id, revision), owner, kind, path)


def item_row(branch: str, sequence: int, item_id: str, item: Item | None, moment: int) -> dict[str, object]:
    fields = {}
    if item is not None:
        for name in ItemFields.__struct_fields__:
            if (value := getattr(item, name)) is not None:
                fields[name] = value
    return {
        "branch": branch,
        "id": item_id,
        "seq": sequence,
        "forever": FOREVER,
        "deleted": int(item is None),
        "kind": item.kind if item else "file",
        "name": item.name if item else "",
        "path": item.path if item else None,
        "content": item.content if item else None,
        "size": item.size if item else 0,
        "fields": msgspec.json.encode(fields).decode(),
        "created_at": (item.created_at if item else 0) or moment,
    }
