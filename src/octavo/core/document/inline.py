"""Convert inline tokens to nodes, such as text leaves with marks, links, images, icons, emoji, buttons, and
annotations.

HTML tags that documents support become marks or nodes. Other HTML elements are kept as invisible ``unknown`` inlines
around their content. Tags that HTML doesn't define are text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from markdown_it.token import Token

from .flanking import is_unspaced
from .markdown import MEDIA, label_of, safe_url
from .nodes import NO_MARKS, Block, Data, Fragment, Inline, Leaf, Mark, Text
from .schema import BUTTON_SIZES, COLORS

Inlines = list[Text | Inline]
Footnote = Callable[[str], list[Block] | None]
"""Function that returns the blocks that define a footnote's label, or None if the label isn't defined."""

BOLD, ITALIC, CODE = Mark("bold"), Mark("italic"), Mark("code")
STRIKE, KEY, SUB, SUP = Mark("strikethrough"), Mark("keyboard"), Mark("subscript"), Mark("superscript")

FIXED_ID = re.compile(r"[^\s\"<>&]+")
"""Pattern of an ID that an author gives a heading. Letters of all scripts are allowed."""
HEADING_ID = re.compile(r"(?<!\\)\{:?[ \t]{0,4}#(?P<id>[^\s\"<>&{}\\`]{1,200})[ \t]{0,4}\}\Z")
"""Pattern of a heading's ID in the format that many tools use: ``## Types {#module-types}``."""
ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|((?:[^\s"'=<>`]++))))?+""")
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(.*?)/?>\Z", re.DOTALL)
_STYLE = re.compile(r"(background-color|color)\s*:\s*([$\w-]+)")
_URL = re.compile(
    r"(?<![\w/])(?:https?://|www\.)[^\s<]+"
    r"|(?<![\w/.+-])(?P<mail>(?:mailto:)?[A-Za-z0-9._+-]++@[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)++(?<=[A-Za-z]))"
)
"""URLs and email addresses that become links without markup."""
_EMOJI = re.compile(r":([a-z0-9_+-]+):")
_EMOJI_BEGUN = re.compile(r":([a-z0-9_+-]+)\Z")
_LONGEST_NAME = 80
_MARKS_BESIDE = 16
"""Maximum number of marks to skip when looking for the character next to a line break."""

ELEMENTS = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "address",
        "area",
        "article",
        "aside",
        "audio",
        "b",
        "base",
        "bdi",
        "bdo",
        "big",
        "blockquote",
        "body",
        "br",
        "button",
        "canvas",
        "caption",
        "center",
        "cite",
        "code",
        "col",
        "colgroup",
        "data",
        "datalist",
        "dd",
        "del",
        "details",
        "dfn",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "em",
        "embed",
        "fieldset",
        "figcaption",
        "figure",
        "font",
        "footer",
        "form",
        "frame",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "i",
        "iframe",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "legend",
        "li",
        "link",
        "main",
        "map",
        "mark",
        "menu",
        "meta",
        "meter",
        "nav",
        "nobr",
        "noscript",
        "object",
        "ol",
        "optgroup",
        "option",
        "output",
        "p",
        "param",
        "picture",
        "pre",
        "progress",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "script",
        "search",
        "section",
        "select",
        "slot",
        "small",
        "source",
        "span",
        "strike",
        "strong",
        "style",
        "sub",
        "summary",
        "sup",
        "svg",
        "table",
        "tbody",
        "td",
        "template",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "track",
        "tt",
        "u",
        "ul",
        "var",
        "video",
        "wbr",
    ]
)
_MARKS = {
    "b": BOLD,
    "strong": BOLD,
    "i": ITALIC,
    "em": ITALIC,
    "code": CODE,
    "del": STRIKE,
    "s": STRIKE,
    "strike": STRIKE,
    "sub": SUB,
    "sup": SUP,
    "kbd": KEY,
}
_TOKEN_MARKS = {"strong": BOLD, "em": ITALIC, "s": STRIKE}
_VOID = frozenset(["img", "br", "source", "wbr", "hr", "input"])


def url_ref(url: str) -> Data:
    """Return a reference in its original form. A later step resolves the reference to a page or file."""
    return {"kind": "url", "url": url}


def attributes(text: str) -> dict[str, str]:
    """Parse ``a="1" b='2' c`` as a dict. An attribute without a value has the value "". If an attribute is repeated,
    the first value is used. URLs that run scripts are omitted."""
    found: dict[str, str] = {}
    for name, double, single, bare in ATTRIBUTE.findall(text):
        found.setdefault(name, html.unescape(double or single or bare))
    for name in _ADDRESSES & found.keys():
        if not safe_url(found[name]):
            del found[name]
    return found


_ADDRESSES = frozenset(["href", "src", "srcset"])


def length(value: str) -> object:
    """Parse ``"375"`` as 375 pixels and ``"50%"`` as a Length in percent; return None for other text."""
    match = re.fullmatch(r"\s*(\d{1,7}(?:\.\d{1,20})?)\s*(px|%|[a-z]{1,4})?\s*", value)
    if match is None:
        return None
    number = float(match[1])
    number = int(number) if number.is_integer() else number
    return number if match[2] in (None, "px") else {"unit": match[2], "value": number}


@lru_cache(maxsize=4096)
def emoji_code(name: str) -> str | None:
    """Return the code points of a short name in hyphenated hexadecimal, or None if it isn't an emoji."""
    from rich.emoji import Emoji, NoEmoji

    try:
        found = str(Emoji(name))
    except NoEmoji:
        return None
    return "-".join(f"{ord(char):x}" for char in found)


class _Builder:
    """Builder of one paragraph's nodes from its tokens. ``stack``: the output lists of the open links.
    ``counts``: the number of times that each of ``marks`` is open."""

    def __init__(self, footnote: Footnote | None) -> None:
        self._out: Inlines = []
        self._leaf: Leaf | None = None
        self._parts: list[str] = []
        """Pieces of the last leaf's text. They are joined only once, because a paragraph of punctuation can have a
        million pieces."""
        self.stack: list[tuple[Inlines, Inline]] = []
        self.marks: list[Mark] = []
        self.counts: list[int] = []
        self.footnote = footnote

    @property
    def out(self) -> Inlines:
        self._join()
        return self._out

    def _join(self) -> None:
        if self._leaf is not None:
            self._leaf.text = "".join(self._parts)
            self._leaf = None

    def text(self, text: str) -> None:
        if not text:
            return
        marks = self.marks[:] if self.marks else NO_MARKS
        if self._leaf is not None and self._leaf.marks == marks:
            self._parts.append(text)
            return
        out = self.out
        if out and isinstance(last := out[-1], Text):
            leaf = last.leaves[-1]
            if leaf.marks == marks:
                self._leaf, self._parts = leaf, [leaf.text, text]
                return
            leaf = Leaf(text, marks)
            last.leaves.append(leaf)
        else:
            leaf = Leaf(text, marks)
            out.append(Text([leaf]))
        self._leaf, self._parts = leaf, [text]

    def add(self, node: Inline) -> None:
        self.out.append(node)

    def open(self, node: Inline) -> None:
        self.out.append(node)
        self.stack.append((self._out, node))
        self._out = node.nodes

    def close(self) -> Inline:
        self._join()
        self._out, node = self.stack.pop()
        return node

    def mark(self, mark: Mark) -> None:
        if mark in self.marks:
            self.counts[self.marks.index(mark)] += 1
        else:
            self.marks.append(mark)
            self.counts.append(1)

    def unmark(self, mark: Mark) -> None:
        at = self.marks.index(mark)
        self.counts[at] -= 1
        if not self.counts[at]:
            del self.marks[at], self.counts[at]


def inlines(tokens: Sequence[Token], footnote: Footnote | None = None) -> Inlines:
    """Return the nodes of one run of inline tokens. ``footnote``: a function that returns the blocks that define a
    label."""
    build = _Builder(footnote)
    ends = _pairs(tokens) if any(token.type == "html_inline" for token in tokens) else {}
    index, count = 0, len(tokens)
    closing: dict[int, Callable[[], object]] = {}
    while index < count:
        token = tokens[index]
        kind = token.type
        if kind == "text":
            last = _end_of_short_names(tokens, index) if ":" in token.content else index
            _plain(build, "".join(part.content for part in tokens[index : last + 1]))
            index = last
        elif kind == "softbreak":
            between = _character_at(tokens, index - 1, -1), _character_at(tokens, index + 1, 1)
            build.text("" if all(map(is_unspaced, between)) else " ")
        elif kind == "hardbreak":
            build.text("\n")
        elif kind == "code_inline":
            build.mark(CODE)
            build.text(token.content)
            build.unmark(CODE)
        elif kind == "text_special":
            build.text(token.content)
        elif kind == "html_inline":
            index = _html(build, tokens, index, ends, closing)
        elif kind == "link_open":
            _open_link(build, token)
        elif kind == "link_close":
            _close_link(build, tokens, index)
        elif kind == "image":
            build.add(_image(token))
        elif kind == "math_inline":
            build.add(Inline("inline-math", {"formula": token.content.strip()}))
        elif kind == "footnote_ref":
            _annotate(build, token)
        elif token.nesting > 0:
            build.mark(_TOKEN_MARKS[token.tag])
        elif token.nesting < 0:
            build.unmark(_TOKEN_MARKS[token.tag])
        index += 1
    return build.out


def _character_at(tokens: Sequence[Token], at: int, step: int) -> str:
    """Return the character next to a line break, ignoring the marks that start or end at the line break."""
    for _ in range(_MARKS_BESIDE):
        if not 0 <= at < len(tokens):
            break
        token = tokens[at]
        if token.content and token.type != "html_inline":
            return token.content[-1 if step < 0 else 0]
        if token.type in ("softbreak", "hardbreak", "image"):
            break
        at += step
    return ""


def _end_of_short_names(tokens: Sequence[Token], index: int) -> int:
    """Return the index of the last token that belongs to the text at ``index``. Emoji names can consist of several
    tokens, because some exporters escape the underscore in names such as ``:a_b:``."""
    last = index
    while begun := _EMOJI_BEGUN.search(tokens[last].content):
        name, at = begun[1], last
        while at + 2 < len(tokens) and tokens[at + 1].markup == "\\_" and tokens[at + 2].type == "text":
            at += 2
            more, colon, _ = tokens[at].content.partition(":")
            name += "_" + more
            if colon or len(name) > _LONGEST_NAME:
                break
        if at == last or ":" not in tokens[at].content or emoji_code(name) is None:
            break
        last = at
    return last


def plain_inlines(text: str) -> Inlines:
    """Return the nodes of text that contains no character that starts an inline rule: text, URLs, and emoji."""
    build = _Builder(None)
    _plain(build, text)
    return build.out


def plain(nodes: Sequence[Text | Inline]) -> str:
    """Return the text of the nodes, without their marks."""
    texts: list[str] = []
    stack: list[Any] = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, Text):
            texts.extend(leaf.text for leaf in node.leaves)
        else:
            stack.extend(reversed(node.nodes))
    return "".join(texts)


def _plain(build: _Builder, text: str) -> None:
    if "://" in text or "www." in text or "@" in text:
        at = 0
        for match in _URL.finditer(text):
            url = match["mail"] or _trim_url(match[0])
            if build.stack or (not match["mail"] and len(url) < 9):
                continue
            _emojis(build, text[at : match.start()])
            if match["mail"]:
                href = url if url.startswith("mailto:") else "mailto:" + url
            else:
                href = url if "://" in url else "http://" + url
            build.open(Inline("link", {"ref": url_ref(href)}))
            build.text(url)
            build.close()
            at = match.start() + len(url)
        text = text[at:]
    _emojis(build, text)


def _emojis(build: _Builder, text: str) -> None:
    if text.count(":") > 1:
        at = 0
        for match in _EMOJI.finditer(text):
            code = emoji_code(match[1])
            if code is not None:
                build.text(text[at : match.start()])
                build.add(Inline("emoji", {"code": code}))
                at = match.end()
        text = text[at:]
    build.text(text)


def _trim_url(url: str) -> str:
    """Return the URL without trailing punctuation and unmatched closing parentheses."""
    end, unopened = len(url), url.count(")") - url.count("(")
    while end:
        if url[end - 1] == ")" and unopened > 0:
            unopened -= 1
        elif url[end - 1] not in "?!.,:*_~'\";":
            break
        end -= 1
    return url[:end]


def _open_link(build: _Builder, token: Token) -> None:
    data: Data = {"ref": url_ref(str(token.attrs.get("href", "")))}
    if title := token.attrs.get("title"):
        data["title"] = title
    build.open(Inline("link", data))


def _close_link(build: _Builder, tokens: Sequence[Token], index: int) -> None:
    node = build.close()
    data = node.data
    if data.get("title") == "mention":
        label = plain(node.nodes)
        node.type, node.nodes = "mention", []
        del data["title"]
        if label and label != data["ref"]["url"]:
            data["label"] = label
    elif not node.nodes:
        pass
    elif (
        index + 1 < len(tokens)
        and tokens[index + 1].type == "footnote_ref"
        and data["ref"]["url"].startswith("#user-content-fn-")
    ):
        build.out.pop()
        build.out.append(Inline("annotation", {}, node.nodes))


def _annotate(build: _Builder, token: Token) -> None:
    label = token.info
    body = build.footnote(label) if build.footnote else []
    fragment = Fragment(label, body or [Block("paragraph")], "annotation-body")
    last = build.out[-1] if build.out else None
    if isinstance(last, Inline) and last.type == "annotation" and not last.fragments:
        last.fragments = [fragment]
        return
    build.add(Inline("annotation", {}, [], [fragment]))


def _image(token: Token) -> Inline:
    data: Data = {"ref": url_ref(str(token.attrs["src"]))}
    if token.content:
        data["alt"] = plain(inlines(token.children or []))
    if title := token.attrs.get("title"):
        data["caption"] = title
    return Inline("inline-image", data)


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """Return a map from the index of each opening HTML tag in a run of Markdown to the index of its end tag, and vice
    versa."""
    pairs: dict[int, int] = {}
    opened: dict[tuple[str, int], list[int]] = {}
    for index, token in enumerate(tokens):
        if token.type == "html_inline" and (match := _TAG.match(token.content)):
            name = match[2].lower()
            if match[1]:
                if waiting := opened.get((name, token.level)):
                    start = waiting.pop()
                    pairs[start], pairs[index] = index, start
            elif name not in _VOID:
                opened.setdefault((name, token.level), []).append(index)
    return pairs


def _html(
    build: _Builder,
    tokens: Sequence[Token],
    index: int,
    ends: dict[int, int],
    closing: dict[int, Callable[[], object]],
) -> int:
    """Handle the HTML tag at ``index``, and return the index of the last token used."""
    token = tokens[index]
    if index in closing:
        closing.pop(index)()
        return index
    match = _TAG.match(token.content)
    if match is None:
        build.add(Inline("unknown", {"source": token.content, "kind": "comment"}))
        return index
    name, end = match[2].lower(), ends.get(index)
    if match[1]:
        _inert(build, name, token.content)
        return index
    if name == "br":
        build.text("\n")
        return index
    attrs = attributes(match[3])
    if name == "img":
        if "src" in attrs:
            build.add(inline_image(attrs))
        else:
            _inert(build, name, token.content)
        return index
    if end is None:
        _inert(build, name, token.content)
        return index
    node = _element(name, attrs, lambda: tokens[index + 1 : end], build)
    if node is not None:
        if node.type == "link" and not node.nodes:
            build.open(node)
            closing[end] = build.close
            return index
        build.add(node)
        return end
    mark = _mark(name, attrs)
    if mark is not None:
        build.mark(mark)
        closing[end] = lambda: build.unmark(mark)
    else:
        _inert(build, name, token.content)
    return index


def _inert(build: _Builder, name: str, source: str) -> None:
    if name in ELEMENTS:
        build.add(Inline("unknown", {"source": source, "kind": "html"}))
    else:
        build.text(source)


def _mark(name: str, attrs: dict[str, str]) -> Mark | None:
    if name == "mark":
        style = dict((key, value) for key, value in _STYLE.findall(attrs.get("style", "")))
        text, background = style.get("color", "default"), style.get("background-color", "default")
        if text in COLORS and background in COLORS and len(attrs) <= 1:
            return Mark("color", {"text": text, "background": background})
        return None
    if attrs and not (name == "code" and set(attrs) <= {"class"}):
        return None
    return _MARKS.get(name)


def _said(tokens: Sequence[Token]) -> str:
    return "".join(
        " " if t.type == "softbreak" else t.content for t in tokens if t.type != "html_inline" and t.content
    )


def _element(
    name: str, attrs: dict[str, str], content: Callable[[], Sequence[Token]], build: _Builder
) -> Inline | None:
    """Return the node of an element whose end is known, or None if it is a mark or an unsupported element."""
    classes = attrs.get("class", "").split()
    icon = next((c[3:] for c in classes if c.startswith("fa-") and len(c) > 3), None)
    if name == "i" and icon:
        data: Data = {"icon": icon}
        color = dict(_STYLE.findall(attrs.get("style", ""))).get("color")
        if color in COLORS:
            data["color"] = color
        return Inline("icon", data)
    if name == "span" and attrs.get("data-tag") == "emoji" and attrs.get("data-code"):
        return Inline("emoji", {"code": attrs["data-code"].lower()})
    if name == "code" and "expression" in classes:
        return Inline("expression", {"expression": _said(content())})
    if name in ("a", "button") and "button" in classes:
        return _button(name, attrs, classes, content())
    if name == "picture":
        return _picture(content())
    if name in MEDIA and not build.stack:
        return _media(attrs, content())
    if name == "a" and (href := attrs.get("href")) is not None and safe_url(href):
        if "data-footnote-ref" in attrs and href.startswith("#user-content-fn-"):
            label = label_of(href[len("#user-content-fn-") :])
            body = build.footnote(label) if build.footnote else []
            if body is not None:
                nodes = [node for node in inlines(content()) if isinstance(node, Text)]
                note = Fragment(label, body or [Block("paragraph")], "annotation-body")
                return Inline("annotation", {}, list(nodes), [note])
        if "data-mention" in attrs:
            label = _said(content())
            return Inline(
                "mention", {"ref": url_ref(href)} | ({"label": label} if label not in ("", href) else {})
            )
        if build.stack or (attrs.get("id") and not content()):
            return None
        data = {"ref": url_ref(href)}
        if attrs.get("title"):
            data["title"] = attrs["title"]
        if rest := {k: v for k, v in attrs.items() if k not in ("href", "title")}:
            data["attributes"] = rest
        return Inline("link", data)
    return None


def _button(name: str, attrs: dict[str, str], classes: list[str], inner: Sequence[Token]) -> Inline | None:
    data: Data = {"label": _said(inner), "kind": "secondary" if "secondary" in classes else "primary"}
    if icon := attrs.get("data-icon"):
        data["icon"] = icon
    if name == "a" and attrs.get("href"):
        if not safe_url(attrs["href"]):
            return None
        data["ref"] = url_ref(attrs["href"])
    if attrs.get("data-action"):
        data["action"] = attrs["data-action"]
    if attrs.get("data-query"):
        data["query"] = attrs["data-query"]
    if attrs.get("data-slug"):
        data["slug"] = attrs["data-slug"]
    if attrs.get("data-size") in BUTTON_SIZES:
        data["size"] = attrs["data-size"]
    return Inline("button", data)


def _media(attrs: dict[str, str], inner: Sequence[Token]) -> Inline | None:
    """Return a link to a video or audio file in a line of text, with all attributes of the original element."""
    inside = (
        attributes(found[3])
        for token in inner
        if (found := _TAG.match(token.content)) and found[2] == "source"
    )
    url = attrs.get("src") or next((given["src"] for given in inside if given.get("src")), None)
    if not url or not safe_url(url):
        return None
    return Inline("link", {"ref": url_ref(url)}, [Text([Leaf(url.rsplit("/", 1)[-1] or url)])])


def _picture(inner: Sequence[Token]) -> Inline | None:
    dark = image = None
    for token in inner:
        if token.type == "html_inline" and (match := _TAG.match(token.content)):
            attrs = attributes(match[3])
            if match[2].lower() == "source" and "dark" in attrs.get("media", ""):
                dark = attrs.get("srcset")
            elif match[2].lower() == "img" and "src" in attrs:
                image = inline_image(attrs)
    if image is not None and dark:
        image.data["refDark"] = url_ref(dark)
    return image


def inline_image(attrs: dict[str, str]) -> Inline:
    """Return the node of an ``<img>`` in a line of text."""
    data: Data = {"ref": url_ref(attrs["src"])}
    if "alt" in attrs and attrs["alt"]:
        data["alt"] = attrs["alt"]
    if attrs.get("title"):
        data["caption"] = attrs["title"]
    if attrs.get("data-size") in ("line", "original"):
        data["size"] = attrs["data-size"]
    for side in ("width", "height"):
        if side in attrs and (size := length(attrs[side])) is not None:
            data[side] = size
    known = {"src", "alt", "title", "data-size", "width", "height"}
    if rest := {k: v for k, v in attrs.items() if k not in known}:
        data["attributes"] = rest
    return Inline("inline-image", data)
