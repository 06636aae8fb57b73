"""Wire types for revisions and for reverting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import ContentQuery
from octavo.content.revisions.history import RevisedPages, RevisionRow, RevisionType
from octavo.core.app_urls import revision_view
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.wire import User, present_people

from .store import ChangeRow, list_authors, list_editors
from .wire import ChangeRequest, ChangeRequestUrls, present_changes


class RevisionChangesQuery(ContentQuery, kw_only=True):
    """Query parameters for a revision's changes. ``since`` (an Octavo extension): the earlier revision to compare with
    instead of the previous revision. ``only``: the ID of the page or item whose changes to return. ``page``:
    `next.page` of the previous response."""

    limit: Annotated[int, Meta(ge=0, le=1000)] = 10
    since: str | None = None
    only: str | None = None
    page: str | None = None


class RevertQuery(Struct):
    """Query parameters for a revert. ``undo``: ``revision`` reverts that revision, and ``later`` reverts all changes
    after it."""

    undo: Literal["revision", "later"] = "revision"


class RollbackAnswer(Struct):
    """Result of a rollback. ``revision``: the new revision of main."""

    revision: str
    result: Literal["rollback"] = "rollback"


class RevisionItem(Struct, rename="camel", kw_only=True):
    """Revision in the history of a space. ``agent``: the agent that the author used. ``contributors``: everyone who
    edited the merged change request, or who wrote in a page that was edited live, most recent first. ``pages``: the
    number of pages that the revision created or changed, with the title of one of them."""

    id: str
    parents: list[str]
    type: RevisionType
    created_at: str
    urls: ChangeRequestUrls
    saves: int
    object: Literal["revision-summary"] = "revision-summary"
    pages: int | UnsetType = UNSET
    page_title: str | UnsetType = UNSET
    begun_at: str | UnsetType = UNSET
    author: User | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    git: dict[str, Any] | UnsetType = UNSET
    merged_from: ChangeRequest | UnsetType = UNSET
    contributors: list[User] | UnsetType = UNSET


def present_revisions(
    to: Recipient,
    tx: Transaction,
    space_id: str,
    rows: Sequence[RevisionRow],
    merged: dict[str, ChangeRow],
    begun: dict[str, RevisionRow],
    revised: dict[str, RevisedPages],
) -> list[RevisionItem]:
    """Return revisions in their API format. ``merged``: the merged change requests by ID. ``begun``: the first revision
    of each series of consecutive saves, by the ID of the last revision. ``revised``: the changed pages by revision
    ID."""
    editors = list_editors(tx, merged)
    writers = list_authors(tx, [row.id for row in rows])
    contributors = {row.id: editors.get(row.merged_from or "", []) or writers.get(row.id, []) for row in rows}
    ids = [row.author for row in rows if row.author]
    people = present_people(to, tx, [*ids, *(id for found in contributors.values() for id in found)])
    shown = present_changes(to, tx, list(merged.values()))
    by_id = {change.id: change for change in shown}
    return [
        RevisionItem(
            id=row.id,
            parents=begun.get(row.id, row).parents,
            saves=row.sequence - row.before,
            pages=revised[row.id].count if row.id in revised else UNSET,
            page_title=revised[row.id].title if row.id in revised else UNSET,
            begun_at=iso(begun[row.id].created_at) if row.id in begun else UNSET,
            type=row.type,  # type: ignore[arg-type]
            created_at=iso(row.created_at),
            urls=ChangeRequestUrls(
                app=to.app.space(space_id, revision_view(row.id)),
                location=to.url(f"/spaces/{space_id}/revisions/{row.id}"),
            ),
            author=people[row.author] if row.author else UNSET,
            agent=row.agent or UNSET,
            message=row.message or UNSET,
            git=row.git or UNSET,
            merged_from=by_id.get(row.merged_from, UNSET) if row.merged_from else UNSET,
            contributors=[people[id] for id in contributors[row.id]]
            if row.merged_from or contributors[row.id]
            else UNSET,
        )
        for row in rows
    ]
