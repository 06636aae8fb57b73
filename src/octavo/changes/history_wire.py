"""Revisions, and going back to one, on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..access import User, present_people
from ..content import RevisionRow, RevisionType
from ..kit.clock import iso
from ..kit.db import Transaction
from ..kit.operation import Call
from ..pages import ContentQuery, app_url
from .store import ChangeRow
from .wire import ChangeRequest, ChangeRequestUrls, present_changes


class RevisionChangesQuery(ContentQuery):
    limit: Annotated[int, Meta(ge=0, le=1000)] = 10


class RollbackAnswer(Struct):
    """``revision``: the new one of main."""

    revision: str
    result: Literal["rollback"] = "rollback"


class RevisionItem(Struct, rename="camel"):
    id: str
    parents: list[str]
    type: RevisionType
    created_at: str
    urls: ChangeRequestUrls
    object: Literal["revision-summary"] = "revision-summary"
    author: User | UnsetType = UNSET
    message: str | UnsetType = UNSET
    git: dict[str, Any] | UnsetType = UNSET
    merged_from: ChangeRequest | UnsetType = UNSET


def present_revisions(
    call: Call, tx: Transaction, space_id: str, rows: Sequence[RevisionRow], merged: dict[str, ChangeRow]
) -> list[RevisionItem]:
    """``merged``: change requests by id."""
    people = present_people(call, tx, [row.author for row in rows if row.author])
    shown = present_changes(call, tx, list(merged.values()))
    by_id = {change.id: change for change in shown}
    return [
        RevisionItem(
            id=row.id,
            parents=row.parents,
            type=row.type,  # type: ignore[arg-type]
            created_at=iso(row.created_at),
            urls=ChangeRequestUrls(
                app=f"{app_url(call, space_id)}/~/revisions/{row.id}",
                location=call.url(f"/spaces/{space_id}/revisions/{row.id}"),
            ),
            author=people[row.author] if row.author else UNSET,
            message=row.message or UNSET,
            git=row.git or UNSET,
            merged_from=by_id.get(row.merged_from, UNSET) if row.merged_from else UNSET,
        )
        for row in rows
    ]
