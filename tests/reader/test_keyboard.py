"""Reading a site with only the keyboard, in a real browser: everything that opens can be entered, left, and
closed, and returns the focus; screen readers announce it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

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


def expect_focus(page, name):
    """Wait until the element of this name has a visible focus."""
    page.wait_for_function(f"name => String(({FOCUS})()) === `${{name}},true`", arg=name)


def tab_to(page, name, steps=60):
    for _ in range(steps):
        press(page, "Tab")
        if page.evaluate(FOCUS)[0] == name:
            return expect_focus(page, name)
    raise AssertionError(f"{name!r} is not reached")


def test_the_first_tab_stop_skips_the_header(visit):
    page = visit()
    press(page, "Tab")
    expect_focus(page, "Skip to content")
    press(page, "Enter")
    expect(page.locator("#content")).to_be_focused()


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
    expect(shown).to_have_count(1)
    for name in inside:
        press(page, "Tab")
        expect_focus(page, name)
    press(page, "Escape")
    expect(shown).to_have_count(0)
    expect_focus(page, menu)
    # Moving on leaves nothing open.
    press(page, "Enter")
    expect(shown).to_have_count(1)
    press(page, *["Tab"] * (len(inside) + 1))
    expect(shown).to_have_count(0)
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
    expect(page.locator("html")).to_have_attribute("lang", "de")


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
    expect(box).to_be_focused()
    page.keyboard.insert_text("settings")
    expect(page.get_by_role("option", selected=True)).to_have_count(1)
    expect(box).to_have_attribute("aria-expanded", "true")
    chosen = box.get_attribute("aria-activedescendant")
    press(page, "ArrowDown")
    expect(box).not_to_have_attribute("aria-activedescendant", chosen)
    expect(page.get_by_role("option", selected=True)).to_have_count(1)
    expect(page.get_by_role("status").first).not_to_be_empty()
    press(page, "Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect_focus(page, "Home")
    press(page, "/")
    page.keyboard.insert_text("settings")
    expect(page.get_by_role("option", selected=True)).to_have_count(1)
    press(page, "ArrowDown", "ArrowUp", "Enter")
    page.wait_for_url(lambda url: "~search" not in url and "q=" not in url)


def test_images_open_and_close(visit):
    page = visit()
    link = page.locator("a.zoom")
    link.focus()
    press(page, "Enter")
    expect(page.get_by_role("dialog", name="A drawing")).to_be_visible()
    press(page, "Tab", "Tab")
    page.wait_for_function("document.activeElement.matches('body, dialog *')")
    press(page, "Escape")
    # A closing dialog is removed when its close event arrives.
    page.locator("dialog.viewer").wait_for(state="detached")
    expect(link).to_be_focused()


def test_tabs_are_selected_with_arrow_keys(visit):
    page = visit()
    tab_to(page, "Linux")
    press(page, "ArrowRight")
    expect_focus(page, "Mac")
    expect(page.get_by_role("tabpanel", name="Mac")).to_be_visible()
    press(page, "End")
    expect_focus(page, "Windows")
    press(page, "ArrowRight")
    expect_focus(page, "Linux")
    press(page, "Home", "ArrowLeft")
    expect_focus(page, "Windows")
    expect(page.get_by_role("tab", selected=False)).to_have_text(["Linux", "Mac"])
    expect(page.get_by_role("tab", selected=True)).to_have_text("Windows")
    # All tabs are one stop; the next stop is the content of the selected one.
    press(page, "Tab")
    expect(page.locator(":focus")).to_have_text("three", use_inner_text=True)


def test_expandables_and_the_tree_open_by_keyboard(visit):
    page = visit()
    page.locator(".expandable > summary").focus()
    press(page, "Enter")
    expect(page.get_by_text("Hidden words.")).to_be_visible()
    press(page, "Enter")
    expect(page.get_by_text("Hidden words.")).to_be_hidden()
    fold = page.locator(".tree summary")
    expect(fold).to_have_attribute("aria-label", re.compile("Parent"))
    fold.focus()
    press(page, "Enter")
    expect(page.get_by_role("link", name="Child")).to_be_visible()
    press(page, "Tab")
    expect_focus(page, "Child")


def test_page_actions_work_by_keyboard(visit):
    page = visit()
    actions = page.locator("details.actions")
    actions.locator("summary").focus()
    press(page, "Enter", "Tab")
    expect(actions).to_have_attribute("open", "")
    expect_focus(page, "Copy page as Markdown")
    press(page, "Escape")
    expect(actions).not_to_have_attribute("open", "")
    expect_focus(page, "Page actions")


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
    expect_focus(page, "Menu")
    press(page, "Enter")
    side = page.locator("#side")
    expect(side).to_be_visible()
    expect(page.locator("main")).to_have_attribute("inert", "")
    press(page, "Tab")
    expect(side.locator(":focus")).to_be_visible()
    first, _ = page.evaluate(FOCUS)
    press(page, "Shift+Tab")
    expect_focus(page, "Menu")
    # Around the menu and back to its button.
    press(page, "Shift+Tab")
    expect(side.locator(":focus")).to_be_visible()
    press(page, "Tab", "Tab")
    expect_focus(page, first)
    press(page, "Escape")
    expect(side).to_be_hidden()
    expect_focus(page, "Menu")
    expect(page.locator("main")).not_to_have_attribute("inert", "")


def test_landmarks_have_names(visit):
    page = visit()
    for part in ("nav", "aside", "[role=region]"):
        names = page.locator(f"{part}:visible").evaluate_all("all => all.map(e => e.ariaLabel)")
        assert all(names) and len(set(names)) == len(names), (part, names)
    for role in ("main", "banner", "search"):
        expect(page.get_by_role(role)).to_have_count(1)


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
    expect(button).to_be_focused()
    assert page.evaluate("globalThis.taken").startswith("long long")
    expect(page.locator("textarea")).to_have_count(0)
