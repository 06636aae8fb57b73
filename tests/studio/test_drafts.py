"""Drafts that receive an edit, review requests, and confirmations before a merge."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from settled import until

from .conftest import App

pytestmark = pytest.mark.slow


def _numbers(app: App, space: str) -> list[int]:
    found = app.call("GET", f"/spaces/{space}/change-requests?status=draft")["items"]
    return [one["number"] for one in found]


def _page(app: App, space: str, title: str) -> str:
    pages = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    return str(next(page["id"] for page in pages if page["title"] == title))


def test_editing_starts_immediately_and_leaves_no_empty_draft(app: App) -> None:
    space = app.fill_space("At once", ["Start", "Other"])
    page = app.open(f"/s/{space}/start")
    page.get_by_role("heading", name="Start", level=1).wait_for()
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Page content").wait_for()
    expect(page.get_by_role("textbox", name="Subject")).to_have_value("Edit Start")
    assert _numbers(app, space) == [1]
    page.go_back()
    page.get_by_role("button", name="Edit").wait_for()
    until(lambda: not _numbers(app, space))
    page.context.close()


def test_edit_offers_drafts_of_the_page_by_keyboard(app: App) -> None:
    space = app.fill_space("Drafts", ["Start", "Other"])
    start = _page(app, space, "Start")
    mei = app.colleague("Mei", "review")
    numbers = []
    for client, subject in ((mei, "Samples"), (app.client, "Fix install steps")):
        made = client.post(f"/spaces/{space}/change-requests", json={"subject": subject}).json()["number"]
        change = {"operation": "update_page", "page": start, "document": {"markdown": f"{subject}."}}
        done = client.post(f"/spaces/{space}/change-requests/{made}/content", json={"changes": [change]})
        assert done.is_success, done.text
        numbers.append(made)
    theirs, mine = numbers
    page = app.open(f"/s/{space}/start")
    page.get_by_text(re.compile(rf"#{mine}, ?#{theirs} *edit this page")).wait_for()
    page.keyboard.press("e")
    menu = page.get_by_role("menu", name="Choose where to edit Start")
    expect(menu.get_by_role("menuitem").locator(".cut")).to_have_text(
        [
            f"Continue #{mine} Fix install steps",
            f"Join Mei in #{theirs}",
            "Start a new change request",
            "Edit directly",
        ]
    )
    page.keyboard.press("e")
    page.wait_for_url(f"**/~/changes/{mine}/start")
    page.get_by_role("textbox", name="Page content").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Start", level=1).wait_for()
    page.get_by_role("button", name="Edit").click()
    menu.wait_for()
    page.keyboard.press("Shift+E")
    page.wait_for_url(f"**/s/{space}/~/edit/start")
    expect(page.get_by_role("textbox", name="Page content")).to_be_focused()
    page.keyboard.type("Directly. ")
    page.get_by_role("link", name="Done").click()
    page.wait_for_url(f"**/s/{space}/start")
    words = app.call("GET", f"/spaces/{space}/content/page/{start}?format=markdown")["markdown"]
    assert "\n\nDirectly." in words
    page.context.close()


def test_review_requests_suggest_reviewers_and_name_former_members(app: App) -> None:
    space = app.fill_space("Asked", ["Start"])
    start = _page(app, space, "Start")
    ravi = app.colleague("Ravi", "review")
    number = ravi.post(f"/spaces/{space}/change-requests", json={"subject": "Theirs"}).json()["number"]
    path = f"/spaces/{space}/change-requests"
    change = {"operation": "update_page", "page": start, "document": {"markdown": "Theirs."}}
    ravi.post(f"{path}/{number}/content", json={"changes": [change]})
    app.call("POST", f"{path}/{number}/merge")
    mine = app.call("POST", path, {"subject": "Mine"})["number"]
    app.call("POST", f"{path}/{mine}/content", {"changes": [{**change, "document": {"markdown": "Mine."}}]})
    page = app.open(f"/s/{space}/~/changes/{mine}/start")
    page.get_by_role("textbox", name="Page content").wait_for()
    page.get_by_role("button", name="Request review").click()
    dialog = page.get_by_role("dialog", name="Request review")
    dialog.get_by_text("Edited 1 of the changed pages").wait_for()
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("textbox", name="Note").fill("Please look.")
    user = ravi.get("/user").json()["id"]
    app.call("DELETE", f"/orgs/{app.organization}/members/{user}")
    dialog.get_by_role("button", name="Request review").click()
    dialog.get_by_role("alert").filter(has_text="Ravi").wait_for()
    expect(dialog.get_by_role("textbox", name="Note")).to_have_value("Please look.")
    dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("button", name="Request review").click()
    page.get_by_text(f"#{mine} is ready for review").wait_for()
    assert app.call("GET", f"{path}/{mine}")["status"] == "open"
    assert app.call("GET", f"{path}/{mine}/comments")["count"] == 1
    page.context.close()


def test_merging_asks_for_confirmation_once_if_a_rule_is_not_met(app: App) -> None:
    space = app.fill_space("Against", ["Start"])
    start = _page(app, space, "Start")
    path = f"/spaces/{space}/change-requests"
    number = app.call("POST", path, {"subject": "Fix install steps"})["number"]
    change = {"operation": "update_page", "page": start, "document": {"markdown": "Fixed."}}
    app.call("POST", f"{path}/{number}/content", {"changes": [change]})
    app.call("POST", f"{path}/{number}/comments", {"body": {"markdown": "Why?"}})
    page = app.open(f"/s/{space}/~/changes/{number}/start")
    page.get_by_role("textbox", name="Page content").wait_for()
    page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge anyway?")
    dialog.get_by_text("1 open thread").wait_for()
    dialog.get_by_role("button", name="Merge anyway").click()
    page.wait_for_url(f"**/s/{space}/start")
    page.goto(f"{app.url}/s/{space}/~/history")
    revisions = page.get_by_role("list", name="Revisions")
    revisions.get_by_text(f"Merged #{number} Fix install steps").wait_for()
    revisions.get_by_text("Edited Start").wait_for()
    page.get_by_role("button", name="Compare revisions").click()
    revisions.get_by_role("link").last.press("Enter")
    page.get_by_role("heading", name=re.compile(r"^Revision \d+ to \d+")).wait_for()
    page.context.close()
