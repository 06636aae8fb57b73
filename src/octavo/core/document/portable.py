"""Convert documents to Markdown that any app can read, by replacing Octavo's own syntax with its visible
result.

A hint becomes a quote, tabs and expandable sections appear one after another under their titles, and cards become a
list. Decoration (icons, colors, columns) is dropped. Content without an equivalent in standard Markdown is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .evaluating import replace_nodes
from .nodes import Block, Document, Fragment, Inline, Leaf, Mark, Replacement, Text, plain_text, walk
from .parts import emoji, text_of

_WHOLE = ("http://", "https://", "mailto:", "tel:", "//", "#")
_HINTS = {"success": "Good", "warning": "Warning", "danger": "Danger"}
_DRESS = ("align", "overflow", "lineNumbers", "fullWidth", "expandable", "collapsedLineCount")
_BOLD = Mark("bold")


def portable(document: Document, titles: Mapping[str, str]) -> Document:
    """Convert the document in place. All unbroken references in it must already be absolute URLs. ``titles``: the
    titles of their targets."""
    change = _Change(titles)
    replace_nodes(document, change.node)
    for top in document.nodes:
        plain = [node for node in walk(top) if isinstance(node, Text) and _remove_colors(node)]
        if plain:
            top.source = None
    return document


def _remove_colors(text: Text) -> bool:
    """Remove the colors, and return whether there were any."""
    found = False
    for leaf in text.leaves:
        if any(mark.type == "color" for mark in leaf.marks):
            leaf.marks = [mark for mark in leaf.marks if mark.type != "color"]
            found = True
    return found


def _text(words: str, *marks: Mark) -> Text:
    return Text([Leaf(words, list(marks))])


def _bold(words: str) -> Block:
    return Block("paragraph", {}, [_text(words, _BOLD)])


def _address(node: Block | Inline) -> str | None:
    """Return the URL of a node's reference; None if it is broken."""
    ref = node.data.get("ref")
    url = ref.get("url") if isinstance(ref, dict) and ref.get("kind") == "url" else None
    return url if isinstance(url, str) and url.startswith(_WHOLE) else None


def _is_dead(node: Block | Inline) -> bool:
    ref = node.data.get("ref")
    return isinstance(ref, dict) and ref.get("kind") == "url" and _address(node) is None


def _as_link(url: str, words: str) -> Inline:
    return Inline("link", {"ref": {"kind": "url", "url": url}}, [_text(words)])


def _bare(node: Block, *names: str) -> Replacement | None:
    """Return the block without fields that standard Markdown can't express; None if it has no such fields."""
    data = {name: value for name, value in node.data.items() if name not in names}
    if data == node.data:
        return None
    return [Block(node.type, data, node.nodes, node.fragments, node.key)]


def _inside(fragments: Sequence[Fragment], type: str) -> list[Block]:
    return next((list(one.nodes) for one in fragments if type in (one.type, one.fragment)), [])


def _is_heading(node: object) -> bool:
    return isinstance(node, Block) and node.type.startswith("heading-")


def _has_content(block: Block) -> bool:
    return block.type != "paragraph" or any(
        (isinstance(node, Text) and plain_text(node).strip())
        or (isinstance(node, Inline) and node.type not in ("icon", "link"))
        for node in walk(block)
    )


def _without_headings(nodes: Sequence[Block]) -> list[Block]:
    return [Block("paragraph", {}, node.nodes) if _is_heading(node) else node for node in nodes]


class _Change:
    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = titles

    def node(self, node: Block | Inline) -> Replacement | None:
        """Return the replacement of a node; None to keep it."""
        return self._inline(node) if isinstance(node, Inline) else self._block(node)

    def _inline(self, node: Inline) -> Replacement | None:
        url = _address(node)
        match node.type:
            case "link":
                return list(node.nodes) if _is_dead(node) else None
            case "mention":
                words = self._titles.get(url or "") or text_of(node.data, "label")
                return [_as_link(url, words or url)] if url else [_text(words)] if words else []
            case "button":
                label = text_of(node.data, "label") or ""
                return [_as_link(url, label)] if url else [_text(label)]
            case "icon":
                return []
            case "emoji":
                shown = emoji(str(node.data.get("code")))
                return [_text(shown)] if shown else None
            case "inline-image":
                return [_text(text_of(node.data, "alt") or "")] if _is_dead(node) else None
        return None

    def _block(self, node: Block) -> Replacement | None:
        nodes: list[Any] = list(node.nodes)
        match node.type:
            case "hint":
                label = _HINTS.get(str(node.data.get("style")))
                return [Block("blockquote", {}, [*([_bold(label)] if label else []), *nodes])]
            case "columns" | "column" | "stepper" | "stepper-step" | "tabs" | "updates":
                return nodes
            case "tabs-item":
                title = text_of(node.data, "title")
                return [*([_bold(title)] if title else []), *nodes]
            case "update":
                day = text_of(node.data, "date")
                return [*([_bold(day)] if day else []), *nodes]
            case "prompt":
                about = text_of(node.data, "description")
                return [*([_bold(about)] if about else []), *nodes]
            case "expandable":
                parts = ("expandable-title", "expandable-body")
                return [block for part in parts for block in _inside(node.fragments, part)]
            case "code":
                title = text_of(node.data, "title")
                bare = _bare(node, "title", *_DRESS)
                if bare is None:
                    return None
                return [*([_bold(title)] if title else []), *bare]
            case "content-ref":
                url = _address(node)
                words = self._titles.get(url or "") or text_of(node.data, "label") or url
                return [Block("paragraph", {}, [_as_link(url, words or url)])] if url else []
            case "file" | "embed":
                return self._named(node)
            case "images":
                return nodes
            case "image":
                return self._image(node)
            case "table":
                return self._cards(node) if node.data.get("view", {}).get("type") == "cards" else None
            case "paragraph" | "heading-1" | "heading-2" | "heading-3":
                return _bare(node, "align")
        return None

    def _named(self, node: Block) -> list[Block]:
        """Return a link to use instead of an embedded or downloadable file."""
        url = _address(node) if node.type == "file" else str(node.data.get("url"))
        caption = _inside(node.fragments, "caption")
        link = [Block("paragraph", {}, [_as_link(url, self._titles.get(url) or url)])] if url else []
        return [*link, *caption]

    def _image(self, node: Block) -> list[Block]:
        url, alt = _address(node), text_of(node.data, "alt") or ""
        caption = _inside(node.fragments, "caption")
        if url is None:
            return caption
        shown = Inline("inline-image", {"ref": node.data["ref"], **({"alt": alt} if alt else {})})
        return [Block("paragraph", {}, [shown]), *caption]

    def _cards(self, table: Block) -> list[Block]:
        """Return the cards of a table as a list, each with its text and its link."""
        view, definition = table.data.get("view", {}), table.data.get("definition", {})
        cells = {one.fragment: list(one.nodes) for one in table.fragments}
        target = view.get("targetDefinition")
        items: list[Any] = []
        records = sorted(table.data.get("records", {}).values(), key=lambda one: str(one.get("orderIndex")))
        for record in records:
            values = record.get("values", {})
            texts: list[Any] = [
                block
                for column in view.get("columns", [])
                if definition.get(column, {}).get("type") == "text"
                for block in _without_headings(cells.get(values.get(column), []))
                if _has_content(block)
            ]
            leads = values.get(target) if target else None
            url = _address(Block("content-ref", {"ref": leads})) if isinstance(leads, dict) else None
            if url:
                texts.append(Block("paragraph", {}, [_as_link(url, self._titles.get(url) or url)]))
            if texts:
                items.append(Block("list-item", {}, texts))
        return [Block("list-unordered", {}, items)] if items else []
