"""Images embedded in a page as ``data:`` URLs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from urllib.parse import unquote, unquote_to_bytes

from octavo.core.file_types import IMAGE_ENDINGS, detect_type

MAX_INLINE_IMAGE = 10 * 1024 * 1024
_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=-]+)*?(;base64)?,(.*)", re.DOTALL | re.IGNORECASE)


def read_data_url(url: str) -> bytes | None:
    """Return the bytes in a ``data:`` URL; None if the URL is of another kind or is too long."""
    found = _DATA_URL.fullmatch(url) if len(url) < MAX_INLINE_IMAGE * 3 // 2 else None
    if found is None:
        return None
    try:
        return base64.b64decode(unquote(found[3])) if found[2] else unquote_to_bytes(found[3])
    except (binascii.Error, ValueError):
        return None


def name_image(data: bytes) -> str | None:
    """Return a name for an image based on its contents, or None if it is too large or in an unknown format."""
    ending = IMAGE_ENDINGS.get(detect_type(data[:64], ""))
    if ending is None or len(data) > MAX_INLINE_IMAGE:
        return None
    return f"{hashlib.sha256(data).hexdigest()[:20]}{ending}"
