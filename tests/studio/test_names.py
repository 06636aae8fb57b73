"""The roles and accessible names that scripts, assistive technology and outside checks of the app rely on.

A name below is a promise: extend the tables rather than rename what stands in them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import App

pytestmark = pytest.mark.slow

EVERYWHERE = (
    *(("link", "Skip to content"), ("button", "Search or jump to")),
    *(("navigation", "Main"), ("region", "Notifications")),
)
MAIN = (
    *("My work", "Inbox", "Change requests", "Names", "Names online"),
    *("Members and access", "Integrations", "Settings"),
)
SPACE = ("Pages", "Changes", "History")
SETTINGS = (
    *("General", "API specifications", "Translations", "Conversations", "Models", "Imports"),
    *("Webhooks", "Tokens", "Audit log", "Trash"),
)


def _all(role: str, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple((role, name) for name in names)


SITE = _all(
    "tab",
    *("Overview", "Structure", "Customization", "Audience", "Domain", "Redirects", "Insights", "Settings"),
)
CHANGE = (("textbox", "Subject"), *_all("tab", "Edit", "Review", "Discussion"))

SCREENS: dict[str, tuple[tuple[str, str], ...]] = {
    "work": (),
    "inbox": (),
    "changes": (),
    "page": (
        *(("tree", "Pages"), ("treeitem", "Start"), ("treeitem", "Guides"), ("heading", "Start")),
        *_all("button", "Edit", "Comment", "Page actions", "New page"),
    ),
    "edit": (
        *CHANGE,
        *_all("textbox", "Title", "Page content"),
        *_all("button", "Request review", "Merge", "Comment", "Page actions", "New page"),
    ),
    "review": (*CHANGE, *_all("button", "Finish review", "Merge")),
    "conflicts": (
        *CHANGE,
        ("tab", "Conflicts"),
        *_all("button", "Keep original", "Keep mine", "Keep theirs", "Keep both", "Edit result"),
    ),
    "discussion": (*CHANGE, ("textbox", "Write a comment")),
    "history": (("list", "Revisions"), *_all("button", "Compare Start", "Revert", "Restore")),
    "members": (
        ("button", "Invite people"),
        *_all("tab", "Members", "Guests", "Teams", "Invitations", "Sign-in"),
    ),
    "settings": (("navigation", "Settings"),),
    "site": (*SITE, ("button", "Publish…")),
    **{f"site-{view}": SITE for view in ("structure", "look", "audience", "address", "redirects")},
    **{f"site-{view}": SITE for view in ("insights", "settings")},
}
"""What each screen has beside what is everywhere."""

_ELEMENT = re.compile(r"^( *)- (?:'|\")?(\w+)(?: \"((?:[^\"\\]|\\.)*)\")?")
_ADDRESS = re.compile(r"^ *- /url: (.*)")


def find_twins(page: Any) -> dict[str, int]:
    """Return the names that several buttons, or links to several places, share in one part of a screen.

    A part is an element with a name of its own, such as a region, an article or a group: the buttons of two cards are
    told apart by the cards they are in.
    """
    within: list[tuple[int, str]] = []
    found: set[tuple[str, str]] = set()
    link = ""
    for number, line in enumerate(page.locator("body").aria_snapshot().splitlines()):
        if (address := _ADDRESS.match(line)) and link:
            found.add((link, address[1]))
            link = ""
        if (element := _ELEMENT.match(line)) is None:
            continue
        indent, role, name = len(element[1]), element[2], element[3]
        within = [one for one in within if one[0] < indent]
        place = " > ".join([*(part for _, part in within), f"{role} {name}"])
        if role == "button":
            found.add((place, str(number)))
        elif role == "link":
            link = place
        if name:
            within.append((indent, f"{role} {name} ({number})"))
    return {place: count for place, count in Counter(place for place, _ in found).items() if count > 1}


@pytest.fixture(scope="module")
def addresses(app: App) -> dict[str, str]:
    """Return the URL of each screen."""
    space = app.fill_space("Names", ["Start", ("Guides", ["Install"])])
    start = app.call("GET", f"/spaces/{space}/content/pages")["pages"][0]["id"]
    noa = app.colleague("Noa")

    def edit(change: str, *words: str) -> None:
        text = {"markdown": "".join(f"{one}\n\n" for one in words)}
        update = {"operation": "update_page", "page": start, "document": text}
        app.call("POST", f"{change}/content", {"changes": [update]})

    def begin(subject: str, *words: str) -> str:
        changes = f"/spaces/{space}/change-requests"
        change = f"{changes}/{app.call('POST', changes, {'subject': subject})['number']}"
        edit(change, *words)
        return change

    edit(f"/spaces/{space}", "The tide is low.", "Nobody is here.")
    older = app.call("GET", f"/spaces/{space}")["revision"]
    draft = begin("A draft", "The tide is low.", "Nobody is here.", "Mine.")
    conflict = begin("A conflict", "The tide is high.", "Nobody is here.")
    edit(f"/spaces/{space}", "The tide is out.", "Nobody is here.")
    assert app.call("POST", f"{conflict}/update")["result"] == "conflicts"
    asked = noa.post(f"/spaces/{space}/change-requests", json={"subject": "From a colleague"}).json()[
        "number"
    ]
    page = {"operation": "insert_page", "title": "New", "document": {"markdown": "New words."}}
    theirs = f"/spaces/{space}/change-requests/{asked}"
    noa.post(f"{theirs}/content", json={"changes": [page]}).raise_for_status()
    noa.patch(theirs, json={"status": "open"}).raise_for_status()
    noa.close()
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Names online", "spaces": [space]})["id"]
    organization, changes = f"/o/{app.organization}", f"/s/{space}/~/changes"
    return {
        "work": "/",
        "inbox": "/~/inbox",
        "changes": f"{organization}/~/changes",
        "page": f"/s/{space}/start",
        "edit": f"{changes}/{draft.rpartition('/')[2]}/start",
        "review": f"{changes}/{asked}/~/review",
        "conflicts": f"{changes}/{conflict.rpartition('/')[2]}/~/conflicts",
        "discussion": f"{changes}/{asked}/~/talk",
        "history": f"/s/{space}/~/history/{older}",
        "members": f"{organization}/~/members",
        "settings": f"{organization}/~/settings",
        "site": f"{organization}/sites/{site}",
        **{name: f"{organization}/sites/{site}/~/{name[5:]}" for name in SCREENS if name.startswith("site-")},
    }


def _named(where: Any, role: str, name: str) -> None:
    expect(where.get_by_role(role, name=name, exact=True).first, f"{role} “{name}”").to_be_attached()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_has_its_accessible_names(app: App, addresses: dict[str, str], screen: str) -> None:
    page = app.open(addresses[screen])
    for role, name in (*EVERYWHERE, *SCREENS[screen]):
        _named(page, role, name)
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_have_count(1)
    for name in MAIN:
        _named(page.get_by_role("navigation", name="Main"), "link", name)
    if screen in ("page", "edit", "discussion", "history"):
        for name in SPACE:
            _named(page.get_by_role("navigation", name="Space"), "link", name)
    if screen == "settings":
        for name in SETTINGS:
            _named(page.get_by_role("navigation", name="Settings"), "link", name)
    page.wait_for_load_state("networkidle")
    assert find_twins(page) == {}
    page.context.close()


def test_search_and_edit_have_shortcuts(app: App, addresses: dict[str, str]) -> None:
    page = app.open(addresses["page"])
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    page.get_by_role("button", name="Search or jump to").click()
    page.get_by_role("dialog").get_by_role("combobox").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_role("dialog").get_by_role("combobox").wait_for()
    page.keyboard.press("Escape")
    # A draft edits this page, so the shortcut asks where to edit; again, it takes the first draft.
    page.keyboard.press("e")
    expect(page.get_by_role("menu", name="Choose where to edit Start", exact=True)).to_be_visible()
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Page content", exact=True).wait_for()
    page.context.close()


def test_the_editor_shows_save_status_and_other_editors(app: App, addresses: dict[str, str]) -> None:
    page = app.open(addresses["edit"], service_workers="allow")
    content = page.get_by_role("textbox", name="Page content", exact=True)
    expect(content).to_have_attribute("contenteditable", "true")
    status = page.get_by_role("status")
    expect(status.filter(has_text=re.compile(r"^\s*Saved\s*$"))).to_be_visible()

    content.get_by_text("Mine.").click()
    page.keyboard.press("End")
    page.context.set_offline(True)
    page.keyboard.type(" More.")
    expect(status.filter(has_text="Offline, saved locally")).to_be_visible()
    page.context.set_offline(False)
    expect(status.filter(has_text=re.compile(r"^\s*Saved\s*$"))).to_be_visible()

    held: list[Any] = []
    page.route(
        "**/live/steps",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.keyboard.type(" Held.")
    expect(status.filter(has_text="Saving")).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute("**/live/steps")
    expect(status.filter(has_text=re.compile(r"^\s*Saved\s*$"))).to_be_visible()

    with app.colleague("Noa") as noa:
        other = app.open_as(noa, addresses["edit"])
        typing = other.get_by_role("textbox", name="Page content", exact=True)
        # The API knows people by their address until they give their name.
        name = noa.get("/user").json()["displayName"]
        group = page.get_by_role("group", name="Also editing", exact=True)
        expect(group.get_by_role("img", name=name, exact=True)).to_be_visible()
        typing.get_by_text("The tide is low.").click()
        other.keyboard.press("End")
        other.keyboard.type(" Noa was here.")
        expect(content.get_by_text("The tide is low. Noa was here.")).to_be_visible()
        other.context.close()

        # The group says who types; the status says who changes the page outside the editor.
        _, _, space, _, _, number, _ = addresses["edit"].split("/")
        content_of_change = f"/spaces/{space}/change-requests/{number}/content"
        start = noa.get(f"{content_of_change}/pages").json()["pages"][0]["id"]
        edit = {"operation": "update_page", "page": start, "description": "By Noa."}
        noa.post(content_of_change, json={"changes": [edit]}).raise_for_status()
        expect(status.filter(has_text=f"Updated by {name}")).to_be_visible()

    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("/")
    page.get_by_role("listbox", name="Insert", exact=True).wait_for()
    page.context.close()


def test_a_review_and_a_conflict_have_accessible_names(app: App, addresses: dict[str, str]) -> None:
    page = app.open(addresses["review"])
    page.get_by_role("button", name="Finish review", exact=True).click()
    for name in ("Approve", "Request changes", "Comment"):
        _named(page.get_by_role("menu"), "menuitem", name)
    page.context.close()

    page = app.open(addresses["conflicts"])
    page.get_by_role("button", name="Keep theirs", exact=True).click()
    page.get_by_role("main").get_by_role("button", name="Undo", exact=True).click()
    _named(page, "button", "Keep theirs")
    page.context.close()


def test_a_comment_has_accessible_names(app: App, addresses: dict[str, str]) -> None:
    page = app.open(addresses["page"])
    page.get_by_role("button", name="Comment", exact=True).click()
    page.get_by_role("textbox", name="Write a comment", exact=True).fill("Who keeps this?")
    page.get_by_role("button", name="Post", exact=True).click()
    thread = page.get_by_role("article").filter(has_text="Who keeps this?").last
    thread.get_by_role("textbox", name="Reply", exact=True).fill("I do.")
    thread.get_by_role("button", name="Post", exact=True).click()
    thread.get_by_text("I do.").wait_for()
    assert find_twins(page) == {}
    thread.get_by_role("button", name="Resolve", exact=True).click()
    expect(thread).to_have_count(0)
    page.context.close()


def test_the_focus_stays_near_posted_and_resolved_comments(app: App, addresses: dict[str, str]) -> None:
    page = app.open(addresses["page"])
    page.get_by_role("button", name="Comment", exact=True).click()
    field = page.get_by_role("textbox", name="Write a comment", exact=True)
    for text in ("Higher?", "Lower?"):
        field.fill(text)
        page.get_by_role("button", name="Post", exact=True).press("Enter")
        page.get_by_role("article").filter(has_text=text).wait_for()
        expect(field).to_be_focused()
    lower, higher = (page.get_by_role("article").filter(has_text=text) for text in ("Lower?", "Higher?"))
    reply = lower.get_by_role("textbox", name="Reply", exact=True)
    reply.fill("Yes.")
    lower.get_by_role("button", name="Post", exact=True).press("Enter")
    expect(lower.get_by_text("Yes.")).to_be_visible()
    expect(reply).to_be_focused()
    lower.get_by_role("button", name="Resolve", exact=True).press("Enter")
    expect(higher).to_be_focused()
    higher.get_by_role("button", name="Resolve", exact=True).press("Enter")
    expect(higher).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()
    page.context.close()
