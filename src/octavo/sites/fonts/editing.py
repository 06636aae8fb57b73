"""Create, update, and delete fonts from uploads. Each file is for one weight, and the regular weight is
always required."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octavo.content.uploads.receiving import get_upload
from octavo.errors import NotFound, PreconditionFailed
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileStore
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.spaces.garbage import retain

from . import store

REGULAR = 400
_FORMATS = {b"wOF2": "woff2", b"wOFF": "woff"}
"""Font formats, by the first four bytes of a file."""


def get_font(tx: Transaction, organization_id: str, font_id: str) -> store.FontRow:
    found = store.find_font(tx, organization_id, font_id)
    if found is None:
        raise NotFound(f"There is no font with the ID {font_id!r} in this organization.")
    return found


def create(
    tx: Transaction, context: Context, org: OrgAccess, family: str, faces: Mapping[int, str]
) -> store.FontRow:
    """Create a font from the caller's uploads, keyed by weight. Raises NotFound if an upload doesn't exist,
    BadRequest if a file is invalid, and PreconditionFailed if the regular weight is missing."""
    _require_regular(faces)
    font_id = store.insert_font(tx, org.organization_id, family.strip())
    for weight, key in faces.items():
        store.put_face(tx, font_id, _face(tx, context.files, org, weight, key))
    font = get_font(tx, org.organization_id, font_id)
    audit(tx, org.actor, "font.created", org.organization_id, ("font", font_id), after=_state(font))
    return font


def change(
    tx: Transaction,
    context: Context,
    org: OrgAccess,
    font_id: str,
    family: str | None,
    faces: Mapping[int, str | None],
) -> store.FontRow:
    """Rename a font, and add, replace, and remove weights. ``faces``: the upload for each weight to change; None
    removes the weight. Raises the same errors as ``create``."""
    font = get_font(tx, org.organization_id, font_id)
    kept = {face.weight for face in font.faces} | {w for w, key in faces.items() if key is not None}
    _require_regular(kept - {weight for weight, key in faces.items() if key is None})
    if family is not None:
        store.rename_font(tx, font.id, family.strip())
    for weight, key in faces.items():
        if key is None:
            store.remove_face(tx, font.id, weight)
        else:
            store.put_face(tx, font.id, _face(tx, context.files, org, weight, key))
    after = get_font(tx, org.organization_id, font.id)
    if after != font:
        was, is_now = _state(font), _state(after)
        audit(tx, org.actor, "font.updated", org.organization_id, ("font", font_id), before=was, after=is_now)
    return after


def delete(tx: Transaction, org: OrgAccess, font_id: str) -> bool:
    """Delete a font and its files. Return False if the font doesn't exist."""
    found = store.find_font(tx, org.organization_id, font_id)
    if found is None:
        return False
    store.delete_font(tx, found.id)
    audit(tx, org.actor, "font.removed", org.organization_id, ("font", font_id), before=_state(found))
    return True


def _state(font: store.FontRow) -> dict[str, object]:
    """Return a font's state for the audit log."""
    return {"fontFamily": font.family, "weights": [face.weight for face in font.faces]}


def _require_regular(weights: Iterable[int]) -> None:
    if REGULAR not in weights:
        raise PreconditionFailed(f"fontFaces: must include the weight {REGULAR}")


def _face(tx: Transaction, files: FileStore, org: OrgAccess, weight: int, key: str) -> store.FontFaceRow:
    upload = get_upload(tx, org.organization_id, org.user_id, "customization_font", key)
    assert upload.hash is not None, "get_upload returns only complete uploads"
    form = _FORMATS.get(b"".join(files.open(upload.hash, 0, 4)))
    if form is None:
        raise PreconditionFailed(f"fontFaces: the file for weight {weight} must be in WOFF2 or WOFF format")
    retain(tx, "file", [upload.hash])
    return store.FontFaceRow(weight, upload.hash, form)
