"""Organizations that callers have recently been admitted to. They determine the owner of a request's turn before
the requested object is looked up.

A request specifies a place, such as a space or a site's path, and any caller can specify any place. The request
counts toward the place's organization only if the same caller has been admitted to the place before. Until then, it
doesn't count toward any organization, and shares turns with other requests of this kind. Therefore, knowing the
name of an organization isn't enough to use up its turns.
"""

from __future__ import annotations

from octavo.kit.db.cache import ByteCache, share

_INSIDERS = share("request owners", 2)
_BYTES = 250
"""Estimated size of an entry in bytes."""


class RecentAccess:
    """Admitted callers of one application. ``asker``: a key that distinguishes callers. ``place``: the space or
    site path that a request specifies."""

    def __init__(self) -> None:
        self._known: ByteCache[str] = ByteCache(_INSIDERS)

    def organization(self, asker: str, *places: str) -> str:
        """Return the organization of the first of these places that the caller has been admitted to; an empty string
        if there is none."""
        for place in places:
            if organization := self._known.get((asker, place), ""):
                return organization
        return ""

    def record(self, asker: str, organization: str, *places: str) -> None:
        """Record that a caller has been admitted to these places of an organization."""
        for key in [(asker, place) for place in places]:
            if self._known.get(key) != organization:
                self._known.put(key, organization, _BYTES)
