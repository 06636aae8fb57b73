"""Check a single page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from octavo.core.document.nodes import Block, Document, Fragment, Inline, Text, children, plain_text, walk
from octavo.core.document.references import references
from octavo.core.sentences import shorten

from .changelog import list_names, list_notices
from .code import explain_broken_code
from .faults import QUOTE, CheckedPage, Fault
from .statements import list_statements
from .style import StyledText, StyleRule, check_style

VERSION = 8
"""Version of the checks. When it increases, all pages are checked again."""

_PROSE = frozenset(
    {"paragraph", "heading-1", "heading-2", "heading-3", "heading-4", "heading-5", "heading-6"}
)
_MARKER = re.compile(
    r"^\W{0,3}(?:TODO|FIXME|TBD|TBA|TBC|XXX)\b(?=\W|$)|\b(?:TODO|FIXME|TBD)\s*[:(]|\((?:TODO|TBD)\)"
)
_FILLER = re.compile(
    r"lorem ipsum dolor|\[(?:insert|add|your) [\w ]{2,40} here\]|<(?:insert|add) [\w ]{2,40} here>", re.I
)
_SOON = re.compile(
    r"^\W*(?:(?:documentation |more |content |details )?coming soon|work in progress|to be (?:written|documented|done|"
    r"determined)|under construction|placeholder)\W*$",
    re.I,
)
_UNKNOWN = re.compile(r"\W*(?:TBD|TBA|TBC)\W*")
_VARIABLE = re.compile(r"\b(space|page)\.vars(?:\.([A-Za-z_]\w*)|\[\s*[\"']([^\"']+)[\"']\s*\])")
_FILE = re.compile(r"(?!.*://)(?!.*\.(?:md|mdx|html?)\Z)[^/].*\.\w{1,10}", re.I)
"""Relative links to files such as source code."""
_OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"
_MOST_FAULTS = 200
_MOST_SAMPLES = 100
_MOST_URLS = 500


def check_page(document: Document, rules: Sequence[StyleRule] = ()) -> CheckedPage:
    """Return the problems on a page, and the data about the page that site-wide checks need. ``rules``: the rules of
    the page's style guide."""
    checked = CheckedPage([], [], {}, [], [], [], list_names(document), list_notices(document))
    checked.faults += _check_images(document)
    samples = 0
    texts: list[str] = []
    styled: list[StyledText] = []
    unknown: set[int] = set()
    for node in walk(document):
        if isinstance(node, (Text, Document, Fragment)):
            continue
        if node.type == "code" and samples < _MOST_SAMPLES:
            samples += 1
            checked.faults += _check_code(node)
        elif node.type in _PROSE:
            text = prose(node)
            texts.append(text)
            if id(node) not in unknown:
                checked.faults += _check_placeholder(text, heading=node.type.startswith("heading"))
            if rules:
                styled.append(styled_text(node))
        elif node.type == "table":
            # A cell that says only TBD tells readers that a value isn't known yet.
            unknown.update(
                id(cell)
                for cell in walk(node)
                if isinstance(cell, Block) and cell.type in _PROSE and _UNKNOWN.fullmatch(prose(cell))
            )
        elif node.type == "openapi-operation":
            ref = node.data.get("ref")
            name = ref.get("spec") or ref.get("url") if isinstance(ref, dict) else None
            path, method = node.data.get("path"), node.data.get("method")
            if isinstance(name, str) and isinstance(path, str) and isinstance(method, str):
                checked.operations.append((name, method.lower(), path))
        expression = node.data.get("expression")
        if isinstance(expression, str):
            names = (f"{match[1]}.{match[2] or match[3]}" for match in _VARIABLE.finditer(expression))
            checked.variables += [name for name in names if name not in checked.variables]
    checked.faults += check_style(rules, styled)
    checked.statements = list_statements(texts)
    for reference in references(document):
        url = reference.ref.get("url")
        if reference.type in ("link", "button") and isinstance(url, str) and len(checked.urls) < _MOST_URLS:
            if url.lower().startswith(("http://", "https://")):
                checked.urls.setdefault(url.partition("#")[0], "")
            elif (
                _FILE.fullmatch(path := url.partition("#")[0].partition("?")[0]) and path not in checked.files
            ):
                checked.files.append(path)
    del checked.faults[_MOST_FAULTS:]
    return checked


def prose(node: Block | Inline) -> str:
    """Return the prose of a paragraph or heading. Code and formulas are replaced with a word that no rule matches."""
    parts: list[str] = []
    for child in walk(node):
        if isinstance(child, Text):
            for leaf in child.leaves:
                code = any(mark.type in ("code", "keyboard") for mark in leaf.marks)
                parts.append(leaf.text if not code else f"`{leaf.text}`")
        elif isinstance(child, Inline) and child.type in ("expression", "inline-math"):
            parts.append("`…`")
    return "".join(parts)


def styled_texts(document: Document) -> list[StyledText]:
    """Return the paragraphs and headings of a page in the form that style guide rules check."""
    nodes = (node for node in walk(document) if isinstance(node, (Block, Inline)))
    return [styled_text(node) for node in nodes if node.type in _PROSE]


def styled_text(node: Block | Inline) -> StyledText:
    """Return a paragraph or heading in the form that style guide rules check."""
    text: list[str] = []
    shown: list[str] = []
    for child in walk(node):
        if isinstance(child, Text):
            for leaf in child.leaves:
                code = any(mark.type in ("code", "keyboard") for mark in leaf.marks)
                text.append(leaf.text)
                shown.append("`" * len(leaf.text) if code else leaf.text)
        elif isinstance(child, Inline) and child.type not in ("link", "annotation"):
            text.append(_OBJECT)
            shown.append(_OBJECT)
    return StyledText("".join(text), "".join(shown), node.type.startswith("heading"))


def find_placeholder(text: str, *, heading: bool) -> re.Match[str] | None:
    """Return the first placeholder (a sign of unfinished text) in a string from which code was removed; None if there
    is none. A heading such as "Coming soon" is a placeholder for the text below it."""
    return _MARKER.search(text) or _FILLER.search(text) or (None if heading else _SOON.search(text))


def _check_placeholder(text: str, *, heading: bool) -> Iterator[Fault]:
    if find_placeholder(re.sub(r"`[^`]*`", "`…`", text), heading=heading) is not None:
        quote = shorten(text, QUOTE)
        yield Fault("placeholder", quote, quote, "This text is unfinished.")


def _check_code(node: Block | Inline) -> Iterator[Fault]:
    syntax = node.data.get("syntax")
    if not isinstance(syntax, str):
        return
    source = "\n".join(plain_text(line) for line in node.nodes)
    reason = explain_broken_code(syntax, source)
    if reason is not None:
        quote = shorten(next((line for line in source.splitlines() if line.strip()), ""), QUOTE)
        yield Fault("code-sample", quote, quote, reason)


def _check_images(document: Document) -> Iterator[Fault]:
    stack: list[tuple[Block | Inline | Fragment | Text, bool]] = [
        (node, False) for node in reversed(document.nodes)
    ]
    while stack:
        node, alone = stack.pop()
        if isinstance(node, Text):
            continue
        if isinstance(node, (Block, Inline)) and node.type in ("image", "inline-image"):
            captioned = isinstance(node, Block) and any(plain_text(each).strip() for each in node.fragments)
            described = str(node.data.get("alt") or "").strip() or captioned
            # An image inside a sentence may be decoration; one that stands alone carries meaning.
            if not described and (node.type == "image" or alone):
                ref = node.data.get("ref")
                url = ref.get("url") or ref.get("file") if isinstance(ref, dict) else None
                name = str(url or "an image")
                shown = name if not name.startswith("data:") else "an embedded image"
                yield Fault("alt-text", "", shorten(shown, QUOTE), "The image has no alternative text.")
        is_alone = isinstance(node, Block) and node.type == "paragraph" and not plain_text(node).strip()
        is_alone = (
            is_alone
            and sum(child.type == "inline-image" for child in node.nodes if isinstance(child, Inline)) == 1
        )
        stack.extend(
            (child, is_alone or (alone and isinstance(node, Inline))) for child in reversed(children(node))
        )
