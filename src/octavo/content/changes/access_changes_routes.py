"""Routes that return who can read the pages of a change request."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.roles import SPACE, Can, at_least
from octavo.organization.access.wire import User, present_people

from . import access_changes, store
from .authorization import ChangeAccess

operation = Area("changes").operation

_NAMED = 10


class PageReaders(Struct):
    """People who gain or lose access to a page. ``people``: the first 10 of them."""

    count: int
    people: list[User]


class PageAccessChange(Struct):
    """Page whose readers change when a change request is merged. ``gained``: the people who can see the page only after
    the merge. ``lost``: the people who can see the page only before the merge. ``open``: whether everyone who can see
    the space can see the page after the merge."""

    page: str
    title: str
    gained: PageReaders
    lost: PageReaders
    open: bool


class AccessChanges(Struct, rename="camel", kw_only=True):
    """Access changes that a merge causes. ``pages``: the pages whose readers change. ``hidden_pages``: the number of
    changed pages that the caller can't see. ``reviewers``: the first 10 people who can review all of those hidden
    pages. Only reviewers get the last two fields."""

    pages: list[PageAccessChange]
    hidden_pages: int | UnsetType = UNSET
    reviewers: list[User] | UnsetType = UNSET
    object: Literal["access-changes"] = "access-changes"


@operation(
    "getAccessChangesInChangeRequest",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/access-changes",
    needs=Can.EDIT,
    errors=(404,),
)
def get_access_changes(call: Call, change: ChangeAccess) -> AccessChanges:
    """List the people who gain or lose access to pages when a change request is merged. Reviewers also get the number
    of changed pages that they can't see, and the people who can review those pages."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        found = access_changes.list_access_changes(tx, change, row)
        hidden = None
        if at_least(change.role, SPACE[Can.REVIEW]):
            hidden = access_changes.find_hidden_changes(tx, change, row)
        able = hidden.reviewers if hidden is not None else []
        named = [id for one in found for id in (*one.gained[:_NAMED], *one.lost[:_NAMED])]
        people = present_people(call, tx, list(dict.fromkeys((*named, *able))))

    def readers(ids: list[str]) -> PageReaders:
        return PageReaders(len(ids), [people[id] for id in ids[:_NAMED]])

    return AccessChanges(
        pages=[
            PageAccessChange(one.page.id, one.page.title, readers(one.gained), readers(one.lost), one.is_open)
            for one in found
        ],
        hidden_pages=hidden.count if hidden is not None else UNSET,
        reviewers=[people[id] for id in able] if hidden is not None else UNSET,
    )
