"""Convert a request to a visit, and return the response of the matching route.

Only this module creates visits for routes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from octavo.delivery.visits.admission import (
    Admission,
    RedirectBeforeVisit,
    VisitorRequest,
    read_visitor_request,
)
from octavo.delivery.visits.authorization import (
    ResponseDependencies,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
)
from octavo.errors import MethodNotAllowed, NotFound, OctavoError, Unauthorized
from octavo.kit.http.edge import Answer

from .answers import not_found, private_answer, redirect, with_query
from .forms import is_machine_readable
from .questions import FAILED
from .table import Later, SiteRoute, View, find_posted, of_site, of_space


class Visited(NamedTuple):
    """Response with its dependencies and, if there was a visit, the admission of its visitor."""

    answer: Answer | Later
    dependencies: ResponseDependencies | None = None
    admission: Admission | None = None


def answer_visit(view: View, host: str, path: str) -> Visited:
    """Return the response for a decoded path. Raises NotFound if there is no site, and Unauthorized if the
    visitor's token is invalid."""
    try:
        return _visit(view, host, path, _visitor_request(view, path))
    except RedirectBeforeVisit as sent:
        location = with_query(view, sent.location) if sent.keeps_query else sent.location
        return Visited(redirect(location, sent.cookies))


def answer_post(view: View, host: str, path: str) -> Answer | Later:
    """Return the response to a POST request to a decoded path. Clients without cookies send a visitor's token as
    a bearer token. Raises NotFound if no route accepts the request, and Unauthorized if the visitor must sign in
    first."""
    coming = _visitor_request(view, path)
    try:
        answer = _visit(view, host, path, coming).answer
    except RedirectBeforeVisit:
        raise Unauthorized(
            "Only authenticated visitors can access this site. Sign in, or send a visitor token in the"
            " `Authorization: Bearer <token>` header.",
            **{"www-authenticate": "Bearer"},
        ) from None
    if isinstance(answer, Answer):
        return answer
    later = answer

    def enter() -> None:
        with view.context.db.read() as tx:
            enter_site(tx, view.context, host, path, coming)

    return later._replace(work_out=lambda: _limit_stream(later.work_out(), enter))


def _limit_stream(answer: Answer, enter: Callable[[], object]) -> Answer:
    """Return a response whose stream ends once ``enter`` raises an error because the reader no longer has access
    to the site."""
    begin = answer.stream
    if begin is None:
        return answer

    def chunks() -> Iterator[bytes]:
        parts = begin()
        try:
            for part in parts:
                try:
                    enter()
                except (OctavoError, RedirectBeforeVisit):
                    yield FAILED
                    return
                yield part
        finally:
            if isinstance(parts, Generator):
                parts.close()

    return msgspec.structs.replace(answer, stream=chunks)


def _visitor_request(view: View, path: str) -> VisitorRequest:
    request = view.request
    secure = view.context.settings.sites_url.startswith("https:")
    coming = read_visitor_request(request.query_string, request.header(b"cookie"), secure)
    agent = is_machine_readable(path, request.header(b"accept"))
    posted, bearer = find_posted(path), None
    # Clients also send GET requests to the MCP server, which responds that it doesn't send messages on its
    # own.
    if request.method == "POST" or (posted is not None and posted.name == "postMessage"):
        scheme, _, token = request.header(b"authorization").partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" else None
    if not agent and bearer is None:
        return coming
    return msgspec.structs.replace(coming, agent=agent, bearer=bearer)


def _visit(view: View, host: str, path: str, coming: VisitorRequest) -> Visited:
    visit = enter_site(view.tx, view.context, host, path, coming)
    view.request.shows_path = visit.admission.has_open_path
    answer = _answer_at(view, visit)
    shown = private_answer(visit.admission, answer) if isinstance(answer, Answer) else answer
    return Visited(shown, visit.dependencies, visit.admission)


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
            raise NotFound("There is no page at this URL.")
        return redirect(target.target, permanent=target.permanent)
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
            f"This URL doesn't support {view.request.method}. Use one of: {allowed}", allow=allowed
        )
    view.request.name = found.name
    answer = found.answer(view, visit, **values)
    if isinstance(answer, Later):
        return answer if found.pool == "visits" else answer._replace(pool=found.pool)
    return answer if found.kept else msgspec.structs.replace(answer, again=False)
