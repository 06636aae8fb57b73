"""OAuth for the MCP servers of sites with visitor authentication: metadata, the consent page, and tokens.

This module follows RFC 6749, 7009, 8414, 8707, and 9728. A site's authorization server has a URL under the base
URL of all sites. Visitors give consent on the site itself, where they are signed in.
"""

from __future__ import annotations

from typing import Any

import msgspec

from octavo.delivery.reader.agreement import prepare_agreement
from octavo.delivery.reader.answers import decoded_path
from octavo.delivery.reader.table import Later, View, route
from octavo.delivery.reader.views import Agreement
from octavo.delivery.visits.admission import (
    CONNECT_PATH,
    MCP_PATHS,
    METADATA_PATH,
    public_url,
    signs_visitors_in,
    unfold_query,
)
from octavo.delivery.visits.authorization import SiteVisit, find_site_at
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import HOUR, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.edge import Action, Answer, Request, Route, in_turn
from octavo.kit.http.proxies import address_key
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.scheduling.shares import SharedThreads
from octavo.organization.access.tokens import hash_token
from octavo.sites.site.customization.editing import get_customization
from octavo.sites.site.hostnames import require_shared_host
from octavo.sites.site.store import SiteRow, find_site

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
from .connecting import Unusable, is_own_machine
from .documents import is_document
from .site_agents import SiteConsent, connect_visitor, refresh_site_agent, revoke_site_agent, use_site_code

_PATH = "/~oauth"
_PURPOSE = "consent of a visitor"
_DECIDING = HOUR
"""Milliseconds for which the consent page is valid."""
_agreed = msgspec.json.Decoder(SiteConsent)


def _issuer(context: Context, site_id: str) -> str:
    return f"{context.settings.sites_url.rstrip('/')}{_PATH}/{site_id}"


def _resources(tx: Transaction, context: Context, site: SiteRow) -> list[str]:
    """Return the URLs of a site's MCP server. Tokens are valid for all of these URLs."""
    return [f"{public_url(tx, context, site)}{path}" for path in MCP_PATHS]


class SiteOAuth:
    def __init__(self, context: Context, pool: SharedThreads) -> None:
        self._context, self._pool = context, pool
        self._registrations = Registrations(context)
        self._tries = RateLimiter(context.settings.rate_limit)

    def routes(self) -> list[Route]:
        server = f"/.well-known/oauth-authorization-server{_PATH}/{{site}}"
        return [
            Route(f"{METADATA_PATH}/{{path*}}", {"GET": Action("siteOAuthResource", self._resource)}),
            Route(server, {"GET": Action("siteOAuthServer", self._server)}),
            Route(
                f"{_PATH}/register",
                {"POST": Action("siteOAuthRegister", self._posted(self._registrations.register))},
            ),
            Route(f"{_PATH}/token", {"POST": Action("siteOAuthToken", self._posted(self._token))}),
            Route(f"{_PATH}/revoke", {"POST": Action("siteOAuthRevoke", self._posted(self._revoke))}),
        ]

    def _posted(self, answer: object) -> Any:
        async def read(request: Request) -> Answer:
            self._tries.count(address_key(request.client))
            body = await request.read(MAX_FORM)
            try:
                found: Answer = await in_turn(
                    self._pool, request.owner, self._at_shared, answer, request, body
                )
                return found
            except BadOAuth as bad:
                return error_answer(bad.code, str(bad))

        return read

    def _at_shared(self, answer: Any, request: Request, body: bytes) -> Answer:
        require_shared_host(self._context, request.header(b"host"))
        found: Answer = answer(request, body)
        return found

    def _resource(self, request: Request) -> Answer:
        path = decoded_path(request).removeprefix(METADATA_PATH)
        with self._context.db.read() as tx:
            found = find_site_at(tx, request.header(b"host"), path)
            if found is None or found[1] not in MCP_PATHS or not self._takes_agents(tx, found[0]):
                raise NotFound("There is no protected resource at this URL.")
            site, rest = found
            resource = f"{public_url(tx, self._context, site)}{rest}"
        return describe_resource(resource, _issuer(self._context, site.id), site.title)

    def _takes_agents(self, tx: Transaction, site: SiteRow) -> bool:
        return signs_visitors_in(tx, self._context, site) and get_customization(tx, site.id).page_actions.mcp

    def _server(self, request: Request) -> Answer:
        require_shared_host(self._context, request.header(b"host"))
        with self._context.db.read() as tx:
            site = find_site(tx, request.parameters["site"])
            if site is None or not self._takes_agents(tx, site):
                raise NotFound("There is no authorization server at this URL.")
            authorize = f"{public_url(tx, self._context, site)}{CONNECT_PATH}"
        start = f"{self._context.settings.sites_url.rstrip('/')}{_PATH}"
        return describe_server(_issuer(self._context, site.id), authorize, start)

    def _token(self, request: Request, body: bytes) -> Answer:
        fields, context = fields_of(body), self._context
        kind, client = fields.get("grant_type"), fields.get("client_id", "")
        try:
            with context.db.write() as tx:
                if kind == "authorization_code":
                    code, verifier = fields.get("code", ""), fields.get("code_verifier", "")
                    found = use_site_code(tx, context, code, client, fields.get("redirect_uri", ""), verifier)
                elif kind == "refresh_token":
                    found = refresh_site_agent(tx, context, fields.get("refresh_token", ""), client)
                else:
                    message = "grant_type: must be authorization_code or refresh_token"
                    return error_answer("unsupported_grant_type", message)
                if found is not None and fields.get("resource"):
                    _check_resource(tx, context, found[0], fields["resource"])
        except Unusable as error:
            return error_answer("invalid_grant", str(error))
        if found is None:
            return error_answer(
                "invalid_grant",
                "This code or token was already used, so access has been revoked. Connect the app again.",
            )
        grant = found[1]
        issued = {"access_token": grant.access, "token_type": "Bearer", "expires_in": grant.lasts}
        return json_answer({**issued, "refresh_token": grant.refresh})

    def _revoke(self, request: Request, body: bytes) -> Answer:
        token = fields_of(body).get("token", "")
        with self._context.db.write() as tx:
            revoke_site_agent(tx, token)
        return json_answer({})


def _check_resource(tx: Transaction, context: Context, site: SiteRow, resource: str) -> None:
    if resource.rstrip("/") not in (expected := _resources(tx, context, site)):
        raise BadOAuth("invalid_target", f"resource: must be {expected[1]}, or omitted")


# --- the consent page of visitors -------------------------------------------------------------------------


def _require_agents(view: View, visit: SiteVisit) -> None:
    if (
        visit.site.visibility != "visitor-auth"
        or not get_customization(view.tx, visit.site.id).page_actions.mcp
    ):
        raise NotFound("There is no page at this URL.")


@route("askVisitor", CONNECT_PATH, pool="calls")
@route("askVisitor", f"{CONNECT_PATH}/{{asked}}", pool="calls")
def ask_visitor(view: View, visit: SiteVisit, asked: str = "") -> Later:
    """Ask a visitor whether to allow an app to read the site with the visitor's access. ``asked``: the app's query, if
    the visitor had to sign in first."""
    _require_agents(view, visit)
    draw, context, site_id = prepare_agreement(view, visit), view.context, visit.site.id
    query = unfold_query(asked) if asked else view.request.query_string
    resources, issuer = _resources(view.tx, context, visit.site), _issuer(context, site_id)
    proof, request = hash_token(visit.admission.proof), view.request

    def work_out() -> Answer:
        try:
            found = read_request(context, request, query)
            if found.resource and found.resource not in resources:
                raise found.bad("invalid_target", f"resource: must be {resources[1]}, or omitted")
        except BadOAuth as bad:
            if bad.redirect is None:
                raise BadRequest(str(bad)) from None
            location = answer_at(bad.redirect, issuer, bad.state, error=bad.code, error_description=str(bad))
            return Answer(302, headers={**NO_STORE, "location": location})
        return draw(_agreement(context, issuer, found, site_id, proof))

    return Later(visit.organization_id, work_out, "calls")


def _agreement(context: Context, issuer: str, asked: AppRequest, site_id: str, proof: str) -> Agreement:
    client, redirect = asked.client, asked.redirect
    agreed = SiteConsent(site_id, client.id, redirect, asked.challenge, asked.state, proof)
    signed = context.signer.sign(_PURPOSE, msgspec.json.encode(agreed).decode(), now() + _DECIDING)
    denial = {"error": "access_denied", "error_description": "The visitor denied access."}
    return Agreement(
        app=client.name,
        source=client.id.partition("://")[2].partition("/")[0] if is_document(client.id) else "",
        place=redirect.partition("?")[0],
        scheme=redirect.partition(":")[0],
        own_machine=is_own_machine(redirect),
        asked=signed,
        refusal=answer_at(redirect, issuer, asked.state, **denial),
    )


@route("connectVisitor", CONNECT_PATH, method="POST", body=MAX_FORM, rate="tries")
def connect(view: View, visit: SiteVisit) -> Later:
    """Redirect a visitor who gave consent back to the app with a code. The form is signed for this visitor,
    so that no other page can submit it."""
    _require_agents(view, visit)
    context, site, admission = view.context, visit.site, visit.admission
    try:
        signed = context.signer.verify(_PURPOSE, fields_of(view.body).get("asked", ""))
    except BadOAuth as bad:
        raise BadRequest(str(bad)) from None
    agreed = _agreed.decode(signed) if signed is not None else None
    if agreed is None or agreed.site != site.id or agreed.proof != hash_token(admission.proof):
        raise BadRequest("This page has expired. Connect the app again.")

    def work_out() -> Answer:
        with context.db.write() as tx:
            code = connect_visitor(tx, context, site, agreed, admission.proof, admission.preview)
        location = answer_at(agreed.redirect, _issuer(context, site.id), agreed.state, code=code)
        return Answer(303, headers={**NO_STORE, "location": location})

    return Later(visit.organization_id, work_out)
