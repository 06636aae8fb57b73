"""Somebody comes: what an organization's directory has prepared for them becomes theirs."""

from __future__ import annotations

from ..kit.clock import now
from ..kit.db import Transaction


def meet_directory(tx: Transaction, organization_id: str, user_id: str, *, vouched: bool = False) -> None:
    """Lets the directory find the user it sent in a new member, and puts them into the groups it wanted them in.

    Nothing for an account whose address is not proved, unless the organization itself vouches for it: the directory
    meant the person of that address.
    """
    proved = "" if vouched else " AND u.email_verified = 1"
    row = tx.one(
        f"""SELECT s.id, u.email FROM users u JOIN scim_resources s
              ON s.organization_id = :org AND s.kind = 'user' AND s.user_id IS NULL AND s.user_name = u.email
            WHERE u.id = :user{proved}""",
        org=organization_id,
        user=user_id,
    )
    if row is None:
        return
    resource_id, email = row
    tx.run(
        "UPDATE scim_resources SET user_id = :user WHERE organization_id = :org AND kind = 'user' AND id = :id",
        user=user_id,
        org=organization_id,
        id=resource_id,
    )
    tx.run(
        """INSERT INTO team_members (team_id, user_id, joined_at)
           SELECT i.team_id, :user, :at FROM scim_invited_members i WHERE i.resource_id = :id
           ON CONFLICT (team_id, user_id) DO NOTHING""",
        user=user_id,
        at=now(),
        id=resource_id,
    )
    tx.run("DELETE FROM scim_invited_members WHERE resource_id = :id", id=resource_id)
    tx.run(
        "DELETE FROM invitations WHERE organization_id = :org AND email = :email AND standing = 1",
        org=organization_id,
        email=email,
    )
