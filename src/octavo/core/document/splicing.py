"""An edit of a block carried over into the source of the block, so that what it does not touch keeps its bytes.

The block as it was and as it is to be are both drafted in the canonical style. What differs between the drafts is the
edit; where the draft of the old one stands in the source is found by aligning their words and signs, and there the
edit is made. What comes out counts only if it is read as what the canonical style would have been read as, so that a
wrong guess costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from ..alignment import align
from .keys import Digests
from .nodes import Block, Document
from .reader import read
from .writer import Draft, Notes, write_block

MAX_SOURCE = 200_000
"""Characters of a block; an edit of a longer one has it written anew."""

_TOKEN = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)


class Splicing:
    """The edited blocks of one document. ``was``: by key what they were edited from, with their sources;
    ``definitions``: what is defined between the blocks of the page."""

    def __init__(self, was: Mapping[str, Block], definitions: str) -> None:
        self._was, self._definitions = was, definitions

    def was(self, block: Block) -> Block | None:
        return self._was.get(block.key or "")

    def text(self, block: Block) -> str | None:
        """The source of a block with the edit in it; None where it is to be written anew."""
        was = self.was(block)
        if was is None or was.source is None or len(was.source) > MAX_SOURCE:
            return None
        wanted = {_digest([block])}
        for is_strict in (False, True):
            drafts = [write_block(it, Draft(was.source, is_strict)) for it in (was, block)]
            for text in spliced(was.source, *drafts):
                found = self._read(text)
                if found in wanted:
                    return text
                if len(wanted) == 1:
                    # What the canonical style cannot say is not wanted, either.
                    wanted.add(self._read(write_block(block, Notes())) or "")
                    if found in wanted:
                        return text
        return None

    def _read(self, text: str) -> str | None:
        """What a text says, read as one block of the page; None where it is not one. Blank lines with white space in them
        may end it, which are read so only where something follows."""
        before = self._definitions + "\n\n" if "[" in text and self._definitions else ""
        found = read(before + text).nodes
        return _digest(found) if len(found) == 1 and (found[0].source or "").rstrip() == text.rstrip() else None


def _digest(nodes: Sequence[Block]) -> str:
    return Digests(Document(list(nodes))).of(nodes[0])


class _Tokens(Struct):
    """Words, runs of white space and signs of a text, and where each begins; one more for its end."""

    said: list[str]
    starts: list[int]

    def end(self, at: int) -> int:
        return self.starts[at] + len(self.said[at])


def _tokens(text: str) -> _Tokens:
    said = _TOKEN.findall(text)
    starts, at = [], 0
    for token in said:
        starts.append(at)
        at += len(token)
    starts.append(at)
    return _Tokens(said, starts)


def _likeness(token: str) -> str:
    """What tokens that can stand for each other have in common."""
    if token.isspace():
        return " "
    return "*" if token == "_" else token


class _Hunk(Struct):
    """What differs: tokens of the draft of the old block, and those that the draft of the new one has instead."""

    low: int
    high: int
    begin: int
    end: int


def spliced(source: str, before: str, after: str) -> Iterator[str]:
    """Ways in which what differs between two drafts may be made in the source that the first one is a draft of."""
    if before == after:
        yield source
        return
    here, then, now = _tokens(source), _tokens(before), _tokens(after)
    places = dict(align([_likeness(t) for t in then.said], [_likeness(t) for t in here.said]))
    hunks = _hunks(then, now)
    ending = "\r\n" if "\r\n" in source else "\n"
    seen: set[str] = set()
    for left, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        wide = _widened(hunks, then, here, places, left, right) if left or right else hunks
        edits = [
            (
                _starts(here, then, places, hunk.low, hunk.high),
                _ends(here, then, places, hunk.low, hunk.high),
                after[now.starts[hunk.begin] : now.starts[hunk.end]].replace("\n", ending),
            )
            for hunk in wide
        ]
        if not all(starts and ends for starts, ends, _ in edits):
            continue
        for first, last in product((0, 1), (0, 1)):
            made = _made(source, edits, first, last)
            if made is not None and made not in seen:
                seen.add(made)
                yield made


def _hunks(then: _Tokens, now: _Tokens) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    i = j = 0
    for a, b in [*align(then.said, now.said), (len(then.said), len(now.said))]:
        if a > i or b > j:
            hunks.append(_Hunk(i, a, j, b))
        i, j = a + 1, b + 1
    return hunks


def _widened(
    hunks: list[_Hunk], then: _Tokens, here: _Tokens, places: dict[int, int], left: int, right: int
) -> list[_Hunk]:
    """The hunks with what is around them, on the same line, up to and with the next signs that are others in the
    source: a link by reference whose words are its label is one with its address when its words change."""
    found: list[_Hunk] = []

    def is_other(at: int) -> bool:
        return places.get(at + 1, -2) != places.get(at, -9) + 1

    for hunk in hunks:
        low, high = hunk.low, hunk.high
        if left:
            at = low - 1
            while at > 0 and "\n" not in then.said[at] and not is_other(at - 1):
                at -= 1
            while at > 0 and at - 1 not in places:
                at -= 1
            low = max(0, at)
        if right:
            at = high
            while at < len(then.said) and "\n" not in then.said[at] and not is_other(at):
                at += 1
            at += 1
            while at < len(then.said) and at not in places:
                at += 1
            high = min(at, len(then.said))
        wide = _Hunk(low, high, hunk.begin - (hunk.low - low), hunk.end + high - hunk.high)
        if found and wide.low <= found[-1].high:
            wide = _Hunk(found[-1].low, max(wide.high, found[-1].high), found[-1].begin, max(wide.end, found[-1].end))
            found.pop()
        found.append(wide)
    return found


def _made(source: str, edits: list[tuple[list[int], list[int], str]], first: int, last: int) -> str | None:
    """The source with these edits, each at its first or last place; None where they are not one behind another."""
    out: list[str] = []
    at = 0
    for starts, ends, text in edits:
        start, end = starts[min(first, len(starts) - 1)], ends[min(last, len(ends) - 1)]
        if start < at or end < start:
            return None
        out += source[at:start], text
        at = end
    return "".join(out) + source[at:]


def _starts(here: _Tokens, then: _Tokens, places: dict[int, int], low: int, high: int) -> list[int]:
    """Where in the source what is from ``low`` to ``high`` in the draft may begin."""
    found = []
    if low < high and low in places:
        found.append(here.starts[places[low]])
    if low - 1 in places:
        found.append(here.end(places[low - 1]))
    elif low == 0:
        found.append(0)
    if low == high and low in places:
        found.append(here.starts[places[low]])
    if low == high == len(then.said):
        found.append(here.starts[-1])
    return found


def _ends(here: _Tokens, then: _Tokens, places: dict[int, int], low: int, high: int) -> list[int]:
    if low == high:
        return _starts(here, then, places, low, high)
    found = []
    if high - 1 in places:
        found.append(here.end(places[high - 1]))
    if high in places:
        found.append(here.starts[places[high]])
    elif high == len(then.said):
        found.append(here.starts[-1])
    return found
