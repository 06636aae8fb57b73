"""Customization of sites and site spaces."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from ..audiences.wire import Preview
from ..previewing import framed_preview_url
from . import editing
from .model import Customization, Override, PutCustomization
from .showing import shown_to_member
from .wire import CustomizationQuery, TryCustomization

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_SITE_SPACE = _SITE + "/site-spaces/{siteSpaceId}/customization"


@operation("getSiteCustomizationById", "GET", f"{_SITE}/customization", needs=Can.VIEW, errors=(400,))
def get_customization(call: Call, site: SiteAccess, query: CustomizationQuery) -> Customization:
    """Get the customization of a site, with all settings. Only administrators of the site get its assistant's
    instructions."""
    with call.db.read() as tx:
        return shown_to_member(tx, site, editing.get_customization(tx, site.site_id))


@operation(
    "updateSiteCustomizationById",
    "PUT",
    f"{_SITE}/customization",
    needs=Can.ADMIN,
    errors=(400,),
    body_limit=512 * 1024,
    refuses_unread=True,
)
def put_customization(call: Call, site: SiteAccess, body: PutCustomization) -> Customization:
    """Replace the customization of a site. Omitted settings are reset to their defaults. Sending back an
    unchanged response has no effect."""
    with call.db.write() as tx:
        return editing.put_customization(tx, site, body)


@operation(
    "previewSiteCustomization",
    "POST",
    f"{_SITE}/customization/preview",
    needs=Can.ADMIN,
    errors=(400,),
    body_limit=512 * 1024,
)
def preview_customization(call: Call, site: SiteAccess, body: TryCustomization) -> Preview:
    """Preview an unsaved customization of a site, optionally with overrides of a site space. Returns a URL
    that works for one hour, only in frames of the app, and shows the caller's latest preview."""
    with call.db.write() as tx:
        editing.try_customization(tx, site, body.customization, body.site_space, body.override)
        return Preview(framed_preview_url(tx, call.context, site, body.site_space, body.theme))


@operation("getSiteSpaceCustomizationById", "GET", _SITE_SPACE, needs=Can.VIEW, errors=(400,))
def get_site_space_customization(
    call: Call, site: SiteAccess, site_space_id: str, query: CustomizationQuery
) -> Customization:
    """Get the customization of a site space: its site's customization with the site space's overrides."""
    with call.db.read() as tx:
        return shown_to_member(tx, site, editing.get_site_space_customization(tx, site, site_space_id))


@operation(
    "overrideSiteSpaceCustomizationById",
    "PATCH",
    _SITE_SPACE,
    needs=Can.ADMIN,
    errors=(400,),
    body_limit=512 * 1024,
    refuses_unread=True,
)
def override_customization(call: Call, site: SiteAccess, site_space_id: str, body: Override) -> Customization:
    """Override settings for one site space. Null removes an override."""
    with call.db.write() as tx:
        return editing.override(tx, site, site_space_id, body)


@operation("deleteSiteSpaceCustomizationById", "DELETE", _SITE_SPACE, needs=Can.ADMIN, errors=(400,))
def delete_override(call: Call, site: SiteAccess, site_space_id: str) -> bool:
    """Delete all overrides of a site space."""
    with call.db.write() as tx:
        return editing.delete_override(tx, site, site_space_id)
