"""Sites on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.organization.orgs.store import OrgRow

from .customization.model import Favicon
from .domain_verification import record_of
from .published import published_url
from .store import MAX_PROXY, SiteRow
from .types import SiteTitle, SiteType, Visibility

PROXIED = "/~proxied/"
"""What proxies of owners ask for begins with this, and then has the id of a site."""
_PROXY = r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+\Z"

# Every plan of Octavo includes everything.
FEATURES = (
    "sites-adaptive-content", "sites-advanced-customization", "sites-advanced-insights", "sites-ads",
    "sites-ai-search", "sites-ai-assistant", "sites-embed", "sites-api-playground",
    "sites-basic-customization", "sites-custom-domain", "sites-custom-fonts", "sites-custom-subdirectory",
    "sites-full-text-search", "sites-multivariant-site", "sites-no-custom-domain", "sites-page-feedback",
    "sites-page-traffic-insights", "sites-pdf-export", "sites-preview-deployments", "sites-public-visibility",
    "sites-redirects", "sites-search-insights", "sites-sections", "sites-seo", "sites-share-links",
    "sites-unlisted-visibility", "sites-user-contribution", "sites-visitor-authentication", "sites-visitors",
)  # fmt: skip


class SiteUrls(Struct):
    location: str
    app: str
    published: str | UnsetType = UNSET


class SiteFeature(Struct):
    id: str
    plan: SiteType
    frozen: bool = False


class AdaptiveContent(Struct):
    enabled: bool


class Proxy(Struct):
    """``origin``: host and path at which a proxy of the owner's shows the site; ``target``: the address that it
    forwards what is below to."""

    origin: str
    target: str


class Unproved(Struct):
    """An address that a site was given and is not at, until DNS says that it is the organization's: by a TXT record with
    this name and text, or, of a host name, by leading here."""

    address: str
    name: str
    text: str


class Site(Struct, rename="camel"):
    """``hostname`` and ``proxy`` are what the site was given; ``unproved`` those that it is not at yet, which is ours."""

    id: str
    type: SiteType
    title: str
    visibility: Visibility
    published: bool
    site_spaces: int
    created_at: str
    agents_context: Literal["excluded", "included"]
    features: list[SiteFeature]
    urls: SiteUrls
    icon: Favicon | None
    object: Literal["site"] = "site"
    hostname: str | UnsetType = UNSET
    basename: str | UnsetType = UNSET
    proxy: Proxy | UnsetType = UNSET
    adaptive_content: AdaptiveContent | UnsetType = UNSET
    ads: dict[str, Any] | UnsetType = UNSET
    unproved: list[Unproved] | UnsetType = UNSET


class UpdateSite(Struct, rename="camel"):
    """``proxy`` null removes it. ``hostname`` is ours: the site's own host name, null for none."""

    title: SiteTitle | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    basename: Annotated[str, Meta(min_length=1, max_length=100)] | UnsetType = UNSET
    adaptive_content: AdaptiveContent | UnsetType = UNSET
    agents_context: Literal["excluded", "included"] | UnsetType = UNSET
    default_site_space: str | UnsetType = UNSET
    default_site_section: str | UnsetType = UNSET
    proxy: Annotated[str, Meta(max_length=MAX_PROXY, pattern=_PROXY)] | None | UnsetType = UNSET
    hostname: Annotated[str, Meta(max_length=253)] | None | UnsetType = UNSET


class CreateSite(Struct):
    type: SiteType = "basic"
    title: SiteTitle | None = None
    visibility: Visibility = "public"
    spaces: Annotated[list[str], Meta(max_length=200)] = []


class SitesQuery(PageQuery):
    space: str | None = None
    title: str | None = None
    published: bool | None = None
    type: list[SiteType] | None = None


class SiteOrganizationTarget(Struct, tag="organization"):
    organization: str


class Subdomain(Struct, rename="camel", tag_field="object", tag="subdomain"):
    subdomain: str
    target: SiteOrganizationTarget
    is_active: bool = True


class SiteTarget(Struct, tag="site"):
    site: str


class LocationUrls(Struct):
    location: str


class CustomHostname(Struct, rename="camel", tag_field="object", tag="custom-hostname"):
    """``isActive``: the site is published there. ``status``: what the last check said."""

    hostname: str
    target: SiteTarget
    is_active: bool
    urls: LocationUrls
    status: str | UnsetType = UNSET


def present_hostname(to: Recipient, site: SiteRow, hostname: str) -> CustomHostname:
    return CustomHostname(
        hostname=hostname,
        target=SiteTarget(site.id),
        is_active=bool(site.published) and hostname == site.hostname,
        urls=LocationUrls(to.url(f"/custom-hostnames/{hostname}")),
        status=site.settings.hostname_status or UNSET,
    )


def proxied_path(site: SiteRow) -> str:
    """The path below the installation's address for sites at which the owner's proxy finds a site."""
    return f"{PROXIED}{site.id}"


def _shown_ads(ads: dict[str, Any] | None) -> dict[str, Any] | UnsetType:
    """Without what is for whoever shows ads alone."""
    return {name: value for name, value in ads.items() if name != "reportingId"} if ads else UNSET


def _list_unproved(to: Recipient, site: SiteRow) -> list[Unproved]:
    claimed = [one for one in (site.claimed_hostname, site.claimed_proxy) if one is not None]
    hosts = [(one, one.partition("/")[0]) for one in claimed]
    return [Unproved(one, *record_of(to.context, site.organization_id, host)) for one, host in hosts]


class _WithFavicon(Struct):
    favicon: Favicon | None = None


_with_favicon = msgspec.json.Decoder(_WithFavicon)


def _icon(site: SiteRow) -> Favicon | None:
    """The icon of a site; None for one that has the default."""
    found = _with_favicon.decode(site.customization).favicon if site.customization else None
    return found if found is not None and found != Favicon() else None


def present_site(to: Recipient, org: OrgRow, site: SiteRow) -> Site:
    proxy = site.claimed_proxy or site.proxy
    return Site(
        id=site.id,
        type=site.type,  # type: ignore[arg-type]
        title=site.title,
        visibility=site.visibility,  # type: ignore[arg-type]
        published=bool(site.published),
        site_spaces=site.site_spaces,
        created_at=iso(site.created_at),
        agents_context=site.agents_context,  # type: ignore[arg-type]
        features=[SiteFeature(name, site.type) for name in FEATURES],  # type: ignore[arg-type]
        urls=SiteUrls(
            location=to.url(f"/orgs/{org.id}/sites/{site.id}"),
            app=to.app.site(org.id, site.id),
            published=published_url(to.settings.sites_url, org, site) if site.published else UNSET,
        ),
        icon=_icon(site),
        hostname=site.claimed_hostname or site.hostname or UNSET,
        basename=site.basename,
        proxy=Proxy(proxy, f"{to.settings.sites_url.rstrip('/')}{proxied_path(site)}") if proxy else UNSET,
        adaptive_content=AdaptiveContent(site.settings.adaptive),
        ads=_shown_ads(site.settings.ads),
        unproved=_list_unproved(to, site) or UNSET,
    )
