"""URLs of spaces opened by share links."""

from __future__ import annotations

from urllib.parse import quote

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.hooks import register_share_links
from octavo.organization.spaces.store import find_place

from .audiences.share_links import find_link_by_key
from .published import published_url
from .store import list_sites_of_space


def _find_shared(tx: Transaction, context: Context, space_id: str, key: str) -> str | None:
    """Return the URL of a space on the published site that a share link's key opens; None if the key doesn't open
    a site with this space."""
    for site in list_sites_of_space(tx, space_id):
        place = find_place(tx, space_id, site.id)
        if site.published and place is not None and find_link_by_key(tx, site.id, key) is not None:
            organization = get_organization(tx, site.organization_id)
            base = published_url(context.settings.sites_url, organization, site)
            return f"{base}{quote(key)}/{quote(place)}"
    return None


register_share_links(_find_shared)
