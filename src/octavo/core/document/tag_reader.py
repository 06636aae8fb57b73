"""Read ``{% tags %}`` as blocks."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from markdown_it.token import Token

from .inline import (
    attributes,
    length,
    plain,
    url_ref,
)
from .markdown import TAG, safe_url
from .nodes import Block, Data, Fragment, Inline, Leaf, Text

_OPENS_VALUE = re.compile(r"""(?:^|(?<=["'])[ \t\n]++)(?P<name>[A-Za-z_][\w-]*+)=(?P<quote>["'])""")


def tag_data(token: Token, **fields: str) -> Data:
    """Return the token's attributes as data. ``fields``: a map from each known attribute to text, bool, or
    length; the rest become ``attributes``."""
    data: Data = {}
    rest: Data = {}
    for name, value in attributes(token.info).items():
        kind = fields.get(name)
        if kind == "text":
            data[name] = value
        elif kind == "bool" and value in ("true", "false"):
            data[name] = value == "true"
        elif kind == "length" and (size := length(value)) is not None:
            data[name] = size
        elif kind and kind[0] == "=" and value in kind[1:].split("|"):
            data[name] = value
        elif kind == "int" and re.fullmatch(r"[1-9]\d{0,5}", value):
            data[name] = int(value)
        else:
            rest[name] = value
    if rest:
        data["attributes"] = rest
    return data


def _hint(token: Token, inner: list[Block], body: str) -> Block:
    data = tag_data(token, style="=info|warning|danger|success", icon="text")
    return Block("hint", {"style": "info"} | data, list(inner))


def _of(parent: str, child: str) -> Callable[[Token, list[Block], str], Block]:
    """Return a function that creates a block with only ``child`` blocks. Any other content is wrapped in a ``child``
    block."""

    def make(token: Token, inner: list[Block], body: str) -> Block:
        block = Block(parent, tag_data(token, **_FIELDS.get(parent, {})))
        for node in inner:
            if node.type == "unknown" and node.data.get("end") and (kind := PARTS.get(_name(node))) == child:
                part = Token("tag", _name(node), 0)
                match = TAG.match(node.data["source"])
                part.info = match["rest"].strip() if match else ""
                block.nodes.append(read_part(kind, part, node.nodes))
            elif block.nodes and block.nodes[-1].key == "stray":
                block.nodes[-1].nodes.append(node)  # type: ignore[union-attr, arg-type]
            else:
                block.nodes.append(Block(child, {}, [node], key="stray"))
        for made in block.nodes:
            made.key = None
        return block

    return make


def _name(node: Block) -> str:
    match = TAG.match(node.data["source"])
    return match["name"] if match else ""


PARTS = {"tab": "tabs-item", "step": "stepper-step", "column": "column", "update": "update"}
_FIELDS: dict[str, dict[str, str]] = {
    "tabs": {"fullWidth": "bool"},
    "columns": {"fullWidth": "bool"},
    "updates": {"format": "text"},
    "tabs-item": {"title": "text", "icon": "text", "slug": "text"},
    "stepper-step": {"icon": "text"},
    "column": {"width": "length", "verticalAlignment": "=top|middle|bottom"},
    "update": {"date": "text", "tags": "text"},
}


def read_part(kind: str, token: Token, inner: list[Block | Inline | Text]) -> Block:
    data = tag_data(token, **_FIELDS[kind])
    if "tags" in data:
        data["tags"] = [tag.strip() for tag in data["tags"].split(",") if tag.strip()]
    return Block(kind, data, inner)


def _code(token: Token, inner: list[Block], body: str) -> Block | None:
    if len(inner) != 1 or inner[0].type != "code":
        return None
    data = tag_data(
        token,
        title="text",
        overflow="=scroll|wrap",
        lineNumbers="bool",
        fullWidth="bool",
        expandable="bool",
        collapsedLineCount="int",
    )
    inner[0].data = inner[0].data | data
    return inner[0]


def _if(token: Token, inner: list[Block], body: str) -> Block:
    return Block("if", {"expression": token.info}, list(inner))


def _prompt(token: Token, inner: list[Block], body: str) -> Block:
    fields = dict.fromkeys(("description", "icon", "openInAIProviders", "defaultExpanded"), "text")
    return Block("prompt", tag_data(token, **fields), list(inner))


API_NAMES = {"baseUrl": "host", "httpCode": "status"}
"""Pairs of attribute names that two generations of tags use for the same value. The second name is the name of the
field."""
_API_FIELDS = {
    "api-method": {"method": "text", "host": "text", "path": "text", "summary": "text"},
    "api-part": dict.fromkeys(("name", "in", "type", "status", "description"), "text") | {"required": "bool"},
}


def _api(kind: str) -> Callable[[Token, list[Block], str], Block]:
    fields = _API_FIELDS[kind]

    def make(token: Token, inner: list[Block], body: str) -> Block:
        data = {"tag": token.tag} | tag_data(
            token, **fields, **{old: "text" for old, new in API_NAMES.items() if new in fields}
        )
        for old, new in API_NAMES.items():
            if old in data:
                data.setdefault(new, data.pop(old))
        return Block(kind, data, list(inner))

    return make


def _caption(block: Block, inner: list[Block], attributes_caption: str | None = None) -> Block | None:
    """Return the block with a caption: the paragraph inside its tags, or ``attributes_caption`` if there is no content.
    Return None if there is any other content."""
    if len(inner) == 1 and inner[0].type == "paragraph":
        block.fragments = [Fragment("caption", list(inner), "caption")]
    elif inner:
        return None
    elif attributes_caption:
        text = Block("paragraph", {}, [Text([Leaf(attributes_caption)])])
        block.fragments = [Fragment("caption", [text], "caption")]
    return block


def _embed(token: Token, inner: list[Block], body: str) -> Block | None:
    data = tag_data(token, url="text", fullWidth="bool")
    url = data["url"] = _address(data.get("url", ""))
    return _caption(Block("embed", data), inner) if url and safe_url(url) else None


def _address(written: str) -> str:
    """Return a tag's URL without the Markdown escapes that some exporters add."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written)


def _file(token: Token, inner: list[Block], body: str) -> Block | None:
    data = tag_data(token, src="text", caption="text")
    if not data.get("src"):
        return None
    caption = data.pop("caption", None)
    return _caption(Block("file", {"ref": url_ref(_address(data.pop("src")))} | data), inner, caption)


def _content_ref(token: Token, inner: list[Block], body: str) -> Block | None:
    data = tag_data(token, url="text", page="text")
    url = _address(data.pop("url", "") or data.get("page", ""))
    data.pop("page", None)
    if not url or not safe_url(url):
        return None
    data = {"ref": url_ref(url), **data}
    if inner:
        label = _label(inner)
        if label is None:
            return None
        if label != default_label(url):
            data["label"] = label
    return Block("content-ref", data)


def default_label(url: str) -> str:
    """Return the label for a content reference that doesn't have one: the last part of the URL's path."""
    return url.rstrip("/").rsplit("/", 1)[-1] or url


def _label(inner: list[Block]) -> str | None:
    if len(inner) == 1 and inner[0].type == "paragraph" and len(inner[0].nodes) == 1:
        node = inner[0].nodes[0]
        if isinstance(node, Text):
            return node.leaves[0].text if len(node.leaves) == 1 and not node.leaves[0].marks else None
        if isinstance(node, Inline) and node.type in ("link", "mention"):
            return plain(node.nodes) or str(node.data.get("label", ""))
    return None


def _include(token: Token, inner: list[Block], body: str) -> Block | None:
    match = re.fullmatch(r"""["']?([^"'\n]+?)["']?""", token.info)
    if match is None or inner:
        return None
    return Block("reusable-content", {"ref": url_ref(match[1])})


def _openapi(kind: str) -> Callable[[Token, list[Block], str], Block | None]:
    def make(token: Token, inner: list[Block], body: str) -> Block | None:
        fields: dict[str, str] = {
            "swagger": {"src": "text", "expanded": "bool", "fullWidth": "bool"},
            "openapi-operation": {"spec": "text", "headless": "bool"},
            "openapi-schemas": {"spec": "text", "schemas": "text", "grouped": "bool"},
            "openapi-webhook": {"spec": "text", "name": "text", "headless": "bool"},
        }[kind]
        data = tag_data(token, **fields, path="text", method="text")
        ref: Data
        if kind == "swagger":
            if not data.get("src"):
                return _api("api-method")(token, inner, body)
            ref = url_ref(data.pop("src"))
        elif data.get("spec"):
            ref = {"kind": "openapi", "spec": data.pop("spec")}
        else:
            return None
        if "schemas" in data:
            data["schemas"] = [name.strip() for name in data["schemas"].split(",") if name.strip()]
        needed = {"openapi-schemas": ("schemas",), "openapi-webhook": ("name", "method")}.get(
            kind, ("path", "method")
        )
        for name in needed:
            data.setdefault(name, [] if name == "schemas" else "")
        if body:
            data["body"] = body
        return Block(kind, {"ref": ref} | data)

    return make


def _long_attributes(text: str) -> dict[str, str]:
    """Parse attributes whose values can contain quotation marks. A quotation mark ends a value only if another
    attribute or the end of the tag follows it."""
    found: dict[str, str] = {}
    name, quote, start = "", "", 0
    for match in _OPENS_VALUE.finditer(text):
        if not name or text.endswith(quote, start, match.start()):
            if name:
                found.setdefault(name, html.unescape(text[start : match.start() - 1]))
            name, quote, start = match["name"], match["quote"], match.end()
    if name:
        found.setdefault(name, html.unescape(text[start:].removesuffix(quote)))
    return found


def read_integration(token: Token, inner: list[Block], body: str) -> Block | None:
    integration, slash, block = token.tag[1:].partition("/")
    if not slash or inner:
        return None
    props: Data = dict(_long_attributes(token.info) if "\n" in token.info else attributes(token.info))
    data: Data = {"integration": integration, "block": block, "props": props}
    if "url" in props:
        data["url"] = str(props["url"])
    return Block("integration", data)


Make = Callable[[Token, list[Block], str], Block | None]
TAGS: dict[str, Make] = {
    "hint": _hint,
    "tabs": _of("tabs", "tabs-item"),
    "stepper": _of("stepper", "stepper-step"),
    "columns": _of("columns", "column"),
    "updates": _of("updates", "update"),
    "code": _code,
    "if": _if,
    "prompt": _prompt,
    "api-method": _api("api-method"),
    **{
        f"api-method-{part}": _api("api-part")
        for part in [
            "summary",
            "description",
            "spec",
            "request",
            "response",
            "response-example",
            "path-parameters",
            "query-parameters",
            "headers",
            "body-parameters",
            "form-data-parameters",
            "parameter",
            "response-example-description",
        ]
    },
    "swagger-description": _api("api-part"),
    "swagger-parameter": _api("api-part"),
    "swagger-response": _api("api-part"),
}
PAIRED = {*TAGS, *PARTS, "details", "div", "center"}
ANY_TAG = re.compile(r"(?:\{%-?[ \t]*(end)?|<(/)?(?=details|div|center))([A-Za-z][\w-]*)")
VOID_TAGS: dict[str, Make] = {
    "embed": _embed,
    "file": _file,
    "content-ref": _content_ref,
    "page-ref": _content_ref,
    "include": _include,
    "openapi": _openapi("swagger"),
    "swagger": _openapi("swagger"),
    "openapi-operation": _openapi("openapi-operation"),
    "openapi-schemas": _openapi("openapi-schemas"),
    "openapi-webhook": _openapi("openapi-webhook"),
}
