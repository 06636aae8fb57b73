"""Convert the blocks of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from octavo.core.json_types import JsonObject

from .containers import (
    ABBREVIATION,
    ATTRIBUTES,
    CONTAINER,
    DEFINITION,
    ELEMENTS,
    HEADING,
    HOLDERS,
    HOLDING,
    OPENING,
    TAB,
    ContainerWriter,
    hint_of_attributes,
    hint_of_classes,
)
from .lines import (
    FENCE,
    LIST_ITEM,
    MAX_INCLUDE,
    MAX_LINES,
    SECTION,
    IncludedPart,
    Line,
    anchor,
    cut_section,
    dedented,
    indent_of,
    indented,
    keep_text_column,
    label_id,
    outdent,
    pointed,
    split_front,
    trimmed,
    words,
)
from .literals import UNKNOWN, Statements, read_constant, read_statements
from .tags import MAX_TAG, EndlessTag, Opening, find_closing, inside_of, read_opening

MAX_INCLUDES = 12
MAX_TAKEN = 20
"""Maximum number of files from which a page imports constants, and maximum number of constants per file."""
MAX_TRIED_ENDS = 30
"""Maximum number of positions to try in order to find the end of a page's statements."""
_PARTS = (".mdx", ".md", ".js", ".jsx")
MAX_NESTING = 40
MAX_UNCLOSED = 20
"""Number of unclosed elements up to which the search for a closing tag continues to the end of the page."""
_INDENTED = re.compile(
    r"(?P<indent>[ \t]*)(?P<sign>!!!"
    r"|\?\?\?\+?)[ \t]+(?P<kinds>[\w-]+(?:[ \t]+[\w-]+)*)?[ \t]*"
    r"(?:\"(?P<title>.*)\")?[ \t]*$"
)
_HEADING_ATTRIBUTES = re.compile(
    r"[ \t]*(?:\{/\*[ \t]*#(?P<comment>[\w.:-]+)[ \t]*\*/\}|\{:?(?P<list>[^{}]*)\})[ \t]*$"
)
_ID = re.compile(r"(?:^|\s|:)#([^\s.#{}\"']+)")
_TABSET = re.compile(r"[ \t]*\{:?[^{}]*\.tabset\b[^{}]*\}[ \t]*$")
_DEFINED = re.compile(
    r"(?P<lead>[ ]{0,3}\[(?!\^)(?:[^\[\]\\]|\\.)+\]:[ \t]*(?:\n[ \t]*)?)"
    r"(?P<href><[^<>\n]*>|(?:\{\{[^{}\n]*\}\}|\{%[^%{}\n]*%\}|\S)+)"
    r"(?P<title>[ \t]*|[ \t]+[\"'(][^\n]*)$"
)
_AFTER_EXPORT = re.compile(r"\s*$|(?:export|import)\s")
_EXPORT = re.compile(r"export\s+(?:const|let|var|function|default|\{|async)")
_SNIPPET = re.compile(r"(?P<indent>[ \t]*)(?:-{1,}8<-{1,})[ \t]+[\"'](?P<path>[^\"'\n]+)[\"'][ \t]*$")
_SNIPPETS = re.compile(r"[ \t]*-{1,}8<-{1,}[ \t]*$")
_INCLUDES = (
    re.compile(
        r"(?P<indent>[ \t]*)\{(?:!|%)-?[ \t]*include(?:-markdown"
        r"|_relative)?[ \t]+[\"']?"
        r"(?P<path>[^\"'%!{}\n ]+)[\"']?[^\n]*?(?:!|%)\}[ \t]*$"
    ),
    re.compile(r"(?P<indent>[ \t]*)\{![ \t]*(?P<path>[^\s!{}]+)[^\n]*?!\}[ \t]*$"),
    re.compile(r"(?P<indent>[ \t]*)!include[ \t]+(?P<path>\S+)[ \t]*$"),
    re.compile(
        r"(?P<indent>[ \t]*(?:(?:[-*+]"
        r"|\d{1,9}[.)])[ \t]+)?)<!--[ \t]*@include:[ \t]*"
        r"(?P<path>[^\s{]+(?:\{[\d,]*\})?)[^\n]*-->[ \t]*$"
    ),
)
_CONTENTS = re.compile(r"[ \t]*\{:[ \t]*toc\b[^{}]*\}[ \t]*$")
_PART = re.compile(r"(?P<path>[^\n#{]+)(?:#(?P<region>[^\s{}]+))?(?:\{(?P<lines>[\d,]*)\})?[ \t]*$")
_LISTING = re.compile(r"(?P<indent>[ \t]*)<<<[ \t]+(?P<path>[^\s{\[]+)(?P<rest>.*)$")
_OWN_REFERENCE = re.compile(r"\b(?P<name>url|src)=\"(?P<href>(?![A-Za-z][\w+.-]*:|//|#)[^\"\n]+)\"")
"""Pattern for attributes of Octavo tags that refer to a page or a file in the source."""
_TAG_AT_START = re.compile(r"(?P<indent>[ \t]*)\{%")
_ANYWHERE = frozenset(["Tabs", "TabItem"])


def _place_of(attributes: re.Match[str]) -> str:
    """Return the anchor that an attribute list defines."""
    named = _ID.search(attributes[0].strip().strip("{}"))
    return f" {anchor(named[1])}" if named else ""


class Writer(ContainerWriter):
    """Converter for the lines of one page."""

    def page(self, lines: list[Line]) -> list[Line]:
        if self.jsx:
            lines = self.without_modules(lines)
        return self.blocks(self.without_scripts(lines))

    def without_modules(self, lines: list[Line]) -> list[Line]:
        """Return the lines without imports, exports, and comments. The imported and exported names are stored."""
        out: list[Line] = []
        at = 0
        fence = ""
        while at < len(lines):
            text, number = lines[at]
            found = FENCE.match(text)
            if found and (not fence or (text.strip().startswith(fence) and not text.strip().strip(fence[0]))):
                fence = "" if fence else found["fence"]
            if not fence and (text.startswith("import ") or _EXPORT.match(text)):
                end = self._statements(lines, at)
                at = end or at
                if end is not None:
                    continue
            out.append((text, number))
            at += 1
        return out

    def _statements(self, lines: list[Line], at: int) -> int | None:
        """Parse the import or export statements that start at a line. Return the line where they end, or None if
        the line is text."""
        text, number = lines[at]
        exports = text.startswith("export")
        # An export can contain blank lines; an import ends before the first one.
        ends = (
            end
            for end in range(at + 1, len(lines) + 1)
            if not exports or end == len(lines) or _AFTER_EXPORT.match(lines[end][0])
        )
        for end in islice(ends, MAX_TRIED_ENDS) if self.looked.take(0) else ():
            if not exports and not lines[end - 1][0].strip():
                break
            found = read_statements("\n".join(line for line, _ in lines[at:end]))
            if found is not None:
                self._remember(found, number, exports)
                return end
        self.looked.take(10 * (len(lines) - at))
        if exports:
            self.report(number, "script_left_out", "skipped: scripts aren't imported", "export")
        return at + 1 if exports else None

    def _remember(self, found: Statements, number: int, exports: bool) -> None:
        """Store the names that statements import or export."""
        known = {name: value for name, value in found.constants.items() if value is not UNKNOWN}
        self.constants.update(known)
        if exports and (len(known) < len(found.constants) or not known):
            self.report(number, "script_left_out", "skipped: scripts aren't imported", "export")
        by_source: dict[str, dict[str, str]] = {}
        for here, (source, name) in found.imports.items():
            if not name:
                self.imports[here] = source
            elif name != "*":
                by_source.setdefault(source, {})[here] = name
        for source, names in by_source.items():
            self._import_constants(names, source, number)

    def _import_constants(self, names: dict[str, str], source: str, number: int) -> None:
        """Read the constants that another file exports. ``names``: the names in the other file, keyed by the names
        on this page."""
        if not source.endswith(_PARTS) or self.taken >= MAX_TAKEN:
            return
        self.taken += 1
        given = self.place.include(source, number)
        for here, name in list(names.items())[:MAX_TAKEN] if given else ():
            value = read_constant(given[1], name) if given else UNKNOWN
            if value is not UNKNOWN:
                self.constants[here] = value

    def without_scripts(self, lines: list[Line]) -> list[Line]:
        out: list[Line] = []
        closing, fence = "", ""
        for text, number in lines:
            found = FENCE.match(text)
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
                    self.report(number, "script_left_out", "skipped: scripts aren't imported", "script")
                if closing in text.lower():
                    closing = ""
                continue
            out.append((text, number))
        return out

    def blocks(self, lines: list[Line]) -> list[Line]:
        """Convert these lines as blocks. Lines beyond the maximum depth stay unchanged."""
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
            indent = indent_of(text)
            if indent == 0:
                in_list = LIST_ITEM.match(text) is not None or (in_list and not blank)
            if indent >= 4 and blank and not in_list and not self.jsx:
                # An indented listing.
                while at < len(lines) and (not lines[at][0].strip() or indent_of(lines[at][0]) >= 4):
                    yield from self.code([lines[at]])
                    at += 1
                continue
            if indent >= 4 and not in_list and self.jsx and (fence := FENCE.match(text)):
                # MDX has no indented listings, so this one is fenced regardless of its indentation.
                outdent(lines, at, fence["fence"], indent)
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

    def block(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        """Convert the block that starts at a line. Return the line where it ends and its replacement. If no block
        starts there, return the same line."""
        text, number = lines[at]
        start = text.lstrip()
        sign = start[0]
        if (
            self.dialect.liquid
            and LIST_ITEM.match(text)
            and at + 1 < len(lines)
            and _CONTENTS.match(lines[at + 1][0])
        ):
            return at + 2, []  # Placeholder for the table of contents.
        if found := FENCE.match(text):
            if self.dialect.magic and (made := self.vocabulary.magic_fences(self, lines, at)):
                return made
            return self.fence(lines, at, found)
        if sign == "[" and self.dialect.magic and (made := self.vocabulary.magic(self, lines, at)):
            return made
        if sign in "!?" and self.dialect.indented and (found := _INDENTED.match(text)):
            return self.admonition(lines, at, found)
        if sign == "=" and self.dialect.indented and (found := TAB.match(text)):
            return self.tabs(lines, at, found)
        if sign == "/" and self.dialect.indented and len(self.unclosed) < MAX_UNCLOSED:
            if made := self.slashed(lines, at):
                return made
        if sign == "(" and self.dialect.roles and re.fullmatch(r"\([^()\n]{1,200}\)=", start.rstrip()):
            # A label for the next block. A heading keeps its own.
            after = next((line.lstrip() for line, _ in lines[at + 1 :] if line.strip()), "")
            if after.startswith(("#", "(")):
                return at + 1, []
            return at + 1, [(f'<a id="{label_id(start.rstrip()[1:-2])}"></a>', number), ("", number)]
        if self.dialect.roles and (
            start.startswith("% ") or re.fullmatch(r"\+{3,}[ \t]*(?:\{.*\})?", start.rstrip())
        ):
            return at + 1, []  # Comments and cell separators aren't shown.
        if sign == ":" and (found := CONTAINER.match(text)) and found["name"]:
            return self.container(lines, at, found)
        if sign == ">":
            return self.quote(lines, at)
        if sign == "*" and (self.dialect.indented or self.dialect.tabsets) and ABBREVIATION.match(text):
            return at + 1, []  # The definition of an abbreviation, which isn't shown.
        if sign == "#" and (found := HEADING.match(text)):
            if self.dialect.tabsets and (set := _TABSET.search(found["words"])):
                return self.tabset(lines, at, len(found["signs"].strip()), found["words"][: set.start()])
            if self.dialect.liquid and (named := self._named_below(lines, at)) is not None:
                return at + 2, [(f"{self.heading(found, number)} {{#{named}}}", number)]
            return at + 1, [(self.heading(found, number), number)]
        if sign == "<" and start.startswith("<<<") and self.dialect.vue and (found := _LISTING.match(text)):
            return at + 1, indented(self.listing(found["path"], number, found["rest"]), found["indent"])
        if sign in "-{!<" and (included := self._include(lines, at)):
            return included
        if sign == "<" and (found := OPENING.match(text)):
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
                rows = f"{found['lead']}{pointed(href)}{found['title']}".split("\n")
                return ends, [(row, line) for row, (_, line) in zip(rows, lines[at:ends], strict=True)]
        if sign == ":" and (found := DEFINITION.match(text)):
            return self.definition(lines, at, found)
        if (
            at + 1 < len(lines)
            and DEFINITION.match(lines[at + 1][0])
            and not LIST_ITEM.match(text)
            and "|" not in text
        ):
            return at + 1, [(f"**{words(text)}**", number), ("", number)]
        return at, []

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
        """Return the label that the attributes on the next line assign to this line."""
        below = lines[at + 1][0].strip() if at + 1 < len(lines) else ""
        named = _ID.search(below) if below.startswith("{:") and ATTRIBUTES.fullmatch(below) else None
        return named[1] if named else None

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
        given: Mapping[str, object] | None = None,
        part: Callable[[list[str]], IncludedPart] = IncludedPart,
    ) -> list[Line]:
        """Return the blocks of another file as if they were part of this file. ``given``: the props, if the file is
        a component. ``part``: a function that selects rows of the file."""
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
            self.report(number, "missing_include", f"{path} doesn't exist; nothing is shown in its place")
            return []
        where, text = read
        if where in self.including or len(self.including) > MAX_INCLUDES:
            self.report(
                number,
                "circular_include",
                f"{path} includes itself or too many other files; nothing is shown in its place",
            )
            return []
        body, _ = split_front(text)
        rows, missing = cut_section(body.replace("\r\n", "\n").split("\n"), section)
        rows, also_missing = part(rows)
        self.report_missing_part(number, path, missing or also_missing)
        self.left -= len(rows)
        if self.left < 0:
            self.report(
                number,
                "too_many_lines",
                f"{path} was skipped, because the included files have more than {MAX_LINES:,} lines",
                "included",
            )
            return []
        inner = Writer(self.place.within(where), self.dialect, self.vocabulary, (*self.including, where))
        inner.left, inner.depth, inner.reported = self.left, self.depth, self.reported
        inner.assigned = self.assigned
        if given:
            inner.constants = {"props": given, **given}
        inner.unclosed, inner.looked = self.unclosed, self.looked
        made = inner.page([(row, number) for row in rows if not SECTION.search(row)])
        self.left = inner.left
        return trimmed([(text, number) for text, _ in made])

    def element(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        name, number = found["name"], lines[at][1]
        if name == "pre":
            end = at
            while end < len(lines) and "</pre>" not in lines[end][0].lower():
                end += 1
            return min(end + 1, len(lines)), lines[at : end + 1]
        hint = hint_of_classes(found) if name == "div" else ""
        holds = (
            (self.dialect.indented or self.dialect.liquid)
            and name in HOLDERS
            and HOLDING.match(lines[at][0], found.end())
        )
        if name[0].islower() and name not in ELEMENTS and not hint and not holds:
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
                    self.report(number, "unclosed_tag", f"<{name}> is never closed")
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
        """Return the opening tag at a position; None if the tag isn't complete."""
        if not self.looked.take(0):
            return None
        try:
            return read_opening(lines, at, column)
        except EndlessTag as error:
            self.looked.take(1 + error.size // 3)
            return None

    def closing(self, lines: list[Line], opened: Opening, name: str) -> tuple[int, int, int] | None:
        """Return the position of the tag that closes an element. On a page with many unclosed elements, the search
        stops early."""
        if len(self.unclosed) >= MAX_UNCLOSED:
            return None
        closed = find_closing(lines, opened, name, self.opening)
        if closed is None:
            self.unclosed.append(name)
        return closed

    def children_of(
        self, lines: list[Line], names: tuple[str, ...]
    ) -> Iterator[tuple[str, JsonObject, list[Line], int]]:
        """Yield the name, attributes, contents, and line of each element with one of these names, but not of nested
        elements."""
        lines = list(lines)
        at = 0
        while at < len(lines):
            found = OPENING.match(lines[at][0])
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
        """Convert the construct that starts with a brace: a comment, an expression, a template tag, or the
        attributes of the block above. Return the line where it ends and its replacement."""
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
        if self.dialect.liquid and at + 1 < len(lines) and (kind := hint_of_attributes(start)):
            # It applies to the block below it, which may start with a title.
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
        """Rewrite the target of an Octavo tag, which can span several lines. Return the line where the tag ends and
        its replacement."""
        last = at
        while "%}" not in lines[last][0]:
            last += 1
            if last == len(lines) or last - at > MAX_TAG:
                return at, []

        def rewritten(found: re.Match[str]) -> str:
            href = found["href"]
            shown = found["name"] == "src"
            return f'{found["name"]}="{self.place.link(href, lines[at][1], shown=shown)}"'

        return last + 1, [
            (_OWN_REFERENCE.sub(rewritten, row), number) for row, number in lines[at : last + 1]
        ]

    def text(self, lines: list[Line]) -> list[Line]:
        """Convert lines of plain text."""
        if self.dialect.liquid and len(lines) > 1 and (kind := hint_of_attributes(lines[-1][0].strip())):
            return self.hint(kind, "", self.text(lines[:-1]), lines[0][1])
        joined = "\n".join(text for text, _ in lines)
        made = self.inline(joined, lines[0][1])
        if self.dialect.attributes:
            made = "\n".join(
                ATTRIBUTES.sub(_place_of, row) if "{" in row else row for row in made.split("\n")
            )
        if made == joined:
            return lines
        rows = made.split("\n")
        if len(rows) == len(lines):
            return [
                (keep_text_column(row, text), number) for row, (text, number) in zip(rows, lines, strict=True)
            ]
        return [(row, lines[min(at, len(lines) - 1)][1]) for at, row in enumerate(rows)]
