"""Conversion of other Markdown dialects to Octavo's, line by line, so that syntax with the same meaning stays as
written.

Nothing is run. Every line of the result knows the line it was made from, so that problems refer to the right one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from msgspec import Struct

from octavo.core.document.anchors import slug
from octavo.core.document.page import front_of

from ..layout import Dialect, Place
from .literals import UNKNOWN, read_constant, read_literal

Line = tuple[str, int]
"""A line of text and its number in the source, starting at 1."""

MAX_LINES = 50_000
"""Maximum number of lines of a page with all its includes."""
MAX_INCLUDES = 12
MAX_INCLUDE = 2000
"""Maximum number of characters of a line that includes another file."""
MAX_TAKEN = 20
"""Maximum number of files that a page imports constants from, and of constants in one of them."""
_PARTS = (".mdx", ".md", ".js", ".jsx")
MAX_NESTING = 40
MAX_UNCLOSED = 20
"""Maximum number of unclosed elements for which the page is searched to its end."""
MAX_WORDS = 50_000
"""Maximum number of characters of a paragraph or a line that is searched for links and components."""
MAX_LOOKED = 2_000_000
"""Maximum total number of lines of a page that are searched for missing ends."""

_HINTS = {
    "danger": ("danger", "error", "failure", "fail", "bug", "missing"),
    "warning": ("warning", "warn", "caution", "attention"),
    "success": ("success", "tip", "check", "done", "hint"),
}
_STYLES = {name: style for style, names in _HINTS.items() for name in names}
HINT_NAMES = frozenset(
    """note tip info warning danger caution important success error failure fail bug missing hint attention abstract
    summary tldr todo question help faq quote cite example secondary check done seealso warn deprecated versionadded
    versionchanged versionremoved admonition topic""".split()
)

_FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*)(?P<fence>`{3,}(?!.*`)|~{3,})(?P<info>.*)$"
)
_INDENTED = re.compile(
    r"(?P<indent>[ \t]*)(?P<sign>!!!|\?\?\?\+?)[ \t]+(?P<kinds>[\w-]+(?:[ \t]+[\w-]+)*)?[ \t]*(?:\"(?P<title>.*)\")?[ \t]*$"
)
_TAB = re.compile(r"(?P<indent>[ \t]*)===[!+]{0,2}[ \t]+([\"'])(?P<title>.*)\2[ \t]*$")
_CONTAINER = re.compile(
    r"(?P<indent>[ \t]*)(?P<colons>:{3,})[ \t]*(?P<name>\{?[A-Za-z][\w:-]*\}?)?(?P<rest>[^\n]*)$"
)
_ALERT = re.compile(r"\[!(?P<kind>[\w-]+)(?:\|[^\]]*)?\](?P<fold>[-+]?)[ \t]*(?P<title>.*)$")
_HEADING = re.compile(r"(?P<signs>[ ]{0,3}#{1,6})(?=[ \t]|$)(?P<words>.*)$")
_HEADING_ATTRIBUTES = re.compile(
    r"[ \t]*(?:\{/\*[ \t]*#(?P<comment>[\w.:-]+)[ \t]*\*/\}|\{:?(?P<list>[^{}]*)\})[ \t]*$"
)
_ID = re.compile(r"(?:^|\s|:)#([^\s.#{}\"']+)")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_DEFINITION = re.compile(r"(?P<indent>[ ]{0,3}):[ \t]{1,}(?P<words>\S.*)$")
_TABSET = re.compile(r"[ \t]*\{:?[^{}]*\.tabset\b[^{}]*\}[ \t]*$")
_STYLED = re.compile(r"[ \t]*\{:?[ \t]*\.is-(info|success|warning|danger)\b[^{}]*\}[ \t]*$")
_LABELLED = re.compile(r"[ \t]+\([\w:.-]+\)(?=[ \t]*(?:\n|\Z))")
_STYLED_BEHIND = re.compile(r"(?P<words>.*\S)[ \t]*\{:?\.is-(?P<kind>info|success|warning|danger)\}[ \t]*$")
_ABBREVIATION = re.compile(r"[ ]{0,3}\*\[[^\[\]\n]+\]:[ \t]")
_ATTRIBUTES = re.compile(
    r"[ \t]*\{:[ \t]*(?:[.#][\w-]|[\w-]+=)[^{}\n]*\}[ \t]*$|[ \t]*\{:?[ \t]*(?:[.#][\w-]+|[\w-]+=(?:\"[^\"]*\"|[\w%]+))(?:[ \t]+[^{}\n]*)?\}[ \t]*$"
)
_OPENING = re.compile(r"[ \t]*<(?P<name>[A-Z][\w.]*|[a-z][\w]*(?:-[\w-]+)?)(?=[\s/>]|$)")
_DEFINED = re.compile(
    r"(?P<lead>[ ]{0,3}\[(?!\^)(?:[^\[\]\\]|\\.)+\]:[ \t]*(?:\n[ \t]*)?)"
    r"(?P<href><[^<>\n]*>|(?:\{\{[^{}\n]*\}\}|\{%[^%{}\n]*%\}|\S)+)"
    r"(?P<title>[ \t]*|[ \t]+[\"'(][^\n]*)$"
)
_IMPORT = re.compile(
    r"import\s+(?:(?P<name>[A-Za-z_$][\w$]*)\s*,?\s*)?(?:\{(?P<names>[^{}]*)\}\s*|\*\s+as\s+[\w$]+\s*)?(?:from\s*)?['\"](?P<source>[^'\"\n]+)['\"];?\s*$",
    re.DOTALL,
)
_SNIPPET = re.compile(r"(?P<indent>[ \t]*)(?:-{1,}8<-{1,})[ \t]+[\"'](?P<path>[^\"'\n]+)[\"'][ \t]*$")
_SNIPPETS = re.compile(r"[ \t]*-{1,}8<-{1,}[ \t]*$")
SECTION = re.compile(r"--8<--[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_INCLUDES = (
    re.compile(
        r"(?P<indent>[ \t]*)\{(?:!|%)-?[ \t]*include(?:-markdown|_relative)?[ \t]+[\"']?(?P<path>[^\"'%!{}\n ]+)[\"']?[^\n]*?(?:!|%)\}[ \t]*$"
    ),
    re.compile(r"(?P<indent>[ \t]*)\{![ \t]*(?P<path>[^\s!{}]+)[^\n]*?!\}[ \t]*$"),
    re.compile(r"(?P<indent>[ \t]*)!include[ \t]+(?P<path>\S+)[ \t]*$"),
    re.compile(
        r"(?P<indent>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)<!--[ \t]*@include:[ \t]*(?P<path>[^\s{]+(?:\{[\d,]*\})?)[^\n]*-->[ \t]*$"
    ),
)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp)$", re.IGNORECASE)
_CONTENTS = re.compile(r"[ \t]*\{:[ \t]*toc\b[^{}]*\}[ \t]*$")
_BLOCK_NAME = re.compile(r"(?:^|[ \t]+)\^[A-Za-z0-9-]+[ \t]*$")
_PART = re.compile(r"(?P<path>[^\n#{]+)(?:#(?P<region>[^\s{}]+))?(?:\{(?P<lines>[\d,]*)\})?[ \t]*$")
_LISTING = re.compile(r"(?P<indent>[ \t]*)<<<[ \t]+(?P<path>[^\s{\[]+)(?P<rest>.*)$")
_MAGIC = re.compile(
    r"[ \t]*(?://|#|--|/\*|<!--|\{/\*)[ \t]*(?:highlight-(?:next-line|start|end)|prettier-ignore(?:-start|-end)?)[ \t]*(?:\*/\}?|-->)?[ \t]*$"
)
_MARKED = re.compile(
    r"(?P<before>.*?)[ \t]*(?://|#|--|/\*|<!--|\{/\*|;|%)[ \t]*\[!code[ \t]+(?:highlight|hl|focus|error|warning|info|\+\+|--|word:[^\]\n]+)(?::\d+)?\][ \t]*(?:\*/\}?|-->)?[ \t]*$"
)
_OWN_REFERENCE = re.compile(r"\b(?P<name>url|src)=\"(?P<href>(?![A-Za-z][\w+.-]*:|//|#)[^\"\n]+)\"")
"""Attributes of Octavo tags that refer to a page or a file of the source."""
MAX_TAG = 500
"""Maximum number of lines of an Octavo tag."""
_TAG_AT_START = re.compile(r"(?P<indent>[ \t]*)\{%")
_ATTRIBUTE = re.compile(
    r"([A-Za-z_:@][\w:.-]*)[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)'|([^\s{}\"',]+))|([A-Za-z_][\w:.-]*)"
)

_PIECES = re.compile(
    r"""(?P<spanning><!--|\$\$|\{/\*|\{\{[<%]|\\[(\[])
    |(?P<escape>\\[!-/:-@\[-`{-~])
    |(?P<role>\{(?P<role_name>[\w:.+-]+)\}(?P<role_ticks>`+)(?P<role_text>[^`].*?)(?P=role_ticks)(?!`))
    |(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))
    |(?P<embed>!\[\[(?P<embedded>[^\[\]\n]+)\]\])
    |(?P<wiki>\[\[(?P<named>[^\[\]\n]+)\]\](?:\((?P<wiki_href>[^()\s]*)\))?)
    |(?P<image>!\[(?P<alt>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*(?P<source><[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?P<image_title>\s+(?:"[^"]*"|'[^']*'|\([^()]*\)|=\S*))?\s*\)(?P<image_attributes>\{:?[^{}\n]*\})?)
    |(?P<to>\]\(\s*(?P<href><[^<>\n]*>|(?:\{\{[^{}\n]*\}\}|\{%[^%{}\n]*%\}|[^\s()]|\([^\s()]*\))*)(?P<link_title>\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)(?P<link_attributes>\{:?[^{}\n]*\})?)
    |(?P<filled>(?<!<)<<(?P<filled_name>[\w:.][\w:. -]{0,99})>>)
    |(?P<auto><(?:https?|mailto|ftp|project):[^<>\s]*>)
    |(?P<component></?[A-Z][\w.]*(?=[\s/>]))
    |(?P<tag></?[a-z][\w-]*(?=[\s/>])(?:[^<>"'{]|"[^"]*"|'[^']*'|\{[^{}]*\}|\{\{[^{}]*\}\})*>)
    |(?P<liquid>\{\{-?\s*(?P<value>[^{}]*?)\s*-?\}\}|\{%-?\s*(?P<liquid_tag>[^%]*?)\s*-?%\})
    |(?P<braces>(?<!\\)\{[ \t]*(?P<braced>'[^'\n]*'|"[^"\n]*"|`[^`]*`|[A-Za-z_$][\w$.]*)[ \t]*\})
    |(?P<keys>\+\+(?P<pressed>[\w"'-]+(?:\+[\w"'-]+)*)\+\+)
    |(?P<mark>==(?P<marked>[^=\s](?:[^=\n]*[^=\s])?)==(?!=))
    |(?P<inserted>(?<!\^)\^\^(?=[^\s^])(?P<inserted_words>[^\n^]{1,500})(?<=\S)\^\^(?!\^))
    |(?P<small>(?<![~\\^])(?P<small_sign>[~^])(?![~^])(?P<small_words>[^\s~^\[\]]{1,100})(?P=small_sign)(?![~^]))
    |(?P<icon>:(?P<icon_name>(?:material|fontawesome|octicons|simple)-[\w-]+):[ ]?(?P<icon_attributes>\{[^{}\n]*\})?)
    |(?P<formula>(?<![\\$\w])\$(?![\s$\d][^$\n]*\$\d)(?P<inside>[^\s$](?:[^$\n]*[^\s\\$])?)\$(?![\w$]))
    |(?P<attributes>(?<=[*_`\])>])\{:?[ \t]*(?:[.#][\w-]+|[\w-]+=)[^{}\n]*\})
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = re.compile(r"[\[\]<{`+=:$\\~^]")
_SPANS = {
    "<!--": ("-->",),
    "$$": ("$$",),
    "\\(": ("\\)",),
    "\\[": ("\\]",),
    "{/*": ("*/}",),
    "{{<": (">}}", "%}}"),
    "{{%": (">}}", "%}}"),
}
"""Syntax that extends from an opening sign to the nearest closing one, across any number of words and lines."""


def split_front(text: str) -> tuple[str, int]:
    """Return the body of a file after its front matter, in any format, and the number of its first line."""
    found = _front(text)
    if found is None:
        return text, 1
    return text[found.end() :], text.count("\n", 0, found.end()) + 1


_FRONT = re.compile(
    r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(?P<head>.*?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


def _front(text: str) -> re.Match[str] | None:
    found = _FRONT.match(text)
    return found if found is not None and (found[1] == "+++" or front_of(text)) else None


def front_text(text: str) -> tuple[str, str]:
    """Return the text of a front matter and its delimiter, or two empty strings if there is none."""
    found = _front(text)
    return (found["head"], found[1]) if found else ("", "")


def attributes_of(written: str) -> dict[str, str]:
    """Parse ``title="x" open`` into a map. An attribute without a value has its name as its value."""
    return {
        found[1] or found[5]: next(
            (value for value in found.group(2, 3, 4) if value is not None), found[1] or found[5]
        )
        for found in _ATTRIBUTE.finditer(written)
    }


def quoted(text: str) -> str:
    """Quote a value for an attribute of a tag."""
    text = " ".join(text.replace("%}", "%").split())
    return f"'{text}'" if '"' in text and "'" not in text else '"{}"'.format(text.replace('"', "”"))


def words(text: str) -> str:
    """Return one line of Markdown as plain text, as in titles of tabs."""
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r":(?:material|fontawesome|octicons|simple)-[\w-]+:(?:\{[^{}]*\})?", "", text)
    text = re.sub(r"<[^<>]*>", "", text)
    return " ".join(re.sub(r"(?<!\\)[`*]+|\\(?=[!-/:-@\[-`{-~])", "", text).split())


def indented(lines: list[Line], by: str) -> list[Line]:
    return [(by + text if text.strip() else text, number) for text, number in lines] if by else lines


def dedented(lines: list[Line], by: int | None = None) -> list[Line]:
    """Return the lines without their common indentation, or at most ``by`` columns of it."""
    if by is None:
        by = min((_indent(text) for text, _ in lines if text.strip()), default=0)
    return [(text[_columns(text, by) :], number) for text, number in lines]


def _indent(text: str) -> int:
    return len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip(" "))


def _outdent(lines: list[Line], at: int, fence: str, by: int) -> None:
    """Remove columns of indentation from a fenced listing that starts at a line, as far as its lines have them."""
    begins = at
    while at < len(lines):
        text, number = lines[at]
        lines[at] = text[_columns(text, by) :], number
        if at > begins and re.match(rf"\s*{re.escape(fence)}[`~]*\s*$", text):
            return
        at += 1


def _columns(text: str, by: int) -> int:
    """Return the number of characters of the indentation that make up this many columns."""
    column = at = 0
    while at < len(text) and column < by and text[at] in " \t":
        column += 4 - column % 4 if text[at] == "\t" else 1
        at += 1
    return at


def trimmed(lines: list[Line]) -> list[Line]:
    start, end = 0, len(lines)
    while start < end and not lines[start][0].strip():
        start += 1
    while end > start and not lines[end - 1][0].strip():
        end -= 1
    return lines[start:end]


def fenced(
    lines: list[Line], language: str, number: int, title: str = "", numbers: bool = False
) -> list[Line]:
    """Return a listing of these lines."""
    longest = max((len(found[0]) for text, _ in lines for found in re.finditer("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    made = [(fence + language, number), *lines, (fence, lines[-1][1] if lines else number)]
    if title or numbers:
        said = (f" title={quoted(title)}" if title else "") + (' lineNumbers="true"' if numbers else "")
        made = [(f"{{% code{said} %}}", number), *made, ("{% endcode %}", made[-1][1])]
    return made


class Vocabulary(Struct, frozen=True):
    """The handlers for names that aren't part of Markdown: components, directives and roles, shortcodes, Liquid
    tags. Each returns lines or text, or None for an unknown name."""

    component: Callable[[Writer, str, dict[str, Any], list[Line], int], list[Line] | None]
    component_inline: Callable[[Writer, str, re.Match[str], int], tuple[str, int]]
    directive: Callable[[Writer, str, str, list[Line], int], list[Line] | None]
    role: Callable[[Writer, str, str, int], str]
    shortcode: Callable[[Writer, list[Line], int], tuple[int, list[Line]]]
    shortcode_inline: Callable[[Writer, str, int, int, int], tuple[str, int]]
    shortcodes_in_code: Callable[[Writer, str, int], str]
    liquid: Callable[[Writer, list[Line], int], tuple[int, list[Line]]]
    liquid_inline: Callable[[Writer, re.Match[str], int], str]
    magic: Callable[[Writer, list[Line], int], tuple[int, list[Line]] | None]
    magic_sign: Callable[[str], tuple[str, str] | None]
    magic_fences: Callable[[Writer, list[Line], int], tuple[int, list[Line]] | None]


class Looked(Struct):
    """The number of lines of a page that were searched in vain."""

    lines: int = 0

    def take(self, lines: int) -> bool:
        """Count lines. Return False if there were too many."""
        self.lines += lines
        return self.lines <= MAX_LOOKED


class Writer:
    """Writer of the lines of one page. ``including`` are the files being read, the page first."""

    def __init__(
        self, place: Place, dialect: Dialect, vocabulary: Vocabulary, including: tuple[str, ...] = ()
    ) -> None:
        self.place = place
        self.dialect = dialect
        self.vocabulary = vocabulary
        self.including = including or (place.path,)
        self.jsx = place.path.lower().endswith(dialect.jsx) if dialect.jsx else False
        self.imports: dict[str, str] = {}
        self.constants: dict[str, Any] = {}
        self.taken = 0
        self.left = MAX_LINES
        self.depth = 0
        self.told: set[str] = set()
        self.assigned: dict[str, str] = {}
        self.unclosed: list[str] = []
        self.looked = Looked()

    def page(self, lines: list[Line]) -> list[Line]:
        if self.jsx:
            lines = self.without_modules(lines)
        return self.blocks(self.without_scripts(lines))

    def tell(self, line: int, code: str, message: str, key: str | None = None) -> None:
        """Report a problem, only once for each ``key`` if there is one."""
        if key is None or (code + key) not in self.told:
            self.told.add(code + (key or ""))
            self.place.problem(line, code, message)

    # Modules

    def without_modules(self, lines: list[Line]) -> list[Line]:
        """Return the lines without imports, exports, and comments. The imported and exported names are remembered."""
        out: list[Line] = []
        at = 0
        fence = ""
        while at < len(lines):
            text, number = lines[at]
            found = _FENCE.match(text)
            if found and (not fence or (text.strip().startswith(fence) and not text.strip().strip(fence[0]))):
                fence = "" if fence else found["fence"]
            if not fence and text.startswith("import ") and (end := self._import(lines, at)):
                at = end
                continue
            if not fence and re.match(r"export\s+(const|let|var|function|default|\{|async)", text):
                end = self._end_of_statement(lines, at)
                statement = "\n".join(line for line, _ in lines[at:end])
                self._constant(statement, number)
                at = end
                continue
            out.append((text, number))
            at += 1
        return out

    def _import(self, lines: list[Line], at: int) -> int | None:
        for end in range(at + 1, min(at + 30, len(lines)) + 1):
            statement = "\n".join(text for text, _ in lines[at:end])
            if found := _IMPORT.fullmatch(statement):
                if found["name"]:
                    self.imports[found["name"]] = found["source"]
                if found["names"]:
                    self._import_constants(found["names"], found["source"], lines[at][1])
                return end
            if not lines[end - 1][0].strip():
                return None
        return None

    def _import_constants(self, names: str, source: str, number: int) -> None:
        """Read constants that another page exports, under the names used in this one."""
        if not source.endswith(_PARTS) or self.taken >= MAX_TAKEN:
            return
        self.taken += 1
        given = self.place.include(source, number)
        for one in names.split(",")[:MAX_TAKEN] if given else []:
            name, _, here = one.strip().partition(" as ")
            value = read_constant(given[1], name.strip()) if given and name.strip() else UNKNOWN
            if value is not UNKNOWN:
                self.constants[here.strip() or name.strip()] = value

    def _end_of_statement(self, lines: list[Line], at: int) -> int:
        depth = 0
        for end in range(at, len(lines) if self.looked.take(0) else at):
            text = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`]*`", "", lines[end][0])
            depth += sum(map(text.count, "({[")) - sum(map(text.count, ")}]"))
            if depth <= 0 and (
                end + 1 >= len(lines) or re.match(r"\s*$|(?:export|import)\s", lines[end + 1][0])
            ):
                return end + 1
        self.looked.take(10 * (len(lines) - at))
        return at + 1

    def _constant(self, statement: str, number: int) -> None:
        found = re.match(
            r"export\s+(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(.*?);?\s*$", statement, re.DOTALL
        )
        value = read_literal(found[2]) if found else UNKNOWN
        if found and value is not UNKNOWN:
            self.constants[found[1]] = value
        else:
            self.tell(number, "script_left_out", "skipped: a script, which isn't run here", "export")

    def without_scripts(self, lines: list[Line]) -> list[Line]:
        out: list[Line] = []
        closing, fence = "", ""
        for text, number in lines:
            found = _FENCE.match(text)
            if (
                found
                and not closing
                and (not fence or (text.strip().startswith(fence) and not text.strip().strip(fence[0])))
            ):
                fence = "" if fence else found["fence"]
            if closing:
                if closing in text.lower():
                    closing = ""
                continue
            if not fence and re.match(r"<link\b[^<>]*>[ \t]*$", text, re.IGNORECASE):
                continue
            begun = None if fence else re.match(r"<(script|style)\b[^>]*>", text, re.IGNORECASE)
            if begun:
                closing = f"</{begun[1].lower()}>"
                if begun[1].lower() == "script":
                    self.tell(number, "script_left_out", "skipped: a script, which isn't run here", "script")
                if closing in text.lower():
                    closing = ""
                continue
            out.append((text, number))
        return out

    # Blocks

    def blocks(self, lines: list[Line]) -> list[Line]:
        """Return these lines as blocks. Below a maximum depth they stay unchanged."""
        if self.depth >= MAX_NESTING:
            return lines
        self.depth += 1
        try:
            return list(self._blocks(lines))
        finally:
            self.depth -= 1

    def _blocks(self, lines: list[Line]) -> Iterator[Line]:
        lines = list(lines)
        at = 0
        in_list = False
        blank = True
        while at < len(lines):
            text, number = lines[at]
            if not text.strip():
                yield text, number
                blank = True
                at += 1
                continue
            indent = _indent(text)
            if indent == 0:
                in_list = _LIST_ITEM.match(text) is not None or (in_list and not blank)
            if indent >= 4 and blank and not in_list and not self.jsx:
                # An indented listing.
                while at < len(lines) and (not lines[at][0].strip() or _indent(lines[at][0]) >= 4):
                    yield from self.code([lines[at]])
                    at += 1
                continue
            if indent >= 4 and not in_list and self.jsx and (fence := _FENCE.match(text)):
                # MDX has no indented listings, so this one is fenced, whatever its indentation.
                _outdent(lines, at, fence["fence"], indent)
                continue
            end, made = self.block(lines, at)
            if end == at:
                end = self._end_of_text(lines, at)
                made = self.text(lines[at:end])
            if made and not made[-1][0].strip() and (end == len(lines) or not lines[end][0].strip()):
                made = made[:-1]
            yield from made
            blank = False
            at = end

    def _end_of_text(self, lines: list[Line], at: int) -> int:
        """Return the end of a run of text: an empty line, or the start of a block."""
        end = at + 1
        while (
            end < len(lines)
            and lines[end][0].strip()
            and end - at < 500
            and not self._begins_block(lines[end][0])
        ):
            end += 1
        return end

    def _begins_block(self, text: str) -> bool:
        start = text.lstrip()
        if start.startswith(
            (
                "```",
                "~~~",
                ":::",
                "!!!",
                "???",
                "=== ",
                "--8<--",
                "#",
                ">",
                "<<<",
                "{!",
                ": ",
                ":\t",
                "!include",
                "{%",
                "{{",
                "[",
            )
        ):
            return True
        if (
            start.startswith("*[")
            and (self.dialect.indented or self.dialect.tabsets)
            and _ABBREVIATION.match(text)
        ):
            return True
        if _FENCE.match(text) or (self.dialect.vue and "@include:" in text and start.startswith("<!--")):
            return True
        found = _OPENING.match(text)
        return found is not None and (
            found["name"][0].isupper()
            or found["name"] in _ELEMENTS
            or found["name"] == "pre"
            or (found["name"] in HOLDERS and _HOLDING.match(text, found.end()) is not None)
        )

    def block(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        """Return the end and the replacement of the block that starts at a line. The end equals the start if there
        is no block."""
        text, number = lines[at]
        start = text.lstrip()
        sign = start[0]
        if (
            self.dialect.liquid
            and _LIST_ITEM.match(text)
            and at + 1 < len(lines)
            and _CONTENTS.match(lines[at + 1][0])
        ):
            return at + 2, []  # Placeholder for the table of contents.
        if found := _FENCE.match(text):
            if self.dialect.magic and (made := self.vocabulary.magic_fences(self, lines, at)):
                return made
            return self.fence(lines, at, found)
        if sign == "[" and self.dialect.magic and (made := self.vocabulary.magic(self, lines, at)):
            return made
        if sign in "!?" and self.dialect.indented and (found := _INDENTED.match(text)):
            return self.admonition(lines, at, found)
        if sign == "=" and self.dialect.indented and (found := _TAB.match(text)):
            return self.tabs(lines, at, found)
        if sign == "(" and self.dialect.roles and re.fullmatch(r"\([^()\n]{1,200}\)=", start.rstrip()):
            # A label for what follows. A heading keeps its own.
            after = next((line.lstrip() for line, _ in lines[at + 1 :] if line.strip()), "")
            if after.startswith(("#", "(")):
                return at + 1, []
            return at + 1, [(f'<a id="{label_id(start.rstrip()[1:-2])}"></a>', number), ("", number)]
        if self.dialect.roles and (
            start.startswith("% ") or re.fullmatch(r"\+{3,}[ \t]*(?:\{.*\})?", start.rstrip())
        ):
            return at + 1, []  # A comment, or a cell separator.
        if sign == ":" and (found := _CONTAINER.match(text)) and found["name"]:
            return self.container(lines, at, found)
        if sign == ">":
            return self.quote(lines, at)
        if sign == "*" and (self.dialect.indented or self.dialect.tabsets) and _ABBREVIATION.match(text):
            return at + 1, []  # The definition of an abbreviation, which isn't shown.
        if sign == "#" and (found := _HEADING.match(text)):
            if self.dialect.tabsets and (set := _TABSET.search(found["words"])):
                return self.tabset(lines, at, len(found["signs"].strip()), found["words"][: set.start()])
            if self.dialect.liquid and (named := self._named_below(lines, at)) is not None:
                return at + 2, [(f"{self.heading(found, number)} {{#{named}}}", number)]
            return at + 1, [(self.heading(found, number), number)]
        if sign == "<" and start.startswith("<<<") and self.dialect.vue and (found := _LISTING.match(text)):
            return at + 1, indented(self.listing(found["path"], number, found["rest"]), found["indent"])
        if sign in "-{!<" and (included := self._include(lines, at)):
            return included
        if sign == "<" and (found := _OPENING.match(text)):
            return self.element(lines, at, found)
        if sign == "{":
            return self.brace(lines, at)
        if sign == "[":
            if self.dialect.wiki and re.match(r"\[\[_?toc_?\]\]\s*$", start, re.IGNORECASE):
                return at + 1, []
            if re.match(r"\[toc\]\s*$|\[\[toc\]\]\s*$", start, re.IGNORECASE):
                return at + 1, []
            ends = at + 2 if text.rstrip().endswith("]:") else at + 1
            if found := _DEFINED.match("\n".join(row for row, _ in lines[at:ends])):
                href, done = self._target(found["href"], number)
                href = href if done else self.place.link(href, number)
                rows = f"{found['lead']}{_pointed(href)}{found['title']}".split("\n")
                return ends, [(row, line) for row, (_, line) in zip(rows, lines[at:ends], strict=True)]
        if sign == ":" and (found := _DEFINITION.match(text)):
            return self.definition(lines, at, found)
        if (
            at + 1 < len(lines)
            and _DEFINITION.match(lines[at + 1][0])
            and not _LIST_ITEM.match(text)
            and "|" not in text
        ):
            return at + 1, [(f"**{words(text)}**", number), ("", number)]
        return at, []

    def body_below(self, lines: list[Line], at: int, indent: int) -> int:
        """Return the end of the lines that are indented more than the line before ``at``."""
        end = at
        while at < len(lines):
            text = lines[at][0]
            if text.strip():
                if _indent(text) <= indent:
                    break
                end = at + 1
            at += 1
        return end

    def hint(self, kind: str, title: str, body: list[Line], number: int) -> list[Line]:
        style = _STYLES.get(kind.lower(), "info")
        body = trimmed(body)
        last = body[-1][1] if body else number
        heading = [(f"#### {title}", number), ("", number)] if title.strip() else []
        if not body and not heading:
            return []
        return [(f'{{% hint style="{style}" %}}', number), *heading, *body, ("{% endhint %}", last)]

    def details(self, title: str, body: list[Line], number: int, open: bool = False) -> list[Line]:
        body = trimmed(body)
        last = body[-1][1] if body else number
        summary = self.inline(title, number) if title.strip() else "Details"
        summary = re.sub(
            r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", summary)
        )
        return [
            ("<details open>" if open else "<details>", number),
            ("", number),
            (f"<summary>{summary}</summary>", number),
            ("", number),
            *body,
            ("", last),
            ("</details>", last),
        ]

    def tab_list(self, items: list[tuple[str, list[Line], int]], number: int) -> list[Line]:
        """Return tabs by title, or nothing if there are none."""
        made: list[Line] = [("{% tabs %}", number)]
        for title, body, line in items:
            body = trimmed(body)
            last = body[-1][1] if body else line
            made += [
                (f"{{% tab title={quoted(words(title) or 'Tab')} %}}", line),
                *body,
                ("{% endtab %}", last),
                ("", last),
            ]
        made[-1:] = [("{% endtabs %}", made[-1][1])]
        return made if items else []

    def fence(
        self, lines: list[Line], at: int, found: re.Match[str], *, in_tab: bool = False
    ) -> tuple[int, list[Line]]:
        mark, info, number = found["fence"], found["info"].strip(), lines[at][1]
        lead = found["lead"]
        closing = re.compile(rf"[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        end = at + 1
        while end < len(lines) and not closing.match(lines[end][0]):
            end += 1
        inside = self.code(lines[at + 1 : end])
        end = min(end + 1, len(lines))
        if self.dialect.roles and (directive := re.match(r"\{([\w:+-]+)\}[ \t]*(.*)$", info)):
            made = self.vocabulary.directive(
                self, directive[1], directive[2], dedented(inside, _indent(lead)), number
            )
            if made is not None:
                return end, indented(made, " " * _indent(lead) if not lead.strip() else "")
        language, title, numbers = read_info(info, bare=self.dialect.magic)
        if self.dialect.tabsets and language == "diagram":
            drawn = self.place.keep(
                "data:image/svg+xml;base64," + "".join(text for text, _ in inside).strip()
            )
            if drawn is not None:
                return end, [(f"![]({_pointed(drawn)})", number)]
        if self.jsx and not in_tab and not lead.strip() and re.search(r"\btab=[\"']", info):
            return self._tabs_of_fences(lines, at)
        if self.jsx and language in ("npm", "package-install"):
            # A command for one package manager, to be shown for others too, or only the names of packages.
            inside = [
                (
                    text
                    if re.match(r"\s*(?:npm|npx)?\s*$|\s*np[mx]\s", text)
                    else f"npm install {text.strip()}",
                    line,
                )
                for text, line in inside
            ]
            language = "bash"
        if self.jsx or self.dialect.vue:
            inside = _without_marks(inside)
            info, language = (re.sub(r"^(\w+)-vue\b", r"\1", each) for each in (info, language))
        close = lines[end - 1] if end - 1 > at and closing.match(lines[end - 1][0]) else None
        if lead.strip():
            # In a list or a quote it stays in place.
            return end, [(f"{lead}{mark}{language}", number), *inside, *([close] if close else [])]
        if not title and not numbers and language == info == found["info"].strip():
            return end, [lines[at], *inside, *([close] if close else [])]
        made = [
            (mark + language, number),
            *dedented(inside, _indent(lead)),
            (mark, close[1] if close else number),
        ]
        if title or numbers:
            said = (f" title={quoted(title)}" if title else "") + (' lineNumbers="true"' if numbers else "")
            made = [(f"{{% code{said} %}}", number), *made, ("{% endcode %}", made[-1][1])]
        return end, indented(made, lead)

    def code(self, lines: list[Line]) -> list[Line]:
        """Fill in placeholders that tools replace in code too."""
        if not self.dialect.shortcodes:
            return lines
        return [(self.vocabulary.shortcodes_in_code(self, text, number), number) for text, number in lines]

    def admonition(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        number, indent = lines[at][1], _indent(found["indent"])
        end = self.body_below(lines, at + 1, indent)
        body = self.blocks(dedented(lines[at + 1 : end], indent + 4))
        kind = (found["kinds"] or "note").split()[0]
        title = found["title"]
        if found["sign"] != "!!!":
            shown = title or kind.replace("-", " ").capitalize()
            made = self.details(shown, body, number, found["sign"].endswith("+"))
        else:
            made = self.hint(kind, self.inline(title or "", number), body, number)
        return end, [*indented(made, found["indent"]), ("", made[-1][1] if made else number)]

    def tabs(self, lines: list[Line], at: int, found: re.Match[str] | None) -> tuple[int, list[Line]]:
        assert found is not None
        indent, number = found["indent"], lines[at][1]
        items = []
        end = at
        while found is not None and found["indent"] == indent:
            end = self.body_below(lines, at + 1, _indent(indent))
            body = self.blocks(dedented(lines[at + 1 : end], _indent(indent) + 4))
            items.append((found["title"], body, lines[at][1]))
            at = end
            while at < len(lines) and not lines[at][0].strip():
                at += 1
            found = _TAB.match(lines[at][0]) if at < len(lines) else None
        made = self.tab_list(items, number)
        return end, [*indented(made, indent), ("", made[-1][1])]

    def container(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        number = lines[at][1]
        if self.dialect.indented:
            # A placeholder for documentation generated from code. The lines below are its options.
            named = f"{found['name']}{found['rest']}".strip()
            self.tell(
                number,
                "code_reference",
                f"::: {named[:100]} is generated from code when the site is built; skipped",
            )
            return self.body_below(lines, at + 1, _indent(found["indent"])), []
        end = self._end_of_container(lines, at, found)
        inside = dedented(lines[at + 1 : end])
        name, rest = found["name"], found["rest"].strip()
        end = min(end + 1, len(lines))
        made = self._container(name, rest, inside, number)
        return end, indented(made, found["indent"])

    @staticmethod
    def _end_of_container(lines: list[Line], at: int, found: re.Match[str]) -> int:
        """Return the line that closes a container."""
        waiting = [len(found["colons"])]
        end, fence = at + 1, ""
        while end < len(lines):
            text = lines[end][0]
            if other := _FENCE.match(text):
                if not fence:
                    fence = other["fence"]
                elif other["fence"].startswith(fence) and not other["info"].strip():
                    fence = ""
            elif not fence and text.lstrip().startswith(":::") and (other := _CONTAINER.match(text)):
                if other["name"]:
                    waiting.append(len(other["colons"]))
                elif not other["rest"].strip():
                    while waiting and waiting[-1] > len(other["colons"]):
                        waiting.pop()
                    if waiting:
                        waiting.pop()
                    if not waiting:
                        break
            end += 1
        return end

    def _container(self, name: str, rest: str, inside: list[Line], number: int) -> list[Line]:
        if name.startswith("{"):
            made = self.vocabulary.directive(self, name.strip("{}"), rest, inside, number)
            if made is not None:
                return made
            name = name.strip("{}")
        kind = name.lower()
        title = ""
        if found := re.match(r"\[(.*)\](.*)$", rest):
            title, rest = found[1], found[2]
        elif found := re.match(r"([^{]*)(\{.*\})?$", rest):
            title, rest = found[1].strip(), found[2] or ""
        if kind == "code-group":
            return self.code_group(inside, number)
        if kind in ("details", "collapse"):
            return self.details(title or "Details", self.blocks(inside), number, "open" in rest)
        if kind in ("tabs", "tab-set", "tabset"):
            return self.container_tabs(inside, number)
        if kind in HINT_NAMES:
            given = attributes_of(rest.strip("{}")).get("title", "")
            return self.hint(kind, self.inline(title or given, number), self.blocks(inside), number)
        if kind not in ("raw", "v-pre", "div", "center", "grid", "row", "column", "columns"):
            self.tell(
                number, "unknown_container", f"::: {name} isn't supported; its contents were kept", name
            )
        return self.blocks(inside)

    def code_group(self, inside: list[Line], number: int) -> list[Line]:
        items = []
        at = 0
        while at < len(inside):
            if found := _FENCE.match(inside[at][0]):
                language, title, numbers = read_info(found["info"].strip(), bare=True)
                closing = re.compile(
                    rf"[ \t]*{re.escape(found['fence'][0])}{{{len(found['fence'])},}}[ \t]*$"
                )
                end = at + 1
                while end < len(inside) and not closing.match(inside[end][0]):
                    end += 1
                body = _without_marks(inside[at + 1 : end])
                listing = fenced(dedented(body, _indent(found["lead"])), language, inside[at][1], "", numbers)
                items.append((title or language or "Code", listing, inside[at][1]))
                at = end
            elif found := re.match(r"[ \t]*<<<[ \t]+(?P<path>[^\s{\[]+)(?P<rest>.*)$", inside[at][0]):
                title = next(
                    iter(re.findall(r"\[([^\]]+)\]", found["rest"])), found["path"].rpartition("/")[2]
                )
                rest = re.sub(r"\[[^\]]*\]", "", found["rest"])
                items.append((title, self.listing(found["path"], inside[at][1], rest), inside[at][1]))
            at += 1
        return self.tab_list(items, number)

    def _tabs_of_fences(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        """Return adjacent listings that each name a tab."""
        items, end, number = [], at, lines[at][1]
        while at < len(lines) and (found := _FENCE.match(lines[at][0])):
            named = re.search(r"\btab=([\"'])(.*?)\1", found["info"])
            if named is None or found["lead"].strip():
                break
            end, made = self.fence(lines, at, found, in_tab=True)
            items.append((re.sub(r"<[^<>]*>", "", named[2]).strip(), made, lines[at][1]))
            at = end
            while at < len(lines) and not lines[at][0].strip():
                at += 1
        return end, self.tab_list(items, number)

    def tabset(self, lines: list[Line], at: int, level: int, title: str) -> tuple[int, list[Line]]:
        """Return tabs that are headings one level below their own."""
        number = lines[at][1]
        items: list[tuple[str, list[Line], int]] = []
        before: list[Line] = []
        end, fence = at + 1, ""
        while end < len(lines):
            text, line = lines[end]
            if mark := _FENCE.match(text):
                if not fence or (mark["fence"].startswith(fence) and not mark["info"].strip()):
                    fence = "" if fence else mark["fence"]
            found = None if fence else _HEADING.match(text)
            below = len(found["signs"].strip()) - level if found else 2
            if below <= 0:
                break
            if found and below == 1:
                items.append((found["words"].strip(), [], line))
            else:
                (items[-1][1] if items else before).append((text, line))
            end += 1
        tabs = [(words(name), self.blocks(dedented(body, 0)), line) for name, body, line in items]
        heading = (
            [(f"{'#' * level} {self.inline(title.strip(), number)}", number), ("", number)]
            if title.strip() and not items
            else []
        )
        return end, [*heading, *self.blocks(before), *self.tab_list(tabs, number), ("", number)]

    def container_tabs(self, inside: list[Line], number: int) -> list[Line]:
        items = []
        at = 0
        while at < len(inside):
            found = _CONTAINER.match(inside[at][0])
            if found and found["name"] and found["name"].lower().strip("{}") in ("tab", "tab-item"):
                end = self._end_of_container(inside, at, found)
                body = inside[at + 1 : end]
                while found["name"].startswith("{") and body and re.match(r"[ \t]*:[\w-]+:", body[0][0]):
                    body = body[1:]
                items.append((found["rest"].strip(" []"), self.blocks(dedented(body)), inside[at][1]))
                end = min(end + 1, len(inside))
                at = end
            elif (fence := _FENCE.match(inside[at][0])) and (
                named := re.match(r"\{tab(?:-item)?\}[ \t]*(.*)$", fence["info"].strip())
            ):
                closing = re.compile(
                    rf"[ \t]*{re.escape(fence['fence'][0])}{{{len(fence['fence'])},}}[ \t]*$"
                )
                end = at + 1
                while end < len(inside) and not closing.match(inside[end][0]):
                    end += 1
                body = [row for row in inside[at + 1 : end] if not re.match(r"[ \t]*:[\w-]+:", row[0])]
                items.append((named[1], self.blocks(dedented(body)), inside[at][1]))
                at = end + 1
            elif found := re.match(r"[ \t]*(?:==|@tab(?::active)?)[ \t]+(.*)$", inside[at][0]):
                end = at + 1
                while end < len(inside) and not re.match(
                    r"[ \t]*(?:==|@tab(?::active)?)[ \t]", inside[end][0]
                ):
                    end += 1
                items.append((found[1], self.blocks(dedented(inside[at + 1 : end])), inside[at][1]))
                at = end
            else:
                at += 1
        return self.tab_list(items, number) or self.blocks(inside)

    def quote(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        number = lines[at][1]
        lead = lines[at][0][: len(lines[at][0]) - len(lines[at][0].lstrip())]
        end = at
        while end < len(lines) and lines[end][0].lstrip().startswith(">"):
            end += 1
        while (
            end < len(lines)
            and lines[end][0].strip()
            and not self._begins_block(lines[end][0])
            and not _LIST_ITEM.match(lines[end][0])
            and not _STYLED.match(lines[end][0])
        ):
            end += 1  # Continuation lines of the same paragraph need no marker.
        inside = [(re.sub(r"^[ \t]*> ?", "", text), line) for text, line in lines[at:end]]
        found = _ALERT.match(inside[0][0].strip())
        if self.dialect.tabsets and (behind := _STYLED_BEHIND.match(inside[-1][0])):
            made = self.hint(
                behind["kind"], "", self.blocks([*inside[:-1], (behind["words"], inside[-1][1])]), number
            )
            return end, [*indented(made, lead), ("", made[-1][1])]
        if self.dialect.magic and found is None and (told := self.vocabulary.magic_sign(inside[0][0])):
            made = self.hint(told[0], self.inline(told[1], number), self.blocks(inside[1:]), number)
            return end, [*indented(made, lead), *([("", made[-1][1])] if made else [])]
        if end < len(lines) and (styled := _STYLED.match(lines[end][0])):
            made = self.hint(styled[1], "", self.blocks(inside), number)
            return end + 1, [*indented(made, lead), *([("", made[-1][1])] if made else [])]
        if found is None:
            made = self.blocks(inside)
            if made == inside:
                return end, lines[at:end]
            return end, [(f"{lead}> {text}".rstrip() if text else f"{lead}>", line) for text, line in made]
        body = self.blocks(inside[1:])
        kind, title = found["kind"].lower(), found["title"]
        if found["fold"]:
            made = self.details(title or kind.capitalize(), body, number, found["fold"] == "+")
        else:
            made = self.hint(
                "danger" if kind == "caution" and not self.dialect.wiki else kind,
                self.inline(title, number),
                body,
                number,
            )
        return end, [*indented(made, lead), *([("", made[-1][1])] if made else [])]

    def heading(self, found: re.Match[str], number: int) -> str:
        said = found["words"]
        pinned = ""
        if given := _HEADING_ATTRIBUTES.search(said):
            named = given["comment"] or ((match := _ID.search(given["list"] or "")) and match[1])
            looks = named or re.match(r"[ \t]*(?:[.#][\w-]+|[\w-]+=\S+|[ \t])+$", given["list"] or "")
            if looks:
                said = said[: given.start()]
                pinned = f" {{#{named}}}" if named else ""
        elif given := re.search(r"[ \t]+\\?\[#([\w-]+)\\?\][ \t]*$", said):
            said, pinned = said[: given.start()], f" {{#{given[1]}}}"
        elif self.jsx and (given := re.search(r"[ \t]+\\?\[!toc\\?\][ \t]*$", said)):
            said = said[: given.start()]
        return f"{found['signs']}{self.inline(said, number)}{pinned}"

    @staticmethod
    def _named_below(lines: list[Line], at: int) -> str | None:
        """Return the label that attributes in the line below give to a line."""
        below = lines[at + 1][0].strip() if at + 1 < len(lines) else ""
        named = _ID.search(below) if below.startswith("{:") and _ATTRIBUTES.fullmatch(below) else None
        return named[1] if named else None

    def definition(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        indent = _indent(found["indent"])
        end = self.body_below(lines, at + 1, indent)
        # Continuation lines of the same paragraph need no indentation.
        if end == at + 1:
            while (
                end < len(lines)
                and lines[end][0].strip()
                and not self._begins_block(lines[end][0])
                and not (end + 1 < len(lines) and _DEFINITION.match(lines[end + 1][0]))
            ):
                end += 1
        inside = [(found["words"], lines[at][1]), *dedented(lines[at + 1 : end], 4)]
        return end, [*self.blocks(inside), ("", lines[end - 1][1])]

    # Other files

    def _include(self, lines: list[Line], at: int) -> tuple[int, list[Line]] | None:
        text, number = lines[at]
        if len(text) > MAX_INCLUDE:
            return None
        if self.dialect.indented:
            if found := _SNIPPET.match(text):
                return at + 1, indented(self.included(found["path"], number), found["indent"])
            if _SNIPPETS.match(text):
                end = at + 1
                while end < len(lines) and not _SNIPPETS.match(lines[end][0]):
                    end += 1
                named = [(line.strip().strip("\"'"), n) for line, n in lines[at + 1 : end] if line.strip()]
                made = [
                    line for path, n in named if not path.startswith(";") for line in self.included(path, n)
                ]
                return min(end + 1, len(lines)), made
        if self.dialect.indented or self.dialect.vue:
            for pattern in _INCLUDES:
                if found := pattern.match(text):
                    lead = found["indent"]
                    made = indented(
                        self.included(found["path"], number), " " * len(lead) if lead.strip() else lead
                    )
                    if lead.strip() and made:
                        made[0] = (lead + made[0][0].lstrip(), number)
                    return at + 1, made
        return None

    def included(
        self,
        path: str,
        number: int,
        given: dict[str, Any] | None = None,
        part: Callable[[list[str]], list[str]] = lambda rows: rows,
    ) -> list[Line]:
        """Return the blocks of another file, as if they were written here. ``given`` are its props as a component.
        ``part`` selects rows."""
        section = ""
        if self.dialect.vue and (found := _PART.match(path)):
            path, section = found["path"], found["region"] or ""
            if found["lines"]:
                first, comma, last = found["lines"].partition(",")
                section = f"{first}:{last if comma else first}"
        elif found := re.match(r"(.+?):([\w-]*(?::[\w-]*)?)$", path):
            path, section = found[1], found[2]
        read = self.place.include(path, number)
        if read is None:
            self.tell(number, "missing_include", f"{path} doesn't exist; nothing is shown in its place")
            return []
        where, text = read
        if where in self.including or len(self.including) > MAX_INCLUDES:
            self.tell(
                number,
                "circular_include",
                f"{path} includes itself, or includes too much; nothing is shown in its place",
            )
            return []
        body, _ = split_front(text)
        rows = part(cut_section(body.replace("\r\n", "\n").split("\n"), section))
        self.left -= len(rows)
        if self.left < 0:
            self.tell(
                number,
                "too_many_lines",
                f"{path}: more than {MAX_LINES} lines are included; skipped",
                "included",
            )
            return []
        inner = Writer(self.place.within(where), self.dialect, self.vocabulary, (*self.including, where))
        inner.left, inner.depth, inner.told = self.left, self.depth, self.told
        inner.assigned = self.assigned
        if given:
            inner.constants = {"props": given, **given}
        inner.unclosed, inner.looked = self.unclosed, self.looked
        made = inner.page([(row, number) for row in rows if not SECTION.search(row)])
        self.left = inner.left
        return trimmed([(text, number) for text, _ in made])

    def listing(
        self,
        path: str,
        number: int,
        rest: str = "",
        language: str = "",
        part: Callable[[list[str]], list[str]] = lambda rows: rows,
    ) -> list[Line]:
        """Return a listing of another file. ``part`` selects rows."""
        path, _, region = path.partition("#")
        given = self.place.include(path, number)
        if given is None:
            self.tell(number, "missing_include", f"{path} doesn't exist; nothing is shown in its place")
            return []
        name, ending = given[0].rpartition("/")[2], given[0].rpartition(".")[2].lower()
        rows = given[1].replace("\r\n", "\n").rstrip("\n").split("\n")
        if region:
            marks = [
                n
                for n, row in enumerate(rows)
                if re.search(rf"#(?:end)?region\b.*\b{re.escape(region)}\b", row)
            ]
            rows = rows[marks[0] + 1 : marks[1]] if len(marks) > 1 else rows
        rows = part(rows)
        self.left -= len(rows)
        if self.left < 0:
            self.tell(
                number,
                "too_many_lines",
                f"{path}: more than {MAX_LINES} lines are included; skipped",
                "included",
            )
            return []
        title = next(iter(re.findall(r"\[([^\]]+)\]", rest)), "")
        known = re.search(r"\{[\d,\s-]*([a-z][\w-]*)", rest)
        language = language or (
            known[1] if known else _BY_ENDING.get(ending, ending if ending != name.lower() else "")
        )
        return fenced([(row, number) for row in rows], language, number, title)

    # Elements and components

    def element(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        name, number = found["name"], lines[at][1]
        if name == "pre":
            end = at
            while end < len(lines) and "</pre>" not in lines[end][0].lower():
                end += 1
            return min(end + 1, len(lines)), lines[at : end + 1]
        hint = _hint_of_classes(found) if name == "div" else ""
        holds = (
            (self.dialect.indented or self.dialect.liquid)
            and name in HOLDERS
            and _HOLDING.match(lines[at][0], found.end())
        )
        if name[0].islower() and name not in _ELEMENTS and not hint and not holds:
            return at, []
        if name[0].isupper() and not (self.jsx or self.dialect.vue) and name not in _ANYWHERE:
            return at, []
        opened = self.opening(lines, at, found.start("name") - 1)
        if opened is None:
            return at, []
        inside: list[Line] = []
        line, column = opened.line, opened.column
        if not opened.empty:
            closed = self.closing(lines, opened, name)
            if closed is None:
                if name[0].isupper():
                    self.tell(number, "unclosed_tag", f"<{name}> is never closed")
                    rest = lines[line][0][column:]
                    return at + 1 if line == at else line + 1, [(rest, number)] if rest.strip() else []
                return at, []
            inside = inside_of(lines, opened, closed)
            line, column = closed[0], closed[2]
        rest = lines[line][0][column:]
        if name[0].isupper() and rest.strip():
            # Text follows, so it is part of a paragraph.
            return at, []
        lead = lines[at][0][: found.start("name") - 1]
        made: list[Line] | None
        if hint:
            made = self.hint(hint, "", self.blocks(dedented(inside)), number)
        else:
            attributes = self.evaluated(opened.attributes)
            made = self.vocabulary.component(self, name, attributes, dedented(inside), number)
        if made is None:
            return at, []
        made = indented(made, lead if not lead.strip() else "")
        if made:
            made = [*made, ("", made[-1][1])]
        if rest.strip():
            lines[line] = (rest, lines[line][1])
            return line, made
        return line + 1, made

    def opening(self, lines: list[Line], at: int, column: int) -> Opening | None:
        """Return the tag that opens at a place, or None if it has no end."""
        if not self.looked.take(0):
            return None
        try:
            return read_opening(lines, at, column)
        except EndlessTag as error:
            self.looked.take(1 + error.size // 3)
            return None

    def closing(self, lines: list[Line], opened: Opening, name: str) -> tuple[int, int, int] | None:
        """Return the tag that closes an element. In a page with many unclosed elements, the search stops early."""
        if len(self.unclosed) >= MAX_UNCLOSED:
            return None
        closed = find_closing(lines, opened, name, self.opening)
        if closed is None:
            self.unclosed.append(name)
        return closed

    def evaluated(self, attributes: dict[str, str]) -> dict[str, Any]:
        """Return the attributes of an element, with expressions evaluated. An expression is `UNKNOWN` if only
        running it would tell its value."""
        made: dict[str, Any] = {}
        for name, written in attributes.items():
            made[name.lstrip(":@") if self.dialect.vue else name] = (
                self.expression(written[1:-1]) if written.startswith("{") else written.removeprefix("\0")
            )
        return made

    def expression(self, written: str) -> Any:
        written = written.strip()
        if written in self.constants:
            return self.constants[written]
        if written in self.imports:
            return self.imports[written]
        if found := re.fullmatch(
            r"(?:require|useBaseUrl|withBase)\(\s*['\"]([^'\"\n]+)['\"]\s*\)(?:\.default)?", written
        ):
            return found[1]
        if found := re.fullmatch(r"([\w$]+)\.([\w$.]+)", written):
            value = self.constants.get(found[1], UNKNOWN)
            if found[1] in self.imports and found[2] in ("src", "default", "default.src"):
                return self.imports[found[1]]
            for part in found[2].split("."):
                value = value.get(part, UNKNOWN) if isinstance(value, dict) else UNKNOWN
            return value
        return read_literal(written)

    def children_of(
        self, lines: list[Line], names: tuple[str, ...]
    ) -> Iterator[tuple[str, dict[str, Any], list[Line], int]]:
        """Return the elements with these names directly in some lines: name, attributes, contents, line."""
        lines = list(lines)
        at = 0
        while at < len(lines):
            found = _OPENING.match(lines[at][0])
            opened = (
                self.opening(lines, at, found.start("name") - 1) if found and found["name"] in names else None
            )
            if found is None or opened is None:
                at += 1
                continue
            inside: list[Line] = []
            line, column = opened.line, opened.column
            if not opened.empty:
                closed = self.closing(lines, opened, found["name"])
                if closed is None:
                    at += 1
                    continue
                inside = inside_of(lines, opened, closed)
                line, column = closed[0], closed[2]
            yield found["name"], self.evaluated(opened.attributes), dedented(inside), lines[at][1]
            rest = lines[line][0][column:]
            if rest.strip():
                lines[line] = (rest, lines[line][1])
                at = line
            else:
                at = line + 1

    def brace(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        """Return a construct that starts with a brace: a comment, an expression, a template tag, or attributes of
        the block above."""
        text, number = lines[at]
        start = text.strip()
        if self.jsx and start.startswith("{/*"):
            end = at
            while end < len(lines) and "*/}" not in lines[end][0]:
                end += 1
            rest = lines[end][0].partition("*/}")[2] if end < len(lines) else ""
            return min(end + 1, len(lines)), [(rest, number)] if rest.strip() else []
        if self.dialect.shortcodes and start.startswith(("{{<", "{{%")):
            return self.vocabulary.shortcode(self, lines, at)
        if self.dialect.liquid and start.startswith("{%"):
            return self.vocabulary.liquid(self, lines, at)
        if self.dialect.tags and start.startswith("{%"):
            return self._own_tag(lines, at)
        if self.dialect.liquid and at + 1 < len(lines) and (kind := _hint_of_attributes(start)):
            # It applies to the block below, which may start with a title.
            end = self._end_of_text(lines, at + 1)
            if lines[at + 1][0].lstrip().startswith(">"):
                end = at + 1
                while end < len(lines) and lines[end][0].lstrip().startswith(">"):
                    end += 1
            inside = [(re.sub(r"^[ \t]*>[ ]?", "", row), n) for row, n in lines[at + 1 : end]]
            title = ""
            if "-title" in start and len(inside) > 1:
                title, inside = self.inline(inside[0][0].strip(), number), inside[1:]
            if inside:
                return end, self.hint(kind, title, self.blocks(inside), number)
        if found := re.fullmatch(
            r"\{:?[ \t]*(?:[.#][\w-]+|[\w-]+=(?:\"[^\"]*\"|[\w%]+)|[ \t])+\}", start
        ) or re.fullmatch(r"\{:[^{}]*\}", start):
            return at + 1, [(place, number)] if (place := _place_of(found).strip()) else []
        if (
            self.jsx
            and start.startswith("{")
            and not start.startswith("{%")
            and (value := self.expression(start.strip("{}"))) is not UNKNOWN
        ):
            return at + 1, [(str(value), number)] if isinstance(value, (str, int, float)) and str(
                value
            ).strip() else []
        if found := _TAG_AT_START.match(text):
            # Not an Octavo tag, so it is shown as written.
            kept = self.inline(text[found.end() :], number)
            return at + 1, [(f"{found['indent']}\\{{%{kept}", number)]
        return at, []

    def _own_tag(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        """Return an Octavo tag, across all its lines, with its target rewritten."""
        last = at
        while "%}" not in lines[last][0]:
            last += 1
            if last == len(lines) or last - at > MAX_TAG:
                return at, []

        def led(found: re.Match[str]) -> str:
            href = found["href"]
            shown = found["name"] == "src"
            return f'{found["name"]}="{self.place.link(href, lines[at][1], shown=shown)}"'

        return last + 1, [(_OWN_REFERENCE.sub(led, row), number) for row, number in lines[at : last + 1]]

    # Text

    def text(self, lines: list[Line]) -> list[Line]:
        """Return lines of plain text."""
        if self.dialect.liquid and len(lines) > 1 and (kind := _hint_of_attributes(lines[-1][0].strip())):
            return self.hint(kind, "", self.text(lines[:-1]), lines[0][1])
        joined = "\n".join(text for text, _ in lines)
        made = self.inline(joined, lines[0][1])
        if self.dialect.attributes:
            made = "\n".join(
                _ATTRIBUTES.sub(_place_of, row) if "{" in row else row for row in made.split("\n")
            )
        if made == joined:
            return lines
        rows = made.split("\n")
        if len(rows) == len(lines):
            return [
                (_keep_text_column(row, text), number)
                for row, (text, number) in zip(rows, lines, strict=True)
            ]
        return [(row, lines[min(at, len(lines) - 1)][1]) for at, row in enumerate(rows)]

    def inline(self, text: str, number: int) -> str:
        """Return text with links, images, and components. ``number`` is its first line."""
        if not text or _SIGNS.search(text) is None:
            return text
        if len(text) > MAX_WORDS:
            message = f"more than {MAX_WORDS} characters without an empty line; kept as written"
            self.tell(number, "too_long", message)
            return text
        made: list[str] = []
        endless: set[str] = set()
        at = 0
        line_at, line = 0, number
        while found := _PIECES.search(text, at):
            if found.end() == found.start():
                break
            line += text.count("\n", line_at, found.start())
            line_at = found.start()
            made.append(text[at : found.start()])
            at = found.end()
            kind = (
                found.lastgroup
                if found.lastgroup in _HANDLERS
                else next(name for name in _KINDS if found[name] is not None)
            )
            if kind == "spanning":
                written, at = self._spanning(text, found, endless, line)
            elif kind == "component":
                written, at = self.vocabulary.component_inline(self, text, found, line)
            else:
                written = _HANDLERS[kind](self, found, line)
            made.append(written)
        made.append(text[at:])
        return "".join(made)

    def _code(self, found: re.Match[str], line: int) -> str:
        if self.dialect.shortcodes:
            return self.vocabulary.shortcodes_in_code(self, found[0], line)
        # MDX syntax for the language of inline code.
        return re.sub(r"\{:\.?[\w.-]+\}(?=`+$)", "", found[0]) if self.jsx else found[0]

    def _auto(self, found: re.Match[str], line: int) -> str:
        """Return an autolink. In MyST it may refer to a place in the project."""
        if not self.dialect.roles or not found[0].startswith("<project:"):
            return found[0]
        href = found[0][len("<project:") : -1]
        place, title = self.place.wiki(f"\0any\0{href.removeprefix('#')}", line, quiet=True)
        if place and not place.startswith("\0"):
            return f"[{title}]({_pointed(place)})"
        return f"[{href.removeprefix('#')}]({_pointed(self.place.link(href, line))})"

    def _role(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.roles:
            return found[0]
        return self.vocabulary.role(self, found["role_name"], found["role_text"], line)

    def _spanning(self, text: str, found: re.Match[str], endless: set[str], line: int) -> tuple[str, int]:
        """Return the replacement of comments, formulas, and shortcodes, and where the text continues. ``endless``
        collects the opening signs that have no end from here on."""
        sign, start = found[0], found.end() + (found[0] == "$$")
        if sign[0] == "\\" and not (self.dialect.dollars and self.dialect.indented):
            return sign, start  # A literal sign.
        ends = [
            (end, len(close))
            for close in (_SPANS[sign] if sign not in endless else ())
            if (end := text.find(close, start)) >= 0
        ]
        if not ends:
            endless.add(sign)
            return sign, found.end()
        end = sum(min(ends))
        written = text[found.start() : end]
        if sign == "$$" and self.dialect.roles and (label := _LABELLED.match(text, end)):
            end = label.end()
        if sign == "{/*" and self.jsx:
            written = ""
        elif sign.startswith("{{") and self.dialect.shortcodes:
            return self.vocabulary.shortcode_inline(self, text, found.start(), end, line)
        elif sign == "\\(":
            written = f"$${written[2:-2].strip()}$$"
        elif sign == "\\[":
            written = f"$${written[2:-2]}$$"
        return written, end

    def _embed(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.wiki:
            return found[0]
        name, _, more = found["embedded"].replace("\\|", "|").partition("|")
        href, _ = self.place.wiki(name, line)
        if _PICTURE.search(name.partition("#")[0].strip()):
            width = re.match(r"(\d+)", more)
            alt = "" if width else more
            tail = f' width="{width[1]}"' if width else ""
            return f'<img src="{href}" alt="{alt}"{tail}>' if width else f"![{alt}]({_pointed(href)})"
        return f"[{more or name}]({_pointed(href)})"

    def _wiki(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.wiki or found["wiki_href"] is not None:
            return found[0]
        named = found["named"].replace("\\|", "|")
        name, bar, said = named.partition("|")
        if not self.dialect.vault and _PICTURE.search(name.strip()):
            given = attributes_of(said.replace("|", " "))
            width = str(given.get("width", "")).removesuffix("px")
            source = self.place.link(name.strip(), line, shown=True)
            alt = words(str(given.get("alt", "")))
            tail = f' width="{width}"' if width.isdecimal() else ""
            return f'<img src="{source}" alt="{alt}"{tail}>' if tail else f"![{alt}]({_pointed(source)})"
        href, title = self.place.wiki(name.strip(), line, quiet=bool(bar))
        if bar and href.startswith("\0"):
            href, title = self.place.wiki(said.strip(), line)
            said = name
        return f"[{(said or title).strip()}]({_pointed(href.lstrip(chr(0)))})"

    def _image(self, found: re.Match[str], line: int) -> str:
        href = self.place.link(found["source"].strip("<>"), line, shown=True)
        given = attributes_of((found["image_attributes"] or "").strip("{}: ").replace(".", " ."))
        width = str(given.get("width", "")).removesuffix("px")
        title = found["image_title"] or ""
        if sized := re.fullmatch(r"\s+[\"'][\w-]*\s*=(\d+)x\d*[\"']", title):
            width, title = sized[1], ""
        if title.strip().startswith("="):
            width, title = title.strip()[1:].partition("x")[0] or width, ""
        alt = self.inline(found["alt"], line) if "[" in found["alt"] else found["alt"]
        if re.fullmatch(r"\d+%?", width):
            return f'<img src="{href}" alt="{words(alt)}" width="{width}">'
        return f"![{alt}]({_pointed(href)}{title})"

    def _target(self, written: str, line: int) -> tuple[str, bool]:
        """Return the target of a link, and whether a template referred to a page of the source, which is already
        resolved."""
        href = written[1:-1] if written.startswith("<") and written.endswith(">") else written
        if not (self.dialect.liquid or self.dialect.shortcodes) or "{" not in href:
            return href, False
        done = re.search(r"\{%-?\s*(?:link|post_url)\b|\{\{[<%]\s*(?:rel)?ref\b", href) is not None
        return self.inline(href, line), done

    def _link_target(self, found: re.Match[str], line: int) -> str:
        href, done = self._target(found["href"], line)
        if done:
            return f"]({_pointed(href)}{found['link_title'] or ''})"
        href = href.removeprefix("project:") if self.dialect.roles else href
        if self.dialect.roles and found.start() and found.string[found.start() - 1] == "[":
            # Without a text of its own, it gets the text of its target.
            place, title = self.place.wiki(f"\0any\0{href.removeprefix('#')}", line, quiet=True)
            if place and not place.startswith("\0"):
                return f"{title}]({_pointed(place)})"
        kept = ""
        if (given := found["link_attributes"]) and not re.match(r"\{:?[ \t]*(?:[.#:]|[\w-]+=|target)", given):
            kept = given
        return f"]({_pointed(self.place.link(href, line))}{found['link_title'] or ''}){kept}"

    def _filled(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.magic:
            return found[0]
        name = found["filled_name"].strip()
        if name.startswith("glossary:"):
            return name.removeprefix("glossary:")
        value = self.place.value(name)
        if value is None:
            self.tell(line, "variable", f"{found[0]} is only known when the page is viewed", name)
            return f"\\<\\<{name}>>"
        return value

    def _tag(self, found: re.Match[str], line: int) -> str:
        written = found[0]
        name = re.match(r"</?([a-z][\w-]*)", written)
        if name and name[1] in ("script", "style") and (self.jsx or self.dialect.vue):
            return ""
        if "=" not in written:
            return written

        def attribute(match: re.Match[str]) -> str:
            key, value = match["key"], match["value"]
            if value.startswith("{"):
                given = self.expression(value[1:-1])
                if key in ("style", "ref", "key") or not isinstance(given, (str, int, float)):
                    if key in ("src", "href"):
                        self.tell(
                            line, "expression_left_out", f"{key}={value} is only known when the page runs"
                        )
                    return ""
                value = f'"{given}"'
            quote, inside = value[0], value[1:-1]
            if quote not in "\"'":
                quote, inside = '"', value
            key = {
                "className": "class",
                "srcSet": "srcset",
                "htmlFor": "for",
                "frameBorder": "frameborder",
                "allowFullScreen": "allowfullscreen",
            }.get(key, key)
            if key.lower() in ("href", "src", "poster", "data-src"):
                inside = self.inline(inside, line) if "{" in inside else inside
                inside = self.place.link(inside, line, shown=key.lower() != "href")
            elif key == "srcset" and "," not in inside and " " not in inside.strip():
                inside = self.place.link(inside, line, shown=True)
            return f" {key}={quote}{inside}{quote}"

        made = re.sub(
            r"\s(?P<key>[A-Za-z_:@][\w:.-]*)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|\{\{[^{}]*\}\}|\{[^{}]*\}|[^\s\"'<>`=]+)",
            attribute,
            written,
        )
        if name and name[1] == "li" and (id := attributes_of(made[3:-1]).get("id")):
            # A list item has no id of its own.
            made += anchor(id)
        return made

    def _liquid(self, found: re.Match[str], line: int) -> str:
        if self.dialect.liquid:
            return self.vocabulary.liquid_inline(self, found, line)
        if self.dialect.indented and found["value"] is not None:
            value = self.place.value(found["value"])
            if value is not None:
                return value
            self.tell(
                line, "variable", f"{found[0][:80]} is only known when the site is built", found["value"][:60]
            )
        elif self.jsx and found["value"] is not None:
            if (value := self.place.value(found["value"])) is not None:
                return value
        elif self.dialect.roles and found["value"] is not None:
            return self.place.value(found["value"]) or found[0]
        elif self.dialect.vue and found["value"] is not None:
            if (value := self.place.value(found["value"])) is not None:
                return value
            self.tell(
                line,
                "expression_left_out",
                f"{found[0][:80]} is only known when the site is built",
                found["value"][:60],
            )
        return found[0]

    def _braces(self, found: re.Match[str], line: int) -> str:
        if not self.jsx:
            return found[0]
        value = self.expression(found["braced"])
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value)
        self.tell(
            line,
            "expression_left_out",
            f"{found[0][:80]} is only known when the site is built",
            found[0][:60],
        )
        return found[0]

    def _small(self, found: re.Match[str], line: int) -> str:
        is_low = found["small_sign"] == "~"
        if not (self.dialect.lowered if is_low else self.dialect.raised):
            return found[0]
        name = "sub" if is_low else "sup"
        return f"<{name}>{self.inline(found['small_words'], line)}</{name}>"

    def _inserted(self, found: re.Match[str], line: int) -> str:
        return self.inline(found["inserted_words"], line) if self.dialect.raised else found[0]

    def _keys(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.indented:
            return found[0]
        return " + ".join(f"<kbd>{_key(key)}</kbd>" for key in found["pressed"].split("+"))

    def _mark(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.marks:
            return found[0]
        return f'<mark style="background-color:yellow;">{self.inline(found["marked"], line)}</mark>'

    def _icon(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.icons:
            return found[0]
        name = re.match(r"fontawesome-(?:solid|regular|brands)-([\w-]+)", found["icon_name"])
        return f'<i class="fa-{name[1]}">:{name[1]}:</i> ' if name else ""

    def _formula(self, found: re.Match[str], line: int) -> str:
        return f"$${found['inside']}$$" if self.dialect.dollars else found[0]

    def _attribute_list(self, found: re.Match[str], line: int) -> str:
        return "" if self.dialect.attributes else found[0]


_HANDLERS: dict[str, Callable[[Writer, re.Match[str], int], str]] = {
    "escape": Writer._code,
    "code": Writer._code,
    "auto": Writer._auto,
    "filled": Writer._filled,
    "role": Writer._role,
    "embed": Writer._embed,
    "wiki": Writer._wiki,
    "image": Writer._image,
    "to": Writer._link_target,
    "tag": Writer._tag,
    "liquid": Writer._liquid,
    "braces": Writer._braces,
    "keys": Writer._keys,
    "mark": Writer._mark,
    "small": Writer._small,
    "inserted": Writer._inserted,
    "icon": Writer._icon,
    "formula": Writer._formula,
    "attributes": Writer._attribute_list,
}
_KINDS = (*_HANDLERS, "component", "spanning")
HOLDERS = frozenset(["div", "figure", "section", "article", "center"])
"""Elements whose attribute ``markdown`` marks their contents as Markdown."""
_HOLDING = re.compile(r"[^<>]*\bmarkdown(?:[\s=>]|$)")
_ELEMENTS = frozenset(["details", "iframe", "include", "video", "audio", "aside", "llms-only", "llms-ignore"])
"""Elements in lower case that become Octavo blocks."""
_ANYWHERE = frozenset(["Tabs", "TabItem"])
_LEAD = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def anchor(id: str) -> str:
    """Return an anchor that links can refer to."""
    return f'<a id="{escape(id)}"></a>'


def _place_of(attributes: re.Match[str]) -> str:
    """Return what remains of an attribute list: the anchor that it defines."""
    named = _ID.search(attributes[0].strip().strip("{}"))
    return f" {anchor(named[1])}" if named else ""


def _keep_text_column(row: str, text: str) -> str:
    """Return a line of a list with the original indentation of its text. Without the removed leading marker, the
    text would be indented further and become a listing."""
    lead = _LEAD.match(text)
    if lead is None or not row.startswith(lead[0]) or row == text:
        return row
    return lead[0] + row[lead.end() :].lstrip(" \t")


_BOXES = frozenset("note tip info warning caution danger important hint".split())


def _hint_of_classes(found: re.Match[str]) -> str:
    """Return the hint kind of an HTML element based on its classes, empty for any other element."""
    given = re.match(r"[^<>]*?\bclass=[\"']([^\"'<>]*)[\"']", found.string[found.end() :])
    classes = given[1].split() if given else []
    kinds = [one.removeprefix("alert-") for one in classes if one in _BOXES or one.startswith("alert-")]
    return kinds[-1] if kinds else ""


def _hint_of_attributes(line: str) -> str:
    """Return the hint kind that attributes on a line of their own give to their block, empty for any other
    attributes."""
    if not line.startswith("{:") or not _ATTRIBUTES.fullmatch(line):
        return ""
    classes = re.findall(r"\.([\w-]+)", line)
    return next(
        (one.removesuffix("-title") for one in reversed(classes) if one.removesuffix("-title") in _BOXES), ""
    )


_BY_ENDING = {
    "py": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "typescript",
    "rb": "ruby",
    "sh": "bash",
    "yml": "yaml",
    "md": "markdown",
    "rs": "rust",
    "kt": "kotlin",
    "cs": "csharp",
    "h": "c",
    "dockerfile": "dockerfile",
    "txt": "",
    "tf": "hcl",
}


def label_id(name: str) -> str:
    """Return the id of a place with this label."""
    return re.sub(r"[^\w.+%~:-]+", "-", name.strip())[:200]


def _pointed(href: str) -> str:
    return f"<{href}>" if " " in href or href.count("(") != href.count(")") else href


def _key(name: str) -> str:
    name = name.strip("\"'")
    named = {"ctrl": "Ctrl", "cmd": "Cmd", "esc": "Esc", "del": "Del", "ins": "Ins"}
    return named.get(name, name.upper() if len(name) == 1 else " ".join(name.split("-")).capitalize())


def _without_marks(lines: list[Line]) -> list[Line]:
    """Return the lines of a listing without comments that highlight lines."""
    made: list[Line] = []
    for text, number in lines:
        if _MAGIC.match(text):
            continue
        if "[!code" in text and len(text) <= MAX_INCLUDE and (found := _MARKED.match(text)):
            if not found["before"].strip():
                continue  # It applied to the lines below.
            text = found["before"]
        made.append((text.replace("[!!code", "[!code"), number))
    return made


def without_comments(lines: list[Line]) -> list[Line]:
    """Return lines without comments between two ``%%`` and without block ids at line ends, except in listings."""
    made: list[Line] = []
    fence, began = "", -1
    for at, (text, number) in enumerate(lines):
        found = _FENCE.match(text) if began < 0 else None
        if found and (not fence or (text.strip().startswith(fence) and not text.strip().strip(fence[0]))):
            fence = "" if fence else found["fence"]
        if fence:
            made.append((text, number))
            continue
        kept, rest = "", text
        while (sign := rest.find("%%")) >= 0:
            if began >= 0:
                began = -1
            elif (kept + rest[:sign]).count("`") % 2:
                kept += rest[: sign + 2]
            else:
                kept, began = kept + rest[:sign], at
            rest = rest[sign + 2 :]
        if began < 0:
            kept += rest
        made.append((_BLOCK_NAME.sub("", kept.rstrip() if kept != text else kept), number))
    # Without an end, it isn't a comment.
    return made if began < 0 else made[:began] + lines[began:]


def cut_section(rows: list[str], section: str) -> list[str]:
    """Return the rows of a section by name, or of a range of lines."""
    if not section:
        return rows
    if found := re.fullmatch(r"(\d*)(?::(\d*))?", section):
        return rows[max(int(found[1] or 1) - 1, 0) : int(found[2]) if found[2] else len(rows)]
    marks = {(match[1], match[2]): at for at, row in enumerate(rows) for match in SECTION.finditer(row)}
    if ("start", section) not in marks:
        return _cut_region(rows, section)
    start, end = marks.get(("start", section)), marks.get(("end", section), len(rows))
    return rows[start + 1 : end] if start is not None else rows


def _cut_region(rows: list[str], name: str) -> list[str]:
    """Return the rows between the comments that mark a region, or below the heading with this id, else all rows."""
    marks = [
        at
        for at, row in enumerate(rows)
        if "region" in row and re.search(rf"#(?:end)?region\b.*\b{re.escape(name)}\b", row)
    ]
    if len(marks) > 1:
        return rows[marks[0] + 1 : marks[1]]
    level = 0
    start = len(rows)
    for at, row in enumerate(rows):
        found = re.match(r"(#{1,6})[ \t]+(.+?)[ \t]*$", row)
        if found and level and len(found[1]) <= level:
            return rows[start:at]
        if found and not level and (row.endswith(f"{{#{name}}}") or slug(words(found[2])) == name):
            level, start = len(found[1]), at
    return rows[start:] if level else rows


def read_info(info: str, bare: bool = False) -> tuple[str, str, bool]:
    """Parse the text after a fence: the language, a title, and whether lines are numbered. ``bare`` reads words
    after the language as a title too."""
    if not info:
        return "", "", False
    if info.startswith("{"):
        found = re.search(r"\.([\w+#-]+)", info)
        given = attributes_of(re.sub(r"\.[\w+#-]+", "", info.strip("{}")))
        return (
            (found[1] if found else ""),
            given.get("title", given.get("filename", "")),
            "linenums" in given or ".numberLines" in info,
        )
    found = re.match(r"[^\s{\[:,]+(?::(?!line-numbers)[^\s{\[]+)?", info)
    language = found[0] if found else ""
    rest = info[len(language) :]
    if rest.startswith(":line-numbers") or rest.startswith(","):
        return language, next(iter(re.findall(r"\[([^\]]+)\]", rest)), ""), "line-numbers" in rest
    numbers = bool(re.search(r"\b(?:showLineNumbers|lineNumbers|linenums|lines)\b", rest))
    named = re.search(
        r"\b(?:title|filename|name|label|file)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s}]+))", rest
    )
    title = next((value for value in named.groups() if value), "") if named else ""
    if not title and (boxed := re.search(r"\[([^\]]+)\]", rest)):
        title = boxed[1]
    if not title and bare:
        title = " ".join(
            re.sub(
                r"\{[^{}]*\}|\b[\w-]+=(?:\"[^\"]*\"|\S+)|\b(?:theme|wrap|lines|expandable|icon|showLineNumbers|live|twoslash)\b",
                "",
                rest,
            ).split()
        )
    return language, title, numbers


class Opening(Struct, frozen=True):
    """An opening tag: its end, and its attributes as written. Expressions keep their braces; a text that starts
    with a brace has a null character before it."""

    line: int
    column: int
    attributes: dict[str, str]
    empty: bool


_ATTRIBUTE_NAME = re.compile(r"[\s/]*([A-Za-z_:@#.][\w:@.-]*)")
MAX_TAG_LINES = 200
MAX_TAG = 20_000


class EndlessTag(Exception):
    """A tag without an end. ``size`` is the number of characters that were searched."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


def read_opening(lines: list[Line], at: int, column: int) -> Opening | None:
    """Return the tag that opens at a place, or None if there is none. Raises EndlessTag for a tag without an end."""
    text = lines[at][0][column : column + MAX_TAG]
    starts = [0]
    last = at
    found: dict[str, str] = {}
    place = 1
    name = re.match(r"[A-Za-z][\w.-]*", text[1:])
    if name is None:
        return None
    place += name.end()

    def more() -> bool:
        nonlocal text, last
        if last + 1 >= len(lines) or last - at > MAX_TAG_LINES or len(text) >= MAX_TAG:
            return False
        last += 1
        starts.append(len(text) + 1)
        text += "\n" + lines[last][0]
        return True

    while True:
        while place < len(text) and text[place] in " \t\n":
            place += 1
        if place >= len(text):
            if not more():
                raise EndlessTag(len(text))
            continue
        if text[place] == ">" or text.startswith("/>", place):
            empty = text[place] == "/"
            place += 2 if empty else 1
            row = max(n for n, start in enumerate(starts) if start <= place - 1)
            return Opening(at + row, place - starts[row] + (column if row == 0 else 0), found, empty)
        if text[place] in "{":
            # Spread attributes.
            end = _end_of_braces(text, place)
            while end is None and more():
                end = _end_of_braces(text, place)
            if end is None:
                raise EndlessTag(len(text) * (1 + last - at))
            place = end
            continue
        key = _ATTRIBUTE_NAME.match(text, place)
        if key is None:
            return None
        place = key.end()
        while place < len(text) and text[place] in " \t":
            place += 1
        if not text.startswith("=", place):
            found[key[1]] = "{true}"
            continue
        place += 1
        while place >= len(text) or text[place] in " \t\n":
            if place >= len(text) and not more():
                raise EndlessTag(len(text))
            place += 1
        sign = text[place]
        if sign in "\"'":
            end = text.find(sign, place + 1)
            while end < 0 and more():
                end = text.find(sign, place + 1)
            if end < 0:
                raise EndlessTag(len(text))
            value = text[place + 1 : end]
            found[key[1]] = f"\0{value}" if value.startswith("{") else value
            place = end + 1
        elif sign == "{":
            end = _end_of_braces(text, place)
            while end is None and more():
                end = _end_of_braces(text, place)
            if end is None:
                raise EndlessTag(len(text) * (1 + last - at))
            found[key[1]] = text[place:end]
            place = end
        else:
            bare = re.compile(r"[^\s>\"'=<`]+").match(text, place)
            if bare is None:
                return None
            found[key[1]] = (
                bare[0].removesuffix("/")
                if bare[0].endswith("/") and text[bare.end() : bare.end() + 1] == ">"
                else bare[0]
            )
            place = place + len(found[key[1]])


def _end_of_braces(text: str, at: int) -> int | None:
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "\"'`":
            end = at + 1
            while end < len(text) and text[end] != sign and (sign == "`" or text[end] != "\n"):
                end += 2 if text[end] == "\\" else 1
            if end < len(text) and text[end] == sign:
                at = end
            elif end >= len(text) and sign == "`":
                return None
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def find_closing(
    lines: list[Line], opened: Opening, name: str, opening: Callable[[list[Line], int, int], Opening | None]
) -> tuple[int, int, int] | None:
    """Return the line and columns of the tag that closes an element. Tags in listings don't count."""
    pattern = re.compile(rf"<(?P<close>/?){re.escape(name)}(?=[\s/>]|$)|(?P<code>`+)")
    depth, fence = 1, ""
    at, column = opened.line, opened.column
    while at < len(lines):
        text = lines[at][0]
        mark = _FENCE.match(text) if column == 0 else None
        if mark and (not fence or (mark["fence"].startswith(fence) and not mark["info"].strip())):
            fence = "" if fence else mark["fence"]
        elif not fence:
            while found := pattern.search(text, column):
                column = found.end()
                if found["code"]:
                    end = re.compile(rf"(?<!`){found['code']}(?!`)").search(text, column)
                    column = end.end() if end else column
                elif found["close"]:
                    depth -= 1
                    if depth == 0:
                        end_of_tag = text.find(">", column)
                        return at, found.start(), end_of_tag + 1 if end_of_tag >= 0 else len(text)
                else:
                    again = opening(lines, at, found.start())
                    if again is not None and not again.empty:
                        depth += 1
                    if again is not None and again.line == at:
                        column = again.column
        at, column = at + 1, 0
    return None


def inside_of(lines: list[Line], opened: Opening, closed: tuple[int, int, int]) -> list[Line]:
    """Return the contents between the tags of an element."""
    line, start, _ = closed
    if line == opened.line:
        inside = lines[line][0][opened.column : start]
        return [(inside.strip(), lines[line][1])] if inside.strip() else []
    first = lines[opened.line][0][opened.column :]
    last = lines[line][0][:start]
    between = lines[opened.line + 1 : line]
    # Content next to a tag has no indentation of its own.
    by = " " * min((_indent(text) for text, _ in between if text.strip()), default=0)
    made = [(by + first.strip(), lines[opened.line][1])] if first.strip() else []
    made += between
    return [*made, (by + last.strip() if between else last.strip(), lines[line][1])] if last.strip() else made
