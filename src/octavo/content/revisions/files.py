"""Files of a space: their bytes, and links to them."""

from __future__ import annotations

import hashlib

from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.files import Blob, FileGrant
from octavo.organization.spaces.garbage import is_released, retain

from .store import Item

PURPOSE = "content"
MAX_FILE = 100 * 1024 * 1024
"""Bytes that a file of a space may have."""
_DAY = 86_400_000
_GOOD_FOR_DAYS = 2


def download_url(context: Context, item: Item) -> str:
    """A signed URL of a file's bytes, on the origin of sites (never the API's), good for one to two days.

    It changes once a day only, so that answers that hold it can be cached.
    """
    grant = FileGrant(item.content or "", item.name, item.content_type or "application/octet-stream")
    return signed_url(context, grant)


def signed_url(context: Context, grant: FileGrant) -> str:
    expires = (now() // _DAY + _GOOD_FOR_DAYS) * _DAY
    link: str = context.files.link(PURPOSE, grant, expires)
    return link if "://" in link else f"{context.settings.sites_url.rstrip('/')}/~{link.lstrip('/')}"


def store_file(context: Context, data: bytes) -> Blob:
    """Stores the bytes of a file. They stay, though no row may name them yet and another space just released them."""
    digest = hashlib.sha256(data).hexdigest()
    with context.db.read() as tx:
        released = is_released(tx, "file", digest)
    if released:
        with context.db.write() as tx:
            retain(tx, "file", [digest])
    return context.files.put(data)
