"""Requests that a renderer sends to resolve a URL."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import PUBLIC, Area, Call, Visitor

from .locating import Published, ResolveRequest, resolve
from .wire import PublishedQuery, ResolveUrl

operation = Area("sites").operation

_MINUTE = 60_000


@operation(
    "getPublishedContentByUrl",
    "GET",
    "/urls/published",
    needs=PUBLIC,
    errors=(404,),
    deprecated=True,
    quick=True,
)
def get_published(call: Call, query: PublishedQuery) -> Published:
    """Resolve a URL of a published site, like `resolvePublishedContentByUrl`, with the request in query
    parameters."""
    return _resolve(call, ResolveRequest(query.url, query.visitor_auth_token, {}, query.redirect_on_error))


@operation(
    "resolvePublishedContentByUrl",
    "POST",
    "/urls/published",
    needs=PUBLIC,
    errors=(401, 404),
    quick=True,
    in_maintenance=True,
)
def resolve_published(call: Call, body: ResolveUrl) -> Published:
    """Resolve a URL of a published site to a redirect, or to the content that it shows to a visitor, with a
    token for reading the content through the API. The response for URLs of restricted sites is the same as
    for URLs that have no site."""
    token = body.visitor.jwt_token
    asked = ResolveRequest(body.url, or_none(token), body.visitor.unsigned_claims, body.redirect_on_error)
    return _resolve(call, asked)


def _resolve(call: Call, asked: ResolveRequest) -> Published:
    caller = call.authenticated
    previewer = caller if isinstance(caller, Visitor) else None

    def make() -> Published:
        with call.db.read() as tx:
            return resolve(tx, call.context, asked, previewer)

    if asked.token is not None or asked.unsigned or previewer is not None:
        call.leave_loop()
        return make()
    # Responses for all visitors stay valid until the next commit; tokens stay the same for an hour.
    key = ("published", asked.url, now() // _MINUTE)
    found: Published | None = call.context.fresh.find(key, call.db.generation())
    if found is None:
        call.leave_loop()
        found = call.context.fresh.get(key, make)
    return found
