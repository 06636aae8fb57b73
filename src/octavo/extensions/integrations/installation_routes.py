"""Operations for installing integrations in spaces and on sites."""

from __future__ import annotations

from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Slice, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import enter_site, organization_access, space_access
from octavo.organization.access.reach import require_person
from octavo.organization.access.roles import Can
from octavo.organization.access.scopes import SCRIPTS_REACH
from octavo.organization.access.visibility import select_visible_sites, select_visible_spaces
from octavo.sites.site.publishing import require_publish_permission

from . import installing, store
from .authorization import (
    InstallationAccess,
    IntegrationAccess,
    SiteInstallationAccess,
    SpaceInstallationAccess,
)
from .installing import PlaceAccess, require_place
from .presenting import present_site_installation, present_space_installation
from .store import PlaceRow
from .wire import (
    ExtendedQuery,
    InstallOnSite,
    InstallOnSpace,
    IntegrationPlacesQuery,
    PlacesQuery,
    SiteInstallation,
    SpaceInstallation,
    UpdatePlace,
)

operation = Area("integrations").operation

_INTEGRATION = "/integrations/{integrationName}"
_INSTALLATION = _INTEGRATION + "/installations/{installationId}"
_SPACES = _INSTALLATION + "/spaces"
_SPACE = _SPACES + "/{spaceId}"
_SITES = _INSTALLATION + "/sites"
_SITE = _SITES + "/{siteId}"


def _list_places(
    tx: Transaction, kind: store.Kind, integration: IntegrationAccess, query: IntegrationPlacesQuery
) -> Slice[PlaceRow]:
    """Return the spaces or sites where an integration is installed. The integration itself gets all of them.
    Administrators of its organization get only the spaces and sites of that organization."""
    row = integration.row
    return store.list_places(
        tx,
        kind,
        query.limit,
        query.page,
        integration_id=row.id,
        organization_id=None if integration.by_script else row.organization_id,
        external_id=query.external_id,
    )


@operation("listIntegrationSpaceInstallations", "GET", f"{_INTEGRATION}/spaces", needs=Can.LIST_INSTALLATIONS)
def list_spaces_of_integration(
    call: Call, integration: IntegrationAccess, query: IntegrationPlacesQuery
) -> Listing[SpaceInstallation]:
    """List the spaces on which an integration is installed. The integration itself gets all of them. Administrators
    of its organization get only the spaces of that organization."""
    with call.db.read() as tx:
        return present_slice(
            _list_places(tx, "space", integration, query),
            lambda place: present_space_installation(
                call,
                tx,
                place,
                integration.row.id,
                whole=integration.changes,
                actor=integration.actor,
                extended=query.extended,
            ),
        )


@operation("listIntegrationSiteInstallations", "GET", f"{_INTEGRATION}/sites", needs=Can.LIST_INSTALLATIONS)
def list_sites_of_integration(
    call: Call, integration: IntegrationAccess, query: IntegrationPlacesQuery
) -> Listing[SiteInstallation]:
    """List the sites on which an integration is installed. The integration itself gets all of them. Administrators
    of its organization get only the sites of that organization."""
    with call.db.read() as tx:
        return present_slice(
            _list_places(tx, "site", integration, query),
            lambda place: present_site_installation(
                call,
                tx,
                place,
                integration.row.id,
                whole=integration.changes,
                actor=integration.actor,
                extended=query.extended,
            ),
        )


@operation("listIntegrationInstallationSpaces", "GET", _SPACES, needs=Can.VIEW)
def list_spaces(
    call: Call, installation: InstallationAccess, query: PlacesQuery
) -> Listing[SpaceInstallation]:
    """List the installation's spaces that the caller can see."""
    row = installation.row
    with call.db.read() as tx:
        only = None if installation.by_script else _seen(tx, installation)
        found = store.list_places(tx, "space", query.limit, query.page, installation_id=row.id, only=only)
        return present_slice(
            found,
            lambda place: present_space_installation(
                call,
                tx,
                place,
                row.integration_id,
                whole=installation.changes,
                actor=installation.actor,
                extended=query.extended,
            ),
        )


def _seen(tx: Transaction, installation: InstallationAccess) -> list[str]:
    """Return the installation's spaces that the caller can see."""
    org = organization_access(tx, installation.actor, Can.VIEW, installation.row.organization_id)
    placed = "s.id IN (SELECT p.space_id FROM integration_places p WHERE p.installation_id = :installation)"
    seen = select_visible_spaces(org, placed, installation=installation.row.id)
    rows = tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v", **seen.parameters)
    return [row[0] for row in rows]


def _seen_sites(tx: Transaction, installation: InstallationAccess) -> list[str]:
    """Return the installation's sites that the caller can see."""
    org = organization_access(tx, installation.actor, Can.VIEW, installation.row.organization_id)
    placed = "t.id IN (SELECT p.site_id FROM integration_places p WHERE p.installation_id = :installation)"
    seen = select_visible_sites(org, placed, installation=installation.row.id)
    rows = tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v", **seen.parameters)
    return [row[0] for row in rows]


@operation("listIntegrationInstallationSites", "GET", _SITES, needs=Can.VIEW)
def list_sites(call: Call, installation: InstallationAccess, query: PlacesQuery) -> Listing[SiteInstallation]:
    """List the installation's sites that the caller can see."""
    row = installation.row
    with call.db.read() as tx:
        only = None if installation.by_script else _seen_sites(tx, installation)
        found = store.list_places(tx, "site", query.limit, query.page, installation_id=row.id, only=only)
        return present_slice(
            found,
            lambda place: present_site_installation(
                call,
                tx,
                place,
                row.integration_id,
                whole=installation.changes,
                actor=installation.actor,
                extended=query.extended,
            ),
        )


@operation(
    "installIntegrationOnSpace",
    "POST",
    _SPACES,
    needs=Can.VIEW,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_on_space(
    call: Call, installation: InstallationAccess, query: ExtendedQuery, body: InstallOnSpace
) -> SpaceInstallation:
    """Install one of the organization's integrations in a space. Requires permission to install integrations there."""
    require_person(installation.actor)
    row = installation.row
    with call.db.write() as tx:
        space = space_access(tx, installation.actor, Can.INSTALL_INTEGRATION, body.space)
        if space.organization_id != row.organization_id:
            raise NotFound(f"space: there is no space with the ID {body.space!r} in this organization")
        place = installing.install_at(tx, call.context, installation.actor, row, "space", space.space_id)
        return present_space_installation(
            call, tx, place, row.integration_id, whole=True, actor=space.actor, extended=query.extended
        )


@operation(
    "installIntegrationOnSite",
    "POST",
    _SITES,
    needs=Can.VIEW,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_on_site(
    call: Call, installation: InstallationAccess, query: ExtendedQuery, body: InstallOnSite
) -> SiteInstallation:
    """Install one of the organization's integrations on a site.

    The integration can decide who can read the site and which scripts its pages run, so this request requires the
    `create` role or higher for the site and for each of its spaces."""
    require_person(installation.actor)
    row = installation.row
    site = enter_site(call, Can.ADMIN, row.organization_id, body.site_id)
    with call.db.write() as tx:
        require_publish_permission(tx, site)
        place = installing.install_at(tx, call.context, installation.actor, row, "site", site.site_id)
        return present_site_installation(
            call,
            tx,
            place,
            row.integration_id,
            whole=True,
            actor=site.actor,
            extended=query.extended,
        )


def _show_space(
    call: Call, tx: Transaction, access: SpaceInstallationAccess, place: PlaceRow, extended: bool
) -> SpaceInstallation:
    return present_space_installation(
        call,
        tx,
        place,
        access.installation.integration_id,
        whole=access.changes,
        actor=access.actor,
        extended=extended,
    )


def _show_site(
    call: Call, tx: Transaction, access: SiteInstallationAccess, place: PlaceRow, extended: bool
) -> SiteInstallation:
    return present_site_installation(
        call,
        tx,
        place,
        access.installation.integration_id,
        whole=access.changes,
        actor=access.actor,
        extended=extended,
    )


def _delete(call: Call, access: PlaceAccess) -> bool:
    with call.db.write() as tx:
        return installing.uninstall_at(tx, call.context, access)


@operation("getIntegrationSpaceInstallation", "GET", _SPACE, needs=Can.VIEW, errors=(404,))
def get_space_installation(
    call: Call, installation: SpaceInstallationAccess, query: ExtendedQuery
) -> SpaceInstallation:
    """Get an integration's installation on a space. Callers who can't change it see only the configuration
    properties that the integration declares."""
    with call.db.read() as tx:
        return _show_space(call, tx, installation, require_place(installation), query.extended)


@operation("updateIntegrationSpaceInstallation", "PATCH", _SPACE, needs=Can.INSTALL_INTEGRATION)
def update_space_installation(
    call: Call, installation: SpaceInstallationAccess, query: ExtendedQuery, body: UpdatePlace
) -> SpaceInstallation:
    """Update an integration's installation on a space. The entire configuration is replaced."""
    with call.db.write() as tx:
        place = installing.update_at(tx, call.context, installation, given(body))
        return _show_space(call, tx, installation, place, query.extended)


@operation("uninstallIntegrationFromSpace", "DELETE", _SPACE, needs=Can.INSTALL_INTEGRATION)
def uninstall_from_space(call: Call, installation: SpaceInstallationAccess) -> bool:
    """Remove an integration from a space."""
    return _delete(call, installation)


@operation("getIntegrationSiteInstallation", "GET", _SITE, needs=Can.VIEW, errors=(404,))
def get_site_installation(
    call: Call, installation: SiteInstallationAccess, query: ExtendedQuery
) -> SiteInstallation:
    """Get an integration's installation on a site. Callers who can't change it see only the configuration
    properties that the integration declares."""
    with call.db.read() as tx:
        return _show_site(call, tx, installation, require_place(installation), query.extended)


@operation("updateIntegrationSiteInstallation", "PATCH", _SITE, needs=Can.ADMIN)
def update_site_installation(
    call: Call, installation: SiteInstallationAccess, query: ExtendedQuery, body: UpdatePlace
) -> SiteInstallation:
    """Update an integration's installation on a site. The entire configuration is replaced. Requires the `create`
    role or higher for the site and for each of its spaces."""
    with call.db.write() as tx:
        place = installing.update_at(tx, call.context, installation, given(body))
        return _show_site(call, tx, installation, place, query.extended)


@operation("uninstallIntegrationFromSite", "DELETE", _SITE, needs=Can.ADMIN)
def uninstall_from_site(call: Call, installation: SiteInstallationAccess) -> bool:
    """Remove an integration from a site.

    Removing an integration can let another integration control visitor access, so this request requires the
    `create` role or higher for the site and for each of its spaces."""
    return _delete(call, installation)
