"""Change requests: editing content together, reviewing, merging, undoing."""

from ..pages import register_merge_presenter
from . import tables as tables
from .applying import Edited
from .commands import ContentChange, DocumentInput
from .comparing import Sides, into_main
from .copying import Material, adopt
from .entering import ChangeAccess, change_access, enter_change
from .merging import mark_merged, merge, update
from .reviewing import ReviewComments, comment_reviews
from .saving import (
    EditedChange,
    again,
    create,
    create_conflicted,
    create_with,
    edit_change,
    edit_live,
    require_editable,
    require_live,
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
    Accepted,
    Nodes,
    Suggested,
    accept_suggestion,
    says_as_before,
    shown_nodes,
    take_back,
    try_suggestion,
)
from .wire import ChangeRequest, present_change

register_merge_presenter(lambda call, tx, change_id: present_change(call, tx, get_change(tx, change_id)))

__all__ = [
    "Accepted", "Author", "ChangeAccess", "ChangeRequest", "ChangeRow", "ContentChange", "DocumentInput",
    "Edited", "EditedChange", "Material", "Nodes", "ReviewComments", "Sides", "Suggested",
    "accept_suggestion", "add_contribution", "adopt", "again", "change_access", "comment_reviews", "create",
    "create_conflicted", "create_with", "edit_change", "edit_live", "enter_change", "find_change",
    "forget_clusters", "get_change", "into_main", "list_contributors", "list_numbers", "lock_change",
    "mark_merged", "merge", "present_change", "require_editable", "require_live", "revise_change",
    "says_as_before", "set_change", "set_status", "shown_nodes", "take_back", "try_suggestion", "update",
]  # fmt: skip
