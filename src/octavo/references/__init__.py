"""What references mean, and what is made of that: the index of links, and documents as somebody sees them."""

from . import tables as tables
from .index import derive, difference
from .listing import LinkIndex, Overlay, Spot, Usage, overlay_of
from .lookup import Files, Owner, OwnerKind
from .naming import (
    NamedKind,
    documents_for,
    find_pages_with,
    is_named_for,
    list_spaces_naming_person,
    list_spaces_naming_spec,
)
from .resolving import Member, Nobody, Resolver, cover_ref, page_owner, state_resolver
from .showing import Documents
from .viewing import SiteVisitor, SpaceView, ViewFiles, load_view, visitor_of_token

__all__ = [
    "Documents", "Files", "LinkIndex", "Member", "NamedKind", "Nobody", "Overlay", "Owner", "OwnerKind",
    "Resolver", "SiteVisitor", "SpaceView", "Spot", "Usage", "ViewFiles", "cover_ref", "derive", "difference",
    "documents_for", "find_pages_with", "is_named_for", "list_spaces_naming_person",
    "list_spaces_naming_spec", "load_view", "overlay_of", "page_owner", "state_resolver", "visitor_of_token",
]  # fmt: skip
