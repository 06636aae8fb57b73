"""Content: lines, revisions, pages, files; import and export."""

from .exporting import export_files
from .importing import ImportOutcome, import_files
from .sources import Source, SourceError, open_source
from .store import main_base, revision_base

__all__ = [
    "ImportOutcome", "Source", "SourceError", "export_files", "import_files", "main_base", "open_source",
    "revision_base",
]  # fmt: skip
