"""The description of the API: names, lists, media types, and where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from octavo.installation import load_packages
from octavo.kit.description import component_name, describe
from octavo.kit.operation import TABLE
from world import URL, World

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return describe(TABLE.values(), title="Octavo API", version="0", server=f"{URL}/v1")


def _walk(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from _walk(item, f"{path}/{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, f"{path}/{number}")


def test_it_is_at_both_addresses(world: World) -> None:
    found = [world.call("nobody", "GET", f"{URL}{path}") for path in ("/openapi.json", "/v1/openapi.json")]
    assert found[0].content == found[1].content
    assert found[0].json()["openapi"].startswith("3.1")


def test_components_are_named_for_what_they_are(description: dict[str, Any]) -> None:
    names = description["components"]["schemas"]
    assert not [name for name in names if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)]
    assert {"Space", "SpaceList", "User", "ScimUser", "LocationList"} <= set(names)
    assert "octavo." not in str(sorted(names))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Space", "Space"),
        ("octavo.spaces.wire.Space", "Space"),
        ("Listing_Space_", "SpaceList"),
        ("Listing_octavo.spaces.wire.Space_", "SpaceList"),
        ("Listing_octavo.a.PageLocation___octavo.a.FileLocation_", "LocationList"),
    ],
)
def test_how_names_are_made(given: str, name: str) -> None:
    assert component_name(given) == name


def test_references_lead_somewhere(description: dict[str, Any]) -> None:
    names = description["components"]["schemas"]
    found = [part["$ref"] for _, part in _walk(description) if isinstance(part.get("$ref"), str)]
    assert found and all(ref.removeprefix("#/components/schemas/") in names for ref in found)


def test_arrays_say_what_they_hold(description: dict[str, Any]) -> None:
    bare = [
        path
        for path, part in _walk(description)
        if part.get("type") == "array" and "items" not in part and "prefixItems" not in part
    ]
    assert not bare


def test_every_operation_has_a_tag_and_sentences(description: dict[str, Any]) -> None:
    for path, item in description["paths"].items():
        for method, entry in item.items():
            assert entry["tags"] and entry["summary"], f"{method} {path}"
            for code, answer in entry["responses"].items():
                assert re.search(r"[.]$", answer["description"]), f"{method} {path} {code}"


@pytest.mark.parametrize(
    "operation_id", ["getScimUser", "listScimUsers", "getSpaceById", "listSpacesInOrganizationById"]
)
def test_media_types_are_as_sent(world: World, description: dict[str, Any], operation_id: str) -> None:
    operation = TABLE[operation_id]
    assert operation_id not in TOLD_ELSEWHERE and sample_of(operation)
    answer = send(world, "admin", operation, world.home)
    entry = description["paths"][operation.path][operation.method.lower()]
    (said,) = entry["responses"][str(answer.status_code)]["content"]
    assert answer.headers["content-type"].partition(";")[0] == said
