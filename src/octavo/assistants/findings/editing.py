"""Resolve, dismiss, reopen, and assign findings, and ignore them on single pages."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, role_of_person
from octavo.organization.access.members import require_members
from octavo.organization.access.teams import require_teams
from octavo.sites.site.store import get_site

from . import store
from .kinds import KINDS, FindingStatus
from .store import FindingRow
from .types import Assignee, TeamAssignee, UserAssignee


def update_finding(
    tx: Transaction,
    site: SiteAccess,
    row: FindingRow,
    status: FindingStatus | UnsetType,
    reason: str | UnsetType,
    assignee: Assignee | None | UnsetType,
) -> None:
    """Set the status and the assignee of a finding. ``reason``: why the finding is dismissed. Raises BadRequest if
    there is a reason but the finding isn't dismissed, or if the assignee can't see the finding's space (all spaces of
    the site for a finding without a space). Raises NotFound if the assignee is unknown."""
    wanted = row.status if status is UNSET else status
    if reason is not UNSET and wanted != "canceled":
        raise BadRequest(
            "reason: only dismissed findings can have a reason. To dismiss the finding, set `status` to"
            " `canceled`."
        )
    kept = row.reason if wanted == row.status else None
    why = kept if reason is UNSET else reason
    if (wanted, why) != (row.status, row.reason):
        _set_status(tx, site, row, wanted, why)
    if assignee is not UNSET:
        _assign(tx, site, row, assignee)


def _set_status(
    tx: Transaction, site: SiteAccess, row: FindingRow, status: FindingStatus, reason: str | None
) -> None:
    """Set the status of a finding. Dismissing or reopening a finding affects all of its pages."""
    if status not in ("done", row.status):
        store.delete_ignored(tx, row.id)
    store.set_status(tx, row.id, status, reason)
    audit(
        tx,
        site.actor,
        "siteFinding.updated",
        site.organization_id,
        ("siteFinding", row.id),
        before={"status": row.status, "title": row.title, "reason": row.reason},
        after={"status": status, "title": row.title, "reason": reason},
    )


def _assign(tx: Transaction, site: SiteAccess, row: FindingRow, assignee: Assignee | None) -> None:
    user_id = assignee.user if isinstance(assignee, UserAssignee) else None
    team_id = assignee.team if isinstance(assignee, TeamAssignee) else None
    if (user_id, team_id) == (row.assigned_user, row.assigned_team):
        return
    spaces = [row.space_id] if row.space_id else store.list_space_ids(tx, site.site_id)
    if user_id is not None:
        require_members(tx, site.organization_id, [user_id], "assignee.user")
        if not all(role_of_person(tx, site.organization_id, "space", id, user_id) for id in spaces):
            raise BadRequest(
                "assignee.user: this person can't see the space that contains the finding. Choose another person."
                if row.space_id
                else "assignee.user: this finding is about the whole site, but this person can't see all of its"
                " spaces. Choose another person."
            )
    if team_id is not None:
        require_teams(tx, site.organization_id, [team_id], "assignee.team")
    store.set_assignee(tx, row.id, user_id, team_id)
    audit(
        tx,
        site.actor,
        "siteFinding.assigned",
        site.organization_id,
        ("siteFinding", row.id),
        before={"user": row.assigned_user, "team": row.assigned_team, "title": row.title},
        after={"user": user_id, "team": team_id, "title": row.title},
    )
    if assignee is None or not spaces:
        return
    assigned: JsonObject = (
        {"assigned_users": [user_id]} if user_id is not None else {"assigned_teams": [team_id]}
    )
    if row.space_id:
        pages = store.list_page_ids(tx, row.id)
        page, seen = min(pages, default=None), sorted({*pages, *store.map_sources(tx, [row.id])[row.id]})
        # Titles can quote other pages and rules. Notifications don't, because they stay visible to everyone who can
        # see the page.
        quotes = seen != [page] or row.kind == "style"
        problem = KINDS[row.kind].title if quotes else row.title
        assigned |= {"problem": problem, "page": page, "pages": seen}
    else:
        # Titles of findings about a whole site quote visitors. Notifications don't, because they stay visible when
        # their recipients can no longer see all spaces.
        problem = f"{get_site(tx, site.site_id).title}: {KINDS[row.kind].title}"
        assigned |= {"problem": problem, "site": site.site_id, "spaces": spaces}
    emit(
        tx,
        "finding_assigned",
        organization_id=site.organization_id,
        space_id=spaces[0],
        by=site.user_id,
        finding=row.id,
        **assigned,
    )


def ignore_on_page(tx: Transaction, site: SiteAccess, row: FindingRow, page_id: str, reason: str) -> None:
    """Ignore a finding on one of its pages. If it is then ignored on all of its pages, it is dismissed. Raises
    NotFound if the finding doesn't concern the page, and Conflict if it is already dismissed."""
    if page_id not in store.list_page_ids(tx, row.id):
        raise NotFound(f"This finding isn't about a page with the ID {page_id!r}.")
    ignored = store.map_ignored(tx, [row.id])
    if row.status == "canceled" and not ignored:
        raise Conflict("This finding is dismissed on all pages. Reopen it first.")
    store.put_ignored(tx, row.id, page_id, reason)
    if row.status in ("open", "candidate") and not store.map_pages(tx, [row.id])[row.id]:
        store.set_status(tx, row.id, "canceled")
    before = ignored.get((row.id, page_id))
    audit(
        tx,
        site.actor,
        "siteFinding.ignored",
        site.organization_id,
        ("siteFinding", row.id),
        before={"reason": before.reason} if before is not None else None,
        after={"page": page_id, "reason": reason, "title": row.title},
    )


def restore_on_page(tx: Transaction, site: SiteAccess, row: FindingRow, page_id: str) -> bool:
    """Stop ignoring a finding on a page. If the finding was ignored on all of its pages, it reopens. Return False
    if it wasn't ignored on this page."""
    if not store.delete_ignored(tx, row.id, page_id):
        return False
    if row.status == "canceled":
        store.set_status(tx, row.id, "open")
    audit(
        tx,
        site.actor,
        "siteFinding.restored",
        site.organization_id,
        ("siteFinding", row.id),
        before={"page": page_id, "title": row.title},
    )
    return True
