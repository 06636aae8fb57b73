"""Content over the API: pages, revisions, files, documents, and the links between them."""

from .links import ChangeOverlay, Links
from .reading import Reader, explain_merges
from .wire import (
    AnchorLocation,
    BrokenStats,
    ChangeLinksQuery,
    ChangeRequestContext,
    CollectionLocation,
    ContentLocation,
    ContentQuery,
    File,
    FileLocation,
    FilesQuery,
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
    UrlLocation,
    UserLocation,
    VariableName,
    app_url,
    present_cover,
    present_file,
    present_layout,
    present_page,
    present_reusable,
)

__all__ = [
    "AnchorLocation", "BrokenStats", "ChangeLinksQuery", "ChangeOverlay", "ChangeRequestContext",
    "CollectionLocation", "ContentLocation", "ContentQuery", "File", "FileLocation", "FilesQuery", "Links",
    "LinksQuery", "NodeLocation", "PageContentQuery", "PageLocation", "Pages", "Reader", "ReferenceStats",
    "ReferenceUsage", "ReferenceUsages", "ReusableContent", "ReusableContentLocation", "Revision",
    "RevisionPage", "SpaceLocation", "UrlLocation", "UserLocation", "VariableName", "app_url",
    "explain_merges", "present_cover", "present_file", "present_layout", "present_page", "present_reusable",
]  # fmt: skip
