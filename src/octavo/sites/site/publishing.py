"""Permission to publish spaces. Publishing a space requires the ``create`` role or higher in that space. The role is
checked when a site is created, published, opened to a wider audience, or shared with a key.

The role in the organization determines whether people can create and edit sites, but not which spaces they can
publish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import (
    OrgAccess,
    SiteAccess,
    find_kept_space_access,
    find_space_access,
)
from octavo.organization.access.roles import SPACE, Can, at_least

from . import store
from .structure.store import load_structure


def require_publishable(tx: Transaction, org: OrgAccess, spaces: Mapping[str, str]) -> None:
    """Raise NotFound or Forbidden, naming the space, if the caller can't publish one of ``spaces`` on a
    site of ``org``. ``spaces``: the space IDs, by request field."""
    for place, space_id in spaces.items():
        space = find_space_access(tx, org.actor, Can.VIEW, space_id)
        if space is None or space.organization_id != org.organization_id:
            raise NotFound(f"{place}: there is no space with the ID {space_id!r} in this organization")
        if not at_least(space.role, SPACE[Can.ADMIN]):
            raise Forbidden(f"{place}: you need the `create` role or higher in this space to publish it")


def may_publish_all(tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None) -> bool:
    """Return whether the caller can publish these spaces; by default, all spaces on the site. These include spaces in
    the trash, because the site shows them again after they are restored."""
    if spaces is None:
        structure = load_structure(tx, site.site_id, trashed=True)
        spaces = {shown.space_id for shown in structure.site_spaces.values()}
    return all(find_kept_space_access(tx, site.actor, Can.ADMIN, space_id) is not None for space_id in spaces)


def require_publish_permission(
    tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None
) -> None:
    """Raise Forbidden unless ``may_publish_all`` returns True."""
    if not may_publish_all(tx, site, spaces):
        raise Forbidden(
            "Publishing this site requires the `create` role or higher in all of its spaces. Ask someone who"
            " has this role to publish it."
        )


def require_publish_permission_if_published(
    tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None
) -> None:
    """Apply ``require_publish_permission`` to a change that immediately shows content to more people. For an
    unpublished site, permission is checked when the site is published."""
    if store.get_site(tx, site.site_id).published:
        require_publish_permission(tx, site, spaces)


def publish_site(tx: Transaction, site: SiteAccess) -> None:
    """Publish a site for its audience. Raises Forbidden if the site shows a space that the caller can't publish."""
    require_publish_permission(tx, site)
    store.set_published(tx, site.site_id, True)
    audit(tx, site.actor, "site.published", site.organization_id, ("site", site.site_id))


def unpublish_site(tx: Transaction, site: SiteAccess) -> None:
    """Unpublish a site."""
    store.set_published(tx, site.site_id, False)
    audit(tx, site.actor, "site.unpublished", site.organization_id, ("site", site.site_id))
