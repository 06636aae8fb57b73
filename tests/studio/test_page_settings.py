"""The settings of a page in a browser: a control for each field that its kind has."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from octavo.core.pages import PAGE_FIELDS
from settled import until


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("Settings", ["Start", ("Guides", ["Install"])])


def open_settings(page):
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Page settings").click()
    return page.get_by_role("dialog", name="Page settings")


def test_every_editable_field_has_a_control(app, space):
    page = app.open(f"/s/{space}/guides")
    dialog = open_settings(page)
    expect(dialog.get_by_label("Title", exact=True)).to_be_focused()
    for field in PAGE_FIELDS.values():
        if field.edited and field.shown == "everyone":
            expect(dialog.get_by_label(field.label, exact=True)).to_have_count(1)
    assert Axe().run(page).response["violations"] == []
    page.context.close()


def test_settings_are_saved_validated_at_their_field_and_undone(app, space):
    page = app.open(f"/s/{space}/guides/install")
    dialog = open_settings(page)
    path = dialog.get_by_label("Path", exact=True)
    path.fill("no blanks")
    page.keyboard.press("Enter")
    expect(path).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("alert")).to_have_text(
        "must not contain spaces, slashes, `?`, `#`, or `%`, or start with `~`."
    )
    path.fill("setup")
    dialog.get_by_label("Description").fill("x" * 1001)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Description")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Description").fill("How to begin")
    dialog.get_by_label("Icon").fill("rocket")
    dialog.get_by_label("Hide from search engines").check()
    dialog.get_by_role("button", name="Emoji").click()
    dialog.get_by_label("Find an emoji").fill("book")
    dialog.get_by_role("button", name="blue book").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.wait_for_url("**/guides/setup")
    at = f"/spaces/{space}/content/path/guides%2F"
    saved = app.call("GET", f"{at}setup?format=markdown")
    assert saved["markdown"].startswith(
        "---\nemoji: 1f4d8\nicon: rocket\ndescription: How to begin\nnoRobotsIndex: true\n---\n"
    )
    assert (saved["hidden"], saved["noIndex"], saved["noRobotsIndex"]) == (False, False, True)
    dialog = open_settings(page)
    expect(dialog.get_by_label("Description")).to_have_value("How to begin")
    expect(dialog.get_by_role("button", name="Emoji 📘")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Page actions")).to_be_focused()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    until(lambda: '"guides/install"' in json.dumps(app.call("GET", f"/spaces/{space}/content/pages")))
    before = app.call("GET", f"{at}install?format=markdown")
    assert not {"emoji", "icon", "description"} & before.keys() and not before["noRobotsIndex"]
    page.context.close()
