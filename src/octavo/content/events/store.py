"""Read and write presence in the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct

from octavo.kit.db.database import Live, Row, Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page

from .types import Activity

LIFETIME = 60_000
"""Time in milliseconds for which a client counts as present after its last report."""


class PresenceRow(Struct, frozen=True, kw_only=True):
    """Presence of a person's client in one space or change request. ``came_at``: the time when the client
    arrived. ``said_at``: the time of its last report."""

    user_id: str
    client_id: str
    space_id: str
    change_request_id: str | None
    page_id: str | None
    activity: Activity
    came_at: int
    said_at: int
    organization_id: str

    @property
    def key(self) -> tuple[str, str]:
        return self.user_id, self.client_id

    @property
    def place(self) -> tuple[str | None, ...]:
        return self.space_id, self.change_request_id, self.page_id, self.activity

    def is_at(self, other: PresenceRow) -> bool:
        return self.place == other.place


_NAMES = PresenceRow.__struct_fields__[:-1]
_COLUMNS = ", ".join(_NAMES)
_PRESENCE_COLUMNS = f"{', '.join(f'p.{name}' for name in _NAMES)}, s.organization_id"
_PRESENCE = "FROM presence p JOIN spaces s ON s.id = p.space_id"


def _presence_row(row: Row) -> PresenceRow:
    return PresenceRow(**dict(zip(PresenceRow.__struct_fields__, row, strict=True)))


def list_of_person(tx: Transaction, user_id: str, moment: int) -> list[PresenceRow]:
    rows = tx.all(
        Live(f"SELECT {_PRESENCE_COLUMNS} {_PRESENCE} WHERE p.user_id = :user AND p.said_at > :since"),
        user=user_id,
        since=moment - LIFETIME,
    )
    return [_presence_row(row) for row in rows]


def list_present(
    tx: Transaction, spaces: Collection[str], changes: Collection[str], moment: int
) -> list[PresenceRow]:
    """List the people present in any of these spaces or change requests."""
    given = {"spaces": json_list(spaces), "changes": json_list(changes), "since": moment - LIFETIME}
    rows = tx.all(
        Live(
            f"SELECT {_PRESENCE_COLUMNS} {_PRESENCE} WHERE p.said_at > :since"
            f" AND (p.space_id {tx.among('spaces')} OR p.change_request_id {tx.among('changes')})"
        ),
        **given,
    )
    return [_presence_row(row) for row in rows]


def list_places(tx: Transaction, space_id: str, moment: int) -> list[str]:
    """List the change requests of a space in which people are viewing or editing pages. An empty string
    means the space itself."""
    rows = tx.all(
        Live("""SELECT DISTINCT coalesce(p.change_request_id, '') FROM presence p
                WHERE p.space_id = :id AND p.said_at > :since AND p.page_id IS NOT NULL"""),
        id=space_id,
        since=moment - LIFETIME,
    )
    return [row[0] for row in rows]


def list_here(
    tx: Transaction,
    space_id: str,
    change_id: str | None,
    hidden: Collection[tuple[str, str]],
    limit: int,
    page: str | None,
    moment: int,
) -> Slice[PresenceRow]:
    """List the people present in a space, including its change requests, or in a single change request, ordered by
    person and client. ``hidden``: the pages whose viewers are left out, each as a pair of the change request ('' for
    main) and the page."""
    place, id = ("space_id", space_id) if change_id is None else ("change_request_id", change_id)
    source = f"{_PRESENCE} WHERE p.{place} = :id AND p.said_at > :since"
    if hidden:
        pages = tx.given("hidden", "change_id", "page_id")
        source += f""" AND (p.page_id IS NULL OR (coalesce(p.change_request_id, ''), p.page_id) NOT IN
            (SELECT g.change_id, g.page_id FROM {pages} AS g))"""
    return list_page(
        tx,
        limit,
        page,
        _PRESENCE_COLUMNS,
        Live(source),
        _presence_row,
        by="p.user_id, p.client_id",
        key_types=(str, str),
        id=id,
        since=moment - LIFETIME,
        hidden=msgspec.json.encode(sorted(hidden)).decode(),
    )


def find_stamp(tx: Transaction) -> tuple[int, int]:
    """Return a value that changes whenever a presence row is added, updated, or removed."""
    row = tx.one(Live("SELECT count(*), CAST(coalesce(sum(said_at), 0) AS BIGINT) FROM presence"))
    assert row is not None
    return row[0], row[1]


def put(tx: Transaction, present: Iterable[PresenceRow]) -> None:
    """Insert or update presence rows. Rows for a deleted account, space, or change request are skipped."""
    others = [name for name in _NAMES if name not in ("user_id", "client_id")]
    change = ", ".join(f"{name} = excluded.{name}" for name in others)
    tx.run_many(
        f"""INSERT INTO presence ({_COLUMNS})
            SELECT {", ".join(f"CAST(:{name} AS {_type(name)})" for name in _NAMES)}
            WHERE EXISTS (SELECT 1 FROM users WHERE id = :user_id)
              AND EXISTS (SELECT 1 FROM spaces WHERE id = :space_id)
              AND (:change_request_id IS NULL
                OR EXISTS (SELECT 1 FROM change_requests WHERE id = :change_request_id))
            ON CONFLICT (user_id, client_id) DO UPDATE SET {change}""",
        [{name: getattr(here, name) for name in _NAMES} for here in present],
    )


def _type(name: str) -> str:
    return "BIGINT" if name in ("came_at", "said_at") else "TEXT"


def remove(tx: Transaction, keys: Iterable[tuple[str, str]]) -> None:
    tx.run_many(
        "DELETE FROM presence WHERE user_id = :user AND client_id = :client",
        [{"user": user, "client": client} for user, client in keys],
    )


def has_ended(tx: Transaction, moment: int) -> bool:
    return (
        tx.one(Live("SELECT 1 FROM presence WHERE said_at <= :until LIMIT 1"), until=moment - LIFETIME)
        is not None
    )


def remove_ended(tx: Transaction, moment: int) -> None:
    tx.run("DELETE FROM presence WHERE said_at <= :until", until=moment - LIFETIME)
