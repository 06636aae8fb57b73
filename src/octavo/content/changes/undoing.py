"""Undo an agent's change requests with the same operations that people use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from octavo.errors import Conflict

Ask = Callable[..., Any]
"""Function that performs an operation as the person who undoes the changes. Its arguments are ``(operation, path,
body)``."""


class UndoneChange(NamedTuple):
    """Result of undoing a change request. ``revert``: the new change request that reverts it, if it was merged."""

    result: Literal["archived", "reverted", "already"]
    revert: str | None = None


def undo_change(ask: Ask, space_id: str, change_id: str, *, made: bool) -> UndoneChange:
    """Archive a change request. If it is merged, create a change request that reverts it instead. ``made``: whether
    the agent created the change request. Raises Conflict if someone else created it and it isn't merged."""
    path = {"spaceId": space_id, "changeRequestId": change_id}
    change = ask("getChangeRequestById", path)
    if change["status"] == "merged":
        merged = {"spaceId": space_id, "revisionId": change["revisionMerged"]}
        return UndoneChange("reverted", ask("revertRevision", merged)["id"])
    if not made:
        raise Conflict(
            "Someone else created this change request, so it can't be undone as a whole. Revert the"
            " agent's edits in it instead."
        )
    if change["status"] == "archived":
        return UndoneChange("already")
    ask("updateChangeRequestById", path, {"status": "archived"})
    return UndoneChange("archived")
