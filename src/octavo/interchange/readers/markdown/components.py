"""Convert other tools' components to Octavo blocks, based on their names. An unknown component is replaced with its
contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from octavo.core.icons import icon, is_free

from ..layout import Place
from .blocks import Writer
from .containers import HOLDERS
from .lines import IncludedPart, Line, anchor, fenced, quoted, trimmed, words
from .literals import UNKNOWN
from .readme_blocks import as_html, figure, html_lines, table_of

Attributes = dict[str, Any]
Block = Callable[[Writer, str, Attributes, list[Line], int], list[Line]]


def first_text(attributes: Attributes, *names: str) -> str:
    """Return the first of these attributes that is a string; empty if there is none."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return " ".join(str(value).split())
    return ""


def component_block(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line] | None:
    """Return the lines for a block-level component; None if the element should stay unchanged."""
    partial = writer.imports.get(name)
    if partial is not None and re.search(r"\.mdx?$", partial):
        return writer.included(partial, number, attributes)
    if writer.dialect.magic and writer.place.include(path := f"custom_blocks/{name}.md", number):
        return writer.included(path, number)
    if name in HOLDERS and "markdown" in attributes:
        return _marked_element(writer, name, attributes, inside, number)
    made = _BLOCKS.get(name)
    if made is not None:
        return made(writer, name, attributes, inside, number)
    if name in _INLINE and not any(not text.strip() for text, _ in trimmed(inside)):
        words_inside = writer.inline("\n".join(text for text, _ in trimmed(inside)), number)
        return [(row, number) for row in _INLINE[name](writer, attributes, words_inside).split("\n") if row]
    if name in _NOTHING:
        return []
    if name[0].islower():
        return None
    if (since := version_badge(name, first_text(attributes, "version", "since", "v"))) is not None:
        return [(since, number), ("", number), *writer.blocks(inside)]
    if name in _TRANSPARENT and inside:
        return writer.blocks(inside)
    kept = _words_of(writer, attributes, inside, number)
    if name not in _TRANSPARENT:
        what = "its contents were kept" if inside else "its text was kept" if kept else "it was skipped"
        writer.report(number, "unknown_component", f"<{name}> isn't supported; {what}", name)
    return kept


def _words_of(writer: Writer, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    """Return the text of an unsupported component: its title, and its content or description."""
    described = first_text(attributes, "description", "subtitle", "text", "content", "message")
    titled = attributes if first_text(attributes, *_TITLES) else {}
    body = inside or ([(described, number)] if described else [])
    return trimmed(_opened_card(writer, titled, body, number))


def component_inline(writer: Writer, text: str, found: re.Match[str], line: int) -> tuple[str, int]:
    """Return the replacement for an inline component, and the position where the text continues."""
    name = found[0].strip("</")
    if found[0].startswith("</"):
        end = text.find(">", found.end())
        return ("", end + 1) if end >= 0 and writer.jsx else (found[0], found.end())
    if not writer.jsx and not writer.dialect.vue:
        return found[0], found.end()
    lines = [(row, line) for row in text[found.start() :].split("\n")]
    opened = writer.opening(lines, 0, 0)
    if opened is None:
        return found[0], found.end()

    def place(row: int, column: int) -> int:
        return found.start() + sum(len(lines[n][0]) + 1 for n in range(row)) + column

    end = place(opened.line, opened.column)
    inside = ""
    if not opened.empty and (closed := writer.closing(lines, opened, name)):
        inside = text[end : place(closed[0], closed[1])]
        end = place(closed[0], closed[2])
    attributes = writer.evaluated(opened.attributes)
    if name in _INLINE:
        return _INLINE[name](writer, attributes, writer.inline(inside, line)), end
    if name in _NOTHING:
        return "", end
    if (since := version_badge(name, first_text(attributes, "version", "since", "v"))) is not None:
        return since, end
    made = writer.inline(inside, line) or _in_line(writer, attributes, line)
    if name not in _TRANSPARENT and name not in _BLOCKS:
        what = "its contents were kept" if inside else "its text was kept" if made else "it was skipped"
        writer.report(line, "unknown_component", f"<{name}> isn't supported; {what}", name)
    return made, end


def _in_line(writer: Writer, attributes: Attributes, line: int) -> str:
    """Return text from the attributes of an inline component that has no content."""
    rows = _words_of(writer, attributes, [], line)
    return " ".join(text.strip() for text, _ in rows if text.strip())


def version_badge(name: str, version: str) -> str | None:
    """Return the text for a custom component or shortcode that shows in which version something was added or
    removed; None for any other component. Nearly every site has a component of this kind with a similar name."""
    plain = re.sub(r"[\W_]", "", name).casefold()
    kind = next((key for key in ("deprecated", "removed") if plain.startswith(key)), "")
    if not version or not (
        kind or re.search(r"^newin|versionbadge$|^(?:available|added)?since|^addedin|^newinversion", plain)
    ):
        return None
    return f"*{kind.capitalize() or 'New'} in {version}*"


# --- blocks --------------------------------------------------------------------------------------------


def _hint(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    if name == "aside" and not attributes:
        return _aside(writer, inside, number)
    kind = (
        first_text(attributes, "type", "variant", "kind", "intent", "emojiType", "theme")
        or callout_kind(first_text(attributes, "icon"))
        if name in _TYPED_HINTS
        else name
    )
    return writer.hint(
        kind.lower() or "note",
        writer.inline(first_text(attributes, "title"), number),
        writer.blocks(inside),
        number,
    )


def callout_kind(sign: str) -> str:
    """Return the kind of a callout, based on its icon."""
    sign = sign.strip().replace("\ufe0f", "")[:1]
    for kind, signs in (("warning", "⚠🚧⚡🔔"), ("danger", "❗🚨⛔🛑❌🔥☠"), ("tip", "✅✔☑🎉👍🟢")):
        if sign and sign in signs:
            return kind
    return "info"


def _aside(writer: Writer, inside: list[Line], number: int) -> list[Line]:
    """Return a callout. Its kind depends on the icon at the start of its content."""
    rows = [(text, line) for text, line in inside if text.strip()]
    first = rows[0][0].strip() if rows else ""
    kind = "info"
    if first and ord(first[0]) > 0x2000 and not first[0].isalpha():
        kind = callout_kind(first)
        rest = re.sub(r"^[^\w\s*_`\[(<]+\s*", "", first)
        at = inside.index(next(row for row in inside if row[0].strip()))
        inside = [*inside[:at], (rest, inside[at][1]), *inside[at + 1 :]]
    elif re.match(r"<img [^>]*>\s*$", first):
        inside = [row for row in inside if row[0].strip() != first]
    return writer.hint(kind, "", writer.blocks(inside), number)


_TYPED_HINTS = frozenset(["Callout", "Aside", "Admonition", "Alert", "Banner", "aside"])


def _tabs(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    given_titles = attributes.get("items")
    titles = [
        first_text(one, "label", "title") if isinstance(one, dict) else one if isinstance(one, str) else ""
        for one in (given_titles if isinstance(given_titles, list) else [])
    ]
    by_value = {}
    if isinstance(attributes.get("values"), list):
        by_value = {
            str(one.get("value")): str(one.get("label"))
            for one in attributes["values"]
            if isinstance(one, dict)
        }
    items = []
    for at, (_, given, body, line) in enumerate(
        writer.children_of(inside, ("TabItem", "Tab", "Tabs.Tab", "TabPanel", "TabsContent"))
    ):
        title = (
            first_text(given, "label", "title", "name")
            or by_value.get(first_text(given, "value"), "")
            or first_text(given, "value")
        )
        title = title or (titles[at] if at < len(titles) else "")
        items.append((title or f"Tab {at + 1}", writer.blocks(body), line))
    return writer.tab_list(items, number) or writer.blocks(inside)


def _code_group(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    return writer.code_group(inside, number) or writer.blocks(inside)


def _steps(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    steps: list[list[Line]] = [
        [(f"### {title}", line), ("", line), *trimmed(writer.blocks(body))]
        if (title := first_text(given, "title"))
        else trimmed(writer.blocks(body))
        for _, given, body, line in writer.children_of(inside, ("Step", "Steps.Step"))
    ]
    if not steps:
        steps = _headed_steps(writer.blocks(inside))
    if not steps:
        return writer.blocks(inside)
    made: list[Line] = [("{% stepper %}", number)]
    for step in steps:
        first, last = (step[0][1], step[-1][1]) if step else (number, number)
        made += [("{% step %}", first), *step, ("{% endstep %}", last), ("", last)]
    made[-1] = ("{% endstepper %}", made[-1][1])
    return made


def _file_tree(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return a file tree as a list. A tree that is already a list stays unchanged."""
    return list(_tree_rows(writer, inside, "")) or writer.blocks(inside)


def _type_table(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return the properties of a type in a table."""
    given = attributes.get("type")
    rows = []
    for prop, facts in given.items() if isinstance(given, dict) else ():
        if isinstance(facts, dict):
            kind, default = first_text(facts, "type"), first_text(facts, "default")
            mark = "" if facts.get("required") in (None, False) else " *(required)*"
            mark += "" if facts.get("deprecated") in (None, False) else " *(deprecated)*"
            # The default is often an expression, not its text.
            if not default and isinstance(facts.get("default"), bool):
                default = str(facts["default"]).lower()
            rows.append(
                [
                    f"`{prop}`{mark}",
                    f"`{kind}`" if kind else "",
                    first_text(facts, "description"),
                    f"`{default}`" if default else "",
                ]
            )
    if not rows:
        writer.report(
            number,
            "expression_left_out",
            f"skipped: the contents of <{name}> are computed when the site is built",
        )
    return table_of(writer, [["Property", "Type", "Description", "Default"], *rows], number) if rows else []


def _include(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return the content of another file, or of a named part of it."""
    path, _, section = " ".join(text.strip() for text, _ in inside).partition("#")

    def part(rows: list[str]) -> IncludedPart:
        begins = next(
            (
                at
                for at, row in enumerate(rows)
                if re.match(rf"\s*<section id=[\"']{re.escape(section)}[\"']", row)
            ),
            None,
        )
        if begins is None:
            return IncludedPart(rows, section)
        ends = next((at for at, row in enumerate(rows) if at > begins and "</section>" in row), len(rows))
        return IncludedPart(rows[begins + 1 : ends])

    if re.search(r"\.mdx?$", path) and not first_text(attributes, "lang"):
        return writer.included(path, number, None, part)
    return writer.listing(f"{path}#{section}", number, "", first_text(attributes, "lang"))


def _tree_rows(writer: Writer, inside: list[Line], indent: str) -> Iterator[Line]:
    if len(indent) > 60:
        return
    for name, given, body, line in writer.children_of(inside, (*_FOLDERS, *_FILES)):
        folder = name in _FOLDERS
        yield (
            f"{indent}- `{(first_text(given, 'name', 'title') or '…').rstrip('/')}{'/' if folder else ''}`",
            line,
        )
        if folder:
            yield from _tree_rows(writer, body, indent + "  ")


_FOLDERS = ("FileTree.Folder", "Tree.Folder", "Folder")
_FILES = ("FileTree.File", "Tree.File", "File")


def _headed_steps(lines: list[Line]) -> list[list[Line]]:
    """Return steps that are separated by headings. A list of steps remains a list."""
    steps: list[list[Line]] = []
    fence = ""
    for text, number in lines:
        if mark := re.match(r"\s*(`{3,}|~{3,})", text):
            fence = "" if fence else mark[1]
        if not fence and re.match(r"#{2,4} ", text):
            steps.append([])
        if steps:
            steps[-1].append((text, number))
        elif text.strip():
            return []
    return [trimmed(step) for step in steps]


def _details(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    title = first_text(attributes, "title", "summary", "header", "label")
    if not title:
        joined = "\n".join(text for text, _ in inside)
        found = re.search(r"<summary[^>]*>(.*?)</summary>", joined, re.DOTALL | re.IGNORECASE)
        if found:
            title = " ".join(found[1].split())
            rest = joined[: found.start()] + joined[found.end() :]
            skipped = joined.count("\n", 0, found.start())
            rows = rest.split("\n")
            inside = [(row, inside[min(skipped + at, len(inside) - 1)][1]) for at, row in enumerate(rows)]
    opened = attributes.get("open", attributes.get("defaultOpen")) not in (None, False)
    return writer.details(title, writer.blocks(trimmed(inside)), number, opened)


def _cards(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    found = list(writer.children_of(inside, ("Card", "LinkCard", "Cards.Card", "Tile", "Feature", "NavCard")))
    if not found:
        return writer.blocks(inside)
    cards = [(given, body, line) for _, given, body, line in found]
    if any(_BLOCKS_INSIDE.match(text) for _, body, _ in cards for text, _ in body):
        return [
            row
            for given, body, line in cards
            for row in [*_opened_card(writer, given, body, line), ("", line)]
        ]
    return _card_table(writer, cards, number)


def _card(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    if not first_text(attributes, "title", "href", "link", "to"):
        return writer.blocks(inside)
    if any(_BLOCKS_INSIDE.match(text) for text, _ in inside):
        return _opened_card(writer, attributes, inside, number)
    return _card_table(writer, [(attributes, inside, number)], number)


_BLOCKS_INSIDE = re.compile(r"\s*(?:`{3}|~{3}|\||<[A-Z](?!con\b|mage\b|mg\b))")


_TITLES = ("title", "label", "heading")


def _opened_card(writer: Writer, given: Attributes, body: list[Line], line: int) -> list[Line]:
    """Return the title and then the content of a card whose content doesn't fit into a table cell."""
    title = words(first_text(given, *_TITLES))
    href = first_text(given, "href", "link", "to", "url")
    if href:
        title = f"[{title or href}]({writer.place.link(href, line)})"
    return [*([(f"**{title}**", line), ("", line)] if title else []), *trimmed(writer.blocks(trimmed(body)))]


def _card_table(writer: Writer, cards: list[tuple[Attributes, list[Line], int]], number: int) -> list[Line]:
    rows = []
    for given, body, line in cards:
        href = first_text(given, "href", "link", "to", "url")
        target = writer.place.link(href, line) if href else ""
        image, paragraphs = first_text(given, "img"), paragraphs_of(body)
        if not image and paragraphs and (shown := _ONLY_IMAGE.match(paragraphs[0][0])):
            image, paragraphs = shown[1], paragraphs[1:]
        # A cell contains only inline content, so other content of a card becomes text too.
        text = "<br>".join(as_html(writer.inline(words_of, n)) for words_of, n in paragraphs)
        text = text or as_html(first_text(given, "description"))
        title = as_html(words(writer.inline(first_text(given, "title"), line))) or as_html(words(href))
        cover = writer.place.link(image, line, shown=True) if image else ""
        rows.append((title, text, target, cover))
    return [(card_table(rows), number)]


_ONLY_IMAGE = re.compile(r"!\[[^\[\]]*\]\(([^()\s]+)\)\Z")


def paragraphs_of(body: list[Line]) -> list[Line]:
    """Return each paragraph and list item as one line. Code blocks and elements on their own lines are omitted."""
    made: list[Line] = []
    goes_on = False
    for text, line in body:
        text = re.sub(r"^<>|</>$", "", text.strip()).strip()
        if not text or text.startswith(("```", "<")):
            goes_on = False
            continue
        item = re.match(r"[-*+]\s+", text)
        if goes_on and item is None:
            made[-1] = (f"{made[-1][0]} {text}", made[-1][1])
        else:
            made.append((text[item.end() :] if item else text, line))
        goes_on = True
    return made


def card_table(rows: list[tuple[str, str, str, str]]) -> str:
    """Return cards in Octavo's format. Each card has a title and text in HTML, an optional link, and an optional
    image above the title."""
    covered = any(cover for _, _, _, cover in rows)
    head = '<th></th><th></th><th data-hidden data-card-target data-type="content-ref"></th>'
    if covered:
        head += '<th data-hidden data-card-cover data-type="image"></th>'
    body = ""
    for title, text, target, cover in rows:
        shown = f"<strong>{title}</strong>" if title else ""
        body += f"<tr><td>{shown}</td><td>{text}</td><td>{_cell_link(target)}</td>"
        body += f"<td>{_cell_link(cover)}</td></tr>" if covered else "</tr>"
    return f'<table data-view="cards"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell_link(target: str) -> str:
    return f'<a href="{escape(target)}">{escape(target)}</a>' if target else ""


def _field(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    given = attributes
    shown = first_text(given, "path", "query", "body", "header", "name")
    kind = first_text(given, "type")
    facts = [f"`{shown}`" if shown else "", f"_{kind}_" if kind else ""]
    facts += ["required"] if attributes.get("required") not in (None, False) else []
    facts += ["deprecated"] if attributes.get("deprecated") not in (None, False) else []
    facts += [f"default: `{default}`"] if (default := first_text(given, "default")) else []
    body = writer.blocks(inside)
    place = first_text(given, "id")
    if shown and not place and name in ("ParamField", "ResponseField"):
        # The id that Mintlify assigns.
        place = "param-" + re.sub(r"\W+|_", "-", shown.lower()).strip("-")
    words_of = f"**{facts[0]}** {' · '.join(fact for fact in facts[1:] if fact)}".strip() if shown else ""
    return [
        ((anchor(place) if place else "") + words_of, number),
        ("", number),
        *body,
    ]


def _code_block(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    language = first_text(attributes, "language", "lang") or re.sub(
        r"^language-", "", first_text(attributes, "className")
    )
    given: Any = attributes.get("code", attributes.get("children", UNKNOWN))
    if given is UNKNOWN and inside:
        joined = "\n".join(text for text, _ in inside).strip()
        given = writer.expression(joined[1:-1]) if joined.startswith("{") and joined.endswith("}") else joined
    if isinstance(given, str) and given.endswith("?raw"):
        given = f"!!raw-loader!{given.removesuffix('?raw')}"
    if isinstance(given, str) and re.match(r"!!raw-loader!", given):
        return writer.listing(
            given.rpartition("!")[2],
            number,
            f"[{title}]" if (title := first_text(attributes, "title")) else "",
            language,
        )
    if not isinstance(given, str):
        return _report_expression(writer, name, number)
    rows = given.strip("\n").split("\n")
    return fenced(
        [(row, number) for row in rows],
        language,
        number,
        first_text(attributes, "title"),
        "showLineNumbers" in attributes,
    )


def _player(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    source = first_text(attributes, "src", "url")
    if not source and inside:
        found = re.search(r"<source[^>]*\ssrc=[\"']([^\"']+)", "\n".join(text for text, _ in inside))
        source = found[1] if found else ""
    if name in ("YouTube", "Youtube", "LiteYouTubeEmbed") or first_text(attributes, "videoId", "youTubeId"):
        source = (
            source
            or f"https://www.youtube.com/watch?v={first_text(attributes, 'id', 'videoId', 'youTubeId')}"
        )
    source = re.sub(
        r"^(https?:)?//(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]+).*$",
        r"https://www.youtube.com/watch?v=\2",
        source,
    )
    if not source:
        return []
    if re.match(r"(https?:)?//", source):
        source = f"https:{source}" if source.startswith("//") else source
        return [(f"{{% embed url={quoted(source)} %}}", number)]
    return [(f"{{% file src={quoted(writer.place.link(source, number, shown=True))} %}}", number)]


def _image(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    if caption := first_text(attributes, "caption"):
        source, alt, width = (first_text(attributes, key) for key in ("src", "alt", "width"))
        return [(figure(writer, source, alt, caption, width.removesuffix("px"), number), number)]
    return [(made, number)] if (made := _inline_image(writer, attributes, "")) else []


def _table(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    """Return a table whose cells contain Markdown."""
    joined = "\n".join(text for text, _ in inside)
    rows = [
        [cell[1] for cell in re.finditer(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row[1], re.DOTALL)]
        for row in re.finditer(r"<tr\b[^>]*>(.*?)</tr>", joined, re.DOTALL)
    ]
    return table_of(writer, [row for row in rows if row], number) or writer.blocks(inside)


def _report_expression(writer: Writer, name: str, number: int) -> list[Line]:
    """Report a component that is skipped because its content is an expression."""
    message = f"skipped: the contents of <{name}> are computed when the site is built"
    writer.report(number, "expression_left_out", message)
    return []


def _html_block(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    joined = "\n".join(text for text, _ in inside).strip()
    given = writer.expression(joined[1:-1]) if joined.startswith("{") and joined.endswith("}") else joined
    if not isinstance(given, str):
        return _report_expression(writer, name, number)
    return html_lines(writer, given, number)


def _marked_element(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return the content of an HTML element that is marked as containing Markdown: an image with its caption, or a
    grid of cards."""
    if name == "figure":
        joined = "\n".join(text for text, _ in inside)
        shown = re.search(r"!\[([^\[\]]*)\]\(([^()\s]+)[^()]*\)(?:\{([^{}]*)\})?", joined)
        caption = re.search(r"<figcaption[^>]*>(.*?)</figcaption>", joined, re.DOTALL)
        if shown and joined.count("![") == 1:
            width = re.search(r"\bwidth=[\"']?(\d+%?)", shown[3] or "")
            said_below = " ".join(caption[1].split()) if caption else ""
            return [
                (figure(writer, shown[2], shown[1], said_below, width[1] if width else "", number), number)
            ]
    if {"grid", "cards"} <= set(first_text(attributes, "class").split()):
        items = _items(inside)
        if items and not any(_BLOCKS_INSIDE.match(text) for item in items for text, _ in item):
            return [(card_table([_grid_card(writer, item) for item in items]), number)]
    return writer.blocks(inside)


def _items(lines: list[Line]) -> list[list[Line]]:
    """Return the items of a list; empty if the lines contain anything else."""
    items: list[list[Line]] = []
    for text, number in lines:
        if found := re.match(r"[-*+][ \t]+(.*)$", text):
            items.append([(found[1], number)])
        elif items and (not text.strip() or text[0] in " \t"):
            items[-1].append((text.strip(), number))
        elif text.strip():
            return []
    return items


def _grid_card(writer: Writer, item: list[Line]) -> tuple[str, str, str, str]:
    """Return a card for a list item, with the text above the horizontal rule as the title, and the link below the
    rule as the target."""
    rule = next((at for at, (text, _) in enumerate(item) if re.fullmatch(r"-{3,}|\*{3,}", text)), None)
    paragraphs = paragraphs_of(item[rule + 1 :] if rule is not None else item)
    title = " ".join(text for text, _ in item[:rule]).strip() if rule is not None else ""
    target = ""
    if paragraphs and (link := re.fullmatch(r"\[[^\[\]]*\]\(([^()\s]+)\)(?:\{[^{}]*\})?", paragraphs[-1][0])):
        target = writer.place.link(link[1], paragraphs[-1][1])
    shown = [(writer.inline(text, line), line) for text, line in paragraphs]
    title = " ".join(re.sub(r"</?strong>", "", as_html(writer.inline(title, item[0][1]))).split())
    return title, "<br>".join(as_html(text) for text, _ in shown), target, ""


def _frame(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    caption = first_text(attributes, "caption")
    body = trimmed(writer.blocks(inside))
    return [*body, ("", number), (f"_{caption}_", number)] if caption else body


def _children(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    return [(f"* [{title}]({href})", number) for href, title in writer.place.below()]


def _update(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    return [(f"## {first_text(attributes, 'label')}", number), ("", number), *writer.blocks(inside)]


def _partial(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    path = first_text(attributes, "file", "src")
    where = f"/snippets/{path}" if name == "Snippet" else path
    return writer.included(where, number, attributes) if path else []


def _prompt(writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int) -> list[Line]:
    head = f"{{% prompt description={quoted(first_text(attributes, 'description') or 'Prompt')} %}}"
    return [(head, number), *fenced(inside, "", number), ("{% endprompt %}", number)]


def _package_managers(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return a command with a variant for each package manager."""
    package, args = first_text(attributes, "pkg"), first_text(attributes, "args")
    kind = first_text(attributes, "type") or "add"
    items = []
    for manager, commands in _MANAGERS.items():
        parts = [commands.get(kind, f"{manager} {kind}")]
        parts += ["-D"] if kind == "add" and attributes.get("dev") not in (None, False) else []
        # Only npm needs two dashes before the arguments of the script.
        parts += [package, "--" if kind == "create" and manager == "npm" and args else "", args]
        items.append((manager, fenced([(" ".join(filter(None, parts)), number)], "sh", number), number))
    return writer.tab_list(items, number)


_MANAGERS = {
    "npm": {
        "add": "npm i",
        "exec": "npx",
        "dlx": "npx",
        "run": "npm run",
        "remove": "npm uninstall",
        "create": "npm create",
    },
    "pnpm": {"exec": "pnpm", "run": "pnpm run", "dlx": "pnpx"},
    "yarn": {"exec": "yarn", "run": "yarn run", "dlx": "yarn dlx"},
}


def _for_readers(
    writer: Writer, name: str, attributes: Attributes, inside: list[Line], number: int
) -> list[Line]:
    """Return content that is shown only to people or only to agents."""
    reader = {"llms-only": "agents", "llms-ignore": "humans"}.get(name) or first_text(attributes, "for")
    condition = _READERS.get(reader)
    if condition is None:
        writer.report(
            number,
            "unknown_component",
            f"<{name}> is shown only to “{reader}” in the source; its contents were kept",
            name,
        )
        return writer.blocks(inside)
    return [(f"{{% if {condition} %}}", number), *writer.blocks(inside), ("{% endif %}", number)]


_READERS = {"agents": "visitor.agent", "humans": "!visitor.agent", "web": "!visitor.agent"}

_BLOCKS: dict[str, Block] = {
    **dict.fromkeys(("Tabs", "TabGroup", "Tabset"), _tabs),
    **dict.fromkeys(("CodeGroup", "CodeTabs", "RequestExample", "ResponseExample"), _code_group),
    **dict.fromkeys(("Steps", "Stepper"), _steps),
    **dict.fromkeys(
        (
            "Note",
            "Tip",
            "Warning",
            "Info",
            "Check",
            "Danger",
            "Caution",
            "Important",
            "Success",
            "Error",
            *_TYPED_HINTS,
        ),
        _hint,
    ),
    **dict.fromkeys(
        ("Accordion", "Expandable", "Details", "details", "Collapse", "Collapsible", "Disclosure"), _details
    ),
    **dict.fromkeys(("CardGroup", "CardGrid", "Cards", "TileGrid", "LinkCards"), _cards),
    **dict.fromkeys(("Card", "LinkCard", "Tile"), _card),
    **dict.fromkeys(("ParamField", "ResponseField", "Property", "Param"), _field),
    **dict.fromkeys(("CodeBlock", "Code", "DynamicCodeBlock"), _code_block),
    **dict.fromkeys(
        (
            "iframe",
            "video",
            "audio",
            "YouTube",
            "Youtube",
            "LiteYouTubeEmbed",
            "ReactPlayer",
            "Video",
            "Vimeo",
            "Embed",
        ),
        _player,
    ),
    **dict.fromkeys(("Image", "Img", "ThemedImage", "Picture", "ImageZoom"), _image),
    **dict.fromkeys(("FileTree", "Tree", "Files"), _file_tree),
    "Frame": _frame,
    "Table": _table,
    "HTMLBlock": _html_block,
    "DocCardList": _children,
    "DocsCategory": _children,
    "TypeTable": _type_table,
    "include": _include,
    "Update": _update,
    "Snippet": _partial,
    "Include": _partial,
    "PackageManagers": _package_managers,
    "Prompt": _prompt,
    **dict.fromkeys(("Visibility", "llms-only", "llms-ignore"), _for_readers),
}
_TRANSPARENT = frozenset(
    """Fragment Columns Column AccordionGroup Accordions BrowserWindow Panel View TabItem Tab Step Grid
    Row Col Box Center Wrapper Bleed MDXContent Content Steps.Step Tabs.Tab ClientOnly Head.Title Latest
    Layout Section Container Wide Feature Features BrowserOnly React.Fragment""".split()
)
"""Components that only affect the layout of their contents."""
_NOTHING = frozenset(
    """Head Icon Spacer Separator TOCInline InlineTOC Comments GitHubStars Newsletter Search ThemeToggle br
       Helmet Redirect Analytics
    DocsSkeleton Kapa""".split()
)


# --- inline --------------------------------------------------------------------------------------------


def _inline_link(writer: Writer, attributes: Attributes, inside: str) -> str:
    href = first_text(attributes, "to", "href", "link", "id")
    return f"[{inside}]({writer.place.link(href, 0)})" if href and inside else inside


def _button(writer: Writer, attributes: Attributes, inside: str) -> str:
    href = first_text(attributes, "href", "to", "link")
    text = inside or first_text(attributes, "text", "label", "title")
    is_secondary = first_text(attributes, "variant", "type", "theme", "kind") in (
        "secondary",
        "minimal",
        "alt",
        "outline",
    )
    return button(writer.place, text, href, not is_secondary)


def button(place: Place, text: str, href: str, primary: bool) -> str:
    """Return a link styled as a button in Octavo's format; only its text if the link doesn't have a target."""
    if not href:
        return text
    return f'<a href="{escape(place.link(href, 0))}" class="button {"primary" if primary else "secondary"}">{text}</a>'


def _inline_image(writer: Writer, attributes: Attributes, inside: str) -> str:
    sources = attributes.get("sources")
    source = first_text(attributes, "src", "img")
    dark = ""
    if isinstance(sources, dict):
        source, dark = first_text(sources, "light") or source, first_text(sources, "dark")
    if not source:
        return ""
    width = first_text(attributes, "width").removesuffix("px")
    size = f' width="{width}"' if re.fullmatch(r"\d{1,5}%?", width) else ""
    shown = writer.place.link(source, 0, shown=True)
    made = f'<img src="{shown}" alt="{escape(first_text(attributes, "alt"))}"{size}>'
    if dark:
        other = writer.place.link(dark, 0, shown=True)
        return f'<picture><source srcset="{other}" media="(prefers-color-scheme: dark)">{made}</picture>'
    return made


def _badge(writer: Writer, attributes: Attributes, inside: str) -> str:
    text = inside or first_text(attributes, "text", "label")
    return f"`{text}`" if text else ""


def _icon(writer: Writer, attributes: Attributes, inside: str) -> str:
    name = first_text(attributes, "icon", "name").removeprefix("fa-")
    return f'<i class="fa-{name}">:{name}:</i>' if name and is_free(name) and icon(name) else ""


def _anchor(writer: Writer, attributes: Attributes, inside: str) -> str:
    href = first_text(attributes, "href")
    return f"[{first_text(attributes, 'label') or inside}]({writer.place.link(href, 0)})" if href else inside


def _variable(writer: Writer, attributes: Attributes, inside: str) -> str:
    name = first_text(attributes, "name")
    value = writer.place.value(name)
    if value is None:
        writer.report(
            0, "variable", f"{name[:80]} is computed when the page is viewed, so it wasn't imported", name
        )
    return value if value is not None else f"`{name}`"


def _plain(writer: Writer, attributes: Attributes, inside: str) -> str:
    return inside


_INLINE: dict[str, Callable[[Writer, Attributes, str], str]] = {
    "Link": _inline_link,
    "A": _inline_link,
    "NavLink": _inline_link,
    "Button": _button,
    "LinkButton": _button,
    "Image": _inline_image,
    "Img": _inline_image,
    "ThemedImage": _inline_image,
    "Badge": _badge,
    "Tag": _badge,
    "Icon": _icon,
    "Tooltip": _plain,
    "Kbd": lambda writer, attributes, inside: f"<kbd>{inside}</kbd>",
    "Code": lambda writer, attributes, inside: f"`{inside}`" if inside else "",
    "Highlight": _plain,
    "Term": _plain,
    "Glossary": _plain,
    "Anchor": _anchor,
    "Variable": _variable,
    "Trans": _plain,
    "Translate": _plain,
}
