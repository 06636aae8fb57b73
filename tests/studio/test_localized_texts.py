"""Texts of a site in several languages, and its assistant, set in a browser by pointer and by key."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def site(app):
    spaces = [app.fill_space("Guide", ["Start"]), app.fill_space("Anleitung", ["Anfang"])]
    for space, language in zip(spaces, ("en", "de"), strict=True):
        app.call("PATCH", f"/spaces/{space}", {"language": language})
    body = {"title": "Manuals", "spaces": spaces}
    made = app.call("POST", f"/orgs/{app.organization}/sites", body)["id"]
    return f"/orgs/{app.organization}/sites/{made}", f"/o/{app.organization}/sites/{made}"


def show(page, name):
    """Store what a screen shows, if a folder for it is given."""
    if folder := os.environ.get("OCTAVO_TEST_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_the_title_of_a_site_is_translated(app, site):
    path, address = site
    page = app.open(f"{address}/~/look")
    page.get_by_text("Logo and icon").click()
    page.get_by_label("Title in the header", exact=True).fill("Handbook")
    opener = page.get_by_role("button", name="Translate “Title in the header”")
    opener.focus()
    page.keyboard.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    texts = page.get_by_role("group", name="Translations of “Title in the header”")
    texts.get_by_label("German").fill("Handbuch")
    show(page, "title")
    check(page)
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Customization saved")
    look = app.call("GET", f"{path}/customization")
    assert (look["title"], look["localizedTitle"]) == ("Handbook", {"de": "Handbuch"})
    page.context.close()


@pytest.mark.parametrize(("size", "scheme"), [(None, "light"), (PHONE, "dark")])
def test_the_assistant_is_configured(app, site, size, scheme):
    path, address = site
    options = {"viewport": size} if size else {}
    page = app.open(f"{address}/~/settings", color_scheme=scheme, **options)
    page.get_by_label("Where visitors can ask").select_option("assistant")
    page.get_by_label("Greeting", exact=True).fill("Ask me.")
    page.get_by_label("Suggested questions").fill("How do I start?\n\nWhat does it cost?")
    page.get_by_label("Instructions for the language model").fill("Be brief.")
    show(page, f"assistant-{scheme}")
    check(page)
    part = page.locator("form").filter(has_text="Greeting")
    part.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Saved").first).to_be_visible()
    ai = app.call("GET", f"{path}/customization")["ai"]
    assert ai == {
        "mode": "assistant",
        "greeting": "Ask me.",
        "suggestions": ["How do I start?", "What does it cost?"],
        "instructions": "Be brief.",
    }
    page.context.close()
