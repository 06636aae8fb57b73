"""Dispatch requests to operations in the table of operations, and return their responses.

Every request goes through the same steps: authentication, rate limiting, the permission check (``enter``),
validation of the query and the body, the handler, and encoding. These steps run in a thread, unless the operation
is declared as quick or its response is cached. The body is received on the event loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from octavo.core.validation import describe_problem
from octavo.errors import (
    BadRequest,
    MissingField,
    NotFound,
    OctavoError,
    TooLarge,
    Unauthorized,
    UnknownField,
    format_size,
)
from octavo.kit.context import Context
from octavo.kit.db.cache import FreshCache, share
from octavo.kit.db.database import (
    REQUEST_SECONDS,
    RetryTransaction,
    StaleCachedRead,
    Transaction,
    statements_within,
)
from octavo.kit.observability import tracing
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.scheduling.shares import SharedThreads
from octavo.kit.texts import EXPECTED
from octavo.kit.work.hub import Hub, Listener
from octavo.settings import parse_networks

from .compression import Compressor
from .edge import (
    QUEUE_SECONDS,
    Action,
    Answer,
    Edge,
    Request,
    Route,
    accepts_page,
    etag_of,
    in_turn,
    json_error,
)
from .json_bounds import has_more_values
from .metrics import Metrics
from .operation import (
    PUBLIC,
    TABLE,
    Call,
    Caller,
    Deferred,
    Deletion,
    Follow,
    LeavesLoop,
    Operation,
    RawBody,
    Reply,
    Stream,
    Visitor,
    WritesFirst,
)
from .proxies import address_key
from .recent_access import RecentAccess
from .unknown_keys import (
    MOST_NAMED,
    NEWER,
    NOTHING,
    NewerFields,
    Shape,
    restricts,
    shape_of,
    unread_keys,
    without_numbers,
)

MAX_ANSWER = 64 * 1024 * 1024
"""Maximum size in bytes of a response, because each response is encoded as a whole. Streams, such as exports,
aren't limited."""
MAX_VALUES = 1_000_000
"""Maximum number of values in a JSON body."""
_RETRIES = 5
_ENCODER = msgspec.json.Encoder()
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Location, Octavo-Unread-Keys, Octavo-Unsaved, Preference-Applied,"
    " Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id",
    "vary": "Authorization",
}
_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    # `*` represents any header except Authorization; older browsers support only named headers.
    "access-control-allow-headers": "Authorization, Content-Type, If-None-Match, Prefer, User-Agent, X-Request-Id, *",
    "access-control-max-age": "86400",
}
_MINIMAL = re.compile(rb"(?:^|[,;\s])return\s*=\s*\"?minimal\"?(?:$|[,;\s])", re.IGNORECASE)
SMALL_BODY = 64 * 1024
"""Maximum number of bytes of a body to receive before the sender has been authenticated."""
_RESPONSES = share("API responses", 8)
_MAX_CACHED = 256 * 1024
"""Maximum number of bytes of a cached response."""
_PER_CACHED = 1500
"""Estimated number of bytes of a cached response's key and proof object."""


class _Cached(NamedTuple):
    """Response that is valid until the next commit, for the caller with this proof object. ``rows``: the result of
    ``shared_rows`` when the response was created."""

    rows: object
    caller: Caller | None
    proof: object
    body: bytes
    etag: str


def _measure_cached(cached: _Cached) -> int | None:
    return None if len(cached.body) > _MAX_CACHED else _PER_CACHED + len(cached.body)


def invalid(error: msgspec.ValidationError, place: str, type: object) -> BadRequest:
    """Return the error for a msgspec exception, such as "title: must be a string, not an integer".

    ``place``: the name of the whole value, which is used if msgspec doesn't specify a field. ``type``: the type of
    the whole value.
    """
    problem = describe_problem(error, type, EXPECTED)
    kind = MissingField if problem.is_missing else BadRequest
    return kind(f"{problem.field or place}: {problem.text}")


BodyDecoder = msgspec.json.Decoder[Any] | None
"""Decoder of an operation's body; None if the operation doesn't take JSON."""


def _asker(asked: Request | Call) -> str:
    """Return a key that distinguishes callers. The key is computed without a lookup."""
    given = asked.headers.get(b"authorization") or asked.headers.get(b"cookie")
    return hashlib.blake2b(given, digest_size=12).hexdigest() if given else address_key(asked.client)


def _key(call: Call) -> tuple[object, ...]:
    """Return the key of a cached response. It doesn't require authentication, so the response must also be compared
    with the caller."""
    return _asker(call), call.operation.id, call.query_string, *call.path_parameters.values()


def _place(parameters: Mapping[str, str]) -> str:
    """Return the ID of the outermost object of a call: an organization or a space."""
    return next(iter(parameters.values()), "")


def _note_place(span: tracing.Span, call: Call) -> None:
    """Record only the IDs of a call's objects, because other path parameters may be secret."""
    if call.organization_id:
        span.note("octavo.organization.id", call.organization_id)
    for name, value in call.path_parameters.items():
        if name.endswith("Id"):
            span.note(f"octavo.{name.removesuffix('Id').lower()}.id", value)


def _body_decoder(operation: Operation) -> BodyDecoder:
    return msgspec.json.Decoder(operation.body) if operation.takes_json else None


class Dispatcher:
    """Dispatcher for operations that are declared in the table.

    ``authenticate(call)``: sets ``call.authenticated`` and returns the key for the rate limit, or None for anonymous
    callers.
    """

    def __init__(
        self,
        context: Context,
        authenticate: Callable[[Call], str | None],
        pool: SharedThreads,
        writers: SharedThreads,
        draw_refusal: Callable[[OctavoError], Answer],
        hub: Hub,
    ) -> None:
        """Create a dispatcher.

        ``draw_refusal``: a function that renders an error as a page, for operations that browsers visit. ``pool``
        and ``writers``: the threads for operations that only read, and for all other operations. They are separate
        because waiting for a lock must not block readers.
        """
        self.context = context
        # A row is also rejected if an object that it refers to was deleted, or a name was taken, before the
        # write started: the next attempt detects that and returns the right error.
        self._tried_again: tuple[type[Exception], ...] = (RetryTransaction, *context.db.row_errors)
        self._authenticate = authenticate
        self._limiter = RateLimiter(context.settings.rate_limit)
        self._pool = pool
        self._draw_refusal = draw_refusal
        self._decoders: dict[str, BodyDecoder] = {}
        self._writers = writers
        self._hub = hub
        self._insiders = RecentAccess()
        self._cached: FreshCache[_Cached] = FreshCache(context.db, _RESPONSES, _measure_cached)

    def owner_of(self, request: Request) -> Owner:
        """Return the owner of a request's turn. This is the organization that owns the requested object, if the
        caller has been admitted to that organization before. If the request has no object, the owner is the
        organization that the caller was last admitted to."""
        asker = _asker(request)
        return self._insiders.organization(asker, _place(request.parameters)), asker

    # --- processing a request -------------------------------------------------------------------------

    def routes(self, operations: Iterable[Operation]) -> list[Route]:
        """Return the routes of these operations, under ``/v1``."""
        by_path: dict[str, dict[str, Action]] = {}
        for operation in operations:
            path = f"/v1{operation.path}".replace("{pagePath}", "{pagePath*}")
            by_path.setdefault(path, {})[operation.method] = Action(
                operation.id, self._answering(operation), operation.draw_error
            )
        return [Route(path, actions) for path, actions in by_path.items()]

    def _answering(self, operation: Operation) -> Callable[[Request], Any]:
        decoder = _body_decoder(operation)

        async def answer(request: Request) -> Answer:
            call = Call(
                context=self.context,
                operation=operation,
                path_parameters=request.parameters,
                query_string=request.query_string,
                headers=request.headers,
                body=b"",
                client=request.client,
                request_id=request.id,
                ask=self.ask,
            )
            if request.has_more:
                # Check the sender before reading a body, unless it is small or too large, which its declared size
                # shows.
                is_small = 0 < request.announced <= SMALL_BODY
                if not is_small and not await request.fits(SMALL_BODY):
                    await in_turn(self._pool, request.owner, self._check_sender, call)
                call.body = await request.read(operation.body_limit)
            try:
                return await self._answer_in_turn(request, call, decoder)
            finally:
                if request.span is not None:
                    _note_place(request.span, call)
                # Requests that never waited need no owner.
                if request.was_in_turn and call.organization_id not in ("", request.owner[0]):
                    self._let_in(call)

        return answer

    async def _answer_in_turn(self, request: Request, call: Call, decoder: BodyDecoder) -> Answer:
        operation = call.operation
        if operation.waits_for is not None:
            context = self.context
            pool = context.questions if operation.waits_for == "model" else context.servers
            return await self._answer_waiting(pool, request, call, decoder)
        try:
            return await self._answer_in_pool(request, call, decoder)
        except WritesFirst as needed:
            # This runs in the threads of writers, because waiting for a lock must not block readers.
            await in_turn(self._writers, request.owner, needed.write)
            call.on_loop, call.has_written = False, True
            return await self._answer_in_pool(request, call, decoder)

    async def _answer_in_pool(self, request: Request, call: Call, decoder: BodyDecoder) -> Answer:
        answer = await self._begin_in_pool(request, call, decoder)
        if isinstance(answer, Answer):
            return answer
        with self._refusing(call):
            done = asyncio.wrap_future(answer.future)
            done.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            # The future itself is not awaited, because a client that leaves must not cancel work that others wait
            # for.
            await asyncio.wait([done])
            return self._present(call, answer.present(answer.future))

    async def _begin_in_pool(
        self, request: Request, call: Call, decoder: BodyDecoder
    ) -> Answer | Deferred[object]:
        operation = call.operation
        is_quick = operation.quick and len(call.body) <= SMALL_BODY
        if is_quick or (
            operation.cached and self._cached.find(_key(call), self.context.db.recent_generation())
        ):
            # Cached data, or a lookup in SQLite, is available sooner than a thread wakes up.
            call.on_loop = True
            try:
                return await self.context.turns.run(lambda: request.owner, self.run, call, decoder)
            except (LeavesLoop, StaleCachedRead):
                call.on_loop = False
        pool = self._pool if operation.method == "GET" else self._writers
        return await in_turn(pool, request.owner, self.run, call, decoder, time.monotonic())

    def _let_in(self, call: Call) -> None:
        self._insiders.record(_asker(call), call.organization_id, _place(call.path_parameters), "")

    async def _answer_waiting(
        self, pool: SharedThreads, request: Request, call: Call, decoder: BodyDecoder
    ) -> Answer:
        """Answer a request in a separate thread, with a slot that is held until the response has been sent. Because
        this can take a long time, the owner of the slot is determined first."""
        owner = request.owner
        if not owner[0]:
            await in_turn(self._pool, owner, self.enter, call)
            owner = (call.organization_id, *owner[1:])
        answer, give_back = await pool.begin(owner, QUEUE_SECONDS, self.run, call, decoder, time.monotonic())
        assert isinstance(answer, Answer)
        return msgspec.structs.replace(answer, threads=pool.threads, sent=give_back)

    def ask(
        self, call: Call, operation_id: str, path: dict[str, str], query: Mapping[str, object], body: object
    ) -> object:
        """Run another operation as the caller of ``call``, with the same checks, limits, and effects as a
        separate request.

        Returns decoded JSON, or None for an empty response. Raises the errors of the operation.
        """
        operation = TABLE[operation_id]
        if operation_id not in self._decoders:
            self._decoders[operation_id] = _body_decoder(operation)
        encoded = b"" if body is None else _ENCODER.encode(body)
        if len(encoded) > operation.body_limit:
            raise TooLarge(f"body: must be at most {format_size(operation.body_limit)}")
        asked = Call(
            context=self.context,
            operation=operation,
            path_parameters=path,
            query_string=urlencode({k: v for k, v in query.items() if v is not None}, doseq=True).encode(),
            headers=call.headers,
            body=encoded,
            client=call.client,
            request_id=call.request_id,
            by_agent=call.by_agent,
            ask=self.ask,
        )
        with tracing.part(operation_id) as span:
            try:
                answer = self.run(asked, self._decoders[operation_id])
            except WritesFirst as needed:
                needed.write()
                asked.has_written = True
                answer = self.run(asked, self._decoders[operation_id])
            if isinstance(answer, Deferred):
                with self._refusing(asked):
                    answer = self._present(asked, answer.present(answer.future))
            if span is not None:
                _note_place(span, asked)
        return msgspec.json.decode(answer.body) if answer.body else None

    def enter(self, call: Call) -> dict[str, Any]:
        """Authenticate and count a call, and return its proof object and IDs. Raises the same errors as the
        corresponding request."""
        self._count(call, self._authenticate(call))
        entered = self._enter(call)
        self._count_for_organization(call)
        self._let_in(call)
        return entered

    def _count(self, call: Call, key: str | None) -> None:
        """Count a call. Raises TooManyRequests if the rate limit is exceeded."""
        if not call.counted:
            call.response_headers.update(self._limiter.count(key or address_key(call.client)).headers())
            call.counted = True

    def _count_for_organization(self, call: Call) -> None:
        """Count a call to an organization. If the limits can't be read on the event loop, the call is counted when
        it is retried in a thread. Raises TooManyRequests if the rate limit is exceeded."""
        if not call.organization_counted:
            self.context.organization_rates.count(call.organization_id)
            call.organization_counted = True

    def _check_sender(self, call: Call) -> None:
        """Check the sender of a large body. The sender needs a token unless the operation is public. Raises
        Unauthorized if there is no valid token."""
        self._authenticate(call)
        if call.authenticated is None and call.operation.needs is not PUBLIC:
            raise Unauthorized(
                f"Requests with bodies larger than {format_size(SMALL_BODY)} require a token. Send one in the"
                " `Authorization: Bearer <token>` header."
            )

    @staticmethod
    @contextmanager
    def _refusing(call: Call) -> Iterator[None]:
        """Add the headers of successful responses to errors that are raised in the block."""
        try:
            yield
        except OctavoError as error:
            error.headers = {**call.response_headers, **error.headers}
            raise

    def run(
        self, call: Call, decoder: BodyDecoder, asked_at: float | None = None
    ) -> Answer | Deferred[object]:
        """Answer a call. Error responses have the same headers as successful responses.

        ``asked_at``: the time at which the call started to wait for a thread, according to the monotonic clock.
        """
        waited = 0.0 if asked_at is None else time.monotonic() - asked_at
        try:
            for attempt in range(_RETRIES):
                try:
                    with statements_within(REQUEST_SECONDS, waited), self._reading(call, attempt == 0):
                        return self._answer(call, decoder)
                except StaleCachedRead:
                    if call.on_loop:
                        raise
                except self._tried_again:
                    if attempt == _RETRIES - 1:
                        raise
                    time.sleep(random.uniform(0.005, 0.05) * (attempt + 1))  # noqa: S311
        except OctavoError as error:
            error.headers = {**call.response_headers, **error.headers}
            if call.operation.browsed and accepts_page(call.headers):
                return self._draw_refusal(error)
            raise
        raise AssertionError("unreachable")

    def _reading(self, call: Call, kept: bool) -> AbstractContextManager[Transaction | None]:
        """Return the read transaction in which a call runs, or None for a call that can write.

        ``kept``: whether the transaction can use cached rows, and may therefore have to be restarted. Public
        operations can't use cached rows, because signing in uses up codes that are valid only once.
        """
        if call.on_loop:
            return self.context.db.read_cached(begins=False)
        if call.operation.method != "GET":
            return nullcontext()
        if kept and call.operation.needs is not PUBLIC:
            return self.context.db.read_cached()
        return self.context.db.read()

    def _answer(self, call: Call, decoder: BodyDecoder) -> Answer | Deferred[object]:
        operation = call.operation
        self._count(call, self._authenticate(call))
        if operation.method != "GET" and not operation.in_maintenance:
            self.context.gate.require_open()
        try:
            arguments = self._enter(call)
        except NotFound:
            if not operation.deletes_what_is_entered:
                raise
            return Answer(204, headers=call.response_headers)
        self._count_for_organization(call)
        if operation.cached:
            return self._answer_cached(call, arguments)
        return self._handle(call, decoder, arguments)

    def _answer_cached(self, call: Call, arguments: dict[str, Any]) -> Answer:
        """Return the response that was sent to the same caller since the last commit, or create it. The caller has
        been authenticated and authorized again."""
        proof = arguments[call.operation.proof or ""]
        db = self.context.db
        key, generation, rows = _key(call), db.generation(), db.shared_rows()
        found = self._cached.find(key, generation)
        if (
            found is None
            or found.rows is not rows
            or (found.caller, found.proof) != (call.authenticated, proof)
        ):
            if not call.operation.quick:
                call.leave_loop()
            answer = self._handle(call, None, arguments)
            assert isinstance(answer, Answer)
            made = _Cached(rows, call.authenticated, proof, answer.body, answer.etag)
            self._cached.put(key, generation, made)
            return answer
        headers = {**call.response_headers, "cache-control": "private, no-cache"}
        return Answer(200, found.body, "application/json", headers, found.etag)

    def _handle(
        self, call: Call, decoder: BodyDecoder, arguments: dict[str, Any]
    ) -> Answer | Deferred[object]:
        """Validate the query and the body, and run the handler."""
        operation = call.operation
        query = self._query(call)
        if operation.query is not None:
            arguments["query"] = query
        if operation.body is not None:
            arguments["body"] = self._body(call, decoder)
        elif call.body and operation.method != "GET":
            self._refuse_unread(call, NOTHING)
        try:
            result = operation.handler(call, **arguments)
            return result if isinstance(result, Deferred) else self._present(call, result)
        except (OctavoError, LeavesLoop, WritesFirst, StaleCachedRead):
            raise
        except self._tried_again:
            raise
        except Exception:
            # An object may have been deleted since it was entered, which is then the error. A read saw a single
            # snapshot, which the failure may have ended.
            if operation.method != "GET":
                self._enter(call)
            raise

    def _enter(self, call: Call) -> dict[str, object]:
        """Return the path parameters for the handler, with the proof that the caller has permission. Raises
        NotFound or Forbidden if the caller doesn't have permission."""
        operation, given = call.operation, call.path_parameters
        for value in given.values():
            if "\0" in value:
                raise NotFound("This URL doesn't exist. Check its path.")
        arguments: dict[str, Any] = {name: given[param] for name, param in operation.path_parameters.items()}
        if operation.needs is not PUBLIC:
            # Operations that are closed to visitors check this themselves.
            visiting = isinstance(call.authenticated, Visitor)
            enter = (operation.enter_visit if visiting else None) or operation.enter
            assert enter is not None and operation.proof is not None
            proof = enter.fn(call, operation.needs, *[given[p] for p in enter.parameters])
            arguments[operation.proof] = proof
            call.organization_id = getattr(proof, "organization_id", "")
        return arguments

    def _query(self, call: Call) -> object:
        operation = call.operation
        newer = NEWER.get(operation.id, NewerFields()).query
        values: dict[str, Any] = {}
        if call.query_string:
            try:
                pairs = parse_qsl(call.query_string.decode(), keep_blank_values=True)
            except ValueError:
                raise BadRequest("query: must consist of name=value pairs in UTF-8") from None
            for name, value in pairs:
                if "\0" in value:
                    raise BadRequest(f"{name}: must not contain NUL characters")
                if not value and name not in operation.query_required:
                    continue  # `?page=` means the same as no `page`.
                if name not in operation.query_names:
                    if name in newer:
                        raise UnknownField(f"{name}: isn't supported by this version of Octavo")
                elif name in operation.query_lists:
                    values.setdefault(name, []).append(value)
                else:
                    values[name] = value
        if operation.query is None:
            return None
        try:
            query = msgspec.convert(values, operation.query, strict=False)
        except msgspec.ValidationError as error:
            raise invalid(error, "query", operation.query) from None
        for name, value in values.items():
            # A text parameter can have this value; for all other types it is a mistake.
            if str(value).lower() == "null" and msgspec.to_builtins(query).get(name) is None:
                raise BadRequest(f"{name}: can't be `{value}`. Omit the parameter, or provide a value.")
        return query

    def _body(self, call: Call, decoder: BodyDecoder) -> object:
        operation = call.operation
        if operation.body is RawBody:
            content_type = call.headers.get(b"content-type", b"").decode("latin-1")
            return RawBody(call.body, content_type.partition(";")[0].strip().lower())
        if not call.body:
            if operation.body_optional:
                return None
            raise BadRequest("body: is required, and must be a JSON object")
        assert decoder is not None
        self._refuse_unread(call, shape_of(operation.body))
        try:
            return decoder.decode(call.body)
        except msgspec.ValidationError as error:
            raise invalid(error, "body", operation.body) from None

    def _refuse_unread(self, call: Call, shape: Shape) -> None:
        """Check the keys in a body.

        Octavo's own operations reject unknown keys. Clients of the public API may be newer than this server, so
        operations of that API list unknown keys in a header. Raises BadRequest if a key is rejected or the JSON is
        invalid.
        """
        operation = call.operation
        if has_more_values(call.body, MAX_VALUES):
            raise TooLarge(f"body: must contain at most {MAX_VALUES:,} values")
        try:
            value = msgspec.json.decode(call.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRequest(f"body: isn't valid JSON ({error})") from None
        except RecursionError:
            raise BadRequest("body: is nested too deeply") from None
        if b"\\u0000" in call.body and _NUL.search(call.body):
            raise BadRequest("body: must not contain NUL characters")
        newer = NEWER.get(operation.id, NewerFields()).body
        keys: list[str] = []
        for key, given in unread_keys(shape, value):
            if operation.refuses_unread or restricts(key, given):
                raise UnknownField(
                    f"{key}: isn't a field of this operation. Remove it, or correct its spelling."
                )
            if without_numbers(key) in newer:
                raise UnknownField(f"{key}: isn't supported by this version of Octavo")
            if len(keys) <= MOST_NAMED:
                keys.append(key)
        if not keys:
            return
        named = [quote(key[:100], safe=".[]") for key in keys[:MOST_NAMED]]
        more = ["..."] if len(keys) > MOST_NAMED else []
        call.response_headers["octavo-unread-keys"] = ", ".join([*named, *more])

    def _while_allowed(self, call: Call, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the chunks of a stream as long as the caller has access, because slow clients could otherwise keep
        reading for hours after their access is removed. Raises the same errors as a new request."""
        try:
            for chunk in chunks:
                self._check_again(call)
                yield chunk
        finally:
            if isinstance(chunks, Generator):
                chunks.close()

    def _check_again(self, call: Call) -> None:
        """Authenticate and authorize the call again. Raises the errors that a new request would raise."""
        call.authenticated, call.asked_again = None, True
        self._authenticate(call)
        self._enter(call)

    def _follow(self, call: Call, wanted: Follow) -> Answer:
        def check() -> None:
            self._check_again(call)
            wanted.check()

        place = (call.operation.id, *sorted(call.path_parameters.items()), call.query_string)
        listener = Listener(
            wanted.topics,
            owner=wanted.owner,
            access=(_asker(call), place),
            check=check,
            may_know=wanted.may_know,
            after=wanted.after,
            seconds=wanted.seconds,
        )
        headers = {**call.response_headers, "cache-control": "no-store", "x-accel-buffering": "no"}
        return Answer(
            content_type="text/event-stream", headers=headers, pushed=lambda: self._hub.follow(listener)
        )

    def _present(self, call: Call, value: object) -> Answer:
        operation = call.operation
        status, headers = operation.status, call.response_headers
        if operation.returns is Deletion and isinstance(value, bool):
            return Answer(205 if value else 204, headers=headers)
        if isinstance(value, Follow):
            return self._follow(call, value)
        if isinstance(value, Stream):
            chunks = self._while_allowed(call, value.chunks)
            return Answer(
                value.status,
                content_type=value.content_type,
                headers={**headers, **value.headers},
                stream=lambda: chunks,
            )
        if isinstance(value, Reply):
            status, headers, value = value.status, {**headers, **value.headers}, value.value
        if operation.minimal and _MINIMAL.search(call.headers.get(b"prefer", b"")):
            return Answer(204, headers={**headers, "preference-applied": "return=minimal"})
        if value is None or isinstance(value, bytes):
            return Answer(status, value or b"", headers=headers)
        body = _ENCODER.encode(value)
        if len(body) > MAX_ANSWER:
            raise TooLarge(
                f"The response would be larger than {format_size(MAX_ANSWER)}. Split the request into smaller"
                " ones."
            )
        if status == 201 and "location" not in headers:
            location = getattr(getattr(value, "urls", None), "location", None)
            if isinstance(location, str):
                headers["location"] = location
        etag = ""
        if operation.method == "GET" and status == 200:
            etag = etag_of(body)
            headers["cache-control"] = "private, no-cache"
        return Answer(status, body, "application/json", headers, etag)


def api_edge(
    dispatcher: Dispatcher,
    operations: Iterable[Operation],
    others: Sequence[Route],
    *,
    pool: SharedThreads,
    metrics: Metrics,
    compressor: Compressor,
    closing: Sequence[Callable[[], None]] = (),
) -> Edge:
    """Return the application that serves the table of operations. ``others``: additional routes."""
    settings = dispatcher.context.settings
    return Edge(
        [*dispatcher.routes(operations), *others],
        pool=pool,
        metrics=metrics,
        compressor=compressor,
        refuse=json_error,
        headers=_HEADERS,
        preflight=_PREFLIGHT,
        owner_of=dispatcher.owner_of,
        proxies=parse_networks(settings.trusted_proxies),
        tracers=parse_networks(settings.trace_proxies),
        query_limit=settings.query_limit,
        least_rate=settings.least_rate,
        closing=closing,
    )
