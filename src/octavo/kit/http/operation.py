"""The one table of operations: each HTTP operation is declared once, by decorating its handler.

Routing, the permission check, the OpenAPI description, the reference pages, rate limits, metrics and the
contract tests all read ``TABLE``. A handler's signature says what it takes:

- ``call: Call``: the request;
- one proof object (a type registered with ``enters``): what the permission check gave for the ids in the path; of an
  operation that is open to visitors of a site, a union with the type that these get;
- ``body`` and ``query``: msgspec types the request is validated against;
- anything else: a path parameter, in snake case.

One handler may carry several declarations: operations that do the same at different objects. Its proof type is then
registered once for each of them, and the ids in the path say which permission check it is had by.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from octavo.errors import NotFound, NotSignedIn, OctavoError

if TYPE_CHECKING:
    from octavo.core.app_urls import AppAddresses
    from octavo.kit.context import Context
    from octavo.kit.db.database import Database, Transaction
    from octavo.kit.work.hub import Message, Topic
    from octavo.kit.work.outbox import Position
    from octavo.settings import Settings

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
WaitsFor = Literal["model", "server"]
Handler = Callable[..., Any]
_H = TypeVar("_H", bound=Handler)

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class _Public:
    def __repr__(self) -> str:
        return "PUBLIC"


PUBLIC: Final = _Public()
"""``needs`` of an operation that anybody may call, signed in or not."""


class Deletion:
    """``returns`` of a DELETE: the handler gives True for 205 (deleted), False for 204 (was not there)."""


@dataclass(frozen=True, slots=True)
class Enter:
    """How a proof object is had: ``fn(call, needs, *ids)`` with the ids of ``parameters`` from the path."""

    fn: Callable[..., Any]
    parameters: tuple[str, ...]


AgentScope = Literal["docs:read", "docs:draft", "docs:comment", "docs:review", "docs:gaps", "docs:merge"]
"""What a person grants a program that acts for them: to read, to draft change requests, to comment, to review, to see what
is asked and not found, to merge."""


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
    """The handler's argument for the proof object; None for PUBLIC ones."""
    proof_type: type | None
    visit_type: type | None
    """The proof of visitors of a site; None: this is not open to them."""
    entered_by: frozenset[str]
    """The path parameters that the proof object is had from."""
    body: Any
    body_optional: bool
    query: Any
    path_parameters: dict[str, str]
    """Handler argument to path parameter."""
    errors: tuple[int, ...]
    quick: bool
    body_limit: int
    extension: bool
    deprecated: bool
    source: str
    area: str
    query_names: frozenset[str] = frozenset()
    query_lists: frozenset[str] = frozenset()
    query_required: frozenset[str] = frozenset()
    media_type: str = "application/json"
    """Of the answer."""
    other_media: tuple[str, ...] = ()
    """What else callers may ask the answer to be."""
    body_media: str = "application/json"
    """Of the body."""
    refuses_unread: bool = False
    """Whether keys of a body that nobody reads are refused; else a header of the answer names them."""
    draw_error: Callable[[OctavoError], Any] | None = None
    """Writes what is refused, where that is not in the one envelope of the API."""
    browsed: bool = False
    """Whether browsers are sent to it: what is refused is then a page for those that accept one."""
    yields: tuple[str, ...] = ()
    """Scopes that a token needs besides that of the operation."""
    waits_for: WaitsFor | None = None
    """What it waits for, as long as that takes: in threads that organizations share."""
    scripts: bool = False
    """Whether the scripts of integrations may call it whatever their scopes."""
    agents: AgentScope | None = None
    """What a person grants an agent that may call it; None: no agent may."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """The narrowest scopes that a token needs to call it."""
        verb = "read" if self.method == "GET" else "write"
        return (f"{self.area}:{verb}", *self.yields)

    @property
    def takes_json(self) -> bool:
        return self.body not in (None, RawBody)

    @property
    def deletes_what_is_entered(self) -> bool:
        """Whether the proof is had from the very thing that is deleted: where that is not there, nothing is left to
        do. Not being allowed to see it looks the same."""
        names = _PATH_PARAMETER.findall(self.path)
        return self.returns is Deletion and bool(names) and names[-1] in self.entered_by

    @property
    def documentation(self) -> str:
        return inspect.getdoc(self.handler) or ""

    @property
    def enter(self) -> Enter | None:
        """The permission check; None for PUBLIC ones, and before ``check_table`` for one not registered yet."""
        return _ENTERS.get((self.proof_type, self.entered_by))

    @property
    def enter_visit(self) -> Enter | None:
        """The check of visitors; None where it is not open to them."""
        return _ENTERS[self.visit_type, self.entered_by] if self.visit_type is not None else None


TABLE: dict[str, Operation] = {}
_ENTERS: dict[tuple[type | None, frozenset[str]], Enter] = {}
_PROOFS: set[type] = set()
_VISITS: set[type] = set()
"""Of the proofs, those that visitors get."""

BODY_LIMIT = 10 * 1024 * 1024
PUBLIC_BODY_LIMIT = 64 * 1024
"""Bytes of the body of an operation that says no limit of its own; the second when anybody may call it."""


class DeclarationError(Exception):
    """An operation that is declared wrongly; raised when its module is imported."""


def enters(proof: type, *parameters: str, visitors: bool = False) -> Callable[[_H], _H]:
    """Registers how a proof object of type ``proof`` is had from these path parameters. ``visitors``: by visitors of a
    site, and by nobody else.

    A type may be registered for several sets of parameters, also by packages above the one that declares it.
    """
    key = (proof, frozenset(parameters))

    def register(fn: _H) -> _H:
        if key in _ENTERS:
            raise DeclarationError(f"{proof.__name__}: entered twice by {sorted(parameters)}")
        _ENTERS[key] = Enter(fn, parameters)
        _PROOFS.add(proof)
        if visitors:
            _VISITS.add(proof)
        return fn

    return register


def list_proofs() -> list[type]:
    """The types of proof objects that are registered."""
    return sorted(_PROOFS, key=lambda proof: proof.__name__)


def check_table() -> None:
    """Called once all packages are loaded. Raises DeclarationError for an operation without its permission check."""
    for operation in TABLE.values():
        if operation.proof_type is not None and operation.enter is None:
            by = ", ".join(sorted(operation.entered_by)) or "nothing"
            raise DeclarationError(f"{operation.id}: {operation.proof_type.__name__} is not entered by {by}")
        if operation.visit_type is not None and (operation.visit_type, operation.entered_by) not in _ENTERS:
            raise DeclarationError(f"{operation.id}: visitors do not enter what it is about")


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)


def _without_none(annotation: Any) -> tuple[Any, bool]:
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


def _proofs_of(annotation: Any) -> list[type]:
    """The types of proof objects that an argument is one of; none where it is something else."""
    members = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return list(members) if all(isinstance(one, type) and one in _PROOFS for one in members) else []


class Area(Struct, frozen=True):
    """A part of the API: the word that token scopes and the description know its operations by.

    ``lenient``: its bodies follow a standard that has servers pass over keys they do not know. ``media_type``: of its
    answers. ``draw_error``: writes errors as that standard has them.
    """

    name: str
    lenient: bool = False
    media_type: str = "application/json"
    draw_error: Callable[[OctavoError], Any] | None = None

    def operation(
        self,
        id: str,
        method: Method,
        path: str,
        *,
        needs: Any,
        returns: Any = None,
        status: int | None = None,
        errors: tuple[int, ...] = (),
        quick: bool = False,
        body_limit: int | None = None,
        extension: bool = False,
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
    ) -> Callable[[_H], _H]:
        """Declares the decorated function as an operation.

        ``returns``: the type of the answer, ``None`` for an empty one, ``Deletion`` for a DELETE. ``status``: of
        success (default 200, 204 without an answer). ``body_limit``: bytes the body may have. ``quick``: reads
        a few rows by their keys, however much there is, or what is kept, so that it may be answered on the event
        loop (on PostgreSQL when those rows are kept); a handler that finds more to do calls ``call.leave_loop()``.
        ``extension``: Octavo's own, not in the public API. ``refuses_unread``: refuses keys of a body that nobody
        reads, as extensions do, because the body replaces all that there is. ``media_type``: of the answer, where it is not that of the
        area. ``other_media``: what else callers may ask for. ``body_media``: of a ``RawBody``. ``browsed``: browsers are sent here, and get what is refused
        as a page. ``yields``: scopes that a token needs besides, because the answer opens what they are about: the scope
        that reads content for links to content, the scope that writes for keys. ``waits_for``: what it waits for,
        a language model or a server elsewhere. ``visitors``: visitors of a site may call it; what they get as a proof is the other type of the union that the
        handler takes. ``scripts``: the scripts of integrations may call it whatever their scopes, because the public
        description says so. ``agents``: what a person grants an agent that may call it. Raises DeclarationError when something does not fit together.
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
                        raise DeclarationError(f"{id}: two proof objects")
                    proof, proof_type, visit_type = name, members[0], visits[0] if visits else None
                elif _camel(name) in in_path:
                    path_parameters[name] = _camel(name)
                else:
                    raise DeclarationError(f"{id}: cannot tell what parameter {name!r} is")
            if needs is None:
                raise DeclarationError(f"{id}: says no `needs`")
            if (needs is PUBLIC) != (proof is None):
                raise DeclarationError(f"{id}: an operation is PUBLIC or takes one proof object")
            if visitors and visit_type is None:
                raise DeclarationError(f"{id}: takes no proof that visitors get")
            # What no argument takes is what the proof object is had from: see ``check_table``.
            entered_by = frozenset(in_path) - set(path_parameters.values())
            if proof is None and entered_by:
                raise DeclarationError(f"{id}: nobody takes {sorted(entered_by)}")
            code = inspect.unwrap(handler).__code__
            module = handler.__module__.removeprefix("octavo.")
            TABLE[id] = Operation(
                id=id,
                method=method,
                path=path,
                needs=needs,
                returns=returns,
                status=status or (205 if returns is Deletion else 204 if returns is None else 200),
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
                body_limit=body_limit or (PUBLIC_BODY_LIMIT if needs is PUBLIC else BODY_LIMIT),
                extension=extension,
                deprecated=deprecated,
                source=f"src/octavo/{module.replace('.', '/')}.py:{code.co_firstlineno}",
                area=self.name,
                query_names=_field_names(query),
                query_lists=_list_fields(query),
                query_required=_required_fields(query),
                media_type=media_type or self.media_type,
                other_media=other_media,
                body_media=body_media,
                draw_error=self.draw_error,
                refuses_unread=refuses_unread or (extension and not self.lenient),
                browsed=browsed,
                yields=yields,
                waits_for=waits_for,
                scripts=scripts,
                agents=agents,
            )
            return handler

        return declare


class Drafted(Struct, frozen=True):
    """A change request that a preview shows in place of what its space has."""

    change_id: str
    space_id: str
    revision_id: str


class Person(Struct, frozen=True):
    """A person together with the reach of the token or session that they act through.

    ``token_id``: empty in a job. ``scopes`` None: all that the person may do. ``organization_id``: the only
    organization this reaches; None: all of the person's. ``session``: ``token_id`` is the id of a session.
    ``proved_at``: when the person last proved in this session who they are, in milliseconds; 0 for tokens.
    ``expires_at``: of a token, None: never. ``client``: the network address that the request came from; None in a job.
    ``agent``: the name of the program that acts for the person by a token of its own; ``token_id`` is then the id of
    their connection, and the scopes are those of agents.
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
    """An integration's script: as an installation of it, which is a member of one organization, or as the integration
    itself, which is nobody in any.

    ``scopes``: those of integrations. ``installation_id`` None: as the integration; ``user_id``, the installation's, is
    then nobody's. ``client``: as of a person.
    """

    integration_id: str
    scopes: frozenset[str] = frozenset()
    installation_id: str | None = None
    user_id: str = ""
    organization_id: str | None = None
    client: str | None = None

    @property
    def agent(self) -> None:
        """A script acts for nobody but itself."""

    @property
    def token_id(self) -> str:
        """What the audit log and rate limits know its tokens by: these are kept nowhere."""
        return self.installation_id or self.integration_id


class Visitor(Struct, frozen=True):
    """Somebody who visits a published site, and is nobody in its organization; whatever draws it for them calls.

    ``claims``: the ``visitor`` that conditions ask. ``spaces``: ids of those that the site shows them. ``visibility``:
    of the site. ``base``: the address that it has for them. ``preview``: the token of the preview by which they see it,
    published or not, and ``drafted`` what that shows. ``named``: what else the request asks for, if a page that they
    see names it: ``user`` and an id, ``openapi`` and a slug.
    """

    site_id: str
    organization_id: str
    visibility: str
    base: str
    claims: dict[str, Any]
    spaces: frozenset[str]
    preview: str = ""
    drafted: Drafted | None = None
    named: tuple[str, str] | None = None


Actor = Person | Script
"""Whose rights count. Every object is entered by an actor, never by the id of a user alone: the same person reaches
less through a token of one organization than through their password. Actors are made by authenticating and, for jobs,
by ``access.actor_for_job``."""
Caller = Person | Script | Visitor
"""Who may call."""

Ask = Callable[["Call", str, dict[str, str], dict[str, Any], Any], Any]


@dataclass(slots=True, kw_only=True)
class Recipient:
    """Whom something is presented to, by which installation. ``authenticated`` None: nobody in particular, such as the
    script that a job runs. ``on_loop``: on the event loop, where nothing may take long."""

    context: Context
    authenticated: Caller | None = None
    on_loop: bool = False

    def leave_loop(self) -> None:
        """What follows may take a while. Raises LeavesLoop on the event loop: the call is then answered in a thread."""
        if self.on_loop:
            raise LeavesLoop

    @property
    def caller(self) -> Caller:
        """Who calls. Raises NotSignedIn when nobody is."""
        if self.authenticated is None:
            raise NotSignedIn(
                "Authorization: this operation needs a token. Send `Authorization: Bearer <token>`."
            )
        return self.authenticated

    @property
    def actor(self) -> Actor:
        """Whose rights count. Raises NotSignedIn when nobody is, NotFound for visitors of a site: renderers show theirs
        that there is no such page, where anything else would be an error of the renderer's."""
        caller = self.caller
        if isinstance(caller, Visitor):
            raise NotFound("There is nothing here for visitors of a site: it is for members.")
        return caller

    @property
    def db(self) -> Database:
        return self.context.db

    @property
    def settings(self) -> Settings:
        return self.context.settings

    @property
    def app(self) -> AppAddresses:
        """Where people see what the API names."""
        return self.context.app

    def url(self, path: str) -> str:
        """The public URL of an API path (below /v1)."""
        return self.context.url(path)


@dataclass(slots=True, kw_only=True)
class Call(Recipient):
    """One request on its way to a handler. ``authenticated``: who the composition root's ``authenticate`` found to
    call; None: nobody is signed in."""

    operation: Operation
    path_parameters: dict[str, str]
    query_string: bytes
    headers: dict[bytes, bytes]
    body: bytes
    client: str
    request_id: str
    response_headers: dict[str, str] = field(default_factory=dict)
    counted: bool = False
    """Whether the rate limit has counted it: once, however often it is tried."""
    ask: Ask | None = None
    """Performs another operation of the table as the same caller, see ``http.Dispatcher.ask``."""
    by_agent: bool = False
    """Whether the server of tools for agents asks: their tokens are good there alone."""
    organization_id: str = ""
    """Whose is what was entered last; empty where it is nobody's in particular."""
    asked_again: bool = False
    """Whether it is authenticated anew on its way: that is no sign of life of who calls."""


class LeavesLoop(Exception):
    """This call is to be answered in a thread."""


class RawBody(Struct, frozen=True):
    """Type of ``body`` for operations that take something else than JSON: the bytes as they came."""

    data: bytes
    content_type: str


class Reply(Struct, frozen=True):
    """An answer with another status or with headers of its own, where the declared one does not fit.

    A ``value`` of bytes is sent as it is; ``headers`` then say its content-type.
    """

    value: Any = None
    status: int = 200
    headers: dict[str, str] = {}


class Follow(Struct, frozen=True):
    """An answer that goes on while its caller listens to these topics (``kit.hub``).

    ``owner``: an organization, and who it is in it. ``after``: where they stopped listening. ``seconds``: for how long. ``check`` raises
    what they are refused with, beside what authenticating and entering them again does. ``may_know``: as of listeners.
    """

    topics: tuple[Topic, ...]
    owner: tuple[str, str]
    after: Position | None
    seconds: float
    check: Callable[[], object]
    may_know: Callable[[Transaction, Message], bool] | None = None


class Stream(Struct, frozen=True):
    """An answer sent in pieces: an iterator of bytes, read in a worker thread."""

    chunks: Any
    content_type: str
    headers: dict[str, str] = {}
    status: int = 200
