"""Validate script output for rendering: a tree of known elements that is limited in size and that links only to web
URLs.

Renderers rely on the output containing only the elements below, and only http and https URLs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from octavo.core.json_types import JsonObject
from octavo.errors import format_size

LARGEST = 1024 * 1024
"""Maximum size of an output in bytes."""
DEEPEST = 60
MOST = 10_000
"""Maximum number of elements in a tree."""

_REQUIRED: dict[str, tuple[str, ...]] = {
    "block": ("children",),
    "modal": ("children",),
    "configuration": ("children",),
    "stepper": ("activeStep", "onStepChange", "onComplete", "children"),
    "step": ("id", "children"),
    "button": ("onPress",),
    "textinput": ("state",),
    "hstack": ("children",),
    "vstack": ("children",),
    "box": ("children",),
    "divider": (),
    "webframe": ("source",),
    "codeblock": ("content",),
    "markdown": ("content",),
    "card": (),
    "image": ("source", "aspectRatio"),
    "input": ("label", "element"),
    "select": ("state", "options"),
    "switch": ("state",),
    "checkbox": ("state", "value"),
    "radio": ("state", "value"),
    "text": ("children",),
    "hint": ("children",),
    "link": ("target", "children"),
}
"""All elements, each with its required fields."""
_ROOTS = ("block", "modal", "configuration")
_PARTS = ("children", "buttons", "header", "footer", "subtitle", "hint", "icon", "element", "submit")
"""Fields that can contain other elements."""
_ADDRESSES = ("source", "target", "options")


class BadOutput(Exception):
    """Raised if an output can't be rendered. The message tells the script's author what the problem is and where it
    is."""


def read_output(data: bytes) -> JsonObject:
    """Decode and validate the output of ``ui_render``. Raises BadOutput if it is invalid."""
    if len(data) > LARGEST:
        raise BadOutput(f"the output must be at most {format_size(LARGEST)}")
    try:
        output = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadOutput("the output isn't JSON, or is nested too deeply") from None
    if not isinstance(output, dict):
        raise BadOutput("the output must be an object")
    if output.get("type") == "complete":
        if not isinstance(output.get("returnValue", {}), dict):
            raise BadOutput("returnValue: must be an object")
        return output
    if output.get("type", "element") != "element":
        raise BadOutput("type: must be `element` or `complete`")
    for name in ("state", "props"):
        if not isinstance(output.get(name), dict):
            raise BadOutput(f"{name}: must be an object")
    root = output.get("element")
    if not isinstance(root, dict) or root.get("type") not in _ROOTS:
        raise BadOutput(f"element: must be one of {', '.join(_ROOTS)}")
    _check_tree(root)
    return {"type": "element", **output}


def _check_tree(root: Mapping[str, object]) -> None:
    waiting: list[tuple[Any, str, int]] = [(root, "element", 1)]
    count = 0
    while waiting:
        element, place, depth = waiting.pop()
        count += 1
        if count > MOST:
            raise BadOutput(f"the output must have at most {MOST} elements")
        if depth > DEEPEST:
            raise BadOutput(f"{place[:100]}: must be nested at most {DEEPEST} levels deep")
        kind = element.get("type")
        required = _REQUIRED.get(kind) if isinstance(kind, str) else None
        if required is None:
            raise BadOutput(f"{place}: unknown element {str(kind)[:50]!r}")
        for name in required:
            if element.get(name) is None:
                raise BadOutput(f"{place}.{name}: this field is required")
        for name in _ADDRESSES:
            _check_address(element.get(name), f"{place}.{name}")
        for name in _PARTS:
            waiting += _parts(element.get(name), f"{place}.{name}", depth + 1)


def _parts(value: object, place: str, depth: int) -> list[tuple[Any, str, int]]:
    if isinstance(value, dict):
        return [(value, place, depth)]
    if isinstance(value, list):
        found = []
        for n, one in enumerate(value):
            if isinstance(one, dict):
                found.append((one, f"{place}[{n}]", depth))
            elif not isinstance(one, str):
                raise BadOutput(f"{place}[{n}]: must be an element or text")
        return found
    if value is not None and not isinstance(value, str):
        raise BadOutput(f"{place}: must be elements or text")
    return []


def _check_address(holder: object, place: str) -> None:
    """Validate the URL of an image, frame, link, or option. URLs that the client assembles from parts must use
    https."""
    if not isinstance(holder, dict) or "url" not in holder:
        return
    url = holder["url"]
    if isinstance(url, dict):
        if not all(isinstance(url.get(part), str) for part in ("host", "pathname")):
            raise BadOutput(f"{place}.url: must have a host and a pathname")
    elif not isinstance(url, str) or not url.lower().startswith(("https://", "http://")):
        raise BadOutput(f"{place}.url: must be an http or https URL")
