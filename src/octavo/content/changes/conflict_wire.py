"""Wire types for conflicts. Fields and values have the same names and formats as in the rest of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.revisions.bodies import get_body
from octavo.core.json_types import JsonObject
from octavo.core.merge import MergeConflict
from octavo.core.page_fields import FIELDS, Cover, LayoutOptions, wire_name
from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.organization.access.wire import User

from .store import SettledConflict
from .types import Choice


class Settlement(Struct):
    """Resolution of a conflict. ``value``: the custom value, only with the choice ``edited``."""

    choice: Choice
    by: User
    at: str
    value: Any | UnsetType = UNSET


class ConflictsQuery(PageQuery):
    """Query parameters for conflicts. ``status``: ``settled`` returns the conflicts that can be reopened, and ``all``
    returns both open and settled conflicts in order."""

    status: Literal["open", "settled", "all"] = "open"


class OpenConflict(Struct, rename="camel", kw_only=True):
    """Conflict between two sides that changed the same content. ``ours``: the value in the change request. ``theirs``:
    the value in main or, depending on ``origin``, in an edit to an older revision (``edit``), in the repository that
    the space is synced with (``repository``), or in a source that was imported again (``import``). ``base``: the value
    before both changes; null if there was none. ``kept``: the side whose version the change request contains until the
    conflict is resolved.

    ``field``: the name of the field on the page or file (``noIndex``, ``layout.width``); ``place`` for the position of
    a page in the tree (the value is ``{parent}``: the ID of a page, or null for the top level); ``file`` for the
    properties of a file's content; or ``body`` for a part of a string (the value is Markdown). If ``kind`` is
    ``deleted``, the values are the whole page with its text, or the whole file, reusable content, or variable.
    ``settled``: the resolution; omitted while the conflict is open.
    """

    id: str
    kind: Literal["field", "block", "deleted"]
    target: str
    target_id: str
    base: Any
    ours: Any
    theirs: Any
    kept: Literal["ours", "theirs"]
    origin: Literal["main", "edit", "repository", "import"]
    object: Literal["change-request-conflict"] = "change-request-conflict"
    field: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    settled: Settlement | UnsetType = UNSET


class ResolveConflict(Struct):
    """Resolution of a conflict. ``value``: the value to use instead of either side; only with the choice ``edited``. It
    has the same format as the sides. For a position, it also has ``at``: the index among the sibling pages. For a
    conflict about a deletion, it must be null. A conflict about the content of a file can't have a value: update the
    file instead."""

    choice: Choice
    value: Any | UnsetType = UNSET


class ResolveAnswer(Struct):
    """Result of resolving a conflict. ``conflicts``: the number of conflicts that are still open."""

    revision: str
    conflicts: int


_ELEMENTS = {"cover": {"light": "ref", "dark": "refDark", "y": "yPos"}}
"""API names of field elements that have a different name internally, by field."""
_STRUCTS: dict[str, type[Struct]] = {"layout": LayoutOptions, "cover": Cover}
_TIMES = ("created_at", "updated_at")
_INTERNAL = frozenset({"rank", "body", "content", *_TIMES})


def _element(field: str, name: str) -> str:
    """Return the API name of an element of ``layout``, ``cover``, ``variables``, ``tags``, or ``metaLinks``."""
    if field in FIELDS and FIELDS[field].is_named_by_people:
        return name  # Names chosen by people.
    return _ELEMENTS.get(field, {}).get(name) or wire_name(name)


def field_name(conflict: MergeConflict) -> str | None:
    if conflict.field is None:
        return None
    if conflict.kind == "block":
        return "body" if conflict.field == "content" else conflict.field
    if conflict.target == "variable" and conflict.field == "content":
        return "value"
    name, dot, element = conflict.field.partition(".")
    return f"{wire_name(name)}{dot}{_element(name, element) if dot else ''}"


def present_conflict(
    tx: Transaction, conflict: MergeConflict, title: str | None, settled: Settlement | UnsetType = UNSET
) -> OpenConflict:
    sides = (present_value(tx, conflict, value) for value in (conflict.base, conflict.ours, conflict.theirs))
    base, ours, theirs = sides
    return OpenConflict(
        id=conflict.key,
        kind=conflict.kind,
        target=conflict.target,
        target_id=conflict.id,
        base=base,
        ours=ours,
        theirs=theirs,
        kept=conflict.kept,
        origin=conflict.origin,
        field=field_name(conflict) or UNSET,
        title=title if title is not None else UNSET,
        settled=settled,
    )


def present_settlement(settled: SettledConflict, people: Mapping[str, User]) -> Settlement:
    value = UNSET if settled.value is None else msgspec.json.decode(settled.value)
    return Settlement(settled.choice, people[settled.settled_by], iso(settled.settled_at), value)


def present_value(tx: Transaction, conflict: MergeConflict, value: Any) -> object:
    """Return the value of one side of a conflict in its API format."""
    if value is None or conflict.kind == "block":
        return value
    if conflict.kind == "deleted":
        return _whole(tx, conflict.target, value)
    if conflict.field == "place":
        return {"parent": value[0]}
    if conflict.field == "file":
        return _named({key: item for key, item in value.items() if key != "content"})
    if conflict.target == "variable" and conflict.field == "content":
        return msgspec.json.decode(value)
    if conflict.field in ("layout", "cover") and isinstance(value, dict):
        return _named(value, conflict.field)
    return value


def _named(value: Mapping[str, object], field: str = "") -> JsonObject:
    return {_element(field, key): item for key, item in value.items()}


def _whole(tx: Transaction, target: str, value: JsonObject) -> JsonObject:
    """Return a whole page or item, with its text, in its API format."""
    shown = _named({key: item for key, item in value.items() if key not in _INTERNAL})
    for key in ("layout", "cover"):
        if isinstance(shown.get(key), dict):
            shown[key] = _named(shown[key], key)
    for key in _TIMES:
        if value.get(key):
            shown[wire_name(key)] = iso(value[key])
    text = value.get("body") if target == "page" else value.get("content")
    if text is None:
        return shown
    if target == "variable":
        shown["value"] = msgspec.json.decode(text)
    elif target != "file":
        shown["markdown"] = get_body(tx, text)
    return shown


class _Place(Struct):
    parent: str | None
    at: Annotated[int, Meta(ge=0)] | None = None


def read_edited(conflict: MergeConflict, value: object) -> object:
    """Parse a custom value for a conflict into the internal format of the sides' values. For a position, this is
    ``(parent, at)``. Raises BadRequest if the value is invalid."""
    if conflict.kind == "deleted" and value is not None:
        raise BadRequest(
            "value: must be null to delete the content. To change the content instead of deleting "
            "it, edit it directly."
        )
    if conflict.kind != "field":
        return value
    if conflict.field == "file":
        raise BadRequest(
            "value: isn't allowed for file conflicts. Edit the file directly to resolve the conflict."
        )
    if conflict.field == "place":
        try:
            place = msgspec.convert(value, _Place)
        except msgspec.ValidationError as error:
            raise BadRequest(f"value: {error}") from None
        return place.parent, place.at
    if conflict.target == "variable" and conflict.field == "content":
        return None if value is None else msgspec.json.encode(value).decode()
    if conflict.field in ("layout", "cover") and isinstance(value, dict):
        names = {_element(conflict.field, name): name for name in _STRUCTS[conflict.field].__struct_fields__}
        return {names.get(key, key): item for key, item in value.items()}
    return value
