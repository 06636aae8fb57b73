"""Operations on the caller's favorites."""

from __future__ import annotations

from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.restrictions import main_seen_by
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, present_slice, slice_items
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SignedIn, named_site_access, space_access
from octavo.organization.access.roles import Can

from . import presenting, store
from .wire import AddFavorite, Favorite, FavoritesQuery, MoveFavorite

operation = Area("spaces").operation

MAX_FAVORITES = 200
"""Maximum number of favorites per person. Only favorites that the person can see are counted."""

_OWN = "/user/favorites"


def _list_visible(call: Call, tx: Transaction, caller: SignedIn) -> list[Favorite]:
    return presenting.present_visible(call, tx, caller, store.list_favorites(tx, caller.user_id))


@operation("listFavorites", "GET", _OWN, needs=Can.SIGN_IN)
def list_favorites(call: Call, caller: SignedIn, query: FavoritesQuery) -> Listing[Favorite]:
    """List the caller's favorites in order. Favorites whose object was deleted, or that the caller can no
    longer see, are omitted."""
    with call.db.read() as tx:
        shown = _list_visible(call, tx, caller)
    wanted = [one for one in shown if query.organization in (None, one.organization)]
    keys = {one.id: f"{position:09d}" for position, one in enumerate(wanted)}
    found = slice_items(wanted, query.limit, query.page, lambda one: keys[one.id])
    return present_slice(found, lambda one: one)


@operation("addFavorite", "POST", _OWN, needs=Can.SIGN_IN, errors=(400, 404, 409))
def add_favorite(call: Call, caller: SignedIn, body: AddFavorite) -> Favorite:
    """Mark a space, page, or site as a favorite. If it is already a favorite, returns the existing favorite."""
    space_id, page_id, site_id = or_none(body.space), or_none(body.page) or "", or_none(body.site)
    with call.db.write() as tx:
        if site_id is not None:
            named_site_access(tx, caller.actor, Can.VIEW, site_id)
        else:
            space = space_access(tx, caller.actor, Can.VIEW, space_id or "")
            space_id = space.space_id
            if page_id and get_page(tx, main_seen_by(tx, space), page_id).kind != "document":
                raise BadRequest("page: must be a page with content, not a group or link")
        rows = store.list_favorites(tx, caller.user_id)
        added = _find(rows, space_id, page_id, site_id)
        if added is None:
            if len(presenting.present_visible(call, tx, caller, rows)) >= MAX_FAVORITES:
                raise Conflict(
                    f"You already have {MAX_FAVORITES} favorites, which is the limit. Remove one before"
                    " adding another."
                )
            last = rows[-1].position + 1 if rows else 0
            store.insert_favorite(tx, caller.user_id, space_id, page_id, site_id, last)
            rows = store.list_favorites(tx, caller.user_id)
            added = _find(rows, space_id, page_id, site_id)
            assert added is not None
            if body.before:
                _move(tx, caller, rows, added.id, body.before)
        (shown,) = presenting.present_visible(call, tx, caller, [added])
    return shown


def _find(
    rows: list[store.FavoriteRow], space_id: str | None, page_id: str, site_id: str | None
) -> store.FavoriteRow | None:
    wanted = (space_id, page_id, site_id)
    return next((row for row in rows if (row.space_id, row.page_id, row.site_id) == wanted), None)


def _move(
    tx: Transaction, caller: SignedIn, rows: list[store.FavoriteRow], favorite_id: str, before: str | None
) -> None:
    """Move a favorite before another favorite, or to the end. Raises NotFound if one of them doesn't exist."""
    ordered = [row.id for row in rows if row.id != favorite_id]
    if before is not None and before not in ordered:
        if before == favorite_id:
            return
        raise NotFound(f"before: you have no favorite with the ID {before!r}")
    ordered.insert(len(ordered) if before is None else ordered.index(before), favorite_id)
    store.set_positions(tx, caller.user_id, ordered)


@operation("moveFavorite", "PATCH", _OWN + "/{favoriteId}", needs=Can.SIGN_IN, errors=(400, 404))
def move_favorite(call: Call, caller: SignedIn, favorite_id: str, body: MoveFavorite) -> Favorite:
    """Move a favorite before another favorite, or to the end."""
    with call.db.write() as tx:
        rows = store.list_favorites(tx, caller.user_id)
        moved = [row for row in rows if row.id == favorite_id]
        shown = presenting.present_visible(call, tx, caller, moved)
        if not shown:
            raise NotFound(f"You have no favorite with the ID {favorite_id!r}.")
        _move(tx, caller, rows, favorite_id, body.before)
    return shown[0]


@operation("removeFavorite", "DELETE", _OWN + "/{favoriteId}", needs=Can.SIGN_IN)
def remove_favorite(call: Call, caller: SignedIn, favorite_id: str) -> bool:
    """Remove a favorite. The space, page, or site itself isn't affected."""
    with call.db.write() as tx:
        return store.delete_favorite(tx, caller.user_id, favorite_id)
