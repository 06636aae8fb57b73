"""Characters that a PDF can show: those covered by Typst's fonts and by the fonts in a folder with additional
fonts."""

from __future__ import annotations

import re
import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

# Unicode blocks fully covered by the fonts included in typst (Libertinus Serif, New Computer Modern, DejaVu
# Sans Mono).
_EMBEDDED = [
    (0x20, 0x58F),
    (0x10A0, 0x10FF),
    (0x1D00, 0x20CF),
    (0x2100, 0x23CE),
    (0x2500, 0x26B8),
    (0x2700, 0x2704),
    (0x2706, 0x2709),
    (0x270C, 0x2727),
    (0x2729, 0x274B),
    (0x2756, 0x2756),
    (0x2758, 0x2794),
    (0x2798, 0x27AF),
    (0x27B1, 0x27BE),
    (0x27C0, 0x2AFF),
    (0xFB00, 0xFB06),
    (0xFFFC, 0xFFFD),
    (0x1D400, 0x1D7FF),
]
# Symbols that represent a word, and their replacements by symbols that the fonts have.
_NEAR = {
    "✅": "✓",
    "☑": "✓",
    "❌": "✗",
    "❎": "✗",
    "⭐": "★",
    "🌟": "★",
    "⚠": "⚠",
    "❗": "!",
    "❓": "?",
    "❕": "!",
    "❔": "?",
    "➕": "+",
    "➖": "−",
    "🔴": "●",
    "🟢": "●",
    "🟡": "●",
    "🔵": "●",
    "⚫": "●",
    "⚪": "○",
    "🟠": "●",
    "▶": "▶",
    "👉": "→",
    "👈": "←",
    "⬅": "←",
    "⬆": "↑",
    "⬇": "↓",
}
_JOINERS = re.compile("[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_OUTSIDE = re.compile("[^\x00-\u058f\u1e00-\u20cf]")
_PICTURE = re.compile("[\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_INVISIBLE = frozenset("\u200b\u00ad")


class Glyphs:
    """Characters covered by fonts. ``folders``: the folders with additional fonts. ``absent``: the characters
    found so far that no font covers."""

    def __init__(self, *folders: str | None) -> None:
        self._ranges = _merge_ranges(
            sorted([*_EMBEDDED, *(one for folder in folders for one in read_folder_coverage(folder))])
        )
        self._starts = [start for start, _ in self._ranges]
        self._pictures = self.has("\U0001f680")
        self.absent: set[str] = set()

    def has(self, character: str) -> bool:
        point = ord(character)
        at = bisect_right(self._starts, point) - 1
        return at >= 0 and point <= self._ranges[at][1]

    def shown(self, text: str) -> str:
        """Return the text with each symbol that no font covers replaced by a similar symbol or by its name."""
        if not _OUTSIDE.search(text):
            return text
        # Characters that join emoji or select their color have no meaning without emoji.
        return _OUTSIDE.sub(self._replaced, text if self._pictures else _JOINERS.sub("", text))

    def _replaced(self, match: re.Match[str]) -> str:
        found = match[0]
        if self.has(found) or found in _INVISIBLE:
            return found
        if found in _NEAR:
            return _NEAR[found]
        if _PICTURE.match(found):
            if 0x1F1E6 <= ord(found) <= 0x1F1FF:
                return chr(ord(found) - 0x1F1E6 + ord("A"))
            return f"({unicodedata.name(found, 'sign').lower()})"
        self.absent.add(found)
        return found


def _merge_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in ranges:
        if out and start <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def font_files(folder: str | None) -> list[Path]:
    if not folder:
        return []
    return sorted(p for p in Path(folder).rglob("*") if p.suffix.lower() in (".ttf", ".otf", ".ttc", ".otc"))


def read_folder_coverage(folder: str | None) -> Iterator[tuple[int, int]]:
    """Yield the characters that the fonts in a folder cover, as ranges."""
    for path in font_files(folder):
        yield from _read_coverage(path)


def _read_coverage(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the characters that a font covers, as ranges; none if the file isn't a font."""
    data = path.read_bytes()
    try:
        starts = [0]
        if data[:4] == b"ttcf":
            (count,) = struct.unpack_from(">I", data, 8)
            starts = list(struct.unpack_from(f">{count}I", data, 12))
        for start in starts[:1]:  # fonts in a collection share their characters
            (tables,) = struct.unpack_from(">H", data, start + 4)
            for n in range(tables):
                tag, _, offset, _ = struct.unpack_from(">4sIII", data, start + 12 + 16 * n)
                if tag == b"cmap":
                    yield from _cmap(data, offset)
    except struct.error:
        return


def _cmap(data: bytes, offset: int) -> Iterator[tuple[int, int]]:
    (count,) = struct.unpack_from(">H", data, offset + 2)
    for n in range(count):
        _, _, at = struct.unpack_from(">HHI", data, offset + 4 + 8 * n)
        at += offset
        (format_,) = struct.unpack_from(">H", data, at)
        if format_ == 12:
            (groups,) = struct.unpack_from(">I", data, at + 12)
            for g in range(groups):
                first, last, _ = struct.unpack_from(">III", data, at + 16 + 12 * g)
                yield first, last
        elif format_ == 4:
            (twice,) = struct.unpack_from(">H", data, at + 6)
            ends = struct.unpack_from(f">{twice // 2}H", data, at + 14)
            firsts = struct.unpack_from(f">{twice // 2}H", data, at + 16 + twice)
            yield from ((first, last) for first, last in zip(firsts, ends, strict=True) if first != 0xFFFF)
