"""Fonts of an organization, as they are served to pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant

from . import store


class ShownFace(NamedTuple):
    """Font face. ``name``: the name of its file, which is part of ``url``."""

    weight: int
    url: str
    format: str


class CustomFont(NamedTuple):
    id: str
    faces: tuple[ShownFace, ...]


def find_fonts(
    tx: Transaction, organization_id: str, font_ids: Iterable[str], address: str
) -> tuple[CustomFont, ...]:
    """Return the fonts that exist in the organization. ``address``: the path of the font files."""
    found = []
    for font_id in font_ids:
        font = store.find_font(tx, organization_id, font_id)
        if font is not None:
            faces = (
                # A replaced face gets a new URL, so that browsers never use an old copy.
                ShownFace(
                    face.weight,
                    f"{address}{font.id}/{face.weight}.{face.format}?v={face.hash[:12]}",
                    face.format,
                )
                for face in font.faces
            )
            found.append(CustomFont(font.id, tuple(faces)))
    return tuple(found)


def list_faces(tx: Transaction, organization_id: str, font_id: str) -> list[tuple[int, str]]:
    """Return the faces of a font, lightest first, each with its weight and content; empty if the organization
    has no such font."""
    font = store.find_font(tx, organization_id, font_id)
    return [(face.weight, face.hash) for face in font.faces] if font is not None else []


def find_face(tx: Transaction, organization_id: str, font_id: str, name: str) -> FileGrant | None:
    """Return the file of a face by its name (``400.woff2``); None if the organization has no such font or face."""
    font = store.find_font(tx, organization_id, font_id)
    for face in font.faces if font is not None else ():
        if name == f"{face.weight}.{face.format}":
            return FileGrant(face.hash, name, f"font/{face.format}")
    return None
