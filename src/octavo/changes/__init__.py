"""Change requests: edit content together, review, merge, and revert."""

from ..pages import explain_merges
from . import tables as tables
from .applying import EditedContent
from .commands import ContentChange, DocumentInput
from .comparing import Sides, merge_into_main
from .copying import CopiedMaterial, copy_material
from .entering import ChangeAccess, change_access, enter_change
from .merging import mark_merged, merge, update
from .reviewing import ReviewComments, register_review_comments
from .saving import (
    EditedChange,
    create,
    create_conflicted,
    create_with,
    edit_change,
    edit_live,
    require_editable,
    require_live,
    retry_on_conflict,
    revise_change,
    set_change,
    set_status,
)
from .store import (
    Author,
    ChangeRow,
    add_contribution,
    find_change,
    forget_clusters,
    get_change,
    list_contributors,
    list_numbers,
    lock_change,
)
from .suggesting import (
    AcceptedSuggestion,
    Nodes,
    SuggestedEdit,
    accept_suggestion,
    is_block_unchanged,
    resolve_nodes,
    revert_suggestion,
    try_suggestion,
)
from .wire import ChangeRequest, present_change

explain_merges(lambda call, tx, change_id: present_change(call, tx, get_change(tx, change_id)))

__all__ = [
    "AcceptedSuggestion", "Author", "ChangeAccess", "ChangeRequest", "ChangeRow", "ContentChange",
    "CopiedMaterial", "DocumentInput", "EditedChange", "EditedContent", "Nodes", "ReviewComments", "Sides",
    "SuggestedEdit", "accept_suggestion", "add_contribution", "change_access", "copy_material", "create",
    "create_conflicted", "create_with", "edit_change", "edit_live", "enter_change", "find_change",
    "forget_clusters", "get_change", "is_block_unchanged", "list_contributors", "list_numbers",
    "lock_change", "mark_merged", "merge", "merge_into_main", "present_change", "register_review_comments",
    "require_editable", "require_live", "resolve_nodes", "retry_on_conflict", "revert_suggestion",
    "revise_change", "set_change", "set_status", "try_suggestion", "update",
]  # fmt: skip
