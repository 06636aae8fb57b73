"""External links in a site's structure, between its sections and in its groups."""

from __future__ import annotations

from collections.abc import Mapping

from octavo.errors import Conflict
from octavo.kit import ids
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess

from . import store
from .changing import change_structure, get_group, get_link, note, rank_at_end, ranked_in_parent
from .store import ExternalLinkRow


def add_link(tx: Transaction, site: SiteAccess, parent: str | None, values: dict[str, object]) -> str:
    """Add a link at the end of a group or of the top level, and return its ID. Raises NotFound if the group
    doesn't exist, and Conflict if the site has no sections or too many links."""
    with change_structure(tx, site.site_id, site) as structure:
        if not structure.sections:
            raise Conflict(
                "External links appear between sections, but this site has no sections. Add a section first."
            )
        if len(structure.links) >= store.MAX_LINKS:
            raise Conflict(
                f"A site can have at most {store.MAX_LINKS} external links. Delete one before adding another."
            )
        if parent is not None:
            get_group(structure, parent, "parent")
        link_id, rank = ids.new_id(), rank_at_end(structure.children(parent))
        row = {"id": link_id, "site_id": site.site_id, "group_id": parent, "rank": rank, **values}
        store.put_row(tx, ExternalLinkRow(**row))  # type: ignore[arg-type]
    note(tx, site, "siteExternalLink.created", ("siteExternalLink", link_id), after=values)
    return link_id


def update_link(tx: Transaction, site: SiteAccess, link_id: str, values: Mapping[str, object]) -> None:
    """Update columns of a link. Raises NotFound if the link or group doesn't exist."""
    with change_structure(tx, site.site_id, site) as structure:
        link = get_link(structure, link_id)
        values = ranked_in_parent(structure, values, "group_id", link.group_id, "parent")
        store.update_row(tx, link, **values)
    was = {name: getattr(link, name) for name in values}
    note(tx, site, "siteExternalLink.updated", ("siteExternalLink", link_id), was, values)


def delete_link(tx: Transaction, site: SiteAccess, link_id: str) -> bool:
    """Delete a link. Return False if it doesn't exist."""
    with change_structure(tx, site.site_id, site) as structure:
        link = structure.links.get(link_id)
        if link is None:
            return False
        store.delete_row(tx, link)
    note(tx, site, "siteExternalLink.removed", ("siteExternalLink", link_id), {"title": link.title})
    return True
