"""Split Markdown into pieces for merging and comparing, and align pieces between versions.

A split keeps every character: ``open``, alternating gaps and pieces, and ``close`` make up the text. Splitting looks
only at lines instead of parsing the whole grammar, which makes it about twenty times as fast as ``document.read``.
Where the two could give different results, the larger piece is used, so no block of a document is ever split.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from copy import copy

from msgspec import Struct

from .alignment import align


class PiecePlace(Struct, frozen=True):
    """Position of a piece in the lines of a source: its first and last line."""

    lines: _Lines
    first: int
    last: int


class Cut(Struct):
    """Text split into pieces. ``gaps[i]``: the gap before ``pieces[i]``; the last gap is after the last
    piece. Pieces with equal keys have the same content. ``between``: the text to insert between two pieces
    that were never adjacent."""

    kind: str
    open: str
    pieces: list[str]
    gaps: list[str]
    close: str = ""
    keys: list[str] = []
    between: str = "\n\n"
    places: list[PiecePlace] = []
    """Positions of the pieces in the lines of the text, for use by ``inner``; empty if no piece contains blocks."""

    def __post_init__(self) -> None:
        if not self.keys:
            self.keys = self.pieces


_EVENT = re.compile(
    (
        r"^[ \t]*(?:(?:[*+-]|\d{1,9}[.)])[ \t]+)*(?:(?P<fence>`{3,}|~{3,})|(?P<tag>\{%)"
        r"|(?P<math>\$\$)[ \t]*\r?$|(?P<html><))[^\n]*"
    ),
    re.MULTILINE,
)
_TAGS = re.compile(r"\{%-?[ \t]*(end)?(@?[A-Za-z][\w/.:-]*)")
_ELEMENTS = re.compile(
    r"<(/?)(details|div|center|table|figure|ul|ol|dl|blockquote|p|pre|script|style|textarea)\b|<!--|-->",
    re.IGNORECASE,
)
_MATH_END = re.compile(r"^[ \t]*\$\$[ \t]*\r?$", re.MULTILINE)
_MARKER = re.compile(r"([ \t]*)(?:[*+-]|\d{1,9}[.)])(?=[ \t]|\r?$)")
_NUMBER = re.compile(r"\A[ \t]*\d+(?=[.)])")
_INTERRUPTS = re.compile(r"[ \t]*(?:#{1,6}(?=[ \t\r]|$)|\{%|(?:[*+-]|1[.)])[ \t]+[^\s])")
_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t\r]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\r?$")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^][\s]+\]:")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?$")
_CELL = re.compile(r"(?:[^|\\]|\\.|\\$)*", re.DOTALL)
_WRAPPED_ITEM = re.compile(r" *(?:[*+-]|\d{1,9}[.)]) {1,4}(?=\S)")
_WRAPPED_QUOTE = re.compile(r" {0,3}> ?")
_ELEMENT = re.compile(r"<(/?)([A-Za-z][\w-]*)(?=[\s/>])[^<>]*>")
_VOID = frozenset("area br col embed hr img input source track wbr".split())
_MARKERS = re.compile(r"^(?:[ \t>]*(?:[*+-]|\d{1,9}[.)])(?=\s))+", re.MULTILINE)
_WORD = re.compile(r"\w+")


class _Lines:
    """Lines of a source, and the constructs that span several lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.count = len(self.lines)
        """Number of lines to examine."""
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.blank = [not line or line.isspace() for line in self.lines]
        self.spans = self._spans()
        """Map from the first line of a fence, tag, element, or formula to its last line."""

    def _line_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _spans(self) -> dict[int, int]:
        spans: dict[int, int] = {}
        opened: list[tuple[str, int]] = []
        counts: Counter[str] = Counter()
        fence, since = "", 0
        skip_until = 0
        math_closes = comments_close = True

        def close(name: str, line: int) -> None:
            if not counts[name]:
                return
            while True:
                found, start = opened.pop()
                counts[found] -= 1
                if found == name:
                    spans[start] = max(line, spans.get(start, start))
                    return

        for event in _EVENT.finditer(self.text):
            if event.start() < skip_until:
                continue
            kind = event.lastgroup or ""
            if fence:
                mark = event["fence"]
                rest = self.text[event.end("fence") : event.end()]
                if mark and mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
                    spans[since] = self._line_at(event.start())
                    fence = ""
                continue
            line = self._line_at(event.start())
            if kind == "fence":
                if event["fence"][0] == "~" or "`" not in self.text[event.end("fence") : event.end()]:
                    fence, since = event["fence"], line
            elif kind == "math":
                end = _MATH_END.search(self.text, event.end()) if math_closes else None
                if end is None:
                    math_closes = False
                    continue
                spans[line] = self._line_at(end.start())
                skip_until = end.end()
            elif kind == "tag":
                for tag in _TAGS.finditer(event[0], event.start("tag") - event.start()):
                    if tag[1]:
                        close("%" + tag[2], line)
                    else:
                        opened.append(("%" + tag[2], line))
                        counts["%" + tag[2]] += 1
            else:
                for element in _ELEMENTS.finditer(event[0], event.start("html") - event.start()):
                    if element[0] == "<!--":
                        if not comments_close:
                            continue
                        comment = self.text.find("-->", event.start() + element.end())
                        comments_close = comment >= 0
                        if comment >= event.end():
                            spans[line] = self._line_at(comment)
                            skip_until = comment
                            break
                    elif element[0] == "-->":
                        continue
                    elif element[1]:
                        close("<" + element[2].lower(), line)
                    else:
                        opened.append(("<" + element[2].lower(), line))
                        counts["<" + element[2].lower()] += 1
        if fence:
            spans[since] = len(self.lines) - 1
        return spans

    def until(self, line: int) -> _Lines:
        """Return the same lines, ending before this line."""
        lines = copy(self)
        lines.count = line
        return lines

    def end_of(self, line: int) -> int:
        """Return the last line of the construct that starts at this line, or this line if none starts here."""
        return min(self.spans.get(line, line), self.count - 1)

    def indent(self, line: int) -> int:
        text = self.lines[line]
        return len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip(" "))

    def next_filled(self, line: int) -> int:
        """Return the first non-blank line at or after this line, or the number of lines if there is none."""
        while line < self.count and self.blank[line]:
            line += 1
        return line

    def is_item(self, line: int) -> bool:
        return bool(_MARKER.match(self.lines[line])) and not _RULE.match(self.lines[line])

    def last_of(self, first: int) -> int:
        """Return the last line of the piece that starts at this line."""
        text = self.lines[first]
        if _RULE.match(text) or _HEADING.match(text):
            return first
        if self.is_item(first) or _FOOTNOTE.match(text):
            return self._last_of_list(first)
        if first in self.spans:
            return self._with_indented(self.end_of(first), 4)
        start = text.lstrip()
        if start.startswith("{%"):
            return first
        quoted, markup = start.startswith(">"), start.startswith("<")
        last = first
        while last + 1 < self.count and not self.blank[last + 1]:
            line = self.lines[last + 1]
            if _UNDERLINE.match(line) and not quoted and not markup:
                return last + 1
            if (last + 1) in self.spans and not (quoted and line.lstrip().startswith(">")):
                break
            if _INTERRUPTS.match(line) and (not markup or line.lstrip().startswith("{%")):
                break
            last += 1
        return self._with_indented(last, 4)

    def _with_indented(self, last: int, width: int) -> int:
        """Extend a piece by the indented lines after a blank line, because they can belong to it."""
        while True:
            after = self.next_filled(last + 1)
            if after >= self.count or after == last + 1 or self.indent(after) < width:
                return last
            last = self.end_of(after)
            while last + 1 < self.count and not self.blank[last + 1] and self.indent(last + 1) >= width:
                last = self.end_of(last + 1)

    def _last_of_list(self, first: int) -> int:
        last = self.end_of(first)
        while True:
            after = self.next_filled(last + 1)
            if after >= self.count:
                return last
            inside = self.indent(after) >= 2 or (
                self.is_item(after) and not _FOOTNOTE.match(self.lines[first])
            )
            if after > last + 1:
                if not inside:
                    return last
            elif not inside and (
                after in self.spans
                or _INTERRUPTS.match(self.lines[after])
                or _RULE.match(self.lines[after])
                or _FOOTNOTE.match(self.lines[after])
            ):
                return last
            last = self.end_of(after)

    def piece(self, first: int, last: int) -> tuple[int, int]:
        """Return the start and end offsets of these lines, excluding the last line break."""
        end = self.starts[last + 1] - 1
        if end > self.starts[first] and self.text[end - 1 : end] == "\r":
            end -= 1
        return self.starts[first], end


def split(text: str) -> Cut:
    """Split a Markdown text (without front matter) into its top-level blocks."""
    lines = _Lines(text)
    return _split(lines, 0, (0, len(text)))


def _split(lines: _Lines, line: int, part: tuple[int, int]) -> Cut:
    """Return the blocks from this line on as separate pieces. ``part``: the offsets at which these blocks start and end
    in the text."""
    places: list[PiecePlace] = []
    spans: list[tuple[int, int]] = []
    begin, stop = part
    line = lines.next_filled(line)
    while line < lines.count:
        last = lines.last_of(line)
        places.append(PiecePlace(lines, line, last))
        start, end = lines.piece(line, last)
        spans.append((start - begin, end - begin))
        line = lines.next_filled(last + 1)
    text = lines.text[begin:stop]
    cut = _cut("blocks", text, spans, between="\r\n\r\n" if "\r\n" in text else "\n\n")
    cut.places = places
    return cut


def _cut(kind: str, text: str, spans: Sequence[tuple[int, int]], *, between: str, frame: bool = False) -> Cut:
    """Split a source at these offsets. ``frame``: whether the text before and after the pieces becomes ``open`` and
    ``close``."""
    begin, stop = (spans[0][0], spans[-1][1]) if frame and spans else (0, len(text))
    gaps, pieces, at = [], [], begin
    for start, end in spans:
        gaps.append(text[at:start])
        pieces.append(text[start:end])
        at = end
    gaps.append(text[at:stop])
    return Cut(kind, text[:begin], pieces, gaps, text[stop:], between=between)


def inner(piece: str, place: PiecePlace | None = None) -> Cut | None:
    """Split a block into the parts that can be merged one by one: list items, table rows, the blocks inside a tag or an
    expandable section, or the elements inside an element. Return None for a block without parts. A list with one item
    is one part. ``place``: the block's position, if known, so that its lines don't have to be scanned again."""
    start = piece.lstrip()
    if _MARKER.match(piece) and not _RULE.match(piece):
        return _items(piece)
    if start.startswith("{%") or start[:8].lower() == "<details":
        if place is None:
            lines = _Lines(piece)
            place = PiecePlace(lines, lines.next_filled(0), lines.count - 1)
        return _container(piece, place)
    if start.startswith("<"):
        return _elements(piece)
    return _rows(piece) if "|" in piece else None


def _items(piece: str) -> Cut:
    lines = _Lines(piece)
    marks: list[tuple[int, int]] = []
    line = 0
    while line < len(lines.lines):
        if not lines.blank[line] and lines.is_item(line):
            marks.append((lines.indent(line), line))
        line = lines.spans.get(line, line) + 1
    firsts = [line for indent, line in marks if indent <= marks[0][0] + 1]
    spans = []
    for first, after in zip(firsts, [*firsts[1:], len(lines.lines)], strict=True):
        last = after - 1
        while last > first and lines.blank[last]:
            last -= 1
        spans.append(lines.piece(first, last))
    cut = _cut("items", piece, spans, between="\r\n" if "\r\n" in piece else "\n", frame=True)
    # An item inserted above changes the numbers below, so the number is not part of an item's content.
    cut.keys = [_NUMBER.sub("1", one, count=1) for one in cut.pieces]
    return cut


def _elements(piece: str) -> Cut | None:
    """Split an HTML element into its child elements. Return None if there is text next to the child elements, or if the
    tags don't match."""
    opened: list[tuple[str, int]] = []
    spans: list[tuple[int, int]] = []
    begin = stop = 0
    for tag in _ELEMENT.finditer(piece):
        name, at = tag[2].lower(), tag.start()
        if stop:
            return None
        if tag[1]:
            if not opened or opened[-1][0] != name:
                return None
            at = opened.pop()[1]
            if not opened:
                stop = tag.start()
        elif not (name in _VOID or tag[0].endswith("/>")):
            opened.append((name, at))
            if len(opened) == 1:
                begin = tag.end()
            continue
        elif not opened:
            return None
        if len(opened) == 1:
            spans.append((at, tag.end()))
    if not stop or not spans:
        return None
    ends = [begin, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), stop]
    if any(piece[end:start].strip() for end, start in zip(ends, starts, strict=True)):
        return None
    return _cut("elements", piece, spans, between="", frame=True)


class Wrapping(Struct, frozen=True):
    """Line prefixes in a quote or a list item: one for the first line, and one for all other lines."""

    kind: str
    first: str
    rest: str

    def wrap(self, text: str, first: str | None = None) -> str:
        """Add the prefixes to the text. ``first`` replaces the prefix of the first line."""
        head, *tail = text.split("\n")
        wrapped = [(self.first if first is None else first) + head]
        for line in tail:
            wrapped.append((self.rest if line.strip() else self.rest.rstrip()) + line)
        return "\n".join(wrapped)


def unwrap(piece: str) -> tuple[Wrapping, str] | None:
    """Remove the prefixes from the lines of a quote or of one list item. Wrapping the result produces the same bytes.
    Return None if the lines have no common prefix, as in a paragraph with lazy continuation lines."""
    lines = piece.split("\n")
    if quote := _WRAPPED_QUOTE.match(piece):
        wrapping = Wrapping("quote", quote[0], quote[0])
    elif (item := _WRAPPED_ITEM.match(piece)) and not _RULE.match(lines[0]):
        indents = [len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip()]
        wrapping = Wrapping("item", item[0], " " * min([len(item[0]), *indents]))
    else:
        return None
    rest, bare = wrapping.rest, wrapping.rest.rstrip()
    if not rest:
        return None
    found = [lines[0][len(wrapping.first) :]]
    for line in lines[1:]:
        if line.strip() == bare.strip():
            found.append(line[line.find(bare) + len(bare) :])
        elif line.startswith(rest):
            found.append(line[len(rest) :])
        else:
            return None
    text = "\n".join(found)
    return (wrapping, text) if wrapping.wrap(text) == piece else None


def _container(piece: str, place: PiecePlace) -> Cut | None:
    lines, first, last = place.lines, place.first, place.last
    if lines.spans.get(first) != last or last < first + 2:
        return None
    at, stop = lines.starts[first + 1], lines.starts[last]
    body = _split(lines.until(last), first + 1, (at, stop))
    name = piece.split(None, 2)[1] if piece.lstrip().startswith("{%") else "details"
    close = piece[len(piece) - (lines.piece(first, last)[1] - stop) :]
    body.kind, body.open, body.close = name, piece[: len(piece) - len(close) - (stop - at)], close
    return body


def cells(row: str) -> list[str]:
    """Return the cells of a pipe table's row, without surrounding spaces."""
    text = row.strip().removeprefix("|")
    found, at = [], 0
    while True:
        match = _CELL.match(text, at)
        end = match.end() if match else len(text)
        found.append(text[at:end].strip())
        if end >= len(text):
            break
        at = end + 1
    if len(found) > 1 and not found[-1] and text.endswith("|"):
        found.pop()
    return found


def _rows(piece: str) -> Cut | None:
    lines = piece.split("\n")
    if len(lines) < 3 or "|" not in lines[0] or not _DELIMITER.match(lines[1]):
        return None
    begin = len(lines[0]) + len(lines[1]) + 2
    spans, at = [], begin
    for line in lines[2:]:
        spans.append((at, at + len(line.rstrip("\r"))))
        at += len(line) + 1
    cut = _cut("rows", piece, spans, between="\r\n" if "\r\n" in piece else "\n", frame=True)
    # Tables get new padding when a cell grows, so padding is not part of a row's content.
    cut.keys = [" | ".join(cells(row)) for row in cut.pieces]
    return cut


def kind_of(piece: str) -> str:
    """Return the block kind of a piece, if the first line is enough to determine it."""
    line = piece.lstrip()[:80].split("\n", 1)[0]
    if line.startswith("{%"):
        tag = _TAGS.match(line)
        return tag[2] if tag else "tag"
    if _RULE.match(line):
        return "rule"
    if line.startswith("#"):
        return "heading"
    if line.startswith(("```", "~~~")):
        return "code"
    if line.startswith("<"):
        return line[:5].lower()
    if _MARKER.match(line):
        return "list"
    return {"|": "table", ">": "quote"}.get(line[:1], "text")


class Match(Struct):
    """Alignment of two versions. ``to[i]``: the index of old piece ``i`` in the new version; None if it was
    deleted. ``origin[j]``: the index of new piece ``j`` in the old version; None if it was added.
    ``moved``: the old indexes of pieces that are unchanged but in another position."""

    to: list[int | None]
    origin: list[int | None]
    moved: set[int]


_UNIFORM = frozenset({"items", "rows", "elements"})
"""Kinds of splits in which all pieces are of the same kind, such as the rows of a table."""
_ALIKE = 0.3
"""Minimum share of common words for a changed piece to count as edited instead of replaced."""
_KEPT = 0.5
"""Minimum share of the shorter piece's words that the longer piece must contain, as an alternative to ``_ALIKE``. This
way, a piece also counts as edited if it was shortened to a few of its words or if many words were added."""
_RUN_MAX = 400
"""Maximum product of the lengths of two changed runs for pairing their pieces by similarity. Pieces of longer runs are
paired only by position."""


def match(old: Cut, new: Cut) -> Match:
    """Match pieces that were kept, moved, or edited. A piece that was both moved and edited counts as deleted
    and added."""
    found = Match([None] * len(old.pieces), [None] * len(new.pieces), set())

    def pair(i: int, j: int) -> None:
        found.to[i], found.origin[j] = j, i

    kept = align(old.keys, new.keys)
    for i, j in kept:
        pair(i, j)
    if len(kept) == len(old.pieces) == len(new.pieces):
        return found
    runs = []
    for (i, j), (k, m) in zip([(-1, -1), *kept], [*kept, (len(old.pieces), len(new.pieces))], strict=True):
        if k > i + 1 or m > j + 1:
            runs.append((range(i + 1, k), range(j + 1, m)))
    gone = Counter(old.keys[i] for rows, _ in runs for i in rows)
    came = {new.keys[j]: j for _, rows in runs for j in rows}
    total = Counter(new.keys[j] for _, rows in runs for j in rows)
    for rows, _ in runs:
        for i in rows:
            key = old.keys[i]
            if gone[key] == 1 and total[key] == 1:
                pair(i, came[key])
                found.moved.add(i)
    plain = old.kind in _UNIFORM
    for rows, columns in runs:
        left = [i for i in rows if found.to[i] is None]
        right = [j for j in columns if found.origin[j] is None]
        for i, j in _edited(old, new, left, right, plain):
            pair(i, j)
    return found


def _words(piece: str) -> set[str]:
    """Return the words of a piece, without the numbers of its list items."""
    return set(_WORD.findall(_MARKERS.sub("", piece)))


def _edited(old: Cut, new: Cut, left: list[int], right: list[int], same_kind: bool) -> list[tuple[int, int]]:
    """Return the new version of each old piece in a changed run."""
    if not left or not right:
        return []

    def kin(i: int, j: int) -> bool:
        return same_kind or kind_of(old.pieces[i]) == kind_of(new.pieces[j])

    if len(left) * len(right) > _RUN_MAX:
        return (
            [(i, j) for i, j in zip(left, right, strict=False) if kin(i, j)]
            if len(left) == len(right)
            else []
        )
    if len(left) == len(right) == 1:
        return [(left[0], right[0])] if kin(left[0], right[0]) else []
    words = {i: _words(old.pieces[i]) for i in left}
    there = {j: _words(new.pieces[j]) for j in right}

    def likeness(i: int, j: int) -> float:
        if not kin(i, j):
            return 0.0
        both, fewer = len(words[i] & there[j]), min(len(words[i]), len(there[j]))
        share = both / max(1, len(words[i]) + len(there[j]) - both)
        is_edited = share >= _ALIKE or both >= max(1, _KEPT * fewer) or (both and is_only(i, j))
        return share if is_edited else 0.0

    def is_only(i: int, j: int) -> bool:
        """Return whether neither piece can be paired with any other piece."""
        others = [(k, j) for k in left if k != i] + [(i, m) for m in right if m != j]
        return not any(kin(*other) for other in others)

    # Find the ordered pairing with the greatest total similarity.
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    like = [[likeness(i, j) for j in right] for i in left]
    for x in range(len(left) - 1, -1, -1):
        for y in range(len(right) - 1, -1, -1):
            taken = best[x + 1][y + 1] + like[x][y] if like[x][y] else 0.0
            best[x][y] = max(best[x + 1][y], best[x][y + 1], taken)
    pairs: list[tuple[int, int]] = []
    x = y = 0
    marks = [(-1, -1)]
    while x < len(left) and y < len(right):
        if like[x][y] and best[x][y] == best[x + 1][y + 1] + like[x][y]:
            marks.append((x, y))
            x, y = x + 1, y + 1
        elif best[x][y] == best[x + 1][y]:
            x += 1
        else:
            y += 1
    marks.append((len(left), len(right)))
    for (p, q), (r, s) in zip(marks, marks[1:], strict=False):
        if p >= 0:
            pairs.append((left[p], right[q]))
        # Pieces between two pairs that have the same kind and number were rewritten.
        if r - p == s - q:
            pairs.extend(
                (left[p + n], right[q + n]) for n in range(1, r - p) if kin(left[p + n], right[q + n])
            )
    return pairs
