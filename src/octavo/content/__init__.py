"""Content: branches, revisions, pages, files."""

from ..spaces import follow_purges, uses_hashes
from .bodies import body_hash, get_body, put_bodies, read_source
from .computing import (
    Asked,
    Asker,
    Computed,
    Computer,
    Source,
    compute_document,
    compute_revision,
    compute_with,
    resolve_with,
)
from .entering import ReadState
from .expanding import Expansion, computed_document, expand, markdown_page
from .files import MAX_FILE, download_url, signed_url, store_file
from .files import PURPOSE as FILE_PURPOSE
from .following import apply_followers, follow_main, prepare_followers
from .images import dimensions
from .keys import KeptKeys, carried_keys, keyed_document, put_keys
from .leaving import leave_content
from .revising import prepare_main, revise_main
from .store import (
    ITEM_KINDS,
    BranchMoved,
    Changes,
    Item,
    ItemKind,
    Layer,
    RevisionRow,
    State,
    Touched,
    branch_state,
    commit,
    find_item,
    find_item_by_path,
    find_items,
    find_page,
    find_page_by_file,
    find_page_by_path,
    find_pages,
    get_document,
    get_item,
    get_page,
    get_revision,
    list_ancestors,
    list_by_slug,
    list_changed,
    list_children,
    list_held,
    list_items,
    list_items_page,
    list_pages,
    list_revisions,
    list_subtree,
    main_state,
    open_branch,
    revision_state,
    space_variables,
)

uses_hashes("body", "page_versions", "body")
uses_hashes("body", "item_versions", "content", ("reusable-content", "source"))
uses_hashes("file", "item_versions", "content", ("file",))
follow_purges(leave_content)

__all__ = [
    "Asked", "Asker", "BranchMoved", "Changes", "Computed", "Computer", "Expansion", "FILE_PURPOSE",
    "ITEM_KINDS", "Item", "ItemKind", "KeptKeys", "Layer", "MAX_FILE", "ReadState", "RevisionRow", "Source", "State",
    "Touched", "apply_followers", "body_hash", "branch_state", "carried_keys", "commit",
    "compute_document", "compute_revision", "compute_with", "computed_document", "dimensions",
    "download_url", "expand", "find_item", "find_item_by_path", "find_items", "find_page",
    "find_page_by_file", "find_page_by_path", "find_pages", "follow_main", "get_body", "get_document",
    "get_item", "get_page", "get_revision", "keyed_document", "leave_content", "list_ancestors",
    "list_by_slug", "list_changed", "list_children", "list_held", "list_items", "list_items_page",
    "list_pages", "list_revisions", "list_subtree", "main_state", "markdown_page", "open_branch",
    "prepare_followers", "prepare_main", "put_bodies", "put_keys", "read_source", "resolve_with",
    "revise_main", "revision_state", "signed_url", "space_variables", "store_file",
]  # fmt: skip
