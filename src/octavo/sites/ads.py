"""Ads on sites: Octavo shows none. What is said about them is kept and answered, for programs that ask."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from ..access import Can, SignedIn, SiteAccess, audit, find_user, list_reached, organization_access
from ..errors import Forbidden, NotFound
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.pagination import Listing, present_slice
from ..orgs import get_organization
from . import store
from .ads_wire import AdsOfSite, AdsQuery, UpdateAds, UpdateAdsOfSite
from .published import published_url


def submit_ads(tx: Transaction, site: SiteAccess, body: UpdateAds) -> None:
    """Sends a site in for review, or turns its ads off."""
    ads: dict[str, object] = {"status": body.status, "topic": body.topic}
    if body.status == "disabled":
        ads["zoneId"] = ""
    _put(tx, site, ads)


def review_ads(tx: Transaction, site: SiteAccess, body: UpdateAdsOfSite) -> None:
    """Keeps what became of a site that was sent in."""
    ads: dict[str, object] = {"status": body.status}
    if body.status == "live":
        before = store.get_site(tx, site.site_id).settings.ads or {}
        ads |= {"topic": before.get("topic", "webdev"), "zoneId": body.zone_id}
        ads["reportingId"] = body.reporting_id
    elif body.status == "pending":
        ads["submittable"] = True
    elif body.reason is not UNSET:
        ads["reason"] = body.reason
    _put(tx, site, ads)


def _put(tx: Transaction, site: SiteAccess, ads: dict[str, object]) -> None:
    before = store.get_site(tx, site.site_id)
    store.update_site(tx, site.site_id, settings=replace(before.settings, ads=ads))
    target = ("site", site.site_id)
    audit(
        tx, site.actor, "site.adsUpdated", site.organization_id, target, before=before.settings.ads, after=ads
    )


def list_sites_with_ads(
    tx: Transaction, context: Context, caller: SignedIn, query: AdsQuery
) -> Listing[AdsOfSite]:
    """Of the sites that the caller manages those that stand so, oldest first."""
    managed = {}
    for organization_id in list_reached(tx, caller.actor):
        try:
            organization_access(tx, caller.actor, Can.CREATE_CONTENT, organization_id)
        except (Forbidden, NotFound):
            continue
        managed[organization_id] = get_organization(tx, organization_id)
    user = find_user(tx, caller.user_id)
    email = user.email if user is not None else ""
    found = store.list_sites_with_ads(tx, list(managed), query.status, query.limit, query.page)

    def present(site: store.SiteRow) -> AdsOfSite:
        ads = site.settings.ads or {}
        return AdsOfSite(
            id=site.id,
            url=published_url(context.settings.sites_url, managed[site.organization_id], site),
            email=email,
            topic=ads.get("topic", "webdev"),
            status=query.status,
            zone_id=ads.get("zoneId", UNSET),
            reason=ads.get("reason", UNSET),
        )

    return present_slice(found, present)
