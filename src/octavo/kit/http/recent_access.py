"""Organizations that callers were admitted to, which determine in whose turn a request is answered before it is
looked up.

A request names a place (a space, a site's path), and any caller can name any place. It counts as an
organization's once the same caller was admitted there; until then it belongs to none, and takes turns with
others like it. So knowing the name of an organization is not enough to use up its turns.
"""

from __future__ import annotations

from octavo.kit.db.cache import ByteCache, share

_INSIDERS = share("request owners", 2)
_BYTES = 250
"""Bytes of an entry."""


class Insiders:
    """Admitted callers of one application. ``asker``: the caller, in any spelling that tells callers apart;
    ``place``: what they name."""

    def __init__(self) -> None:
        self._known: ByteCache[str] = ByteCache(_INSIDERS)

    def organization(self, asker: str, *places: str) -> str:
        """Return the organization of the first of these places where the caller was admitted; empty without
        one."""
        for place in places:
            if organization := self._known.get((asker, place), ""):
                return organization
        return ""

    def let_in(self, asker: str, organization: str, *places: str) -> None:
        """Record that a caller may enter these places of an organization."""
        for key in [(asker, place) for place in places]:
            if self._known.get(key) != organization:
                self._known.put(key, organization, _BYTES)
