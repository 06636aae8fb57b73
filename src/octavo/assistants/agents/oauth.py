"""OAuth for agents: discovery, registration, the consent page, and tokens (RFC 6749, 7009, 7591, 8414, 9728, and
clients known by a metadata document)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.http.edge import Action, Answer, RateLimiter, Request, Route, in_turn
from octavo.kit.http.proxies import address_key
from octavo.organization.access.api_scopes import API_SCOPES
from octavo.organization.access.scopes import AGENT_SCOPES
from octavo.organization.access.tokens import hash_token
from octavo.organization.portal.drawing import draw_consent, draw_refusal
from octavo.organization.portal.policy import CONTENT_SECURITY_POLICY

from . import store
from .connecting import (
    Unusable,
    allows_redirect,
    check_redirect,
    give_back,
    is_own_machine,
    use_code,
    use_refresh,
)
from .documents import LONGEST, Documents, is_document

MCP_PATH = "/mcp"
API_PATH = "/v1"
_MAX_BODY = 16 * 1024
_REGISTRATIONS = 20
"""Clients that can register per minute from one IP address."""
_JSON = "application/json"
_NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}
_WORDS: dict[str, str] = {
    "docs:read": "Read spaces, change requests, and comments",
    "docs:draft": "Draft and edit change requests for people to review",
    "docs:comment": "Comment and reply under your name, marked with the agent's name",
    "docs:review": "Review change requests",
    "docs:gaps": "See which questions and searches of readers remain without an answer",
    "docs:merge": "Merge change requests without asking you first",
    "user:read": "Read your profile",
    "organization:read": "Read the settings of the organization",
    "organization:write": "Edit the settings of the organization",
    "organization:members:read": "See members, teams, and invitations",
    "organization:members:write": "Invite, edit, and remove members and teams",
    "organization:ask": "Ask questions about all content",
    "organization:search": "Search all content",
    "space:read": "Read spaces, change requests, and comments",
    "space:write": "Create, edit, and delete spaces, change requests, and comments",
    "space:permissions:read": "See who has access to spaces and collections",
    "space:permissions:write": "Edit who has access to spaces and collections",
    "change-request:merge": "Merge change requests",
    "site:read": "Read sites and their settings",
    "site:write": "Create, edit, and delete sites",
    "site:publish": "Publish and unpublish sites",
    "site:permissions:read": "See who has access to sites",
    "site:permissions:write": "Edit who has access to sites",
    "site:auth:read": "See how visitors sign in, including share links and signing keys",
    "site:auth:write": "Edit how visitors sign in, including share links and signing keys",
    "site:insights:read": "Read the insights of sites",
    "site:ask": "Ask questions on sites",
    "site:search": "Search sites",
    "integration:read": "See which integrations are available and installed",
    "integration:installations:read": "Read the settings of installed integrations, including their credentials",
    "integration:installations:write": "Install and configure integrations, which have their own permissions",
    "integration:publish": "Publish integrations, which have their own permissions",
    "integration:delete": "Delete integrations and all their installations",
    "openapi:read": "Read API specifications",
    "openapi:write": "Create, edit, and delete API specifications",
}
_RISKY = frozenset(
    {
        "docs:merge", "docs:review", "organization:write", "organization:members:write", "space:permissions:write",
        "change-request:merge", "site:publish", "site:permissions:write", "site:auth:read", "site:auth:write",
        "integration:installations:read", "integration:installations:write", "integration:publish", "integration:delete",
    }
)  # fmt: skip
"""Scopes that are unchecked by default on the consent page."""


def resource_of(url: str, organization_id: str) -> str:
    """Return the URL of an organization's tools, which tokens are issued for."""
    return f"{url}{MCP_PATH}/{organization_id}"


def challenge(url: str, organization_id: str) -> str:
    """Return the header that tells a client without a token where to get one, and for which scopes. Clients request
    exactly the scopes it names, so it names all: people choose among them."""
    where = f"{url}/.well-known/oauth-protected-resource{MCP_PATH}/{organization_id}"
    return f'Bearer resource_metadata="{where}", scope="{" ".join(AGENT_SCOPES)}"'


class _Register(Struct):
    redirect_uris: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(min_length=1, max_length=10)]
    client_name: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


class _Asked(NamedTuple):
    """Parsed authorization request. ``organization_id``: whose tools are requested; None: the API, in an
    organization that the person chooses."""

    client: store.ClientRow
    redirect: str
    challenge: str
    organization_id: str | None
    scopes: Sequence[str]
    state: str | None


class _Bad(Exception):
    """Invalid request from a client. ``redirect``: the URL that can receive the error; None: no such URL."""

    def __init__(
        self, code: str, message: str, redirect: str | None = None, state: str | None = None
    ) -> None:
        super().__init__(message)
        self.code, self.redirect, self.state = code, redirect, state


def _error(code: str, message: str, status: int = 400) -> Answer:
    body = msgspec.json.encode({"error": code, "error_description": message})
    return Answer(status, body, _JSON, _NO_STORE)


def _fields(text: bytes) -> dict[str, str]:
    """Return the fields of a form. Repeated fields are refused, as RFC 6749 requires."""
    try:
        pairs = parse_qsl(text.decode(), keep_blank_values=True, max_num_fields=30)
    except ValueError:
        raise _Bad("invalid_request", "expected a UTF-8 form of at most 30 fields") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields or "\0" in value:
            raise _Bad("invalid_request", f"{name}: must be given only once and without control characters")
        fields[name] = value
    return fields


class OAuth:
    def __init__(self, context: Context, pool: Any) -> None:
        self._context, self._pool = context, pool
        self._url = context.settings.url
        self._registrations = RateLimiter(_REGISTRATIONS)
        self._tries = RateLimiter(context.settings.rate_limit)
        self._documents = Documents(context)

    def routes(self) -> list[Route]:
        well_known = "/.well-known/oauth-"
        return [
            Route(f"{well_known}authorization-server", {"GET": Action("oauthServer", self._server)}),
            Route(
                f"{well_known}protected-resource{MCP_PATH}/{{organizationId}}",
                {"GET": Action("oauthResource", self._resource)},
            ),
            *(
                Route(f"{well_known}protected-resource{path}", {"GET": Action("oauthApi", self._api)})
                for path in ("", API_PATH)
            ),
            Route("/oauth/register", {"POST": Action("oauthRegister", self._posted(self._register))}),
            Route("/oauth/authorize", {"GET": Action("oauthAuthorize", self._asked)}),
            Route("/oauth/token", {"POST": Action("oauthToken", self._posted(self._token))}),
            Route("/oauth/revoke", {"POST": Action("oauthRevoke", self._posted(self._revoke))}),
        ]

    def _posted(self, answer: Any) -> Any:
        async def read(request: Request) -> Answer:
            self._tries.count(address_key(request.client))
            body = await request.read(_MAX_BODY)
            try:
                found: Answer = await in_turn(self._pool, request.owner, answer, request, body)
                return found
            except _Bad as bad:
                return _error(bad.code, str(bad))

        return read

    # --- discovery ------------------------------------------------------------------------------------

    def _server(self, request: Request) -> Answer:
        told = {
            "issuer": self._url,
            "authorization_endpoint": f"{self._url}/oauth/authorize",
            "token_endpoint": f"{self._url}/oauth/token",
            "registration_endpoint": f"{self._url}/oauth/register",
            "revocation_endpoint": f"{self._url}/oauth/revoke",
            "scopes_supported": [*API_SCOPES, *AGENT_SCOPES],
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
        return Answer(200, msgspec.json.encode(told), _JSON, {"cache-control": "public, max-age=300"})

    def _resource(self, request: Request) -> Answer:
        # The same for every id: the answer must not reveal which organizations exist.
        told = {
            "resource": resource_of(self._url, request.parameters["organizationId"]),
            "authorization_servers": [self._url],
            "scopes_supported": list(AGENT_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": self._context.settings.name,
        }
        return Answer(200, msgspec.json.encode(told), _JSON, {"cache-control": "public, max-age=300"})

    def _api(self, request: Request) -> Answer:
        told = {
            "resource": f"{self._url}{API_PATH}",
            "authorization_servers": [self._url],
            "scopes_supported": list(API_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": self._context.settings.name,
        }
        return Answer(200, msgspec.json.encode(told), _JSON, {"cache-control": "public, max-age=300"})

    def _register(self, request: Request, body: bytes) -> Answer:
        try:
            asked = msgspec.json.decode(body, type=_Register)
            for address in asked.redirect_uris:
                check_redirect(address)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, BadRequest) as error:
            message = error.message if isinstance(error, BadRequest) else str(error)
            code = "invalid_redirect_uri" if "redirect_uris" in message else "invalid_client_metadata"
            return _error(code, message)
        name = "" if asked.client_name is UNSET else " ".join(asked.client_name.replace("\0", "").split())
        self._registrations.count(address_key(request.client))
        with self._context.db.write() as tx:
            store.make_room(tx)
            client = store.insert_client(tx, name or "Unnamed app", asked.redirect_uris)
        told = {
            "client_id": client.id,
            "client_name": client.name,
            "redirect_uris": list(client.redirects),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        return Answer(201, msgspec.json.encode(told), _JSON, _NO_STORE)

    # --- consent page ---------------------------------------------------------------------------------

    async def _asked(self, request: Request) -> Answer:
        return await in_turn(self._pool, request.owner, self._authorize, request)

    def _authorize(self, request: Request) -> Answer:
        self._tries.count(address_key(request.client))
        try:
            asked = self._read(request)
        except _Bad as bad:
            if bad.redirect is None:
                return self._page(
                    400, draw_refusal(self._context.settings.name, "Can't connect this app", str(bad))
                )
            location = self._refusal(bad.redirect, bad.code, str(bad), bad.state)
            return Answer(302, headers={**_NO_STORE, "location": location})
        rows = "".join(
            f'<li><label><input type="checkbox" name="scope" value="{scope}"'
            f"{'' if scope in _RISKY else ' checked'}{' disabled' if scope == 'docs:read' else ''}> "
            f"{html.escape(_WORDS[scope])}</label></li>"
            for scope in asked.scopes
        )
        data = {
            **({"organization": asked.organization_id} if asked.organization_id is not None else {}),
            "clientId": asked.client.id,
            "redirectUri": asked.redirect,
            "codeChallenge": asked.challenge,
            **({"state": asked.state} if asked.state is not None else {}),
        }
        page = draw_consent(
            self._context.settings.name,
            program=asked.client.name,
            place=asked.redirect.partition("?")[0],
            source=asked.client.id if is_document(asked.client.id) else "",
            own_machine=is_own_machine(asked.redirect),
            scopes=rows,
            asked=msgspec.json.encode(data).decode(),
            refusal=self._refusal(asked.redirect, "access_denied", "The person denied access.", asked.state),
        )
        return self._page(200, page)

    def _refusal(self, redirect: str, code: str, message: str, state: str | None) -> str:
        """Return the redirect URL that reports an error to the client."""
        told = {"error": code, "error_description": message, "iss": self._url}
        told |= {"state": state} if state is not None else {}
        return f"{redirect}{'&' if '?' in redirect else '?'}{urlencode(told)}"

    def _page(self, status: int, page: bytes) -> Answer:
        headers = {
            **_NO_STORE,
            "content-security-policy": CONTENT_SECURITY_POLICY,
            "referrer-policy": "no-referrer",
            "x-frame-options": "DENY",
        }
        return Answer(status, page, "text/html; charset=utf-8", headers)

    def _client(self, client_id: str, request: Request) -> store.ClientRow:
        if is_document(client_id):
            try:
                return self._documents.find(client_id, request)
            except Unusable as error:
                raise _Bad("invalid_client", str(error)) from None
        with self._context.db.read() as tx:
            client = store.find_client(tx, client_id[:LONGEST])
        if client is None:
            raise _Bad(
                "invalid_client",
                "client_id: no app is registered with this ID, or its registration has expired",
            )
        return client

    def _read(self, request: Request) -> _Asked:
        fields = _fields(request.query_string)
        client = self._client(fields.get("client_id", ""), request)
        redirect = fields.get("redirect_uri", "")
        if not allows_redirect(client, redirect):
            raise _Bad("invalid_request", "redirect_uri: must be a URL that the app has registered")
        state = fields.get("state")

        def bad(code: str, message: str) -> _Bad:
            return _Bad(code, message, redirect, state)

        if state is not None and len(state) > 2000:
            raise _Bad("invalid_request", "state: must be at most 2000 characters")
        if fields.get("response_type") != "code":
            raise bad("unsupported_response_type", "response_type: expected code")
        code_challenge = fields.get("code_challenge", "")
        plain = code_challenge.replace("-", "").replace("_", "")
        if fields.get("code_challenge_method") != "S256" or len(code_challenge) != 43 or not plain.isalnum():
            raise bad("invalid_request", "code_challenge: expected a challenge with the method S256")
        wanted = fields.get("scope", "").split()
        resource = fields.get("resource", "").rstrip("/")
        scopes: list[str]
        if resource in ("", self._url, f"{self._url}{API_PATH}"):
            scopes = [scope for scope in API_SCOPES if not wanted or scope in wanted]
            if not scopes:
                raise bad("invalid_scope", f"scope: expected one or more of {' '.join(API_SCOPES)}")
            return _Asked(client, redirect, code_challenge, None, scopes, state)
        start = resource_of(self._url, "")
        organization_id = resource.removeprefix(start)
        if not resource.startswith(start) or not organization_id.isalnum() or len(organization_id) > 64:
            raise bad(
                "invalid_target",
                f"resource: expected {start}<organization>, {self._url}{API_PATH}, or no resource",
            )
        scopes = [s for s in AGENT_SCOPES if not wanted or s in wanted or s == "docs:read"]
        return _Asked(client, redirect, code_challenge, organization_id, scopes, state)

    # --- tokens ---------------------------------------------------------------------------------------

    def _token(self, request: Request, body: bytes) -> Answer:
        fields = _fields(body)
        kind, client = fields.get("grant_type"), fields.get("client_id", "")
        try:
            with self._context.db.write() as tx:
                if kind == "authorization_code":
                    code, verifier = fields.get("code", ""), fields.get("code_verifier", "")
                    grant = use_code(tx, code, client, fields.get("redirect_uri", ""), verifier)
                elif kind == "refresh_token":
                    grant = use_refresh(tx, fields.get("refresh_token", ""), client)
                else:
                    message = "grant_type: expected authorization_code or refresh_token"
                    return _error("unsupported_grant_type", message)
        except Unusable as error:
            return _error("invalid_grant", str(error))
        if grant is None:
            return _error(
                "invalid_grant",
                ("This was used before, so access of the agent has been revoked. Connect the app again."),
            )
        told = {
            "access_token": grant.access,
            "token_type": "Bearer",
            "expires_in": grant.lasts,
            "refresh_token": grant.refresh,
            "scope": " ".join(grant.scopes),
        }
        return Answer(200, msgspec.json.encode(told), _JSON, _NO_STORE)

    def _revoke(self, request: Request, body: bytes) -> Answer:
        token = _fields(body).get("token", "")
        with self._context.db.write() as tx:
            give_back(tx, token, hash_token(token))
        return Answer(200, b"{}", _JSON, _NO_STORE)
