"""The ``permissions`` objects on the wire: what a role allows, as far as the caller's token reaches."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from ..kit.operation import TABLE, Actor, Call
from .roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least
from .scopes import allows

Place = Literal["space", "collection", "site", "organization"]
_ABILITIES: dict[Place, Abilities] = {
    "space": SPACE,
    "collection": COLLECTION,
    "site": SITE,
    "organization": ORGANIZATION,
}
_PARAMETER = {"space": "spaceId", "collection": "collectionId", "site": "siteId"}


@lru_cache(maxsize=4096)
def permissions(place: Place, role: str | None, scopes: frozenset[str] | None) -> dict[str, bool]:
    """What somebody with this role may do in such a place, through a token with these scopes (None: all). Not to be
    changed: it is kept and shown again."""
    return {
        can.value: at_least(role, least) and _reaches(place, can, scopes)
        for can, least in _ABILITIES[place].items()
    }


def _reaches(place: Place, can: Can, scopes: frozenset[str] | None) -> bool:
    """Whether the scopes allow any operation that asks for this ability in such a place; reading with it is not
    enough where one also changes something with it."""
    if scopes is None or "admin" in scopes:
        return True
    asking = [
        operation
        for operation in TABLE.values()
        if operation.needs is can and _is_in(place, operation.entered_by)
    ]
    changing = [operation for operation in asking if operation.method != "GET"]
    if can is not Can.VIEW and changing:
        asking = changing
    return any(allows(scopes, operation) for operation in asking) if asking else "write" in scopes


def _is_in(place: Place, entered_by: frozenset[str]) -> bool:
    if place == "organization":
        return "organizationId" in entered_by and "siteId" not in entered_by
    return _PARAMETER[place] in entered_by


def may_write(actor: Actor, area: str) -> bool:
    """Whether the caller's token may change anything in an area of the API, as far as its scopes go."""
    scopes = actor.scopes
    return scopes is None or not scopes.isdisjoint(
        {"admin", f"{area}:write"} | ({"write"} if area != "access" else set())
    )


def scopes_of(call: Call) -> frozenset[str] | None:
    """The scopes that a call is made with; None: all, also where nobody is signed in."""
    return call.authenticated.scopes if call.authenticated is not None else None
