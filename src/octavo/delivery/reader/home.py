"""Root URL of the sites domain: a list of public sites, as a page for people and as JSON for other
clients."""

from __future__ import annotations

from urllib.parse import parse_qs, quote

import msgspec
from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import present_slice
from octavo.kit.http.edge import Answer, Request, accepts_page, etag_of, text_error
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import SiteRow, list_public_sites

from .drawing import content_security_policy, draw_error, draw_home
from .sites import own_frame
from .views import MessageView

_MOST = 100
"""Number of sites per page of the list."""


def answer_missing(context: Context, request: Request, error: NotFound) -> Answer:
    """Return the response for a URL that doesn't belong to a site, or for a missing page of a restricted site. The
    response is the same in both cases, so that it doesn't reveal restricted sites."""
    if not accepts_page(request.headers):
        return text_error(error)
    frame = own_frame(context.settings.name, "/", "/")
    message = MessageView(title=frame.labels.not_found, text=frame.labels.not_found_text)
    policy = content_security_policy(frame.theme_css)
    headers = {"cache-control": "no-store", "content-security-policy": policy, "x-robots-tag": "noindex"}
    return Answer(404, draw_error(frame, message).encode(), "text/html; charset=utf-8", headers)


class PublicSite(Struct):
    title: str
    url: str


def answer_home(context: Context, tx: Transaction, request: Request) -> Answer:
    """Return the published, public sites of all organizations, newest first. Raises BadRequest if ``page``
    is invalid."""
    query = parse_qs(request.query_string.decode("latin-1"))
    found = list_public_sites(tx, _MOST, query.get("page", [None])[0])
    origin = context.settings.sites_url

    def present(site: SiteRow) -> PublicSite:
        organization = get_organization(tx, site.organization_id)
        return PublicSite(site.title, published_url(origin, organization, site))

    shown = present_slice(found, present)
    headers = {"cache-control": "no-cache", "vary": "accept"}
    if not accepts_page(request.headers):
        data = msgspec.json.encode(shown)
        return Answer(200, data, "application/json", headers, etag_of(data))
    frame = own_frame(context.settings.name, "/", "/")
    more = f"/?page={quote(found.next_token)}" if found.next_token else None
    page = draw_home(frame, [(site.title, site.url) for site in shown.items], more).encode()
    headers["content-security-policy"] = content_security_policy(frame.theme_css)
    return Answer(200, page, "text/html; charset=utf-8", headers, etag_of(page))
