"""What a token with scopes may do, read off the table of operations.

``read``: every GET. ``write``: everything outside the area ``access``. ``admin``: everything. ``AREA:read`` and
``AREA:write``: the same within one area of the table; ``write`` holds ``read``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never, get_args

from octavo.errors import BadRequest, Forbidden
from octavo.kit.http.operation import Actor, AgentScope, Caller, Operation, Person, Script, Visitor

from .api_scopes import API_SCOPES_NEEDED
from .roles import Can

AREAS = (
    "access", "agents", "ask", "audit", "changes", "comments", "content", "conversations", "events", "fonts", "gitsync",
    "imports", "integrations", "invitations", "notifications", "openapi", "orgs", "printing", "search", "sites",
    "spaces", "translations", "webhooks",
)  # fmt: skip
SCOPES = frozenset(
    {"read", "write", "admin"} | {f"{area}:{verb}" for area in AREAS for verb in ("read", "write")}
)


def require_known(scopes: Iterable[str]) -> None:
    """Raises BadRequest naming a scope that there is not."""
    for scope in scopes:
        if scope not in SCOPES:
            raise BadRequest(f"scopes: {scope!r} is none of {', '.join(sorted(SCOPES))}")


AGENT_SCOPES: tuple[AgentScope, ...] = get_args(AgentScope)
"""What a person may grant an agent; ``agents`` of an operation says which of them it takes. Main itself they never write:
what they draft is merged by people, or by an agent that was granted just that."""


class Reach(NamedTuple):
    """What a caller's token lets them call, whoever they are. ``scopes``: as of the caller. ``agent``: a program acts for
    a person; the scopes are then those of ``AGENT_SCOPES``, or of ``API_SCOPES``."""

    kind: type[Caller]
    scopes: frozenset[str] | None
    agent: bool = False


WHOLE = Reach(Person, None)


def reach_of(caller: Caller) -> Reach:
    match caller:
        case Visitor():
            return Reach(Visitor, None)
        case Person():
            return Reach(Person, caller.scopes, caller.agent is not None)
        case Script():
            return Reach(Script, caller.scopes)
        case _:
            assert_never(caller)


def allows(reach: Reach, operation: Operation) -> bool:
    """Whether the operation may be called, as far as the token goes."""
    if reach.kind is Visitor:
        return operation.visit_type is not None
    if reach.agent:
        granted, needed = reach.scopes or frozenset(), API_SCOPES_NEEDED.get(operation.id)
        return operation.agents in granted or (needed is not None and needed <= granted)
    if reach.kind is Script:
        return _integration_allows(reach.scopes or frozenset(), operation)
    # Every token may ask whose it is, and take itself back.
    if reach.scopes is None or operation.needs is Can.OWN_TOKEN:
        return True
    return all(_holds(reach.scopes, needed) for needed in operation.scopes)


def _holds(scopes: frozenset[str], needed: str) -> bool:
    """Whether scopes hold one of an area."""
    area, _, verb = needed.partition(":")
    if "admin" in scopes or f"{area}:write" in scopes or ("write" in scopes and area != "access"):
        return True
    return verb == "read" and ("read" in scopes or needed in scopes)


class _Allowed(NamedTuple):
    """Operations of an area, of these methods, at or below a path."""

    area: str
    methods: tuple[str, ...] = ("GET",)
    path: str = "/"


_ANY = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SPACE = "/spaces/{spaceId}"
_SITE = "/orgs/{organizationId}/sites/{siteId}"
_ADAPTIVE = f"{_SITE}/adaptive-schema"
_READ = (
    *(_Allowed(area) for area in ("content", "changes", "comments", "search")),
    # Questions are asked of content, with POST where they would not fit an address.
    _Allowed("ask", ("GET", "POST"), "/orgs/{organizationId}/ask"),
    _Allowed("ask", ("GET", "POST"), f"{_SITE}/ask"),
    _Allowed("ask", ("GET", "POST"), f"{_SITE}/ai"),
    _Allowed("sites", ("POST",), f"{_SITE}/search"),
)
INTEGRATION_SCOPES: dict[str, tuple[_Allowed, ...]] = {
    "space:content:read": _READ,
    "space:content:write": tuple(_Allowed(area, _ANY) for area in ("content", "changes", "comments")),
    "space:metadata:read": (_Allowed("spaces", path=_SPACE),),
    "space:metadata:write": (_Allowed("spaces", ("PATCH",), _SPACE),),
    "space:git:sync": (_Allowed("gitsync", _ANY), _Allowed("content")),
    "page:feedback:read": (),
    "site:metadata:read": (_Allowed("sites", path=_SITE),),
    "site:views:read": (),
    "site:script:inject": (),
    "site:script:cookies": (),
    "site:visitor:auth": (),
    "site:adaptive:read": (_Allowed("sites", path=_ADAPTIVE),),
    "site:adaptive:write": (_Allowed("sites", _ANY, _ADAPTIVE),),
    "openapi:read": (_Allowed("openapi"),),
    "openapi:write": (_Allowed("openapi", _ANY),),
    "conversations:ingest": (_Allowed("conversations", ("POST",)),),
}
"""What the scopes of integrations let their tokens call, beside the operations on integrations. The scopes without
any are about events. Any scope of spaces or sites lets read the space or site itself."""


def _reached() -> tuple[str, ...]:
    found: dict[str, str] = {}
    for allowed in (one for each in INTEGRATION_SCOPES.values() for one in each):
        verb = "read" if allowed.methods == ("GET",) else "write"
        found[allowed.area] = max(verb, found.get(allowed.area, verb))
    return tuple(f"{area}:{verb}" for area, verb in sorted(found.items()))


SCRIPTS_REACH = _reached()
"""What scripts of integrations may do: so may whoever decides what they run, where, and with which token."""
_SYNCED = ("changes:write", "content:write")
"""What the scope `space:git:sync` of an integration holds for operations of Git sync, and for no others."""


def _integration_allows(scopes: frozenset[str], operation: Operation) -> bool:
    """Whether the token of an integration with these scopes may call the operation, as far as scopes go."""
    if operation.area == "integrations":
        # What they open for themselves they have.
        return True
    synced = _SYNCED if operation.area == "gitsync" and "space:git:sync" in scopes else ()
    if not all(_integration_holds(scopes, needed) for needed in operation.yields if needed not in synced):
        return False
    if operation.scripts:
        return True
    path, method = operation.path, operation.method
    for scope in scopes:
        if method == "GET" and path == {"space": _SPACE, "site": _SITE}.get(scope.partition(":")[0]):
            return True
        for allowed in INTEGRATION_SCOPES[scope]:
            below = path == allowed.path or path.startswith(allowed.path.rstrip("/") + "/")
            if operation.area == allowed.area and method in allowed.methods and below:
                return True
    return False


def _integration_holds(scopes: frozenset[str], needed: str) -> bool:
    """Whether scopes of an integration hold one of the scopes of other tokens: any that reads there, or writes."""
    area, _, verb = needed.partition(":")
    method = "GET" if verb == "read" else "PATCH"
    return any(
        allowed.area == area and allowed.path == "/" and method in allowed.methods
        for scope in scopes
        for allowed in INTEGRATION_SCOPES[scope]
    )


def require_scope(actor: Actor, operation: Operation) -> None:
    """Raises Forbidden where the scopes of the actor's token lack the operation."""
    if allows(reach_of(actor), operation):
        return
    match actor:
        case Script():
            raise Forbidden("No scope of this integration allows this operation.")
        case Person():
            assert actor.scopes is not None, "without scopes all is allowed"
            if actor.agent is not None:
                needed = sorted(API_SCOPES_NEEDED.get(operation.id, frozenset()) - actor.scopes)
                if not needed:
                    raise Forbidden("No scope of OAuth allows this operation. Use a personal token instead.")
                raise Forbidden(f"This program was not granted the scope `{needed[0]}`.")
            lacking = next(one for one in operation.scopes if not _holds(actor.scopes, one))
            raise Forbidden(f"This token lacks the scope `{lacking}`.")
        case _:
            assert_never(actor)


def narrower(wanted: Iterable[str] | None, own: frozenset[str] | None) -> bool:
    """Whether a token with ``own`` scopes may give ``wanted`` to another one: never more than it has."""
    return own is None or "admin" in own or (wanted is not None and set(wanted) <= own)
