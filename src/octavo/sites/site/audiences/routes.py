"""Audiences of a site: share links, signed visitors, and the schema of what is known of visitors."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from octavo.errors import NotFound
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call, Deletion
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from ..preview_presenting import list_entries
from ..previewing import preview_url
from ..published import published_url
from ..publishing import may_open, require_opening
from ..store import get_site
from . import adaptive, share_links, visitor_auth, wire
from .schema import list_conditions

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_LINKS = f"{_SITE}/share-links"
_LINK = _LINKS + "/{shareLinkId}"
_AUTH = f"{_SITE}/publishing/auth"


# --- share links --------------------------------------------------------------------------------------


def _base(tx: Transaction, call: Call, site: SiteAccess) -> str | None:
    """Where the site is published, for who may know addresses that open it; None while it is not."""
    row = get_site(tx, site.site_id)
    if not row.published or not may_open(tx, site):
        return None
    return published_url(call.settings.sites_url, get_organization(tx, site.organization_id), row)


@operation(
    "listSiteShareLinks",
    "GET",
    _LINKS,
    needs=Can.ADMIN,
    returns=Listing[wire.ShareLink],
    yields=("sites:write",),
)
def list_links(call: Call, site: SiteAccess, query: PageQuery) -> Listing[wire.ShareLink]:
    """The share links of a site, newest first. Their addresses open the site, so they are for those who administer
    each space that it shows."""
    with call.db.read() as tx:
        require_opening(tx, site)
        base = _base(tx, call, site)
        found = share_links.list_links(tx, site.site_id, query.limit, query.page)
    return present_slice(found, lambda link: wire.present_link(call, base, link))


@operation("createSiteShareLink", "POST", _LINKS, needs=Can.ADMIN, returns=wire.ShareLink, status=201)
def create_link(call: Call, site: SiteAccess, body: wire.CreateLink) -> wire.ShareLink:
    """A new address with a key; it opens the site as soon as this is published for share links."""
    with call.db.write() as tx:
        link = share_links.create_link(tx, call.context, site, body.name)
        path = f"/orgs/{site.organization_id}/sites/{site.site_id}/share-links/{link.id}"
        call.response_headers["location"] = call.url(path)
        return wire.present_link(call, _base(tx, call, site), link)


@operation("updateSiteShareLinkById", "PATCH", _LINK, needs=Can.ADMIN, returns=wire.ShareLink)
def update_link(call: Call, site: SiteAccess, share_link_id: str, body: wire.UpdateLink) -> wire.ShareLink:
    """Renames a share link, closes it at once, or opens it again. Who may close it and not open it is told no address."""
    values: dict[str, Any] = {}
    if body.name is not UNSET:
        values["name"] = body.name
    if body.active is not UNSET:
        values["active"] = int(body.active)
    with call.db.write() as tx:
        link = share_links.update_link(tx, site, share_link_id, values)
        return wire.present_link(call, _base(tx, call, site), link)


@operation("deleteSiteShareLinkById", "DELETE", _LINK, needs=Can.ADMIN, returns=Deletion)
def delete_link(call: Call, site: SiteAccess, share_link_id: str) -> bool:
    """Closes a share link for good."""
    with call.db.write() as tx:
        return share_links.delete_link(tx, site, share_link_id)


# --- signed visitors ----------------------------------------------------------------------------------


def _present_auth(tx: Transaction, call: Call, site: SiteAccess) -> wire.PublishingAuth:
    require_opening(tx, site)
    row = get_site(tx, site.site_id)
    other = visitor_auth.find_other(tx, call.context, row.id)
    return wire.PublishingAuth(
        private_key=visitor_auth.signing_key(call.context.signer, row),
        backend=visitor_auth.backend_of(row.settings.visitor_auth),
        fallback_url=row.settings.visitor_auth.login_url or UNSET,
        integration=other.name if other is not None else UNSET,
    )


@operation(
    "getSitePublishingAuthById",
    "GET",
    _AUTH,
    needs=Can.ADMIN,
    returns=wire.PublishingAuth,
    yields=("sites:write",),
    errors=(400,),
)
def get_auth(call: Call, site: SiteAccess) -> wire.PublishingAuth:
    """The key that tokens of visitors are signed with, and where visitors without one are sent.

    The key opens the site, so it is for those who administer each space that it shows."""
    with call.db.read() as tx:
        return _present_auth(tx, call, site)


@operation(
    "updateSitePublishingAuthById",
    "PATCH",
    _AUTH,
    needs=Can.ADMIN,
    returns=wire.PublishingAuth,
    errors=(400,),
)
def update_auth(call: Call, site: SiteAccess, body: wire.UpdatePublishingAuth) -> wire.PublishingAuth:
    """Sets where visitors without a token are sent: to an address of the owner's that signs them in (`custom`), or to
    an integration on the site, and to the address where there is none (`integration`)."""
    with call.db.write() as tx:
        visitor_auth.update_auth(tx, site, body.backend, body.fallback_url)
        return _present_auth(tx, call, site)


@operation(
    "regenerateSitePublishingAuthById",
    "POST",
    f"{_AUTH}/regenerate",
    needs=Can.ADMIN,
    returns=wire.PublishingAuth,
    errors=(400,),
)
def renew_key(call: Call, site: SiteAccess) -> wire.PublishingAuth:
    """Makes a new key. Tokens that were signed with the old one open nothing any more."""
    with call.db.write() as tx:
        visitor_auth.renew_key(tx, site)
        return _present_auth(tx, call, site)


@operation(
    "getSitePublishingPreviewById",
    "GET",
    f"{_SITE}/publishing/preview",
    needs=Can.VIEW,
    returns=wire.Preview,
    yields=("content:read",),
    errors=(400,),
)
def get_preview(call: Call, site: SiteAccess, query: wire.PreviewQuery) -> wire.Preview:
    """An address at which the site looks as visitors will see it, published or not. It is good for an hour.

    For who sees every space that the site shows; with `claims` as a visitor with these claims, as JSON; with
    `changeRequest` as it will look once that is merged.
    """
    with call.db.read() as tx:
        return wire.Preview(
            preview_url(tx, call.context, site, query.site_space, query.claims, query.change_request)
        )


@operation(
    "listSitePreviewContent",
    "GET",
    f"{_SITE}/publishing/preview/content",
    needs=Can.VIEW,
    returns=wire.PretendedListing,
    yields=("content:read",),
    errors=(400,),
    extension=True,
)
def list_preview_content(call: Call, site: SiteAccess, query: wire.PretendedQuery) -> wire.PretendedListing:
    """What of the site a visitor with these claims sees, and which condition hides the rest: its sections and variants,
    or with `siteSpace` the pages of one of them and the conditional parts of each, in reading order.

    For who sees every space that the site shows. Conditions are asked as they are for the published site, of what is
    merged.
    """
    with call.db.read() as tx:
        return list_entries(tx, call.context, site, query)


# --- the schema of visitors ---------------------------------------------------------------------------


def _schema(tx: Transaction, site: SiteAccess) -> wire.AdaptiveSchema:
    found = adaptive.find_schema(tx, site.site_id)
    if found is None:
        raise NotFound("This site has no schema of its visitors.")
    return wire.AdaptiveSchema(found[0], iso(found[1]))


@operation(
    "getSiteAdaptiveSchema",
    "GET",
    f"{_SITE}/adaptive-schema",
    needs=Can.VIEW,
    returns=wire.AdaptiveSchema,
    errors=(404,),
)
def get_schema(call: Call, site: SiteAccess) -> wire.AdaptiveSchema:
    """The schema of what conditions may ask of visitors."""
    with call.db.read() as tx:
        return _schema(tx, site)


@operation(
    "updateSiteAdaptiveSchema",
    "PUT",
    f"{_SITE}/adaptive-schema",
    needs=Can.ADMIN,
    returns=wire.AdaptiveSchema,
    errors=(400,),
    body_limit=256 * 1024,
)
def update_schema(call: Call, site: SiteAccess, body: wire.UpdateAdaptiveSchema) -> wire.AdaptiveSchema:
    """Sets the schema: the subset of JSON Schema with booleans, strings, numbers, arrays and closed objects."""
    with call.db.write() as tx:
        adaptive.set_schema(tx, site, body.json_schema)
        return _schema(tx, site)


@operation(
    "listSiteAdaptiveTemplateConditions",
    "GET",
    f"{_SITE}/adaptive-schema/template-conditions",
    needs=Can.VIEW,
    returns=wire.TemplateConditions,
)
def list_template_conditions(call: Call, site: SiteAccess) -> wire.TemplateConditions:
    """Conditions to begin with: one for each boolean of the schema and each word that a string may be."""
    with call.db.read() as tx:
        found = adaptive.find_schema(tx, site.site_id)
    if found is None:
        return wire.TemplateConditions([])
    return wire.TemplateConditions(list_conditions(found[0]), iso(found[1]))
