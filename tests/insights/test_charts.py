"""Tests of the chart page: it shows what the API counts, in charts and tables, and only to members."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from lxml import etree

from octavo.sites.insights.charts import Chart, Series, draw_chart
from world import World

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
HTML = {"accept": "text/html"}


class Site:
    def __init__(self, world: World) -> None:
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
        world.post("admin", f"{self.path}/publish")

    def track(
        self, type: str, times: int = 1, url: str = "https://docs.test/a", hours: int = 0, **more: Any
    ) -> None:
        session = {
            "visitorId": "v",
            "sessionId": "s",
            "cookies": {},
            "userAgent": FIREFOX,
            "language": "en",
            "referrer": None,
        }
        location: dict[str, Any] = dict.fromkeys(("siteSection", "siteShareKey", "space", "revision"))
        location |= {"url": url, "siteSpace": "s", "page": "p"}
        at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
        event = {"type": type, "session": session, "location": location, "timestamp": at, **more}
        answer = self.world.call(
            "nobody", "POST", f"{self.path}/insights/events", json={"events": [event] * times}
        )
        assert answer.status_code == 204, answer.text

    def page(self, who: str = "reader", **query: str) -> Any:
        answer = self.world.call(who, "GET", f"{self.path}/insights/page", params=query, headers=HTML)
        assert answer.status_code == 200, answer.text
        return etree.HTML(answer.text)


@pytest.fixture
def site(world: World) -> Site:
    return Site(world)


def rows(page: Any, title: str) -> list[list[str]]:
    """Return the rows of the table with this caption."""
    table = next(one for one in page.iter("table") if one.find("caption").text == title)
    return [["".join(cell.itertext()) for cell in row] for row in table.find("tbody")]


def test_it_says_what_visitors_did(site: Site) -> None:
    site.track("page_view", 3)
    site.track("page_view", 1, url="https://docs.test/b")
    site.track("search_type_query", 2, query="install")
    site.track("search_type_query", 1, query="<script>alert(1)</script>")
    site.track("search_open_result", 1, query="install", result={"spaceId": "s", "pageId": "p"})
    for rating in ("good", "good", "bad"):
        site.track("page_post_feedback", feedback={"rating": rating})
    site.track(
        "link_click", 2, link={"target": {"kind": "url", "url": "https://example.org/"}, "position": "footer"}
    )
    page = site.page()
    assert rows(page, "Top pages") == [["https://docs.test/a", "3", "1"], ["https://docs.test/b", "1", "1"]]
    assert rows(page, "Top searches") == [["install", "2"], ["<script>alert(1)</script>", "1"]]
    assert rows(page, "Searches without an opened result") == [["<script>alert(1)</script>", "1"]]
    assert not page.xpath("//script")
    assert rows(page, "Link destinations") == [["example.org", "2"]]
    assert sum(int(row[1]) for row in rows(page, "Page views")) == 4
    assert [sum(int(row[n]) for row in rows(page, "Page ratings")) for n in (1, 2, 3)] == [2, 0, 1]
    summaries = {one.find("h2").text: one.find("p").text for one in page.iter("figcaption")}
    assert summaries == {
        "Page views": "4 views in the last 30 days",
        "Searches": "3 searches in the last 30 days",
        "Page ratings": "2 good, 0 ok, 1 bad",
        "Link clicks": "2 clicks in the last 30 days",
    }


@pytest.mark.parametrize(
    ("period", "bars"),
    [
        ("last24Hours", {25}),
        ("last7Days", {8}),
        ("last30Days", {31}),
        ("last3Months", {14}),
        ("lastYear", {13}),
    ],
)
def test_each_interval_of_a_period_has_its_bar(site: Site, period: str, bars: set[int]) -> None:
    site.track("page_view", 2)
    site.track("page_view", 1, hours=23)
    page = site.page(range=period)
    views = rows(page, "Page views")
    assert len(views) in bars and sum(int(row[1]) for row in views) == 3
    assert len({row[0] for row in views}) == len(views)
    chart = page.xpath("//figure")[0]
    assert len(chart.xpath(".//svg/rect")) == len([row for row in views if row[1] != "0"])
    current = [link.get("href") for link in page.xpath("//nav//a[@aria-current]")]
    assert current == [f"?range={period}"]


def test_without_events_it_says_so(site: Site) -> None:
    text = "".join(site.page().itertext())
    for said in ("0 views", "No page views yet.", "No searches yet.", "No link clicks yet."):
        assert said in text


def test_it_is_for_those_who_may_ask_the_api(site: Site) -> None:
    path = f"{site.path}/insights/page"
    assert site.world.call("reader", "GET", path).headers["content-type"].startswith("text/html")
    session = site.world.session("reader")
    answer = site.world.call("nobody", "GET", path, headers={**session, **HTML})
    assert answer.status_code == 200 and "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "private, no-store"
    for who, status, title in (("stranger", 404, "Not found"), ("nobody", 401, "You are not signed in")):
        refused = site.world.call(who, "GET", path, headers=HTML)
        assert refused.status_code == status and f"<h1>{title}</h1>" in refused.text
    assert site.world.call("reader", "GET", path, params={"range": "always"}).status_code == 400


def test_everything_in_a_chart_is_text_and_in_its_table() -> None:
    chart = Chart(
        "A & <b>", 'Some "words"', "Day", ["<i>1</i>", "2"], [Series("views", [1, 3]), Series("more", [1, 0])]
    )
    text = draw_chart(chart)
    drawn = etree.HTML(text)
    assert not drawn.xpath("//b | //i") and 'style="' not in text
    assert rows(drawn, "A & <b>") == [["<i>1</i>", "1", "1"], ["2", "3", "0"]]
    heights = [float(one.get("height")) for one in drawn.xpath("//rect")]
    assert heights == pytest.approx([33.33, 33.33, 100])
    tops = [float(one.get("y")) for one in drawn.xpath("//rect")]
    assert tops == pytest.approx([66.67, 33.33, 0], abs=0.01)
    empty = draw_chart(Chart("None", "", "Day", ["1"], [Series("views", [0])]))
    assert not re.search("<rect", empty)
