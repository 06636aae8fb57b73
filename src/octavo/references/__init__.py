"""What references mean, and what is made of that: the index of links, and documents as somebody sees them."""

from . import tables as tables
from .index import Delta, derive, difference
from .listing import LinkIndex, Overlay, Spot, Usage, overlay_of
from .lookup import Files, Owner, OwnerKind, StateFiles
from .naming import (
    NamedKind,
    documents_for,
    find_pages_with,
    is_named_for,
    list_spaces_naming_person,
    list_spaces_naming_spec,
)
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
from .row import Row
from .showing import Documents
from .viewing import SiteVisitor, SpaceView, ViewFiles, load_view, visitor_of_token

__all__ = [
    "Delta", "Documents", "Everybody", "Files", "LinkIndex", "Meaning", "Member", "NamedKind", "Nobody", "Overlay",
    "Owner", "OwnerKind", "Resolver", "Row", "SiteVisitor", "SpaceView", "Spot", "StateFiles", "Usage",
    "ViewFiles", "Viewer", "cover_ref", "derive", "difference", "documents_for", "find_pages_with",
    "is_named_for", "list_spaces_naming_person", "list_spaces_naming_spec", "load_view", "overlay_of",
    "page_owner", "state_resolver", "tables", "visitor_of_token",
]  # fmt: skip
