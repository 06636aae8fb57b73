"""The ``permissions`` objects on the wire: what a role allows, as far as the caller's token reaches."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, assert_never

from octavo.kit.http.operation import TABLE, Actor, Person, Recipient, Script

from .api_scopes import ApiScope
from .roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least
from .scopes import WHOLE, Reach, allows, reach_of

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
    """What somebody with this role may do in such a place, as far as their token reaches. Not to be changed: it is kept
    and shown again."""
    return {
        can.value: at_least(role, least) and _reaches(place, can, reach)
        for can, least in _ABILITIES[place].items()
    }


def _reaches(place: Place, can: Can, reach: Reach) -> bool:
    """Whether the scopes allow any operation that asks for this ability in such a place; reading with it is not
    enough where one also changes something with it."""
    if reach == WHOLE or (reach.scopes is not None and "admin" in reach.scopes):
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
"""The scope by which a program that asks for the API changes something in an area."""


def may_write(actor: Actor, area: str) -> bool:
    """Whether the caller's token may change anything in an area of the API, as far as its scopes go."""
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
    """How far the token reaches of whom something is presented to; all where nobody is signed in."""
    return reach_of(to.authenticated) if to.authenticated is not None else WHOLE
