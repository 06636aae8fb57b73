"""Edit a ``docs.yaml`` in place, so that comments, key order, quotes, and unknown keys are kept.

Entries are identified by their keys. An unchanged entry keeps its bytes, even if it is moved; in a changed entry, only
the changed fields are edited. New text is formatted like the output of ``write_docs``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import yaml
from msgspec.structs import replace

from .docs_config import DocsConfig, DocsEntry, describe_entry, read_docs, walk_docs, write_docs
from .yaml_text import YamlError, compose_yaml, write_flow, write_yaml

_ORDER = (
    "type",
    "key",
    "title",
    "path",
    "description",
    "icon",
    "condition",
    "default",
    "draft",
    "localizedTitle",
    "localizedDescription",
    "content",
    "directory",
    "language",
    "children",
)
_PASSES = 3
"""Maximum number of editing passes. If a missing value depends on another change, as a title depends on a folder, the
next pass adds it."""
_Name = tuple[bool, str]


class _Unsure(Exception):
    """Raised internally if the text has a form that can't be edited in place."""


class _Edit(NamedTuple):
    """Replacement for part of the text."""

    start: int
    end: int
    text: str


class _Chunk(NamedTuple):
    """Lines of a list entry with the comments above it. ``gap``: the offset at which the next entry begins. ``column``:
    the column of the entry's dash."""

    start: int
    end: int
    gap: int
    column: int


def edit_docs(text: str, config: DocsConfig, *, max_depth: int, languages: Sequence[str]) -> str:
    """Return the text, edited where it differs from ``config``. If the text doesn't set a space's language, no language
    is added, because the language is detected from the space's content. Text that can't be edited in place is
    rewritten."""
    try:
        before = read_docs(text, max_depth=max_depth, languages=languages)
        config = _without_found_languages(config, before)
        for _ in range(_PASSES):
            text = _Editor(text, before).edit(config)
            before = read_docs(text, max_depth=max_depth, languages=languages)
            if write_docs(before) == write_docs(config):
                return text
    except (YamlError, _Unsure):
        pass
    return write_docs(config)


def _name(entry: DocsEntry) -> _Name:
    return entry.type == "space", entry.key


def _without_found_languages(config: DocsConfig, before: DocsConfig) -> DocsConfig:
    unsaid = {entry.key for entry in before.spaces if entry.language is None}

    def plain(entry: DocsEntry) -> DocsEntry:
        language = None if entry.type == "space" and entry.key in unsaid else entry.language
        return replace(entry, language=language, children=[plain(child) for child in entry.children])

    return replace(config, structure=[plain(entry) for entry in config.structure])


class _Editor:
    def __init__(self, text: str, before: DocsConfig) -> None:
        self._mark = text[: len(text) - len(text.removeprefix("\ufeff"))]
        self._text = text.removeprefix("\ufeff")
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._before = before
        self._known: dict[_Name, DocsEntry] = {}
        self._at: dict[tuple[str | int, ...], list[DocsEntry]] = {}
        """Entries that were read from each list item, by its path: one entry, or a section together with its space."""
        for entry in walk_docs(before.structure):
            self._known[_name(entry)] = entry
            self._at.setdefault(entry.way, []).append(entry)

    def edit(self, config: DocsConfig) -> str:
        self._root = compose_yaml(self._text)
        site = self._find(("site",))
        if not isinstance(site, yaml.MappingNode):
            raise _Unsure
        edits: list[_Edit] = []
        if config.title != self._before.title:
            edits += self._fields(site, {"title": self._before.title}, {"title": config.title})
        edits += self._list(site, ("site", "structure"), config.structure)
        return self._mark + self._apply(0, len(self._text), edits)

    # --- the text -------------------------------------------------------------------------------------

    def _apply(self, start: int, end: int, edits: list[_Edit]) -> str:
        found, at = [], start
        for edit in sorted(edits, key=lambda edit: edit.start):
            if edit.start < at:
                raise _Unsure
            found += [self._text[at : edit.start], edit.text]
            at = edit.end
        return "".join([*found, self._text[at:end]])

    def _line_start(self, at: int) -> int:
        return self._text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        """Return the offset just before the line break."""
        end = self._text.find("\n", at)
        end = len(self._text) if end < 0 else end
        return end - 1 if end > at and self._text[end - 1] == "\r" else end

    def _next_line(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end + 1

    def _end(self, node: yaml.Node) -> int:
        """Return the offset just after the last character of a value."""
        if isinstance(node, yaml.ScalarNode):
            end = int(node.end_mark.index)
            if node.style in ("|", ">"):
                end = node.start_mark.index + len(self._text[node.start_mark.index : end].rstrip())
            return end
        assert isinstance(node, yaml.CollectionNode)
        if node.flow_style or not node.value:
            return int(node.end_mark.index)
        last = node.value[-1]
        return self._end(last[1] if isinstance(node, yaml.MappingNode) else last)

    # --- lists ----------------------------------------------------------------------------------------

    def _find(self, way: tuple[str | int, ...]) -> yaml.Node | None:
        node = self._root
        for step in way:
            if isinstance(node, yaml.MappingNode):
                pair = _pair(node, str(step))
                node = pair[1] if pair is not None else None
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
            else:
                return None
        return node

    def _list(self, above: yaml.MappingNode, way: tuple[str | int, ...], new: list[DocsEntry]) -> list[_Edit]:
        """Return the edits for the list of entries under ``above``. The list may not exist yet."""
        node = self._find(way)
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            written = [describe_entry(entry) for entry in new]
            return self._fields(above, {}, {str(way[-1]): written}) if new else []
        there = [self._at.get((*way, at), []) for at in range(len(node.value))]
        if [_name(entries[0]) for entries in there if entries] == [_name(entry) for entry in new]:
            return [
                edit
                for entries, entry in zip([one for one in there if one], new, strict=True)
                for edit in self._item(entries[0], entry)
            ]
        if node.flow_style:
            texts = [self._in_flow(entry) for entry in new]
            return [_Edit(node.start_mark.index, node.end_mark.index, f"[{', '.join(texts)}]")]
        first, last = (self._chunk((*way, at)) for at in (0, len(node.value) - 1))
        gap = self._text[first.end : first.gap] if len(node.value) > 1 else ""
        pieces: list[str] = []
        for number, entry in enumerate(new):
            text, behind = self._piece(entry, first.column)
            pieces.append(text if text.endswith("\n") else text + self._newline)
            if number < len(new) - 1:
                pieces.append(gap if behind is None else behind)
        if not new:
            pieces = [" " * (first.column + 2), "[]", self._newline]
        return [_Edit(first.start, last.end, "".join(pieces))]

    def _piece(self, entry: DocsEntry, column: int) -> tuple[str, str | None]:
        """Return the lines of an entry and the blank lines after it; None if the entry must be rewritten."""
        old = self._known.get(_name(entry))
        if old is None or not self._is_kept(old, entry):
            return self._render_entry(entry, column), None
        parent = self._find(old.way[:-1])
        assert isinstance(parent, yaml.SequenceNode)
        if parent.flow_style:
            return f"{' ' * column}- {self._in_flow(entry)}{self._newline}", None
        chunk = self._chunk(old.way)
        text = self._apply(chunk.start, chunk.end, self._item(old, entry))
        is_last = old.way[-1] == len(parent.value) - 1
        return _shifted(text, column - chunk.column), None if is_last else self._text[chunk.end : chunk.gap]

    def _in_flow(self, entry: DocsEntry) -> str:
        old = self._known.get(_name(entry))
        node = self._find(old.way) if old is not None and self._is_kept(old, entry) else None
        if old is None or not isinstance(node, yaml.MappingNode) or not node.flow_style:
            return write_flow(describe_entry(entry))
        return self._apply(node.start_mark.index, node.end_mark.index, self._item(old, entry))

    def _render_entry(self, entry: DocsEntry, column: int) -> str:
        lines = write_yaml([describe_entry(entry)]).splitlines()
        return "".join(f"{' ' * column}{line}{self._newline}" for line in lines)

    def _chunk(self, way: tuple[str | int, ...]) -> _Chunk:
        """Return the lines of a list item. Raises _Unsure if the item doesn't start right after its dash."""
        parent, at = self._find(way[:-1]), way[-1]
        assert isinstance(parent, yaml.SequenceNode) and isinstance(at, int)
        start, column = self._lead(parent.value[at])
        end = self._next_line(self._end(parent.value[at]))
        if at + 1 < len(parent.value):
            gap = self._lead(parent.value[at + 1])[0]
            end = max(end, start + len(self._text[start:gap].rstrip()))
            return _Chunk(start, min(self._next_line(end - 1), gap), gap, column)
        while (line := self._text[end : self._next_line(end)]).strip().startswith("#") and _depth(
            line
        ) > column:
            end = self._next_line(end)
        return _Chunk(start, end, end, column)

    def _lead(self, node: yaml.Node) -> tuple[int, int]:
        """Return the offset at which the lines of an item start, including the comments right above it, and
        the column of its dash."""
        start = self._line_start(node.start_mark.index)
        before = self._text[start : node.start_mark.index]
        if before.strip() != "-":
            raise _Unsure
        column = before.index("-")
        while start > 0:
            above = self._line_start(start - 1)
            line = self._text[above:start]
            if not line.strip().startswith("#") or _depth(line) > column:
                break
            start = above
        return start, column

    # --- an entry -------------------------------------------------------------------------------------

    def _is_kept(self, old: DocsEntry, new: DocsEntry) -> bool:
        """Return whether to keep and edit an entry's item instead of rewriting it. An item that is both a section and a
        space is kept only if it needs no changes."""
        entries = self._at[old.way]
        return len(entries) == 1 or entries[0] is old and describe_entry(old) == describe_entry(new)

    def _item(self, old: DocsEntry, new: DocsEntry) -> list[_Edit]:
        node = self._find(old.way)
        if not isinstance(node, yaml.MappingNode):
            raise _Unsure
        if not self._is_kept(old, new):
            if node.flow_style:
                return [_Edit(node.start_mark.index, node.end_mark.index, write_flow(describe_entry(new)))]
            chunk = self._chunk(old.way)
            start = self._line_start(node.start_mark.index)
            return [_Edit(start, chunk.end, self._render_entry(new, chunk.column))]
        if len(self._at[old.way]) > 1:
            return []
        was, now = describe_entry(old), describe_entry(new)
        was.pop("children", None)
        has_children = now.pop("children", None) is not None
        edits = self._fields(node, was, now)
        return edits + self._list(node, (*old.way, "children"), new.children) if has_children else edits

    def _fields(
        self, node: yaml.MappingNode, was: Mapping[str, object], now: Mapping[str, object]
    ) -> list[_Edit]:
        """Return the edits for a map with changed, added, or removed keys."""
        edits: list[_Edit] = []
        for name in sorted(
            {*was, *now}, key=lambda name: (_ORDER.index(name) if name in _ORDER else -1, name)
        ):
            old, new = was.get(name), now.get(name)
            if old == new and name in was:
                continue
            pair = _pair(node, name)
            if pair is None:
                edits += [self._inserted(node, name, new)] if new is not None else []
            elif name not in now or new is None and name != "directory":
                edits.append(self._removed(node, pair))
            elif isinstance(pair[1], yaml.MappingNode) and isinstance(old, dict) and isinstance(new, dict):
                edits += self._fields(pair[1], old, new)
            else:
                edits.append(self._replaced(pair[1], new))
        return edits

    def _replaced(self, node: yaml.Node, value: object) -> _Edit:
        start, end = node.start_mark.index, self._end(node)
        if isinstance(node, yaml.CollectionNode) and not node.flow_style:
            raise _Unsure
        return _Edit(start, end, f"{' ' if start == end else ''}{write_flow(value)}")

    def _inserted(self, node: yaml.MappingNode, name: str, value: object) -> _Edit:
        """Return the edit that adds a key after the keys that would precede it in rewritten text."""
        before = [pair for pair in node.value if _place(str(pair[0].value)) < _place(name)]
        if not node.value:
            return _Edit(node.start_mark.index, node.end_mark.index, write_flow({name: value}))
        end = self._end((before or node.value[:1])[-1][1])
        if node.flow_style:
            return _Edit(end, end, f", {name}: {write_flow(value)}")
        indent = " " * node.value[0][0].start_mark.column
        at = self._line_end(end)
        if not isinstance(value, list):
            return _Edit(at, at, f"{self._newline}{indent}{name}: {write_flow(value)}")
        lines = write_yaml({name: value}).splitlines()
        return _Edit(at, at, "".join(f"{self._newline}{indent}{line}" for line in lines))

    def _removed(self, node: yaml.MappingNode, pair: tuple[yaml.Node, yaml.Node]) -> _Edit:
        at = next(at for at, one in enumerate(node.value) if one[0] is pair[0])
        following = node.value[at + 1][0].start_mark.index if at + 1 < len(node.value) else None
        start = pair[0].start_mark.index
        if node.flow_style:
            if following is not None:
                return _Edit(start, following, "")
            before = self._end(node.value[at - 1][1]) if at else start
            return _Edit(before, self._end(pair[1]), "")
        line = self._line_start(start)
        if not self._text[line:start].strip():
            return _Edit(line, self._next_line(self._end(pair[1])), "")
        if following is None:
            raise _Unsure
        return _Edit(start, following, "")


def _place(name: str) -> int:
    """Return the position of a key in a rewritten map. Unknown keys come first."""
    return _ORDER.index(name) if name in _ORDER else -1


def _pair(node: yaml.MappingNode, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    found = [pair for pair in node.value if pair[0].value == name]
    return found[-1] if found else None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shifted(text: str, columns: int) -> str:
    """Indent the lines by this many columns; a negative number dedents them, at most to the margin."""
    if columns == 0:
        return text
    lines = text.splitlines(keepends=True)
    if columns > 0:
        return "".join(f"{' ' * columns}{line}" if line.strip() else line for line in lines)
    return "".join(line[min(-columns, _depth(line)) :] for line in lines)
