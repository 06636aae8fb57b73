"""Wire format of tracked events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, get_args

import msgspec
from msgspec import Meta, Raw, Struct

from octavo.core.json_types import JsonObject
from octavo.kit.http.dispatcher import invalid

from .types import Event, EventType

_AT = "#/components/schemas/"
_event = msgspec.json.Decoder(Event)
_ANY_EVENT = {"items": {"anyOf": [{"$ref": _AT + type.__name__} for type in get_args(Event)]}}


class _Typed(Struct):
    type: str


_typed = msgspec.json.Decoder(_Typed)


class TrackEvents(Struct):
    """Batch of events. Each event is decoded separately, because a newer client may send types that the server doesn't
    support yet."""

    events: Annotated[list[Raw], Meta(max_length=100, extra_json_schema=_ANY_EVENT)]


def read_events(given: Sequence[Raw]) -> tuple[list[Event], list[str]]:
    """Decode a batch of events. Return the events, and the positions of events of unknown types. Raises
    BadRequest if an event is invalid."""
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
            raise invalid(error, "type", Event).inside(f"events[{number}]") from None
    return events, unknown


def event_schemas() -> dict[str, JsonObject]:
    """Return the component schemas of all event types."""
    _, found = msgspec.json.schema_components([Event], ref_template=_AT + "{name}")
    return found
