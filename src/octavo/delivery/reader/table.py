"""Table of all routes of a site: path, method, body limit, rate limit, and the threads that compute the
response.

A handler is declared with its pattern. The handler's parameters are a view of the request and a visit, which identifies
the visitor and the visited location: ``SiteVisit`` for routes that exist once per site, ``SpaceVisit`` for routes that
exist in each space. Values in the pattern are additional parameters. The modules in ``routes`` declare handlers;
``answering`` creates the visits."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from octavo.delivery.visits.authorization import SiteVisit, SpaceVisit
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.edge import Answer, Request
from octavo.kit.http.routing import Routes
from octavo.sites.insights.queueing import Events

from .answer_cache import ToolResults
from .cards import Cards
from .full_text import SiteTextCache
from .pages import PageCaches

Rate = Literal["visits", "questions", "tries"]
"""Additional rate limit for a request that calls a model or is forwarded to another server."""
Pool = Literal["visits", "questions", "scripts", "calls", "images"]
"""Threads that compute a response: the threads for all visits, or the threads for slow work, which are shared fairly
among organizations."""


class View(Struct, frozen=True):
    """Parameters of a handler other than its visit. ``kept``: the caches of rendered pages. ``cards``: the renderer of
    preview images. ``site_texts``: the cache of the full text of sites. ``tool_results``: the cached tool results.
    ``events``: the queue for visitor events. ``body``: the body of a POST request."""

    context: Context
    tx: Transaction
    request: Request
    kept: PageCaches
    cards: Cards
    site_texts: SiteTextCache
    tool_results: ToolResults
    events: Events
    body: bytes = b""


class Later(NamedTuple):
    """Response to compute after the transaction, in the threads of its route, because it is slow, waits for other
    servers, or writes to the database. ``pool``: the threads that compute it; by default, the threads that the route
    declares. ``rate``: the additional rate limit of the response."""

    organization_id: str
    work_out: Callable[[], Answer]
    pool: Pool = "visits"
    rate: Rate = "visits"


Handler = Callable[..., Answer | Later]
H = TypeVar("H", bound=Callable[..., Answer | Later])


class SiteRoute(NamedTuple):
    """Site route. ``kept``: whether the response is the same for every visitor with the same access and can therefore
    be cached as long as its dependencies are unchanged; for POST requests, this can depend on the request body.
    ``body``: the maximum size of a body in bytes. ``pool``: the threads that compute a response that its handler
    returns as ``Later``."""

    name: str
    pattern: str
    visit: type[SiteVisit] | type[SpaceVisit]
    answer: Handler
    kept: bool
    method: str
    body: int
    rate: Rate
    pool: Pool


ROUTES: list[SiteRoute] = []
of_site: Routes[dict[str, SiteRoute]] = Routes()
of_space: Routes[dict[str, SiteRoute]] = Routes()
_methods: dict[str, dict[str, SiteRoute]] = {}


def route(
    name: str,
    pattern: str,
    *,
    kept: bool = False,
    method: Literal["GET", "POST"] = "GET",
    body: int = 0,
    rate: Rate = "visits",
    pool: Pool = "visits",
) -> Callable[[H], H]:
    """Declare ``handler(view, visit, **values)``. The type of ``visit`` determines whether the route belongs to a site
    or a space. A POST route needs a body limit and a pattern without parameters. Raises ValueError if the declaration
    is invalid."""
    if (method == "POST") != (body > 0):
        raise ValueError(f"{pattern}: POST routes need a body limit, and other routes can't have one")
    if method == "GET" and rate != "visits":
        raise ValueError(f"{pattern}: GET routes must use the rate `visits`")
    if method == "POST" and "{" in pattern:
        raise ValueError(f"{pattern}: POST routes can't have parameters")

    def declare(handler: H) -> H:
        hints = typing.get_type_hints(handler)
        visit, answers = hints["visit"], {hints["return"], *typing.get_args(hints["return"])}
        # A handler that returns both kinds of responses names the threads for each response that is computed
        # later.
        if (Later in answers) != (pool != "visits") and not (
            pool == "visits" and (method == "POST" or Answer in answers)
        ):
            raise ValueError(
                f"{pattern}: a pool is required for handlers that return Later, and not allowed for any other"
            )
        found = SiteRoute(name, pattern, visit, handler, kept, method, body, rate, pool)
        if pattern not in _methods:
            _methods[pattern] = {}
            (of_site if visit is SiteVisit else of_space).add(pattern, _methods[pattern])
        _methods[pattern][method] = found
        ROUTES.append(found)
        return handler

    return declare


def find_posted(path: str) -> SiteRoute | None:
    """Return the POST route for a decoded path. Only the last segments of the path identify the route, before anything
    is looked up, so the route's rate and body limits apply to everyone. The visit checks whether the site exists."""
    parts = path.split("/")
    ends = ("/".join(parts[-length:]) for length in (2, 1))
    return next((found["POST"] for end in ends if "POST" in (found := _methods.get(end, {}))), None)
