"""Operations on sites: create, get, update, publish, search, and related resources."""

from __future__ import annotations

from msgspec import UNSET

from octavo.content.pages.embedding import Embed, find_embed
from octavo.content.pages.wire import EmbedQuery
from octavo.content.search.wire import SearchListing, SearchQuery, SearchSpace
from octavo.core.hosts import spell_host
from octavo.errors import Forbidden, require_found
from octavo.interchange.gitsync.store import ProjectRow, find, list_synced_sites
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import (
    OrgAccess,
    SignedIn,
    SiteAccess,
    VisitedSite,
    find_member,
    find_site_access,
    find_space_access,
    site_access,
)
from octavo.organization.access.evaluation import evaluate_steps, list_step_grants, list_steps_of_sites
from octavo.organization.access.rights.wire import present_source
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from . import (
    ads,
    drafts_presenting,
    editing,
    hostnames,
    installation_routes,
    organization_routes,
    publishing,
    scripts,
    searching,
    site_images,
    store,
)
from .ads_wire import AdsOfSite, AdsQuery, UpdateAds, UpdateAdsOfSite, present_ads
from .creating import create_site as create
from .drafts_wire import PublishDrafts, SiteDrafts
from .profile_presenting import present_profile
from .profile_wire import PublishedSite, SearchSite, named_spaces, requested_spaces
from .published import published_url
from .publishing import require_publishable
from .scripts import IntegrationScript
from .site_images_wire import CreatePicture, OrganizationPicture, present_picture
from .structure.wire import ShownQuery
from .urls_presenting import present_address
from .urls_wire import AddressQuery, CollectionAt, SpaceAt
from .wire import (
    CreateSite,
    CustomHostname,
    MemberSitePermission,
    MemberSitesQuery,
    Site,
    SiteOrganizationTarget,
    SitesQuery,
    Subdomain,
    UpdateSite,
    present_hostname,
    present_site,
)

operation = Area("sites").operation

__all__ = ["installation_routes", "organization_routes"]


def _site(call: Call, tx: Transaction, site: SiteAccess) -> Site:
    """Present a site with the caller's current role, because an update to the site can change the role."""
    found = find_site_access(tx, site.actor, Can.VIEW, site.organization_id, site.site_id)
    organization = get_organization(tx, site.organization_id)
    sync = find(tx, ProjectRow, site.site_id)
    return present_site(
        call, organization, store.get_site(tx, site.site_id), found.role if found else None, sync
    )


@operation("listSites", "GET", "/orgs/{organizationId}/sites", needs=Can.VIEW, agents="docs:read")
def list_sites(call: Call, org: OrgAccess, query: SitesQuery) -> Listing[Site]:
    """List an organization's sites that the caller can see, newest first. `space` limits the list to sites that
    show this space, which the caller must be able to see."""
    with call.db.read() as tx:
        row = get_organization(tx, org.organization_id)
        if query.space is not None and find_space_access(tx, org.actor, Can.VIEW, query.space) is None:
            return Listing([], 0)
        found = store.list_sites(
            tx,
            org,
            query.limit,
            query.page,
            space=query.space,
            title=query.title,
            published=query.published,
            types=list(query.type or []),
        )
        syncs = list_synced_sites(tx, [site.id for site, _ in found.rows])
    return present_slice(found, lambda item: present_site(call, row, *item, syncs.get(item[0].id)))


@operation(
    "listSitesForOrganizationMember", "GET", "/orgs/{organizationId}/members/{userId}/sites", needs=Can.VIEW
)
def list_member_sites(
    call: Call, org: OrgAccess, user_id: str, query: MemberSitesQuery
) -> Listing[MemberSitePermission]:
    """List the sites that a member can see, with the member's role on each. Members can list their own sites;
    administrators can list anyone's, and also get the reasons for the roles."""
    if org.role != "admin" and (user_id != org.user_id or query.closed):
        raise Forbidden("Only administrators can list other members' sites or use the `closed` parameter.")
    with call.db.read() as tx:
        member = require_found(
            find_member(tx, org, user_id), f"There is no member with the ID {user_id!r} in this organization."
        )
        row = get_organization(tx, org.organization_id)
        found = store.list_sites(tx, org if query.closed else member, query.limit, query.page)
        steps = list_steps_of_sites(tx, [site.id for site, _ in found.rows])
        said = list_step_grants(tx, user_id, [step for way in steps.values() for step in way])
        syncs = list_synced_sites(tx, [site.id for site, _ in found.rows])

    def present(item: tuple[store.SiteRow, str | None]) -> MemberSitePermission:
        site, _ = item
        found = evaluate_steps(member.role, [said[step.id] for step in steps[site.id]])
        return MemberSitePermission(
            found.decision.role,
            present_site(call, row, site, found.decision.role, syncs.get(site.id)),
            present_source(found, steps[site.id], org.organization_id) if org.role == "admin" else UNSET,
        )

    return present_slice(found, present)


@operation(
    "createSite",
    "POST",
    "/orgs/{organizationId}/sites",
    needs=Can.CREATE_CONTENT,
    status=201,
    yields=("content:read",),
)
def create_site(call: Call, org: OrgAccess, body: CreateSite | None) -> Site:
    """Create an unpublished site with spaces where the caller has the `create` role or higher."""
    given = body or CreateSite()
    with call.db.write() as tx:
        require_publishable(tx, org, {f"spaces[{n}]": space for n, space in enumerate(given.spaces)})
        site_id = create(
            tx,
            organization_id=org.organization_id,
            title=given.title,
            type=given.type,
            visibility=given.visibility,
            spaces=given.spaces,
        )
        return _site(call, tx, site_access(tx, org.actor, Can.VIEW, org.organization_id, site_id))


@operation("getSiteById", "GET", "/orgs/{organizationId}/sites/{siteId}", needs=Can.VIEW, errors=(404,))
def get_site(call: Call, site: SiteAccess) -> Site:
    """Get a site."""
    with call.db.read() as tx:
        return _site(call, tx, site)


@operation("updateSiteById", "PATCH", "/orgs/{organizationId}/sites/{siteId}", needs=Can.ADMIN)
def update_site(call: Call, site: SiteAccess, body: UpdateSite) -> Site:
    """Update a site. Former basenames, and former paths of sections and variants, redirect to the new basename
    and the new paths. A hostname, or a path where a proxy shows the site, is used only after Octavo has verified
    that it belongs to the organization. To repeat the check, send the same value again."""
    wanted = given(body)
    proved = editing.verify_locations(call.context, site, wanted)
    with call.db.write() as tx:
        editing.update_site(tx, call.context, site, wanted, proved)
        return _site(call, tx, site)


@operation("deleteSiteById", "DELETE", "/orgs/{organizationId}/sites/{siteId}", needs=Can.ADMIN)
def delete_site(call: Call, site: SiteAccess) -> bool:
    """Delete a site, including its structure and settings. The content of its spaces is kept."""
    with call.db.write() as tx:
        return editing.delete_site(tx, site)


@operation(
    "publishSite",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/publish",
    needs=Can.ADMIN,
    yields=("content:read",),
)
def publish_site(call: Call, site: SiteAccess) -> Site:
    """Publish a site for the audience that its visibility specifies. Requires the `create` role or higher in every
    space of the site."""
    with call.db.write() as tx:
        publishing.publish_site(tx, site)
        return _site(call, tx, site)


@operation("unpublishSite", "POST", "/orgs/{organizationId}/sites/{siteId}/unpublish", needs=Can.ADMIN)
def unpublish_site(call: Call, site: SiteAccess) -> Site:
    """Unpublish a site. No one can open it until it is published again."""
    with call.db.write() as tx:
        publishing.unpublish_site(tx, site)
        return _site(call, tx, site)


@operation(
    "getPublishedContentSite",
    "GET",
    "/orgs/{organizationId}/sites/{siteId}/published",
    needs=Can.VIEW,
    errors=(404,),
    visitors=True,
)
def get_published_site(call: Call, site: SiteAccess | VisitedSite, query: ShownQuery) -> PublishedSite:
    """Get a complete published site: its structure (limited to the parts that the caller can see), its customization,
    and its scripts."""
    with call.db.read() as tx:
        return present_profile(tx, call, site, query.share_key)


@operation("listSiteDrafts", "GET", "/orgs/{organizationId}/sites/{siteId}/drafts", needs=Can.VIEW)
def list_drafts(call: Call, site: SiteAccess) -> SiteDrafts:
    """List the drafts of a site: parts of its structure and redirects that aren't live for visitors, each with the
    content that becomes visible when the draft is published."""
    with call.db.read() as tx:
        return SiteDrafts(drafts_presenting.list_drafts(tx, call, site))


@operation(
    "publishSiteDrafts",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/drafts/publish",
    needs=Can.ADMIN,
    errors=(400, 404),
)
def publish_drafts(call: Call, site: SiteAccess, body: PublishDrafts) -> SiteDrafts:
    """Publish drafts of a site all at once, or convert live parts back to drafts. Returns the remaining drafts. On a
    published site, this requires the `create` role or higher in all the spaces that become visible."""
    with call.db.write() as tx:
        drafts_presenting.publish_drafts(tx, call, site, body.items, draft=body.draft)
        return SiteDrafts(drafts_presenting.list_drafts(tx, call, site))


@operation(
    "searchSiteContent",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/search",
    needs=Can.VIEW,
    visitors=True,
    yields=("content:read",),
    in_maintenance=True,
)
def search_site(
    call: Call, site: SiteAccess | VisitedSite, body: SearchSite, query: PageQuery
) -> SearchListing[SearchSpace]:
    """Search a site's spaces that the caller can see. Returns spaces with matching pages, best first, each with
    its ten best pages.

    Up to 1,000 spaces are counted exactly. `count` is a lower bound, and `countIsLowerBound` is set, if there are
    more, if every word occurs on more than 1,000 pages, or if the pages contain only some of the words.
    """
    with call.db.read() as tx:
        asked = SearchQuery(query=body.query, page=query.page, limit=query.limit)
        return searching.search_site(tx, call, site, asked, named_spaces(body), requested_spaces(body))


@operation(
    "prewarmSiteSearch",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/search/prewarm",
    needs=Can.VIEW,
    visitors=True,
)
def prewarm_search(call: Call, site: SiteAccess | VisitedSite) -> None:
    """Announce that a site will probably be searched soon. This has no effect, because Octavo's search index is always
    ready."""


@operation(
    "listSiteIntegrationScripts",
    "GET",
    "/orgs/{organizationId}/sites/{siteId}/integration-scripts",
    needs=Can.VIEW,
    errors=(400,),
)
def list_scripts(call: Call, site: SiteAccess) -> list[IntegrationScript]:
    """List the scripts that integrations add to the site's pages."""
    with call.db.read() as tx:
        return scripts.list_scripts(tx, call.context, site.site_id)


@operation("updateSiteAdsById", "POST", "/orgs/{organizationId}/sites/{siteId}/ads", needs=Can.ADMIN)
def update_ads(call: Call, site: SiteAccess, body: UpdateAds | None) -> None:
    """Update the ad settings of a site. They are stored and returned, but Octavo doesn't show ads."""
    with call.db.write() as tx:
        wanted = body or UpdateAds()
        ads.submit_ads(tx, site, wanted.status, wanted.topic)


@operation("adsListSites", "GET", "/ads/sites", needs=Can.SIGN_IN)
def list_ads(call: Call, caller: SignedIn, query: AdsQuery) -> Listing[AdsOfSite]:
    """List the sites that the caller manages, filtered by the status of their ad review."""
    with call.db.read() as tx:
        found, owners = ads.list_sites_with_ads(tx, caller, query.status, query.limit, query.page)
        user = find_user(tx, caller.user_id)
    email = user.email if user is not None else ""

    def present(site: store.SiteRow) -> AdsOfSite:
        url = published_url(call.settings.sites_url, owners[site.organization_id], site)
        return present_ads(site, url, email, query.status)

    return present_slice(found, present)


@operation("adsUpdateSite", "PATCH", "/ads/sites/{siteId}", needs=Can.ADMIN)
def review_ads(call: Call, site: SiteAccess, body: UpdateAdsOfSite) -> None:
    """Store the result of a site's ad review. Octavo doesn't show ads."""
    with call.db.write() as tx:
        ads.review_ads(tx, site, **given(body))


@operation("getSubdomain", "GET", "/subdomains/{subdomain}", needs=Can.VIEW)
def get_subdomain(call: Call, org: OrgAccess) -> Subdomain:
    """Get the organization whose sites are on a subdomain."""
    with call.db.read() as tx:
        return Subdomain(
            get_organization(tx, org.organization_id).hostname or "",
            SiteOrganizationTarget(org.organization_id),
        )


# --- URLs ---------------------------------------------------------------------------------------------


@operation("getContentByUrl", "GET", "/urls/content", needs=Can.SIGN_IN, yields=("content:read",))
def get_content_by_url(call: Call, caller: SignedIn, query: AddressQuery) -> CollectionAt | SpaceAt:
    """Get the content at a URL of the app or of a published site, if the caller can see it."""
    with call.db.read() as tx:
        return present_address(tx, call, caller, query.url)


@operation("getEmbedByUrl", "GET", "/urls/embed", needs=Can.SIGN_IN, scripts=True)
def get_embed_by_url(call: Call, caller: SignedIn, query: EmbedQuery) -> Embed:
    """Get the embed for a URL. A URL that can't be reached is embedded as a plain link."""
    return find_embed(call.context, query.url)


# --- hostnames ---------------------------------------------------------------------------------------


def _hostname(call: Call, tx: Transaction, site: SiteAccess) -> CustomHostname:
    return present_hostname(call, store.get_site(tx, site.site_id), _named(call))


def _named(call: Call) -> str:
    return spell_host(call.path_parameters["hostname"])


@operation("getCustomHostname", "GET", "/custom-hostnames/{hostname}", needs=Can.VIEW)
def get_hostname(call: Call, site: SiteAccess) -> CustomHostname:
    """Get a hostname, with its site and the result of its last check."""
    with call.db.read() as tx:
        return _hostname(call, tx, site)


@operation(
    "dnsRevalidateCustomHostname",
    "PATCH",
    "/custom-hostnames/{hostname}",
    needs=Can.ADMIN,
    errors=(400, 409),
)
def check_hostname(call: Call, site: SiteAccess) -> None:
    """Check whether a hostname points to this server's sites, and whether it is verified."""
    hostname = _named(call)
    status = hostnames.check_hostname(call.settings, hostname)
    leads_here = status == "live"
    proved = hostnames.is_verified(call.context, site.organization_id, hostname, points_here=leads_here)
    with call.db.write() as tx:
        hostnames.put_status(tx, call.context, site, hostname, status, proved)


@operation("removeCustomHostname", "DELETE", "/custom-hostnames/{hostname}", needs=Can.ADMIN)
def remove_hostname(call: Call, site: SiteAccess) -> bool:
    """Remove a hostname. The site is then available only at its URL under the sites domain."""
    with call.db.write() as tx:
        hostnames.remove_hostname(tx, site, _named(call))
    return True


# --- images ----------------------------------------------------------------------------------------------

_PICTURES = "/orgs/{organizationId}/pictures"


@operation("listPictures", "GET", _PICTURES, needs=Can.VIEW)
def list_pictures(call: Call, org: OrgAccess, query: PageQuery) -> Listing[OrganizationPicture]:
    """List the images that an organization uploaded for its sites, oldest first."""
    with call.db.read() as tx:
        found = site_images.list_pictures(tx, org.organization_id, query.limit, query.page)
        return present_slice(found, lambda row: present_picture(call, row))


@operation("createPicture", "POST", _PICTURES, needs=Can.CREATE_CONTENT, status=201, errors=(400, 404))
def create_picture(call: Call, org: OrgAccess, body: CreatePicture) -> OrganizationPicture:
    """Create an image from a file that the caller uploaded: PNG, JPEG, GIF, WebP, SVG, or ICO. Its `url`, which
    can be used in customizations, is public."""
    with call.db.write() as tx:
        return present_picture(call, site_images.create(tx, call.context, org, body.storage_key))


@operation("deletePicture", "DELETE", _PICTURES + "/{pictureId}", needs=Can.CREATE_CONTENT)
def delete_picture(call: Call, org: OrgAccess, picture_id: str) -> bool:
    """Delete an image. Sites that use the image no longer show it."""
    with call.db.write() as tx:
        return site_images.delete(tx, org, picture_id)
