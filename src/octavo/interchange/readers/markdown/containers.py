"""Convert blocks that contain other blocks: callouts, tabs, quotes, and code."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from .inline import InlineWriter
from .lines import (
    FENCE,
    LIST_ITEM,
    MAX_LINES,
    IncludedPart,
    Line,
    attributes_of,
    cut_region,
    dedented,
    fenced,
    indent_of,
    indented,
    pointed,
    quoted,
    read_info,
    trimmed,
    without_marks,
    words,
)

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
TAB = re.compile(r"(?P<indent>[ \t]*)===[!+]{0,2}[ \t]+([\"'])(?P<title>.*)\2[ \t]*$")
SLASHED = re.compile(
    r"(?P<indent>[ \t]*)(?P<fence>/{3,})[ \t]*(?P<name>[A-Za-z][\w.-]*)[ \t]*(?:\|(?P<title>.*))?$"
)
_OPTION = re.compile(r"[ ]{4,}(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$")
CONTAINER = re.compile(
    r"(?P<indent>[ \t]*)(?P<colons>:{3,})[ \t]*(?P<name>\{?[A-Za-z][\w:-]*\}?)?(?P<rest>[^\n]*)$"
)
_ALERT = re.compile(r"\[!(?P<kind>[\w-]+)(?:\|[^\]]*)?\](?P<fold>[-+]?)[ \t]*(?P<title>.*)$")
HEADING = re.compile(r"(?P<signs>[ ]{0,3}#{1,6})(?=[ \t]|$)(?P<words>.*)$")
DEFINITION = re.compile(r"(?P<indent>[ ]{0,3}):[ \t]{1,}(?P<words>\S.*)$")
_STYLED = re.compile(r"[ \t]*\{:?[ \t]*\.is-(info|success|warning|danger)\b[^{}]*\}[ \t]*$")
_STYLED_BEHIND = re.compile(r"(?P<words>.*\S)[ \t]*\{:?\.is-(?P<kind>info|success|warning|danger)\}[ \t]*$")
ABBREVIATION = re.compile(r"[ ]{0,3}\*\[[^\[\]\n]+\]:[ \t]")
ATTRIBUTES = re.compile(
    r"[ \t]*\{:[ \t]*(?:[.#][\w-]|[\w-]+=)[^{}\n]*\}[ \t]*$"
    r"|[ \t]*\{:?[ \t]*(?:[.#][\w-]+|[\w-]+=(?:\"[^\"]*\""
    r"|[\w%]+))(?:[ \t]+[^{}\n]*)?\}[ \t]*$"
)
OPENING = re.compile(r"[ \t]*<(?P<name>[A-Z][\w.]*|[a-z][\w]*(?:-[\w-]+)?)(?=[\s/>]|$)")
HOLDERS = frozenset(["div", "figure", "section", "article", "center"])
"""Elements whose ``markdown`` attribute marks their contents as Markdown."""
HOLDING = re.compile(r"[^<>]*\bmarkdown(?:[\s=>]|$)")
ELEMENTS = frozenset(["details", "iframe", "include", "video", "audio", "aside", "llms-only", "llms-ignore"])
"""Elements that become Octavo blocks, in lowercase."""
_BOXES = frozenset("note tip info warning caution danger important hint".split())
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


def hint_of_classes(found: re.Match[str]) -> str:
    """Return the hint kind of an HTML element, based on its classes; empty if the element isn't a hint."""
    given = re.match(r"[^<>]*?\bclass=[\"']([^\"'<>]*)[\"']", found.string[found.end() :])
    classes = given[1].split() if given else []
    kinds = [one.removeprefix("alert-") for one in classes if one in _BOXES or one.startswith("alert-")]
    return kinds[-1] if kinds else ""


def hint_of_attributes(line: str) -> str:
    """Return the hint kind that attributes on their own line assign to a block; empty if the attributes don't
    assign any."""
    if not line.startswith("{:") or not ATTRIBUTES.fullmatch(line):
        return ""
    classes = re.findall(r"\.([\w-]+)", line)
    return next(
        (one.removesuffix("-title") for one in reversed(classes) if one.removesuffix("-title") in _BOXES), ""
    )


def _definitions(lines: list[Line]) -> list[Line]:
    """Return terms and definitions in Markdown Extra syntax, which uses colons."""
    made: list[Line] = []
    for text, number in lines:
        if text.startswith("- "):
            while made and not made[-1][0].strip():
                made.pop()
            made.append((f":   {text[2:]}", number))
        else:
            made.append((f"  {text}" if text.startswith("  ") else text, number))
    return made


class ContainerWriter(InlineWriter, ABC):
    """Converter for blocks that contain other blocks."""

    @abstractmethod
    def blocks(self, lines: list[Line]) -> list[Line]:
        """Convert these lines as blocks."""

    def _end_of_text(self, lines: list[Line], at: int) -> int:
        """Return the end of a run of text: the next empty line or start of a block."""
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
                "///",
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
            and ABBREVIATION.match(text)
        ):
            return True
        if FENCE.match(text) or (self.dialect.vue and "@include:" in text and start.startswith("<!--")):
            return True
        found = OPENING.match(text)
        return found is not None and (
            found["name"][0].isupper()
            or found["name"] in ELEMENTS
            or found["name"] == "pre"
            or (found["name"] in HOLDERS and HOLDING.match(text, found.end()) is not None)
        )

    def body_below(self, lines: list[Line], at: int, indent: int) -> int:
        """Return the end of the lines, starting at ``at``, that are indented by more than ``indent``."""
        end = at
        while at < len(lines):
            text = lines[at][0]
            if text.strip():
                if indent_of(text) <= indent:
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
        """Return tabs with these titles and contents; empty if there are no tabs."""
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
                self, directive[1], directive[2], dedented(inside, indent_of(lead)), number
            )
            if made is not None:
                return end, indented(made, " " * indent_of(lead) if not lead.strip() else "")
        language, title, numbers = read_info(info, bare=self.dialect.magic)
        if self.dialect.tabsets and language == "diagram":
            drawn = self.place.keep(
                "data:image/svg+xml;base64," + "".join(text for text, _ in inside).strip()
            )
            if drawn is not None:
                return end, [(f"![]({pointed(drawn)})", number)]
        if self.jsx and not in_tab and not lead.strip() and re.search(r"\btab=[\"']", info):
            return self._tabs_of_fences(lines, at)
        if self.jsx and language in ("npm", "package-install"):
            # A command for one package manager, to be shown for others as well, or only package names.
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
            inside = without_marks(inside)
            info, language = (re.sub(r"^(\w+)-vue\b", r"\1", each) for each in (info, language))
        close = lines[end - 1] if end - 1 > at and closing.match(lines[end - 1][0]) else None
        if lead.strip():
            # In a list or a quote, it stays in place.
            return end, [(f"{lead}{mark}{language}", number), *inside, *([close] if close else [])]
        if not title and not numbers and language == info == found["info"].strip():
            return end, [lines[at], *inside, *([close] if close else [])]
        made = [
            (mark + language, number),
            *dedented(inside, indent_of(lead)),
            (mark, close[1] if close else number),
        ]
        if title or numbers:
            said = (f" title={quoted(title)}" if title else "") + (' lineNumbers="true"' if numbers else "")
            made = [(f"{{% code{said} %}}", number), *made, ("{% endcode %}", made[-1][1])]
        return end, indented(made, lead)

    def code(self, lines: list[Line]) -> list[Line]:
        """Fill in the placeholders that tools replace even in code."""
        if not self.dialect.shortcodes:
            return lines
        return [(self.vocabulary.shortcodes_in_code(self, text, number), number) for text, number in lines]

    def admonition(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        number, indent = lines[at][1], indent_of(found["indent"])
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
            end = self.body_below(lines, at + 1, indent_of(indent))
            body = self.blocks(dedented(lines[at + 1 : end], indent_of(indent) + 4))
            items.append((found["title"], body, lines[at][1]))
            at = end
            while at < len(lines) and not lines[at][0].strip():
                at += 1
            found = TAB.match(lines[at][0]) if at < len(lines) else None
        made = self.tab_list(items, number)
        return end, [*indented(made, indent), ("", made[-1][1])]

    def slashed(self, lines: list[Line], at: int) -> tuple[int, list[Line]] | None:
        """Convert a Python-Markdown block in ``///`` fences, or adjacent blocks of this kind as tabs. Return None
        if there is no such block."""
        found = SLASHED.match(lines[at][0])
        end = self._end_of_slashed(lines, at, found) if found else None
        if found is None or end is None:
            self.unclosed += [found["fence"]] if found else []
            return None
        number, indent = lines[at][1], indent_of(found["indent"])
        name, title = found["name"].lower(), (found["title"] or "").strip()
        if name == "tab":
            return self._slashed_tabs(lines, at)
        options, inside = self._options(dedented(lines[at + 1 : end], indent))
        if name == "define":
            inside = _definitions(inside)
        body = self.blocks(inside)
        if name == "details":
            made = self.details(title, body, number, options.get("open", "").lower() == "true")
        elif name in ("html", "define") or name.endswith("caption"):
            made = body
        else:
            kind = options.get("type", "note") if name == "admonition" else name
            if kind not in _STYLES and not title:
                title = kind.replace("-", " ").capitalize()
            made = self.hint(kind, self.inline(title, number), body, number)
        return end + 1, [*indented(made, found["indent"]), ("", lines[end][1])]

    def _slashed_tabs(self, lines: list[Line], at: int) -> tuple[int, list[Line]]:
        number, end = lines[at][1], at
        items: list[tuple[str, list[Line], int]] = []
        while at < len(lines) and (found := SLASHED.match(lines[at][0])) and found["name"].lower() == "tab":
            closing = self._end_of_slashed(lines, at, found)
            if closing is None:
                break
            options, inside = self._options(dedented(lines[at + 1 : closing], indent_of(found["indent"])))
            if items and options.get("new", "").lower() == "true":
                break
            items.append(((found["title"] or "").strip(), self.blocks(inside), lines[at][1]))
            at = end = closing + 1
            while at < len(lines) and not lines[at][0].strip():
                at += 1
        made = self.tab_list(items, number)
        return end, [*made, ("", made[-1][1])]

    @staticmethod
    def _options(lines: list[Line]) -> tuple[dict[str, str], list[Line]]:
        """Return the options at the start of a block in ``///`` fences, and the rest of the block."""
        options: dict[str, str] = {}
        at = 0
        while at < len(lines) and lines[at][0].startswith("    "):
            if option := _OPTION.match(lines[at][0]):
                options[option["name"].lower()] = option["value"]
            at += 1
        return options, lines[at:]

    @staticmethod
    def _end_of_slashed(lines: list[Line], at: int, found: re.Match[str]) -> int | None:
        """Return the line that closes a block in ``///`` fences. It has the same number of slashes as the block's
        first line."""
        fence = ""
        for end in range(at + 1, len(lines)):
            text = lines[end][0]
            if other := FENCE.match(text):
                if not fence:
                    fence = other["fence"]
                elif other["fence"].startswith(fence) and not other["info"].strip():
                    fence = ""
            elif not fence and text.strip() == found["fence"]:
                return end
        return None

    def container(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        number = lines[at][1]
        if self.dialect.indented:
            # A placeholder for documentation generated from code. The lines below it are its options.
            named = f"{found['name']}{found['rest']}".strip()
            self.report(
                number,
                "code_reference",
                f"::: {named[:100]} is generated from code when the site is built; it was skipped",
            )
            return self.body_below(lines, at + 1, indent_of(found["indent"])), []
        end = self._end_of_container(lines, at, found)
        inside = dedented(lines[at + 1 : end])
        name, rest = found["name"], found["rest"].strip()
        end = min(end + 1, len(lines))
        made = self._container(name, rest, inside, number)
        return end, indented(made, found["indent"])

    @staticmethod
    def _end_of_container(lines: list[Line], at: int, found: re.Match[str]) -> int:
        waiting = [len(found["colons"])]
        end, fence = at + 1, ""
        while end < len(lines):
            text = lines[end][0]
            if other := FENCE.match(text):
                if not fence:
                    fence = other["fence"]
                elif other["fence"].startswith(fence) and not other["info"].strip():
                    fence = ""
            elif not fence and text.lstrip().startswith(":::") and (other := CONTAINER.match(text)):
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
            self.report(
                number, "unknown_container", f"::: {name} isn't supported; its contents were kept", name
            )
        return self.blocks(inside)

    def code_group(self, inside: list[Line], number: int) -> list[Line]:
        items = []
        at = 0
        while at < len(inside):
            if found := FENCE.match(inside[at][0]):
                language, title, numbers = read_info(found["info"].strip(), bare=True)
                closing = re.compile(
                    rf"[ \t]*{re.escape(found['fence'][0])}{{{len(found['fence'])},}}[ \t]*$"
                )
                end = at + 1
                while end < len(inside) and not closing.match(inside[end][0]):
                    end += 1
                body = without_marks(inside[at + 1 : end])
                listing = fenced(
                    dedented(body, indent_of(found["lead"])), language, inside[at][1], "", numbers
                )
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
        """Return adjacent code blocks as tabs, if each of them specifies a tab."""
        items, end, number = [], at, lines[at][1]
        while at < len(lines) and (found := FENCE.match(lines[at][0])):
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
        """Return the tabs of a tab set. The tabs' titles are headings one level below the heading of the tab set."""
        number = lines[at][1]
        items: list[tuple[str, list[Line], int]] = []
        before: list[Line] = []
        end, fence = at + 1, ""
        while end < len(lines):
            text, line = lines[end]
            if mark := FENCE.match(text):
                if not fence or (mark["fence"].startswith(fence) and not mark["info"].strip()):
                    fence = "" if fence else mark["fence"]
            found = None if fence else HEADING.match(text)
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
            found = CONTAINER.match(inside[at][0])
            if found and found["name"] and found["name"].lower().strip("{}") in ("tab", "tab-item"):
                end = self._end_of_container(inside, at, found)
                body = inside[at + 1 : end]
                while found["name"].startswith("{") and body and re.match(r"[ \t]*:[\w-]+:", body[0][0]):
                    body = body[1:]
                items.append((found["rest"].strip(" []"), self.blocks(dedented(body)), inside[at][1]))
                end = min(end + 1, len(inside))
                at = end
            elif (fence := FENCE.match(inside[at][0])) and (
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
            and not LIST_ITEM.match(lines[end][0])
            and not _STYLED.match(lines[end][0])
        ):
            end += 1  # Continuation lines of the same paragraph don't need a marker.
        inside = [(re.sub(r"^[ \t]*> ?", "", text), line) for text, line in lines[at:end]]
        found = _ALERT.match(inside[0][0].strip())
        if self.dialect.tabsets and (behind := _STYLED_BEHIND.match(inside[-1][0])):
            made = self.hint(
                behind["kind"], "", self.blocks([*inside[:-1], (behind["words"], inside[-1][1])]), number
            )
            return end, [*indented(made, lead), ("", made[-1][1])]
        if self.dialect.magic and found is None and (sign := self.vocabulary.magic_sign(inside[0][0])):
            made = self.hint(sign[0], self.inline(sign[1], number), self.blocks(inside[1:]), number)
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

    def definition(self, lines: list[Line], at: int, found: re.Match[str]) -> tuple[int, list[Line]]:
        indent = indent_of(found["indent"])
        end = self.body_below(lines, at + 1, indent)
        # Continuation lines of the same paragraph don't need indentation.
        if end == at + 1:
            while (
                end < len(lines)
                and lines[end][0].strip()
                and not self._begins_block(lines[end][0])
                and not (end + 1 < len(lines) and DEFINITION.match(lines[end + 1][0]))
            ):
                end += 1
        inside = [(found["words"], lines[at][1]), *dedented(lines[at + 1 : end], 4)]
        return end, [*self.blocks(inside), ("", lines[end - 1][1])]

    def listing(
        self,
        path: str,
        number: int,
        rest: str = "",
        language: str = "",
        part: Callable[[list[str]], IncludedPart] = IncludedPart,
    ) -> list[Line]:
        """Return another file as a code block. ``part``: a function that selects rows of the file."""
        path, _, region = path.partition("#")
        given = self.place.include(path, number)
        if given is None:
            self.report(number, "missing_include", f"{path} doesn't exist; nothing is shown in its place")
            return []
        name, ending = given[0].rpartition("/")[2], given[0].rpartition(".")[2].lower()
        rows = given[1].replace("\r\n", "\n").rstrip("\n").split("\n")
        rows, missing = cut_region(rows, region) if region else part(rows)
        self.report_missing_part(number, path, missing)
        self.left -= len(rows)
        if self.left < 0:
            self.report(
                number,
                "too_many_lines",
                f"{path} was skipped, because the included files have more than {MAX_LINES:,} lines",
                "included",
            )
            return []
        title = next(iter(re.findall(r"\[([^\]]+)\]", rest)), "")
        known = re.search(r"\{[\d,\s-]*([a-z][\w-]*)", rest)
        language = language or (
            known[1] if known else _BY_ENDING.get(ending, ending if ending != name.lower() else "")
        )
        return fenced([(row, number) for row in rows], language, number, title)
