"""What is tracked, on the wire."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from .kinds import Event


class TrackEvents(Struct):
    events: Annotated[list[Event], Meta(max_length=100)]
