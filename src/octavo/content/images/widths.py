"""Widths of image variants, and limits on the images they are created from."""

from __future__ import annotations

STEPS = (480, 960, 1600)
"""Widths in pixels: for a phone, for a text column or a high-resolution phone, and for a text column on a
high-resolution screen."""
NARROWEST = STEPS[0]
"""Width in pixels up to which images are left unchanged."""
MAX_PIXELS = 50_000_000
MAX_BYTES = 64 * 1024**2
_NEAR = 1.25
"""Minimum ratio between the width of an image and the width of a variant."""


def wanted_widths(width: int) -> list[int]:
    """Return the widths of variants in pixels. They include the image's own width, because a WebP file of the same
    width is usually much smaller than the original."""
    own = min(width, STEPS[-1])
    return [*(step for step in STEPS if step * _NEAR <= own), own] if width > NARROWEST else []
