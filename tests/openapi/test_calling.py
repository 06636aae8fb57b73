"""API operations called through a site's MCP server: only if the owner allows it, to which servers, and with what."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_transport import said_by
from octavo.errors import BadRequest, OctavoError
from octavo.sites.insights.queueing import EventQueue
from octavo.sites.openapi.calling import CallValues, fill_form
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.trying import prepare_request
from set_clock import SetClock
from world import World

from .test_trying import Site, answering, description_of

pytestmark = pytest.mark.sqlite_first

SUMMARY = """* [Home](README.md)
* ```yaml
  type: builtin:openapi
  props:
    grouping: {grouping}
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: shop
  ```
"""
SECRET = {"Authorization": "Bearer sesame-1"}


class Shop:
    """Site whose owner lets agents call the API it documents."""

    def __init__(self, world: World, site: Site) -> None:
        self.world, self.site = world, site
        self.path = world.home.path("/orgs/{organizationId}/sites/") + site.id
        self.data: dict[str, Any] = {}
        self.let(True)

    def let(self, calls: bool, **more: Any) -> None:
        body = {"agentCalls": {"enabled": calls}, **more}
        assert self.world.call("admin", "PUT", f"{self.path}/customization", json=body).is_success

    def message(self, method: str, params: Any = None, path: str = "~mcp", **headers: str) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.site.ask("POST", path, json=message, headers=headers)

    def tools(self) -> dict[str, Any]:
        return {tool["name"]: tool for tool in self.message("tools/list").json()["result"]["tools"]}

    def use(self, tool: str, arguments: dict[str, Any], **headers: str) -> tuple[str, bool]:
        """Return the text, and whether it is an error."""
        answer = self.message("tools/call", {"name": tool, "arguments": arguments}, **headers)
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        self.data = said_by(tool, result)
        return result["content"][0]["text"], result["isError"]

    def address(self, words: str) -> str:
        return self.use("list_operations", {"query": words})[0].rpartition("(")[2].removesuffix(")")

    def call(self, words: str, /, **arguments: Any) -> tuple[str, bool]:
        return self.use("call_operation", {"address": self.address(words), **arguments})


@pytest.fixture
def api() -> Iterator[Any]:
    with answering() as server:
        yield server


@pytest.fixture
def make(world: World, tmp_path: Path, api: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(grouping: str = "by-tag", **more: Any) -> Shop:
        description = {**description_of(api.host), **more}
        summary = SUMMARY.replace("{grouping}", grouping)
        site = Site(
            world, tmp_path / "source", description, monkeypatch, summary=summary, page="# Home\n\nWelcome.\n"
        )
        site.settings(allow_private_fetch=api.host)
        return Shop(world, site)

    return make


@pytest.mark.parametrize("grouping", ["by-tag", "by-operation"])
def test_arguments_are_sent_to_the_server(make: Any, api: Any, grouping: str) -> None:
    shop = make(grouping)
    hints = shop.tools()["call_operation"]["annotations"]
    assert hints == {"readOnlyHint": False, "openWorldHint": True, "destructiveHint": True}
    given = {
        "path": {"petId": "a/b?c"},
        "query": {"fields": ["x", "y z"], "more": True},
        "headers": {**SECRET, "x-trace": 7},
        "cookies": {"lang": "de"},
    }
    said, wrong = shop.call("get pets", **given)
    assert not wrong and said.startswith("200, after ") and "content-type: application/json" in said.lower()
    assert shop.data["status"] == 200 and said.endswith(shop.data["body"]) and shop.data["left"] == 0
    assert "application/json" in [header["value"] for header in shop.data["headers"]]
    (asked,) = api.asked
    assert asked["path"] == "/v1/pets/a%2Fb%3Fc?fields=x&fields=y+z&more=true" and asked["path"] in said
    headers = asked["headers"]
    assert headers["authorization"] == "Bearer sesame-1" and headers["x-trace"] == "7"
    assert headers["cookie"] == "lang=de"
    api.status = 422
    said, wrong = shop.call("post pets", server=f"http://{api.host}/v1", body={"name": "Réx"})
    assert not wrong and said.startswith("422, after ")
    sent = api.asked[1]
    assert sent["method"] == "POST" and sent["headers"]["content-type"] == "application/json"
    assert sent["body"].encode("latin-1").decode() == '{"name":"Réx"}'


def test_calling_requires_permission_of_the_owner(world: World, make: Any, api: Any) -> None:
    shop = make()
    address = shop.address("get pets")
    arguments = {"address": address, "path": {"petId": "p"}}
    assert shop.use("call_operation", arguments)[1] is False and len(api.asked) == 1
    shop.let(False)
    assert "call_operation" not in shop.tools()
    answer = shop.message("tools/call", {"name": "call_operation", "arguments": arguments}).json()
    assert answer["error"]["code"] == -32602
    # What can't be tried from a page can't be called.
    shop.let(True, apiPlayground={"enabled": False})
    assert shop.use("call_operation", arguments)[1] is True
    shop.let(True, pageActions={"mcp": False})
    assert shop.message("tools/list").status_code == 404
    world.call("admin", "PUT", f"{shop.path}/customization", json={})
    assert world.get("admin", f"{shop.path}/customization")["agentCalls"] == {"enabled": False}
    assert len(api.asked) == 1


def test_visitors_without_access_cannot_call_operations(world: World, make: Any, api: Any) -> None:
    shop = make("by-operation")
    address = shop.address("get pets")
    arguments = {"address": address, "path": {"petId": "p"}}
    for other in (
        address.rpartition("/")[0] + "/nothing",
        address + "#nothing",
        "http://169.254.169.254/latest",
        f"http://{api.host}/v1/pets/p",
    ):
        said, wrong = shop.use("call_operation", {**arguments, "address": other})
        assert wrong and "no operation at this URL" in said
    answer = world.call("admin", "PATCH", shop.path, json={"visibility": "share-link"})
    assert answer.is_success, answer.text
    closed = shop.message("tools/call", {"name": "call_operation", "arguments": arguments})
    assert closed.status_code == 404
    foreign = {"origin": "http://evil.test"}
    assert shop.message("tools/call", {"name": "call_operation", "arguments": arguments}, **foreign).is_error
    assert api.asked == []


NOT_TAKEN: list[dict[str, Any]] = [
    {"url": "http://169.254.169.254/"},
    {"server": "http://169.254.169.254/"},
    {"server": "http://evil.test/v1", "path": {"petId": "p"}},
    {"path": {}},
    {"path": {"petId": ".."}},
    {"path": "p"},
    {"path": {"petId": "p"}, "headers": {"X-Other": "1"}},
    {"path": {"petId": "p"}, "headers": {"Host": "evil.test"}},
    {"path": {"petId": "p"}, "headers": {"X-Trace": "a\r\nX-Evil: 1"}},
    {"path": {"petId": "p"}, "headers": {"Authorization": "Bearer sesame-2\n"}},
    {"path": {"petId": "p"}, "cookies": {"session": "1"}},
    {"path": {"petId": "p"}, "cookies": {"lang": "1; session=2"}},
    {"path": {"petId": "p"}, "content_type": "text/plain"},
    {"path": {"petId": "p"}, "body": {"a": 1}},
    {"path": {"petId": "p"}, "variables": {"host": 1}},
]


def test_undeclared_arguments_are_refused(make: Any, api: Any) -> None:
    shop = make()
    for wanted in NOT_TAKEN:
        said, wrong = shop.call("get pets", **wanted)
        assert wrong and said and "sesame" not in said, wanted
    assert api.asked == []


def test_a_hostile_specification_cannot_redirect_requests(world: World, make: Any, api: Any) -> None:
    servers = [
        "http://localhost:1/",
        "http://127.0.0.1:1/",
        "http://[::1]:1/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://0177.0.1/",
        "http://169.254.169.254/",
        "http://user:word@127.0.0.1/",
        "http://10.0.0.1/",
    ]
    shop = make(
        servers=[{"url": url} for url in (*servers, "file:///etc/passwd", "/v1", f"http://{api.host}")]
    )
    for server in servers:
        said, wrong = shop.call("get pets", server=server, path={"petId": "p"}, headers=SECRET)
        assert (
            wrong
            and any(
                part in said for part in ("n't allowed", "one of the servers", "must be an http", "must not")
            )
            and "sesame" not in said
        ), (
            server,
            said,
        )
    for server in ("file:///etc/passwd", "/v1"):
        assert shop.call("get pets", server=server, path={"petId": "p"})[1]
    assert api.asked == []
    # A redirect is returned like any response: it could target a server that the specification doesn't name.
    api.status, api.headers = 302, {"Location": "http://169.254.169.254/"}
    said, wrong = shop.call("get pets", server=f"http://{api.host}", path={"petId": "p"})
    assert not wrong and said.startswith("302, ") and "169.254.169.254" in said and len(api.asked) == 1
    # Responses are limited, both when they are read and when they are returned.
    api.status, api.headers = 200, {"X-Long": "l" * 20_000}
    api.answer = b"w" * 60_000
    said, wrong = shop.call("get pets", server=f"http://{api.host}", path={"petId": "p"})
    assert not wrong and "[10000 more characters omitted" in said and len(said) < 52_000
    api.headers, api.answer = {}, b" " * (2 * 1024 * 1024 + 1)
    said, wrong = shop.call("get pets", server=f"http://{api.host}", path={"petId": "p"})
    assert wrong and "larger than" in said


def test_requests_of_one_ip_address_are_limited(make: Any, api: Any, clock: SetClock) -> None:
    shop = make()
    clock.advance(0)
    shop.site.settings(allow_private_fetch=api.host, try_rate_limit=2)
    params = {
        "name": "call_operation",
        "arguments": {"address": shop.address("get pets"), "path": {"petId": "p"}},
    }
    codes = [shop.message("tools/call", params).status_code for _ in range(4)]
    assert 429 in codes and len(api.asked) == codes.count(200) and codes[0] == 200
    # Reading isn't counted.
    assert shop.tools()


def test_requests_are_neither_stored_nor_logged(
    world: World, make: Any, api: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shop = make()
    given: dict[str, Any] = {"path": {"petId": "p"}, "headers": SECRET, "query": {"fields": "sesame-3"}}
    # A visitor's token is for the site alone.
    shop.use(
        "call_operation", {"address": shop.address("get pets"), **given}, authorization="Bearer visitor-7"
    )
    assert "visitor-7" not in str(api.asked) and "sesame-3" in str(api.asked)
    api.answer = b" " * (2 * 1024 * 1024 + 1)
    shop.call("get pets", **given)
    shop.site.settings(allow_private_fetch="")
    shop.call("get pets", **given)
    said = "".join(str(vars(record)) for record in caplog.records if record.name.startswith("octavo"))
    assert "postMessage" in said and "sesame" not in said
    with world.context.db.read() as tx:
        for table in ("jobs", "events", "audit_events", "attempts"):
            assert "sesame" not in str(tx.all(f"SELECT * FROM {table}"))  # noqa: S608


def test_insights_count_requests_without_their_content(world: World, make: Any) -> None:
    shop = make()
    events = EventQueue(world.context)
    shop.site.answer_with(events)
    arguments = {
        "address": shop.address("get pets"),
        "path": {"petId": "sesame-4"},
        "headers": SECRET,
    }
    assert shop.use("call_operation", arguments, **{"user-agent": "claude-code/2.1"})[1] is False
    events.write(everything=True)
    with world.context.db.read() as tx:
        told = str(tx.all("SELECT * FROM site_events WHERE type = 'api_client_request'"))
        assert "/pets/{petId}" in told and "sesame" not in str(tx.all("SELECT * FROM site_events"))


# --- values, without a site -----------------------------------------------------------------------------------


def asked_of(parameters: list[dict[str, Any]], **content: Any) -> tuple[ApiDescription, Any]:
    description = ApiDescription(description_of("api.test"))
    operation = description.operations["get /pets/{petId}"]
    operation.data["parameters"] = [
        {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}},
        *parameters,
    ]
    if content:
        operation.data["requestBody"] = {"content": {kind: {"schema": {}} for kind in content["kinds"]}}
    return description, operation


def url_of(parameters: list[dict[str, Any]], **values: Any) -> str:
    asked = asked_of(parameters)
    given = {"path": {"petId": "p"}, **values}
    return prepare_request(*asked, fill_form(*asked, CallValues(**given))).url.removeprefix(
        "http://api.test/v1/pets/"
    )


LIST, OBJECT = {"type": "array"}, {"type": "object"}


@pytest.mark.parametrize(
    ("place", "more", "value", "written"),
    [
        ("query", {"schema": LIST}, ["a b", 1], "p?of=a+b&of=1"),
        ("query", {"schema": LIST, "explode": False}, ["a", "b"], "p?of=a%2Cb"),
        ("query", {"schema": LIST, "style": "pipeDelimited"}, ["a", "b"], "p?of=a%7Cb"),
        ("query", {"schema": LIST, "style": "spaceDelimited"}, ["a", "b"], "p?of=a+b"),
        (
            "query",
            {"schema": OBJECT, "style": "deepObject"},
            {"a": 1, "b": True},
            "p?of%5Ba%5D=1&of%5Bb%5D=true",
        ),
        ("query", {"schema": OBJECT}, {"a": 1, "b": None}, "p?a=1&b=null"),
        ("query", {"schema": OBJECT, "explode": False}, {"a": 1}, "p?of=a%2C1"),
        ("query", {"content": {"application/json": {}}}, {"a": [1]}, "p?of=%7B%22a%22%3A%5B1%5D%7D"),
        ("query", {"schema": {}}, None, "p"),
        ("path", {"schema": LIST}, ["a/b", "c,d"], "a%2Fb,c%2Cd"),
        ("path", {"schema": LIST}, "a/b", "a%2Fb"),
        ("path", {"schema": LIST, "style": "label", "explode": True}, ["a", "b"], ".a.b"),
        ("path", {"schema": {"type": "string"}, "style": "label"}, "a", ".a"),
        ("path", {"schema": LIST, "style": "matrix", "explode": True}, ["a", "b"], ";petId=a;petId=b"),
        ("path", {"schema": LIST, "style": "matrix"}, ["a", "b"], ";petId=a,b"),
        ("path", {"schema": OBJECT, "explode": True}, {"a": 1, "b": "/"}, "a=1,b=%2F"),
        ("path", {"schema": OBJECT}, {"a": 1}, "a,1"),
        ("path", {"schema": {"type": "string"}}, ["a", "b"], "a%2Cb"),
        ("path", {"schema": {"type": "string"}}, "ä b", "%C3%A4%20b"),
    ],
)
def test_values_are_serialized_by_their_style(
    place: str, more: dict[str, Any], value: Any, written: str
) -> None:
    if place == "path":
        asked = asked_of([])
        asked[1].data["parameters"] = [{"name": "petId", "in": "path", "required": True, **more}]
        url = prepare_request(*asked, fill_form(*asked, CallValues(path={"petId": value}))).url
        assert url == f"http://api.test/v1/pets/{written}"
    else:
        assert url_of([{"name": "of", "in": place, **more}], query={"of": value}) == written


@pytest.mark.parametrize(
    ("kinds", "given", "kind", "sent"),
    [
        (["text/csv", "application/json"], {"body": [1, None]}, "application/json", b"[1,null]"),
        (["application/json"], {"body": None}, "application/json", b"null"),
        (["application/json"], {"body": "{} "}, "application/json", b"{} "),
        (
            ["application/x-www-form-urlencoded"],
            {"body": {"a": ["x y", 1]}},
            "application/x-www-form-urlencoded",
            b"a=x+y&a=1",
        ),
        (
            ["multipart/form-data"],
            {"body": "--b--", "content_type": "multipart/form-data; boundary=b"},
            "multipart/form-data; boundary=b",
            b"--b--",
        ),
        (["multipart/form-data"], {"body": {"a": 1}}, None, None),
        (["text/plain"], {"body": 1}, None, None),
        (["text/plain"], {"body": "a", "content_type": "text/html"}, None, None),
        ([], {"body": "a"}, None, None),
    ],
)
def test_bodies_are_sent(
    kinds: list[str], given: dict[str, Any], kind: str | None, sent: bytes | None
) -> None:
    asked = asked_of([], kinds=kinds)
    values = CallValues(path={"petId": "p"}, **given)
    if sent is None:
        with pytest.raises(BadRequest):
            prepare_request(*asked, fill_form(*asked, values))
        return
    made = prepare_request(*asked, fill_form(*asked, values))
    assert (made.headers["Content-Type"], made.body) == (kind, sent)


def test_a_server_is_selected_by_its_url() -> None:
    asked = asked_of([])
    asked[0].data["servers"] = [
        {"url": "https://a.test"},
        {"url": "https://{t}.pets.test/v1/", "variables": {"t": {"default": "demo"}}},
    ]
    for server in ("https://{t}.pets.test/v1/", "https://demo.pets.test/v1"):
        values = CallValues(server=server, variables={"t": "acme"}, path={"petId": "p"})
        assert prepare_request(*asked, fill_form(*asked, values)).url == "https://acme.pets.test/v1/pets/p"
    with pytest.raises(BadRequest, match=r"https://a\.test"):
        fill_form(*asked, CallValues(server="https://evil.pets.test/v1", path={"petId": "p"}))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["..", "/", "@evil.test", "#", "?", "%2e%2e", "\r\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    JSON,
    st.dictionaries(st.text(max_size=4), JSON, max_size=2),
    JSON,
    st.sampled_from(["array", "object", "string"]),
)
def test_values_cannot_inject_anything(path: Any, query: dict[str, Any], body: Any, kind: str) -> None:
    asked = asked_of(
        [{"name": "of", "in": "query", "schema": {"type": kind}}],
        kinds=["application/json", "application/x-www-form-urlencoded"],
    )
    asked[1].data["parameters"][0]["schema"] = {"type": kind}
    try:
        values = msgspec.convert(
            {"path": {"petId": path}, "query": {**query, "of": body}, "body": body}, CallValues
        )
        made = prepare_request(*asked, fill_form(*asked, values))
    except OctavoError:
        return
    assert made.url.startswith("http://api.test/v1/pets/") and "/" not in made.url.partition("?")[0][24:]
    assert "\r" not in made.url and "#" not in made.url
