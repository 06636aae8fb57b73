"""Read and write the accounts of people, services, and integrations in the database. Rows are returned as
frozen records."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from octavo.errors import Conflict
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.settings import UNCHOSEN_EMAIL, Settings


class UserRow(Struct, frozen=True):
    id: str
    email: str
    display_name: str
    photo_url: str | None
    disabled: int
    created_at: int


IS_FIRST = "EXISTS (SELECT 1 FROM first_administrators f WHERE f.user_id = u.id)"
"""SQL condition that is true if the account ``u`` was created when the server first started."""
_USER = "u.id, u.email, u.display_name, u.photo_url, u.disabled, u.created_at"


def find_user(tx: Transaction, user_id: str) -> UserRow | None:
    row = tx.one(f"SELECT {_USER} FROM users u WHERE u.id = :id", id=user_id)
    return UserRow(*row) if row else None


def get_user_for_update(tx: Transaction, user_id: str) -> UserRow:
    """Return an existing user, and lock the row until the transaction ends."""
    row = tx.one(f"SELECT {_USER} FROM users u WHERE u.id = :id{tx.for_update}", id=user_id)
    assert row is not None
    return UserRow(*row)


def find_user_by_email(tx: Transaction, email: str) -> UserRow | None:
    row = tx.one(f"SELECT {_USER} FROM users u WHERE u.email = :email", email=email.strip().lower())
    return UserRow(*row) if row else None


def list_users_by_id(tx: Transaction, user_ids: list[str]) -> dict[str, UserRow]:
    """Return the users with these IDs, by ID. IDs of users who don't exist are left out."""
    rows = tx.all(f"SELECT {_USER} FROM users u WHERE u.id IN :ids", ids=sorted(set(user_ids)))
    return {row[0]: UserRow(*row) for row in rows}


def insert_user(tx: Transaction, email: str, display_name: str, *, verified: bool) -> UserRow:
    user = UserRow(ids.new_id(), email.strip().lower(), display_name, None, 0, now())
    tx.insert(
        "users",
        id=user.id,
        email=user.email,
        display_name=display_name,
        disabled=0,
        email_verified=int(verified),
        created_at=user.created_at,
    )
    return user


def has_verified_email(tx: Transaction, user_id: str) -> bool:
    return bool(tx.value("SELECT email_verified FROM users WHERE id = :id", id=user_id))


def is_operator(tx: Transaction, settings: Settings, user_id: str) -> bool:
    """Return whether a user is a server administrator: either the settings list the user's email address, or they don't
    list any address and the user is the first administrator. In both cases, the user's address must be verified, and
    the account must not be managed by an organization."""
    row = tx.one(
        f"""SELECT u.email, {IS_FIRST} FROM users u
            WHERE u.id = :id AND u.disabled = 0 AND u.email_verified = 1 AND u.kind = 'person'
              AND u.managed_by IS NULL""",
        id=user_id,
    )
    return row is not None and is_listed_operator(settings, row[0], is_first=bool(row[1]))


def is_listed_operator(settings: Settings, email: str, *, is_first: bool) -> bool:
    """Return whether the settings make the owner of a verified email address a server administrator.
    ``is_first``: whether the owner is the first administrator."""
    return email in settings.operators if settings.operators else is_first


def mark_first_administrator(tx: Transaction, user_id: str) -> None:
    """Record that this account was created when the server first started."""
    tx.run(
        "INSERT INTO first_administrators (user_id) VALUES (:user) ON CONFLICT (user_id) DO NOTHING",
        user=user_id,
    )


def is_first_administrator(tx: Transaction, user_id: str) -> bool:
    """Return whether this account was created when the server first started."""
    return tx.one("SELECT 1 FROM first_administrators WHERE user_id = :user", user=user_id) is not None


def lacks_email(tx: Transaction, settings: Settings, user: UserRow) -> bool:
    """Return whether the user is the first administrator and can still choose an email address."""
    return not settings.operators and user.email == UNCHOSEN_EMAIL and is_first_administrator(tx, user.id)


def set_email(tx: Transaction, user_id: str, email: str) -> None:
    """Set a verified email address. Raises Conflict if another account already has it."""
    found = find_user_by_email(tx, email)
    if found is not None and found.id != user_id:
        raise Conflict("email: is already used by another account. Use a different address.")
    tx.run("UPDATE users SET email = :email WHERE id = :id", email=email.strip().lower(), id=user_id)


def update_user(tx: Transaction, user_id: str, *, display_name: str | None, photo_url: str | None) -> None:
    """Update a user's name, photo URL, or both. None keeps the current value."""
    tx.run(
        """UPDATE users SET display_name = COALESCE(:name, display_name), photo_url = COALESCE(:photo, photo_url)
           WHERE id = :id""",
        id=user_id,
        name=display_name,
        photo=photo_url,
    )


def set_photo_url(tx: Transaction, user_id: str, photo_url: str | None) -> None:
    tx.run("UPDATE users SET photo_url = :photo WHERE id = :id", id=user_id, photo=photo_url)


def insert_managed(
    tx: Transaction, organization_id: str, kind: Literal["service", "integration"], name: str
) -> UserRow:
    """Insert an account that an organization uses for a service or an integration, not for a person. No one can sign in
    with this account, and its email address is invalid."""
    id = ids.new_id()
    domain = {"service": "service.invalid", "integration": "integrations.invalid"}[kind]
    user = UserRow(id, f"{id.lower()}@{domain}", name, None, 0, now())
    tx.insert(
        "users",
        id=user.id,
        email=user.email,
        display_name=name,
        kind=kind,
        managed_by=organization_id,
        created_at=user.created_at,
    )
    return user


def set_manager(tx: Transaction, user_id: str, organization_id: str) -> None:
    """Record that the organization created this account, and that the organization's directory or identity
    provider controls it."""
    tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=organization_id, id=user_id)


def set_password_hash(tx: Transaction, user_id: str, hashed: str) -> None:
    """Store the hash of a password. Compute the hash before the transaction, because hashing is slow."""
    tx.run("UPDATE users SET password_hash = :hash WHERE id = :id", hash=hashed, id=user_id)


def hand_over_account(tx: Transaction, user_id: str) -> None:
    """Hand over the account to the person who verified its email address: delete its password, and end the control that
    an organization has over it."""
    tx.run(
        "UPDATE users SET email_verified = 1, password_hash = NULL, managed_by = NULL WHERE id = :id",
        id=user_id,
    )


def disable_account(tx: Transaction, user_id: str) -> None:
    """Deactivate an account. The account is kept as the author of its content."""
    tx.run("UPDATE users SET disabled = 1 WHERE id = :id", id=user_id)


def enable_account(tx: Transaction, user_id: str) -> None:
    """Reactivate a deactivated account."""
    tx.run("UPDATE users SET disabled = 0 WHERE id = :id", id=user_id)


DELETED = "Deleted user"
"""Display name for authors whose accounts were deleted."""


def erase_account(tx: Transaction, user_id: str) -> None:
    """Delete all of a user's personal data, including all rows that depend on the account, such as sign-in methods and
    notifications. Content that the user wrote keeps the user's ID, which then doesn't identify anyone."""
    created_at = tx.value("SELECT created_at FROM users WHERE id = :id", id=user_id)
    tx.run("DELETE FROM users WHERE id = :id", id=user_id)
    tx.insert(
        "users",
        id=user_id,
        email=f"{user_id.lower()}@deleted.invalid",
        display_name=DELETED,
        kind="deleted",
        disabled=1,
        created_at=created_at,
    )


PEOPLE_LIKE = "(lower(u.display_name) LIKE :like ESCAPE '!' OR u.email LIKE :like ESCAPE '!')"
"""SQL condition on ``users u`` that matches users by part of their name or email address; see ``like_part``."""


def like_part(text: str) -> str:
    """Return the LIKE pattern that matches strings containing ``text``, ignoring case."""
    escaped = text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
