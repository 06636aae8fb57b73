"""Cached results of MCP tools that read a site, shared by all visitors with the same access. The rules are the same as
for cached pages, except that the key also includes the arguments.

Assistants often request the same pages. A result is cached until the next commit, or longer if it depends only on the
site and the revisions of its spaces, which are quick to compare. The key includes the site's URL, so each entry is for
only one audience. A result that depends on the visitor is cached only for the same cookies, query, and token, and only
as long as the token is valid."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from octavo.core.hosts import host_name
from octavo.delivery.visits.admission import Admission
from octavo.delivery.visits.authorization import ResponseDependencies
from octavo.kit.clock import now
from octavo.kit.db.cache import FreshCache, share
from octavo.kit.db.database import Database, Transaction
from octavo.kit.http.edge import Answer, Request
from octavo.kit.http.mcp import ToolCall

from .tracking import EventNote

_SHARED, _PERSONAL = share("tool results", 12), share("tool results for individual visitors", 4)
_ENTRY = 4096
_ARGUMENTS = 1024
"""Maximum size in bytes of the arguments of a cached call, such as a URL or search terms."""


class ToolResult(NamedTuple):
    """Result of a tool. ``result``: the tool's result as JSON or, for an error, the response to the caller. ``notes``:
    the events to record each time the result is used. ``dependencies`` and ``admission``: see ``Visited``."""

    result: bytes | Answer
    notes: tuple[EventNote, ...]
    dependencies: ResponseDependencies
    admission: Admission


class ToolPlace(NamedTuple):
    """Location where a tool is called: the site's ID if the site has its own hostname, and the decoded path."""

    site: str
    path: str


def _measure(result: ToolResult) -> int | None:
    """Return the size of a result, or None if it must not be cached. Errors aren't cached, because every made-up
    URL would add an entry to the cache."""
    if isinstance(result.result, Answer) or result.admission.preview:
        return None
    return len(result.result) + _ENTRY


class ToolResults:
    """Cache of tool results, one per application."""

    def __init__(self, database: Database) -> None:
        self._shared: FreshCache[ToolResult] = FreshCache(database, _SHARED, _measure)
        self._personal: FreshCache[ToolResult] = FreshCache(database, _PERSONAL, _measure)

    def find(
        self, place: ToolPlace, request: Request, call: ToolCall, generation: int | None
    ) -> ToolResult | None:
        """Return a cached result that is valid as of the last commit."""
        result = self._shared.find((place, call.asked), generation)
        if result is None:
            result = self._personal.find((place, call.asked, _hash_visitor(request)), generation)
        return result if result is not None and _is_valid(result) else None

    def renew(self, tx: Transaction, place: ToolPlace, request: Request, call: ToolCall) -> ToolResult | None:
        """Return a result that was cached before the last commit, if it is still valid."""
        return self._shared.renew(
            (place, call.asked), lambda result: _is_unchanged(result, tx, place, request)
        )

    def get(
        self,
        tx: Transaction,
        place: ToolPlace,
        request: Request,
        call: ToolCall,
        admission: Admission,
        make: Callable[[], ToolResult],
    ) -> ToolResult:
        """Return the cached result for an admitted visitor, or call ``make``."""
        if admission.preview or len(call.asked.arguments) > _ARGUMENTS:
            return make()
        if admission.personal:
            result = self._personal.get((place, call.asked, _hash_visitor(request)), make)
            return result if _is_valid(result) else make()
        return self._shared.get(
            (place, call.asked), make, lambda result: _is_unchanged(result, tx, place, request)
        )


def _is_unchanged(result: ToolResult, tx: Transaction, place: ToolPlace, request: Request) -> bool:
    return result.dependencies.are_unchanged(tx, host_name(request.header(b"host")), place.path)


def _is_valid(result: ToolResult) -> bool:
    """Return whether the visitor's sign-in is still valid."""
    return result.admission.until is None or now() < result.admission.until


def _hash_visitor(request: Request) -> bytes:
    """Return a hash of all data that identifies the visitor: cookies, token, and query, each of which may be long."""
    headers = [request.headers.get(name, b"") for name in (b"cookie", b"authorization")]
    identity = b"".join(b"%d:%b" % (len(one), one) for one in (*headers, request.query_string))
    return blake2b(identity, digest_size=32).digest()
