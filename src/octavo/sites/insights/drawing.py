"""Insights of a site as an HTML page, drawn from the same data as the API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from importlib.resources import files
from typing import Any

from msgspec import UNSET

from octavo.core.url_parts import host_of
from octavo.kit.clock import iso, milliseconds, now
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess

from .charts import Chart, Series, TableCard, draw_chart, draw_table
from .querying import aggregate
from .questions import Aggregate, Column, Filter, Order, Preset

CHARTS_POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page can load only style sheets of this server."""

PERIODS: dict[Preset, tuple[str, str, int]] = {
    "last24Hours": ("24 hours", "hour", 24),
    "last7Days": ("7 days", "day", 7),
    "last30Days": ("30 days", "day", 30),
    "last3Months": ("3 months", "week", 91),
    "lastYear": ("year", "month", 365),
}
"""For each period: its name, the interval of a bar, and its length in hours or days."""
_TOP = 10
_MOST = 1000
_RATINGS = ("good", "ok", "bad")


class InsightsPage:
    """Insights of one site, published at ``address``, for one period."""

    def __init__(self, tx: Transaction, site: SiteAccess, address: str, period: Preset) -> None:
        self._tx = tx
        self._site = site
        self._address = address.rstrip("/")
        self._period = period
        self._interval = PERIODS[period][1]
        self._bars = list(_intervals(period))

    def _query(
        self,
        types: Sequence[str],
        columns: Sequence[str],
        by: Column,
        where: Sequence[Filter] = (),
        limit: int = _MOST,
    ) -> list[list[Any]]:
        """Return rows of the group and the columns, highest first, or in any order when grouped by time."""
        selected = [Column(name) for name in columns]  # type: ignore[arg-type]
        asked = Aggregate(
            range=self._period,
            select=selected,
            where=[Filter("eventType", list(types)), *where],
            group_by=[by],
            order=Order(selected[0], "desc") if by.column != "datetime" else UNSET,
            limit=limit,
        )
        answered = aggregate(self._tx, self._site, host_of(self._address), asked).columns
        return [list(row) for row in zip(*(one.values for one in answered), strict=True)]

    def _over_time(self, types: Sequence[str], columns: Sequence[str]) -> list[list[Any]]:
        """Return the values of the columns for each bar; None for intervals without events."""
        by = Column("datetime", interval=self._interval)  # type: ignore[arg-type]
        found = {row[0]: row[1:] for row in self._query(types, columns, by)}
        return [found.get(iso(milliseconds(start)), [None] * len(columns)) for start in self._bars]

    def _labels(self) -> list[str]:
        form = {"hour": "%d %b, %H:%M", "month": "%B %Y"}.get(self._interval, "%d %b %Y")
        return [start.strftime(form).removeprefix("0") for start in self._bars]

    def chart(self, title: str, types: Sequence[str], one: str, many: str) -> Chart:
        """Return a chart of the number of events over time."""
        values = [row[0] or 0 for row in self._over_time(types, ["eventsCount"])]
        total = sum(values)
        summary = f"{total} {one if total == 1 else many} in the last {PERIODS[self._period][0]}"
        return Chart(title, summary, self._interval.capitalize(), self._labels(), [Series(many, values)])

    def ratings(self) -> Chart:
        rows = [row[0] or {} for row in self._over_time(["page_post_feedback"], ["pageFeedbackRating"])]
        series = [Series(name, [row.get(name, 0) for row in rows]) for name in _RATINGS]
        said = ", ".join(f"{sum(one.values)} {one.name}" for one in series)
        return Chart("Page ratings", said, self._interval.capitalize(), self._labels(), series)

    def pages(self) -> TableCard:
        found = self._query(["page_view"], ["eventsCount", "visitorsCount"], Column("url"), limit=_TOP)
        rows = [[url.removeprefix(self._address) or "/", *rest] for url, *rest in found]
        return TableCard("Top pages", ("Page", "Views", "Visitors"), rows, "No page views yet.")

    def searches(self) -> TableCard:
        found = self._query(["search_type_query"], ["eventsCount"], Column("eventSearchQuery"), limit=_TOP)
        return TableCard("Top searches", ("Query", "Searches"), found, "No searches yet.")

    def searches_without_result(self) -> TableCard:
        """Return searches after which no result was opened: words that readers use and pages do not."""
        by = Column("eventSearchQuery")
        opened = [row[0] for row in self._query(["search_open_result"], ["eventsCount"], by)]
        rest = [Filter("eventSearchQuery", opened, "notIn")] if opened else []
        found = self._query(["search_type_query"], ["eventsCount"], by, rest, _TOP)
        return TableCard(
            "Searches without an opened result",
            ("Query", "Searches"),
            found,
            "Every search led to an opened result.",
        )

    def links(self) -> TableCard:
        found = self._query(["link_click"], ["eventsCount"], Column("eventLinkTargetDomain"), limit=_TOP)
        rows = [[domain or "this site", *rest] for domain, *rest in found]
        return TableCard("Link destinations", ("Host", "Clicks"), rows, "No link clicks yet.")


def _intervals(period: Preset) -> Iterator[datetime]:
    """Yield the start of each interval of a period, as events are grouped by it."""
    _, interval, length = PERIODS[period]
    until = datetime.fromtimestamp(now() / 1000, UTC)
    start = until - (timedelta(hours=length) if interval == "hour" else timedelta(days=length))
    start = start.replace(minute=0, second=0, microsecond=0)
    if interval != "hour":
        start = start.replace(hour=0)
    if interval == "week":
        start -= timedelta(days=start.weekday())
    elif interval == "month":
        start = start.replace(day=1)
    while start <= until:
        yield start
        if interval == "month":
            start = (start + timedelta(days=31)).replace(day=1)
        else:
            start += {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}[
                interval
            ]


def read_style() -> bytes:
    """Return the style sheet of the page, used in addition to that of the portal."""
    return (files(__package__) / "static" / "charts.css").read_bytes()


def draw_insights(tx: Transaction, site: SiteAccess, title: str, address: str, period: Preset) -> bytes:
    """Return the insights page. ``address``: URL of the site."""
    insights = InsightsPage(tx, site, address, period)
    periods = "".join(
        f'<li><a href="?range={name}"{" aria-current=true" if name == period else ""}>{words[0].capitalize()}</a></li>'
        for name, words in PERIODS.items()
    )
    parts = [
        draw_chart(insights.chart("Page views", ["page_view"], "view", "views")),
        draw_chart(insights.chart("Searches", ["search_type_query"], "search", "searches")),
        draw_chart(insights.ratings()),
        draw_chart(insights.chart("Link clicks", ["link_click"], "click", "clicks")),
        draw_table(insights.pages()),
        draw_table(insights.searches()),
        draw_table(insights.searches_without_result()),
        draw_table(insights.links()),
    ]
    name = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Insights of {name} · Octavo</title>\n"
        '<link rel="stylesheet" href="/portal.css">\n<link rel="stylesheet" href="/charts.css">\n</head>\n'
        f'<body class="wide">\n<main>\n<header><h1>Insights</h1><p><a href="{escape(address)}">{name}</a>'
        " <small>Times are in UTC. Bots are not included.</small></p></header>\n"
        f'<nav aria-label="Period"><ul>{periods}</ul></nav>\n'
        f'<div class="charts">{"".join(parts)}</div>\n</main>\n</body>\n</html>\n'
    ).encode()
