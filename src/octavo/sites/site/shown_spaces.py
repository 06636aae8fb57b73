"""Spaces that were ever on a site. Visitors' questions and events, and the site's findings, can still be about them."""

from __future__ import annotations

from octavo.content.revisions.restrictions import HiddenPages
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.spaces.store import list_visible_space_ids


def list_ever_shown(tx: Transaction, site_id: str) -> list[str]:
    """Return the IDs of all spaces that are or were on a site, except permanently deleted spaces."""
    rows = tx.all(
        "SELECT space_id FROM site_shown_spaces WHERE site_id = :site ORDER BY space_id", site=site_id
    )
    return [row[0] for row in rows]


def sees_all_ever_shown(tx: Transaction, site: SiteAccess, hidden: HiddenPages) -> bool:
    """Return whether the caller can see all spaces that are or were on a site, and all of their pages. ``hidden``: the
    pages that are hidden from the caller."""
    ever = list_ever_shown(tx, site.site_id)
    visible = list_visible_space_ids(tx, site.organization, among=ever)
    return len(visible) == len(ever) and not any(map(hidden.of, ever))
