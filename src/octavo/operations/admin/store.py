"""Database access for the whole server: its organizations, accounts, and totals. Rows are returned as frozen
records."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from octavo.content.events.store import LIFETIME
from octavo.kit.clock import now
from octavo.kit.db.database import Live, Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.accounts import IS_FIRST, PEOPLE_LIKE, UserRow, is_listed_operator, like_part
from octavo.settings import Settings


class OrganizationRow(Struct, frozen=True):
    id: str
    title: str
    created_at: int
    people: int
    spaces: int
    sites: int


class PersonRow(Struct, frozen=True):
    """Person on this server. ``last_seen_at``: the time of the person's last activity in any organization.
    ``is_first``: whether the account was created when the server was first started."""

    user: UserRow
    verified: bool
    is_first: bool
    organizations: int
    last_seen_at: int | None


_PEOPLE = """FROM members m JOIN users u ON u.id = m.user_id AND u.kind = 'person'
             WHERE m.organization_id = o.id"""


def list_organizations(
    tx: Transaction, limit: int, page: str | None, *, search: str | None
) -> Slice[OrganizationRow]:
    """Return all organizations, newest first."""
    where, given = "TRUE", dict[str, Any]()
    if search:
        where, given["like"] = r"lower(o.title) LIKE :like ESCAPE '!'", like_part(search)
    columns = f"""o.id, o.title, o.created_at, (SELECT count(*) {_PEOPLE}),
          (SELECT count(*) FROM spaces s WHERE s.organization_id = o.id AND s.deleted_at IS NULL),
          (SELECT count(*) FROM sites s WHERE s.organization_id = o.id)"""
    source = f"FROM organizations o WHERE {where}"
    return list_page(
        tx,
        limit,
        page,
        columns,
        source,
        lambda row: OrganizationRow(*row),
        by="o.id",
        descending=True,
        **given,
    )


def list_people(tx: Transaction, limit: int, page: str | None, *, search: str | None) -> Slice[PersonRow]:
    """Return all accounts except service accounts, newest first."""
    where, given = "u.kind = 'person'", dict[str, Any]()
    if search:
        where += f" AND {PEOPLE_LIKE}"
        given["like"] = like_part(search)
    return list_page(
        tx,
        limit,
        page,
        _PERSON,
        f"FROM users u WHERE {where}",
        _person_row,
        by="u.id",
        descending=True,
        **given,
    )


def get_person(tx: Transaction, user_id: str) -> PersonRow:
    """Return the account of an existing person."""
    row = tx.one(f"SELECT {_PERSON} FROM users u WHERE u.id = :id", id=user_id)
    assert row is not None
    return _person_row(row)


_PERSON = f"""u.id, u.email, u.display_name, u.photo_url, u.disabled, u.created_at, u.email_verified, {IS_FIRST},
          (SELECT count(*) FROM members m WHERE m.user_id = u.id),
          (SELECT max(m.last_seen_at) FROM members m WHERE m.user_id = u.id)"""


def _person_row(row: Row) -> PersonRow:
    return PersonRow(UserRow(*row[:6]), bool(row[6]), bool(row[7]), row[8], row[9])


def count_everything(tx: Transaction) -> dict[str, int]:
    """Return the number of organizations, people, spaces, and sites."""
    return {
        "organizations": tx.value("SELECT count(*) FROM organizations"),
        "people": tx.value("SELECT count(*) FROM users WHERE kind = 'person'"),
        "spaces": tx.value("SELECT count(*) FROM spaces WHERE deleted_at IS NULL"),
        "sites": tx.value("SELECT count(*) FROM sites"),
    }


def count_editing(tx: Transaction) -> int:
    """Return the number of people who are currently editing a page."""
    return int(
        tx.value(
            Live(
                "SELECT count(DISTINCT user_id) FROM presence WHERE activity = 'editing' AND said_at > :since"
            ),
            since=now() - LIFETIME,
        )
    )


def describe_database(tx: Transaction) -> tuple[str, int]:
    """Return the version of the engine, and the size of the database in bytes."""
    if tx.engine == "postgresql":
        size = tx.value(Live("SELECT pg_database_size(current_database())"))
        return tx.value(Live("SHOW server_version")), size
    size = tx.value("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
    return tx.value("SELECT sqlite_version()"), size


def list_operators(tx: Transaction, settings: Settings) -> list[str]:
    """Return the verified email addresses of the server administrators."""
    rows = tx.all(
        f"""SELECT u.email, {IS_FIRST} FROM users u
            WHERE u.disabled = 0 AND u.email_verified = 1 AND u.kind = 'person' AND u.managed_by IS NULL
              AND (u.email IN :listed OR {IS_FIRST}) ORDER BY u.email""",
        listed=sorted(settings.operators),
    )
    return [row[0] for row in rows if is_listed_operator(settings, row[0], is_first=bool(row[1]))]
