"""Trying operations from a page: what the form asks for, what can be sent, and for whom."""

from __future__ import annotations

import json
import logging
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from light_client import LightClient
from local_server import local_server
from octavo.delivery.reader.app import reader_edge
from octavo.delivery.reader.drawing import find_asset
from octavo.delivery.reader.locales import read_catalog
from octavo.errors import BadRequest, OctavoError
from octavo.kit.scheduling import shares
from octavo.operations.admin.import_export import import_space
from octavo.sites.insights.queueing import EventQueue
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.trying import (
    FilledForm,
    can_try,
    list_origins,
    make_form,
    prepare_request,
    token_origins,
)
from set_clock import SetClock
from world import World

from .specs import processed

pytestmark = pytest.mark.sqlite_first


class Api(BaseHTTPRequestHandler):
    """Server that returns the request it received."""

    def log_message(self, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        said = {
            "method": self.command,
            "path": self.path,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": self.rfile.read(length).decode("latin-1"),
        }
        server: Any = self.server
        server.asked.append(said)
        body = server.answer if server.answer is not None else json.dumps(said).encode()
        self.send_response(server.status)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _answer

    def do_OPTIONS(self) -> None:
        server: Any = self.server
        self.send_response(200)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def answering() -> Iterator[Any]:
    with local_server(Api) as server:
        server.asked, server.status, server.headers, server.answer = [], 200, {"Set-Cookie": "theirs=1"}, None
        yield server


def description_of(server: str, **more: Any) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": f"http://{server}/v1"}],
        "security": [{"token": []}],
        "paths": {
            "/pets/{petId}": {
                "get": {
                    "operationId": "getPet",
                    "tags": ["pets"],
                    "parameters": [
                        {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "fields", "in": "query", "schema": {"type": "array"}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                        {"name": "lang", "in": "cookie", "schema": {"type": "string"}},
                    ],
                    "responses": {"200": {"description": "It"}},
                },
            },
            "/pets": {
                "post": {
                    "operationId": "addPet",
                    "tags": ["pets"],
                    "requestBody": {
                        "content": {
                            "application/json": {"example": {"name": "Rex"}},
                            "multipart/form-data": {
                                "schema": {"properties": {"photo": {"type": "string", "format": "binary"}}}
                            },
                        }
                    },
                    "responses": {"201": {"description": "Added"}},
                }
            },
            "/hidden": {
                "get": {
                    "tags": ["pets"],
                    "x-hideTryItPanel": True,
                    "responses": {"200": {"description": "It"}},
                }
            },
            "/other": {"get": {"tags": ["others"], "responses": {"200": {"description": "It"}}}},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        **more,
    }


SUMMARY = """* [Home](README.md)
"""
PAGE = """# Home

{% openapi-operation spec="shop" path="/pets/{petId}" method="get" %}
{% endopenapi-operation %}

{% openapi-operation spec="shop" path="/pets" method="post" %}
{% endopenapi-operation %}

{% openapi-operation spec="shop" path="/hidden" method="get" %}
{% endopenapi-operation %}

{% if visitor.claims.unsigned.staff %}
{% openapi-operation spec="shop" path="/other" method="get" %}
{% endopenapi-operation %}
{% endif %}
"""


class Site:
    def __init__(
        self,
        world: World,
        folder: Path,
        description: dict[str, Any],
        patch: pytest.MonkeyPatch,
        *,
        summary: str = SUMMARY,
        page: str = PAGE,
    ) -> None:
        self._context, self._patch = world.context, patch
        spec = processed(world, "shop", {"text": json.dumps(description)})
        assert "lastProcessedErrors" not in spec, spec
        folder.mkdir()
        (folder / "SUMMARY.md").write_text(summary)
        (folder / "README.md").write_text(page)
        org = world.home["organizationId"]
        brought = import_space(world.context, str(folder), organization_id=org, title="Shop", publish=True)
        self.base = re.sub(r"^https?://[^/]+", "", brought.site_url)
        with world.context.db.read() as tx:
            self.id = tx.value("SELECT id FROM sites WHERE basename = :name", name=self.base.split("/")[2])
        self._app = reader_edge(world.context)

    def settings(self, **changes: Any) -> None:
        settings = msgspec.structs.replace(self._context.settings, **changes)
        self._patch.setattr(self._context, "settings", settings)
        self._app = reader_edge(self._context)

    def answer_with(self, events: EventQueue) -> None:
        self._app = reader_edge(self._context, events=events)

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return LightClient(self._app, "http://sites.test").ask(method, self.base + path, **options)

    def addresses(self) -> dict[str, str]:
        """Return the URL for trying each operation of the page."""
        found = re.findall(r'data-try="([^"]*)"', self.ask("GET", "").text)
        urls = [url.replace("&amp;", "&").removeprefix(self.base) for url in found]
        return {httpx.URL(url).params["operation"]: url for url in urls}

    def send(self, key: str, wanted: dict[str, Any], **options: Any) -> httpx.Response:
        return self.ask("POST", self.addresses()[key], json=wanted, **options)


@pytest.fixture
def api() -> Iterator[Any]:
    with answering() as server:
        yield server


@pytest.fixture
def site(world: World, tmp_path: Path, api: Any, monkeypatch: pytest.MonkeyPatch) -> Site:
    found = Site(world, tmp_path / "source", description_of(api.host), monkeypatch)
    found.settings(allow_private_fetch=api.host)
    return found


GET = {
    "path": {"petId": "a/b?c"},
    "query": [["fields", "x"], ["fields", "y z"]],
    "headers": [["Authorization", "Bearer sesame-1"], ["X-Trace", "t"]],
    "cookies": [["lang", "de"]],
}


def test_form_values_are_sent_to_the_server(site: Site, api: Any) -> None:
    got = site.send("get /pets/{petId}", GET, headers={"cookie": "octavo-visitor=mine", "x-own": "1"})
    assert got.status_code == 200 and got.headers["cache-control"] == "no-store"
    assert "set-cookie" not in got.headers
    sent = got.json()
    assert sent["status"] == 200 and ["set-cookie", "theirs=1"] in sent["headers"]
    (asked,) = api.asked
    assert asked["path"] == "/v1/pets/a%2Fb%3Fc?fields=x&fields=y+z"
    assert asked["headers"]["authorization"] == "Bearer sesame-1" and asked["headers"]["cookie"] == "lang=de"
    assert "x-own" not in asked["headers"]
    body = {"contentType": "application/json", "body": b64encode(b'{"name": "Rex"}').decode()}
    api.status = 422
    got = site.send("post /pets", body)
    assert got.json()["status"] == 422
    assert api.asked[1]["method"] == "POST" and api.asked[1]["body"] == '{"name": "Rex"}'


def test_only_operations_on_the_page_can_be_tried(site: Site, api: Any) -> None:
    addresses = site.addresses()
    assert set(addresses) == {"get /pets/{petId}", "post /pets"}
    form = site.ask("GET", addresses["post /pets"]).json()
    assert [body["media_type"] for body in form["bodies"]] == ["application/json", "multipart/form-data"]
    for key in ("get /hidden", "get /other", "get /nothing", ""):
        for method, options in (("GET", {}), ("POST", {"json": {}})):
            query = urlencode({"operation": key})
            url = re.sub(r"operation=[^&]*", query, addresses["post /pets"])
            assert site.ask(method, url, **options).status_code == 404, key
    url = addresses["post /pets"]
    for other in (url.replace("spec=shop", "spec=pets"), re.sub("page=[^&]*", "page=x", url), "~try"):
        assert site.ask("POST", other, json={}).status_code == 404
    assert api.asked == []


NOT_TAKEN: list[Any] = [
    {"url": "http://169.254.169.254/"},
    {"server": 7},
    {"server": -1},
    {"variables": {"host": "evil"}, "path": {"petId": ".."}},
    {"path": {}},
    {"path": {"petId": "p"}, "headers": [["X-Other", "1"]]},
    {"path": {"petId": "p"}, "headers": [["Host", "evil"]]},
    {"path": {"petId": "p"}, "headers": [["X-Trace", "a\r\nX-Evil: 1"]]},
    {"path": {"petId": "p"}, "headers": [["Authorization", "Bearer sesame-2\n"]]},
    {"path": {"petId": "p"}, "cookies": [["session", "1"]]},
    {"path": {"petId": "p"}, "cookies": [["lang", "1; session=2"]]},
    {"path": {"petId": "p"}, "contentType": "text/plain"},
    {"path": "p"},
    [],
]


def test_undeclared_values_are_refused(site: Site, api: Any) -> None:
    for wanted in NOT_TAKEN:
        got = site.send("get /pets/{petId}", wanted)
        assert got.status_code == 400 and "sesame" not in got.text, wanted
        assert api.asked == [], wanted


def test_requests_are_only_accepted_from_pages_of_the_site(site: Site, api: Any) -> None:
    url = site.addresses()["get /pets/{petId}"]
    body = json.dumps(GET)
    for headers in (
        {"content-type": "text/plain"},
        {"content-type": "application/json", "origin": "http://evil.test"},
        {"content-type": "application/json", "origin": "null"},
    ):
        assert site.ask("POST", url, content=body, headers=headers).status_code == 403
    headers = {"content-type": "application/json", "origin": "http://sites.test"}
    assert site.ask("POST", url, content=body, headers=headers).status_code == 200
    assert site.ask("POST", "", json={}).status_code == 405
    assert site.ask("POST", "nothing", json={}).status_code == 405


def test_private_servers_are_refused(world: World, site: Site, api: Any) -> None:
    site.settings(allow_private_fetch="")
    got = site.send("get /pets/{petId}", GET)
    assert got.status_code == 502 and "private network" in got.text
    assert api.asked == []


def test_redirects_are_shown_and_not_followed(site: Site, api: Any) -> None:
    api.status, api.headers = 302, {"Location": f"http://{api.host}/elsewhere"}
    got = site.send("get /pets/{petId}", GET)
    assert got.json()["status"] == 302 and len(api.asked) == 1


def test_bodies_and_responses_are_limited(site: Site, api: Any) -> None:
    api.answer = b" " * (2 * 1024 * 1024 + 1)
    got = site.send("get /pets/{petId}", GET)
    assert got.status_code == 502 and "larger than" in got.text
    before = len(api.asked)
    large = {"contentType": "application/json", "body": b64encode(b" " * (1024 * 1024 + 1)).decode()}
    assert site.send("post /pets", large).status_code == 413
    assert site.send("post /pets", {"body": "A" * (2 * 1024 * 1024)}).status_code == 413
    assert len(api.asked) == before


def test_requests_of_one_ip_address_are_limited(world: World, site: Site, api: Any, clock: SetClock) -> None:
    clock.advance(0)
    site.settings(try_rate_limit=2)
    codes = [site.send("get /pets/{petId}", GET).status_code for _ in range(4)]
    assert 429 in codes and len(api.asked) == codes.count(200) <= 4 and codes[0] == 200


def test_the_number_of_simultaneous_requests_is_limited(
    world: World, site: Site, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.settings(try_connections=1)
    monkeypatch.setattr("octavo.delivery.reader.app.QUEUE_SECONDS", 0)
    with ExitStack() as stack:
        for pool in list(shares.everywhere):
            if pool.name == "requests are being sent":
                stack.enter_context(pool.place(("another", "visitor"), 0))
        refused = site.send("get /pets/{petId}", GET)
        assert refused.status_code == 503 and "retry-after" in refused.headers and not api.asked
    assert site.send("get /pets/{petId}", GET).status_code == 200


def test_requests_are_neither_stored_nor_logged(
    world: World, site: Site, api: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    site.send("get /pets/{petId}", GET)
    api.answer = b" " * (2 * 1024 * 1024 + 1)
    site.send("get /pets/{petId}", GET)
    site.settings(allow_private_fetch="")
    site.send("get /pets/{petId}", GET)
    said = "".join(str(vars(record)) for record in caplog.records if record.name.startswith("octavo"))
    assert "tryOperation" in said and "sesame" not in said
    with world.context.db.read() as tx:
        for table in ("jobs", "events", "audit_events", "attempts"):
            assert "sesame" not in str(tx.all(f"SELECT * FROM {table}"))  # noqa: S608


def test_insights_count_requests_without_their_content(world: World, site: Site, api: Any) -> None:
    browser = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
    assert site.send("get /pets/{petId}", GET, headers=browser).status_code == 200
    path = world.home.path("/orgs/{organizationId}/sites/") + f"{site.id}/insights/events/aggregate"
    columns = ["eventType", "eventAPIOperationPath", "eventAPIOperationMethod", "eventsCount"]
    body = {"range": "last24Hours", "select": [{"column": name} for name in columns]}
    answer = world.call("admin", "POST", path, json=body).json()
    assert {column["column"]: column["values"] for column in answer["columns"]} == {
        "eventType": ["api_client_request"],
        "eventAPIOperationPath": ["/pets/{petId}"],
        "eventAPIOperationMethod": ["get"],
        "eventsCount": [1],
    }
    with world.context.db.read() as tx:
        assert "sesame" not in str(tx.all("SELECT * FROM site_events"))


def test_a_site_can_turn_off_requests(world: World, site: Site, api: Any) -> None:
    url = site.addresses()["get /pets/{petId}"]
    path = world.home.path("/orgs/{organizationId}/sites/") + f"{site.id}/customization"
    assert world.get("admin", path)["apiPlayground"] == {"enabled": True}
    world.call("admin", "PUT", path, json={"apiPlayground": {"enabled": False}})
    assert site.addresses() == {}
    assert site.ask("GET", url).status_code == 404
    assert site.ask("POST", url, json=GET).status_code == 404
    assert "data-try=" not in site.ask("GET", "").text and api.asked == []


def test_visitors_without_access_cannot_send_requests(world: World, site: Site, api: Any) -> None:
    url = site.addresses()["get /pets/{petId}"]
    path = world.home.path("/orgs/{organizationId}/sites/") + site.id
    answer = world.call("admin", "PATCH", path, json={"visibility": "share-link"})
    assert answer.is_success, answer.text
    assert site.ask("POST", url, json=GET).status_code == 404
    assert api.asked == []


def test_the_script_can_connect_to_the_servers(site: Site, api: Any) -> None:
    policy = site.ask("GET", "").headers["content-security-policy"]
    assert f"connect-src 'self' http://{api.host};" in policy


# --- form and request, without a site ---------------------------------------------------------------------


def tried(key: str = "get /pets/{petId}", **more: Any) -> tuple[ApiDescription, Any]:
    description = ApiDescription(description_of("api.test", **more))
    return description, description.operations[key]


def servers(url: str, **variables: Any) -> dict[str, Any]:
    return {"servers": [{"url": url, "variables": variables}]}


@pytest.mark.parametrize(
    ("url", "variables", "origins"),
    [
        (
            "https://{r}.pets.test/v1",
            {"r": {"default": "eu", "enum": ["eu", "us"]}},
            ["https://eu.pets.test", "https://us.pets.test"],
        ),
        ("https://{tenant}.pets.test", {"tenant": {"default": "demo"}}, ["https://*.pets.test"]),
        ("https://{tenant}.test", {"tenant": {"default": "demo"}}, ["https://demo.test"]),
        ("https://{host}", {"host": {"default": "a.test"}}, ["https://a.test"]),
        ("https://pets.test; script-src *", {}, []),
        ("https://a'b.test", {}, []),
        ("javascript:alert(1)", {}, []),
        ("/v1", {}, []),
    ],
)
def test_hosts_are_added_to_the_content_security_policy(url: str, variables: Any, origins: list[str]) -> None:
    assert list_origins(*tried(**servers(url, **variables))) == origins


@pytest.mark.parametrize(
    ("url", "variables", "given", "sent"),
    [
        (
            "https://{t}.pets.test/v1",
            {"t": {"default": "demo"}},
            {"t": "acme"},
            "https://acme.pets.test/v1/pets/p",
        ),
        ("https://{t}.pets.test/v1", {"t": {"default": "demo"}}, {"t": "evil.test/"}, None),
        ("https://{t}.pets.test/v1", {"t": {"default": "demo"}}, {"t": "a.b"}, None),
        ("https://{t}.test/v1", {"t": {"default": "demo"}}, {"t": "evil"}, None),
        ("https://api{t}/v1", {"t": {"default": ".test"}}, {"t": ".evil.test"}, None),
        ("https://{t}@pets.example.test/v1", {"t": {"default": "d"}}, {"t": "evil"}, None),
        ("https://pets.test:{p}", {"p": {"default": "443"}}, {"p": "22"}, None),
        (
            "https://pets.test:{p}",
            {"p": {"enum": ["443", "8443"]}},
            {"p": "8443"},
            "https://pets.test:8443/pets/p",
        ),
        (
            "https://pets.test/{b}/",
            {"b": {"default": "v1"}},
            {"b": "v2/x"},
            "https://pets.test/v2%2Fx/pets/p",
        ),
        ("https://pets.test/{b}/", {"b": {"default": "v1"}}, {"b": ".."}, None),
        ("https://pets.test/{b}", {}, {"b": "v2"}, None),
    ],
)
def test_variables_of_servers_are_filled_in(
    url: str, variables: Any, given: dict[str, str], sent: str | None
) -> None:
    description, operation = tried(**servers(url, **variables))
    wanted = FilledForm(variables=given, path={"petId": "p"})
    if sent is None:
        with pytest.raises(BadRequest):
            prepare_request(description, operation, wanted)
    else:
        assert prepare_request(description, operation, wanted).url == sent


@pytest.mark.parametrize(
    ("given", "sent"), [("a,b", "a,b"), ("a%2Cb", "a%2Cb"), ("..", None), ("%2e%2E", None), (".%2e", None)]
)
def test_lists_in_a_path_cannot_change_the_path(given: str, sent: str | None) -> None:
    description, operation = tried(**servers("https://pets.test"))
    operation.data["parameters"] = [
        {"name": "petId", "in": "path", "schema": {"type": "array", "items": {"type": "string"}}}
    ]
    if sent is None:
        with pytest.raises(BadRequest):
            prepare_request(description, operation, FilledForm(path={"petId": given}))
    else:
        made = prepare_request(description, operation, FilledForm(path={"petId": given}))
        assert made.url == f"https://pets.test/pets/{sent}"


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["..", "/", "@evil.test", "\\evil", "#", "?", "%2e%2e", "\r\n"]
)


@given(TEXTS, TEXTS, TEXTS)
def test_values_never_change_the_host(one: str, two: str, three: str) -> None:
    variables = {"t": {"default": "demo"}, "base": {"default": "v1"}}
    description, operation = tried(**servers("https://{t}.pets.test/{base}", **variables))
    wanted = FilledForm(variables={"t": one, "base": two}, path={"petId": three}, query=[(two, three)])
    try:
        url = httpx.URL(prepare_request(description, operation, wanted).url)
    except OctavoError:
        return
    assert url.host.endswith(".pets.test") and url.host.count(".") == 2 and not url.userinfo
    assert url.raw_path.startswith(b"/") and url.fragment == ""


def test_authentication_and_fields_are_sent() -> None:
    schemes = {
        "basic": {"type": "http", "scheme": "basic"},
        "key": {"type": "apiKey", "in": "query", "name": "key", "x-gitbook-prefix": "K"},
        "oauth": {"type": "oauth2", "flows": {}},
        "openid": {"type": "openIdConnect", "openIdConnectUrl": "https://id.test/openid"},
        "digest": {"type": "http", "scheme": "digest"},
        "certificate": {"type": "mutualTLS"},
    }
    more = {
        "components": {"securitySchemes": schemes},
        "security": [
            {"basic": []},
            {"key": [], "oauth": []},
            {},
            {"openid": []},
            {"digest": []},
            {"certificate": []},
        ],
    }
    form = make_form(*tried(**more))
    assert [[(s.scheme, s.place, s.name, s.prefix) for s in way] for way in form.security] == [
        [("basic", "header", "Authorization", "Basic")],
        [("key", "query", "key", "K"), ("oauth", "header", "Authorization", "Bearer")],
        [],
        [("openid", "header", "Authorization", "Bearer")],
        [("digest", "header", "Authorization", "Digest")],
        [("certificate", "header", "", "")],
    ]
    # Methods that no page supports are explained, and add no host to the policy.
    assert [[s.beyond for s in way] for way in form.security[-3:]] == [[""], ["computed"], ["certificate"]]
    assert [(f.flow, f.authorization) for f in form.security[3][0].flows] == [
        ("OpenID Connect", "https://id.test/openid")
    ]
    assert token_origins(form) == []
    assert [(f.name, f.type, f.place, f.required) for f in form.fields] == [
        ("petId", "text", "path", True),
        ("fields", "list", "query", False),
        ("X-Trace", "text", "header", False),
        ("lang", "text", "cookie", False),
    ]
    post = make_form(*tried("post /pets"))
    assert post.bodies[1].fields is not None and post.bodies[1].fields[0].type == "file"


def test_specifications_control_the_form_and_its_proxy() -> None:
    assert make_form(*tried(**{"x-enable-proxy": True})).proxy == "always"
    assert list_origins(*tried(**{"x-enable-proxy": True})) == []
    assert not can_try(*tried(**{"x-hideTryItPanel": True}))
    description, operation = tried(**{"x-enable-proxy": False})
    with pytest.raises(BadRequest):
        prepare_request(description, operation, FilledForm(path={"petId": "p"}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {
            "servers": JSON,
            "security": JSON,
            "x-enable-proxy": JSON,
            "components": st.fixed_dictionaries({"securitySchemes": st.fixed_dictionaries({"token": JSON})}),
        }
    ),
    JSON,
    JSON,
)
def test_any_operation_has_a_valid_form_or_none(more: Any, parameters: Any, body: Any) -> None:
    whole = description_of("api.test") | more
    operation = whole["paths"]["/pets/{petId}"]["get"]
    operation["parameters"], operation["requestBody"] = parameters, body
    description = ApiDescription(whole)
    found = description.operations["get /pets/{petId}"]
    if can_try(description, found):
        msgspec.json.encode(make_form(description, found))
    list_origins(description, found)


def test_the_form_has_every_label_in_every_language(site: Site, api: Any) -> None:
    written = [
        find_asset(name)
        for name in ("try.js", "access.js", "reference.js", "fields.js", "rows.js", "changes.js")
    ]
    asked = {
        word
        for each in written
        if each
        for word in re.findall(r'(?:\bwords\.|\bspan\(")(\w+)', each.content.decode())
    }
    page = site.ask("GET", "").text
    shown = re.search(r'data-words="([^"]+)"', page)
    assert shown is not None
    english = json.loads(unescape(shown[1]))
    # The form uses the types' own names, and names complaints by the problem or the reason.
    complaints = {"wrong_type", "missing", "unknown", "not_one", "limit"}
    beyond = {"certificate", "computed"}
    assert asked | {"number", "boolean", "list", "file"} | complaints | beyond == set(english)
    for language, labels in read_catalog().items():
        same = [name for name, text in english.items() if getattr(labels, f"try_form_{name}", "") == text]
        assert language == "en" or len(same) <= 4, (language, same)
