"""What changed from version to version, as a page for those who call the API. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby

from msgspec import Struct

from ..core.document import Block, Leaf, Mark, Text
from ..kit.locales import date_words
from .comparing import Change
from .words import Words, catalogue

_MOST = 300
"""Changes of one version that are written out; what is beyond is only counted."""


class Release(Struct, frozen=True):
    """A version and what it changes. ``moment`` in milliseconds; ``title`` as the description names the version."""

    title: str
    moment: int
    changes: list[Change]


def draw_changelog(releases: Iterable[Release], locale: str) -> list[Block]:
    """The newest first; those that change nothing for callers are left out. ``locale``: the language of its words; what
    a change itself is called is in English, as the API calls it."""
    words = catalogue()[locale]
    blocks: list[Block] = []
    for release in releases:
        if release.changes:
            blocks += _draw(release, words, locale)
    return blocks or [_paragraph(_text(words.unchanged))]


def _draw(release: Release, words: Words, locale: str) -> list[Block]:
    day = date_words(datetime.fromtimestamp(release.moment / 1000, UTC).date(), locale)
    blocks = [Block("heading-1", {}, [_text(f"{release.title}, {day}" if release.title else day)])]
    breaking = sum(change.breaking for change in release.changes)
    if breaking:
        counted = words.breaks.replace("{name}", str(breaking))
        blocks.append(Block("hint", {"style": "warning"}, [_paragraph(_text(counted))]))
    shown = release.changes[:_MOST]
    items = []
    for (is_breaking, operation), changes in groupby(shown, lambda c: (c.breaking, c.operation)):
        lines = [_item(_paragraph(*_line(change))) for change in changes]
        head = [_text(operation, "code") if operation else _text(words.api)]
        head += [_text(" "), _text(words.breaking, "bold")] if is_breaking else []
        items.append(_item(_paragraph(*head), Block("list-unordered", {}, [*lines])))
    if len(release.changes) > _MOST:
        left = words.and_more.replace("{name}", str(len(release.changes) - _MOST))
        items.append(_item(_paragraph(_text(left))))
    return [*blocks, Block("list-unordered", {}, [*items])]


def _line(change: Change) -> list[Text]:
    return [_text(f"{change.place}: " if change.place else ""), _text(change.message)]


def _item(*blocks: Block) -> Block:
    return Block("list-item", {}, [*blocks])


def _paragraph(*nodes: Text) -> Block:
    return Block("paragraph", {}, [*nodes])


def _text(words: str, *marks: str) -> Text:
    return Text([Leaf(words, [Mark(mark) for mark in marks])])
