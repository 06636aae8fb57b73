"""Uses of schemas in a specification. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from msgspec import Struct

from .description import ApiDescription, DescribedOperation, object_of

_SCHEMAS = "#/components/schemas/"


class Uses(Struct):
    """Names of the operations, webhooks, and schemas that use a schema directly, without duplicates, in the order
    of the specification."""

    answers: dict[str, DescribedOperation] = {}
    requests: dict[str, DescribedOperation] = {}
    events: dict[str, DescribedOperation] = {}
    schemas: dict[str, None] = {}


_uses: WeakKeyDictionary[ApiDescription, dict[str, Uses]] = WeakKeyDictionary()


def uses_of(description: ApiDescription) -> dict[str, Uses]:
    """Return the uses by schema name. Unused schemas are omitted. The result is cached."""
    found = _uses.get(description)
    if found is None:
        found = _uses[description] = _list_uses(description)
    return found


def _list_uses(description: ApiDescription) -> dict[str, Uses]:
    found: dict[str, Uses] = {}
    for operation in description.operations.values():
        body = {
            "body": operation.data.get("requestBody"),
            "parameters": [each.get("schema") for each in description.parameters(operation)],
        }
        for name in _list_references(description, body):
            found.setdefault(name, Uses()).requests[operation.key] = operation
        for name in _list_references(description, object_of(operation.data.get("responses"))):
            found.setdefault(name, Uses()).answers[operation.key] = operation
    for webhook in description.webhooks.values():
        for name in _list_references(description, webhook.data):
            found.setdefault(name, Uses()).events[webhook.key] = webhook
    for schema, value in description.schemas.items():
        for name in _list_references(description, value):
            if name != schema:
                found.setdefault(name, Uses()).schemas[schema] = None
    return found


def _list_references(description: ApiDescription, value: object) -> Iterator[str]:
    """Yield the schemas that a part of the specification refers to, including through named responses, parameters, and
    bodies."""
    stack, seen = [value], set[str]()
    while stack:
        here = stack.pop()
        if isinstance(here, list):
            stack += here
        elif isinstance(here, dict):
            reference = here.get("$ref")
            if isinstance(reference, str):
                if reference in seen:
                    continue
                seen.add(reference)
                if reference.startswith(_SCHEMAS):
                    yield description.name_of(here)
                else:
                    stack.append(description.follow(here))
            stack += [each for key, each in here.items() if key not in ("example", "examples", "$ref")]
