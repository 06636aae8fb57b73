"""Pages for people that show what the API says to whoever is signed in."""

from __future__ import annotations

from msgspec import Struct

from ..access import Can, SiteAccess
from ..insights import Preset
from ..kit.operation import Area, Call, Reply
from ..orgs import get_organization
from ..sites import get_site, published_url
from .insights import draw_insights
from .policy import CONTENT_SECURITY_POLICY

operation = Area("sites").operation

_HTML = "text/html; charset=utf-8"


class InsightsQuery(Struct):
    range: Preset = "last30Days"


@operation(
    "getSiteInsightsPage",
    "GET",
    "/orgs/{organizationId}/sites/{siteId}/insights/page",
    needs=Can.VIEW,
    returns=bytes,
    media_type=_HTML,
    extension=True,
    browsed=True,
)
def get_insights_page(call: Call, site: SiteAccess, query: InsightsQuery) -> Reply:
    """The insights of a site as a page of charts, for browsers in which somebody is signed in."""
    with call.db.read() as tx:
        row = get_site(tx, site.site_id)
        address = published_url(call.settings.sites_url, get_organization(tx, site.organization_id), row)
        page = draw_insights(tx, site.site_id, row.title, address, query.range)
    headers = {
        "content-type": _HTML,
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "private, no-store",
    }
    return Reply(page, headers=headers)
