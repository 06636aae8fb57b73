"""Parse option values. Each function parses a string. If the string is invalid, the function raises an error that
describes the valid values."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import NamedTuple

_DURATION = re.compile(r"(\d+)([smhdwy])")
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,3})?) ?([KMGT]?B|)", re.ASCII | re.IGNORECASE)
_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}


def parse_duration(text: str) -> int:
    """Parse a duration such as ``90d``, and return it in milliseconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"must be a duration such as 90d or 12h, not {text!r}")
    return int(match[1]) * _SECONDS[match[2]] * 1000


def parse_moment(text: str) -> int:
    """Parse an ISO 8601 time. The default time zone is UTC."""
    from octavo.kit.clock import parse_iso

    try:
        return parse_iso(text)
    except ValueError:
        raise ArgumentTypeError(
            f"must be a time such as 2026-11-26T14:05 or 2026-11-26T14:05:30+01:00, not {text!r}"
        ) from None


def parse_seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,3})?", text) or not float(text):
        raise ArgumentTypeError(f"must be a number of seconds such as 5 or 0.5, not {text!r}")
    return float(text)


def parse_positive(text: str) -> int:
    """Parse a whole number that is 1 or higher."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"must be a whole number, 1 or higher, not {text!r}")
    return int(text)


def parse_port(text: str) -> int:
    """Parse a port number."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError(f"must be a port from 1 to 65535, not {text!r}")
    return int(text)


class Limit(NamedTuple):
    """Limit given on the command line. ``number``: None means unlimited."""

    number: int | None


def parse_limit(text: str) -> Limit:
    """Parse a whole number, or ``none`` for unlimited. Raises ArgumentTypeError for any other text.

    >>> parse_limit("none")
    Limit(number=None)
    """
    if text.lower() == "none":
        return Limit(None)
    if not text.isascii() or not text.isdigit():
        raise ArgumentTypeError(f"must be a whole number or `none`, not {text!r}")
    return Limit(int(text))


def parse_size_limit(text: str) -> Limit:
    """Parse a size in bytes, KB, MB, GB, or TB, or ``none`` for unlimited. Raises ArgumentTypeError for any other
    text.

    >>> parse_size_limit("1.5GB")
    Limit(number=1500000000)
    """
    if text.lower() == "none":
        return Limit(None)
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"must be a size such as 500MB or 50GB, or `none`, not {text!r}")
    return Limit(round(float(match[1]) * _BYTES[match[2].upper()]))
