"""Undo an agent's changes, using the same operations as people."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from octavo.content.changes.undoing import Ask, undo_change
from octavo.errors import OctavoError
from octavo.kit.db.database import Database
from octavo.kit.http.operation import TABLE, Actor
from octavo.organization.access.auditing import audit

from . import store

_MOST = 200
"""Maximum number of actions to undo in one call, newest first."""


class UndoneAct(Struct, rename="camel"):
    """Result of undoing one change. ``result``: whether the change request was archived, a new change request
    reverts the merge, the comment was deleted, the change was already undone, or the change was kept for the
    given ``reason``."""

    act: str
    operation: str
    result: Literal["archived", "reverted", "deleted", "already", "stays"]
    change_request: str | UnsetType = UNSET
    space: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class Undone(NamedTuple):
    """Result of one call to undo changes. ``next``: the action after which to continue, if there are more."""

    acts: list[UndoneAct]
    next: str | None


def undo(
    db: Database, actor: Actor, ask: Ask, agent: store.AgentRow, since: int, before: str | None
) -> Undone:
    with db.read() as tx:
        acts = store.list_acts_since(tx, agent.id, since, before, _MOST + 1)
        next = acts[_MOST - 1].id if len(acts) > _MOST else None
        acts = acts[:_MOST]
        made = store.made_by(tx, agent.id, [act.change_request_id for act in acts if act.change_request_id])
    done: dict[str, UndoneAct] = {}
    """Results by change request, because several actions can refer to the same change request."""
    found = []
    for act in acts:
        try:
            result = _undo(ask, act, made, done)
        except OctavoError as error:
            result = UndoneAct(act.id, act.operation, "stays", reason=error.message)
        found.append(result)
    gone = [one.act for one in found if one.result != "stays"]
    with db.write() as tx:
        if gone:
            store.mark_undone(tx, gone)
        details = {"acts": len(gone), "agent": agent.name}
        audit(tx, actor, "agent.undone", agent.organization_id, ("agent", agent.id), after=details)
    return Undone(found, next)


def _undo(ask: Ask, act: store.ActRow, made: set[str], done: dict[str, UndoneAct]) -> UndoneAct:
    change, space = act.change_request_id, act.space_id
    scope = TABLE[act.operation].agents if act.operation in TABLE else None
    if scope == "docs:comment":
        return _delete_comment(ask, act)
    if not _is_drafted(act.operation) or change is None or space is None:
        return UndoneAct(act.id, act.operation, "stays", reason="This change can't be undone.")
    if change in done:
        return UndoneAct(act.id, act.operation, done[change].result, reason=done[change].reason)
    undone = undo_change(ask, space, change, made=change in made)
    found = UndoneAct(act.id, act.operation, undone.result)
    if undone.revert is not None:
        found.change_request, found.space = undone.revert, space
    done[change] = found
    return found


def _is_drafted(operation: str) -> bool:
    match operation:
        case "createChangeRequest" | "updateChangeRequestContent" | "mergeChangeRequest":
            return True
        case _:
            return False


def _delete_comment(ask: Ask, act: store.ActRow) -> UndoneAct:
    path = {"spaceId": str(act.space_id)}
    where = "Space"
    if act.change_request_id is not None:
        path["changeRequestId"], where = act.change_request_id, "ChangeRequest"
    if act.parent_id is not None:
        path |= {"commentId": act.parent_id, "commentReplyId": str(act.object_id)}
        ask(f"deleteCommentReplyIn{where}", path)
    else:
        path["commentId"] = str(act.object_id)
        ask(f"deleteCommentIn{where}", path)
    return UndoneAct(act.id, act.operation, "deleted")
