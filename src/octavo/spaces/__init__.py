"""Spaces and collections: the containers of content."""

from . import tables as tables
from .hooks import on_copy, on_purge, on_transfer
from .purging import purge_spaces
from .store import (
    CollectionRow,
    SpaceRow,
    get_collection,
    get_space,
    insert_space,
    list_spaces,
    list_visible_space_ids,
    require_collection,
)
from .unused import is_released, release, remove_unused, retain
from .wire import LANGUAGES, Collection, Space, present_collection, present_space

__all__ = [
    "LANGUAGES", "Collection", "CollectionRow", "Space", "SpaceRow", "get_collection", "get_space", "insert_space",
    "is_released", "list_spaces", "list_visible_space_ids", "on_copy", "on_purge", "on_transfer",
    "present_collection", "present_space", "purge_spaces", "release", "remove_unused", "require_collection",
    "retain", "tables",
]  # fmt: skip
