"""Blocks of an API reference as HTML."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup

from ..free_names import free_name
from .html_context import ALL_FIELDS, OutlineHeading
from .html_pieces import Piece, Pieces, class_names, close_tag, element, open_tag
from .html_renderer import Renderer
from .nodes import Block, Inline, Leaf, Text
from .parts import one_of, only_paragraph, shown_words, text_of, title_and_body

METHODS = ("get", "post", "put", "patch", "delete", "event")
STATUSES = {"1": "info", "2": "success", "3": "info", "4": "warning", "5": "danger"}
"""CSS classes for status codes, by the first digit of the code."""
_SERVER = re.compile(r"[a-z][a-z0-9+.-]*://[^/{]*")
_PARAMETER = re.compile(r"(\{[^{}]*\})")
_FIELD_TAGS = ("read_only", "write_only", "deprecated")
"""Properties of a field that are rendered as tags."""
_FIELD_SIGN = Markup('<span class="i i-link" aria-hidden="true"></span>')
_FEW_VALUES = 4
"""Number of a field's possible values that are shown initially."""
_FEW_LANGUAGES = 4


class ApiRenderer(Renderer):
    """Renderer of API references."""

    def _called(self, method: str, path: str, words: Text) -> list[Piece]:
        """Render an operation's method and path together with its description."""
        self.operations = self.changes = True
        return [
            *element("b", [method], class_=class_names("method", one_of(method.lower(), METHODS, None))),
            *element("span", [words]),
            *element("code", self._path(path)),
        ]

    def openapi(self, block: Block) -> Pieces:
        found = self.context.openapi(block.type, block.data)
        if found is not None:
            return self._set_aside(element("div", [found], class_="openapi"))
        schemas = block.data.get("schemas")
        if isinstance(schemas, list):
            names = [element("code", [name]) for name in schemas if isinstance(name, str) and name]
            return (
                element("p", [p for name in names for p in (*name, " ")], class_="endpoint") if names else []
            )
        path = text_of(block.data, "path") or text_of(block.data, "name")
        return self._endpoint(text_of(block.data, "method"), path) if path else []

    def openapi_try(self, block: Block) -> Pieces:
        """Render the **Test it** button, which is hidden without JavaScript."""
        address = self.context.try_it(block.data)
        if address is None:
            return []
        return element(
            "button",
            [Markup('<span class="i i-play" aria-hidden="true"></span>'), self.context.labels.try_it],
            type="button",
            class_="button primary small try-it scripted",
            aria_expanded="false",
            data_try=address,
        )

    def openapi_head(self, block: Block) -> Pieces:
        """Render the method and URL of an operation, with the operation's actions next to them."""
        self.operations = self.heads = True
        url = text_of(block.data, "url") or ""
        endpoint = self._endpoint(text_of(block.data, "method"), url)
        icon = [open_tag("span", class_="i i-copy", aria_hidden="true"), close_tag("span")]
        copy = element(
            "button",
            icon,
            type="button",
            class_="copy",
            data_copy_text=url,
            data_done=self.labels.copied,
            aria_label=self.labels.copy,
            title=self.labels.copy,
        )
        how = text_of(block.data, "by")
        by = element("span", [how.upper()], class_="openapi-by") if how else []
        return element("div", [*endpoint, *by, *copy, *block.nodes], class_="openapi-head")

    def openapi_block(self, block: Block) -> Pieces:
        """Render an operation in a list: an expandable line with its method, URL, and title."""
        self.operations = self.together = True
        title, body = title_and_body(block)
        words, id = shown_words(block.fragments[0]), text_of(block.data, "id")
        if not self._aside and words and id:
            self.outline.append(OutlineHeading(id, words, 2))
        method = text_of(block.data, "method") or ""
        known = one_of(method.lower(), METHODS, None)
        summary = element(
            "summary",
            [
                Markup('<span class="i i-chevron" aria-hidden="true"></span>'),
                *element("b", [method.upper()], class_=class_names("method", known)),
                *element("code", self._path(text_of(block.data, "url") or "")),
                *element("h2", only_paragraph(title)),
            ],
        )
        inside = self._set_aside(element("div", body, class_="openapi-block-body"))
        return element("details", [*summary, *inside], class_="openapi-block", id=id)

    def openapi_facts(self, block: Block) -> Pieces:
        """Render the properties of an operation other than its URL: authentication and stability."""
        return element("div", block.nodes, class_="openapi-facts")

    def openapi_values(self, block: Block) -> Pieces:
        """Render the possible values of a field. The first few values are shown; the other values are collapsed."""
        default = block.data.get("default")
        note = [" ", *element("small", [self.labels.api_default.lower()])]
        chips = [
            element("li", element("code", [text, *(note if text == default else [])]))
            for text in self._texts(block.data.get("values"))
        ]
        few = len(chips) if len(chips) <= _FEW_VALUES + 1 else _FEW_VALUES
        shown = element("ul", [piece for chip in chips[:few] for piece in chip], class_="openapi-values")
        if few == len(chips):
            return shown
        more = self.labels.api_and_more.replace("{name}", str(len(chips) - few))
        rest = element("ul", [piece for chip in chips[few:] for piece in chip], class_="openapi-values")
        return [*shown, *element("details", [*element("summary", [more]), *rest], class_="openapi-more")]

    @staticmethod
    def _texts(values: object) -> list[str]:
        return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []

    def openapi_answer(self, block: Block) -> Pieces:
        """Render a response of an operation as a row with its status. The row is expandable if there are details."""
        title, body = title_and_body(block)
        words = element("span", only_paragraph(title))
        of = [n for f in block.fragments if f.fragment == "openapi-of" for n in f.nodes]
        if of:
            words += element("small", only_paragraph(of))
        code = text_of(block.data, "status") or ""
        label = shown_words(block.fragments[0])
        id = self._mark_part(block, f"{code} {label}".strip())
        status = self._status(code)
        if not body:
            return element("div", [*status, *words], class_="openapi-answer", id=id)
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        summary = element("summary", [chevron, *status, *words])
        inside = self._set_aside(element("div", body, class_="openapi-answer-body"))
        is_open = block.data.get("open") is True
        return element("details", [*summary, *inside], class_="openapi-answer", id=id, open=is_open)

    def _status(self, code: str) -> list[Piece]:
        return element("b", [code], class_=class_names("status", STATUSES.get(code[:1])))

    def openapi_rows(self, block: Block) -> Pieces:
        """Render operations as a list of links, each with its method and path."""
        rows = []
        for data in block.data.get("rows") or ():
            link = element("a", [text_of(data, "title") or ""], href=text_of(data, "href"), class_="row")
            method, path = text_of(data, "method") or "", text_of(data, "path") or ""
            rows.append((method, path, link, text_of(data, "id")))
        return self._rows(rows)

    def _rows(self, rows: Sequence[tuple[str, str, Sequence[Piece], str | None]]) -> Pieces:
        """Render rows of method, path, link, and ID. A prefix shared by most paths is shown only once, above the rows.
        If the name of an operation is its path, the path is shown only once."""
        self.operations = True
        above = _shared([path for _, path, _, _ in rows])
        made: list[Piece] = []
        for method, path, link, id in rows:
            known = one_of(method.lower(), METHODS, None)
            is_below = bool(above) and path.startswith(f"{above}/")
            row = [
                *element("b", [method.upper()], class_=class_names("method", known)),
                *element("span", link),
                *element(
                    "code", ["…" if is_below else "", *self._path(path[len(above) :] if is_below else path)]
                ),
            ]
            only = [Text([Leaf(path)])]
            is_bare = len(link) == 1 and isinstance(link[0], Inline) and link[0].nodes == only
            made += element("li", row, id=id, class_="bare" if is_bare else None)
        prefix = (
            element("p", ["… = ", *element("code", self._path(above))], class_="openapi-above")
            if above
            else []
        )
        return [*prefix, *element("ul", made, class_="openapi-rows")]

    def openapi_columns(self, block: Block) -> Pieces:
        """Render the description of an operation, with requests and responses next to it."""
        return element("div", block.nodes, class_="openapi-columns")

    def openapi_sample(self, block: Block) -> Pieces:
        """Render a request as code: the first sample, and a menu of other languages and libraries. A script shows the
        samples for these."""
        data = block.data
        own = [each[0] for each in data.get("own") or ()]
        libraries: dict[str, list[str]] = {}
        for language, library in data.get("libraries") or ():
            libraries.setdefault(language, []).append(library)

        def button(language: str, library: str, *words: Piece) -> list[Piece]:
            return element("button", words, type="button", data_language=language, data_library=library)

        named = [
            *((label, "", label) for label in own),
            *((each, found[0], each) for each, found in libraries.items()),
        ]
        strip = [
            piece
            for language, library, label in named[:_FEW_LANGUAGES]
            for piece in button(language, library, label)
        ]
        listed: list[Piece] = []
        for language, library, label in named[_FEW_LANGUAGES:]:
            listed += element(
                "li", button(language, library, *element("span", [label]), *element("small", [library]))
            )
        chevron = Markup('<span class="i i-chevron"></span>')
        more = element("summary", [self.labels.api_more, chevron])
        menu = element("details", [*more, *element("ul", listed)], class_="picker end") if listed else []
        others = json.dumps([[each, *found] for each, found in libraries.items() if len(found) > 1])
        bar = element(
            "div", [*strip, *menu], class_="sample-bar scripted", role="group", aria_label=self.labels.tabs
        )
        return element(
            "div",
            [*bar, *block.nodes],
            class_="openapi-sample",
            data_call=text_of(data, "call"),
            data_own=json.dumps(data.get("own")) if own else None,
            data_libraries=others,
            data_examples=json.dumps(data.get("examples")) if data.get("examples") else None,
        )

    def openapi_examples(self, block: Block) -> Pieces:
        """Render several examples of the same value, one after another. A script then shows only the selected one."""
        names = json.dumps(self._texts(block.data.get("names")))
        return element("div", block.nodes, class_="openapi-examples", data_names=names)

    def openapi_part(self, block: Block) -> Pieces:
        """Render the heading for a part of an operation, such as its query parameters."""
        part = text_of(block.data, "part")
        id = self._mark_part(block, getattr(self.labels, f"api_{part}", "")) if part else None
        return element("p", block.nodes, class_="openapi-part", id=id, data_part=part)

    def _mark_part(self, block: Block, title: str) -> str | None:
        """Return the ID of a part of an operation and add the part to the outline. Inside collapsed
        content, return None instead."""
        id, level = text_of(block.data, "id"), block.data.get("level")
        if self._aside or not id or not isinstance(level, int):
            return None
        id = free_name(id, self._ids.__contains__)
        self._ids.add(id)
        self.outline.append(OutlineHeading(id, title, level))
        return id

    def openapi_limits(self, block: Block) -> Pieces:
        """Render the constraints of a value other than its type."""
        return element("p", block.nodes, class_="openapi-limits")

    def openapi_fold(self, block: Block) -> Pieces:
        """Render the fields inside a field, collapsed under a line that shows how many there are."""
        title, body = title_and_body(block)
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        of = self._fold_context(block)
        summary = element("summary", [chevron, *of, *element("span", only_paragraph(title))])
        inside = self._set_aside(element("div", body, class_="openapi-inside"))
        return element(
            "details",
            [*summary, *inside],
            class_="openapi-fold",
            id=text_of(block.data, "id"),
            open=block.data.get("open") is True,
        )

    @staticmethod
    def _fold_context(block: Block) -> Pieces:
        """Render the context of a collapsed section, because screen readers may read only its title."""
        of = text_of(block.data, "of")
        return element("span", [f"{of}: "], class_="hidden-text") if of else []

    def openapi_later(self, block: Block) -> Pieces:
        """Render a link to nested fields that only the page with all fields shows."""
        title = [n for f in block.fragments if f.fragment == "expandable-title" for n in f.nodes]
        chevron = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
        id = text_of(block.data, "id") or ""
        link = [chevron, *self._fold_context(block), *element("span", only_paragraph(title))]
        href = f"?{ALL_FIELDS}#{quote(id)}"
        return element("a", link, class_="openapi-later", id=id, href=href, rel="nofollow")

    def openapi_scheme(self, node: Inline) -> Pieces:
        """Render an authentication method as a link to its description."""
        page = self.context.authentication(text_of(node.data, "spec") or "")
        if page is None:
            return node.nodes
        return element("a", node.nodes, href=f"{page}#{quote(text_of(node.data, 'anchor') or '')}")

    def openapi_word(self, node: Inline) -> Pieces:
        """Render a predefined word in the page's language."""
        label = getattr(self.labels, f"api_{text_of(node.data, 'word')}", None)
        if not isinstance(label, str):
            return node.nodes
        words = label.replace("{name}", text_of(node.data, "name") or "")
        if text_of(node.data, "word") == "always":
            return element("span", [words], class_="openapi-always")
        tag = one_of(text_of(node.data, "word") or "", _FIELD_TAGS, None)
        if tag:
            return element("span", [words], class_=class_names("openapi-tag", tag))
        return [
            Text([Leaf(words, each.leaves[0].marks)])
            for each in node.nodes
            if isinstance(each, Text) and each.leaves
        ]

    def openapi_fields(self, block: Block) -> Pieces:
        """Render a list of parameters or properties."""
        self.operations = True
        return element("ul", block.nodes, class_="openapi-fields")

    def openapi_field(self, block: Block) -> Pieces:
        """Render one field, whose first paragraph contains its name and type."""
        head, *about = block.nodes
        if not isinstance(head, Block):
            return element("li", [head, *about])
        id = text_of(head.data, "id")
        link: Pieces = []
        if id:
            link = element(
                "a", [_FIELD_SIGN], href=f"#{quote(id)}", class_="field", aria_label=self.labels.link_to
            )
        return element("li", [*element("p", [*head.nodes, *link], class_="openapi-name"), *about], id=id)

    def _endpoint(self, method: str | None, path: str | None) -> list[Piece]:
        known = one_of((method or "").lower(), METHODS, None)
        sign = element("span", [method.upper()], class_=class_names("method", known)) if method else []
        return element("p", [*sign, " ", *element("code", self._path(path or ""))], class_="endpoint")

    def _path(self, address: str) -> list[Piece]:
        """Render a URL with its server muted and its parameters marked."""
        server = _SERVER.match(address)
        pieces: list[Piece] = element("span", [server[0]], class_="server") if server else []
        for part in _PARAMETER.split(address[server.end() if server else 0 :]):
            pieces += (
                element("span", [part], class_="parameter")
                if part.startswith("{")
                else [part]
                if part
                else []
            )
        return pieces

    def api_method(self, block: Block) -> Pieces:
        data = block.data
        method, path = text_of(data, "method"), text_of(data, "path")
        summary = text_of(data, "summary")
        head = element("p", element("strong", [summary])) if summary else []
        if method or path:
            head += self._endpoint(method, (text_of(data, "host") or "") + (path or ""))
        return element("section", [*head, *self._set_aside(block.nodes)], class_="api-method")

    def api_part(self, block: Block) -> Pieces:
        data = block.data
        title = next((v for k in ("name", "status") if (v := text_of(data, k))), None)
        facts = " · ".join(v for k in ("in", "type", "description") if (v := text_of(data, k)))
        head: list[Piece] = []
        if title:
            head = element(
                "p", [*element("code", [title]), " ", *element("small", [facts])], class_="api-part"
            )
        return [*head, *block.nodes]


def _shared(paths: Sequence[str]) -> str:
    """Return the most common prefix that has two or more segments and is shared by at least half of the paths. If
    several prefixes are equally common, return the longest. If none qualifies, or if there are fewer than four paths,
    return an empty string."""
    counts = Counter(
        "/".join(parts[:length])
        for parts in (path.split("/") for path in paths)
        for length in range(3, min(len(parts), 10))
    )
    often = [path for path, count in counts.items() if 2 * count >= len(paths) > 3]
    return max(often, key=lambda path: (counts[path], len(path)), default="")
