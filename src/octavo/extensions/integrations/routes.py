"""Operations on integrations: publishing, listing, and unpublishing them, and listing those of an organization, a
space, or a site."""

from __future__ import annotations

import msgspec

from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Next, Slice, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import (
    OrgAccess,
    SignedIn,
    SiteAccess,
    SpaceAccess,
    organization_access,
)
from octavo.organization.access.permitting import can_write
from octavo.organization.access.reach import list_reachable_organizations, require_person
from octavo.organization.access.roles import Can, at_least
from octavo.organization.access.scopes import SCRIPTS_REACH
from octavo.organization.access.tokens import create_integration_token

from . import builtin, embed_routes, event_routes, installation_routes, installing, publishing, store
from .active import list_active_in_space
from .authorization import INSTALLATION, InstallationAccess, IntegrationAccess, installation_access
from .manifest import PublishIntegration
from .presenting import present_installation, present_integration, present_integrations
from .store import IntegrationRow
from .wire import (
    BuiltinIntegration,
    BuiltinTarget,
    Installation,
    InstallationsQuery,
    InstalledItem,
    Integration,
    IntegrationSearchQuery,
    IntegrationsQuery,
    IntegrationStatus,
    OrganizationInstallationsQuery,
    OrganizationTarget,
    SpaceBlocks,
    StatusItem,
    StatusQuery,
    TemporaryToken,
    UpdateInstallation,
    filter_of,
    present_status,
)

__all__ = ["embed_routes", "event_routes", "installation_routes"]

operation = Area("integrations").operation

_INTEGRATION = "/integrations/{integrationName}"
_INSTALLATIONS = _INTEGRATION + "/installations"
_INSTALLATION = _INSTALLATIONS + "/{installationId}"
_ORG = "/orgs/{organizationId}"


def _listing(found: Slice[IntegrationRow], shown: list[Integration]) -> Listing[Integration]:
    listing = Listing(shown, found.count)
    if found.next_token:
        listing.next = Next(found.next_token)
    return listing


@operation("listIntegrations", "GET", "/integrations", needs=Can.SIGN_IN)
def list_integrations(call: Call, caller: SignedIn, query: IntegrationsQuery) -> Listing[Integration]:
    """List public integrations by name. These are the integrations that the server administrator offers to every
    organization, and the integrations of your organizations."""
    with call.db.read() as tx:
        reached = list_reachable_organizations(tx, caller.actor)
        found = store.list_integrations(tx, filter_of(query), query.limit, query.page, reached=reached)
        return _listing(found, present_integrations(call, tx, found.rows, caller.actor))


@operation("getIntegrationByName", "GET", _INTEGRATION, needs=Can.VIEW, errors=(404,))
def get_integration(call: Call, integration: IntegrationAccess) -> Integration:
    """Get an integration. A private integration is visible to its own organization and to organizations that have
    installed it."""
    with call.db.read() as tx:
        return present_integration(call, tx, integration.row, integration.actor)


@operation("publishIntegration", "POST", _INTEGRATION, needs=Can.SIGN_IN, errors=(404,), yields=SCRIPTS_REACH)
def publish_integration(
    call: Call, caller: SignedIn, integration_name: str, body: PublishIntegration
) -> Integration:
    """Publish an integration, or a new version of an existing one. Requires the administrator role in the
    publishing organization.

    Fields that are missing from the body are cleared. Names are unique on the server and belong to the organization
    that used them first. The names of built-in integrations are reserved. A public integration is listed for other
    organizations only after the server administrator has offered it."""
    publishing.require_name(integration_name)
    row = publishing.publish(call.context, caller.actor, integration_name, body)
    with call.db.read() as tx:
        return present_integration(call, tx, row, caller.actor)


@operation("unpublishIntegration", "DELETE", _INTEGRATION, needs=Can.SIGN_IN)
def unpublish_integration(call: Call, caller: SignedIn, integration_name: str) -> bool:
    """Unpublish an integration and remove all its installations."""
    with call.db.write() as tx:
        return publishing.unpublish(tx, caller.actor, integration_name)


# --- installations --------------------------------------------------------------------------------------


@operation("listIntegrationInstallations", "GET", _INSTALLATIONS, needs=Can.LIST_INSTALLATIONS)
def list_installations(
    call: Call, integration: IntegrationAccess, query: InstallationsQuery
) -> Listing[Installation]:
    """List the installations of an integration. The integration itself gets all of them. Administrators of its
    organization get only the installations in that organization."""
    row = integration.row
    with call.db.read() as tx:
        found = store.list_installations(
            tx,
            query.limit,
            query.page,
            integration_id=row.id,
            organization_id=None if integration.by_script else row.organization_id,
            external_id=query.external_id,
        )
        return present_slice(
            found, lambda one: present_installation(call, tx, one, whole=integration.changes)
        )


@operation(
    "installIntegration",
    "POST",
    _INSTALLATIONS,
    needs=Can.VIEW,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_integration(call: Call, integration: IntegrationAccess, body: OrganizationTarget) -> Installation:
    """Install an integration in an organization, and grant the scopes that it requests. If it is already installed,
    the scopes of its current version are granted."""
    require_person(integration.actor)
    with call.db.write() as tx:
        org = organization_access(tx, integration.actor, Can.INSTALL_INTEGRATION, body.organization)
        row = integration.row
        if row.visibility == "private" and row.organization_id != org.organization_id:
            raise NotFound(f"There is no integration named {row.name!r}.")
        made = installing.install(tx, call.context, integration.actor, row, org.organization_id)
        return present_installation(call, tx, made, whole=True)


@operation("getIntegrationInstallationById", "GET", _INSTALLATION, needs=Can.VIEW, errors=(404,))
def get_installation(call: Call, installation: InstallationAccess) -> Installation:
    """Get an installation. Callers who can't change it see only the configuration properties that the
    integration declares."""
    with call.db.read() as tx:
        return present_installation(call, tx, installation.row, whole=installation.changes)


@operation("updateIntegrationInstallation", "PATCH", _INSTALLATION, needs=Can.ADMIN, yields=SCRIPTS_REACH)
def update_installation(
    call: Call, installation: InstallationAccess, body: UpdateInstallation
) -> Installation:
    """Update an installation: its configuration, and the spaces and sites on which it is installed. The entire
    configuration is replaced."""
    with call.db.write() as tx:
        row = installing.update(tx, call.context, installation, given(body))
        return present_installation(call, tx, row, whole=True)


@operation("uninstallIntegration", "DELETE", _INSTALLATION, needs=Can.VIEW)
def uninstall_integration(call: Call, integration: IntegrationAccess, installation_id: str) -> bool:
    """Uninstall an integration. Its tokens stop working immediately."""
    name = integration.row.name
    with call.db.write() as tx:
        if store.find_installation(tx, name, installation_id) is None:
            return False
        access = installation_access(tx, integration.actor, Can.ADMIN, name, installation_id)
        installing.uninstall(tx, call.context, access)
        return True


@operation(
    "createIntegrationInstallationToken",
    "POST",
    f"{_INSTALLATION}/tokens",
    needs=Can.ADMIN,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def create_installation_token(call: Call, installation: InstallationAccess) -> TemporaryToken:
    """Create a token for the installation that is valid for an hour.

    The integration itself can create tokens. Administrators can also create tokens for testing. A token that an
    administrator created stops working when the administrator loses that role, or when the administrator's own
    token or session ends. The token grants access to the installation's spaces and sites, limited by its scopes."""
    row = installation.row
    by = None if installation.by_script else installation.actor
    return TemporaryToken(create_integration_token(call.context.signer, row.integration_id, row.id, by))


# --- in an organization, a space, a site ----------------------------------------------------------------


@operation("listOrganizationIntegrations", "GET", f"{_ORG}/integrations", needs=Can.LIST_INTEGRATIONS)
def list_organization_integrations(
    call: Call, org: OrgAccess, query: IntegrationsQuery
) -> Listing[Integration]:
    """List the integrations that an organization can install: integrations offered to every organization, its own
    integrations, and integrations that are already installed."""
    with call.db.read() as tx:
        found = store.list_integrations(
            tx, filter_of(query), query.limit, query.page, organization_id=org.organization_id
        )
        return _listing(found, present_integrations(call, tx, found.rows, org.actor))


@operation("listBuiltinIntegrations", "GET", f"{_ORG}/builtin-integrations", needs=Can.LIST_INTEGRATIONS)
def list_builtin_integrations(call: Call, org: OrgAccess) -> Listing[BuiltinIntegration]:
    """List the built-in integrations by name. ``integration``: the name of the organization's own copy, if any."""
    with call.db.read() as tx:
        found = [_present_builtin(one) for one in builtin.list_builtin(tx, org)]
    return Listing(found, len(found))


def _present_builtin(one: builtin.BuiltinStatus) -> BuiltinIntegration:
    given = msgspec.json.decode(one.builtin.body, type=PublishIntegration)
    return BuiltinIntegration(
        name=one.builtin.name,
        title=given.title,
        description=given.description,
        summary=given.summary,
        target=given.target,
        scopes=given.scopes,
        categories=given.categories,
        external_links=list(given.external_links),
        state=one.state,
        integration=one.copy if one.copy is not None else msgspec.UNSET,
    )


@operation(
    "installBuiltinIntegration",
    "POST",
    f"{_ORG}/builtin-integrations",
    needs=Can.INSTALL_INTEGRATION,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_builtin_integration(call: Call, org: OrgAccess, body: BuiltinTarget) -> Installation:
    """Publish the organization's own copy of a built-in integration and install it. Repeat the request to grant new
    scopes, or to publish the next version after an Octavo update."""
    require_person(org.actor)
    made = builtin.install_builtin(call.context, org, body.name)
    with call.db.read() as tx:
        return present_installation(call, tx, made, whole=True)


@operation("listOrganizationInstallations", "GET", f"{_ORG}/installations", needs=Can.LIST_INSTALLATIONS)
def list_organization_installations(
    call: Call, org: OrgAccess, query: OrganizationInstallationsQuery
) -> Listing[InstalledItem]:
    """List the installations of an organization, each with its integration, oldest first."""
    changes = at_least(org.role, INSTALLATION[Can.ADMIN]) and can_write(org.actor, "integrations")
    with call.db.read() as tx:
        found = store.list_installations(
            tx, query.limit, query.page, organization_id=org.organization_id, search=query.search
        )
        return present_slice(
            found,
            lambda row: InstalledItem(
                _integration_of(call, tx, row.integration_id, org),
                present_installation(call, tx, row, whole=changes),
            ),
        )


def _integration_of(call: Call, tx: Transaction, integration_id: str, org: OrgAccess) -> Integration:
    row = store.get_integration_by_id(tx, integration_id)
    return present_integration(call, tx, row, org.actor)


@operation(
    "listOrganizationIntegrationsStatus",
    "GET",
    f"{_ORG}/integrations/installations-status",
    needs=Can.LIST_INSTALLATIONS,
)
def list_statuses(call: Call, org: OrgAccess, query: StatusQuery) -> Listing[StatusItem]:
    """List the integrations installed in an organization, or on each of its spaces or sites, with their
    status. Spaces that the caller can't see are omitted."""
    with call.db.read() as tx:
        found = store.list_statuses(tx, org, query.target, query.site or query.space, query.limit, query.page)
        return present_slice(
            found,
            lambda row: present_status(row, query.target, _integration_of(call, tx, row.integration_id, org)),
        )


@operation(
    "getOrganizationIntegrationStatus",
    "GET",
    f"{_ORG}/integrations/{{integrationName}}/installation_status",
    needs=Can.LIST_INSTALLATIONS,
    errors=(404,),
)
def get_status(call: Call, org: OrgAccess, integration_name: str) -> IntegrationStatus:
    """Get the status of an integration that is installed in an organization."""
    with call.db.read() as tx:
        row = store.find_integration(tx, integration_name)
        found = store.find_installation_in(tx, row.id, org.organization_id) if row else None
    if found is None:
        raise NotFound(f"The integration {integration_name!r} isn't installed in this organization.")
    return IntegrationStatus(found.status)  # type: ignore[arg-type]


@operation("listSpaceIntegrations", "GET", "/spaces/{spaceId}/integrations", needs=Can.VIEW)
def list_space_integrations(
    call: Call, space: SpaceAccess, query: IntegrationSearchQuery
) -> Listing[Integration]:
    """List the integrations that are active in a space, by name."""
    with call.db.read() as tx:
        rows = list_active_in_space(tx, space.organization_id, space.space_id, query.search)
        return Listing(present_integrations(call, tx, rows, space.actor), len(rows))


@operation(
    "listSpaceIntegrationsBlocks",
    "GET",
    "/spaces/{spaceId}/integration-blocks",
    needs=Can.VIEW,
    errors=(404,),
)
def list_space_blocks(call: Call, space: SpaceAccess) -> list[SpaceBlocks]:
    """List the blocks that integrations add to the pages of a space."""
    with call.db.read() as tx:
        rows = list_active_in_space(tx, space.organization_id, space.space_id)
    return [SpaceBlocks(row.name, row.manifest.blocks) for row in rows if row.manifest.blocks]


@operation("listSiteIntegrations", "GET", f"{_ORG}/sites/{{siteId}}/integrations", needs=Can.VIEW)
def list_site_integrations(
    call: Call, site: SiteAccess, query: IntegrationSearchQuery
) -> Listing[Integration]:
    """List the integrations that are active on a site, by name."""
    with call.db.read() as tx:
        found = store.list_integrations_at(tx, site.organization_id, "site", site.site_id, query.search)
        rows = [row for row, _ in found]
        return Listing(present_integrations(call, tx, rows, site.actor), len(rows))
