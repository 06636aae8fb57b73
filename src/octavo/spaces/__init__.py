"""Spaces and collections, which contain content."""

from . import tables as tables
from .creating import create_space
from .duplicating import duplicate_space, prepare_copy
from .hooks import (
    Copy,
    NewSpace,
    WriteCopy,
    before_copy,
    on_begin,
    on_copy,
    on_language,
    on_leaving,
    on_purge,
    on_transfer,
    on_unnamed_texts,
    register_share_links,
)
from .kinds import MAX_TITLE, UNTITLED
from .store import (
    SpaceRow,
    advance_main,
    count_new_draft,
    find_place,
    get_collection,
    get_space,
    get_titles,
    insert_space,
    list_in_collection,
    list_spaces,
    list_spaces_by_id,
    list_visible_space_ids,
    require_collection,
    set_edit_mode,
    set_git_state,
    set_language_if_unset,
    update_change_counts,
    update_space,
)
from .trashing import BEING_REMOVED, discard_space
from .unused import is_released, release, retain
from .wire import (
    LANGUAGES,
    Collection,
    CreateSpace,
    GitSyncState,
    Language,
    Space,
    present_collection,
    present_space,
    present_space_to_visitor,
)

__all__ = [
    "BEING_REMOVED", "Collection", "Copy", "CreateSpace", "GitSyncState", "LANGUAGES", "Language",
    "MAX_TITLE", "NewSpace", "Space", "SpaceRow", "UNTITLED", "WriteCopy", "advance_main", "before_copy",
    "count_new_draft", "create_space", "discard_space", "duplicate_space", "find_place", "get_collection",
    "get_space", "get_titles", "insert_space", "is_released", "list_in_collection", "list_spaces",
    "list_spaces_by_id", "list_visible_space_ids", "on_begin", "on_copy", "on_language", "on_leaving",
    "on_purge", "on_transfer", "on_unnamed_texts", "prepare_copy", "present_collection", "present_space",
    "present_space_to_visitor", "register_share_links", "release", "require_collection", "retain",
    "set_edit_mode", "set_git_state", "set_language_if_unset", "update_change_counts", "update_space",
]  # fmt: skip
