"""Spaces and collections: the containers of content."""

from .following import follow_copies, follow_purges, follow_transfers
from .leftovers import HashUse, LeftoverKind, hash_uses, is_left, keep, leave, uses_hashes
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
from .wire import Collection, Space, present_collection, present_space

__all__ = [
    "Collection", "CollectionRow", "HashUse", "LeftoverKind", "Space", "SpaceRow", "follow_copies",
    "follow_purges", "follow_transfers", "get_collection", "get_space", "hash_uses", "insert_space",
    "is_left", "keep", "leave", "list_spaces", "list_visible_space_ids", "present_collection",
    "present_space", "purge_spaces", "require_collection", "uses_hashes",
]  # fmt: skip
