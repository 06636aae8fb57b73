"""Wire format of sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.json_types import JsonObject
from octavo.interchange.gitsync.store import ProjectRow
from octavo.interchange.gitsync.wire import present_site_state
from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern
from octavo.organization.access.permitting import permissions, reach_for
from octavo.organization.access.rights.wire import PermissionSource
from octavo.organization.access.roles import Level
from octavo.organization.orgs.store import OrgRow
from octavo.organization.spaces.wire import GitSyncState

from .customization.model import Favicon
from .domain_verification import verification_record
from .published import published_url
from .store import MAX_PROXY, SiteRow
from .types import SiteStyleguide, SiteTitle, SiteType, Visibility

PROXIED = "/~proxied/"
"""Path prefix of requests from owners' proxies, followed by the ID of a site."""
_PROXY = pattern(
    r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+\Z", "be a hostname and a path, such as example.com/docs"
)

# Every plan of Octavo includes everything.
FEATURES = (
    "sites-adaptive-content",
    "sites-advanced-customization",
    "sites-advanced-insights",
    "sites-ads",
    "sites-ai-search",
    "sites-ai-assistant",
    "sites-embed",
    "sites-api-playground",
    "sites-basic-customization",
    "sites-custom-domain",
    "sites-custom-fonts",
    "sites-custom-subdirectory",
    "sites-full-text-search",
    "sites-multivariant-site",
    "sites-no-custom-domain",
    "sites-page-feedback",
    "sites-page-traffic-insights",
    "sites-pdf-export",
    "sites-preview-deployments",
    "sites-public-visibility",
    "sites-redirects",
    "sites-search-insights",
    "sites-sections",
    "sites-seo",
    "sites-share-links",
    "sites-unlisted-visibility",
    "sites-user-contribution",
    "sites-visitor-authentication",
    "sites-visitors",
)


class SiteUrls(Struct, kw_only=True):
    """URLs of a site. ``preview``: the URL that opens a new preview, for people who are signed in and can see all
    spaces on the site. ``login`` and ``logout``: the URLs at which visitors sign in and out, if the site is published
    for authenticated visitors."""

    location: str
    app: str
    preview: str
    published: str | UnsetType = UNSET
    login: str | UnsetType = UNSET
    logout: str | UnsetType = UNSET


class SiteFeature(Struct):
    id: str
    plan: SiteType
    frozen: bool = False


class AdaptiveContent(Struct):
    enabled: bool


class Proxy(Struct):
    """Location of a site behind a proxy. ``origin``: the host and path at which the owner's proxy shows the site.
    ``target``: the URL to forward requests to."""

    origin: str
    target: str


class UnverifiedLocation(Struct):
    """Location of a site that isn't verified yet and therefore isn't used. To verify it, add a TXT record with this
    name and text or, for a hostname, point the hostname to this server."""

    address: str
    name: str
    text: str


class Site(Struct, rename="camel", kw_only=True):
    """Site of an organization. ``defaultLevel``: the level that all members have on the site: a role, null for no
    access, or ``inherit`` for their role in the organization. ``permissions``: the caller's permissions on the site.
    ``hostname`` and ``proxy``: the requested locations. ``unverified`` (an Octavo extension): the locations that
    aren't verified yet."""

    id: str
    type: SiteType
    applied_type: SiteType
    title: str
    visibility: Visibility
    published: bool
    site_spaces: int
    created_at: str
    agents_context: Literal["excluded", "included"]
    features: list[SiteFeature]
    urls: SiteUrls
    icon: Favicon | None
    default_level: Level
    permissions: dict[str, bool]
    object: Literal["site"] = "site"
    hostname: str | UnsetType = UNSET
    basename: str | UnsetType = UNSET
    proxy: Proxy | UnsetType = UNSET
    adaptive_content: AdaptiveContent | UnsetType = UNSET
    ads: dict[str, Any] | UnsetType = UNSET
    git_sync: GitSyncState | UnsetType = UNSET
    unverified: list[UnverifiedLocation] | UnsetType = UNSET
    styleguide: SiteStyleguide | UnsetType = UNSET
    last_scan_at: str | UnsetType = UNSET


class UpdateSite(Struct, rename="camel", kw_only=True):
    """Update of a site. ``proxy``: the proxy; null removes it. ``hostname`` (an Octavo extension): the custom domain;
    null removes it."""

    title: SiteTitle | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    basename: Annotated[str, Meta(min_length=1, max_length=100)] | UnsetType = UNSET
    adaptive_content: AdaptiveContent | UnsetType = UNSET
    agents_context: Literal["excluded", "included"] | UnsetType = UNSET
    default_level: Level | UnsetType = UNSET
    default_site_space: str | UnsetType = UNSET
    default_site_section: str | UnsetType = UNSET
    proxy: Annotated[str, Meta(max_length=MAX_PROXY, pattern=_PROXY)] | None | UnsetType = UNSET
    hostname: Annotated[str, Meta(max_length=253)] | None | UnsetType = UNSET
    styleguide: SiteStyleguide | None | UnsetType = UNSET


class CreateSite(Struct):
    type: SiteType = "basic"
    title: SiteTitle | None = None
    visibility: Visibility = "public"
    spaces: Annotated[list[str], Meta(max_length=200)] = []


class SitesQuery(PageQuery, kw_only=True):
    space: str | None = None
    title: str | None = None
    published: bool | None = None
    type: list[SiteType] | None = None


class MemberSitesQuery(PageQuery):
    """Query parameters for a member's sites. ``closed``: whether to include sites that the member can't
    see; only for administrators."""

    closed: bool = False


class MemberSitePermission(Struct):
    """Role of a member on a site. ``source``: the reason for the role; only for administrators."""

    permission: str | None
    site: Site
    source: PermissionSource | UnsetType = UNSET


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
    """Hostname. ``isActive``: whether the site is published at this hostname. ``status``: the result of the
    last check."""

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
    """Return the path on the sites domain at which the owner's proxy requests a site."""
    return f"{PROXIED}{site.id}"


def _public_ads(ads: Mapping[str, object] | None) -> JsonObject | UnsetType:
    """Return the ad settings without the fields that are only for the ad network."""
    return {name: value for name, value in ads.items() if name != "reportingId"} if ads else UNSET


def _list_unverified(to: Recipient, site: SiteRow) -> list[UnverifiedLocation]:
    claimed = [one for one in (site.claimed_hostname, site.claimed_proxy) if one is not None]
    hosts = [(one, one.partition("/")[0]) for one in claimed]
    return [
        UnverifiedLocation(one, *verification_record(to.context, site.organization_id, host))
        for one, host in hosts
    ]


class _WithFavicon(Struct):
    favicon: Favicon | None = None


_with_favicon = msgspec.json.Decoder(_WithFavicon)


def _icon(site: SiteRow) -> Favicon | None:
    """Return the icon of a site; None for the default."""
    found = _with_favicon.decode(site.customization).favicon if site.customization else None
    return found if found is not None and found != Favicon() else None


def present_site(
    to: Recipient, org: OrgRow, site: SiteRow, role: str | None, sync: ProjectRow | None
) -> Site:
    """Present a site. ``role``: the recipient's role on the site. ``sync``: its Git sync."""
    proxy = site.claimed_proxy or site.proxy
    published = published_url(to.settings.sites_url, org, site) if site.published else UNSET
    authenticates = isinstance(published, str) and site.visibility == "visitor-auth"
    return Site(
        id=site.id,
        type=site.type,  # type: ignore[arg-type]
        # A site is never limited to a lower plan than its own.
        applied_type=site.type,  # type: ignore[arg-type]
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
            preview=to.app.site(org.id, site.id, "preview"),
            published=published,
            login=f"{published}~login" if authenticates else UNSET,
            logout=f"{published}~logout" if authenticates else UNSET,
        ),
        icon=_icon(site),
        default_level=site.default_level,
        permissions=permissions("site", role, reach_for(to)),
        git_sync=present_site_state(sync) if sync is not None else UNSET,
        hostname=site.claimed_hostname or site.hostname or UNSET,
        basename=site.basename,
        proxy=Proxy(proxy, f"{to.settings.sites_url.rstrip('/')}{proxied_path(site)}") if proxy else UNSET,
        adaptive_content=AdaptiveContent(site.settings.adaptive),
        ads=_public_ads(site.settings.ads),
        unverified=_list_unverified(to, site) or UNSET,
        styleguide=SiteStyleguide(site.styleguide_id) if site.styleguide_id else UNSET,
        last_scan_at=iso(site.last_scan_at) if site.last_scan_at is not None else UNSET,
    )
