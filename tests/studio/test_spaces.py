"""Settings and collections of spaces in a browser, walked by role and name."""

from __future__ import annotations

import io
import zipfile

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("Platform", ["Start", ("Guides", ["Install"])])


def say(page):
    return page.get_by_role("region", name="Notifications")


def test_a_space_is_renamed_and_locked(app, space):
    page = app.open(f"/s/{space}/~/settings")
    expect(page.get_by_role("heading", name="Space settings", level=1)).to_have_count(1)
    page.get_by_label("Title").fill("x" * 51)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Title")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Title").fill("Platform API")
    page.get_by_role("button", name="Emoji").click()
    page.get_by_label("Find an emoji").fill("rocket")
    page.get_by_role("button", name="rocket", exact=True).click()
    page.get_by_label("By change requests").check()
    page.get_by_label("Language").select_option("de")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(say(page)).to_contain_text("Saved")
    expect(page.get_by_role("button", name="Space: Platform API")).to_have_count(1)
    found = app.call("GET", f"/spaces/{space}")
    assert (found["editMode"], found["language"], found["emoji"]) == ("locked", "de", "1f680")
    page.context.close()


def test_a_role_is_given_says_where_it_comes_from_and_is_taken_back(app, space):
    members = f"/orgs/{app.organization}"
    app.call("POST", f"{members}/invites", {"emails": ["mei@example.com"], "role": "read"})
    team = app.call("PUT", f"{members}/teams", {"title": "Maintainers"})["id"]
    page = app.open(f"/s/{space}/~/settings/members")
    people = page.get_by_role("list", name="People", exact=True)
    expect(people.get_by_role("listitem")).to_contain_text("Administers")
    page.get_by_role("button", name="Give a role").click()
    dialog = page.get_by_role("dialog", name="Give a role in this space")
    dialog.get_by_role("button", name="Give the role").click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose somebody first.")
    dialog.get_by_role("combobox", name="People and teams").fill("maint")
    dialog.get_by_role("option", name="Maintainers").wait_for()
    page.keyboard.press("Enter")
    dialog.get_by_label("Role", exact=True).select_option("review")
    dialog.get_by_role("button", name="Give the role").click()
    teams = page.get_by_role("list", name="Teams")
    expect(teams.get_by_role("listitem")).to_contain_text("Reviewer")
    page.get_by_role("button", name="Role of Maintainers: Reviewer").click()
    page.get_by_role("menuitemradio", name="Editor").click()
    expect(teams.get_by_role("listitem")).to_contain_text("Editor")
    given = app.call("GET", f"/spaces/{space}/permissions/teams")["items"]
    assert [(one["team"]["id"], one["permission"]) for one in given] == [(team, "edit")]
    say(page).get_by_role("button", name="Undo").last.click()
    expect(teams.get_by_role("listitem")).to_contain_text("Reviewer")
    page.get_by_role("button", name="Actions for Maintainers").click()
    page.get_by_role("menuitem", name="Take back what was given here").click()
    expect(teams).to_have_count(0)
    page.get_by_role("button", name="Every member: As in").click()
    page.get_by_role("menuitemradio", name="No access").click()
    expect(page.get_by_role("button", name="Every member: No access")).to_have_count(1)
    assert app.call("GET", f"/spaces/{space}")["defaultLevel"] is None
    page.context.close()


def test_rules_before_a_merge(app, space):
    page = app.open(f"/s/{space}/~/settings/merging")
    page.get_by_label("Rules of this space").check()
    page.get_by_label("It has a subject").check()
    page.get_by_role("checkbox", name="One of these people reviewed").check()
    page.get_by_role("combobox", name="One of these people reviewed").fill("ines")
    page.get_by_role("option").first.click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(say(page)).to_contain_text("Saved")
    rules = app.call("GET", f"/spaces/{space}")["mergeRules"]["rules"]
    me = app.call("GET", "/user")["id"]
    assert rules == [
        {"rule": "require_one_of_specific_reviewers", "users": [me]},
        {"rule": "require_change_request_subject"},
    ]
    page.context.close()


def test_a_space_is_fetched_moved_deleted_and_brought_back(app, space):
    collection = app.call("POST", f"/orgs/{app.organization}/collections", {"title": "Handbook"})["id"]
    page = app.open(f"/s/{space}/~/settings/export")
    with page.expect_download() as fetched:
        page.get_by_role("link", name="Markdown archive").click()
    with zipfile.ZipFile(io.BytesIO(fetched.value.path().read_bytes())) as packed:
        assert "guides/install.md" in packed.namelist()
    page.get_by_label("Collection", exact=True).select_option(label="Handbook")
    expect(say(page)).to_contain_text("Moved to Handbook")
    page.goto(f"{app.url}/c/{collection}")
    contents = page.get_by_role("list", name="Contents")
    expect(contents.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="New space", exact=True).click()
    page.wait_for_url("**/s/**")
    page.goto(f"{app.url}/c/{collection}")
    expect(contents.get_by_role("listitem")).to_have_count(2)
    contents.get_by_role("link").first.focus()
    first = contents.get_by_role("listitem").first.inner_text()
    page.keyboard.press("Alt+Shift+ArrowDown")
    expect(contents.get_by_role("listitem").last).to_contain_text(first)

    page.goto(f"{app.url}/s/{space}/~/settings/export")
    page.get_by_role("button", name="Delete the space").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("0 open change requests")
    dialog.get_by_role("button", name="Delete the space").click()
    say(page).get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/s/{space}")
    assert app.call("GET", f"/spaces/{space}")["parent"] == collection
    page.context.close()


def test_a_collection_is_named_and_deleted(app):
    page = app.open("/")
    page.get_by_role("button", name="New space or collection").click()
    page.get_by_role("menuitem", name="New collection").click()
    page.get_by_label("Title").fill("Runbooks")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runbooks")).to_have_count(1)
    page.get_by_role("button", name="Delete the collection").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the collection").click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runbooks")).to_have_count(0)
    page.context.close()
