"""Shortcodes of Hugo and tags of Liquid, as blocks and words of ours; what nobody knows is told and left out."""

from __future__ import annotations

import re

from .components import component_block, version_badge
from .html_pages import html_of_tree
from .hugo_templates import fill
from .markdown import HINT_NAMES, Line, Writer, attributes_of, dedented, fenced, quoted

_SHORT = re.compile(
    r"\{\{(?P<kind>[<%])\s*(?P<close>/)?\s*(?P<name>[\w./-]+)(?P<rest>(?:[^\"`]|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)*?)(?P<empty>/)?\s*[>%]\}\}",
    re.DOTALL,
)
_TABS = frozenset(["tabs", "tabpane", "tabbed", "codetabs", "tab-group"])
_TAB = frozenset(["tab", "codetab", "tabitem"])
_DETAILS = frozenset(["details", "expand", "collapse", "accordion", "spoiler", "expandable"])
_HINTS = HINT_NAMES | frozenset(["alert", "callout", "notice", "hint", "pageinfo", "box", "block"])


def _given(rest: str) -> tuple[dict[str, str], list[str]]:
    """The named and the other parameters of a shortcode."""
    named = {
        found[1]: found[2] if found[2] is not None else found[3]
        for found in re.finditer(r"([\w-]+)\s*=\s*(?:[\"`]([^\"`]*)[\"`]|([^\s\"`]+))", rest)
    }
    left = re.sub(r"[\w-]+\s*=\s*(?:[\"`][^\"`]*[\"`]|[^\s\"`]+)", "", rest)
    return named, [
        found[1] if found[1] is not None else found[2]
        for found in re.finditer(r"[\"`]([^\"`]*)[\"`]|(\S+)", left)
    ]


def shortcode_block(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]]:
    text, number = lines[at]
    start = len(text) - len(text.lstrip())
    end_of_tag = at
    joined = text
    while (
        (found := _SHORT.match(joined, start)) is None
        and end_of_tag - at < 20
        and end_of_tag + 1 < len(lines)
        and "}}" not in joined
    ):
        end_of_tag += 1
        joined += "\n" + lines[end_of_tag][0]
    found = _SHORT.match(joined, start)
    if found is None:
        return at, []
    rest = joined[found.end() :]
    name = found["name"]
    if found["close"]:
        return end_of_tag + 1, [(rest, number)] if rest.strip() else []
    lead = " " * start
    close = None if found["empty"] else _closing(writer, lines, end_of_tag, name, rest)
    if close is None:
        if rest.strip():
            return at, []
        return end_of_tag + 1, [
            (lead + row if row else row, number)
            for row in _alone(writer, name, found["rest"], number).split("\n")
        ]
    line, begin, behind = close
    if line == end_of_tag:
        inside = [(rest[:begin], lines[line][1])] if rest[:begin].strip() else []
        tail = rest[behind:]
    else:
        first = [(rest, lines[end_of_tag][1])] if rest.strip() else []
        last = lines[line][0][:begin]
        inside = [*first, *lines[end_of_tag + 1 : line], *([(last, lines[line][1])] if last.strip() else [])]
        tail = lines[line][0][behind:]
    made = _paired(writer, name, found["rest"], dedented(inside), number)
    made = [(lead + row if row.strip() else row, n) for row, n in made]
    if made:
        made.append(("", made[-1][1]))
    if tail.strip():
        lines[line] = (tail, lines[line][1])
        return max(line, at + 1) if line > at else line, made
    return line + 1, made


def _closing(
    writer: Writer, lines: list[Line], first: int, name: str, rest: str
) -> tuple[int, int, int] | None:
    depth = 1
    pattern = re.compile(
        r"\{\{[<%]\s*(/?)\s*" + re.escape(name) + r"(?=[\s>%/])(?:[^{}]|\{(?!\{))*?(/?)\s*[>%]\}\}"
    )
    for line in range(first, len(lines) if writer.looked.take(0) else first):
        text = rest if line == first else lines[line][0]
        for found in pattern.finditer(text):
            if found[1]:
                depth -= 1
                if depth == 0:
                    return line, found.start(), found.end()
            elif not found[2]:
                depth += 1
    writer.looked.take(len(lines) - first)
    return None


def _paired(writer: Writer, name: str, rest: str, inside: list[Line], number: int) -> list[Line]:
    named, given = _given(rest)
    kind = name.lower()
    if kind in ("highlight", "code"):
        return fenced(inside, given[0] if given else named.get("lang", ""), number, named.get("title", ""))
    if kind == "mermaid":
        return fenced(inside, "mermaid", number)
    if kind in _TABS:
        return _tab_list(writer, named, given, inside, number)
    if kind in _DETAILS:
        return writer.details(
            named.get("title", named.get("summary", given[0] if given else "Details")),
            writer.blocks(inside),
            number,
        )
    if kind in _HINTS:
        style = named.get(
            "type",
            named.get(
                "color",
                named.get(
                    "context", given[0] if given and kind in ("hint", "notice", "callout", "alert") else kind
                ),
            ),
        )
        title = named.get("title", given[1] if len(given) > 1 and kind == "notice" else "")
        return writer.hint(
            {"primary": "info", "orange": "warning", "red": "danger", "green": "success"}.get(style, style),
            writer.inline(title, number),
            writer.blocks(inside),
            number,
        )
    if kind in (
        "steps",
        "cards",
        "columns",
        "column",
        "raw",
        "rawhtml",
        "blocks/section",
        "div",
        "param",
        "center",
    ):
        if kind == "steps":
            return component_block(writer, "Steps", {}, inside, number) or []
        return writer.blocks(inside)
    if kind in ("comment",):
        return []
    if (since := version_badge(name, given[0] if given else named.get("version", ""))) is not None:
        return writer.hint("warning", since.strip("*"), writer.blocks(inside), number)
    if "code" in kind:
        # One of the site's own, which shows what is in it.
        ending = named.get("file", "").partition(".")[2]
        language = named.get("lang", named.get("language", ending))
        return fenced(inside, language or _data_language(inside), number, named.get("title", ""))
    own = _of_template(writer, name, rest, number, "")
    if own is not None:
        within = _templates_within(writer, inside, number)
        if within is None and not _shows(own):
            # It only dresses what is in it.
            return writer.blocks(inside)
        whole = _of_template(
            writer, name, rest, number, within or "\n".join(text for text, _ in writer.blocks(inside))
        )
        return _as_blocks(writer, whole or "", number)
    writer.tell(
        number, "unknown_shortcode", f"the shortcode {name} means nothing here; what is in it is kept", name
    )
    return writer.blocks(inside)


def _of_template(writer: Writer, name: str, rest: str, number: int, inner: str) -> str | None:
    """What the site's own template makes of a shortcode; None where there is none that can be filled in."""
    if not re.fullmatch(r"[\w-]+", name):
        return None
    found = writer.place.include(f"/layouts/shortcodes/{name}.html", number)
    return fill(found[1], *_given(rest), inner) if found is not None else None


def _templates_within(writer: Writer, inside: list[Line], number: int) -> str | None:
    """HTML of some lines with shortcodes of the site's own alone on theirs; None where there are none."""
    count = 0

    def one(found: re.Match[str]) -> str:
        nonlocal count
        made = None if found["close"] else _of_template(writer, found["name"], found["rest"], number, "")
        count += made is not None
        return found[0] if made is None else made

    text = _SHORT.sub(one, "\n".join(text for text, _ in inside))
    return text if count else None


def _shows(html: str) -> bool:
    """Whether something is seen of HTML, or what is in it becomes another thing by it."""
    return bool(re.sub(r"<[^<>]*>|\s", "", html)) or bool(
        re.search(r"<(?:img|video|audio|iframe|ul|ol|li|table|tr|td|pre|details|blockquote|a|button)\b", html)
    )


def _as_blocks(writer: Writer, html: str, number: int) -> list[Line]:
    from ..html import parse_html

    if re.search(r"<script\b", html, re.IGNORECASE):
        writer.tell(number, "script_left_out", "a script; what it does is not done here", "script")
    if not _shows(html):
        return []
    made = html_of_tree(
        parse_html(f"<html><body><main><h1>-</h1>{html}</main></body></html>"), writer.place, "-"
    )
    rows = made.partition("\n")[2].strip("\n").split("\n")
    return [(row, number) for row in rows]


def _data_language(lines: list[Line]) -> str:
    """In which language of data a listing is; empty for any other."""
    first = next((text.strip() for text, _ in lines if text.strip()), "")
    if first.startswith("{"):
        return "json"
    if re.match(r"\[[\w.\[\]-]+\]$|[\w.-]+[ ]*=", first):
        return "toml"
    return "yaml" if re.match(r"[\w.-]+:(?:[ ]|$)|- |---$", first) else ""


def _tab_list(
    writer: Writer, named: dict[str, str], given: list[str], inside: list[Line], number: int
) -> list[Line]:
    titles = [title.strip() for title in named.get("items", "").split(",")] if named.get("items") else []
    items: list[tuple[str, list[Line], int]] = []
    at = 0
    inside = list(inside)
    while at < len(inside):
        found = _SHORT.match(inside[at][0].strip())
        if found and found["name"].lower() in _TAB and not found["close"]:
            rest = inside[at][0].strip()[found.end() :]
            close = _closing(writer, inside, at, found["name"], rest)
            more, other = _given(found["rest"])
            title = more.get("header", more.get("name", more.get("title", other[0] if other else "")))
            title = title or (titles[len(items)] if len(items) < len(titles) else f"Tab {len(items) + 1}")
            if close is not None:
                line, begin, _ = close
                if line == at:
                    body = [(rest[:begin], inside[at][1])]
                else:
                    body = [*([(rest, inside[at][1])] if rest.strip() else []), *inside[at + 1 : line]]
                if (language := more.get("lang")) and not any("```" in text for text, _ in body):
                    items.append(
                        (title or language, fenced(dedented(body), language, inside[at][1]), inside[at][1])
                    )
                else:
                    items.append((title, writer.blocks(dedented(body)), inside[at][1]))
                at = line
        at += 1
    return writer.tab_list(items, number) or writer.blocks(inside)


def _alone(writer: Writer, name: str, rest: str, number: int) -> str:
    named, given = _given(rest)
    kind = name.lower()
    first = given[0] if given else ""
    if kind in ("ref", "relref"):
        wanted = named.get("path", first)
        # The same path in another language, as its address would be there.
        tongue = named.get("lang", "")
        return writer.place.link(
            f"/{tongue}/{wanted.strip('/').removesuffix('.md')}" if tongue else wanted, number
        )
    if kind in ("figure", "img", "image", "imgproc"):
        source = named.get("src", first)
        caption = named.get("caption", named.get("title", ""))
        shown = f'<img src="{writer.place.link(source, number, shown=True)}" alt="{named.get("alt", "")}">'
        return f"<figure>{shown}<figcaption><p>{caption}</p></figcaption></figure>" if caption else shown
    if kind in ("youtube", "vimeo"):
        code = named.get("id", first)
        return f"{{% embed url={quoted(f'https://www.youtube.com/watch?v={code}' if kind == 'youtube' else f'https://vimeo.com/{code}')} %}}"
    if kind == "gist" and len(given) > 1:
        return f"{{% embed url={quoted(f'https://gist.github.com/{given[0]}/{given[1]}')} %}}"
    if kind in ("include", "readfile"):
        return "\n".join(text for text, _ in writer.included(named.get("file", first), number))
    if kind in ("param", "site-param"):
        if (value := writer.place.value(first)) is not None:
            return value
    elif kind in ("children", "section", "section-list"):
        return "\n".join(f"* [{title}]({href})" for href, title in writer.place.below())
    elif kind in ("toc", "br", "icon", "anchor", "clear"):
        return f'<a id="{first}"></a>' if kind == "anchor" else ""
    elif kind in ("button", "card"):
        href, title = (
            named.get("href", named.get("link", first)),
            named.get("title", named.get("text", first)),
        )
        return f"[{title}]({writer.place.link(href, number)})"
    if (since := version_badge(name, first or named.get("version", ""))) is not None:
        return since
    own = _of_template(writer, name, rest, number, "")
    if own is not None:
        return "\n".join(text for text, _ in _as_blocks(writer, own, number))
    writer.tell(number, "unknown_shortcode", f"the shortcode {name} means nothing here; it is left out", name)
    return ""


def shortcode_inline(writer: Writer, written: str, line: int) -> str:
    found = _SHORT.fullmatch(written)
    if found is None or found["close"]:
        # A shortcode that is only shown, with stars within its brackets.
        return (
            re.sub(r"^(\{\{[<%])/\*\s*(.*?)\s*\*/([>%]\}\})$", r"\1 \2 \3", written) if found is None else ""
        )
    return _alone(writer, found["name"], found["rest"], line)


# --- Liquid -------------------------------------------------------------------------------------------

_LIQUID = re.compile(r"\s*\{%-?\s*(?P<name>[\w-]+)\s*(?P<rest>.*?)\s*-?%\}(?P<more>.*)$")
_PAIRS = frozenset(
    [
        "highlight",
        "raw",
        "capture",
        "comment",
        "if",
        "unless",
        "for",
        "tabs",
        "tab",
        "note",
        "details",
        "case",
    ]
)


def liquid_block(writer: Writer, lines: list[Line], at: int) -> tuple[int, list[Line]]:
    text, number = lines[at]
    found = _LIQUID.match(text)
    if found is None:
        return at, []
    name, rest, more = found["name"], found["rest"], found["more"]
    if name not in _PAIRS:
        if more.strip() or name in ("link", "post_url", "include", "include_cached"):
            if name not in ("include", "include_cached"):
                return at, []
        return at + 1, _tag(writer, name, rest, number)
    closing = re.compile(rf"\{{%-?\s*(?:end{re.escape(name)}|(?P<again>{re.escape(name)}\b))")
    depth, end = 1, at
    if (inner := closing.search(more)) and not inner["again"]:
        inside = [(more[: inner.start()], number)]
    else:
        end = at + 1
        while end < len(lines):
            if inner := closing.search(lines[end][0]):
                depth += 1 if inner["again"] and name != "raw" else -1 if not inner["again"] else 0
                if depth == 0:
                    break
            end += 1
        inside = lines[at + 1 : end]
    end = min(end + 1, len(lines))
    if name == "highlight":
        return end, fenced(inside, rest.split()[0] if rest else "", number)
    if name == "raw":
        return end, [(f"\\{row}" if row.lstrip().startswith("{%") else row, n) for row, n in inside]
    if name in ("comment", "capture"):
        return end, []
    if name in ("note", "details"):
        body = writer.blocks(inside)
        return end, writer.hint("note", "", body, number) if name == "note" else writer.details(
            rest.strip("\"'"), body, number
        )
    writer.tell(
        number,
        "variable",
        f"{{% {name} %}} is only known when the site is built; what is in it is kept",
        name,
    )
    kept = [row for row in inside if not re.match(r"\s*\{%-?\s*(?:else|elsif|when)\b", row[0])]
    return end, writer.blocks(dedented(kept))


def _tag(writer: Writer, name: str, rest: str, number: int) -> list[Line]:
    if name in ("include", "include_relative", "include_cached"):
        path = rest.split(maxsplit=1)[0] if rest else ""
        given = attributes_of(rest[len(path) :])
        if re.search(r"(?:alert|callout|note|warning|tip|important)\.html$", path) and (
            given.get("content") or given.get("text")
        ):
            kind = given.get("type", re.sub(r".*?(\w+)\.html$", r"\1", path))
            return writer.hint(
                kind, "", [(writer.inline(given.get("content") or given["text"], number), number)], number
            )
        if re.search(r"(?:image|figure|img)\.html$", path) and (
            source := given.get("file", given.get("src", given.get("url")))
        ):
            return [
                (
                    f"![{given.get('alt', given.get('caption', ''))}]({writer.place.link(source, number, shown=True)})",
                    number,
                )
            ]
        if path.endswith((".md", ".markdown")):
            return writer.included(path if name == "include_relative" else f"/_includes/{path}", number)
        if (text := _filled(writer, path, given, number)) is not None:
            return [(row, number) for row in text.split("\n")]
        writer.tell(number, "unknown_shortcode", f"{{% include {path} %}} is not read; it is left out", path)
        return []
    if name == "assign" and (said := re.match(r"([\w-]+)\s*=\s*(.+)$", rest)):
        value = _value(writer, said[2].strip())
        if value is not None:
            writer.assigned[said[1]] = value
        return []
    if name in ("assign", "else", "elsif", "when", "seo", "feed_meta", "toc", "endraw"):
        return []
    writer.tell(number, "unknown_shortcode", f"{{% {name} %}} means nothing here; it is left out", name)
    return []


_CONDITION = re.compile(
    r"\{%-?\s*(?P<what>if|unless)\s+include\.(?P<name>[\w-]+)\s*-?%\}(?P<then>(?:(?!\{%).)*)"
    r"(?:\{%-?\s*else\s*-?%\}(?P<other>(?:(?!\{%).)*))?\{%-?\s*end(?:if|unless)\s*-?%\}",
    re.DOTALL,
)
MAX_TEMPLATE = 5000
"""Characters of an included template that is filled in; longer ones are programs."""


def _filled(writer: Writer, path: str, given: dict[str, str], number: int) -> str | None:
    """What an included template shows that only repeats what it is given; None for any that does more."""
    found = writer.place.include(path, number)
    if found is None or len(found[1]) > MAX_TEMPLATE:
        return None
    text = re.sub(
        r"\{%-?\s*comment\s*-?%\}.*?\{%-?\s*endcomment\s*-?%\}", "", found[1], flags=re.DOTALL
    ).strip()

    def chosen(one: re.Match[str]) -> str:
        return (one["then"] if (one["name"] in given) == (one["what"] == "if") else one["other"]) or ""

    for _ in range(5):
        text = _CONDITION.sub(chosen, text)
    unknown = False

    def filled(one: re.Match[str]) -> str:
        nonlocal unknown
        name = one[1].partition("|")[0].strip()
        value = (
            given.get(name.removeprefix("include."), "")
            if name.startswith("include.")
            else _value(writer, one[1])
        )
        unknown = unknown or value is None
        return value or ""

    text = re.sub(r"\{\{-?\s*([^{}]*?)\s*-?\}\}", filled, text)
    return None if unknown or "{%" in text or "<script" in text else text


def _value(writer: Writer, said: str) -> str | None:
    """What an expression of Liquid gives, as far as the source says it."""
    name = said.partition("|")[0].strip()
    if inner := re.fullmatch(r"[\"']([^\"']*)[\"']", name):
        return inner[1]
    return writer.assigned[name] if name in writer.assigned else writer.place.value(name)


def liquid_inline(writer: Writer, found: re.Match[str], line: int) -> str:
    if (tag := found["liquid_tag"]) is not None:
        name, _, rest = tag.partition(" ")
        if name in ("link", "post_url"):
            return writer.place.link(("/" if name == "link" else "/_posts/") + rest.strip(), line)
        if name in ("raw", "endraw"):
            return ""
        made = _tag(writer, name, rest, line)
        # Within a line a template gives its words alone.
        return re.sub(r"</?(?:span|small|div|p)\b[^<>]*>", "", " ".join(text for text, _ in made))
    value = found["value"]
    if inner := re.match(
        r"[\"']([^\"']*)[\"']\s*\|\s*(?:relative_url|absolute_url|prepend:\s*site\.(?:baseurl|url).*)", value
    ):
        return inner[1]
    if inner := re.match(r"[\"']([^\"']*)[\"']$", value):
        return inner[1]
    if value in ("site.baseurl", "site.url", "base_path", "site.github.url"):
        return ""
    if (known := _value(writer, value)) is not None:
        return known
    writer.tell(line, "variable", f"{found[0][:80]} is only known when the site is built", value[:60])
    return found[0]
