"""Everything that brings content in and takes it out: folders, archives, Git, HTML, Word, websites."""

from . import tables as tables
from .asking import Absent
from .converting import CONVERTED, Folder, convert_file, read_files, unpack_parts
from .exporting import Exported, export_files, lay_out
from .hosted import Remote, escaped, list_of, object_of, open_space, pages_of, read_markdown, text_of
from .importing import ImportOutcome, import_files
from .matching import longest_in_order, match_pages, ranks_of
from .opening import open_source, source_of_tree
from .platforms import Service, platform_at
from .previewing import ImportPlan, plan_source
from .readers import KINDS
from .readme import Project, ReadMe
from .repeating import begin_source, end_noted, find_noted_change, import_source, known_space, note_change
from .sources import LOOK_LEFT_OUT, Brand, Source, SourceError
from .space_links import guess_ids, with_ids, with_names
from .variants import on_variants

__all__ = [
    "Absent", "Brand", "CONVERTED", "Exported", "Folder", "ImportOutcome", "ImportPlan", "KINDS", "LOOK_LEFT_OUT", "Project", "ReadMe",
    "Remote", "Service", "Source", "SourceError", "begin_source", "convert_file", "end_noted", "escaped",
    "export_files", "find_noted_change", "guess_ids", "import_files", "import_source", "known_space",
    "lay_out", "list_of", "longest_in_order", "match_pages", "note_change", "object_of", "on_variants",
    "open_source", "open_space", "pages_of", "plan_source", "platform_at", "ranks_of", "read_files",
    "read_markdown", "source_of_tree", "text_of", "unpack_parts", "with_ids", "with_names",
]  # fmt: skip
