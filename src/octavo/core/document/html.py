"""Render document nodes as HTML.

Markup is built from pieces (``html_pieces``), so all text on the page is escaped, and all URLs are checked with
``safe_url``. This renderer handles text, media, and containers, and extends the renderers of code, tables, and API
references.

``delivery/reader/static/octavo.css`` defines all classes in the output. The output has no inline styles or scripts, and
is readable without JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from markupsafe import Markup

from ..url_parts import host_of, path_of
from .anchors import mark_places, slug
from .formulas import mathml
from .html_api import STATUSES, ApiRenderer
from .html_code import CodeRenderer
from .html_context import Html, HtmlContext, HtmlTarget, OutlineHeading
from .html_pieces import ALIGNED, Piece, Pieces, class_names, close_tag, element, open_tag, ref_of
from .html_tables import TableRenderer
from .nodes import Block, Document, Inline, Leaf, Text, plain_text, walk
from .parts import (
    COLORS,
    block_text,
    date_text,
    emoji,
    inert_text,
    number_of,
    object_of,
    one_of,
    only_paragraph,
    shown_words,
    size_text,
    text_of,
    title_and_body,
)
from .urls import player, safe_url

_LINE = 24
"""Height in pixels of an image in a line of text."""


def _has_words(node: Inline) -> bool:
    """Return whether a link needs no other label: it contains text or alternative text, or it contains no images."""
    pictures = [one for one in walk(node) if isinstance(one, Inline) and one.type == "inline-image"]
    return not pictures or bool(plain_text(node).strip()) or any(text_of(one.data, "alt") for one in pictures)


def render(document: Document, context: HtmlContext | None = None) -> Html:
    """Render a document as HTML for a reader. Any remaining conditions, expressions, and includes produce
    no output. Every link target gets its ID, which is written to the document (``mark_places``)."""
    renderer = _DocumentRenderer(context or HtmlContext(), mark_places(document))
    renderer.draw(document.nodes)
    renderer.failures.report()
    body = Markup("".join(renderer.out))  # noqa: S704
    return Html(
        body,
        tuple(renderer.outline),
        renderer.updates,
        renderer.diagrams,
        renderer.operations,
        renderer.together,
        renderer.changes,
        renderer.listing,
        renderer.heads,
        renderer.filtered,
    )


_HEADINGS = {"heading-1": 2, "heading-2": 3, "heading-3": 4}
_LISTS = frozenset(["list-ordered", "list-unordered", "list-tasks"])
_HINTS = ("info", "success", "warning", "danger")
_CALL = re.compile(r"((?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE)(?= /\S*$)|EVENT) (.+)")
_MEDIA = (".mp4", ".webm", ".mov", ".m4v")
_ASSISTANTS = {
    "chatgpt": ("ChatGPT", "https://chatgpt.com/?q={}"),
    "claude": ("Claude", "https://claude.ai/new?q={}"),
}
_PROMPT_URL_MAX = 6000


class _DocumentRenderer(CodeRenderer, TableRenderer, ApiRenderer):
    """Renderer of whole documents. It adds text, media, and containers to its base classes."""

    def paragraph(self, block: Block) -> Pieces:
        align = ALIGNED.get(text_of(block.data, "align") or "")
        return element("p", block.nodes, class_=align and f"align-{align}", dir=self._dir(block))

    def heading(self, block: Block) -> Pieces:
        level = _HEADINGS[block.type]
        given = block.data.get("level")
        if isinstance(given, int) and not isinstance(given, bool):
            level = min(max(given, 2), 6)
        title = shown_words(block)
        id = text_of(block.data, "id") or ""
        self._section = title
        if not self._aside and title:
            self.outline.append(OutlineHeading(id, title, level))
        align = ALIGNED.get(text_of(block.data, "align") or "")
        link: list[Piece] = []
        if self.context.anchors:
            link = element("a", [], class_="anchor", href=f"#{quote(id)}", aria_label=self.labels.link_to)
        return element(
            f"h{level}",
            [*block.nodes, *link],
            id=id,
            class_=align and f"align-{align}",
            dir=self._dir(block),
        )

    def list_ordered(self, block: Block) -> Pieces:
        start = block.data.get("start")
        first = int(start) if isinstance(start, (int, float)) and start != 1 and abs(start) < 1e9 else None
        return element("ol", block.nodes, start=first, dir=self._dir(block))

    def list_unordered(self, block: Block) -> Pieces:
        calls = [_call_of(item) for item in block.nodes]
        listed = [call for call in calls if call is not None]
        if listed and len(listed) == len(calls):
            return self._rows([(method, path, [link], None) for method, path, link in listed])
        return element("ul", block.nodes, dir=self._dir(block))

    def list_tasks(self, block: Block) -> Pieces:
        return element("ul", block.nodes, class_="tasks", dir=self._dir(block))

    def list_item(self, block: Block) -> Pieces:
        # Text next to any block other than a list keeps its paragraph spacing.
        others = [node for node in block.nodes[1:] if not (isinstance(node, Block) and node.type in _LISTS)]
        inside = list(block.nodes) if others else only_paragraph(block.nodes)
        checked = block.data.get("checked")
        if not isinstance(checked, bool):
            return element("li", inside)
        box = open_tag(
            "input",
            type="checkbox",
            disabled=True,
            checked=checked,
            aria_label=self.labels.done if checked else self.labels.open,
        )
        return element("li", [box, *element("div", inside)], class_="task")

    def divider(self, block: Block) -> Pieces:
        return [open_tag("hr")]

    def quote(self, block: Block) -> Pieces:
        return element("blockquote", block.nodes, dir=self._dir(block))

    def hint(self, block: Block) -> Pieces:
        style = one_of(block.data.get("style"), _HINTS, "info")
        icon = self.icon(block.data.get("icon")) or [Markup('<span class="icon"></span>')]
        body = self._set_aside(element("div", block.nodes, class_="hint-body"))
        return element(
            "div",
            [*icon, *body],
            class_=f"hint {style}",
            role="note",
            aria_label=getattr(self.labels, style or "info"),
        )

    def math(self, block: Block) -> Pieces:
        formula = text_of(block.data, "formula") or ""
        found = mathml(formula, block=True)
        if found is None:
            return [*element("pre", element("code", [formula]), class_="formula", tabindex="0")]
        return element("div", [found], class_="math", tabindex="0")

    # Media and references.

    def images(self, block: Block) -> Pieces:
        shown = [n for n in block.nodes if isinstance(n, Block)]
        align = one_of(block.data.get("align"), ("left", "right", "center"))
        return element(
            "div",
            shown,
            class_=class_names(
                "images",
                len(shown) > 1 and "gallery",
                align and f"at-{align}",
                block.data.get("withFrame") is True and "framed",
                block.data.get("fullWidth") is True and "wide",
            ),
        )

    def image(self, block: Block) -> Pieces:
        self._images += 1
        # The first image of a page is usually visible when the page opens.
        picture = self._picture(block.data, lazy=self._images > 1)
        if not picture:
            return []
        asset = self._asset(ref_of(block.data))
        if asset is not None:
            picture = element(
                "a",
                picture,
                class_="zoom",
                href=safe_url(asset.url),
                aria_label=text_of(block.data, "alt") or self.labels.larger,
                data_zoom=self.labels.close,
            )
        caption = self._caption(block)
        return element("figure", [*picture, *caption], class_="image")

    def _caption(self, block: Block) -> list[Piece]:
        nodes = [n for f in block.fragments if f.fragment == "caption" for n in f.nodes]
        if not any(plain_text(n).strip() or shown_words(n) for n in nodes):
            return []
        return element("figcaption", only_paragraph(nodes))

    def drawing(self, block: Block) -> Pieces:
        picture = self._picture(block.data, lazy=True)
        return (
            element("div", element("figure", picture, class_="image drawing"), class_="images")
            if picture
            else []
        )

    def file(self, block: Block) -> Pieces:
        asset = self._asset(ref_of(block.data))
        if asset is None:
            return []
        caption = self._caption(block)
        name = asset.name or unquote(path_of(asset.url).rsplit("/", 1)[-1])
        kind = name.rsplit(".", 1)[-1].upper()[:6] if "." in name else ""
        facts = " · ".join(part for part in (kind, size_text(asset.size) if asset.size else "") if part)
        inside = [
            Markup('<span class="i i-page" aria-hidden="true"></span>'),
            *element(
                "span",
                [*element("span", [name], class_="file-name"), *element("small", [facts])],
                class_="file-text",
            ),
            Markup('<span class="i i-download" aria-hidden="true"></span>'),
        ]
        link = element("a", inside, class_="file", href=safe_url(asset.url), download=name)
        return element("figure", [*link, *caption], class_="attached")

    def embed(self, block: Block) -> Pieces:
        url = safe_url(block.data.get("url"))
        if url is None:
            return []
        caption = self._caption(block)
        wide = block.data.get("fullWidth") is True and "wide"
        found = player(url)
        host = (host_of(url) or url).removeprefix("www.")
        if found is not None:
            text = self.labels.play.replace("{provider}", found.provider)
            inside = [
                Markup('<span class="play" aria-hidden="true"></span>'),
                *element("span", [text], class_="embed-text"),
                *element("small", [host]),
            ]
            link = element(
                "a",
                inside,
                class_=f"player {found.ratio}",
                href=url,
                rel="noopener",
                data_frame=found.src,
                data_title=self._words_of(caption) or found.provider,
            )
            return element("figure", [*link, *caption], class_=class_names("embed", wide))
        if path_of(url).lower().endswith(_MEDIA):
            video = element("video", element("a", [url], href=url), src=url, controls=True, preload="none")
            return element("figure", [*video, *caption], class_=class_names("embed", wide))
        target = self.context.link({"kind": "url", "url": url}) or HtmlTarget(href=url, external=True)
        return self._card(target, caption and self._words_of(caption) or target.title or url, host)

    def _card(self, target: HtmlTarget, title: str, line: str | None) -> list[Piece]:
        """Render a reference as a full-width card, or as text if it has no target."""
        link = self._anchor(target)
        sign: list[Piece] = self.icon(target.icon)
        if not sign:
            character = emoji(target.emoji)
            if character:
                sign = element("span", [character], class_="icon", aria_hidden="true")
            else:
                name = "i-link" if target.external else "i-page"
                sign = [open_tag("span", class_=f"i {name}", aria_hidden="true"), close_tag("span")]
        text = [*element("span", [title], class_="ref-title")]
        if line:
            text += element("span", [line], class_="ref-line")
        inside = [*sign, *element("span", text, class_="ref-text")]
        if link is None:
            return element("div", inside, class_="ref broken")
        inside.append(Markup('<span class="i i-forward" aria-hidden="true"></span>'))
        return element("a", inside, class_="ref", **link)

    def content_ref(self, block: Block) -> Pieces:
        target = self._target(ref_of(block.data)) or HtmlTarget()
        label = text_of(block.data, "label")
        url = text_of(object_of(block.data, "ref"), "url")
        return self._card(target, target.title or label or url or "", target.description)

    def reusable_content(self, block: Block) -> Pieces:
        """Render included content, which is stored in the node that includes it."""
        return block.nodes

    # Blocks that contain blocks.

    def expandable(self, block: Block) -> Pieces:
        title, body = title_and_body(block)
        words = only_paragraph(title)
        call = _call_at_end(words)
        summary = element(
            "summary",
            [
                Markup('<span class="i i-chevron" aria-hidden="true"></span>'),
                *(self._called(*call) if call else element("span", words)),
            ],
        )
        inside = self._set_aside(element("div", body, class_="expandable-body"))
        return element(
            "details",
            [*summary, *inside],
            class_=class_names("expandable", call and "openapi-change"),
            id=text_of(block.data, "id"),
            open=block.data.get("open") is True,
        )

    def tabs(self, block: Block) -> Pieces:
        items = [n for n in block.nodes if isinstance(n, Block)]
        if not items:
            return []
        base = self._own_id("tabs")
        buttons: list[Piece] = []
        panels: list[Piece] = []
        for number, item in enumerate(items):
            title = text_of(item.data, "title") or str(number + 1)
            tab, panel = f"{base}-tab-{number + 1}", f"{base}-panel-{number + 1}"
            first = number == 0
            # The script derives simple names from the title.
            chosen_by = slug(text_of(item.data, "slug") or "") or slug(title) or None
            code = text_of(item.data, "status")
            hue = class_names("dot", STATUSES.get(code[:1])) if code else None
            dot = element("span", [], class_=hue, aria_hidden="true") if hue else []
            label = [*dot, *self.icon(item.data.get("icon")), title]
            buttons += element(
                "button",
                label,
                type="button",
                role="tab",
                id=tab,
                aria_controls=panel,
                aria_selected="true" if first else "false",
                tabindex="0" if first else "-1",
                data_slug=chosen_by if chosen_by != title.strip().lower().replace(" ", "-") else None,
            )
            # Without JavaScript the tab bar is hidden and every panel is shown under its own title.
            content = [*element("p", label, class_="tab-title"), *item.nodes]
            panels += element(
                "div",
                content,
                role="tabpanel",
                id=panel,
                aria_labelledby=tab,
                tabindex="0" if first else "-1",
                hidden=None if first else "until-found",
            )
        strip = element("div", buttons, role="tablist", aria_label=self.labels.tabs)
        wide = block.data.get("fullWidth") is True and "wide"
        shapes = block.data.get("shapes") is True and "shapes"
        return element("div", [*strip, *self._set_aside(panels)], class_=class_names("tabs", wide, shapes))

    def stepper(self, block: Block) -> Pieces:
        return element("ol", block.nodes, class_="stepper")

    def stepper_step(self, block: Block) -> Pieces:
        mark = element("span", self.icon(block.data.get("icon")), class_="step-mark", aria_hidden="true")
        return element("li", [*mark, *element("div", block.nodes, class_="step-body")], class_="step")

    def columns(self, block: Block) -> Pieces:
        wide = block.data.get("fullWidth") is True and "wide"
        return element("div", block.nodes, class_=class_names("columns", wide))

    def column(self, block: Block) -> Pieces:
        width = block.data.get("width")
        part = None
        if isinstance(width, dict) and width.get("unit") == "%":
            number = number_of(width.get("value"), 100)
            # Inline styles are not allowed, so widths are classes, in steps of a twelfth.
            part = f"of-{min(max(round(number * 12 / 100), 1), 12)}" if number else None
        vertical = one_of(block.data.get("verticalAlignment"), ("middle", "bottom"))
        return element("div", block.nodes, class_=class_names("column", part, vertical and f"at-{vertical}"))

    def updates_list(self, block: Block) -> Pieces:
        return element("div", block.nodes, class_="updates")

    def update(self, block: Block) -> Pieces:
        self.updates = True
        day = text_of(block.data, "date") or ""
        id = text_of(block.data, "id") or ""
        when = element(
            "a", element("time", [date_text(day)], datetime=day), href=f"#{quote(id)}", class_="update-date"
        )
        tags = block.data.get("tags")
        labels: list[Piece] = []
        for tag in tags if isinstance(tags, list) else ():
            if isinstance(tag, str) and tag.strip():
                labels += element("span", [tag.strip()], class_="tag")
        side = element("header", [*when, *(element("div", labels, class_="tags") if labels else ())])
        return element(
            "section", [*side, *element("div", block.nodes, class_="update-body")], class_="update", id=id
        )

    def prompt(self, block: Block) -> Pieces:
        data = block.data
        text = "\n\n".join(block_text(n) for n in block.nodes if isinstance(n, Block)).strip()
        id = self._own_id("prompt")
        sign = self.icon(data.get("icon")) or [Markup('<span class="i i-spark" aria-hidden="true"></span>')]
        head = [
            *sign,
            *element("span", [text_of(data, "description") or self.labels.prompt], class_="prompt-title"),
        ]
        actions: list[Piece] = element(
            "button",
            [self.labels.copy],
            type="button",
            class_="button secondary small",
            data_copy=f"#{id}",
            data_done=self.labels.copied,
        )
        wanted = (text_of(data, "openInAIProviders") or "").lower()
        for key, (name, address) in _ASSISTANTS.items():
            if (key in wanted or wanted in ("true", "all")) and len(quote(text)) < _PROMPT_URL_MAX:
                actions += element(
                    "a",
                    [self.labels.open_in.replace("{provider}", name)],
                    class_="button secondary small",
                    href=address.replace("{}", quote(text, safe="")),
                    target="_blank",
                    rel="noopener",
                )
        body = element("pre", [text], id=id, class_="prompt-text", tabindex="0")
        shown = text_of(data, "defaultExpanded")
        if shown is None:
            more = Markup('<span class="i i-chevron" aria-hidden="true"></span>')
            body = element("details", [*element("summary", [more, self.labels.show_more]), *body])
        return element(
            "section",
            [
                *element("header", [*head, *element("span", actions, class_="prompt-actions")]),
                *body,
            ],
            class_=class_names("prompt", shown == "partial" and "partial"),
        )

    def integration(self, block: Block) -> Pieces:
        """Render the fallback content of an integration's block. Scripts replace the fallback content with
        the integration's own."""
        shown = self._without_integration(block)
        address = self.context.integration(block.data)
        if address is None:
            return shown
        if not shown:
            name = text_of(block.data, "integration") or ""
            link = element("a", [self.labels.play.replace("{provider}", name)], href=address, rel="nofollow")
            shown = element("p", link)
        return element("div", shown, class_="integration", data_block=address)

    def _without_integration(self, block: Block) -> Pieces:
        url = safe_url(block.data.get("url"))
        props = object_of(block.data, "props")
        if url is None:
            url = safe_url(props.get("url")) if isinstance(props.get("url"), str) else None
        if url:
            return self.embed(Block("embed", {"url": url}))
        content = next((v for k in ("content", "body", "code") if isinstance(v := props.get(k), str)), None)
        if content is None:
            return []
        lines = [Block("code-line", {}, [Text([Leaf(t)])]) for t in content.split("\n")]
        if text_of(block.data, "integration") == "mermaid":
            return [Block("code", {"syntax": "mermaid"}, list(lines))]
        return [Block("code", {"title": text_of(block.data, "block") or ""}, list(lines))]

    def unknown(self, block: Block) -> Pieces:
        text = inert_text(block)
        shown = element("pre", [text], class_="raw", tabindex="0") if text else []
        inside = [*shown, *block.nodes]
        id = text_of(block.data, "id")
        return element("div", inside, id=id) if id else inside

    # Inlines.

    def link(self, node: Inline) -> Pieces:
        target = self._target(ref_of(node.data))
        link = self._anchor(target)
        if link is None:
            return element("span", node.nodes, class_="broken")
        id = text_of(node.data, "id")
        title = text_of(node.data, "title")
        # An image without alternative text would leave the link without a name.
        name = None if title or _has_words(node) else target and (target.title or target.href)
        return element("a", node.nodes, title=title, id=id, aria_label=name, **link)

    def emoji(self, node: Inline) -> Pieces:
        character = emoji(node.data.get("code"))
        return element("span", [character], class_="emoji") if character else []

    def icon_inline(self, node: Inline) -> Pieces:
        color = COLORS.get(text_of(node.data, "color") or "")
        svg = self.icon(node.data.get("icon"))
        return element("span", svg, class_=f"c-{color}") if svg and color else svg

    def place(self, node: Inline) -> Pieces:
        """Render an HTML element that has no meaning in documents. Only its ID is kept, because links may point to
        it."""
        id = text_of(node.data, "id")
        return element("span", [], id=id) if id else []

    def inline_math(self, node: Inline) -> Pieces:
        formula = text_of(node.data, "formula") or ""
        return [mathml(formula)] if mathml(formula) is not None else element("code", [formula])  # type: ignore[list-item]

    def inline_image(self, node: Inline) -> Pieces:
        size = "line" if node.data.get("size") == "line" else "original"
        line = _LINE if size == "line" else None
        return self._picture(node.data, lazy=True, class_=f"image-{size}", line=line)

    def annotation(self, node: Inline) -> Pieces:
        return self._note_button(node, node.nodes)

    def mention(self, node: Inline) -> Pieces:
        ref = ref_of(node.data)
        return self._reference(ref, text_of(node.data, "label")) if ref is not None else []

    def button(self, node: Inline) -> Pieces:
        data = node.data
        kind = one_of(data.get("kind"), ("primary", "secondary"), "primary")
        inside = [*self.icon(data.get("icon")), *element("span", [text_of(data, "label") or ""])]
        look = class_names("button", kind, one_of(data.get("size"), ("small", "large")))
        chosen = slug(text_of(data, "slug") or "")
        if data.get("action") == "select" and chosen:
            # Without JavaScript, the content of all tabs is visible.
            return element("button", inside, type="button", class_=f"{look} scripted", data_select=chosen)
        action = one_of(data.get("action"), ("ask", "search"))
        if action is not None:
            query = text_of(data, "query") or ""
            # Where no assistant is available, search for the words instead.
            address = self.context.ask(query) if action == "ask" else None
            if address is None:
                action, address = "search", self.context.search(query)
            href = safe_url(address)
            if href is not None:
                return element("a", inside, class_=look, href=href, data_action=action, data_query=query)
        link = self._anchor(self._target(ref_of(data)))
        if link is None:
            return element("span", inside, class_=f"{look} off", aria_disabled="true")
        return element("a", inside, class_=look, **link)


_DocumentRenderer.blocks = {
    "paragraph": _DocumentRenderer.paragraph,
    "heading-1": _DocumentRenderer.heading,
    "heading-2": _DocumentRenderer.heading,
    "heading-3": _DocumentRenderer.heading,
    "list-ordered": _DocumentRenderer.list_ordered,
    "list-unordered": _DocumentRenderer.list_unordered,
    "list-tasks": _DocumentRenderer.list_tasks,
    "list-item": _DocumentRenderer.list_item,
    "divider": _DocumentRenderer.divider,
    "blockquote": _DocumentRenderer.quote,
    "hint": _DocumentRenderer.hint,
    "code": _DocumentRenderer.code,
    "math": _DocumentRenderer.math,
    "images": _DocumentRenderer.images,
    "image": _DocumentRenderer.image,
    "file": _DocumentRenderer.file,
    "drawing": _DocumentRenderer.drawing,
    "embed": _DocumentRenderer.embed,
    "content-ref": _DocumentRenderer.content_ref,
    "reusable-content": _DocumentRenderer.reusable_content,
    "expandable": _DocumentRenderer.expandable,
    "tabs": _DocumentRenderer.tabs,
    "stepper": _DocumentRenderer.stepper,
    "stepper-step": _DocumentRenderer.stepper_step,
    "columns": _DocumentRenderer.columns,
    "column": _DocumentRenderer.column,
    "table": _DocumentRenderer.table,
    "swagger": _DocumentRenderer.openapi,
    "openapi-operation": _DocumentRenderer.openapi,
    "openapi-schemas": _DocumentRenderer.openapi,
    "openapi-webhook": _DocumentRenderer.openapi,
    "openapi-try": _DocumentRenderer.openapi_try,
    "openapi-head": _DocumentRenderer.openapi_head,
    "openapi-block": _DocumentRenderer.openapi_block,
    "openapi-facts": _DocumentRenderer.openapi_facts,
    "openapi-columns": _DocumentRenderer.openapi_columns,
    "openapi-sample": _DocumentRenderer.openapi_sample,
    "openapi-examples": _DocumentRenderer.openapi_examples,
    "openapi-part": _DocumentRenderer.openapi_part,
    "openapi-limits": _DocumentRenderer.openapi_limits,
    "openapi-fold": _DocumentRenderer.openapi_fold,
    "openapi-listing": _DocumentRenderer.openapi_listing,
    "openapi-later": _DocumentRenderer.openapi_later,
    "openapi-values": _DocumentRenderer.openapi_values,
    "openapi-answer": _DocumentRenderer.openapi_answer,
    "openapi-rows": _DocumentRenderer.openapi_rows,
    "openapi-fields": _DocumentRenderer.openapi_fields,
    "openapi-field": _DocumentRenderer.openapi_field,
    "integration": _DocumentRenderer.integration,
    "updates": _DocumentRenderer.updates_list,
    "update": _DocumentRenderer.update,
    "prompt": _DocumentRenderer.prompt,
    "api-method": _DocumentRenderer.api_method,
    "api-part": _DocumentRenderer.api_part,
    "unknown": _DocumentRenderer.unknown,
}
_DocumentRenderer.inlines = {
    "link": _DocumentRenderer.link,
    "emoji": _DocumentRenderer.emoji,
    "icon": _DocumentRenderer.icon_inline,
    "unknown": _DocumentRenderer.place,
    "inline-math": _DocumentRenderer.inline_math,
    "inline-image": _DocumentRenderer.inline_image,
    "annotation": _DocumentRenderer.annotation,
    "openapi-word": _DocumentRenderer.openapi_word,
    "openapi-scheme": _DocumentRenderer.openapi_scheme,
    "mention": _DocumentRenderer.mention,
    "button": _DocumentRenderer.button,
}


def _call_of(item: Block | Inline | Text) -> tuple[str, str, Inline] | None:
    """Return the method, path, and link of the operation that a list item links to. The item must consist of a link
    with the method and path after or inside it. Return None for any other item."""
    inside = only_paragraph(item.nodes) if isinstance(item, Block) and "checked" not in item.data else []
    nodes = [node for node in inside if not (isinstance(node, Text) and not plain_text(node).strip())]
    if len(nodes) not in (1, 2) or not isinstance(nodes[0], Inline) or nodes[0].type != "link":
        return None
    if isinstance(nodes[-1], Block):
        return None
    call = _CALL.fullmatch(plain_text(nodes[-1]).strip())
    if call is None:
        return None
    method, path, link = call[1], call[2], nodes[0]
    if plain_text(link).strip() in (path, f"{method} {path}"):
        link = Inline("link", link.data, [Text([Leaf(path)])])
    return method, path, link


def _call_at_end(words: Sequence[Block | Inline | Text]) -> tuple[str, str, Text] | None:
    """Return the method and path of the operation that a line describes, and the words before them. The line must start
    with a bold name and end with the method and path. Return None for any other line."""
    leaves = [leaf for node in words if isinstance(node, Text) for leaf in node.leaves]
    if len(leaves) < 3 or not all(isinstance(node, Text) for node in words):
        return None
    marks = [{mark.type for mark in leaves[n].marks} for n in (0, -1)]
    call = _CALL.fullmatch(leaves[-1].text.strip()) if marks == [{"bold"}, {"code"}] else None
    return (call[1], call[2], Text(leaves[:-1])) if call is not None else None
