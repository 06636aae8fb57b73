"""Content: lines, revisions, pages, files; import and export."""

from .bodies import get_body
from .documents import Lookup, read_source, resolve, resolve_all
from .exporting import export_files
from .files import PURPOSE as FILE_PURPOSE
from .following import apply_followers, follow_main, prepare_followers
from .importing import ImportOutcome, import_files
from .sources import Source, SourceError, open_source
from .store import (
    Base,
    Changes,
    Item,
    find_page,
    list_ancestors,
    list_items,
    list_pages,
    main_base,
    revision_base,
)

__all__ = [
    "FILE_PURPOSE", "Base", "Changes", "ImportOutcome", "Item", "Lookup", "Source", "SourceError", "export_files",
    "apply_followers", "find_page", "follow_main", "get_body", "import_files", "list_ancestors", "prepare_followers", "list_items", "list_pages", "main_base", "open_source", "read_source", "resolve",
    "resolve_all", "revision_base",
]  # fmt: skip
