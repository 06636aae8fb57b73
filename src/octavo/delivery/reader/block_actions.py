"""Interaction with integration blocks: visitors use the controls that a script offered, and the script
renders the block again.

A rendered component carries a signed offer: its input, its actions, its fields, and their values. Using a control sends
back the offer, the number of an action, and the values of fields. Therefore, visitors can only trigger the actions that
the script offered for this particular block."""

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
"""Maximum number of characters in an offer. Blocks with a larger offer are shown but inactive."""
_LONGEST = 10_000
"""Maximum number of characters in a field's value."""
MAX_PRESS = 1024 * 1024
"""Maximum size in bytes of an interaction: an offer, which is signed as text, and the values of its
fields."""
_MANY = 200
_DEEPEST = 60

OPEN, CLOSE = "@ui.modal.open", "@ui.modal.close"

Value = str | bool | int | float | list[str | int | float]


class ComponentField(Struct, frozen=True, omit_defaults=True):
    """Field of a component. ``of``: the options from which visitors select ``one`` or ``many``."""

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


class OfferedComponent(Struct, frozen=True):
    """Current state of an integration's component."""

    id: str
    props: dict[str, Any]
    state: dict[str, Any] | None = None


class Offer(Struct, frozen=True, omit_defaults=True):
    """Interactions that a rendered block offers, signed so that pages can't forge them. ``opener``: the component that
    opened the current component, if that is a modal."""

    block: tuple[Any, ...]
    component: OfferedComponent
    actions: list[dict[str, Any]]
    fields: dict[str, ComponentField]
    opener: OfferedComponent | None = None


class Press(Struct, frozen=True):
    """Interaction posted by a page. ``act``: the number of an action in the offer."""

    offer: str
    act: int
    values: dict[str, Value] = {}


class DrawRequest(Struct, frozen=True):
    """Request to a script to render a component after an action."""

    component: OfferedComponent
    action: dict[str, Any] | None = None
    opener: OfferedComponent | None = None


def name_block(subject: Subject, space_id: str, key: str) -> tuple[object, ...]:
    """Return a key that identifies a block on the page and the version of its integration. Offers are checked
    against this key."""
    return (*version_of(subject), space_id, key)


def can_be_offered(action: Any, modal: bool) -> bool:
    """Return whether visitors of a published page can use an action. They can use actions that the script defines, and
    can open one modal at a time."""
    name = action.get("action") if isinstance(action, dict) else None
    if not isinstance(name, str):
        return False
    if name == OPEN:
        known = isinstance(action.get("componentId"), str) and isinstance(action.get("props"), dict)
        return known and not modal
    return modal if name == CLOSE else not name.startswith("@")


def sign_offer(context: Context, offer: Offer) -> str | None:
    """Return a signed offer; None if it is too large to be sent back and forth."""
    text = msgspec.json.encode(offer).decode()
    return context.signer.sign(_PURPOSE, text) if len(text) <= _LARGEST else None


def read_press(context: Context, body: bytes, block: tuple[object, ...]) -> DrawRequest:
    """Return the request that an interaction with a block makes. Raises BadRequest if the interaction is
    invalid, and Conflict if the offer is outdated."""
    try:
        given = msgspec.json.decode(body, type=Press)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"body: {error}") from None
    signed = context.signer.verify(_PURPOSE, given.offer)
    if signed is None:
        raise BadRequest("offer: must be signed by this server. Reload the page, and try again.")
    offer = msgspec.json.decode(signed, type=Offer)
    if msgspec.json.encode(offer.block) != msgspec.json.encode(block):
        raise Conflict("This block has changed. Reload the page, and try again.")
    if not 0 <= given.act < len(offer.actions):
        raise BadRequest("act: must be the number of an action in the offer")
    for name, value in given.values.items():
        field = offer.fields.get(name)
        if field is None:
            raise BadRequest(f"values.{name[:100]}: this block has no such field")
        if not field.allows(value):
            raise BadRequest(f"values.{name[:100]}: isn't a valid value for this field")
    state = {**(offer.component.state or {}), **given.values}
    action = _resolve_state(offer.actions[given.act], state)
    here = OfferedComponent(offer.component.id, offer.component.props, state)
    if action["action"] == OPEN:
        return DrawRequest(OfferedComponent(action["componentId"], action["props"]), opener=here)
    if action["action"] == CLOSE and offer.opener is not None:
        return DrawRequest(offer.opener, action)
    return DrawRequest(here, action, offer.opener)


def close_modal(wanted: DrawRequest, value: Mapping[str, object]) -> DrawRequest | None:
    """Return the next request after a component is completed. A modal passes its value to the component that opened
    it."""
    action = {"action": CLOSE, "returnValue": value}
    return DrawRequest(wanted.opener, action) if wanted.opener is not None else None


def _resolve_state(value: object, state: Mapping[str, object], depth: int = 0) -> Any:
    """Return part of an action with names replaced by their values in the state."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [_resolve_state(one, state, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(name := value.get("$state"), str) and len(value) == 1:
        return state.get(name)
    return {key: _resolve_state(one, state, depth + 1) for key, one in value.items()}
