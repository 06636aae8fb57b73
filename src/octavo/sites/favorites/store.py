"""Read and write favorites in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction


class FavoriteRow(Struct, frozen=True):
    """A person's favorite. ``page_id``: the ID of the page; empty for a space or site. ``position``: the
    position among the person's favorites; favorites with equal positions are sorted by ID."""

    id: str
    space_id: str | None
    page_id: str
    site_id: str | None
    position: int
    added_at: int


_FAVORITE = ", ".join(FavoriteRow.__struct_fields__)


def list_favorites(tx: Transaction, user_id: str) -> list[FavoriteRow]:
    """Return all of a person's favorites in order, including favorites that the person can no longer see."""
    rows = tx.all(
        f"SELECT {_FAVORITE} FROM favorites WHERE user_id = :user ORDER BY position, id", user=user_id
    )
    return [FavoriteRow(*row) for row in rows]


def insert_favorite(
    tx: Transaction, user_id: str, space_id: str | None, page_id: str, site_id: str | None, position: int
) -> None:
    """Insert a favorite unless the person already has it."""
    tx.run(
        f"""INSERT INTO favorites (user_id, {_FAVORITE}) VALUES (:user, :id, :space, :page, :site, :position, :at)
            ON CONFLICT DO NOTHING""",
        user=user_id,
        id=ids.new_id(),
        space=space_id,
        page=page_id,
        site=site_id,
        position=position,
        at=now(),
    )


def set_positions(tx: Transaction, user_id: str, ordered: Sequence[str]) -> None:
    """Sort a person's favorites in the order of these IDs."""
    positions = sorted((id, position) for position, id in enumerate(ordered))
    tx.run_many(
        "UPDATE favorites SET position = :position WHERE id = :id AND user_id = :user",
        [{"id": id, "position": position, "user": user_id} for id, position in positions],
    )


def delete_favorite(tx: Transaction, user_id: str, favorite_id: str) -> bool:
    return bool(
        tx.run("DELETE FROM favorites WHERE id = :id AND user_id = :user", id=favorite_id, user=user_id)
    )
