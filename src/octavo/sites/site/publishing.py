"""Who may publish which spaces: whoever administers each of them, when the site is made, when it is published, and when
it is opened further: to a wider audience, or by a key.

The role in the organization says who may make and change sites, and nothing about what a site may show.
"""

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
    """Raises NotFound or Forbidden naming a space that the caller may not publish in a site of ``org``. ``spaces``:
    their ids by where a body says them."""
    for place, space_id in spaces.items():
        space = find_space_access(tx, org.actor, Can.VIEW, space_id)
        if space is None or space.organization_id != org.organization_id:
            raise NotFound(f"{place}: there is no space {space_id!r} in this organization.")
        if not at_least(space.role, SPACE[Can.ADMIN]):
            raise Forbidden(f"{place}: a space is published by those who administer it.")


def may_open(tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None) -> bool:
    """Whether these spaces of a site, or all that it shows, are the caller's to publish. Those in the trash count: the
    site shows them again when they are restored."""
    if spaces is None:
        structure = load_structure(tx, site.site_id, trashed=True)
        spaces = {shown.space_id for shown in structure.site_spaces.values()}
    return all(find_kept_space_access(tx, site.actor, Can.ADMIN, space_id) is not None for space_id in spaces)


def require_opening(tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None) -> None:
    """Raises Forbidden unless ``may_open``."""
    if not may_open(tx, site, spaces):
        raise Forbidden("This site shows spaces that you do not administer: they are not yours to publish.")


def require_opening_if_published(
    tx: Transaction, site: SiteAccess, spaces: Iterable[str] | None = None
) -> None:
    """``require_opening`` for a change that shows something to more people at once. Of a site that is not published
    the right is asked when it is."""
    if store.get_site(tx, site.site_id).published:
        require_opening(tx, site, spaces)


def publish_site(tx: Transaction, site: SiteAccess) -> None:
    """Opens a site to its audience. Raises Forbidden when it shows a space that the caller may not publish."""
    require_opening(tx, site)
    store.set_published(tx, site.site_id, True)
    audit(tx, site.actor, "site.published", site.organization_id, ("site", site.site_id))


def unpublish_site(tx: Transaction, site: SiteAccess) -> None:
    """Closes a site."""
    store.set_published(tx, site.site_id, False)
    audit(tx, site.actor, "site.unpublished", site.organization_id, ("site", site.site_id))
