"""Which reactions there are: emoji, each as one character sequence however it was sent."""

from __future__ import annotations

import re

from ..errors import BadRequest

MAX_EMOJIS = 50
"""Different ones at one comment."""

_CODE_POINTS = re.compile(r"[0-9a-fA-F]{2,6}([-_][0-9a-fA-F]{2,6}){0,15}\Z")


def emoji_of(given: str, field: str) -> str:
    """The emoji, fully qualified; ``given`` may also be its code points, such as ``1f44d`` or ``1f1e9-1f1ea``.
    Raises BadRequest naming ``field``."""
    import emoji  # its table of all emoji takes longer to load than all else here

    text = _from_code_points(given)
    known = emoji.EMOJI_DATA.get(text)
    if known is None or known["status"] == emoji.STATUS["component"]:
        raise BadRequest(f"{field}: expected emoji, got {given[:50]!r}.")
    # One emoji, one spelling: with or without the sign that asks for colour it is the same reaction.
    return emoji.emojize(known["en"])


def _from_code_points(text: str) -> str:
    if _CODE_POINTS.match(text):
        try:
            return "".join(chr(int(part, 16)) for part in re.split("[-_]", text))
        except (ValueError, OverflowError):
            return text
    return text
