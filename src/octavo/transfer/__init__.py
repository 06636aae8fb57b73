"""Everything that brings content in and takes it out: folders, archives, Git, HTML, Word, websites."""

from . import tables as tables
from .converting import CONVERTED, Folder, convert_file, read_files
from .entering import RunAccess
from .exporting import Exported, Layout, export_files, lay_out
from .importing import ImportOutcome, import_files
from .matching import longest_in_order, match_pages, ranks_of
from .opening import open_source, source_of_tree
from .previewing import ImportPlan, plan_source
from .readers import KINDS
from .repeating import import_source
from .sources import Source, SourceError
from .space_links import guess_ids, with_ids, with_names

__all__ = [
    "CONVERTED", "Exported", "Folder", "ImportOutcome", "ImportPlan", "KINDS", "Layout", "RunAccess", "Source", "SourceError", "convert_file", "export_files", "guess_ids",
    "import_files", "import_source", "lay_out", "longest_in_order", "match_pages", "open_source", "plan_source", "ranks_of", "read_files", "source_of_tree", "tables", "with_ids", "with_names",
]  # fmt: skip
