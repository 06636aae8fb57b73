"""Making and running a site in a browser, walked by role and name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from settled import until

from .test_accessibility import check

FONT = (
    Path(__file__).parents[2] / "src/octavo/delivery/reader/card_fonts/noto-sans-thai-thai-400-normal.woff2"
)

MARK = b'<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><rect width="80" height="20"/></svg>'


@pytest.fixture(scope="module")
def site(app):
    """Return the path in the API of a site with three sections, and its URL in the app."""
    guides, api, news = (app.fill_space(title, ["Start"]) for title in ("Guides", "Reference", "News"))
    sites = f"/orgs/{app.organization}/sites"
    made = app.call("POST", sites, {"title": "Tides", "spaces": [guides]})["id"]
    for space in (api, news):
        app.call("POST", f"{sites}/{made}/sections", {"spaceId": space})
    return f"{sites}/{made}", f"/o/{app.organization}/sites/{made}"


def test_a_site_is_created_published_and_unpublished(app):
    app.fill_space("Handbook", ["Start"])
    page = app.open("/")
    page.get_by_role("button", name="New site").click()
    dialog = page.get_by_role("dialog", name="New site")
    dialog.get_by_label("Handbook").check()
    dialog.get_by_label("Unlisted").check()
    dialog.get_by_role("button", name="Create site").click()
    expect(page.get_by_role("heading", name="Handbook", level=1)).to_have_count(1)
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish Handbook?")
    expect(dialog).to_contain_text("Anyone with the link can read the site.")
    expect(dialog.get_by_role("listitem")).to_have_text(["Handbook"])
    dialog.get_by_role("button", name="Publish", exact=True).click()
    address = page.get_by_role("textbox", name="URL", exact=True).input_value()
    assert app.client.get(address).status_code == 200
    page.get_by_role("button", name="Unpublish…").click()
    page.get_by_role("dialog").get_by_role("button", name="Unpublish", exact=True).click()
    page.get_by_role("button", name="Publish…", exact=True).wait_for()
    assert app.client.get(address).status_code == 404
    page.context.close()


def test_sections_are_moved_by_key_and_drag_renamed_and_undone(app, site):
    path, address = site
    page = app.open(f"{address}/~/structure")
    tree = page.get_by_role("tree", name="Sections and variants")
    rows = tree.get_by_role("treeitem")
    expect(rows).to_have_count(3)

    def order():
        return [one["title"] for one in app.call("GET", f"{path}/structure")["structure"]]

    rows.nth(2).focus()
    page.keyboard.press("Alt+Shift+ArrowUp")
    notices = page.get_by_role("region", name="Notifications")
    expect(notices).to_contain_text("Moved “News” before “Reference”")
    assert order() == ["Guides", "News", "Reference"]
    notices.get_by_role("button", name="Undo").click()
    expect(rows.nth(2)).to_contain_text("News")
    until(lambda: order() == ["Guides", "Reference", "News"])

    rows.nth(2).hover(position={"x": 12, "y": 20})
    page.mouse.down()
    box = rows.nth(0).bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 30)
    page.mouse.move(box["x"] + 60, box["y"] + 6)
    page.mouse.up()
    expect(rows.nth(0)).to_contain_text("News")
    until(lambda: order() == ["News", "Guides", "Reference"])

    rows.nth(0).click()
    panel = page.get_by_role("complementary", name="Details")
    panel.get_by_label("Title").fill("Changelog")
    panel.get_by_label("Title").press("Enter")
    expect(rows.nth(0)).to_contain_text("Changelog")
    panel.get_by_label("Path").fill("a b")
    panel.get_by_label("Path").press("Enter")
    expect(panel.get_by_label("Path")).to_have_attribute("aria-invalid", "true")
    panel.get_by_label("Draft: hidden from visitors").check()
    expect(rows.nth(0)).to_contain_text("Members only")
    page.context.close()


def test_customization_is_previewed_before_saving(app, site):
    path, address = site
    page = app.open(f"{address}/~/look")
    shown = page.frame_locator("iframe[title='Site preview']")
    # Unchanged data isn't requested again.
    page.wait_for_load_state("networkidle")
    expect(shown.locator("html.theme-bold")).to_have_count(0)
    page.get_by_role("radio", name="Bold").check(force=True)
    expect(shown.locator("html.theme-bold")).to_have_count(1)
    colour = page.get_by_role("textbox", name="Primary color, light", exact=True)
    colour.fill("#ffff00")
    expect(page.get_by_text("1.0:1 in light mode")).to_be_visible()
    page.get_by_text("Header and links").click()
    page.get_by_role("button", name="Header link").click()
    page.get_by_label("Title", exact=True).fill("Status")
    page.get_by_role("textbox", name="URL", exact=True).fill("https://status.example.com")
    expect(shown.get_by_role("link", name="Status").first).to_be_visible()
    assert app.call("GET", f"{path}/customization")["styling"]["theme"] == "clean"
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Customization saved")
    look = app.call("GET", f"{path}/customization")
    assert look["styling"]["theme"] == "bold" and look["header"]["links"][0]["title"] == "Status"
    page.get_by_role("radio", name="Muted").check(force=True)
    page.get_by_role("tab", name="Overview").click()
    page.get_by_role("dialog", name="Leave without saving the customization?").get_by_role(
        "button", name="Leave"
    ).click()
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    page.context.close()


@pytest.mark.slow
def test_a_space_overrides_and_resets_customization(app, site):
    path, address = site
    # The preview next to the form shows the home page of the site, wherever its section was moved.
    sections = app.call("GET", f"{path}/structure")["structure"]
    one = next(section for section in sections if section["title"] == "Guides")["siteSpaces"][0]
    of_space = f"{path}/site-spaces/{one['id']}/customization"
    page = app.open(f"{address}/~/look")
    shown = page.frame_locator("iframe[title='Site preview']")
    page.get_by_label("Customization scope").select_option(one["id"])
    page.get_by_role("radio", name="Muted").check(force=True)
    expect(shown.locator("html.theme-muted")).to_have_count(1)
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Customization saved")
    assert app.call("GET", of_space)["styling"]["theme"] == "muted"
    assert app.call("GET", f"{path}/customization")["styling"]["theme"] != "muted"
    page.get_by_role("button", name="Use site customization").click()
    expect(page.get_by_role("radio", name="Muted")).not_to_be_checked()
    page.get_by_label("Customization scope").select_option("")
    page.get_by_text("Custom fonts").click()
    page.get_by_role("button", name="Add font").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Files").set_input_files(FONT)
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("noto")
    dialog.get_by_role("button", name="Add font").click()
    page.get_by_label("Text", exact=True).select_option(label="noto")
    page.get_by_text("Logo and icon").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose image for Logo", exact=True).click()
        page.get_by_role("menuitem", name="Upload image").click()
    chooser.value.set_files({"name": "mark.svg", "mimeType": "image/svg+xml", "buffer": MARK})
    expect(page.get_by_role("textbox", name="Logo", exact=True)).to_have_value(
        re.compile("/~pictures/.*/mark.svg$")
    )
    expect(shown.locator("header img").first).to_be_visible()
    organization = path.split("/")[2]
    assert [font["fontFamily"] for font in app.call("GET", f"/orgs/{organization}/fonts")["items"]] == [
        "noto"
    ]
    page.context.close()


@pytest.mark.slow
def test_an_audience_can_have_share_links_and_claims(app, site):
    path, address = site
    page = app.open(f"{address}/~/audience")
    page.get_by_role("radio", name="Share links").check()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="New share link").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Partners")
    page.get_by_role("button", name="Create share link").click()
    page.get_by_role("dialog", name="Partners").get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Actions for Partners").click()
    page.get_by_role("menuitem", name="Disable link").click()
    expect(page.get_by_role("list", name="Share links")).to_contain_text("Disabled")
    claim = page.get_by_role("form", name="New claim")
    claim.get_by_label("Claim name").fill("plan")
    claim.get_by_label("Allowed values").fill("free, pro")
    claim.get_by_role("button", name="Add claim").click()
    expect(page.get_by_role("list", name="Claims")).to_contain_text("free, pro")
    page.get_by_role("switch", name="Use claims").check()
    page.get_by_role("button", name="Show key").wait_for()
    assert app.call("GET", path)["adaptiveContent"] == {"enabled": True}
    sections = app.call("GET", f"{path}/structure")["structure"]
    first = next(one for one in sections if not one["draft"])
    section = f"{path}/sections/{first['id']}"
    app.call("PATCH", section, {"condition": 'visitor.claims.plan == "pro"'})
    form = page.get_by_role("form", name="Preview as a visitor with these claims")
    seen = form.get_by_role("list", name="Visible content", exact=True)
    for plan, words in (("free", "Condition not met"), ("pro", "Condition met")):
        form.get_by_label("plan").select_option(plan)
        form.get_by_role("button", name="Show preview").click()
        expect(seen.get_by_role("listitem").filter(has_text=words).first).to_contain_text(first["title"])
    seen.get_by_role("button", name=f"Pages in {first['siteSpaces'][0]['title']}").press("Enter")
    expect(form.get_by_role("list", name=f"Pages in {first['siteSpaces'][0]['title']}")).to_contain_text(
        "Start"
    )
    form.get_by_label("JSON").check()
    form.get_by_label("Claims (JSON)").fill("[]")
    form.get_by_role("button", name="Show preview").click()
    expect(form.get_by_label("Claims (JSON)")).to_have_attribute("aria-invalid", "true")
    app.call("PATCH", section, {"condition": None})
    page.context.close()


@pytest.mark.slow
def test_insights_are_charts_with_tables(app, site):
    path, address = site
    location = {
        "siteSection": None,
        "siteSpace": None,
        "siteShareKey": None,
        "space": None,
        "revision": None,
        "page": None,
    }
    session = {
        "visitorId": "v",
        "sessionId": "s",
        "cookies": {},
        "userAgent": "Mozilla/5.0 Firefox/130.0",
        "language": "de",
        "referrer": "https://example.org/x",
    }
    event = {"session": session, "location": {"url": "https://docs.example.com/a", **location}}
    app.call("POST", f"{path}/publish")
    searched = {"type": "search_type_query", "query": "tide tables", **event}
    app.call(
        "POST", f"{path}/insights/events", {"events": [{"type": "page_view", **event}] * 12 + [searched]}
    )
    page = app.open(f"{address}/~/insights")
    chart = page.get_by_role("img", name="Page views by day")
    expect(chart).to_be_visible()
    chart.focus()
    page.keyboard.press("End")
    expect(page.get_by_role("img", name=": 12, 0 in the previous period")).to_be_visible()
    page.get_by_role("button", name="Show as table").click()
    expect(page.get_by_role("table", name="Page views").first.get_by_role("row")).to_have_count(31)
    expect(page.get_by_role("table", name="Searches without a click")).to_contain_text("tide tables")
    expect(page.get_by_role("table", name="Visitor languages")).to_contain_text("German")
    # Failed searches are listed in My work, and become a draft with one click.
    page.goto(app.url)
    beside = page.get_by_role("complementary", name="Recent pages")
    expect(beside.get_by_role("heading", name="Searches without results")).to_be_visible()
    check(page)
    beside.get_by_role("button", name="Create page “tide tables”").click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Tide tables")
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    page.context.close()


@pytest.mark.slow
def test_a_page_shows_its_insights(app, site):
    path, _ = site
    app.call("POST", f"{path}/publish")
    place = app.call("GET", f"{path}/site-spaces")["items"][0]
    space = place["space"]["id"]
    shown = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]
    location = {
        "url": "https://docs.example.com/a",
        "siteSection": None,
        "siteSpace": place["id"],
        "siteShareKey": None,
        "space": space,
        "revision": None,
        "page": shown["id"],
    }

    def event(who, type, **more):
        session = {
            "visitorId": who,
            "sessionId": who,
            "cookies": {},
            "userAgent": "Mozilla/5.0 Firefox/130.0",
            "language": "de",
            "referrer": "",
        }
        return {"type": type, "session": session, "location": location, **more}

    events = [event(str(n), "page_view") for n in range(7)]
    events += [
        event(str(n), "page_post_feedback", feedback={"rating": "good" if n else "bad"}) for n in range(4)
    ]
    app.call("POST", f"{path}/insights/events", {"events": events})
    page = app.open(f"/s/{space}/{shown['path']}")
    beside = page.get_by_role("region", name="This page")
    expect(beside).to_contain_text("Views (last 30 days)7")
    expect(beside).to_contain_text("Rated helpful75")
    page.context.close()


@pytest.mark.slow
def test_redirects_are_added_and_imported(app, site):
    page = app.open(f"{site[1]}/~/redirects")
    page.get_by_role("button", name="New redirect").click()
    dialog = page.get_by_role("dialog", name="New redirect")
    dialog.get_by_label("From path").fill("no slash")
    dialog.get_by_label("To").select_option("First page of a section")
    dialog.get_by_role("button", name="Add redirect").click()
    expect(dialog.get_by_label("From path")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("From path").fill("/old")
    dialog.get_by_role("button", name="Add redirect").click()
    listed = page.get_by_role("list", name="Redirects")
    expect(listed.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="Import", exact=True).click()
    dialog = page.get_by_role("dialog", name="Import redirects")
    dialog.get_by_label("Redirects", exact=True).fill("/one,https://example.com/1\n/two,/nowhere/at/all")
    dialog.get_by_role("button", name="Import redirects").click()
    expect(dialog.get_by_role("status")).to_contain_text("1 redirect created")
    expect(dialog.get_by_role("table")).to_contain_text("there is no page at")
    dialog.get_by_role("button", name="Done").click()
    expect(listed.get_by_role("listitem")).to_have_count(2)
    page.context.close()


def test_a_site_starts_from_templates_and_lists_what_it_publishes(app):
    made = app.call("POST", f"/orgs/{app.organization}/sites", {"title": "Harbor"})["id"]
    page = app.open(f"/o/{app.organization}/sites/{made}/~/structure")
    page.get_by_role("button", name="Start from a template").click()
    rows = page.get_by_role("treeitem")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Add space").click()
    dialog = page.get_by_role("dialog", name="Add space")
    dialog.get_by_label("Space", exact=True).select_option("New space")
    dialog.get_by_label("Title").fill("Runbooks")
    dialog.get_by_label("Template").select_option("Runbook")
    dialog.get_by_label("Add as a draft").check()
    dialog.get_by_role("button", name="Add space").click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Create group").click()
    page.get_by_role("dialog", name="New group").get_by_label("Title").fill("More")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add link").click()
    dialog = page.get_by_role("dialog", name="External link")
    dialog.get_by_label("Title").fill("Forum")
    dialog.get_by_label("URL").fill("https://forum.example.com/")
    dialog.get_by_role("button", name="Add link").click()
    # An empty group takes a link.
    page.get_by_role("button", name="Actions for Forum").click()
    page.get_by_role("menuitem", name="Move into More").click()
    expect(rows.filter(has_text="Forum")).to_have_attribute("aria-level", "2")
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish Harbor?")
    expect(dialog.get_by_role("listitem")).to_have_text(["Documentation", "Changelog"])
    expect(dialog).to_contain_text("1 draft stays hidden.")
    page.context.close()


@pytest.mark.slow
def test_people_get_a_role_for_a_site(app, site):
    path, address = site
    app.colleague("Sanna", "read")
    page = app.open(f"{address}/~/members")
    people = page.get_by_role("list", name="People")
    row = people.get_by_role("listitem").filter(has_text="Sanna")
    expect(row).to_contain_text("Role in")
    row.get_by_role("button", name=re.compile("Sanna.*role|role.*Sanna", re.I)).last.click()
    page.get_by_role("menuitemradio", name="Creator").click()
    expect(row).to_contain_text("Assigned directly in this site")
    assert app.call("GET", f"{path}/permissions/users")["items"][0]["permission"] == "create"
    page.get_by_role("searchbox", name="Find people").fill("sanna")
    expect(people.get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_text("It doesn't give access to the site's spaces.")).to_be_visible()
    check(page)
    page.get_by_role("button", name=re.compile("All members")).click()
    page.get_by_role("menuitemradio", name="No access").click()
    expect(page.get_by_role("status").filter(has_text="No access")).to_be_visible()
    assert app.call("GET", path)["defaultLevel"] is None
    app.call("PATCH", path, {"defaultLevel": "inherit"})
    page.context.close()


def test_a_channel_shows_the_required_app(app, site):
    path, address = site
    page = app.open(f"{address}/~/settings")
    page.get_by_role("button", name="Add channel").click()
    dialog = page.get_by_role("dialog", name="Add channel")
    dialog.get_by_label("Service").select_option("Discord")
    dialog.get_by_label("Channels").fill("help\ndocs-*")
    dialog.get_by_role("button", name="Add channel").click()
    row = page.get_by_role("list", name="Channels").get_by_role("listitem")
    expect(row).to_contain_text("help, docs-*")
    expect(row).to_contain_text("Pending")
    expect(row.get_by_role("link", name="Register an app")).to_have_attribute(
        "href", "https://discord.com/developers/applications"
    )
    check(page)
    row.get_by_role("button", name="Actions for Discord").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(page.get_by_text("No channels yet")).to_be_visible()
    assert app.call("GET", f"{path}/channels")["items"] == []
    page.context.close()


def test_a_source_is_added_and_removed(app, site):
    _, address = site
    page = app.open(f"{address}/~/settings")
    page.get_by_role("button", name="Add source").click()
    dialog = page.get_by_role("dialog", name="Add source")
    dialog.get_by_label("Service").select_option("GitHub issues")
    expect(dialog.get_by_label("Token", exact=True)).to_have_attribute("type", "password")
    dialog.get_by_label("Service").select_option("Email")
    dialog.get_by_label("Filter").fill("-spam")
    dialog.get_by_role("button", name="Add source").click()
    row = page.get_by_role("list", name="Sources").get_by_role("listitem")
    expect(row).to_contain_text("0 records")
    check(page)
    row.get_by_role("button", name="Actions for Email").click()
    page.get_by_role("menuitem", name="Show records").click()
    expect(page.get_by_role("dialog", name="Records from Email")).to_contain_text("No records yet")
    page.keyboard.press("Escape")
    row.get_by_role("button", name="Actions for Email").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove source").click()
    expect(page.get_by_text("No sources yet")).to_be_visible()
    page.context.close()


def test_a_conversation_with_the_assistant_is_continued(app, site):
    page = app.open("/")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("How do I read the first part?")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Ask")
    conversations = dialog.get_by_role("list", name="Your conversations")
    expect(conversations.get_by_role("listitem")).to_have_count(1)
    dialog.get_by_role("textbox", name="Question").fill("And the second part?")
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.get_by_role("list", name="Earlier questions")).to_have_text("How do I read the first part?")
    conversations.get_by_role("button", name=re.compile("Actions")).click()
    page.get_by_role("menuitem", name="Rename").click()
    rename = page.get_by_role("dialog", name="Rename conversation")
    rename.get_by_label("Title").fill("Parts")
    rename.get_by_role("button", name="Rename").click()
    expect(conversations).to_contain_text("Parts")
    check(page)
    conversations.get_by_role("button", name="Parts", exact=True).click()
    expect(dialog.get_by_role("textbox", name="Question")).to_have_value("And the second part?")
    conversations.get_by_role("button", name=re.compile("Actions")).click()
    page.get_by_role("menuitem", name="Delete conversation").click()
    expect(conversations).to_have_count(0)
    page.context.close()


def test_drafts_are_listed_and_published_together(app, site):
    path, address = site
    page = app.open(f"{address}/~/structure")
    page.get_by_role("button", name="Add link").click()
    dialog = page.get_by_role("dialog", name="External link")
    dialog.get_by_label("Title").fill("Forum")
    dialog.get_by_label("URL").fill("https://forum.example.com/")
    dialog.get_by_role("button", name="Add link").click()
    row = page.get_by_role("treeitem").filter(has_text="Forum")
    expect(row).to_contain_text("Members only")
    # Other tests may have left drafts on the site.
    publish = re.compile(r"^Publish \d+ change")
    page.get_by_role("button", name=publish).click()
    dialog = page.get_by_role("dialog", name=publish)
    expect(dialog.get_by_role("checkbox", name="Forum")).to_be_checked()
    expect(dialog).to_contain_text("External link Forum")
    check(page)
    dialog.get_by_role("button", name=publish).press("Enter")
    expect(row).to_contain_text("Everyone")
    # The button that opened the dialog is gone.
    expect(page.get_by_role("main")).to_be_focused()
    assert app.call("GET", f"{path}/drafts")["items"] == []
    notices = page.get_by_role("region", name="Notifications")
    told = notices.get_by_role("status").filter(has_text="published")
    told.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("Members only")
    page.context.close()


def test_drafts_are_discarded_after_a_confirmation_that_lists_them(app):
    guides, api = (app.fill_space(title, ["Start"]) for title in ("Kept", "Hidden"))
    sites = f"/orgs/{app.organization}/sites"
    site = f"{sites}/{app.call('POST', sites, {'title': 'Discarding', 'spaces': [guides]})['id']}"
    section = app.call("POST", f"{site}/sections", {"spaceId": api, "title": "Hidden"})["id"]
    app.call("POST", f"{site}/section-groups", {"title": "More", "sections": [section], "draft": True})
    link = {"title": "Forum", "url": "https://forum.example.com/", "draft": True}
    kept = app.call("POST", f"{site}/external-links", {**link, "title": "Chat"})["id"]
    app.call("POST", f"{site}/external-links", link)
    target = {"kind": "external", "url": "https://example.com/"}
    app.call("POST", f"{site}/redirects", {"source": "/old", "destination": target, "draft": True})
    page = app.open(f"/o{site.removeprefix('/orgs')}/~/structure")
    page.get_by_role("button", name="Publish 4 changes").click()
    page.get_by_role("dialog").get_by_role("checkbox", name="Chat").uncheck()
    page.get_by_role("button", name="Discard drafts").click()
    dialog = page.get_by_role("dialog", name="Discard 3 drafts?")
    expect(dialog.locator("li strong")).to_have_text(["Group More", "External link Forum", "Redirect /old"])
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    check(page)
    dialog.get_by_role("button", name="Discard drafts").click()
    told = page.get_by_role("region", name="Notifications").get_by_role("status")
    expect(told.filter(has_text="3 drafts discarded")).to_be_visible()
    # The section stays on the site, and still isn't visible.
    drafts = app.call("GET", f"{site}/drafts")["items"]
    assert {one["id"] for one in drafts} == {kept, section}
    expect(page.get_by_role("button", name="Publish 2 changes")).to_be_visible()
    page.context.close()


@pytest.mark.slow
def test_a_host_name_shows_its_dns_record_and_a_site_is_deleted(app, site):
    page = app.open(f"{site[1]}/~/address")
    page.get_by_role("textbox", name="Hostname").fill("not a host")
    page.get_by_role("button", name="Save domain").click()
    expect(page.get_by_role("textbox", name="Hostname")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("tab", name="Settings").click()
    page.get_by_role("button", name="Delete site…").click()
    dialog = page.get_by_role("dialog", name="Delete Tides?")
    expect(dialog).to_contain_text("3 spaces")
    dialog.get_by_role("button", name="Delete site").click()
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("Tides deleted")
    page.context.close()
