"""Apply the steps that editors use to change a page, and rebase late steps on earlier steps.

Steps are ProseMirror steps in JSON. Positions count UTF-16 code units, as in browsers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from prosemirror.model import Node, Schema
from prosemirror.transform import (
    AddMarkStep,
    Mapping,
    RemoveMarkStep,
    ReplaceStep,
    Step,
    StepMap,
    StepResult,
)
from prosemirror.transform.map import Mappable
from prosemirror.transform.step import step_json_id
from prosemirror.utils import JSONDict

from octavo.core.json_types import JsonObject

from .schema import SCHEMA

StepJson = JsonObject
Ranges = tuple[int, ...]
"""Changed ranges of a step, each as three numbers: start, old size, and new size."""

MAX_KEY = 100
MAX_DEPTH = 100
"""Maximum nesting depth of content that a step can insert. Documents are never nested more deeply."""
_LEAVES = frozenset(name for name, type in SCHEMA.nodes.items() if type.is_leaf and name != "text")


class StepError(Exception):
    """Raised if a step can't be applied. ``index``: its index among the given steps."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


class _MarkSetStep(Step):
    """Step that combines several mark changes. The library doesn't have such a step yet."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps

    def apply(self, doc: Node) -> StepResult:
        result = StepResult.ok(doc)
        for step in self.steps:
            if result.doc is None:
                break
            result = step.apply(result.doc)
        return result

    def invert(self, doc: Node) -> Step:
        return _MarkSetStep([step.invert(doc) for step in reversed(self.steps)])

    def map(self, mapping: Mappable) -> Step | None:
        mapped = [step for part in self.steps if (step := part.map(mapping)) is not None]
        return _MarkSetStep(mapped) if mapped else None

    def to_json(self) -> StepJson:
        return {"stepType": "markSet", "steps": [step.to_json() for step in self.steps]}

    @staticmethod
    def from_json(schema: Schema[str, str], json_data: JSONDict | str) -> Step:
        steps = [Step.from_json(schema, part) for part in cast(StepJson, json_data)["steps"]]
        if not all(isinstance(step, AddMarkStep | RemoveMarkStep) for step in steps):
            raise ValueError("expected only steps that add or remove marks")
        return _MarkSetStep(steps)


step_json_id("markSet", _MarkSetStep)


class Applied(NamedTuple):
    """Result of applying steps: the document, and the changed ranges of each step."""

    doc: Node
    ranges: list[Ranges]


def apply_steps(doc: Node, steps: Sequence[StepJson]) -> Applied:
    """Apply steps to a document. Raises StepError for the first step that is invalid or can't be applied."""
    ranges: list[Ranges] = []
    for index, json in enumerate(steps):
        try:
            _require_valid(json)
            step = Step.from_json(SCHEMA, json)
            if isinstance(step, ReplaceStep) and not step.slice.open_start and not step.slice.open_end:
                for node in step.slice.content.content:
                    node.check()
            changed = _replace_inlines(doc, step) if isinstance(step, ReplaceStep) else None
            result = StepResult.ok(changed) if changed is not None else step.apply(doc)
        except Exception as error:  # The library may raise any exception for JSON that is not a step.
            raise StepError(index, f"{type(error).__name__}: {error}"[:500]) from None
        if result.doc is None:
            raise StepError(index, result.failed or "the step doesn't fit the document")
        doc = result.doc
        ranges.append(tuple(step.get_map().ranges))
    return Applied(doc, ranges)


def _replace_inlines(doc: Node, step: ReplaceStep) -> Node | None:
    """Return the document after a step inside one block of text, or None for any other step.

    The library would check the types of all surrounding blocks, although these don't change. On a page of 1,500 blocks,
    the check takes ten times as long as the step.
    """
    if step.structure or step.slice.open_start or step.slice.open_end or step.from_ > step.to:
        return None
    size, position, node = step.to - step.from_, step.from_, doc
    above: list[tuple[Node, int]] = []
    while not node.type.inline_content:
        found = _child_around(node, position, position + size)
        if found is None:
            return None
        index, start = found
        above.append((node, index))
        node, position = node.child(index), position - start - 1
    if not above:
        return None
    node = node.replace(position, position + size, step.slice)
    for parent, index in reversed(above):
        node = parent.copy(parent.content.replace_child(index, node))
    return node


def _child_around(parent: Node, start: int, end: int) -> tuple[int, int] | None:
    """Return the index of the child whose content contains a range, and its start; None if there is none."""
    at = 0
    for index, child in enumerate(parent.content.content):
        inner = child.content.size
        following = at + (inner + 2 if inner else child.node_size)
        if following > start:
            return (index, at) if at < start and end < following else None
        at = following
    return None


_OPTIONAL_TEXT = (str, type(None))
_ATTRIBUTES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("key", "fragment", "type", "id", "order", "col"), _OPTIONAL_TEXT),
    **dict.fromkeys(("data", "json", "column", "values", "hidden"), (dict,)),
    **dict.fromkeys(("rest", "fragments"), (list,)),
    **dict.fromkeys(("blank", "absent"), (bool,)),
    **dict.fromkeys(("text", "background"), (str,)),
    "meta": (dict, type(None)),
    "uid": (int, float),
    "at": (int, type(None)),
}
"""Types of attributes. ``value`` can have any type. The values of attributes are checked when the page is saved."""


def _require_valid(json: StepJson) -> None:
    """Check attributes and depth, because the library doesn't. Raises ValueError if they are invalid."""
    if json.get("stepType") == "attr":
        _require_attribute(json["attr"], json["value"])
    level: list[Any] = [json]
    for _ in range(4 * MAX_DEPTH):
        for value in level:
            attrs = value.get("attrs") if isinstance(value, dict) and "type" in value else None
            if isinstance(attrs, dict):
                for name, attribute in attrs.items():
                    _require_attribute(name, attribute)
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise ValueError("the document is nested too deeply")


def _require_attribute(name: str, value: object) -> None:
    types = _ATTRIBUTES.get(name)
    if types is not None and not isinstance(value, types):
        raise ValueError(f"the attribute `{name}` has a value of the wrong type")
    if name == "key" and isinstance(value, str) and not 0 < len(value) <= MAX_KEY:
        raise ValueError(f"a key must have 1 to {MAX_KEY} characters")
    if name == "json" and isinstance(value, dict) and not isinstance(value.get("key"), _OPTIONAL_TEXT):
        raise ValueError("a key must be a string")


def map_steps(steps: Sequence[StepJson], between: Iterable[Ranges]) -> list[StepJson] | None:
    """Rebase steps on other steps that their author hadn't seen, and return them. Return None if only the author can
    determine their meaning, because a position is inside deleted content, or because unseen content would be deleted or
    wrapped.

    ``between``: the changed ranges of the other steps. Raises LookupError, TypeError, or ValueError if a step
    is invalid.
    """
    own = [StepMap(list(ranges_of(step))) for step in steps]
    others = [StepMap(list(ranges)) for ranges in between if ranges]
    mapping = Mapping([map.invert() for map in reversed(own)] + others, [])
    unseen: list[tuple[int, int]] = []
    for map in others:
        unseen = _through(map, unseen)
        for n in range(0, len(map.ranges), 3):
            start, old, new = map.ranges[n : n + 3]
            moved = sum(map.ranges[m + 2] - map.ranges[m + 1] for m in range(0, n, 3))
            if new:
                unseen.append((start + moved, start + moved + new))
    found: list[StepJson] = []
    for number, step in enumerate(steps):
        left = len(own) - number
        try:
            mapped = _LateStep(mapping.slice(left), unseen).mapped(step)
        except _DoubtfulError:
            return None
        found.append(mapped)
        map = StepMap(list(ranges_of(mapped)))
        mapping.append_map(map, left - 1)
        unseen = _through(map, unseen)
    return found


def _through(map: StepMap, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    mapped = ((map.map(start, 1), map.map(end, -1)) for start, end in places)
    return [(start, end) for start, end in mapped if start < end]


def changed_places(steps: Iterable[StepJson]) -> list[tuple[int, int]]:
    """Return the ranges of a document that the preceding steps may have changed, each with its start and end. Deleted
    content has an empty range."""
    places: list[tuple[int, int]] = []
    for step in steps:
        map = StepMap(list(ranges_of(step)))
        places = [(map.map(start, -1), map.map(end, 1)) for start, end in [*places, *_places_of(step)]]
    return places


def _places_of(step: StepJson) -> list[tuple[int, int]]:
    """Return the ranges that a step changes, as positions in the document before the step."""
    if step["stepType"] == "markSet":
        return [place for part in step["steps"] for place in _places_of(part)]
    if "pos" in step:
        return [(step["pos"], step["pos"] + 1)]
    return [(step["from"], step["to"])] if "from" in step else []


class _DoubtfulError(Exception):
    pass


class _LateStep:
    """Late step that is rebased on other steps. ``unseen``: the ranges that its author hasn't seen."""

    def __init__(self, mapping: Mapping, unseen: list[tuple[int, int]]) -> None:
        self.mapping, self.unseen = mapping, unseen

    def mapped(self, step: StepJson) -> StepJson:
        kind = step["stepType"]
        if kind == "markSet":
            return {**step, "steps": [self.mapped(part) for part in step["steps"]]}
        if "pos" in step:
            pos = self.at(step["pos"], 1)
            self.require_whole(pos, self.at(step["pos"] + 1, -1), 1)
            return {**step, "pos": pos}
        start = self.at(step["from"], 1)
        if kind == "replace" and step["from"] == step["to"]:
            if _begins_with_a_letter(step) and self.mapping.map(step["from"], -1) != start:
                # Others inserted text here. Only the author can decide whether the letters continue a word.
                raise _DoubtfulError
            return {**step, "from": start, "to": start}
        end = self.at(step["to"], -1)
        if kind == "replaceAround":
            gap_from = start if step["gapFrom"] == step["from"] else self.at(step["gapFrom"], -1)
            gap_to = end if step["gapTo"] == step["to"] else self.at(step["gapTo"], 1)
            self.require_whole(start, gap_from, step["gapFrom"] - step["from"])
            self.require_whole(gap_to, end, step["to"] - step["gapTo"])
            return {**step, "from": start, "to": end, "gapFrom": gap_from, "gapTo": gap_to}
        if kind == "replace":
            self.require_whole(start, end, step["to"] - step["from"])
        elif start >= end:
            raise _DoubtfulError
        return {**step, "from": start, "to": end}

    def at(self, position: int, side: int) -> int:
        result = self.mapping.map_result(position, side)
        if result.deleted_across:
            raise _DoubtfulError
        return result.pos

    def require_whole(self, start: int, end: int, size: int) -> None:
        """Require that a range contains no deleted or unseen content."""
        if end - start != size or any(first < end and last > start for first, last in self.unseen):
            raise _DoubtfulError


def _begins_with_a_letter(step: StepJson) -> bool:
    content = (step.get("slice") or {}).get("content") or [{}]
    return bool(re.match(r"\w", content[0].get("text") or ""))


def ranges_of(step: StepJson) -> Ranges:
    """Return the ranges that a step changes. This doesn't require the document."""
    kind = step["stepType"]
    if kind == "replace":
        return step["from"], step["to"] - step["from"], _slice_size(step.get("slice"))
    if kind == "replaceAround":
        size, insert = _slice_size(step.get("slice")), step.get("insert", 0)
        before = step["from"], step["gapFrom"] - step["from"], insert
        return *before, step["gapTo"], step["to"] - step["gapTo"], size - insert
    return ()


def _slice_size(json: StepJson | None) -> int:
    if not json:
        return 0
    size = sum(map(_node_size, json.get("content", [])))
    return size - int(json.get("openStart", 0)) - int(json.get("openEnd", 0))


def _node_size(json: StepJson) -> int:
    if json["type"] == "text":
        text: str = json["text"]
        return len(text) + sum(letter > "\uffff" for letter in text)
    return 1 if json["type"] in _LEAVES else 2 + sum(map(_node_size, json.get("content", [])))
