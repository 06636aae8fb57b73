"""Who was let in where: by that, whose turn a request is answered in is known before it is looked up.

A request names a place (a space, a site's path), and anybody may name any. It counts as an organization's once the same
caller was let in there; until then it belongs to none, and takes turns with others that do. So nobody uses up the turns
of an organization that they only know the name of.
"""

from __future__ import annotations

from octavo.kit.db.cache import ByteCache, share

_INSIDERS = share("whose requests are whose", 2)
_BYTES = 250
"""Of an entry."""


class Insiders:
    """Of one application. ``asker``: who calls, in any spelling that tells callers apart; ``place``: what they name."""

    def __init__(self) -> None:
        self._known: ByteCache[str] = ByteCache(_INSIDERS)

    def organization(self, asker: str, *places: str) -> str:
        """Of the first of these places where the asker was let in; empty without."""
        for place in places:
            if organization := self._known.get((asker, place), ""):
                return organization
        return ""

    def let_in(self, asker: str, organization: str, *places: str) -> None:
        """Notes that an asker may enter these places, which are an organization's."""
        for key in [(asker, place) for place in places]:
            if self._known.get(key) != organization:
                self._known.put(key, organization, _BYTES)
