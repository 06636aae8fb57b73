"""What references mean, the index of them, and links and backlinks."""

from ..content import follow_main
from ..spaces import follow_copies
from .index import apply, copy_references, derive, difference, prepare
from .listing import Links, Overlay, overlay_of
from .resolving import answer_at

follow_main(prepare, apply)
follow_copies(copy_references)

__all__ = [
    "Links", "Overlay", "answer_at", "apply", "copy_references", "derive", "difference", "overlay_of",
    "prepare",
]  # fmt: skip
