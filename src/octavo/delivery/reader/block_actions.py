"""What visitors do with the blocks of integrations: they press what a script offered, and it draws anew.

A drawn component carries an offer, signed by us: what it was drawn of, its actions, its fields and their values. Who
presses sends the offer back with the number of an action and the values of fields. So a visitor can have a script do
what that script offered on this very block, and nothing of their own making.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, Conflict
from octavo.extensions.integrations.blocks import version_of
from octavo.extensions.integrations.invoking import Subject
from octavo.kit.context import Context

_PURPOSE = "block"
_LARGEST = 64 * 1024
"""Characters of an offer; a block with a larger one is shown and does nothing."""
_LONGEST = 10_000
"""Characters of the value of a field."""
MAX_PRESS = 1024 * 1024
"""Bytes of a press: an offer, which is signed as text, and the values of its fields."""
_MANY = 200
_DEEPEST = 60

OPEN, CLOSE = "@ui.modal.open", "@ui.modal.close"

Value = str | bool | int | float | list[str | int | float]


class ComponentField(Struct, frozen=True, omit_defaults=True):
    """A field of a component. ``of``: the values of one that chooses ``one`` or ``many``."""

    kind: Literal["text", "flag", "one", "many"]
    of: list[str | int | float] = []

    def allows(self, value: Value) -> bool:
        if self.kind == "text":
            return isinstance(value, str) and len(value) <= _LONGEST
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "one":
            return not isinstance(value, bool) and value in self.of
        return isinstance(value, list) and len(value) <= _MANY and all(one in self.of for one in value)


class Component(Struct, frozen=True):
    """A component of an integration as it is now."""

    id: str
    props: dict[str, Any]
    state: dict[str, Any] | None = None


class Offer(Struct, frozen=True, omit_defaults=True):
    """``opener``: of a modal, the component that opened it."""

    block: tuple[Any, ...]
    component: Component
    actions: list[dict[str, Any]]
    fields: dict[str, ComponentField]
    opener: Component | None = None


class Press(Struct, frozen=True):
    """What a page posts. ``act`` is the number of an action of the offer."""

    offer: str
    act: int
    values: dict[str, Value] = {}


class DrawRequest(Struct, frozen=True):
    """What a script is asked for: to draw a component after an action."""

    component: Component
    action: dict[str, Any] | None = None
    opener: Component | None = None


def name_block(subject: Subject, space_id: str, key: str) -> tuple[Any, ...]:
    """Of what an offer is: a block of a page, as long as its integration is the same."""
    return (*version_of(subject), space_id, key)


def can_be_offered(action: Any, modal: bool) -> bool:
    """Whether visitors of a published page may do that: what a script made up itself, and modals, one at a time."""
    name = action.get("action") if isinstance(action, dict) else None
    if not isinstance(name, str):
        return False
    if name == OPEN:
        known = isinstance(action.get("componentId"), str) and isinstance(action.get("props"), dict)
        return known and not modal
    return modal if name == CLOSE else not name.startswith("@")


def sign_offer(context: Context, offer: Offer) -> str | None:
    """None for one that is too large to be sent to and fro."""
    text = msgspec.json.encode(offer).decode()
    return context.signer.sign(_PURPOSE, text) if len(text) <= _LARGEST else None


def read_press(context: Context, body: bytes, block: tuple[Any, ...]) -> DrawRequest:
    """What is wanted by a press at a block. Raises BadRequest, and Conflict for an offer that is not good any more."""
    try:
        given = msgspec.json.decode(body, type=Press)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"body: {error}") from None
    signed = context.signer.verify(_PURPOSE, given.offer)
    if signed is None:
        raise BadRequest("offer: it was not made here.")
    offer = msgspec.json.decode(signed, type=Offer)
    if msgspec.json.encode(offer.block) != msgspec.json.encode(block):
        raise Conflict("This block was changed meanwhile. Load it again.")
    if not 0 <= given.act < len(offer.actions):
        raise BadRequest("act: there is no such action.")
    for name, value in given.values.items():
        field = offer.fields.get(name)
        if field is None or not field.allows(value):
            raise BadRequest(f"values.{name[:100]}: the block has no field that takes this.")
    state = {**(offer.component.state or {}), **given.values}
    action = _resolved(offer.actions[given.act], state)
    here = Component(offer.component.id, offer.component.props, state)
    if action["action"] == OPEN:
        return DrawRequest(Component(action["componentId"], action["props"]), opener=here)
    if action["action"] == CLOSE and offer.opener is not None:
        return DrawRequest(offer.opener, action)
    return DrawRequest(here, action, offer.opener)


def closed(wanted: DrawRequest, value: dict[str, Any]) -> DrawRequest | None:
    """What is wanted once a component is complete: a modal gives its value to what opened it."""
    action = {"action": CLOSE, "returnValue": value}
    return DrawRequest(wanted.opener, action) if wanted.opener is not None else None


def _resolved(value: Any, state: Mapping[str, Any], depth: int = 0) -> Any:
    """A part of an action with what the state holds in place of its name."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [_resolved(one, state, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(name := value.get("$state"), str) and len(value) == 1:
        return state.get(name)
    return {key: _resolved(one, state, depth + 1) for key, one in value.items()}
