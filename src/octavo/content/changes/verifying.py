"""Verify a page: record in main that someone checked today that the page is still correct."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.restrictions import find_rules, main_seen_by
from octavo.errors import Forbidden, NotFound, PreconditionFailed
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import SpaceAccess, find_space_access
from octavo.organization.access.roles import Can

from . import merging, store
from .authorization import ChangeAccess, change_access
from .commands import UpdatePage
from .comparing import MergedContent
from .editing import edit
from .saving import create_with, edit_main, resolver_maker, retry_on_conflict, set_change
from .store import ChangeRow


class Verified(NamedTuple):
    """Result of a verification. ``change``: in a locked space, the change request that contains the
    verification. ``open``: whether that change request still has to be reviewed and merged."""

    change: ChangeRow | None
    open: bool


def verify_page(context: Context, space: SpaceAccess, page_id: str) -> Verified:
    """Record that the caller verified a page today.

    In a locked space, this creates a change request. It is merged immediately if the caller can merge it and
    all merge rules pass, and otherwise needs a review. Raises NotFound if the page doesn't exist or is
    generated.
    """
    with context.db.read() as tx:
        _require_page(tx, space, page_id)
        user = find_user(tx, space.user_id)
    update = UpdatePage(
        page=page_id,
        verified_on=datetime.now(UTC).date().isoformat(),  # type: ignore[call-arg]
        verified_by=user.display_name if user else None,
    )
    if not space.locked:
        edit_main(context, space, [update])
        return Verified(None, open=False)
    change = _draft(context, space, update)
    with context.db.read() as tx:
        access = change_access(tx, space, change.id)
    merged = _try_to_merge(context, access)
    with context.db.write() as tx:
        if not merged:
            set_change(tx, access, status="open")
        return Verified(store.get_change(tx, change.id), open=not merged)


def _require_page(tx: Transaction, space: SpaceAccess, page_id: str) -> None:
    page = find_page(tx, main_seen_by(tx, space), page_id)
    if page is None or page.kind != "document" or page.computed:
        raise NotFound(f"There is no page with the ID {page_id!r} that can be verified in this space.")


def _draft(context: Context, space: SpaceAccess, update: UpdatePage) -> ChangeRow:
    meaning = resolver_maker(context, space.actor)

    def attempt() -> ChangeRow:
        with context.db.read() as tx:
            main = main_seen_by(tx, space)
            page = find_page(tx, main, update.page)
            edited = edit(meaning(tx, main), tx, main, [update])
            # Everyone who sees the space sees the subject.
            is_restricted = update.page in find_rules(tx, main)
        merged = MergedContent(edited.changes, edited.bodies, edited.keys, edited.conflicts)
        named = "a page" if page is None or is_restricted else page.title
        return create_with(context, space, main, merged, subject=f"Verify {named}")

    return retry_on_conflict(attempt)


def _try_to_merge(context: Context, access: ChangeAccess) -> bool:
    with context.db.read() as tx:
        if find_space_access(tx, access.actor, Can.MERGE, access.space_id) is None:
            return False
    try:
        return not merging.merge(context, access).conflicts
    except (Forbidden, PreconditionFailed):
        return False
