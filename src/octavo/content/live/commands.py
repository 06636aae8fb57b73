"""Request bodies for live pages."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from octavo.core.json_types import JsonObject
from octavo.kit.texts import pattern

Client = Annotated[
    str,
    Meta(pattern=pattern(r"^[A-Za-z0-9_-]{8,64}\Z", "be 8 to 64 letters, digits, hyphens, and underscores")),
]
Position = Annotated[int, Meta(ge=0, lt=1_000_000_000)]
Number = Annotated[int, Meta(ge=0, lt=1_000_000_000_000)]
Name = Annotated[str, Meta(max_length=64)]


class CaretPlace(Struct, frozen=True):
    """Selection after the steps of a batch."""

    anchor: Position
    head: Position


class CaretInput(Struct, frozen=True):
    """Selection of a client in one version of the page. ``anchor`` and ``head``: both None if the client no longer
    shows the page."""

    client: Client
    version: Number
    anchor: Position | None
    head: Position | None


class StepsInput(Struct, frozen=True, kw_only=True):
    """Batch of steps. ``batch``: its number, which identifies these changes until they are confirmed. ``attempt``: the
    number of times that the batch has been sent. ``version``: the version that the steps are based on."""

    epoch: Name
    schema: Name
    client: Client
    batch: Annotated[int, Meta(ge=1, lt=1_000_000_000_000)]
    attempt: Number
    version: Number
    steps: Annotated[list[JsonObject], Meta(min_length=1)]
    caret: CaretPlace | None = None
