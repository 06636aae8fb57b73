"""Create a space's main branch and its first revision, which is empty or contains a copy of another space."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.organization.spaces.hooks import Copy, NewSpace
from octavo.organization.spaces.store import get_space


def insert_main(tx: Transaction, beginning: NewSpace) -> None:
    """Insert the branch and its first revision. They have the sequence 0 and stay inactive until
    ``activate_copy``."""
    sequence = 1 if beginning.counts else 0
    tx.insert(
        "branches",
        id=beginning.branch_id,
        space_id=beginning.space_id,
        sequence=sequence,
        revision=beginning.revision_id,
    )
    tx.insert(
        "revisions",
        id=beginning.revision_id,
        branch_id=beginning.branch_id,
        sequence=sequence,
        parents="[]",
        type="edits",
        author=beginning.author,
        created_at=now(),
    )


def activate_copy(tx: Transaction, copy: Copy) -> None:
    """Activate the first revision of a duplicated space."""
    branch = get_space(tx, copy.copy_id).main_branch
    tx.run("UPDATE branches SET sequence = 1 WHERE id = :id AND sequence = 0", id=branch)
    tx.run("UPDATE revisions SET sequence = 1 WHERE branch_id = :id AND sequence = 0", id=branch)
