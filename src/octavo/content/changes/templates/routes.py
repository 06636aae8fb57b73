"""List templates and apply them."""

from __future__ import annotations

from msgspec import UNSET

from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess
from octavo.organization.access.roles import Can

from ..authorization import enter_change
from ..copying import copy_material
from ..saving import edit_live, revise_change
from . import catalog
from .wire import ApplyTemplate, Template, present_template

operation = Area("changes").operation


@operation("listTemplates", "GET", "/orgs/{organizationId}/templates", needs=Can.VIEW)
def list_templates(call: Call, org: OrgAccess, query: PageQuery) -> Listing[Template]:
    """List templates: built-in templates, and the spaces of an organization that the caller can read."""
    with call.db.read() as tx:
        return present_slice(catalog.list_templates(tx, org, query.limit, query.page), present_template)


@operation(
    "applyTemplateToSpace",
    "POST",
    "/spaces/{spaceId}/content/template",
    needs=Can.EDIT,
    status=201,
    errors=(400, 403, 404, 409),
)
def apply_template(call: Call, space: SpaceAccess, body: ApplyTemplate) -> None:
    """Add a template's pages, files, and variables after the existing content of a change request, or of
    main in spaces with live editing. Returns 404 if the template doesn't exist, or if it is a space that
    the caller can't read."""
    with call.db.read() as tx:
        material = catalog.get_material(tx, space.actor, body.id)
    refs = body.params.content_refs
    if body.change_request_id is UNSET:
        edit_live(call.context, space, lambda tx, state, _: copy_material(tx, state, material, refs))
        return
    change = enter_change(call, Can.EDIT, space.space_id, body.change_request_id)
    revise_change(call.context, change, lambda tx, state, _: copy_material(tx, state, material, refs))
