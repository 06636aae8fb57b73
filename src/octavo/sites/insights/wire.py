"""What is tracked, on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Raw, Struct

from octavo.kit.http.dispatcher import invalid

from .types import Event, EventType

_AT = "#/components/schemas/"
_event = msgspec.json.Decoder(Event)
_ANY_EVENT = {"items": {"anyOf": [{"$ref": _AT + type.__name__} for type in get_args(Event)]}}


class _Typed(Struct):
    type: str


_typed = msgspec.json.Decoder(_Typed)


class TrackEvents(Struct):
    """Each event is decoded by itself, because a client that is newer than the server may send types that the server
    does not know among others that it does."""

    events: Annotated[list[Raw], Meta(max_length=100, extra_json_schema=_ANY_EVENT)]


def read_events(given: Sequence[Raw]) -> tuple[list[Event], list[str]]:
    """The events of a batch, and where in it are those of unknown types. Raises BadRequest for an event that is not valid."""
    events: list[Event] = []
    unknown: list[str] = []
    for number, raw in enumerate(given):
        try:
            type = _typed.decode(raw).type
            if type in get_args(EventType):
                events.append(_event.decode(raw))
            else:
                unknown.append(f"events[{number}]")
        except msgspec.ValidationError as error:
            raise invalid(error, "type").inside(f"events[{number}]") from None
    return events, unknown


def event_schemas() -> dict[str, dict[str, Any]]:
    """The components of the description that events are."""
    _, found = msgspec.json.schema_components([Event], ref_template=_AT + "{name}")
    return found
