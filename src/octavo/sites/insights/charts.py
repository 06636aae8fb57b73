"""Charts and tables as HTML without scripts. Every chart is accompanied by a table with the same data."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

_HEIGHT = 100
_GAP = 0.2
"""Share of its width that a bar leaves empty."""


class Series(Struct, frozen=True):
    """One number per bar. ``name`` is also a class name in the style sheet."""

    name: str
    values: Sequence[int]


class Chart(Struct, frozen=True):
    """Bar chart with stacked series. ``labels``: of the bars, in order. ``summary``: what the chart shows, in words."""

    title: str
    summary: str
    unit: str
    labels: Sequence[str]
    series: Sequence[Series]


class TableCard(Struct, frozen=True):
    """Table. ``empty``: text shown if there are no rows."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    empty: str


def draw_chart(chart: Chart) -> str:
    totals = [sum(values) for values in zip(*(one.values for one in chart.series), strict=True)]
    most = max(totals, default=0)
    bars = []
    for at in range(len(totals)):
        top = float(_HEIGHT)
        for n, one in enumerate(chart.series):
            height = _HEIGHT * one.values[at] / most if most else 0
            top -= height
            if height:
                bars.append(
                    f'<rect class="bar bar-{n}" x="{at + _GAP / 2:g}" y="{top:.2f}" width="{1 - _GAP:g}" '
                    f'height="{height:.2f}"/>'
                )
    names = "".join(
        f'<li><span class="key key-{n}"></span>{escape(one.name)}</li>' for n, one in enumerate(chart.series)
    )
    headings = (chart.unit, *(one.name for one in chart.series))
    rows = [(label, *(one.values[at] for one in chart.series)) for at, label in enumerate(chart.labels)]
    return (
        f'<figure class="card"><figcaption><h2>{escape(chart.title)}</h2><p>{escape(chart.summary)}</p></figcaption>'
        f'<div class="plot"><span class="most" aria-hidden="true">{most}</span>'
        f'<svg role="img" aria-label="{escape(f"{chart.title}. {chart.summary}")}" '
        f'viewBox="0 0 {max(len(totals), 1)} {_HEIGHT}" preserveAspectRatio="none">{"".join(bars)}</svg>'
        f'<div class="axis" aria-hidden="true"><span>{escape(chart.labels[0])}</span>'
        f"<span>{escape(chart.labels[-1])}</span></div></div>"
        f'{f"""<ul class="keys">{names}</ul>""" if len(chart.series) > 1 else ""}'
        f'<details><summary>As a table<span class="unseen">: {escape(chart.title)}</span></summary>'
        f"{_draw_rows(headings, rows, chart.title)}</details></figure>"
    )


def draw_table(table: TableCard) -> str:
    body = (
        _draw_rows(table.headings, table.rows, table.title) if table.rows else f"<p>{escape(table.empty)}</p>"
    )
    return f'<section class="card"><h2>{escape(table.title)}</h2>{body}</section>'


def _draw_rows(headings: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> str:
    head = "".join(
        f'<th scope="col"{" class=number" if n else ""}>{escape(one)}</th>' for n, one in enumerate(headings)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        f"{''.join(f'<td class=number>{escape(str(cell))}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(caption)}"><table>'
        f'<caption class="unseen">{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
