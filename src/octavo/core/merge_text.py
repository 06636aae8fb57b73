"""Three-way merge of Markdown sources, block by block.

The result has the order of ``ours``. The changes from base to theirs (deletions, moves, insertions, and edits) are
applied to it. Blocks, list items, and table rows that neither side changed keep their bytes. Blocks inside tags,
quotes, list items, and HTML elements merge one by one, at any depth. If both sides edited a block in different ways,
the text keeps one version and a ``TextConflict`` contains all three, so no line of either side is ever lost. A block
without inner blocks is merged line by line, as long as no two edits are adjacent.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from .alignment import align
from .document.page import split_page
from .page_fields import FRONT_KEYS
from .pieces import Cut, Match, cells, inner, kind_of, match, split, unwrap

T = TypeVar("T")
MAX_LINES = 5000
"""Maximum number of lines in a block that is merged line by line."""
MAX_DEPTH = 32
"""Maximum nesting depth at which blocks are merged part by part. More deeply nested blocks are merged as a whole."""


class TextConflict(Struct, frozen=True):
    """Part of a source that both sides changed. ``base``, ``ours``, and ``theirs``: the exact text in each version;
    None if the version doesn't contain this part. The merged text contains the version of ``kept`` ("ours" or "theirs")
    at offset ``at``. ``index``: the number of its top-level block. ``key``: the front-matter key, if the conflict is
    about a key."""

    at: int
    base: str | None
    ours: str | None
    theirs: str | None
    kept: str = "ours"
    index: int = 0
    key: str | None = None


class TextMerge(Struct):
    text: str
    conflicts: list[TextConflict]


def merge_text(base: str, ours: str, theirs: str) -> TextMerge:
    """Merge sources without front matter. This accepts any text. Equal changes and changes by only one side merge
    without conflicts."""
    settled = pick(base, ours, theirs)
    if settled is not None:
        return TextMerge(settled, [])
    return _merge_cuts(split(base), split(ours), split(theirs))


def merge_page_text(base: str, ours: str, theirs: str, *, fields: bool = True) -> TextMerge:
    """Merge whole page files. ``fields``: whether to keep ours, without a conflict, for the title and the front-matter
    keys that are page fields. In that case, conflicts are reported for the page's fields, and the head is written from
    those fields."""
    settled = pick(base, ours, theirs)
    if settled is not None:
        return TextMerge(settled, [])
    fronts, titles, bodies = zip(*(split_page(text) for text in (base, ours, theirs)), strict=True)
    head = _merge_front(fronts[0], fronts[1], fronts[2], fields)
    title = pick(*titles)
    if title is None:
        title = titles[1]
        if not fields:
            head.conflicts.append(_leaf(titles[0], titles[1], titles[2], at=len(head.text)))
            title = title or titles[2]
    before = head.text + title
    body = merge_text(*bodies)
    if before and title and not title.endswith(("\n", "\r")) and body.text:
        before += "\n\n"
    moved = [replace(conflict, at=conflict.at + len(before)) for conflict in body.conflicts]
    return TextMerge(before + body.text, head.conflicts + moved)


def pick(base: T, ours: T, theirs: T) -> T | None:
    """Return the merged value of three versions. If only one side changed it, the result is that side's value. Return
    None if both sides changed it differently."""
    if theirs in (ours, base):
        return ours
    return theirs if ours == base else None


def _leaf(base: str, ours: str, theirs: str, *, at: int = 0, key: str | None = None) -> TextConflict:
    kept = "ours" if ours else "theirs"
    return TextConflict(at, base or None, ours or None, theirs or None, kept, key=key)


# --- blocks -------------------------------------------------------------------------------------------


class _Node:
    """Piece of the merged text, with its position in each version (None if the version doesn't contain it), its text,
    and the pieces after it."""

    __slots__ = ("after", "base", "before", "conflicts", "ours", "text", "theirs")

    def __init__(self, base: int | None, ours: int | None, theirs: int | None, text: str = "") -> None:
        self.base, self.ours, self.theirs, self.text = base, ours, theirs, text
        self.conflicts: list[TextConflict] = []
        self.before: _Node = self
        self.after: _Node = self

    def insert(self, node: _Node) -> None:
        """Insert ``node`` right after this node."""
        node.before, node.after = self, self.after
        self.after.before = node
        self.after = node

    def remove(self) -> None:
        self.before.after, self.after.before = self.after, self.before


def _merge_cuts(base: Cut, ours: Cut, theirs: Cut, depth: int = 0) -> TextMerge:
    to_ours, to_theirs = match(base, ours), match(base, theirs)
    # A ring: ``start`` is before the first piece and after the last.
    start = _Node(-1, -1, -1)
    of_ours = [_Node(to_ours.origin[j], j, None, text) for j, text in enumerate(ours.pieces)]
    for node in of_ours:
        start.before.insert(node)
    of_theirs: list[_Node | None] = [None] * len(theirs.pieces)
    for i in range(len(base.pieces)):
        _merge_base_piece(i, base, ours, theirs, to_ours, to_theirs, of_ours, of_theirs, depth)
    for j, k in _same_insertions(ours, theirs, to_ours, to_theirs):
        of_ours[j].theirs = k
        of_theirs[k] = of_ours[j]
    _arrange(start, theirs, to_ours, to_theirs, of_theirs)
    return _join(start, base, ours, theirs, not depth)


def _merge_base_piece(
    i: int,
    base: Cut,
    ours: Cut,
    theirs: Cut,
    to_ours: Match,
    to_theirs: Match,
    of_ours: list[_Node],
    of_theirs: list[_Node | None],
    depth: int,
) -> None:
    """Merge one piece of base into its node. The result can be a deletion, one of the versions, or a merge of both."""
    j, k = to_ours.to[i], to_theirs.to[i]
    if j is not None and k is not None:
        node = of_ours[j]
        node.theirs, of_theirs[k] = k, node
        keys = (base.keys[i], ours.keys[j], theirs.keys[k])
        form = pick(base.pieces[i], ours.pieces[j], theirs.pieces[k])
        if form is not None:
            node.text = form
        elif ours.kind == "rows" and keys[0] in keys[1:]:
            # At most one side changed the content of the row; the other only padded it.
            node.text = node.text if keys[2] == keys[0] else theirs.pieces[k]
        elif keys != (keys[0],) * 3:
            merged = _merge_piece((base, i), (ours, j), (theirs, k), depth=depth)
            node.text, node.conflicts = merged.text, merged.conflicts
    elif j is not None and k is None:
        node = of_ours[j]
        if ours.keys[j] == base.keys[i]:
            node.remove()
        else:
            node.conflicts = [TextConflict(0, base.pieces[i], node.text, None)]
    elif k is not None and theirs.keys[k] != base.keys[i]:
        node = _Node(i, None, k, theirs.pieces[k])
        node.conflicts = [TextConflict(0, base.pieces[i], None, node.text, "theirs")]
        of_theirs[k] = node


def _same_insertions(ours: Cut, theirs: Cut, to_ours: Match, to_theirs: Match) -> list[tuple[int, int]]:
    """Return the new pieces that both sides inserted at the same position."""
    mine, yours = _inserted(ours, to_ours), _inserted(theirs, to_theirs)
    return [
        (mine[slot][a][0], yours[slot][b][0])
        for slot in mine.keys() & yours.keys()
        for a, b in align([key for _, key in mine[slot]], [key for _, key in yours[slot]])
    ]


def _inserted(cut: Cut, matched: Match) -> dict[int, list[tuple[int, str]]]:
    """Return the new pieces (index, key) by the piece of base that they follow."""
    slots: dict[int, list[tuple[int, str]]] = {}
    behind = -1
    for j, origin in enumerate(matched.origin):
        if origin is None:
            slots.setdefault(behind, []).append((j, cut.keys[j]))
        else:
            behind = origin
    return slots


def _arrange(
    start: _Node, theirs: Cut, to_ours: Match, to_theirs: Match, of_theirs: list[_Node | None]
) -> None:
    """Place each piece that theirs inserted or moved after the pieces that ours inserted at the same position."""
    behind = start
    for k, text in enumerate(theirs.pieces):
        node, i = of_theirs[k], to_theirs.origin[k]
        if node is None and i is not None:
            continue  # deleted by ours
        if node is None or node.ours is None:
            node = node or _Node(None, None, k, text)
            while behind.after is not start and behind.after.base is None and behind.after.theirs is None:
                behind = behind.after
            behind.insert(node)
        elif i is not None and i in to_theirs.moved and i not in to_ours.moved and node is not behind:
            node.remove()
            behind.insert(node)
        behind = node


def _join(start: _Node, base: Cut, ours: Cut, theirs: Cut, top: bool) -> TextMerge:
    opened = _merge_leaf(base.open, ours.open, theirs.open, ours.kind)
    parts, conflicts = [opened.text], opened.conflicts
    at = len(opened.text)
    node, index = start, 0
    while True:
        last, node = node, node.after
        gap = _gap(last, node, start, base, ours, theirs)
        parts += (gap, node.text)
        at += len(gap)
        for conflict in node.conflicts:
            conflicts.append(replace(conflict, at=conflict.at + at, index=index if top else 0))
        at += len(node.text)
        index += 1
        if node is start:
            break
    closed = _merge_leaf(base.close, ours.close, theirs.close, ours.kind)
    conflicts += [replace(conflict, at=conflict.at + at) for conflict in closed.conflicts]
    return TextMerge("".join(parts) + closed.text, conflicts)


def _gap(last: _Node, node: _Node, start: _Node, base: Cut, ours: Cut, theirs: Cut) -> str:
    """Return the text between two pieces, taken from a version in which they are adjacent."""
    at_end = node is start
    places = (
        (base, last.base, len(base.pieces) if at_end else node.base),
        (ours, last.ours, len(ours.pieces) if at_end else node.ours),
        (theirs, last.theirs, len(theirs.pieces) if at_end else node.theirs),
    )
    found = [cut.gaps[b] if a is not None and b == a + 1 else None for cut, a, b in places]
    if None not in found:
        settled = pick(*found)
        return (found[1] if settled is None else settled) or ""
    for gap in (found[1], found[2]):
        if gap is not None:
            return gap
    if at_end:
        return pick(base.gaps[-1], ours.gaps[-1], theirs.gaps[-1]) or ours.gaps[-1]
    if last is start:
        return ours.gaps[0]
    needed = ours.between.count("\n")
    own = [cut.gaps[b] for cut, _, b in places if b]
    return next((gap for gap in own if gap.count("\n") >= needed and not gap.strip()), ours.between)


def _merge_piece(*places: tuple[Cut, int], depth: int) -> TextMerge:
    """Merge one piece that both sides edited. ``places``: the split text and the piece's index, for base, ours, and
    theirs."""
    base, ours, theirs = (cut.pieces[at] for cut, at in places)
    settled = pick(base, ours, theirs)
    if settled is not None:
        return TextMerge(settled, [])
    if places[0][0].kind == "rows":
        row = _merge_row(base, ours, theirs)
        if row is not None:
            return TextMerge(row, [])
    if depth < MAX_DEPTH:
        cuts = [inner(cut.pieces[at], cut.places[at] if cut.places else None) for cut, at in places]
        if cuts[0] and cuts[1] and cuts[2] and cuts[0].kind == cuts[1].kind == cuts[2].kind:
            if cuts[0].kind != "items" or any(len(cut.pieces) > 1 for cut in cuts if cut):
                return _merge_cuts(cuts[0], cuts[1], cuts[2], depth + 1)
        merged = _merge_wrapped(base, ours, theirs, depth)
        if merged is not None:
            return merged
    lines = _merge_lines(base, ours, theirs)
    if lines is not None and kind_of(lines) == kind_of(ours):
        return TextMerge(lines, [])
    return TextMerge(ours, [_leaf(base, ours, theirs)])


def _merge_wrapped(base: str, ours: str, theirs: str, depth: int) -> TextMerge | None:
    """Merge a quote or one list item block by block. Return None if its blocks are unknown, or if all of its content is
    in conflict. Conflicts include the prefixes of their lines, so either version can be inserted as is."""
    found = [unwrap(text) for text in (base, ours, theirs)]
    if not (found[0] and found[1] and found[2]):
        return None
    (old, was), (mine, my_text), (yours, your_text) = found[0], found[1], found[2]
    if not old.kind == mine.kind == yours.kind:
        return None
    inside = _merge_cuts(split(was), split(my_text), split(your_text), depth + 1)
    if any(one.at == 0 and inside.text in (one.ours, one.theirs) for one in inside.conflicts):
        return None
    wrapping = pick(old, mine, yours) or mine
    text = wrapping.wrap(inside.text)
    starts, wrapped = ([0, *(end.end() for end in re.finditer("\n", one))] for one in (inside.text, text))
    conflicts = []
    for one in inside.conflicts:
        line = bisect_right(starts, one.at) - 1
        lead = wrapping.rest if line else wrapping.first
        at = wrapped[line]
        # If a conflict ends without content, the content after it gets the marker of its item.
        if one.at > starts[line] or (not line and None in (one.ours, one.theirs)):
            at, lead = at + len(lead) + one.at - starts[line], ""
        sides = [side and wrapping.wrap(side, lead) for side in (one.base, one.ours, one.theirs)]
        conflicts.append(replace(one, at=at, base=sides[0], ours=sides[1], theirs=sides[2]))
    return TextMerge(text, conflicts)


def _merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """Merge a code block, a paragraph of several lines, or a similar block line by line. Return None if both
    sides changed adjacent lines, or if there are too many lines to compare."""
    olds, mine, yours = (text.split("\n") for text in (base, ours, theirs))
    if len(olds) < 2 or max(map(len, (olds, mine, yours))) > MAX_LINES:
        return None
    to_mine, to_yours = dict(align(olds, mine)), dict(align(olds, yours))
    merged: list[str] = []
    i = j = k = 0
    for at in [*(at for at in range(len(olds)) if at in to_mine and at in to_yours), len(olds)]:
        ends = (at, to_mine.get(at, len(mine)), to_yours.get(at, len(yours)))
        settled = pick(olds[i : ends[0]], mine[j : ends[1]], yours[k : ends[2]])
        if settled is None:
            return None
        merged += settled
        if at < len(olds):
            merged.append(olds[at])
        i, j, k = (end + 1 for end in ends)
    return "\n".join(merged)


def _merge_leaf(base: str, ours: str, theirs: str, kind: str) -> TextMerge:
    """Merge the text that encloses nested pieces: a tag with its attributes, or a table header."""
    settled = pick(base, ours, theirs)
    if settled is None and kind == "rows":
        settled = _merge_table_head(base, ours, theirs)
    if settled is not None:
        return TextMerge(settled, [])
    return TextMerge(ours or theirs, [_leaf(base, ours, theirs)])


def _merge_table_head(base: str, ours: str, theirs: str) -> str | None:
    heads = [text.split("\n", 1) for text in (base, ours, theirs)]
    names = _merge_row(heads[0][0], heads[1][0], heads[2][0])
    lines = _merge_row(*(re.sub("-+", "---", head[1].rstrip("\r\n")) for head in heads))
    if names is None or lines is None:
        return None
    end = ours[len(ours.rstrip("\r\n")) :]
    return f"{names.rstrip()}{end}{lines}{end}"


def _merge_row(base: str, ours: str, theirs: str) -> str | None:
    """Merge a row of a pipe table cell by cell. Return None if a side changed the number of cells, or if both sides
    changed the same cell."""
    rows = [cells(text) for text in (base, ours, theirs)]
    if not len(rows[0]) == len(rows[1]) == len(rows[2]):
        return None
    merged = [pick(*three) for three in zip(*rows, strict=True)]
    if None in merged:
        return None
    if merged == rows[1]:
        return ours
    if merged == rows[2]:
        return theirs
    return "| " + " | ".join(cell or "" for cell in merged) + " |"


# --- front matter -------------------------------------------------------------------------------------

_FIELD_KEYS = FRONT_KEYS | {"title"}
"""Front-matter keys that are fields of the page."""
_KEY = re.compile(r"([^\s#:\-][^:\r\n]*?)[ \t]*:(?=\s|$)")


def _entries(front: str) -> dict[str, str]:
    """Return front matter by top-level key. Comments belong to the key that they follow."""
    found: dict[str, str] = {}
    key = ""
    for line in front.splitlines(keepends=True)[1:-1]:
        if head := _KEY.match(line):
            key = head[1]
        found[key] = found.get(key, "") + line
    return found


def _merge_front(base: str, ours: str, theirs: str, fields: bool) -> TextMerge:
    settled = pick(base, ours, theirs)
    if settled is not None:
        return TextMerge(settled, [])
    olds, mine, yours = _entries(base), _entries(ours), _entries(theirs)
    frame = ours or theirs
    parts = [frame[: len(frame) - len("".join(frame.splitlines(keepends=True)[1:]))]]
    at = len(parts[0])
    conflicts: list[TextConflict] = []
    for key in _order(mine, yours):
        three = olds.get(key, ""), mine.get(key, ""), yours.get(key, "")
        text = pick(*three)
        if text is None:
            text = three[1]
            if not fields or key not in _FIELD_KEYS:
                conflicts.append(_leaf(three[0], three[1], three[2], at=at, key=key))
                text = three[1] or three[2]
        parts.append(text)
        at += len(text)
    parts.append(frame.splitlines(keepends=True)[-1])
    return TextMerge("".join(parts), conflicts)


def _order(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


# --- resolving ----------------------------------------------------------------------------------------


class Resolved(Struct):
    """Result of resolving a conflict. ``others``: the remaining conflicts at their new offsets. ``applied``: False if
    the text was edited and no longer contains the conflict's version; in that case, the text is unchanged."""

    text: str
    others: list[TextConflict]
    applied: bool


def resolve_text(
    text: str, conflict: TextConflict, choice: str | None, others: Iterable[TextConflict] = ()
) -> Resolved:
    """Replace the kept version with ``choice``: a version of the conflict, or any text. None removes the text."""
    kept = (conflict.ours if conflict.kept == "ours" else conflict.theirs) or ""
    at = _find(text, kept, conflict.at)
    if at is None:
        return Resolved(text, list(others), False)
    end = at + len(kept)
    start = at
    if not choice:
        # Remove the piece together with the gap after it, or, at the end, the gap before it.
        after = len(text) - len(text[end:].lstrip("\r\n"))
        if after < len(text):
            end = after
        else:
            start = len(text[:at].rstrip("\r\n"))
    put = choice or ""
    shift = len(put) - (end - start)
    moved = [replace(other, at=other.at + shift) if other.at > at else other for other in others]
    return Resolved(text[:start] + put + text[end:], moved, True)


def _find(text: str, kept: str, at: int) -> int | None:
    """Return the offset of ``kept`` nearest to ``at``."""
    if text.startswith(kept, at):
        return at
    below, above = text.rfind(kept, 0, at + len(kept)), text.find(kept, at)
    found = [place for place in (below, above) if place >= 0]
    return min(found, key=lambda place: (abs(place - at), place)) if found else None
