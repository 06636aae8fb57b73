"""The life of an integration built with the public runtime library, on a running server: published,
installed, notified of changes, rendered and used on a page, called at its public endpoint, and signing a
visitor in."""

from __future__ import annotations

import re
import time
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from local_server import QuietHandler, local_server
from serving import Administrator, serving_new

from .test_official_runtime import built  # noqa: F401

pytestmark = pytest.mark.slow


@pytest.fixture
def provider():
    """Serve an identity provider: a page with a link back."""

    class Handler(QuietHandler):
        def do_GET(self):
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            back = f"{asked.get('redirect_uri')}?{urlencode({'code': '1', 'state': asked.get('state', '')})}"
            body = f'<!doctype html><title>Sign in</title><a href="{back.replace("&", "&amp;")}">I am Ada</a>'
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

    with local_server(Handler) as server:
        yield server.url


def test_an_integration_is_published_installed_used_and_removed(tmp_path, built, provider, browser):  # noqa: F811
    data = tmp_path / "data"
    with serving_new(data) as served:
        admin = Administrator(served)
        manifest = {
            "title": "Greetings",
            "description": "Greets",
            "script": built.replace("https://idp.example.com", provider),
            "scopes": ["space:metadata:read", "site:metadata:read", "site:visitor:auth"],
            "blocks": [{"id": "greeting", "title": "Greeting"}],
        }
        installation = admin.install("greetings", manifest)
        space = admin.create_space("Book")
        placed = admin.call("POST", f"{installation}/spaces", {"space": space})
        admin.merge_page(space, '# Page\n\n{% @greetings/greeting name="Ada" %}\n')

        until = time.monotonic() + 120
        while not any(
            event["payload"]["type"] == "installation_setup" and event["status"] == "success"
            for event in admin.call("GET", "/integrations/greetings/events")["items"]
        ):
            assert time.monotonic() < until, "it was never told that it is installed"
            time.sleep(0.2)

        public = f"{placed['urls']['publicEndpoint']}/hello"
        assert httpx.post(public, content="from outside", timeout=60).text == "POST Book from outside"

        site = admin.create_site(space)
        admin.call("POST", f"{installation}/sites", {"siteId": site.rpartition("/")[2]})
        admin.call("PATCH", site, {"visibility": "visitor-auth"})
        published = admin.publish(site)

        context = browser.new_context()
        visitor = context.new_page()
        visitor.goto(f"{published}page")
        expect(visitor).to_have_title("Sign in")
        visitor.get_by_role("link", name="I am Ada").click()
        visitor.wait_for_url(f"{published}**")
        expect(visitor).not_to_have_url(re.compile("jwt_token"))
        card = visitor.get_by_role("button", name="Hello Ada")
        card.wait_for(timeout=60_000)
        card.press("Enter")
        visitor.get_by_text("1 times, said Greetings").wait_for(timeout=60_000)
        stranger = browser.new_context().new_page()
        stranger.goto(published)
        expect(stranger, "others are still strangers").to_have_title("Sign in")
