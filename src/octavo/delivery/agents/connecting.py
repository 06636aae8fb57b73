"""Exchange a person's consent for an agent's token, using authorization codes with PKCE (OAuth 2.1)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET, Struct

from octavo.core.url_parts import read_address
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.clock import DAY, HOUR, now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.api_scopes import API_SCOPES
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.scopes import AGENT_SCOPES
from octavo.organization.access.tokens import AGENT_PREFIX, API_PREFIX

from . import store
from .commands import ConnectAgent

ACCESS_LASTS = HOUR
"""Milliseconds for which a token is valid before it must be refreshed."""
CODE_LASTS = 5 * 60_000
_DECIDING = HOUR
"""Milliseconds for which the consent page stays usable after the app's metadata document has expired."""
_REFRESH_PREFIX = "ocr_"
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSAFE = frozenset({"javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss"})


class Grant(Struct, frozen=True):
    """Tokens issued to an app. ``lasts``: their lifetime in seconds."""

    access: str
    refresh: str
    lasts: int
    scopes: list[str]


class Unusable(Exception):
    """Raised for an invalid code or token."""


def check_redirect(address: str) -> None:
    """Raise BadRequest unless codes can be sent to a redirect URI. The URI must use https, point to the
    local machine, or use the URL scheme of an installed app, and it must not have a fragment."""
    found = read_address(address)
    bad = BadRequest("redirect_uris: must be https URLs, local URLs, or URLs with an app's custom scheme")
    if found is None or not found.scheme or "#" in address or any(ord(char) <= 32 for char in address):
        raise bad
    if "@" in found.authority:
        raise bad
    if found.scheme in _UNSAFE or (found.scheme == "https" and not found.host):
        raise bad
    if found.scheme == "http" and found.host not in _OWN_MACHINE:
        raise bad


def is_own_machine(address: str) -> bool:
    """Return whether a URL points to the user's own machine."""
    found = read_address(address)
    return found is not None and found.host in _OWN_MACHINE


def allows_redirect(client: store.ClientRow, wanted: str) -> bool:
    """Return whether a client registered this redirect URI. The port of a local URL can be different from the
    registered port."""
    if wanted in client.redirects:
        return True
    found = read_address(wanted)
    if found is None or found.scheme != "http" or not is_own_machine(wanted):
        return False
    return any(
        known is not None
        and (known.scheme, known.host, known.path, known.query)
        == (found.scheme, found.host, found.path, found.query)
        and "#" not in wanted
        and "@" not in found.authority
        for known in map(read_address, client.redirects)
    )


def connect(tx: Transaction, issuer: str, org: OrgAccess, body: ConnectAgent) -> str:
    """Return the URL that delivers a new code to the app. ``issuer``: the URL of this server. Raises
    BadRequest if the app or the redirect URI isn't registered."""
    client = store.find_client(tx, body.client_id)
    if client is None or (client.fresh_until is not None and client.fresh_until < now() - _DECIDING):
        raise BadRequest("clientId: there is no app with this ID, or its registration has expired")
    if not allows_redirect(client, body.redirect_uri):
        raise BadRequest("redirectUri: must be a URL that the app has registered")
    scopes: list[str] = [scope for scope in API_SCOPES if scope in body.scopes]
    if not scopes:
        scopes = [scope for scope in AGENT_SCOPES if scope in body.scopes]
        if "docs:read" not in scopes:
            raise BadRequest("scopes: must include `docs:read`, which all other scopes require")
    elif not set(AGENT_SCOPES).isdisjoint(body.scopes):
        raise BadRequest("scopes: must be either tool scopes (docs:…) or API scopes, not both")
    secret = new_secret("")
    until = now() + body.days * DAY
    code = store.CodeRow(
        org.user_id,
        org.organization_id,
        client.id,
        client.name,
        body.redirect_uri,
        body.code_challenge,
        msgspec.json.encode(scopes).decode(),
        until,
        now() + CODE_LASTS,
        None,
    )
    store.insert_code(tx, secret, code)
    details = {"agent": client.name, "scopes": scopes}
    audit(tx, org.actor, "agent.allowed", org.organization_id, ("user", org.user_id), after=details)
    given = {"code": secret, "iss": issuer}
    if body.state is not UNSET:
        given["state"] = body.state
    return f"{body.redirect_uri}{'&' if '?' in body.redirect_uri else '?'}{urlencode(given)}"


def _secrets(granted: list[str]) -> tuple[str, str]:
    prefix = API_PREFIX if granted[0] in API_SCOPES else AGENT_PREFIX
    return new_secret(prefix), new_secret(_REFRESH_PREFIX)


def new_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(32)


def is_proved(verifier: str, challenge: str) -> bool:
    """Return whether the sender of a code is the client that requested it (RFC 7636, S256)."""
    digest = hashlib.sha256(verifier.encode("utf-8", "surrogateescape")).digest()
    proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return secrets.compare_digest(proof, challenge)


def use_code(tx: Transaction, code: str, client_id: str, redirect: str, verifier: str) -> Grant | None:
    """Exchange a code for an agent. If the code was already used, revoke the agent that was created with it and return
    None, because one of the two senders must have stolen the code. Raises Unusable if the code is invalid."""
    found = store.find_code(tx, code)
    if found is None or found.client_id != client_id or found.redirect != redirect:
        raise Unusable("This code is invalid or belongs to another app. Start the authorization again.")
    if found.agent_id is not None:
        _end_stolen(tx, found.agent_id, found.organization_id)
        return None
    if found.expires_at <= now() or not is_proved(verifier, found.challenge):
        raise Unusable(
            "This code has expired, or `code_verifier` doesn't match the code challenge. Start the"
            " authorization again."
        )
    agent_id = ids.new_id()
    if not store.use_code(tx, code, agent_id):
        raise Unusable("This code was already used. Start the authorization again.")
    granted = msgspec.json.decode(found.scopes, type=list[str])
    access, refresh = _secrets(granted)
    store.insert_agent(tx, agent_id, found, access, now() + ACCESS_LASTS, refresh)
    details = {"agent": found.name, "for": found.user_id}
    audit(tx, None, "agent.connected", found.organization_id, ("agent", agent_id), after=details)
    return Grant(access, refresh, ACCESS_LASTS // 1000, granted)


def use_refresh(tx: Transaction, token: str, client_id: str) -> Grant | None:
    """Issue new tokens to an agent. If the refresh token was already replaced, revoke the agent and return None. Raises
    Unusable if the token is invalid."""
    stolen = store.find_by_former_refresh(tx, token)
    if stolen is not None:
        _end_stolen(tx, stolen.id, stolen.organization_id)
        return None
    found = store.find_by_refresh(tx, token)
    if found is None or found.client_id != client_id or found.expires_at <= now():
        raise Unusable("This token is invalid, expired, or revoked. Connect the app again.")
    access, refresh = _secrets(found.granted)
    until = min(now() + ACCESS_LASTS, found.expires_at)
    if not store.renew(tx, found.id, token, access, until, refresh):
        raise Unusable("This refresh token was already used. Use the new refresh token.")
    return Grant(access, refresh, max(1, (until - now()) // 1000), found.granted)


def _end_stolen(tx: Transaction, agent_id: str, organization_id: str) -> None:
    """Revoke an agent. Its secret was used twice, so one of the two senders must have stolen the secret."""
    if store.revoke(tx, agent_id):
        why = {"why": "a single-use secret was used again"}
        audit(tx, None, "agent.disconnected", organization_id, ("agent", agent_id), after=why)


def disconnect(tx: Transaction, actor: Actor | None, agent: store.AgentRow) -> bool:
    """Revoke an agent, and return whether it still had access."""
    if not store.revoke(tx, agent.id):
        return False
    audit(tx, actor, "agent.disconnected", agent.organization_id, ("agent", agent.id))
    return True


def revoke_by_token(tx: Transaction, token: str, hashed: str) -> None:
    """Revoke the agent with this token, if it exists."""
    found = store.find_by_access(tx, hashed) or store.find_by_refresh(tx, token)
    if found is not None and store.revoke(tx, found.id):
        audit(tx, None, "agent.disconnected", found.organization_id, ("agent", found.id))
