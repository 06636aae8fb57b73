"""No kind of page violates a machine-checkable rule of WCAG 2.2 AA: axe-core, both themes, desktop and phone."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from serving import Administrator, import_site, serving_new
from settled import until

pytestmark = pytest.mark.slow

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WEB = {"kind": "url", "url": "https://example.com"}
LINK = {"title": "Somewhere", "to": WEB}
FULL = {
    "header": {
        "links": [
            {"title": "Menu", "to": None, "links": [LINK]},
            {**LINK, "links": []},
            {**LINK, "links": [], "style": "button-primary"},
            {**LINK, "links": [], "style": "button-secondary"},
        ]
    },
    "footer": {"groups": [{"title": "Group", "links": [LINK]}], "copyright": "© Somebody"},
    "announcement": {"enabled": True, "message": "Hear this", "style": "warning", "link": LINK},
    "feedback": {"enabled": True},
    "trademark": {"enabled": True},
    "privacyPolicy": {"url": "https://example.com/privacy"},
}
THING = {"$ref": "#/components/schemas/Thing01"}
ANSWERS = {
    "200": {"description": "It", "content": {"application/json": {"schema": THING}}},
    "429": {"description": "Too many requests", "headers": {"Retry-After": {"schema": {"type": "integer"}}}},
}


def deep(levels):
    """Return a schema of six fields, each with as many nested fields, and so on."""
    inside = deep(levels - 1) if levels else {"type": "string"}
    return {"type": "object", "properties": {f"level{levels}of{number}": inside for number in range(6)}}


DEEP = {
    "tags": ["things"],
    "summary": "Dig",
    "requestBody": {"content": {"application/json": {"schema": deep(2)}}},
    "responses": ANSWERS,
}
"""More fields than a page shows at first."""
THINGS = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1", "description": "All that there is."},
    "servers": [{"url": "https://api.example.com"}],
    "security": [{"oauth": ["read"]}, {"key": []}],
    "tags": [{"name": "things", "description": "What there is."}],
    "paths": {
        f"/things/{kind}": {
            method: {"tags": ["things"], "summary": f"{method.title()} {kind}", "responses": ANSWERS}
            for method in ("get", "delete")
        }
        for kind in ("small", "large", "old", "new")
    }
    | {"/things/deep": {"post": DEEP}},
    "components": {
        "schemas": {
            f"Thing{number:02}": {
                "type": "object",
                "description": "One of them.",
                "properties": {
                    "name": {"type": "string", "description": "What it is called."},
                    "next": THING,
                },
            }
            for number in range(14)
        },
        "securitySchemes": {
            "oauth": {
                "type": "oauth2",
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": "https://example.com/authorize",
                        "tokenUrl": "https://example.com/token",
                        "scopes": {"read": "See all of it"},
                    }
                },
            },
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        },
    },
}
"""API description that produces every kind of page."""
OF_THINGS = """* [Home](README.md)
* ```yaml
  type: builtin:openapi
  props: {models: true, changes: true, grouping: by-operation}
  dependencies: {spec: {ref: {kind: openapi, spec: things}}}
  ```
"""
LOOKS = {
    "clean": {},
    "muted": {"theme": "muted", "tint": {"color": {"light": "#cc8855", "dark": "#ffddaa"}}},
    "bold": {"theme": "bold", "primaryColor": {"light": "#ffcc00", "dark": "#ffcc00"}, "links": "accent"},
    "gradient": {
        "theme": "gradient",
        "corners": "circular",
        "sidebar": {"background": "filled", "list": "pill"},
    },
}


class Manual(Administrator):
    """Site with the manual, a group of sections, and a variant in another language."""

    def __init__(self, served):
        super().__init__(served)
        self.served = served
        org = self.organization
        site = self.call("GET", f"/orgs/{org}/sites")["items"][0]
        self.path = f"/orgs/{org}/sites/{site['id']}"
        self.base = site["urls"]["published"].rstrip("/") + "/"
        self.reference = f"{served.url}/docs"
        sections = []
        for title in ("Guides", "Cookbook"):
            space = self.space(title)
            section = self.call("POST", f"{self.path}/sections", {"spaceId": space, "title": title})
            sections.append(section["id"])
        self.call("POST", f"{self.path}/section-groups", {"title": "More", "sections": sections})
        shown = self.call("GET", f"{self.path}/sections")["items"][0]["id"]
        space = self.space("Deutsch", language="de")
        self.call("POST", f"{self.path}/site-spaces", {"spaceId": space, "sectionId": shown})

    def space(self, title, **more):
        """Create a space with a page: spaces without pages aren't shown."""
        space = self.create_space(title, **more)
        self.merge_page(space, "Words.\n")
        return space

    def describe(self, description):
        """Upload the specification of things, and wait until it has been processed."""
        path = f"/orgs/{self.organization}/openapi/things"
        self.call("PUT", path, {"source": {"text": json.dumps(description)}})
        until(lambda: self.call("GET", path)["processingState"] == "complete")
        spec = self.call("GET", path)
        assert "lastProcessErrorCode" not in spec, spec


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    data = tmp_path_factory.mktemp("axe") / "data"
    with serving_new(data) as served:
        yield Manual(served)


@pytest.fixture(scope="module")
def things(manual, tmp_path_factory):
    """URL of a site with every kind of API page; the second version of the API changes something."""
    folder = tmp_path_factory.mktemp("things")
    (folder / "README.md").write_text("# Home\n")
    (folder / "SUMMARY.md").write_text(OF_THINGS)
    paths = {name: item for name, item in THINGS["paths"].items() if name != "/things/old"}
    manual.describe(THINGS)
    manual.describe({**THINGS, "info": {**THINGS["info"], "version": "2"}, "paths": paths})
    return import_site(manual.served, folder, "--title", "Things")


@pytest.fixture(scope="module")
def look_at(browser, manual):
    """Return the violations of a page as readable lines."""

    def look(address, scheme, width, act=None):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.emulate_media(reduced_motion="reduce")
        page.goto(address)
        page.wait_for_load_state()
        if act is not None:
            act(page)
        found = Axe().run(page, options={"runOnly": {"type": "tag", "values": RULES}}).response["violations"]
        context.close()
        return [
            f"{rule['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else node['failureSummary']}"
            for rule in found
            for node in rule["nodes"]
        ]

    return look


def open_menu(page):
    page.locator("details.menu > summary").click()
    page.locator("main[inert]").wait_for()


def open_picker(name):
    return lambda page: page.locator(f".{name} summary").first.click()


def search(page):
    page.keyboard.press("/")
    page.keyboard.insert_text("settings")
    page.locator("#found a").first.wait_for()


def find_operation(page):
    page.keyboard.press("/")
    page.keyboard.insert_text("create custom font")
    page.locator('#found a[href="/docs/fonts/createCustomFont"]').wait_for()


def test_the_reference_is_searched_by_keyboard(browser, manual):
    page = browser.new_page()
    page.goto(manual.reference)
    find_operation(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/fonts/createCustomFont")
    expect(page.get_by_role("heading", name="Create custom font")).to_be_visible()
    schema = page.locator('a[href="/docs/schemas/CreateFont"]').first
    schema.click()
    page.wait_for_url("**/docs/schemas/CreateFont")
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_operations_are_filtered_by_keyboard(browser, manual, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{manual.reference}/fonts")
    field, told = page.locator(".nav-filter input"), page.locator(".nav-told")
    if width < 768:
        page.locator(".menu > summary").press("Enter")
        field.wait_for()
        page.keyboard.press("Tab")
    else:
        page.keyboard.press("f")
    expect(field).to_be_focused()
    expect(told).to_have_attribute("role", "status")
    page.keyboard.insert_text("custom font")
    told.filter(has_text="Operations found: 5 of ").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".nav-found li:nth-child(2) a:focus")).to_have_count(1)
    # Escape clears the field and leaves a phone's menu open.
    page.keyboard.press("Escape")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    expect(told).to_have_text("")
    expect(page.locator(".side nav")).to_be_visible()
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_every_style_are_accessible(look_at, manual, look, scheme, width):
    body = {**FULL, "styling": LOOKS[look], "themes": {"default": scheme}}
    manual.call("PUT", f"{manual.path}/customization", body)
    assert look_at(f"{manual.base}content/blocks", scheme, width) == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_page_is_accessible(look_at, manual, scheme, width):
    manual.call("PUT", f"{manual.path}/customization", {**FULL, "themes": {"default": scheme}})
    for path in (
        "",
        "sites/customization",
        "~search?q=settings",
        "~search?q=zzzzzz",
        "content/blok",
        "more/guides",
    ):
        assert look_at(manual.base + path, scheme, width) == [], path
    assert look_at(manual.base, scheme, width, search) == []
    # The page of fonts is short: axe takes minutes for hundreds of operations.
    for path in ("", "/fonts", "/~search?q=font", "/~search?q=zzzzzz"):
        assert look_at(manual.reference + path, scheme, width) == [], path
    assert look_at(manual.reference, scheme, width, find_operation) == []
    if width < 768:
        assert look_at(manual.base, scheme, width, open_menu) == []
    else:
        for name in ("sections", "actions"):
            assert look_at(manual.base, scheme, width, open_picker(name)) == [], name


def find_model(page):
    page.locator(".row-tools input").fill("name")
    page.locator(".row-results mark").first.wait_for()


def enter_access(page):
    page.get_by_role("button", name="Try it").first.click()
    form = page.locator(".try")
    form.locator("input[type=password]:visible").first.fill("sesame")
    page.keyboard.press("Tab")
    form.locator(".try-access > summary").click()
    form.locator(".try-access li").first.wait_for()


def unfold(page):
    """Open a field, and a nested one whose own fields aren't on the page at first."""
    page.wait_for_function("Boolean(globalThis.octavoAllFields)")
    page.locator("[id='body.level2of1'] > details > summary").press("Enter")
    inner = page.locator("[id='body.level2of1.level1of3']")
    link = inner.get_by_role("link", name=re.compile("^level1of3: .*6"))
    page.evaluate("addEventListener('focusin', (event) => { globalThis.held = event.target; })")
    link.press("Enter")
    # Screen readers announce the opened element, that it is open, and then its content.
    summary = inner.locator("> details[open] > summary")
    expect(summary).to_be_focused()
    assert summary.evaluate("each => each === globalThis.held")
    expect(summary).to_have_text(re.compile(r"^level1of3:\s.*6"), use_inner_text=True)
    expect(inner.locator("li")).to_have_count(6)
    expect(page.locator("a.openapi-later")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(inner.locator("li").first).to_be_hidden()
    expect(page.locator("summary:focus")).to_have_count(1)
    page.keyboard.press("Enter")


def find_deep(page):
    page.keyboard.press("/")
    page.keyboard.insert_text("level2of1.level1of3.level0of5")
    page.locator("#found a.api", has_text="level1of3.level0of5").wait_for()
    page.keyboard.press("Enter")
    found = page.locator("[id='body.level2of1.level1of3.level0of5']:target")
    found.wait_for()
    until(lambda: 0 < found.bounding_box()["y"] < 900)


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nested_operation_fields_are_accessible(look_at, manual, things, scheme, width):
    spaces = manual.call("GET", f"/orgs/{manual.organization}/spaces")["items"]
    space = next(each["id"] for each in spaces if each["title"] == "Things")
    for language in ("en", "ar"):
        manual.call("PATCH", f"/spaces/{space}", {"language": language})
        for act in (None, unfold, find_deep):
            assert look_at(f"{things}things/dig", scheme, width, act) == [], (language, act)
    manual.call("PATCH", f"/spaces/{space}", {"language": "en"})


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_api_page_is_accessible(look_at, things, scheme, width):
    for path, act in (
        ("overview", None),
        ("models", None),
        ("models", find_model),
        ("models/thing01", None),
        ("errors-and-limits", None),
        ("authentication", None),
        ("changes", None),
        ("things", None),
        ("things/get-small", enter_access),
    ):
        assert look_at(things + path, scheme, width, act) == [], (path, act)
