"""How much the app loads, and how often it asks for data, until a page can be read and until it can be edited."""

from __future__ import annotations

from typing import Any

import pytest

READING, EDITING = 90_000, 150 * 1024
"""Bytes of scripts and styles as they are sent; the second is in addition to the first."""
REQUESTS = 8
"""Requests for data until a page is shown with all that is around it."""
MARKDOWN = "| a | b |\n| - | - |\n| 1 | 2 |\n\n> Quoted\n\n- [x] done\n- two\n"


class AppTraffic:
    """The requests of a page of the app."""

    def __init__(self, page: Any) -> None:
        self.begun: list[Any] = []
        self.ended: list[Any] = []
        page.on("request", self._begin)
        page.on("requestfinished", self._end)

    def _begin(self, request: Any) -> None:
        self.begun.append(request)

    def _end(self, request: Any) -> None:
        self.ended.append(request)

    def code(self) -> int:
        """Return the bytes of scripts and styles."""
        kinds = ("script", "stylesheet")
        return sum(one.sizes()["responseBodySize"] for one in self.ended if one.resource_type in kinds)

    def data(self) -> list[str]:
        kinds = ("fetch", "xhr", "eventsource")
        return [f"{one.method} {one.url}" for one in self.begun if one.resource_type in kinds]


@pytest.fixture(scope="module")
def address(app) -> str:
    space = app.create_space("Weight")
    change = {"operation": "insert_page", "title": "Read me", "document": {"markdown": MARKDOWN}}
    app.call("POST", f"/spaces/{space}/content", {"changes": [change]})
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Weight", "spaces": [space]})["id"]
    app.call("POST", f"{sites}/{site}/publish")
    return f"{app.url}/s/{space}/read-me"


def test_reading_and_editing_load_little(app, address):
    context = app.browser.new_context(
        storage_state=app.state, viewport={"width": 1440, "height": 900}, service_workers="block"
    )
    page = app.watch(context)
    read = AppTraffic(page)
    page.goto(address)
    page.get_by_role("complementary", name="About this page").get_by_text("Words").wait_for()
    page.get_by_role("treeitem", name="Read me").wait_for()
    with page.expect_response(lambda answer: "/presence/" in answer.url):
        pass
    page.wait_for_timeout(500)
    assert 0 < len(read.data()) <= REQUESTS, read.data()
    before = read.code()
    assert 0 < before <= READING
    with page.expect_response(lambda answer: "/steps" in answer.url or answer.url.endswith("/live")):
        page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Page content").wait_for()
    page.wait_for_timeout(500)
    assert 0 < read.code() - before <= EDITING
    context.close()
