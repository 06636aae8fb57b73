"""Computed pages of a specification, and blocks that show parts of one, as visitors and agents see them."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from light_client import LightClient
from octavo.content.revisions import drawing
from octavo.content.revisions.deriving import check_derived, rebuild_derived
from octavo.content.revisions.states import lock_branch, main_state
from octavo.content.search import computed, store
from octavo.content.search.computed import index_computed_pages
from octavo.core.document.html import render
from octavo.core.document.html_context import BlockLabels, HtmlContext, HtmlTarget
from octavo.core.document.nodes import Document, Inline, walk
from octavo.core.document.reader import read
from octavo.core.document.text import to_text
from octavo.core.document.writing import write
from octavo.core.pages import slugify
from octavo.delivery.reader import mcp
from octavo.delivery.reader.app import reader_edge
from octavo.delivery.reader.locales import read_catalog
from octavo.kit.db.database import Transaction
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.sites.openapi import words
from octavo.sites.openapi.blocks import markdown_of
from octavo.sites.openapi.changelog import Release, draw_changelog
from octavo.sites.openapi.comparing import ApiChange
from octavo.sites.openapi.description import ApiDescription, DescribedOperation
from octavo.sites.openapi.drawing import ApiReferenceRenderer
from octavo.sites.openapi.models import draw_used_by
from octavo.sites.openapi.operation_drawing import _SENTENCE
from octavo.sites.openapi.overview import draw_tags
from octavo.sites.openapi.pages import BLOCKS
from octavo.sites.openapi.trying import make_form
from octavo.sites.openapi.words import ReferenceWords
from octavo.sites.printing.inputs import collect_order
from octavo.sites.printing.order import read_document
from octavo.sites.printing.store import PrintSubject
from octavo.sites.site.store import find_site_of_space
from world import World

from .specs import SMALL, processed

pytestmark = pytest.mark.sqlite_first

COMPUTED = """  * ```yaml
    type: builtin:openapi
    props:
      models: true
      changes: true
      downloadLink: true
      grouping: {grouping}
    dependencies:
      spec:
        ref:
          kind: openapi
          spec: pets
    ```
"""
PAGE = """# Blocks

{% openapi-operation spec="pets" path="/pets" method="post" %}
[pets](https://example.com/old.yaml)
{% endopenapi-operation %}

{% openapi-schemas spec="pets" schemas="Status,Problem" %}
{% endopenapi-schemas %}

{% openapi-webhook spec="pets" name="petSold" method="post" %}
{% endopenapi-webhook %}

{% openapi-operation spec="nothing" path="/gone" method="get" %}
{% endopenapi-operation %}

{% tabs %}
{% tab title="Inside" %}
{% openapi-operation spec="pets" path="/stores" method="get" %}
{% endopenapi-operation %}
{% endtab %}
{% endtabs %}
"""


class Site:
    def __init__(self, world: World, folder: Path, summary: str, pages: dict[str, str]) -> None:
        folder.mkdir()
        (folder / "SUMMARY.md").write_text(summary)
        for name, text in pages.items():
            (folder / name).write_text(text)
        brought = import_space(
            world.context,
            str(folder),
            organization_id=world.home["organizationId"],
            title="Shop",
            publish=True,
        )
        self.base = re.sub(r"^https?://[^/]+", "", brought.site_url)
        self.space = brought.outcome.space
        self._world, self._folder = world, folder
        self._app = reader_edge(world.context)

    def write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)
        import_space(self._world.context, str(self._folder), space_id=self.space)

    def read(self, name: str) -> str:
        return (self._folder / name).read_text()

    def get(self, path: str) -> httpx.Response:
        return LightClient(self._app, "http://sites.test").ask("GET", self.base + path)

    def use(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        """Return the answers of the site's MCP tools to the official client."""
        # Takes a second to import.
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        from mcp_transport import McpTransport

        async def ask() -> list[str]:
            transport = McpTransport(self._app)
            async with httpx2.AsyncClient(transport=transport) as http:
                server = streamable_http_client(f"http://sites.test{self.base}~mcp", http_client=http)
                async with Client(server) as client:
                    answers = [await client.call_tool(tool, arguments) for tool, arguments in calls]
                    return [answer.content[0].text for answer in answers]  # type: ignore[union-attr]

        return asyncio.run(ask())


@pytest.fixture
def site(world: World, tmp_path: Path) -> Any:
    def make(grouping: str = "by-tag", pages: dict[str, str] | None = None) -> Site:
        summary = "* [Home](README.md)\n* [Blocks](blocks.md)\n" + COMPUTED.replace(
            "  * ```", "* ```", 1
        ).replace("\n    ", "\n  ").replace("{grouping}", grouping)
        return Site(
            world, tmp_path / "source", summary, {"README.md": "# Home\n", "blocks.md": PAGE, **(pages or {})}
        )

    return make


def test_each_tag_has_a_page(site) -> None:
    shop = site()
    home = shop.get("").text
    # In the order of the description; internal parts are nowhere.
    assert re.findall(r'href="[^"]*/(pets|shops|models|overview)"', home)
    assert home.index(">Shops<") < home.index(">pets<") < home.index(">Models<")
    assert "Animals, by name." in shop.get("llms.txt").text
    page = shop.get("shops").text
    assert "Shops that sell pets." in page and "List shops" in page
    assert "internal" not in home
    models = shop.get("models").text
    assert 'id="pet"' in models and 'href="#status"' in models


def test_the_overview_links_to_each_tag(world: World, site) -> None:
    shop = site()
    page = shop.get("overview")
    rows = re.findall(
        r'<tr[^>]*><td><a href="(?:[^"]*/)?([^"/]+)">([^<]*)</a></td><td>([^<]*)</td>.*?>(\S+?)</td></tr>',
        page.text,
    )
    assert rows == [
        ("shops", "Shops", "Shops that sell pets.", "1"),
        ("pets", "pets", "Animals, by name.", "3"),
    ]
    assert "/rows.css" in page.text and ">Operations</a>" in page.text
    assert re.search(r"\[Shops\]\(http\S+/shops\) *\| Shops that sell pets", shop.get("overview.md").text)
    # Without a description of the API, the page exists for its tags; a tag with the same name keeps its path.
    answer = {"responses": {"200": {"description": "It"}}}
    paths = {f"/{tag}": {"get": {**answer, "tags": [tag]}} for tag in ("Overview", "Users")}
    whole = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}
    processed(world, "pets", {"text": json.dumps(whole)})
    home = shop.get("").text
    assert re.findall(r'href="[^"]*/(overview(?:-1)?|users)"', home)[:3] == [
        "overview-1",
        "overview",
        "users",
    ]
    assert "Description" not in shop.get("overview-1").text and ">GET /overview<" not in home


def test_navigation_and_api_use_the_same_title_for_the_overview(world: World, site) -> None:
    shop = site()
    pages = world.get("admin", f"/spaces/{shop.space}/content?computed=true")["pages"]
    overview = next(page for page in pages if page.get("path") == "overview")
    shown = shop.get("").text
    assert overview["linkTitle"] == "Overview" and re.search(
        r'href="[^"]*/overview"[^>]*>\s*(<[^>]*>)*Overview', shown
    )
    assert overview["title"] != "Overview"
    assert f"<h1>{overview['title']}" in shop.get("overview").text
    assert all("linkTitle" not in page for page in pages if page["title"] == "Home")


def test_the_overview_of_very_many_tags_stays_short() -> None:
    answer = {"responses": {"200": {"description": "It"}}}
    paths = {f"/{n}": {"get": {**answer, "tags": [f"Tag {n}"]}} for n in range(1_200)}
    tags = [{"name": f"Tag {n}", "description": f"<b>About</b> [{n}](#x). " * 90} for n in range(1_200)]
    description = ApiDescription({"openapi": "3.1.0", "info": {}, "paths": paths, "tags": tags})
    blocks = draw_tags(description, lambda tag: {"kind": "url", "url": "https://example.com"})
    html = render(Document(nodes=blocks)).body
    assert html.count("<tr") == 1_002 and html.count("<tr", 0, html.index("<details")) == 81
    assert "1120 more" in html and "200 more" in html and html.count(">About 7.<") == 1


def test_tags_are_listed_under_their_groups(world: World, site) -> None:
    shop = site()
    answer = {"responses": {"200": {"description": "It"}}}
    paths = {f"/{tag}": {"get": {**answer, "tags": [tag]}} for tag in ("users", "carts", "health", "orders")}
    groups = [
        {"name": "Selling", "tags": ["orders", "carts", 1]},
        {"name": " ", "tags": ["users"]},
        {},
        2,
        {"name": "People", "tags": ["carts", "users", "nobody"]},
    ]
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": paths,
        "x-tagGroups": groups,
    }
    processed(world, "pets", {"text": json.dumps(whole)})
    for page in (shop.get(""), shop.get("orders")):
        tree = page.text[page.text.index('class="tree"') :]
        listed = re.findall(r"<p>([^<]+)</p>|<span>(orders|carts|users|health|Overview)</span>", tree)
        assert ["".join(each) for each in listed][:8] == [
            "Overview",
            "Selling",
            "orders",
            "carts",
            "People",
            "users",
            "Other",
            "health",
        ]
    assert re.findall(r'<h3 id="([^"]+)"', shop.get("overview").text) == ["selling", "people", "other"]


def test_a_group_of_a_missing_specification_has_no_heading(world: World, tmp_path: Path) -> None:
    group = (
        "## {}\n\n* ```yaml\n  type: builtin:openapi\n  props: {{}}\n"
        "  dependencies: {{spec: {{ref: {{kind: openapi, spec: {}}}}}}}\n  ```\n"
    )
    summary = (
        f"* [Home](README.md)\n\n{group.format('Reference', 'pets')}\n{group.format('Nowhere', 'nothing')}"
    )
    home = Site(world, tmp_path / "source", summary, {"README.md": "# Home\n"}).get("").text
    assert "Reference" in home and ">Shops<" in home and "Nowhere" not in home


def test_a_tag_with_many_operations_is_split_into_pages(world: World, site) -> None:
    shop = site()
    answer = {"responses": {"200": {"description": "It"}}, "tags": ["all"]}
    for count, apart in ((50, False), (51, True)):
        paths = {f"/things/{n}": {"get": answer} for n in range(count)}
        whole = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths}
        processed(world, "pets", {"text": json.dumps(whole)})
        assert (shop.get("all/get-things-7").status_code == 200) is apart
        assert ("<h2" in shop.get("all").text) is not apart
        assert ">/things/50</a>" in shop.get("all").text or not apart
        listed = re.findall(r"^\* \[GET /things/\d+\]\(https?://", shop.get("all.md").text, re.MULTILINE)
        assert len(listed) == (51 if apart else 0)


def test_webhooks_have_a_page(world: World, site) -> None:
    shop = site()
    page = shop.get("webhooks")
    assert "A pet was sold" in page.text or "petSold" in page.text
    assert "petSold" in shop.get("webhooks.md").text
    assert "/webhooks" in shop.get("sitemap.xml").text and "webhooks" in shop.get("llms.txt").text
    hook = {"post": {"summary": "It happened", "responses": {"200": {"description": "Seen"}}}}
    text = yaml.safe_dump(
        {
            "openapi": "3.1.0",
            "info": {"title": "Hooks", "version": "1"},
            "webhooks": {f"event{number}": hook for number in range(51)},
        }
    )
    processed(world, "pets", {"text": text})
    listed = shop.get("webhooks").text
    addresses = re.findall(r'href="[^"]*(webhooks/[^"#]+)"', listed)
    assert len(set(addresses)) == 51
    assert "It happened" in shop.get(addresses[0]).text


def test_operations_without_a_summary_are_titled_by_their_first_sentence(world: World, site) -> None:
    answers = {"responses": {"200": {"description": "It"}}}
    about = {
        "get": "<p>Lists the things. All.</p>",
        "put": "See [this](https://example.com)",
        "post": "long " * 50,
    }
    item = {
        method: {"description": text, "security": [{"key": []}], **answers} for method, text in about.items()
    }
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key", "description": "Ask us for one."}
    text = yaml.safe_dump(
        {
            "openapi": "3.0.3",
            "paths": {"/things": item},
            "components": {"securitySchemes": {"key": scheme}},
            "info": {
                "title": "T",
                "version": "1",
                "description": "# Errors\n\nSee [there](#operation/x) or [them](#api-group-Users) or [here](#errors).",
            },
        }
    )
    processed(world, "pets", {"text": text})
    shop = site("by-operation")
    listed = shop.get("other.md").text
    assert "[Lists the things](" in listed and listed.count("[PUT /things](") == 1
    assert "/other/get-things" in shop.get("sitemap.xml").text
    # Headings keep their anchors; anchors generated by other tools aren't links.
    overview = shop.get("overview").text
    assert 'id="errors"' in overview and 'href="#errors"' in overview
    assert "See there or them or" in re.sub(r"<[^>]*>", "", overview)
    assert "#operation/" not in overview and "#api-group" not in overview


def test_built_in_labels_are_in_the_language_of_the_site() -> None:
    schema = {
        "type": "string",
        "enum": ["a"],
        "default": "a",
        "minLength": 1,
        "readOnly": True,
        "deprecated": True,
    }
    operation = {
        "deprecated": True,
        "x-deprecated-sunset": "2027-01-31",
        "x-stability": "beta",
        "security": [{}, {"key": []}],
        "parameters": [
            {
                "in": place,
                "name": place,
                "required": True,
                "schema": {"type": "object", "properties": {"inner": schema}},
            }
            for place in ("path", "query", "header", "cookie")
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {
                        "oneOf": [
                            {"type": "object", "properties": {"one": schema}},
                            {"type": "object", "properties": {"two": schema}},
                        ],
                        "discriminator": {"propertyName": "kind"},
                        "additionalProperties": {"type": "string"},
                    }
                }
            }
        },
        "responses": {"200": {"description": "It"}},
    }
    description = ApiDescription({"paths": {"/a": {"get": operation}}})
    blocks = ApiReferenceRenderer(description, folded=True).operation(description.operations["get /a"])
    used = {node.data["word"] for block in blocks for node in walk(block) if is_word(node)}
    words = {name.removeprefix("api_") for name in BlockLabels.__struct_fields__ if name.startswith("api_")}
    assert used <= words and len(used) >= 16
    for language, labels in read_catalog().items():
        shown = render(Document(nodes=blocks), HtmlContext(labels=labels)).body
        for word in used:
            said = getattr(labels, f"api_{word}")
            assert language == "en" or word == "cookie" or said != getattr(BlockLabels(), f"api_{word}"), (
                language,
                said,
            )
            assert said.partition("{name}")[0] in unescape(shown), (language, word)
    assert "{name}" not in shown


def test_omitted_schema_parts_are_mentioned() -> None:
    def deep(levels: int) -> dict[str, Any]:
        inside = {"type": "string"} if levels == 0 else deep(levels - 1)
        return {"type": "object", "properties": {f"level{levels}": inside}}

    def text(schema: Any, *, folded: bool = True, many: bool = True, language: str = "en") -> str:
        description = ApiDescription({"components": {"schemas": {"It": schema}}})
        blocks = ApiReferenceRenderer(description, folded=folded, many=many).schemas(["It"])
        drawn = render(Document(nodes=blocks), HtmlContext(labels=read_catalog()[language])).body
        return re.sub(r"<[^>]*>", "", unescape(drawn))

    line = BlockLabels().api_left_out
    assert line in text(deep(8)) and line in text(deep(8), folded=False)
    assert line not in text(deep(2)) and line not in text(deep(8), many=False)
    names = [f"p{n}" for n in range(59)]
    wide = {name: {"type": "string"} for name in names}
    inner = {"type": "object", "properties": {"more": {"type": "string"}}}
    for last in ({"type": "array", "items": inner}, {"type": "object", "additionalProperties": inner}):
        said = text({"type": "object", "properties": {**wide, "last": last}})
        assert line in said and "more" not in said.replace(line, "")
    assert line not in text({"properties": {**wide, "last": {"type": "array", "items": {"type": "string"}}}})
    variants = {"oneOf": [{"title": "None"}, {"title": "One", "properties": {"one": {"type": "string"}}}]}
    for language in ("en", "de"):
        assert read_catalog()[language].api_nothing_more in text(variants, language=language)
    four = {"properties": dict.fromkeys("abcd", {"type": "string"})}
    assert "3 more in the specification." in text({"properties": {**wide, **four["properties"]}})
    assert "See the specification for its 4 fields." in text(
        {"properties": {**wide, "last": {"type": "array", "items": four}}}
    )


def test_omitted_parts_are_counted() -> None:
    many = {f"model{n}": {"properties": {"used": {"$ref": "#/components/schemas/Used"}}} for n in range(203)}
    named = {f"example {n}": {"value": "x" * 15_000} for n in range(5)}
    long = {"type": "string", "enum": [f"value {n}" for n in range(3000)], "example": "x" * 30_000}
    ways = [{f"way{n}": []} for n in range(7)]
    description = ApiDescription(
        {
            "info": {"title": "Shop"},
            "paths": {
                "/a": {
                    "post": {
                        "security": ways,
                        "requestBody": {"content": {"text/plain": {"schema": long}}},
                        "responses": {
                            "200": {"content": {"application/json": {"schema": long}}},
                            "400": {"content": {"text/plain": {"examples": named}}},
                        },
                    }
                }
            },
            "components": {"schemas": {"Used": {"type": "string", "example": "x" * 30_000}, **many}},
        }
    )
    (operation,) = description.operations.values()
    values = [("2800", ""), ("2800", ""), ("10000", "characters "), ("10000", "characters ")]
    for folded, expected in ((True, [("3", ""), *values, ("2", "")]), (False, values)):
        drawn = Document(nodes=ApiReferenceRenderer(description, folded=folded).operation(operation))
        assert re.findall(r"(\d+) more ([a-z ]*)in the spec", to_text(drawn)) == expected
    used = draw_used_by(description, "Used", lambda each: {}, lambda name: {})
    assert "3 more in the specification." in to_text(Document(nodes=used))


def test_repeated_schemas_link_to_their_first_occurrence() -> None:
    """Except if it has less content, as in requests or when cut short."""
    node = {"type": "object", "properties": {name: {"type": "string"} for name in ("one", "two", "three")}}
    node["properties"]["two"]["readOnly"] = True
    whole = {"type": "object", "properties": {"node": {"$ref": "#/components/schemas/Node"}}}
    # Same name, but another schema.
    other = {"type": "object", "properties": {"node": {"$ref": "#/components/parameters/Node"}}}
    schemas = {"Node": node, "Whole": whole}

    def operation(schema: Any) -> dict[str, Any]:
        content = {"application/json": {"schema": schema}}
        return {
            "requestBody": {"content": content},
            "responses": {"200": {"description": "Good", "content": content}},
        }

    paths = {
        "/a": {"post": operation({"$ref": "#/components/schemas/Whole"})},
        "/b": {"post": operation({"type": "array", "items": whole})},
        "/c": {"post": operation(other)},
    }
    components = {
        "schemas": schemas,
        "parameters": {"Node": {"type": "object", "properties": {"x": {}, "y": {}}}},
    }
    description = ApiDescription({"openapi": "3.1.0", "info": {}, "paths": paths, "components": components})
    drawer = ApiReferenceRenderer(description, folded=True, spec="pets")

    def shown(key: str) -> str:
        context = HtmlContext(link=lambda ref: HtmlTarget(href=f"#{ref['anchor']}"))
        return str(render(Document(nodes=drawer.operation(description.operations[key])), context).body)

    first, second, third = shown("post /a"), shown("post /b"), shown("post /c")
    ids = re.findall('<details class="openapi-fold" id="(in-[^"]*)"', first)
    assert ids == ["in-pets-node", "in-pets-node-1"] and "two" not in first.split("Responses")[0]
    assert "openapi-fold" not in second
    assert re.findall('href="#(in-[^"]*)"', second) == ids
    assert third.count("2 fields") == 2 and "#in-" not in third
    # Nothing links to a schema that is cut short.
    node["properties"] |= {f"p{number}": {"type": "string"} for number in range(600)}
    drawer = ApiReferenceRenderer(description, folded=True, spec="pets")
    assert "600 more" not in shown("post /a") and "more" in shown("post /a")
    assert "Details of node" in shown("post /b")


def test_links_to_collapsed_content_work(world: World, site) -> None:
    node = {"type": "object", "properties": {"one": {"type": "string"}, "two": {"type": "string"}}}
    whole = {"type": "object", "properties": {"node": {"$ref": "#/components/schemas/Node"}}}
    good = {"description": "Good", "content": {"application/json": {"schema": whole}}}
    each = {"get": {"tags": ["nodes"], "responses": {"200": good}}}
    description = {
        "openapi": "3.1.0",
        "info": {"title": "Nodes", "version": "1"},
        "paths": {"/a": each, "/b": each},
        "components": {"schemas": {"Node": node}},
    }
    processed(world, "pets", {"text": json.dumps(description)})
    page = site().get("nodes").text
    (anchor,) = re.findall('href="#(in-[^"]*)"', page)
    assert page.count("2 fields") == page.count(f'<details class="openapi-fold" id="{anchor}"') == 1


def deep(levels: int, width: int) -> dict[str, Any]:
    inside = deep(levels - 1, width) if levels else {"type": "string"}
    return {"type": "object", "properties": {f"level{levels}of{n}": inside for n in range(width)}}


def test_nested_fields_are_shown_on_request(world: World, site, tmp_path: Path) -> None:
    """A page has the outer fields, and links to the page with all of them."""
    shop = site(grouping="by-operation")
    answers = {
        "200": {"description": "Good", "content": {"application/json": {"schema": deep(2, 6)}}},
        "400": {"description": "Bad", "content": {"application/json": {"schema": deep(1, 6)}}},
    }
    description = {
        "openapi": "3.1.0",
        "info": {"title": "Deep", "version": "1"},
        "paths": {"/a": {"get": {"tags": ["all"], "summary": "Dig", "responses": answers}}},
    }
    processed(world, "pets", {"text": json.dumps(description)})

    def fields(html: str) -> list[str]:
        return re.findall('<li id="response[^"]*level(\\d)of', html)

    at, seen = "all/dig", []
    for address in (at, f"{at}?fields=all", at):
        page = shop.get(address).text
        links = re.findall('<a class="openapi-later" id="([^"]*)" href="([^"]*)"', page)
        seen.append((page, links))
    # Caches of the two forms are separate.
    (first, links), (whole, none), again = seen
    assert again == (first, links) and not none
    assert [fields(first).count(level) for level in "210"] == [6, 36, 0]
    assert len(fields(whole)) == 6 + 36 + 216 + 6 + 36
    assert links and all(href == f"?fields=all#{id}" for id, href in links)
    assert all(f'<details class="openapi-fold" id="{id}"' in whole for id, _ in links)
    assert "level0of5" in shop.get(f"{at}.md").text
    # Files can't load more.
    with world.context.db.read() as tx:
        found = find_site_of_space(tx, shop.space)
    export_site(world.context, found, tmp_path / "export")
    written = (tmp_path / "export" / at / "index.html").read_text()
    assert len(fields(written)) == len(fields(whole)) and "openapi-later" not in written


def test_an_empty_schema_allows_any_value() -> None:
    drawer = ApiReferenceRenderer(ApiDescription({"components": {"schemas": {"It": {}}}}), folded=True)
    assert render(Document(nodes=drawer.schemas(["It"], "It"))).body == "<p>any</p>"


def test_a_single_line_is_not_collapsed() -> None:
    again = {"$ref": "#/components/schemas/It"}
    schema = {"type": "object", "properties": {"parent": again, "all": {"type": "array", "items": again}}}
    drawer = ApiReferenceRenderer(ApiDescription({"components": {"schemas": {"It": schema}}}), folded=True)
    body = render(Document(nodes=drawer.schema(again))).body
    assert body.count("The same as It above.") == 2 and "<details" not in body


def test_first_lines_of_responses_and_bodies_are_shown() -> None:
    operation = {
        "requestBody": {
            "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {}}}}
        },
        "responses": {
            "200": {
                "description": "What it is,\non two lines.",
                "content": {"application/json": {"example": '{"a":[1,2],"b":"\u00e9"}'}},
            },
            "404": {"description": "# Not there\n\nAt all."},
        },
    }
    description = ApiDescription(
        {"servers": [{"url": "https://a.test"}], "paths": {"/a": {"get": operation}}}
    )
    body = unescape(
        render(
            Document(
                nodes=ApiReferenceRenderer(description, folded=True).operation(
                    description.operations["get /a"]
                )
            )
        ).body
    )
    text = re.sub(r"<[^>]*>", "", body)
    assert text.count("What it is, on two lines") == 1
    # Text longer than a sentence is below the name of the status.
    assert text.index("404") < text.index("Not Found") < text.index("Not there") < text.index("At all.")
    assert '"a": [\n    1,\n    2\n  ],\n  "b": "\u00e9"' in text
    assert "-d" not in text and "Content-Type" not in text


def test_all_operations_of_a_page_but_the_first_are_collapsed(site) -> None:
    block = '{% openapi-operation spec="pets" path="/pets" method="post" %}\n{% endopenapi-operation %}\n'
    shop = site(pages={"two.md": f"# Two\n\n{block}\nThen.\n\n{block}"})
    shop.write("SUMMARY.md", "* [Home](README.md)\n* [Two](two.md)\n")
    page = shop.get("two").text
    first, _, second = page[page.index('class="prose"') :].partition('<details class="openapi-block"')
    assert 'class="openapi-head"' in first and 'class="openapi-head"' in second
    line = second.partition("</summary>")[0]
    assert 'class="method post">POST</b>' in line and "Add a pet" in line and "/pets" in line
    # Only required parts of a request are unfolded, and no response is.
    assert "optional fields" in first and not re.search(r'class="openapi-answer" open', page)
    assert re.search(r'<li[^>]*><a href="#[^"]*">Add a pet</a>', page)
    assert "optional fields" not in shop.get("two.md").text


_LONG = "And so on. " * 20
TITLES = [
    # Summary, id, and description; then the title.
    ("Make a `pet`", "createPet", "More.", "Make a pet"),
    ("Make **a** [pet](https://example.com/pets)", "", "More.", "Make a pet"),
    ("<p>Make a pet</p>", "", "More.", "Make a pet"),
    (f"Make a pet. {_LONG}", "postPets", "More.", "Make a pet"),
    (f"{'Word ' * 30}", "createPet", "More.", "Create pet"),
    (f"{'Word ' * 30}", "", "More.", f"{'Word ' * 15}Word …"),
    ("", "createPet", "<p>Makes a pet.</p>", "Create pet"),
    ("", "pets/create", "Makes a pet.", "Pets create"),
    # An id that only repeats method and path says less than a short sentence, but more than nothing.
    ("", "PostPets", "<p>Makes a pet. At once.</p>", "Makes a pet"),
    ("", "", "<p>Makes a pet</p>\n<p>At once.</p>", "Makes a pet"),
    ("", "", "Makes a pet\nat once.", "Makes a pet at once"),
    ("", "", f"Makes a pet\n{'of all others ' * 6}.", "POST /pets/{pet}"),
    ("", "PostPetsPet", "<p>See <a>this</a></p>", "Post pets pet"),
    ("", "post", "More.", "More"),
    ("", "post", "see this", "POST /pets/{pet}"),
    ("", "", "Makes a pet.", "Makes a pet"),
    ("", "-", _LONG, "And so on"),
    ("", "", "", "POST /pets/{pet}"),
    ("", f"make{'Word' * 50}", "", f"Make{' word' * 15} …"),
]


@pytest.mark.parametrize(("summary", "id", "about", "title"), TITLES)
def test_operations_have_titles(summary: str, id: str, about: str, title: str) -> None:
    data = {"summary": summary, "operationId": id, "description": about}
    operation = DescribedOperation("/pets/{pet}", "post", {}, data)
    assert operation.title == title and len(title) <= 82
    assert operation.about == about if len(summary) < 80 else operation.about.startswith(operation.summary)


@pytest.mark.parametrize(
    ("summary", "title"),
    [("Sold", "Sold"), ("", "More"), (f"Sent when. {_LONG}", "petSold"), ("`" * 5000, "petSold")],
)
def test_webhooks_have_titles(summary: str, title: str) -> None:
    data = {"summary": summary, "operationId": "onPetSold", "description": "More."}
    assert DescribedOperation("petSold", "post", {}, data, webhook=True).title == title


def test_named_examples_can_be_selected() -> None:
    named = {
        "one": {"summary": "Found a bug", "value": {"title": "a"}},
        "two": {"value": {"title": "b"}},
        "elsewhere": {"externalValue": "https://example.com"},
    }
    media = {"content": {"application/json": {"examples": named}}}
    data = {"requestBody": media, "responses": {"200": {"description": "It", **media}}}
    description = ApiDescription({"paths": {"/a": {"post": data}}})
    operation = description.operations["post /a"]
    page = render(Document(nodes=ApiReferenceRenderer(description, folded=True).operation(operation))).body
    bodies = json.loads(unescape(re.findall(r'data-examples="([^"]*)"', page)[0]))
    assert [(name, json.loads(text)) for name, text in bodies] == [
        ("Found a bug", {"title": "a"}),
        ("two", {"title": "b"}),
    ]
    assert json.loads(unescape(re.findall(r'data-names="([^"]*)"', page)[0])) == ["Found a bug", "two"]
    assert page.partition('class="openapi-examples"')[2].count("<figure") == 2
    assert make_form(description, operation).bodies[0].examples == [(name, text) for name, text in bodies]
    # Without folding, or without a choice, there is one.
    assert (
        "openapi-examples"
        not in render(
            Document(nodes=ApiReferenceRenderer(description, folded=False).operation(operation))
        ).body
    )
    del named["two"]
    alone = render(Document(nodes=ApiReferenceRenderer(description, folded=True).operation(operation))).body
    assert "data-examples" not in alone and "openapi-examples" not in alone


def test_the_parts_of_an_operation_are_in_the_outline() -> None:
    body = {"content": {"application/json": {"schema": {"type": "string"}}}}
    parameters = [{"name": "id", "in": "path", "schema": {"type": "string"}}]
    answers = {"201": {"description": "Made"}, "default": {"description": "# Not made\n\nAt all."}}
    said = {
        "description": "# Body\n\nWhat is sent.",
        "parameters": parameters,
        "requestBody": body,
        "responses": answers,
    }
    paths = {"/a/{id}": {"post": {"summary": "Make a", **said}, "put": {"summary": "Put a", **said}}}
    description = ApiDescription({"paths": paths})
    operation = description.operations["post /a/{id}"]

    def outline(title: str) -> list[tuple[str, str, int]]:
        drawn = render(
            Document(nodes=ApiReferenceRenderer(description, folded=True).operation(operation, title))
        )
        assert drawn.heads and all(f'id="{line.id}"' in drawn.body for line in drawn.outline)
        return [(line.id, line.title, line.level) for line in drawn.outline]

    assert outline("Make a") == [
        ("path", "Path", 2),
        ("body", "Body", 2),
        ("responses", "Responses", 2),
        ("response.201", "201 Made", 3),
        ("response.default", "default", 3),
    ]
    # On a page with others they are under the operation; folded ones have only the operation.
    assert outline("As")[0][1:] == ("Make a", 2) and {level for _, _, level in outline("As")[2:]} == {3, 4}
    drawer = ApiReferenceRenderer(description, folded=True)
    folded = drawer.operation(operation, "As", further=True)
    assert [line.title for line in render(Document(nodes=folded)).outline] == ["Make a"]


def test_each_field_has_a_url() -> None:
    """Derived from its location, unique on a page: repeated names (a body of two types) link to the first."""
    kind = {"type": "object", "properties": {"name": {"type": "string"}, "a b<": {"type": "integer"}}}
    body = {"type": "object", "properties": {"pet": kind, "tags": {"type": "array", "items": kind}}}
    other = {"type": "object", "properties": {"pet": {"type": "string"}}}
    operation = {
        "summary": "Add",
        "parameters": [{"name": "state", "in": "query", "schema": {"type": "string"}}],
        "requestBody": {
            "content": {"application/json": {"schema": body}, "application/x-pet": {"schema": other}}
        },
        "responses": {"200": {"description": "Good", "content": {"application/json": {"schema": kind}}}},
    }
    description = ApiDescription({"paths": {"/a": {"post": operation}}})

    def ids(title: str, *, many: bool = False) -> list[str]:
        drawer = ApiReferenceRenderer(description, folded=True, many=many)
        blocks = drawer.operation(description.operations["post /a"], title)
        html = unescape(str(render(Document(nodes=blocks)).body))
        found = re.findall('<li id="([^"]*)">', html)
        assert all(f'href="#{quote(id)}"' in html for id in found)
        return found

    alone = ids("Add")
    assert alone == [
        "query.state",
        "body.pet",
        "body.pet.name",
        "body.pet.a b<",
        "body.tags",
        "body.tags.name",
        "body.tags.a b<",
        "response.200.name",
        "response.200.a b<",
    ]
    assert ids("Another page") == [f"post-a.{id}" for id in alone]
    assert ids("Add", many=True) == []


def is_word(node: Any) -> bool:
    return isinstance(node, Inline) and node.type == "openapi-word"


def test_a_page_describes_each_way_to_authenticate_once() -> None:
    operation = {"security": [{"key": []}], "responses": {"200": {"description": "It"}}}
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key", "description": "Ask us for one."}
    description = ApiDescription(
        {
            "paths": {f"/{n}": {"get": operation} for n in range(3)},
            "components": {"securitySchemes": {"key": scheme}},
        }
    )
    drawer = ApiReferenceRenderer(description, folded=False)
    blocks = [block for each in description.operations.values() for block in drawer.operation(each)]
    text = write(Document(nodes=blocks))
    assert text.count("X-Key") >= 3 and text.count("Ask us for one.") == 1


def test_many_schemas_get_their_own_pages(world: World, site) -> None:
    shop = site()
    for count in (12, 13):
        schemas = {f"Thing{n}": {"type": "string", "description": f"Number {n}."} for n in range(count - 1)}
        schemas["Node"] = {"properties": {"next": {"$ref": "#/components/schemas/Node"}}}
        whole = {
            "openapi": "3.1.0",
            "info": {"title": "T", "version": "1"},
            "paths": {},
            "components": {"schemas": schemas},
        }
        processed(world, "pets", {"text": json.dumps(whole)})
        apart, page = count > 12, shop.get("models").text
        assert ("openapi-models" in page) is apart and "Number 7." in page
        links = re.findall(r"^\| \[\w+\]\(https?://[^/]+(/[^)]+)\)", shop.get("models.md").text, re.MULTILINE)
        assert len(links) == (13 if apart else 0)
        for link in (each for each in links if each.endswith("thing7")):
            own = shop.get(link.removeprefix(shop.base)).text
            assert "Number 7." in own and own.count(">Thing7</h") == 1
    # On its own page it has no heading to link to.
    assert "The same as Node above." in shop.get("models/node").text
    assert 'href="#node"' not in shop.get("models/node").text


def test_models_are_listed_by_letter(world: World, site) -> None:
    """However many there are, pages have a limited number of rows, and all can be found from each."""
    shop = site()
    names = [f"{letter}thing{n:03}" for letter in "CAB" for n in range(90)] + [
        f"v1.Z{n:03}" for n in range(151)
    ]
    schemas: dict[str, Any] = {name: {"type": "object", "properties": {"secret": {}}} for name in names}
    schemas["Athing001"] |= {"description": "First [of](https://example.com) `all`. Second."}
    schemas["Athing002"] = {"type": "string", "enum": ["a"], "description": "Which."}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Athing001"}}}}
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {"/a": {"post": {"requestBody": body, "responses": {"200": {"description": "It"}}}}},
        "components": {"schemas": schemas},
    }
    processed(world, "pets", {"text": json.dumps(whole)})
    first = shop.get("models").text
    addresses = dict.fromkeys(re.findall(r'href="([^"#]*/models/from-[^"#]+)#letter-\w+"', first))
    pages = [first, *(shop.get(address.removeprefix(shop.base)).text for address in addresses)]
    rows = [re.findall(r'<tr id="([^"]+)"', page) for page in pages]
    assert rows[0][:2] == ["athing000", "athing001"] and max(map(len, rows)) <= 150
    assert "First of all." in first and "Second" not in first and "<code>enum</code> Which." in first
    assert len({*sum(rows, [])}) == len(names)
    assert len(addresses) == 4 and all('href="#letter-' in page and "#letter-z2" in page for page in pages)
    listed = shop.get(re.search(r'data-models="([^"]+)"', first)[1].removeprefix(shop.base)).json()
    assert {row[0] for row in listed} == {*names}
    assert [listed[1][2] or "object", "sent" if listed[1][5] == "s" else ""] == ["object", "sent"]
    assert listed[0][6] == ["secret"] and listed[0][1].endswith("/models/athing000")
    for page in ("nothing", ""):
        assert shop.get(f"~models.json?page={page}").status_code == 404


def test_a_changelog_page_lists_changes(world: World, site) -> None:
    shop = site()
    assert "No changes yet." in shop.get("changes").text
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    gone = text.replace("version: 1.2.0", "version: 2.0.0").replace("  /stores:", "  /shops:")
    processed(world, "pets", {"text": gone})
    processed(world, "pets", {"text": gone.replace("description: Production", "description: In use")})
    page = shop.get("changes").text
    # Changes that don't affect callers are left out.
    assert len(re.findall(r"<h2[^>]*>2.0.0, ", page)) == 1
    assert "Breaking changes: 1" in page
    gone, new = (page.index(part) for part in re.findall(r"<h3[^>]*>(?:Breaking|New)\b", page))
    assert gone < page.index("The operation was removed.") < new
    # New operations link to their page; removed ones don't.
    assert re.search(
        r'<a href="[^"]*/shops#[^"]*">List shops</a>|<a href="[^"]*/shops">List shops</a>', page[new:]
    )
    plain = shop.get("changes.md").text
    assert plain.index("## Breaking") < plain.index("`GET /stores`") < plain.index("## New")


def test_a_changelog_page_compares_operations(world: World, site) -> None:
    shop = site("by-operation")
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    changed = text.replace("version: 1.2.0", "version: 2.0.0").replace("maximum: 100", "maximum: 50")
    assert changed.count("maximum: 50") == 1
    processed(world, "pets", {"text": changed})
    page = shop.get("changes").text
    row = page[page.index('class="expandable openapi-change"') :]
    row = row[: row.index("</details>")]
    assert 'class="method get"' in row and "<summary" in row and "<code>/" in row
    heads = re.findall(r"<th[^>]*>(.*?)</th>", row, re.DOTALL)
    assert [re.sub("<[^>]*>", "", head).strip() for head in heads] == ["1.2.0", "2.0.0"]
    assert "maximum 100" in row and "maximum 50" in row
    assert re.search(r'<a href="/[^"]*">', row)
    plain = shop.get("changes.md").text
    assert "~~maximum 100~~" in plain and "**maximum 50**" in plain


def test_pages_are_titled_in_the_language_of_their_space(world: World, site) -> None:
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    processed(world, "pets", {"text": text.replace("tags: [Shops]", "")})
    shop = site()
    _index(world, shop.space)
    processed(
        world, "pets", {"text": text.replace("version: 1.2.0", "version: 2.0.0").replace("/stores", "/shops")}
    )

    def found(query: str) -> list[str]:
        return [hit["title"] for hit in shop.get(f"~search.json?q={query}").json()["hits"]]

    addresses = shop.get("sitemap.xml").text
    assert ">Models<" in shop.get("").text and "Modelle" not in shop.get("llms.txt").text
    world.call("admin", "PATCH", f"/spaces/{shop.space}", json={"language": "de"})
    home = shop.get("").text
    assert all(f">{title}<" in home for title in ("Modelle", "Webhooks", "Änderungen"))
    assert "Spezifikation herunterladen" in home and ">Models<" not in home
    assert re.sub("<lastmod>.*?</lastmod>", "", shop.get("sitemap.xml").text) == re.sub(
        "<lastmod>.*?</lastmod>", "", addresses
    )
    assert "[Modelle]" in shop.get("llms.txt").text and "# Modelle" in shop.get("models.md").text
    models = shop.get("models").text
    assert re.search("<title>Modelle", models) and re.search("<h1[^>]*>Modelle", models)
    changes = shop.get("changes").text
    assert "Inkompatible Änderungen: 1" in changes and re.search("<h3[^>]*>Inkompatibel", changes)
    assert ">Anmeldung" in shop.get("overview").text and ">Authentication" not in shop.get("overview").text
    _index(world, shop.space)
    assert "Modelle" in found("modelle")
    # Without labels in a language, English ones are used; setting the same language again changes nothing.
    world.call("admin", "PATCH", f"/spaces/{shop.space}", json={"language": "sv"})
    assert ">Models<" in shop.get("").text
    _index(world, shop.space)
    world.call("admin", "PATCH", f"/spaces/{shop.space}", json={"language": "sv"})
    with world.context.db.read() as tx:
        assert tx.all("SELECT 1 FROM jobs WHERE kind = 'indexComputedPages'") == []


def test_every_language_has_all_labels_of_computed_pages() -> None:
    english = msgspec.to_builtins(ReferenceWords())
    assert words.catalogue().keys() == read_catalog().keys()
    for language, found in words.catalogue().items():
        for name, text in msgspec.to_builtins(found).items():
            assert text.strip() and text.count("{name}") == english[name].count("{name}"), (language, name)


def test_a_changelog_is_in_the_language_of_the_space() -> None:
    changes = [ApiChange("changed", False, "", "", f"Number {number}.") for number in range(302)]
    release = Release("2.0", 1795305600000, changes)
    shown = to_text(Document(nodes=draw_changelog([release], "fr")))
    assert "2.0, 22 novembre 2026" in shown and "L’API" in shown and "2 de plus" in shown
    assert to_text(Document(nodes=draw_changelog([], "he"))).strip() == "עדיין לא השתנה דבר."


def test_each_operation_can_have_a_page(site) -> None:
    shop = site("by-operation")
    assert shop.get("shops/list-shops").status_code == 200
    # A page above others without its own operations shows what is under it.
    assert "list-shops" in shop.get("shops").text
    page = shop.get("shops/list-shops").text
    assert page.count("<h1") == 1 and not re.search(r"<h2[^>]*>List shops", page)
    # There is no room for an outline next to samples, so it is a menu.
    assert "picker end on-page" in page and 'href="#response.200"' in page and 'class="outline' not in page
    sitemap = shop.get("sitemap.xml").text
    assert "shops/list-shops</loc>" in sitemap


def test_operation_pages_contain_the_operation(site) -> None:
    page = site().get("blocks").text
    for said in (
        "Add a pet",
        "Stability: beta",
        "https://eu.pets.example/v1/pets",
        "What it is called",
        "Waiting for you",
        "At home",
        "A pet was sold",
        "No such pet",
        "application/json",
        "Authorization: Bearer",
    ):
        assert said in page, said
    for language in ("cURL", "JavaScript", "Python", "Go", "Ruby", "PHP", "Java", "C#", "Rust", "Swift"):
        assert f'data-language="{language}"' in page, language
    assert "The same as Pet above" in page
    # Missing ones show their name, as before; nested blocks are drawn, too.
    assert "/gone" in page and "List shops" in page
    assert 'href="#createpet"' in page
    assert "<script>" not in re.sub(r"<script>try\{.*?</script>", "", page)


def _index(world: World, space: str) -> None:
    with world.context.db.read() as tx:
        waiting = tx.all("SELECT payload FROM jobs WHERE kind = 'indexComputedPages'")
    assert any(space in payload for (payload,) in waiting)
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs WHERE kind = 'indexComputedPages'")
    index_computed_pages(world.context, space)
    with world.context.db.read() as tx:
        assert check_derived(tx, space, ()) == []


def test_only_spaces_that_use_a_specification_are_indexed_for_it(world: World, tmp_path: Path) -> None:
    processed(world, "small", {"text": SMALL})

    def made(name: str, summary: str, page: str = "# Home\n") -> str:
        return Site(world, tmp_path / name, f"* [Home](README.md)\n{summary}", {"README.md": page}).space

    computed_of = (
        "* ```yaml\n  type: builtin:openapi\n  props: {{}}\n"
        "  dependencies: {{spec: {{ref: {{kind: openapi, spec: {}}}}}}}\n  ```\n"
    )
    block = '# Home\n\n{{% openapi-schemas spec="{}" schemas="Status" %}}\n{{% endopenapi-schemas %}}\n'
    pages_of_pets = made("pages", computed_of.format("pets"))
    block_of_pets = made("block", "", block.format("pets"))
    others = [
        made("other", computed_of.format("small")),
        made("others", "", block.format("small")),
        made("none", ""),
    ]

    def ordered() -> set[str]:
        with world.context.db.write() as tx:
            rows = tx.all("SELECT payload FROM jobs WHERE kind = 'indexComputedPages'")
            tx.run("DELETE FROM jobs WHERE kind = 'indexComputedPages'")
        assert len(rows) == len({payload for (payload,) in rows})
        return {json.loads(payload)["space_id"] for (payload,) in rows}

    ordered()
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    processed(world, "pets", {"text": text.replace("Animals, by", "Quadrupeds, by")})
    assert ordered() == {pages_of_pets, block_of_pets}
    processed(world, "small", {"text": SMALL.replace("Small", "Smaller")})
    assert ordered() == set(others[:2])
    path = world.home.path("/orgs/{organizationId}/openapi/{specSlug}", specSlug="pets")
    assert world.call("creator", "DELETE", path).is_success
    assert ordered() == {pages_of_pets, block_of_pets}


def test_search_finds_computed_pages(world: World, site) -> None:
    shop = site()

    def found(query: str) -> list[str]:
        return [hit["title"] for hit in shop.get(f"~search.json?q={query}").json()["hits"]]

    assert found("sandbox") == []
    _index(world, shop.space)
    assert "Pets" in found("sandbox")
    hits = world.get("admin", f"/spaces/{shop.space}/search?query=everything")["items"]
    assert [hit["path"] for hit in hits] == ["overview"]
    # They follow the specification, and are deleted with their entry.
    text = (Path(__file__).parents[1] / "pets.yaml").read_text().replace("Animals, by", "Quadrupeds, by")
    assert found("quadrupeds") == []
    processed(world, "pets", {"text": text})
    _index(world, shop.space)
    assert found("quadrupeds") == ["pets", "Pets"]
    rebuild_derived(world.context.db, shop.space, ())
    _index(world, shop.space)
    assert found("quadrupeds") == ["pets", "Pets"]
    world.call("admin", "DELETE", world.home.path("/orgs/{organizationId}/openapi/pets"))
    _index(world, shop.space)
    assert found("quadrupeds") == []


def test_indexing_writes_few_pages_at_a_time(world: World, site, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = site("by-operation")
    written: list[int] = []
    add_pages = store.add_pages

    def note(tx: Any, space_id: str, pages: Any, *args: Any, **named: Any) -> Any:
        written.append(len(pages))
        return add_pages(tx, space_id, pages, *args, **named)

    monkeypatch.setattr(store, "add_pages", note)
    monkeypatch.setattr(computed, "BATCH", 1)
    _index(world, shop.space)
    assert set(written) == {1} and len(written) > 6
    assert "Pets" in [hit["title"] for hit in shop.get("~search.json?q=sandbox").json()["hits"]]


def test_search_finds_content_of_blocks_on_ordinary_pages(world: World, site) -> None:
    shop = site()

    def found(query: str) -> bool:
        hits = shop.get(f"~search.json?q={query}").json()["hits"]
        return "Blocks" in [hit["title"] for hit in hits]

    # The page's own text is found immediately.
    assert found("blocks") and not found("what+it+is+called")
    _index(world, shop.space)
    assert found("what+it+is+called")
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    processed(world, "pets", {"text": text.replace("What it is called", "Its sobriquet")})
    assert not found("sobriquet")
    _index(world, shop.space)
    assert found("sobriquet")


def test_a_page_that_changes_during_indexing_is_found_with_its_current_text(
    world: World, site, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = site()
    draw = computed.draw_blocks

    def change(tx: Any, drawing: Any, document: Any) -> Any:
        found = draw(tx, drawing, document)
        if drawing.title == "Blocks":
            text = "# Blocks\n\nNothing but zebras.\n"
            writer = threading.Thread(target=shop.write, args=("blocks.md", text))
            writer.start()
            writer.join()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(computed, "draw_blocks", change)
        index_computed_pages(world.context, shop.space)

    def found(query: str) -> list[str]:
        return [hit["title"] for hit in shop.get(f"~search.json?q={query}").json()["hits"]]

    assert found("zebras") == ["Blocks"] and "Blocks" not in found("what+it+is+called")
    with world.context.db.read() as tx:
        assert check_derived(tx, shop.space, ()) == []


def _waits(tx: Transaction, thread: threading.Thread) -> bool:
    """Return whether another transaction waits for this one before the thread ends. On SQLite every write does."""
    while tx.engine == "postgresql" and thread.is_alive():
        if tx.one(
            """SELECT 1 FROM pg_locks waiting JOIN pg_stat_activity USING (pid)
               WHERE NOT waiting.granted AND datname = current_database()"""
        ):
            return True
    return tx.engine == "sqlite"


def test_indexing_waits_for_a_rebuild_of_the_index(world: World, site) -> None:
    shop = site()
    with world.context.db.read() as tx:
        branch = main_state(tx, shop.space).layers[0].branch_id
    indexing = threading.Thread(target=index_computed_pages, args=(world.context, shop.space))
    with world.context.db.write() as tx:
        lock_branch(tx, branch)
        indexing.start()
        assert _waits(tx, indexing)
    indexing.join()
    with world.context.db.read() as tx:
        assert check_derived(tx, shop.space, ()) == []
    assert "Pets" in [hit["title"] for hit in shop.get("~search.json?q=sandbox").json()["hits"]]


def test_results_continue_after_deleted_computed_pages(world: World, site) -> None:
    shop = site()
    _index(world, shop.space)

    def titles() -> list[list[str]]:
        path = f"/spaces/{shop.space}/search?query=pets&limit=1"
        answers = [world.get("admin", path)]
        while "next" in answers[-1]:
            answers.append(world.get("admin", f"{path}&page={answers[-1]['next']['page']}"))
        return [[item["title"] for item in answer["items"]] for answer in answers]

    before = titles()
    assert all(len(shown) == 1 for shown in before) and len(before) > 2
    world.call("admin", "DELETE", world.home.path("/orgs/{organizationId}/openapi/pets"))
    # Not indexed yet: to the index this is an ordinary page.
    assert titles() == [shown if shown == ["Blocks"] else [] for shown in before]


def test_urls_of_removed_operations_return_410_or_redirect(world: World, site) -> None:
    shop = site("by-operation")
    answers = {"200": {"description": "It"}}

    def publish(version: str, *operations: tuple[str, str, str]) -> None:
        paths = {
            path: {"get": {"summary": title, "operationId": id, "tags": ["pets"], "responses": answers}}
            for path, title, id in operations
        }
        whole = {"openapi": "3.1.0", "info": {"title": "T", "version": version}, "paths": paths}
        processed(world, "pets", {"text": json.dumps(whole)})

    publish("1", ("/a", "Read <a>", "a"), ("/b", "Read b", "b"), ("/c", "Read c", "c"))
    assert shop.get("pets/read-c").status_code == 200
    publish("2", ("/b", "Read bees", "b"), ("/c2", "Read sea", "c"))
    gone = shop.get("pets/read-a")
    assert gone.status_code == 410 and "Removed in 2, " in gone.text
    assert "<s>Read &lt;a&gt;</s>" in gone.text and "<s>/a</s>" in gone.text and "<a>" not in gone.text
    assert re.search(r'href="[^"]*/changes">Changes', gone.text)
    # The operation that now has the same id replaces it.
    assert re.search(r'Use instead: <a href="[^"]*/pets/read-sea">', shop.get("pets/read-c").text)
    # If the operation still exists, its former URL redirects to it.
    assert shop.get("pets/read-b").headers["location"].endswith("/pets/read-bees")
    assert shop.get("pets/read-b.md").headers["location"].endswith("/pets/read-bees.md")
    markdown = shop.get("pets/read-c.md")
    assert markdown.status_code == 410 and "GET /c has been unavailable since 2, " in markdown.text
    publish("3", ("/d", "Read d", "d"))
    assert (
        "Removed in 2, " in shop.get("pets/read-a").text
        and "Removed in 3, " in shop.get("pets/read-bees").text
    )
    assert [shop.get(path).status_code for path in ("pets/read-z", "read-a", "x/pets/read-a")] == [404] * 3
    # Visitors who can't see the reference learn nothing, and no one learns about versions that were never shown.
    navigation = shop.read("SUMMARY.md")
    for shown in ("* [Home](README.md)\n", navigation):
        shop.write("SUMMARY.md", shown)
        assert shop.get("pets/read-a").status_code == 404 == shop.get("pets/read-a.md").status_code
    publish("4", ("/e", "Read e", "e"))
    assert shop.get("pets/read-d").status_code == 410 and shop.get("pets/read-a").status_code == 404


def test_operations_without_ids_tags_or_responses_are_shown(world: World, site) -> None:
    shop = site()
    paths = {"/a": {"get": {}, "post": {"operationId": "same"}}, "/b": {"get": {"operationId": "same"}}}
    processed(
        world,
        "pets",
        {"text": json.dumps({"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths})},
    )
    page = shop.get("other").text
    assert re.findall(r'<(?:h2|details class="openapi-block") id="([^"]*)"', page) == [
        "get-a",
        "same",
        "same-1",
    ]
    listed = [href.partition("#")[2] for _, _, _, href in shop.get("~operations.json").json()]
    assert listed == ["get-a", "same", "same-1"]
    assert "GET" in shop.get("other.md").text and shop.get("~search.json?q=same").json()["operations"]


def test_specifications_have_a_download_link(site) -> None:
    shop = site()
    link = re.search(r'href="([^"]*~files/[^"]*pets.json[^"]*)"', shop.get("").text)
    assert link is not None
    answer = shop.get(link[1].removeprefix(shop.base))
    assert answer.json()["info"]["title"] == "Pets"


@pytest.mark.parametrize("grouping", ["by-tag", "by-operation"])
def test_only_operations_on_pages_are_listed_and_found(site, grouping: str) -> None:
    shop = site(grouping)
    listed = shop.get("~operations.json").json()
    (href,) = (href for method, path, title, href in listed if title == "List shops")
    there = shop.get(href.removeprefix(shop.base).partition("#")[0])
    assert there.status_code == 200 and "data-filter=" in there.text
    place = href.partition("#")[2]
    assert (f'id="{place}"' in there.text) if place else grouping == "by-operation"
    found = shop.get(f"~search.json?{urlencode({'q': 'list shops'})}").json()
    assert [hit["href"] for hit in found["operations"]][0] == href
    field = next(
        hit for hit in shop.get("~search.json?q=body.name").json()["fields"] if hit["title"] == "name"
    )
    page, _, place = field["href"].removeprefix(shop.base).partition("#")
    assert f'id="{place}"' in shop.get(page).text
    (inside,) = shop.get("~search.json?q=problem message").json()["fields"]
    page, _, place = inside["href"].removeprefix(shop.base).partition("#")
    assert inside["path"] == "Problem" and f'<li id="{place}"' in shop.get(page).text
    # The navigation of a tag's page links to the operations on it.
    assert re.search(r'<b class="nav-method get"', there.text)


@pytest.mark.parametrize("grouping", ["by-tag", "by-operation"])
def test_agents_list_and_read_operations(
    world: World, site, grouping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = site(grouping)
    monkeypatch.setattr(mcp, "_OPERATIONS", 2)
    first, rest, found = shop.use(
        ("list_operations", {}),
        ("list_operations", {"start": 2}),
        ("list_operations", {"query": "post PETS"}),
    )
    assert "2 more operations: call again with start=2." in first and "more operations" not in rest
    listed = [*first.splitlines()[:2], *rest.splitlines()]
    shown = [f"{method} {path}: {title}" for method, path, title, _ in shop.get("~operations.json").json()]
    assert [line[2:].partition(" (http")[0] for line in listed] == shown
    assert found in listed and found.startswith("- POST /pets: Add a pet (")
    address = found.rpartition("(")[2].removesuffix(")")
    page = address.partition("#")[0]
    explained, beside, nothing = shop.use(
        ("explain_operation", {"address": address}),
        ("explain_operation", {"address": f"{page}#nothing"}),
        ("explain_operation", {"address": page.rpartition("/")[0] + "/blocks"}),
    )
    assert "**POST** `https://" in explained and "Body" in explained and "curl" in explained
    assert "Remove a pet" not in explained and "listPets" not in explained
    assert "no operation at this URL" in beside and "no operation at this URL" in nothing
    # One that is titled like its page.
    text = (Path(__file__).parents[1] / "pets.yaml").read_text().replace("Add a pet", "pets")
    processed(world, "pets", {"text": text})
    (found,) = shop.use(("list_operations", {"query": "post"}))
    (explained,) = shop.use(("explain_operation", {"address": found.rpartition("(")[2].removesuffix(")")}))
    assert "- POST /pets: pets (" in found and "**POST** `https://" in explained


def _pages_of(shop: Site, world: World) -> dict[str, str]:
    """Return the ids of all pages of a space, by title."""
    found: dict[str, str] = {}
    waiting = world.get("admin", f"/spaces/{shop.space}/content/pages")["pages"]
    while waiting:
        page = waiting.pop()
        found[page["title"]] = page["id"]
        waiting += page.get("pages", [])
    return found


def test_agents_see_no_operation_hidden_from_their_visitor(world: World, tmp_path: Path) -> None:
    few = {"README.md": "# Home\n", "few.md": "---\nif: visitor.claims.paying\n---\n\n# Few\n"}
    summary = "* [Home](README.md)\n* [Few](few.md)\n" + COMPUTED.replace("{grouping}", "by-operation")
    shop = Site(world, tmp_path / "closed", summary, few)
    open_shop = Site(world, tmp_path / "open", summary, {**few, "few.md": "# Few\n"})
    (known,) = open_shop.use(("list_operations", {"query": "add a pet"}))
    address = known.rpartition("(")[2].removesuffix(")")
    there, withheld = address.replace(open_shop.base, shop.base), address.partition(open_shop.base)[2]
    told = shop.use(
        ("list_operations", {}),
        ("list_operations", {"query": "pet"}),
        ("explain_operation", {"address": there}),
        ("explain_operation", {"address": shop.base + withheld}),
    )
    assert told[0] == told[1] == "No matching operations."
    assert all("no operation at this URL" in text for text in told[2:])
    (explained,) = open_shop.use(("explain_operation", {"address": address}))
    assert "curl" in explained
    # Neither are browsers, about the operations or the whole specification.
    assert open_shop.get("~operations.json").json() and shop.get("~operations.json").json() == []
    withheld_page = re.search(r"~specification\?page=(\w+)", open_shop.get(withheld).text)
    assert withheld_page is not None
    for page in (withheld_page[1], _pages_of(shop, world)["Add a pet"]):
        assert shop.get(f"~specification?page={page}&as=json").status_code == 404


def test_the_whole_specification_is_available_in_other_formats(site) -> None:
    shop = site("by-operation")
    page = shop.get("shops/list-shops").text
    links = re.findall(r'href="([^"]*~specification[^"]*)" download', page)
    made = {link.rpartition("=")[2]: shop.get(unescape(link).removeprefix(shop.base)) for link in links}
    assert made.keys() == {"yaml", "json", "postman", "http"}
    assert all(answer.headers["content-disposition"].startswith("attachment") for answer in made.values())
    assert made["json"].json()["info"]["title"] == "Pets" and made["postman"].json()["item"]
    assert "### List shops" in made["http"].text and made["yaml"].text.startswith("openapi:")
    # Ordinary pages offer nothing, and no other format is available.
    assert shop.get("~specification?page=nothing&as=json").status_code == 404
    assert shop.get(unescape(links[0]).removeprefix(shop.base).replace("yaml", "exe")).status_code == 400


def test_pages_follow_the_specification(world: World, site) -> None:
    shop = site()
    assert "Add a pet" in shop.get("blocks").text
    text = (Path(__file__).parents[1] / "pets.yaml").read_text().replace("Add a pet", "Take a pet in")
    processed(world, "pets", {"text": text})
    assert "Take a pet in" in shop.get("blocks").text
    assert "Take a pet in" in shop.get("pets").text
    processed(world, "pets", {"text": "openapi: 3.1.0"})
    assert "Take a pet in" in shop.get("pets").text


def test_pages_are_redrawn_when_their_content_changes(
    world: World, site, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = site()
    drawn = 0
    draw, state_of = drawing._draw["openapi-operation"]

    def count(tx: Any, what: Any, blocks: Any) -> Any:
        nonlocal drawn
        drawn += 1
        return draw(tx, what, blocks)

    for type in BLOCKS:
        monkeypatch.setitem(drawing._draw, type, (count, state_of))
    first = [shop.get(path).text for path in ("blocks", "pets")]
    before = drawn
    # An unrelated commit.
    world.call("admin", "POST", world.home.path("/orgs/{organizationId}/spaces"), json={"title": "Other"})
    processed(world, "other", {"text": SMALL})
    assert [shop.get(path).text for path in ("blocks", "pets")] == first
    assert drawn == before > 0
    text = (Path(__file__).parents[1] / "pets.yaml").read_text().replace("Add a pet", "Take a pet in")
    processed(world, "pets", {"text": text})
    assert "Take a pet in" in shop.get("blocks").text and "Take a pet in" in shop.get("pets").text
    assert drawn > before


@given(st.text("abC9 ,.;'()?!/w", max_size=30))
def test_plain_sentences_are_parsed_like_all_others(text: str) -> None:
    if _SENTENCE.fullmatch(text):
        (block,) = read(text).nodes
        block.source = None
        assert markdown_of(text) == [block]


def test_blocks_are_expanded_in_markdown(site) -> None:
    shop = site()
    text = shop.get("pets.md").text
    assert text.startswith("---\ndescription: Animals, by name.\n---\n\n# pets\n")
    assert "**POST** `https://eu.pets.example/v1/pets`" in text
    assert "curl -X POST" in text and "columns" not in text


def test_prints_contain_operations(world: World, site, tmp_path: Path) -> None:
    shop = site()
    with world.context.db.read() as tx:
        state = main_state(tx, shop.space)
        order = collect_order(
            world.context, tx, state, PrintSubject(shop.space, state.revision_id, None, False, ""), tmp_path
        )
    said = {
        chapter.title: to_text(read_document(tmp_path, number))
        for number, chapter in enumerate(order.chapters)
    }
    assert "What it is called" in said["Blocks"] and "A pet was sold" in said["Blocks"]
    assert "List shops" in said["Shops"]


def test_the_api_returns_the_blocks_themselves(world: World, site) -> None:
    shop = site()
    page = world.get("admin", f"/spaces/{shop.space}/content/path/shops?format=document")
    assert page["computed"]["type"] == "builtin:openapi"
    assert page["document"]["nodes"][-1]["type"] == "openapi-operation"
    assert page["document"]["nodes"][-1]["data"]["path"] == "/stores"


def test_people_without_access_to_the_specification_see_no_operations(world: World) -> None:
    source = {
        "type": "builtin:openapi",
        "props": {"models": True},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}},
    }
    path = world.home.path("/spaces/{spaceId}/content/computed/revision")
    pages = world.call("reader", "POST", path, json={"source": source, "seed": "one"}).json()["pages"]
    assert [page["title"] for page in pages] == [
        "Pets",
        "Authentication",
        "Shops",
        "pets",
        "Webhooks",
        "Models",
    ]
    missing = {**source, "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "nothing"}}}}
    answer = world.call("reader", "POST", path, json={"source": missing, "seed": "one"})
    assert answer.status_code == 400 and "source.dependencies.spec" in answer.json()["error"]["message"]
    # The guest can see the space, but isn't a member who can see specifications.
    user = world.users["guest"]
    world.post(
        "admin",
        world.home.path("/spaces/{spaceId}/permissions"),
        {"role": "read", "users": [user]},
    )
    answer = world.call("guest", "POST", path, json={"source": source, "seed": "one"})
    assert answer.status_code == 400, answer.text


SECURED: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Box", "version": "1"},
    "servers": [{"url": "https://api.box.example"}],
    "paths": {
        "/files": {
            "get": {
                "summary": "List files",
                "tags": ["Files"],
                "security": [{"oauth": ["read"]}, {"token": []}],
            },
            "post": {"summary": "Add a file", "tags": ["Files"], "security": [{"oauth": ["read", "write"]}]},
        },
        "/keys": {
            "get": {"summary": "List keys", "tags": ["Authentication"], "security": [{"id": [], "key": []}]}
        },
        "/health": {"get": {"summary": "Health", "tags": ["Files"], "security": []}},
    },
    "components": {
        "securitySchemes": {
            "oauth": {
                "type": "oauth2",
                "description": "Ask <script>alert(1)</script> **us**.",
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": "https://box.example/authorize",
                        "tokenUrl": "https://box.example/token",
                        "refreshUrl": "https://box.example/refresh",
                        "scopes": {"read": "Read all", "write": "Write all", "never": "Nobody needs it"},
                    }
                },
            },
            "token": {"type": "http", "scheme": "bearer"},
            "id": {"type": "apiKey", "in": "header", "name": "X-Client-ID"},
            "key": {"type": "apiKey", "in": "query", "name": "secret"},
        }
    },
}


@pytest.mark.parametrize("grouping", ["by-tag", "by-operation"])
def test_a_page_explains_how_to_authenticate(world: World, site, grouping: str) -> None:
    shop = site(grouping)
    assert "lastProcessErrorCode" not in processed(world, "pets", {"text": json.dumps(SECURED)})
    home = shop.get("").text
    # A tag with the same name keeps its path; our page still comes before the tags.
    listed = re.findall(r'href="(?:[^"]*/)?(authentication(?:-1)?|files)"', home)
    assert list(dict.fromkeys(listed)) == ["authentication-1", "files", "authentication"]
    page = shop.get("authentication-1").text
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page.replace("<wbr>", ""))))
    for said in (
        "Authorization: Bearer <access_token>",
        "Authorization: Bearer <token>",
        "X-Client-ID: <key>",
        "?secret=<key>",
        "https://box.example/authorize",
        "https://box.example/token",
        "https://box.example/refresh",
        "read Read all operations: 2",
        "write Write all operations: 1",
        "never Nobody needs it operations: 0",
        "Together with: key",
    ):
        assert said in text, said
    assert "<script>alert" not in page and "<strong>us</strong>" in page
    assert "No authentication" in text and "BOX_TOKEN" in text and "BOX_X_CLIENT_ID" in text
    # Operations that need a scope are linked, and their pages link back to the scheme.
    there = "files/list-files" if grouping == "by-operation" else "files"
    assert re.search(rf'href="[^"]*/{there}"', page[page.index("Read all") :])
    operation = shop.get(there).text
    assert re.search(r'<a[^>]* href="[^"]*authentication-1#oauth"[^>]*>OAuth 2.0</a>', operation)
    assert re.search(
        r'<a[^>]* href="[^"]*authentication-1#token"[^>]*><code>Authorization: Bearer', operation
    )
    assert all(f'id="{anchor}"' in page for anchor in ("oauth", "token", "id", "key"))
    assert "authentication-1" in shop.get("llms.txt").text
    assert "X-Client-ID: <key>" in shop.get("authentication-1.md").text
    # A script asks for credentials there; no other page offers that.
    asked = re.search(r'data-asks="[^"]*(~access\.json\?page=\w+)"', page)
    assert asked is not None and "data-asks" not in operation
    ways = [[scheme["scheme"] for scheme in way] for way in shop.get(asked[1]).json()["security"]]
    assert ["oauth"] in ways and ["id", "key"] in ways
    assert shop.get(f"{asked[1]}x").status_code == 404
    world.call("admin", "PATCH", f"/spaces/{shop.space}", json={"language": "de"})
    assert "Ohne Anmeldung" in shop.get("authentication-1").text


def test_invalid_security_schemes_are_limited() -> None:
    names = [f"scheme {n}" for n in range(196)] + ["", "a" * 5000, "<b>", "كلمة"]
    kinds: list[Any] = [
        {
            "type": "oauth2",
            "flows": {f"flow {n}": {"scopes": {f"s{m}": None for m in range(300)}} for n in range(50)},
        },
        {"type": ["http"], "scheme": {}},
        {"type": "apiKey", "in": [], "name": 3},
        None,
        {"flows": [], "description": "<img src=x onerror=alert(1)>"},
        {"$ref": "#/components/securitySchemes/scheme 5"},
    ]
    answer = {"security": [dict.fromkeys([*names, "gone"], ["s1", {}]), {"scheme 0": None}], "responses": {}}
    description = ApiDescription(
        {
            "paths": {f"/{n}": {"get": answer} for n in range(2000)},
            "components": {"securitySchemes": {name: kinds[n % 6] for n, name in enumerate(names)}},
        }
    )
    for folded in (True, False):
        blocks = ApiReferenceRenderer(description, folded=folded).authentication(
            lambda each: {"kind": "page", "page": each.key}
        )
        html = render(Document(nodes=blocks), HtmlContext()).body
        assert len(html) < 1_500_000 and "onerror" not in html and "150 more" in html
        assert html.count("<h2") == 50


CONVENTIONS: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "Box",
        "version": "1",
        "description": "Hello.\n\n## Rate limiting\n\nAt most **60** calls a minute.\n\n### Bursts\n\nTen at once.\n\n"
        "## Colours\n\nBlue <script>alert(1)</script>.",
    },
    "servers": [{"url": "https://api.box.example"}],
    "paths": {
        f"/{name}": {
            "get": {
                "summary": f"List {name}",
                "tags": ["Files"],
                "parameters": [
                    {
                        "name": "cursor",
                        "in": "query",
                        "description": "Where to go on.",
                        "schema": {"type": "string"},
                    },
                    {"name": "after", "in": "query", "description": "A day.", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "Them",
                        "headers": {
                            "X-RateLimit-Remaining": {
                                "description": "How many are left",
                                "schema": {"type": "integer"},
                            }
                        },
                    },
                    "404": {"$ref": "#/components/responses/Gone"},
                    "409": {"description": f"Two of {name}"},
                },
            }
        }
        for name in ("files", "folders")
    },
    "components": {
        "responses": {
            "Gone": {
                "description": "It was never there.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
        },
        "schemas": {"Problem": {"type": "object", "properties": {"trace": {"type": "string"}}}},
    },
}


@pytest.mark.parametrize("grouping", ["by-tag", "by-operation"])
def test_a_page_lists_conventions_of_all_operations(world: World, site, grouping: str) -> None:
    shop = site(grouping)
    assert "lastProcessErrorCode" not in processed(world, "pets", {"text": json.dumps(CONVENTIONS)})
    home = shop.get("").text
    assert home.index("/errors-and-limits") < home.index("/files")
    page = shop.get("errors-and-limits").text
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page[page.index("<main") :])))
    for said in (
        "404 Not Found operations: 2",
        "It was never there.",
        "409 Conflict operations: 2",
        "Two of files",
        "404 application/json operations: 2",
        "trace",
        "Rate limits",
        "At most 60 calls a minute.",
        "Bursts",
        "Ten at once.",
        "X-RateLimit-Remaining",
        "How many are left",
        "Pagination",
        "cursor",
        "Where to go on.",
    ):
        assert said in text, said
    # Unrelated text is left out, and so is a parameter that only looks like pagination.
    assert "Blue" not in text and "A day." not in text
    there = "files/list-folders" if grouping == "by-operation" else "files"
    assert re.search(rf'href="[^"]*/{there}"', page[page.index("It was never there") :])
    assert "At most **60** calls a minute." in shop.get("errors-and-limits.md").text
    # Without conventions, there is no such page.
    alone = {**CONVENTIONS, "paths": {"/files": CONVENTIONS["paths"]["/files"]}}
    assert "lastProcessErrorCode" not in processed(world, "pets", {"text": json.dumps(alone)})
    assert "errors-and-limits" not in shop.get("").text
    assert shop.get("errors-and-limits").status_code == 404


def test_the_url_of_an_operation_is_made_of_its_title(world: World, site) -> None:
    shop = site("by-operation")
    summary = "**Starting a new project?** We recommend trying something else, which has the newest of all. Compare it."
    text = (Path(__file__).parents[1] / "pets.yaml").read_text()
    assert text.count("summary: List shops") == 1
    processed(world, "pets", {"text": text.replace("summary: List shops", f"summary: '{summary}'")})
    address = next(
        found
        for found in re.findall(r"shops/([\w-]+)</loc>", shop.get("sitemap.xml").text)
        if ">List stores" in shop.get(f"shops/{found}").text
    )
    assert address == "list-stores"
    # Links to the URL made from the whole summary redirect.
    answer = shop.get(f"shops/{slugify(summary)}")
    assert answer.status_code == 307 and answer.headers["location"].endswith(f"/shops/{address}")
