"""From a request to the visit that it makes, and to the answer of the route that is there.

Only this module has visits made for routes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from ..errors import MethodNotAllowed, NotFound, OctavoError, Unauthorized
from ..kit.edge import Answer
from ..visits import (
    Admission,
    Coming,
    MadeOf,
    SendOn,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
    read_coming,
)
from .answers import closed, not_found, redirect, with_query
from .asking import (
    FAILED,
)
from .forms import is_for_programs
from .table import Later, SiteRoute, View, find_posted, of_site, of_space


class Visited(NamedTuple):
    """An answer and, where a visit was made, what it was made of, and who made it."""

    answer: Answer | Later
    made_of: MadeOf | None = None
    admission: Admission | None = None


def answer_visit(view: View, host: str, path: str) -> Visited:
    """The answer to a decoded path. Raises NotFound where no site is, Unauthorized for a visitor's bad token."""
    try:
        return _visit(view, host, path, _coming(view, path))
    except SendOn as sent:
        location = with_query(view, sent.location) if sent.keeps_query else sent.location
        return Visited(redirect(location, sent.cookies))


def answer_post(view: View, host: str, path: str) -> Answer | Later:
    """The answer to what was posted to a decoded path. Programs that keep no cookies send a visitor's token as a
    bearer token. Raises NotFound, and Unauthorized for who has to sign in first."""
    coming = _coming(view, path)
    try:
        answer = _visit(view, host, path, coming).answer
    except SendOn:
        raise Unauthorized(
            "Only signed visitors of this site may post here. Send a visitor's token: Authorization: Bearer <token>.",
            **{"www-authenticate": "Bearer"},
        ) from None
    if isinstance(answer, Answer):
        return answer
    later = answer

    def enter() -> None:
        with view.context.db.read() as tx:
            enter_site(tx, view.context, host, path, coming)

    return later._replace(work_out=lambda: _while_open(later.work_out(), enter))


def _while_open(answer: Answer, enter: Callable[[], object]) -> Answer:
    """An answer whose stream ends once whoever reads it may not ``enter`` the site any more."""
    begin = answer.stream
    if begin is None:
        return answer

    def chunks() -> Iterator[bytes]:
        parts = begin()
        try:
            for part in parts:
                try:
                    enter()
                except (OctavoError, SendOn):
                    yield FAILED
                    return
                yield part
        finally:
            if isinstance(parts, Generator):
                parts.close()

    return msgspec.structs.replace(answer, stream=chunks)


def _coming(view: View, path: str) -> Coming:
    request = view.request
    secure = view.context.settings.sites_url.startswith("https:")
    coming = read_coming(request.query_string, request.header(b"cookie"), secure)
    agent = is_for_programs(path, request.header(b"accept"))
    posted, bearer = find_posted(path), None
    # Programs ask the MCP server by GET too, only to be told that it sends nothing by itself.
    if request.method == "POST" or (posted is not None and posted.name == "postMessage"):
        scheme, _, token = request.header(b"authorization").partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" else None
    if not agent and bearer is None:
        return coming
    return msgspec.structs.replace(coming, agent=agent, bearer=bearer)


def _visit(view: View, host: str, path: str, coming: Coming) -> Visited:
    visit = enter_site(view.tx, view.context, host, path, coming)
    view.request.shows_path = visit.admission.has_open_path
    answer = _answer_at(view, visit)
    shown = closed(visit.admission, answer) if isinstance(answer, Answer) else answer
    return Visited(shown, visit.made_of, visit.admission)


def _answer_at(view: View, visit: SiteVisit) -> Answer | Later:
    if not visit.is_below(visit.base):
        return redirect(with_query(view, f"{visit.base}{quote(visit.rest)}"))
    found = of_site.find(visit.rest.split("/"))
    if found is not None:
        return _answer(view, visit, *found)
    space = enter_space(view.tx, visit)
    if space is None:
        target = find_redirect(view.tx, visit, view.context.settings.sites_url)
        if target is None:
            raise NotFound("There is nothing at this address.")
        return redirect(target)
    if not visit.is_below(space.base):
        return redirect(with_query(view, f"{space.base}{quote(space.rest)}"))
    below = of_space.find(space.rest.split("/"))
    return _answer(view, space, *below) if below is not None else not_found(view, space)


def _answer(
    view: View, visit: SiteVisit | SpaceVisit, routes: dict[str, SiteRoute], values: dict[str, str]
) -> Answer | Later:
    found = routes.get(view.request.method)
    if found is None:
        allowed = ", ".join(sorted(routes))
        raise MethodNotAllowed(
            f"{view.request.method} is not possible here. Allowed: {allowed}", allow=allowed
        )
    view.request.name = found.name
    answer = found.answer(view, visit, **values)
    if isinstance(answer, Later):
        return answer if found.pool == "visits" else answer._replace(pool=found.pool)
    return answer if found.kept else msgspec.structs.replace(answer, again=False)
