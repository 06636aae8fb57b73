"""Declarations of the change request tables."""

from __future__ import annotations

from typing import get_args

from octavo.core.merge import MergeConflict
from octavo.kit.db.tables import Count, Table, declare, person, row
from octavo.organization.spaces.hooks import on_transfer

from .store import withdraw_requests
from .types import Choice, ReviewStatus, Status

_OF_CHANGES = "change_id IN (SELECT id FROM change_requests WHERE space_id IN {spaces})"
_NUMBERED = """SELECT CASE WHEN coalesce(max(c.number), 0) > spaces.changes_total THEN max(c.number)
               ELSE spaces.changes_total END FROM change_requests c WHERE c.space_id = spaces.id"""
"""SQL for the number of change requests ever created in a space. The numbers of discarded drafts aren't reused."""
_COUNT = "SELECT count(*) FROM change_requests c WHERE c.space_id = spaces.id"

declare(
    Table(
        name="change_requests",
        of_space="space_id IN {spaces}",
        columns=(
            person("created_by"),
            row("revision_initial", "revisions"),
            row("revision_merged_ancestor", "revisions"),
            row("revision_merged", "revisions"),
            row("issues_cluster", "issue_clusters"),
        ),
        values={"status": get_args(Status)},
        json={"description": object, "links": list},
        counts=(
            Count("spaces", "changes_total", _NUMBERED),
            Count("spaces", "changes_open", f"{_COUNT} AND c.status = 'open'"),
            Count("spaces", "changes_draft", f"{_COUNT} AND c.status = 'draft'"),
        ),
    ),
    Table(
        name="revision_authors",
        of_space="""revision_id IN (SELECT r.id FROM revisions r JOIN branches b ON b.id = r.branch_id
                    WHERE b.space_id IN {spaces})""",
        columns=(person("user_id"),),
    ),
    Table(
        name="change_contributors",
        of_space=_OF_CHANGES,
        columns=(person("user_id"),),
        values={"action": ("edit", "comment")},
    ),
    Table(
        name="change_reviewers",
        of_space=_OF_CHANGES,
        columns=(person("user_id"), person("requested_by"), row("revision", "revisions")),
    ),
    Table(
        name="change_reviews",
        of_space=_OF_CHANGES,
        columns=(person("reviewer"), person("requested_by"), row("revision", "revisions")),
        values={"status": get_args(ReviewStatus)},
    ),
    Table(
        name="change_seen",
        of_space=_OF_CHANGES,
        stays="belong to a person, who reviews again on another server",
        columns=(person("user_id"),),
        membership="user_id",
    ),
    Table(
        name="change_settlements",
        of_space=_OF_CHANGES,
        columns=(person("settled_by"), row("revision_before", "revisions"), row("revision", "revisions")),
        values={"choice": get_args(Choice)},
        json={"conflicts": list[MergeConflict], "value": object},
    ),
)
on_transfer(withdraw_requests)
