"""The description of the API: names, lists, media types, and where it is."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from octavo.kit.http.description import component_name
from octavo.kit.http.operation import TABLE
from octavo.kit.texts import EXPECTED
from octavo.operations.installation import load_packages
from octavo.operations.meanings import describe_operations, load_meanings
from world import URL, World

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return describe_operations(f"{URL}/v1", "0")


def _walk(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            if key != "example":
                yield from _walk(item, f"{path}/{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, f"{path}/{number}")


@pytest.mark.sqlite_first
def test_the_description_is_served_at_both_urls(world: World) -> None:
    found = [world.call("nobody", "GET", f"{URL}{path}") for path in ("/openapi.json", "/v1/openapi.json")]
    assert found[0].content == found[1].content
    assert found[0].json()["openapi"].startswith("3.1")


def test_components_have_descriptive_names(description: dict[str, Any]) -> None:
    names = description["components"]["schemas"]
    assert not [name for name in names if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)]
    assert {"Space", "SpaceList", "User", "ScimUser", "LocationList"} <= set(names)
    assert "octavo." not in str(sorted(names))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Space", "Space"),
        ("octavo.organization.spaces.wire.Space", "Space"),
        ("Listing_Space_", "SpaceList"),
        ("Listing_octavo.spaces.wire.Space_", "SpaceList"),
        ("Listing_octavo.a.PageLocation___octavo.a.FileLocation_", "LocationList"),
    ],
)
def test_names_of_components_are_derived_from_types(given: str, name: str) -> None:
    assert component_name(given) == name


def test_no_parameter_is_nullable(description: dict[str, Any]) -> None:
    for item in description["paths"].values():
        for entry in item.values():
            for parameter in entry["parameters"]:
                assert "null" not in str(parameter["schema"]), f"{entry['operationId']}.{parameter['name']}"
                assert parameter["schema"].get("default", "") is not None


def test_optional_body_properties_have_no_default_in_their_schema(description: dict[str, Any]) -> None:
    """Generators take a property with a default for one that is always there, and ask for it."""
    components = description["components"]["schemas"]
    waiting = [
        content["schema"]
        for item in description["paths"].values()
        for entry in item.values()
        for content in entry.get("requestBody", {}).get("content", {}).values()
        if "schema" in content
    ]
    seen: set[str] = set()
    told = 0
    while waiting:
        for path, part in _walk(waiting.pop()):
            named = part.get("properties", {}) if part.get("type") == "object" else {}
            assert not [name for name, each in named.items() if "default" in each], path
            told += "By default `" in str(part.get("description", ""))
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                waiting.append(components[name])
    assert told > 20 and len(seen) > 50


def test_common_responses_are_described_for_every_operation(description: dict[str, Any]) -> None:
    for path, item in description["paths"].items():
        for method, entry in item.items():
            codes = {"429", "431", "500"} | ({"409"} if method != "get" else set())
            assert codes <= set(entry["responses"]), f"{method} {path}"
            for answer in entry["responses"].values():
                stream = answer.get("content", {}).get("text/event-stream")
                if stream is not None and entry["tags"] == ["ask"]:
                    assert {"$ref": "#/components/schemas/Done"} in stream["schema"]["anyOf"], path


def test_references_have_a_target(description: dict[str, Any]) -> None:
    names = description["components"]["schemas"]
    found = [part["$ref"] for _, part in _walk(description) if isinstance(part.get("$ref"), str)]
    assert found and all(ref.removeprefix("#/components/schemas/") in names for ref in found)


def test_arrays_show_the_type_of_their_items(description: dict[str, Any]) -> None:
    bare = [
        path
        for path, part in _walk(description)
        if part.get("type") == "array" and "items" not in part and "prefixItems" not in part
    ]
    assert not bare


_ESCAPED = re.compile(r"\\(?:[\^$\\.*+?()\[\]{}|/dDsSwWnrt-]|x[0-9a-f]{2})")
"""What JSON Schema's regular expressions, which are ECMAScript's for Unicode, let stand behind a backslash."""


def test_patterns_are_valid_in_json_schema(description: dict[str, Any]) -> None:
    patterns = {part["pattern"] for _, part in _walk(description) if isinstance(part.get("pattern"), str)}
    assert len(patterns) > 15
    assert not [pattern for pattern in patterns if "\\" in _ESCAPED.sub("", pattern)]
    # The whole text, as it is checked.
    assert not [pattern for pattern in patterns if pattern.startswith("^") != pattern.endswith("$")]


def test_errors_describe_the_expected_pattern_in_words(description: dict[str, Any]) -> None:
    """A regular expression in a message only helps engineers."""
    patterns = {part["pattern"] for _, part in _walk(description) if isinstance(part.get("pattern"), str)}
    told = {pattern.replace(r"\Z", "$") for pattern in EXPECTED}
    # Published schemas describe responses, or are checked by code with its own messages.
    assert patterns <= told, "use octavo.kit.texts.pattern for each"


def test_no_url_can_have_control_characters(description: dict[str, Any]) -> None:
    """Such a URL can't be sent in a header, and could control a terminal or log that shows it."""
    patterns = {part["pattern"] for _, part in _walk(description) if isinstance(part.get("pattern"), str)}
    urls = [found for found in patterns if re.search(found, "https://docs.example.org/guide")]
    # Except in customizations: they refuse characters that could end an attribute, and are never sent in a header.
    bounded = [found for found in urls if not re.search(found, "none") and r"\x22'<>" not in found]
    assert len(bounded) > 2
    for found in bounded:
        for code in (0, 9, 10, 13, 27, 127):
            assert not re.search(found, f"https://docs.example.org/{chr(code)}x"), (found, code)


def test_every_operation_has_a_tag_and_sentences(description: dict[str, Any]) -> None:
    for path, item in description["paths"].items():
        for method, entry in item.items():
            assert entry["tags"] and entry["summary"], f"{method} {path}"
            for code, answer in entry["responses"].items():
                assert re.search(r"[.]$", answer["description"]), f"{method} {path} {code}"


@pytest.mark.parametrize(
    "operation_id", ["getScimUser", "listScimUsers", "getSpaceById", "listSpacesInOrganizationById"]
)
def test_media_types_match_the_responses(
    world: World, description: dict[str, Any], operation_id: str
) -> None:
    operation = TABLE[operation_id]
    assert operation_id not in TOLD_ELSEWHERE and sample_of(operation)
    answer = send(world, "admin", operation, world.home)
    entry = description["paths"][operation.path][operation.method.lower()]
    (said,) = entry["responses"][str(answer.status_code)]["content"]
    assert answer.headers["content-type"].partition(";")[0] == said


def _structs(of: type) -> Iterator[type]:
    for each in of.__subclasses__():
        yield each
        yield from _structs(each)


def test_optional_fields_are_not_required() -> None:
    """A field that can be unset has that as its default; otherwise, the description says that responses
    always contain it."""
    wrong = [
        f"{each.__module__}.{each.__name__}.{field.name}"
        for each in _structs(msgspec.Struct)
        if each.__module__.endswith("wire")
        for field in msgspec.structs.fields(each)
        if field.required and msgspec.UnsetType in typing.get_args(field.type)
    ]
    assert not wrong


def _properties(schema: Any, place: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each property in a schema: its position, its name, and its description."""
    if isinstance(schema, list):
        for part in schema:
            yield from _properties(part, place)
    elif isinstance(schema, dict):
        for name, value in schema.get("properties", {}).items():
            yield place, name, value
            yield from _properties(value, f"{place}.{name}")
        for key, part in schema.items():
            if key not in ("properties", "default", "enum", "const", "required"):
                yield from _properties(part, place)


def _is_sentence(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Z].*[.]", text.strip(), re.S))


def test_everything_is_described_in_sentences(description: dict[str, Any]) -> None:
    said: list[tuple[str, str]] = []
    for item in description["paths"].values():
        for entry in item.values():
            said += [
                (f"{entry['operationId']}.{p['name']}", p.get("description", "")) for p in entry["parameters"]
            ]
            said += [(entry["operationId"], entry["description"].partition("\n\n")[0])]
    for name, schema in description["components"]["schemas"].items():
        said += [
            (f"{place}.{key}", value.get("description", ""))
            for place, key, value in _properties(schema, name)
        ]
        said.append((name, schema.get("description", "")))
    bad = [place for place, text in said if not _is_sentence(text)]
    assert not bad, "describe each of them in src/octavo/operations/meanings.toml"


def test_every_description_is_used(description: dict[str, Any]) -> None:
    """A name that is gone takes its meaning along."""
    meanings = load_meanings()
    used: set[str] = set()
    for name, schema in description["components"]["schemas"].items():
        for place, key, _ in _properties(schema, name):
            used.add(f"{place}.{key}" if f"{place}.{key}" in meanings.properties else key)
    assert set(meanings.properties) <= used, "in src/octavo/operations/meanings.toml"
    used = set()
    for item in description["paths"].values():
        for entry in item.values():
            names = [(f"{entry['operationId']}.{p['name']}", p["name"]) for p in entry["parameters"]]
            used |= {whole if whole in meanings.parameters else name for whole, name in names}
    assert set(meanings.parameters) <= used, "in src/octavo/operations/meanings.toml"
    areas = {tag["name"]: tag.get("description", "") for tag in description["tags"]}
    assert set(meanings.areas) == set(areas) and all(map(_is_sentence, areas.values()))
    assert set(meanings.schemas) <= set(description["components"]["schemas"]), (
        "in src/octavo/operations/meanings.toml"
    )


def _kinds(schema: dict[str, Any], components: dict[str, Any]) -> frozenset[str]:
    """Return the types of values that a schema allows, except null: `boolean`, `number`, `text`, `list`, or
    `object`; empty for any value."""
    if "$ref" in schema:
        return _kinds(components[schema["$ref"].rpartition("/")[2]], components)
    if "anyOf" in schema:
        return frozenset().union(*(_kinds(option, components) for option in schema["anyOf"]))
    if "enum" in schema:
        return frozenset({"boolean" if isinstance(value, bool) else "text" for value in schema["enum"]})
    names = {
        "boolean": "boolean",
        "integer": "number",
        "number": "number",
        "string": "text",
        "array": "list",
        "object": "object",
    }
    return frozenset({names[schema["type"]]} if schema.get("type") in names else ())


def test_a_shared_description_fits_all_its_properties(description: dict[str, Any]) -> None:
    """Properties that share a name and a description have the same type: a number of members isn't their
    list."""
    components = description["components"]["schemas"]
    meanings = load_meanings().properties
    found: dict[str, dict[frozenset[str], set[str]]] = {}
    for name, schema in components.items():
        for place, key, value in _properties(schema, name):
            kinds = _kinds(value, components)
            if kinds and key in meanings and value["description"] == meanings[key]:
                found.setdefault(key, {}).setdefault(kinds, set()).add(place)
    mixed = {key: list(places.values()) for key, places in found.items() if len(places) > 1}
    assert not mixed, "give each of these properties its own sentence in src/octavo/operations/meanings.toml"


_BEGINNINGS = {
    "boolean": "Whether|True|Always|The value",
    "number": "How|The|In how|What",
    "list": "(?!The ID |Whether )",
}
_ONLY = {r"The IDs ": {"list"}, r"The ID ": {"text"}, r"The number of ": {"number"}}
"""What begins so is of one of these kinds."""


def test_descriptions_name_the_type_of_the_value(description: dict[str, Any]) -> None:
    components = description["components"]["schemas"]
    wrong = []
    for name, schema in components.items():
        for place, key, value in _properties(schema, name):
            kinds, said = _kinds(value, components), value.get("description", "")
            if len(kinds) != 1:
                continue
            (kind,) = kinds
            right = re.match(_BEGINNINGS.get(kind, ""), said)
            if not right or any(re.match(begins, said) and kind not in of for begins, of in _ONLY.items()):
                wrong.append((f"{place}.{key}", kind, said))
    assert not wrong
