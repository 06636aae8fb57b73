"""Create the API description from operation types, field descriptions, and real examples."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import msgspec

from octavo.core.document.description import document_schemas
from octavo.core.json_types import JsonObject
from octavo.kit.http.description import Example, Meanings, describe
from octavo.kit.http.operation import TABLE
from octavo.sites.insights.wire import event_schemas


def load_meanings() -> Meanings:
    return msgspec.convert(tomllib.loads((files(__package__) / "meanings.toml").read_text()), Meanings)


def load_examples() -> dict[str, Example]:
    """Return examples by operation ID. They are shortened versions of calls that tests made with sample data."""
    return msgspec.json.decode((files(__package__) / "examples.json").read_bytes(), type=dict[str, Example])


def describe_operations(server: str, version: str) -> JsonObject:
    """Return the description of all loaded operations. ``server``: the URL that paths start with."""
    return describe(
        TABLE.values(),
        title="Octavo API",
        version=version,
        server=server,
        meanings=load_meanings(),
        examples=load_examples(),
        schemas=document_schemas() | event_schemas(),
    )
