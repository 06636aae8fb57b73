"""Clients of the OAuth servers for the API and for sites: registration, identification, and access requests
(RFC 6749, 7591, 7636, and client metadata documents)."""

from __future__ import annotations

from typing import Annotated, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.http.edge import Answer, Request
from octavo.kit.http.proxies import address_key
from octavo.kit.scheduling.rates import RateLimiter

from . import store
from .connecting import Unusable, allows_redirect, check_redirect
from .documents import LONGEST, Documents, is_document

MAX_FORM = 16 * 1024
"""Maximum size in bytes of a form that an app submits."""
NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}
_REGISTRATIONS = 20
"""Maximum number of apps that can register per minute from one IP address."""
_JSON = "application/json"
_KEPT = {"cache-control": "public, max-age=300"}


class BadOAuth(Exception):  # noqa: N818
    """Raised for an invalid request from an app. ``redirect``: the redirect URL for reporting the error, if any."""

    def __init__(
        self, code: str, message: str, redirect: str | None = None, state: str | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.redirect, self.state = code, redirect, state


class AppRequest(NamedTuple):
    """Request from an app, with the parameters of the authorization URL. ``scopes`` and ``resource``: empty
    if not specified in the request."""

    client: store.ClientRow
    redirect: str
    challenge: str
    scopes: list[str]
    resource: str
    state: str | None

    def bad(self, code: str, message: str) -> BadOAuth:
        """Return an error that is reported by redirecting to the app."""
        return BadOAuth(code, message, self.redirect, self.state)


class _Register(Struct):
    redirect_uris: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(min_length=1, max_length=10)]
    client_name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


def json_answer(content: object, status: int = 200) -> Answer:
    return Answer(status, msgspec.json.encode(content), _JSON, NO_STORE)


def error_answer(code: str, message: str, status: int = 400) -> Answer:
    return json_answer({"error": code, "error_description": message}, status)


def describe_resource(resource: str, server: str, name: str, scopes: list[str] | None = None) -> Answer:
    """Return the metadata of a protected resource (RFC 9728). ``server``: the issuer of the resource's tokens."""
    metadata = {
        "resource": resource,
        "authorization_servers": [server],
        **({"scopes_supported": scopes} if scopes is not None else {}),
        "bearer_methods_supported": ["header"],
        "resource_name": name,
    }
    return Answer(200, msgspec.json.encode(metadata), _JSON, _KEPT)


def describe_server(issuer: str, authorize: str, start: str, scopes: list[str] | None = None) -> Answer:
    """Return the metadata of an authorization server (RFC 8414). ``authorize``: the URL where people give
    consent. ``start``: the common prefix of the URLs of the other endpoints."""
    metadata = {
        "issuer": issuer,
        "authorization_endpoint": authorize,
        "token_endpoint": f"{start}/token",
        "registration_endpoint": f"{start}/register",
        "revocation_endpoint": f"{start}/revoke",
        **({"scopes_supported": scopes} if scopes is not None else {}),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    return Answer(200, msgspec.json.encode(metadata), _JSON, _KEPT)


def fields_of(text: bytes) -> dict[str, str]:
    """Return the fields of a form. Raises BadOAuth if a field occurs twice, as RFC 6749 requires."""
    try:
        pairs = parse_qsl(text.decode(), keep_blank_values=True, max_num_fields=30)
    except ValueError:
        raise BadOAuth(
            "invalid_request", "the form must be encoded in UTF-8, with at most 30 fields"
        ) from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise BadOAuth("invalid_request", f"{name}: must be sent only once")
        if "\0" in value:
            raise BadOAuth("invalid_request", f"{name}: must not contain NUL characters")
        fields[name] = value
    return fields


def answer_at(redirect: str, issuer: str, state: str | None, **parameters: str) -> str:
    """Return the redirect URL that delivers a response to the app (RFC 9207)."""
    query = {**parameters, "iss": issuer, **({"state": state} if state is not None else {})}
    return f"{redirect}{'&' if '?' in redirect else '?'}{urlencode(query)}"


class Registrations:
    """App registrations on one OAuth server."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._counter = RateLimiter(_REGISTRATIONS)

    def register(self, request: Request, body: bytes) -> Answer:
        try:
            asked = msgspec.json.decode(body, type=_Register)
            for address in asked.redirect_uris:
                check_redirect(address)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, BadRequest) as error:
            message = error.message if isinstance(error, BadRequest) else str(error)
            code = "invalid_redirect_uri" if "redirect_uris" in message else "invalid_client_metadata"
            return error_answer(code, message)
        name = "" if asked.client_name is UNSET else " ".join(asked.client_name.replace("\0", "").split())
        self._counter.count(address_key(request.client))
        with self._context.db.write() as tx:
            store.make_room(tx)
            client = store.insert_client(tx, name or "Unnamed app", asked.redirect_uris)
        registered = {
            "client_id": client.id,
            "client_name": client.name,
            "redirect_uris": list(client.redirects),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        return json_answer(registered, 201)


def read_request(context: Context, request: Request, query: bytes) -> AppRequest:
    """Return an app's request from a URL query. Raises BadOAuth if it is invalid."""
    fields = fields_of(query)
    client = _find_client(context, fields.get("client_id", ""), request)
    redirect = fields.get("redirect_uri", "")
    if not allows_redirect(client, redirect):
        raise BadOAuth("invalid_request", "redirect_uri: must be a URL that the app has registered")
    state, challenge = fields.get("state"), fields.get("code_challenge", "")
    if state is not None and len(state) > 2000:
        raise BadOAuth("invalid_request", "state: must be at most 2,000 characters")
    scopes, resource = fields.get("scope", "").split(), fields.get("resource", "").rstrip("/")
    asked = AppRequest(client, redirect, challenge, scopes, resource, state)
    if fields.get("response_type") != "code":
        raise asked.bad("unsupported_response_type", "response_type: must be code")
    plain = challenge.replace("-", "").replace("_", "")
    if fields.get("code_challenge_method") != "S256" or len(challenge) != 43 or not plain.isalnum():
        raise asked.bad("invalid_request", "code_challenge: must be an S256 challenge")
    return asked


def _find_client(context: Context, client_id: str, request: Request) -> store.ClientRow:
    if is_document(client_id):
        try:
            return Documents(context).find(client_id, request)
        except Unusable as error:
            raise BadOAuth("invalid_client", str(error)) from None
    with context.db.read() as tx:
        client = store.find_client(tx, client_id[:LONGEST])
    if client is None:
        raise BadOAuth(
            "invalid_client",
            "client_id: there is no app with this ID, or its registration has expired",
        )
    return client
