"""Operations on an organization's custom fonts."""

from __future__ import annotations

from octavo.errors import PreconditionFailed
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import editing, store, wire

operation = Area("fonts").operation

_FONTS = "/orgs/{organizationId}/fonts"
_FONT = _FONTS + "/{fontId}"


@operation("listCustomFonts", "GET", _FONTS, needs=Can.VIEW, errors=(404,))
def list_fonts(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Font]:
    """List the fonts of an organization, oldest first."""
    with call.db.read() as tx:
        found = store.list_fonts(tx, org.organization_id, query.limit, query.page)
        return present_slice(found, lambda font: wire.present_font(call, org, font))


@operation("createCustomFont", "PUT", _FONTS, needs=Can.CREATE_CONTENT, status=201, errors=(404, 412))
def create_font(call: Call, org: OrgAccess, body: wire.CreateFont) -> wire.Font:
    """Create a font from files that the caller uploaded, one for each weight. Returns 412 if the required
    weight 400 is missing."""
    weights = {face.weight: face.storage_key for face in body.font_faces}
    if len(weights) < len(body.font_faces):
        raise PreconditionFailed("fontFaces: must have only one file per weight")
    with call.db.write() as tx:
        return wire.present_font(call, org, editing.create(tx, call.context, org, body.font_family, weights))


@operation("getCustomFont", "GET", _FONT, needs=Can.VIEW, errors=(404,))
def get_font(call: Call, org: OrgAccess, font_id: str) -> wire.Font:
    """Get a font."""
    with call.db.read() as tx:
        return wire.present_font(call, org, editing.get_font(tx, org.organization_id, font_id))


@operation("updateCustomFont", "POST", _FONT, needs=Can.CREATE_CONTENT, status=201, errors=(404, 412))
def update_font(call: Call, org: OrgAccess, font_id: str, body: wire.UpdateFont) -> wire.Font:
    """Rename a font, or add or replace weights. A null `storageKey` removes a weight. Returns 412 if the
    required weight 400 would be missing."""
    weights = {face.weight: face.storage_key for face in body.font_faces}
    with call.db.write() as tx:
        font = editing.change(tx, call.context, org, font_id, body.font_family, weights)
        return wire.present_font(call, org, font)


@operation("deleteCustomFont", "DELETE", _FONT, needs=Can.CREATE_CONTENT)
def delete_font(call: Call, org: OrgAccess, font_id: str) -> bool:
    """Delete a font and its files."""
    with call.db.write() as tx:
        return editing.delete(tx, org, font_id)
