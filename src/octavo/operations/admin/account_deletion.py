"""Delete accounts, with a preview that shows how many objects are affected.

Content that a person wrote is kept without their name: pages, comments, and decisions belong to the organization,
whose history must not have gaps.
"""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.accounts import erase_account, find_user, is_operator
from octavo.organization.access.auditing import Stranger, audit
from octavo.organization.identity.removal import remove_member
from octavo.settings import Settings


class LeftOrganization(Struct, frozen=True):
    """Organization that the owner of a deleted account leaves. ``last_admin``: whether the organization has no
    other administrator."""

    id: str
    title: str
    role: str | None
    last_admin: bool


class DeletionPreview(Struct, frozen=True):
    """Preview of a deletion.

    ``managed_by``: the title of the organization that manages the account. ``sessions``, ``tokens``, and
    ``agents``: how many of each would be deleted. ``comments``, ``change_requests``, and ``reviews``: how many of
    each would be kept without the person's name.
    """

    organizations: list[LeftOrganization]
    operator: bool
    managed_by: str | None
    sessions: int
    tokens: int
    agents: int
    comments: int
    change_requests: int
    reviews: int


_COUNTED = {
    "sessions": "SELECT count(*) FROM sessions WHERE user_id = :user",
    "tokens": "SELECT count(*) FROM tokens WHERE user_id = :user",
    "agents": "SELECT count(*) FROM agents WHERE user_id = :user",
    "comments": "SELECT count(*) FROM comments WHERE posted_by = :user",
    "change_requests": "SELECT count(*) FROM change_requests WHERE created_by = :user",
    "reviews": "SELECT count(*) FROM change_reviews WHERE reviewer = :user",
}


def preview_account_deletion(tx: Transaction, settings: Settings, user_id: str) -> DeletionPreview:
    """Return the effects that deleting a person's account would have. Raises NotFound if the person doesn't exist."""
    person = tx.one(
        """SELECT o.title FROM users u LEFT JOIN organizations o ON o.id = u.managed_by
           WHERE u.id = :user AND u.kind = 'person'""",
        user=user_id,
    )
    if person is None:
        raise NotFound(f"There is no user with the ID {user_id!r}.")
    organizations = tx.all(
        """SELECT o.id, o.title, m.role, m.role = 'admin' AND NOT EXISTS (
             SELECT 1 FROM members n JOIN users u ON u.id = n.user_id AND u.disabled = 0 AND u.kind = 'person'
             WHERE n.organization_id = o.id AND n.role = 'admin' AND n.disabled = 0 AND n.user_id <> :user)
           FROM members m JOIN organizations o ON o.id = m.organization_id
           WHERE m.user_id = :user ORDER BY o.title, o.id""",
        user=user_id,
    )
    return DeletionPreview(
        [LeftOrganization(id, title, role, last_admin=bool(last)) for id, title, role, last in organizations],
        is_operator(tx, settings, user_id),
        person[0],
        **{name: tx.value(query, user=user_id) for name, query in _COUNTED.items()},
    )


def delete_account(tx: Transaction, settings: Settings, by: Actor | Stranger, user_id: str) -> bool:
    """Delete a person's account. Return False if it doesn't exist.

    Raises Conflict if the person is the last administrator of an organization, or a server administrator.
    """
    user = find_user(tx, user_id)
    if user is None or not tx.one("SELECT 1 FROM users WHERE id = :id AND kind = 'person'", id=user_id):
        return False
    found = preview_account_deletion(tx, settings, user_id)
    if found.operator:
        raise Conflict(
            "This account belongs to a server administrator. Before you delete it, set OCTAVO_ADMIN_EMAIL to"
            " other people's email addresses and restart the server."
        )
    own = not isinstance(by, Stranger) and by.user_id == user_id
    if found.managed_by is not None and own:
        raise Conflict(
            f"This account is managed by {found.managed_by}. Only its administrators can delete the account."
        )
    for left in found.organizations:
        if left.last_admin:
            raise Conflict(
                f"This is the last administrator of {left.title}. Make another member an administrator first."
            )
    for left in found.organizations:
        remove_member(tx, left.id, user_id)
        target = ("user", user_id)
        audit(tx, by, "account.deleted", left.id, target, before={"role": left.role})
    erase_account(tx, user_id)
    return True
