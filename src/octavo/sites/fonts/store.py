"""Read and write fonts in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.spaces.garbage import release


class FontFaceRow(Struct, frozen=True):
    weight: int
    hash: str
    format: str


class FontRow(Struct, frozen=True):
    """Custom font of an organization. ``faces``: its faces, lightest first."""

    id: str
    family: str
    faces: list[FontFaceRow]


def _with_faces(tx: Transaction, rows: Sequence[Row]) -> list[FontRow]:
    faces: dict[str, list[FontFaceRow]] = defaultdict(list)
    for font_id, *face in tx.all(
        "SELECT font_id, weight, hash, format FROM font_faces WHERE font_id IN :ids ORDER BY weight",
        ids=[row[0] for row in rows],
    ):
        faces[font_id].append(FontFaceRow(*face))
    return [FontRow(id, family, faces[id]) for id, family in rows]


def find_font(tx: Transaction, organization_id: str, font_id: str) -> FontRow | None:
    row = tx.one(
        "SELECT id, family FROM fonts WHERE id = :id AND organization_id = :org",
        id=font_id,
        org=organization_id,
    )
    return _with_faces(tx, [row])[0] if row else None


def list_fonts(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[FontRow]:
    """Return the fonts, oldest first."""
    source = "FROM fonts WHERE organization_id = :org"
    found = list_page(tx, limit, page, "id, family", source, tuple, org=organization_id)
    return Slice(_with_faces(tx, found.rows), found.count, found.next_token)


def insert_font(tx: Transaction, organization_id: str, family: str) -> str:
    font_id = ids.new_id()
    tx.insert("fonts", id=font_id, organization_id=organization_id, family=family, created_at=now())
    return font_id


def rename_font(tx: Transaction, font_id: str, family: str) -> None:
    tx.run("UPDATE fonts SET family = :family WHERE id = :id", family=family, id=font_id)


def put_face(tx: Transaction, font_id: str, face: FontFaceRow) -> None:
    remove_face(tx, font_id, face.weight)
    tx.insert("font_faces", font_id=font_id, weight=face.weight, hash=face.hash, format=face.format)


def remove_face(tx: Transaction, font_id: str, weight: int) -> None:
    where = f"font_id = :font AND weight = {weight:d}"
    release(tx, "file", f"SELECT hash FROM font_faces WHERE {where}", font=font_id)
    tx.run(f"DELETE FROM font_faces WHERE {where}", font=font_id)


def delete_font(tx: Transaction, font_id: str) -> None:
    release(tx, "file", "SELECT hash FROM font_faces WHERE font_id = :font", font=font_id)
    tx.run("DELETE FROM fonts WHERE id = :id", id=font_id)
