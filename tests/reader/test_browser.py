"""The published manual in a real browser, as after a first start."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from serving import serving_new
from settled import until


@pytest.fixture(scope="module")
def first_start(tmp_path_factory):
    data = tmp_path_factory.mktemp("first") / "data"
    with serving_new(data) as served:
        yield served, data


@pytest.fixture(scope="module")
def manual(first_start):
    return f"{first_start[0].reader_url}/octavo/octavo-manual/"


@pytest.fixture
def open_page(browser, manual):
    contexts = []

    def visit(path="", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.trouble = []
        page.on("console", lambda said: page.trouble.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on(
            "request", lambda asked: page.trouble.append(asked.url) if manual_host not in asked.url else None
        )
        page.goto(manual + path)
        return page

    manual_host = manual.split("/octavo/")[0]
    yield visit
    for context in contexts:
        context.close()


def test_people_read_and_continue_to_the_next_page(open_page):
    page = open_page()
    expect(page).to_have_title(re.compile("^Octavo"))
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Quickstart").click()
    page.wait_for_url("**/quickstart")
    expect(page.locator("h1")).to_have_text("Quickstart")
    expect(page.get_by_role("link", name=re.compile("^Next(?! steps)"))).to_have_count(1)
    assert page.trouble == []


def test_search_opens_with_a_key_and_finds_pages(open_page):
    page = open_page("quickstart")
    page.keyboard.press("/")
    # Not letter by letter: on a busy machine, the first results match only part of the word.
    page.keyboard.insert_text("settings")
    page.get_by_role("dialog").get_by_text("Settings").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/settings(#.*)?$"))
    assert page.trouble == []


def test_the_theme_can_be_dark_or_light(open_page):
    def background(scheme):
        page = open_page(color_scheme=scheme)
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert background("light") != background("dark")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (320, "light"),
        (1440, "dark"),
        *(
            pytest.param(width, scheme, marks=pytest.mark.slow)
            for width, scheme in ((320, "dark"), (390, "light"), (390, "dark"), (1440, "light"))
        ),
    ],
)
def test_every_block_fits_without_console_errors(open_page, width, scheme):
    page = open_page("content/blocks", viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # Content wider than the text scrolls by itself.
    wide = """[...document.querySelectorAll('.prose > *')].filter(e => e.getBoundingClientRect().width
        > e.parentElement.getBoundingClientRect().width + 1).map(e => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []
    assert page.trouble == []


def test_a_phone_has_a_menu_and_no_horizontal_scrolling(open_page):
    page = open_page("content/format", viewport={"width": 390, "height": 844}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator("details.menu > summary").click()
    page.get_by_role("link", name="Quickstart").first.click()
    page.wait_for_url("**/quickstart")
    assert page.trouble == []


def test_a_chosen_tab_is_remembered(open_page):
    page = open_page("content/blocks")
    chosen = page.locator('[role="tab"][aria-selected="false"]').first
    title = chosen.inner_text()
    chosen.click()
    for _ in range(2):
        shown = page.get_by_role("tab", name=title, exact=True).first
        expect(shown).to_have_attribute("aria-selected", "true")
        expect(page.get_by_role("tabpanel", name=title, exact=True).first).to_be_visible()
        page.reload()
    assert page.trouble == []


def test_printing_shows_only_the_whole_page(open_page):
    page = open_page("content/blocks")
    page.emulate_media(media="print", color_scheme="dark")
    for part in (".top", ".side", ".on-page", ".turn", ".skip", '[role="tablist"]'):
        expect(page.locator(part)).not_to_have_count(0)
        expect(page.locator(part).filter(visible=True)).to_have_count(0)
    expect(page.locator("h1")).to_be_visible()
    # Print shows everything that must be selected on a screen.
    panels = page.locator('[role="tabpanel"]')
    expect(panels).not_to_have_count(0)
    expect(panels.filter(visible=False)).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_pages_work_without_javascript(open_page):
    page = open_page("content/import-and-export", java_script_enabled=False)
    expect(page.locator("h1")).to_have_text("Import and export")
    expect(page.get_by_text("Markdown in").first).to_be_visible()
    page.goto(re.sub(r"content/.*", "~search?q=settings", page.url))
    expect(page.get_by_role("link", name="Settings").first).to_be_visible()


@pytest.mark.slow
def test_diagrams_are_drawn_in_both_themes(open_page):
    page = open_page("content/blocks")
    page.locator("#diagrams").scroll_into_view_if_needed()
    for number in range(page.locator(".diagram").count()):
        page.locator(".diagram").nth(number).locator("img.only-dark").wait_for(
            state="attached", timeout=60_000
        )
    diagram = page.locator(".diagram").first
    expect(diagram.locator("img.only-light")).to_have_attribute("alt", "From a draft to main")
    expect(page.locator(".diagram img.only-light").last).to_have_attribute("alt", re.compile("Review"))
    pictures = (
        "(box) => [...box.querySelectorAll('img')].map((i) => [i.naturalWidth > 200, i.checkVisibility()])"
    )
    until(lambda: diagram.evaluate(pictures) == [[True, True], [True, False]])
    expect(diagram.locator("pre")).to_be_hidden()
    diagram.locator("a").click()
    page.locator("dialog.viewer").wait_for()
    page.keyboard.press("Escape")
    # Nothing in the frame reaches the page: it has no origin.
    frame = next(frame for frame in page.frames if "diagrams.html" in frame.url)
    assert frame.evaluate("self.origin") == "null"
    assert page.trouble == []


def test_diagrams_are_text_without_javascript(open_page):
    page = open_page("content/blocks", java_script_enabled=False)
    expect(page.locator(".diagram pre").first).to_be_visible()


@pytest.fixture(scope="module")
def asking(first_start):
    """Serve the manual on another site that answers questions."""
    served, data = first_start
    token = (data / "admin-token").read_text().strip()
    with httpx.Client(base_url=f"{served.url}/v1", headers={"authorization": f"Bearer {token}"}) as api:
        org = api.get("/orgs").json()["items"][0]["id"]
        spaces = [space["id"] for space in api.get(f"/orgs/{org}/spaces").json()["items"]]
        site = api.post(f"/orgs/{org}/sites", json={"title": "Asked", "spaces": spaces}).json()["id"]
        body = {"styling": {}, "internationalization": {}, "ai": {"mode": "assistant"}}
        assert api.put(f"/orgs/{org}/sites/{site}/customization", json=body).status_code == 200
        return api.post(f"/orgs/{org}/sites/{site}/publish").json()["urls"]["published"]


def test_a_late_response_keeps_the_selected_row(open_page, asking):
    page = open_page()
    page.goto(f"{asking}quickstart")
    page.keyboard.press("/")
    page.keyboard.insert_text("how do")
    page.locator("#found a:not(.ask)").first.wait_for()
    late = []

    def hold(route):
        late.append(route)

    page.route(re.compile("q=how%20do%20I$"), hold)
    with page.expect_request(re.compile("q=how%20do%20I$")):
        page.keyboard.type(" I")
    page.keyboard.press("ArrowUp")
    chosen = page.locator("#found a.ask[aria-selected=true]:not([data-before])")
    chosen.evaluate("link => { link.dataset.before = '' }")
    late[0].continue_()
    chosen.wait_for()


@pytest.mark.parametrize("width", [390, pytest.param(1440, marks=pytest.mark.slow)])
def test_questions_can_be_asked_by_keyboard(open_page, asking, width):
    page = open_page(viewport={"width": width, "height": 800})
    page.goto(f"{asking}quickstart")
    page.keyboard.press("/")
    page.keyboard.insert_text("how do I start it")
    page.locator("#found a.deep").first.wait_for()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    first = page.locator(".asked-turn:nth-child(1)[aria-busy=false]")
    first.wait_for()
    expect(page.get_by_role("log", name="Answer")).to_have_count(1)
    expect(first).to_contain_text("No language model")
    expect(first.get_by_role("link").first).to_be_visible()
    # The next input is the next question; suggestions are buttons.
    page.keyboard.type("where are the settings")
    page.keyboard.press("Enter")
    page.locator(".asked-turn:nth-child(2)[aria-busy=false]").wait_for()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^What should I know")).first.click()
    page.locator(".asked-turn:nth-child(3)[aria-busy=false]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Back to search").click()
    expect(page.locator("#found, .asked-ideas").filter(visible=True)).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.trouble == []


@pytest.mark.slow
def test_a_url_can_contain_a_question(open_page, asking):
    page = open_page()
    page.goto(f"{asking}quickstart?ask=What+is+a+token%3F")
    page.locator(".asked-turn[aria-busy=false]").wait_for()
    expect(page.locator(".asked-turn h2")).to_have_text("What is a token?")
    assert page.trouble == []


@pytest.mark.slow
def test_questions_can_be_asked_without_javascript(open_page, asking):
    page = open_page(java_script_enabled=False)
    page.goto(f"{asking}~search?q=token")
    page.get_by_role("main").get_by_role("button", name="Ask").click()
    expect(page.locator("h1")).to_have_text("token")
    expect(page.get_by_role("main")).to_contain_text("No language model")
    page.get_by_role("button", name=re.compile("^What should I know")).first.click()
    expect(page.locator("h1")).to_have_text(re.compile("^What should I know"))
