"""Apps identified by a metadata document: fetched within limits, parsed strictly, cached for a while, and
shown to people with their host."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from msgspec import structs

from mcp_transport import McpTransport
from octavo.delivery.agents import documents
from octavo.delivery.agents.connecting import Unusable
from octavo.delivery.agents.documents import Documents, Fetcher
from octavo.errors import TooManyRequests, Unavailable
from octavo.kit.net.fetch import Fetched, FetchError
from world import URL

from .test_agents import BACK, Agent, Connecting

PEN = "https://pen.example/oauth/client.json"
JSON = {"content-type": "application/json"}
SOMEBODY = SimpleNamespace(client="203.0.113.7", owner=("", "203.0.113.7"))


class Web:
    """Documents of apps by URL, and how often each was requested."""

    def __init__(self):
        self.pages, self.asked = {}, []

    def put(self, address=PEN, *, status=200, headers=JSON, body=None, **changed):
        document = {"client_id": address, "client_name": "Pen", "redirect_uris": [BACK], **changed}
        made = json.dumps({k: v for k, v in document.items() if v is not None}).encode()
        self.pages[address] = Fetched(address, status, httpx.Headers(headers), made if body is None else body)

    def fetch(self, url, method="GET", headers=None, body=None, limits=None):
        self.asked.append(url)
        assert method == "GET" and not limits.follow and limits.size <= 64 * 1024 and limits.seconds <= 10
        if url not in self.pages:
            raise FetchError(f"{url}: nobody is there")
        return self.pages[url]


@pytest.fixture
def web(monkeypatch):
    found = Web()
    monkeypatch.setattr(Fetcher, "fetch", found.fetch)
    return found


@pytest.fixture
def connecting(world):
    made = Connecting(world)
    made.client = PEN
    return made


def test_an_app_is_identified_by_its_metadata_document(world, connecting, web):
    server = connecting.raw("GET", "/.well-known/oauth-authorization-server").json()
    assert server["client_id_metadata_document_supported"] is True
    web.put(headers={**JSON, "cache-control": "public, max-age=600"}, logo_uri="https://pen.example/logo")
    page = connecting.authorize()
    assert page.status_code == 200, page.text
    # People see who owns it, and where the answer goes.
    for told in ("“Pen”", "<strong>pen.example</strong>", PEN, BACK, "on your own computer"):
        assert told in page.text
    given = connecting.token()
    assert Agent(world, given["access_token"]).do("list_spaces")["items"]
    form = {"grant_type": "refresh_token", "refresh_token": given["refresh_token"], "client_id": PEN}
    assert connecting.raw("POST", "/oauth/token", data=form).status_code == 200
    assert connecting.authorize().status_code == 200 and web.asked == [PEN]
    # A registered app is not attributed to anyone.
    registered = Connecting(world).authorize()
    assert registered.status_code == 200 and "is the program of" not in registered.text


@pytest.mark.parametrize(
    "client",
    [
        "https://pen.example",
        "https://pen.example/",
        "https://pen.example/a#b",
        "https://pen.example/a/../b",
        "https://pen.example/%2e%2E/b",
        "https://me:word@pen.example/a",
        "https://me@pen.example/a",
        "https://pen.example\\@evil.test/a",
        "https://pen.example/a b",
        "https://pen.example/é",
        "https:///a",
        "https://[x/a",
        f"https://pen.example/{'a' * 500}",
        "HTTPS://",
        f"{URL.replace('http://', 'https://')}/files/pen.json",
        "http://pen.example/a",
        "ftp://pen.example/a",
        "",
    ],
)
def test_urls_that_are_no_client_id_are_refused(connecting, web, client):
    web.put(client)
    answer = connecting.authorize(client_id=client)
    assert answer.status_code == 400 and "location" not in answer.headers and web.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/a",
        "https://localhost/a",
        "https://[::1]/a",
        "https://[::ffff:10.0.0.1]/a",
        "https://169.254.169.254/latest/meta-data",
        "https://2130706433/a",
        "https://0x7f.1/a",
    ],
)
def test_private_addresses_are_not_requested(connecting, address):
    answer = connecting.authorize(client_id=address)
    assert answer.status_code == 400 and "location" not in answer.headers
    assert any(said in answer.text for said in ("be fetched", "URL on this server"))


WRONG = [
    {"status": 404},
    {"status": 500},
    {"status": 302, "headers": {**JSON, "location": "https://169.254.169.254/"}},
    {"status": 201},
    {"headers": {"content-type": "text/html"}},
    {"headers": {}},
    {"body": b""},
    {"body": b"[" * 10_000},
    {"body": b"\xff"},
    {"body": b"null"},
    {"client_id": "https://pen.example/oauth/other.json"},
    {"client_id": PEN.upper()},
    {"client_id": PEN + "/"},
    {"client_id": None},
    {"client_name": None},
    {"client_name": 7},
    {"redirect_uris": None},
    {"redirect_uris": []},
    {"redirect_uris": BACK},
    {"redirect_uris": [BACK, "javascript:alert(1)"]},
    {"redirect_uris": [BACK, "http://evil.test/"]},
    {"redirect_uris": [BACK] * 51},
    {"token_endpoint_auth_method": "client_secret_basic"},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"client_secret": "sesame"},
    {"client_secret_expires_at": 0},
]


def test_invalid_metadata_documents_are_refused(world, connecting, web, monkeypatch):
    monkeypatch.setattr(world.context.document_fetches, "limit", 100)
    found = Documents(world.context)
    for wrong in WRONG:
        web.put(**wrong)
        with pytest.raises(Unusable, match="^client_id: "):
            found.find(PEN, SOMEBODY)
    answer = connecting.authorize()
    assert answer.status_code == 400 and "location" not in answer.headers
    assert connecting.agree().status_code == 400
    # None of it is cached: a corrected document works a moment later.
    web.put()
    assert connecting.authorize().status_code == 200


def test_only_redirect_urls_in_the_document_are_accepted(connecting, web):
    web.put(redirect_uris=["https://pen.example/back", "http://127.0.0.1:8765/callback"])
    assert connecting.authorize(redirect_uri="https://pen.example/back").status_code == 200
    assert connecting.authorize(redirect_uri="http://127.0.0.1:1/callback").status_code == 200
    for other in (
        "https://pen.example/back/",
        "https://pen.example/back?x=1",
        "https://pen.example:8443/back",
        "https://evil.test/",
        "http://127.0.0.1:1/other",
    ):
        answer = connecting.authorize(redirect_uri=other)
        assert answer.status_code == 400 and "location" not in answer.headers
        assert connecting.agree(redirectUri=other).status_code == 400


def test_a_changed_document_takes_effect(world, connecting, web, clock):
    clock.advance(0)
    web.put(headers={**JSON, "cache-control": "max-age=1"})
    assert connecting.authorize().status_code == 200
    web.put(client_name="Quill", redirect_uris=["https://evil.test/"])
    # At least five minutes, whatever the document says.
    assert "“Pen”" in connecting.authorize().text and web.asked == [PEN]
    given = connecting.token()
    clock.advance(6 * 60_000)
    # From then on the former URLs are invalid; connected agents keep the name that people saw.
    assert connecting.authorize().status_code == 400 and web.asked == [PEN, PEN]
    assert connecting.agree().status_code == 400
    assert "“Quill”" in connecting.authorize(redirect_uri="https://evil.test/").text
    assert world.get("editor", "/user/agents")["items"][0]["name"] == "Pen"
    assert Agent(world, given["access_token"]).do("list_spaces")["items"]
    # An app without a document can't connect, however it was cached.
    del web.pages[PEN]
    clock.advance(25 * 3_600_000)
    assert connecting.authorize(redirect_uri="https://evil.test/").status_code == 400
    assert connecting.agree(redirectUri="https://evil.test/").status_code == 400


def test_a_code_is_only_valid_for_the_app_that_requested_it(connecting, web):
    other = PEN.replace("client", "other")
    web.put()
    web.put(other)
    assert connecting.authorize().status_code == connecting.authorize(client_id=other).status_code == 200
    for changed in ({"client_id": other}, {"client_id": PEN + "#"}, {"client_id": ""}):
        answer = connecting.exchange(connecting.code(), **changed)
        assert answer.status_code == 400 and answer.json()["error"] == "invalid_grant"


def test_fetches_of_documents_are_limited(world, web, monkeypatch, clock):
    clock.advance(0)
    found = Documents(world.context)
    for number in range(20):
        web.put(f"https://pen.example/{number}")
        found.find(f"https://pen.example/{number}", SOMEBODY)
    web.put()
    with pytest.raises(TooManyRequests):
        found.find(PEN, SOMEBODY)
    # Cached documents aren't counted.
    assert found.find("https://pen.example/0", SOMEBODY).name == "Pen" and len(web.asked) == 20
    # Only a few unresponsive documents are waited for at a time.
    monkeypatch.setattr(documents, "_LIMITS", structs.replace(documents._LIMITS, seconds=0))
    busy = Documents(world.context)
    with ExitStack() as stack:
        for owner in ("a", "b", "c"):
            stack.enter_context(world.context.documents.place((owner, owner), 0))
        with pytest.raises(Unavailable):
            busy.find(PEN, SimpleNamespace(client="203.0.113.8", owner=("a", "a")))


def test_the_name_of_an_app_is_escaped(connecting, web):
    web.put(client_name='<script>alert(1)</script>\0 "Pen"\n' + "n" * 300)
    page = connecting.authorize()
    assert page.status_code == 200 and "<script>alert" not in page.text and "&lt;script&gt;" in page.text
    assert "n" * 101 not in page.text


def test_the_official_client_works_without_registration(world, connecting, web):
    # Takes a second to import.
    import httpx2
    from mcp import Client
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import OAuthClientMetadata

    class Storage:
        tokens = client = None

        async def get_tokens(self):
            return self.tokens

        async def set_tokens(self, tokens):
            self.tokens = tokens

        async def get_client_info(self):
            return self.client

        async def set_client_info(self, client):
            self.client = client

    web.put()
    address, asked = f"{URL}/mcp/{connecting.org}", {}

    async def send_there(url):
        asked.update({name: values[0] for name, values in parse_qs(urlsplit(url).query).items()})

    async def come_back():
        assert (asked["client_id"], asked["redirect_uri"]) == (PEN, BACK)
        page = await asyncio.to_thread(connecting.raw, "GET", f"/oauth/authorize?{urlencode(asked)}")
        assert page.status_code == 200
        changed = {"codeChallenge": asked["code_challenge"], "state": asked["state"]}
        answer = await asyncio.to_thread(partial(connecting.agree, **changed))
        told = parse_qs(urlsplit(answer.json()["url"]).query)
        return AuthorizationCodeResult(code=told["code"][0], state=told["state"][0], iss=told["iss"][0])

    async def run():
        metadata = OAuthClientMetadata(client_name="Pen", redirect_uris=[BACK])
        auth = OAuthClientProvider(
            address, metadata, Storage(), send_there, come_back, client_metadata_url=PEN
        )
        transport = McpTransport(world._app)
        async with (
            httpx2.AsyncClient(transport=transport, auth=auth) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool("list_spaces", {})

    found = asyncio.run(run())
    assert not found.is_error and world.home["spaceId"] in found.content[0].text
    with world.context.db.read() as tx:
        assert tx.all("SELECT name FROM agents") == [("Pen",)]
        assert tx.value("SELECT count(*) FROM agent_clients WHERE id = :id", id=PEN) == 1
