"""A space's files: their content and download links."""

from __future__ import annotations

import hashlib

from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.files import Blob, FileGrant
from octavo.organization.spaces.garbage import is_released, retain

from .item_versions import Item

PURPOSE = "content"
_GOOD_FOR_DAYS = 2


def download_url(context: Context, item: Item) -> str:
    """Return a signed URL for a file, valid for one to two days. It uses the site domain, never the API domain.

    The URL changes only once a day, so that responses with it can be cached.
    """
    grant = FileGrant(item.content or "", item.name, item.content_type or "application/octet-stream")
    return signed_url(context, grant)


def signed_url(context: Context, grant: FileGrant) -> str:
    expires = (now() // DAY + _GOOD_FOR_DAYS) * DAY
    link: str = context.files.link(PURPOSE, grant, expires)
    return link if "://" in link else f"{context.settings.sites_url.rstrip('/')}/~{link.lstrip('/')}"


def store_file(context: Context, data: bytes) -> Blob:
    """Store the content of a file. The content is kept even if no row refers to it yet and another space has just
    deleted the same content."""
    digest = hashlib.sha256(data).hexdigest()
    with context.db.read() as tx:
        released = is_released(tx, "file", digest)
    if released:
        with context.db.write() as tx:
            retain(tx, "file", [digest])
    return context.files.put(data)
