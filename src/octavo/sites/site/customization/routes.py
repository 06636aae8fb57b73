"""Customization of sites and site spaces."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call, Deletion
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from ..audiences.wire import Preview
from ..previewing import framed_preview_url
from . import editing
from .model import Customization, Override, PutCustomization
from .wire import CustomizationQuery, TryCustomization

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_SITE_SPACE = _SITE + "/site-spaces/{siteSpaceId}/customization"


@operation(
    "getSiteCustomizationById",
    "GET",
    f"{_SITE}/customization",
    needs=Can.VIEW,
    returns=Customization,
    errors=(400,),
)
def get_customization(call: Call, site: SiteAccess, query: CustomizationQuery) -> Customization:
    """How a site looks, every setting of it."""
    with call.db.read() as tx:
        return editing.get_customization(tx, site.site_id)


@operation(
    "updateSiteCustomizationById",
    "PUT",
    f"{_SITE}/customization",
    needs=Can.ADMIN,
    returns=Customization,
    errors=(400,),
    body_limit=512 * 1024,
    refuses_unread=True,
)
def put_customization(call: Call, site: SiteAccess, body: PutCustomization) -> Customization:
    """Sets how a site looks; what the body leaves out is as it was made. An answer that is put back changes nothing."""
    with call.db.write() as tx:
        return editing.put_customization(tx, site, body)


@operation(
    "previewSiteCustomization",
    "POST",
    f"{_SITE}/customization/preview",
    needs=Can.ADMIN,
    returns=Preview,
    errors=(400,),
    body_limit=512 * 1024,
    extension=True,
)
def preview_customization(call: Call, site: SiteAccess, body: TryCustomization) -> Preview:
    """An address at which the site shows itself with this look, which is not saved; a site space also with what it would
    override. It is good for an hour, in frames of the app alone, and shows what the caller tried last."""
    with call.db.write() as tx:
        editing.try_customization(tx, site, body.customization, body.site_space, body.override)
        return Preview(framed_preview_url(tx, call.context, site, body.site_space, body.theme))


@operation(
    "getSiteSpaceCustomizationById",
    "GET",
    _SITE_SPACE,
    needs=Can.VIEW,
    returns=Customization,
    errors=(400,),
)
def get_site_space_customization(
    call: Call, site: SiteAccess, site_space_id: str, query: CustomizationQuery
) -> Customization:
    """How a site space looks: as its site, with what it overrides."""
    with call.db.read() as tx:
        return editing.get_site_space_customization(tx, site, site_space_id)


@operation(
    "overrideSiteSpaceCustomizationById",
    "PATCH",
    _SITE_SPACE,
    needs=Can.ADMIN,
    returns=Customization,
    errors=(400,),
    body_limit=512 * 1024,
    refuses_unread=True,
)
def override_customization(call: Call, site: SiteAccess, site_space_id: str, body: Override) -> Customization:
    """Overrides settings for one site space; null takes an override back."""
    with call.db.write() as tx:
        return editing.override(tx, site, site_space_id, body)


@operation(
    "deleteSiteSpaceCustomizationById",
    "DELETE",
    _SITE_SPACE,
    needs=Can.ADMIN,
    returns=Deletion,
    errors=(400,),
)
def delete_override(call: Call, site: SiteAccess, site_space_id: str) -> bool:
    """Takes back all that a site space overrides."""
    with call.db.write() as tx:
        return editing.delete_override(tx, site, site_space_id)
