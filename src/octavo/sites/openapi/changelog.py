"""Changelog page for an API's users. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from octavo.core.document.nodes import Block, Fragment, Inline, Leaf, Mark, Text
from octavo.kit.locales import date_words

from .comparing import ApiChange
from .description import Data
from .words import ReferenceWords, catalogue

_MOST = 300
"""Maximum number of changes to show per version. Additional changes are only counted."""
_LISTED = 10
"""Maximum number of new operations per version to list without expanding."""
_SHOWN = 40
"""Maximum number of operations to show per section of a version, each in an expandable row. Additional operations are
collapsed."""


class Release(Struct, frozen=True):
    """Version and its changes. ``moment``: the time of the version in milliseconds. ``title``: the version number in
    the specification. ``since``: the previous version. ``titles``: the titles of operations, by their names in changes.
    ``pages``: references to the pages of existing operations."""

    title: str
    moment: int
    changes: list[ApiChange]
    since: str = ""
    titles: dict[str, str] = {}
    pages: dict[str, Data] = {}


def draw_changelog(releases: Iterable[Release], locale: str) -> list[Block]:
    """Return the changelog, with the newest version first. Each version starts with breaking changes.
    Versions that don't affect callers are omitted. ``locale``: the language of the labels; descriptions of
    changes are in English."""
    words = catalogue()[locale]
    blocks: list[Block] = []
    for release in releases:
        if release.changes:
            blocks += _Drawing(release, words).draw(locale)
    return blocks or [_paragraph(_text(words.unchanged))]


class _Drawing:
    """Renderer of one version's changes, grouped by operation."""

    def __init__(self, release: Release, words: ReferenceWords) -> None:
        self._release = release
        self._words = words

    def draw(self, locale: str) -> list[Block]:
        release, words = self._release, self._words
        day = date_words(datetime.fromtimestamp(release.moment / 1000, UTC).date(), locale)
        blocks = [Block("heading-1", {}, [_text(f"{release.title}, {day}" if release.title else day)])]
        breaking = sum(change.breaking for change in release.changes)
        if breaking:
            blocks.append(_paragraph(_text(words.breaks.replace("{name}", str(breaking)), "bold")))
        parts = self._parts()
        for said, part in (
            (words.breaks_callers, parts["breaking"]),
            (words.new, parts["new"]),
            (words.deprecated, parts["deprecated"]),
            (words.also_changed, parts["other"]),
        ):
            if part:
                blocks += [Block("heading-2", {}, [_text(said)]), *self._operations(part)]
        if len(release.changes) > _MOST:
            blocks.append(_paragraph(_text(self._more(len(release.changes) - _MOST))))
        return blocks

    def _parts(self) -> dict[str, dict[str, list[ApiChange]]]:
        """Return the changes by operation. Each operation is in only one section, determined by its most
        severe change."""
        by_operation: dict[str, list[ApiChange]] = {}
        for change in self._release.changes[:_MOST]:
            by_operation.setdefault(change.operation, []).append(change)
        parts: dict[str, dict[str, list[ApiChange]]] = {
            "breaking": {},
            "new": {},
            "deprecated": {},
            "other": {},
        }
        for operation, changes in by_operation.items():
            if any(change.breaking for change in changes):
                part = "breaking"
            elif all(change.kind == "added" and not change.place for change in changes):
                part = "new"
            else:
                part = "deprecated" if any(change.deprecates for change in changes) else "other"
            parts[part][operation] = changes
        return parts

    def _operations(self, part: dict[str, list[ApiChange]]) -> Iterator[Block]:
        whole: list[str] = []
        changed: list[Block] = []
        for operation, changes in part.items():
            if operation in self._release.pages and all(
                change.kind == "added" and not change.place for change in changes
            ):
                # There is no earlier version to compare with, and the operation's page has all details.
                whole.append(operation)
            else:
                changed.append(self._operation(operation, changes))
        yield from changed[:_SHOWN]
        if len(changed) > _SHOWN:
            yield _expandable(_paragraph(_text(self._more(len(changed) - _SHOWN))), changed[_SHOWN:])
        if whole:
            yield self._links(whole[:_LISTED])
        if len(whole) > _LISTED:
            title = _paragraph(_text(self._more(len(whole) - _LISTED)))
            yield _expandable(title, [self._links(whole[_LISTED:])])

    def _operation(self, operation: str, changes: list[ApiChange]) -> Block:
        """Return an operation's changes as a summary line, which expands to show the old and new state of
        each part."""
        title = self._release.titles.get(operation, "")
        first = changes[0]
        said = f"{first.place}: {first.message}" if first.place else first.message
        if len(changes) > 1:
            said = f"{said.removesuffix('.')}, {self._more(len(changes) - 1)}"
        line = [_text(title or operation or self._words.api, "bold"), _text(f" {said} ")]
        if operation:
            line.append(_text(operation, "code"))
        compared = [change for change in changes if change.before or change.after]
        inside: list[Block] = [self._table(compared)] if compared else []
        inside += _list(
            [_text(f"{c.place}: " if c.place else ""), _text(c.message)] for c in changes if c not in compared
        )
        needed = [c for c in changes if c.breaking and c.after.endswith("required")]
        for change in needed[:_LISTED]:
            place = change.place.rpartition(", ")[2]
            inside.append(_paragraph(_text("→ Send "), _text(place, "code"), _text(" with every request.")))
        if operation in self._release.pages:
            inside.append(_paragraph(self._link(operation)))
        return _expandable(_paragraph(*line), inside)

    def _table(self, changes: Sequence[ApiChange]) -> Block:
        """Return a table with a row for each changed part and its state in both versions."""
        columns = ["place", "before", "after"]
        titles = ["", self._release.since, self._release.title]
        if titles[1] == titles[2]:
            titles[1:] = [self._words.before, self._words.after]
        definition = {
            name: {"id": name, "title": title, "type": "text"}
            for name, title in zip(columns, titles, strict=True)
        }
        records: Data = {}
        fragments: list[Fragment] = []
        for number, change in enumerate(changes):
            breaking = ("bold",) if change.breaking else ()
            cells = {
                "place": _text(change.place, "code"),
                "before": _text(change.before or "–", *(("strikethrough",) if change.before else ())),
                "after": _text(change.after or "–", *breaking),
            }
            values = {name: f"{number} {name}" for name in columns}
            records[str(number)] = {"orderIndex": str(number).zfill(4), "values": values}
            fragments += [Fragment(values[name], [_paragraph(cells[name])]) for name in columns]
        view = {"type": "grid", "columns": columns}
        return Block(
            "table", {"view": view, "records": records, "definition": definition}, fragments=fragments
        )

    def _links(self, operations: list[str]) -> Block:
        (made,) = _list([self._link(each), _text(" "), _text(each, "code")] for each in operations)
        return made

    def _link(self, operation: str) -> Inline:
        words = self._release.titles.get(operation) or operation
        return Inline("link", {"ref": self._release.pages[operation]}, [_text(words)])

    def _more(self, count: int) -> str:
        return self._words.and_more.replace("{name}", str(count))


def _list(items: Iterable[list[Text | Inline]]) -> list[Block]:
    nodes = [Block("list-item", {}, [_paragraph(*each)]) for each in items]
    return [Block("list-unordered", {}, [*nodes])] if nodes else []


def _expandable(title: Block, blocks: list[Block]) -> Block:
    parts = [Fragment("expandable-title", [title]), Fragment("expandable-body", [*blocks])]
    return Block("expandable", fragments=parts)


def _paragraph(*nodes: Text | Inline) -> Block:
    return Block("paragraph", {}, [*nodes])


def _text(words: str, *marks: str) -> Text:
    return Text([Leaf(words, [Mark(mark) for mark in marks])])
