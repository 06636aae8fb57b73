"""Content: branches, revisions, pages, files."""

from . import tables as tables
from .bodies import body_hash, get_body, put_bodies
from .computing import Asked, Asker, Computed, Computer, compute_with, resolve_with
from .deriving import as_new, check_derived, derive_from_main, rebuild_derived
from .documents import (
    Lookup,
    StateLookup,
    by_kind,
    document_json,
    read_source,
    resolve,
    resolve_all,
    resolve_reference,
)
from .entering import ReadState
from .expanding import Expansion, computed_document, expand, markdown_page
from .files import MAX_FILE, download_url, signed_url, store_file
from .files import PURPOSE as FILE_PURPOSE
from .images import dimensions
from .inclusions import Inclusions
from .keys import KeptKeys, carried_keys, keyed_document, put_keys
from .reading import Reader, explain_merges
from .revising import commit, prepare_main, revise_main
from .store import (
    ITEM_KINDS,
    BranchMoved,
    Changes,
    Item,
    ItemKind,
    Layer,
    RevisionRow,
    RevisionType,
    State,
    Touched,
    branch_state,
    find_item,
    find_item_by_path,
    find_items,
    find_page,
    find_page_by_file,
    find_pages,
    get_item,
    get_page,
    get_revision,
    list_ancestors,
    list_by_slug,
    list_changed,
    list_children,
    list_held,
    list_items,
    list_pages,
    list_revisions,
    list_subtree,
    list_variables,
    main_state,
    open_branch,
    revision_state,
)
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
    "AnchorLocation", "Asked", "Asker", "BranchMoved", "BrokenStats", "ChangeLinksQuery",
    "ChangeRequestContext", "Changes", "CollectionLocation", "Computed", "Computer", "ContentLocation",
    "ContentQuery", "Expansion", "FILE_PURPOSE", "File", "FileLocation", "FilesQuery", "ITEM_KINDS", "Inclusions", "Item",
    "ItemKind", "KeptKeys", "Layer", "LinksQuery", "Lookup", "MAX_FILE", "NodeLocation", "PageContentQuery",
    "PageLocation", "Pages", "ReadState", "Reader", "ReferenceStats", "ReferenceUsage", "ReferenceUsages",
    "ReusableContent", "ReusableContentLocation", "Revision", "RevisionPage", "RevisionRow", "RevisionType",
    "SpaceLocation", "State", "StateLookup", "Touched", "UrlLocation", "UserLocation", "VariableName",
    "app_url", "as_new", "body_hash", "branch_state", "by_kind", "carried_keys", "check_derived", "commit",
    "compute_with", "computed_document", "derive_from_main", "dimensions", "document_json", "download_url",
    "expand", "explain_merges", "find_item", "find_item_by_path", "find_items", "find_page",
    "find_page_by_file", "find_pages", "get_body", "get_item", "get_page", "get_revision", "keyed_document",
    "list_ancestors", "list_by_slug", "list_changed", "list_children", "list_held", "list_items",
    "list_pages", "list_revisions", "list_subtree", "list_variables", "main_state", "markdown_page",
    "open_branch", "prepare_main", "present_cover", "present_file", "present_layout", "present_page",
    "present_reusable", "put_bodies", "put_keys", "read_source", "rebuild_derived", "resolve",
    "resolve_all", "resolve_reference", "resolve_with", "revise_main", "revision_state", "signed_url",
    "store_file", "tables",
]  # fmt: skip
