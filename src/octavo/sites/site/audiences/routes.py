"""Operations on a site's audiences: share links, authenticated visitors, and the visitor schema."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from octavo.errors import require_found
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from ..preview_presenting import list_entries
from ..previewing import preview_url
from ..published import published_url
from ..publishing import may_publish_all, require_publish_permission
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
    """Return the URL of a site if the site is published and the caller can see links that open it; otherwise, None."""
    row = get_site(tx, site.site_id)
    if not row.published or not may_publish_all(tx, site):
        return None
    return published_url(call.settings.sites_url, get_organization(tx, site.organization_id), row)


@operation("listSiteShareLinks", "GET", _LINKS, needs=Can.ADMIN, yields=("sites:write",))
def list_links(call: Call, site: SiteAccess, query: wire.ShareLinksQuery) -> Listing[wire.ShareLink]:
    """List the share links of a site, newest first. Their URLs grant access to the site, so this requires the
    `create` role or higher in all of the site's spaces."""
    with call.db.read() as tx:
        require_publish_permission(tx, site)
        base = _base(tx, call, site)
        found = share_links.list_links(tx, site.site_id, query.search, query.limit, query.page)
    return present_slice(found, lambda link: wire.present_link(call, base, link))


@operation("createSiteShareLink", "POST", _LINKS, needs=Can.ADMIN, status=201)
def create_link(call: Call, site: SiteAccess, body: wire.CreateLink) -> wire.ShareLink:
    """Create a share link. It works when the site is published with share links."""
    with call.db.write() as tx:
        link = share_links.create_link(tx, call.context, site, body.name)
        path = f"/orgs/{site.organization_id}/sites/{site.site_id}/share-links/{link.id}"
        call.response_headers["location"] = call.url(path)
        return wire.present_link(call, _base(tx, call, site), link)


@operation("updateSiteShareLinkById", "PATCH", _LINK, needs=Can.ADMIN)
def update_link(call: Call, site: SiteAccess, share_link_id: str, body: wire.UpdateLink) -> wire.ShareLink:
    """Rename, disable, or enable a share link. Disabling takes effect immediately. Callers who can't enable
    the link don't receive its URL."""
    values: dict[str, Any] = {}
    if body.name is not UNSET:
        values["name"] = body.name
    if body.active is not UNSET:
        values["active"] = int(body.active)
    with call.db.write() as tx:
        link = share_links.update_link(tx, site, share_link_id, values)
        return wire.present_link(call, _base(tx, call, site), link)


@operation("deleteSiteShareLinkById", "DELETE", _LINK, needs=Can.ADMIN)
def delete_link(call: Call, site: SiteAccess, share_link_id: str) -> bool:
    """Permanently delete a share link."""
    with call.db.write() as tx:
        return share_links.delete_link(tx, site, share_link_id)


# --- authenticated visitors ---------------------------------------------------------------------------


def _present_auth(tx: Transaction, call: Call, site: SiteAccess) -> wire.PublishingAuth:
    require_publish_permission(tx, site)
    row = get_site(tx, site.site_id)
    other = visitor_auth.find_other(tx, call.context, row.id)
    return wire.PublishingAuth(
        private_key=visitor_auth.signing_key(call.context.signer, row),
        backend=visitor_auth.backend_of(row.settings.visitor_auth),
        fallback_url=row.settings.visitor_auth.login_url or UNSET,
        logout_url=row.settings.visitor_auth.logout_url or UNSET,
        integration=other.name if other is not None else UNSET,
    )


@operation("getSitePublishingAuthById", "GET", _AUTH, needs=Can.ADMIN, yields=("sites:write",), errors=(400,))
def get_auth(call: Call, site: SiteAccess) -> wire.PublishingAuth:
    """Get the key that signs visitor tokens, and the URL that visitors without a token are redirected to.

    The key grants access to the site, so this requires the `create` role or higher in all of the site's spaces."""
    with call.db.read() as tx:
        return _present_auth(tx, call, site)


@operation("updateSitePublishingAuthById", "PATCH", _AUTH, needs=Can.ADMIN, errors=(400,))
def update_auth(call: Call, site: SiteAccess, body: wire.UpdatePublishingAuth) -> wire.PublishingAuth:
    """Update the URL that visitors without a token are redirected to: either your own sign-in URL (`custom`),
    or the sign-in URL of an integration on the site, with your URL as a fallback (`integration`). You can
    also update the URL that visitors are redirected to after signing out."""
    with call.db.write() as tx:
        visitor_auth.update_auth(tx, site, body.backend, body.fallback_url, body.logout_url)
        return _present_auth(tx, call, site)


@operation("regenerateSitePublishingAuthById", "POST", f"{_AUTH}/regenerate", needs=Can.ADMIN, errors=(400,))
def renew_key(call: Call, site: SiteAccess) -> wire.PublishingAuth:
    """Regenerate the key that signs visitor tokens. Tokens signed with the old key stop working."""
    with call.db.write() as tx:
        visitor_auth.renew_key(tx, site)
        return _present_auth(tx, call, site)


@operation(
    "getSitePublishingPreviewById",
    "GET",
    f"{_SITE}/publishing/preview",
    needs=Can.VIEW,
    yields=("content:read",),
    errors=(400,),
)
def get_preview(call: Call, site: SiteAccess, query: wire.PreviewQuery) -> wire.Preview:
    """Get a URL that shows the site for one hour as visitors will see it, whether or not the site is published.

    Requires access to every space on the site. `claims` sets the visitor's claims, as JSON; `changeRequest`
    shows the site as if this change request were merged. Drafts are shown unless `draft` is false.
    """
    with call.db.read() as tx:
        url = preview_url(
            tx,
            call.context,
            site,
            site_space_id=query.site_space,
            claims=query.claims,
            change_id=query.change_request,
            drafts=query.draft,
            target=query.target,
        )
        return wire.Preview(url)


@operation(
    "listSitePreviewContent",
    "GET",
    f"{_SITE}/publishing/preview/content",
    needs=Can.VIEW,
    yields=("content:read",),
    errors=(400,),
)
def list_preview_content(call: Call, site: SiteAccess, query: wire.PretendedQuery) -> wire.PretendedListing:
    """List the site's content for a visitor with the given claims: the visible entries, and, for each hidden entry, the
    condition that hides it. The entries are the site's sections and variants or, with `siteSpace`, the pages of one
    site space and the conditional parts of each page, in reading order.

    Requires access to every space on the site. Conditions are evaluated as on the published site, for merged
    content."""
    with call.db.read() as tx:
        return list_entries(tx, call.context, site, query)


# --- visitor schema -----------------------------------------------------------------------------------


def _schema(tx: Transaction, site: SiteAccess) -> wire.AdaptiveSchema:
    found = require_found(adaptive.find_schema(tx, site.site_id), "This site has no visitor schema.")
    return wire.AdaptiveSchema(found[0], iso(found[1]))


@operation("getSiteAdaptiveSchema", "GET", f"{_SITE}/adaptive-schema", needs=Can.VIEW, errors=(404,))
def get_schema(call: Call, site: SiteAccess) -> wire.AdaptiveSchema:
    """Get the visitor schema of a site, which defines the claims that conditions can use."""
    with call.db.read() as tx:
        return _schema(tx, site)


@operation(
    "updateSiteAdaptiveSchema",
    "PUT",
    f"{_SITE}/adaptive-schema",
    needs=Can.ADMIN,
    errors=(400,),
    body_limit=256 * 1024,
)
def update_schema(call: Call, site: SiteAccess, body: wire.UpdateAdaptiveSchema) -> wire.AdaptiveSchema:
    """Set the visitor schema of a site. Supports a subset of JSON Schema: booleans, strings, numbers,
    arrays, and closed objects."""
    with call.db.write() as tx:
        adaptive.set_schema(tx, site, body.json_schema)
        return _schema(tx, site)


@operation(
    "listSiteAdaptiveTemplateConditions",
    "GET",
    f"{_SITE}/adaptive-schema/template-conditions",
    needs=Can.VIEW,
)
def list_template_conditions(call: Call, site: SiteAccess) -> wire.TemplateConditions:
    """List condition templates: one for each boolean in the visitor schema, and one for each allowed value of
    a string."""
    with call.db.read() as tx:
        found = adaptive.find_schema(tx, site.site_id)
    if found is None:
        return wire.TemplateConditions([])
    return wire.TemplateConditions(list_conditions(found[0]), iso(found[1]))
