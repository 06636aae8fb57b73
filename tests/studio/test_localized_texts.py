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


def test_titles_and_descriptions_are_translated_on_the_site(app):
    guides = [app.fill_space("Guide", ["Start"]), app.fill_space("Anleitung", ["Anfang"])]
    for space, language in zip(guides, ("en", "de"), strict=True):
        app.call("PATCH", f"/spaces/{space}", {"language": language})
    sites = f"/orgs/{app.organization}/sites"
    made = app.call("POST", sites, {"title": "Tides", "spaces": guides[:1]})["id"]
    path = f"{sites}/{made}"
    app.call("POST", f"{path}/sections", {"spaceId": app.fill_space("API", ["Calls"]), "title": "Reference"})
    first = app.call("GET", f"{path}/sections")["items"][0]["id"]
    app.call("POST", f"{path}/site-spaces", {"spaceId": guides[1], "sectionId": first})
    page = app.open(f"/o/{app.organization}/sites/{made}/~/structure")
    page.get_by_role("treeitem").filter(has_text="Reference").click()
    panel = page.get_by_role("complementary", name="Details")
    for field, text in (("Title", "Nachschlagen"), ("Description", "Alle Aufrufe")):
        panel.get_by_role("button", name=f"Translate “{field}”").click()
        panel.get_by_role("group", name=f"Translations of “{field}”").get_by_label("German").fill(text)
    show(page, "structure")
    check(page)
    # Leaving the last field saves it, even while the previous one is being saved.
    page.keyboard.press("Tab")
    told = page.get_by_role("region", name="Notifications").get_by_role("status")
    expect(told.filter(has_text="Updated")).to_be_visible()
    sections = app.call("GET", f"{path}/sections")["items"]
    reference = next(one for one in sections if one["title"] == "Reference")
    assert reference["localizedTitle"] == {"de": "Nachschlagen"}
    assert reference["localizedDescription"] == {"de": "Alle Aufrufe"}

    url = app.publish(path)
    shown = app.call("GET", f"{path}/site-spaces")["items"]
    german = next(one["urls"]["published"] for one in shown if one["space"]["id"] == guides[1])
    page.goto(german)
    expect(page.get_by_role("banner")).to_contain_text("Nachschlagen")
    show(page, "german")
    page.goto(url)
    expect(page.get_by_role("banner")).to_contain_text("Reference")
    expect(page.get_by_role("banner")).not_to_contain_text("Nachschlagen")

    body = {"localizedTitle": {"klingon": "paq"}}
    answer = app.client.patch(f"{path}/sections/{reference['id']}", json=body)
    assert answer.status_code == 400
    assert "localizedTitle: 'klingon' isn't a supported language. Use one of en, fr," in answer.text
    page.context.close()


@pytest.mark.parametrize(("size", "scheme"), [(None, "light"), (PHONE, "dark")])
def test_the_assistant_is_configured(app, site, size, scheme):
    path, address = site
    options = {"viewport": size} if size else {}
    page = app.open(f"{address}/~/settings", color_scheme=scheme, **options)
    page.get_by_label("Where visitors can ask questions").select_option("assistant")
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
