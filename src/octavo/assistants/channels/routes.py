"""Operations on site channels, in which a site's assistant answers questions outside Octavo."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import BadRequest
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can
from octavo.sites.site.publishing import require_publish_permission

from . import store, wire

operation = Area("ask").operation

_ALL = "/orgs/{organizationId}/sites/{siteId}/channels"
_ONE = _ALL + "/{siteChannelId}"


@operation("listSiteChannels", "GET", _ALL, needs=Can.VIEW)
def list_channels(call: Call, site: SiteAccess, query: PageQuery) -> Listing[wire.SiteChannel]:
    """List the channels of a site, oldest first."""
    with call.db.read() as tx:
        found = store.list_channels(tx, site.site_id, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_channel(call, site.organization_id, row))


@operation("createSiteChannel", "POST", _ALL, needs=Can.ADMIN, status=201, errors=(400, 409))
def create_channel(call: Call, site: SiteAccess, body: wire.CreateSiteChannel) -> wire.SiteChannel:
    """Create a channel: a service, such as Slack, in which the site's assistant answers questions. The channel is
    `pending` until an integration for the service is installed on the site. Requires the `create` role or higher in
    every space of the site, because answers can come from all of them."""
    type = wire.type_of(body.type)
    patterns = wire.read_patterns(type, body.setup_settings)
    with call.db.write() as tx:
        require_publish_permission(tx, site)
        row = store.create_channel(tx, site, type, patterns, body.role)
    shown = wire.present_channel(call, site.organization_id, row)
    call.response_headers["location"] = shown.urls.location
    return shown


@operation("getSiteChannelById", "GET", _ONE, needs=Can.VIEW, errors=(404,))
def get_channel(call: Call, site: SiteAccess, site_channel_id: str) -> wire.SiteChannel:
    """Get a channel of a site."""
    with call.db.read() as tx:
        row = store.get_channel(tx, site.site_id, site_channel_id)
    return wire.present_channel(call, site.organization_id, row)


@operation("updateSiteChannelById", "PATCH", _ONE, needs=Can.ADMIN, errors=(400, 404))
def update_channel(
    call: Call, site: SiteAccess, site_channel_id: str, body: wire.UpdateSiteChannel
) -> wire.SiteChannel:
    """Update a channel's settings."""
    with call.db.write() as tx:
        before = store.get_channel(tx, site.site_id, site_channel_id)
        if body.type is not UNSET and wire.type_of(body.type) != before.type:
            raise BadRequest("type: can't be changed. Create another channel instead.")
        patterns, role = before.patterns, before.role
        if body.setup_settings is not UNSET:
            patterns = wire.read_patterns(before.type, body.setup_settings)
        if body.role is not UNSET:
            role = body.role
        require_publish_permission(tx, site)
        row = store.update_channel(tx, site, before, patterns, role)
    return wire.present_channel(call, site.organization_id, row)


@operation("deleteSiteChannelById", "DELETE", _ONE, needs=Can.ADMIN)
def delete_channel(call: Call, site: SiteAccess, site_channel_id: str) -> bool:
    """Delete a channel. The integration stays installed."""
    with call.db.write() as tx:
        return store.delete_channel(tx, site, site_channel_id)
