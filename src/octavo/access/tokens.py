"""What proves who calls: personal and service tokens, and sessions. Prefixed, random, stored as a hash only."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Sequence

import msgspec

from ..core.addresses import read_address
from ..errors import BadRequest, Forbidden, NotSignedIn
from ..kit.clock import now
from ..kit.db import Database, Transaction
from ..kit.operation import Actor, Call, Visitor
from ..kit.signing import Signer
from . import store
from .scopes import OF_INTEGRATION, OF_VISITOR, require_known

PREFIX = "oct_"
SESSION_PREFIX = "ocs_"
INTEGRATION_PREFIX = "oci_"
INTEGRATION_TOKEN_LASTS = 3600_000
"""Milliseconds for which a token of an integration or of an installation is good."""
_INTEGRATION = "integration-token"
SESSION_IDLE = 7 * 24 * 3_600_000
"""Milliseconds after which a session that nobody uses is over."""
_TOUCH_EVERY = 60_000


FindVisitor = Callable[[Call, str], Visitor | None]
_find_visitor: list[FindVisitor] = []


def recognize_visitors(find: FindVisitor) -> None:
    """Registers who knows the tokens of visitors: they are of sites, and stored nowhere."""
    _find_visitor[:] = [find]


def hash_token(token: str) -> str:
    """Tokens hold 256 random bits, so a plain SHA-256 cannot be turned back."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def new_token() -> str:
    """The secret of a token, not yet anybody's."""
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
    """A new token of a user; the secret is returned and cannot be had again.

    ``scopes``: see ``scopes.SCOPES``. ``organization_id``: the only organization it is good for. Raises
    BadRequest.
    """
    if scopes is not None:
        require_known(scopes)
    if expires_at is not None and expires_at <= now():
        raise BadRequest("expiresAt: expected a time to come")
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


def create_integration_token(signer: Signer, integration_id: str, installation_id: str = "") -> str:
    """A token of an integration, or of an installation of it, good for an hour and until it is uninstalled. It is
    signed and kept nowhere: scripts are given a new one with each event."""
    payload = msgspec.json.encode((integration_id, installation_id)).decode()
    return INTEGRATION_PREFIX + signer.sign(_INTEGRATION, payload, now() + INTEGRATION_TOKEN_LASTS)


class LastUse:
    """Remembers which tokens and sessions were used, and writes it down now and then, away from requests."""

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
                    store.touch(tx, table, found)


def _find_owner(db: Database, digest: str, session: bool) -> store.TokenOwner | None:
    with db.read() as tx:
        return (store.find_session_owner if session else store.find_token_owner)(tx, digest)


def authenticate(call: Call, last_use: LastUse) -> str | None:
    """Sets ``call.authenticated`` from the Authorization header, else from the session cookie.

    Returns the actor's key for rate limits, None for nobody. Raises NotSignedIn for a header that proves
    nothing: a wrong token is an error, no token and an old cookie are not. Raises Forbidden when a cookie comes
    with a request that another site may have made.
    """
    header = call.headers.get(b"authorization")
    if header is None:
        secret = cookie(call)
        if secret is None or not secret.startswith(SESSION_PREFIX):
            return None
        found = _find(call, secret, last_use)
        if found is not None:
            require_same_origin(call)
            call.authenticated = found
        return found.token_id if found else None
    kind, _, token = header.decode("latin-1").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise NotSignedIn("Authorization: expected `Bearer <token>`")
    call.authenticated = _find(call, token.strip(), last_use)
    if call.authenticated is None:
        raise NotSignedIn("Authorization: this token is unknown, expired or revoked")
    return call.authenticated.token_id or None


def _find_integration(call: Call, token: str) -> Actor | None:
    payload = call.context.signer.verify(_INTEGRATION, token)
    if payload is None:
        return None
    integration_id, installation_id = msgspec.json.decode(payload, type=tuple[str, str])

    def read() -> Actor | None:
        with call.db.read() as tx:
            if not installation_id:
                known = store.is_integration(tx, integration_id)
                return (
                    Actor("", integration_id, frozenset({OF_INTEGRATION}), integration_id=integration_id)
                    if known
                    else None
                )
            owner = store.find_installation_owner(tx, integration_id, installation_id)
        if owner is None:
            return None
        return Actor(
            owner.user_id,
            installation_id,
            (owner.agreed & owner.asked) | {OF_INTEGRATION},
            owner.organization_id,
            integration_id=integration_id,
            installation_id=installation_id,
        )

    found: Actor | None = call.context.fresh.get(("integration", integration_id, installation_id), read)
    return found


def _find(call: Call, secret: str, last_use: LastUse) -> Actor | None:
    if secret.startswith(INTEGRATION_PREFIX):
        return _find_integration(call, secret.removeprefix(INTEGRATION_PREFIX))
    if "." in secret:
        # Our own tokens have none.
        visitor = _find_visitor[0](call, secret) if _find_visitor else None
        return Actor("", "", frozenset({OF_VISITOR}), visitor=visitor) if visitor is not None else None
    session = secret.startswith(SESSION_PREFIX)
    digest = hash_token(secret)
    owner = call.context.fresh.get(("owner", session, digest), lambda: _find_owner(call.db, digest, session))
    moment = now()
    if owner is None or (owner.expires_at is not None and owner.expires_at <= moment):
        return None
    if session and moment - (owner.last_used_at or 0) > SESSION_IDLE:
        return None
    last_use.note("sessions" if session else "tokens", owner, moment)
    scopes = None if owner.scopes is None else frozenset(msgspec.json.decode(owner.scopes))
    return Actor(
        owner.user_id,
        owner.token_id,
        scopes,
        owner.organization_id,
        session,
        owner.proved_at,
        None if session else owner.expires_at,
    )


# --- the session cookie -------------------------------------------------------------------------------


def cookie_name(call: Call) -> str:
    """``__Host-`` binds the cookie to this host and to https; browsers refuse that name over plain http."""
    return "__Host-octavo" if call.settings.url.startswith("https://") else "octavo"


def cookie(call: Call, name: str | None = None) -> str | None:
    """The value of a cookie of the request; by default the session's."""
    wanted = name or cookie_name(call)
    for part in call.headers.get(b"cookie", b"").decode("latin-1").split(";"):
        key, _, value = part.strip().partition("=")
        if key == wanted:
            return value
    return None


def cookie_header(call: Call, value: str, seconds: int, name: str | None = None) -> str:
    """A Set-Cookie value that scripts cannot read and that other sites' forms do not send."""
    secure = "; Secure" if call.settings.url.startswith("https://") else ""
    name = name or cookie_name(call)
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}"


def require_same_origin(call: Call) -> None:
    """A browser sends cookies by itself: what changes anything must say that our own pages asked.

    Raises Forbidden.
    """
    if call.operation.method == "GET":
        return
    origin = call.headers.get(b"origin", b"").decode("latin-1")
    if origin:
        same = is_same_origin(origin, call.settings.url)
    else:
        same = call.headers.get(b"sec-fetch-site") == b"same-origin"
    if not same:
        raise Forbidden(
            f"Origin: a request with a session cookie is taken from our own pages at {call.settings.url} only."
        )


def is_same_origin(origin: str, url: str) -> bool:
    """Whether an ``Origin`` header names the server at a URL. On the own machine its names mean the same server."""
    return _origin(origin) == _origin(url) is not None


_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port, the names of the own machine taken for one; None for what is no address."""
    parts = read_address(url)
    if parts is None:
        return None
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, "localhost" if parts.host in _OWN_MACHINE else parts.host, parts.port or usual
