"""Images that an organization uploaded to customize its sites, such as logos and icons.

Everyone with the URL of an image can load it, because pages show it to visitors who aren't signed in yet."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import Struct

from octavo.content.uploads.receiving import get_upload
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.files import FileGrant, FileStore
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.spaces.garbage import release, retain

PICTURES = "/~pictures/"
"""Path prefix of image URLs, under the sites URL."""
_HEAD = 4096
"""Number of bytes at the beginning of a file within which an SVG must be recognizable."""
_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"\x00\x00\x01\x00": "image/x-icon",
}
"""Media types by the first bytes of a file."""


class PictureRow(Struct, frozen=True):
    id: str
    name: str
    hash: str
    type: str
    size: int
    created_at: int


_COLUMNS = "id, name, hash, type, size, created_at"


def picture_url(sites_url: str, row: PictureRow) -> str:
    """Return the public URL of an image, which is valid until the image is deleted."""
    return f"{sites_url.rstrip('/')}{PICTURES}{row.id}/{quote(row.name, safe='')}"


def list_pictures(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[PictureRow]:
    """List images, oldest first."""
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        "FROM pictures WHERE organization_id = :org",
        lambda row: PictureRow(*row),
        org=organization_id,
    )


def create(tx: Transaction, context: Context, org: OrgAccess, key: str) -> PictureRow:
    """Create an image from one of the caller's uploads. Raises NotFound if the upload doesn't exist, and
    BadRequest if its file can't be used."""
    upload = get_upload(tx, org.organization_id, org.user_id, "customization_picture", key)
    assert upload.hash is not None, "get_uploads returns only complete uploads"
    row = insert(tx, context.files, org.organization_id, org.actor, upload.name, upload.hash, upload.size)
    if row is None:
        raise BadRequest("storageKey: must be a PNG, JPEG, GIF, WebP, SVG, or ICO file")
    return row


def insert(
    tx: Transaction, files: FileStore, organization_id: str, actor: Actor, name: str, hash: str, size: int
) -> PictureRow | None:
    """Add an image for a stored file. Return None if the file isn't an image."""
    type = _type_of(files, hash)
    if type is None:
        return None
    retain(tx, "file", [hash])
    row = PictureRow(ids.new_id(), name, hash, type, size, now())
    tx.run(
        f"""INSERT INTO pictures (organization_id, {_COLUMNS})
            VALUES (:org, :id, :name, :hash, :type, :size, :created_at)""",
        org=organization_id,
        id=row.id,
        name=row.name,
        hash=row.hash,
        type=row.type,
        size=row.size,
        created_at=row.created_at,
    )
    audit(tx, actor, "picture.created", organization_id, ("picture", row.id), after={"name": row.name})
    return row


def delete(tx: Transaction, org: OrgAccess, picture_id: str) -> bool:
    """Delete an image. Sites that use the image no longer show it. Return False if it doesn't exist."""
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
    """Return the file of an image and its size. Anyone who knows the ID can load the image."""
    row = tx.one("SELECT hash, name, type, size FROM pictures WHERE id = :id", id=picture_id)
    return None if row is None else (FileGrant(*row[:3]), row[3])


def _type_of(files: FileStore, hash: str) -> str | None:
    """Return the media type of an image based on its bytes; None for other files."""
    head = b"".join(files.open(hash, 0, _HEAD))
    for begin, type in _TYPES.items():
        if head.startswith(begin):
            return type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return "image/svg+xml" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" and b"<svg" in head else None
