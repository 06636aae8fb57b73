"""What references mean, the index of them, and links and backlinks."""

from . import tables as tables
from .index import derive, difference
from .listing import Links, Overlay, overlay_of
from .resolving import answer_at

__all__ = [
    "Links", "Overlay", "answer_at", "derive", "difference", "overlay_of", "tables",
]  # fmt: skip
