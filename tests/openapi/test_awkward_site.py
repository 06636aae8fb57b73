"""Everything awkward in one specification, on a published site: each output of its reference exists, within limits,
and nothing in it runs."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from hostile import scheme_a_browser_sees
from world import World

from .specs import processed
from .test_awkward import AWKWARD, COMPONENTS, HOSTILE, SERVER
from .test_pages import COMPUTED, Site

REFUSED = ("wrong", "without a name", "odd")
"""Problems reported for such a specification."""
PARTS = ("Each0", "Each1", "Node", "Odd")
"""Schemas, with many that lead to all others."""


def _awkward() -> dict[str, Any]:
    variables = {"a": {"default": "{b}", "description": HOSTILE}, "b": {"default": "{a}"}}
    key = {"type": "apiKey", "in": "header", "name": HOSTILE, "description": HOSTILE}
    schemas = {name: COMPONENTS[name] for name in PARTS} | {f"Each{n}": {} for n in range(2, 60)}
    return {
        "openapi": "3.1.0",
        "info": {"title": HOSTILE, "version": HOSTILE, "description": HOSTILE},
        "servers": [{"url": SERVER, "variables": {**variables, "c": {"default": HOSTILE}}}],
        "security": [{"odd": []}],
        "tags": [{"name": HOSTILE, "description": HOSTILE}],
        "paths": {
            **{
                f"/{name.replace(' ', '-')}/{{id}}": {"post": operation}
                for name, operation in AWKWARD.items()
                if name not in REFUSED
            },
            f"/{HOSTILE}".replace("{{7*7}}", ""): {"get": {"responses": {"200": {"description": HOSTILE}}}},
        },
        "webhooks": {HOSTILE: {"post": {"summary": HOSTILE, "responses": {"200": {"description": "It"}}}}},
        "components": {"schemas": schemas, "securitySchemes": {"odd": key}},
    }


class Seen(HTMLParser):
    """Active parts of a page, and the URLs for trying operations."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.acts: list[str] = []
        self.forms: list[str] = []
        self.scripts = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            is_address = name in ("href", "src", "action", "formaction")
            if name.startswith("on") or (
                is_address and scheme_a_browser_sees(value or "") in ("javascript", "data")
            ):
                self.acts.append(f"<{tag} {name}={value}>")
            if name == "data-try":
                self.forms.append(value or "")


@pytest.mark.sqlite_first
def test_each_output_is_complete_and_within_limits(world: World, tmp_path: Path) -> None:
    data = _awkward()
    spec = processed(world, "pets", {"text": json.dumps(data)})
    assert "lastProcessErrorCode" not in spec, spec
    summary = "* [Home](README.md)\n" + COMPUTED.replace("\n  ", "\n").replace("  * ", "* ", 1)
    shop = Site(
        world, tmp_path / "site", summary.replace("{grouping}", "by-operation"), {"README.md": "# Home\n"}
    )

    def get(path: str, most: int = 200_000) -> str:
        answer = shop.get(path)
        assert answer.status_code == 200 and len(answer.content) < most, (path, answer, len(answer.content))
        return answer.text

    pages = [unescape(url).partition(shop.base)[2] for url in re.findall("<loc>([^<]*)", get("sitemap.xml"))]
    shown = [path for path in pages if not re.search(r"each([1-9]|\d\d)$", path)]
    scripts, forms = Seen(get("")).scripts, []
    for path in shown:
        for html in {get(path), get(f"{path}?fields=all")}:
            seen = Seen(html)
            assert not seen.acts and seen.scripts == scripts, (path, seen.acts)
        forms += seen.forms
        if path:
            get(f"{path}.md", 40_000)
    assert len(forms) == len(data["paths"])
    for form in forms:
        assert json.loads(get(form.removeprefix(shop.base), 400_000))["servers"]
    # Recursive parts say so.
    assert "The same as Node above." in get("models/node")

    offered = {
        link.rpartition("=")[2]: link
        for link in re.findall('href="([^"]*~specification[^"]*)" download', get(shown[-3]))
    }
    made = {form: shop.get(unescape(link).removeprefix(shop.base)).text for form, link in offered.items()}
    # Anything above two megabytes is JSON, which is valid YAML.
    assert json.loads(made["json"]) == json.loads(made["yaml"]) == data
    assert len(re.findall("(?m)^### ", made["http"])) == len(data["paths"])
    assert json.loads(made["postman"])["info"]["name"] == HOSTILE

    for listing in ("llms.txt", "sitemap.md"):
        assert HOSTILE not in get(listing, 20_000)
    get("llms-full.txt", 400_000)
    listed = json.loads(get("~operations.json"))
    assert {path for _, path, _, _ in listed} == {*data["paths"]}
    for query, kind in (
        ("script", "operations"),
        ("p299", "fields"),
        ("body.next", "fields"),
        ("node", "models"),
    ):
        hits = json.loads(get(f"~search.json?q={query}"))[kind]
        assert hits, query
        for hit in hits:
            page, _, place = hit["href"].removeprefix(shop.base).partition("#")
            whole = get(f"{page}?fields=all")
            assert not place or f'id="{escape(unquote(place))}"' in whole, hit
    assert not Seen(get(f"~search?q={quote(HOSTILE)}")).acts
    (told,) = shop.use(("list_operations", {}))
    addresses = [line.rpartition("(")[2].removesuffix(")") for line in told.splitlines()]
    assert len(addresses) == len(data["paths"])
    for explained in shop.use(*(("explain_operation", {"address": each}) for each in addresses)):
        assert "**POST**" in explained or "**GET**" in explained
        assert len(explained) < 40_000
