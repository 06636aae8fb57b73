"""No screen breaks a rule of WCAG 2.2 AA that a machine can see: axe-core, both themes, desktop and phone; a narrow
window never scrolls sideways; and no two controls of one part of a screen share a name."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from settled import until

from .test_names import find_twins

pytestmark = pytest.mark.slow

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {
    "runOnly": {"type": "tag", "values": RULES},
    # Experimental rules are off by default.
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def screens(app):
    space = app.fill_space("Screens", ["Start", ("Guides", ["Install", "Upgrade"]), "Reference"])
    changes = f"/spaces/{space}/change-requests"
    for subject, status in (("A draft", None), ("In review", "open")):
        number = app.call("POST", changes, {"subject": subject})["number"]
        edit = {"operation": "insert_page", "title": subject, "document": {"markdown": "Words."}}
        app.call("POST", f"{changes}/{number}/content", {"changes": [edit]})
        if status:
            app.call("PATCH", f"{changes}/{number}", {"status": status})
    revisions = app.call("GET", f"/spaces/{space}/revisions")["items"]
    ends = (revisions[0]["id"], revisions[-1]["id"])
    block = app.call("GET", f"{changes}/2/content/pages")["pages"][-1]["id"]
    node = app.call("GET", f"{changes}/2/content/page/{block}?format=document")["document"]["nodes"][0]["key"]
    suggested = {"body": "Why?", "page": block, "node": node, "suggestion": {"markdown": "Other words."}}
    app.call("POST", f"{changes}/2/comments", suggested)
    app.call("POST", f"/spaces/{space}/comments", {"body": "Who keeps this?"})
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Screens", "spaces": [space]})["id"]
    app.call("POST", f"{sites}/{site}/sections", {"spaceId": app.fill_space("More", ["Start"])})
    collection = app.call("POST", f"/orgs/{app.organization}/collections", {"title": "Handbook"})["id"]
    app.create_space("Runbooks", parent=collection)
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["comment_created"]}
    webhook = app.call("POST", f"/orgs/{app.organization}/webhooks", hook)["id"]
    spec = {"slug": "broken", "source": {"text": "openapi: 3.1.0"}}
    app.call("POST", f"/orgs/{app.organization}/openapi", spec)
    empty = app.call("POST", "/orgs", {"title": "Nothing yet"})["id"]
    person = app.colleague("Ravi").get("/user").json()["id"]
    team = app.call("PUT", f"/orgs/{app.organization}/teams", {"title": "Platform", "members": [person]})[
        "id"
    ]
    app.call("POST", f"/orgs/{app.organization}/saml", {"label": "Company"})
    for favorite in ({"space": space}, {"site": site}):
        app.call("POST", "/user/favorites", favorite)
    return {
        "work": "/",
        "inbox": "/~/inbox",
        "page": f"/s/{space}/guides/install",
        "edit": f"/s/{space}/~/changes/1/guides/install",
        "changes": f"/s/{space}/~/changes",
        "all-changes": f"/o/{app.organization}/~/changes",
        "history": f"/s/{space}/~/history",
        "compare": f"/s/{space}/~/history/{'/'.join(ends)}",
        "review": f"/s/{space}/~/changes/2/~/review",
        "talk": f"/s/{space}/~/changes/2/~/talk",
        "empty-changes": f"/o/{empty}/~/changes",
        "nowhere": "/~/else",
        "space-settings": f"/s/{space}/~/settings",
        "space-members": f"/s/{space}/~/settings/members",
        "space-merging": f"/s/{space}/~/settings/merging",
        "space-export": f"/s/{space}/~/settings/export",
        "space-git": f"/s/{space}/~/settings/git",
        "installation": "/~/installation",
        "organizations": "/~/installation/organizations",
        "people": "/~/installation/people",
        "jobs": "/~/installation/jobs",
        "member": f"/o/{app.organization}/~/members/people/{person}/{space}",
        "as-member": f"/o/{app.organization}/~/members/people/{person}/preview/{space}",
        "team": f"/o/{app.organization}/~/members/teams/{team}",
        "invitations": f"/o/{app.organization}/~/members/invitations",
        "members-sign-in": f"/o/{app.organization}/~/members/sign-in",
        "account": "/~/account",
        "account-sign-in": "/~/account/sign-in",
        "tags": f"/s/{space}/~/tags",
        "comments": f"/s/{space}/~/comments",
        "files": f"/s/{space}/~/files",
        "variables": f"/s/{space}/~/variables",
        "reusable": f"/s/{space}/~/reusable",
        "links": f"/s/{space}/~/links/all",
        "import": f"/s/{space}/~/import",
        "collection": f"/c/{collection}",
        "settings": f"/o/{app.organization}/~/settings",
        "tokens": f"/o/{app.organization}/~/tokens",
        "audit": f"/o/{app.organization}/~/audit",
        "models": f"/o/{app.organization}/~/models",
        "translations": f"/o/{app.organization}/~/translations",
        "usage": f"/o/{app.organization}/~/usage",
        "trash": f"/o/{app.organization}/~/trash",
        "specification": f"/o/{app.organization}/~/openapi/broken",
        "webhook": f"/o/{app.organization}/~/webhooks/{webhook}",
        "conversations": f"/o/{app.organization}/~/conversations",
        "integrations": f"/o/{app.organization}/~/integrations",
        "write-integration": f"/o/{app.organization}/~/integrations/~write",
        **{
            f"site-{view or 'overview'}": f"/o/{app.organization}/sites/{site}{view and f'/~/{view}'}"
            for view in SITE
        },
    }


SITE = (
    "",
    "structure",
    "look",
    "audience",
    "address",
    "redirects",
    "insights",
    "questions",
    "health",
    "members",
    "git",
    # With sources and channels.
    "settings",
)

SCREENS = (
    "work",
    "inbox",
    "page",
    "edit",
    "changes",
    "all-changes",
    "history",
    "compare",
    "review",
    "talk",
    "empty-changes",
    "nowhere",
    "space-settings",
    "space-members",
    "space-merging",
    "space-export",
    "space-git",
    "account",
    "account-sign-in",
    "installation",
    "organizations",
    "people",
    "jobs",
    "member",
    "as-member",
    "team",
    "invitations",
    "members-sign-in",
    "import",
    "tags",
    "comments",
    "files",
    "variables",
    "reusable",
    "links",
    "collection",
    "settings",
    "tokens",
    "audit",
    "models",
    "translations",
    "usage",
    "trash",
    "specification",
    "webhook",
    "conversations",
    "integrations",
    "write-integration",
    *(f"site-{view or 'overview'}" for view in SITE),
)


@pytest.mark.parametrize("name", SCREENS)
def test_screens_follow_accessibility_rules(app, screens, name):
    page = app.open(screens[name], viewport=WIDE)
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        page.locator("main h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=size["width"])
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            check(page)
        if size is WIDE:
            assert find_twins(page) == {}
    page.context.close()


def test_a_phone_shows_the_chosen_tab_the_name_of_the_screen_and_no_keys(app, screens):
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    page = app.open(screens["site-settings"], **phone)
    expect(page.get_by_role("tab", name="Settings", exact=True)).to_be_in_viewport(ratio=1)
    page.goto(f"{app.url}{screens['site-structure']}")
    expect(page.get_by_text("Changes take effect immediately")).to_be_visible()
    expect(page.get_by_text("press Alt+Shift")).to_be_hidden()
    _, _, space, *_ = screens["comments"].split("/")
    app.call("PATCH", f"/spaces/{space}", {"title": "Screens of the platform for operators"})
    page.goto(f"{app.url}{screens['comments']}")
    name = page.locator("header").get_by_text("Comments", exact=True)
    expect(name).to_be_visible()
    until(lambda: name.evaluate("(shown) => shown.scrollWidth <= shown.clientWidth"))
    app.call("PATCH", f"/spaces/{space}", {"title": "Screens"})
    page.context.close()


def test_names_start_at_the_right_in_a_right_to_left_app(app, screens):
    page = app.open(screens["member"], viewport=PHONE, locale="ar")
    expect(page.get_by_text("Runbooks", exact=True)).to_have_css("text-align", "right")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opened_parts_follow_accessibility_rules(app, screens, scheme):
    page = app.open(screens["page"], color_scheme=scheme)
    page.get_by_role("tree").wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("in")
    page.get_by_role("option").first.wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menu").wait_for()
    check(page)
    page.context.close()


def check(page) -> None:
    found = Axe().run(page, options=OPTIONS).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []
