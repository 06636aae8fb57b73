"""SAML providers of an organization, and the addresses that browsers and identity providers use."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import UNSET, Struct

from ...access import Can, OrgAccess, audit, find_team
from ...errors import BadRequest, NotFound
from ...kit.db import Transaction
from ...kit.operation import PUBLIC, Area, Call, Deletion, RawBody, Reply
from ...kit.pagination import Listing, PageQuery, present_slice
from ..routes import session_cookie
from . import signing_in, store, wire
from .certificates import parse_certificates
from .responses import MAX_BYTES, service_metadata

operation = Area("access").operation

_PROVIDERS = "/orgs/{organizationId}/saml"
_PROVIDER = _PROVIDERS + "/{samlProviderId}"


def _checked(
    tx: Transaction, org: OrgAccess, body: wire.CreateProvider | wire.UpdateProvider
) -> dict[str, Any]:
    """The columns that a body sets. Raises BadRequest, and NotFound for another organization's team."""
    values = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    if "label" in values:
        values["label"] = values["label"].strip()
    if "entity_id" in values:
        values["entity_id"] = values["entity_id"].strip()
    parse_certificates(values.get("certificate", ""))
    if url := values.get("sso_url"):
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https") and parts.hostname and not parts.username
        except ValueError:
            sound = False
        if not sound or any(c.isspace() or ord(c) < 33 for c in url) or parts.fragment:
            raise BadRequest("ssoURL: expected an http or https URL")
    team = values.get("default_team")
    if team is not None and find_team(tx, org.organization_id, team) is None:
        raise NotFound(f"There is no team {team!r} in this organization.")
    return values


def _state(row: store.ProviderRow) -> dict[str, Any]:
    """What the log tells of a provider; its certificate is public."""
    return {
        "label": row.label,
        "entityID": row.entity_id,
        "ssoURL": row.sso_url,
        "certificate": row.certificate,
        "defaultTeam": row.default_team,
        "defaultRole": row.default_role,
    }


def _present(call: Call, tx: Transaction, row: store.ProviderRow) -> wire.Provider:
    team = find_team(tx, row.organization_id, row.default_team) if row.default_team else None
    return wire.present_provider(call, row, team)


@operation(
    "listSAMLProvidersInOrganizationById",
    "GET",
    _PROVIDERS,
    needs=Can.ADMIN,
    returns=Listing[wire.Provider],
)
def list_saml_providers(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Provider]:
    """The SAML providers of an organization, oldest first."""
    with call.db.read() as tx:
        found = store.list_providers(tx, org.organization_id, query.limit, query.page)
        return present_slice(found, lambda row: _present(call, tx, row))


@operation(
    "createOrganizationSAMLProvider",
    "POST",
    _PROVIDERS,
    needs=Can.ADMIN,
    returns=wire.Provider,
    status=201,
    errors=(404,),
)
def create_saml_provider(call: Call, org: OrgAccess, body: wire.CreateProvider) -> wire.Provider:
    """A new SAML provider: `pending` until entity id, certificate and URL are all there, then `active`."""
    with call.db.write() as tx:
        provider_id = store.insert_provider(tx, org.organization_id, _checked(tx, org, body))
        made = store.get_provider(tx, org.organization_id, provider_id)
        target = ("saml-provider", provider_id)
        audit(tx, call, "saml-provider.created", org.organization_id, target, after=_state(made))
        return _present(call, tx, made)


@operation(
    "getOrganizationSAMLProviderById", "GET", _PROVIDER, needs=Can.ADMIN, returns=wire.Provider, errors=(404,)
)
def get_saml_provider(call: Call, org: OrgAccess, saml_provider_id: str) -> wire.Provider:
    """One SAML provider."""
    with call.db.read() as tx:
        return _present(call, tx, store.get_provider(tx, org.organization_id, saml_provider_id))


@operation(
    "updateOrganizationSAMLProvider",
    "PATCH",
    _PROVIDER,
    needs=Can.ADMIN,
    returns=wire.Provider,
    errors=(404,),
)
def update_saml_provider(
    call: Call, org: OrgAccess, saml_provider_id: str, body: wire.UpdateProvider
) -> wire.Provider:
    """Changes a SAML provider. With another entity id it is another provider: who people were there is forgotten."""
    with call.db.write() as tx:
        before = store.get_provider(tx, org.organization_id, saml_provider_id)
        values = _checked(tx, org, body)
        store.update_provider(tx, saml_provider_id, values)
        if values.get("entity_id", before.entity_id) != before.entity_id:
            store.forget_identities(tx, saml_provider_id)
        after = store.get_provider(tx, org.organization_id, saml_provider_id)
        was, is_now = _state(before), _state(after)
        changed = [name for name in was if was[name] != is_now[name]]
        if changed:
            audit(
                tx,
                call,
                "saml-provider.updated",
                org.organization_id,
                ("saml-provider", saml_provider_id),
                before={name: was[name] for name in changed},
                after={name: is_now[name] for name in changed},
            )
        return _present(call, tx, after)


@operation("deleteOrganizationSAMLProvider", "DELETE", _PROVIDER, needs=Can.ADMIN, returns=Deletion)
def delete_saml_provider(call: Call, org: OrgAccess, saml_provider_id: str) -> bool:
    """Deletes a SAML provider and ends the sessions that came in through the organization's providers."""
    with call.db.write() as tx:
        if not store.delete_provider(tx, org.organization_id, saml_provider_id):
            return False
        target = ("saml-provider", saml_provider_id)
        audit(tx, call, "saml-provider.removed", org.organization_id, target)
    return True


@operation(
    "listSSOProviderLoginsInOrganization",
    "GET",
    "/orgs/{organizationId}/sso",
    needs=Can.VIEW,
    returns=wire.ProviderLogins,
)
def list_sso_logins(call: Call, org: OrgAccess) -> wire.ProviderLogins:
    """The active providers that one signs in to the organization through, and where each starts."""
    with call.db.read() as tx:
        rows = store.list_active_providers(tx, org.organization_id)
    return wire.ProviderLogins([wire.present_login(call, row) for row in rows])


# --- what browsers and identity providers call --------------------------------------------------------


class StartQuery(Struct):
    next: str | None = None


@operation(
    "startSamlSignIn",
    "GET",
    "/saml/{samlProviderId}/start",
    needs=PUBLIC,
    status=303,
    extension=True,
)
def start_saml(call: Call, saml_provider_id: str, query: StartQuery) -> Reply:
    """Sends a browser to the identity provider; `next` is the path to come back to."""
    url = signing_in.start(call, saml_provider_id, query.next)
    return Reply(status=303, headers={"location": url, "cache-control": "no-store"})


@operation(
    "getSamlMetadata",
    "GET",
    "/saml/{samlProviderId}/metadata",
    needs=PUBLIC,
    returns=bytes,
    extension=True,
)
def get_saml_metadata(call: Call, saml_provider_id: str) -> Reply:
    """What the identity provider needs to know about Octavo, as SAML metadata."""
    with call.db.read() as tx:
        if store.find_provider(tx, saml_provider_id) is None:
            raise NotFound("There is no sign-in provider at this address.")
    metadata = service_metadata(wire.service(call, saml_provider_id))
    return Reply(metadata, headers={"content-type": "application/samlmetadata+xml"})


@operation(
    "finishSamlSignIn",
    "POST",
    "/saml/{samlProviderId}/acs",
    needs=PUBLIC,
    status=303,
    errors=(401, 403),
    extension=True,
    body_limit=MAX_BYTES * 2,
)
def finish_saml(call: Call, saml_provider_id: str, body: RawBody) -> Reply:
    """Where the identity provider has the browser post its answer: begins a session and goes on to the app."""
    if body.content_type != "application/x-www-form-urlencoded":
        raise BadRequest("body: expected a form")
    try:
        form = parse_qs(body.data.decode("ascii"), max_num_fields=10, strict_parsing=False)
    except ValueError:
        raise BadRequest("body: expected a form") from None
    responses = form.get("SAMLResponse", [])
    if len(responses) != 1:
        raise BadRequest("SAMLResponse: expected exactly one")
    finished = signing_in.finish(call, saml_provider_id, responses[0], form.get("RelayState", [None])[0])
    return Reply(
        status=303,
        headers={
            "location": f"{call.settings.url}{finished.next}",
            "cache-control": "no-store",
            "set-cookie": session_cookie(call, finished.session),
        },
    )
