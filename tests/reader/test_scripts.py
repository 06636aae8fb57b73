"""Scripts that integrations add to a site: only on a custom domain, and only where installed."""

from __future__ import annotations

import re

import pytest

from integrations.test_installing import install, publish
from octavo.delivery.reader.drawing import content_security_policy
from octavo.delivery.reader.scripts import read_sources
from visiting import Visitor

HOST = "docs.acme.test"
SITE = "/orgs/{organizationId}/sites/{siteId}"
SCRIPT = """export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  if (event.type !== "fetch_published_script") return new Response("OK");
  return new Response("window.counted = 1;", { headers: { "content-type": "text/javascript" } });
} };"""
SCOPES = ["site:script:inject"]
POLICY = {
    "script-src": "https://cdn.example.com;\n",
    "connect-src": "https://count.example.com 'unsafe-eval'",
}


class Counted:
    """Published site, and an integration that adds a script to pages."""

    def __init__(self, world, scopes=SCOPES, **more):
        self.world = world
        self.more = {"contentSecurityPolicy": POLICY, **more}
        self.publish(scopes)
        self.installation = f"/integrations/counter/installations/{install(world, 'counter')['id']}"
        world.post("admin", f"{self.installation}/sites", {"siteId": world.home["siteId"]})
        self.site = world.home.path(SITE)
        self.base = world.post("admin", f"{self.site}/publish")["urls"]["published"]
        self.set(hostname=HOST)
        self.visitor = Visitor(world.context)

    def publish(self, scopes, **more):
        publish(self.world, "counter", title="Counter", script=SCRIPT, scopes=scopes, **{**self.more, **more})

    def set(self, **settings):
        answer = self.world.call("admin", "PATCH", self.site, json=settings)
        assert answer.is_success, answer.text

    def page(self, path="/", host=HOST):
        answer = self.visitor.get(path, host=host)
        assert answer.status_code == 200, answer.text
        fresh = Visitor(self.world.context).get(path, host=host)
        assert answer.text == fresh.text and answer.headers.get("etag") == fresh.headers.get("etag")
        return answer

    def addresses(self, page):
        found = re.search(r'data-scripts="([^"]*)" data-after="([^"]*)"', page.text)
        return found.groups() if found else None


def directive(page, name):
    parts = (part.split() for part in page.headers["content-security-policy"].split(";"))
    return next(values for first, *values in parts if first == name)


@pytest.mark.sqlite_first
def test_a_script_is_only_loaded_at_the_own_host_of_the_site(world):
    counted = Counted(world)
    page = counted.page()
    address, after = counted.addresses(page)
    assert address.endswith("/~script.js") and after == "" and "consent.js" in page.text
    assert directive(page, "script-src")[-2:] == [address, "https://cdn.example.com"]
    assert directive(page, "connect-src") == ["'self'", "https://count.example.com"]
    assert counted.visitor.get(f"/{address.split('/', 3)[3]}").text == "window.counted = 1;"
    below = "/" + counted.base.split("/", 3)[3]
    shared = counted.visitor.get(below, host="sites.test")
    assert shared.status_code == 200 and "~script.js" not in shared.text + str(shared.headers)
    assert "consent" not in shared.text
    missing = counted.visitor.get("/nowhere", host=HOST)
    assert missing.status_code == 404 and address in missing.text


def test_script_changes_invalidate_cached_pages(world):
    counted = Counted(world)
    assert counted.addresses(counted.page()) is not None
    counted.publish([])
    assert counted.addresses(counted.page()) is None
    counted.publish(SCOPES, contentSecurityPolicy="img-src https://pixels.example.com")
    page = counted.page()
    assert "https://cdn.example.com" not in str(page.headers)
    assert directive(page, "img-src")[-1] == "https://pixels.example.com"
    place = f"{counted.installation}/sites/{world.home['siteId']}"
    assert world.call("admin", "DELETE", place).is_success
    assert counted.addresses(counted.page()) is None
    world.post("admin", f"{counted.installation}/sites", {"siteId": world.home["siteId"]})
    assert counted.addresses(counted.page()) is not None
    assert world.call("admin", "DELETE", counted.installation).is_success
    assert counted.addresses(counted.page()) is None
    assert world.post(
        "admin", counted.installation.rpartition("/")[0], {"organization": world.home["organizationId"]}
    )["id"]
    assert counted.addresses(counted.page()) is None
    assert world.call("admin", "DELETE", "/integrations/counter").is_success
    assert counted.addresses(counted.page()) is None


@pytest.mark.sqlite_first
def test_a_script_that_sets_cookies_waits_for_consent(world):
    counted = Counted(world, [*SCOPES, "site:script:cookies"])
    page = counted.page()
    at_once, after = counted.addresses(page)
    assert at_once == "" and after.endswith("/~script.js")
    assert re.search(r'<div class="consent"[^>]* hidden>', page.text)
    assert page.text.count('data-consent="no"') == page.text.count('data-consent=""') == 1


@pytest.mark.sqlite_first
def test_a_site_with_a_privacy_policy_asks_about_every_script(world):
    counted = Counted(world)
    assert "data-consent" not in counted.page().text
    customization = {"privacyPolicy": {"url": "https://acme.test/privacy"}}
    assert world.call("admin", "PUT", f"{counted.site}/customization", json=customization).is_success
    page = counted.page()
    at_once, after = counted.addresses(page)
    assert (at_once, after != "") == ("", True) and "https://acme.test/privacy" in page.text


@pytest.mark.sqlite_first
def test_previews_of_members_run_no_scripts(world):
    counted = Counted(world)
    preview = world.get("admin", f"{counted.site}/publishing/preview")["url"]
    path = "/" + preview.split("/", 3)[3]
    sent = counted.visitor.get(path, host=HOST)
    cookie = sent.headers["set-cookie"].partition(";")[0]
    page = counted.visitor.get("/", host=HOST, cookie=cookie)
    assert page.status_code == 200 and counted.addresses(page) is None


@pytest.mark.parametrize(
    "policy",
    [
        "script-src 'unsafe-inline' 'unsafe-eval' 'strict-dynamic' 'self' * https: data: blob: http:",
        "script-src 'nonce-abc' 'sha256-x' https://[::1] https://a,default-src",
        "default-src *; base-uri *; form-action *; frame-ancestors *; object-src *; sandbox; report-uri https://x",
        "style-src 'unsafe-inline'; frame-src * data: https:; style-src-attr 'unsafe-inline'",
        ";;; ;",
        "\x00",
        "script-src",
    ],
)
def test_no_integration_weakens_the_policy(policy):
    assert read_sources((), (policy,)) == ()


def test_hosts_of_scripts_are_allowed_up_to_a_limit():
    sources = read_sources(
        ("https://o.test/~script.js",),
        (
            "script-src https://*.a.example:8443/x/; SCRIPT-SRC-ELEM b.example",
            "connect-src wss://c.example wss:",
        ),
    )
    assert dict(sources) == {
        "script-src": ("https://o.test/~script.js", "https://*.a.example:8443/x/", "b.example"),
        "connect-src": ("wss://c.example", "wss:"),
    }
    many = dict(read_sources((), ("img-src " + " ".join(f"h{n}.example" for n in range(500)),)))
    assert len(many["img-src"]) == 100
    policy = content_security_policy("", (), sources)
    assert policy.count("script-src") == 1 and "\n" not in policy
    assert content_security_policy("") == content_security_policy("", (), ())
