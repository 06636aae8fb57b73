"""Links to headings scroll to them, and Back returns to where the person was: on main and in a change request."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import App, wait_for_selection

pytestmark = pytest.mark.slow

LINE = "Words that fill the page.\n\n" * 30
FIRST = f"See [the end](#last-part) and [the other page]({{other}}#twice-1).\n\n{LINE}## Middle\n\n{LINE}"
FIRST += f"<details>\n<summary>More</summary>\n\n### Inside\n\nHidden.\n\n</details>\n\n{LINE}## Last part\n\n{LINE}"
OTHER = f"{LINE}## Twice\n\n{LINE}## Twice\n\n{LINE}"


@pytest.fixture(scope="module")
def space(app: App) -> str:
    made = app.create_space("Headings")
    # The page that is linked comes first.
    for title, markdown in (("Other", OTHER), ("First", FIRST)):
        written = markdown.replace("{other}", f"{app.url}/s/{made}/other")
        change = {"operation": "insert_page", "title": title, "document": {"markdown": written}}
        app.call("POST", f"/spaces/{made}/content", {"changes": [change]})
    return made


def _top(page: Any) -> float:
    return float(page.evaluate("() => document.getElementById('main').scrollTop"))


def _at(page: Any, name: str, number: int = 0) -> None:
    """Wait until a heading is at the top of the screen."""
    page.wait_for_function(
        """([name, number]) => {
          const heading = [...document.querySelectorAll("#main :is(h2, h3, summary)")]
            .filter((one) => one.textContent.trim() === name)[number];
          const top = document.getElementById("main").getBoundingClientRect().top;
          return heading && Math.abs(heading.getBoundingClientRect().top - top) < 96;
        }""",
        arg=[name, number],
    )


def _leave(page: Any) -> float:
    """Wait until the place of the page is remembered, and return it."""
    page.wait_for_function("() => history.state?.top === document.getElementById('main').scrollTop")
    return _top(page)


def test_links_scroll_to_headings_and_back(app: App, space: str) -> None:
    page = app.open(f"/s/{space}/first")
    link = page.get_by_role("link", name="the end")
    link.focus()
    page.keyboard.press("Enter")
    _at(page, "Last part")
    page.wait_for_url("**/first#last-part")
    # The keyboard goes on from the heading.
    expect(page.get_by_role("heading", name="Last part")).to_be_focused()
    page.go_back()
    page.wait_for_function("() => document.getElementById('main').scrollTop === 0")
    page.go_forward()
    _at(page, "Last part")

    outline = page.get_by_role("complementary", name="About this page")
    outline.get_by_role("link", name="Middle").click()
    _at(page, "Middle")
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 200)
    top = _leave(page)
    page.get_by_role("treeitem", name="Other").click()
    page.get_by_role("heading", name="Other", level=1).wait_for()
    page.wait_for_function("() => document.getElementById('main').scrollTop === 0")
    page.go_back()
    page.wait_for_function(f"() => document.getElementById('main').scrollTop === {top}")
    # A second click leads to the heading again.
    outline.get_by_role("link", name="Middle").click()
    _at(page, "Middle")
    page.reload()
    page.get_by_role("heading", name="Middle").wait_for()
    _at(page, "Middle")

    # From another page, to the second of two headings with the same text.
    page.goto(f"{app.url}/s/{space}/first")
    page.get_by_role("link", name="the other page").click()
    _at(page, "Twice", 1)
    page.go_back()
    page.get_by_role("link", name="the other page").wait_for()

    # Into a closed expandable.
    page.goto(f"{app.url}/s/{space}/first#inside")
    _at(page, "Inside")
    expect(page.get_by_text("Hidden.")).to_be_visible()
    # A URL that other tools wrote, and one that is broken.
    page.goto(f"{app.url}/s/{space}/first#Last_Part")
    _at(page, "Last part")
    page.goto(f"{app.url}/s/{space}/first#%")
    page.get_by_role("heading", name="First", level=1).wait_for()
    page.context.close()


def test_search_opens_headings(app: App, space: str) -> None:
    page = app.open(f"/s/{space}/other")
    page.get_by_role("heading", name="Other", level=1).wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill("last part")
    page.get_by_role("option", name="Last part").wait_for()
    page.keyboard.press("Enter")
    _at(page, "Last part")
    page.context.close()


def test_links_scroll_to_headings_in_the_editor(app: App, space: str) -> None:
    change = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Rework"})
    root = f"/s/{space}/~/changes/{change['number']}"
    page = app.open(f"{root}/first#last-part")
    text = page.get_by_role("textbox", name="Page content")
    _at(page, "Last part")
    page.keyboard.type("The ")
    expect(page.get_by_role("heading", name="The Last part")).to_be_visible()
    # Blocks get their real heights when they are first shown.
    _leave(page)

    outline = page.get_by_role("complementary", name="About this page")
    outline.get_by_role("link", name="Middle").click()
    _at(page, "Middle")
    expect(text).to_be_focused()
    page.go_back()
    page.wait_for_function("() => document.getElementById('main').scrollTop > 3000")

    # With a modifier, links in the text are followed, also by keyboard in the link box.
    page.goto(f"{app.url}{root}/first")
    link = text.get_by_role("link", name="the other page")
    link.click(modifiers=["ControlOrMeta"])
    page.wait_for_url(f"**{root}/other#twice-1")
    _at(page, "Twice", 1)
    page.go_back()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("First")
    text.get_by_role("link", name="the end").click()
    expect(text).to_be_focused()
    wait_for_selection(page)
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_role("dialog", name="Link").get_by_role("link", name="Open link").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/first#last-part")
    _at(page, "The Last part")
    page.context.close()
