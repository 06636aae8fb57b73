"""Settings and collections of spaces in a browser, walked by role and name."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from playwright.sync_api import expect

from settled import until

from .test_accessibility import check


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
    page.get_by_label("Change requests only").check()
    page.get_by_label("Language").select_option("de")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(say(page)).to_contain_text("Saved")
    expect(page.get_by_role("button", name="Space: Platform API")).to_have_count(1)
    found = app.call("GET", f"/spaces/{space}")
    assert (found["editMode"], found["language"], found["emoji"]) == ("locked", "de", "1f680")
    page.context.close()


@pytest.mark.slow
def test_a_role_is_granted_explained_and_revoked(app, space):
    members = f"/orgs/{app.organization}"
    app.call("POST", f"{members}/invites", {"emails": ["mei@example.com"], "role": "read"})
    team = app.call("PUT", f"{members}/teams", {"title": "Maintainers"})["id"]
    page = app.open(f"/s/{space}/~/settings/members")
    people = page.get_by_role("list", name="People", exact=True)
    expect(people.get_by_role("listitem")).to_contain_text("Administrator of")
    page.get_by_role("button", name="Add role").click()
    dialog = page.get_by_role("dialog", name="Add role in this space")
    dialog.get_by_role("button", name="Add role").click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose a person first.")
    dialog.get_by_role("combobox", name="People and teams").fill("maint")
    dialog.get_by_role("option", name="Maintainers").wait_for()
    page.keyboard.press("Enter")
    dialog.get_by_label("Role", exact=True).select_option("review")
    dialog.get_by_role("button", name="Add role").click()
    teams = page.get_by_role("list", name="Teams")
    expect(teams.get_by_role("listitem")).to_contain_text("Reviewer")
    page.get_by_role("button", name="Role for Maintainers: Reviewer").click()
    page.get_by_role("menuitemradio", name="Editor").click()
    expect(teams.get_by_role("listitem")).to_contain_text("Editor")
    given = app.call("GET", f"/spaces/{space}/permissions/teams")["items"]
    assert [(one["team"]["id"], one["permission"]) for one in given] == [(team, "edit")]
    say(page).get_by_role("button", name="Undo").last.click()
    expect(teams.get_by_role("listitem")).to_contain_text("Reviewer")
    page.get_by_role("button", name="Actions for Maintainers").click()
    page.get_by_role("menuitem", name="Remove role").click()
    expect(teams).to_have_count(0)
    page.get_by_role("button", name="All members: Same as").click()
    page.get_by_role("menuitemradio", name="No access").click()
    expect(page.get_by_role("button", name="All members: No access")).to_have_count(1)
    assert app.call("GET", f"/spaces/{space}")["defaultLevel"] is None
    page.context.close()


@pytest.mark.slow
def test_merge_rules_are_set(app, space):
    page = app.open(f"/s/{space}/~/settings/merging")
    page.get_by_label("Custom rules for this space").check()
    page.get_by_role("group", name="Merge requirements").get_by_label("Has a subject").check()
    page.get_by_role(
        "checkbox", name="At least one of the specified reviewers has submitted a review"
    ).check()
    page.get_by_role("combobox", name="At least one of the specified reviewers has submitted a review").fill(
        "ines"
    )
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


@pytest.mark.slow
def test_a_space_is_exported_moved_deleted_and_restored(app, space):
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
    page.get_by_role("button", name="Delete space").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("0 open change requests")
    dialog.get_by_role("button", name="Delete space").click()
    say(page).get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/s/{space}")
    assert app.call("GET", f"/spaces/{space}")["parent"] == collection
    page.context.close()


@pytest.mark.slow
def test_a_collection_is_named_and_deleted(app):
    page = app.open("/")
    page.get_by_role("button", name="New space or collection").click()
    page.get_by_role("menuitem", name="New collection").click()
    page.get_by_label("Title").fill("Runbooks")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runbooks")).to_have_count(1)
    page.get_by_role("button", name="Delete collection").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete collection").click()
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runbooks")).to_have_count(0)
    page.context.close()


@pytest.mark.slow
def test_problems_of_an_imported_archive_link_to_their_pages(app, tmp_path):
    space = app.fill_space("Imported", ["Start"])
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as packed:
        packed.writestr("README.md", "# Home\n\n![Gone](images/gone.png)\n")
        packed.writestr("guide.md", '# Guide\n\n{% include "includes/gone.md" %}\n')
    page = app.open(f"/s/{space}/~/import")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("main").get_by_role("alert")).to_have_text("Choose at least one file.")
    page.get_by_label("Files", exact=True).set_input_files(tmp_path / "docs.zip")
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url(f"**/s/{space}/~/import/*")
    expect(page.get_by_role("heading", name="Imported 2 pages")).to_be_visible()
    missing = page.get_by_role("button", name=re.compile("^Missing files"))
    expect(missing).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="By file").click()
    page.get_by_role("button", name="guide.md").click()
    expect(page.get_by_role("link", name="Open change request")).to_have_count(1)
    page.get_by_role("link", name="Open page for guide.md").click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Guide")
    page.goto(f"{app.url}/s/{space}/~/import")
    runs = page.get_by_role("list", name="Previous imports")
    expect(runs.get_by_role("listitem")).to_contain_text("2 pages")
    assert app.titles(space) == ["Start"]
    page.context.close()


def test_a_project_is_previewed_and_imported(app):
    space = app.fill_space("Looked at", ["Start"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("mkdocs.yml", "nav: [{Home: index.md}, {More: [a.md]}]\n")
        files.writestr("docs/index.md", "# Hello\n\n[gone](gone.md)\n")
        files.writestr("docs/a.md", "# Another\n")
    page = app.open(f"/s/{space}/~/import")
    page.get_by_label("Files", exact=True).set_input_files(
        {"name": "project.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}
    )
    expect(page.get_by_label("Source format")).to_have_value("")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="2 pages to import")).to_be_visible()
    tree = page.get_by_role("region", name="Pages to import")
    expect(tree).to_contain_text("Another")
    expect(page.get_by_text("· MkDocs ·")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Broken links"))).to_be_visible()
    assert app.titles(space) == ["Start"]
    page.get_by_role("button", name="Import pages").click()
    expect(page.get_by_role("heading", name="Imported 2 pages")).to_be_visible()
    page.get_by_role("link", name="Open change request").wait_for()
    page.context.close()


@pytest.mark.slow
def test_files_are_uploaded_renamed_and_deleted(app):
    space = app.fill_space("Files", ["Start"])
    page = app.open(f"/s/{space}/~/files")
    page.get_by_text("No files yet").wait_for()
    page.get_by_label("Files", exact=True).set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Some words."}
    )
    files = page.get_by_role("list", name="Files")
    expect(files.get_by_role("listitem")).to_contain_text("11 bytes")
    page.get_by_role("button", name="Actions for notes.txt").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("words.txt")
    page.get_by_role("button", name="Rename", exact=True).click()
    files.get_by_role("button", name="words.txt", exact=True).click()
    expect(page.get_by_role("dialog", name="words.txt")).to_contain_text("Not used on any page")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Actions for words.txt").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("The file isn't used on any page.")
    page.get_by_role("button", name="Delete file").click()
    page.get_by_text("No files yet").wait_for()

    # A large file is sent in parts; the connection breaks during the second one.
    sent = []

    def cut(route):
        sent.append(route.request.method)
        if sent.count("PATCH") == 2 and sent[-1] == "PATCH":
            route.abort()
        else:
            route.continue_()

    page.route("**/uploads/*", cut)
    page.get_by_label("Files", exact=True).set_input_files(
        {"name": "large.bin", "mimeType": "application/octet-stream", "buffer": b"words" * 2_000_000}
    )
    expect(files.get_by_role("listitem")).to_contain_text("10 MB")
    assert sent == ["PATCH", "PATCH", "HEAD", "PATCH"]
    page.context.close()


def test_variables_of_a_locked_space_are_set_in_a_draft(app):
    space = app.fill_space("Variables", ["Start"])
    app.call("PATCH", f"/spaces/{space}", {"editMode": "locked"})
    page = app.open(f"/s/{space}/~/variables")
    page.get_by_role("button", name="New variable").first.click()
    dialog = page.get_by_role("dialog", name="New variable")
    dialog.get_by_label("Name").fill("two words")
    dialog.get_by_label("Value").fill("2.4")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").first).to_be_visible()
    dialog.get_by_label("Name").fill("version")
    dialog.get_by_role("button", name="Save").click()
    listed = page.get_by_role("list", name="Variables", exact=True)
    expect(listed.get_by_role("listitem")).to_contain_text("2.4")
    expect(page.get_by_text("You're viewing your draft #1.")).to_be_visible()
    assert app.call("GET", f"/spaces/{space}/content")["variables"] == {}
    held = app.call("GET", f"/spaces/{space}/change-requests/1/content")["variables"]
    assert held == {"version": "2.4"}
    page.context.close()


def test_a_tag_is_created_and_lists_its_pages(app):
    space = app.fill_space("Tagged", ["Start", "Advanced"])
    pages = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    change = {
        "operation": "update_page",
        "page": pages[1]["id"],
        "tags": [{"tag": {"kind": "tag", "tag": "expert"}}],
    }
    app.call("POST", f"/spaces/{space}/content", {"changes": [change]})
    page = app.open(f"/s/{space}/~/tags")
    page.get_by_role("button", name="New tag").click()
    dialog = page.get_by_role("dialog", name="New tag")
    dialog.get_by_label("Slug").fill("expert")
    dialog.get_by_label("Label").fill("For experts")
    dialog.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Actions for For experts").click()
    page.get_by_role("menuitem", name="Show pages").click()
    dialog = page.get_by_role("dialog", name="Pages with the tag “For experts”")
    expect(dialog.get_by_role("link")).to_have_text(["Advanced"])
    page.context.close()


def test_tags_that_only_pages_name_are_listed_and_defined(app):
    space = app.fill_space("Untagged", ["Start", "Advanced"])
    for one in app.call("GET", f"/spaces/{space}/content/pages")["pages"]:
        text = f"---\ntags:\n  - beta\n  - at {one['slug']}\n---\n\nWords.\n"
        change = {"operation": "update_page", "page": one["id"], "document": {"markdown": text}}
        app.call("POST", f"/spaces/{space}/content", {"changes": [change]})
    page = app.open(f"/s/{space}/~/tags")
    listed = page.get_by_role("list", name="Undefined tags")
    expect(listed.get_by_role("listitem")).to_have_count(3)
    beta = listed.get_by_role("listitem").filter(has_text="beta")
    expect(beta).to_contain_text("2 pages")
    # A space can't define a slug with a blank.
    other = listed.get_by_role("listitem").filter(has_text="at start")
    expect(other.get_by_role("button", name="Create tag")).to_be_disabled()
    check(page)
    beta.get_by_role("button", name="Show pages").click()
    dialog = page.get_by_role("dialog", name="Pages with the tag “beta”")
    expect(dialog.get_by_role("link")).to_have_text(["Start", "Advanced"])
    dialog.get_by_role("button", name="Close").click()
    beta.get_by_role("button", name="Create tag").click()
    dialog = page.get_by_role("dialog", name="Create tag “beta”")
    dialog.get_by_label("Label").fill("Preview")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("list", name="Tags", exact=True)).to_contain_text("Preview")
    expect(listed.get_by_role("listitem")).to_have_count(2)
    page.context.close()


@pytest.mark.slow
def test_reusable_content_is_created_edited_and_lists_its_uses(app):
    space = app.fill_space("Reused", ["Start"])
    page = app.open(f"/s/{space}/~/reusable")
    page.get_by_role("button", name="New reusable content").first.click()
    page.get_by_label("Title").fill("Support notice")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="Edit Markdown").click()
    page.get_by_label("Markdown").fill("Ask __us__.\n")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".page-text strong")).to_have_text("us")
    one = app.call("GET", f"/spaces/{space}/content")["reusableContents"][0]["id"]
    kept = app.call("GET", f"/spaces/{space}/content/reusable-contents/{one}?format=markdown")
    assert kept["markdown"] == "Ask __us__.\n"
    start = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    text = '{% include "/.gitbook/includes/support-notice.md" %}\n\n[Gone](gone.md)\n'
    edit = {"operation": "update_page", "page": start, "document": {"markdown": text}}
    app.call("POST", f"/spaces/{space}/content", {"changes": [edit]})
    page.reload()
    expect(page.get_by_role("link", name="Start").last).to_be_visible()

    page.goto(f"{app.url}/s/{space}/~/links")
    broken = page.get_by_role("region", name="Start")
    expect(broken.get_by_role("listitem")).to_contain_text("gone.md")
    page.get_by_role("tab", name="All").click()
    expect(broken.get_by_role("listitem")).to_have_count(2)
    page.context.close()


def test_long_words_stay_inside_the_sidebar(app):
    space = app.fill_space("Handbuch", ["Start"])
    for subject in ("One", "Two"):
        app.call("POST", f"/spaces/{space}/change-requests", {"subject": subject})
    page = app.open(f"/s/{space}", locale="de-DE")
    segments = page.get_by_role("navigation", name="Bereich", exact=True)
    expect(segments.locator("[data-drawn]")).to_have_attribute("data-drawn", "2")
    until(lambda: segments.evaluate("found => found.scrollWidth <= found.clientWidth"))
    search = page.get_by_role("button", name="Suchen oder springen zu").locator("span").first
    until(lambda: search.evaluate("found => found.clientHeight") < 30)
    page.context.close()
