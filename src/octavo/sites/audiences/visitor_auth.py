"""Signed visitors: the key that their tokens are signed with, and what a token proves.

Tokens are JWTs by HS256 and nothing else, made by the owner's own server with the site's key. The key is derived
from the site and the version of its key, so that it can be shown, and a new version makes a new one.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ...access import SiteAccess, audit
from ...kit import ids
from ...kit.clock import now
from ...kit.db import Transaction
from ...kit.operation import Call
from ...kit.signing import Signer
from .. import store
from ..store import SiteRow

MAX_TOKEN = 16 * 1024
"""Characters of a token, which travels in addresses and cookies."""
_LEEWAY = 60
"""Seconds that the clock of whoever signs may differ from ours."""
_REGISTERED = {"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}


def signing_key(signer: Signer, site: SiteRow) -> str:
    """The key of a site, 43 characters."""
    return signer.derive("visitor key", f"{site.id} {site.settings.visitor_auth.key_version}")


def update_auth(tx: Transaction, call: Call, site: SiteAccess, login_url: str | None | UnsetType) -> SiteRow:
    """Sets where visitors without a token are sent."""
    before = store.get_site(tx, site.site_id)
    if login_url is not UNSET:
        auth = replace(before.settings.visitor_auth, login_url=login_url)
        store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
        was, is_now = {"fallbackURL": before.settings.visitor_auth.login_url}, {"fallbackURL": login_url}
        target = ("site", site.site_id)
        audit(tx, call, "site.visitorAuthUpdated", site.organization_id, target, before=was, after=is_now)
    return store.get_site(tx, site.site_id)


def renew_key(tx: Transaction, call: Call, site: SiteAccess) -> SiteRow:
    """Makes a new key; tokens of the old one are good for nothing from that moment on."""
    before = store.get_site(tx, site.site_id)
    auth = replace(before.settings.visitor_auth, key_version=ids.new_id())
    store.update_site(tx, site.site_id, settings=replace(before.settings, visitor_auth=auth))
    audit(tx, call, "site.visitorKeyRenewed", site.organization_id, ("site", site.site_id))
    return store.get_site(tx, site.site_id)


def read_token(key: str, token: str) -> dict[str, Any] | None:
    """The claims of a visitor's token, without those of its own; None for one that proves nothing: signed otherwise
    or with another key, without an expiry or past it, not yet good, too long."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import OctKey

    if len(token) > MAX_TOKEN:
        return None
    moment = now() // 1000
    registry = jwt.JWTClaimsRegistry(now=moment, leeway=_LEEWAY, exp={"essential": True})
    try:
        claims: dict[str, Any] = jwt.decode(token, OctKey.import_key(key), algorithms=["HS256"]).claims
        registry.validate(claims)
    except (JoseError, ValueError, TypeError):
        return None
    return {name: value for name, value in claims.items() if name not in _REGISTERED}
