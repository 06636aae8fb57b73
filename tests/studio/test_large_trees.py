"""The tree of a large space: only visible parts are requested."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from serving import octavo_here
from settled import until

PAGES = 3000
BESIDE = 60 * 1024
"""Bytes that opening a page sends beside its document, as they are sent."""


@pytest.fixture(scope="module")
def space(app: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create a space with all its pages on one level, under one page."""
    folder = tmp_path_factory.mktemp("large")
    lines = ["# Contents", "", "* [All](all.md)"]
    (folder / "all.md").write_text("# All\n")
    for n in range(PAGES):
        (folder / f"p{n}.md").write_text(f"# Page {n}\n")
        lines.append(f"  * [Page {n}](p{n}.md)")
    (folder / "SUMMARY.md").write_text("\n".join(lines))
    made = octavo_here(
        *("import", str(folder), "--title", "Large", "--quiet"),
        OCTAVO_DATA=str(app.served.data),
        OCTAVO_URL=app.url,
        **app.settings,
    )
    assert made.returncode == 0, made.stderr
    spaces = app.call("GET", f"/orgs/{app.organization}/spaces?limit=1000")["items"]
    return next(one["id"] for one in spaces if one["title"] == "Large")


class Asked:
    """The API requests of a page."""

    def __init__(self, page: Any) -> None:
        self.sent = 0
        self._addresses: dict[str, str] = {}
        self._tree: list[str] = []
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.responseReceived", self._began)
        session.on("Network.loadingFinished", self._ended)

    def _began(self, event: dict[str, Any]) -> None:
        address = event["response"]["url"].partition("/v1/")[2]
        if address:
            self._addresses[event["requestId"]] = address
        if any(part in address for part in ("/children?", "/way?", "/way", "/content/pages")):
            self._tree.append(address)

    def _ended(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._addresses:
            self.sent += event["encodedDataLength"]

    def tree(self) -> list[str]:
        """Return the tree requests since the last call."""
        found, self._tree = self._tree, []
        return found


def row(page: Any, title: str) -> Any:
    return page.get_by_role("tree", name="Pages").get_by_role("treeitem", name=title, exact=True)


@pytest.mark.slow
def test_opening_a_page_loads_little_and_shows_its_position(app: Any, space: str) -> None:
    page = app.open("/")
    asked = Asked(page)
    page.goto(f"{app.url}/s/{space}/all/p1500")
    current = row(page, "Page 1500")
    expect(current).to_have_attribute("aria-current", "page")
    expect(current).to_have_attribute("aria-posinset", "1501")
    expect(current).to_have_attribute("aria-setsize", str(PAGES))
    expect(current).to_be_in_viewport()
    expect(page.get_by_role("navigation", name="Path")).to_contain_text("All")
    page.wait_for_load_state("networkidle")
    assert 0 < asked.sent < BESIDE
    assert len(asked.tree()) <= 4
    until(lambda: page.get_by_role("treeitem").count() < 100)

    # Distant parts are requested when the person scrolls there, and nothing in between.
    page.get_by_role("tree", name="Pages").focus()
    page.keyboard.press("End")
    last = row(page, f"Page {PAGES - 1}")
    expect(last).to_have_attribute("aria-selected", "true")
    expect(last).to_be_in_viewport()
    page.wait_for_load_state("networkidle")
    assert len(asked.tree()) <= 2
    page.keyboard.press("Home")
    expect(row(page, "All")).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    expect(row(page, "Page 0")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("a")
    expect(row(page, "All")).to_have_attribute("aria-selected", "true")
    # Beyond the part that was requested first.
    page.keyboard.press("ArrowDown")
    for n in range(15, 120, 15):
        page.keyboard.press("PageDown")
        expect(row(page, f"Page {n}")).to_have_attribute("aria-selected", "true")
    for n in range(104, 99, -1):
        page.keyboard.press("ArrowUp")
        expect(row(page, f"Page {n}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Page 100", level=1)).to_be_visible()
    page.context.close()


@pytest.mark.slow
def test_own_and_foreign_changes_appear_in_the_visible_part(app: Any, space: str) -> None:
    app.call("PATCH", f"/spaces/{space}", {"editMode": "live"})
    page = app.open(f"/s/{space}/all/p2000")
    expect(row(page, "Page 2000")).to_have_attribute("aria-posinset", "2001")
    page.wait_for_load_state("networkidle")
    tree = page.get_by_role("tree", name="Pages")
    tree.focus()
    page.keyboard.press("Alt+Shift+ArrowUp")
    page.get_by_text("Moved “Page 2000”").wait_for()
    expect(row(page, "Page 2000")).to_have_attribute("aria-posinset", "2000")
    expect(row(page, "Page 1999")).to_have_attribute("aria-posinset", "2001")
    page.keyboard.press("F2")
    expect(page.get_by_role("textbox", name="Page title")).to_be_focused()
    page.keyboard.type("Two thousand")
    page.keyboard.press("Enter")
    expect(row(page, "Two thousand")).to_have_attribute("aria-posinset", "2000")
    page.get_by_text("Renamed “Page 2000” to “Two thousand”").wait_for()
    assert app.call("GET", f"/spaces/{space}/content/path/all%2Fp2000?pages=false")["title"] == "Two thousand"

    other = app.call("GET", f"/spaces/{space}/content/path/all%2Fp2002?pages=false")["id"]
    ravi = app.colleague("Ravi")
    change = {"operation": "delete_page", "page": other}
    assert ravi.post(f"/spaces/{space}/content", json={"changes": [change]}).is_success
    expect(row(page, "Page 2002")).to_have_count(0)
    expect(row(page, "Page 2003")).to_have_attribute("aria-posinset", "2003")
    expect(row(page, "Two thousand")).to_have_attribute("aria-setsize", str(PAGES - 1))
    page.context.close()
