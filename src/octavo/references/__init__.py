"""References and what is built on them: their resolution, the index of links, and documents as readers see
them."""

from . import tables as tables
from .index import derive_delta, list_changes_between
from .listing import LinkIndex, Overlay, ReferenceTarget, Spot, overlay_of
from .lookup import Owner, OwnerKind, SpaceFiles
from .naming import (
    NamedKind,
    documents_for,
    find_pages_with,
    is_named_for,
    list_spaces_naming_person,
    list_spaces_naming_spec,
)
from .resolving import MemberViewer, NobodyViewer, Resolver, cover_ref, page_owner, state_resolver
from .showing import ViewDocuments
from .viewing import SiteVisitor, SpaceView, ViewFiles, load_view, visitor_of_token

__all__ = [
    "LinkIndex", "MemberViewer", "NamedKind", "NobodyViewer", "Overlay", "Owner", "OwnerKind",
    "ReferenceTarget", "Resolver", "SiteVisitor", "SpaceFiles", "SpaceView", "Spot", "ViewDocuments",
    "ViewFiles", "cover_ref", "derive_delta", "documents_for", "find_pages_with", "is_named_for",
    "list_changes_between", "list_spaces_naming_person", "list_spaces_naming_spec", "load_view",
    "overlay_of", "page_owner", "state_resolver", "visitor_of_token",
]  # fmt: skip
