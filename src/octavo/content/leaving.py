"""What the content of a space leaves behind when the space is purged: texts and files that others may use."""

from __future__ import annotations

from ..kit.db import Transaction
from ..spaces import leave

_BRANCHES = "(SELECT id FROM branches WHERE space_id = :space)"


def leave_content(tx: Transaction, space_id: str) -> None:
    """Notes the texts and files of a space, and takes away kept keys of nodes that nobody else has."""
    leave(
        tx, "body", f"SELECT body AS hash FROM page_versions WHERE branch_id IN {_BRANCHES}", space=space_id
    )
    leave(
        tx,
        "body",
        f"""SELECT content AS hash FROM item_versions
            WHERE branch_id IN {_BRANCHES} AND kind IN ('reusable-content', 'source')""",
        space=space_id,
    )
    leave(
        tx,
        "file",
        f"SELECT content AS hash FROM item_versions WHERE branch_id IN {_BRANCHES} AND kind = 'file'",
        space=space_id,
    )
    # A copy of the space has the same pages with the same texts: then the keys are its own as well.
    for table, owner, body in (("page_versions", "page_id", "body"), ("item_versions", "item_id", "content")):
        tx.run(
            f"""DELETE FROM node_keys WHERE owner_id IN (SELECT {owner} FROM {table} WHERE branch_id IN {_BRANCHES})
                AND NOT EXISTS (SELECT 1 FROM {table} v WHERE v.{body} = node_keys.body
                  AND v.{owner} = node_keys.owner_id AND v.branch_id NOT IN {_BRANCHES})""",
            space=space_id,
        )
