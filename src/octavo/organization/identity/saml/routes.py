"""Operations on an organization's SAML providers, and endpoints for browsers and identity providers."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from msgspec import Meta, Struct

from octavo.core.url_parts import read_address
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import PUBLIC, Area, Call, RawBody, Reply
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess, SignedIn, actor_or_stranger
from octavo.organization.access.roles import Can
from octavo.organization.access.teams import find_team
from octavo.organization.access.tokens import cookie, cookie_header, require_same_origin

from ..routes import browser_of, session_cookie
from . import signing_in, store, wire
from .certificates import parse_certificates
from .responses import MAX_BYTES, service_metadata
from .service import service

operation = Area("access").operation

_PROVIDERS = "/orgs/{organizationId}/saml"
_PROVIDER = _PROVIDERS + "/{samlProviderId}"


def _validate_columns(
    tx: Transaction, org: OrgAccess, body: wire.CreateProvider | wire.UpdateProvider
) -> dict[str, object]:
    """Return the columns that a request body sets. Raises BadRequest if a value is invalid, and NotFound if
    the team belongs to another organization."""
    values = given(body)
    if "label" in values:
        values["label"] = values["label"].strip()
    if "entity_id" in values:
        values["entity_id"] = values["entity_id"].strip()
    parse_certificates(values.get("certificate", ""))
    if url := values.get("sso_url"):
        parts = read_address(url)
        sound = parts is not None and parts.is_web and not parts.username and not parts.fragment
        if not sound or any(c.isspace() or ord(c) < 33 for c in url):
            raise BadRequest("ssoURL: must be an http or https URL")
    team = values.get("default_team")
    if team is not None and find_team(tx, org.organization_id, team) is None:
        raise NotFound(f"There is no team with the ID {team!r} in this organization.")
    return values


def _state(row: store.ProviderRow) -> dict[str, object]:
    """Return the values to record in the audit log. The certificate is public."""
    return {
        "label": row.label,
        "entityID": row.entity_id,
        "ssoURL": row.sso_url,
        "certificate": row.certificate,
        "defaultTeam": row.default_team,
        "defaultRole": row.default_role,
        "idpInitiated": row.idp_initiated,
    }


def _present(call: Call, tx: Transaction, row: store.ProviderRow) -> wire.Provider:
    team = find_team(tx, row.organization_id, row.default_team) if row.default_team else None
    return wire.present_provider(call, row, team)


@operation("listSAMLProvidersInOrganizationById", "GET", _PROVIDERS, needs=Can.ADMIN)
def list_saml_providers(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Provider]:
    """List the SAML providers of an organization, oldest first."""
    with call.db.read() as tx:
        found = store.list_providers(tx, org.organization_id, query.limit, query.page)
        return present_slice(found, lambda row: _present(call, tx, row))


@operation("createOrganizationSAMLProvider", "POST", _PROVIDERS, needs=Can.ADMIN, status=201, errors=(404,))
def create_saml_provider(call: Call, org: OrgAccess, body: wire.CreateProvider) -> wire.Provider:
    """Create a SAML provider. It is `pending` until the entity ID, certificate, and URL are all set; then it becomes
    `active`."""
    with call.db.write() as tx:
        provider_id = store.insert_provider(tx, org.organization_id, _validate_columns(tx, org, body))
        made = store.get_provider(tx, org.organization_id, provider_id)
        target = ("saml-provider", provider_id)
        audit(tx, call.actor, "saml-provider.created", org.organization_id, target, after=_state(made))
        return _present(call, tx, made)


@operation("getOrganizationSAMLProviderById", "GET", _PROVIDER, needs=Can.ADMIN, errors=(404,))
def get_saml_provider(call: Call, org: OrgAccess, saml_provider_id: str) -> wire.Provider:
    """Get a SAML provider."""
    with call.db.read() as tx:
        return _present(call, tx, store.get_provider(tx, org.organization_id, saml_provider_id))


@operation("updateOrganizationSAMLProvider", "PATCH", _PROVIDER, needs=Can.ADMIN, errors=(404,))
def update_saml_provider(
    call: Call, org: OrgAccess, saml_provider_id: str, body: wire.UpdateProvider
) -> wire.Provider:
    """Update a SAML provider. A new entity ID identifies a different provider, so links between the provider's users
    and accounts are removed."""
    with call.db.write() as tx:
        before = store.get_provider(tx, org.organization_id, saml_provider_id)
        values = _validate_columns(tx, org, body)
        store.update_provider(tx, saml_provider_id, values)
        if values.get("entity_id", before.entity_id) != before.entity_id:
            store.forget_identities(tx, saml_provider_id)
        after = store.get_provider(tx, org.organization_id, saml_provider_id)
        was, is_now = _state(before), _state(after)
        changed = [name for name in was if was[name] != is_now[name]]
        if changed:
            audit(
                tx,
                call.actor,
                "saml-provider.updated",
                org.organization_id,
                ("saml-provider", saml_provider_id),
                before={name: was[name] for name in changed},
                after={name: is_now[name] for name in changed},
            )
        return _present(call, tx, after)


@operation("deleteOrganizationSAMLProvider", "DELETE", _PROVIDER, needs=Can.ADMIN)
def delete_saml_provider(call: Call, org: OrgAccess, saml_provider_id: str) -> bool:
    """Delete a SAML provider, and end the sessions that were started through the organization's providers."""
    with call.db.write() as tx:
        if not store.delete_provider(tx, org.organization_id, saml_provider_id):
            return False
        target = ("saml-provider", saml_provider_id)
        audit(tx, call.actor, "saml-provider.removed", org.organization_id, target)
    return True


@operation(
    "listSSOProviderLoginsInOrganization", "GET", "/orgs/{organizationId}/sso", needs=Can.VIEW, scripts=True
)
def list_sso_logins(call: Call, org: OrgAccess) -> wire.ProviderLogins:
    """List the active sign-in providers of an organization and their start URLs."""
    with call.db.read() as tx:
        rows = store.list_active_providers(tx, org.organization_id)
    return wire.ProviderLogins([wire.present_login(call, row) for row in rows])


# --- endpoints for browsers and identity providers ----------------------------------------------------


class SamlStartQuery(Struct):
    next: str | None = None


class SamlFinishQuery(Struct):
    answer: Annotated[str, Meta(max_length=200)] = ""


@operation("startSamlSignIn", "GET", "/saml/{samlProviderId}/start", needs=PUBLIC, status=303, browsed=True)
def start_saml(call: Call, saml_provider_id: str, query: SamlStartQuery) -> Reply:
    """Redirect a browser to the identity provider. `next` is the path to return to after signing in."""
    return _redirect(call, signing_in.start(call.context, saml_provider_id, query.next))


def _returning_browser(call: Call) -> signing_in.ReturningBrowser:
    binding = cookie(call, signing_in.cookie_name(call.context)) or ""
    return signing_in.ReturningBrowser(browser_of(call), binding, actor_or_stranger(call))


def _redirect(call: Call, leaving: signing_in.BrowserRedirect) -> Reply:
    headers = {"location": leaving.url, "cache-control": "no-store"}
    if leaving.binding is not None:
        seconds = signing_in.LIFETIME // 1000
        headers["set-cookie"] = cookie_header(
            call.context, leaving.binding, seconds, signing_in.cookie_name(call.context)
        )
    return Reply(status=303, headers=headers)


@operation(
    "getSamlMetadata",
    "GET",
    "/saml/{samlProviderId}/metadata",
    needs=PUBLIC,
    returns=bytes,
    media_type="application/samlmetadata+xml",
)
def get_saml_metadata(call: Call, saml_provider_id: str) -> Reply:
    """Get the SAML metadata for Octavo that the identity provider needs."""
    with call.db.read() as tx:
        if store.find_provider(tx, saml_provider_id) is None:
            raise NotFound("There is no sign-in provider at this URL. Check the provider's ID.")
    metadata = service_metadata(service(call.context, saml_provider_id))
    return Reply(metadata, headers={"content-type": "application/samlmetadata+xml"})


@operation(
    "receiveSamlResponse",
    "POST",
    "/saml/{samlProviderId}/acs",
    needs=PUBLIC,
    status=303,
    errors=(401, 403),
    browsed=True,
    body_limit=MAX_BYTES * 2,
    body_media="application/x-www-form-urlencoded",
    in_maintenance=True,
)
def receive_saml(call: Call, saml_provider_id: str, body: RawBody) -> Reply:
    """Receive the identity provider's response from the browser, and redirect to the next step."""
    if body.content_type != "application/x-www-form-urlencoded":
        raise BadRequest("body: must be form-encoded (application/x-www-form-urlencoded)")
    try:
        form = parse_qs(body.data.decode("ascii"), max_num_fields=10, strict_parsing=False)
    except ValueError:
        raise BadRequest("body: must be form-encoded (application/x-www-form-urlencoded)") from None
    responses = form.get("SAMLResponse", [])
    if len(responses) != 1:
        raise BadRequest("SAMLResponse: must be sent exactly once")
    relay_state = form.get("RelayState", [None])[0]
    return _redirect(call, signing_in.receive(call.context, saml_provider_id, responses[0], relay_state))


@operation(
    "finishSamlSignIn",
    "GET",
    "/saml/{samlProviderId}/finish",
    needs=PUBLIC,
    status=303,
    errors=(401, 403),
    browsed=True,
)
def finish_saml(call: Call, saml_provider_id: str, query: SamlFinishQuery) -> Reply:
    """Start a session in the browser that started the sign-in, and redirect to the app or the confirmation
    page."""
    finished = signing_in.finish(call.context, _returning_browser(call), saml_provider_id, query.answer)
    if isinstance(finished, str):
        return _redirect(call, signing_in.BrowserRedirect(finished, None))
    return Reply(
        status=303,
        headers={
            "location": f"{call.settings.url}{finished.next}",
            "cache-control": "no-store",
            "set-cookie": session_cookie(call, finished.session),
        },
    )


# --- API of the confirmation page ---------------------------------------------------------------------


def _reply_with_session(call: Call, finished: signing_in.SamlSignIn) -> Reply:
    headers = {"cache-control": "no-store", "set-cookie": session_cookie(call, finished.session)}
    return Reply(wire.SamlSignedIn(finished.next), headers=headers)


@operation(
    "readSamlAnswer",
    "POST",
    "/sign-in/saml/answer",
    needs=PUBLIC,
    returns=wire.SamlAnswer,
    errors=(401, 403, 404),
    body_limit=16_384,
    in_maintenance=True,
)
def read_saml_answer(call: Call, body: wire.UseAnswer) -> Reply:
    """Get an identity provider's response and the required step: `confirm` if the user must confirm it, or
    `connect` if the owner of the account with this email address must connect the account. Only the browser
    that received the response can get it."""
    waiting = signing_in.describe_answer(call.context, _returning_browser(call).binding, body.answer)
    shown = wire.SamlAnswer(waiting.step, waiting.organization, waiting.provider, waiting.email)
    return Reply(shown, headers={"cache-control": "no-store"})


@operation(
    "confirmSamlSignIn",
    "POST",
    "/sign-in/saml",
    needs=PUBLIC,
    returns=wire.SamlSignedIn,
    errors=(401, 403, 404, 409),
    body_limit=16_384,
    in_maintenance=True,
)
def confirm_saml(call: Call, body: wire.UseAnswer) -> Reply:
    """Start a session for a sign-in that the identity provider initiated. The session is stored in a cookie.

    Accepted only from Octavo's own page. Returns 409 if the account's owner must connect the account
    first."""
    require_same_origin(call)
    return _reply_with_session(call, signing_in.confirm(call.context, _returning_browser(call), body.answer))


@operation(
    "connectSamlAccount",
    "POST",
    "/sign-in/saml/connect",
    needs=Can.CHANGE_SIGN_IN,
    returns=wire.SamlSignedIn,
    errors=(401, 403, 404),
    body_limit=16_384,
)
def connect_saml(call: Call, caller: SignedIn, body: wire.UseAnswer) -> Reply:
    """Connect the caller's account to an organization's identity provider, for this organization only. The caller
    becomes a member of the organization, and a session through the provider starts."""
    require_same_origin(call)
    return _reply_with_session(
        call, signing_in.connect(call.context, _returning_browser(call), caller.actor, body.answer)
    )
