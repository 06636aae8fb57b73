"""Which texts are one emoji."""

from __future__ import annotations

import re

_CODE_POINTS = re.compile(r"[0-9a-fA-F]{2,6}([-_][0-9a-fA-F]{2,6}){0,15}\Z")


def find_emoji(given: str) -> str | None:
    """The emoji as one fully qualified sequence of characters; ``given`` may also be its code points, such as
    ``1f44d`` or ``1f1e9-1f1ea``. None for anything else.

    One emoji, one spelling: with or without the sign that asks for colour it is the same.
    """
    import emoji  # its table of all emoji takes longer to load than all else here

    known = emoji.EMOJI_DATA.get(_from_code_points(given))
    if known is None or known["status"] == emoji.STATUS["component"]:
        return None
    return emoji.emojize(known["en"])


def require_emoji(given: object, field: str) -> None:
    """Raises ValueError naming ``field`` for a text that is no emoji. What is no text, such as None, passes."""
    if isinstance(given, str) and given and find_emoji(given) is None:
        raise ValueError(f"{field}: expected an emoji or its code points such as `1f4d8`, got {given[:50]!r}")


def _from_code_points(text: str) -> str:
    if _CODE_POINTS.match(text):
        try:
            return "".join(chr(int(part, 16)) for part in re.split("[-_]", text))
        except (ValueError, OverflowError):
            return text
    return text
