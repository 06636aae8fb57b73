"""Reading a site with only the keyboard, in a real browser: everything that opens can be entered, left, and
closed, and returns the focus; screen readers announce it."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from serving import serving_new

pytestmark = pytest.mark.slow

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SECTIONS = ("Guides", "Integrations", "Developers", "Changelog", "Partners", "Questions")
DOCS = """site:
  title: Keyboard
  structure:
    - type: section
      key: start
      title: Start
      icon: house
      default: true
      children:
        - {type: space, key: en, title: English, default: true, content: {directory: en, language: en}}
        - {type: space, key: de, title: Deutsch, path: de, content: {directory: de, language: de}}
    - type: section-group
      key: products
      title: Products
      icon: box
      children:
        - {type: section, key: one, title: Payments, path: payments, icon: book, children: [{type: space, \
key: p, title: P, content: {directory: other}}]}
        - {type: section, key: two, title: Identity, path: identity, children: [{type: space, key: i, \
title: I, content: {directory: other}}]}
""" + "".join(
    f"    - {{type: section, key: {name}, title: {name}, path: {name.lower()}, children: "
    f"[{{type: space, key: {name}-space, title: {name}, content: {{directory: other}}}}]}}\n"
    for name in SECTIONS
)
FILES = {
    "docs.yaml": DOCS,
    "en/SUMMARY.md": "* [Home](README.md)\n* [Parent](parent.md)\n  * [Child](child.md)\n",
    "en/README.md": "# Home\n\n## Tabs\n\n"
    '{% tabs %}\n{% tab title="Linux" %}\none\n{% endtab %}\n{% tab title="Mac" %}\ntwo\n{% endtab %}\n'
    '{% tab title="Windows" %}\nthree\n{% endtab %}\n{% endtabs %}\n\n'
    "## More\n\n<details>\n\n<summary>Unfold</summary>\n\nHidden words.\n\n</details>\n\n![A drawing](drawing.svg)\n\n"
    f"```\n{'long ' * 80}\n```\n",
    "en/parent.md": "# Parent\n\nWords about settings.\n",
    "en/child.md": "# Child\n\nMore about settings.\n",
    "en/drawing.svg": (
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="500"><rect width="900" '
        'height="500"/></svg>'
    ),
    "de/README.md": "# Anfang\n\nWorte.\n",
    "other/README.md": "# Words\n\nWords.\n",
}
FOCUS = """() => {
    const at = document.activeElement, style = getComputedStyle(at);
    return [(at.ariaLabel || at.textContent).trim().replace(/\\s+/g, ' '), at.matches(':focus-visible') && \
style.outlineStyle !== 'none']
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """URL of a site with sections in a group, languages, and links in its header."""
    folder = tmp_path_factory.mktemp("keyboard")
    for name, text in FILES.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with serving_new(folder / "data") as served:
        token = (folder / "data" / "admin-token").read_text().strip()
        api = httpx.Client(
            base_url=f"{served.url}/v1", headers={"authorization": f"Bearer {token}"}, timeout=60
        )
        org = api.get("/orgs").json()["items"][0]["id"]
        done = subprocess.run(
            [Path(sys.executable).parent / "octavo", "import", folder / "docs", "--data", folder / "data"]
            + ["--json", "--org", org, "--publish", "--quiet"],
            check=False,
            capture_output=True,
            text=True,
            env={"OCTAVO_URL": served.url, "OCTAVO_SITES_URL": served.reader_url},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found = api.get(f"/orgs/{org}/sites").json()["items"]
        made = next(one for one in found if one["title"] == "Keyboard")
        link = {"title": "Elsewhere", "to": {"kind": "url", "url": "https://example.com"}}
        links = [{"title": "Menu", "to": None, "links": [link]}, {**link, "links": []}]
        put = api.put(f"/orgs/{org}/sites/{made['id']}/customization", json={"header": {"links": links}})
        assert put.is_success, put.text
        yield json.loads(done.stdout).get("url") or made["urls"]["published"].rstrip("/") + "/"


@pytest.fixture
def visit(browser, site):
    contexts = []

    def open_page(path="", viewport=WIDE):
        context = browser.new_context(viewport=viewport, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.goto(site + path)
        return page

    yield open_page
    for context in contexts:
        context.close()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def focus_of(page):
    """Return the name of the focused element, which must have a visible focus."""
    name, seen = page.evaluate(FOCUS)
    assert seen, f"the focus on {name!r} is not seen"
    return name


def tab_to(page, name, steps=60):
    for _ in range(steps):
        press(page, "Tab")
        if page.evaluate(FOCUS)[0] == name:
            return focus_of(page)
    raise AssertionError(f"{name!r} is not reached")


def test_the_first_tab_stop_skips_the_header(visit):
    page = visit()
    press(page, "Tab")
    assert focus_of(page) == "Skip to content"
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "content"


@pytest.mark.parametrize(
    ("menu", "inside"),
    [
        ("Language: English", ["English", "Deutsch"]),
        ("Products", ["Payments", "Identity"]),
        ("Menu", ["Elsewhere"]),
    ],
)
def test_menus_open_close_and_return_focus(visit, menu, inside):
    page = visit()
    shown = page.locator("details.picker[open]")
    tab_to(page, menu)
    press(page, "Enter")
    assert shown.count() == 1
    for name in inside:
        press(page, "Tab")
        assert focus_of(page) == name
    press(page, "Escape")
    assert shown.count() == 0 and focus_of(page) == menu
    # Moving on leaves nothing open.
    press(page, "Enter", *["Tab"] * (len(inside) + 1))
    assert shown.count() == 0
    press(page, *["Shift+Tab"], "Enter")
    box = page.locator("details.picker[open] > ul").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1280
    topmost = page.evaluate(
        "([x, y]) => !!document.elementFromPoint(x, y).closest('details.picker[open] > ul')",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    )
    assert topmost


def test_a_language_can_be_selected(visit):
    page = visit()
    tab_to(page, "Language: English")
    press(page, "Enter", "Tab", "Tab", "Enter")
    page.wait_for_url("**/de/**")
    assert page.locator("html").get_attribute("lang") == "de"


@pytest.mark.parametrize("width", [1240, 1440, 1920])
def test_tabs_of_sections_are_not_covered(visit, width):
    """With six sections next to languages and links, each is visible, or scrolls into view when focused."""
    page = visit(viewport={"width": width, "height": 900})
    for name in ("Start", "Products", *SECTIONS):
        tab = page.locator(".sections > ul > li").filter(has_text=name).locator("a, summary").first
        tab.focus()
        box = tab.bounding_box()
        found = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y)?.closest('.sections li')?.innerText ?? ''",
            [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
        )
        assert name in found
    brand = page.locator(".brand span").last.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert brand and page.evaluate("document.documentElement.scrollWidth") <= width


def test_search_opens_moves_closes_and_returns_focus(visit):
    page = visit("parent")
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Home")
    link.focus()
    press(page, "Control+k")
    box = page.get_by_role("combobox", name="Search")
    assert box.evaluate("e => e === document.activeElement")
    page.keyboard.type("settings")
    page.get_by_role("option").first.wait_for()
    assert box.get_attribute("aria-expanded") == "true"
    chosen = box.get_attribute("aria-activedescendant")
    press(page, "ArrowDown")
    assert box.get_attribute("aria-activedescendant") != chosen
    assert page.locator('[role=option][aria-selected="true"]').count() == 1
    assert page.get_by_role("status").first.text_content()
    press(page, "Escape")
    assert page.locator("dialog[open]").count() == 0 and focus_of(page) == "Home"
    press(page, "/")
    page.keyboard.type("settings")
    page.get_by_role("option").first.wait_for()
    press(page, "ArrowDown", "ArrowUp", "Enter")
    page.wait_for_url(lambda url: "~search" not in url and "q=" not in url)


def test_images_open_and_close(visit):
    page = visit()
    link = page.locator("a.zoom")
    link.focus()
    press(page, "Enter")
    assert page.get_by_role("dialog", name="A drawing").is_visible()
    press(page, "Tab", "Tab")
    assert page.evaluate(
        "!!document.activeElement.closest('dialog') || document.activeElement === document.body"
    )
    press(page, "Escape")
    # A closing dialog is removed when its close event arrives.
    page.locator("dialog.viewer").wait_for(state="detached")
    assert link.evaluate("e => e === document.activeElement")


def test_tabs_are_selected_with_arrow_keys(visit):
    page = visit()
    tabs = page.get_by_role("tab")
    tab_to(page, "Linux")
    press(page, "ArrowRight")
    assert focus_of(page) == "Mac" and page.get_by_role("tabpanel", name="Mac").is_visible()
    press(page, "End")
    assert focus_of(page) == "Windows"
    press(page, "ArrowRight")
    assert focus_of(page) == "Linux"
    press(page, "Home", "ArrowLeft")
    assert focus_of(page) == "Windows"
    assert [one.get_attribute("aria-selected") for one in tabs.all()] == ["false", "false", "true"]
    # All tabs are one stop; the next stop is the content of the selected one.
    press(page, "Tab")
    assert page.evaluate("document.activeElement.innerText").strip() == "three"


def test_expandables_and_the_tree_open_by_keyboard(visit):
    page = visit()
    page.locator(".expandable > summary").focus()
    press(page, "Enter")
    assert page.get_by_text("Hidden words.").is_visible()
    press(page, "Enter")
    assert not page.get_by_text("Hidden words.").is_visible()
    fold = page.locator(".tree summary")
    assert "Parent" in fold.get_attribute("aria-label")
    fold.focus()
    press(page, "Enter")
    child = page.get_by_role("link", name="Child")
    assert child.is_visible()
    press(page, "Tab")
    assert focus_of(page) == "Child"


def test_page_actions_work_by_keyboard(visit):
    page = visit()
    actions = page.locator("details.actions")
    actions.locator("summary").focus()
    press(page, "Enter", "Tab")
    assert actions.get_attribute("open") is not None
    assert focus_of(page) == "Copy page as Markdown"
    press(page, "Escape")
    assert actions.get_attribute("open") is None and focus_of(page) == "Page actions"


def test_code_blocks_are_scrolled(visit):
    page = visit()
    listing = page.locator(".code pre")
    listing.focus()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight")
    page.wait_for_function("document.querySelector('.code pre').scrollLeft > 0")
    assert page.evaluate(FOCUS)[1]


def test_the_menu_of_a_phone_traps_focus_until_it_closes(visit):
    page = visit(viewport=PHONE)
    opener = page.locator("details.menu > summary")
    opener.focus()
    assert focus_of(page) == "Menu"
    press(page, "Enter")
    side = page.locator("#side")
    assert side.is_visible() and page.locator("main").evaluate("e => e.inert")
    press(page, "Tab")
    first = focus_of(page)
    assert side.evaluate("e => e.contains(document.activeElement)")
    press(page, "Shift+Tab")
    assert focus_of(page) == "Menu"
    # Around the menu and back to its button.
    press(page, "Shift+Tab")
    assert side.evaluate("e => e.contains(document.activeElement)")
    press(page, "Tab", "Tab")
    assert focus_of(page) == first
    press(page, "Escape")
    assert not side.is_visible() and focus_of(page) == "Menu"
    assert not page.locator("main").evaluate("e => e.inert")


def test_landmarks_have_names(visit):
    page = visit()
    for part in ("nav", "aside", "[role=region]"):
        names = [one.get_attribute("aria-label") for one in page.locator(part).all() if one.is_visible()]
        assert all(names) and len(set(names)) == len(names), (part, names)
    assert page.get_by_role("main").count() == page.get_by_role("banner").count() == 1
    assert page.get_by_role("search").count() == 1


@pytest.mark.parametrize(
    "missing",
    ["delete Navigator.prototype.clipboard", "navigator.clipboard.writeText = () => Promise.reject()"],
)
def test_code_is_copied_without_tls_and_without_clipboard_access(visit, missing):
    page = visit()
    # In a function: an expression that evaluates to a function would be called.
    page.evaluate(f"() => {{ {missing}; }}")
    page.evaluate("addEventListener('copy', () => { globalThis.taken = String(getSelection()); })")
    button = page.locator("button.copy").first
    button.focus()
    press(page, "Enter")
    page.locator("button.copy.done").first.wait_for()
    assert button.evaluate("e => e === document.activeElement")
    assert page.evaluate("globalThis.taken").startswith("long long")
    assert page.locator("textarea").count() == 0
