"""Conflicts on the wire: fields by their names in the API, values as the API shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.revisions.bodies import get_body
from octavo.core.merge import Conflict
from octavo.core.pages import Cover, Layout
from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.organization.access.wire import User

from .store import Settled
from .types import Choice


class Settlement(Struct):
    """``value``: what was taken, with the choice ``edited``."""

    choice: Choice
    by: User
    at: str
    value: Any | UnsetType = UNSET


class ConflictsQuery(PageQuery):
    """``status``: ``settled`` are those that can be opened again, ``all`` both, in the order of the conflicts."""

    status: Literal["open", "settled", "all"] = "open"


class OpenConflict(Struct, rename="camel"):
    """What two sides both changed. ``ours`` is the change request. ``theirs`` is main, or with the ``origin`` ``edit``
    an edit that was made on an older revision, with ``repository`` the repository that the space is synced with, with
    ``import`` a source that was imported again. ``base`` is how it was; a value null is "not there". ``kept`` is
    in the change request until the conflict is settled.

    ``field`` is the name the page or file has it by (``noIndex``, ``layout.width``), ``place`` for where a page is
    in the tree (the value is ``{parent}``: the id of a page, null for the top), ``file`` for what describes the bytes
    of a file, ``body`` for a part of a text (the value is Markdown). With ``kind`` ``deleted`` the values are the
    whole page, with its text, or the whole file, reusable content or variable. ``settled``: how somebody settled it; it
    is not open then.
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
    """``value``: with ``edited``, what to take instead of any side, in the form that the sides have; a place also takes
    ``at``, the index among the pages there. A conflict about a deletion takes null alone, and one about the bytes
    of a file none: editing the page or file settles these."""

    choice: Choice
    value: Any | UnsetType = UNSET


class ResolveAnswer(Struct):
    """``conflicts``: how many are still open."""

    revision: str
    conflicts: int


_ELEMENTS = {"cover": {"light": "ref", "dark": "refDark", "y": "yPos", "height": "height"}}
"""Elements of fields whose names in the API are others."""
_STRUCTS: dict[str, type[Struct]] = {"layout": Layout, "cover": Cover}
_WORDS = re.compile(r"_(\w)")
_TIMES = ("created_at", "updated_at")
_INTERNAL = frozenset({"rank", "body", "content", *_TIMES})


def _camel(name: str) -> str:
    return _WORDS.sub(lambda match: match[1].upper(), name)


def _element(field: str, name: str) -> str:
    """The name of an element of ``layout``, ``cover``, ``variables``, ``tags`` or ``metaLinks``."""
    if field in ("variables", "tags", "meta_links"):
        return name  # whatever people called it
    return _ELEMENTS.get(field, {}).get(name) or _camel(name)


def field_name(conflict: Conflict) -> str | None:
    if conflict.field is None:
        return None
    if conflict.kind == "block":
        return "body" if conflict.field == "content" else conflict.field
    if conflict.target == "variable" and conflict.field == "content":
        return "value"
    name, dot, element = conflict.field.partition(".")
    return f"{_camel(name)}{dot}{_element(name, element) if dot else ''}"


def present_conflict(
    tx: Transaction, conflict: Conflict, title: str | None, settled: Settlement | UnsetType = UNSET
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


def present_settlement(settled: Settled, people: Mapping[str, User]) -> Settlement:
    value = UNSET if settled.value is None else msgspec.json.decode(settled.value)
    return Settlement(settled.choice, people[settled.settled_by], iso(settled.settled_at), value)


def present_value(tx: Transaction, conflict: Conflict, value: Any) -> Any:
    """One side of a conflict."""
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


def _named(value: dict[str, Any], field: str = "") -> dict[str, Any]:
    return {_element(field, key): item for key, item in value.items()}


def _whole(tx: Transaction, target: str, value: dict[str, Any]) -> dict[str, Any]:
    """A page or item as a whole, with its text."""
    shown = _named({key: item for key, item in value.items() if key not in _INTERNAL})
    for key in ("layout", "cover"):
        if isinstance(shown.get(key), dict):
            shown[key] = _named(shown[key], key)
    for key in _TIMES:
        if value.get(key):
            shown[_camel(key)] = iso(value[key])
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


def read_edited(conflict: Conflict, value: Any) -> Any:
    """The value of somebody who settles a conflict otherwise, as the conflict's sides have it inside: of a place
    ``(parent, at)``. Raises BadRequest."""
    if conflict.kind == "deleted" and value is not None:
        raise BadRequest("value: expected null, which deletes it; to keep it otherwise, edit it.")
    if conflict.kind != "field":
        return value
    if conflict.field == "file":
        raise BadRequest(
            "value: a file's bytes are given by an edit of the file, which settles this conflict."
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
