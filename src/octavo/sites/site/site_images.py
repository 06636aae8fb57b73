"""Pictures that an organization uploaded for the looks of its sites: logos, icons.

Whoever knows the address of one has it: pages show it to visitors who are not signed in yet.
"""

from __future__ import annotations

from msgspec import Struct

from octavo.content.uploads.receiving import get_upload
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.files import FileGrant, FileStore
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.spaces.garbage import release, retain

_HEAD = 4096
"""Bytes in which an SVG says that it is one."""
_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"\x00\x00\x01\x00": "image/x-icon",
}
"""By the first bytes."""


class PictureRow(Struct, frozen=True):
    id: str
    name: str
    hash: str
    type: str
    size: int
    created_at: int


_COLUMNS = "id, name, hash, type, size, created_at"


def list_pictures(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[PictureRow]:
    """Oldest first."""
    return list_page(
        tx, limit, page, _COLUMNS, "FROM pictures WHERE organization_id = :org", lambda row: PictureRow(*row),
        org=organization_id,
    )  # fmt: skip


def create(tx: Transaction, context: Context, org: OrgAccess, key: str) -> PictureRow:
    """A picture of an upload of the caller. Raises NotFound, BadRequest."""
    upload = get_upload(tx, org.organization_id, org.user_id, "customization_picture", key)
    assert upload.hash is not None, "what get_upload gives has come"
    type = _type_of(context.files, upload.hash)
    if type is None:
        raise BadRequest("storageKey: the file is no PNG, JPEG, GIF, WebP, SVG or icon")
    retain(tx, "file", [upload.hash])
    row = PictureRow(ids.new_id(), upload.name, upload.hash, type, upload.size, now())
    tx.run(
        f"""INSERT INTO pictures (organization_id, {_COLUMNS})
            VALUES (:org, :id, :name, :hash, :type, :size, :created_at)""",
        org=org.organization_id,
        id=row.id,
        name=row.name,
        hash=row.hash,
        type=row.type,
        size=row.size,
        created_at=row.created_at,
    )
    audit(
        tx, org.actor, "picture.created", org.organization_id, ("picture", row.id), after={"name": row.name}
    )
    return row


def delete(tx: Transaction, org: OrgAccess, picture_id: str) -> bool:
    """Removes a picture; sites that show it show none. False when it is not there."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM pictures WHERE id = :id AND organization_id = :org",
        id=picture_id,
        org=org.organization_id,
    )
    if row is None:
        return False
    found = PictureRow(*row)
    release(tx, "file", "SELECT hash FROM pictures WHERE id = :id", id=found.id)
    tx.run("DELETE FROM pictures WHERE id = :id", id=found.id)
    target = ("picture", found.id)
    audit(tx, org.actor, "picture.removed", org.organization_id, target, before={"name": found.name})
    return True


def find_picture(tx: Transaction, picture_id: str) -> tuple[FileGrant, int] | None:
    """The file of a picture and its size, for whoever knows its id."""
    row = tx.one("SELECT hash, name, type, size FROM pictures WHERE id = :id", id=picture_id)
    return None if row is None else (FileGrant(*row[:3]), row[3])


def _type_of(files: FileStore, hash: str) -> str | None:
    """What kind of picture a file is by its bytes; None for none."""
    head = b"".join(files.open(hash, 0, _HEAD))
    for begin, type in _TYPES.items():
        if head.startswith(begin):
            return type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return "image/svg+xml" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" and b"<svg" in head else None
