"""Define the Markdown parser: markdown-it's rules, dispatched by the character they start with, plus
Octavo's own.

Octavo's block rules: ``{% tag %}`` lines, ``<details>`` and ``<div>`` lines, ``$$`` blocks, footnote
definitions, and definitions inside containers. Tag and element lines are separate tokens, and their content
is parsed in place, so nesting requires no recursion; ``reader.py`` pairs them. Octavo's inline rules:
``$$x$$`` and footnotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.common import normalize_url
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    heading,
    hr,
    html_block,
    list_block,
    reference,
)
from markdown_it.rules_inline import (
    StateInline,
    autolink,
    backtick,
    emphasis,
    entity,
    escape,
    html_inline,
    image,
    link,
    newline,
    strikethrough,
)
from markdown_it.token import Token

from octavo.core.json_types import JsonObject

from .flanking import Flanking, without_dicts
from .nodes import MAX_NODES

MAX_ADDED_CELLS = 20_000
"""Maximum number of cells that the rows of a page's tables can omit. A row that would exceed the limit ends its
table."""
MAX_LEVEL = 40
"""Maximum nesting of lists and quotes (a list counts as two). Lists and quotes nested more deeply are kept as plain
text."""

TAG = re.compile(
    r"""\{%-?[ \t]*(?P<name>@?[A-Za-z][\w/.:-]*+)"""
    r"""(?P<rest>(?:[^"'%]++|"[^"\n]*+"|'[^'\n]*+'|%(?!\})|["'])*+)%\}"""
)
_LONG_TAG = re.compile(r"\{%[ \t]*(?P<name>@[\w-]++/[\w-]++)(?!.*%\})")
BODY_TAGS = frozenset(["openapi", "swagger", "openapi-operation", "openapi-schemas", "openapi-webhook"])
_ELEMENT = re.compile(
    r"<(?P<close>/?)(?P<name>details|div|center)(?P<rest>(?:\s[^<>]*)?)>[ \t]*$", re.IGNORECASE
)
_DIV = re.compile(r"<(/?)(?:div|center|details)\b", re.IGNORECASE)
_NAME = re.compile(r"</?([A-Za-z][\w:-]*)")
INLINE_ELEMENTS = frozenset(
    """a b strong em i code br button sub sup kbd mark del s strike img picture source span u small font big abbr cite
    q ins samp var tt wbr nobr label time""".split()
)
"""HTML elements that belong to a paragraph. A line that consists of one of their tags starts a paragraph, not an HTML
block."""
_FOOTNOTE = re.compile(r"\[\^([^][\s]+)\]:[ \t]*")
TEXT_ENDS = re.compile(r"[\n\\`~*_\[!<&$]")
_SKIP_ENDS = re.compile(
    r"[\n\\`~*_\[\]!<&$]"
)  # A link label is parsed token by token, up to its closing bracket.
_HOLDING = {
    name: re.compile(rf"<(/?){name}(?=[\s/>])", re.IGNORECASE)
    for name in ("table", "figure", "ul", "ol", "dl", "blockquote", "p")
}
"""Elements that continue past blank lines up to their end tag, and can contain Markdown."""
MEDIA = ("video", "audio")
_MEDIA = re.compile(
    r"<(?P<name>video|audio)\b[^<>]*>[^<>]*(?:<source\b[^<>]*>[^<>]*)*</(?P=name)>[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Video or audio element that is alone on its lines."""
_RAW = ("<pre", "<!", "<?", "<scr", "<sty", "<tex")
"""Beginnings of HTML constructs that continue past blank lines and tags."""
_DELIMITERS = re.compile(r"(?!-[ \t])[|:-][|: \t-]+")
_DELIMITER = re.compile(r":?-+:?")
_CELL_END = re.compile(r"(?<!\\)\|")


def tag(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse ``{% name attributes %}`` alone on its line, or ``{% @integration/block attributes %}`` on any
    number of lines."""
    start, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    if not state.src.startswith("{%", start) or state.is_code_block(line):
        return False
    match = TAG.match(state.src, start, stop)
    if match is None:
        return _long_tag(state, line, end, silent)
    if state.src[match.end() : stop].strip(" \t"):
        return False
    if not silent:
        token = state.push("tag", "", 0)
        token.tag, token.info, token.content = match["name"], match["rest"].rstrip("-").strip(), match[0]
        token.map = [line, line + 1]
        state.line = line + 1
        if token.tag in BODY_TAGS:
            state.env["body"] = (token.tag, line + 1)
        elif token.tag[3:] in BODY_TAGS and state.env.get("body", ("", 0))[0] == token.tag[3:]:
            # Do it now, while the lines are still relative to their container.
            token.markup = state.getLines(state.env.pop("body")[1], line, state.blkIndent, False).strip()
    return True


def _long_tag(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse an integration's block whose attributes contain whole diagrams: any number of lines, up to one
    that ends in ``%}``."""
    start = state.bMarks[line] + state.tShift[line]
    match = _LONG_TAG.match(state.src, start, state.eMarks[line])
    if match is None:
        return False
    for last in range(line + 1, end):
        first = state.bMarks[last] + state.tShift[last]
        text = state.src[first : state.eMarks[last]]
        if "{%" in text or (text and state.sCount[last] < state.blkIndent):
            return False
        if text.rstrip().endswith("%}"):
            break
    else:
        return False
    if not silent:
        content = state.getLines(line, last + 1, state.blkIndent, False).strip()
        token = state.push("tag", "", 0)
        token.tag, token.content = match["name"], content
        token.info = content[match.end() - start : -2].strip()
        token.map = [line, last + 1]
        state.line = last + 1
    return True


def element(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse a line that consists only of ``<details ...>``, ``<div ...>``, their end tag, or
    ``<summary>...</summary>``."""
    start, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    if start >= stop or state.src[start] != "<" or state.is_code_block(line):
        return False
    match = _ELEMENT.match(state.src, start, stop)
    if match is None:
        return _summary(state, line, end, silent)
    last = _end_of_html(state, line, end) if not match["close"] and match["name"].lower() != "details" else -1
    if last > line:
        if not silent:
            token = state.push("html_block", "", 0)
            token.content, token.map = state.getLines(line, last, state.blkIndent, True), [line, last]
            state.line = last
        return True
    if not silent:
        token = state.push("element", match["name"].lower(), 0)
        token.info, token.content = match["rest"].strip(), match[0].rstrip()
        token.markup = match["close"]
        token.map = [line, line + 1]
        state.line = line + 1
    return True


def _end_of_html(state: StateBlock, line: int, end: int) -> int:
    """Return the line after a ``<div>`` that contains only HTML without blank lines; -1 for other elements, which can
    contain Markdown. Each line is examined only once, even if several elements start in the same HTML."""
    found: dict[tuple[int, int, int], int] = state.env.setdefault("ends_of_html", {})

    def place(n: int) -> tuple[int, int, int]:
        return state.bMarks[n] + state.tShift[n], state.blkIndent, end

    if place(line) in found:
        return found[place(line)]
    opened: list[tuple[tuple[int, int, int], int]] = []
    depth = 0
    for n in range(line, end):
        first, stop = state.bMarks[n] + state.tShift[n], state.eMarks[n]
        if not state.src.startswith("<", first, stop) or state.sCount[n] < state.blkIndent:
            break
        change = _deeper(state, first, stop)
        if change > 0:
            opened.append((place(n), depth))
        depth += change
        while opened and depth <= opened[-1][1]:
            found[opened.pop()[0]] = n + 1
    for element, _ in opened:
        found[element] = -1
    # The line itself may belong to another container, or close the one that it opens.
    return found.setdefault(place(line), -1)


def _deeper(state: StateBlock, start: int, stop: int) -> int:
    """Return the number of elements that this part of a line opens minus the number that it closes."""
    return sum(-1 if found[1] else 1 for found in _DIV.finditer(state.src, start, stop))


def _summary(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    start = state.bMarks[line] + state.tShift[line]
    if state.src[start : start + 8].lower() != "<summary":
        return False
    for last in range(line, min(end, line + 20)):
        text = state.src[state.bMarks[last] : state.eMarks[last]]
        if text.rstrip().lower().endswith("</summary>"):
            break
    else:
        return False
    if not silent:
        token = state.push("summary", "", 0)
        token.content = state.getLines(line, last + 1, state.blkIndent, False).strip()
        token.map = [line, last + 1]
        state.line = last + 1
    return True


def math_block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse lines between two lines of ``$$``, or one line ``$$ formula $$``."""
    start, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    if not state.src.startswith("$$", start) or state.is_code_block(line):
        return False
    text = state.src[start:stop].rstrip()
    if len(text) > 4 and text.endswith("$$"):
        if "$$" in text[2:-2]:
            return False
        formula, last = text[2:-2], line
    elif text == "$$":
        last = _find_line(state, line + 1, end, "$$")
        if last < 0:
            return False
        formula = state.getLines(line + 1, last, state.sCount[line], False)
    else:
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.map = formula.strip("\n") if last > line else formula.strip(), [line, last + 1]
        state.line = last + 1
    return True


def _find_line(state: StateBlock, line: int, end: int, text: str) -> int:
    """Return the first line equal to ``text``. A failed search is remembered, so that each page is searched only
    once."""
    failed = state.env.setdefault("not_after", {})
    if failed.get(text, end + 1) <= line:
        return -1
    for n in range(line, end):
        if state.sCount[n] < state.blkIndent and not state.isEmpty(n):
            return -1
        if state.src[state.bMarks[n] + state.tShift[n] : state.eMarks[n]].rstrip() == text:
            return n
    if end == len(state.bMarks) - 1:
        failed[text] = line
    return -1


def footnote(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse ``[^label]: text`` and the indented lines after it."""
    start, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    if not state.src.startswith("[^", start) or state.is_code_block(line):
        return False
    match = _FOOTNOTE.match(state.src, start, stop)
    if match is None:
        return False
    if silent:
        return True
    last, after = line, line + 1
    while after < end:
        if state.isEmpty(after):
            after += 1
            continue
        indent = state.sCount[after] - state.blkIndent
        lazy = after == last + 1 and not _interrupts(state, after, end)
        if indent < 2 and not lazy:
            break
        last = after
        after += 1
    body = [state.src[match.end() : stop]]
    if last > line:
        rest = state.getLines(line + 1, last + 1, state.blkIndent, False)
        body += [re.sub(r"^(?: {1,4}|\t)", "", text) for text in rest.split("\n")]
    token = state.push("footnote", "", 0)
    token.info, token.content, token.map = label_of(match[1]), "\n".join(body), [line, last + 1]
    token.markup = state.getLines(line, last + 1, state.blkIndent, False)
    state.line = last + 1
    return True


def label_of(written: str) -> str:
    """Return the normalized label of a footnote. Case is ignored, as in link labels."""
    return written.casefold()


def definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse a link definition into a token. The source between top-level blocks is always kept, but
    definitions inside containers would be lost without a token."""
    if not reference(state, line, end, silent):
        return False
    if not silent:
        token = state.push("definition", "", 0)
        token.map = [line, state.line]
        token.content = state.getLines(line, state.line, state.blkIndent, False)
    return True


def markup(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse HTML blocks. An element that contains other elements continues to its end tag, and a ``{%`` line ends a
    block like a blank line."""
    start = state.bMarks[line] + state.tShift[line]
    name = _NAME.match(state.src, start)
    if name is not None and name[1].lower() in INLINE_ELEMENTS:
        return False
    opening = state.src[start : start + 7].lower()
    if name is not None and name[1].lower() in MEDIA:
        return not silent and _media(state, line, end)
    if silent or opening.startswith(_RAW):
        return html_block(state, line, end, silent)
    first = len(state.tokens)
    stop, depth, whole = _part_of_html(state, line, line, end, 0)
    if not html_block(state, line, stop, False):
        return False
    stop = state.line
    if whole and name is not None and name[1].lower() in _HOLDING and "in_html" not in state.env:
        last, at = _end_of_element(state, line, end, name[1].lower()), stop
        while whole and at < last:
            at, depth, whole = _part_of_html(state, line, at, last, depth)
            stop = at
            while whole and at < last and state.isEmpty(at):
                at += 1
                stop = at
    if stop != state.line:
        state.line = stop
        state.tokens[first].content = state.getLines(line, stop, state.blkIndent, True)
        state.tokens[first].map = [line, stop]
    return True


def _media(state: StateBlock, line: int, end: int) -> bool:
    last = line + 1
    while last < end and not state.isEmpty(last) and last - line < 20:
        last += 1
    text = state.getLines(line, last, state.blkIndent, False)
    found = _MEDIA.match(text.lstrip(" "))
    if found is None:
        return False
    last = line + found[0].count("\n") + 1
    token = state.push("html_block", "", 0)
    token.content, token.map = found[0], [line, last]
    state.line = last
    return True


def _part_of_html(state: StateBlock, first: int, line: int, end: int, depth: int) -> tuple[int, int, bool]:
    """Return the line at which the HTML that starts at ``first`` stops: at a blank line, before a tag, or
    before the end of an element that was opened earlier. Lines are examined from ``line`` on. Also return
    the number of elements that are then open, and whether the HTML can continue after that line."""
    for n in range(line, end):
        at = state.bMarks[n] + state.tShift[n]
        if state.isEmpty(n) or state.sCount[n] < state.blkIndent:
            return n, depth, True
        if n > first and state.src.startswith("{%", at) and tag(state, n, end, True):
            return n, depth, False
        depth += _deeper(state, at, state.eMarks[n])
        if depth < 0 and n > first:
            return n, depth, False
    return end, depth, True


def _end_of_element(state: StateBlock, line: int, end: int, name: str) -> int:
    """Return the line after the end of the element that starts at ``line``; -1 if it has no end. The ends of all later
    elements in the same container are found at the same time and remembered."""
    known: dict[Any, tuple[int, int, dict[int, int]]] = state.env.setdefault("ends_of_elements", {})
    place = name, state.level, state.blkIndent, end
    since, until, ends = known.get(place, (0, 0, {}))
    if not since <= line < until:
        opened: list[int] = []
        until, ends = end, {}
        for n in range(line, end):
            if state.sCount[n] < state.blkIndent and not state.isEmpty(n):
                until = n
                break
            for found in _HOLDING[name].finditer(state.src, state.bMarks[n], state.eMarks[n]):
                if not found[1]:
                    opened.append(n)
                elif opened:
                    ends[opened.pop()] = n + 1
        known[place] = line, until, ends
    return ends.get(line, -1)


def pipe_table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse a table as one token, whose ``meta`` contains the cells. Rows shorter than the header are filled with empty
    cells. The number of these cells on a page is limited, because otherwise a few characters could create any number of
    cells. Rows and tables beyond the limit are text."""
    added = state.env.get("cells_added", 0)
    if line + 2 > end or added > MAX_ADDED_CELLS:
        return False
    sides = _sides_of(state, line + 1)
    head = _line_of(state, line)
    if not sides or "|" not in head or state.is_code_block(line):
        return False
    names = _cells_of(head)
    if len(names) != len(sides):
        return False
    if silent:
        return True
    rows: list[list[str]] = []
    after = line + 2
    while after < end and state.sCount[after] >= state.blkIndent:
        text = _line_of(state, after)
        if not text or state.is_code_block(after) or _interrupt(state, after, end, True):
            break
        cells = _cells_of(text)[: len(names)]
        missing = len(names) - len(cells)
        added += missing
        if added > MAX_ADDED_CELLS:
            break
        rows.append(cells + [""] * missing)
        after += 1
    state.env["cells_added"] = added
    state.env["cells"] = state.env.get("cells", 0) + len(names) * len(rows)
    token = state.push("table", "", 0)
    token.map, token.meta = [line, after], {"sides": sides, "head": names, "rows": rows}
    state.line = after
    return True


def _line_of(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip(" \t\n\r\v\f")


def _sides_of(state: StateBlock, line: int) -> list[str]:
    """Return the alignments of the columns ("" for the default). The result is empty if this isn't the line under a
    table header."""
    if state.sCount[line] < state.blkIndent or state.is_code_block(line):
        return []
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    if _DELIMITERS.fullmatch(text) is None:
        return []
    parts = [part.strip() for part in text.split("|")]
    parts = parts[not parts[0] : len(parts) - (not parts[-1])]
    if not all(_DELIMITER.fullmatch(part) for part in parts):
        return []
    return [_SIDES[part.startswith(":"), part.endswith(":")] for part in parts]


_SIDES = {(False, False): "", (True, False): "left", (False, True): "right", (True, True): "center"}


def _cells_of(text: str) -> list[str]:
    cells = [part.replace("\\|", "|") for part in _CELL_END.split(text)]
    if cells[0] == "":
        cells.pop(0)
    if cells and cells[-1] == "":
        cells.pop()
    return [cell.strip(" \t\n\r\v\f") for cell in cells]


def _interrupts(state: StateBlock, line: int, end: int) -> bool:
    """Return whether a line starts a block of another kind instead of continuing the paragraph."""
    start = state.bMarks[line] + state.tShift[line]
    if start >= state.eMarks[line]:
        return True
    if _interrupt(state, line, end, True):
        return True
    if line + 1 < end and "|" in state.src[start : state.eMarks[line]]:
        below = state.bMarks[line + 1] + state.tShift[line + 1]
        if below < state.eMarks[line + 1] and state.src[below] in "|:-":
            return pipe_table(state, line, end, True)
    return False


def paragraph(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Parse a paragraph, or a heading underlined with = or -, in one pass over its lines."""
    src, after, end = state.src, line + 1, state.lineMax
    parent, state.parentType = state.parentType, "paragraph"
    level = 0
    while after < end:
        start, stop = state.bMarks[after] + state.tShift[after], state.eMarks[after]
        if start >= stop:
            break
        indent = state.sCount[after]
        if indent - state.blkIndent > 3:
            after += 1
            continue
        if indent >= state.blkIndent and src[start] in "-=":
            text = src[start:stop].rstrip(" \t")
            if text == text[0] * len(text):
                level = 1 if text[0] == "=" else 2
                break
        if indent >= 0 and _interrupts(state, after, end):
            break
        after += 1
    state.parentType = parent
    state.line = after + 1 if level else after
    content = state.getLines(line, after, state.blkIndent, False).strip(" \t\n\r\v\f")
    token = state.push("heading_open" if level else "paragraph_open", f"h{level}", 0)
    token.map, token.content = [line, state.line], content
    return True


_INTERRUPTING: dict[str, tuple[Any, ...]] = {
    "`": (fence,),
    "~": (fence,),
    ">": (blockquote,),
    "*": (hr, list_block),
    "-": (hr, list_block),
    "_": (hr,),
    "+": (list_block,),
    "<": (element, markup),
    "#": (heading,),
    "{": (tag,),
    "$": (math_block,),
    "[": (footnote,),
    **{digit: (list_block,) for digit in "0123456789"},
}
_STARTING: dict[str, tuple[Any, ...]] = {**_INTERRUPTING, "[": (footnote, definition)}


def _chain(rules: dict[str, tuple[Any, ...]]) -> Callable[[StateBlock, int, int, bool], bool]:
    """Return a rule that tries only the rules for the first character of a line."""

    def rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        start = state.bMarks[line] + state.tShift[line]
        return start < state.eMarks[line] and any(
            one(state, line, end, silent) for one in rules.get(state.src[start], ())
        )

    return rule


_interrupt = _chain(_INTERRUPTING)
_NEVER_IN_LISTS = (fence, blockquote, hr, tag)
_interrupt_list = _chain(
    {sign: tuple(rule for rule in rules if rule in _NEVER_IN_LISTS) for sign, rules in _INTERRUPTING.items()}
)


def _interrupt_definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    return pipe_table(state, line, end, silent) or _interrupt(state, line, end, silent)


_RULES: list[tuple[str, Any, list[str]]] = [
    ("code", code, []),
    ("interrupt", _interrupt, ["blockquote"]),
    ("interrupt_list", _interrupt_list, ["list"]),
    ("interrupt_definition", _interrupt_definition, ["reference"]),
]
"""Block rules by name. The library's own rules refer to the other rules by these names, and ``Blocks.tokenize`` uses
the names to determine which rules can start a block."""


_LISTS = frozenset(["bullet_list_open", "ordered_list_open", "list_item_open"])


class _State(StateBlock):
    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        # The library extends the attributes of lists and their items.
        return token if ttype in _LISTS else without_dicts(token)


class Blocks(ParserBlock):
    def __init__(self) -> None:
        super().__init__()
        self.ruler.__init__()  # type: ignore[misc]
        for name, rule, alternatives in _RULES:
            self.ruler.push(name, rule, {"alt": alternatives})

    def parse(self, src: str, md: MarkdownIt, env: Any, outTokens: list[Token]) -> list[Token]:
        if src:
            state = _State(src, md, env, outTokens)
            self.tokenize(state, state.line, state.lineMax)
        return outTokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        line, blank, src = startLine, False, state.src
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            too_many = len(state.tokens) + state.env.get("cells", 0) > MAX_NODES
            if too_many or state.level >= MAX_LEVEL:
                token = state.push("too_many" if too_many else "too_deep", "", 0)
                token.map, token.content = (
                    [line, endLine],
                    state.getLines(line, endLine, state.blkIndent, False),
                )
                state.line = endLine
                break
            first = src[state.bMarks[line] + state.tShift[line]]
            if not (state.sCount[line] - state.blkIndent >= 4 and code(state, line, endLine, False)):
                below = line + 1
                if not (
                    below < endLine
                    and (start := state.bMarks[below] + state.tShift[below]) < state.eMarks[below]
                    and src[start] in "|:-"
                    and "|" in src[state.bMarks[line] : state.eMarks[line]]
                    and pipe_table(state, line, endLine, False)
                ):
                    for rule in _STARTING.get(first, ()):
                        if rule(state, line, endLine, False):
                            break
                    else:
                        paragraph(state, line, endLine, False)
            state.tight = not blank
            line = state.line
            if (line - 1) < endLine and state.isEmpty(line - 1):
                blank = True
            if line < endLine and state.isEmpty(line):
                blank = True
                line += 1
                state.line = line


def inline_math(state: StateInline, silent: bool) -> bool:
    """Parse ``$$formula$$`` within a paragraph."""
    pos = state.pos
    if not state.src.startswith("$$", pos) or state.html_terminator_last("$$") < pos + 3:
        return False
    stop = state.src.find("$$", pos + 2, state.posMax)
    if stop < pos + 3:
        return False
    if not silent:
        state.push("math_inline", "", 0).content = state.src[pos + 2 : stop]
    state.pos = stop + 2
    return True


_REFERENCE = re.compile(r"\[\^([^][\s]+)\]")


def footnote_ref(state: StateInline, silent: bool) -> bool:
    """Parse ``[^label]`` if the page defines the label."""
    if not state.src.startswith("[^", state.pos):
        return False
    match = _REFERENCE.match(state.src, state.pos, state.posMax)
    if match is None or (label := label_of(match[1])) not in state.env.get("footnotes", ()):
        return False
    if not silent:
        token = state.push("footnote_ref", "", 0)
        token.info, token.content = label, match[0]
    state.pos = match.end()
    return True


_INLINE: dict[str, tuple[Any, ...]] = {
    "\n": (newline,),
    "\\": (escape,),
    "`": (backtick,),
    "~": (strikethrough.tokenize,),
    "*": (emphasis.tokenize,),
    "_": (emphasis.tokenize,),
    "[": (footnote_ref, link),
    "!": (image,),
    "<": (autolink, html_inline),
    "&": (entity,),
    "$": (inline_math,),
}


class Inlines(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = Flanking(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens

    def tokenize(self, state: StateInline) -> None:
        src, end, nested = state.src, state.posMax, state.level < state.md.options.maxNesting
        while state.pos < end:
            pos = state.pos
            found = TEXT_ENDS.search(src, pos, end)
            stop = found.start() if found else end
            if stop > pos:
                state.append_pending(src[pos:stop])
                state.pos = stop
                if stop >= end:
                    break
            done = False
            if nested:
                for rule in _INLINE[src[stop]]:
                    if rule(state, False):
                        done = True
                        break
            if not done:
                state.append_pending(src[stop])
                state.pos = stop + 1
        if state.pending:
            state.pushPending()

    def skipToken(self, state: StateInline) -> None:
        pos, cache = state.pos, state.cache
        if pos in cache:
            state.pos = cache[pos]
            return
        found = _SKIP_ENDS.search(state.src, pos, state.posMax)
        stop = found.start() if found else state.posMax
        if stop > pos:
            state.pos = stop
        elif state.level < state.md.options.maxNesting:
            done = False
            for rule in _INLINE.get(state.src[pos], ()):
                state.level += 1
                done = rule(state, True)
                state.level -= 1
                if done:
                    break
            if not done:
                state.pos = pos + 1
        else:
            state.pos = state.posMax
        cache[pos] = state.pos


# Characters that the URL standard removes before it looks for a scheme.
_UNREAD = re.compile(r"[\t\n\r]")
_PADDING = "".join(map(chr, range(33)))


def safe_url(url: str) -> bool:
    """Return whether a URL is safe to link to: no browser interprets it as a script, data, or a local file."""
    return normalize_url.validateLink(_UNREAD.sub("", url).lstrip(_PADDING))


def _make() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": 20, "tasklists": True, "strikethrough_single_tilde": True})
    md.block, md.inline = Blocks(), Inlines()
    md.inline.ruler2.enableOnly(["balance_pairs", "strikethrough", "emphasis", "fragments_join"])
    md.validateLink = safe_url  # type: ignore[method-assign]
    md.normalizeLink = md.normalizeLinkText = lambda url: url  # type: ignore[method-assign, assignment]
    # The library lists its rules on first use, and another thread could see an incomplete list.
    for ruler in (md.block.ruler, md.inline.ruler, md.inline.ruler2):
        ruler.getRules("")
    return md


PARSER = _make()


def parse_blocks(text: str, env: JsonObject) -> list[Token]:
    """Return the block tokens of Markdown with normalized line ends. Inline content in the tokens isn't parsed yet.
    ``env``: the link definitions and footnotes shared by the parts of one page."""
    tokens: list[Token] = []
    PARSER.block.parse(text, PARSER, env, tokens)
    return tokens


def parse_inline(text: str, env: JsonObject) -> list[Token]:
    return PARSER.inline.parse(text, PARSER, env, [])


def pair(tokens: list[Token]) -> dict[int, int]:
    """Return a map that contains, for each tag or element line with a partner in the same container, the partner's
    index. Both lines of a pair are in the map. An end tag belongs to the nearest open tag with the same name; tags
    opened in between are unpaired."""
    pairs: dict[int, int] = {}
    containers: list[list[tuple[str, int]]] = [[]]
    counts: list[dict[str, int]] = [{}]
    for index, token in enumerate(tokens):
        kind = token.type
        if kind in {"tag", "element"}:
            opened, count = containers[-1], counts[-1]
            name = token.tag
            closing = name.startswith("end") if kind == "tag" else bool(token.markup)
            if not closing:
                opened.append((name, index))
                count[name] = count.get(name, 0) + 1
                continue
            name = name.removeprefix("end") if kind == "tag" else name
            if count.get(name):
                while True:
                    other, start = opened.pop()
                    count[other] -= 1
                    if other == name:
                        break
                pairs[start], pairs[index] = index, start
        elif kind in ("list_item_open", "blockquote_open"):
            containers.append([])
            counts.append({})
        elif kind in ("list_item_close", "blockquote_close"):
            containers.pop()
            counts.pop()
    return pairs
