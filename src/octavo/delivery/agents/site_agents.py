"""Agents that visitors allow to read a site with visitor authentication. A visitor's consent is exchanged for
a token for the site's MCP server. The token is valid as long as the visitor's own sign-in."""

from __future__ import annotations

from msgspec import Struct

from octavo.delivery.visits.admission import AgentProof, recognize_site_agents
from octavo.errors import BadRequest
from octavo.kit import ids
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.sealing import sealed_column
from octavo.organization.access.tokens import hash_token
from octavo.sites.site.audiences.visitor_auth import read_token as read_visitor_token
from octavo.sites.site.previewing import read_preview
from octavo.sites.site.store import SiteRow, find_site

from .connecting import ACCESS_LASTS, CODE_LASTS, Grant, Unusable, is_proved, new_secret

PREFIX = "ocv_"
_REFRESH_PREFIX = "ocvr_"
_LONGEST = 90 * DAY
"""Time in milliseconds after which a visitor must reconnect an agent, regardless of how long their own
sign-in lasts."""
_KEPT = 30 * DAY
"""Milliseconds for which an app stays registered after its token has expired."""
_PROOF = sealed_column("site_agents", "proof", "id")


class SiteConsent(Struct, frozen=True):
    """Consent of a visitor. ``proof``: a hash of the token that the visitor is signed in with."""

    site: str
    client: str
    redirect: str
    challenge: str
    state: str | None
    proof: str


class _Row(Struct, frozen=True):
    id: str
    site_id: str
    client_id: str
    redirect: str
    challenge: str
    preview: int
    proof: str
    code_until: int
    access_hash: str | None
    access_until: int | None
    expires_at: int


_ROW = ", ".join(_Row.__struct_fields__)


def _find(tx: Transaction, column: str, secret: str) -> _Row | None:
    row = tx.one(f"SELECT {_ROW} FROM site_agents WHERE {column} = :hash", hash=hash_token(secret))
    return _Row(*row) if row is not None else None


def _end_of(tx: Transaction, context: Context, site: SiteRow | None, proof: str, preview: bool) -> int | None:
    """Return the expiration time of a visitor's token on a site, in milliseconds; None if the token isn't valid for
    this site."""
    if site is None or not site.published or site.visibility != "visitor-auth":
        return None
    if preview:
        shown = read_preview(tx, context.signer, proof)
        return shown.expires if shown is not None and shown.site == site.id else None
    signed = read_visitor_token(tx, context, site, proof)
    return signed.until if signed is not None else None


def connect_visitor(
    tx: Transaction, context: Context, site: SiteRow, agreed: SiteConsent, proof: str, preview: bool
) -> str:
    """Return a code that an app can exchange for a token with the visitor's access. Raises BadRequest if the
    visitor's token has expired in the meantime."""
    until = _end_of(tx, context, site, proof, preview)
    if until is None:
        raise BadRequest("Your sign-in has expired. Connect the app again.")
    forget_site_agents(tx)
    code, id = new_secret(""), ids.new_id()
    tx.insert(
        "site_agents",
        id=id,
        site_id=site.id,
        client_id=agreed.client,
        redirect=agreed.redirect,
        challenge=agreed.challenge,
        preview=int(preview),
        proof=_PROOF.seal(context.sealer, proof, id),
        code_hash=hash_token(code),
        code_until=now() + CODE_LASTS,
        created_at=now(),
        expires_at=min(until, now() + _LONGEST),
    )
    return code


def use_site_code(
    tx: Transaction, context: Context, code: str, client_id: str, redirect: str, verifier: str
) -> tuple[SiteRow, Grant] | None:
    """Return the site and tokens for a code. If the code was already used, revoke its tokens and return None. Raises
    Unusable if the code is invalid."""
    found = _find(tx, "code_hash", code)
    if found is None or found.client_id != client_id or found.redirect != redirect:
        raise Unusable("This code is invalid or belongs to another app. Connect the app again.")
    if found.access_hash is not None:
        _delete(tx, found.id)
        return None
    if found.code_until <= now() or not is_proved(verifier, found.challenge):
        raise Unusable(
            "This code has expired, or `code_verifier` doesn't match the code challenge. Connect the app"
            " again."
        )
    return _grant(tx, context, found, None)


def refresh_site_agent(
    tx: Transaction, context: Context, token: str, client_id: str
) -> tuple[SiteRow, Grant] | None:
    """Return the site and new tokens. If the refresh token was already used, revoke all of the agent's tokens and
    return None. Raises Unusable if the token is invalid."""
    stolen = _find(tx, "former_refresh_hash", token)
    if stolen is not None:
        _delete(tx, stolen.id)
        return None
    found = _find(tx, "refresh_hash", token)
    if found is None or found.client_id != client_id:
        raise Unusable("This refresh token is invalid. Connect the app again.")
    return _grant(tx, context, found, hash_token(token))


def _grant(tx: Transaction, context: Context, found: _Row, former: str | None) -> tuple[SiteRow, Grant]:
    site, proof = find_site(tx, found.site_id), _PROOF.open(context.sealer, found.proof, found.id)
    end = _end_of(tx, context, site, proof, bool(found.preview))
    if site is None or end is None or found.expires_at <= now():
        raise Unusable("The visitor's sign-in has expired. Connect the app again.")
    access, refresh = new_secret(PREFIX), new_secret(_REFRESH_PREFIX)
    until = min(now() + ACCESS_LASTS, end, found.expires_at)
    changed = tx.run(
        f"""UPDATE site_agents SET access_hash = :access, access_until = :until, refresh_hash = :refresh,
              former_refresh_hash = :former
            WHERE id = :id AND {"refresh_hash = :former" if former else "access_hash IS NULL"}""",
        id=found.id,
        access=hash_token(access),
        until=until,
        refresh=hash_token(refresh),
        former=former,
    )
    if changed != 1:
        raise Unusable("This refresh token was already used. Use the new refresh token.")
    return site, Grant(access, refresh, max(1, (until - now()) // 1000), [])


def revoke_site_agent(tx: Transaction, token: str) -> None:
    """Disconnect the agent with this token, if it exists."""
    for column in ("access_hash", "refresh_hash"):
        found = _find(tx, column, token)
        if found is not None:
            _delete(tx, found.id)


def _delete(tx: Transaction, id: str) -> None:
    tx.run("DELETE FROM site_agents WHERE id = :id", id=id)


def forget_site_agents(tx: Transaction) -> None:
    """Delete agents that expired a while ago, and unused codes that have expired."""
    tx.run(
        """DELETE FROM site_agents WHERE expires_at < :ended
             OR (access_hash IS NULL AND code_until < :unused)""",
        ended=now() - _KEPT,
        unused=now() - DAY,
    )


def find_proof(tx: Transaction, context: Context, site_id: str, token: str) -> AgentProof | None:
    """Return the visitor's sign-in that an agent's token represents on a site; None if the token isn't valid for this
    site."""
    if not token.startswith(PREFIX):
        return None
    found = _find(tx, "access_hash", token)
    if found is None or found.site_id != site_id or found.access_until is None:
        return None
    until = min(found.access_until, found.expires_at)
    if until <= now():
        return None
    return AgentProof(_PROOF.open(context.sealer, found.proof, found.id), bool(found.preview), until)


recognize_site_agents(find_proof)
