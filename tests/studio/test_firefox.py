"""The app in the system's Firefox: from signing in to a merged page, by role and name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from firefox import Firefox, firefox
from octavo.delivery.studio.serving import find_missing
from serving import Administrator, Served, serving_new
from settled import until
from tools import absent

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
BEFORE = """The runtime writes into the same table.

* a list with stars
* that keeps them

| Name | Use   |
| ---- | ----- |
| a    | first |
"""
AFTER = """# Page

The runtime writes into the same table. Firefox: “ü” and 𝄞.

## Steps

* one
* two

| cell |     |     |
| ---- | --- | --- |
|      |     |     |
|      |     |     |

* a list with stars
* that keeps them

| Name | Use   |
| ---- | ----- |
| a    | first |
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    missing = find_missing()
    if missing is not None:
        absent(missing)
    folder = tmp_path_factory.mktemp("firefox") / "data"
    with serving_new(folder, OCTAVO_ADMIN_EMAIL="ines.okafor@example.com") as found:
        yield found


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Firefox]:
    with firefox(tmp_path / "profile") as found:
        yield found


def _words(admin: Administrator, path: str, page: str) -> str:
    return str(admin.call("GET", f"{path}/content/page/{page}?format=markdown")["markdown"])


def test_a_page_is_read_edited_reviewed_and_merged(served: Served, window: Firefox) -> None:
    admin = Administrator(served)
    space = admin.create_space("Outbox")
    admin.merge_page(space, BEFORE)
    first = re.search(r"^Open +(\S+)$", served.output.read_text(), re.M)
    assert first is not None
    window.open(first[1])
    window.wait("button", "Finish setup")
    window.click_at(window.select("input[type=password]"))
    window.type(PASSWORD)
    window.click("button", "Finish setup")
    window.wait("navigation", "Main")

    # Signed out, asked, and back where they were going.
    window.forget_cookies()
    window.open(f"{served.url}/s/{space}/page")
    window.click("textbox", "Email address")
    window.type("ines.okafor@example.com")
    window.click_at(window.select("input[type=password]"))
    window.type(PASSWORD)
    window.press("Enter")
    window.wait("heading", "Page")
    assert window.address == f"{served.url}/s/{space}/page"
    window.wait("treeitem", "Page")

    window.press("e")
    body = window.wait("textbox", "Page content")
    until(lambda: window.call("node => node.isContentEditable", body))
    window.click_at(window.select("[aria-label='Page content'] p"))
    window.press("End")
    window.type(" Firefox: “ü” and 𝄞.")
    window.press("Enter")
    window.type("## Steps")
    window.press("Enter")
    window.type("- one")
    window.press("Enter")
    window.type("two")
    window.press("Enter", "Enter")
    window.type("/")
    window.wait("listbox", "Insert")
    window.type("table")
    window.press("Enter")
    window.type("cell")
    window.wait_for_text("status", "Saved")
    (change,) = admin.call("GET", f"/spaces/{space}/change-requests?status=draft")["items"]
    path = f"/spaces/{space}/change-requests/{change['number']}"
    page = admin.call("GET", f"{path}/content/pages")["pages"][0]["id"]
    until(lambda: _words(admin, path, page) == AFTER)
    window.click("button", "Request review")
    window.wait("dialog", "Request review")
    window.click_at(window.select("dialog[open] button[type=submit]"))
    until(lambda: admin.call("GET", path)["status"] == "open")
    window.open(f"{served.url}/s/{space}/~/changes/{change['number']}/~/review")
    window.click("button", "Merge")
    until(lambda: admin.call("GET", path)["status"] == "merged")
    assert _words(admin, f"/spaces/{space}", page) == AFTER
    window.wait("heading", "Page")
    assert window.errors == []
