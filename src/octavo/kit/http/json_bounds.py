"""Measure the size of JSON before it is decoded, because decoding blocks all other threads, and a few megabytes of
brackets take up a hundred times as much memory when decoded."""

from __future__ import annotations

import re

_STRING_OR_SIGN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[,\[{]', re.DOTALL)


def has_more_values(data: bytes, most: int) -> bool:
    """Return whether JSON has more than ``most`` values, including values in arrays and objects at any depth.

    >>> has_more_values(b'[1, 2, {"a": "b, [c]"}]', 4), has_more_values(b'[1, 2, {"a": "b, [c]"}]', 3)
    (False, True)
    """
    if data.count(b",") + data.count(b"[") + data.count(b"{") <= most:
        return False
    found = 0
    for match in _STRING_OR_SIGN.finditer(data):
        if data[match.start()] != 0x22:
            found += 1
            if found > most:
                return True
    return False
