"""Content: lines, revisions, pages, files; import and export."""

from ..spaces import follow_copies, follow_purges, uses_hashes
from .bodies import body_hash, get_body, put_bodies
from .computing import Asked, Asker, Computed, Computer, compute_with, resolve_with
from .documents import (
    Lookup,
    StateLookup,
    document_json,
    read_source,
    resolve,
    resolve_all,
    resolve_reference,
)
from .expanding import Expansion, computed_document, expand, markdown_page
from .exporting import export_files
from .files import PURPOSE as FILE_PURPOSE
from .files import download_url, signed_url, store_file
from .following import apply_followers, follow_main, prepare_followers
from .images import dimensions
from .importing import MAX_FILE, ImportOutcome, StagedFiles, head_fields, import_files, stage_files
from .keys import KeptKeys, carried_keys, keyed_document, put_keys
from .leaving import leave_content
from .linking import Links, Overlay, overlay_of
from .meaning import answer_at
from .reading import Reader, explain_merges
from .references import apply, copy_references, derive, difference, prepare
from .revising import prepare_main, revise_main
from .sources import Source, SourceError, open_source
from .store import (
    Base,
    Changes,
    Item,
    Layer,
    LineMoved,
    RevisionRow,
    Touched,
    commit,
    find_item_by_path,
    find_items,
    find_page,
    find_page_by_file,
    find_pages,
    get_item,
    get_page,
    get_revision,
    line_base,
    list_ancestors,
    list_by_slug,
    list_changed,
    list_children,
    list_held,
    list_items,
    list_pages,
    list_revisions,
    list_subtree,
    main_base,
    open_line,
    revision_base,
)
from .wire import (
    ChangeLinksQuery,
    ContentLocation,
    ContentQuery,
    File,
    FilesQuery,
    PageContentQuery,
    Pages,
    ReferenceUsages,
    ReusableContent,
    Revision,
    RevisionPage,
    VariableName,
    app_url,
    present_cover,
    present_file,
    present_layout,
    present_page,
    present_reusable,
)

uses_hashes("body", "page_versions", "body")
uses_hashes("body", "item_versions", "content", ("reusable-content", "source"))
uses_hashes("file", "item_versions", "content", ("file",))
follow_purges(leave_content)
follow_main(prepare, apply)
follow_copies(copy_references)

__all__ = [
    "Asked", "Asker", "Base", "ChangeLinksQuery", "Changes", "Computed", "Computer", "ContentLocation",
    "ContentQuery", "Expansion", "FILE_PURPOSE", "File", "FilesQuery", "ImportOutcome", "Item",
    "KeptKeys", "Layer", "LineMoved", "Links", "Lookup", "MAX_FILE", "Overlay", "PageContentQuery",
    "Pages", "Reader", "ReferenceUsages", "ReusableContent", "Revision", "RevisionPage", "RevisionRow",
    "Source", "SourceError", "StagedFiles", "StateLookup", "Touched", "VariableName", "answer_at",
    "app_url", "apply_followers", "body_hash", "carried_keys", "commit", "compute_with",
    "computed_document", "derive", "difference", "dimensions", "document_json", "download_url", "expand",
    "explain_merges", "export_files", "find_item_by_path", "find_items", "find_page", "find_page_by_file",
    "find_pages", "follow_main", "get_body", "get_item", "get_page", "get_revision", "head_fields",
    "import_files", "keyed_document", "line_base", "list_ancestors", "list_by_slug", "list_changed",
    "list_children", "list_held", "list_items", "list_pages", "list_revisions", "list_subtree",
    "main_base", "markdown_page", "open_line", "open_source", "overlay_of", "prepare_followers",
    "prepare_main", "present_cover", "present_file", "present_layout", "present_page", "present_reusable",
    "put_bodies", "put_keys", "read_source", "resolve", "resolve_all", "resolve_reference",
    "resolve_with", "revise_main", "revision_base", "signed_url", "stage_files", "store_file",
]  # fmt: skip
