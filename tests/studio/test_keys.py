"""Keyboard shortcuts in the app: accidental typing changes no shared content."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

OWN = ("/seen", "/presence", "/user/", "/views", "/ping", "/~batch", "/events/aggregate")
"""Paths of data that only the person who presses a key sees, and of requests that only read."""


def draft(app: Any, title: str) -> tuple[str, dict[str, Any], str]:
    """Create a space with a change request of one edited page; return the space, the change request, and the
    id of the page."""
    space = app.fill_space(title, ["One", "Two", "Three"])
    change = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Words"})
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    edit = {"operation": "update_page", "page": page, "document": {"markdown": "Other words.\n\nMore.\n"}}
    path = f"/spaces/{space}/change-requests/{change['number']}"
    app.call("POST", f"{path}/content", {"changes": [edit]})
    app.call("POST", f"{path}/comments", {"body": {"markdown": "Said."}, "page": page})
    return space, change, page


def press_letters(page: Any) -> list[str]:
    """Press every letter and digit outside of text; return the requests that change something others see."""
    sent: list[str] = []

    def note(asked: Any) -> None:
        if asked.method != "GET":
            sent.append(f"{asked.method} {asked.url}")

    page.on("request", note)
    for letter in string.ascii_lowercase + string.digits:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(letter)
        page.wait_for_timeout(60)
        # Text typed next goes into the field of a dialog, and Enter submits none.
        page.keyboard.press("Enter" if page.locator("dialog[open]").count() else "Escape")
        page.wait_for_timeout(60)
        page.keyboard.press("Escape")
    return [one for one in sent if not any(own in one for own in OWN)]


@pytest.mark.parametrize("view", ["one", "~/review", "~/talk"])
def test_single_letter_shortcuts_do_not_change_shared_content(app: Any, view: str) -> None:
    space, change, _ = draft(app, f"Keys of {view.strip('~/')}")
    page = app.open(f"/s/{space}/~/changes/{change['number']}/{view}")
    page.get_by_role("button", name="Request review").wait_for()
    page.get_by_role("main").get_by_text("Said." if "talk" in view else "words").first.wait_for()
    assert press_letters(page) == []
    found = app.call("GET", f"/spaces/{space}/change-requests/{change['number']}")
    assert found["status"] == "draft"
    page.context.close()


def test_single_letter_shortcuts_create_no_space(app: Any) -> None:
    app.fill_space("Keys of the start screen", ["One"])
    page = app.open("/")
    page.get_by_role("button", name="New", exact=True).or_(
        page.get_by_role("button", name="New space")
    ).first.wait_for()
    assert press_letters(page) == []
    page.context.close()


def conflicting(app: Any, title: str, text: str = "{} words.\n") -> tuple[str, str]:
    """Create a change request with one conflict in this text; return its screen and its path in the API."""
    space = app.fill_space(title, ["One"])
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]

    def change(words: str) -> str:
        made = app.call("POST", f"/spaces/{space}/change-requests", {"subject": words})
        path = f"/spaces/{space}/change-requests/{made['number']}"
        edit = {"operation": "update_page", "page": page, "document": {"markdown": text.format(words)}}
        app.call("POST", f"{path}/content", {"changes": [edit]})
        return path

    app.call("POST", f"{change('First')}/merge")
    mine, theirs = change("My"), change("Their")
    app.call("POST", f"{theirs}/merge")
    assert app.call("POST", f"{mine}/update")["result"] == "conflicts"
    return f"/s/{space}/~/changes/{mine.rpartition('/')[2]}/~/conflicts", mine


def test_no_single_key_resolves_a_conflict(app: Any) -> None:
    address, path = conflicting(app, "Keys of conflicts")
    page = app.open(address)
    card = page.get_by_role("region", name=re.compile("^Conflict 1 of"))
    card.wait_for()
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    for key in ("1", "2", "3", "b", "Enter", "Space"):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
        page.keyboard.press("Escape")
    expect(card.get_by_role("button", name="Keep theirs")).to_be_visible()
    assert [one for one in sent if "/conflicts/" in one] == []
    # A key selects, and a modifier confirms the selection.
    page.keyboard.press("3")
    expect(card.get_by_role("status")).to_have_text("Selected: Theirs")
    page.keyboard.press("2")
    expect(card.get_by_role("status")).to_have_text("Selected: Mine")
    with page.expect_response(lambda answer: answer.url.endswith("/resolve")):
        page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_text("You kept yours")).to_be_visible()
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_visible()
    assert app.call("GET", f"{path}/conflicts")["count"] == 0
    page.context.close()


def test_the_save_key_accepts_the_edited_result(app: Any) -> None:
    address, path = conflicting(app, "Written for a conflict")
    page = app.open(address)
    page.get_by_role("region", name=re.compile("^Conflict 1 of")).wait_for()
    page.keyboard.press("3")
    page.get_by_role("button", name="Edit result").click()
    page.get_by_role("textbox", name="Result (Markdown)").fill("Words of both.")
    with page.expect_response(lambda answer: answer.url.endswith("/resolve")):
        page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_role("button", name="Merge", exact=True)).to_be_visible()
    (settled,) = app.call("GET", f"{path}/conflicts?status=all")["items"]
    assert settled["settled"]["choice"] == "edited"
    page.context.close()


def test_both_sides_of_a_conflict_in_a_quote_stay_in_the_quote(app: Any) -> None:
    address, path = conflicting(app, "Quoted", "> {} words.\n>\n> More.\n")
    page = app.open(address)
    page.get_by_role("region", name=re.compile("^Conflict 1 of")).wait_for()
    page.keyboard.press("b")
    with page.expect_response(lambda answer: answer.url.endswith("/resolve")):
        page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_text("You kept both")).to_be_visible()
    text = app.call("GET", f"{path}/content/path/one?format=markdown")["markdown"]
    assert text.endswith("> My words.\n>\n> Their words.\n>\n> More.\n")
    page.context.close()


def test_a_review_is_requested_from_people_with_a_note(app: Any) -> None:
    space, change, _ = draft(app, "Asked")
    app.colleague("Ravi", "review")
    page = app.open(f"/s/{space}/~/changes/{change['number']}/one")
    page.get_by_role("textbox", name="Page content").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Request review")
    expect(dialog.get_by_role("combobox", name="Reviewers")).to_be_focused()
    expect(dialog.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    ravi = dialog.get_by_role("option", name="Ravi")
    ravi.wait_for()
    # Not the author, who cannot review it.
    expect(dialog.get_by_role("option")).to_have_count(
        len(app.call("GET", f"/orgs/{app.organization}/members")["items"]) - 1
    )
    me = app.call("GET", "/user")["displayName"]
    expect(dialog.get_by_role("option", name=me)).to_have_count(0)
    # There is nothing below the list, and a click next to it finds the same as before.
    note = dialog.locator("label", has_text="Note")
    listed, label = dialog.get_by_role("listbox").bounding_box(), note.bounding_box()
    assert listed["y"] + listed["height"] <= label["y"]
    dialog.get_by_label("Note").click()
    expect(dialog.get_by_label("Note")).to_be_focused()
    expect(ravi).to_be_hidden()
    dialog.get_by_role("combobox", name="Reviewers").click()
    page.keyboard.type("ravi")
    ravi.wait_for()
    page.keyboard.press("Enter")
    dialog.get_by_label("Note").fill("Please look at the first words.")
    dialog.get_by_role("button", name="Request review").click()
    expect(dialog).to_have_count(0)
    page.get_by_text("Review requested").wait_for()
    path = f"/spaces/{space}/change-requests/{change['number']}"
    assert app.call("GET", path)["status"] == "open"
    asked = app.call("GET", f"{path}/requested-reviewers")["items"]
    assert [one["user"]["displayName"] for one in asked] == ["Ravi"]
    said = app.call("GET", f"{path}/comments?format=markdown")["items"]
    assert "Please look at the first words." in str(said)
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Request review")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize("clicked", [True, False])
def test_a_page_moved_in_the_tree_keeps_focus(app: Any, clicked: bool) -> None:
    space = app.fill_space("Moved by keys", ["One", "Two", "Three"])
    page = app.open(f"/s/{space}/one")
    tree = page.get_by_role("tree", name="Pages")
    if clicked:
        tree.get_by_role("treeitem", name="One").click()
    else:
        tree.focus()
    moves = (("ArrowDown", ["Two", "One", "Three"]), ("ArrowDown", ["Two", "Three", "One"]))
    for key, titles in (*moves, ("ArrowRight", ["Two", "Three", "One"])):
        page.keyboard.press(f"Alt+Shift+{key}")
        expect(tree.get_by_role("treeitem")).to_have_text(titles)
        # The new change request, and the new path of the page, have another URL.
        page.wait_for_timeout(1_000)
        expect(tree).to_be_focused()
        expect(tree.get_by_role("treeitem", name="One")).to_have_attribute("aria-selected", "true")
    page.context.close()
