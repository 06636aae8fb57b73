"""Content: branches, revisions, pages, files."""

from . import tables as tables
from .bodies import (
    body_hash,
    failed_lines,
    get_body,
    list_oversized,
    parse_source,
    put_bodies,
    read_source,
    store_bodies,
)
from .computing import (
    Asked,
    Asker,
    Computed,
    Computer,
    NotYet,
    Source,
    ask_with,
    compute_document,
    compute_revision,
    compute_with,
    dependency_changed,
    on_dependency_change,
    resolve_with,
    seeded_id,
)
from .deriving import (
    Derived,
    Versioned,
    as_new,
    check_derived,
    derive_from_main,
    order_rebuilding,
    rebuild_derived,
)
from .drafting import Draft, same_version
from .drawing import (
    Drawing,
    Drawn,
    draw_blocks,
    draw_with,
    drawn_states,
    holds_drawings,
    with_content,
)
from .entering import ReadState, VisitedState
from .expanding import (
    Expansion,
    asker_at,
    computed_document,
    computed_state,
    expand,
    markdown_page,
    source_of,
)
from .files import (
    MAX_FILE,
    download_url,
    signed_url,
    store_file,
)
from .files import PURPOSE as FILE_PURPOSE
from .images import HEAD as IMAGE_HEAD
from .images import dimensions
from .keys import (
    KeptKeys,
    block_index,
    carried_keys,
    find_edit,
    find_kept_keys,
    keep_index,
    keyed_document,
    note_edit,
)
from .revising import changed_pages, first_revision, new_revision, on_commit, write_unchanged
from .staging import BATCH
from .store import (
    FOREVER,
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
    find_page_by_path,
    find_pages,
    get_document,
    get_item,
    get_page,
    get_revision,
    goes_on,
    last_changed,
    list_ancestors,
    list_beginnings,
    list_by_slug,
    list_changed,
    list_children,
    list_computed,
    list_content,
    list_held,
    list_items,
    list_items_page,
    list_pages,
    list_revisions,
    list_spaces_with_computed,
    list_subtree,
    list_variables,
    lock_branch,
    main_state,
    note_commit,
    open_branch,
    revision_state,
    shown_state,
    state_before,
    trace_pages,
)
from .versions import current_version, current_versions

__all__ = [
    "IMAGE_HEAD",
    "Asked", "Asker", "BATCH", "BranchMoved", "Changes", "Computed", "Computer", "Derived", "Draft", "Drawing",
    "Drawn", "Expansion", "FILE_PURPOSE", "FOREVER", "ITEM_KINDS", "Item", "ItemKind", "KeptKeys",
    "Layer", "MAX_FILE", "NotYet", "ReadState", "RevisionRow", "RevisionType", "Source", "State", "VisitedState",
    "Touched", "Versioned", "as_new", "ask_with", "asker_at", "block_index", "body_hash",
    "branch_state", "carried_keys", "changed_pages", "check_derived", "compute_document",
    "compute_revision", "compute_with", "computed_document", "computed_state", "current_version",
    "current_versions", "dependency_changed", "derive_from_main", "dimensions", "find_edit", "list_oversized", "note_edit", "download_url",
    "draw_blocks", "draw_with", "drawn_states", "expand", "failed_lines", "first_revision", "find_item",
    "find_item_by_path", "find_items", "find_kept_keys", "find_page", "find_page_by_file",
    "find_page_by_path", "find_pages", "get_body", "get_document", "get_item", "get_page",
    "get_revision", "goes_on", "holds_drawings", "keep_index", "keyed_document", "last_changed", "list_ancestors",
    "list_beginnings", "list_by_slug", "list_changed", "list_children", "list_computed", "list_content",
    "list_held", "list_items", "list_items_page", "list_pages", "list_revisions",
    "list_spaces_with_computed", "list_subtree", "list_variables", "lock_branch", "main_state",
    "markdown_page", "new_revision", "note_commit", "on_commit", "on_dependency_change", "open_branch", "order_rebuilding",
    "parse_source", "put_bodies", 
    "read_source", "rebuild_derived", "resolve_with", "revision_state", "same_version", "seeded_id",
    "shown_state", "signed_url", "source_of", "state_before", "store_bodies", "store_file", "tables",
    "trace_pages", "with_content", "write_unchanged",
]  # fmt: skip
