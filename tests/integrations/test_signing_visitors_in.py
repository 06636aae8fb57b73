"""Sign-in and sign-out of site visitors by a URL of the owner, or by an integration on the site."""

from __future__ import annotations

import pytest

from .test_asking import HANDLER, endpoint, visit
from .test_installing import install, publish

SCRIPT = (
    HANDLER
    % """
  if (event.type !== "fetch_visitor_authentication") return new Response("OK");
  const to = event.action === "logout" ? "https://idp.test/out" : `https://idp.test/in?to=${event.location}`;
  return new Response(null, { status: 302, headers: { location: to } });"""
)
LOGIN = "https://login.test/start"


class Site:
    def __init__(self, world):
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
        world.call("admin", "PATCH", self.path, json={"visibility": "visitor-auth"})
        self.base = endpoint(world.post("admin", f"{self.path}/publish")["urls"]["published"])

    def put_integration_on(self):
        publish(self.world, script=SCRIPT, scopes=["site:visitor:auth"])
        made = install(self.world)
        path = f"/integrations/chat/installations/{made['id']}/sites"
        self.world.post("admin", path, {"siteId": self.world.home["siteId"]})

    def sends_to(self, below=""):
        """Return where a visitor without a token is redirected; None if the page isn't found."""
        answer = visit(self.world, "GET", f"{self.base}{below}")
        if answer.status_code == 404:
            return None
        there = answer.headers["location"]
        if "/~integrations/" in there:
            answer = visit(self.world, "GET", endpoint(there))
            assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    def choose(self, **auth):
        answer = self.world.call("admin", "PATCH", f"{self.path}/publishing/auth", json=auth)
        assert answer.status_code == 200, answer.text
        shown = answer.json()
        assert self.world.get("admin", f"{self.path}/publishing/auth") == shown
        return {name: value for name, value in shown.items() if name not in ("object", "privateKey")}


@pytest.fixture
def site(world):
    return Site(world)


@pytest.mark.sqlite_first
def test_the_site_owner_sets_the_precedence_of_sign_in(site):
    assert site.choose(backend="integration") == {"backend": "integration"}
    assert site.sends_to("guide") is None
    assert site.choose(backend="integration", fallbackURL=LOGIN)["fallbackURL"] == LOGIN
    assert site.sends_to("guide") == f"{LOGIN}?location=%2Fguide", "as long as there is no integration"
    site.put_integration_on()
    assert site.sends_to("guide") == "https://idp.test/in?to=guide"
    chosen = site.choose(backend="custom")
    assert chosen == {"backend": "custom", "fallbackURL": LOGIN, "integration": "chat"}
    assert site.sends_to("guide") == f"{LOGIN}?location=%2Fguide"
    site.choose(backend="custom", fallbackURL=None)
    assert site.sends_to("guide") == "https://idp.test/in?to=guide"


@pytest.mark.sqlite_first
def test_a_sign_out_notifies_the_integration_that_signed_in(site):
    assert site.sends_to("~gitbook/auth/logout") == site.base
    site.put_integration_on()
    for path in ("~gitbook/auth/logout", "~logout"):
        answer = visit(site.world, "GET", f"{site.base}{path}")
        gone = answer.headers.get_list("set-cookie")
        assert any(cookie.partition("=")[2].startswith(";") and "Max-Age=0" in cookie for cookie in gone)
        assert site.sends_to(path) == "https://idp.test/out"
    site.choose(backend="custom", fallbackURL=LOGIN)
    assert site.sends_to("~logout") == LOGIN
    out = "https://login.example.org/out?tenant=1"
    assert site.choose(backend="custom", logoutURL=out)["logoutURL"] == out
    assert site.sends_to("~logout") == out
    site.choose(backend="integration")
    assert site.sends_to("~logout") == "https://idp.test/out"
    assert "logoutURL" not in site.choose(backend="custom", logoutURL=None)
    assert site.sends_to("~logout") == LOGIN


@pytest.mark.sqlite_first
def test_a_site_has_urls_at_which_visitors_sign_in_and_out(site):
    urls = site.world.get("admin", site.path)["urls"]
    assert (urls["login"], urls["logout"]) == (f"{urls['published']}~login", f"{urls['published']}~logout")
    answer = site.world.call("admin", "PATCH", site.path, json={"visibility": "public"})
    assert answer.status_code == 200 and not {"login", "logout"} & answer.json()["urls"].keys()


def test_only_the_sign_in_integration_answers_at_its_urls(site):
    """Without the scope, an integration doesn't handle the sign-out URL."""
    publish(site.world, script=SCRIPT, scopes=[])
    made = install(site.world)
    path = f"/integrations/chat/installations/{made['id']}/sites"
    placed = site.world.post("admin", path, {"siteId": site.world.home["siteId"]})
    for below in ("~sign-in", "~sign-out"):
        answer = visit(site.world, "GET", f"{endpoint(placed['urls']['publicEndpoint'])}/{below}")
        assert answer.status_code == 404
