"""Apply an edit to a block's source, so that unedited parts keep their bytes.

The block before and after the edit is written in the canonical style as a draft. The difference between the drafts is
the edit. The words and punctuation of the old draft are aligned with the source to find the position of the edit. The
result is used only if parsing it gives the same blocks as the canonical style, so a wrong guess costs only time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from msgspec import Struct

from ..alignment import align
from .keys import Digests
from .nodes import Block, Document, Inline, Text, walk
from .reader import read, read_nested
from .writer import Notes, Styled, write_block

MAX_SOURCE = 100_000
"""Maximum number of characters in a block to splice. An edit to a longer block rewrites the block."""
_READ_MAX, _READ_SHARE = 200_000, 4
"""Limits on the number of characters to parse when looking for the position of an edit: a fixed number, or a multiple
of the source's length if that is more."""

_TOKEN = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)


class Splicing:
    """Edited blocks of a document. ``was``: the blocks before the edits, by key, with their sources. ``gone``: blocks
    that were deleted or moved into other blocks. ``definitions``: the link and footnote definitions between the
    blocks of the page."""

    def __init__(self, was: Mapping[str, Block], gone: Sequence[Block], definitions: str) -> None:
        self._was, self._gone, self._definitions = was, gone, definitions
        self._known: dict[str, str] | None = None

    def was(self, block: Block) -> Block | None:
        return self._was.get(block.key or "")

    def text(self, block: Block) -> str | None:
        """Return the source of a block with the edit applied; None if the block has to be rewritten."""
        was = self.was(block)
        if was is not None and (was.source is None or len(was.source) > MAX_SOURCE):
            return None
        digests = Digests(Document([block]), *([Document([was])] if was is not None else []))
        known = {} if was is not None and _keeps_blocks(was, block, digests) else self._sources()
        if was is None and not known:
            return None
        wanted = {digests.of(block)}
        if (same := known.get(digests.of(block))) is not None and self._read(same) in wanted:
            return same
        kept = _kept(block, digests, known)
        tries = (
            self._spliced(was, block, digests, known, kept) if was is not None else self._styled(block, kept)
        )
        canonical: str | None = None
        left = max(_READ_MAX, _READ_SHARE * len(was.source or "") if was is not None else 0)
        for text in tries:
            left -= len(text)
            if left < 0:
                break
            found = self._read(text)
            if found not in wanted and canonical is None:
                # Details that the canonical style can't express don't count. Footnotes are not part of a
                # block's content.
                canonical = "" if _has_notes(block) else self._read(write_block(block, Notes())) or ""
                wanted.add(canonical)
            if found in wanted:
                return text
        return None

    def _spliced(
        self, was: Block, block: Block, digests: Digests, known: Mapping[str, str], kept: Mapping[int, str]
    ) -> Iterator[str]:
        source = was.source or ""
        digests_inside = {digests.of(node) for node in _blocks_in(block)}
        both = {digest: text for digest, text in known.items() if digest in digests_inside}
        ways = [{**kept, **_kept(was, digests, both)}, {}] if kept else [{}]
        for is_strict in (False, True):
            for way in ways:
                drafts = [
                    write_block(it, Styled(source, way, is_draft=True, is_strict=is_strict))
                    for it in (was, block)
                ]
                yield from spliced(source, *drafts)
        yield from self._styled(block, kept, source)

    def _styled(self, block: Block, kept: Mapping[int, str], source: str = "") -> Iterator[str]:
        """Yield versions of the block written in the style of a source. Parts whose source is in ``kept`` are written
        unchanged."""
        if source or kept:
            yield write_block(block, Styled(source, kept))

    def _sources(self) -> dict[str, str]:
        """Return the sources of previous blocks and of the blocks nested in them, by the digest of their
        content, because edits may have moved them into other blocks."""
        if self._known is None:
            self._known = {}
            olds = [old for old in (*self._was.values(), *self._gone) if len(old.source or "") <= MAX_SOURCE]
            digests = Digests(Document(olds))
            for old in olds:
                if old.source is None:
                    continue
                self._known.setdefault(digests.of(old), old.source.replace("\r\n", "\n"))
                if (
                    not old.nodes
                    and not old.fragments
                    or all(isinstance(node, Text | Inline) for node in old.nodes)
                ):
                    continue
                nested = read_nested(self._before(old.source) + old.source)
                inner = Digests(Document([block for block, _ in nested]))
                for block, text in nested:
                    self._known.setdefault(inner.of(block), text)
        return self._known

    def _before(self, text: str) -> str:
        return self._definitions + "\n\n" if "[" in text and self._definitions else ""

    def _read(self, text: str) -> str | None:
        """Parse a source as one block of the page, and return the block's digest; None if the text isn't exactly one
        block. Whitespace at the end of the text is ignored."""
        found = read(self._before(text) + text).nodes
        return (
            _digest(found) if len(found) == 1 and (found[0].source or "").rstrip() == text.rstrip() else None
        )


def _kept(top: Block, digests: Digests, known: Mapping[str, str]) -> dict[int, str]:
    """Return the known sources of the nodes inside a block, by ``id``."""
    return {id(node): known[digests.of(node)] for node in _blocks_in(top) if digests.of(node) in known}


def _keeps_blocks(was: Block, now: Block, digests: Digests) -> bool:
    """Return whether all blocks inside a block are still in the same positions, even if the content of some has
    changed."""
    olds, news = list(_blocks_in(was)), list(_blocks_in(now))
    old_digests = {digests.of(node) for node in olds}
    return len(olds) == len(news) and all(
        digests.of(old) == digests.of(new) or digests.of(new) not in old_digests
        for old, new in zip(olds, news, strict=True)
    )


def _has_notes(top: Block) -> bool:
    return any(isinstance(node, Inline) and node.type == "annotation" for node in walk(top))


def _blocks_in(top: Block) -> Iterator[Block]:
    return (node for node in walk(top) if isinstance(node, Block) and node is not top)


def _digest(nodes: Sequence[Block]) -> str:
    return Digests(Document(list(nodes))).of(nodes[0])


class _Tokens(Struct):
    """Words, runs of whitespace, and punctuation marks of a source, with their offsets and the end offset."""

    said: list[str]
    starts: list[int]

    def end(self, at: int) -> int:
        return self.starts[at] + len(self.said[at])


def _tokens(text: str) -> _Tokens:
    found = _TOKEN.findall(text)
    starts, at = [], 0
    for token in found:
        starts.append(at)
        at += len(token)
    starts.append(at)
    return _Tokens(found, starts)


def _likeness(token: str) -> str:
    """Return the class of a token. Tokens of the same class can replace each other."""
    if token.isspace():
        return " "
    return token.replace("_", "*")


class _Hunk(Struct):
    """Replacement of the tokens ``low`` to ``high`` of the old draft with the tokens ``begin`` to ``end`` of the new
    draft."""

    low: int
    high: int
    begin: int
    end: int


def spliced(source: str, before: str, after: str) -> Iterator[str]:
    """Yield possible results of applying the difference between two drafts to the source of the first draft."""
    if before == after:
        yield source
        return
    here, then, now = _tokens(source), _tokens(before), _tokens(after)
    hunks = _hunks(then, now)
    ending = "\r\n" if "\r\n" in source else "\n"
    seen: set[str] = set()
    known: dict[Any, dict[int, int]] = {}
    # Smallest first: the bare change, located in either way, comes before wider ones.
    for (left, right), find in product(((0, 0), (0, 1), (1, 0), (1, 1)), (_places, _places_by_words)):
        places = known.get(find)
        if places is None:
            places = known[find] = find(then, here)
        wide = _widened(hunks, then, places, left, right) if left or right else hunks
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
            made = _apply_edits(source, edits, first, last)
            if made is not None and made not in seen:
                seen.add(made)
                yield made


def _places(then: _Tokens, here: _Tokens) -> dict[int, int]:
    """Return the positions of a draft's tokens in the source."""
    return dict(align([_likeness(t) for t in then.said], [_likeness(t) for t in here.said]))


def _places_by_words(then: _Tokens, here: _Tokens) -> dict[int, int]:
    """Return the positions of a draft's tokens in a source with few unique words. Words are first matched together with
    the previous word; then the tokens between these words are matched."""
    olds, news = _pairs_of_words(then), _pairs_of_words(here)
    words = [
        (olds[a][0], news[b][0]) for a, b in align([pair for _, pair in olds], [pair for _, pair in news])
    ]
    places: dict[int, int] = dict(words)
    i = j = 0
    for a, b in [*words, (len(then.said), len(here.said))]:
        between = align([_likeness(t) for t in then.said[i:a]], [_likeness(t) for t in here.said[j:b]])
        places.update((i + one, j + other) for one, other in between)
        i, j = a + 1, b + 1
    return places


def _pairs_of_words(tokens: _Tokens) -> list[tuple[int, tuple[str, str]]]:
    found: list[tuple[int, tuple[str, str]]] = []
    before = ""
    for at, token in enumerate(tokens.said):
        if token.isalnum():
            found.append((at, (before, token)))
            before = token
    return found


def _hunks(then: _Tokens, now: _Tokens) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    i = j = 0
    for a, b in [*align(then.said, now.said), (len(then.said), len(now.said))]:
        if a > i or b > j:
            hunks.append(_Hunk(i, a, j, b))
        i, j = a + 1, b + 1
    return hunks


def _widened(hunks: list[_Hunk], then: _Tokens, places: dict[int, int], left: int, right: int) -> list[_Hunk]:
    """Return the hunks, each widened within its line up to and including the next punctuation that differs in the
    source. For example, a reference link whose text is its label becomes a link with a URL when its text changes."""
    found: list[_Hunk] = []

    def is_other(at: int) -> bool:
        return places.get(at + 1, -2) != places.get(at, -9) + 1

    firsts = [0, *(hunk.high for hunk in hunks)]
    lasts = [*(hunk.low for hunk in hunks[1:]), len(then.said)]
    for hunk, first, last in zip(hunks, firsts, lasts, strict=False):
        low, high = hunk.low, hunk.high
        if left:
            at = low - 1
            while at > first and "\n" not in then.said[at] and not is_other(at - 1):
                at -= 1
            while at > first and at - 1 not in places:
                at -= 1
            low = max(first, at)
        if right:
            at = high
            while at < last and "\n" not in then.said[at] and not is_other(at):
                at += 1
            at += 1
            while at < last and at not in places:
                at += 1
            high = min(at, last)
        wide = _Hunk(low, high, hunk.begin - (hunk.low - low), hunk.end + high - hunk.high)
        if found and wide.low <= found[-1].high:
            wide = _Hunk(
                found[-1].low, max(wide.high, found[-1].high), found[-1].begin, max(wide.end, found[-1].end)
            )
            found.pop()
        found.append(wide)
    return found


def _apply_edits(
    source: str, edits: list[tuple[list[int], list[int], str]], first: int, last: int
) -> str | None:
    """Return the source with these edits, each at its first or last position; None if they aren't in order."""
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
    """Return the source positions where the draft's range from ``low`` to ``high`` can start."""
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
