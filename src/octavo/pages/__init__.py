"""The content API: pages, revisions, files, documents, and the links between them."""

from .embedding import Embed, LinkEmbed, RichEmbed, find_embed
from .links import ChangeOverlay, Links, register_spec_presenter
from .presenting import present_variants
from .reading import ContentReader, GitNames, register_git_names, register_merge_presenter
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
    "FileVariant", "GitNames", "LinkEmbed", "Links", "PageContentQuery", "ContentReader", "ReferenceUsages",
    "ReusableContent", "Revision", "RevisionPage", "RichEmbed", "VariableName", "register_git_names",
    "register_merge_presenter", "find_embed", "present_cover", "present_layout", "register_spec_presenter",
    "present_variants",
]  # fmt: skip
