"""What the tables of content are, and what becomes of it when its space is copied or purged."""

from __future__ import annotations

from typing import Any, get_args

from ..core.merge import Conflict
from ..core.page_fields import PageKind
from ..kit.db import Transaction
from ..kit.tables import Table, declare, file, person, row, text
from ..spaces import before_copy, on_begin, on_copy, on_purge, on_unnamed_texts
from .beginning import begin_main, let_copy_count
from .bodies import delete_bodies
from .copying import copy_content, list_content_writes
from .deriving import copy_derived
from .store import ITEM_KINDS, ItemFields, PageFields, RevisionType

_BRANCHES = "(SELECT id FROM branches WHERE space_id IN {spaces})"
_COUNTING = """branch_id IN (SELECT id FROM branches WHERE space_id IN (
    SELECT id FROM spaces WHERE organization_id = :org))
  AND from_seq <= (SELECT b.sequence FROM branches b WHERE b.id = branch_id)"""
"""Rows that are beyond the head of their branch belong to a space, and go along with no organization."""

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
        json={"parents": list[str], "git": dict[str, Any], "conflicts": list[Conflict]},
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
    Table(name="node_whereabouts", stays="noted anew with the next comment or edit"),
    Table(name="bodies", stays="go along as files"),
    Table(name="derived_versions", of_space="space_id IN {spaces}", many=True, derived=True),
    Table(name="staged_versions", derived=True),
    Table(name="derivation", derived=True),
)


def purge_node_keys(tx: Transaction, space_id: str) -> None:
    """Deletes the kept keys of nodes that no other space has: a copy has the same pages with the same texts, and
    then the keys are its own as well."""
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
on_begin(begin_main)
on_copy(let_copy_count)
on_copy(copy_content)
on_copy(copy_derived)
on_purge(purge_node_keys)
on_unnamed_texts(delete_bodies)
