"""Visitors of a site for authenticated visitors sign their agents in to its MCP server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import re
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from playwright.sync_api import expect

from light_client import LightClient
from octavo.delivery.agents import jobs, site_agents
from octavo.delivery.agents.site_oauth import SiteOAuth
from octavo.delivery.reader.app import reader_edge
from octavo.kit.clock import now
from octavo.sites.site.audiences.visitor_auth import signing_key
from octavo.sites.site.previewing import make_preview
from octavo.sites.site.store import get_site, update_site
from serving import serving
from set_clock import SetClock
from world import World

BACK = "http://127.0.0.1:8765/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
LOGIN = "https://login.example.org/start"
HOST = "docs.example.test"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_pages", "arguments": {}}}


def as_browser(location: str, base: str, token: str, get: Callable[..., Any]) -> Any:
    """Return the page at a URL for a visitor who has to sign in first, and whose sign-in page adds the token
    to the location."""
    answer = get(location)
    assert answer.status_code == 307, answer.text
    sent = urlsplit(answer.headers["location"])
    assert f"{sent.scheme}://{sent.netloc}{sent.path}" == LOGIN
    back = parse_qs(sent.query)["location"][0]
    assert back.startswith("/") and not back.startswith("//") and "?" not in back
    answer = get(f"{base}{back.removeprefix('/')}?jwt_token={token}")
    assert answer.status_code == 307 and token not in answer.headers["location"]
    return get(answer.headers["location"])


def asked_in(page: Any) -> tuple[str, str]:
    """Return the target of the form on the page, and its fields."""
    assert page.status_code == 200, page.text
    found = re.search(r'<form method="post" action="([^"]*)">\s*<input [^>]*value="([^"]*)"', page.text)
    assert found, page.text
    return html.unescape(found[1]), html.unescape(found[2])


class Site:
    """The site of an organization of the world, for authenticated visitors, and a browser that visits it."""

    def __init__(self, world: World, place: Any, who: str, host: str | None = None) -> None:
        self.world, self.id = world, place["siteId"]
        self.path = place.path("/orgs/{organizationId}/sites/{siteId}")
        self.who = who
        if host is not None:
            with world.context.db.write() as tx:
                update_site(tx, self.id, hostname=host)
        self.change(visibility="visitor-auth")
        login = {"backend": "custom", "fallbackURL": LOGIN}
        assert world.call(who, "PATCH", f"{self.path}/publishing/auth", json=login).status_code == 200
        self.url = world.post(who, f"{self.path}/publish")["urls"]["published"]
        self.app = reader_edge(world.context, others=lambda pool: SiteOAuth(world.context, pool).routes())
        self.cookie = ""

    def change(self, **body: Any) -> None:
        answer = self.world.call(self.who, "PATCH", self.path, json=body)
        assert answer.status_code == 200, answer.text

    def ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send a request of the browser; ``url`` can be a path at the host of the site."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else self.url[: self.url.index("/", 8)]
        headers = {**({"cookie": self.cookie} if self.cookie else {}), **options.pop("headers", {})}
        path = url if not parts.netloc else url[len(origin) :]
        answer = LightClient(self.app, origin).ask(method, path, headers=headers, **options)
        for value in answer.headers.get_list("set-cookie"):
            self.cookie = value.partition(";")[0]
        return answer

    def token(self, seconds: int = 600, **claims: Any) -> str:
        with self.world.context.db.read() as tx:
            key = signing_key(self.world.context.signer, get_site(tx, self.id))
        return jwt.encode(
            {"alg": "HS256"}, {"exp": now() // 1000 + seconds, **claims}, OctKey.import_key(key)
        )

    def sign_in(self, seconds: int = 600, **claims: Any) -> None:
        self.cookie = f"octavo-visitor={self.token(seconds, **claims)}"

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of the authorization server, found as apps find it."""
        refused = self.mcp("")
        assert refused.status_code == 401
        where = re.search(r'resource_metadata="([^"]*)"', refused.headers["www-authenticate"])
        assert where
        resource = self.ask("GET", where[1]).json()
        assert resource["resource"] == f"{self.url}~mcp"
        (server,) = resource["authorization_servers"]
        parts = urlsplit(server)
        known = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"
        found: dict[str, Any] = self.ask("GET", known).json()
        assert found["issuer"] == server
        return found

    def register(self, *redirects: str) -> str:
        body = {"client_name": "Pen", "redirect_uris": list(redirects or [BACK])}
        answer = self.ask("POST", self.metadata()["registration_endpoint"], json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["client_id"])

    def authorize(self, **changed: Any) -> httpx.Response:
        asked = {
            "response_type": "code",
            "redirect_uri": BACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "st&1",
            "resource": f"{self.url}~mcp",
            **changed,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        return self.ask("GET", f"{self.metadata()['authorization_endpoint']}?{urlencode(given)}")

    def code(self, client: str, **changed: Any) -> str:
        action, asked = asked_in(self.authorize(client_id=client, **changed))
        answer = self.ask("POST", action, data={"asked": asked})
        assert answer.status_code == 303, answer.text
        where = urlsplit(answer.headers["location"])
        told = parse_qs(where.query)
        assert f"{where.scheme}://{where.netloc}{where.path}" == BACK
        assert (told["state"], told["iss"]) == (["st&1"], [self.metadata()["issuer"]])
        return told["code"][0]

    def post(self, endpoint: str, **form: str) -> httpx.Response:
        return self.ask("POST", self.metadata()[f"{endpoint}_endpoint"], data=form)

    def exchange(self, client: str, code: str, **changed: str) -> httpx.Response:
        form = {"grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": BACK}
        return self.post("token", **form, **{"code_verifier": VERIFIER, **changed})

    def renew(self, client: str, refresh: str) -> httpx.Response:
        return self.post("token", grant_type="refresh_token", refresh_token=refresh, client_id=client)

    def connect(self, client: str = "") -> dict[str, Any]:
        client = client or self.register()
        answer = self.exchange(client, self.code(client))
        assert answer.status_code == 200, answer.text
        return {"client": client, **answer.json()}

    def mcp(
        self, token: str, path: str = "~mcp", message: Any = LIST, method: str = "POST"
    ) -> httpx.Response:
        """Send a message as an agent, which has no cookies."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return LightClient(self.app, self.url.rstrip("/")).ask(
            method,
            urlsplit(self.url).path + path,
            json=message,
            headers={"host": urlsplit(self.url).netloc, **headers},
        )


@pytest.fixture
def site(world: World) -> Site:
    return Site(world, world.home, "admin")


def test_a_visitor_signs_in_and_their_agent_reads(site: Site, clock: SetClock) -> None:
    client = site.register()
    query = urlencode(
        {
            "response_type": "code",
            "client_id": client,
            "redirect_uri": BACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "a/b?c&d=é",
        }
    )
    start = f"{site.metadata()['authorization_endpoint']}?{query}"
    page = as_browser(start, site.url, site.token(7200), lambda url: site.ask("GET", url))
    assert "Connect Pen?" in page.text and BACK in page.text and "no-store" in page.headers["cache-control"]
    action, asked = asked_in(page)
    answer = site.ask("POST", action, data={"asked": asked})
    told = parse_qs(urlsplit(answer.headers["location"]).query)
    assert answer.status_code == 303 and told["state"] == ["a/b?c&d=é"]
    granted = site.exchange(client, told["code"][0], resource=f"{site.url}~mcp").json()
    assert granted["token_type"] == "Bearer" and 0 < granted["expires_in"] <= 3600
    for path in ("~mcp", "~gitbook/mcp"):
        assert site.mcp(granted["access_token"], path).json()["result"]["isError"] is False
    # Clients try to open a stream, too, and learn that there is none.
    assert site.mcp(granted["access_token"], method="GET").status_code == 405
    assert site.mcp("", method="GET").status_code == 401
    # Refreshed until the visitor's own token ends.
    clock.advance(3_601_000)
    refused = site.mcp(granted["access_token"])
    assert refused.status_code == 401 and 'error="invalid_token"' in refused.headers["www-authenticate"]
    renewed = site.renew(client, granted["refresh_token"]).json()
    assert renewed["expires_in"] <= 3660 and site.mcp(renewed["access_token"]).status_code == 200
    clock.advance(3_700_000)
    assert site.mcp(renewed["access_token"]).status_code == 401
    assert site.renew(client, renewed["refresh_token"]).json()["error"] == "invalid_grant"


def test_an_agent_reads_a_site_at_its_own_host(world: World) -> None:
    site = Site(world, world.home, "admin", HOST)
    assert site.url.endswith(f"//{HOST}/")
    site.sign_in()
    assert site.mcp(site.connect()["access_token"]).status_code == 200
    # What belongs to all sites is not at the host of one.
    token = urlsplit(site.metadata()["token_endpoint"]).path
    assert site.ask("POST", token, data={"grant_type": "refresh_token"}).status_code == 404


def test_an_agent_reads_a_site_behind_a_proxy(site: Site) -> None:
    """The proxy forwards everything below the site; the other endpoints are at the URL of sites."""
    site.sign_in()
    site.change(proxy="www.example.test/docs")
    shown, below = "http://www.example.test/docs/", f"http://sites.test/~proxied/{site.id}/"
    refused = site.ask("POST", f"{below}~mcp", json=LIST, headers={"cookie": ""})
    where = re.search(r'resource_metadata="([^"]*)"', refused.headers["www-authenticate"])
    assert refused.status_code == 401 and where
    resource = site.ask("GET", where[1]).json()
    assert resource["resource"] == f"{shown}~mcp"
    issuer = urlsplit(resource["authorization_servers"][0])
    known = f"/.well-known/oauth-authorization-server{issuer.path}"
    server = site.ask("GET", f"{issuer.scheme}://{issuer.netloc}{known}").json()
    assert server["authorization_endpoint"] == f"{shown}~oauth/authorize"
    body = {"client_name": "Pen", "redirect_uris": [BACK]}
    client = site.ask("POST", server["registration_endpoint"], json=body).json()["client_id"]
    asked = {
        "response_type": "code",
        "redirect_uri": BACK,
        "code_challenge": CHALLENGE,
        "client_id": client,
        "code_challenge_method": "S256",
        "resource": f"{shown}~mcp",
    }
    site.cookie = f"octavo-visitor-{site.id}={site.token()}"
    action, agreed = asked_in(site.ask("GET", f"{below}~oauth/authorize?{urlencode(asked)}"))
    assert action == "/docs/~oauth/authorize"
    sent = site.ask("POST", f"{below}~oauth/authorize", data={"asked": agreed})
    code = parse_qs(urlsplit(sent.headers["location"]).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": BACK}
    granted = site.ask("POST", server["token_endpoint"], data={**form, "code_verifier": VERIFIER}).json()
    bearer = {"cookie": "", "authorization": f"Bearer {granted['access_token']}"}
    assert site.ask("POST", f"{below}~mcp", json=LIST, headers=bearer).status_code == 200


def test_an_agent_has_the_claims_of_its_visitor(site: Site) -> None:
    world = site.world
    claim = {"type": "boolean", "description": "Whether"}
    schema = {"type": "object", "properties": {"paying": claim}, "additionalProperties": False}
    put = world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    assert put.status_code == 200, put.text
    site.change(adaptiveContent={"enabled": True})
    space, shown = world.home["spaceId"], []
    changes = f"/spaces/{space}/change-requests"
    change = world.post("admin", changes, {"subject": "Fill"})["id"]
    few = {
        "operation": "insert_page",
        "title": "Few",
        "document": {"markdown": "# Few\n"},
        "condition": "visitor.claims.paying",
    }
    world.post("admin", f"{changes}/{change}/content", {"changes": [few]})
    world.post("admin", f"{changes}/{change}/merge")
    client = site.register()
    for paying in (True, False):
        site.sign_in(paying=paying)
        token = site.connect(client)["access_token"]
        # The agent's own cookies and claims are not the visitor's.
        shown.append("Few" in site.mcp(token).text)
        assert ("Few" in site.mcp(token, "~mcp?visitor.paying=true").text) == paying
    assert shown == [True, False]


def test_a_token_is_only_valid_for_its_mcp_server(site: Site) -> None:
    other = Site(site.world, site.world.away, "stranger")
    site.sign_in()
    granted = site.connect()
    token = granted["access_token"]
    assert other.mcp(token).status_code == 401
    # Nor is it a visitor's token: not of pages, not of what else is posted, not in a cookie, not for the API.
    assert site.mcp(token, "~ask", {"question": "What?"}).status_code == 401
    for cookie in (f"octavo-visitor={token}", f"gitbook-visitor-token={token}", f"octavo-preview={token}"):
        assert site.ask("GET", site.url, headers={"cookie": cookie}).status_code == 307
    assert site.ask("GET", f"{site.url}?jwt_token={token}", headers={"cookie": ""}).status_code == 401
    called = site.world.call("nobody", "GET", "/user", headers={"authorization": f"Bearer {token}"})
    assert called.status_code == 401
    # And a code says for which server it is.
    client = granted["client"]
    wrong = site.exchange(client, site.code(client), resource=f"{other.url}~mcp")
    assert wrong.json()["error"] == "invalid_target"
    assert site.authorize(client_id=client, resource=f"{other.url}~mcp").status_code == 302
    # Consent for one site isn't valid for another.
    _, asked = asked_in(site.authorize(client_id=client))
    other.sign_in()
    assert other.ask("POST", f"{other.url}~oauth/authorize", data={"asked": asked}).status_code == 400


def test_codes_and_refresh_tokens_are_valid_once(site: Site, clock: SetClock) -> None:
    site.sign_in(7200)
    client = site.register()
    code = site.code(client)
    for wrong in ({"code_verifier": "w" * 43}, {"redirect_uri": BACK + "x"}, {"client_id": "x"}):
        form = {"client_id": client, "redirect_uri": BACK, "code_verifier": VERIFIER, **wrong}
        answer = site.post("token", grant_type="authorization_code", code=code, **form)
        assert answer.status_code == 400 and answer.json()["error"] == "invalid_grant", wrong
    granted = site.exchange(client, code).json()
    assert site.mcp(granted["access_token"]).status_code == 200
    assert site.exchange(client, code).json()["error"] == "invalid_grant"
    assert site.mcp(granted["access_token"]).status_code == 401, "whoever sent it again may have stolen it"
    granted = site.connect(client)
    assert site.renew("x", granted["refresh_token"]).status_code == 400
    renewed = site.renew(client, granted["refresh_token"]).json()
    assert site.mcp(granted["access_token"]).status_code == 401
    assert site.mcp(renewed["access_token"]).status_code == 200
    assert site.renew(client, granted["refresh_token"]).status_code == 400
    assert site.mcp(renewed["access_token"]).status_code == 401
    late = site.code(client)
    clock.advance(6 * 60_000)
    assert site.exchange(client, late).json()["error"] == "invalid_grant"
    revoked = site.connect(client)
    assert site.post("revocation", token=revoked["access_token"]).status_code == 200
    assert site.mcp(revoked["access_token"]).status_code == 401
    assert site.renew(client, revoked["refresh_token"]).status_code == 400


def _renew_key(site: Site) -> None:
    site.world.post("admin", f"{site.path}/publishing/auth/regenerate")


ENDS: dict[str, Callable[[Site], Any]] = {
    "the key is renewed": _renew_key,
    "unpublished": lambda site: site.world.post("admin", f"{site.path}/unpublish"),
    "only with a link": lambda site: site.change(visibility="share-link"),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_agent_loses_access_with_its_visitor(site: Site, end: str) -> None:
    site.sign_in()
    granted = site.connect()
    # Kept answers included.
    assert (
        site.mcp(granted["access_token"]).status_code == site.mcp(granted["access_token"]).status_code == 200
    )
    metadata = site.metadata()["token_endpoint"]
    ENDS[end](site)
    assert site.mcp(granted["access_token"]).status_code in (401, 404)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": granted["refresh_token"],
        "client_id": granted["client"],
    }
    assert site.ask("POST", metadata, data=form).json()["error"] == "invalid_grant"


def test_a_member_connects_an_agent_by_a_preview(site: Site, clock: SetClock) -> None:
    world = site.world
    preview = make_preview(world.context.signer, site.id, world.actor("editor"), {"claims": {}})
    site.cookie = f"octavo-preview={preview}"
    granted = site.connect()
    assert site.mcp(granted["access_token"]).status_code == 200
    world.call(
        "admin", "DELETE", world.home.path("/orgs/{organizationId}/members/") + world.actor("editor").user_id
    )
    assert site.mcp(granted["access_token"]).status_code == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": BACK + "/more"},
        {"redirect_uri": None},
        {"client_id": "nobody"},
        {"client_id": None},
        {"state": "s" * 2001},
    ],
)
def test_no_redirect_to_an_unregistered_url(site: Site, changed: dict[str, Any]) -> None:
    site.sign_in()
    answer = site.authorize(**{"client_id": site.register(), **changed})
    assert answer.status_code == 400 and "location" not in answer.headers


def test_invalid_app_requests_return_an_error(site: Site) -> None:
    site.sign_in()
    client = site.register()
    for changed, code in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"resource": "https://elsewhere.example/"}, "invalid_target"),
    ):
        answer = site.authorize(client_id=client, **changed)
        told = parse_qs(urlsplit(answer.headers["location"]).query)
        assert answer.status_code == 302 and told["error"] == [code]
        assert (told["state"], told["iss"]) == (["st&1"], [site.metadata()["issuer"]])
    assert site.ask("GET", f"{site.url}~oauth/authorize/%21%21").status_code == 400
    for form in ({}, {"grant_type": "password"}, {"grant_type": "refresh_token", "refresh_token": "x"}):
        assert site.post("token", **form).status_code == 400


def test_consent_only_counts_for_the_visitor_who_gave_it(site: Site, clock: SetClock) -> None:
    """A page of another origin can't post the form for someone else."""
    site.sign_in(7200)
    action, asked = asked_in(site.authorize(client_id=site.register()))
    for bad in ("", "x", asked[:-1], f"{asked}&asked={asked}"):
        assert site.ask("POST", action, content=f"asked={bad}").status_code == 400
    mine = site.cookie
    site.cookie = ""
    assert site.ask("POST", action, data={"asked": asked}).status_code == 401
    site.sign_in(7200, name="another")
    assert site.ask("POST", action, data={"asked": asked}).status_code == 400
    site.cookie = mine
    clock.advance(3_601_000)
    assert site.ask("POST", action, data={"asked": asked}).status_code == 400


def test_only_sites_for_authenticated_visitors_offer_authorization(site: Site) -> None:
    known = [
        urlsplit(site.url).path.join(("/.well-known/oauth-protected-resource", "~mcp")),
        urlsplit(site.metadata()["issuer"]).path.join(("/.well-known/oauth-authorization-server", "")),
    ]
    site.sign_in()
    cookie = site.cookie

    def answers() -> list[int]:
        site.cookie = ""
        found = [site.ask("GET", path).status_code for path in known]
        site.cookie = cookie
        return [*found, site.ask("GET", f"{site.url}~oauth/authorize").status_code]

    assert answers() == [200, 200, 400]
    for path in (
        "",
        "/~mcp",
        "/nobody/nothing/~mcp",
        urlsplit(site.url).path,
        f"{urlsplit(site.url).path}x/~mcp",
    ):
        assert site.ask("GET", f"/.well-known/oauth-protected-resource{path}").status_code == 404
    look = {"styling": {}, "internationalization": {}, "pageActions": {"mcp": False}}
    assert site.world.call("admin", "PUT", f"{site.path}/customization", json=look).status_code == 200
    assert answers() == [404, 404, 404]
    look["pageActions"] = {"mcp": True}
    assert site.world.call("admin", "PUT", f"{site.path}/customization", json=look).status_code == 200
    for visibility in ("public", "unlisted", "share-link"):
        site.change(visibility=visibility)
        assert answers() == [404, 404, 404], visibility
    site.change(visibility="visitor-auth")
    assert answers() == [200, 200, 400]
    site.world.post("admin", f"{site.path}/unpublish")
    assert answers() == [404, 404, 404]


def test_expired_grants_are_deleted(site: Site, clock: SetClock) -> None:
    context = site.world.context

    def count() -> int:
        with context.db.read() as tx:
            return int(tx.value("SELECT count(*) FROM site_agents"))

    site.sign_in()
    client = site.register()
    site.code(client)
    site.connect(client)
    with context.db.read() as tx:
        assert ".ey" not in str(tx.all("SELECT * FROM site_agents")), "proofs are sealed"
    assert count() == 2
    clock.advance(25 * 3_600_000)
    jobs.forget_unused_clients(context)
    assert count() == 1
    # The app that was connected stays known for a while.
    clock.advance(10 * 24 * 3_600_000)
    jobs.forget_unused_clients(context)
    site.sign_in()
    assert site.authorize(client_id=client).status_code == 200
    clock.advance(31 * 24 * 3_600_000)
    jobs.forget_unused_clients(context)
    assert count() == 0
    # However long the visitor's token is valid.
    site.sign_in(10**15)
    site.connect()
    with context.db.read() as tx:
        assert tx.value("SELECT expires_at FROM site_agents") == now() + site_agents._LONGEST


# --- the official client ----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", [None, HOST], ids=["shared", "own-host"])
def test_the_official_client_signs_in(sqlite_world: World, tmp_path: Path, host: str | None) -> None:
    # Takes a second to import.
    import httpx2
    from mcp import Client
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import OAuthClientMetadata

    world, home = sqlite_world, sqlite_world.home
    data = world.install(tmp_path / "data")
    if host is not None:
        with closing(sqlite3.connect(data / "octavo.db")) as database, database:
            database.execute("UPDATE sites SET hostname = ? WHERE id = ?", (host, home["siteId"]))

    class Storage:
        tokens = client = None

        async def get_tokens(self) -> Any:
            return self.tokens

        async def set_tokens(self, tokens: Any) -> None:
            self.tokens = tokens

        async def get_client_info(self) -> Any:
            return self.client

        async def set_client_info(self, client: Any) -> None:
            self.client = client

    with serving(data) as served:
        headers = {"authorization": f"Bearer {world.token('admin')}"}
        path = f"{served.url}/v1{home.path('/orgs/{organizationId}/sites/{siteId}')}"
        with httpx.Client(headers=headers) as api:
            assert api.patch(path, json={"visibility": "visitor-auth"}).is_success
            login = {"backend": "custom", "fallbackURL": LOGIN}
            key = api.patch(f"{path}/publishing/auth", json=login).json()["privateKey"]
            start = api.post(f"{path}/publish").json()["urls"]["published"]
        token = jwt.encode({"alg": "HS256"}, {"exp": now() // 1000 + 600}, OctKey.import_key(key))
        served_at = urlsplit(served.reader_url)

        def there(url: str) -> tuple[str, dict[str, str]]:
            """Return the address at which the server for a URL listens, and the host that a request names."""
            parts = urlsplit(url)
            return parts._replace(netloc=served_at.netloc).geturl(), {"host": parts.netloc}

        class Transport(httpx2.AsyncHTTPTransport):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                request.url = request.url.copy_with(host=served_at.hostname, port=served_at.port)
                return await super().handle_async_request(request)

        sent: list[str] = []

        async def send_there(url: str) -> None:
            sent.append(url)

        def agree() -> dict[str, list[str]]:
            cookies: dict[str, str] = {}

            def get(url: str, method: str = "GET", **options: Any) -> httpx.Response:
                url, named = there(url if "://" in url else f"{start[: start.index('/', 8)]}{url}")
                answer = httpx.request(method, url, headers=named, cookies=cookies, **options)
                cookies.update(answer.cookies.items())
                return answer

            action, asked = asked_in(as_browser(sent[-1], start, token, get))
            location = get(action, "POST", data={"asked": asked}).headers["location"]
            assert location.startswith(BACK)
            return parse_qs(urlsplit(location).query)

        async def come_back() -> AuthorizationCodeResult:
            told = await asyncio.to_thread(agree)
            return AuthorizationCodeResult(code=told["code"][0], state=told["state"][0], iss=told["iss"][0])

        async def use(storage: Storage) -> Any:
            metadata = OAuthClientMetadata(client_name="Pen", redirect_uris=[BACK])  # type: ignore[list-item]
            address = f"{start}~mcp"
            auth = OAuthClientProvider(address, metadata, storage, send_there, come_back)  # type: ignore[arg-type]
            async with (
                httpx2.AsyncClient(transport=Transport(), auth=auth) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                return await client.call_tool("list_pages", {})

        storage = Storage()
        found = asyncio.run(use(storage))
        assert not found.is_error and start in found.content[0].text
        again = asyncio.run(use(storage))
        assert not again.is_error and len(sent) == 1, "the token is used again"


@pytest.mark.slow
def test_a_browser_redirects_to_the_app_with_the_result(
    browser: Any, sqlite_world: World, tmp_path: Path
) -> None:
    world, seen = sqlite_world, []

    class App(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()

    app = HTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=app.serve_forever, daemon=True).start()
    back = f"http://127.0.0.1:{app.server_port}/callback"
    with serving(world.install(tmp_path / "data")) as served, httpx.Client() as api:
        api.headers["authorization"] = f"Bearer {world.token('admin')}"
        path = f"{served.url}/v1{world.home.path('/orgs/{organizationId}/sites/{siteId}')}"
        assert api.patch(path, json={"visibility": "visitor-auth"}).is_success
        login = {"backend": "custom", "fallbackURL": LOGIN}
        key = api.patch(f"{path}/publishing/auth", json=login).json()["privateKey"]
        start = api.post(f"{path}/publish").json()["urls"]["published"]
        registered = {"client_name": "Pen & <b>Paper</b>", "redirect_uris": [back]}
        client = api.post(f"{served.reader_url}/~oauth/register", json=registered).json()["client_id"]
        token = jwt.encode({"alg": "HS256"}, {"exp": now() // 1000 + 600}, OctKey.import_key(key))
        asked = {
            "response_type": "code",
            "redirect_uri": back,
            "code_challenge": CHALLENGE,
            "client_id": client,
            "code_challenge_method": "S256",
            "state": "s",
        }
        page = browser.new_page()
        page.goto(f"{start}?jwt_token={token}")
        page.goto(f"{start}~oauth/authorize?{urlencode(asked)}")
        expect(page.locator("h1")).to_contain_text("Pen & <b>Paper</b>")
        assert back in page.content()
        page.get_by_role("link", name="Cancel").click()
        page.wait_for_url(f"{back}?error=access_denied*")
        page.go_back()
        page.get_by_role("button", name="Connect").click()
        page.wait_for_url(f"{back}?code=*")
    app.shutdown()
    app.server_close()
    assert [parse_qs(urlsplit(path).query)["state"] for path in seen if "?" in path] == [["s"], ["s"]]
