"""Addresses that become blocks of integrations."""

from __future__ import annotations

import pytest

from octavo.core.url_patterns import domain_of
from octavo.extensions.integrations.blocks import find_unfurling
from octavo.extensions.integrations.manifest import IntegrationBlock, Manifest

from .test_asking import HANDLER
from .test_installing import install, publish

SCRIPT = (
    HANDLER
    % """
  if (event.type !== "ui_render") return new Response("OK");
  const props = event.action?.action === "@link.unfurl" ? { id: new URL(event.action.url).pathname.slice(3) \
} : event.props;
  const element = { type: "block", children: [{ type: "text", children: `Figure ${props.id}` }] };
  return Response.json({ type: "element", element, state: {}, props });"""
)
BLOCKS = [{"id": "figure", "title": "Figure", "urlUnfurl": ["https://figures.example.com/f/"]}]
ADDRESS = "https://figures.example.com/f/42"


def test_a_url_becomes_a_block_with_properties_from_the_script(world):
    space = world.home.path("/spaces/{spaceId}")
    publish(world, "figures", title="Figures", script=SCRIPT, blocks=BLOCKS)
    assert world.get("reader", f"{space}/embed?url={ADDRESS}")["type"] == "link", "it is not installed"
    install(world, "figures")
    found = world.get("reader", f"{space}/embed?url={ADDRESS}")
    assert found == {
        "type": "integration",
        "title": "Figure",
        "site": "Figures",
        "integration": "figures",
        "block": BLOCKS[0],
    }
    asked = {
        "componentId": found["block"]["id"],
        "props": {},
        "context": {"type": "document", "theme": "light", "spaceId": world.home["spaceId"], "editable": True},
        "action": {"action": "@link.unfurl", "url": ADDRESS},
    }
    shown = world.post("editor", "/integrations/figures/render", asked)
    assert shown["props"] == {"id": "42"}
    assert shown["element"]["children"][0]["children"] == "Figure 42"


@pytest.mark.parametrize(
    ("prefixes", "url", "found"),
    [
        (["https://a.example"], "https://a.example/x", True),
        (["a.example"], "http://a.example/x?y", True),
        (["https://A.example/x?y="], "https://a.example/x?y=1", True),
        (["https://a.example"], "http://a.example/x", False),
        (["https://a.example"], "https://a.example.evil.example/", False),
        (["https://a.example"], "https://a.example@evil.example/", False),
        (["https://a.example/x"], "https://a.example/y", False),
        (["https://a.example:99999", "https://", "", "https://[", "/"], "https://a.example/", False),
        (["https://code.example/*/*/blob/**"], "https://code.example/a/b/blob/main/x/y.ts?raw#L4-L9", True),
        (["https://code.example/*/*/blob/**"], "https://code.example/a/blob/main/y.ts", False),
        (["https://code.example/*/*/pull/*"], "https://code.example/a/b/pull/7?diff=a/b#c/d", True),
        (["https://code.example/*/*/pull/*"], "https://code.example/a/b/pull/7/files", False),
        (["https://tracker.example/**"], "https://tracker.example", True),
        (["https://*.tracker.example/browse/**"], "https://Team.Tracker.example:443/browse/A-1", True),
        (["https://*.tracker.example/browse/**"], "https://evil.example/.tracker.example/browse/A-1", False),
        (["https://*.tracker.example/browse/**"], "https://x.tracker.example@evil.example/browse/A", False),
        (["*.tracker.example/browse/**"], "http://x.tracker.example/browse/", True),
        (["https://a.example/x?id=*"], "https://a.example/x?id=1", True),
        (["https://a.example/x.y/**"], "https://a.example/xzy/1", False),
        (["https://**"], "https://a.example/x/y", True),
        (["https://**"], "mailto:a@a.example", False),
        (["https://a.example/" + "**x" * 600 + "y"], "https://a.example/" + "x" * 2000, False),
        (["https://a.example/" + "*a" * 400 + "b"], "https://a.example/" + "a" * 2000, False),
    ],
)
def test_url_patterns_match_urls_of_blocks(prefixes, url, found):
    assert (find_unfurling([_integration("one", prefixes)], url) is not None) is found


@pytest.mark.parametrize(
    ("pattern", "domain"),
    [
        ("https://Code.example/*/*/blob/**", "code.example"),
        ("*.tracker.example:8443/browse/**", "tracker.example"),
        ("a.*.example/x", ""),
        ("https://**", ""),
        ("", ""),
    ],
)
def test_patterns_are_found_by_their_host(pattern, domain):
    assert domain_of(pattern) == domain


def test_the_most_specific_pattern_wins():
    rows = [_integration("one", ["https://a.example"]), _integration("two", ["https://a.example/x"])]
    row, _ = find_unfurling(rows, "https://a.example/x/y")
    assert row.name == "two"
    stars = [
        _integration("all", ["https://a.example/**"]),
        _integration("blobs", ["https://a.example/*/blob/**"]),
    ]
    assert find_unfurling(stars, "https://a.example/x/blob/y")[0].name == "blobs"
    assert find_unfurling(stars, "https://a.example/x/tree/y")[0].name == "all"
    assert (
        find_unfurling([*rows, _integration("three", ["https://a.example"])], "https://a.example/")[0].name
        == "one"
    )


class _integration:
    def __init__(self, name, prefixes):
        self.name = name
        self.manifest = Manifest(blocks=[IntegrationBlock(id="block", title="Block", url_unfurl=prefixes)])
