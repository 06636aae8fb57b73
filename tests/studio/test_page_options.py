"""The options of a page in a browser: a control for each field that its kind has."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from octavo.core.pages import PAGE_FIELDS
from settled import until

ROOT = Path(__file__).parents[2]
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAKCAYAAAB10jRKAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC"
)
SHOWN = {
    "hidden": "Show in the page list",
    "no_index": "Show in site search",
    "no_robots_index": "Allow search engines",
}
"""Labels of flags that hide: their switches say what they show."""


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("Settings", ["Start", ("Guides", ["Install", "Tuning", "Phones"])])


def open_options(page):
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Page options").click()
    return page.get_by_role("dialog", name="Page options")


def test_every_editable_field_has_a_control(app, space):
    texts = json.loads((ROOT / "web/shared/words/en.json").read_text())
    page = app.open(f"/s/{space}/guides")
    dialog = open_options(page)
    expect(dialog.get_by_label("Title", exact=True).first).to_be_visible()
    for name, field in PAGE_FIELDS.items():
        if name in SHOWN:
            expect(dialog.get_by_role("switch", name=SHOWN[name])).to_be_visible()
        elif field.edited and field.shown != "nobody" and field.type != "people":
            label = texts[field.label]
            control = dialog.get_by_label(label, exact=True).or_(dialog.get_by_text(label, exact=True))
            expect(control.first).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    page.context.close()


def test_a_cover_behind_the_title_and_related_links_are_saved(app, space):
    page = app.open(f"/s/{space}/guides/phones")
    dialog = open_options(page)
    picture = {"name": "cover.png", "mimeType": "image/png", "buffer": PICTURE}
    dialog.locator("input[type=file]").set_input_files(picture)
    dialog.get_by_role("button", name="Behind the page title").click()
    color = dialog.get_by_role("group", name="Title color", exact=True)
    color.get_by_role("button", name="White").click()
    dialog.get_by_label("Canonical URL or page").fill("tuning.md")
    others = dialog.get_by_role("textbox", name="Alternate versions")
    others.fill("https://example.com/de/")
    others.press("Enter")
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_be_hidden()
    found = app.call("GET", f"/spaces/{space}/content/path/guides%2Fphones")
    assert found["layout"]["coverSize"] == "background" and found["cover"]["textColor"] == "white"
    assert found["metaLinks"] == {"canonical": "tuning.md", "alternates": ["https://example.com/de/"]}
    dialog = open_options(page)
    dialog.get_by_label("Canonical URL or page").fill("javascript:alert(1)")
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog.get_by_role("alert")).to_contain_text("must be http or https URLs, or paths")
    dialog.get_by_label("Canonical URL or page").fill("")
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_be_hidden()
    found = app.call("GET", f"/spaces/{space}/content/path/guides%2Fphones")
    assert found["metaLinks"] == {"alternates": ["https://example.com/de/"]}
    page.context.close()


def test_options_are_saved_validated_at_their_field_and_undone(app, space):
    page = app.open(f"/s/{space}/guides/install")
    dialog = open_options(page)
    path = dialog.get_by_label("Path", exact=True)
    path.fill("no blanks")
    page.keyboard.press("Enter")
    expect(path).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("alert")).to_have_text(
        "must not contain spaces, slashes, ?, #, or %, and must not start with ~"
    )
    path.fill("setup")
    about = dialog.get_by_role("textbox", name="Description")
    about.fill("x" * 1001)
    dialog.get_by_role("button", name="Save changes").click()
    expect(about).to_have_attribute("aria-invalid", "true")
    about.fill("How to begin")
    dialog.get_by_label("Icon").fill("rocket")
    dialog.get_by_role("switch", name="Allow search engines").uncheck()
    dialog.get_by_role("button", name="Emoji").click()
    dialog.get_by_label("Find an emoji").fill("book")
    dialog.get_by_role("button", name="blue book").click()
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_have_count(0)
    page.wait_for_url("**/guides/setup")
    at = f"/spaces/{space}/content/path/guides%2F"
    saved = app.call("GET", f"{at}setup?format=markdown")
    assert saved["markdown"].startswith(
        "---\nemoji: 1f4d8\nicon: rocket\ndescription: How to begin\nnoRobotsIndex: true\n---\n"
    )
    assert (saved["hidden"], saved["noIndex"], saved["noRobotsIndex"]) == (False, False, True)
    dialog = open_options(page)
    expect(dialog.get_by_role("textbox", name="Description")).to_have_value("How to begin")
    expect(dialog.get_by_role("button", name="Emoji 📘")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Page actions")).to_be_focused()
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    until(lambda: '"guides/install"' in json.dumps(app.call("GET", f"/spaces/{space}/content/pages")))
    before = app.call("GET", f"{at}install?format=markdown")
    assert not {"emoji", "icon", "description"} & before.keys() and not before["noRobotsIndex"]
    page.context.close()


def test_cover_layout_tags_variables_and_redirects(app, space):
    page = app.open(f"/s/{space}/guides/tuning")
    dialog = open_options(page)
    with page.expect_file_chooser() as chosen:
        dialog.get_by_role("button", name="Add cover").click()
    chosen.value.set_files({"name": "tall.png", "mimeType": "image/png", "buffer": PICTURE})
    position = dialog.get_by_role("slider", name="Cover position")
    position.focus()
    for key in ["ArrowUp", "ArrowUp", "Shift+ArrowUp"]:
        page.keyboard.press(key)
    expect(position).to_have_attribute("aria-valuenow", "38")
    dialog.get_by_role("button", name="Wide", exact=True).click()
    dialog.get_by_role("switch", name="On this page").uncheck()
    dialog.get_by_label("Tags", exact=True).first.fill("speed")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Add variable").click()
    dialog.get_by_label("Name", exact=True).fill("limit")
    dialog.get_by_label("Value", exact=True).fill("5 MB")
    dialog.get_by_label("Redirects", exact=True).first.fill("/old/tuning")
    page.keyboard.press("Enter")
    # A path that is typed but not added yet is saved too.
    dialog.get_by_label("Redirects", exact=True).last.fill("/speed")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_have_count(0)
    read = f"/spaces/{space}/content/path/guides%2Ftuning?format=markdown"
    until(lambda: "cover" in app.call("GET", read))
    saved = app.call("GET", read)
    assert (saved["layout"]["width"], saved["layout"]["outline"]) == ("wide", False)
    assert saved["cover"]["ref"]["kind"] == "file" and saved["cover"]["yPos"] > 0
    assert [one["tag"]["tag"] for one in saved["tags"]] == ["speed"]
    assert (saved["variables"], saved["redirectFrom"]) == ({"limit": "5 MB"}, ["/old/tuning", "/speed"])
    dialog = open_options(page)
    expect(dialog.get_by_role("slider", name="Cover position")).to_have_attribute("aria-valuenow", "38")
    dialog.get_by_role("button", name="Remove cover").click()
    dialog.get_by_role("button", name="Remove /speed").click()
    dialog.get_by_role("button", name="Remove limit").click()
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_have_count(0)
    until(lambda: "cover" not in app.call("GET", read))
    saved = app.call("GET", read)
    assert saved["redirectFrom"] == ["/old/tuning"] and "variables" not in saved
    page.context.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_changes_are_discarded_only_after_a_question(app, space, width):
    page = app.open(f"/s/{space}/guides/phones", viewport={"width": width, "height": 844})
    dialog = open_options(page)
    dialog.get_by_label("Title", exact=True).first.fill("Something else")
    page.keyboard.press("Escape")
    expect(dialog.get_by_role("alert")).to_have_text("Discard changes?")
    dialog.get_by_role("button", name="Keep editing").click()
    expect(dialog.get_by_label("Title", exact=True).first).to_have_value("Something else")
    until(lambda: dialog.evaluate("one => one.scrollWidth <= one.clientWidth"))
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Discard changes").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", name="Phones", level=1)).to_be_visible()
    page.context.close()
