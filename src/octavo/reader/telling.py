"""What tools said that read a site, kept for everybody who is told the same: by the rules of pages, with the arguments
in place of the rest of an address.

An assistant asks for the same pages as the next one. What a tool said is kept until anybody commits anything, and
longer where it was made of nothing but the site and the revisions of its spaces, which it is enough to compare. It is
kept for the site's address, so for one audience; where it depends on who asks, for the same cookies, query and token
alone, and no longer than the token is good.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from ..core.hosts import host_name
from ..kit.cache import FreshCache, share
from ..kit.clock import now
from ..kit.db import Database, Transaction
from ..kit.edge import Answer, Request
from ..kit.mcp import ToolCall
from ..visits import Admission, MadeOf
from .tracking import Note

_SHARED, _PERSONAL = share("what tools said", 12), share("what tools said to single visitors", 4)
_ENTRY = 4096
_ARGUMENTS = 1024
"""Bytes of the arguments of what is kept: an address, or the words of a search."""


class Told(NamedTuple):
    """``result``: what a tool said, as JSON, or the answer to who called it, where that is an error. ``notes``: what is
    noted each time that it is said. ``made_of`` and ``admission``: as of a page."""

    result: bytes | Answer
    notes: tuple[Note, ...]
    made_of: MadeOf
    admission: Admission


class ToolPlace(NamedTuple):
    """Where a tool is called: the id of the site whose own host name it is, if that, and the decoded path."""

    site: str
    path: str


def _cost(told: Told) -> int | None:
    """Errors are as many as there are spellings; what is there has one address."""
    if isinstance(told.result, Answer) or told.admission.preview:
        return None
    return len(told.result) + _ENTRY


class Tellings:
    """Of one application."""

    def __init__(self, database: Database) -> None:
        self._shared: FreshCache[Told] = FreshCache(database, _SHARED, _cost)
        self._personal: FreshCache[Told] = FreshCache(database, _PERSONAL, _cost)

    def find(self, place: ToolPlace, request: Request, call: ToolCall, generation: int | None) -> Told | None:
        """What is kept, as it was since the last commit."""
        told = self._shared.find((place, call.asked), generation)
        if told is None:
            told = self._personal.find((place, call.asked, _who(request)), generation)
        return told if told is not None and _is_valid(told) else None

    def renew(self, tx: Transaction, place: ToolPlace, request: Request, call: ToolCall) -> Told | None:
        """What was kept before somebody committed, if it is still what there is."""
        return self._shared.renew((place, call.asked), lambda told: _is_still_so(told, tx, place, request))

    def get(
        self,
        tx: Transaction,
        place: ToolPlace,
        request: Request,
        call: ToolCall,
        admission: Admission,
        make: Callable[[], Told],
    ) -> Told:
        """What is kept for who was admitted, or what ``make`` gives."""
        if admission.preview or len(call.asked.arguments) > _ARGUMENTS:
            return make()
        if admission.personal:
            told = self._personal.get((place, call.asked, _who(request)), make)
            return told if _is_valid(told) else make()
        return self._shared.get(
            (place, call.asked), make, lambda told: _is_still_so(told, tx, place, request)
        )


def _is_still_so(told: Told, tx: Transaction, place: ToolPlace, request: Request) -> bool:
    return told.made_of.is_still_so(tx, host_name(request.header(b"host")), place.path)


def _is_valid(told: Told) -> bool:
    """Whether what the visitor proved still counts."""
    return told.admission.until is None or now() < told.admission.until


def _who(request: Request) -> bytes:
    """A hash of all that says who asks: cookies, token and query, each of which may be long."""
    said = [request.headers.get(name, b"") for name in (b"cookie", b"authorization")]
    told = b"".join(b"%d:%b" % (len(one), one) for one in (*said, request.query_string))
    return blake2b(told, digest_size=32).digest()
