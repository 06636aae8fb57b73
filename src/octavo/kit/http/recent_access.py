"""Organizations to which callers were admitted, which determine the owner of a request's turn before it is
looked up.

A request names a place (a space, a site's path), and any caller can name any place. It counts toward an
organization once the same caller was admitted there; until then it belongs to none, and shares turns with
other such requests. So knowing the name of an organization is not enough to use up its turns.
"""

from __future__ import annotations

from octavo.kit.db.cache import ByteCache, share

_INSIDERS = share("request owners", 2)
_BYTES = 250
"""Number of bytes of an entry."""


class RecentAccess:
    """Admitted callers of one application. ``asker``: a key that distinguishes callers. ``place``: the space or the
    site's path that a request names."""

    def __init__(self) -> None:
        self._known: ByteCache[str] = ByteCache(_INSIDERS)

    def organization(self, asker: str, *places: str) -> str:
        """Return the organization of the first of these places to which the caller was admitted; empty if
        there is none."""
        for place in places:
            if organization := self._known.get((asker, place), ""):
                return organization
        return ""

    def record(self, asker: str, organization: str, *places: str) -> None:
        """Record that a caller can enter these places of an organization."""
        for key in [(asker, place) for place in places]:
            if self._known.get(key) != organization:
                self._known.put(key, organization, _BYTES)
