"""Read and write invitations and invite links in the database. Rows are returned as frozen records."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import WEEK, now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import Sealer, before_sealing, sealed_column
from octavo.organization.access.tokens import hash_token

LIFETIME = WEEK
"""Lifetime of an invitation in milliseconds."""

Target = Literal["organization", "space", "collection"]


_NEVER = 253_402_300_799_000
"""Expiration time of standing invitations: the end of the year 9999."""


class InvitationRow(Struct, frozen=True):
    """Invitation for an email address. ``mailed``: whether only someone with access to the mailbox can know
    the secret. ``standing``: whether it was created by a directory, has no secret, and is valid until it is
    revoked."""

    id: str
    organization_id: str
    email: str
    role: str | None
    sso: int
    mailed: int
    invited_by: str
    created_at: int
    expires_at: int
    standing: int


_INVITATION = ", ".join(InvitationRow.__struct_fields__)


def put_invitation(
    tx: Transaction,
    organization_id: str,
    email: str,
    role: str | None,
    *,
    sso: bool,
    invited_by: str,
    hash: str | None,
    standing: bool = False,
) -> str:
    """Create or renew an invitation for an email address, and return its ID. ``hash``: the hash of the secret; by
    default, the secret is created when the email is sent.

    A pending invitation stays pending if someone else invites the same address."""
    invitation_id, moment = ids.new_id(), now()
    return str(
        tx.value(
            """INSERT INTO invitations (id, organization_id, email, role, sso, hash, mailed, invited_by, created_at,
                                        expires_at, standing)
               VALUES (:id, :org, :email, :role, :sso, :hash, :mailed, :by, :at, :expires, :standing)
               ON CONFLICT (organization_id, email) DO UPDATE SET role = excluded.role, sso = excluded.sso,
                 hash = excluded.hash, mailed = excluded.mailed, invited_by = excluded.invited_by,
                 created_at = excluded.created_at,
                 expires_at = CASE WHEN invitations.standing = 1 THEN invitations.expires_at
                                   ELSE excluded.expires_at END,
                 standing = CASE WHEN invitations.standing = 1 THEN 1 ELSE excluded.standing END
               RETURNING id""",
            id=invitation_id,
            org=organization_id,
            email=email,
            role=role,
            sso=int(sso),
            hash=hash,
            mailed=int(hash is None),
            by=invited_by,
            at=moment,
            expires=_NEVER if standing else moment + LIFETIME,
            standing=int(standing),
        )
    )


def find_invitation(tx: Transaction, invitation_id: str) -> InvitationRow | None:
    row = tx.one(f"SELECT {_INVITATION} FROM invitations WHERE id = :id", id=invitation_id)
    return InvitationRow(*row) if row else None


def find_invitation_of(tx: Transaction, organization_id: str, email: str) -> InvitationRow | None:
    row = tx.one(
        f"SELECT {_INVITATION} FROM invitations WHERE organization_id = :org AND email = :email",
        org=organization_id,
        email=email,
    )
    return InvitationRow(*row) if row else None


def find_invitation_by_hash(tx: Transaction, hash: str) -> InvitationRow | None:
    """Return the invitation if it hasn't expired."""
    row = tx.one(
        f"SELECT {_INVITATION} FROM invitations WHERE hash = :hash AND expires_at > :now",
        hash=hash,
        now=now(),
    )
    return InvitationRow(*row) if row else None


class OpenInvitation(Struct, frozen=True):
    """Invitation as shown to the invited person."""

    id: str
    organization_id: str
    title: str
    role: str | None
    created_at: int


_OPEN = """FROM users u JOIN invitations i ON i.email = u.email JOIN organizations o ON o.id = i.organization_id
  JOIN members m ON m.organization_id = i.organization_id AND m.user_id = i.invited_by
    AND m.role = 'admin' AND m.disabled = 0
  WHERE u.id = :user AND u.email_verified = 1 AND i.expires_at > :now
    AND NOT EXISTS (SELECT 1 FROM members x WHERE x.organization_id = i.organization_id AND x.user_id = u.id)"""


def list_open_invitations(
    tx: Transaction, user_id: str, limit: int, page: str | None
) -> Slice[OpenInvitation]:
    """Return the invitations that a user with a verified address can accept, newest first."""
    return list_page(
        tx,
        limit,
        page,
        "i.id, o.id, o.title, i.role, i.created_at",
        _OPEN,
        lambda row: OpenInvitation(*row),
        by="i.id",
        descending=True,
        user=user_id,
        now=now(),
    )


def set_hash(tx: Transaction, invitation_id: str, hash: str) -> None:
    tx.run("UPDATE invitations SET hash = :hash WHERE id = :id", hash=hash, id=invitation_id)


def list_invitations(
    tx: Transaction, organization_id: str, limit: int, page: str | None
) -> Slice[InvitationRow]:
    """Return the open invitations, newest first, including expired invitations."""
    return list_page(
        tx,
        limit,
        page,
        _INVITATION,
        "FROM invitations WHERE organization_id = :org",
        lambda row: InvitationRow(*row),
        descending=True,
        org=organization_id,
    )


def delete_invitation(tx: Transaction, organization_id: str, invitation_id: str) -> InvitationRow | None:
    """Delete an invitation, and return it, or None if it doesn't exist."""
    row = tx.one(
        f"DELETE FROM invitations WHERE organization_id = :org AND id = :id RETURNING {_INVITATION}",
        org=organization_id,
        id=invitation_id,
    )
    return InvitationRow(*row) if row else None


# --- links --------------------------------------------------------------------------------------------


class LinkRow(Struct, frozen=True):
    """Invite link. ``secret``: the secret required to join, which is the link's ID in the API. The row is
    looked up by the secret's hash, and stores the secret encrypted."""

    secret: str
    organization_id: str
    target_type: Target
    target_id: str
    role: str | None
    created_by: str


_SECRET = sealed_column("invite_links", "secret", "id")
_LINK = "id, secret, organization_id, target_type, target_id, role, created_by"


def _link(sealer: Sealer, row: Row) -> LinkRow:
    id, secret, *rest = row
    return LinkRow(_SECRET.open(sealer, secret, id), *rest)


def insert_link(
    tx: Transaction,
    sealer: Sealer,
    organization_id: str,
    target: tuple[Target, str],
    role: str | None,
    created_by: str,
    secret: str,
) -> LinkRow:
    id = hash_token(secret)
    tx.insert(
        "invite_links",
        id=id,
        secret=_SECRET.seal(sealer, secret, id),
        organization_id=organization_id,
        target_type=target[0],
        target_id=target[1],
        role=role,
        created_by=created_by,
        created_at=now(),
    )
    return LinkRow(secret, organization_id, *target, role, created_by)


def find_organization_of_link(tx: Transaction, secret: str) -> str | None:
    found: str | None = tx.value(
        "SELECT organization_id FROM invite_links WHERE id = :id", id=hash_token(secret)
    )
    return found


def find_link(tx: Transaction, sealer: Sealer, organization_id: str, secret: str) -> LinkRow | None:
    row = tx.one(
        f"SELECT {_LINK} FROM invite_links WHERE organization_id = :org AND id = :id",
        org=organization_id,
        id=hash_token(secret),
    )
    return _link(sealer, row) if row else None


def list_links(
    tx: Transaction, sealer: Sealer, organization_id: str, limit: int, page: str | None
) -> Slice[LinkRow]:
    """Return the links to the organization as a whole, newest first."""
    source = "FROM invite_links WHERE organization_id = :org AND target_type = 'organization'"
    return list_page(
        tx,
        limit,
        page,
        _LINK,
        source,
        lambda row: _link(sealer, row),
        by="created_at, id",
        key_types=(int, str),
        descending=True,
        org=organization_id,
    )


def set_link_role(tx: Transaction, secret: str, role: str | None, changed_by: str) -> None:
    """Set the role of a link. The person who changes the role becomes the link's creator, whose permissions the link
    depends on."""
    tx.run(
        "UPDATE invite_links SET role = :role, created_by = :by WHERE id = :id",
        role=role,
        by=changed_by,
        id=hash_token(secret),
    )


def delete_link(tx: Transaction, secret: str) -> None:
    tx.run("DELETE FROM invite_links WHERE id = :id", id=hash_token(secret))


@before_sealing
def hash_ids_of_links(tx: Transaction) -> None:
    """Replace the IDs of old links with their hashes. Older versions used the secret itself as the ID of the row,
    and migration 75 copied that ID."""
    for (secret,) in tx.all("SELECT secret FROM invite_links WHERE id = secret"):
        tx.run("UPDATE invite_links SET id = :id WHERE id = :secret", id=hash_token(secret), secret=secret)


def delete_standing_invitation(tx: Transaction, organization_id: str, email: str) -> None:
    """Delete a directory's invitation after the invited person has joined."""
    tx.run(
        "DELETE FROM invitations WHERE organization_id = :org AND email = :email AND standing = 1",
        org=organization_id,
        email=email,
    )


def delete_links_to(tx: Transaction, kind: str, ids: list[str]) -> None:
    """Delete the links to spaces or collections that left the organization."""
    tx.run("DELETE FROM invite_links WHERE target_type = :kind AND target_id IN :ids", kind=kind, ids=ids)
