"""Addresses that become blocks of integrations."""

from __future__ import annotations

import pytest

from octavo.integrations.blocks import find_unfurling
from octavo.integrations.wire import Block, Manifest

from .test_asking import HANDLER
from .test_installing import install, publish

SCRIPT = (
    HANDLER
    % """
  if (event.type !== "ui_render") return new Response("OK");
  const props = event.action?.action === "@link.unfurl" ? { id: new URL(event.action.url).pathname.slice(3) } : event.props;
  const element = { type: "block", children: [{ type: "text", children: `Figure ${props.id}` }] };
  return Response.json({ type: "element", element, state: {}, props });"""
)
BLOCKS = [{"id": "figure", "title": "Figure", "urlUnfurl": ["https://figures.example.com/f/"]}]
ADDRESS = "https://figures.example.com/f/42"


def test_an_address_becomes_a_block_with_the_props_that_its_script_finds(world):
    space = world.home.path("/spaces/{spaceId}")
    publish(world, "figures", title="Figures", script=SCRIPT, blocks=BLOCKS)
    assert world.get("reader", f"{space}/embed?url={ADDRESS}")["type"] == "link", "it is not installed"
    install(world, "figures")
    found = world.get("reader", f"{space}/embed?url={ADDRESS}")
    assert found == {
        "type": "integration", "title": "Figure", "site": "Figures", "integration": "figures", "block": BLOCKS[0],
    }  # fmt: skip
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
    ],
)
def test_which_addresses_a_block_stands_for(prefixes, url, found):
    assert (find_unfurling([_integration("one", prefixes)], url) is not None) is found


def test_the_entry_that_says_most_decides():
    rows = [_integration("one", ["https://a.example"]), _integration("two", ["https://a.example/x"])]
    row, _ = find_unfurling(rows, "https://a.example/x/y")
    assert row.name == "two"
    assert (
        find_unfurling([*rows, _integration("three", ["https://a.example"])], "https://a.example/")[0].name
        == "one"
    )


class _integration:
    def __init__(self, name, prefixes):
        self.name = name
        self.manifest = Manifest(blocks=[Block(id="block", title="Block", url_unfurl=prefixes)])
