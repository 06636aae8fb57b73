"""Write tables, including the blocks in their cells as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from . import markup
from .attributes import SIDES, html_text, quoted, write_attribute, write_attributes, write_number, write_url
from .inline_writer import WritingContext, write_html, write_inlines
from .nodes import Block, Data, Fragment, Inline, Leaf, Text
from .parts import merged_cells
from .tag_reader import default_label


def write_table(block: Block, notes: WritingContext) -> str:
    data = block.data
    cells = {fragment.fragment: fragment for fragment in block.fragments}
    definition, view = data["definition"], data["view"]
    columns = [definition[name] for name in view["columns"] if name in definition]
    columns += [column for name, column in definition.items() if name not in view["columns"]]
    records = sorted(data["records"].values(), key=lambda record: record["orderIndex"])
    if _is_simple(block, columns, records, cells):
        return _pipe_table(columns, records, cells, notes)
    return _html_table(block, columns, records, cells, notes)


def _is_simple(block: Block, columns: list[Data], records: list[Data], cells: dict[str, Fragment]) -> bool:
    view = block.data["view"]
    if (
        view["type"] != "grid"
        or view.get("columnWidths")
        or view.get("hideHeader")
        or view.get("useNewSizing")
    ):
        return False
    if any(block.data.get(name) for name in ("fullWidth", "search", "attributes")) or not columns:
        return False
    if len(view["columns"]) != len(columns) or not all(
        column["type"] == "text" and not column.get("verticalAlignment") for column in columns
    ):
        return False
    for record in records:
        for column in columns:
            fragment = cells.get(str(record["values"].get(column["id"])))
            if fragment is None or len(fragment.nodes) != 1 or fragment.nodes[0].type != "paragraph":
                return False
            if fragment.nodes[0].data or _has(fragment.nodes[0], "inline-math", "unknown"):
                return False
    return True


def _has(block: Block, *types: str) -> bool:
    return any(isinstance(node, Inline) and node.type in types for node in block.nodes)


def _pipe_table(
    columns: list[Data], records: list[Data], cells: dict[str, Fragment], notes: WritingContext
) -> str:
    rows = [[_plain_title(column["title"], notes) for column in columns]]
    for record in records:
        rows.append(
            [
                write_inlines(cells[record["values"][column["id"]]].nodes[0].nodes, notes, table=True)
                for column in columns
            ]
        )
    widths = [max(3, *(0 if notes.is_draft else len(row[n]) for row in rows)) for n in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = []
    for column, width in zip(columns, widths, strict=True):
        align = column.get("textAlignment", "left")
        dashes = "-" * width
        if align == "center":
            dashes = ":" + dashes[2:] + ":"
        elif align == "right":
            dashes = dashes[1:] + ":"
        rule.append(dashes)
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def _plain_title(title: str, notes: WritingContext) -> str:
    return write_inlines([Text([Leaf(title)])], notes, table=True) if title else ""


def _html_table(
    block: Block, columns: list[Data], records: list[Data], cells: dict[str, Fragment], notes: WritingContext
) -> str:
    data, view = block.data, block.data["view"]
    attrs: Data = dict(data.get("attributes") or {})
    percent = {
        name.removeprefix("width-"): attrs.pop(name) for name in list(attrs) if name.startswith("width-")
    }
    flags = ""
    if view["type"] == "cards":
        if view.get("cardSize", "medium") != "medium":
            attrs = {"data-card-size": view["cardSize"]} | attrs
        if view.get("hideColumnTitle"):
            flags += " data-column-title-hidden"
        attrs = {"data-view": "cards"} | attrs
    elif view.get("hideHeader"):
        flags += " data-header-hidden"
    if "fullWidth" in data:
        attrs["data-full-width"] = write_attribute(data["fullWidth"])
    if "search" in data:
        attrs["data-search"] = write_attribute(data["search"])
    merged, covered = merged_cells(block, [column["id"] for column in columns], records)
    attrs = {
        name: value for name, value in attrs.items() if not re.match(r"(?:col|row)span-(?:r\d+)?c\d+\Z", name)
    }

    def spans(y: int, x: int) -> str:
        return write_attributes(
            {name: n for name, n in zip(markup.SPANS, merged.get((y, x), ()), strict=False) if n > 1}
        )

    head = "".join(
        _header_cell(column, view, percent, spans(-1, x))
        for x, column in enumerate(columns)
        if (-1, x) not in covered
    )
    body = ""
    for y, record in enumerate(records):
        row = "".join(
            _cell(column, record["values"].get(column["id"]), cells, notes, spans(y, x))
            for x, column in enumerate(columns)
            if (y, x) not in covered
        )
        body += f"<tr>{row}</tr>"
    table = (
        f"<table{flags}{write_attributes(attrs)}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    return table.replace("\n", "&#xa;").replace(_MARKDOWN_LINE, "\n")


def _header_cell(column: Data, view: Data, percent: Data, spans: str) -> str:
    attrs: Data = {}
    flags = ""
    kind = column["type"]
    if width := percent.get(column["id"]) or (view.get("columnWidths") or {}).get(column["id"]):
        attrs["width"] = width if isinstance(width, str) else write_number(width)
    if kind not in ("text", "select"):
        attrs["data-type"] = kind
    elif kind == "select":
        attrs["data-type"] = "select"
    if kind == "text":
        if column.get("textAlignment", "left") != "left":
            attrs["align"] = column["textAlignment"]
        if column.get("verticalAlignment"):
            attrs["valign"] = column["verticalAlignment"]
    if kind == "rating":
        attrs["data-max"] = write_number(column.get("max", 5))
    if kind == "users" and column.get("multiple"):
        flags += " data-multiple"
    if column["id"] not in view["columns"]:
        flags += " data-hidden"
    for flag, name in markup.CARD_FLAGS:
        if view.get(name) == column["id"]:
            flags += f" {flag}"
    content = html_text(column["title"])
    if kind == "select":
        options = "".join(
            f"<option{write_attributes({'value': o['value'], 'label': o['label'], 'color': o['color']})}></option>"
            for o in column.get("options", [])
        )
        content += f"<select{' multiple' if column.get('multiple') else ''}>{options}</select>"
    return f"<th{flags}{write_attributes(attrs)}{spans}>{content}</th>"


def _cell(column: Data, value: Any, cells: dict[str, Fragment], notes: WritingContext, spans: str) -> str:
    kind = column["type"]
    content = ""
    if kind == "text":
        fragment = cells.get(str(value))
        content = _cell_blocks(fragment.nodes, notes) if fragment else ""
    elif value is None:
        pass
    elif kind == "checkbox":
        content = "true" if value else "false"
    elif kind in ("number", "rating"):
        content = write_number(value)
    elif kind == "select":
        labels = {option["value"]: option["label"] for option in column.get("options", [])}
        for option in value if isinstance(value, list) else [value]:
            label = html.escape(str(labels.get(option, option)), quote=False)
            content += f'<span data-option="{quoted(str(option))}">{label}</span>'
    elif kind in ("files", "users"):
        urls = [item if isinstance(item, str) else write_url(item) for item in value]
        content = ", ".join(
            f"<a{write_attributes({'href': url})}>{html.escape(default_label(url))}</a>" for url in urls
        )
    else:
        ref = value.get("ref", value)
        attrs = {"href": write_url(ref)}
        if "objectFit" in value:
            attrs["data-object-fit"] = value["objectFit"]
        if "alt" in value:
            attrs["data-alt"] = value["alt"]
        content = f"<a{write_attributes(attrs)}>{html.escape(default_label(attrs['href']))}</a>"
    return f"<td{spans}>{content}</td>"


def _cell_blocks(nodes: Sequence[Any], notes: WritingContext) -> str:
    if len(nodes) == 1 and nodes[0].type == "paragraph" and not nodes[0].data:
        return write_html(nodes[0].nodes, notes)
    return "".join(html_block(node, notes) for node in nodes)


def html_block(block: Block, notes: WritingContext) -> str:
    """Write a block as HTML on one line, for table cells."""
    data = block.data
    if block.type == "paragraph":
        attrs = {"align": SIDES[data["align"]]} if "align" in data else {}
        return f"<p{write_attributes(attrs | (data.get('attributes') or {}))}>{write_html(block.nodes, notes)}</p>"
    if block.type.startswith("heading"):
        return html_heading(block, notes)
    if block.type.startswith("list-") and block.type != "list-item":
        name = "ol" if block.type == "list-ordered" else "ul"
        attrs = {"start": write_number(data["start"])} if "start" in data else {}
        if block.type == "list-tasks":
            attrs["class"] = "contains-task-list"
        items = ""
        for item in block.nodes:
            box = ""
            if "checked" in item.data:  # type: ignore[union-attr]
                box = f'<input type="checkbox"{" checked" if item.data["checked"] else ""}>'  # type: ignore[union-attr]
            items += f"<li>{box}{_cell_blocks(item.nodes, notes)}</li>"  # type: ignore[union-attr]
        return f"<{name}{write_attributes(attrs)}>{items}</{name}>"
    if block.type == "blockquote":
        inner = [html_block(child, notes) for child in block.nodes]  # type: ignore[arg-type]
        return f"<blockquote>{''.join(inner)}</blockquote>"
    if block.type == "divider":
        return "<hr>"
    if block.type == "code":
        return write_rich_code(block, notes)
    if block.type in ("embed", "file"):
        source = data["url"] if block.type == "embed" else write_url(data["ref"])
        return f"<video{write_attributes({'src': source} | (data.get('attributes') or {}))}></video>"
    if block.type == "hint":
        body = notes.write(Block("blockquote", {}, block.nodes))
        written = f"> [!{_ALERT_OF.get(data['style'], 'NOTE')}]\n{body}"
    else:
        written = notes.write(block)
    # Blank lines end the HTML.
    return f"\n\n{written}\n\n".replace("\n", _MARKDOWN_LINE)


_ALERT_OF = {"success": "TIP", "warning": "WARNING", "danger": "CAUTION"}
_MARKDOWN_LINE = "\0"
"""End of a line of Markdown within HTML. Line breaks in the HTML itself are character references."""


def html_heading(block: Block, notes: WritingContext) -> str:
    """Write a heading as HTML."""
    align, rest, anchor = (block.data.get(name) for name in ("align", "attributes", "id"))
    attrs = ({"id": anchor} if anchor else {}) | ({"align": SIDES[align]} if align else {}) | (rest or {})
    level = level_of(block)
    return f"<h{level}{write_attributes(attrs)}>{write_html(block.nodes, notes)}</h{level}>"


def level_of(block: Block) -> int:
    """Return the level of a heading."""
    return int(block.data.get("level", int(block.type[-1]) + 1))


def write_rich_code(block: Block, notes: WritingContext) -> str:
    data = block.data
    attrs: Data = {}
    if "syntax" in data:
        attrs["class"] = f"language-{data['syntax']}"
    for name, attr in (
        ("title", "data-title"),
        ("overflow", "data-overflow"),
        ("lineNumbers", "data-line-numbers"),
        ("fullWidth", "data-full-width"),
        ("expandable", "data-expandable"),
        ("collapsedLineCount", "data-collapsed-line-count"),
        ("info", "data-info"),
    ):
        if name in data:
            attrs[attr] = write_attribute(data[name])
    code = {"class": f"lang-{data['syntax']}"} if "syntax" in data else {}
    lines = []
    for line in block.nodes:
        text = write_html(line.nodes, notes, code=True)  # type: ignore[union-attr]
        lines.append(f"<strong>{text}</strong>" if line.data.get("highlighted") else text)  # type: ignore[union-attr]
    return (
        f"<pre{write_attributes(attrs)}><code{write_attributes(code)}>" + "\n".join(lines) + "\n</code></pre>"
    )
