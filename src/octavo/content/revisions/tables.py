"""Declarations of the content tables, and hooks for copying and purging spaces."""

from __future__ import annotations

from typing import Any, get_args

from octavo.core.merge import MergeConflict
from octavo.core.page_fields import PageKind
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare, file, person, row, text
from octavo.organization.spaces.hooks import before_copy, on_begin, on_copy, on_purge, on_unnamed_texts

from .bodies import delete_bodies
from .copying import copy_content, list_content_writes
from .deriving import copy_derived
from .history import RevisionType
from .initializing import activate_copy, insert_main
from .item_versions import ITEM_KINDS, ItemFields
from .page_versions import PageFields

_BRANCHES = "(SELECT id FROM branches WHERE space_id IN {spaces})"
_COUNTING = """branch_id IN (SELECT id FROM branches WHERE space_id IN (
    SELECT id FROM spaces WHERE organization_id = :org))
  AND from_seq <= (SELECT b.sequence FROM branches b WHERE b.id = branch_id)"""
"""SQL condition for active rows. Rows beyond the head of their branch aren't exported with an organization."""

declare(
    Table(
        name="branches",
        of_space="space_id IN {spaces}",
        columns=(row("base_branch", "branches"), row("revision", "revisions")),
    ),
    Table(
        name="revisions",
        of_space=f"branch_id IN {_BRANCHES}",
        columns=(
            row("parents", "revisions", path=()),
            row("merged_from", "change_requests"),
            person("author"),
        ),
        values={"type": get_args(RevisionType)},
        json={"parents": list[str], "git": dict[str, Any], "conflicts": list[MergeConflict]},
        long=("message",),
    ),
    Table(
        name="page_versions",
        of_space=f"branch_id IN {_BRANCHES}",
        of_organization=_COUNTING,
        many=True,
        columns=(text("body"),),
        values={"kind": get_args(PageKind)},
        json={"fields": PageFields},
    ),
    Table(
        name="item_versions",
        of_space=f"branch_id IN {_BRANCHES}",
        of_organization=_COUNTING,
        many=True,
        columns=(text("content", kind=("reusable-content", "source")), file("content", kind=("file",))),
        values={"kind": ITEM_KINDS},
        json={"fields": ItemFields},
        long=("content",),
    ),
    Table(
        name="node_keys",
        of_space=f"""owner_id IN (SELECT page_id FROM page_versions WHERE branch_id IN {_BRANCHES}
          UNION SELECT item_id FROM item_versions WHERE branch_id IN {_BRANCHES})""",
        columns=(row("owner_id", "page_versions.page_id", "item_versions.item_id"),),
        json={"keys": dict[str, str]},
    ),
    Table(name="node_whereabouts", stays="rebuilt with the next comment or edit"),
    Table(name="bodies", stays="exported as files"),
    Table(name="derived_versions", of_space="space_id IN {spaces}", many=True, derived=True),
    Table(name="staged_versions", derived=True),
    Table(name="derivation", derived=True),
)


def purge_node_keys(tx: Transaction, space_id: str) -> None:
    """Delete the kept keys of nodes that no other space has. A duplicate of a space has the same pages with the same
    content, so it uses the same keys."""
    branches = "(SELECT id FROM branches WHERE space_id = :space)"
    for kept, table, owner, body in (
        ("node_keys", "page_versions", "page_id", "body"),
        ("node_keys", "item_versions", "item_id", "content"),
        ("node_whereabouts", "page_versions", "page_id", "body"),
    ):
        tx.run(
            f"""DELETE FROM {kept} WHERE owner_id IN (SELECT {owner} FROM {table} WHERE branch_id IN {branches})
                AND NOT EXISTS (SELECT 1 FROM {table} v WHERE v.{body} = {kept}.body
                  AND v.{owner} = {kept}.owner_id AND v.branch_id NOT IN {branches})""",
            space=space_id,
        )


before_copy(list_content_writes)
on_begin(insert_main)
on_copy(activate_copy)
on_copy(copy_content)
on_copy(copy_derived)
on_purge(purge_node_keys)
on_unnamed_texts(delete_bodies)
