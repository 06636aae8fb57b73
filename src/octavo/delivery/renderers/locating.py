"""Resolve the content that a published site's URL shows to a visitor, for an external renderer.

Access is checked as in the reader, with the same kinds of visits, which are created from the renderer's requests."""

from __future__ import annotations

import hashlib
from typing import Any, Literal
from urllib.parse import quote, unquote

from msgspec import UNSET, Struct, UnsetType

from octavo.core.hosts import spell_host
from octavo.core.url_parts import read_address
from octavo.delivery.visits.admission import Admission, RedirectBeforeVisit, VisitorRequest
from octavo.delivery.visits.authorization import (
    ResponseDependencies,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
)
from octavo.errors import NotFound, Unauthorized, require_found
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor
from octavo.sites.site.audiences.share_links import find_link_by_key
from octavo.sites.site.audiences.visitor_auth import read_token as read_visitor_token
from octavo.sites.site.store import find_site_by_hostname, find_site_by_proxy, get_site
from octavo.sites.site.structure.outline import visitor_outline
from octavo.sites.site.visitor_tokens import make_visitor_token
from octavo.sites.site.wire import PROXIED, proxied_path

_PREVIEW_HOST = "preview"
"""Host in renderers' URLs for unpublished sites."""
_MISSING = "No site is published at this URL."


class Redirection(Struct):
    """Redirect to another URL. ``target``: ``content`` for a URL on a site, or ``external`` for any other URL."""

    target: Literal["application", "content", "external"]
    redirect: str


class PublishedContent(Struct, rename="camel"):
    """Content shown at a URL of a site. ``complete``: whether every path under this URL selects the same section,
    variant, and share link. ``basePath``, ``siteBasePath``, ``canonicalUrl``: percent-encoded values, for use in
    headers. ``pathname``: the decoded path. ``apiToken``: the token for reading the content as this visitor sees
    it.

    ``preview``: whether it is a preview. ``changeRequest``, ``revision``: the content that a preview shows
    instead of the space's current content.
    """

    organization: str
    site: str
    site_space: str
    space: str
    pathname: str
    base_path: str
    site_base_path: str
    canonical_url: str
    complete: bool
    api_token: str
    site_section: str | UnsetType = UNSET
    share_key: str | UnsetType = UNSET
    context_id: str | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    preview: bool | UnsetType = UNSET


Published = Redirection | PublishedContent


class ResolveRequest(Struct, frozen=True):
    """Request from a renderer. ``token``: the visitor's token, signed with the site's key. ``unsigned``: the
    visitor's unsigned claims. ``redirect_on_error``: whether an invalid token redirects to the sign-in page
    for visitors."""

    url: str
    token: str | None
    unsigned: dict[str, Any]
    redirect_on_error: bool


def resolve(tx: Transaction, context: Context, asked: ResolveRequest, previewer: Visitor | None) -> Published:
    """Return the content at a URL. ``previewer``: the caller, if they use a preview token. Raises NotFound
    if there is no such content, and Unauthorized if the token is invalid."""
    parts = require_found(read_address(asked.url), _MISSING)
    host, origin = spell_host(parts.host), parts.origin
    path = _decoded(parts.path)
    try:
        if host == _PREVIEW_HOST:
            visit = _preview(tx, path, previewer)
        else:
            visit = _visit(tx, context, host, path, asked)
        if not path.startswith(unquote(visit.base)):
            return Redirection("content", f"{origin}{visit.base}{quote(visit.rest)}")
        space = enter_space(tx, visit)
    except RedirectBeforeVisit as sent:
        return _redirect(origin, sent.location)
    if space is None:
        target = find_redirect(tx, visit, context.settings.sites_url)
        if target is None:
            raise NotFound("There is no page at this URL.")
        return _redirect(origin, target.target)
    if not path.startswith(unquote(space.base)):
        return Redirection("content", f"{origin}{space.base}{quote(space.rest)}")
    return _content(tx, context, origin, space, previewer)


def _decoded(path: str) -> str:
    """Return the path with a trailing slash. Raises NotFound if the path changes when it is decoded again, or if it
    contains ``..``."""
    segments = [unquote(segment) for segment in path.strip("/").split("/") if path.strip("/")]
    for segment in segments:
        if segment in {"", ".", ".."} or "/" in segment or "\\" in segment or "\0" in segment:
            raise NotFound(_MISSING)
    return "/" + "".join(f"{segment}/" for segment in segments)


def _visit(tx: Transaction, context: Context, host: str, path: str, asked: ResolveRequest) -> SiteVisit:
    proxied = find_site_by_proxy(tx, host, path)
    if proxied is not None and proxied.proxy_path is not None:
        host, path = "", f"{proxied_path(proxied)}{path.removeprefix(proxied.proxy_path)}"
    elif path.startswith(PROXIED) or (
        host != context.settings.sites_address.host and find_site_by_hostname(tx, host) is None
    ):
        raise NotFound(_MISSING)
    coming = VisitorRequest([], {}, secure=True, bearer=asked.token, said=asked.unsigned)
    try:
        visit = enter_site(tx, context, host, path.rstrip("/") or "/", coming)
    except RedirectBeforeVisit:
        if asked.token is not None and not asked.redirect_on_error:
            raise Unauthorized(
                "visitor.jwtToken: isn't signed for this site, or has expired. Create a new token."
            ) from None
        raise
    if asked.token is not None and not asked.redirect_on_error:
        _require_good(tx, context, visit, asked.token)
    return visit


def _require_good(tx: Transaction, context: Context, visit: SiteVisit, token: str) -> None:
    """Raise Unauthorized if the token is invalid, even on a site that doesn't require one."""
    if visit.site.settings.adaptive and read_visitor_token(tx, context, visit.site, token) is None:
        raise Unauthorized(
            "visitor.jwtToken: isn't signed for this site, or has expired. Create a new token."
        )


def _preview(tx: Transaction, path: str, previewer: Visitor | None) -> SiteVisit:
    site_id, _, rest = path.strip("/").partition("/")
    if previewer is None or not previewer.preview or previewer.site_id != site_id:
        raise NotFound(_MISSING)
    site = get_site(tx, site_id)
    drafted = previewer.drafted
    admission = Admission(
        claims=previewer.claims, personal=True, preview=True, drafted=drafted, drafts=previewer.drafts
    )
    outline = visitor_outline(tx, previewer)
    dependencies = ResponseDependencies(site, None, admission.claims, more=True)
    base = f"/{site_id}/"
    start = f"https://{_PREVIEW_HOST}{base}"
    return SiteVisit(site, site.organization_id, path, base, rest, start, admission, outline, dependencies)


def _redirect(origin: str, location: str) -> Redirection:
    if location.startswith("/"):
        return Redirection("content", f"{origin}{location}")
    return Redirection("external", location)


def _content(
    tx: Transaction, context: Context, origin: str, space: SpaceVisit, previewer: Visitor | None
) -> PublishedContent:
    visit, shown = space.visit, space.site_space
    admission, site = visit.admission, visit.site
    link = find_link_by_key(tx, site.id, admission.key) if admission.key else None
    token = make_visitor_token(
        context.signer,
        site,
        admission.claims,
        link=link.id if link is not None else "",
        preview=previewer.preview if previewer is not None and admission.preview else "",
        until=admission.until,
    )
    drafted = admission.drafted
    shows_draft = drafted is not None and drafted.space_id == shown.space_id
    return PublishedContent(
        organization=site.organization_id,
        site=site.id,
        site_space=shown.id,
        space=shown.space_id,
        pathname=space.rest,
        base_path=space.base,
        site_base_path=visit.base,
        canonical_url=f"{origin}{space.base}{quote(space.rest)}",
        complete=_is_complete(space),
        api_token=token,
        site_section=shown.section_id or UNSET,
        share_key=admission.key or UNSET,
        context_id=_context(admission) if admission.personal else UNSET,
        change_request=drafted.change_id if drafted is not None and shows_draft else UNSET,
        revision=drafted.revision_id if drafted is not None and shows_draft else UNSET,
        preview=admission.preview or UNSET,
    )


def _is_complete(space: SpaceVisit) -> bool:
    """Return whether every path under the requested path belongs to this space, and not to another section or
    variant."""
    if space.rest:
        return True
    outline = space.visit.outline
    if space.base == space.visit.base and any(not section.is_default for section in outline.sections):
        return False
    return not space.site_space.is_default or all(one.is_default for one in space.site_spaces)


def _context(admission: Admission) -> str:
    """Return a key for the content that this visitor can see but other visitors can't."""
    return hashlib.sha256(admission.audience.encode("utf-8", "surrogatepass")).hexdigest()[:16]
