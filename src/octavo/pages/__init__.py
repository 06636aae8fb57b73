"""Content over the API: pages, revisions, files, documents, and the links between them."""

from .embedding import Embed, LinkEmbed, RichEmbed, find_embed
from .links import ChangeOverlay, Links, present_specs_with
from .presenting import present_variants
from .reading import GitNames, Reader, explain_git, explain_merges
from .wire import (
    AnchorLocation,
    BrokenStats,
    ChangeLinksQuery,
    ChangeRequestContext,
    CollectionLocation,
    ContentLocation,
    ContentQuery,
    EmbedQuery,
    File,
    FileLocation,
    FilesQuery,
    FileVariant,
    LinksQuery,
    NodeLocation,
    PageContentQuery,
    PageLocation,
    Pages,
    ReferenceStats,
    ReferenceUsage,
    ReferenceUsages,
    ReusableContent,
    ReusableContentLocation,
    Revision,
    RevisionPage,
    SpaceLocation,
    SpecLocation,
    UrlLocation,
    UserLocation,
    VariableName,
    present_cover,
    present_layout,
    present_page,
    present_reusable,
)

__all__ = [
    "AnchorLocation", "BrokenStats", "ChangeLinksQuery", "ChangeOverlay", "ChangeRequestContext",
    "CollectionLocation", "ContentLocation", "ContentQuery", "Embed", "EmbedQuery", "File", "FileLocation",
    "FileVariant", "FilesQuery", "LinkEmbed", "Links", "LinksQuery", "NodeLocation", "PageContentQuery", "PageLocation",
    "Pages", "Reader", "ReferenceStats", "ReferenceUsage", "ReferenceUsages", "ReusableContent",
    "ReusableContentLocation", "Revision", "RevisionPage", "RichEmbed", "SpaceLocation", "SpecLocation", "UrlLocation",
    "UserLocation",
    "GitNames", "VariableName", "explain_git", "explain_merges", "find_embed", "present_cover",
    "present_layout", "present_page", "present_reusable", "present_specs_with", "present_variants",
]  # fmt: skip
