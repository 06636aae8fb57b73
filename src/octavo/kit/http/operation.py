"""The table of operations: each HTTP operation is declared once, by decorating its handler.

Routing, the permission check, the OpenAPI description, the reference pages, rate limits, metrics, and the contract
tests all read ``TABLE``. A handler's signature declares its requirements:

- ``call: Call``: the request;
- one proof object (a type registered with ``enters``): the result of the permission check for the IDs in the path; for
  an operation that site visitors can call, a union with the type for visitors;
- ``body`` and ``query``: msgspec types that the request is validated against;
- any other argument: a path parameter, in snake case;
- the return type: the response. A ``DELETE`` handler that returns a ``bool`` results in 205 for True (deleted)
  and 204 for False (nothing to delete).

One handler can have several declarations, for operations that do the same thing to different objects. In that case,
its proof type is registered once for each operation, and the IDs in the path determine the permission check.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
import types
import typing
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from octavo.errors import NotFound, NotSignedIn, OctavoError

if TYPE_CHECKING:
    from octavo.core.app_urls import AppAddresses
    from octavo.kit.context import Context
    from octavo.kit.db.database import Database, Transaction
    from octavo.kit.work.hub import HubMessage, Topic
    from octavo.kit.work.outbox import OutboxPosition
    from octavo.settings import Settings

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
WaitsFor = Literal["model", "server"]
Handler = Callable[..., Any]
_H = TypeVar("_H", bound=Handler)
T = TypeVar("T")

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class _Public:
    def __repr__(self) -> str:
        return "PUBLIC"


PUBLIC: Final = _Public()
"""Value of ``needs`` for operations that anyone can call, whether signed in or not."""


class Deletion:
    """Value of ``returns`` for a DELETE operation whose handler returns whether the object existed."""


@dataclass(frozen=True, slots=True)
class Enter:
    """Function that creates a proof object: ``fn(call, needs, *ids)``. The IDs are the values of ``parameters`` in
    the path."""

    fn: Callable[..., Any]
    parameters: tuple[str, ...]


AgentScope = Literal["docs:read", "docs:draft", "docs:comment", "docs:review", "docs:gaps", "docs:merge"]
"""Permissions that a person can grant to an agent: read, draft change requests, comment, review, view unanswered
questions and searches, and merge."""


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    method: Method
    path: str
    needs: Any
    returns: Any
    status: int
    handler: Handler
    proof: str | None
    """Handler argument that takes the proof object; None for public operations."""
    proof_type: type | None
    visit_type: type | None
    """Type of the proof object for site visitors; None if they can't call the operation."""
    entered_by: frozenset[str]
    """Path parameters from which the proof object is created."""
    body: Any
    body_optional: bool
    query: Any
    path_parameters: dict[str, str]
    """Path parameters, by handler argument."""
    errors: tuple[int, ...]
    quick: bool
    cached: bool
    """Whether the response is cached until the next commit."""
    body_limit: int
    deprecated: bool
    source: str
    area: str
    query_names: frozenset[str] = frozenset()
    query_lists: frozenset[str] = frozenset()
    query_required: frozenset[str] = frozenset()
    media_type: str = "application/json"
    """Media type of the response body."""
    other_media: tuple[str, ...] = ()
    """Additional media types that callers can request."""
    body_media: str = "application/json"
    """Media type of the body."""
    refuses_unread: bool = False
    """Whether unknown keys in a body are rejected; otherwise, a response header lists them."""
    error_type: type | None = None
    """Type of error responses, if they aren't in the API's error format."""
    draw_error: Callable[[OctavoError], Any] | None = None
    """Function that presents errors as responses of the type ``error_type``."""
    browsed: bool = False
    """Whether browsers open the operation's URL. If so, clients that accept pages get errors as pages."""
    yields: tuple[str, ...] = ()
    """Scopes that a token needs in addition to the operation's scope."""
    waits_for: WaitsFor | None = None
    """Resource that the operation waits for, in threads shared by all organizations."""
    scripts: bool = False
    """Whether integration scripts can call the operation regardless of their scopes."""
    agents: AgentScope | None = None
    """Permission that an agent needs; None if agents can't call the operation."""
    also: tuple[int, ...] = ()
    """Additional success statuses, with the same response."""
    minimal: bool = False
    """Whether callers can request an empty response with `Prefer: return=minimal` (RFC 7240)."""
    in_maintenance: bool = False
    """Whether the operation can be called while the server is read-only. GET operations can always be called."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the narrowest scopes that allow a token to call the operation."""
        verb = "read" if self.method == "GET" else "write"
        return (f"{self.area}:{verb}", *self.yields)

    @property
    def extension(self) -> bool:
        """Return whether the operation is an extension that isn't part of the public API description."""
        return self.id not in PUBLIC_API

    @property
    def takes_json(self) -> bool:
        return self.body not in (None, RawBody)

    @property
    def deletes_what_is_entered(self) -> bool:
        """Return whether authorization loads the object to delete. If so, a missing object and missing access lead
        to the same response."""
        names = _PATH_PARAMETER.findall(self.path)
        return self.returns is Deletion and bool(names) and names[-1] in self.entered_by

    @property
    def documentation(self) -> str:
        return inspect.getdoc(self.handler) or ""

    @property
    def enter(self) -> Enter | None:
        """Return the permission check; None for public operations and, before ``check_table``, for operations whose
        check isn't registered yet."""
        return _ENTERS.get((self.proof_type, self.entered_by))

    @property
    def enter_visit(self) -> Enter | None:
        """Return the visitor check; None if visitors can't call the operation."""
        return _ENTERS[self.visit_type, self.entered_by] if self.visit_type is not None else None


PUBLIC_API = frozenset(
    line for line in (files(__package__) / "public_api.txt").read_text().split("\n")[1:] if line
)
"""IDs of the operations in the public description of the API."""
TABLE: dict[str, Operation] = {}
_ENTERS: dict[tuple[type | None, frozenset[str]], Enter] = {}
_PROOFS: set[type] = set()
_VISITS: set[type] = set()
"""Types of proof objects for visitors."""

BODY_LIMIT = 10 * 1024 * 1024
PUBLIC_BODY_LIMIT = 64 * 1024
"""Maximum sizes in bytes of a body for operations that don't declare a limit. The second size is for public
operations."""


class DeclarationError(Exception):
    """Raised if the declaration of an operation is invalid. This happens when the operation's module is imported."""


def enters(proof: type, *parameters: str, visitors: bool = False) -> Callable[[_H], _H]:
    """Register the function that creates a proof object of type ``proof`` from these path parameters.
    ``visitors``: whether the type is only for visitors of a site.

    A type can be registered for several sets of parameters, including by packages in a higher layer than the one that
    declares the type.
    """
    key = (proof, frozenset(parameters))

    def register(fn: _H) -> _H:
        if key in _ENTERS:
            raise DeclarationError(
                f"{proof.__name__}: already registered for the parameters {sorted(parameters)}"
            )
        _ENTERS[key] = Enter(fn, parameters)
        _PROOFS.add(proof)
        if visitors:
            _VISITS.add(proof)
        return fn

    return register


def list_proofs() -> list[type]:
    """Return the registered types of proof objects."""
    return sorted(_PROOFS, key=lambda proof: proof.__name__)


def check_table() -> None:
    """Check that every operation has a permission check. Call this after all packages are loaded. Raises
    DeclarationError if a check is missing."""
    for operation in TABLE.values():
        if operation.proof_type is not None and operation.enter is None:
            by = ", ".join(sorted(operation.entered_by)) or "nothing"
            raise DeclarationError(
                f"{operation.id}: no check registered for {operation.proof_type.__name__} with {by}"
            )
        if operation.visit_type is not None and (operation.visit_type, operation.entered_by) not in _ENTERS:
            raise DeclarationError(f"{operation.id}: no visitor check registered for its parameters")


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)


def _without_none(annotation: object) -> tuple[object, bool]:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        kept = [a for a in typing.get_args(annotation) if a is not types.NoneType]
        if len(kept) < len(typing.get_args(annotation)):
            return typing.Union[tuple(kept)], True  # noqa: UP007
    return annotation, False


def _list_fields(query: Any) -> frozenset[str]:
    if query is None:
        return frozenset()
    found = set()
    for f in msgspec.structs.fields(query):
        inner, _ = _without_none(f.type)
        if typing.get_origin(inner) is typing.Annotated:
            inner = typing.get_args(inner)[0]
        if typing.get_origin(inner) is list:
            found.add(f.encode_name)
    return frozenset(found)


def _field_names(query: Any) -> frozenset[str]:
    return (
        frozenset(f.encode_name for f in msgspec.structs.fields(query)) if query is not None else frozenset()
    )


def _required_fields(query: Any) -> frozenset[str]:
    if query is None:
        return frozenset()
    return frozenset(f.encode_name for f in msgspec.structs.fields(query) if f.required)


def _read_answer(id: str, method: Method, annotation: object, declared: object) -> object:
    """Return the type of an operation's response; None for an empty response.

    ``annotation``: the return type of the handler. ``declared``: the declared type, which is required if the handler
    returns a ``Reply``, a ``Stream``, a ``Deferred``, or encoded bytes, or if it serves several operations. Raises
    DeclarationError if the two types contradict each other, or if ``declared`` only repeats the return type.
    """
    if annotation is bool and method == "DELETE":
        annotation = Deletion
    union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    members = typing.get_args(annotation) if union else (annotation,)
    undetermined = (Reply, Stream, Follow, Deferred, msgspec.Raw)
    determined = tuple(one for one in members if (typing.get_origin(one) or one) not in undetermined)
    if not determined:
        return declared
    if declared is not None:
        if declared not in determined or len(determined) == 1:
            raise DeclarationError(
                f"{id}: `returns` contradicts or repeats the type that the handler returns"
            )
        return declared
    answer = functools.reduce(operator.or_, determined)
    return None if answer is types.NoneType else answer


def _proofs_of(annotation: object) -> list[type]:
    """Return the types of proof objects that an argument can have; empty if it isn't a proof object."""
    members = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return list(members) if all(isinstance(one, type) and one in _PROOFS for one in members) else []


class Area(Struct, frozen=True):
    """Part of the API. Its name is used in token scopes, and groups its operations in the description.

    ``lenient``: whether its bodies follow a standard that requires ignoring unknown keys. ``media_type``: the media
    type of its responses, including errors. ``error_type``: the type of errors in the format of that standard.
    ``draw_error``: a function that presents errors in this format.
    """

    name: str
    lenient: bool = False
    media_type: str = "application/json"
    error_type: type | None = None
    draw_error: Callable[[OctavoError], Any] | None = None

    def operation(
        self,
        id: str,
        method: Method,
        path: str,
        *,
        needs: object,
        returns: object = None,
        status: int | None = None,
        also: tuple[int, ...] = (),
        errors: tuple[int, ...] = (),
        quick: bool = False,
        cached: bool = False,
        body_limit: int | None = None,
        refuses_unread: bool = False,
        deprecated: bool = False,
        media_type: str | None = None,
        other_media: tuple[str, ...] = (),
        body_media: str = "application/json",
        browsed: bool = False,
        yields: tuple[str, ...] = (),
        waits_for: WaitsFor | None = None,
        visitors: bool = False,
        scripts: bool = False,
        agents: AgentScope | None = None,
        minimal: bool = False,
        in_maintenance: bool = False,
    ) -> Callable[[_H], _H]:
        """Declare the decorated function as an operation.

        ``returns``: the type of the response, if the return type of the handler doesn't determine it. ``status``:
        the success status (default: 200, or 204 without a response). ``also``: additional success statuses.
        ``body_limit``: the maximum size of the body in bytes. ``quick``: whether it reads only cached data or a few
        rows by their keys, no matter how much data there is. If so, it can run on the event loop (on PostgreSQL,
        only if those rows are cached). A handler that has more to do calls ``call.leave_loop()``.
        ``cached``: whether the JSON response depends only on the URL, the caller, and committed data other than
        ``Live`` rows, and not on the current time. If so, it is cached for the caller until the next commit, and
        is then sent from the event loop, after the caller has been authenticated and authorized.
        ``refuses_unread``: whether to reject unknown keys in a body, as extensions do, because the body replaces
        the whole object. ``media_type``: the media type of the response, if it is different from the media type of
        the area. ``other_media``: additional media types that callers can request. ``body_media``: the media type
        of a ``RawBody``. ``browsed``: whether browsers are redirected to the operation, and get errors as pages.

        ``yields``: the additional scopes that a token needs because the response grants access to other data. For
        example, a response with links to content requires the scope for reading content. ``waits_for``: the
        resource that it waits for, such as a language model or another server. ``visitors``: whether site visitors
        can call it; the type of their proof object is the second type in the union that the handler takes.
        ``scripts``: whether integration scripts can call it regardless of their scopes, as in the public
        description. ``agents``: the permission that an agent needs. ``minimal``: whether callers can request an
        empty response with the ``Prefer`` header. ``in_maintenance``: whether it works while the server is
        read-only, because it doesn't change content. Raises DeclarationError if these arguments contradict each
        other.
        """

        def declare(handler: _H) -> _H:
            if id in TABLE:
                raise DeclarationError(f"{id}: declared twice")
            hints = typing.get_type_hints(handler, include_extras=True)
            proof, proof_type, visit_type, body, body_optional, query = None, None, None, None, False, None
            path_parameters: dict[str, str] = {}
            in_path = _PATH_PARAMETER.findall(path)
            for name in inspect.signature(handler).parameters:
                annotation = hints.get(name)
                if name == "call":
                    continue
                if name == "body":
                    body, body_optional = _without_none(annotation)
                elif name == "query":
                    query = annotation
                elif found := _proofs_of(annotation):
                    members = [one for one in found if one not in _VISITS]
                    visits = [one for one in found if one in _VISITS]
                    if proof is not None or len(members) != 1 or len(visits) > 1:
                        raise DeclarationError(f"{id}: takes more than one authorization parameter")
                    proof, proof_type, visit_type = name, members[0], visits[0] if visits else None
                elif _camel(name) in in_path:
                    path_parameters[name] = _camel(name)
                else:
                    raise DeclarationError(f"{id}: the parameter {name!r} isn't in the path")
            answer = _read_answer(id, method, hints.get("return"), returns)
            if needs is None:
                raise DeclarationError(f"{id}: `needs` is missing")
            if (needs is PUBLIC) != (proof is None):
                raise DeclarationError(f"{id}: must be PUBLIC or take one authorization parameter")
            if visitors and visit_type is None:
                raise DeclarationError(f"{id}: `visitors` requires a parameter that authorizes a visitor")
            # Parameters without an argument belong to the authorization: see ``check_table``.
            entered_by = frozenset(in_path) - set(path_parameters.values())
            if proof is None and entered_by:
                raise DeclarationError(f"{id}: no argument receives {sorted(entered_by)}")
            code = inspect.unwrap(handler).__code__
            module = handler.__module__.removeprefix("octavo.")
            TABLE[id] = Operation(
                id=id,
                method=method,
                path=path,
                needs=needs,
                returns=answer,
                status=status or (205 if answer is Deletion else 204 if answer is None else 200),
                handler=handler,
                proof=proof,
                proof_type=proof_type,
                visit_type=visit_type if visitors else None,
                entered_by=entered_by,
                body=body,
                body_optional=body_optional,
                query=query,
                path_parameters=path_parameters,
                errors=errors,
                quick=quick,
                cached=cached,
                body_limit=body_limit or (PUBLIC_BODY_LIMIT if needs is PUBLIC else BODY_LIMIT),
                deprecated=deprecated,
                source=f"src/octavo/{module.replace('.', '/')}.py:{code.co_firstlineno}",
                area=self.name,
                query_names=_field_names(query),
                query_lists=_list_fields(query),
                query_required=_required_fields(query),
                media_type=media_type or self.media_type,
                other_media=other_media,
                body_media=body_media,
                error_type=self.error_type,
                draw_error=self.draw_error,
                refuses_unread=refuses_unread or (id not in PUBLIC_API and not self.lenient),
                browsed=browsed,
                yields=yields,
                waits_for=waits_for,
                scripts=scripts,
                agents=agents,
                minimal=minimal,
                also=also,
                in_maintenance=in_maintenance,
            )
            return handler

        return declare


class Drafted(Struct, frozen=True):
    """Change request that a preview shows instead of the published content of its space. ``by``: the member who
    created the preview."""

    change_id: str
    space_id: str
    revision_id: str
    by: Actor


class Person(Struct, frozen=True):
    """Person with the access granted by the token or session that they are using.

    ``token_id``: the ID of the token; empty if a job acts for the person. ``scopes``: the scopes; None for all
    permissions of the person. ``organization_id``: the only accessible organization; None for all organizations of
    the person. ``session``: whether ``token_id`` is the ID of a session. ``proved_at``: the time in milliseconds at
    which the person last confirmed their identity in this session; 0 for tokens. ``expires_at``: the expiration of
    a token; None if it never expires. ``client``: the IP address of the request; None in a job. ``agent``: the name
    of the agent that acts for the person with its own token. In that case, ``token_id`` is the ID of their
    connection, and the scopes are those of agents.
    """

    user_id: str
    token_id: str
    scopes: frozenset[str] | None = None
    organization_id: str | None = None
    session: bool = False
    proved_at: int = 0
    expires_at: int | None = None
    client: str | None = None
    agent: str | None = None


class Script(Struct, frozen=True):
    """Integration script. It acts either as an installation, which is a member of one organization, or as the
    integration itself, which isn't a member of any.

    ``scopes``: the scopes of integrations. ``installation_id``: the ID of the installation, or None for the
    integration itself. ``user_id``: the ID of the installation's user; empty for the integration itself.
    ``client``: as in ``Person``.
    """

    integration_id: str
    scopes: frozenset[str] = frozenset()
    installation_id: str | None = None
    user_id: str = ""
    organization_id: str | None = None
    client: str | None = None

    @property
    def agent(self) -> None:
        """Return an empty string, because a script doesn't act through an agent."""

    @property
    def token_id(self) -> str:
        """Return a fixed ID for the script's tokens, for the audit log and rate limits, because the tokens aren't
        stored."""
        return self.installation_id or self.integration_id


class Visitor(Struct, frozen=True):
    """Visitor of a published site who isn't a member of its organization. A renderer makes the call on the
    visitor's behalf.

    ``claims``: the ``visitor`` value of conditions. ``spaces``: the IDs of the spaces that the site shows to the
    visitor. ``visibility``: the visibility of the site. ``base``: the site's URL for this visitor. ``preview``: the
    token of the visitor's preview, whether or not the site is published. ``drafted``: the change request that the
    preview shows. ``drafts``: whether the preview shows the draft of the site structure. ``named``: additional
    objects that the request can access if a page that the visitor can see refers to them: ``user`` and an ID, or
    ``openapi`` and a slug.
    """

    site_id: str
    organization_id: str
    visibility: str
    base: str
    claims: dict[str, Any]
    spaces: frozenset[str]
    preview: str = ""
    drafted: Drafted | None = None
    drafts: bool = False
    named: tuple[str, str] | None = None


Actor = Person | Script
"""Holder of permissions. Authorization requires an actor, never just a user ID, because the same person has
less access with a token for one organization than with their password. Actors are created by authentication
and, for jobs, by ``access.actor_for_job``."""
Caller = Person | Script | Visitor
"""Caller of an operation."""

Ask = Callable[["Call", str, dict[str, str], dict[str, Any], Any], Any]


@dataclass(slots=True, kw_only=True)
class Recipient:
    """Recipient of a response, and the server that creates the response. ``authenticated``: the caller; None if the
    recipient is anonymous, such as the script that a job runs. ``on_loop``: whether the code runs on the event
    loop, which it must not block."""

    context: Context
    authenticated: Caller | None = None
    on_loop: bool = False

    def leave_loop(self) -> None:
        """Announce that the work that follows may take a while. On the event loop, this raises LeavesLoop, and the
        call is then answered in a thread."""
        if self.on_loop:
            raise LeavesLoop

    @property
    def caller(self) -> Caller:
        """Return the caller. Raises NotSignedIn if the caller is anonymous."""
        if self.authenticated is None:
            raise NotSignedIn(
                "Authorization: this operation requires a token. Send `Authorization: Bearer <token>`."
            )
        return self.authenticated

    @property
    def actor(self) -> Actor:
        """Return the holder of permissions.

        Raises NotSignedIn for anonymous callers, and NotFound for visitors of a site. After NotFound, renderers
        show a "page not found" response to their visitors; any other error would count as an error of the renderer.
        """
        caller = self.caller
        if isinstance(caller, Visitor):
            raise NotFound("This operation is only for members, not for site visitors.")
        return caller

    @property
    def db(self) -> Database:
        return self.context.db

    @property
    def settings(self) -> Settings:
        return self.context.settings

    @property
    def app(self) -> AppAddresses:
        """Return the URLs of the app, where people see the objects that the API returns."""
        return self.context.app

    def url(self, path: str) -> str:
        """Return the public URL of an API path (under ``/v1``)."""
        return self.context.url(path)


@dataclass(slots=True, kw_only=True)
class Call(Recipient):
    """Request to a handler. ``authenticated``: the caller that the composition root's ``authenticate`` found; None if
    the caller is anonymous."""

    operation: Operation
    path_parameters: dict[str, str]
    query_string: bytes
    headers: dict[bytes, bytes]
    body: bytes
    client: str
    request_id: str
    response_headers: dict[str, str] = field(default_factory=dict)
    counted: bool = False
    """Whether the call has been counted for the rate limit. It is counted only once, regardless of retries."""
    organization_counted: bool = False
    """Whether the call has been counted for its organization's rate limit."""
    ask: Ask | None = None
    """Function that performs another operation of the table as the same caller; see ``http.Dispatcher.ask``."""
    by_agent: bool = False
    """Whether the MCP server for agents makes the call. Agents' tokens are valid only for that server."""
    organization_id: str = ""
    """Organization of the object that the call was last authorized for; empty if there is none."""
    asked_again: bool = False
    """Whether the call is authenticated again while it is being answered. The second authentication doesn't count as
    activity by the caller."""
    has_written: bool = False
    """Whether ``write_first`` has already written the data that the read must include."""

    def perform(self, operation_id: str, path: dict[str, str], body: object = None) -> object:
        """Run another operation for the same caller and return its response. Raises the operation's errors."""
        assert self.ask is not None, "the dispatcher passes it with every call"
        return self.ask(self, operation_id, path, {}, body)

    def write_first(self, write: Callable[[], None]) -> None:
        """Write data before the handler reads. Inside a read, this raises WritesFirst, and the read is then started
        again."""
        if self.operation.method == "GET":
            raise WritesFirst(write)
        self.has_written = True
        write()


class Deferred(Struct, Generic[T], frozen=True):
    """Result that another thread computes. Neither the event loop nor the handler's thread waits for it.
    ``present``: a function that returns the response when the result is available, or raises the result's errors."""

    future: Future[T]
    present: Callable[[Future[T]], object]


class LeavesLoop(Exception):
    """Raised internally if a call has to be answered in a thread."""


class WritesFirst(Exception):
    """Raised internally if a read has to run ``write`` and then start again, because its snapshot doesn't include
    data written in the meantime."""

    def __init__(self, write: Callable[[], None]) -> None:
        super().__init__()
        self.write = write


class RawBody(Struct, frozen=True):
    """Type of ``body`` for operations that don't take JSON: the bytes of the request."""

    data: bytes
    content_type: str


class Reply(Struct, frozen=True):
    """Response with a status or headers other than those declared.

    If ``value`` is bytes, it is sent unchanged, and ``headers`` must contain its content type.
    """

    value: Any = None
    status: int = 200
    headers: dict[str, str] = {}


class Follow(Struct, frozen=True):
    """Response that lasts as long as its caller listens to these topics (``kit.work.hub``).

    ``owner``: an organization, and the person or object in it. ``after``: the position at which the caller stopped
    listening. ``seconds``: the time to listen. ``check``: a function with additional checks, which are made
    whenever the caller is authenticated and authorized again. ``may_know``: see ``Listener``.
    """

    topics: tuple[Topic, ...]
    owner: tuple[str, str]
    after: OutboxPosition | None
    seconds: float
    check: Callable[[], object]
    may_know: Callable[[Transaction, HubMessage], bool] | None = None


class Stream(Struct, frozen=True):
    """Response sent in chunks: an iterator of bytes, read in a worker thread."""

    chunks: Any
    content_type: str
    headers: dict[str, str] = {}
    status: int = 200
