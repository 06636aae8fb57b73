"""Signed visitors: the key that their tokens are signed with, and what a token proves.

Tokens are JWTs by HS256 and nothing else, made by the owner's own server with the site's key, or by whoever else
signs visitors in to the site. The site's key is derived from the site and the version of its key, so that it can be
shown, and a new version makes a new one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.signing import Signer
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from .. import store
from ..store import SiteRow, VisitorAuth
from ..types import Backend

MAX_TOKEN = 16 * 1024
"""Characters of a token, which travels in addresses and cookies."""
_FORM = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
"""Decoders of base64 drop what is no letter of theirs; a cookie with it would be more than one."""
_LEEWAY = 60
"""Seconds that the clock of whoever signs may differ from ours."""
_REGISTERED = {"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}


class Signed(NamedTuple):
    """What a token proves. ``until``: in milliseconds."""

    claims: dict[str, Any]
    until: int


class Other(NamedTuple):
    """Somebody else who signs visitors in. ``key``: what with."""

    name: str
    key: str


FindOther = Callable[[Transaction, Context, str], Other | None]
_others: list[FindOther] = []


def accept_key(find: FindOther) -> None:
    """Registers ``find(tx, context, site_id)``: who else signs in the visitors of a site, where the site names no
    address of its own for that, or prefers them."""
    _others.append(find)


def find_other(tx: Transaction, context: Context, site_id: str) -> Other | None:
    return next((other for find in _others if (other := find(tx, context, site_id))), None)


def signing_key(signer: Signer, site: SiteRow) -> str:
    """The key of a site, 43 characters."""
    return signer.derive("visitor key", f"{site.id} {site.settings.visitor_auth.key_version}")


def update_auth(
    tx: Transaction, site: SiteAccess, backend: Backend, login_url: str | None | UnsetType
) -> None:
    """Sets where visitors without a token are sent."""
    before = store.get_site(tx, site.site_id)
    was = before.settings.visitor_auth
    auth = replace(was, by_integration=backend == "integration")
    if login_url is not UNSET:
        auth = replace(auth, login_url=login_url)
    store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
    target = ("site", site.site_id)
    said, says = ({"backend": backend_of(each), "fallbackURL": each.login_url} for each in (was, auth))
    audit(tx, site.actor, "site.visitorAuthUpdated", site.organization_id, target, before=said, after=says)


def backend_of(auth: VisitorAuth) -> Backend:
    return "integration" if auth.by_integration else "custom"


def renew_key(tx: Transaction, site: SiteAccess) -> None:
    """Makes a new key; tokens of the old one are good for nothing from that moment on."""
    before = store.get_site(tx, site.site_id)
    auth = replace(before.settings.visitor_auth, key_version=ids.new_id())
    store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
    audit(tx, site.actor, "site.visitorKeyRenewed", site.organization_id, ("site", site.site_id))


def read_token(tx: Transaction, context: Context, site: SiteRow, token: str) -> Signed | None:
    """A visitor's token with its claims, without those of its own; None for one that proves nothing at this site: signed
    otherwise or with another key, without an expiry or past it, not yet good, too long."""
    signed = _read(signing_key(context.signer, site), token)
    if signed is None and site.settings.visitor_auth.takes_others:
        other = find_other(tx, context, site.id)
        signed = _read(other.key, token) if other is not None else None
    return signed


def _read(key: str, token: str) -> Signed | None:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import OctKey

    if len(token) > MAX_TOKEN or not _FORM.fullmatch(token):
        return None
    moment = now() // 1000
    registry = jwt.JWTClaimsRegistry(now=moment, leeway=_LEEWAY, exp={"essential": True})
    try:
        claims: dict[str, Any] = jwt.decode(token, OctKey.import_key(key), algorithms=["HS256"]).claims
        registry.validate(claims)
        until = int((claims["exp"] + _LEEWAY) * 1000)
    except (JoseError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return Signed({name: value for name, value in claims.items() if name not in _REGISTERED}, until)
