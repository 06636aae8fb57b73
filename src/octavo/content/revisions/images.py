"""Dimensions of raster images, read from their first bytes, so that pages can reserve space before images
load."""

from __future__ import annotations

import io

from octavo.core.file_types import IMAGE_ENDINGS, detect_type

HEAD = 256 * 1024
"""Number of bytes to read. A header can be a long chain of tiny segments, so its length must be limited."""


def dimensions(data: bytes) -> tuple[int, int] | None:
    """Return the width and height in pixels of a PNG, GIF, JPEG, WebP, or AVIF image, or None for other or broken
    data."""
    if detect_type(data[:16], "") not in IMAGE_ENDINGS:
        return None
    import imagesize  # loaded on demand, because it imports an HTTP client

    # Dimensions as stored: reading the EXIF rotation would follow unbounded counts in the file.
    width, height = imagesize.get(io.BytesIO(data[:HEAD]), exif_rotation=False)
    return (width, height) if width > 0 and height > 0 else None
