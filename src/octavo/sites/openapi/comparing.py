"""Compare two OpenAPI specifications, list the changes, and determine whether they break callers. This
module does no I/O.

The rules are documented in the manual (``content/api-references.md``): a change is breaking if a request that was valid
can now be rejected, or if a response can contain or omit data in a way that callers of the old specification don't
expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from .description import ApiDescription, Data, DescribedOperation, list_of, object_of, text_of
from .examples import Direction

_DEPTH = 12
MOST = 5_000
"""Maximum number of changes to report."""

Kind = Literal["added", "removed", "changed"]


class ApiChange(Struct, frozen=True):
    """Change to an operation. ``operation``: the operation, such as ``GET /pets``. ``place``: the changed part;
    empty for the entire operation. ``before`` and ``after``: a short description of the state in each version.
    ``deprecates``: whether the operation became deprecated."""

    kind: Kind
    breaking: bool
    operation: str
    place: str
    message: str
    before: str = ""
    after: str = ""
    deprecates: bool = False


def compare(old: ApiDescription, new: ApiDescription) -> list[ApiChange]:
    """Return the changes. Breaking changes come first. Within each group, changes are in the order of the
    specifications."""
    found = list(_Comparing(old, new).run())
    return sorted(found, key=lambda change: not change.breaking)[:MOST]


class _Comparing:
    def __init__(self, old: ApiDescription, new: ApiDescription) -> None:
        self._old = old
        self._new = new
        self._compared: set[tuple[str, str, str]] = set()

    def run(self) -> Iterator[ApiChange]:
        for of_old, of_new in (
            (self._old.operations, self._new.operations),
            (self._old.webhooks, self._new.webhooks),
        ):
            for key, operation in of_old.items():
                name = _name(operation)
                if key not in of_new:
                    yield ApiChange("removed", True, name, "", "The operation was removed.")
                else:
                    yield from self._operation(name, operation, of_new[key])
            for key in of_new:
                if key not in of_old:
                    yield ApiChange("added", False, _name(of_new[key]), "", "The operation was added.")

    def _operation(self, name: str, old: DescribedOperation, new: DescribedOperation) -> Iterator[ApiChange]:
        if new.data.get("deprecated") is True and old.data.get("deprecated") is not True:
            yield ApiChange("changed", False, name, "", "The operation is now deprecated.", deprecates=True)
        was, is_now = self._old.security(old), self._new.security(new)
        if _schemes(was) != _schemes(is_now):
            # Breaking unless every previously valid method is still valid or authentication is no longer
            # required.
            breaking = not (_schemes(was) <= _schemes(is_now) and was) and bool(is_now) and {} not in is_now
            yield ApiChange(
                "changed", breaking, name, "authentication", "The required authentication changed."
            )
        yield from self._parameters(name, old, new)
        yield from self._bodies(name, old, new)
        yield from self._responses(name, old, new)

    # --- requests -------------------------------------------------------------------------------------------

    def _parameters(self, name: str, old: DescribedOperation, new: DescribedOperation) -> Iterator[ApiChange]:
        was = {(text_of(p.get("in")), text_of(p["name"])): p for p in self._old.parameters(old)}
        now = {(text_of(p.get("in")), text_of(p["name"])): p for p in self._new.parameters(new)}
        for key, parameter in was.items():
            place = f"{key[0]} parameter {key[1]}"
            if key not in now:
                yield ApiChange(
                    "removed",
                    True,
                    name,
                    place,
                    "The parameter was removed.",
                    _describe_field(self._old, parameter),
                )
                continue
            yield from _compare_required(name, place, "parameter", parameter, now[key])
            yield from self._schemas(name, place, parameter.get("schema"), now[key].get("schema"), "request")
        for key, parameter in now.items():
            if key not in was:
                required = parameter.get("required") is True
                words = "A required parameter was added." if required else "The parameter was added."
                place = f"{key[0]} parameter {key[1]}"
                yield ApiChange(
                    "added", required, name, place, words, after=_describe_field(self._new, parameter)
                )

    def _bodies(self, name: str, old: DescribedOperation, new: DescribedOperation) -> Iterator[ApiChange]:
        was = self._old.follow(old.data.get("requestBody"))
        now = self._new.follow(new.data.get("requestBody"))
        yield from _compare_required(name, "body", "body", was, now)
        yield from self._contents(name, "body", was, now, "request")

    # --- responses ------------------------------------------------------------------------------------------

    def _responses(self, name: str, old: DescribedOperation, new: DescribedOperation) -> Iterator[ApiChange]:
        was, now = object_of(old.data.get("responses")), object_of(new.data.get("responses"))
        for code, response in was.items():
            place = f"response {code}"
            if code not in now:
                yield ApiChange("removed", code.startswith("2"), name, place, "The response was removed.")
            else:
                yield from self._contents(
                    name, place, self._old.follow(response), self._new.follow(now[code]), "response"
                )
        for code in now:
            if code not in was:
                yield ApiChange("added", False, name, f"response {code}", "The response was added.")

    def _contents(
        self, name: str, place: str, old: Data, new: Data, direction: Direction
    ) -> Iterator[ApiChange]:
        was, now = object_of(old.get("content")), object_of(new.get("content"))
        for kind, media in was.items():
            if kind not in now:
                yield ApiChange("removed", True, name, place, f"{kind} was removed.", kind)
                continue
            schema, other = object_of(media).get("schema"), object_of(now[kind]).get("schema")
            yield from self._schemas(name, place, schema, other, direction)
        for kind in now:
            if kind not in was:
                yield ApiChange("added", False, name, place, f"{kind} was added.", after=kind)

    # --- schemas --------------------------------------------------------------------------------------------

    def _schemas(
        self, name: str, place: str, old: object, new: object, direction: Direction, depth: int = 0
    ) -> Iterator[ApiChange]:
        """Yield the changes between two schemas, which can be recursive. Each named schema is compared only once per
        body, response, and parameter."""
        if not depth:
            self._compared.clear()
        named = (ApiDescription.name_of(old), ApiDescription.name_of(new), direction)
        if depth > _DEPTH or (named[0] and named in self._compared):
            return
        self._compared.add(named)
        was, now = self._old.merge(old), self._new.merge(new)
        yield from self._types(name, place, was, now, direction)
        yield from self._limits(name, place, was, now, direction)
        yield from self._properties(name, place, was, now, direction, depth)
        if "items" in was and "items" in now:
            yield from self._schemas(name, f"{place}, each", was["items"], now["items"], direction, depth + 1)
        for key in ("oneOf", "anyOf"):
            yield from self._variants(name, place, list_of(was.get(key)), list_of(now.get(key)), direction)

    def _types(
        self, name: str, place: str, was: Data, now: Data, direction: Direction
    ) -> Iterator[ApiChange]:
        before, after = _types(was), _types(now)
        if before != after and (before or after):
            said = (" or ".join(sorted(before)) or "anything", " or ".join(sorted(after)) or "anything")
            # A request must still accept all old values; a response must not contain new ones.
            fits = _includes(after, before) if direction == "request" else _includes(before, after)
            yield ApiChange(
                "changed", not fits, name, place, f"The type changed from {said[0]} to {said[1]}.", *said
            )
        values, others = _values(was), _values(now)
        if values != others:
            gone, fresh = sorted(values - others), sorted(others - values)
            if not values or not others:
                narrower = bool(others) if direction == "request" else bool(values)
                said = (", ".join(sorted(values)[:20]), ", ".join(sorted(others)[:20]))
                yield ApiChange("changed", narrower, name, place, "The possible values changed.", *said)
            else:
                for value in gone:
                    breaking = direction == "request"
                    yield ApiChange(
                        "removed", breaking, name, place, f"The value {value} was removed.", value
                    )
                for value in fresh:
                    breaking = direction == "response"
                    yield ApiChange(
                        "added", breaking, name, place, f"The value {value} was added.", after=value
                    )

    def _limits(
        self, name: str, place: str, was: Data, now: Data, direction: Direction
    ) -> Iterator[ApiChange]:
        if direction == "response":
            return
        for key, sign in (
            ("minimum", 1),
            ("minLength", 1),
            ("minItems", 1),
            ("maximum", -1),
            ("maxLength", -1),
            ("maxItems", -1),
        ):
            before, after = was.get(key), now.get(key)
            if before == after:
                continue
            stricter = isinstance(after, (int, float)) and (
                not isinstance(before, (int, float)) or (after - before) * sign > 0
            )
            said = (
                "" if before is None else f"{key} {before}",
                "" if after is None else f"{key} {after}",
            )
            words = f"{key} changed to {'none' if after is None else after}."
            yield ApiChange("changed", stricter, name, place, words, *said)
        if was.get("pattern") != now.get("pattern"):
            said = (text_of(was.get("pattern")), text_of(now.get("pattern")))
            breaking = now.get("pattern") is not None
            yield ApiChange("changed", breaking, name, place, "The pattern changed.", *said)

    def _properties(
        self, name: str, place: str, was: Data, now: Data, direction: Direction, depth: int
    ) -> Iterator[ApiChange]:
        before, after = object_of(was.get("properties")), object_of(now.get("properties"))
        needed_before, needed_after = _required(was), _required(now)
        for key, schema in before.items():
            where = f"{place}, {key}"
            if key not in after:
                breaking, said = direction == "response", _describe_field(self._old, {"schema": schema})
                yield ApiChange("removed", breaking, name, where, "The property was removed.", said)
                continue
            if direction == "request" and key in needed_after - needed_before:
                yield ApiChange(
                    "changed", True, name, where, "The property is now required.", "optional", "required"
                )
            if direction == "response" and key in needed_before - needed_after:
                yield ApiChange(
                    "changed", True, name, where, "The property is now optional.", "always", "optional"
                )
            yield from self._schemas(name, where, schema, after[key], direction, depth + 1)
        for key in after:
            if key not in before:
                breaking = direction == "request" and key in needed_after
                words = "A required property was added." if breaking else "The property was added."
                said = _describe_field(self._new, {"schema": after[key], "required": key in needed_after})
                yield ApiChange("added", breaking, name, f"{place}, {key}", words, after=said)

    def _variants(
        self, name: str, place: str, was: Sequence[object], now: Sequence[object], direction: Direction
    ) -> Iterator[ApiChange]:
        before = {_variant(self._old, each) for each in was}
        after = {_variant(self._new, each) for each in now}
        for each in sorted(before - after):
            yield ApiChange(
                "removed", direction == "request", name, place, f"The variant {each} was removed.", each
            )
        for each in sorted(after - before):
            breaking = direction == "response" and bool(before)
            yield ApiChange("added", breaking, name, place, f"The variant {each} was added.", after=each)


def _compare_required(name: str, place: str, what: str, was: Data, now: Data) -> Iterator[ApiChange]:
    before, after = was.get("required") is True, now.get("required") is True
    if before != after:
        words = "is now required" if after else "is no longer required"
        said = ("required" if before else "optional", "required" if after else "optional")
        yield ApiChange("changed", after, name, place, f"The {what} {words}.", *said)


def _describe_field(description: ApiDescription, parameter: Data) -> str:
    """Return the type of a parameter or property, and whether it is required."""
    schema = description.follow(parameter.get("schema"))
    types = " or ".join(sorted(_types(schema))) or "anything"
    return f"{types}, required" if parameter.get("required") is True else types


def _name(operation: DescribedOperation) -> str:
    return f"{operation.method.upper()} {operation.path}"


def _schemes(ways: Iterable[Data]) -> set[tuple[str, ...]]:
    return {tuple(sorted(way)) for way in ways}


def _types(schema: Data) -> set[str]:
    given = schema.get("type")
    found = {each for each in given if isinstance(each, str)} if isinstance(given, list) else set()
    if isinstance(given, str):
        found = {given}
    if found and schema.get("nullable") is True:
        found.add("null")
    return found


def _includes(wide: set[str], narrow: set[str]) -> bool:
    """Return whether the types in ``wide`` include all values of the types in ``narrow``. An empty set includes all
    values."""
    if not wide:
        return True
    return bool(narrow) and all(each in wide or (each == "integer" and "number" in wide) for each in narrow)


def _values(schema: Data) -> set[str]:
    values = [schema["const"]] if "const" in schema else list_of(schema.get("enum"))
    return {str(value) for value in values}


def _required(schema: Data) -> set[str]:
    return {each for each in list_of(schema.get("required")) if isinstance(each, str)}


def _variant(description: ApiDescription, schema: object) -> str:
    found = description.follow(schema)
    types = "/".join(sorted(_types(found))) or "schema"
    return description.name_of(schema) or text_of(found.get("title")) or types
