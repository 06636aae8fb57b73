"""Create ``permissions`` objects for responses, with the abilities of a role within the reach of the
caller's token."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, assert_never

from octavo.kit.http.operation import TABLE, Actor, Person, Recipient, Script

from .api_scopes import ApiScope
from .roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least
from .scopes import FULL_REACH, Reach, allows, reach_of

Place = Literal["space", "collection", "site", "organization"]
_ABILITIES: dict[Place, Abilities] = {
    "space": SPACE,
    "collection": COLLECTION,
    "site": SITE,
    "organization": ORGANIZATION,
}
_PARAMETER = {"space": "spaceId", "collection": "collectionId", "site": "siteId"}


@lru_cache(maxsize=4096)
def permissions(place: Place, role: str | None, reach: Reach) -> dict[str, bool]:
    """Return the abilities of a role on this kind of object, within the reach of the token. The result is
    cached and must not be modified."""
    return {
        can.value: at_least(role, least) and _reaches(place, can, reach)
        for can, least in _ABILITIES[place].items()
    }


def _reaches(place: Place, can: Can, reach: Reach) -> bool:
    """Return whether the scopes allow any operation that requires this ability on this kind of object. If the ability
    is for making changes, a scope for reading isn't sufficient."""
    if reach == FULL_REACH or (reach.scopes is not None and "admin" in reach.scopes):
        return True
    asking = [
        operation
        for operation in TABLE.values()
        if operation.needs is can and _is_in(place, operation.entered_by)
    ]
    changing = [operation for operation in asking if operation.method != "GET"]
    if can is not Can.VIEW and changing:
        asking = changing
    return (
        any(allows(reach, operation) for operation in asking) if asking else "write" in (reach.scopes or ())
    )


def _is_in(place: Place, entered_by: frozenset[str]) -> bool:
    if place == "organization":
        return "organizationId" in entered_by and "siteId" not in entered_by
    return _PARAMETER[place] in entered_by


_API_SCOPE_OF: dict[str, ApiScope] = {
    "comments": "space:write",
    "integrations": "integration:installations:write",
    "orgs": "organization:members:write",
}
"""Scope that an OAuth app needs to make changes in an area."""


def can_write(actor: Actor, area: str) -> bool:
    """Return whether the scopes of the caller's token allow changes in an area of the API."""
    match actor:
        case Script():
            return f"{area}:write" in actor.scopes
        case Person():
            return actor.scopes is None or not actor.scopes.isdisjoint(
                {"admin", f"{area}:write", _API_SCOPE_OF.get(area)}
                | ({"write"} if area != "access" else set())
            )
        case _:
            assert_never(actor)


def reach_for(to: Recipient) -> Reach:
    """Return the reach of the recipient's token, or full reach if no one is signed in."""
    return reach_of(to.authenticated) if to.authenticated is not None else FULL_REACH
