"""Pages that are deleted, moved, or renamed in a browser: where the person goes, and what happens to the URLs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

PAGES = ["Start", ("Guides", [("Install", ["Linux"]), "Tuning"])]


@pytest.fixture
def published(app):
    """Return a function that creates a space on a published site, and returns its ID and the path of the site."""

    def create(title):
        space = app.fill_space(title, PAGES)
        site = app.create_site(space)
        app.publish(site)
        return space, site

    return create


def choose(page, *entries):
    page.get_by_role("button", name="Page actions").click()
    for entry in entries:
        page.get_by_role("menuitem", name=entry, exact=True).click()


def message(page, text):
    region = page.get_by_role("region", name="Notifications")
    return region.get_by_role("status").filter(has_text=text)


def titled(page, title):
    return page.get_by_role("heading", name=title, level=1, exact=True)


def test_deleting_a_page_opens_its_parent_and_offers_a_redirect(app, published):
    space, site = published("Direct")
    page = app.open(f"/s/{space}/guides/install/linux")
    missing = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status == 404 else None)
    expect(titled(page, "Linux")).to_be_visible()
    choose(page, "Delete")
    expect(titled(page, "Install")).to_be_visible()
    assert missing == []
    expect(page).to_have_url(f"{app.url}/s/{space}/guides/install")
    deleted = message(page, "Deleted “Linux”")
    expect(deleted.get_by_role("button", name="Undo")).to_be_visible()
    deleted.get_by_role("button", name="Add redirect").click()
    dialog = page.get_by_role("dialog", name="New redirect on Book")
    expect(dialog.get_by_label("From path")).to_have_value("/guides/install/linux")
    check(page)
    dialog.get_by_label("To", exact=True).select_option("First page of a space")
    dialog.get_by_role("button", name="Add redirect").click()
    expect(message(page, "1 redirect created")).to_be_visible()
    (made,) = app.call("GET", f"{site}/redirects")["items"]
    assert (made["source"], made["draft"]) == ("/guides/install/linux", False)
    assert app.call("GET", f"{site}/redirects/suggestions")["items"] == []

    page.goto(f"{app.url}/s/{space}/start")
    expect(titled(page, "Start")).to_be_visible()
    choose(page, "Delete")
    expect(titled(page, "Guides")).to_be_visible()
    expect(page).to_have_url(f"{app.url}/s/{space}/guides")
    message(page, "Deleted “Start”").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("treeitem", name="Start")).to_be_visible()
    page.context.close()


def test_a_page_deleted_in_a_change_request_offers_its_redirect(app, published):
    space, site = published("Proposed")
    app.call("PATCH", f"/spaces/{space}", {"editMode": "locked"})
    page = app.open(f"/s/{space}/guides/install")
    expect(titled(page, "Install")).to_be_visible()
    choose(page, "Delete")
    page.wait_for_url(f"**/s/{space}/~/changes/1/guides")
    expect(titled(page, "Guides")).to_be_visible()
    message(page, "Deleted “Install”").get_by_role("button", name="Add redirect").click()
    dialog = page.get_by_role("dialog", name="New redirect on Book")
    # The pages under it are deleted, too.
    expect(dialog.get_by_label("From path")).to_have_value("/guides/install*")
    dialog.get_by_label("To", exact=True).select_option("First page of a space")
    dialog.get_by_role("button", name="Add redirect").click()
    expect(message(page, "1 redirect created")).to_be_visible()
    assert [one["source"] for one in app.call("GET", f"{site}/redirects")["items"]] == ["/guides/install*"]
    page.context.close()


def test_undo_restores_text_that_was_typed_just_before_deleting(app):
    space = app.fill_space("Typed", PAGES)
    change = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Typing"})["number"]
    page = app.open(f"/s/{space}/~/changes/{change}/guides/tuning")
    page.get_by_role("textbox", name="Page content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("Typed words. ")
    expect(page.get_by_role("textbox", name="Page content")).to_contain_text("Typed words.")
    choose(page, "Delete")
    expect(titled(page, "Guides")).to_be_visible()
    deleted = message(page, "Deleted “Tuning”")
    # The space isn't on a site.
    expect(deleted.get_by_role("button")).to_have_text(["Undo"])
    deleted.get_by_role("button", name="Undo").click()
    page.get_by_role("treeitem", name="Tuning").click()
    expect(page.get_by_role("textbox", name="Page content")).to_contain_text("Typed words.")
    page.context.close()


def test_the_message_about_a_new_url_says_that_the_old_one_redirects(app, published):
    space, _ = published("Renamed")
    page = app.open(f"/s/{space}/guides/tuning")
    choose(page, "Page options")
    dialog = page.get_by_role("dialog", name="Page options")
    dialog.get_by_label("Path", exact=True).fill("speed")
    dialog.get_by_role("button", name="Save changes").click()
    expect(message(page, "Updated “Tuning”. Old URLs redirect to the new ones.")).to_be_visible()
    choose(page, "Page options")
    dialog.get_by_role("textbox", name="Description").fill("How to be fast.")
    dialog.get_by_role("button", name="Save changes").click()
    expect(message(page, "Updated “Tuning”").last).to_have_text("Updated “Tuning” Undo")
    page.context.close()


def test_an_open_menu_keeps_its_items_when_entries_are_added(app, published):
    space, _ = published("Menus")
    page = app.open("/")
    held = []

    def hold(route):
        held.append(route) if "site-spaces" in route.request.post_data else route.continue_()

    page.route("**/~batch", hold)
    page.goto(f"{app.url}/s/{space}/guides/tuning")
    expect(titled(page, "Tuning")).to_be_visible()
    expect(page.get_by_role("treeitem", name="Tuning")).to_be_visible()
    page.get_by_role("button", name="Page actions").click()
    item = page.get_by_role("menuitem", name="Page options", exact=True).element_handle()
    expect(page.get_by_role("menuitem", name="View on site")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.get_by_role("menuitem", name="View on site")).to_be_visible()
    # The pointer could already be on the item.
    item.click()
    expect(page.get_by_role("dialog", name="Page options")).to_be_visible()
    page.context.close()
