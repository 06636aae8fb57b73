"""Everything that brings content in and takes it out: folders, archives, Git, HTML, Word, websites."""

from . import tables as tables
from .converting import CONVERTED, Folder, convert_file
from .entering import RunAccess
from .exporting import Exported, export_files
from .importing import ImportOutcome, import_files
from .opening import open_source
from .sources import Source, SourceError
from .space_links import guess_ids, with_ids, with_names

__all__ = [
    "CONVERTED", "Exported", "Folder", "ImportOutcome", "RunAccess", "Source", "SourceError", "convert_file", "export_files", "guess_ids",
    "import_files", "open_source", "tables", "with_ids", "with_names",
]  # fmt: skip
