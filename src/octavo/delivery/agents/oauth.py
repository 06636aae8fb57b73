"""OAuth for the API and organizations' tools: discovery for apps, the consent page, and tokens (RFC 6749,
7009, 8414, 9728)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from octavo.kit.context import Context
from octavo.kit.http.edge import Action, Answer, Request, Route, in_turn
from octavo.kit.http.proxies import address_key
from octavo.kit.scheduling.rates import RateLimiter
from octavo.organization.access.api_scopes import API_SCOPES
from octavo.organization.access.scopes import AGENT_SCOPES
from octavo.organization.access.tokens import hash_token
from octavo.organization.portal.drawing import ConsentScope, draw_consent, draw_refusal
from octavo.organization.portal.policy import CONTENT_SECURITY_POLICY

from .clients import (
    MAX_FORM,
    NO_STORE,
    AppRequest,
    BadOAuth,
    Registrations,
    answer_at,
    describe_resource,
    describe_server,
    error_answer,
    fields_of,
    json_answer,
    read_request,
)
from .connecting import Unusable, is_own_machine, revoke_by_token, use_code, use_refresh
from .documents import is_document

MCP_PATH = "/mcp"
API_PATH = "/v1"
_WORDS: dict[str, str] = {
    "docs:read": "Read spaces, change requests, and comments",
    "docs:draft": "Draft and edit change requests for people to review",
    "docs:comment": "Comment and reply under your name, marked with the agent's name",
    "docs:review": "Review change requests",
    "docs:gaps": "See readers' unanswered questions and searches",
    "docs:merge": "Merge change requests without asking you first",
    "user:read": "Read your profile",
    "organization:read": "Read the organization's settings",
    "organization:write": "Edit the organization's settings",
    "organization:members:read": "See members, teams, and invitations",
    "organization:members:write": "Invite, edit, and remove members and teams",
    "organization:ask": "Ask questions about all content",
    "organization:search": "Search all content",
    "space:read": "Read spaces, change requests, and comments",
    "space:write": "Create, edit, and delete spaces, change requests, and comments",
    "space:permissions:read": "See who has access to spaces and collections",
    "space:permissions:write": "Change who has access to spaces and collections",
    "change-request:merge": "Merge change requests",
    "site:read": "Read sites and their settings",
    "site:write": "Create, edit, and delete sites",
    "site:publish": "Publish and unpublish sites",
    "site:permissions:read": "See who has access to sites",
    "site:permissions:write": "Change who has access to sites",
    "site:auth:read": "See how visitors sign in, including share links and signing keys",
    "site:auth:write": "Change how visitors sign in, including share links and signing keys",
    "site:insights:read": "Read site insights",
    "site:ask": "Ask questions on sites",
    "site:search": "Search sites",
    "integration:read": "See which integrations are available and installed",
    "integration:installations:read": "Read the settings of installed integrations, including credentials",
    "integration:installations:write": "Install and configure integrations, which have their own permissions",
    "integration:publish": "Publish integrations, which have their own permissions",
    "integration:delete": "Delete integrations and all their installations",
    "openapi:read": "Read API specifications",
    "openapi:write": "Create, edit, and delete API specifications",
}
_RISKY = frozenset(
    {
        "docs:merge",
        "docs:review",
        "organization:write",
        "organization:members:write",
        "space:permissions:write",
        "change-request:merge",
        "site:publish",
        "site:permissions:write",
        "site:auth:read",
        "site:auth:write",
        "integration:installations:read",
        "integration:installations:write",
        "integration:publish",
        "integration:delete",
    }
)
"""Scopes that the consent page doesn't select by default."""


def resource_of(url: str, organization_id: str) -> str:
    """Return the URL of an organization's tools. Tokens are issued for this URL."""
    return f"{url}{MCP_PATH}/{organization_id}"


def challenge(url: str, organization_id: str) -> str:
    """Return the header that tells a client without a token where to request one and which scopes exist. Clients
    request exactly the listed scopes, so the header lists all scopes, and people can then choose from them."""
    where = f"{url}/.well-known/oauth-protected-resource{MCP_PATH}/{organization_id}"
    return f'Bearer resource_metadata="{where}", scope="{" ".join(AGENT_SCOPES)}"'


class _Wanted(NamedTuple):
    """Request from an app. ``organization_id``: the organization whose tools the app requests; None if it requests the
    API, in which case the person chooses an organization."""

    asked: AppRequest
    organization_id: str | None
    scopes: Sequence[str]


class OAuth:
    def __init__(self, context: Context, pool: Any) -> None:
        self._context, self._pool = context, pool
        self._url = context.settings.url
        self._tries = RateLimiter(context.settings.rate_limit)
        self._registrations = Registrations(context)

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
            Route(
                "/oauth/register",
                {"POST": Action("oauthRegister", self._posted(self._registrations.register))},
            ),
            Route("/oauth/authorize", {"GET": Action("oauthAuthorize", self._asked)}),
            Route("/oauth/token", {"POST": Action("oauthToken", self._posted(self._token))}),
            Route("/oauth/revoke", {"POST": Action("oauthRevoke", self._posted(self._revoke))}),
        ]

    def _posted(self, answer: Any) -> Any:
        async def read(request: Request) -> Answer:
            self._tries.count(address_key(request.client))
            body = await request.read(MAX_FORM)
            try:
                found: Answer = await in_turn(self._pool, request.owner, answer, request, body)
                return found
            except BadOAuth as bad:
                return error_answer(bad.code, str(bad))

        return read

    # --- discovery ------------------------------------------------------------------------------------

    def _server(self, request: Request) -> Answer:
        start = f"{self._url}/oauth"
        return describe_server(self._url, f"{start}/authorize", start, [*API_SCOPES, *AGENT_SCOPES])

    def _resource(self, request: Request) -> Answer:
        # The response is the same for every id, because it must not reveal which organizations exist.
        resource = resource_of(self._url, request.parameters["organizationId"])
        return describe_resource(resource, self._url, self._context.settings.name, list(AGENT_SCOPES))

    def _api(self, request: Request) -> Answer:
        resource = f"{self._url}{API_PATH}"
        return describe_resource(resource, self._url, self._context.settings.name, list(API_SCOPES))

    # --- consent page ---------------------------------------------------------------------------------

    async def _asked(self, request: Request) -> Answer:
        return await in_turn(self._pool, request.owner, self._authorize, request)

    def _authorize(self, request: Request) -> Answer:
        self._tries.count(address_key(request.client))
        try:
            asked, organization_id, scopes = self._read(request)
        except BadOAuth as bad:
            if bad.redirect is None:
                return self._page(
                    400, draw_refusal(self._context.settings.name, "Can't connect this app", str(bad))
                )
            location = self._refusal(bad.redirect, bad.code, str(bad), bad.state)
            return Answer(302, headers={**NO_STORE, "location": location})
        data = {
            **({"organization": organization_id} if organization_id is not None else {}),
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
            scopes=[
                ConsentScope(scope, _WORDS[scope], checked=scope not in _RISKY, fixed=scope == "docs:read")
                for scope in scopes
            ],
            asked=msgspec.json.encode(data).decode(),
            refusal=self._refusal(asked.redirect, "access_denied", "The person denied access.", asked.state),
        )
        return self._page(200, page)

    def _refusal(self, redirect: str, code: str, message: str, state: str | None) -> str:
        """Return the redirect URL that reports an error to the client."""
        return answer_at(redirect, self._url, state, error=code, error_description=message)

    def _page(self, status: int, page: bytes) -> Answer:
        headers = {
            **NO_STORE,
            "content-security-policy": CONTENT_SECURITY_POLICY,
            "referrer-policy": "no-referrer",
            "x-frame-options": "DENY",
        }
        return Answer(status, page, "text/html; charset=utf-8", headers)

    def _read(self, request: Request) -> _Wanted:
        asked = read_request(self._context, request, request.query_string)
        wanted, resource = asked.scopes, asked.resource
        scopes: list[str]
        if resource in ("", self._url, f"{self._url}{API_PATH}"):
            scopes = [scope for scope in API_SCOPES if not wanted or scope in wanted]
            if not scopes:
                raise asked.bad("invalid_scope", f"scope: must be one or more of {' '.join(API_SCOPES)}")
            return _Wanted(asked, None, scopes)
        start = resource_of(self._url, "")
        organization_id = resource.removeprefix(start)
        if not resource.startswith(start) or not organization_id.isalnum() or len(organization_id) > 64:
            raise asked.bad(
                "invalid_target",
                f"resource: must be {start}<organization>, {self._url}{API_PATH}, or omitted",
            )
        scopes = [s for s in AGENT_SCOPES if not wanted or s in wanted or s == "docs:read"]
        return _Wanted(asked, organization_id, scopes)

    # --- tokens ---------------------------------------------------------------------------------------

    def _token(self, request: Request, body: bytes) -> Answer:
        fields = fields_of(body)
        kind, client = fields.get("grant_type"), fields.get("client_id", "")
        try:
            with self._context.db.write() as tx:
                if kind == "authorization_code":
                    code, verifier = fields.get("code", ""), fields.get("code_verifier", "")
                    grant = use_code(tx, code, client, fields.get("redirect_uri", ""), verifier)
                elif kind == "refresh_token":
                    grant = use_refresh(tx, fields.get("refresh_token", ""), client)
                else:
                    message = "grant_type: must be authorization_code or refresh_token"
                    return error_answer("unsupported_grant_type", message)
        except Unusable as error:
            return error_answer("invalid_grant", str(error))
        if grant is None:
            return error_answer(
                "invalid_grant",
                "This code or token was already used, so access has been revoked. Connect the app again.",
            )
        issued = {
            "access_token": grant.access,
            "token_type": "Bearer",
            "expires_in": grant.lasts,
            "refresh_token": grant.refresh,
            "scope": " ".join(grant.scopes),
        }
        return json_answer(issued)

    def _revoke(self, request: Request, body: bytes) -> Answer:
        token = fields_of(body).get("token", "")
        with self._context.db.write() as tx:
            revoke_by_token(tx, token, hash_token(token))
        return json_answer({})
