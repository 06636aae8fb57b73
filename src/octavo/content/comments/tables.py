"""Declarations of the comment tables."""

from __future__ import annotations

from typing import Any, get_args

from octavo.kit.db.tables import Count, Table, declare, person, row

from .types import SuggestionStatus

_IS_OPEN = "c.parent_id IS NULL AND c.resolved_at IS NULL"

declare(
    Table(
        name="comments",
        of_space="space_id IN {spaces}",
        columns=(
            row("place_id", "change_requests", "spaces"),
            row("revision", "revisions"),
            person("posted_by"),
            person("resolved_by"),
        ),
        long=("body",),
        counts=(
            Count(
                "spaces",
                "comments",
                f"SELECT count(*) FROM comments c WHERE c.place_id = spaces.id AND {_IS_OPEN}",
            ),
            Count(
                "change_requests",
                "comments",
                f"SELECT count(*) FROM comments c WHERE c.place_id = change_requests.id AND {_IS_OPEN}",
            ),
            Count("comments", "replies", "SELECT count(*) FROM comments c WHERE c.parent_id = comments.id"),
        ),
    ),
    Table(
        name="comment_reactions",
        of_space="comment_id IN (SELECT id FROM comments WHERE space_id IN {spaces})",
        columns=(person("user_id"),),
    ),
    Table(
        name="comment_suggestions",
        of_space="comment_id IN (SELECT id FROM comments WHERE space_id IN {spaces})",
        columns=(person("settled_by"), row("revision_before", "revisions"), row("revision", "revisions")),
        values={"status": get_args(SuggestionStatus)},
        json={"was": list[dict[str, Any]], "becomes": list[dict[str, Any]]},
    ),
)
