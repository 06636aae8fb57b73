"""The one table of what is at a site: each address below it with its method, the bound of its body, how often it may be
asked for, and the threads that work it out.

A handler is declared with its pattern and takes a view of the request and one visit, which says who visits what:
``SiteVisit`` for what a site has once, ``SpaceVisit`` for what each of its spaces has. Values of the pattern are
further parameters. The modules in ``routes`` declare them; ``answering`` makes the visits.
"""

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

from .answer_cache import Tellings
from .cards import Cards
from .full_text import Whole
from .pages import Kept

Rate = Literal["visits", "questions", "tries"]
"""What a request counts as besides a visit, which each is: a question to a model, or something sent elsewhere."""
Pool = Literal["visits", "questions", "scripts", "calls", "images"]
"""Which threads work an answer out: those of all visits, or those for what takes long, which organizations share."""


class View(Struct, frozen=True):
    """What a handler needs beside its visit. ``kept``: what is kept of pages that were drawn; ``cards`` draws their
    images, ``whole`` writes all of them in one text. ``tellings``: what tools said. ``events``: what visitors did. ``body``: of a POST."""

    context: Context
    tx: Transaction
    request: Request
    kept: Kept
    cards: Cards
    whole: Whole
    tellings: Tellings
    events: Events
    body: bytes = b""


class Later(NamedTuple):
    """An answer that is worked out when the transaction is over, in the threads of its route, because it takes long,
    or as long as others take, or writes. ``pool``: that of its route, or where only some answers of a route take long,
    their own. ``rate``: what it counts as then."""

    organization_id: str
    work_out: Callable[[], Answer]
    pool: Pool = "visits"
    rate: Rate = "visits"


Handler = Callable[..., Answer | Later]
H = TypeVar("H", bound=Callable[..., Answer | Later])


class SiteRoute(NamedTuple):
    """``kept``: the answer is the same for all who may make this visit, and is kept as long as what it was made of; of
    what is posted, that may be so.
    ``body``: bytes that one may have. ``pool``: where what its handler gives as ``Later`` is worked out."""

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
    """Declares ``handler(view, visit, **values)``; the type of ``visit`` says whether it is of a site or a space. What
    is posted has a bound of its body and a pattern without parameters. Raises ValueError."""
    if (method == "POST") != (body > 0):
        raise ValueError(f"{pattern}: what is posted has a bound of its body, and nothing else has a body")
    if method == "GET" and rate != "visits":
        raise ValueError(f"{pattern}: what is read counts as a visit")
    if method == "POST" and "{" in pattern:
        raise ValueError(f"{pattern}: where something is posted has one name")

    def declare(handler: H) -> H:
        hints = typing.get_type_hints(handler)
        visit, answers = hints["visit"], {hints["return"], *typing.get_args(hints["return"])}
        # A handler that gives both says with each of what it works out later in which threads.
        if (Later in answers) != (pool != "visits") and not (
            pool == "visits" and (method == "POST" or Answer in answers)
        ):
            raise ValueError(
                f"{pattern}: what is worked out later says in which threads, and nothing else does"
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
    """What may be posted to a decoded path, known from its end before anything is looked up: so its rate and the bound
    of its body hold for whoever asks. Which site it is of, and whether it is there, a visit says."""
    parts = path.split("/")
    ends = ("/".join(parts[-length:]) for length in (2, 1))
    return next((found["POST"] for end in ends if "POST" in (found := _methods.get(end, {}))), None)
