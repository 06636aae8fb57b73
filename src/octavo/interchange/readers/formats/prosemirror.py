"""Convert ProseMirror documents, the format in which many browser editors store documents, to HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from octavo.core.json_types import JsonObject

from ..values import mapping, text_of

MAX_DEPTH = 60
"""Maximum nesting of nodes. Deeper nodes become plain text."""

_MARKS = {
    "strong": "strong",
    "bold": "strong",
    "em": "em",
    "italic": "em",
    "code_inline": "code",
    "code": "code",
    "strikethrough": "s",
    "strike": "s",
    "superscript": "sup",
    "subscript": "sub",
}
_AROUND = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "checkbox_list": "ul",
    "list_item": "li",
    "tr": "tr",
    "th": "th",
    "td": "td",
}

Report = Callable[[str, str], None]
Refer = Callable[[str], str]


def write_html(document: object, refer: Refer, report: Report) -> str:
    """Return a document as HTML. ``refer``: a function that rewrites the document's URLs. ``report``: a function
    that is called with a code and a message for each node that isn't supported."""
    return _Writer(refer, report).content(document, 0)


class _Writer:
    def __init__(self, refer: Refer, report: Report) -> None:
        self.refer = refer
        self.report = report

    def content(self, node: object, depth: int) -> str:
        inside = mapping(node).get("content")
        return "".join(self.node(one, depth + 1) for one in inside) if isinstance(inside, list) else ""

    def words(self, node: object, depth: int) -> str:
        """Return the text of a node and its children."""
        waiting, found = [node], []
        while waiting:
            one = mapping(waiting.pop())
            found.append(text_of(one.get("text")))
            inside = one.get("content")
            waiting += reversed(inside) if isinstance(inside, list) else []
        return "".join(found)

    def node(self, given: object, depth: int) -> str:
        node = mapping(given)
        name, attributes = text_of(node.get("type")), mapping(node.get("attrs"))
        if name == "text":
            return self.marked(node)
        if depth > MAX_DEPTH:
            return escape(self.words(node, depth))
        if name in _AROUND:
            tag = _AROUND[name]
            spans = "".join(
                f' {key}="{span}"'
                for key in ("colspan", "rowspan")
                if isinstance(span := attributes.get(key), int) and span > 1
            )
            start = (
                f' start="{attributes["order"]}"'
                if tag == "ol" and isinstance(attributes.get("order"), int)
                else ""
            )
            return f"<{tag}{spans}{start}>{self.content(node, depth)}</{tag}>"
        made = getattr(self, f"_{name}", None) if name.isidentifier() else None
        if made is not None and name in _NODES:
            return str(made(node, attributes, depth))
        self.report("unknown_component", f"{name[:100]} isn't supported; its contents were kept")
        return self.content(node, depth)

    def marked(self, node: Mapping[str, object]) -> str:
        made = escape(text_of(node.get("text")))
        marks = node.get("marks")
        for given in reversed(marks) if isinstance(marks, list) else []:
            mark = mapping(given)
            name = text_of(mark.get("type"))
            if name == "link" and (href := text_of(mapping(mark.get("attrs")).get("href"))):
                made = f'<a href="{escape(self.refer(href))}">{made}</a>'
            elif name in _MARKS:
                made = f"<{_MARKS[name]}>{made}</{_MARKS[name]}>"
        return made

    def _heading(self, node: object, given: Mapping[str, object], depth: int) -> str:
        level = given.get("level")
        # The first level is the title of the page.
        level = min(max(level, 1) + 1, 6) if isinstance(level, int) else 2
        return f"<h{level}>{self.content(node, depth)}</h{level}>"

    def _checkbox_item(self, node: object, given: Mapping[str, object], depth: int) -> str:
        checked = " checked" if given.get("checked") is True else ""
        return f'<li><input type="checkbox"{checked}>{self.content(node, depth)}</li>'

    def _code_fence(self, node: object, given: Mapping[str, object], depth: int) -> str:
        language = text_of(given.get("language"))
        named = f' class="language-{escape(language)}"' if language and language != "none" else ""
        return f"<pre{named}>{escape(self.words(node, depth))}</pre>"

    _code_block = _code_fence

    def _container_notice(self, node: object, given: Mapping[str, object], depth: int) -> str:
        kind = escape(text_of(given.get("style")) or "info")
        return f'<div class="admonition {kind}">{self.content(node, depth)}</div>'

    def _container_toggle(self, node: Any, given: JsonObject, depth: int) -> str:
        inside = node.get("content")
        inside = inside if isinstance(inside, list) else []
        title = escape(self.words(inside[0], depth)) if inside else ""
        return (
            f"<details><summary>{title or 'Details'}</summary>"
            f"{self.content({'content': inside[1:]}, depth)}</details>"
        )

    def _table(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return f"<table>{self.content(node, depth)}</table>"

    def _image(self, node: object, given: Mapping[str, object], depth: int) -> str:
        source = escape(self.refer(text_of(given.get("src"))))
        words = text_of(given.get("alt")) or text_of(given.get("title"))
        width = given.get("width")
        size = f' width="{width}"' if isinstance(width, int) else ""
        return f'<img src="{source}" alt="{escape(words)}"{size}>' if source else ""

    def _file(self, node: object, given: Mapping[str, object], depth: int) -> str:
        href = text_of(given.get("href")) or text_of(given.get("src"))
        words = escape(text_of(given.get("title")) or href)
        return f'<p><a href="{escape(self.refer(href))}">{words}</a></p>'

    _attachment = _video = _file

    def _embed(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return f'<iframe src="{escape(text_of(given.get("href")))}"></iframe>'

    def _mention(self, node: object, given: Mapping[str, object], depth: int) -> str:
        label = escape(text_of(given.get("label")))
        if text_of(given.get("type")) in ("document", "collection") and given.get("modelId"):
            return f'<a href="{escape(self.refer("mention:" + text_of(given["modelId"])))}">{label}</a>'
        return f"@{label}"

    def _emoji(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return escape(f":{text_of(given.get('data-name'))}:")

    def _math_inline(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return f'<code class="math">{escape(self.words(node, depth))}</code>'

    def _math_block(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return f'<pre class="math">{escape(self.words(node, depth))}</pre>'

    _math_display = _math_block

    def _hr(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return "<hr>"

    def _br(self, node: object, given: Mapping[str, object], depth: int) -> str:
        return "<br>"

    _hard_break = _br


_NODES = frozenset(
    """heading checkbox_item code_fence code_block container_notice container_toggle table image attachment
       video embed mention
    emoji math_inline math_block math_display hr br hard_break""".split()
)
