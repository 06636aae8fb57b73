"""Content over the API: pages, revisions, files, documents, and the links between them."""

from .embedding import Embed, LinkEmbed, RichEmbed, find_embed
from .links import ChangeOverlay, Links, present_specs_with
from .presenting import present_variants
from .reading import GitNames, Reader, explain_git, explain_merges
from .wire import (
    ChangeLinksQuery,
    ContentLocation,
    ContentQuery,
    EmbedQuery,
    File,
    FileVariant,
    PageContentQuery,
    ReferenceUsages,
    ReusableContent,
    Revision,
    RevisionPage,
    VariableName,
    present_cover,
    present_layout,
)

__all__ = [
    "ChangeLinksQuery", "ChangeOverlay", "ContentLocation", "ContentQuery", "Embed", "EmbedQuery", "File",
    "FileVariant", "GitNames", "LinkEmbed", "Links", "PageContentQuery", "Reader", "ReferenceUsages",
    "ReusableContent", "Revision", "RevisionPage", "RichEmbed", "VariableName", "explain_git",
    "explain_merges", "find_embed", "present_cover", "present_layout", "present_specs_with",
    "present_variants",
]  # fmt: skip
