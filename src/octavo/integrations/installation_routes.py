"""Installations on spaces and on sites."""

from __future__ import annotations

from ..access import (
    SCRIPTS_REACH,
    Can,
    enter_site,
    organization_access,
    require_person,
    seen_spaces,
    space_access,
)
from ..errors import NotFound
from ..kit.bodies import given
from ..kit.db import Transaction
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, Slice, present_slice
from ..sites import require_publish_permission
from . import installing, store
from .entering import (
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
    """Where an integration is installed: everywhere for the integration itself, in its own organization for the people
    who administer it."""
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


@operation(
    "listIntegrationSpaceInstallations",
    "GET",
    f"{_INTEGRATION}/spaces",
    needs=Can.LIST_INSTALLATIONS,
    returns=Listing[SpaceInstallation],
)
def list_spaces_of_integration(
    call: Call, integration: IntegrationAccess, query: IntegrationPlacesQuery
) -> Listing[SpaceInstallation]:
    """The spaces that an integration is installed on: all of them for the integration itself, those of its own
    organization for the people who administer it."""
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


@operation(
    "listIntegrationSiteInstallations",
    "GET",
    f"{_INTEGRATION}/sites",
    needs=Can.LIST_INSTALLATIONS,
    returns=Listing[SiteInstallation],
)
def list_sites_of_integration(
    call: Call, integration: IntegrationAccess, query: IntegrationPlacesQuery
) -> Listing[SiteInstallation]:
    """The sites that an integration is installed on: all of them for the integration itself, those of its own
    organization for the people who administer it."""
    with call.db.read() as tx:
        return present_slice(
            _list_places(tx, "site", integration, query),
            lambda place: present_site_installation(
                call, tx, place, integration.row.id, whole=integration.changes, extended=query.extended
            ),
        )


@operation(
    "listIntegrationInstallationSpaces",
    "GET",
    _SPACES,
    needs=Can.VIEW,
    returns=Listing[SpaceInstallation],
)
def list_spaces(
    call: Call, installation: InstallationAccess, query: PlacesQuery
) -> Listing[SpaceInstallation]:
    """The spaces that an installation is on, of those that the caller sees."""
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
    """The spaces of an installation that the caller sees."""
    org = organization_access(tx, installation.actor, Can.VIEW, installation.row.organization_id)
    placed = "s.id IN (SELECT p.space_id FROM integration_places p WHERE p.installation_id = :installation)"
    seen = seen_spaces(org, placed, installation=installation.row.id)
    rows = tx.all(f"{seen.prefix} SELECT v.id FROM {seen.visible} v", **seen.parameters)
    return [row[0] for row in rows]


@operation(
    "listIntegrationInstallationSites", "GET", _SITES, needs=Can.VIEW, returns=Listing[SiteInstallation]
)
def list_sites(call: Call, installation: InstallationAccess, query: PlacesQuery) -> Listing[SiteInstallation]:
    """The sites that an installation is on."""
    row = installation.row
    with call.db.read() as tx:
        found = store.list_places(tx, "site", query.limit, query.page, installation_id=row.id)
        return present_slice(
            found,
            lambda place: present_site_installation(
                call, tx, place, row.integration_id, whole=installation.changes, extended=query.extended
            ),
        )


@operation(
    "installIntegrationOnSpace",
    "POST",
    _SPACES,
    needs=Can.VIEW,
    returns=SpaceInstallation,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_on_space(
    call: Call, installation: InstallationAccess, query: ExtendedQuery, body: InstallOnSpace
) -> SpaceInstallation:
    """Installs an integration of the organization on a space, by somebody who may do so there."""
    require_person(installation.actor)
    row = installation.row
    with call.db.write() as tx:
        space = space_access(tx, installation.actor, Can.INSTALL_INTEGRATION, body.space)
        if space.organization_id != row.organization_id:
            raise NotFound(f"space: there is no space {body.space!r} in this organization.")
        place = installing.install_at(tx, call.context, installation.actor, row, "space", space.space_id)
        return present_space_installation(
            call, tx, place, row.integration_id, whole=True, actor=space.actor, extended=query.extended
        )


@operation(
    "installIntegrationOnSite",
    "POST",
    _SITES,
    needs=Can.VIEW,
    returns=SiteInstallation,
    status=201,
    errors=(404,),
    yields=SCRIPTS_REACH,
)
def install_on_site(
    call: Call, installation: InstallationAccess, query: ExtendedQuery, body: InstallOnSite
) -> SiteInstallation:
    """Installs an integration of the organization on a site. It may decide who gets in and what runs there, so this is
    for those who administer the site and each space that it shows."""
    require_person(installation.actor)
    row = installation.row
    site = enter_site(call, Can.ADMIN, row.organization_id, body.site_id)
    with call.db.write() as tx:
        require_publish_permission(tx, site)
        place = installing.install_at(tx, call.context, installation.actor, row, "site", site.site_id)
        return present_site_installation(
            call, tx, place, row.integration_id, whole=True, extended=query.extended
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
        call, tx, place, access.installation.integration_id, whole=access.changes, extended=extended
    )


def _delete(call: Call, access: PlaceAccess) -> bool:
    with call.db.write() as tx:
        return installing.uninstall_at(tx, call.context, access)


@operation(
    "getIntegrationSpaceInstallation",
    "GET",
    _SPACE,
    needs=Can.VIEW,
    returns=SpaceInstallation,
    errors=(404,),
)
def get_space_installation(
    call: Call, installation: SpaceInstallationAccess, query: ExtendedQuery
) -> SpaceInstallation:
    """An integration on a space. Who may not change it sees of its configuration what the integration declares."""
    with call.db.read() as tx:
        return _show_space(call, tx, installation, require_place(installation), query.extended)


@operation(
    "updateIntegrationSpaceInstallation",
    "PATCH",
    _SPACE,
    needs=Can.INSTALL_INTEGRATION,
    returns=SpaceInstallation,
)
def update_space_installation(
    call: Call, installation: SpaceInstallationAccess, query: ExtendedQuery, body: UpdatePlace
) -> SpaceInstallation:
    """Configures an integration on a space. A configuration is replaced as a whole."""
    with call.db.write() as tx:
        place = installing.update_at(tx, call.context, installation, given(body))
        return _show_space(call, tx, installation, place, query.extended)


@operation(
    "uninstallIntegrationFromSpace",
    "DELETE",
    _SPACE,
    needs=Can.INSTALL_INTEGRATION,
    returns=Deletion,
)
def uninstall_from_space(call: Call, installation: SpaceInstallationAccess) -> bool:
    """Takes an integration off a space."""
    return _delete(call, installation)


@operation(
    "getIntegrationSiteInstallation",
    "GET",
    _SITE,
    needs=Can.VIEW,
    returns=SiteInstallation,
    errors=(404,),
)
def get_site_installation(
    call: Call, installation: SiteInstallationAccess, query: ExtendedQuery
) -> SiteInstallation:
    """An integration on a site. Who may not change it sees of its configuration what the integration declares."""
    with call.db.read() as tx:
        return _show_site(call, tx, installation, require_place(installation), query.extended)


@operation("updateIntegrationSiteInstallation", "PATCH", _SITE, needs=Can.ADMIN, returns=SiteInstallation)
def update_site_installation(
    call: Call, installation: SiteInstallationAccess, query: ExtendedQuery, body: UpdatePlace
) -> SiteInstallation:
    """Configures an integration on a site. A configuration is replaced as a whole. For those who administer the site
    and each space that it shows."""
    with call.db.write() as tx:
        place = installing.update_at(tx, call.context, installation, given(body))
        return _show_site(call, tx, installation, place, query.extended)


@operation("uninstallIntegrationFromSite", "DELETE", _SITE, needs=Can.ADMIN, returns=Deletion)
def uninstall_from_site(call: Call, installation: SiteInstallationAccess) -> bool:
    """Takes an integration off a site. For those who administer the site and each space that it shows: another one may
    let visitors in from then on."""
    return _delete(call, installation)
