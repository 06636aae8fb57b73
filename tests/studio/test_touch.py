"""The app on a phone, by touch: a word is edited, a comment written, a review requested and the change merged."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import App

pytestmark = pytest.mark.slow

_PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def _check(page: Any) -> None:
    """Check that nothing scrolls sideways, that no key is named, and that browsers don't zoom into a field."""
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    expect(page.locator("kbd").filter(visible=True)).to_have_count(0)
    small = """(fields) => fields.filter((one) => one.checkVisibility() && one.type !== "checkbox"
      && parseFloat(getComputedStyle(one).fontSize) < 16).map((one) => one.outerHTML)"""
    assert page.locator("input, textarea, select, [contenteditable]").evaluate_all(small) == []


def test_a_change_is_written_discussed_reviewed_and_merged_on_phones(app: App) -> None:
    space = app.fill_space("Pocket", ["Small", "Next"])
    page = app.open(f"/s/{space}/small", **_PHONE)
    page.get_by_role("heading", name="Small", level=1).wait_for()
    _check(page)
    page.get_by_role("button", name="Edit", exact=True).tap()
    text = page.get_by_role("textbox", name="Page content")
    text.get_by_text("About Small.").tap()
    expect(text).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" Boats.")
    expect(page.get_by_role("status").filter(has_text="Saved").first).to_be_visible()
    _check(page)

    # The review contains what was just written.
    page.get_by_role("tab", name="Review").tap()
    expect(page.get_by_role("main").locator("ins")).to_have_text("Boats.")
    page.get_by_role("tab", name="Edit").tap()
    text.wait_for()

    page.get_by_role("button", name="Comment", exact=True).tap()
    page.get_by_role("textbox", name="Comment").tap()
    page.keyboard.type("Which boats?")
    _check(page)
    page.get_by_role("button", name="Post", exact=True).tap()
    page.get_by_role("article").get_by_text("Which boats?").wait_for()
    _check(page)
    page.get_by_role("button", name="Comment", exact=True).tap()

    page.get_by_role("button", name="Request review").tap()
    dialog = page.get_by_role("dialog", name="Request review")
    dialog.wait_for()
    _check(page)
    dialog.get_by_role("button", name="Request review").tap()
    page.get_by_text("is ready for review").wait_for()
    _check(page)
    page.context.close()

    # Mo reads the change request and its comment, and reviews it.
    page = app.open_as(app.colleague("Mo", role="admin"), f"/s/{space}/~/changes", **_PHONE)
    draft = page.get_by_role("main").get_by_role("link", name="Edit Small")
    draft.wait_for()
    _check(page)
    draft.tap()
    page.get_by_text("About Small. Boats.").wait_for()
    _check(page)
    page.get_by_role("tab", name="Discussion").tap()
    page.get_by_role("article").get_by_text("Which boats?").wait_for()
    _check(page)
    page.get_by_role("tab", name="Review").tap()
    expect(page.get_by_role("main").locator("ins")).to_have_text("Boats.")
    _check(page)
    page.get_by_role("button", name="Show or hide side panel").tap()
    page.get_by_role("heading", name="Reviewers").wait_for()
    _check(page)
    page.get_by_role("button", name="Finish review").tap()
    page.get_by_role("menuitem", name="Approve").tap()
    page.get_by_text("You approved #").wait_for()

    # A phone has room for one button, so this action is in a menu.
    page.get_by_role("button", name="More actions for this change request").tap()
    page.get_by_role("menuitem", name="Merge", exact=True).tap()
    # What stands against it: the comment is still open.
    page.get_by_role("dialog").get_by_role("button", name="Merge").tap()
    page.get_by_text("Merged “").wait_for()
    expect(page.get_by_role("heading", name="Small", level=1)).to_be_visible()
    expect(page.get_by_text("About Small. Boats.")).to_be_visible()
    _check(page)
    page.context.close()
