"""Decompress text that the JavaScript library lz-string compressed for URLs."""

from __future__ import annotations

from collections.abc import Iterator

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-$"
_VALUES = {letter: n for n, letter in enumerate(_ALPHABET)} | {"/": 63, "=": 64, " ": 62}
"""Alphabet of both encodings: the encoding for URLs, and base64, which uses ``/`` instead of ``-``. It contains a space
instead of ``+``, because decoding a form turns ``+`` into a space."""


class _Bits:
    def __init__(self, text: str) -> None:
        self._bits = self._each(text)

    @staticmethod
    def _each(text: str) -> Iterator[int]:
        for letter in text:
            value = _VALUES.get(letter)
            if value is None:
                raise ValueError(f"the character {letter!r} isn't allowed in this encoding")
            for shift in range(5, -1, -1):
                yield value >> shift & 1

    def read(self, count: int) -> int:
        """Read a number with this many bits, lowest bit first. Raises ValueError at the end of the data."""
        found = 0
        for power in range(count):
            bit = next(self._bits, None)
            if bit is None:
                raise ValueError("the text is truncated")
            found |= bit << power
        return found


def decompress(text: str, limit: int) -> str:
    """Return the text that was passed to ``compressToEncodedURIComponent`` or ``compressToBase64``. ``limit``: its
    maximum number of characters.

    Raises ValueError if the input is invalid or the text is longer.
    """
    bits = _Bits(text.rstrip("=") if text.endswith("=") else text)
    known: list[str] = ["", "", ""]

    def letter(code: int) -> str:
        return chr(bits.read(8 if code == 0 else 16))

    first = bits.read(2)
    if first == 2:
        return ""
    if first > 2:
        raise ValueError("the text starts with a reference to an earlier part")
    last = letter(first)
    known.append(last)
    out, size, width, room = [last], 1, 3, 4
    while True:
        code = bits.read(width)
        if code == 2:
            return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16")
        if code < 2:
            known.append(letter(code))
            code = len(known) - 1
            room -= 1
            if room == 0:
                room, width = 1 << width, width + 1
        if code < len(known):
            entry = known[code]
        elif code == len(known):
            entry = last + last[0]
        else:
            raise ValueError("the text refers to a part that doesn't exist")
        out.append(entry)
        size += len(entry)
        if size > limit:
            raise ValueError(f"the text is longer than {limit:,} characters")
        known.append(last + entry[0])
        last = entry
        room -= 1
        if room == 0:
            room, width = 1 << width, width + 1
