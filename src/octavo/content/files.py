"""Files of a space: links to their bytes."""

from __future__ import annotations

from ..kit.clock import now
from ..kit.files import FileGrant
from ..kit.operation import Call
from .store import Item

PURPOSE = "content"
_DAY = 86_400_000
_GOOD_FOR_DAYS = 2


def download_url(call: Call, item: Item) -> str:
    """A signed URL of a file's bytes, on the origin of sites (never the API's), good for one to two days.

    It changes once a day only, so that answers that hold it can be cached.
    """
    grant = FileGrant(item.content or "", item.name, item.content_type or "application/octet-stream")
    expires = (now() // _DAY + _GOOD_FOR_DAYS) * _DAY
    link: str = call.context.files.link(PURPOSE, grant, expires)
    return link if "://" in link else f"{call.settings.sites_url.rstrip('/')}/~{link.lstrip('/')}"
