"""Reactions: any emoji, normalized to one character sequence."""

from __future__ import annotations

from octavo.core.emoji import find_emoji
from octavo.errors import BadRequest

MAX_EMOJIS = 50
"""Maximum number of different emoji on one comment."""


def emoji_of(given: str, field: str) -> str:
    """Return the emoji in fully qualified form. ``field``: the name of the field to use in the error message. Raises
    BadRequest if the text isn't an emoji."""
    found = find_emoji(given)
    if found is None:
        raise BadRequest(f"{field}: must be an emoji, not {given[:50]!r}")
    return found
