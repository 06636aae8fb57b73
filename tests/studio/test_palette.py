"""What the palette finds: every screen and action, pages opened lately, and text of drafts."""

from __future__ import annotations

import pytest

from .conftest import App

pytestmark = pytest.mark.slow


def test_screens_and_actions_are_found_by_name(app: App) -> None:
    space = app.fill_space("Palette", ["Start"])
    page = app.open(f"/s/{space}/start")
    page.get_by_role("heading", name="Start", level=1).wait_for()
    options = page.get_by_role("listbox", name="Results").get_by_role("option")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search or jump to")
    wanted = ["Trash", "Import", "Export and move", "Audit log", "Your account", "Start from a template"]
    # The last three are in the bar's menu alone.
    for name in [*wanted, "New site", "Side panel", "Page options", "Copy link", "Save as template"]:
        field.fill(name)
        options.filter(has_text=name).first.wait_for()
    field.fill("Copy link")
    page.keyboard.press("Enter")
    page.get_by_text("Link copied").wait_for()
    page.context.close()


def test_text_of_the_draft_and_recent_pages_are_found(app: App) -> None:
    space = app.fill_space("Drafted", ["Start", "Other"])
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Turbines"})["number"]
    change = {"operation": "insert_page", "title": "Gear", "document": {"markdown": "A flywheel turns."}}
    app.call("POST", f"/spaces/{space}/change-requests/{number}/content", {"changes": [change]})
    page = app.open(f"/s/{space}/other")
    page.get_by_role("heading", name="Other", level=1).wait_for()
    page.goto(f"{app.url}/s/{space}/start")
    page.get_by_role("heading", name="Start", level=1).wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("option", name="Other").first.wait_for()
    page.get_by_role("combobox", name="Search or jump to").fill("flywheel")
    page.get_by_role("option", name="Gear").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/~/changes/{number}/gear")
    page.context.close()
