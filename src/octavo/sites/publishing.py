"""Who may publish which spaces: whoever administers each of them, when the site is made and when it is published.

The role in the organization says who may make and change sites, and nothing about what a site may show.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..access import SPACE, Can, OrgAccess, SiteAccess, at_least, find_space_access
from ..errors import Forbidden, NotFound
from ..kit.db import Transaction
from . import store


def require_publishable(tx: Transaction, org: OrgAccess, space_ids: Sequence[str]) -> None:
    """Raises NotFound or Forbidden naming a space of a body that the caller may not publish in a site of ``org``."""
    for n, space_id in enumerate(space_ids):
        place = f"spaces[{n}]"
        space = find_space_access(tx, org.actor, Can.VIEW, space_id)
        if space is None or space.organization_id != org.organization_id:
            raise NotFound(f"{place}: there is no space {space_id!r} in this organization.")
        if not at_least(space.role, SPACE[Can.ADMIN]):
            raise Forbidden(f"{place}: a space is published by those who administer it.")


def publish_site(tx: Transaction, site: SiteAccess) -> None:
    """Opens a site to its audience. Raises Forbidden when it shows a space that the caller may not publish."""
    for shown in store.list_site_spaces(tx, site.site_id):
        if find_space_access(tx, site.actor, Can.ADMIN, shown.space_id) is None:
            raise Forbidden(
                "This site shows spaces that you do not administer: they are not yours to publish."
            )
    store.set_published(tx, site.site_id, True)
