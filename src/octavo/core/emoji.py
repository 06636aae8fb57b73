"""Recognize strings that consist of a single emoji."""

from __future__ import annotations

import re

_CODE_POINTS = re.compile(r"[0-9a-fA-F]{2,6}([-_][0-9a-fA-F]{2,6}){0,15}\Z")


def find_emoji(given: str) -> str | None:
    """Return the emoji as one fully qualified sequence of characters; ``given``: the emoji, or its code
    points, such as ``1f44d`` or ``1f1e9-1f1ea``. Return None for any other text.

    Each emoji has only one result, with or without the variation selector for color.
    """
    import emoji  # its table takes longer to load than everything else in this module

    known = emoji.EMOJI_DATA.get(_from_code_points(given))
    if known is None or known["status"] == emoji.STATUS["component"]:
        return None
    return emoji.emojize(known["en"])


def require_emoji(given: object, field: str) -> None:
    """Raise ValueError if a string isn't an emoji. ``field``: the name of the field in the message. Values of other
    types, such as None, are accepted."""
    if isinstance(given, str) and given and find_emoji(given) is None:
        raise ValueError(f"{field}: must be an emoji or its code points, such as `1f4d8`, not {given[:50]!r}")


def _from_code_points(text: str) -> str:
    if _CODE_POINTS.match(text):
        try:
            return "".join(chr(int(part, 16)) for part in re.split("[-_]", text))
        except (ValueError, OverflowError):
            return text
    return text
