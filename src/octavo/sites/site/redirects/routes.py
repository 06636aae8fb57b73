"""Operations on a site's redirects."""

from __future__ import annotations

from typing import assert_never
from urllib.parse import unquote

from octavo.content.revisions.restrictions import hidden_from
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess, VisitedSite
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization

from ..audiences.share_links import find_link_by_key
from ..published import published_url
from ..store import get_site
from ..structure.outline import visitor_outline
from ..structure.store import load_structure
from . import editing, importing, store, suggesting, upserting, wire
from .editing import RedirectEditor
from .resolving import resolve_redirect

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_REDIRECTS = f"{_SITE}/redirects"
_REDIRECT = _REDIRECTS + "/{siteRedirectId}"


@operation("listSiteRedirects", "GET", _REDIRECTS, needs=Can.VIEW)
def list_redirects(call: Call, site: SiteAccess, query: wire.RedirectsQuery) -> Listing[wire.Redirect]:
    """List the live redirects of a site, newest first. `search` filters by source; `draft` lists drafts instead."""
    with call.db.read() as tx:
        found = store.list_redirects(
            tx,
            site.site_id,
            query.limit,
            query.page,
            query.search,
            hidden=hidden_from(tx, site.organization),
            draft=query.draft,
            order_by=query.order_by,
        )
    return present_slice(found, wire.present_redirect)


@operation("createSiteRedirect", "POST", _REDIRECTS, needs=Can.EDIT, status=201)
def create_redirect(call: Call, site: SiteAccess, body: wire.CreateRedirect) -> wire.Redirect:
    """Create a redirect from a path that has no page. `/old/*` matches all paths under `/old`, and `/old*` matches all
    paths that start with `/old`. Drafts redirect only people who preview the site. Editors of the site can only create
    drafts."""
    with call.db.write() as tx:
        return wire.present_redirect(RedirectEditor(tx, call, site).create(wire.fields_of(body)))


@operation(
    "bulkUpsertSiteRedirects",
    "PUT",
    _REDIRECTS,
    needs=Can.EDIT,
    errors=(400, 404),
    body_limit=4 * 1024 * 1024,
)
def upsert_redirects(call: Call, site: SiteAccess, body: wire.UpsertRedirects) -> wire.UpsertedRedirects:
    """Create, update, delete, and publish up to 500 redirects. Each redirect is written separately, so an error affects
    only that redirect. The results are in the same order as the request."""
    with call.db.write() as tx:
        return wire.UpsertedRedirects(upserting.upsert_redirects(tx, call, site, body.redirects))


@operation("listSuggestedSiteRedirects", "GET", f"{_REDIRECTS}/suggestions", needs=Can.VIEW)
def list_suggestions(call: Call, site: SiteAccess) -> wire.SuggestedRedirects:
    """List up to 50 URLs of deleted pages without a redirect, most recent first. The URLs of renamed or moved pages
    redirect automatically."""
    with call.db.read() as tx:
        return wire.SuggestedRedirects(suggesting.suggest_redirects(tx, call, site))


@operation("importSiteRedirects", "POST", f"{_REDIRECTS}/import", needs=Can.EDIT, body_limit=2 * 1024 * 1024)
def import_redirects(call: Call, site: SiteAccess, body: wire.ImportRedirects) -> importing.Imported:
    """Import up to 500 redirects from another platform's file, or from a CSV table with the columns `source`,
    `destination`, and optionally `intent`, `permanent`, and `captureWildcard`. An empty destination in a table deletes
    a redirect. Invalid rows are reported, and all other rows are imported."""
    with call.db.write() as tx:
        return importing.import_redirects(tx, call, site, body.text or body.csv, body.name, draft=body.draft)


@operation("updateSiteRedirectById", "PATCH", _REDIRECT, needs=Can.EDIT)
def update_redirect(
    call: Call, site: SiteAccess, site_redirect_id: str, body: wire.UpdateRedirect
) -> wire.Redirect:
    """Update a redirect. Setting `draft` to false publishes a draft, which replaces the live redirect from
    the same source."""
    with call.db.write() as tx:
        editor = RedirectEditor(tx, call, site)
        return wire.present_redirect(editor.update(editor.get(site_redirect_id), wire.fields_of(body)))


@operation("deleteSiteRedirectById", "DELETE", _REDIRECT, needs=Can.EDIT)
def delete_redirect(call: Call, site: SiteAccess, site_redirect_id: str) -> bool:
    """Delete a redirect."""
    with call.db.write() as tx:
        return editing.delete_redirect(tx, call, site, site_redirect_id)


@operation(
    "getSiteRedirectBySource", "GET", f"{_SITE}/redirect", needs=Can.VIEW, errors=(404,), visitors=True
)
def get_redirect_by_source(
    call: Call, site: SiteAccess | VisitedSite, query: wire.SourceQuery
) -> wire.FoundRedirect:
    """Get the redirect for a path, and its target URL. Case is ignored. With a token from `POST
    /urls/published`, this also resolves redirects in a space's files and former paths of sections and
    variants; `redirect` then has the ID of the site space."""
    with call.db.read() as tx:
        if query.share_key is not None and find_link_by_key(tx, site.site_id, query.share_key) is None:
            raise NotFound("shareKey: there is no active share link with this key")
        match site:
            case VisitedSite():
                found = _resolve_for_visitor(tx, call, site, query)
            case SiteAccess():
                found = _resolve_for_member(tx, call, site, query)
            case _:
                assert_never(site)
        if found is None:
            raise NotFound(f"There is no redirect from {query.source!r} on this site.")
        return found


def _resolve_for_member(
    tx: Transaction, call: Call, site: SiteAccess, query: wire.SourceQuery
) -> wire.FoundRedirect | None:
    found = store.match(tx, site.site_id, query.source)
    target = (
        editing.target_of(tx, site.actor, load_structure(tx, site.site_id), found, unquote(query.source))
        if found is not None
        else None
    )
    if found is None or target is None:
        return None
    if found.url is None:
        organization = get_organization(tx, site.organization_id)
        base = published_url(call.settings.sites_url, organization, get_site(tx, site.site_id))
        target = f"{base}{query.share_key}/{target}" if query.share_key else f"{base}{target}"
    return wire.FoundRedirect(wire.present_redirect(found), target)


def _resolve_for_visitor(
    tx: Transaction, call: Call, site: VisitedSite, query: wire.SourceQuery
) -> wire.FoundRedirect | None:
    visitor = site.visitor
    outline = visitor_outline(tx, visitor)
    path = unquote(query.source).strip("/")
    row = get_site(tx, site.site_id)
    lead = resolve_redirect(tx, row, outline, visitor.claims, path, call.settings.sites_url)
    if lead is None:
        return None
    target = lead.target if lead.is_elsewhere else f"{visitor.base}{lead.target}"
    if lead.redirect is not None:
        return wire.FoundRedirect(wire.present_redirect(lead.redirect), target)
    return wire.FoundRedirect(
        wire.present_resolved(lead.site_space or "", query.source, target, row.created_at), target
    )
