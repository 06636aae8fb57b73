"""Present the favorites that a person can see."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.restrictions import main_seen_by
from octavo.errors import Forbidden, NotFound
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import SignedIn, find_space_access, named_site_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import find_space
from octavo.sites.site.store import find_site

from .store import FavoriteRow
from .wire import Favorite, FavoriteUrls


def present_visible(
    to: Recipient, tx: Transaction, caller: SignedIn, rows: Sequence[FavoriteRow]
) -> list[Favorite]:
    """Return the favorites that still exist and that the caller can currently see, in the given order."""
    found = (
        _present_site(to, tx, caller, row, row.site_id)
        if row.site_id is not None
        else _present_content(to, tx, caller, row, row.space_id or "")
        for row in rows
    )
    return [favorite for favorite in found if favorite is not None]


def _present_site(
    to: Recipient, tx: Transaction, caller: SignedIn, row: FavoriteRow, site_id: str
) -> Favorite | None:
    try:
        access = named_site_access(tx, caller.actor, Can.VIEW, site_id)
    except (NotFound, Forbidden):
        return None
    site = find_site(tx, site_id)
    if site is None:
        return None
    organization = access.organization_id
    return Favorite(
        id=row.id,
        kind="site",
        title=site.title,
        organization=organization,
        added_at=iso(row.added_at),
        urls=FavoriteUrls(to.app.site(organization, site_id)),
        site=site_id,
    )


def _present_content(
    to: Recipient, tx: Transaction, caller: SignedIn, row: FavoriteRow, space_id: str
) -> Favorite | None:
    access = find_space_access(tx, caller.actor, Can.VIEW, space_id)
    space = find_space(tx, space_id) if access is not None else None
    if access is None or space is None:
        return None
    title, emoji, icon, app = space.title, space.emoji, None, to.app.space(space_id)
    if row.page_id:
        state = main_seen_by(tx, access)
        page = find_page(tx, state, row.page_id)
        if page is None:
            return None
        title, emoji, icon = page.title, page.emoji, page.icon
        path = "/".join(one.slug for one in [*list_ancestors(tx, state, page), page])
        app = to.app.page(space_id, path)
    return Favorite(
        id=row.id,
        kind="page" if row.page_id else "space",
        title=title,
        organization=access.organization_id,
        added_at=iso(row.added_at),
        urls=FavoriteUrls(app),
        space=space_id,
        page=row.page_id or UNSET,
        emoji=emoji or UNSET,
        icon=icon or UNSET,
    )
