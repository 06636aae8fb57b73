"""Spaces and collections: the containers of content."""

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
from .wire import Collection, Space, present_collection, present_space

__all__ = [
    "Collection",
    "CollectionRow",
    "Space",
    "SpaceRow",
    "get_collection",
    "get_space",
    "insert_space",
    "list_spaces",
    "list_visible_space_ids",
    "present_collection",
    "present_space",
    "require_collection",
]
