"""A site in a window of another one: it can be framed under a separate base, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from local_server import QuietHandler, local_server
from octavo.operations.admin.import_export import import_space
from octavo.sites.site.store import find_site_of_space
from serving import serving_new
from visiting import Visitor
from world import World


class Site:
    def __init__(self, world: World, folder: Path) -> None:
        (folder / "README.md").write_text("# Home\n\n[Guide](guide.md)\n")
        (folder / "guide.md").write_text("# Guide\n")
        organization = world.home["organizationId"]
        brought = import_space(
            world.context, str(folder), organization_id=organization, title="Docs", publish=True
        )
        with world.context.db.read() as tx:
            site = find_site_of_space(tx, brought.outcome.space)
        self.world, self.path = world, f"/orgs/{organization}/sites/{site}"
        self.url: str = world.get("admin", self.path)["urls"]["published"]
        self.base = urlsplit(self.url).path
        self._visitor = Visitor(world.context)

    def get(self, path: str) -> httpx.Response:
        return self._visitor.get(self.base + path)

    def change(self, visibility: str) -> None:
        answer = self.world.call("admin", "PATCH", self.path, json={"visibility": visibility})
        assert answer.status_code == 200, answer.text


@pytest.fixture
def site(world: World, tmp_path: Path) -> Site:
    return Site(world, tmp_path)


@pytest.mark.sqlite_first
def test_links_stay_in_the_frame(site: Site) -> None:
    page = site.get("~embed/")
    assert page.status_code == 200
    assert f'href="{site.base}~embed/guide"' in page.text and f'href="{site.base}guide"' not in page.text
    assert f'<link rel="canonical" href="{site.url}">' in page.text
    assert '<meta name="robots" content="noindex">' in page.text
    for path in ("sitemap.xml", "~feed.xml"):
        assert site.get(f"~embed/{path}").status_code == 404
    assert "Disallow: /\n" in site.get("~embed/robots.txt").text


@pytest.mark.sqlite_first
def test_only_embedded_pages_are_framed(site: Site) -> None:
    assert "frame-ancestors 'self' *" in site.get("~embed/guide").headers["content-security-policy"]
    for path in ("", "guide", "nowhere", "~search?q=x"):
        assert "frame-ancestors 'self'" in site.get(path).headers["content-security-policy"]
    # A missing page is missing in the frame, too.
    assert site.get("~embed/nowhere").status_code == 404
    assert site.get("~embed/~embed/").status_code == 404


def test_sites_opened_by_cookies_are_not_framed(site: Site) -> None:
    scripts = ("~embed/script.js", "~gitbook/embed/script.js")
    for path in scripts:
        assert site.get(path).headers["content-type"].startswith("text/javascript")
    site.change("visitor-auth")
    for path in (*scripts, "~embed/", "~embed/guide"):
        assert site.get(path).status_code == 404, path


def test_the_public_package_frames_a_site_at_its_url(site: Site) -> None:
    led = site.get("~gitbook/embed?theme=dark&visitor.plan=pro")
    assert (led.status_code, led.headers["location"]) == (
        307,
        f"{site.base}~embed/?theme=dark&visitor.plan=pro",
    )
    shown = site.get("~embed/?theme=dark&visitor.plan=pro")
    assert shown.status_code == 200 and "frame-ancestors 'self' *" in shown.headers["content-security-policy"]
    site.change("visitor-auth")
    assert site.get("~gitbook/embed").status_code == 404


def test_share_links_are_framed_by_their_key(site: Site) -> None:
    site.change("share-link")
    assert site.get("~embed/").status_code == 404
    link = site.world.post("admin", f"{site.path}/share-links", {"name": "A"})["urls"]["published"]
    base = urlsplit(link).path.removeprefix(site.base)
    assert f'href="{site.base}{base}~embed/guide"' in site.get(f"{base}~embed/").text


HOST = """<!doctype html><html lang="en"><title>Customer</title><main><h1>Customer</h1><p>Words</p></main>
<script src="{site}~embed/script.js"></script><script src="/start.js"></script></html>"""


@pytest.fixture(scope="module")
def customer(tmp_path_factory: pytest.TempPathFactory):
    """Page of another origin with a strict policy."""
    with serving_new(tmp_path_factory.mktemp("embedded") / "data") as served:
        site = f"{served.reader_url}/octavo/octavo-manual/"
        start = f"Octavo('init', {{ siteURL: '{site}' }}, {{ colorScheme: 'dark' }});"

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                script = self.path == "/start.js"
                body = (start if script else HOST.replace("{site}", site)).encode()
                self.send_response(200)
                self.send_header("content-type", "text/javascript" if script else "text/html")
                policy = f"default-src 'none'; script-src 'self' {served.reader_url}; frame-src {served.reader_url}"
                self.send_header("content-security-policy", policy)
                self.end_headers()
                self.wfile.write(body)

        with local_server(Handler) as server:
            yield f"http://localhost:{server.server_port}/"


def test_a_page_of_a_customer_shows_the_site(browser, customer) -> None:
    # Otherwise Playwright sets the preferred theme.
    page = browser.new_page(color_scheme="null")
    trouble: list[str] = []
    page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(customer)
    # Use only the keyboard.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", level=1).first.wait_for()
    expect(page.get_by_role("dialog", name="Documentation")).to_be_visible()
    page.evaluate("Octavo('navigateToPage', '/quickstart')")
    frame.get_by_role("heading", name="Quickstart", level=1).wait_for()
    inner = next(one for one in page.frames if "~embed" in one.url)
    assert inner.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.evaluate("Octavo('configure', { button: { label: 'Help' } })")
    opener = page.get_by_role("button", name="Help")
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="Close").press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(opener).to_be_focused()
    page.evaluate("Octavo('unload')")
    expect(opener).to_have_count(0)
    assert trouble == []
    page.close()


def test_embed_settings_without_effect_are_reported(browser, customer) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "warning" else None)
    page.goto(customer)

    def call(name: str, what: str) -> list[str]:
        said.clear()
        page.evaluate(f"Octavo('{name}', {what})")
        return [text.removeprefix("Octavo: ") for text in said]

    known = (
        "{button: {label: 'Help'}, closeButton: true, actions: [{label: 'Write to us', onClick: () => "
        "{document.title = 'Pressed'}}]}"
    )
    assert call("configure", known) == []
    page.evaluate("Octavo('open')")
    page.get_by_role("button", name="Write to us").click()
    expect(page).to_have_title("Pressed")
    assert call("configure", "{closeButton: false, actions: []}") == []
    expect(page.get_by_role("button", name="Close")).to_be_hidden()
    for name in ("suggestions", "greeting", "assistantName", "trademark", "tabs", "tools"):
        assert call("configure", f"{{{name}: true}}") == [f'configure knows no "{name}"; it has no effect.']
    assert call(
        "configure", "{button: {icon: 'book'}, actions: [{label: 'A', icon: 'b', onClick() {}}]}"
    ) == [
        'button of configure knows no "icon"; it has no effect.',
        'actions of configure knows no "icon"; it has no effect.',
    ]
    options = (
        "{siteURL: location.href, tab: 1}, {colorScheme: 'pink', visitor: {token: 'x', unsignedClaims: "
        "{a: {}, b: true}}}"
    )
    assert call("init", options) == [
        'init knows no "tab"; it has no effect.',
        "sites for signed visitors are not shown in frames; the token is not used.",
        'the unsigned claim "a" is no text, number or boolean; it is not used.',
        "colorScheme of init is light or dark; what the visitor prefers is shown.",
    ]
    page.close()


def test_pages_themselves_refuse_to_be_framed(browser, customer) -> None:
    page = browser.new_page()
    page.goto(customer)
    page.evaluate("Octavo('open')")
    inner = page.frame_locator("iframe")
    inner.get_by_role("heading", level=1).first.wait_for()
    framed = next(one.url for one in page.frames if "~embed" in one.url)
    with page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        page.evaluate(
            "url => document.body.append(Object.assign(document.createElement('iframe'), {src: url}))",
            framed.replace("~embed/", ""),
        )
    assert not any(one.url == framed.replace("~embed/", "") for one in page.frames)
    page.close()
