"""What references mean, and what is made of that: the index of links, and documents as somebody sees them."""

from ..content import follow_main
from ..spaces import follow_copies
from .index import Delta, Row, apply, copy_references, derive, difference, prepare
from .listing import LinkIndex, Overlay, Spot, Usage, overlay_of
from .lookup import Files, Owner, StateFiles
from .resolving import (
    Everybody,
    Meaning,
    Member,
    Nobody,
    Resolver,
    Viewer,
    cover_ref,
    page_owner,
    state_resolver,
)
from .showing import Documents
from .viewing import SpaceView, ViewFiles, load_view

follow_main(prepare, apply)
follow_copies(copy_references)

__all__ = [
    "Delta", "Documents", "Everybody", "Files", "LinkIndex", "Meaning", "Member", "Nobody",
    "Overlay", "Owner", "Resolver", "Row", "SpaceView", "Spot", "StateFiles", "Usage", "ViewFiles",
    "Viewer", "apply", "copy_references", "cover_ref", "derive", "difference", "load_view", "overlay_of",
    "page_owner", "prepare", "state_resolver",
]  # fmt: skip
