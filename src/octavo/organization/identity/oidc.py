"""Sign-in through the server's OpenID Connect provider. It uses the code flow with PKCE, and the state is bound to the
browser.

The server administrator configures the provider, so an email address that the provider verified identifies the
account."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
import time
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.errors import BadGateway, Forbidden, Unauthorized, Unavailable
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits
from octavo.organization.access.accounts import find_user_by_email, insert_user
from octavo.organization.access.tokens import hash_token

from . import linked_accounts, one_time, sessions
from .redirects import local_path
from .verification import verify_address

log = logging.getLogger(__name__)

LIFETIME = 10 * 60_000
_KEEP_SECONDS = 3600
_LEEWAY = 60
_LIMITS = Limits(size=512 * 1024, seconds=10, redirects=3)
# Only public-key signatures are accepted: with HS256, the public key itself could be used as the secret.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class BadProvider(BadGateway):
    """Raised if a provider can't be reached or returned an invalid response. The message is public, so
    details, including the provider's URLs, are only in the log."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            "The sign-in provider couldn't be reached or returned an invalid response. See the "
            "server log for details."
        )
        log.warning("The sign-in provider failed", extra={"detail": detail})


class OidcStartQuery(Struct):
    next: str | None = None


class CallbackQuery(Struct):
    state: str = ""
    code: str = ""
    error: str | None = None


class ProviderRedirect(Struct, frozen=True):
    url: str
    binding: str


class OidcSignIn(Struct, frozen=True):
    session: sessions.NewSession
    next: str


class _Pending(Struct, frozen=True):
    nonce: str
    verifier: str
    binding: str
    next: str


class _Metadata(Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _TokenResponse(Struct):
    id_token: str


class Identity(Struct, frozen=True):
    """Contents of a verified ID token. ``email``: the email address, only if the provider verified it."""

    subject: str
    email: str | None
    name: str | None


@cache
def _fetcher(allowed: str) -> Fetcher:
    return Fetcher(allowed)


def _send(
    fetcher: Fetcher, url: str, method: str, headers: dict[str, str], body: bytes | None = None
) -> Fetched:
    """Send a request to the provider. Raises BadProvider if there is no response."""
    try:
        return fetcher.fetch(url, method, headers, body, _LIMITS)
    except FetchError as error:
        raise BadProvider(error.message) from None


_cache: OwnCache[tuple[float, Any]] = OwnCache("sign-in providers", 1)
"""Metadata and keys of the provider, each with the time when it was fetched."""


def _fetch(context: Context, url: str, type: object, *, at_most: float = _KEEP_SECONDS) -> Any:
    """Return the JSON document at a URL, at most ``at_most`` seconds old. Raises BadProvider if it can't be
    fetched."""
    kept = _cache.of(context.db).get(url)
    if kept is not None and time.monotonic() - kept[0] < at_most:
        return kept[1]
    answer = _send(_fetcher(context.settings.allow_private_fetch), url, "GET", {"accept": "application/json"})
    if answer.status != 200:
        raise BadProvider(f"{url} responded with status {answer.status}")
    try:
        value = msgspec.json.decode(answer.body, type=type)
    except msgspec.MsgspecError as error:
        raise BadProvider(f"{url}: {error}") from None
    _cache.of(context.db).put(url, (time.monotonic(), value), 10 * len(answer.body))
    return value


def _metadata(context: Context) -> _Metadata:
    issuer = context.settings.oidc_issuer
    if not issuer:
        raise Unavailable("This server has no OpenID Connect provider. Set OCTAVO_OIDC_ISSUER to add one.")
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    found: _Metadata = _fetch(context, url, _Metadata)
    if found.issuer.rstrip("/") != issuer.rstrip("/"):
        raise BadProvider(f"the provider's issuer must be {issuer!r}, not {found.issuer!r}")
    return found


def cookie_name(context: Context) -> str:
    return "__Host-octavo-oidc" if context.settings.url.startswith("https://") else "octavo-oidc"


def start(context: Context, wanted: str | None) -> ProviderRedirect:
    """Return the URL to redirect the browser to, and the value for its cookie. Raises Unavailable if no
    provider is configured, and BadProvider if it can't be reached."""
    metadata = _metadata(context)
    pending = _Pending(
        nonce=secrets.token_urlsafe(24),
        verifier=secrets.token_urlsafe(48),
        binding="",
        next=local_path(wanted),
    )
    binding = secrets.token_urlsafe(32)
    with context.db.write() as tx:
        kept = msgspec.structs.replace(pending, binding=hash_token(binding))
        state = one_time.issue(tx, context.sealer, "oidc", kept, LIFETIME)
    digest = hashlib.sha256(pending.verifier.encode()).digest()
    parameters = {
        "response_type": "code",
        "client_id": context.settings.oidc_client_id,
        "redirect_uri": context.url("/oidc/callback"),
        "scope": "openid email profile",
        "state": state,
        "nonce": pending.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    glue = "&" if "?" in metadata.authorization_endpoint else "?"
    return ProviderRedirect(f"{metadata.authorization_endpoint}{glue}{urlencode(parameters)}", binding)


def finish(context: Context, browser: sessions.Browser, binding: str, query: CallbackQuery) -> OidcSignIn:
    """Start a session for the person that the provider authenticated.

    ``binding``: the value of the browser's cookie. Raises Unauthorized if the response is invalid, Forbidden if
    the person can't sign in, and BadProvider if the provider can't be reached."""
    with context.db.write() as tx:
        pending = one_time.redeem(tx, context.sealer, "oidc", query.state, _Pending)
    if pending is None or not secrets.compare_digest(hash_token(binding), pending.binding):
        raise Unauthorized(
            "This sign-in has expired, was already used, or was started in another browser. Start over on the"
            " sign-in page."
        )
    if query.error is not None or not query.code:
        raise Unauthorized(
            "The sign-in provider denied access. Try again, or ask your administrator for access."
        )
    metadata = _metadata(context)
    token = _exchange(context, metadata, query.code, pending.verifier)
    identity = _verify_token(context, metadata, token, pending.nonce)
    with context.db.write() as tx:
        user_id = _find_or_create_person(tx, metadata.issuer, identity)
        session = sessions.begin(tx, user_id, "oidc", client=browser.client, agent=browser.agent)
    return OidcSignIn(session, pending.next)


def _exchange(context: Context, metadata: _Metadata, code: str, verifier: str) -> str:
    settings = context.settings
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": context.url("/oidc/callback"),
        "code_verifier": verifier,
    }
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
        pair = f"{quote(settings.oidc_client_id, '')}:{quote(settings.oidc_client_secret, '')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": settings.oidc_client_id, "client_secret": settings.oidc_client_secret}
    fetcher = _fetcher(settings.allow_private_fetch)
    answer = _send(fetcher, metadata.token_endpoint, "POST", headers, urlencode(form).encode())
    if answer.status != 200:
        raise Unauthorized(
            "The sign-in provider rejected the authorization code. Start over on the sign-in page."
        )
    try:
        return msgspec.json.decode(answer.body, type=_TokenResponse).id_token
    except msgspec.MsgspecError as error:
        raise BadProvider(f"token response: {error}") from None


def _verify_token(context: Context, metadata: _Metadata, token: str, nonce: str) -> Identity:
    client_id = context.settings.oidc_client_id
    # Try the cached keys first. For a token signed with a newer key, they are refetched, at most every ten
    # seconds.
    for at_most in (_KEEP_SECONDS, 10):
        keys = _fetch(context, metadata.jwks_uri, dict, at_most=at_most)
        try:
            return read_id_token(token, keys, issuer=metadata.issuer, client_id=client_id, nonce=nonce)
        except Unauthorized:
            if at_most != _KEEP_SECONDS:
                raise
    raise AssertionError


def read_id_token(token: str, keys: JsonObject, *, issuer: str, client_id: str, nonce: str) -> Identity:
    """Return the identity in an ID token after checking its signature and claims. Raises Unauthorized if the token
    isn't valid.

    ``keys``: the provider's JSON Web Key Set.
    """
    # Loading these modules would take a tenth of the startup time, and most servers don't use OpenID Connect.
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    usable = [
        key
        for key in keys.get("keys", ())
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"
    ]
    registry = jwt.JWTClaimsRegistry(
        now=lambda: now() // 1000,
        leeway=_LEEWAY,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims = jwt.decode(token, KeySet.import_key_set({"keys": usable}), algorithms=_ALGORITHMS).claims
        registry.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise Unauthorized(
            f"The sign-in provider's token is invalid ({type(error).__name__}). Start over on the sign-in"
            " page."
        ) from None
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != client_id:
        raise Unauthorized(
            "The sign-in provider's token was issued for another client. Ask your server administrator to"
            " check the client ID."
        )
    subject, email, name = claims["sub"], claims.get("email"), claims.get("name")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise Unauthorized(
            "The sign-in provider's token doesn't contain a valid subject. Ask your server administrator to"
            " check the provider."
        )
    verified = claims.get("email_verified") is True and isinstance(email, str) and "@" in email
    return Identity(
        subject,
        str(email).strip().lower() if verified else None,
        name[:100] if isinstance(name, str) and name.strip() else None,
    )


def _find_or_create_person(tx: Transaction, issuer: str, identity: Identity) -> str:
    known = linked_accounts.find_user_id(tx, issuer, identity.subject)
    if known is None:
        if identity.email is None:
            raise Forbidden(
                "Your email address isn't verified with the sign-in provider. Verify it there, then sign in"
                " again."
            )
        user = find_user_by_email(tx, identity.email)
        if user is None:
            name = identity.name or identity.email.partition("@")[0]
            user = insert_user(tx, identity.email, name, verified=True)
        else:
            # The provider verified the address, but the account may have been created by someone else.
            verify_address(tx, user.id)
        known = user.id
        linked_accounts.link(tx, issuer, identity.subject, known)
    if not linked_accounts.can_sign_in(tx, known):
        raise Forbidden("This account is deactivated. Ask an administrator to reactivate it.")
    return known
