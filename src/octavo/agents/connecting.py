"""From a person's agreement to an agent with a token: authorization codes with PKCE (OAuth 2.1)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET, Struct

from ..access import AGENT_PREFIX, AGENT_SCOPES, API_PREFIX, API_SCOPES, OrgAccess, audit
from ..core.addresses import read_address
from ..errors import BadRequest
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Actor
from . import store
from .commands import ConnectAgent

ACCESS_LASTS = 3_600_000
"""Milliseconds for which a token is good before it is renewed."""
CODE_LASTS = 5 * 60_000
_DECIDING = 3_600_000
"""Milliseconds for which somebody may look at the page that asks them, after what it says of the program has aged."""
_REFRESH_PREFIX = "ocr_"
_OWN_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSAFE = frozenset({"javascript", "data", "vbscript", "file", "blob", "about", "ftp", "ws", "wss"})


class Grant(Struct, frozen=True):
    """What a program is given. ``lasts``: seconds."""

    access: str
    refresh: str
    lasts: int
    scopes: list[str]


class Unusable(Exception):
    """A code or token that proves nothing."""


def check_redirect(address: str) -> None:
    """Raises BadRequest for an address that no code may be sent to: https, the own machine, or the scheme of a program
    that is installed, without a fragment."""
    found = read_address(address)
    bad = BadRequest(
        "redirect_uris: expected https addresses, addresses of the own machine, or schemes of programs"
    )
    if found is None or not found.scheme or "#" in address or any(ord(char) <= 32 for char in address):
        raise bad
    if "@" in found.authority:
        raise bad
    if found.scheme in _UNSAFE or (found.scheme == "https" and not found.host):
        raise bad
    if found.scheme == "http" and found.host not in _OWN_MACHINE:
        raise bad


def is_own_machine(address: str) -> bool:
    """Whether whoever is at an address is on the machine of the person who is sent there."""
    found = read_address(address)
    return found is not None and found.host in _OWN_MACHINE


def allows_redirect(client: store.ClientRow, wanted: str) -> bool:
    """Whether an address is one that the program registered. On the own machine the port may be another each time."""
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
    """The address that takes a new code to the program. ``issuer``: the address of this server. Raises BadRequest for a
    program or address that is not registered."""
    client = store.find_client(tx, body.client_id)
    if client is None or (client.fresh_until is not None and client.fresh_until < now() - _DECIDING):
        raise BadRequest("clientId: no program is registered under this id, or not any more")
    if not allows_redirect(client, body.redirect_uri):
        raise BadRequest("redirectUri: the program did not register this address")
    scopes: list[str] = [scope for scope in API_SCOPES if scope in body.scopes]
    if not scopes:
        scopes = [scope for scope in AGENT_SCOPES if scope in body.scopes]
        if "docs:read" not in scopes:
            raise BadRequest(
                "scopes: docs:read is required, because the other scopes are of no use without it"
            )
    elif not set(AGENT_SCOPES).isdisjoint(body.scopes):
        raise BadRequest(
            "scopes: mixes scopes of the tools (docs:...) with those of the API; ask for one kind"
        )
    secret = new_secret("")
    until = now() + body.days * store.DAY
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
    told = {"agent": client.name, "scopes": scopes}
    audit(tx, org.actor, "agent.allowed", org.organization_id, ("user", org.user_id), after=told)
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
    """Whether who sends a code is who asked for it (RFC 7636, S256)."""
    digest = hashlib.sha256(verifier.encode("utf-8", "surrogateescape")).digest()
    proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return secrets.compare_digest(proof, challenge)


def use_code(tx: Transaction, code: str, client_id: str, redirect: str, verifier: str) -> Grant | None:
    """An agent for a code. None for a code that was used before: the agent that it became has lost its token with
    that, since one of the two who sent it is not who it was given to. Raises Unusable."""
    found = store.find_code(tx, code)
    if found is None or found.client_id != client_id or found.redirect != redirect:
        raise Unusable("This code is not good, or not for this program.")
    if found.agent_id is not None:
        _end_stolen(tx, found.agent_id, found.organization_id)
        return None
    if found.expires_at <= now() or not is_proved(verifier, found.challenge):
        raise Unusable("This code is not good any more, or code_verifier is not what it was asked with.")
    agent_id = ids.new_id()
    if not store.use_code(tx, code, agent_id):
        raise Unusable("This code was used just now.")
    granted = msgspec.json.decode(found.scopes, type=list[str])
    access, refresh = _secrets(granted)
    store.insert_agent(tx, agent_id, found, access, now() + ACCESS_LASTS, refresh)
    told = {"agent": found.name, "for": found.user_id}
    audit(tx, None, "agent.connected", found.organization_id, ("agent", agent_id), after=told)
    return Grant(access, refresh, ACCESS_LASTS // 1000, granted)


def use_refresh(tx: Transaction, token: str, client_id: str) -> Grant | None:
    """New secrets for an agent. None where the token is the one before: then the agent is taken back. Raises
    Unusable."""
    stolen = store.find_by_former_refresh(tx, token)
    if stolen is not None:
        _end_stolen(tx, stolen.id, stolen.organization_id)
        return None
    found = store.find_by_refresh(tx, token)
    if found is None or found.client_id != client_id or found.expires_at <= now():
        raise Unusable("This token is not good, or not any more.")
    access, refresh = _secrets(found.granted)
    until = min(now() + ACCESS_LASTS, found.expires_at)
    if not store.renew(tx, found.id, token, access, until, refresh):
        raise Unusable("This token was used just now.")
    return Grant(access, refresh, max(1, (until - now()) // 1000), found.granted)


def _end_stolen(tx: Transaction, agent_id: str, organization_id: str) -> None:
    """Takes an agent back of which a secret was used twice: one of the two who had it is not who it was given to."""
    if store.revoke(tx, agent_id):
        why = {"why": "a secret that is good once was used again"}
        audit(tx, None, "agent.disconnected", organization_id, ("agent", agent_id), after=why)


def disconnect(tx: Transaction, actor: Actor | None, agent: store.AgentRow) -> bool:
    """Takes back what an agent was let do; whether it still could."""
    if not store.revoke(tx, agent.id):
        return False
    audit(tx, actor, "agent.disconnected", agent.organization_id, ("agent", agent.id))
    return True


def give_back(tx: Transaction, token: str, hashed: str) -> None:
    """Takes an agent back whose token this is, if there is one."""
    found = store.find_by_access(tx, hashed) or store.find_by_refresh(tx, token)
    if found is not None and store.revoke(tx, found.id):
        audit(tx, None, "agent.disconnected", found.organization_id, ("agent", found.id))
