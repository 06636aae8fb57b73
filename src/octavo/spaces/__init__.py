"""Spaces and collections: the containers of content."""

from . import tables as tables
from .creating import create_space
from .duplicating import duplicate_space, prepare_copy
from .hooks import Copy, WriteCopy, before_copy, on_copy, on_language, on_purge, on_transfer
from .purging import purge_spaces
from .store import (
    CollectionRow,
    SpaceRow,
    get_collection,
    get_space,
    get_titles,
    insert_space,
    list_spaces,
    list_spaces_by_id,
    list_visible_space_ids,
    require_collection,
    set_edit_mode,
    update_space,
)
from .trashing import BEING_REMOVED
from .unused import is_released, release, remove_unused, retain
from .wire import (
    LANGUAGES,
    Collection,
    CreateSpace,
    EditMode,
    Language,
    Space,
    present_collection,
    present_space,
    present_space_to_visitor,
)

__all__ = [
    "BEING_REMOVED", "Collection", "CollectionRow", "Copy", "CreateSpace", "EditMode", "LANGUAGES",
    "Language", "Space", "SpaceRow", "WriteCopy", "before_copy", "create_space", "duplicate_space",
    "get_collection", "get_space", "get_titles", "insert_space", "is_released", "list_spaces",
    "list_spaces_by_id", "list_visible_space_ids", "on_copy", "on_language", "on_purge",
    "on_transfer", "prepare_copy",
    "present_collection", "present_space", "present_space_to_visitor", "purge_spaces", "release",
    "remove_unused", "require_collection", "retain", "set_edit_mode", "tables", "update_space",
]  # fmt: skip
