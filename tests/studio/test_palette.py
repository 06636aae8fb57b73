"""What the palette finds: every screen and action, pages opened lately, and text of drafts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

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


def test_pages_groups_and_links_are_created(app: App) -> None:
    space = app.fill_space("Growing", ["Start"], editMode="live")
    page = app.open(f"/s/{space}/start")
    page.get_by_role("heading", name="Start", level=1).wait_for()
    field = page.get_by_role("combobox", name="Search or jump to")

    def choose(name: str) -> None:
        page.keyboard.press("Control+k")
        field.fill(name)
        page.get_by_role("option", name=name, exact=True).first.wait_for()
        page.keyboard.press("Enter")

    choose("New group")
    page.get_by_role("treeitem", name="New group").wait_for()
    choose("New link")
    dialog = page.get_by_role("dialog", name="New link")
    dialog.get_by_label("Title").fill("Status")
    dialog.get_by_label("URL").fill("javascript:alert(1)")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("URL")).to_be_visible()
    dialog.get_by_label("URL").fill("https://status.example.com")
    page.keyboard.press("Enter")
    page.get_by_role("treeitem", name="Status").wait_for()
    choose("New page")
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    pages = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    assert [one["title"] for one in pages] == ["Start", "New group", "Status", "Untitled"]
    page.context.close()


def test_every_action_of_a_screen_is_found(app: App) -> None:
    space = app.fill_space("Known", ["Start"])
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Wind"})["number"]
    change = {"operation": "insert_page", "title": "Gear", "document": {"markdown": "A flywheel."}}
    app.call("POST", f"/spaces/{space}/change-requests/{number}/content", {"changes": [change]})
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Known", "spaces": [space]})["id"]
    at = f"/s/{space}"
    views = ("changes", "history", "comments", "files", "reusable", "tags", "variables", "links", "settings")
    screens = [
        *(f"{at}/start", f"{at}/~/changes/{number}/gear", f"{at}/~/changes/{number}/~/review"),
        *(f"{at}/~/{view}" for view in views),
        *(f"/o/{app.organization}/sites/{site}", "/", "/~/inbox", "/~/account", "/~/installation"),
        *(f"/o/{app.organization}/~/{view}" for view in ("members", "integrations", "settings", "audit")),
    ]
    page = app.open("/")
    field = page.get_by_role("combobox", name="Search or jump to")
    options = page.get_by_role("listbox", name="Results").get_by_role("option")
    missing = []
    for screen in screens:
        page.goto(f"{app.url}{screen}")
        page.locator(".sheet h1").first.wait_for()
        page.wait_for_timeout(500)
        menus = page.locator(".sheet > .bar, nav[aria-label=Space]").locator("[aria-haspopup=menu]:visible")
        # Edit acts at once if there is no choice.
        menus = menus.filter(has_not_text="Edit")
        names = []
        for menu in menus.all():
            menu.click()
            items = page.get_by_role("menu").locator("[role^=menuitem]:not([aria-disabled=true])")
            items.first.wait_for()
            names += [one.strip() for one in items.locator(".cut:first-child").all_inner_texts()]
            page.keyboard.press("Escape")
        bar = page.locator(".sheet > .bar .bar-end :is(button, a):visible:not([aria-haspopup])")
        names += [(one.get_attribute("aria-label") or one.inner_text()).strip() for one in bar.all()]
        page.keyboard.press("Control+k")
        for name in names:
            field.fill(name)
            page.wait_for_timeout(30)
            if not any(name in one for one in options.all_inner_texts()):
                missing.append((screen, name))
        page.keyboard.press("Escape")
    assert missing == []
    page.context.close()
