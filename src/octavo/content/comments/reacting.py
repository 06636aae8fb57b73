"""Which reactions there are: emoji, each as one character sequence however it was sent."""

from __future__ import annotations

from octavo.core.emoji import find_emoji
from octavo.errors import BadRequest

MAX_EMOJIS = 50
"""Different ones at one comment."""


def emoji_of(given: str, field: str) -> str:
    """The emoji, fully qualified. Raises BadRequest naming ``field``."""
    found = find_emoji(given)
    if found is None:
        raise BadRequest(f"{field}: expected emoji, got {given[:50]!r}.")
    return found
