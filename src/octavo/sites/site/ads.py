"""Ad settings of sites. Octavo doesn't show ads. It stores and returns the settings for API clients that use them."""

from __future__ import annotations

from msgspec.structs import replace

from octavo.errors import Forbidden, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SignedIn, SiteAccess, organization_access
from octavo.organization.access.reach import list_reachable_organizations
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import OrgRow, get_organization

from . import store


def submit_ads(tx: Transaction, site: SiteAccess, status: str, topic: str) -> None:
    """Submit a site for ad review, or turn off its ads."""
    ads: dict[str, object] = {"status": status, "topic": topic}
    if status == "disabled":
        ads["zoneId"] = ""
    _put(tx, site, ads)


def review_ads(
    tx: Transaction,
    site: SiteAccess,
    status: str,
    zone_id: str | None = None,
    reporting_id: str | None = None,
    reason: str | None = None,
) -> None:
    """Store the result of a review: the site is `live` with two IDs, or `rejected` with a reason."""
    ads: dict[str, object] = {"status": status}
    if status == "live":
        before = store.get_site(tx, site.site_id).settings.ads or {}
        ads |= {"topic": before.get("topic", "webdev"), "zoneId": zone_id}
        ads["reportingId"] = reporting_id
    elif status == "pending":
        ads["submittable"] = True
    elif reason is not None:
        ads["reason"] = reason
    _put(tx, site, ads)


def _put(tx: Transaction, site: SiteAccess, ads: dict[str, object]) -> None:
    before = store.get_site(tx, site.site_id)
    store.update_site(tx, site.site_id, settings=replace(before.settings, ads=ads))
    target = ("site", site.site_id)
    audit(
        tx, site.actor, "site.adsUpdated", site.organization_id, target, before=before.settings.ads, after=ads
    )


def list_sites_with_ads(
    tx: Transaction, caller: SignedIn, status: str, limit: int, page: str | None
) -> tuple[Slice[store.SiteRow], dict[str, OrgRow]]:
    """List the sites that have this ad status and that the caller manages, oldest first, and their organizations
    by ID."""
    owners, managed = {}, list[str]()
    for organization_id in list_reachable_organizations(tx, caller.actor):
        try:
            org = organization_access(tx, caller.actor, Can.VIEW, organization_id)
        except (Forbidden, NotFound):
            continue
        managed += store.list_managed_with_ads(tx, org, status)
        owners[organization_id] = get_organization(tx, organization_id)
    return store.list_sites_by_id(tx, managed, limit, page), owners
