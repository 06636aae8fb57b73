"""The MCP server of a site: the official client against the reader, visitors, and arbitrary posts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import OctKey

from light_client import LightClient
from mcp_transport import McpTransport, said_by
from octavo.delivery.reader import mcp
from octavo.delivery.reader.app import reader_edge
from octavo.delivery.reader.routes import assistants
from octavo.delivery.visits.admission import MCP_PATHS
from octavo.kit.clock import now
from octavo.operations.admin.import_export import import_space
from octavo.sites.insights.queueing import EventQueue
from octavo.sites.site import store
from octavo.sites.site.audiences.visitor_auth import signing_key
from octavo.sites.site.previewing import make_preview
from octavo.sites.site.store import get_site
from set_clock import SetClock
from world import World

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.sqlite_first

JSON = "application/json"
LONG = "word " * 15_000
TOOLS = [
    "send_feedback",
    "search",
    "read_page",
    "read_file",
    "list_pages",
    "list_operations",
    "explain_operation",
]


class Site:
    """Published site of one space: Start, Long, Hidden, and Few for paying visitors."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites")
        space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Guide"})[
            "id"
        ]
        self.space = space
        changes = f"/spaces/{space}/change-requests"
        change = world.post("admin", changes, {"subject": "Fill"})["id"]

        def page(title: str, text: str, **more: Any) -> dict[str, Any]:
            document = {"markdown": f"# {title}\n\n{text}\n"}
            return {"operation": "insert_page", "title": title, "document": document, **more}

        pages = [
            page("Start", "Welcome to granite."),
            page("Long", LONG, description="Many words"),
            page("Hidden", "Behind basalt.", hidden=True),
            page("Few", "Only marble.", condition="visitor.claims.paying"),
        ]
        world.post("admin", f"{changes}/{change}/content", {"changes": pages})
        world.post("admin", f"{changes}/{change}/merge")
        self.id = world.post("admin", self.path, {"title": "Stones", "spaces": [space]})["id"]
        self.path += f"/{self.id}"
        self.url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self.base = urlsplit(self.url).path
        self.app = reader_edge(world.context)

    def change(self, **body: Any) -> None:
        answer = self.world.call("admin", "PATCH", self.path, json=body)
        assert answer.status_code == 200, answer.text

    def token(self, **claims: Any) -> str:
        with self.world.context.db.read() as tx:
            key = signing_key(self.world.context.signer, get_site(tx, self.id))
        return jwt.encode({"alg": "HS256"}, {"exp": now() // 1000 + 600, **claims}, OctKey.import_key(key))

    def ask(self, method: str = "POST", path: str = "~mcp", **options: Any) -> httpx.Response:
        return LightClient(self.app, "http://sites.test").ask(method, self.base + path, **options)

    def call(self, method: str, params: Any = None, path: str = "~mcp", **headers: str) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.ask(path=path, json=message, headers=headers)

    def use(
        self, tool: str, path: str = "~mcp", headers: dict[str, str] | None = None, **arguments: Any
    ) -> str:
        params = {"name": tool, "arguments": arguments}
        answer = self.call("tools/call", params, path, **(headers or {}))
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        said_by(tool, result)
        text: str = result["content"][0]["text"]
        return text

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured data of a result."""
        params = {"name": tool, "arguments": arguments}
        return said_by(tool, self.call("tools/call", params).json()["result"])

    def seen(self, path: str = "~mcp", **headers: str) -> str:
        """Return everything that a visitor can see."""
        told = [self.use("list_pages", path, headers)]
        told += [self.use("search", path, headers, query=word) for word in ("granite", "basalt", "marble")]
        base = self.url + path.removesuffix("~mcp")
        told += [self.use("read_page", path, headers, address=base + page) for page in ("", "few")]
        return "\n".join(told)


@pytest.fixture
def site(world: World) -> Site:
    return Site(world)


def with_client(site: Site, path: str, work: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    # Takes a second to import.
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> None:
        transport = McpTransport(site.app)
        async with httpx2.AsyncClient(transport=transport) as http:
            server = streamable_http_client(f"http://sites.test{site.base}{path}", http_client=http)
            async with Client(server, **options) as client:
                await work(client)

    asyncio.run(run())


@pytest.mark.parametrize("path", MCP_PATHS)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_uses_the_server(site: Site, path: str, mode: str) -> None:
    async def work(client: Client) -> None:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == TOOLS
        assert all(tool.input_schema["type"] == "object" for tool in listed.tools)
        found = await client.call_tool("search", {"query": "granite"})
        assert f"{site.url}" in found.content[0].text and "Start" in found.content[0].text  # type: ignore[union-attr]
        read = await client.call_tool("read_page", {"address": site.url})
        assert "Welcome to granite." in read.content[0].text  # type: ignore[union-attr]
        wrong = await client.call_tool("read_page", {"address": site.url, "more": 1})
        assert wrong.is_error and "more" in wrong.content[0].text  # type: ignore[union-attr]

    with_client(site, path, work, mode=mode)


def test_pages_are_resources_and_there_are_prompts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "_PAGES", 1)

    async def work(client: Client) -> None:
        first = await client.list_resources()
        assert [str(one.uri) for one in first.resources] == [f"{site.url}start.md"]
        rest = await client.list_resources(cursor=first.next_cursor)
        assert [one.name for one in rest.resources] == ["Long"] and rest.next_cursor is None
        read = await client.read_resource(f"{site.url}start.md")
        assert "Welcome to granite." in read.contents[0].text  # type: ignore[union-attr]
        long = await client.read_resource(f"{site.url}long.md")
        assert "call read_page with start=50000" in long.contents[0].text  # type: ignore[union-attr]
        assert (await client.list_resource_templates()).resource_templates == []
        assert [one.name for one in (await client.list_prompts()).prompts] == ["answer", "call_api"]
        prompt = await client.get_prompt("answer", {"question": "What is granite?"})
        assert "What is granite?" in prompt.messages[0].content.text  # type: ignore[union-attr]

    for mode in ("auto", "legacy"):
        with_client(site, "~mcp", work, mode=mode)
    for bad in ("few.md", "nothing.md"):
        told = site.call("resources/read", {"uri": site.url + bad}).json()["error"]
        assert told["code"] == -32002 and told["data"] == {"uri": site.url + bad}
    for method, params in (
        ("resources/read", {}),
        ("resources/list", {"cursor": "x"}),
        ("resources/list", {"cursor": 1}),
        ("prompts/get", {"name": "x"}),
        ("prompts/get", {"name": "answer"}),
        ("prompts/get", {"name": "answer", "arguments": {"question": " "}}),
        ("prompts/get", {"name": "answer", "arguments": {"question": "a", "more": "b"}}),
    ):
        assert site.call(method, params).json()["error"]["code"] == -32602, (method, params)


def test_the_page_names_a_working_url(site: Site) -> None:
    said = site.ask("GET", "").text.partition('data-copy-text="')[2].partition('"')[0]
    assert said.startswith(site.url)
    assert site.call("ping", path=said.removeprefix(site.url)).json() == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {},
    }
    for path in MCP_PATHS:
        refused = site.ask("GET", path)
        assert refused.status_code == 405 and refused.headers["allow"] == "POST"
    answer = site.world.call(
        "admin", "PUT", f"{site.path}/customization", json={"pageActions": {"mcp": False}}
    )
    assert answer.status_code == 200, answer.text
    for path in MCP_PATHS:
        assert site.call("ping", path=path).status_code == 404
    assert "data-copy-text" not in site.ask("GET", "").text


def test_long_results_are_truncated_with_a_note(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"{site.url}long"
    whole = site.ask("GET", "long.md").text
    first = site.use("read_page", address=address)
    assert "more characters: call again with start=50000.]" in first
    rest = site.use("read_page", address=f"{address}.md#there", start=50_000)
    assert first.partition("\n\n[")[0] + rest == whole
    assert "start: must be less than" in site.use("read_page", address=address, start=100_000)
    monkeypatch.setattr(mcp, "_PAGES", 1)
    first = site.use("list_pages")
    assert "Start" in first and "Long" not in first and "1 more pages: call again with start=1." in first
    assert site.use("list_pages", start=1) == f"- Long ({address}): Many words"
    assert "no more pages" in site.use("list_pages", start=2**53)


def test_sections_are_read_by_their_anchors(site: Site) -> None:
    changes = f"/spaces/{site.space}/change-requests"
    change = site.world.post("admin", changes, {"subject": "Parts"})["id"]
    text = (
        "# Parts\n\nAbove.\n\n{% if visitor.claims.paying %}\n\n## Price\n\nFive marbles.\n\n{% endif %}\n\n"
        "## Price\n\nOne pebble, see [use](#use).\n\n### Inside\n\nDeep.\n\n## Use\n\nThrow it.\n\n"
        "{% if visitor.claims.paying %}\n\nFar.\n\n{% endif %}\n\n"
        '{% tabs %}\n{% tab title="One" %}\n#### Held\n\nIn a tab.\n{% endtab %}\n{% endtabs %}\n'
    )
    page = {"operation": "insert_page", "title": "Parts", "document": {"markdown": text}}
    site.world.post("admin", f"{changes}/{change}/content", {"changes": [page]})
    site.world.post("admin", f"{changes}/{change}/merge")
    address = f"{site.url}parts"

    def read(section: str) -> str:
        return site.use("read_page", address=address, section=section)

    assert [part in read("price") for part in ("Above", "pebble", "Deep.", "Throw")] == [
        False,
        True,
        True,
        False,
    ]
    # A missing section isn't returned, so the link is to the whole page.
    assert f"[use]({address}#use)" in read("#Price")
    assert "Deep." in read("inside") and "pebble" not in read("inside")
    assert "Throw it." in read("use") and "In a tab." in read("use")
    assert "In a tab." in read("held") and "Throw" not in read("held")
    # A section on condition has the page's anchor, and doesn't exist for visitors who can't see it.
    for gone in ("price-1", "marbles", "\0", " ", "#"):
        assert "marble" not in read(gone) and "Far." not in read(gone)
    assert "Its sections: price, inside, use." in read("price-1")
    assert "(#use)" in site.use("search", query="throw")


def test_files_are_read_as_text(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in {
        "README.md": b"# Data\n",
        "table.csv": b"a,b\n1,\xff\n",
        "a.pdf": b"%PDF-1.4",
    }.items():
        (tmp_path / name).write_bytes(content)
    import_space(site.world.context, str(tmp_path), space_id=site.space)
    listed = site.world.get("admin", f"/spaces/{site.space}/content/files")["items"]
    pdf, table = sorted(f"{site.url}~files/{one['id']}/{one['name']}" for one in listed)
    if pdf.endswith("csv"):
        pdf, table = table, pdf
    assert site.use("read_file", address=table) == "a,b\n1,\ufffd\n"
    assert site.use("read_file", address=table, start=4) == "1,\ufffd\n"
    assert "isn't text (application/pdf, " in site.use("read_file", address=pdf)
    monkeypatch.setattr(mcp, "_FILE", 3)
    assert "at most 3 bytes" in site.use("read_file", address=f"{table}#x")
    for other in ("", "start", "~files/x/y", "~files/x", "~files//", "../~files/x/y"):
        assert "no file" in site.use("read_file", address=site.url + other)


def test_tools_list_no_hidden_page_and_read_only_pages(site: Site) -> None:
    assert "Hidden" not in site.use("list_pages") and "basalt" not in site.use("search", query="basalt")
    assert "Behind basalt." in site.use("read_page", address=f"{site.url}hidden")
    # A path works as well as a URL.
    assert "Welcome" in site.use("read_page", address=site.base)
    for other in ("nothing", "few", "~search.json", "../..", "%2e%2e/x", "~files/x/y"):
        assert "no page" in site.use("read_page", address=site.url + other)
    for other in ("http://elsewhere.test/", "/", "http://[", "//", site.url.replace("://", "s://"), "\0"):
        assert "no page" in site.use("read_page", address=other)


def test_tool_results_have_structured_content(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    look = {"styling": {}, "internationalization": {}, "feedback": {"enabled": True}}
    assert site.world.call("admin", "PUT", f"{site.path}/customization", json=look).status_code == 200
    listed = site.call("tools/list").json()["result"]["tools"]
    for tool in listed:
        schema = tool["outputSchema"]
        assert schema["type"] == "object" and set(schema["required"]) == set(schema["properties"]), tool[
            "name"
        ]
    monkeypatch.setattr(mcp, "_PAGES", 1)
    first = site.data("list_pages")
    assert first == {"pages": [{"title": "Start", "address": site.url, "description": ""}], "next": 1}
    second = site.data("list_pages", start=1)
    assert second["pages"][0]["description"] == "Many words" and second["next"] is None
    (hit,) = site.data("search", query="granite")["pages"]
    assert (hit["title"], hit["address"]) == ("Start", first["pages"][0]["address"])
    assert "Welcome to granite." in hit["excerpt"]
    assert site.data("search", query="granit")["pages"] or site.data("search", query="granit")["suggestions"]
    read = site.data("read_page", address=hit["address"])
    assert read["address"] == hit["address"] and "Welcome to granite." in read["markdown"]
    assert read["next"] is None and read["revision"]
    long, text, start = f"{site.url}long", "", 0
    while start is not None:
        part = site.data("read_page", address=long, start=start)
        text, start = text + part["markdown"], part["next"]
    assert text.count("word ") == LONG.count("word "), "nothing else is said in between"
    assert site.data("send_feedback", address=long, rating="good") == {"address": long, "rating": "good"}
    assert site.data("list_operations") == {"operations": [], "next": None}
    assert site.data("read_page", address="http://elsewhere.test/") == {}, "a refusal is no answer"


# --- callers -----------------------------------------------------------------------------------------


def test_closed_sites_answer_only_admitted_callers(site: Site) -> None:
    site.change(visibility="share-link")
    link = site.world.post("admin", f"{site.path}/share-links", {"name": "A"})
    key = link["urls"]["published"].removeprefix(site.url).strip("/")
    assert site.call("tools/list").status_code == 404
    assert "granite" in site.seen(f"{key}/~mcp")
    answer = site.call("ping", path=f"{key}/~mcp")
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-robots-tag"] == "noindex"
    site.world.call("admin", "PATCH", f"{site.path}/share-links/{link['id']}", json={"active": False})
    assert site.call("ping", path=f"{key}/~mcp").status_code == 404
    site.change(visibility="public")
    site.world.post("admin", f"{site.path}/unpublish")
    assert site.call("ping").status_code == 404
    preview = make_preview(site.world.context.signer, site.id, site.world.actor("admin"), {"claims": {}})
    assert "granite" in site.seen(cookie=f"octavo-preview={preview}")


def test_signed_visitors_send_their_token(site: Site) -> None:
    site.change(visibility="visitor-auth")
    assert site.call("tools/list").status_code == 404
    login = {"backend": "custom", "fallbackURL": "https://login.example.org/"}
    answer = site.world.call("admin", "PATCH", f"{site.path}/publishing/auth", json=login)
    assert answer.status_code == 200, answer.text
    bearer = {"authorization": f"Bearer {site.token()}"}
    for bad in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {site.token()}"}):
        refused = site.call("tools/list", **bad)
        told = refused.headers["www-authenticate"]
        assert refused.status_code == 401 and told.startswith("Bearer resource_metadata=")
    assert "granite" in site.seen(**bearer) and "Only marble" not in site.seen(**bearer)
    assert "granite" in site.seen(cookie=f"octavo-visitor={site.token()}")


def test_conditions_apply(site: Site) -> None:
    claim = {"type": "boolean", "description": "Whether"}
    schema = {"type": "object", "properties": {"paying": claim}, "additionalProperties": False}
    answer = site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    assert answer.status_code == 200, answer.text
    with site.world.context.db.write() as tx:
        row = get_site(tx, site.id)
        store.update_site(tx, site.id, settings=msgspec.structs.replace(row.settings, adaptive=True))
    assert "Only marble" not in site.seen()
    assert "Only marble" not in site.seen(authorization=f"Bearer {site.token(paying=False)}")
    paid = site.seen(authorization=f"Bearer {site.token(paying=True)}")
    assert "Only marble." in paid and "[few]" not in paid and f"Few ({site.url}few)" in paid


# --- caching -----------------------------------------------------------------------------------------


def count_visits(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Count messages that require a visit."""
    made: list[bytes] = []
    original = assistants.answer_message

    def counted(server: Any, on: Any, body: bytes, headers: Any) -> Any:
        made.append(body)
        return original(server, on, body, headers)

    monkeypatch.setattr(assistants, "answer_message", counted)
    return made


def test_tool_results_are_cached_until_they_change(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_visits(monkeypatch)
    world = site.world
    events = EventQueue(world.context)
    site.app = reader_edge(world.context, events=events)
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "read_page", "arguments": {"address": site.url}},
    }

    def read(id: int | str, meta: dict[str, str] | None = None, **headers: str) -> Any:
        params = {**message["params"], **({"_meta": meta} if meta else {})}
        answer = site.ask(json={**message, "id": id, "params": params}, headers=headers).json()
        assert answer["id"] == id
        return answer["result"]

    first = read(1)
    assert "Welcome to granite." in first["content"][0]["text"]
    assert [read(id) for id in (2, "a", '"', -(2**63))] == [first] * 4 and len(made) == 1
    # Changes elsewhere have no effect.
    home = f"/spaces/{world.home['spaceId']}"
    world.post("admin", f"{home}/change-requests", {"subject": "Others"})
    assert read(3) == first and len(made) == 1
    # The other protocol version gets its own wording.
    version = "2026-07-28"
    meta = {"io.modelcontextprotocol/protocolVersion": version}
    meta["io.modelcontextprotocol/clientCapabilities"] = {}  # type: ignore[assignment]
    said = {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "read_page"}
    made.clear()
    assert read(4, meta, **said) == read(5, meta, **said) == {**first, "resultType": "complete"}
    assert len(made) == 1
    assert site.ask(json={**message, "id": 6}, headers=said).status_code == 400
    # Each call is counted.
    events.write(everything=True)
    count = "SELECT count(*) FROM site_events WHERE type = 'page_view' AND display_context = 'mcp'"
    with world.context.db.read() as tx:
        assert tx.value(count) == 8
    # Changes here take effect.
    change = world.post("admin", f"/spaces/{site.space}/change-requests", {"subject": "Ours"})["id"]
    path = f"/spaces/{site.space}/change-requests/{change}"
    page = world.call("admin", "GET", f"/spaces/{site.space}/content/path/start").json()["id"]
    edit = {"operation": "update_page", "page": page, "document": {"markdown": "# Start\n\nNow gabbro.\n"}}
    world.post("admin", f"{path}/content", {"changes": [edit]})
    world.post("admin", f"{path}/merge")
    assert "gabbro" in read(7)["content"][0]["text"]


def test_results_of_others_are_not_returned(site: Site) -> None:
    claim = {"type": "boolean", "description": "Whether"}
    schema = {"type": "object", "properties": {"paying": claim}, "additionalProperties": False}
    site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    with site.world.context.db.write() as tx:
        row = get_site(tx, site.id)
        store.update_site(tx, site.id, settings=msgspec.structs.replace(row.settings, adaptive=True))
    paying, other = site.token(paying=True), site.token(paying=False)
    preview = make_preview(
        site.world.context.signer, site.id, site.world.actor("admin"), {"claims": {"paying": True}}
    )
    visitors = [
        ("~mcp", {}),
        ("~mcp", {"authorization": f"Bearer {paying}"}),
        ("~mcp", {"authorization": f"Bearer {other}"}),
        ("~mcp", {"cookie": f"octavo-visitor={paying}"}),
        ("~mcp", {"cookie": f"octavo-visitor={other}"}),
        ("~mcp", {"cookie": f"octavo-preview={preview}"}),
        (f"~mcp?jwt_token={paying}", {}),
        ("~mcp?visitor.paying=true", {}),
    ]

    def seen(path: str, headers: dict[str, str]) -> list[str]:
        """Return the answers of the tools to a visitor, each requested twice."""
        base = site.url
        asked = [
            ("search", {"query": "marble"}),
            ("list_pages", {}),
            ("read_page", {"address": f"{base}few"}),
        ]
        return [site.use(tool, path, headers, **values) for _ in range(2) for tool, values in asked]

    app = site.app
    for path, headers in [*visitors, *reversed(visitors)]:
        site.app = app
        kept = seen(path, headers)
        # An application without cached results says the same.
        site.app = reader_edge(site.world.context)
        assert kept == seen(path, headers)
        # Claims in a URL prove nothing to a server that never redirects.
        proved = any(paying in value or "preview" in value for value in headers.values())
        assert ("Only marble" in str(kept)) == proved, (path, headers)


def test_cached_results_require_permission(site: Site) -> None:
    params = {"name": "read_page", "arguments": {"address": site.url}}
    for _ in range(2):
        assert site.call("tools/call", params).status_code == 200
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert site.call("tools/call", params, origin="http://evil.test").status_code == 403
    plain = site.ask(content=json.dumps(message), headers={"content-type": "text/plain"})
    assert plain.status_code == 403
    site.world.call("admin", "PUT", f"{site.path}/customization", json={"pageActions": {"mcp": False}})
    assert site.call("tools/call", params).status_code == 404
    site.world.call("admin", "PUT", f"{site.path}/customization", json={"pageActions": {"mcp": True}})
    assert site.call("tools/call", params).status_code == 200
    site.change(visibility="share-link")
    assert site.call("tools/call", params).status_code == 404
    link = site.world.post("admin", f"{site.path}/share-links", {"name": "A"})
    key = link["urls"]["published"].removeprefix(site.url).strip("/")
    params = {"name": "read_page", "arguments": {"address": f"{site.url}{key}/"}}
    for _ in range(2):
        answer = site.call("tools/call", params, path=f"{key}/~mcp")
        assert "granite" in answer.text and answer.headers["x-robots-tag"] == "noindex"
    site.world.call("admin", "PATCH", f"{site.path}/share-links/{link['id']}", json={"active": False})
    assert site.call("tools/call", params, path=f"{key}/~mcp").status_code == 404


def test_cached_results_of_a_visitor_end_with_their_token(site: Site, clock: SetClock) -> None:
    site.change(visibility="visitor-auth")
    login = {"backend": "custom", "fallbackURL": "https://login.example.org/"}
    site.world.call("admin", "PATCH", f"{site.path}/publishing/auth", json=login)
    bearer = {"authorization": f"Bearer {site.token()}"}
    params = {"name": "read_page", "arguments": {"address": site.url}}
    for _ in range(2):
        assert "granite" in site.call("tools/call", params, **bearer).text
    clock.advance(700_000)
    assert site.call("tools/call", params, **bearer).status_code == 401


# --- malformed requests ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff", 400, -32700),
        (b"[" * 60_000, 400, -32700),
        (b"[]", 400, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600),
        (b"1", 400, -32600),
        (b'{"id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":[]}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":"nothing/list"}', 200, -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 200, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{}}}', 200, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}', 200, -32602),
    ],
)
def test_invalid_messages_are_refused(site: Site, body: bytes, status: int, code: int) -> None:
    answer = site.ask(content=body, headers={"content-type": JSON})
    assert answer.status_code == status and answer.json()["error"]["code"] == code, answer.text


def test_notifications_return_202_without_body(site: Site) -> None:
    for message in ({"method": "notifications/initialized"}, {"id": 1, "result": {}}, {"id": 1, "error": {}}):
        answer = site.ask(json={"jsonrpc": "2.0", **message})
        assert answer.status_code == 202 and answer.content == b""


def test_protocol_versions_are_negotiated(site: Site) -> None:
    for asked, agreed in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), (7, "2025-11-25")):
        got = site.call("initialize", {"protocolVersion": asked}).json()["result"]
        assert got["protocolVersion"] == agreed and got["serverInfo"]["title"] == "Stones"
    assert site.call("ping", **{"mcp-protocol-version": "2025-06-18"}).status_code == 200
    refused = site.call("ping", **{"mcp-protocol-version": "1"})
    assert refused.status_code == 400 and "2025-11-25" in refused.text


def test_other_origins_and_huge_bodies_are_refused(site: Site) -> None:
    assert site.call("ping", origin="http://evil.test").status_code == 403
    assert site.call("ping", origin="http://sites.test").status_code == 200
    assert site.ask(content=b"{}", headers={"content-type": "text/plain"}).status_code == 403
    huge = b" " * (mcp.MAX_MESSAGE + 1)
    assert site.ask(content=huge, headers={"content-type": JSON}).status_code == 413


def test_requests_of_one_ip_address_are_limited(
    site: Site, monkeypatch: pytest.MonkeyPatch, clock: SetClock
) -> None:
    clock.advance(0)
    few = msgspec.structs.replace(site.world.context.settings, reader_rate_limit=2)
    monkeypatch.setattr(site.world.context, "settings", few)
    site.app = reader_edge(site.world.context)
    assert 429 in [site.call("ping").status_code for _ in range(5)]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "query": st.text() | ANY,
        "address": st.text() | ANY,
        "section": st.text() | ANY,
        "start": st.integers() | ANY,
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tool=st.sampled_from(TOOLS), arguments=ARGUMENTS | ANY)
def test_any_arguments_get_a_response(site: Site, tool: str, arguments: Any) -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    )
    answer = site.ask(content=body, headers={"content-type": JSON})
    assert answer.status_code in (200, 400), answer.text
    assert "result" in answer.json() or answer.json()["error"]["code"] == -32700
