"""Spaces that were ever on a site. Visitors' questions and events, and the site's findings, can still be about them."""

from __future__ import annotations

from octavo.content.revisions.page_versions import filter_restricted_spaces
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


def keep_restrictions(tx: Transaction, space_id: str) -> None:
    """Before a space with restricted pages is permanently deleted, record that the sites that showed it can still
    contain questions, events, and findings about these pages."""
    if filter_restricted_spaces(tx, [space_id]):
        tx.run(
            """INSERT INTO site_purged_restrictions (site_id)
               SELECT site_id FROM site_shown_spaces WHERE space_id = :space
               ON CONFLICT (site_id) DO NOTHING""",
            space=space_id,
        )


def has_purged_restrictions(tx: Transaction, site: SiteAccess) -> bool:
    """Return whether a site showed a permanently deleted space with restricted pages, which only organization
    administrators could all see for sure."""
    if site.member_role == "admin":
        return False
    found = tx.one("SELECT 1 FROM site_purged_restrictions WHERE site_id = :site", site=site.site_id)
    return found is not None


def sees_all_ever_shown(tx: Transaction, site: SiteAccess, hidden: HiddenPages) -> bool:
    """Return whether the caller can see all spaces that are or were on a site, and all of their pages. ``hidden``: the
    pages that are hidden from the caller."""
    if has_purged_restrictions(tx, site):
        return False
    ever = list_ever_shown(tx, site.site_id)
    visible = list_visible_space_ids(tx, site.organization, among=ever)
    return len(visible) == len(ever) and not any(map(hidden.of, ever))
