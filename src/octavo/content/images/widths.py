"""Which widths images are made in, and of which images."""

from __future__ import annotations

STEPS = (480, 960, 1600)
"""Pixels: for a phone, a column of text or a sharper phone, and a column on a sharp screen."""
NARROWEST = STEPS[0]
"""Pixels: what is no wider is left alone."""
MAX_PIXELS = 50_000_000
MAX_BYTES = 64 * 1024**2
_NEAR = 1.25
"""A step is left out that is not so many times narrower than the image itself."""


def wanted_widths(width: int) -> list[int]:
    """The widths, in pixels, that an image is made in: its own as well, as WebP is a fraction of what it has."""
    own = min(width, STEPS[-1])
    return [*(step for step in STEPS if step * _NEAR <= own), own] if width > NARROWEST else []
