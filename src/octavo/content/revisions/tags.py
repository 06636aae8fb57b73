"""Tags in a state of a space, stored in the state's file ``tags.yaml``."""

from __future__ import annotations

from octavo.core.space_config import CONFIG_PATH, TAGS_PATH, read_config
from octavo.core.tags import Tag, read_tags
from octavo.kit.db.database import Transaction

from .bodies import get_body
from .item_versions import list_items
from .states import State


def list_tags(tx: Transaction, state: State) -> dict[str, Tag]:
    """Return the tags by slug, in the order of the file."""
    sources = {item.path: item.content for item in list_items(tx, state, "source") if item.content}
    config = sources.get(CONFIG_PATH)
    root = read_config(get_body(tx, config)).root if config else ""
    content = sources.get(root + TAGS_PATH)
    return {tag.tag: tag for tag in read_tags(get_body(tx, content))[0]} if content else {}
