"""Permission checks for integrations, installations, and installations on spaces and sites.

For people, their role in the organization determines their access. For scripts, it depends on the token: an
integration's own token gives access to everything that belongs to the integration, and an installation's token
gives access only to that installation."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, Script, enters
from octavo.organization.access.authorization import (
    OrgAccess,
    SiteAccess,
    Visiting,
    enter_site,
    organization_access,
    require_actor,
    require_visitor,
    role_of_member,
    space_access,
)
from octavo.organization.access.permitting import can_write
from octavo.organization.access.reach import list_reachable_organizations
from octavo.organization.access.roles import SITE, SPACE, Can, Role, at_least
from octavo.organization.spaces.store import get_space
from octavo.sites.site.publishing import may_publish_all, require_publish_permission
from octavo.sites.site.store import get_site

from . import store
from .store import InstallationRow, IntegrationRow, Kind, PlaceRow

INTEGRATION: dict[Can, Role | None] = {
    Can.VIEW: "read",
    Can.LIST_INSTALLATIONS: "admin",
    Can.ADMIN: "admin",
}
"""Roles that a caller needs in the organization that publishes an integration. Scripts never have the role for
``ADMIN``."""
INSTALLATION: dict[Can, Role | None] = {Can.VIEW: "read", Can.ADMIN: "admin"}
"""Roles that a caller needs in an organization for access to the installations in that organization."""


class IntegrationAccess(Struct, frozen=True):
    """Access to an integration. ``by_script``: whether the caller uses the integration's own token."""

    row: IntegrationRow
    actor: Actor
    by_script: bool = False

    @property
    def changes(self) -> bool:
        """Return whether the caller's token allows changing the configuration of installations."""
        return self.by_script or can_write(self.actor, "integrations")

    @property
    def organization_id(self) -> str:
        return self.row.organization_id


class VisitedIntegration(Visiting, frozen=True):
    """A site visitor's access to an integration of the site's organization."""

    row: IntegrationRow


class InstallationAccess(Struct, frozen=True):
    """Access to an installation.

    ``by_script``: whether the token belongs to the installation or its integration. ``changes``: whether the caller
    can change the installation with their token. If not, they don't see the secrets in its configuration."""

    row: InstallationRow
    actor: Actor
    changes: bool
    by_script: bool = False

    @property
    def organization_id(self) -> str:
        return self.row.organization_id


class _PlaceAccess(Struct, frozen=True):
    """Access to an installation in a space or on a site. ``place``: the installation on the space or site; None if
    there is none. ``role``: the caller's role in the space or site."""

    installation: InstallationRow
    place: PlaceRow | None
    place_id: str
    actor: Actor
    changes: bool
    role: str | None

    @property
    def organization_id(self) -> str:
        return self.installation.organization_id


class SpaceInstallationAccess(_PlaceAccess, frozen=True):
    pass


class SiteInstallationAccess(_PlaceAccess, frozen=True, kw_only=True):
    """Access to an installation on a site. ``site``: the caller's access to the site; None for a
    script."""

    site: SiteAccess | None


def _forbidden(role: str) -> Forbidden:
    return Forbidden(
        f"This operation requires the `{role}` role or higher in this space or site. Ask an administrator for access."
    )


def role_at_owner(tx: Transaction, actor: Actor, organization_id: str) -> str | None:
    """Return the caller's role in an organization, limited by the caller's token or session; None for guests and
    people who aren't members."""
    if organization_id not in list_reachable_organizations(tx, actor):
        return None
    return role_of_member(tx, organization_id, actor.user_id)[1]


def integration_access(tx: Transaction, actor: Actor, needs: Can, name: str) -> IntegrationAccess:
    row = store.find_integration(tx, name)
    missing = NotFound(f"There is no integration named {name!r}.")
    if row is None:
        raise missing
    if isinstance(actor, Script) and actor.integration_id == row.id:
        if needs is Can.ADMIN or (needs is not Can.VIEW and actor.installation_id is not None):
            raise Forbidden("This operation requires a signed-in person or the integration's own token.")
        return IntegrationAccess(row, actor, True)
    role = role_at_owner(tx, actor, row.organization_id)
    if not at_least(role, INTEGRATION[Can.VIEW]) and row.visibility == "private":
        if not _is_installed_for(tx, actor, row):
            raise missing
    least = INTEGRATION[needs]
    if needs is not Can.VIEW and not at_least(role, least):
        raise _forbidden(str(least))
    return IntegrationAccess(row, actor)


def _is_installed_for(tx: Transaction, actor: Actor, row: IntegrationRow) -> bool:
    """Return whether the integration is installed in an organization whose installations the caller can see."""
    return any(
        at_least(role_of_member(tx, organization_id, actor.user_id)[1], INSTALLATION[Can.VIEW])
        and _is_installed_in(tx, row, organization_id)
        for organization_id in list_reachable_organizations(tx, actor)
    )


def _is_installed_in(tx: Transaction, row: IntegrationRow, organization_id: str) -> bool:
    return store.find_installation_in(tx, row.id, organization_id) is not None


@enters(IntegrationAccess, "integrationName")
def enter_integration(call: Call, needs: Can, name: str) -> IntegrationAccess:
    actor = require_actor(call)
    with call.db.read() as tx:
        return integration_access(tx, actor, needs, name)


@enters(VisitedIntegration, "integrationName", visitors=True)
def visit_integration(call: Call, needs: Can, name: str) -> VisitedIntegration:
    visitor = require_visitor(call)
    with call.db.read() as tx:
        row = store.find_integration(tx, name)
        if row is None or needs is not Can.VIEW or not _is_installed_in(tx, row, visitor.organization_id):
            raise NotFound(f"There is no integration named {name!r}.")
    return VisitedIntegration(visitor, row)


def installation_access(
    tx: Transaction, actor: Actor, needs: Can, name: str, installation_id: str
) -> InstallationAccess:
    row = store.find_installation(tx, name, installation_id)
    missing = NotFound(f"This integration has no installation with the ID {installation_id!r}.")
    if row is None:
        raise missing
    if isinstance(actor, Script):
        if not _is_own(actor, row):
            raise missing
        return InstallationAccess(row, actor, True, True)
    try:
        org: OrgAccess = organization_access(tx, actor, Can.VIEW, row.organization_id)
    except NotFound:
        raise missing from None
    if not at_least(org.role, INSTALLATION[Can.VIEW]):
        raise missing
    administers = at_least(org.role, INSTALLATION[Can.ADMIN])
    if needs is not Can.VIEW and not administers:
        raise _forbidden(str(INSTALLATION[needs]))
    return InstallationAccess(row, actor, administers and can_write(actor, "integrations"))


def _is_own(actor: Script, row: InstallationRow) -> bool:
    return actor.integration_id == row.integration_id and actor.installation_id in (None, row.id)


@enters(InstallationAccess, "integrationName", "installationId")
def enter_installation(call: Call, needs: Can, name: str, installation_id: str) -> InstallationAccess:
    actor = require_actor(call)
    with call.db.read() as tx:
        return installation_access(tx, actor, needs, name, installation_id)


def _installed(tx: Transaction, name: str, installation_id: str, missing: str) -> InstallationRow:
    row = store.find_installation(tx, name, installation_id)
    if row is None:
        raise NotFound(missing)
    return row


@enters(SpaceInstallationAccess, "integrationName", "installationId", "spaceId")
def enter_space_installation(
    call: Call, needs: Can, name: str, installation_id: str, space_id: str
) -> SpaceInstallationAccess:
    actor = require_actor(call)
    missing = f"There is no space with the ID {space_id!r}."
    with call.db.read() as tx:
        row = _installed(tx, name, installation_id, missing)
        if isinstance(actor, Script):
            if not _is_own(actor, row) or get_space(tx, space_id).organization_id != row.organization_id:
                raise NotFound(missing)
            role, changes = None, True
        else:
            space = space_access(tx, actor, needs, space_id)
            if space.organization_id != row.organization_id:
                raise NotFound(missing)
            role, changes = (
                space.role,
                at_least(space.role, SPACE[Can.INSTALL_INTEGRATION]) and can_write(actor, "integrations"),
            )
        place = store.find_place(tx, row.id, "space", space_id)
    return SpaceInstallationAccess(row, place, space_id, actor, changes, role)


@enters(SiteInstallationAccess, "integrationName", "installationId", "siteId")
def enter_site_installation(
    call: Call, needs: Can, name: str, installation_id: str, site_id: str
) -> SiteInstallationAccess:
    actor = require_actor(call)
    missing = f"There is no site with the ID {site_id!r}."
    with call.db.read() as tx:
        row = _installed(tx, name, installation_id, missing)
        if isinstance(actor, Script):
            if not _is_own(actor, row) or get_site(tx, site_id).organization_id != row.organization_id:
                raise NotFound(missing)
            site, role, changes = None, None, True
        else:
            site = enter_site(call, needs, row.organization_id, site_id)
            role, changes = (
                site.role,
                at_least(site.role, SITE[Can.ADMIN])
                and can_write(actor, "integrations")
                and may_publish_all(tx, site),
            )
        place = store.find_place(tx, row.id, "site", site_id)
    return SiteInstallationAccess(row, place, site_id, actor, changes, role, site=site)


def require_change(tx: Transaction, access: SpaceInstallationAccess | SiteInstallationAccess) -> None:
    """Check that a person can grant more access to the site.

    Depending on its configuration, an integration on a site decides who can read the site and which scripts the
    site's pages run. Raises Forbidden if the person can't grant that access.
    """
    if isinstance(access, SiteInstallationAccess) and access.site is not None:
        require_publish_permission(tx, access.site)


def kind_of(access: _PlaceAccess) -> Kind:
    return "space" if isinstance(access, SpaceInstallationAccess) else "site"
