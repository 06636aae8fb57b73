"""In a real browser: blocks are used by keyboard, in dialogs and frames, and the focus stays where it was."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from serving import Administrator, serving_new

from .test_blocks import BLOCKS, SCRIPT
from .test_pressing import FORM

pytestmark = pytest.mark.slow

PAGE = """<!doctype html><title>Frame</title><p id="told"></p><script>
addEventListener("message", (event) => { document.querySelector("#told").textContent = "told " + event.data.state.n; });
parent.postMessage({ action: { action: "@webframe.ready" } }, "*");
parent.postMessage({ action: { action: "@webframe.resize", size: { height: 123 } } }, "*");
</script>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    data = tmp_path_factory.mktemp("pressing") / "data"
    with serving_new(data) as served:
        admin = Administrator(served)
        body = FORM.replace("ENDPOINT", f"{served.reader_url}/~integrations/shapes")
        script = (SCRIPT % body).replace(
            "if (event.type",
            f'if (event.type === "fetch") return new Response({PAGE!r}, '
            '{ headers: { "content-type": "text/html" } });\n  if (event.type',
            1,
        )
        manifest = {
            "title": "Shapes",
            "description": "Draws",
            "script": script,
            "scopes": [],
            "blocks": BLOCKS,
        }
        admin.install("shapes", manifest)
        space = admin.create_space("Book")
        admin.merge_page(space, "# Page\n\n{% @shapes/card %}\n")
        yield admin.publish(admin.create_site(space))


@pytest.fixture
def page(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.refused = []
    # A script that starts slowly on a busy machine is requested again.
    page.on(
        "console",
        lambda said: (
            page.refused.append(said.text) if said.type == "error" and "503" not in said.text else None
        ),
    )
    page.goto(address)
    page.get_by_role("button", name="More").wait_for(timeout=60_000)
    yield page
    context.close()


def test_a_button_is_pressed_by_keyboard_and_keeps_focus(page):
    for count in (2, 4):
        page.get_by_role("button", name="More").press("Enter")
        page.get_by_text(f"Count {count}").wait_for()
        expect(page.get_by_role("button", name="More")).to_be_focused()
    expect(page.locator("[data-block]")).to_have_attribute("aria-live", "polite")
    expect(page.get_by_role("button", name="Off")).to_be_disabled()
    assert page.refused == []


def test_selects_and_switches_report_changes_immediately(page):
    page.get_by_label("Size").select_option("l")
    page.get_by_text('"size":"l"').wait_for()
    expect(page.get_by_label("Size")).to_have_value("l")
    page.get_by_role("switch", name="Loud").press("Space")
    page.get_by_text('"loud":true').wait_for()
    expect(page.get_by_role("switch", name="Loud")).to_be_checked()
    expect(page.get_by_role("switch", name="Loud")).to_be_focused()


def test_a_dialog_opens_accepts_text_and_returns_focus(page):
    opener = page.get_by_role("button", name="Ask", exact=True)
    opener.press("Enter")
    dialog = page.get_by_role("dialog", name="Ask")
    dialog.wait_for()
    found = Axe().run(page, context=".block-modal").response["violations"]
    assert [rule["id"] for rule in found] == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_label("Words").fill("hello there")
    dialog.get_by_role("button", name="Send").press("Enter")
    page.get_by_text("said hello there").wait_for()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def test_failed_actions_are_reported(page):
    page.get_by_role("button", name="Fail").press("Enter")
    page.get_by_role("status").get_by_text("Something went wrong").wait_for()
    expect(page.get_by_text("Count 0")).to_be_visible()


def test_a_frame_of_the_integration_receives_the_state(page):
    frame = page.frame_locator("iframe[data-told]")
    frame.get_by_text("told 0").wait_for()
    expect(page.locator("iframe[data-told]")).to_have_attribute("height", "123")
    page.get_by_role("button", name="More").press("Enter")
    page.frame_locator("iframe[data-told]").get_by_text("told 2").wait_for()
    assert page.refused == []
