"""A request that a person sends from a page, in a real browser against another server."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from serving import Administrator, import_site, serving_new
from settled import until

from .test_trying import answering, description_of

PAGE = """# Shop

{% openapi-operation spec="shop" path="/pets/{petId}" method="get" %}
{% endopenapi-operation %}

{% openapi-operation spec="shop" path="/pets" method="post" %}
{% endopenapi-operation %}

{% openapi-operation spec="shop" path="/orders" method="post" %}
{% endopenapi-operation %}
"""

ORDER = {
    "title": "Order",
    "type": "object",
    "properties": {
        **{f"note{number}": {"type": "string"} for number in range(10)},
        "ship": {
            "type": "object",
            "properties": {
                "to": {
                    "type": "object",
                    "properties": {"postcode": {"type": "string", "description": "Without spaces."}},
                },
                **{f"way{number}": {"type": "string"} for number in range(6)},
            },
        },
    },
}


@pytest.fixture(scope="module")
def api():
    with answering() as server:
        yield server


@pytest.fixture(scope="module")
def site(tmp_path_factory, api):
    folder = tmp_path_factory.mktemp("trying")
    (folder / "docs").mkdir()
    (folder / "docs" / "README.md").write_text(PAGE)
    with serving_new(folder / "data", OCTAVO_ALLOW_PRIVATE_FETCH=api.host) as served:
        admin = Administrator(served)
        path = f"/orgs/{admin.organization}/openapi/shop"
        description = description_of(api.host)
        description["paths"]["/orders"] = {
            "post": {
                "summary": "Place an order",
                "requestBody": {"content": {"application/json": {"schema": ORDER}}},
                "responses": {"201": {"description": "Placed"}},
            }
        }
        admin.call("PUT", path, {"source": {"text": json.dumps(description)}})
        until(lambda: admin.call("GET", path)["processingState"] == "complete")
        yield import_site(served, folder / "docs")


@pytest.fixture
def open_page(browser, site, api):
    contexts = []
    api.asked.clear()
    api.status, api.headers, api.answer = 200, {}, None

    def visit(**options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(site)
        return page

    yield visit
    for context in contexts:
        context.close()


def test_a_request_is_sent_by_keyboard_through_the_proxy(open_page, api):
    page = open_page()
    page.get_by_role("button", name="Try it").first.focus()
    page.keyboard.press("Enter")
    form = page.get_by_role("form", name="GET /pets/{petId}")
    form.wait_for()
    # The first field is focused, and required fields are requested.
    expect(form.locator("input[type=password]:focus")).to_have_count(1)
    page.keyboard.type("sesame")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("a/b")
    # Input appears in the code at once, but the secret never does.
    form.locator(".openapi-sample code", has_text="/v1/pets/a%2Fb").wait_for()
    expect(form.locator(".openapi-sample code")).to_contain_text("Bearer $SHOP_TOKEN")
    page.keyboard.press("Enter")
    # The browser can't read the response, and our server gets the secret only if that option is chosen.
    form.get_by_role("button", name="Send through this site").wait_for()
    assert not any("authorization" in asked["headers"] for asked in api.asked)
    form.get_by_role("button", name="Send through this site").press("Enter")
    form.get_by_text("sent through this site").wait_for()
    expect(form.locator(".try-status strong")).to_have_text("200 OK")
    expect(form.locator(".try-json")).to_contain_text('"path": "/v1/pets/a%2Fb"')
    form.get_by_role("button", name="Headers").click()
    expect(form.get_by_text("application/json")).to_be_visible()
    # It is in the list of earlier requests.
    expect(form.locator(".try-earlier button")).to_have_count(2)
    assert [asked["headers"].get("authorization") for asked in api.asked][-1] == "Bearer sesame"
    assert "sesame" not in page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert page.errors == []
    # It has a URL, which Back and Escape leave.
    expect(page).to_have_url(re.compile("#try$"))
    page.keyboard.press("Escape")
    form.wait_for(state="hidden")
    page.wait_for_function("document.activeElement.dataset.try")
    expect(page).not_to_have_url(re.compile("#try"))


def test_the_browser_sends_requests_itself_if_the_server_allows_it(open_page, api):
    api.headers = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Headers": "*, authorization",
        "Access-Control-Expose-Headers": "*",
    }
    page = open_page()
    page.get_by_role("button", name="Try it").first.click()
    form = page.get_by_role("form", name="GET /pets/{petId}")
    form.get_by_label("petId").fill("p 1")
    form.get_by_label("fields").fill("name\nage")
    form.get_by_role("button", name="Send").click()
    expect(form.locator(".try-status")).to_contain_text("200 OK")
    expect(form.locator(".try-status")).not_to_contain_text("through this site")
    (asked,) = api.asked
    assert asked["path"] == "/v1/pets/p%201?fields=name&fields=age"
    assert "mozilla" in asked["headers"]["user-agent"].lower()


def test_writes_are_not_repeated_without_confirmation(open_page, api):
    page = open_page()
    # The second operation of a page is an expandable line.
    page.get_by_text("POST", exact=True).first.click()
    page.get_by_role("button", name="Try it").last.click()
    form = page.get_by_role("form", name="POST /pets")
    form.get_by_role("button", name="Send").click()
    form.get_by_text("The request may still have been processed").wait_for()
    assert [asked["method"] for asked in api.asked if asked["method"] == "POST"] == []
    form.get_by_role("button", name="Send through this site").click()
    expect(form.locator(".try-status")).to_contain_text("200 OK")
    posted = [asked for asked in api.asked if asked["method"] == "POST"]
    assert [json.loads(asked["body"]) for asked in posted] == [{"name": "Rex"}]


def test_without_javascript_there_is_no_button(open_page):
    page = open_page(java_script_enabled=False)
    expect(page.locator("main p code").first).to_be_visible()
    expect(page.get_by_text("Try it").first).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1440])
def test_the_form_fits_on_small_screens(open_page, width):
    page = open_page(viewport={"width": width, "height": 900})
    page.get_by_text("POST", exact=True).first.click()
    page.get_by_role("button", name="Try it").last.click()
    form = page.get_by_role("form", name="POST /pets")
    form.get_by_role("button", name="Send").wait_for()
    page.wait_for_function("[...document.styleSheets].some((sheet) => sheet.href?.includes('/try.css'))")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wide = """[...document.querySelectorAll('.try *')].filter(e => !e.closest('pre') && e.getBoundingClientRect().right
        > e.closest('.try').getBoundingClientRect().right + 1).map(e => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []


def test_nested_fields_load_when_opened_linked_to_or_printed(open_page):
    page = open_page()
    place, deep = page.url, "post-orders.body.ship.to.postcode"
    field = page.locator(f"[id='{deep}']")
    page.locator("summary", has_text="Place an order").click()
    page.locator("summary:visible", has_text="11 optional fields").click()
    page.locator("summary:visible", has_text="7 fields").click()
    link = page.locator("a.openapi-later:visible")
    page.wait_for_function("Boolean(globalThis.octavoAllFields)")
    expect(field).to_have_count(0)
    link.focus()
    link.press("Enter")
    field.wait_for()
    expect(page.locator("summary:focus")).to_have_count(1)
    expect(page).to_have_url(place)
    page.goto("about:blank")
    page.goto(f"{place}#{deep}")
    field.wait_for()
    expect(page.locator(":target")).to_have_attribute("id", deep)
    page.goto("about:blank")
    page.goto(place)
    page.wait_for_function("Boolean(globalThis.octavoAllFields)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(field).to_have_count(1)
    assert not page.errors


def test_without_javascript_nested_content_is_a_link(open_page):
    page = open_page(java_script_enabled=False)
    page.goto(page.locator("a.openapi-later").first.evaluate("link => link.href"))
    expect(page.locator("[id='post-orders.body.ship.to.postcode']")).to_be_visible()


def test_a_field_is_found_in_a_long_body(open_page):
    page = open_page()
    page.locator("summary", has_text="Place an order").click()
    magnifier = page.get_by_role("button", name="Find a field")
    magnifier.click()
    finder = page.get_by_role("searchbox", name="Find a field")
    finder.fill("POSTCODE")
    # Its parent is unfolded, and the search keeps the focus.
    found = page.locator(".found-here")
    expect(found).to_be_visible()
    expect(found.locator("code").first).to_have_text("postcode")
    expect(page.locator(".api-finder small")).to_have_text("1 / 1")
    expect(finder).to_be_focused()
    finder.press("Enter")
    finder.press("Escape")
    # The folds are as before, and the focus is where it came from.
    expect(page.get_by_text("postcode").first).to_be_hidden()
    expect(found).to_have_count(0)
    expect(magnifier).to_be_focused()
    assert not page.errors


def test_a_sample_is_named_for_its_language(open_page):
    page = open_page()
    sample = page.locator(".openapi-sample").first
    for language in ("Python", "JavaScript", "cURL"):
        sample.locator(f'[data-language="{language}"]').first.evaluate("button => button.click()")
        sample.locator(".code-language", has_text=language).wait_for(state="attached")
        expect(sample.locator("pre")).to_have_attribute("aria-label", language)
    assert page.errors == []
