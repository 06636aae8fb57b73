"""Change requests reviewed and conflicts settled in a real browser, by pointer and by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from settled import until

from .conftest import App

pytestmark = pytest.mark.slow

BEFORE = """The runtime writes the message into the same table.

The outbox cannot be turned off.

Untouched one.

Untouched two.

Untouched three.

| Name | Use    |
| ---- | ------ |
| a    | first  |
| b    | second |
"""


def _change(app: App, space: str, subject: str, *changes: dict[str, Any]) -> str:
    """Create a change request with these changes, and return its path."""
    path = f"/spaces/{space}/change-requests"
    made = f"{path}/{app.call('POST', path, {'subject': subject})['number']}"
    app.call("POST", f"{made}/content", {"changes": list(changes)})
    return made


def _fill(app: App) -> tuple[str, str]:
    """Create a space with one page, and return the id of the page."""
    space = app.create_space("Outbox")
    page = {"operation": "insert_page", "title": "Outbox", "document": {"markdown": BEFORE}}
    app.call("POST", f"{_change(app, space, 'Begin', page)}/merge")
    return space, app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]


def _edit(page: str, markdown: str, **fields: Any) -> dict[str, Any]:
    return {"operation": "update_page", "page": page, "document": {"markdown": markdown}, **fields}


def _words(app: App, space: str, page: str) -> str:
    return str(app.call("GET", f"/spaces/{space}/content/page/{page}?format=markdown")["markdown"])


def test_changed_words_are_highlighted_in_the_page(app: App) -> None:
    space, page = _fill(app)
    after = BEFORE.replace("same table", "same transaction").replace("| b    | second |", "| b    | other |")
    after = after.replace("The outbox cannot be turned off.\n\n", "") + "\nLast words.\n"
    new = {"operation": "insert_page", "title": "New", "document": {"markdown": "New words.\n"}}
    change = _change(app, space, "Batches", _edit(page, after), new)
    app.call("PATCH", change, {"status": "open"})
    number = change.rpartition("/")[2]
    shown = app.open(f"/s/{space}/~/changes/{number}/~/review/outbox")

    expect(shown.get_by_role("heading", name="Outbox", level=1)).to_be_visible()
    expect(shown.locator("main ins")).to_have_text(["transaction", "other", "Last words."])
    expect(shown.locator("main del")).to_have_text(["table", "The outbox cannot be turned off.", "second"])
    expect(shown.get_by_text("Untouched two.")).to_have_count(0)
    shown.get_by_role("button", name="3 blocks unchanged").click()
    expect(shown.get_by_text("Untouched two.")).to_be_visible()

    shown.keyboard.press("j")
    expect(shown.get_by_text("change 1 of 4")).to_be_visible()
    shown.keyboard.press("c")
    shown.get_by_role("textbox", name="Write a comment").fill("Does this hold everywhere?")
    shown.get_by_role("button", name="Post").click()
    thread = shown.get_by_role("main").get_by_role("article")
    expect(thread).to_contain_text("Does this hold everywhere?")
    said = app.call("GET", f"{change}/comments")["items"][0]
    assert said["target"]["page"]["id"] == page
    assert said["target"]["node"]["id"]
    thread.get_by_role("textbox", name="Reply").fill("It does.")
    thread.get_by_role("button", name="Post").click()
    expect(thread).to_contain_text("It does.")
    thread.get_by_role("button", name="Resolve").click()
    expect(thread).to_have_count(0)
    until(lambda: app.call("GET", f"{change}/comments?status=resolved")["count"] == 1)

    shown.locator("main").focus()
    shown.keyboard.press("v")
    expect(shown.get_by_role("heading", name="New", level=1)).to_be_visible()
    mark = shown.get_by_role("checkbox", name="Viewed: Outbox")
    expect(mark).to_be_checked()
    expect(shown.get_by_text("1 of 2 viewed")).to_be_visible()
    # It is removed when the page changes again, and the mark of the other page doesn't appear.
    app.call("POST", f"{change}/content", {"changes": [_edit(page, f"{after}\nMore.\n")]})
    shown.reload()
    expect(mark).not_to_be_checked()
    shown.context.close()


def test_pages_keep_their_direction_in_a_right_to_left_interface(app: App) -> None:
    space, page = _fill(app)
    change = _change(app, space, "Batches", _edit(page, BEFORE.replace("same table", "same transaction")))
    number = change.rpartition("/")[2]
    shown = app.open(f"/s/{space}/~/changes/{number}/~/review/outbox", locale="ar")
    text = shown.get_by_text("The runtime writes the message").first
    expect(text).to_be_visible()
    expect(text).to_have_css("direction", "ltr")
    expect(shown.locator("html")).to_have_attribute("dir", "rtl")


def test_a_new_page_without_text_shows_a_note(app: App) -> None:
    """And the button to the next page stays within the sheet, however long the title of that is."""
    space, _ = _fill(app)
    empty = {"operation": "insert_page", "document": {"markdown": ""}}
    title = "دليل" * 125
    change = _change(app, space, "Begun", {**empty, "title": "Begun"}, {**empty, "title": title})
    shown = app.open(f"/s/{space}/~/changes/{change.rpartition('/')[2]}/~/review/begun")
    expect(shown.get_by_role("main").get_by_text("This page has no text.")).to_be_visible()
    following = shown.get_by_role("button", name=f"Next: {title}")
    until(lambda: following.bounding_box()["width"] <= 736)
    shown.context.close()


def test_conflicts_are_resolved_undone_and_merged(app: App) -> None:
    space, page = _fill(app)
    mine = BEFORE.replace("cannot", "can never").replace("first ", "mine").replace("same table", "own table")
    theirs = (
        BEFORE.replace("cannot", "must not").replace("first ", "theirs").replace("same table", "new table")
    )
    change = _change(app, space, "Mine", _edit(page, mine, description="Words of mine."))
    app.call("POST", f"{_change(app, space, 'Theirs', _edit(page, theirs, description='Theirs.'))}/merge")
    assert app.call("POST", f"{change}/update")["result"] == "conflicts"
    number = change.rpartition("/")[2]
    shown = app.open(f"/s/{space}/~/changes/{number}/~/conflicts")

    cards = shown.get_by_role("main").get_by_role("region", name=re.compile(r"Conflict \d of 4"))
    expect(cards).to_have_count(4)
    expect(shown.get_by_role("button", name="Merge · 4 left")).to_have_attribute("aria-disabled", "true")
    description = shown.get_by_role("region", name=re.compile("Description"))
    description.get_by_role("button", name="Keep theirs").click()
    expect(description).to_contain_text("You kept theirs")
    expect(shown.get_by_role("button", name="Merge · 3 left")).to_be_visible()
    # The server knows at once, and so does another browser.
    assert app.call("GET", f"{change}/conflicts")["count"] == 3
    shown.reload()
    expect(description).to_contain_text("You kept theirs")
    description.get_by_role("button", name="Undo").click()
    expect(shown.get_by_role("button", name="Merge · 4 left")).to_be_visible()
    expect(description.get_by_role("button", name="Keep mine")).to_be_visible()
    description.get_by_role("button", name="Edit result").click()
    description.get_by_role("textbox", name="Result").fill("Words of both.")
    description.get_by_role("button", name="Use this version").click()
    off = shown.get_by_role("region", name=re.compile("can never"))
    off.get_by_role("button", name="Keep both").click()
    # The two remaining ones, by keyboard: the next unresolved one is selected.
    for key in ("3", "ControlOrMeta+Enter"):
        shown.keyboard.press(key)
    expect(shown.get_by_role("button", name="Merge · 1 left")).to_be_visible()
    for key in ("2", "ControlOrMeta+Enter"):
        shown.keyboard.press(key)
    shown.get_by_role("button", name="Merge", exact=True).click()
    expect(shown.get_by_text("Merged “Mine”")).to_be_visible()

    assert app.call("GET", change)["status"] == "merged"
    merged = app.call("GET", f"/spaces/{space}/content/page/{page}?format=markdown")
    assert merged["description"] == "Words of both."
    words = _words(app, space, page)
    assert "The outbox can never be turned off.\n\nThe outbox must not be turned off." in words
    assert ("own table" in words) != ("new table" in words)
    shown.context.close()


def test_merge_blockers_have_an_action(app: App) -> None:
    space, page = _fill(app)
    change = _change(app, space, "", _edit(page, BEFORE + "\nMore.\n"))
    rules = (
        "require_change_request_subject",
        "require_change_request_description",
        "require_at_least_one_review",
    )
    kept = {"type": "rules", "rules": [{"rule": rule} for rule in rules]}
    app.call("PATCH", f"/spaces/{space}", {"mergeRules": kept})
    number = change.rpartition("/")[2]
    shown = app.open(f"/s/{space}/~/changes/{number}/~/review/outbox")
    stop = shown.get_by_role("status").filter(has_text="Can't be merged yet")
    expect(stop).to_contain_text("The latest version hasn't been reviewed yet.")
    stop.get_by_role("button", name="Add subject").click()
    expect(shown.get_by_role("textbox", name="Subject")).to_be_focused()
    shown.keyboard.type("Ready")
    shown.keyboard.press("Enter")
    expect(stop).not_to_contain_text("Add a subject.")
    stop.get_by_role("button", name="Add description").click()
    shown.get_by_label("Description", exact=True).fill("Why it is better.")
    shown.get_by_role("button", name="Save", exact=True).click()
    expect(stop).not_to_contain_text("Add a description.")
    until(lambda: app.call("GET", change)["subject"] == "Ready")

    # The same rules are tried where they are set.
    shown = app.open(f"/s/{space}/~/settings/merging")
    tester = shown.get_by_role("region", name="Test rules")
    tester.get_by_role("button", name="Test", exact=True).click()
    expect(tester.get_by_role("status")).to_contain_text("This change request can't be merged yet.")
    tester.get_by_label("Number of approvals").fill("1")
    tester.get_by_role("button", name="Test", exact=True).click()
    expect(tester.get_by_role("status")).to_contain_text("This change request can be merged.")
    tester.get_by_role("radio", name="Use an existing change request").check()
    tester.get_by_label("Change request number or link").fill(f"/s/{space}/~/changes/{number}")
    tester.get_by_role("button", name="Test", exact=True).click()
    expect(tester.get_by_role("status")).to_contain_text("The latest version hasn't been reviewed yet.")
