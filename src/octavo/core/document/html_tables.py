"""Tables as HTML: as rows or as cards."""

from __future__ import annotations

from .anchors import slug
from .html_pieces import (
    ALIGNED,
    Piece,
    Pieces,
    class_names,
    close_tag,
    element,
    html_length,
    open_tag,
    ref_of,
)
from .html_renderer import Renderer
from .nodes import Block, Data, Fragment, plain_text
from .parts import (
    chosen_options,
    merged_cells,
    number_of,
    object_of,
    one_of,
    only_paragraph,
    table_parts,
    text_of,
)
from .urls import safe_url

_ROW = 96
"""Height in pixels of an image in a cell."""
_MODELS = ["model", "about", "fields", "users"]
"""Columns of a list of API models."""
_TAG = "openapi-tag"
"""First column of a list of an API's tags."""


class TableRenderer(Renderer):
    """Renderer of tables."""

    def table(self, block: Block) -> Pieces:
        view = object_of(block.data, "view")
        shown, records, cells = table_parts(block)
        if view.get("type") == "cards":
            return self._cards(view, shown, records, cells, block.data.get("fullWidth") is True)
        widths = object_of(view, "columnWidths")
        # A list of an API's models has these columns; a link to the anchor of a model targets its row.
        is_models = [name for name, _ in shown] == _MODELS
        is_tags = bool(shown) and shown[0][0] == _TAG
        self.operations = self.operations or is_models
        self.listing = self.listing or is_models or is_tags
        ids: set[str] = set()
        out: list[Piece] = []
        if widths:
            out.append(open_tag("colgroup"))
            out += [open_tag("col", width=html_length(widths.get(name)) or None) for name, _ in shown]
            out.append(close_tag("colgroup"))
        merged, covered = merged_cells(block, [name for name, _ in shown], records)

        def spans(y: int, x: int) -> dict[str, int | None]:
            across, down = merged.get((y, x), (1, 1))
            return {"colspan": across if across > 1 else None, "rowspan": down if down > 1 else None}

        # An empty header row is omitted, and an empty header cell labels no column.
        titles = [(text_of(column, "title") or "").strip() for _, column in shown]
        if view.get("hideHeader") is not True and any(titles):
            heads = [
                p
                for x, (title, (_, column)) in enumerate(zip(titles, shown, strict=True))
                if (-1, x) not in covered
                for p in element(
                    "th" if title else "td",
                    [title],
                    scope="col" if title else None,
                    class_=self._cell_class(column),
                    **spans(-1, x),
                )
            ]
            out += element("thead", element("tr", heads))
        out.append(open_tag("tbody"))
        for y, record in enumerate(records):
            values = object_of(record, "values")
            id = (
                slug(plain_text(cells[values["model"]])) if is_models and values.get("model") in cells else ""
            )
            out.append(open_tag("tr", id=id if id not in ids and id else None))
            ids.add(id)
            for x, (name, column) in enumerate(shown):
                if (y, x) in covered:
                    continue
                value = values.get(name)
                cell = cells.get(value) if isinstance(value, str) else None
                out += element(
                    "td",
                    self._cell(column, value, cells),
                    class_=self._cell_class(column),
                    dir=self._dir(cell) if cell is not None else None,
                    **spans(y, x),
                )
            out.append(close_tag("tr"))
        out.append(close_tag("tbody"))
        wide = block.data.get("fullWidth") is True and "wide"

        def enter() -> None:
            self._in_cells += 1

        def leave() -> None:
            self._in_cells -= 1

        search: Pieces = []
        if block.data.get("search") is True:
            self.filtered = True
            search = [
                open_tag(
                    "input",
                    type="search",
                    class_="table-search scripted",
                    aria_label=self.labels.search_table,
                    placeholder=self.labels.search_table,
                    data_none=self.labels.no_rows,
                )
            ]
        return [
            *search,
            *element(
                "div",
                [enter, *element("table", out, class_="sized" if widths else None), leave],
                class_=class_names(
                    "table",
                    len(shown) <= 2 and "pair",
                    is_models and "openapi-models",
                    is_tags and "openapi-tags",
                    wide,
                ),
                role="region",
                tabindex="0",
                aria_label=self._name_of_table(),
            ),
        ]

    def _name_of_table(self) -> str:
        """Return the accessible name of a table: the heading above it. If there is more than one table under a heading,
        the second and later tables also get a number."""
        name = self._section or self.labels.table
        self._tables[name] += 1
        return name if self._tables[name] == 1 else f"{name} {self._tables[name]}"

    def _cell_class(self, column: Data) -> str | None:
        align = ALIGNED.get(text_of(column, "textAlignment") or "")
        if column.get("type") == "number":
            align = "end"
        vertical = one_of(column.get("verticalAlignment"), ("middle", "bottom"))
        return class_names(
            align and f"align-{align}",
            vertical and f"at-{vertical}",
            column.get("type") == "number" and "number",
        )

    def _cell(self, column: Data, value: object, cells: dict[str, Fragment]) -> list[Piece]:
        kind = column.get("type")
        if value is None:
            return []
        if isinstance(value, str) and value in cells:
            return list(only_paragraph(cells[value].nodes))
        if kind == "checkbox":
            state = self.labels.done if value is True else self.labels.open
            return [
                open_tag("input", type="checkbox", disabled=True, checked=value is True, aria_label=state)
            ]
        if kind == "rating":
            most = number_of(column.get("max"), 20) or 5
            stars = min(number_of(value, 1000) or 0, most)
            return element(
                "span",
                ["★" * stars, *element("span", ["★" * (most - stars)], class_="off")],
                class_="rating",
                role="img",
                aria_label=f"{stars}/{most}",
            )
        if kind == "select":
            return self._options(column, value)
        if kind in ("files", "image"):
            return self._cell_files(value, kind == "image")
        if kind == "users":
            return self._people(value)
        if kind == "content-ref" and isinstance(value, dict):
            return list(self._reference(value, None))
        if isinstance(value, (bool, str, int, float)):
            return [str(value)]
        return []

    def _options(self, column: Data, value: object) -> list[Piece]:
        out: list[Piece] = []
        for label, color in chosen_options(column, value):
            out += element("span", [label], class_=class_names("tag", color and f"b-{color} c-{color}"))
        return out

    def _cell_files(self, value: object, picture: bool) -> list[Piece]:
        out: list[Piece] = []
        for one in value if isinstance(value, list) else [value]:
            file = one if isinstance(one, dict) else {"kind": "url", "url": one}
            ref = ref_of(file) or file
            if picture:
                shown = {"ref": ref, "alt": file.get("alt")}
                out += self._picture(shown, lazy=True, class_="cell-image", line=_ROW)
            else:
                asset = self._asset(ref)
                if asset is not None:
                    out += element(
                        "a", [asset.name or asset.url], href=safe_url(asset.url), class_="cell-file"
                    )
        return out

    def _people(self, value: object) -> list[Piece]:
        out: list[Piece] = []
        for one in value if isinstance(value, list) else [value]:
            name: str | None = None
            if isinstance(one, dict):
                target = self.context.link(one)
                name = target.title if target else None
            elif isinstance(one, str):
                target = self.context.link({"kind": "user", "user": one})
                name = (target.title if target else None) or one
            if name:
                out += element("span", [name], class_="tag")
        return out

    def _cards(
        self,
        view: Data,
        shown: list[tuple[str, Data]],
        records: list[Data],
        cells: dict[str, Fragment],
        wide: bool,
    ) -> list[Piece]:
        target_column, cover, cover_dark = (
            text_of(view, f) for f in ("targetDefinition", "coverDefinition", "coverDefinitionDark")
        )
        special = {target_column, cover, cover_dark}
        out: list[Piece] = []
        for record in records:
            values = object_of(record, "values")
            text = [(n, c) for n, c in shown if n not in special]
            lines: list[Piece] = []
            words: list[str] = []
            for name, column in text:
                inside = self._cell(column, values.get(name), cells)
                if not inside:
                    continue
                words.append(self._words_of(inside))
                title = text_of(column, "title")
                if title and column.get("type") != "text" and view.get("hideColumnTitle") is not True:
                    inside = [*element("span", [title], class_="card-label"), *inside]
                lines += element("div", inside, class_="card-line")
            picture = self._cover(values, cover, cover_dark)
            link: list[Piece] = []
            leads = values.get(target_column) if target_column else None
            if isinstance(leads, dict):
                target = self.context.link(leads)
                attributes = self._anchor(target)
                if attributes is not None and target is not None:
                    label = next((w for w in words if w), None) or target.title or target.href
                    link = element("a", [], class_="card-link", aria_label=label, **attributes)
            out += element(
                "div",
                [*link, *picture, *(element("div", lines, class_="card-text") if lines else ())],
                class_=class_names("card", bool(link) and "links"),
                role="listitem",
            )
        size = "large" if view.get("cardSize") == "large" else None
        return element("div", out, class_=class_names("cards", size, wide and "wide"), role="list")

    def _cover(self, values: Data, light: str | None, dark: str | None) -> list[Piece]:
        def find_cover(name: str | None) -> Data | None:
            value = values.get(name) if name else None
            if isinstance(value, list):
                value = value[0] if value else None
            if isinstance(value, str):
                return {"ref": {"kind": "url", "url": value}}
            if not isinstance(value, dict):
                return None
            return value if "ref" in value else {"ref": value}

        first, second = find_cover(light), find_cover(dark)
        if first is None:
            return []
        fit = one_of(first.get("objectFit"), ("contain", "fill"))
        data = {**first, "refDark": second.get("ref") if second else None}
        picture = self._picture(data, lazy=True, class_="contain" if fit == "contain" else None)
        return element("div", picture, class_="card-cover") if picture else []
