"""No kind of page breaks a rule of WCAG 2.2 AA that a machine can see: axe-core, both themes, desktop and phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from serving import Administrator, serving_new

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
    """The manual as a site with a group of sections, and a variant in another language."""

    def __init__(self, served):
        super().__init__(served)
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
        """A space with a page: nothing is shown of one without."""
        space = self.create_space(title, **more)
        self.merge_page(space, "Words.\n")
        return space


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    data = tmp_path_factory.mktemp("axe") / "data"
    with serving_new(data) as served:
        yield Manual(served)


@pytest.fixture(scope="module")
def look_at(browser, manual):
    """Violations of a page, as lines to read."""

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
    page.wait_for_timeout(300)


def open_picker(name):
    return lambda page: page.locator(f".{name} summary").first.click()


def search(page):
    page.keyboard.press("/")
    page.keyboard.type("settings")
    page.locator("#found a").first.wait_for()


def find_operation(page):
    page.keyboard.press("/")
    page.keyboard.type("create custom font")
    page.locator('#found a[href="/docs/fonts/createCustomFont"]').wait_for()


def test_the_reference_is_searched_by_keyboard(browser, manual):
    page = browser.new_page()
    page.goto(manual.reference)
    find_operation(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/fonts/createCustomFont")
    assert page.get_by_role("heading", name="Create custom font").is_visible()
    schema = page.locator('a[href="/docs/schemas/CreateFont"]').first
    schema.click()
    page.wait_for_url("**/docs/schemas/CreateFont")
    page.close()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_every_look(look_at, manual, look, scheme, width):
    body = {**FULL, "styling": LOOKS[look], "themes": {"default": scheme}}
    manual.call("PUT", f"{manual.path}/customization", body)
    assert look_at(f"{manual.base}content/blocks", scheme, width) == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_page(look_at, manual, scheme, width):
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
    # The page of fonts is a short one: axe takes minutes for hundreds of operations.
    for path in ("", "/fonts", "/~search?q=font", "/~search?q=zzzzzz"):
        assert look_at(manual.reference + path, scheme, width) == [], path
    assert look_at(manual.reference, scheme, width, find_operation) == []
    if width < 768:
        assert look_at(manual.base, scheme, width, open_menu) == []
    else:
        for name in ("sections", "actions"):
            assert look_at(manual.base, scheme, width, open_picker(name)) == [], name
