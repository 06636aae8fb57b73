"""Remind page owners of reviews that are due."""

from __future__ import annotations

from datetime import UTC, datetime

from octavo.content.notifications.notifying import BATCH, notify
from octavo.content.notifications.store import NotificationContent, is_notified
from octavo.content.notifications.types import Reason
from octavo.content.references.viewing import load_view
from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import FOREVER, main_state
from octavo.core.freshness import Freshness, freshness_of
from octavo.core.pages import Page
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.access.authorization import role_of_person
from octavo.organization.access.members import find_membership
from octavo.organization.orgs.teams.store import list_member_ids

_EVERY = 24 * 3600.0


@jobs.job("remindOfReviews", bound="one row for each space with intervals")
def remind_of_reviews(context: Context) -> None:
    """Enqueue reminders for each space where a page has a review interval."""
    with context.db.read() as tx:
        spaces = tx.all(
            """SELECT s.id, s.organization_id FROM spaces s WHERE s.deleted_at IS NULL AND EXISTS (
                 SELECT 1 FROM page_versions v WHERE v.branch_id = s.main_branch AND v.to_seq = :forever
                   AND v.fields LIKE '%"review_every"%') ORDER BY s.id""",
            forever=FOREVER,
        )
    with context.db.write() as tx:
        for space_id, organization_id in spaces:
            jobs.enqueue(
                tx,
                "remindOwners",
                organization=organization_id,
                key=f"remindOwners {space_id}",
                organization_id=organization_id,
                space_id=space_id,
            )


jobs.schedule("remindOfReviews", _EVERY, "remindOfReviews")


@jobs.job("remindOwners", bound="one notification for each page of a space and each of its owners")
def remind_owners(context: Context, organization_id: str, space_id: str) -> None:
    """Notify the owners of all pages in a space that are due for review. Each owner is notified once for each
    review."""
    with context.db.read() as tx:
        tree = load_view(tx, unrestricted(tx, main_state(tx, space_id))).every
        today = datetime.now(UTC).date()
        due = [
            (page, freshness)
            for page in tree.documents()
            if (freshness := freshness_of(page, tree.ancestors(page))).due and freshness.due <= today
        ]
        owners = {
            name: _list_people(tx, organization_id, name)
            for name in {freshness.owner for _, freshness in due if freshness.owner}
        }
    for page, freshness in due:
        if people := owners.get(freshness.owner or ""):
            _remind(context, organization_id, space_id, page, freshness, people)


def _remind(
    context: Context, organization_id: str, space_id: str, page: Page, freshness: Freshness, people: list[str]
) -> None:
    about = f"review:{page.id}:{freshness.due}"
    note = NotificationContent(
        about=about,
        reason="reviewDue",
        at=now(),
        page_id=page.id,
        problem=f"The review has been due since {freshness.due}.",
    )
    for start in range(0, len(people), BATCH):
        with context.db.write() as tx:
            new: dict[str, Reason] = {
                user_id: "reviewDue"
                for user_id in people[start : start + BATCH]
                if not is_notified(tx, user_id, about)
                and role_of_person(tx, organization_id, "space", space_id, user_id) is not None
            }
            notify(context, tx, organization_id, space_id, note, new, of="page_review_due", page=page.id)


def _list_people(tx: Transaction, organization_id: str, owner: str) -> list[str]:
    """Return the members that an owner field refers to: one member by email address, or all members of a team by the
    team's title."""
    user = find_user_by_email(tx, owner)
    if user is not None:
        member = find_membership(tx, organization_id, user.id)
        return [user.id] if member is not None and not member.disabled and not user.disabled else []
    teams = tx.all(
        "SELECT id FROM teams WHERE organization_id = :org AND lower(title) = :title",
        org=organization_id,
        title=owner.strip().lower(),
    )
    return sorted(list_member_ids(tx, [row[0] for row in teams]))
