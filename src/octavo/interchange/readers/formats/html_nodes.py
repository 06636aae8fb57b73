"""Nodes of a page, and conversion of HTML text to the text that browsers display."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from octavo.core.json_types import JsonObject

Node = dict[str, Any]
SPACES = re.compile(r"[ \t\n\r\f]+")


def lift_title(nodes: list[Node]) -> tuple[str, list[Node]]:
    """Remove the title from the nodes, and return the title and the remaining nodes. The title is the first top-level
    heading if it is near the start."""
    for at, node in enumerate(nodes[:4]):
        if node["type"] == "heading-0":
            return squeezed(plain_text(node)), settled_nodes(nodes[:at] + nodes[at + 1 :])
    return "", settled_nodes(nodes)


def settled_nodes(nodes: list[Node]) -> list[Node]:
    for node in nodes:
        if node["type"] == "heading-0":
            node["type"] = "heading-1"
        for key in ("nodes", "fragments"):
            if isinstance(node.get(key), list):
                settled_nodes([child for child in node[key] if "type" in child])
    return nodes


def plain_text(node: Node) -> str:
    if node.get("object") == "leaf":
        return str(node["text"])
    return "".join(plain_text(child) for child in [*node.get("nodes", ()), *node.get("leaves", ())])


def squeezed(text: str) -> str:
    return SPACES.sub(" ", text).strip()


def make_block(type: str, nodes: list[Node] | None = None, **data: object) -> Node:
    node: Node = {"object": "block", "type": type, "isVoid": nodes is None, "data": data}
    if nodes is not None:
        node["nodes"] = nodes
    return node


def without_empty(**data: object) -> JsonObject:
    """Return the values that aren't empty, by name."""
    return {name: value for name, value in data.items() if value}


def make_text(text: str, marks: Iterable[str] = ()) -> Node:
    leaf = {"object": "leaf", "text": text, "marks": [{"object": "mark", "type": mark} for mark in marks]}
    return {"object": "text", "leaves": [leaf]}


def make_text_between_tags(text: str, marks: Iterable[str] = ()) -> Node:
    """Return the text between tags, with line ends replaced by spaces. Text that consists only of a line end
    becomes a line break."""
    return make_text(" " if text == "\n" else text, marks)


def make_inline(type: str, nodes: list[Node] | None = None, **data: object) -> Node:
    node: Node = {"object": "inline", "type": type, "isVoid": nodes is None, "data": data}
    if nodes is not None:
        node["nodes"] = nodes
    return node


def make_fragment(name: str, type: str, nodes: list[Node]) -> Node:
    return {"object": "fragment", "fragment": name, "type": type, "nodes": nodes}


def as_inline_code(node: Node) -> Node:
    """Return a one-line code block as inline code, for use in a table cell."""
    if node["type"] != "code" or len(node["nodes"]) != 1 or "title" in node["data"]:
        return node
    return make_block("paragraph", [make_text(plain_text(node), ("code",))])


def url_reference(url: str) -> dict[str, str]:
    return {"kind": "url", "url": url}


def wrap_in_paragraphs(run: list[Node]) -> list[Node]:
    """Return a run of inline nodes as paragraphs. An image on its own becomes a block."""
    nodes = trimmed_nodes(run)
    if not nodes:
        return []
    shown = [node for node in nodes if node["object"] == "inline" or squeezed(plain_text(node))]
    if not shown:
        return []  # Spaces that only separate lines.
    if all(node.get("type") == "inline-image" for node in shown):
        images = [{**make_block("image", **node["data"]), "fragments": []} for node in shown]
        return [make_block("images", [image]) for image in images]
    return [make_block("paragraph", nodes)]


def trimmed_nodes(run: Iterable[Node]) -> list[Node]:
    """Collapse whitespace as browsers do, leaving one space between words and none at the ends. Line breaks are
    kept."""
    found = list(collapsed_nodes(run))
    while found and found[0]["object"] == "text" and not found[0]["leaves"][0]["text"].lstrip(" \n"):
        del found[0]
    if found and found[0]["object"] == "text":
        found[0]["leaves"][0]["text"] = found[0]["leaves"][0]["text"].lstrip(" \n")
    while found and found[-1]["object"] == "text" and not found[-1]["leaves"][0]["text"].rstrip(" \n"):
        found.pop()
    if found and found[-1]["object"] == "text":
        found[-1]["leaves"][0]["text"] = found[-1]["leaves"][0]["text"].rstrip(" \n")
    return found


def collapsed_nodes(run: Iterable[Node]) -> Iterator[Node]:
    spaced = True
    held: Node | None = None
    for node in run:
        if node["object"] == "inline":
            if held is not None:
                yield held
                held = None
            if node.get("nodes") is not None:
                node = {**node, "nodes": list(collapsed_nodes(node["nodes"])) or [make_text("")]}
            spaced = False
            yield node
            continue
        leaf = node["leaves"][0]
        text, marks = leaf["text"], [mark["type"] for mark in leaf["marks"]]
        is_break = text == "\n" and not marks
        if not is_break:
            text = SPACES.sub(" ", text)
            if spaced:
                text = text.lstrip(" ")
        if not text:
            continue
        spaced = text[-1] in " \n"
        # Pages with colored text have an element for each word. Adjacent nodes with the same marks are
        # merged.
        if (
            held is not None
            and not is_break
            and held["leaves"][0]["text"] != "\n"
            and marks_of(held) == marks
        ):
            held["leaves"][0]["text"] += text
            continue
        if held is not None:
            yield held
        held = make_text(text, marks)
    if held is not None:
        yield held


def marks_of(node: Node) -> list[str]:
    return [mark["type"] for mark in node["leaves"][0]["marks"]]
