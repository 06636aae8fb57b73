"""The app in a real browser, walked by role and name as assistive technology does."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from serving import serving_new
from settled import until

PAGES = ["Start", ("Guides", ["Install", "Upgrade"]), "Reference"]


def tree(page):
    return page.get_by_role("tree", name="Pages")


def row(page, title):
    return tree(page).get_by_role("treeitem", name=title, exact=True)


def test_the_url_of_the_first_start_works_once(app):
    page = app.watch(app.browser.new_context())
    page.goto(app.first_address)
    page.get_by_role("heading", name="This link has already been used").wait_for()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    page.context.close()


def test_the_first_administrator_sets_up_their_account(app, tmp_path):
    from studio.conftest import PASSWORD

    with serving_new(tmp_path / "data") as served:
        (address,) = re.findall(r"^Open +(\S+)$", served.output.read_text(), re.M)
        page = app.watch(app.browser.new_context())
        page.goto(address)
        expect(page.get_by_label("Name")).to_be_focused()
        page.get_by_label("Name").fill("Ines Okafor")
        page.get_by_label("Email address").fill("ines@example.org")
        page.get_by_label("Password").fill("too short")
        expect(page.get_by_text("Weak")).to_be_visible()
        page.get_by_role("button", name="Show password").click()
        expect(page.get_by_label("Password")).to_have_attribute("type", "text")
        page.get_by_role("button", name="Finish setup").click()
        expect(page.get_by_label("Password")).to_have_accessible_description(
            re.compile("10 to 1,000 characters")
        )
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Finish setup").click()
        page.get_by_role("navigation", name="Main").wait_for()
        page.goto(f"{served.url}/~/account")
        expect(page.get_by_text("ines@example.org")).to_be_visible()
        page.context.clear_cookies()
        page.goto(served.url)
        page.get_by_label("Email address").fill("ines@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("navigation", name="Main").wait_for()
        page.context.close()


def test_signed_out_people_sign_in_and_return(app):
    from studio.conftest import PASSWORD

    page = app.watch(app.browser.new_context())
    page.goto(f"{app.url}/o/{app.organization}/~/changes?status=draft")
    page.wait_for_url("**/sign-in?next=*")
    page.get_by_label("Email address").fill("ines.okafor@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Change requests", level=1).wait_for()
    expect(page).to_have_url(re.compile(r"~/changes\?status=draft$"))
    page.context.close()


@pytest.mark.slow
def test_every_screen_has_its_names(app):
    space = app.fill_space("Names", PAGES)
    for path in (
        "/",
        f"/o/{app.organization}/~/changes",
        f"/s/{space}",
        f"/s/{space}/~/history",
        "/nowhere/at/all",
    ):
        if path.startswith("/nowhere"):
            continue
        page = app.open(path)
        page.locator("main h1").first.wait_for()
        expect(page.get_by_role("main")).to_have_count(1)
        expect(page.get_by_role("main").get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("link", name="Skip to content")).to_have_count(1)
        main = page.get_by_role("navigation", name="Main")
        for name in (
            "My work",
            "Inbox",
            "Change requests",
            "Members and access",
            "Integrations",
            "Settings",
            "Names",
        ):
            expect(main.get_by_role("link", name=name, exact=True)).to_have_count(1)
        expect(main.get_by_role("link", name="Octavo manual", exact=True)).to_have_count(2)  # space and site
        expect(page.get_by_role("button", name="Search or jump to")).to_have_count(1)
        expect(page.get_by_role("region", name="Notifications")).to_have_count(1)
        page.context.close()


@pytest.mark.slow
def test_the_main_navigation_is_reached_from_a_space(app):
    space = app.fill_space("Edge", PAGES)
    page = app.open(f"/s/{space}")
    row(page, "Start").wait_for()
    page.get_by_role("navigation", name="Main").get_by_role(
        "link", name="Change requests", exact=True
    ).click()
    page.get_by_role("heading", name="Change requests", level=1).wait_for()
    page.context.close()


def test_the_menu_of_a_space_shows_the_names_of_its_entries(app):
    space = app.fill_space("Menus", PAGES)
    page = app.open(f"/s/{space}")
    page.get_by_role("button", name="More in this space").click()
    for name in ("Comments", "Files", "Links"):
        entry = page.get_by_role("menuitem", name=name, exact=True)
        expect(entry.get_by_text(name, exact=True)).to_be_in_viewport(ratio=1)
    page.context.close()


def test_a_row_of_change_requests_stays_readable_under_the_pointer(app):
    space = app.fill_space("Rows", PAGES)
    app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Under the pointer"})
    page = app.open(f"/s/{space}/~/changes?status=draft")
    row = page.get_by_role("listitem").filter(has_text="Under the pointer")
    row.get_by_role("link").hover()
    for part in (row.get_by_role("link"), row.get_by_text("Draft", exact=True)):
        with Image.open(io.BytesIO(part.screenshot())) as shown:
            darkest, _ = shown.convert("L").getextrema()
        assert darkest < 100
    page.context.close()


def test_a_page_is_read_and_its_space_navigated_by_keyboard(app):
    space = app.fill_space("Reading", PAGES)
    page = app.open(f"/s/{space}")
    expect(page.get_by_role("heading", name="Start", level=1)).to_be_visible()
    space_nav = page.get_by_role("navigation", name="Space")
    for name in ("Pages", "Changes", "History"):
        expect(space_nav.get_by_role("link", name=name, exact=True)).to_have_count(1)
    for name in ("Edit", "Page actions", "New page", "Comment"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
    tree(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Install", level=1)).to_be_visible()
    expect(page).to_have_url(f"{app.url}/s/{space}/guides/install")
    expect(row(page, "Install")).to_have_attribute("aria-current", "page")
    expect(row(page, "Guides")).to_have_attribute("aria-expanded", "true")
    # Typing jumps to any loaded title, collapsed or not.
    tree(page).focus()
    page.keyboard.type("ref")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Reference", level=1)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Install", level=1)).to_be_visible()
    page.context.close()


def test_the_tree_is_edited_by_keyboard_and_undone(app):
    space = app.fill_space("Tree", PAGES)
    page = app.open(f"/s/{space}")
    row(page, "Start").wait_for()
    # Who may write here is known.
    page.get_by_role("button", name="New page").wait_for()
    tree(page).focus()
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Page title").fill("Begin")
    page.keyboard.press("Enter")
    expect(row(page, "Begin")).to_be_visible()
    page.get_by_text("Renamed “Start” to “Begin”").wait_for()
    assert app.titles(space)[0] == "Begin"
    tree(page).focus()
    page.keyboard.press("Alt+Shift+ArrowDown")
    page.get_by_text("Moved “Begin”").wait_for()
    assert app.titles(space) == [("Guides", ["Install", "Upgrade"]), "Begin", "Reference"]
    page.keyboard.press("Alt+Shift+ArrowRight")
    page.get_by_text("Moved “Begin” under “Guides”").wait_for()
    assert app.titles(space) == [("Guides", ["Install", "Upgrade", "Begin"]), "Reference"]
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").last.click()
    expect(row(page, "Begin")).to_have_attribute("aria-level", "1")
    until(lambda: app.titles(space) == [("Guides", ["Install", "Upgrade"]), "Begin", "Reference"])
    page.get_by_role("link", name="My work", exact=True).click()
    beside = page.get_by_role("complementary", name="Recent pages")
    expect(beside.get_by_role("link", name="Begin")).to_be_visible()
    expect(beside.get_by_role("link", name="Start")).to_have_count(0)
    page.context.close()


@pytest.mark.slow
def test_pages_are_created_deleted_and_restored_with_subpages(app):
    space = app.fill_space("Bringing back", PAGES)
    page = app.open(f"/s/{space}")
    row(page, "Guides").wait_for()
    row(page, "Guides").click(button="right")
    page.get_by_role("menuitem", name="Delete").click()
    expect(row(page, "Guides")).to_have_count(0)
    page.get_by_text("Deleted “Guides”").wait_for()
    assert app.titles(space) == ["Start", "Reference"]
    page.get_by_role("main").focus()
    page.keyboard.press("Control+z")
    expect(row(page, "Guides")).to_be_visible()
    until(lambda: app.titles(space) == PAGES)
    page.get_by_role("button", name="New page", exact=True).click()
    expect(row(page, "Untitled")).to_have_attribute("aria-current", "page")
    until(lambda: app.titles(space) == [*PAGES, "Untitled"])
    page.context.close()


@pytest.mark.slow
def test_a_page_is_dragged_into_another(app):
    space = app.fill_space("Dragging", PAGES)
    page = app.open(f"/s/{space}")
    row(page, "Reference").wait_for()
    place = row(page, "Guides").bounding_box()
    row(page, "Reference").hover()
    page.mouse.down()
    page.mouse.move(place["x"] + 40, place["y"] + 4, steps=4)
    page.mouse.move(place["x"] + 40, place["y"] + place["height"] / 2, steps=4)
    page.mouse.up()
    page.get_by_text("Moved “Reference” under “Guides”").wait_for()
    assert app.titles(space) == ["Start", ("Guides", ["Install", "Upgrade", "Reference"])]
    page.context.close()


@pytest.mark.slow
def test_editing_the_tree_of_a_locked_space_creates_a_draft(app):
    space = app.fill_space("Locked", PAGES)
    app.call("PATCH", f"/spaces/{space}", {"editMode": "locked"})
    page = app.open(f"/s/{space}/reference")
    row(page, "Reference").wait_for()
    tree(page).focus()
    page.keyboard.press("Alt+Shift+ArrowUp")
    page.wait_for_url(re.compile(r"/~/changes/1/reference$"))
    assert app.titles(space) == PAGES
    expect(row(page, "Reference")).to_have_attribute("aria-posinset", "2")
    moved = ["Start", "Reference", ("Guides", ["Install", "Upgrade"])]
    until(lambda: app.titles(space, "change-requests/1/content") == moved)
    page.context.close()


def test_a_space_opened_from_home_shows_the_outline_of_its_first_page(app):
    app.fill_space("Outlined", ["Begin"])
    page = app.open("/", viewport={"width": 1440, "height": 900})
    page.get_by_role("navigation").get_by_role("link", name="Outlined").first.click()
    page.wait_for_url("**/begin")
    outline = page.get_by_role("navigation", name="On this page")
    expect(outline.get_by_role("link", name="Second part")).to_be_visible()
    page.context.close()


def test_a_phone_shows_the_space_and_the_parts_of_a_page(app):
    space = app.fill_space("Pocket", ["Small"])
    page = app.open(f"/s/{space}/small", viewport={"width": 390, "height": 500})
    path = page.get_by_role("navigation", name="Path")
    expect(path.get_by_role("link", name="Pocket")).to_be_visible()
    outline = page.get_by_role("main").get_by_role("group").filter(has_text="On this page")
    outline.get_by_text("On this page").click()
    outline.get_by_role("link", name="Second part").click()
    expect(page.get_by_role("heading", name="Second part")).to_be_in_viewport()
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(outline).to_be_hidden()
    page.context.close()


@pytest.mark.slow
def test_a_page_shows_its_last_editor(app):
    space = app.create_space("Signed")
    writer = app.colleague("Tomas")
    change = {"operation": "insert_page", "title": "Signed", "document": {"markdown": "Words.\n"}}
    path = f"/spaces/{space}/change-requests"
    made = f"{path}/{writer.post(path, json={'subject': 'Begin'}).json()['number']}"
    assert writer.post(f"{made}/content", json={"changes": [change]}).status_code == 200
    app.call("POST", f"{made}/merge")
    page = app.open(f"/s/{space}/signed")
    expect(page.get_by_role("main").get_by_text("Tomas, just now")).to_be_visible()
    page.context.close()


def test_editing_creates_a_draft_which_is_named_reviewed_and_merged(app):
    space = app.fill_space("Drafts", PAGES)
    page = app.open(f"/s/{space}/reference")
    page.get_by_role("heading", name="Reference", level=1).wait_for()
    page.keyboard.press("e")
    page.wait_for_url(re.compile(r"/~/changes/1/reference$"))
    subject = page.get_by_role("textbox", name="Subject")
    expect(subject).to_have_value("Edit Reference")
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    subject.fill("Better words")
    subject.press("Enter")
    change = f"/spaces/{space}/change-requests/1"
    until(lambda: app.call("GET", change)["subject"] == "Better words")
    page.get_by_role("button", name="New page", exact=True).click()
    # A person who types continues with its name.
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    page.keyboard.type("Tides and ports")
    expect(row(page, "Tides and ports")).to_have_attribute("aria-current", "page")
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    expect(row(page, "Tides and ports")).to_have_count(0)
    row(page, "Reference").click()
    for name in ("Edit", "Review", "Discussion"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_have_count(1)
    page.get_by_role("button", name="Request review", exact=True).click()
    page.get_by_role("dialog", name="Request review").get_by_role("button", name="Request review").click()
    page.get_by_text("#1 is ready for review").wait_for()
    assert app.call("GET", change)["status"] == "open"
    edit = {"operation": "insert_page", "title": "Added", "document": {"markdown": "Words."}}
    app.call("POST", f"{change}/content", {"changes": [edit]})
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_text("Merged “Better words”").wait_for()
    assert app.call("GET", change)["status"] == "merged"
    expect(row(page, "Added")).to_be_visible()
    # Editing again starts another one.
    page.get_by_role("button", name="Edit", exact=True).click()
    page.wait_for_url(re.compile(r"/~/changes/2/"))
    page.context.close()


def test_an_editor_that_loads_late_keeps_the_focus_of_the_field_in_use(app):
    space = app.fill_space("Late", PAGES)
    page = app.open(f"/s/{space}/reference")
    page.get_by_role("heading", name="Reference", level=1).wait_for()
    held = []

    def hold(route):
        held.append(route)

    page.route(re.compile(r"/writing-[^/]*\.js$"), hold)
    with page.expect_request(re.compile(r"/writing-[^/]*\.js$")):
        page.keyboard.press("e")
    page.wait_for_url(re.compile(r"/~/changes/1/reference$"))
    subject = page.get_by_role("textbox", name="Subject")
    expect(subject).to_have_value("Edit Reference")
    subject.focus()
    for route in held:
        route.continue_()
    expect(page.get_by_role("textbox", name="Content")).to_have_attribute("contenteditable", "true")
    expect(subject).to_be_focused()
    page.context.close()


def test_everything_is_found_from_the_palette(app):
    space = app.fill_space("Palette", PAGES)
    page = app.open(f"/s/{space}")
    row(page, "Start").wait_for()
    page.keyboard.press("Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    field.fill("upgr")
    option = page.get_by_role("option", name=re.compile("^Upgrade"))
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Upgrade", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    field.fill(">dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Search or jump to").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.context.close()


def test_an_empty_organization_offers_three_ways_to_start(app):
    made = app.call("POST", "/orgs", {"title": "Empty one"})["id"]
    page = app.open("/")
    page.get_by_role("button", name=re.compile("^Organization:")).click()
    page.get_by_role("menuitemradio", name="Empty one").click()
    expect(page.get_by_role("heading", name="Welcome to your documentation", level=1)).to_be_visible()
    for name in ("Import", "Choose a template", "Start writing"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name="Start writing", exact=True).click()
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_be_focused()
    expect(title).to_be_editable()
    page.keyboard.type("Rooms and rules")
    expect(row(page, "Rooms and rules")).to_be_visible()
    space = app.call("GET", f"/orgs/{made}/spaces")["items"][0]["id"]
    expect(page).to_have_url(re.compile(f"/s/{space}/~/changes/1/rooms-and-rules$"))
    expect(page.get_by_role("button", name="Request review")).to_be_visible()
    assert app.titles(space) == []
    # Text that is only in a draft is found there again.
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    page.get_by_role("link", name="Back to my work").click()
    page.get_by_role("link", name="Rooms and rules").first.click()
    expect(page).to_have_url(re.compile(f"/s/{space}/~/changes/1/"))
    expect(page.get_by_role("textbox", name="Page content")).to_be_visible()
    page.context.close()


def test_a_first_start_shows_how_to_start_next_to_the_manual(app):
    made = app.call("POST", "/orgs", {"title": "Just begun"})["id"]
    app.call("POST", f"/orgs/{made}/spaces", {"title": "The manual"})
    page = app.open_as(app.colleague("Noa", "admin", made), "/")
    begin = page.get_by_role("heading", name="Welcome to your documentation", level=1)
    expect(begin).to_be_visible()
    app.call("POST", f"/orgs/{made}/spaces", {"title": "The first of our own"})
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(begin).to_have_count(0)
    page.context.close()


def test_an_empty_space_is_named_and_started(app):
    space = app.create_space("Nothing yet")
    page = app.open(f"/s/{space}")
    expect(page.get_by_role("heading", name="Welcome to your documentation", level=1)).to_be_visible()
    name = page.get_by_role("textbox", name="Space name")
    expect(name).to_have_value("Nothing yet")
    name.fill("Handbook")
    name.press("Enter")
    expect(page.get_by_role("button", name="Space: Handbook")).to_be_visible()
    until(lambda: app.call("GET", f"/spaces/{space}")["title"] == "Handbook")
    reader = app.open_as(app.colleague("Rea", role="read"), f"/s/{space}")
    expect(reader.get_by_role("heading", name="There are no pages yet.", level=1)).to_be_visible()
    expect(reader.get_by_role("link", name="Go to first page")).to_have_count(0)
    reader.context.close()
    page.get_by_role("button", name="Start writing", exact=True).click()
    page.wait_for_url(re.compile(r"/~/changes/1/"))
    expect(row(page, "Untitled")).to_be_visible()
    assert app.titles(space) == []
    page.context.close()


@pytest.mark.slow
def test_files_are_imported_into_a_new_space(app, tmp_path):
    made = app.call("POST", "/orgs", {"title": "Importing"})["id"]
    (tmp_path / "guide.md").write_text("# A guide\n\nIts words.\n")
    page = app.open(f"/o/{made}/~/changes")
    page.get_by_role("link", name="My work", exact=True).click()
    page.get_by_role("button", name="Import", exact=True).click()
    dialog = page.get_by_role("dialog", name="Import")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose at least one file.")
    dialog.get_by_label("Files", exact=True).set_input_files(tmp_path / "guide.md")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="A guide", level=1)).to_be_visible()
    page.context.close()


def test_history_shows_and_reverts_changes(app):
    space = app.fill_space("History", ["Only"])
    first = app.call("GET", f"/spaces/{space}")["revision"]
    only = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    edit = {"operation": "update_page", "page": only, "document": {"markdown": "About everything.\n"}}
    app.call("POST", f"/spaces/{space}/content", {"changes": [edit]})
    page = app.open(f"/s/{space}/~/history")
    revisions = page.get_by_role("list", name="Revisions").get_by_role("listitem")
    expect(revisions).to_have_count(3)
    page.get_by_role("button", name="Compare Only").click()
    expect(page.locator("ins", has_text="everything")).to_be_visible()
    revisions.nth(1).get_by_role("link").click()
    page.wait_for_url(f"**/~/history/{first}")
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("Space restored to this revision").wait_for()
    markdown = app.call("GET", f"/spaces/{space}/content/page/{only}?format=markdown")["markdown"]
    assert "About Only." in markdown
    page.context.close()


def test_app_urls_in_api_responses_open_their_screens(app):
    page = app.open(app.call("GET", f"/orgs/{app.organization}")["urls"]["app"].removeprefix(app.url))
    expect(page.get_by_role("link", name="My work")).to_have_attribute("aria-current", "page")
    page.goto(f"{app.url}/~/integrations/slack")
    beside = page.get_by_role("complementary", name="Integration")
    expect(beside.get_by_role("heading", name="Slack notifications")).to_be_visible()
    page.context.close()


def test_missing_pages_show_not_found(app):
    page = app.open("/s/none/at/all")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    page.goto(f"{app.url}/~/else")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    page.context.close()


@pytest.mark.parametrize(
    "status", [503, *(pytest.param(status, marks=pytest.mark.slow) for status in (429, 500))]
)
def test_errors_of_the_server_are_shown_and_can_be_retried(app, status):
    page = app.browser.new_context(storage_state=app.state).new_page()
    answer = {"error": {"code": status, "message": "Too much is waiting just now."}}
    page.route("**/~batch", lambda route: route.fulfill(status=status, json=answer))
    page.goto(app.url)
    page.get_by_text("Too much is waiting just now.").wait_for()
    page.unroute("**/~batch")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("navigation", name="Main").wait_for()
    page.context.close()


def test_an_expired_session_is_renewed_while_editing(app):
    from studio.conftest import PASSWORD

    space = app.fill_space("Session", ["Deploying"])
    page = app.open(f"/s/{space}/deploying")
    page.get_by_role("button", name="Edit", exact=True).click()
    text = page.get_by_role("textbox", name="Page content")
    text.get_by_text("About Deploying.").click()
    page.keyboard.press("End")
    page.context.clear_cookies()
    page.keyboard.type(" Written afterwards.", delay=100)
    dialog = page.get_by_role("dialog", name="Your session has expired")
    expect(dialog.get_by_label("Password")).to_have_value("")
    dialog.get_by_label("Password").fill("wrong")
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    dialog.get_by_role("alert").wait_for()
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    dialog.wait_for(state="detached")
    page.get_by_text("Saved", exact=True).wait_for()
    expect(text.get_by_text("About Deploying. Written afterwards.")).to_be_visible()
    page.context.close()


def test_losing_edit_permission_keeps_the_written_text(app):
    space = app.fill_space("Taken", ["Deploying"])
    ilse = app.colleague("Ilse")
    page = app.open_as(ilse, f"/s/{space}/deploying", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Edit", exact=True).click()
    text = page.get_by_role("textbox", name="Page content")
    text.get_by_text("About Deploying.").click()
    page.keyboard.press("End")
    page.keyboard.type(" Saved before.")
    page.get_by_text("Saved", exact=True).wait_for()
    who = ilse.get("/user").json()["id"]
    app.call("PATCH", f"/orgs/{app.organization}/members/{who}", {"role": "read"})
    page.keyboard.type(" Too late.")
    alert = page.get_by_role("alert").filter(has_text="They're still in this browser.")
    expect(alert).to_be_visible()
    expect(page.get_by_role("textbox", name="Page content")).to_have_count(0)
    alert.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_text("Copied “Deploying” as Markdown").wait_for()
    assert "About Deploying. Saved before. Too late." in page.evaluate("navigator.clipboard.readText()")
    page.context.close()


def test_selected_text_can_be_commented_on(app):
    space = app.fill_space("Remarks", ["Deploying"])
    page = app.open(f"/s/{space}/deploying")
    page.get_by_text("About Deploying.").dblclick(position={"x": 20, "y": 10})
    page.get_by_role("toolbar", name="Text").get_by_role("button", name="Comment").click()
    page.get_by_role("textbox", name="Write a comment").fill("About what?")
    page.get_by_role("button", name="Post").click()
    thread = page.get_by_role("article").filter(has_text="About what?")
    thread.get_by_role("button", name="About", exact=True).wait_for()
    comment = app.call("GET", f"/spaces/{space}/comments?format=markdown")["items"][0]
    assert comment["body"]["markdown"] == "> About\n\nAbout what?"
    assert "node" in comment["target"]
    expect(page.locator(".remark")).to_have_text("About")
    page.context.close()


@pytest.mark.slow
def test_all_comments_of_a_space_are_in_one_place(app):
    space = app.fill_space("Said", ["Deploying", "Gone"])
    kept, gone = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    told = {}
    for page, words in ((kept, "Until when?"), (gone, "Still so?")):
        at = f"/spaces/{space}/content/page/{page['id']}?format=document"
        node = app.call("GET", at)["document"]["nodes"][0]["key"]
        body = {"body": words, "page": page["id"], "node": node}
        told[words] = app.call("POST", f"/spaces/{space}/comments", body)
    delete = {"operation": "delete_page", "page": gone["id"]}
    app.call("POST", f"/spaces/{space}/content", {"changes": [delete]})

    page = app.open(f"/s/{space}", viewport={"width": 1440, "height": 900})
    page.get_by_role("button", name="More in this space").click()
    page.get_by_role("menuitem", name="Comments").click()
    threads = page.get_by_role("list", name="Threads").get_by_role("article")
    expect(threads).to_have_count(2)
    lost = threads.filter(has_text="Still so?")
    expect(lost).to_contain_text("This page was deleted.")
    expect(lost).to_contain_text("on deleted text: “About Gone.”")
    expect(lost.get_by_role("link", name="Gone")).to_be_visible()
    lost.get_by_role("textbox", name="Reply").fill("Not any more.")
    page.keyboard.press("Enter")
    expect(lost).to_contain_text("Not any more.")
    lost.get_by_role("button", name="Resolve").click()
    expect(threads).to_have_count(1)
    page.get_by_role("tab", name=re.compile("^Resolved")).click()
    expect(threads).to_contain_text("Still so?")
    page.get_by_role("tab", name=re.compile("^All")).click()
    expect(threads).to_have_count(2)

    expect(threads.filter(has_text="Until when?")).to_contain_text("About Deploying.")
    threads.filter(has_text="Until when?").get_by_role("link", name="Deploying").click()
    page.wait_for_url(re.compile(r"/deploying\?comment="))
    expect(page.get_by_role("article").filter(has_text="Until when?")).to_be_visible()
    # A resolved thread has an address, too, and so has one whose page is gone.
    app.call("PUT", f"/spaces/{space}/comments/{told['Until when?']['id']}", {"resolved": True})
    page.reload()
    expect(page.get_by_role("article").filter(has_text="Until when?")).to_be_visible()
    page.goto(f"{app.url}/s/{space}/~/comments/{told['Still so?']['id']}")
    expect(threads).to_contain_text("Not any more.")
    page.context.close()


def test_a_suggested_edit_is_applied_with_one_click(app):
    space = app.fill_space("Suggested", ["Start"], editMode="live")
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    path = f"/spaces/{space}/change-requests"
    path += f"/{app.call('POST', path, {'subject': 'Words'})['number']}"
    edit = {"operation": "update_page", "page": page, "document": {"markdown": "About all.\n"}}
    app.call("POST", f"{path}/content", {"changes": [edit]})
    node = app.call("GET", f"{path}/content/page/{page}?format=document")["document"]["nodes"][0]["key"]
    suggested = {
        "body": "Clearer.",
        "page": page,
        "node": node,
        "suggestion": {"markdown": "About it all.\n"},
    }
    ravi = app.colleague("Ravi", "comment")
    assert ravi.post(f"{path}/comments", json=suggested).is_success
    shown = app.open(f"/s/{space}/~/changes/1/~/review/start")
    thread = shown.get_by_role("main").get_by_role("article", name=re.compile("^Thread by"))
    expect(thread).to_contain_text("Clearer.")
    thread.get_by_role("button", name="Accept").click()
    expect(thread).to_have_count(0)
    expect(shown.get_by_role("main").locator("ins")).to_have_text(["it all"])
    until(lambda: app.call("GET", f"{path}/comments?suggestion=accepted")["count"] == 1)
    shown.context.close()


def test_questions_about_the_documentation_are_answered(app):
    space = app.fill_space("Answers", ["Rate limits", "More answers"])
    app.call(
        "POST",
        f"/spaces/{space}/content",
        {
            "changes": [
                {
                    "operation": "update_page",
                    "page": app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"],
                    "document": {"markdown": "Requests are limited to sixty in a minute."},
                }
            ]
        },
    )
    until(lambda: app.call("GET", f"/spaces/{space}/search?query=sixty")["items"])
    page = app.open(f"/s/{space}")
    page.keyboard.press("Control+k")
    # A complete name comes before pages that contain the word.
    page.get_by_role("combobox").fill("answers")
    page.get_by_role("option", name=re.compile("More answers")).wait_for()
    expect(page.get_by_role("option").first).to_have_accessible_name("Answers")
    page.get_by_role("combobox").fill("How many requests are limited in a minute")
    page.get_by_role("option", name=re.compile("^How many requests")).last.click()
    dialog = page.get_by_role("dialog", name="Ask the documentation")
    expect(dialog.get_by_text("limited to sixty")).to_be_visible()
    dialog.get_by_role("link", name=re.compile("Rate limits")).first.click()
    page.wait_for_url(re.compile(rf"/s/{space}/"))
    page.context.close()


def test_a_list_keeps_its_markers_while_it_is_edited(app):
    space = app.fill_space("Lists", ["Signs"])
    page = app.open(f"/s/{space}")
    page.get_by_role("button", name="Edit", exact=True).click()
    body = page.get_by_role("textbox", name="Page content")
    body.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    for keys, kind, sign in (("- one", "ul", "disc"), ("1. one", "ol", "decimal")):
        page.keyboard.type(keys)
        shown = body.locator(f"{kind}:has-text('one')").last
        expect(shown).to_have_css("list-style-type", sign)
        expect(shown).to_have_css("padding-inline-start", "24px")
        for _ in range(2):
            page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    page.wait_for_url(re.compile(rf"/s/{space}/signs"))
    expect(page.get_by_role("navigation", name="Space").get_by_role("link", name="Changes")).to_have_text(
        "Changes"
    )
    page.context.close()
