"""Everything that brings content in and takes it out: folders, archives, Git, HTML, Word, websites."""

from . import tables as tables
from .asking import Absent
from .converting import CONVERTED, Folder, convert_file, read_files
from .entering import RunAccess
from .exporting import Exported, Layout, export_files, lay_out
from .hosted import Remote, escaped, list_of, object_of, open_space, pages_of, read_markdown, text_of
from .importing import ImportOutcome, import_files
from .matching import longest_in_order, match_pages, ranks_of
from .opening import open_source, source_of_tree
from .platforms import Service, platform_at
from .previewing import ImportPlan, plan_source
from .readers import KINDS
from .readme import Project, ReadMe
from .repeating import (
    begin_source,
    end_noted,
    find_noted_change,
    import_source,
    known_space,
    note_change,
)
from .sources import Source, SourceError
from .space_links import guess_ids, with_ids, with_names
from .variants import on_variants

__all__ = [
    "Absent", "Remote", "begin_source", "end_noted", "escaped", "find_noted_change", "known_space", "list_of", "object_of", "on_variants", "note_change", "open_space", "pages_of", "platform_at", "Project", "ReadMe", "Service", "read_markdown", "text_of",
    "CONVERTED", "Exported", "Folder", "ImportOutcome", "ImportPlan", "KINDS", "Layout", "RunAccess", "Source", "SourceError", "convert_file", "export_files", "guess_ids",
    "import_files", "import_source", "lay_out", "longest_in_order", "match_pages", "open_source", "plan_source", "ranks_of", "read_files", "source_of_tree", "tables", "with_ids", "with_names",
]  # fmt: skip
