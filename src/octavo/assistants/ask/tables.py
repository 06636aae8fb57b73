"""Declare the tables for answers and conversations."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare, member, row
from octavo.organization.spaces.hooks import on_transfer

declare(
    Table(name="site_answers", stays="are deleted after a day"),
    Table(
        name="agent_conversations",
        of_organization="organization_id = :org",
        columns=(member("user_id"), row("change_id", "change_requests")),
        membership="user_id",
        json={"questions": list[str]},
        long=("questions",),
    ),
)


def _unlink_conversations(tx: Transaction, space_id: str, organization_id: str) -> None:
    """Unlink conversations from the change requests of a transferred space. The conversations stay with their
    owners, in the organization where they took place."""
    tx.run(
        """UPDATE agent_conversations SET change_id = NULL WHERE change_id IN (
             SELECT id FROM change_requests WHERE space_id = :space)""",
        space=space_id,
    )


on_transfer(_unlink_conversations)
