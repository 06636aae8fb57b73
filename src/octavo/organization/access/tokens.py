"""Callers' credentials: personal and service tokens, and sessions. Tokens have a prefix, are random, and are stored
only as hashes."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Sequence
from typing import assert_never

import msgspec
from msgspec import Struct

from octavo.core.url_parts import read_address
from octavo.errors import BadRequest, Forbidden, NotFound, NotSignedIn
from octavo.kit.clock import HOUR, WEEK, now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.http.operation import TABLE, Actor, Call, Caller, Person, Script, Visitor
from octavo.kit.secrets.signing import Signer

from . import store
from .authorization import organization_access
from .roles import Can
from .scopes import allows, reach_of, require_known

PREFIX = "oct_"
SESSION_PREFIX = "ocs_"
INTEGRATION_PREFIX = "oci_"
AGENT_PREFIX = "oca_"
API_PREFIX = "oco_"
"""Prefix of the tokens that apps get through OAuth for the API. ``AGENT_PREFIX``: the prefix of the tokens that
agents get for an organization's tools."""
INTEGRATION_TOKEN_LASTS = HOUR
"""Lifetime of an integration or installation token, in milliseconds."""
_INTEGRATION = "integration-token"
SESSION_IDLE = WEEK
"""Milliseconds after which an unused session ends."""
_TOUCH_EVERY = 60_000


FindVisitor = Callable[[Call, str], Visitor | None]
_find_visitor: list[FindVisitor] = []


def recognize_visitors(find: FindVisitor) -> None:
    """Register the function that recognizes visitors' tokens, which belong to sites and aren't stored."""
    _find_visitor[:] = [find]


class AgentOwner(Struct, frozen=True):
    """Person for whom an agent acts, with the organization, scopes, and expiration time. ``id``: the ID of the
    connection."""

    id: str
    name: str
    user_id: str
    organization_id: str
    scopes: frozenset[str]
    expires_at: int


FindAgent = Callable[[Context, str], AgentOwner | None]
_find_agent: list[FindAgent] = []
FindAgentById = Callable[[Transaction, str], AgentOwner | None]
_find_agent_by_id: list[FindAgentById] = []
RevokeAgents = Callable[[Transaction, str, str | None], int]
"""Function ``(tx, user_id, only)`` that revokes a user's agents and returns their number. ``only``: the only
organization in which to revoke them, if the revocation is limited to one."""
_revoke_agents: list[RevokeAgents] = []


def recognize_agents(find: FindAgent, find_by_id: FindAgentById, revoke: RevokeAgents) -> None:
    """Register functions that find agents by token hash and by connection ID, and a function that revokes agents along
    with their users' tokens."""
    _find_agent[:], _find_agent_by_id[:], _revoke_agents[:] = [find], [find_by_id], [revoke]


def revoke_tokens(tx: Transaction, user_id: str, *, only: str | None = None) -> int:
    """Revoke all of a user's tokens and agents, and return their number. ``only``: the only organization in which to
    revoke them, if the revocation is limited to one."""
    ended = store.revoke_tokens(tx, user_id, only=only)
    return ended + sum(revoke(tx, user_id, only) for revoke in _revoke_agents)


def hash_token(token: str) -> str:
    """Return the SHA-256 hash of a token. Tokens have 256 random bits, so a plain hash can't be reversed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def new_token() -> str:
    """Return a new random token."""
    return PREFIX + secrets.token_urlsafe(32)


def create_token(
    tx: Transaction,
    user_id: str,
    *,
    name: str,
    scopes: Sequence[str] | None = None,
    expires_at: int | None = None,
    organization_id: str | None = None,
    token: str | None = None,
) -> str:
    """Create a token for a user. The returned secret can't be retrieved again.

    ``scopes``: see ``scopes.SCOPES``. ``organization_id``: the only organization where the token works, if it
    is limited to one. Raises BadRequest if a value is invalid."""
    if scopes is not None:
        require_known(scopes)
    if expires_at is not None and expires_at <= now():
        raise BadRequest("expiresAt: must be in the future")
    secret = token or new_token()
    store.insert_token(
        tx,
        user_id,
        name=name,
        hash=hash_token(secret),
        hint=secret[: len(PREFIX) + 4],
        scopes=None if scopes is None else msgspec.json.encode(sorted(set(scopes))).decode(),
        expires_at=expires_at,
        organization_id=organization_id,
    )
    return secret


class _IntegrationToken(Struct, frozen=True, array_like=True):
    """Payload of an integration token. ``by``: the administrator who created it; None for a token passed to a
    script."""

    integration_id: str
    installation_id: str = ""
    by: Grantor | None = None


def create_integration_token(
    signer: Signer, integration_id: str, installation_id: str = "", by: Actor | None = None
) -> str:
    """Return a token for an integration or an installation. The token is valid for an hour, unless the integration is
    uninstalled before then.

    The token is signed and not stored, because scripts get a new token with each event. ``by``: the person who creates
    it. The token stops working if that person loses the permission to create it."""
    made = _IntegrationToken(integration_id, installation_id, grantor_of(by) if by is not None else None)
    payload = msgspec.json.encode(made).decode()
    until = now() + INTEGRATION_TOKEN_LASTS
    if isinstance(by, Person) and by.expires_at is not None:
        until = min(until, by.expires_at)
    return INTEGRATION_PREFIX + signer.sign(_INTEGRATION, payload, until)


class LastUse:
    """Collector of the times when tokens and sessions were last used. It saves them periodically, outside
    requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, dict[str, int]] = {"tokens": {}, "sessions": {}}

    def note(self, table: str, owner: store.TokenOwner, at: int) -> None:
        if at - (owner.last_used_at or 0) >= _TOUCH_EVERY:
            with self._lock:
                self._used[table][owner.token_id] = at

    def write(self, db: Database) -> None:
        with self._lock:
            used, self._used = self._used, {"tokens": {}, "sessions": {}}
        if any(used.values()):
            with db.write() as tx:
                for table, found in used.items():
                    store.record_last_use(tx, table, found)


def _find_owner(db: Database, digest: str, session: bool) -> store.TokenOwner | None:
    with db.read() as tx:
        return (store.find_session_owner if session else store.find_token_owner)(tx, digest)


def authenticate(call: Call, last_use: LastUse) -> str | None:
    """Set ``call.authenticated`` from the Authorization header or, if there is none, from the session cookie.

    Return the actor's key for rate limits, or None if there is no actor. Raises NotSignedIn if the header is
    invalid; a missing token or an expired cookie isn't an error. Raises Forbidden if the session cookie is
    in a request that may come from another site."""
    header = call.headers.get(b"authorization")
    if header is None:
        secret = cookie(call)
        if secret is None or not secret.startswith(SESSION_PREFIX):
            return None
        found = _find_caller(call, secret, last_use)
        if found is None or (call.operation.browsed and not _is_asked_by_us(call)):
            # Another site, which may share Octavo's domain, redirected the browser here, so the request
            # counts as signed out.
            return None
        require_same_origin(call)
        return _admit(call, found)
    kind, _, token = header.decode("latin-1").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise NotSignedIn("Authorization: must be `Bearer <token>`")
    found = _find_caller(call, token.strip(), last_use)
    if found is None:
        raise NotSignedIn("Authorization: this token is unknown, expired, or revoked")
    return _admit(call, found)


def _admit(call: Call, found: Caller) -> str | None:
    """Set the caller of the request, and return the caller's key for rate limits. Visitors are counted by IP
    address."""
    match found:
        case Visitor():
            call.authenticated = found
            return None
        case Person() | Script():
            call.authenticated = msgspec.structs.replace(found, client=call.client)
            return found.token_id
        case _:
            assert_never(found)


def _find_integration(context: Context, token: str) -> Script | None:
    payload = context.signer.verify(_INTEGRATION, token)
    if payload is None:
        return None
    made = msgspec.json.decode(payload, type=_IntegrationToken)
    integration_id, installation_id = made.integration_id, made.installation_id

    def read() -> Script | None:
        with context.db.read() as tx:
            if not installation_id:
                known = store.is_integration(tx, integration_id)
                return Script(integration_id) if known else None
            if made.by is not None and not _still_administers(tx, made.by, installation_id):
                return None
            return _installation_actor(tx, integration_id, installation_id)

    found: Script | None = context.fresh.get(("integration", payload), read)
    return found


def _still_administers(tx: Transaction, by: Grantor, installation_id: str) -> bool:
    """Return whether the creator of an installation's token could still create it."""
    actor = find_grantor(tx, by, "createIntegrationInstallationToken")
    organization_id = store.find_organization_of_installation(tx, installation_id)
    if actor is None or organization_id is None:
        return False
    try:
        organization_access(tx, actor, Can.INSTALL_INTEGRATION, organization_id)
    except (NotFound, Forbidden):
        return False
    return True


def _installation_actor(tx: Transaction, integration_id: str, installation_id: str) -> Script | None:
    owner = store.find_installation_owner(tx, integration_id, installation_id)
    if owner is None:
        return None
    return Script(
        integration_id, owner.agreed & owner.asked, installation_id, owner.user_id, owner.organization_id
    )


class Grantor(Struct, frozen=True, array_like=True):
    """Creator of a signed value, such as a link, that is used later, without the creator's credentials. The creator is
    a person with a token or session, or a script. The creator is part of the signed value and is checked on each
    use."""

    user_id: str
    token_id: str
    session: bool = False
    integration_id: str = ""
    agent: bool = False


def grantor_of(actor: Actor) -> Grantor:
    match actor:
        case Person():
            return Grantor(actor.user_id, actor.token_id, actor.session, agent=actor.agent is not None)
        case Script():
            return Grantor(actor.user_id, actor.token_id, integration_id=actor.integration_id)
        case _:
            assert_never(actor)


def find_grantor(tx: Transaction, grantor: Grantor, operation_id: str) -> Actor | None:
    """Return the actor for a grantor. Return None if the grantor's token was revoked or has expired, the session
    ended, the account was deactivated, or the token no longer allows the operation. The actor's permissions must
    then be checked as usual."""
    actor: Actor | None
    if grantor.integration_id:
        actor = _installation_actor(tx, grantor.integration_id, grantor.token_id)
    elif grantor.agent:
        found = _find_agent_by_id[0](tx, grantor.token_id) if _find_agent_by_id else None
        actor = _agent_actor(found) if found is not None else None
    else:
        owner = store.find_owner(tx, grantor.token_id, grantor.session)
        good = owner is not None and _is_valid(owner, grantor.session)
        actor = _actor_of(owner, grantor.session) if owner is not None and good else None
    return actor if actor is not None and allows(reach_of(actor), TABLE[operation_id]) else None


def _is_valid(owner: store.TokenOwner, session: bool) -> bool:
    moment = now()
    if owner.expires_at is not None and owner.expires_at <= moment:
        return False
    return not session or moment - (owner.last_used_at or 0) <= SESSION_IDLE


def _actor_of(owner: store.TokenOwner, session: bool) -> Person:
    scopes = None if owner.scopes is None else frozenset(msgspec.json.decode(owner.scopes))
    return Person(
        owner.user_id,
        owner.token_id,
        scopes,
        owner.organization_id,
        session,
        owner.proved_at,
        None if session else owner.expires_at,
    )


def _find_agent_actor(context: Context, hashed: str) -> Person | None:
    owner = _find_agent[0](context, hashed) if _find_agent else None
    return _agent_actor(owner) if owner is not None else None


def _agent_actor(owner: AgentOwner) -> Person:
    return Person(
        owner.user_id,
        owner.id,
        owner.scopes,
        owner.organization_id,
        expires_at=owner.expires_at,
        agent=owner.name,
    )


def _find_caller(call: Call, secret: str, last_use: LastUse) -> Caller | None:
    if secret.startswith((AGENT_PREFIX, API_PREFIX)):
        # Each prefix works for either the tools or the API, never both.
        asks_tools = secret.startswith(AGENT_PREFIX)
        return _find_agent_actor(call.context, hash_token(secret)) if call.by_agent == asks_tools else None
    if secret.startswith(INTEGRATION_PREFIX):
        return _find_integration(call.context, secret.removeprefix(INTEGRATION_PREFIX))
    if "." in secret:
        # Only visitors' tokens contain a dot.
        return _find_visitor[0](call, secret) if _find_visitor else None
    session = secret.startswith(SESSION_PREFIX)
    digest = hash_token(secret)
    owner = call.context.fresh.get(("owner", session, digest), lambda: _find_owner(call.db, digest, session))
    if owner is None or not _is_valid(owner, session):
        return None
    if not call.asked_again:
        last_use.note("sessions" if session else "tokens", owner, now())
    return _actor_of(owner, session)


# --- the session cookie -------------------------------------------------------------------------------


def cookie_name(context: Context) -> str:
    """Return the cookie name. ``__Host-`` binds the cookie to this host and to HTTPS; browsers reject that
    name over plain HTTP."""
    return "__Host-octavo" if context.settings.url.startswith("https://") else "octavo"


def cookie(call: Call, name: str | None = None) -> str | None:
    """Return the value of a cookie in the request; by default, the session cookie."""
    wanted = name or cookie_name(call.context)
    for part in call.headers.get(b"cookie", b"").decode("latin-1").split(";"):
        key, _, value = part.strip().partition("=")
        if key == wanted:
            return value
    return None


def cookie_header(context: Context, value: str, seconds: int, name: str | None = None) -> str:
    """Return a Set-Cookie value for a cookie that scripts can't read and that browsers don't send with forms from other
    sites."""
    secure = "; Secure" if context.settings.url.startswith("https://") else ""
    name = name or cookie_name(context)
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}"


def require_same_origin(call: Call) -> None:
    """Raise Forbidden unless one of Octavo's own pages made the request. Browsers send cookies
    automatically, so this must be verified before any change."""
    if not _is_asked_by_us(call):
        raise Forbidden(f"Origin: must be {call.settings.url} for requests with a session cookie")


def _is_asked_by_us(call: Call) -> bool:
    if call.operation.method == "GET":
        return True
    origin = call.headers.get(b"origin", b"").decode("latin-1")
    if origin:
        return is_same_origin(origin, call.settings.url)
    return call.headers.get(b"sec-fetch-site") == b"same-origin"


def is_same_origin(origin: str, url: str) -> bool:
    """Return whether an ``Origin`` header matches the server at a URL. All names for the local machine are treated as
    equal."""
    return _origin(origin) == _origin(url) is not None


_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """Return the scheme, host, and port, with a single name for the local machine; None for an invalid
    URL."""
    parts = read_address(url)
    if parts is None:
        return None
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, "localhost" if parts.host in _OWN_MACHINE else parts.host, parts.port or usual
