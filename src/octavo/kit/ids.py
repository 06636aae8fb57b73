"""IDs of 20 letters and digits, which consist of a time and a random part. They start with a letter, so that URLs
and folder names never need quotes."""

from __future__ import annotations

import secrets
import threading

from .clock import now

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TIME_DIGITS = 8
_RANDOM_DIGITS = 12
_FIRST = _ALPHABET.index("A") * 62 ** (_TIME_DIGITS - 1)
"""Number added to the time, so that IDs start with a letter. IDs remain valid for several thousand years."""


_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


def _digits(value: int, count: int) -> str:
    """Return a number as ``count`` digits; ``count`` is even."""
    out = []
    for _ in range(count // 2):
        value, pair = divmod(value, 62 * 62)
        out.append(_PAIRS[pair])
    out.reverse()
    return "".join(out)


class _Made:
    """Time and number of this process's last ID."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = self._number = 0

    def after(self) -> tuple[int, int]:
        with self._lock:
            at, number = now(), secrets.randbits(70)
            if at == self._at:
                number = self._number + 1 + secrets.randbits(48)
            self._at, self._number = at, number
            return at, number


_made = _Made()


def new_id() -> str:
    """Return a new ID.

    IDs sort bytewise in the order in which they are created, within one process and, from one millisecond to the
    next, across processes. An ID has 70 random bits. The next ID of the same process in the same millisecond is
    larger by a random number of 48 bits.
    """
    at, number = _made.after()
    return _digits(_FIRST + at, _TIME_DIGITS) + _digits(number, _RANDOM_DIGITS)
