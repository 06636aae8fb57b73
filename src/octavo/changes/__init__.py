"""Change requests: editing content together, reviewing, merging, undoing."""

from ..content import explain_merges
from . import tables as tables
from .copying import Material, adopt, slots
from .entering import ChangeAccess
from .merging import Result, merge, update
from .reviewing import ReviewComments, comment_reviews
from .saving import create, edit_change, edit_live, edit_main, require_editable, require_live, revise_change
from .store import ChangeRow, add_contribution, find_change, get_change, lock_change
from .wire import ChangeRequest, DocumentInput, present_change, present_people

explain_merges(lambda call, tx, change_id: present_change(call, tx, get_change(tx, change_id)))

__all__ = [
    "ChangeAccess", "ChangeRequest", "ChangeRow", "DocumentInput", "Material", "Result", "ReviewComments",
    "add_contribution", "adopt", "comment_reviews", "create", "edit_change", "edit_live", "edit_main",
    "find_change", "get_change", "lock_change", "merge", "present_change", "present_people",
    "require_editable", "require_live", "revise_change", "slots", "update",
]  # fmt: skip
