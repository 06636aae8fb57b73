"""Spaces and collections: the containers of content."""

from .store import SpaceRow, get_space, insert_space, list_spaces, list_visible_space_ids, require_collection
from .wire import Space, present_space

__all__ = [
    "Space",
    "SpaceRow",
    "get_space",
    "insert_space",
    "list_spaces",
    "list_visible_space_ids",
    "present_space",
    "require_collection",
]
