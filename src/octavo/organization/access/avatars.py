"""Photos that people upload for their accounts and teams.

A photo is redrawn as a small PNG in a separate process, so no metadata or other data from the uploaded file is kept.
Everyone with the URL of a photo can load it, because sites show it to visitors."""

from __future__ import annotations

import base64
import binascii

from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.db.database import Transaction
from octavo.kit.processes.image_conversion import redraw

from .accounts import set_photo_url

AVATARS = "/~avatars/"
"""Path prefix of photo URLs, relative to the sites URL."""
MAX_AVATAR = 8 * 1024**2
"""Maximum size of an uploaded photo in bytes."""
_SIDE = 128
"""Maximum width and height in points. Each point is drawn as two pixels."""


def read_avatar(encoded: str) -> bytes:
    """Return a base64-encoded photo as PNG. Raises BadRequest if it is invalid."""
    try:
        image = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("image: must be Base64-encoded") from None
    if len(image) > MAX_AVATAR:
        raise BadRequest(f"image: must be at most {MAX_AVATAR // 1024**2} MB")
    if not _is_photo(image):
        raise BadRequest("image: must be a PNG, JPEG, WebP, or GIF file")
    small = redraw(image, _SIDE, _SIDE)
    if small is None:
        raise BadRequest("image: can't be read. Choose another image, or save it again as PNG or JPEG.")
    return small


def _is_photo(image: bytes) -> bool:
    begins = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")
    return image.startswith(begins) or (image[:4] == b"RIFF" and image[8:12] == b"WEBP")


def set_avatar(tx: Transaction, sites_url: str, user_id: str, image: bytes) -> None:
    """Set a user's photo, which gets a new URL."""
    delete_avatar(tx, user_id)
    id = ids.new_id()
    tx.run(
        "INSERT INTO avatars (user_id, id, image) VALUES (:user, :id, :image)",
        user=user_id,
        id=id,
        image=image,
    )
    set_photo_url(tx, user_id, avatar_url(sites_url, id))


def delete_avatar(tx: Transaction, user_id: str) -> bool:
    """Delete a user's uploaded photo. Return False if the user doesn't have one."""
    deleted = bool(tx.run("DELETE FROM avatars WHERE user_id = :user", user=user_id))
    if deleted:
        set_photo_url(tx, user_id, None)
    return deleted


def set_team_avatar(tx: Transaction, team_id: str, image: bytes) -> None:
    """Set a team's picture, which gets a new URL."""
    delete_team_avatar(tx, team_id)
    tx.insert("team_avatars", team_id=team_id, id=ids.new_id(), image=image)


def delete_team_avatar(tx: Transaction, team_id: str) -> bool:
    """Delete a team's picture. Return False if the team doesn't have one."""
    return bool(tx.run("DELETE FROM team_avatars WHERE team_id = :team", team=team_id))


def find_avatar(tx: Transaction, avatar_id: str) -> bytes | None:
    row = tx.one(
        """SELECT image FROM avatars WHERE id = :id
           UNION ALL SELECT image FROM team_avatars WHERE id = :id""",
        id=avatar_id,
    )
    return None if row is None else bytes(row[0])


def update_photo_urls(tx: Transaction, sites_url: str) -> None:
    """Update the URLs of uploaded photos after the sites URL changes in the settings."""
    rows = tx.all(
        """SELECT a.user_id, a.id FROM avatars a JOIN users u ON u.id = a.user_id
           WHERE u.photo_url IS NULL OR u.photo_url <> :base || a.id""",
        base=_base(sites_url),
    )
    for user_id, id in rows:
        set_photo_url(tx, user_id, avatar_url(sites_url, id))


def avatar_url(sites_url: str, avatar_id: str) -> str:
    """Return the public URL of a photo."""
    return f"{_base(sites_url)}{avatar_id}"


def _base(sites_url: str) -> str:
    return f"{sites_url.rstrip('/')}{AVATARS}"
