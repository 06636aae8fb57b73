"""Merge two accounts of the same person. One account gets all data of the other account, which is then deleted.

Memberships, permissions, teams, and sign-in through other services are moved in the transaction that deletes the
account. A job then moves the authorship of content, which can take a while. Passwords, tokens, agents, and other
secrets are never moved, because they would then have the permissions of both accounts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.rows import Schema, read_rows, read_schema, unique_keys
from octavo.kit.db.tables import TABLES, Column, recount
from octavo.kit.work.jobs import enqueue, job, renew
from octavo.organization.access.accounts import erase_account, get_user_for_update, is_operator
from octavo.organization.access.members import find_membership, set_member_role
from octavo.organization.access.roles import highest

from .accounts import By, record_change
from .archive_checks import naming_columns

_END = frozenset(
    {
        "first_administrators",
        "first_sign_ins",
        "notification_counts",
        "notification_settings",
        "notifications",
        "page_carets",
        "passkeys",
        "presence",
        "second_factors",
    }
)
"""Tables whose rows are deleted with the account. The rows in tables with secrets are deleted, too."""
_HISTORY = frozenset({"audit_events", "audit_totals"})
"""Tables that are never changed, because actions stay recorded under the account that performed them."""


def merge_accounts(tx: Transaction, context: Context, by: By, source: str, target: str) -> None:
    """Move all data that belongs to the account ``source`` to ``target``, and delete ``source``.

    Raises NotFound if an account doesn't exist, BadRequest if ``source`` and ``target`` are the same account, and
    Conflict if either account belongs to a server administrator or is managed by an organization, or if ``target`` is
    deactivated on the server or in an organization that both accounts belong to.
    """
    if source == target:
        raise BadRequest("into: must be another account")
    for user_id in sorted((source, target)):
        if not tx.one("SELECT 1 FROM users WHERE id = :id AND kind = 'person'", id=user_id):
            raise NotFound(f"There is no user with the ID {user_id!r}.")
        get_user_for_update(tx, user_id)
    _require_mergeable(tx, context, source, target)
    record_change(tx, by, "account.merged", source, after={"into": target})
    organizations = [
        row[0] for row in tx.all("SELECT organization_id FROM members WHERE user_id = :id", id=source)
    ]
    for organization_id in organizations:
        _merge_memberships(tx, organization_id, source, target)
    schemas = read_schema(context.db, tx)
    for name, column in _columns(schemas):
        if _moves_at_once(schemas[name], column):
            _move(tx, schemas[name], column, source, target)
    erase_account(tx, source)
    for organization_id in organizations:
        recount(tx, organization_id)
    enqueue(tx, "moveAuthorship", organization=None, source=source, target=target)


def _require_mergeable(tx: Transaction, context: Context, source: str, target: str) -> None:
    if is_operator(tx, context.settings, source):
        raise Conflict(
            "This account belongs to a server administrator. Merge the other account into this one instead."
        )
    manager = tx.one(
        "SELECT o.title FROM users u JOIN organizations o ON o.id = u.managed_by WHERE u.id = :id", id=source
    )
    if manager is not None:
        raise Conflict(
            f"This account is managed by {manager[0]}, whose directory would create the account again. Merge"
            " the other account into this one instead."
        )
    if tx.value("SELECT disabled FROM users WHERE id = :id", id=target):
        raise Conflict("The other account is deactivated. Reactivate it first.")
    disabled = tx.one(
        """SELECT o.title FROM members t JOIN members s ON s.organization_id = t.organization_id
           JOIN organizations o ON o.id = t.organization_id
           WHERE t.user_id = :target AND s.user_id = :source AND t.disabled = 1 AND s.disabled = 0""",
        source=source,
        target=target,
    )
    if disabled is not None:
        raise Conflict(f"The other account is deactivated in {disabled[0]}. Reactivate it there first.")


def _merge_memberships(tx: Transaction, organization_id: str, source: str, target: str) -> None:
    """If both accounts are members of an organization, give ``target`` the higher of the two roles."""
    theirs = find_membership(tx, organization_id, source)
    own = find_membership(tx, organization_id, target)
    if theirs is None or own is None or theirs.disabled:
        return
    set_member_role(tx, organization_id, target, highest((own.role, theirs.role)))


def _columns(schemas: dict[str, Schema]) -> Iterator[tuple[str, Column]]:
    """Yield all columns that contain people's IDs and change when accounts are merged."""
    for name, schema in schemas.items():
        table = TABLES.get(name)
        if table is None or table.secrets or name in _END or name in _HISTORY:
            continue
        yield from ((name, column) for column in naming_columns(table, schema) if column.is_person)


def _moves_at_once(schema: Schema, column: Column) -> bool:
    """Return whether a column grants permissions to a person. All other columns only identify authors."""
    gives = column.names == ("members.user_id",) or column.path is not None
    return gives or (column.name, "users") in schema.refers


def _move(
    tx: Transaction, schema: Schema, column: Column, source: str, target: str, limit: int | None = None
) -> int:
    """Move at most ``limit`` rows of one account, and return the number of rows. A row is deleted if the other
    account already has a row with the same unique key."""
    found = f"{column.name} = :source" if column.path is None else f"{column.name} LIKE :like"
    rows = read_rows(tx, schema, f"{found} AND {column.condition}", source=source, like=f"%{source}%")
    keys = [key for key in unique_keys(tx, schema) if column.name in key]
    moved = 0
    for row in islice(rows, limit):
        whole = _is_row(schema.key, "key")
        given = {f"key_{part}": row[part] for part in schema.key}
        column.rename(row, lambda id: target if id == source else id)
        if any(
            tx.one(
                f"SELECT 1 FROM {schema.name} WHERE {_is_row(key, 'new')}",
                **{f"new_{p}": row[p] for p in key},
            )
            for key in keys
        ):
            tx.run(f"DELETE FROM {schema.name} WHERE {whole}", **given)
        else:
            tx.run(
                f"UPDATE {schema.name} SET {column.name} = :value WHERE {whole}",
                value=row[column.name],
                **given,
            )
        moved += 1
    return moved


def _is_row(key: tuple[str, ...], prefix: str) -> str:
    return " AND ".join(f"{part} = :{prefix}_{part}" for part in key)


_BATCH = 200


@job("moveAuthorship", bound=None, in_maintenance=True)
def move_authorship(context: Context, source: str, target: str) -> None:
    """Make ``target`` the author of all content that ``source`` wrote. Each batch of rows has its own transaction."""
    with context.db.read() as tx:
        schemas = read_schema(context.db, tx)
    for name, column in _columns(schemas):
        moved = 0 if _moves_at_once(schemas[name], column) else _BATCH
        while moved == _BATCH:
            renew()
            with context.db.write() as tx:
                moved = _move(tx, schemas[name], column, source, target, _BATCH)
