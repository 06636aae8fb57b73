"""Dimensions of raster images from their first bytes, so that pages keep their room before they load."""

from __future__ import annotations

import io

from octavo.kit.files import detect_type

HEAD = 256 * 1024
"""How many bytes are looked at: a header may be a long chain of tiny pieces, and only this much is followed."""
_RASTER = ("image/png", "image/gif", "image/jpeg", "image/webp", "image/avif")


def dimensions(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels of a PNG, GIF, JPEG, WebP or AVIF; None for anything else or a broken one."""
    if detect_type(data[:16], "") not in _RASTER:
        return None
    import imagesize  # loaded only where it is used: it brings an HTTP client along

    # As stored: reading how a photograph is to be turned follows counts in the file that nothing bounds.
    width, height = imagesize.get(io.BytesIO(data[:HEAD]), exif_rotation=False)
    return (width, height) if width > 0 and height > 0 else None
