"""Conversion of text between its two forms without storing it."""

from __future__ import annotations

from typing import Any

import pytest

from world import World


def _convert(world: World, body: dict[str, Any]) -> Any:
    return world.call("reader", "POST", f"/spaces/{world.home['spaceId']}/content/convert", json=body)


def test_markdown_becomes_nodes_and_stays_unchanged(world: World) -> None:
    markdown = "Some *words*\n===\n\n{% hint style='info' %}\nNote\n{% endhint %}\n"
    found = _convert(world, {"markdown": markdown}).json()
    assert found["markdown"] == markdown
    assert [node["type"] for node in found["document"]["nodes"]] == ["heading-1", "hint"]


def test_nodes_become_markdown(world: World) -> None:
    nodes = [{"type": "paragraph", "nodes": [{"object": "text", "leaves": [{"text": "One.", "marks": []}]}]}]
    found = _convert(world, {"document": {"nodes": nodes}}).json()
    assert found["markdown"] == "One.\n"
    assert found["document"]["nodes"][0]["key"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "exactly one of `markdown` and `document`"),
        ({"markdown": "", "document": {"nodes": []}}, "exactly one of `markdown` and `document`"),
        ({"document": {"nodes": [{"type": "hologram"}]}}, "document.nodes[0].type"),
        ({"markdown": 7}, "markdown"),
    ],
)
def test_unsupported_formats_are_named(world: World, body: dict[str, Any], message: str) -> None:
    answer = _convert(world, body)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]


def test_an_empty_text_is_a_valid_page(world: World) -> None:
    """Twice in a batch, and next to a page whose links are resolved."""
    pages = [
        {"operation": "insert_page", "title": title, "document": {"markdown": markdown}}
        for title, markdown in (("Empty", ""), ("Also empty", ""), ("Linked", "[a](/empty)\n"))
    ]
    answer = world.call(
        "admin",
        "POST",
        f"/spaces/{world.home['spaceId']}/content",
        json={"changes": pages},
    )
    assert answer.status_code == 200, answer.text
