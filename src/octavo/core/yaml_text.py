"""Read and write YAML configuration files, including files from untrusted sources.

The result is plain data: maps with string keys, lists, strings, numbers, booleans, and null. Scalars follow YAML 1.2
(``yes``, ``12:30``, and dates are strings), and ``<<`` merges maps. Depth, size, and count are limited, and values
repeated through aliases count each time.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml
from msgspec import Struct

from octavo.core.json_types import JsonObject

MAX_CHARACTERS = 512 * 1024
MAX_DEPTH = 32
MAX_NODES = 50_000

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}\Z")
_FLOAT = re.compile(r"[-+]?([0-9]{1,300}\.[0-9]{0,300}|\.[0-9]{1,300})([eE][-+][0-9]{1,4})?\Z")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class YamlError(ValueError):
    """Error in YAML text. ``line``: the line within the text, from 1; 0 if the error doesn't belong to a line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class YamlText(Struct):
    """Parsed text. ``lines``: the line of each value, from 1, by its path (keys and indexes)."""

    value: Any
    lines: dict[tuple[str | int, ...], int]

    def line(self, *way: str | int) -> int:
        return self.lines.get(way, 0)


def read_yaml(text: str) -> YamlText:
    """Read one document. Empty text results in ``None``. Raises ``YamlError`` if the text isn't valid."""
    node = compose_yaml(text.removeprefix("\ufeff"))
    lines: dict[tuple[str | int, ...], int] = {}
    return YamlText(None if node is None else _Reading(lines).plain(node, (), 0), lines)


def compose_yaml(text: str) -> yaml.Node | None:
    """Return the nodes of one document. Each node's marks give its position in the text. Raises ``YamlError`` if
    the text isn't valid."""
    if len(text) > MAX_CHARACTERS:
        raise YamlError(f"the text must be at most {MAX_CHARACTERS:,} characters long")
    try:
        _check_events(text)
        return yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise YamlError(f"the YAML isn't valid: {what}", mark.line + 1 if mark else 0) from None
    except UnicodeEncodeError:
        raise YamlError("the text contains invalid characters") from None


def write_yaml(value: object) -> str:
    """Write a value in block style, with keys in the given order. ``read_yaml`` returns the same value."""
    return _dumped(value, flow=False)


def write_flow(value: object) -> str:
    """Write a value on one line, for use within a map or list."""
    return _dumped([value], flow=True).strip()[1:-1]


def _dumped(value: object, *, flow: bool) -> str:
    found = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9, default_flow_style=flow
    )
    return str(found)


class _Dumper(yaml.SafeDumper):
    """Dumper that never writes anchors or aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _check_events(text: str) -> None:
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        if depth > MAX_DEPTH:
            raise YamlError(f"the YAML is nested more than {MAX_DEPTH} levels deep", line)
        if count > MAX_NODES:
            raise YamlError(f"the YAML contains more than {MAX_NODES:,} values", line)


class _Reading:
    """Conversion of nodes to plain data, with limits that also count values repeated through aliases."""

    def __init__(self, lines: dict[tuple[str | int, ...], int]) -> None:
        self._lines = lines
        self._values = 0

    def plain(self, node: yaml.Node, way: tuple[str | int, ...], depth: int) -> Any:
        line = node.start_mark.line + 1
        self._values += 1
        if self._values > MAX_NODES:
            raise YamlError(
                f"the YAML contains more than {MAX_NODES:,} values, including values repeated by aliases",
                line,
            )
        if depth > MAX_DEPTH:
            raise YamlError(
                f"the YAML is nested more than {MAX_DEPTH} levels deep, including values repeated by aliases",
                line,
            )
        self._lines[way] = line
        if isinstance(node, yaml.MappingNode):
            return self._map(node, way, depth + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, (*way, index), depth + 1) for index, item in enumerate(node.value)]
        return _scalar(
            str(node.value), plain=not getattr(node, "style", None) and not node.tag.endswith(":str")
        )

    def _map(self, node: yaml.MappingNode, way: tuple[str | int, ...], depth: int) -> JsonObject:
        merged: JsonObject = {}
        found: JsonObject = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError("a key must be a string", key_node.start_mark.line + 1)
            if (maps := _merged_maps(key_node, value_node)) is not None:
                # The first map that contains a key provides its value.
                for one in reversed(maps):
                    merged |= self.plain(one, way, depth)
                continue
            key = str(key_node.value)
            found[key] = self.plain(value_node, (*way, key), depth)
            self._lines[(*way, key)] = key_node.start_mark.line + 1
        return merged | found if merged else found


def _merged_maps(key: yaml.ScalarNode, value: yaml.Node) -> list[yaml.Node] | None:
    """Return the maps that ``<<`` merges into its map; None for any other key."""
    if not key.tag.endswith(":merge"):
        return None
    maps = value.value if isinstance(value, yaml.SequenceNode) else [value]
    return maps if all(isinstance(one, yaml.MappingNode) for one in maps) else None


def _scalar(text: str, *, plain: bool) -> object:
    if not plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _HEXADECIMAL.match(text):
        return int(text, 16)
    if _FLOAT.match(text) and math.isfinite(float(text)):
        return float(text)
    return text
