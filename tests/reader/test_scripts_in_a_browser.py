"""In a real browser: an integration's script runs after the visitor consented, never before, and only where a site
installed it."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from serving import Administrator, serving_new

from .test_scripts import SCRIPT

pytestmark = pytest.mark.slow
OWN = "docs.acme.localhost"


class Site(Administrator):
    def __init__(self, served):
        super().__init__(served)
        sites = f"/orgs/{self.organization}/sites"
        site = self.call("GET", sites)["items"][0]
        self.id, self.path = site["id"], f"{sites}/{site['id']}"
        self.shared = site["urls"]["published"]
        self.call("PATCH", self.path, {"hostname": OWN})
        self.own = f"http://{OWN}:{urlsplit(served.reader_url).port}/"

    def install_counter(self, *scopes, name="counter", script=SCRIPT):
        manifest = {
            "title": "Counter",
            "description": "Counts",
            "script": script,
            "scopes": ["site:script:inject", *scopes],
        }
        installation = self.install(name, manifest)
        self.call("POST", f"{installation}/sites", {"siteId": self.id})


@pytest.fixture(scope="module")
def served_site(tmp_path_factory):
    data = tmp_path_factory.mktemp("scripts") / "data"
    with serving_new(data) as served:
        yield Site(served)


@pytest.fixture
def site(served_site):
    yield served_site
    served_site.call("DELETE", "/integrations/counter")


@pytest.fixture
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    page.refused, page.asked = [], []
    page.on("console", lambda said: page.refused.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: page.asked.append(asked.url))
    yield page
    context.close()


def open_page(page, address):
    page.asked.clear()
    assert page.goto(address).status == 200
    page.wait_for_load_state("networkidle")
    return page.evaluate("window.counted")


def is_loaded(page):
    return any("~script.js" in url for url in page.asked)


def test_scripts_wait_for_consent_which_visitors_can_change(site, page):
    assert open_page(page, site.own) is None, "nothing is installed"
    expect(page.locator(".consent")).to_have_count(0)
    site.install_counter("site:script:cookies")
    assert open_page(page, site.own) is None and not is_loaded(page)
    bar = page.get_by_role("region", name="Cookies")
    expect(bar).to_be_visible()
    assert not is_loaded(page) and not page.context.cookies()
    bar.get_by_role("button", name="Decline").press("Enter")
    expect(bar).to_be_hidden()
    assert open_page(page, site.own) is None and not is_loaded(page)
    expect(bar).to_be_hidden()
    page.get_by_role("button", name="Cookies").click()
    expect(bar).to_be_visible()
    with page.expect_response(lambda answer: "~script.js" in answer.url):
        bar.get_by_role("button", name="Accept").press("Enter")
    # The answer is kept.
    open_page(page, f"{site.own}quickstart")
    page.wait_for_function("window.counted === 1")
    page.get_by_role("button", name="Cookies").click()
    with page.expect_navigation():
        bar.get_by_role("button", name="Decline").click()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.counted") is None
    assert page.refused == []


def test_a_script_without_cookies_runs_immediately_and_only_on_its_site(site, page):
    site.install_counter()
    open_page(page, site.own)
    page.wait_for_function("window.counted === 1")
    assert open_page(page, site.shared) is None and not is_loaded(page)
    assert page.refused == []
    page.goto(site.own)
    # What an endpoint answers is no code of the site.
    with page.expect_console_message(lambda said: "403" in said.text):
        page.evaluate(
            "document.head.append(Object.assign(document.createElement('script'), "
            "{src: '/~integrations/counter/x.js'}))"
        )


BANNER = """
export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  const script = `window.before = String(window.GitBook.isCookiesTrackingDisabled());
    window.GitBook.registerCookieBanner((given) => Object.assign(window, given));`;
  return new Response(event.type === "fetch_published_script" ? script : "OK");
} };"""


def test_an_integration_can_ask_for_consent_itself(site, page):
    site.install_counter("site:script:cookies")
    site.install_counter(name="banner", script=BANNER)
    assert open_page(page, site.own) is None
    page.wait_for_function("window.before === 'undefined'")
    expect(page.locator(".consent"), "it asks in place of ours").to_be_hidden()
    page.evaluate("window.onReject()")
    assert open_page(page, site.own) is None
    page.wait_for_function("window.before === 'true'")
    with page.expect_response(lambda answer: "/counter/" in answer.url):
        page.evaluate("window.onApprove()")
    open_page(page, site.own)
    page.wait_for_function("window.counted === 1 && window.before === 'false'")
    with page.expect_navigation():
        page.evaluate("window.onReject()")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.counted") is None and page.refused == []
    site.call("DELETE", "/integrations/banner")


def test_a_browser_can_refuse_consent_for_its_visitor(site, page):
    site.install_counter("site:script:cookies")
    page.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', {get: () => true})"
    )
    assert open_page(page, site.own) is None and not is_loaded(page)
    expect(page.get_by_role("region", name="Cookies")).to_be_hidden()
