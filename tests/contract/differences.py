"""What a description of the public API has that another one lacks, named by schema and property."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tools import NEWEST

_METHODS = ("get", "put", "post", "patch", "delete")

Named = tuple[str, dict[str, Any]]
"""A schema, and its name: that of a component, or the way from there."""


class Listed(Struct, forbid_unknown_fields=True):
    """Differences that have the same reason. ``of``: as ``Comparison`` names them. ``answers``: those that answers
    show as well: parts of ``operation id: complaint``."""

    reason: str
    of: list[str] = []
    answers: list[str] = []


def listed_differences() -> list[Listed]:
    """Return the parts of the newest public description that Octavo doesn't have, with the reasons."""
    content = tomllib.loads((NEWEST / "differences.toml").read_text())
    return msgspec.convert(content["difference"], list[Listed])


class _Parts:
    """Everything that the alternatives and parts of a schema allow, combined."""

    def __init__(self) -> None:
        self.properties: dict[str, list[Named]] = {}
        self.items: list[Named] = []
        self.others: list[Named] = []
        self.values: dict[Any, str] = {}
        """Each value of an enumeration, with the name of the schema that has it."""
        self.open = False
        """Whether any value is allowed: an object without named properties, or a text without enumeration."""
        self.seen: set[str] = set()


class Description:
    def __init__(self, content: dict[str, Any]) -> None:
        self._components = content["components"]
        self.operations: dict[tuple[str, str], dict[str, Any]] = {
            (method, re.sub(r"\{\w+\}", "{}", path)): {
                **entry,
                "parameters": [
                    self._resolved(one)[1]
                    for one in [*item.get("parameters", ()), *entry.get("parameters", ())]
                ],
            }
            for path, item in content["paths"].items()
            for method, entry in item.items()
            if method in _METHODS
        }

    def _resolved(self, value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        name = ""
        while "$ref" in value:
            kind, name = value["$ref"].split("/")[-2:]
            value = self._components[kind][name]
        return name, value

    def schema(self, holder: dict[str, Any]) -> dict[str, Any] | None:
        """Return the schema of a JSON body or response; None if there is none."""
        content = self._resolved(holder)[1].get("content", {})
        found = content.get("application/json") or content.get("text/event-stream")
        return found and found.get("schema")

    def answers(self, operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {code: one for code, one in operation["responses"].items() if code.startswith("2")}

    def parts(self, schemas: list[Named]) -> _Parts:
        found = _Parts()
        for name, schema in schemas:
            self._gather(name, schema, found)
        return found

    def _gather(self, name: str, schema: dict[str, Any], into: _Parts) -> None:
        if "$ref" in schema:
            component, schema = self._resolved(schema)
            if component in into.seen:
                return
            into.seen.add(component)
            name = component
        alternatives = [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ())]
        for part in alternatives:
            self._gather(name, part, into)
        for key, value in schema.get("properties", {}).items():
            into.properties.setdefault(key, []).append((f"{name}.{key}", value))
        if "items" in schema:
            into.items.append((f"{name}[]", schema["items"]))
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and others:
            into.others.append((f"{name}.*", others))
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        for value in values:
            into.values.setdefault(value, name)
        described = {"properties", "items", "enum", "const", *(("additionalProperties",) if others else ())}
        if not alternatives and not described & set(schema) and schema.get("type") != "null":
            into.open = True


class Comparison:
    """What ``newest`` has and ``ours`` lacks, in the operations that both have.

    Differences are texts: ``query listTeams.order``, ``header updateTeam.prefer``, ``status updateTeam 204``,
    ``answer Team.color``, ``body updateTeam.color``, ``answer Team.kind = group``. Required properties of answers end
    with ``(required)``.
    """

    def __init__(self, ours: dict[str, Any], newest: dict[str, Any]) -> None:
        self._ours, self._newest = Description(ours), Description(newest)
        self._compared: set[Any] = set()

    def differences(self) -> Iterator[str]:
        for key, operation in self._newest.operations.items():
            if (own := self._ours.operations.get(key)) is not None:
                yield from self._of_operation(operation["operationId"], own, operation)

    def _of_operation(self, id: str, own: dict[str, Any], newest: dict[str, Any]) -> Iterator[str]:
        known = {(one["in"], one["name"].lower()): one for one in own["parameters"]}
        for one in newest["parameters"]:
            if one["in"] == "path":
                continue
            ours = known.get((one["in"], one["name"].lower()))
            name = f"{id}.{one['name']}"
            if ours is None:
                yield f"{one['in']} {name}"
            elif "schema" in one:
                yield from self._compare(one["in"], [("", ours["schema"])], [(name, one["schema"])])
        codes = set(self._newest.answers(newest)) - set(self._ours.answers(own))
        yield from (f"status {id} {code}" for code in sorted(codes))
        pairs = [("answer", self._schemas(self._ours, own), self._schemas(self._newest, newest, id))]
        if "requestBody" in newest and "requestBody" in own:
            bodies = self._ours.schema(own["requestBody"]), self._newest.schema(newest["requestBody"])
            if bodies[0] is not None and bodies[1] is not None:
                pairs.append(("body", [("", bodies[0])], [(id, bodies[1])]))
        for place, ours, theirs in pairs:
            if ours and theirs:
                yield from self._compare(place, ours, theirs)

    def _schemas(self, description: Description, operation: dict[str, Any], name: str = "") -> list[Named]:
        found = (description.schema(one) for one in description.answers(operation).values())
        return [(name, schema) for schema in found if schema is not None]

    def _compare(self, place: str, ours: list[Named], newest: list[Named]) -> Iterator[str]:
        key = (place, *(id(schema) for _, schema in ours), *(id(schema) for _, schema in newest))
        if key in self._compared:
            return
        self._compared.add(key)
        own, theirs = self._ours.parts(ours), self._newest.parts(newest)
        if not own.open:
            for value in [value for value in theirs.values if value not in own.values]:
                yield f"{place} {theirs.values[value]} = {value}"
        for name, schemas in theirs.properties.items():
            if name in own.properties:
                yield from self._compare(place, own.properties[name], schemas)
            elif own.others:
                yield from self._compare(place, own.others, schemas)
            elif own.properties:
                needed = [path for path, _ in schemas if self._is_required(path, newest)]
                yield f"{place} {schemas[0][0]}{' (required)' if needed and place == 'answer' else ''}"
        for kind in ("items", "others"):
            if getattr(own, kind) and getattr(theirs, kind):
                yield from self._compare(place, getattr(own, kind), getattr(theirs, kind))

    def _is_required(self, path: str, schemas: list[Named]) -> bool:
        """Return whether a property is required by the schema that declares it."""
        name = path.rpartition(".")[2]
        waiting, seen = [schema for _, schema in schemas], set[str]()
        while waiting:
            schema = waiting.pop()
            if reference := schema.get("$ref"):
                if reference in seen:
                    continue
                seen.add(reference)
                schema = self._newest._resolved(schema)[1]
            waiting += [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ())]
            if name in schema.get("properties", {}) and name in schema.get("required", ()):
                return True
        return False
