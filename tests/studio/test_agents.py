"""Agents in a browser: authorizing, listing, and revoking them, and the site content they read."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from itertools import product
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from settled import PATIENCE

from .test_accessibility import PHONE, WIDE, check

BACK = "http://127.0.0.1:9/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
VIEWS = list(product((WIDE, PHONE), ("light", "dark")))


class Asking:
    """A program that is registered, and the page to which it sends people."""

    def __init__(self, app, name):
        made = httpx.post(
            f"{app.url}/oauth/register", json={"client_name": name, "redirect_uris": [BACK]}, timeout=60
        )
        self.app, self.client = app, made.json()["client_id"]
        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": BACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "st&1",
            "resource": f"{app.url}/mcp/{app.organization}",
        }
        self.path = f"/oauth/authorize?{urlencode(asked)}"

    def open(self, **options):
        """Open the page in a browser for which the app waits at its redirect URL."""
        page = self.app.open("/portal.css", **options)
        page.context.route(f"{BACK}**", lambda route: route.fulfill(body="The program goes on."))
        page.goto(f"{self.app.url}{self.path}")
        page.get_by_role("button", name="Connect").wait_for()
        return page

    def exchange(self, code):
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
        }
        return httpx.post(f"{self.app.url}/oauth/token", data=form, timeout=60).json()


def shows(page, size, scheme):
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    check(page)
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=size["width"])


def answer(page):
    expect(page.get_by_text("The program goes on.")).to_be_visible()
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.slow
def test_an_agent_is_connected_and_disconnected_by_keyboard(app):
    asking = Asking(app, "A program with quite a long name that nobody would shorten")
    page = asking.open()
    expect(page.get_by_role("main")).to_contain_text("The app will have access to")
    for size, scheme in VIEWS:
        shows(page, size, scheme)
    page.set_viewport_size(WIDE)
    merge = page.get_by_role("checkbox", name="Merge change requests")
    drafting = page.get_by_role("checkbox", name="Draft and edit change requests")
    expect(merge).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="Read spaces")).to_be_disabled()
    page.keyboard.press("Tab")
    expect(drafting).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name="Comment and reply")).not_to_be_checked()
    days = page.get_by_role("combobox", name="Access expires after")
    days.focus()
    page.keyboard.press("Home")
    expect(days).to_have_value("1")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Connect")).to_be_focused()
    page.keyboard.press("Enter")
    told = answer(page)
    assert told["state"] == ["st&1"]
    given = asking.exchange(told["code"][0])
    assert given["scope"].split() == ["docs:read", "docs:draft", "docs:gaps"]

    page.goto(f"{app.url}/o/{app.organization}/~/tokens")
    agents = page.get_by_role("list", name="Member agents").get_by_role("listitem")
    expect(agents).to_contain_text(["reads, drafts, views common questions"])
    for size, scheme in VIEWS:
        shows(page, size, scheme)
    page.set_viewport_size(WIDE)
    end = agents.get_by_role("button", name="Disconnect A program")
    end.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Disconnect A program")
    expect(dialog).to_contain_text("Its past work is kept.")
    check(page)
    page.keyboard.press("Escape")
    expect(end).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Disconnect").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Notifications")).to_contain_text("disconnected")
    expect(agents).to_have_count(0)
    refused = httpx.post(
        f"{app.url}/mcp/{app.organization}",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={"authorization": f"Bearer {given['access_token']}"},
        timeout=60,
    )
    assert refused.status_code == 401
    page.context.close()


def test_an_app_gets_api_access_to_the_selected_organization(app):
    asking = Asking(app, "Command line")
    asking.path = (
        asking.path.partition("&resource=")[0] + "&scope=user%3Aread+space%3Aread+change-request%3Amerge"
    )
    page = asking.open()
    expect(page.get_by_role("combobox", name="Organization")).to_have_value(app.organization)
    expect(page.get_by_role("checkbox", name="Merge change requests")).not_to_be_checked()
    check(page)
    page.get_by_role("button", name="Connect").click()
    given = asking.exchange(answer(page)["code"][0])
    assert given["scope"].split() == ["user:read", "space:read"]
    headers = {"authorization": f"Bearer {given['access_token']}"}
    assert httpx.get(f"{app.url}/v1/user", headers=headers, timeout=60).status_code == 200
    page.context.close()


def test_declined_consent_returns_without_a_code(app):
    page = Asking(app, "Pen").open()
    page.get_by_role("link", name="Cancel").focus()
    page.keyboard.press("Enter")
    told = answer(page)
    assert told["error"] == ["access_denied"] and told["state"] == ["st&1"] and "code" not in told
    page.context.close()


@pytest.mark.slow
def test_signed_out_people_see_where_to_sign_in(app):
    asking = Asking(app, "Pen")
    page = app.watch(app.browser.new_context())
    page.goto(f"{app.url}{asking.path}")
    expect(page.get_by_role("link", name="Sign in to continue")).to_have_attribute(
        "href", "/sign-in?" + urlencode({"next": asking.path})
    )
    expect(page.get_by_role("button", name="Connect")).to_be_hidden()
    for size, scheme in VIEWS:
        shows(page, size, scheme)
    page.context.close()


@pytest.fixture(scope="module")
def read(app):
    """Return the insights of a site that programs read, searched, and rated."""
    space = app.fill_space("Rocks", ["Granite"])
    site = app.call("POST", f"/orgs/{app.organization}/sites", {"title": "Rocks", "spaces": [space]})["id"]
    path = f"/orgs/{app.organization}/sites/{site}"
    app.call("POST", f"{path}/publish")
    shown = app.call("GET", f"{path}/site-spaces")["items"][0]["id"]
    page = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    session = {"visitorId": "v", "sessionId": "s", "cookies": {}, "language": None, "referrer": None}
    location = {
        "siteSection": None,
        "siteSpace": shown,
        "siteShareKey": None,
        "space": space,
        "revision": None,
        "page": page,
        "displayContext": "markdown",
    }

    def event(type, agent, at, **more):
        place = {"url": f"https://docs.example.com/{at}", **location}
        return {"type": type, "session": {**session, "userAgent": agent}, "location": place, **more}

    crawler, assistant = "GPTBot/1.2", "Claude-User/1.0"
    long = "guides/a-part-with-a-long-name/and-a-page-with-an-even-longer-one"
    told = {"rating": "bad", "comment": "The weight of basalt is missing."}
    events = [
        *[event("page_view", crawler, "granite")] * 3,
        event("page_view", assistant, "granite"),
        event("search_type_query", assistant, "", query="basalt"),
        event("search_missing", assistant, "", query="basalt"),
        event("page_missing", crawler, long),
        event("page_post_feedback", assistant, "granite", feedback={"rating": "bad"}),
        event("page_post_feedback_comment", assistant, "granite", feedback=told),
    ]
    app.call("POST", f"{path}/insights/events", {"events": events})
    return f"/o/{app.organization}/sites/{site}/~/insights"


@pytest.mark.slow
def test_insights_list_programs_separately(app, read):
    page = app.open(read)

    def rows(table):
        return page.get_by_role("table", name=table, exact=True).get_by_role("row")

    expect(page.get_by_role("heading", name="AI agents and bots")).to_be_visible()
    for table, told in {
        "Agent types": ["Crawlers 3", "AI assistants 1"],
        "Formats": ["Markdown 4"],
        "Most viewed by agents": ["/granite 4"],
        "Agent searches and questions": ["basalt 1"],
        "URLs requested by agents but not found (404)": [
            "/guides/a-part-with-a-long-name/and-a-page-with-an-even-longer-one 1"
        ],
        "Agent searches without results": ["basalt 1"],
        "Page ratings by agents": ["Granite 0% helpful 1"],
        "Agent feedback": ["The weight of basalt is missing. 1"],
    }.items():
        expect(rows(table)).to_have_count(len(told) + 1)
        for row, text in enumerate(told, 1):
            expect(rows(table).nth(row)).to_have_accessible_name(text)
    expect(page.get_by_role("table", name="Page ratings", exact=True)).to_have_count(0)
    for size, scheme in VIEWS:
        shows(page, size, scheme)
    page.context.close()


@pytest.mark.slow
def test_a_content_gap_is_filled_by_an_agent_and_undone(app):
    """An assistant doesn't find something. An agent learns of it and drafts a page; people request changes,
    correct it, merge it, and undo the agent's day in one step."""
    space = app.fill_space("Weights", ["Granite"])
    site = app.call("POST", f"/orgs/{app.organization}/sites", {"title": "Weights", "spaces": [space]})["id"]
    published = app.call("POST", f"/orgs/{app.organization}/sites/{site}/publish")["urls"]["published"]

    def ask(server, name, token="", /, **arguments):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        headers = {"authorization": f"Bearer {token}"} if token else {"user-agent": "Claude-User/1.0"}
        result = httpx.post(server, json=message, headers=headers, timeout=60).json()["result"]
        assert not result["isError"], result
        return result["content"][0]["text"]

    assert "No matching pages" in ask(f"{published}~mcp", "search", query="weight of basalt")

    asking = Asking(app, "Quill")
    page = asking.open()
    page.get_by_role("button", name="Connect").click()
    token = asking.exchange(answer(page)["code"][0])["access_token"]
    page.context.close()
    tools = f"{app.url}/mcp/{app.organization}"

    def work(name, /, **arguments):
        return json.loads(ask(tools, name, token, **arguments))

    def words():
        return work("find_gaps", site=site)["notFoundByPrograms"]["words"]

    until = time.monotonic() + PATIENCE
    while not (missed := words()) and time.monotonic() < until:
        time.sleep(0.5)
    assert missed == [{"words": "weight of basalt", "count": 1}]
    change = work("create_change_request", space=space, subject="The weight of basalt")
    at = {"space": space, "change_request": change["id"]}
    new = {
        "operation": "insert_page",
        "title": "Basalt",
        "document": {"markdown": "The weight of basalt is two tonnes a cubic metre.\n"},
    }
    base = work("read_change_request", **at)["changeRequest"]["revision"]
    made = work("edit_change_request", **at, changes=[new], base_revision=base)
    work("describe_change_request", **at, status="open")
    assert work("check_change_request", **at)["good"]

    # Ravi asks for more, and the agent does it.
    review = f"/s/{space}/~/changes/{change['number']}/~/review"
    ravi = app.colleague("Ravi", "review")
    reader = app.open_as(ravi, review)
    expect(reader.get_by_role("main")).to_contain_text("two tonnes")
    reader.get_by_role("button", name="Finish review").click()
    reader.get_by_role("menuitem", name="Request changes").click()
    expect(reader.get_by_text("You requested changes")).to_be_visible()
    seen = work("read_change_request", **at)
    assert [one["status"] for one in seen["reviews"]] == ["changes-requested"]
    added = next(one for one in work("list_pages", **at) if one["title"] == "Basalt")
    more = {
        "operation": "update_page",
        "page": added["id"],
        "document": {
            "markdown": "The weight of basalt is two tonnes a cubic metre.\n\nAir in it makes it lighter.\n"
        },
    }
    assert work("edit_change_request", **at, changes=[more], base_revision=made["revision"])

    # Ines corrects the mistakes, and merges.
    writer = app.open(f"/s/{space}/~/changes/{change['number']}/basalt")
    body = writer.get_by_role("textbox", name="Page content")
    body.get_by_text("two tonnes").click()
    writer.keyboard.press("End")
    writer.keyboard.type(" It is three, to be exact.")
    expect(writer.get_by_text("Saved", exact=True).first).to_be_visible()
    writer.goto(f"{app.url}{review}")
    expect(writer.get_by_role("main")).to_contain_text("three, to be exact")
    about = writer.get_by_role("complementary", name="About this change request")
    expect(about).to_contain_text("Quill")
    reader.reload()
    reader.get_by_role("button", name="Finish review").click()
    reader.get_by_role("menuitem", name="Approve").click()
    expect(reader.get_by_text("You approved #")).to_be_visible()
    reader.context.close()
    writer.get_by_role("button", name="Merge", exact=True).click()
    expect(writer.get_by_text("Merged “The weight of basalt”")).to_be_visible()
    told = ask(f"{published}~mcp", "read_page", address=f"{published}basalt")
    assert "three, to be exact" in told and "Air in it" in told

    # All that the agent did goes back in one step, which a person merges like anything else.
    writer.goto(f"{app.url}/~/account/agents")
    writer.get_by_role("button", name="Quill's activity").click()
    dialog = writer.get_by_role("dialog", name="Quill's activity")
    expect(dialog.get_by_text("Edited")).to_have_count(2)
    dialog.get_by_role("button", name="Close").click()
    writer.get_by_role("button", name="Revert last 24 hours of work by Quill").click()
    writer.get_by_role("dialog").get_by_role("button", name="Revert last 24 hours").click()
    expect(writer.get_by_text("Reverted:")).to_be_visible()
    writer.get_by_role("region", name="Notifications").get_by_role("button", name="Review").click()
    expect(writer.get_by_role("main")).to_contain_text("three, to be exact")
    writer.get_by_role("button", name="Merge", exact=True).click()
    expect(writer.get_by_text("Merged “")).to_be_visible()
    assert app.titles(space) == ["Granite"]
    writer.context.close()
