"""Visitor authentication: the key that signs visitor tokens, and the verification of tokens.

Tokens are JWTs, signed only with HS256. They are created by the owner's server with the site's key, or by another
authenticator of the site. The site's key is derived from the site and a key version, so that it can be displayed
again. A new version results in a new key."""

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
from ..store import SiteRow, VisitorAuthSettings
from ..types import Backend

MAX_TOKEN = 16 * 1024
"""Maximum number of characters in a token, which is passed in URLs and cookies."""
_FORM = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
"""Pattern for tokens. It is required because base64 decoders ignore invalid characters, and these characters would
break the cookie."""
_LEEWAY = 60
"""Maximum difference in seconds between the signer's clock and the server's."""
_REGISTERED = {"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}


class AuthenticatedVisitor(NamedTuple):
    """Claims in a verified token. ``until``: the expiration time of the token in milliseconds."""

    claims: dict[str, Any]
    until: int
    token: str


class OtherAuthenticator(NamedTuple):
    """Authenticator of visitors that is used instead of the owner's server. ``key``: the key that signs its tokens."""

    name: str
    key: str


FindOther = Callable[[Transaction, Context, str], OtherAuthenticator | None]
_others: list[FindOther] = []


def register_authenticator(find: FindOther) -> None:
    """Register ``find(tx, context, site_id)``, which returns another authenticator of a site. The
    authenticator is used if the site has no sign-in URL or is set to prefer it."""
    _others.append(find)


def find_other(tx: Transaction, context: Context, site_id: str) -> OtherAuthenticator | None:
    return next((other for find in _others if (other := find(tx, context, site_id))), None)


def signing_key(signer: Signer, site: SiteRow) -> str:
    """Return the signing key of a site (43 characters)."""
    return signer.derive("visitor key", f"{site.id} {site.settings.visitor_auth.key_version}")


def update_auth(
    tx: Transaction,
    site: SiteAccess,
    backend: Backend,
    login_url: str | None | UnsetType,
    logout_url: str | None | UnsetType,
) -> None:
    """Set the URLs that visitors are redirected to if they have no token and after they sign out. Unset URLs stay
    unchanged."""
    before = store.get_site(tx, site.site_id)
    was = before.settings.visitor_auth
    auth = replace(was, by_integration=backend == "integration")
    if login_url is not UNSET:
        auth = replace(auth, login_url=login_url)
    if logout_url is not UNSET:
        auth = replace(auth, logout_url=logout_url)
    store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
    target = ("site", site.site_id)
    said, says = (
        {"backend": backend_of(each), "fallbackURL": each.login_url, "logoutURL": each.logout_url}
        for each in (was, auth)
    )
    audit(tx, site.actor, "site.visitorAuthUpdated", site.organization_id, target, before=said, after=says)


def backend_of(auth: VisitorAuthSettings) -> Backend:
    return "integration" if auth.by_integration else "custom"


def renew_key(tx: Transaction, site: SiteAccess) -> None:
    """Create a new key. Tokens signed with the old key stop working immediately."""
    before = store.get_site(tx, site.site_id)
    auth = replace(before.settings.visitor_auth, key_version=ids.new_id())
    store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
    audit(tx, site.actor, "site.visitorKeyRenewed", site.organization_id, ("site", site.site_id))


def read_token(tx: Transaction, context: Context, site: SiteRow, token: str) -> AuthenticatedVisitor | None:
    """Verify a visitor's token, and return its claims, except registered claims. Return None if the token isn't
    valid for this site, that is, if it is signed with a different algorithm or key, has no expiration time, has
    expired, isn't valid yet, or is too long."""
    signed = _read(signing_key(context.signer, site), token)
    if signed is None and site.settings.visitor_auth.takes_others:
        other = find_other(tx, context, site.id)
        signed = _read(other.key, token) if other is not None else None
    return signed


def _read(key: str, token: str) -> AuthenticatedVisitor | None:
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
    return AuthenticatedVisitor(
        {name: value for name, value in claims.items() if name not in _REGISTERED}, until, token
    )
