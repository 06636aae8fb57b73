"""Detect the content types of files from their first bytes."""

from __future__ import annotations

import mimetypes

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
BROWSER_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "application/pdf"}
)
"""Types that browsers may display, because they can't contain code that runs."""

IMAGE_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
}
"""File extensions of images that browsers display, by type."""


def detect_type(head: bytes, name: str) -> str:
    """Return the content type of a file, based on its first bytes (at least 16) or, if they aren't conclusive, on its
    name.

    The name alone never results in a type that browsers display.
    """
    for magic, content_type in _MAGIC:
        if head.startswith(magic):
            return content_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    guess = mimetypes.guess_type(name)[0]
    return guess if guess and guess not in BROWSER_TYPES else "application/octet-stream"
