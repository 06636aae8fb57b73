"""Batches of API read requests. With a batch, the app loads a screen in one round trip instead of one per part.

The dispatcher handles each part as a separate request, with the same authentication, permission check, rate
limit, and scheduling, so a batch never bypasses any of these checks."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

import msgspec
from msgspec import Struct

from octavo.errors import BadRequest, OctavoError, UriTooLong, format_size
from octavo.kit.http.dispatcher import Dispatcher, invalid
from octavo.kit.http.edge import (
    MAX_PARAMETERS,
    Action,
    Answer,
    Request,
    Route,
    check_conditions,
    internal_error,
    json_error,
)
from octavo.kit.http.operation import TABLE, Operation
from octavo.kit.http.routing import Routes, split_path
from octavo.kit.observability import tracing

log = logging.getLogger("octavo.http")

PATH = "/~batch"
MOST = 32
"""Maximum number of parts."""
_BODY_LIMIT = 64 * 1024
_TYPE = "text/plain; charset=utf-8"


class BatchPart(Struct, frozen=True):
    """Read request in a batch. ``path``: its path under ``/v1``, including the query. ``etag``: the entity tag of
    the app's copy."""

    path: str
    etag: str = ""


class ReadBatch(Struct, frozen=True, forbid_unknown_fields=True):
    parts: Annotated[list[BatchPart], msgspec.Meta(min_length=1, max_length=MOST)]


class PartHead(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Line that is sent before the body of a part. ``alone``: whether the part must be requested separately."""

    status: int = 200
    etag: str = ""
    retry_after: str = ""
    alone: bool = False


_DECODER = msgspec.json.Decoder(ReadBatch)
_ENCODER = msgspec.json.Encoder()


def _is_part(operation: Operation) -> bool:
    """Return whether an operation can be part of a batch. It must be a read operation with a JSON response,
    and it must not wait for other servers."""
    return (
        operation.method == "GET"
        and operation.media_type == "application/json"
        and not operation.other_media
        and not operation.browsed
        and operation.waits_for is None
    )


def batch_route(dispatcher: Dispatcher, query_limit: int) -> Route:
    """Return the route for batches. The response has two lines for each part, in request order: the head, and
    the JSON body or nothing."""
    routes: Routes[Action] = Routes()
    for route in dispatcher.routes(filter(_is_part, TABLE.values())):
        routes.add(route.path, route.actions["GET"])

    async def answer_part(request: Request, part: BatchPart) -> tuple[PartHead, bytes]:
        path, _, query = part.path.partition("?")
        if not (path.startswith("/") and part.path.isascii()):
            raise BadRequest("path: must start with a slash and contain only ASCII characters")
        if len(query) > query_limit:
            raise UriTooLong(f"query: must be at most {format_size(query_limit)}")
        if query.count("&") >= MAX_PARAMETERS:
            raise BadRequest(f"query: must have at most {MAX_PARAMETERS:,} parameters")
        segments = split_path(f"/v1{path}".encode())
        found = routes.find(segments) if segments is not None else None
        if found is None:
            return PartHead(alone=True), b""
        action, parameters = found
        with tracing.part(action.name):
            answer: Answer = await action.answer(request.part(parameters, query.encode()))  # type: ignore[misc]
        if answer.stream is not None or answer.pushed is not None:
            return PartHead(alone=True), b""
        known = {b"if-none-match": f'"{part.etag}"'.encode("latin-1", "replace")} if part.etag else {}
        if answer.etag and check_conditions(known, answer.etag) == 304:
            return PartHead(304, answer.etag), b""
        return PartHead(answer.status, answer.etag), answer.body

    async def answer_safely(request: Request, part: BatchPart) -> bytes:
        try:
            head, body = await answer_part(request, part)
        except OctavoError as error:
            refused = json_error(error)
            head, body = (
                PartHead(error.status, retry_after=refused.headers.get("retry-after", "")),
                refused.body,
            )
        except Exception:
            log.exception("part of a batch failed", extra={"request_id": request.id})
            head, body = PartHead(500), json_error(internal_error(request.id)).body
        return b"%b\n%b\n" % (_ENCODER.encode(head), body)

    async def answer(request: Request) -> Answer:
        kind = request.header(b"content-type").partition(";")[0].strip().lower()
        if kind != "application/json":
            # Pages on other websites can't send this content type with the person's cookie.
            raise BadRequest("Content-Type: must be application/json")
        try:
            batch = _DECODER.decode(await request.read(_BODY_LIMIT))
        except msgspec.ValidationError as error:
            raise invalid(error, "body", ReadBatch) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(f"body: isn't valid JSON ({error})") from None
        bodies = await asyncio.gather(*(answer_safely(request, part) for part in batch.parts))
        return Answer(200, b"".join(bodies), _TYPE, {"cache-control": "no-store"})

    return Route(PATH, {"POST": Action("appBatch", answer)})
