"""Read and write organization memberships in the database, and call hooks for new members. Rows are returned
as frozen records."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

from .limits import within_limit

Joined = Callable[[Transaction, str, str, bool], None]
_on_joined: list[Joined] = []


def on_joined(hook: Joined) -> Joined:
    """Register ``hook(tx, organization_id, user_id, vouched)``, which is called in the transaction in which a
    person becomes a member.

    ``vouched``: whether the organization itself vouches that the account belongs to the owner of its email address.
    """
    _on_joined.append(hook)
    return hook


def notify_joined(tx: Transaction, organization_id: str, user_id: str, *, vouched: bool = False) -> None:
    """Call all registered hooks for a new member."""
    for hook in _on_joined:
        hook(tx, organization_id, user_id, vouched)


class Membership(Struct, frozen=True):
    """Membership in an organization. ``accepted``: whether the person joined voluntarily or with an account that the
    organization created. Only in these cases can the organization's identity provider vouch for the person."""

    role: str | None
    disabled: int
    accepted: int


def find_membership(tx: Transaction, organization_id: str, user_id: str) -> Membership | None:
    """Return a membership, whether enabled or disabled."""
    row = tx.one(
        "SELECT role, disabled, accepted FROM members WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )
    return Membership(*row) if row else None


def upsert_member(
    tx: Transaction, organization_id: str, user_id: str, role: str | None, *, accepted: bool = False
) -> None:
    """Add a member, or change a member's role. If the member has already accepted the invitation, the
    acceptance is kept. Raises LimitReached if the organization can't have more members."""
    with within_limit(tx, organization_id, "members"):
        tx.run(
            """INSERT INTO members (organization_id, user_id, role, accepted, joined_at)
               VALUES (:org, :user, :role, :accepted, :at)
               ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role,
                 accepted = CASE WHEN excluded.accepted = 1 THEN 1 ELSE members.accepted END""",
            org=organization_id,
            user=user_id,
            role=role,
            accepted=int(accepted),
            at=now(),
        )


def find_first_administrator(tx: Transaction, organization_id: str) -> str | None:
    """Return the longest-standing administrator of an organization."""
    row = tx.one(
        """SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.organization_id = :org AND m.role = 'admin' AND m.disabled = 0 AND u.disabled = 0
             AND u.kind = 'person' ORDER BY m.joined_at, m.user_id LIMIT 1""",
        org=organization_id,
    )
    return row[0] if row else None


def accept_membership(tx: Transaction, organization_id: str, user_id: str) -> None:
    """Record that the member accepts the membership."""
    tx.run(
        "UPDATE members SET accepted = 1 WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )


def withdraw_acceptance(tx: Transaction, user_id: str) -> None:
    """Reset the acceptance of all memberships, because the account has a new owner."""
    tx.run("UPDATE members SET accepted = 0 WHERE user_id = :id", id=user_id)


def set_member_role(tx: Transaction, organization_id: str, user_id: str, role: str | None) -> None:
    """Set the role of a member. None makes the member a guest."""
    tx.run(
        "UPDATE members SET role = :role WHERE organization_id = :org AND user_id = :user",
        role=role,
        org=organization_id,
        user=user_id,
    )


def set_sso(tx: Transaction, organization_id: str, user_id: str) -> bool:
    """Record that the member signs in through the identity provider. Return False if that was already
    recorded."""
    return (
        tx.run(
            "UPDATE members SET sso = 1 WHERE organization_id = :org AND user_id = :user AND sso = 0",
            org=organization_id,
            user=user_id,
        )
        > 0
    )


def note_seen(tx: Transaction, user_id: str, organization_id: str | None) -> None:
    """Record that the user was active in the organization. If the organization is None, record this for all of the
    user's organizations."""
    only = "" if organization_id is None else " AND organization_id = :org"
    tx.run(
        f"UPDATE members SET last_seen_at = :at WHERE user_id = :user AND disabled = 0{only}",
        at=now(),
        org=organization_id,
        user=user_id,
    )


def enable_membership(tx: Transaction, organization_id: str, user_id: str) -> None:
    tx.run(
        "UPDATE members SET disabled = 0 WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )


def disable_membership(tx: Transaction, organization_id: str, user_id: str) -> bool | None:
    """Disable a membership. Return whether it was accepted, or None if there was no membership or it was already
    disabled."""
    row = tx.one(
        """UPDATE members SET disabled = 1 WHERE organization_id = :org AND user_id = :user AND disabled = 0
           RETURNING accepted""",
        org=organization_id,
        user=user_id,
    )
    return None if row is None else bool(row[0])


def delete_membership(tx: Transaction, organization_id: str, user_id: str) -> bool | None:
    """Delete a membership. Return whether it was accepted, or None if there was no membership. The caller must handle
    dependent data."""
    row = tx.one(
        "DELETE FROM members WHERE organization_id = :org AND user_id = :user RETURNING accepted",
        org=organization_id,
        user=user_id,
    )
    return None if row is None else bool(row[0])


def is_member_of_any(tx: Transaction, user_id: str, organization_ids: list[str]) -> bool:
    """Return whether a user is an enabled or disabled member of one of these organizations."""
    return (
        tx.one(
            "SELECT 1 FROM members WHERE user_id = :user AND organization_id IN :organizations",
            user=user_id,
            organizations=organization_ids,
        )
        is not None
    )


def find_members(tx: Transaction, organization_id: str, user_ids: Iterable[str]) -> set[str]:
    """Return the given users who are members of the organization."""
    rows = tx.all(
        "SELECT user_id FROM members WHERE organization_id = :org AND user_id IN :users",
        org=organization_id,
        users=sorted(set(user_ids)),
    )
    return {row[0] for row in rows}


def require_members(tx: Transaction, organization_id: str, user_ids: list[str], place: str) -> None:
    """Raise NotFound unless all users are members of the organization. ``place``: the name of the request field, for
    the error message."""
    if missing := set(user_ids) - find_members(tx, organization_id, user_ids):
        raise NotFound(f"{place}: there is no member with the ID {sorted(missing)[0]!r} in this organization")
