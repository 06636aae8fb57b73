"""Wire format of ads."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery

from .store import SiteRow

Topic = Literal["webdev", "crypto"]
ReviewStatus = Literal["in-review", "live", "rejected"]
Id = Annotated[str, Meta(max_length=256)]


class UpdateAds(Struct):
    """Update of a site's ads: a ``topic`` submits the site for review; without a topic, the site's ads are disabled."""

    status: Literal["in-review", "disabled"] = "in-review"
    topic: Topic = "webdev"


class UpdateAdsOfSite(Struct, rename="camel"):
    """Result of a review. ``zoneId`` and ``reportingId``: the ad IDs, present only with the status `live`.
    ``reason``: the reason, present only with `rejected`."""

    status: Literal["live", "rejected", "pending"]
    zone_id: Id | UnsetType = UNSET
    reporting_id: Id | UnsetType = UNSET
    reason: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        for name, given in (("zoneId", self.zone_id), ("reportingId", self.reporting_id)):
            if (given is UNSET) == (self.status == "live"):
                raise ValueError(f"{name}: is required with the status `live`, and must be omitted otherwise")
        if self.reason is not UNSET and self.status != "rejected":
            raise ValueError("reason: can only be used with the status `rejected`")


class AdsQuery(PageQuery):
    status: ReviewStatus = "in-review"


class AdsOfSite(Struct, rename="camel", kw_only=True):
    """Ad settings of a site. ``email``: the email address of the caller, who manages the site."""

    id: str
    url: str
    email: str
    topic: Topic
    status: ReviewStatus
    zone_id: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


def present_ads(site: SiteRow, url: str, email: str, status: ReviewStatus) -> AdsOfSite:
    ads = site.settings.ads or {}
    return AdsOfSite(
        id=site.id,
        url=url,
        email=email,
        topic=ads.get("topic", "webdev"),
        status=status,
        zone_id=ads.get("zoneId", UNSET),
        reason=ads.get("reason", UNSET),
    )
