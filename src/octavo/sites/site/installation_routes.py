"""Operations on the Git installations of a site and its spaces."""

from __future__ import annotations

from octavo.interchange.gitsync.authorization import SyncAccess
from octavo.interchange.gitsync.installation_wire import GitInstallations, present_installation
from octavo.interchange.gitsync.installations import find_installation
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can

from .structure.store import load_structure

operation = Area("gitsync").operation


@operation(
    "listSiteGitSyncInstallations",
    "GET",
    "/orgs/{organizationId}/sites/{siteId}/spaces/git/installations",
    needs=Can.ADMIN,
    errors=(404,),
)
def list_installations(call: Call, site: SiteAccess) -> GitInstallations:
    """List the Git installations of a site, and of each of its spaces where the caller has the `create` role or
    higher."""
    with call.db.read() as tx:
        shown = load_structure(tx, site.site_id).site_spaces.values()
        places = [SyncAccess.of(site)]
        for space_id in dict.fromkeys(one.space_id for one in shown):
            space = find_space_access(tx, site.actor, Can.ADMIN, space_id)
            if space is not None:
                places.append(SyncAccess.of(space))
        found = [one for at in places if (one := find_installation(tx, at)) is not None]
    return GitInstallations([present_installation(call, one) for one in found])
