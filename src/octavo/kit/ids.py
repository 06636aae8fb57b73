"""Ids: 20 letters and digits, time-ordered, then random."""

from __future__ import annotations

import secrets

from .clock import now

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TIME_DIGITS = 8
_RANDOM_DIGITS = 12


def _digits(value: int, count: int) -> str:
    out = []
    for _ in range(count):
        value, digit = divmod(value, 62)
        out.append(_ALPHABET[digit])
    return "".join(reversed(out))


def new_id() -> str:
    """A new id; ids made in later milliseconds sort (bytewise) later. 71 random bits."""
    return _digits(now(), _TIME_DIGITS) + _digits(secrets.randbits(71), _RANDOM_DIGITS)
