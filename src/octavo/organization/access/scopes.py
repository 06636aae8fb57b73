"""Permissions that scopes grant to tokens. The permissions are derived from the table of operations.

``read`` allows all GET operations, ``write`` all operations outside the area ``access``, and ``admin`` all
operations. ``AREA:read`` and ``AREA:write`` allow the same within one area of the table. ``write`` includes
``read``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never, get_args

from octavo.errors import BadRequest, Forbidden
from octavo.kit.http.operation import Actor, AgentScope, Caller, Operation, Person, Script, Visitor

from .api_scopes import API_SCOPES_NEEDED
from .roles import Can

AREAS = (
    "access",
    "agents",
    "ask",
    "audit",
    "changes",
    "comments",
    "content",
    "conversations",
    "events",
    "fonts",
    "gitsync",
    "imports",
    "integrations",
    "invitations",
    "notifications",
    "openapi",
    "orgs",
    "printing",
    "search",
    "sites",
    "spaces",
    "translations",
    "webhooks",
)
SCOPES = frozenset(
    {"read", "write", "admin"} | {f"{area}:{verb}" for area in AREAS for verb in ("read", "write")}
)


def require_known(scopes: Iterable[str]) -> None:
    """Raise BadRequest if a scope doesn't exist."""
    for scope in scopes:
        if scope not in SCOPES:
            raise BadRequest(
                f"scopes: {scope!r} isn't a valid scope. Use one or more of {', '.join(sorted(SCOPES))}."
            )


AGENT_SCOPES: tuple[AgentScope, ...] = get_args(AgentScope)
"""Scopes that a person can grant to an agent; an operation's ``agents`` is the scope that it requires. Agents
never write to the main version directly: their drafts are merged by people, or by an agent that was granted the
scope for merging."""


class Reach(NamedTuple):
    """Reach of a caller's token, regardless of the person's role. ``scopes``: the scopes of the caller.
    ``agent``: whether an agent or app acts on behalf of a person; the scopes are then from ``AGENT_SCOPES`` or
    ``API_SCOPES``."""

    kind: type[Caller]
    scopes: frozenset[str] | None
    agent: bool = False


FULL_REACH = Reach(Person, None)


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
    """Return whether the token allows calling the operation."""
    if reach.kind is Visitor:
        return operation.visit_type is not None
    if reach.agent:
        granted, needed = reach.scopes or frozenset(), API_SCOPES_NEEDED.get(operation.id)
        return operation.agents in granted or (needed is not None and needed <= granted)
    if reach.kind is Script:
        return _integration_allows(reach.scopes or frozenset(), operation)
    # Every token can read its own user and revoke itself.
    if reach.scopes is None or operation.needs is Can.OWN_TOKEN:
        return True
    return all(_includes_scope(reach.scopes, needed) for needed in operation.scopes)


def _includes_scope(scopes: frozenset[str], needed: str) -> bool:
    """Return whether a set of scopes includes the scope that an area requires."""
    area, _, verb = needed.partition(":")
    if "admin" in scopes or f"{area}:write" in scopes or ("write" in scopes and area != "access"):
        return True
    return verb == "read" and ("read" in scopes or needed in scopes)


class _Allowed(NamedTuple):
    """Operations that a scope allows: those in an area that have one of these methods and are at or under a path."""

    area: str
    methods: tuple[str, ...] = ("GET",)
    path: str = "/"


_ANY = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SPACE = "/spaces/{spaceId}"
_SITE = "/orgs/{organizationId}/sites/{siteId}"
_ADAPTIVE = f"{_SITE}/adaptive-schema"
_READ = (
    *(_Allowed(area) for area in ("content", "changes", "comments", "search")),
    # Questions only read content, but use POST if they don't fit in a URL.
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
"""Operations that integration scopes allow in addition to operations on integrations. Scopes without operations
apply only to events. All scopes for spaces or sites allow reading the space or site itself."""


def _list_reached_scopes() -> tuple[str, ...]:
    found: dict[str, str] = {}
    for allowed in (one for each in INTEGRATION_SCOPES.values() for one in each):
        verb = "read" if allowed.methods == ("GET",) else "write"
        found[allowed.area] = max(verb, found.get(allowed.area, verb))
    return tuple(f"{area}:{verb}" for area, verb in sorted(found.items()))


SCRIPTS_REACH = _list_reached_scopes()
"""Scopes for all possible actions of integration scripts. Scripts can perform all of these actions, so people need all
of these scopes to choose the scripts, the places where scripts run, or the tokens that scripts receive."""
_SYNCED = ("changes:write", "content:write")
"""Scopes that an integration's `space:git:sync` scope includes, for Git sync operations only."""


def _integration_allows(scopes: frozenset[str], operation: Operation) -> bool:
    """Return whether an integration's token with these scopes can call the operation."""
    if operation.area == "integrations":
        # Integrations can always call operations on integrations.
        return True
    synced = _SYNCED if operation.area == "gitsync" and "space:git:sync" in scopes else ()
    if not all(
        _integration_includes_scope(scopes, needed) for needed in operation.yields if needed not in synced
    ):
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


def _integration_includes_scope(scopes: frozenset[str], needed: str) -> bool:
    """Return whether an integration's scopes include the access that ``needed`` gives. ``needed``: a scope for other
    kinds of tokens, such as `content:read`."""
    area, _, verb = needed.partition(":")
    method = "GET" if verb == "read" else "PATCH"
    return any(
        allowed.area == area and allowed.path == "/" and method in allowed.methods
        for scope in scopes
        for allowed in INTEGRATION_SCOPES[scope]
    )


def require_scope(actor: Actor, operation: Operation) -> None:
    """Raise Forbidden if the scopes of the actor's token don't allow the operation."""
    if allows(reach_of(actor), operation):
        return
    match actor:
        case Script():
            raise Forbidden(
                "This integration doesn't have a scope for this operation. Add the scope to the integration's"
                " manifest."
            )
        case Person():
            assert actor.scopes is not None, "without scopes, everything is allowed"
            if actor.agent is not None:
                needed = sorted(API_SCOPES_NEEDED.get(operation.id, frozenset()) - actor.scopes)
                if not needed:
                    raise Forbidden("No OAuth scope covers this operation. Use a personal token instead.")
                raise Forbidden(
                    f"This app doesn't have the `{needed[0]}` scope. Connect it again with this scope."
                )
            lacking = next(one for one in operation.scopes if not _includes_scope(actor.scopes, one))
            raise Forbidden(f"This token doesn't have the `{lacking}` scope. Create a token with this scope.")
        case _:
            assert_never(actor)


def is_within_scopes(wanted: Iterable[str] | None, own: frozenset[str] | None) -> bool:
    """Return whether a token with the scopes ``own`` can grant the scopes ``wanted`` to a new token. A new token can't
    have scopes that ``own`` doesn't include."""
    return own is None or "admin" in own or (wanted is not None and set(wanted) <= own)
