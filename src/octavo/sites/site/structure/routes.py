"""Operations on the structure of a site: sections, groups, site spaces, and their order."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from octavo.content.changes.wire import TemplateChoice
from octavo.errors import Conflict
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.duplicating import duplicate_space, prepare_copy

from ..publishing import require_publishable
from . import changing, links, sorting, wire
from .filling import space_to_add
from .presenting import ShownStructure, present_ordered
from .sorting import StructurePart
from .store import Row, SectionGroupRow, SectionRow, load_structure, with_localized

operation = Area("sites").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_SECTIONS = f"{_SITE}/sections"
_SECTION = _SECTIONS + "/{siteSectionId}"
_GROUPS = f"{_SITE}/section-groups"
_GROUP = _GROUPS + "/{siteSectionGroupId}"
_LINKS = f"{_SITE}/external-links"
_LINK = _LINKS + "/{siteExternalLinkId}"
_SPACES = f"{_SITE}/site-spaces"
_SPACE = _SPACES + "/{siteSpaceId}"
_STARTING = (("product-docs", "Documentation"), ("changelog", "Changelog"))
"""Templates and titles of a new site's sections."""


def _given(**values: object) -> dict[str, object]:
    """Return the columns to set, without omitted fields."""
    return {name: value for name, value in values.items() if value is not UNSET}


def _localized(row: Row | None, body: object) -> str | None | UnsetType:
    """Return the translations column, updated with the translations in a request; unset if the request contains
    none."""
    title = getattr(body, "localized_title", UNSET)
    description = getattr(body, "localized_description", UNSET)
    if title is UNSET and description is UNSET:
        return UNSET
    return with_localized(row, title=title, description=description)


def _flag(value: bool | UnsetType) -> int | UnsetType:
    return int(value) if value is not UNSET else UNSET


def _locate(call: Call, site: SiteAccess, path: str) -> None:
    call.response_headers["location"] = call.url(f"/orgs/{site.organization_id}/sites/{site.site_id}/{path}")


# --- structure ----------------------------------------------------------------------------------------


@operation("getSiteStructure", "GET", f"{_SITE}/structure", needs=Can.VIEW, errors=(404,))
def get_structure(call: Call, site: SiteAccess, query: wire.ShownQuery) -> wire.SiteStructure:
    """Get the structure of a site: all of its sections and groups, or its site spaces if it has no sections. Parts
    whose spaces the caller can't see are omitted."""
    with call.db.read() as tx:
        return ShownStructure(tx, call, site, query.share_key).whole()


@operation(
    "sortSiteStructure",
    "PATCH",
    f"{_SITE}/structure/sort",
    needs=Can.EDIT,
    errors=(400, 404),
    minimal=True,
)
def sort_structure(call: Call, site: SiteAccess, body: wire.Sort) -> wire.SiteSpace | wire.StructureNode:
    """Move a section, group, external link, or site space before or after another item, into the group of that item."""
    with call.db.write() as tx:
        item = StructurePart(body.item.type, body.item.id, "item")
        sorting.move(tx, site, item, **wire.neighbors(body.position))
        return ShownStructure(tx, call, site).find(body.item.id)


# --- sections -----------------------------------------------------------------------------------------


def _section(tx: Transaction, call: Call, site: SiteAccess, section_id: str) -> wire.SiteSection:
    shown = ShownStructure(tx, call, site)
    section = changing.get_section(shown.structure, section_id)
    shown.require_seen(section)
    return shown.section(section)


@operation("listSiteSections", "GET", _SECTIONS, needs=Can.VIEW)
def list_sections(call: Call, site: SiteAccess, query: wire.ShownListQuery) -> Listing[wire.SiteSection]:
    """List the sections of a site in reading order, regardless of groups. Sections whose spaces the caller
    can't see are omitted."""
    with call.db.read() as tx:
        shown = ShownStructure(tx, call, site, query.share_key)
        nodes = shown.seen_nodes(shown.structure.ordered())
        rows = [node for node in nodes if isinstance(node, SectionRow)]
        return present_ordered(rows, query.limit, query.page, shown.structure.key, shown.section)


@operation("addSectionToSite", "POST", _SECTIONS, needs=Can.EDIT, status=201, yields=("content:read",))
def add_section(call: Call, site: SiteAccess, body: wire.AddSection) -> wire.SiteSection:
    """Add a section with one space where the caller has the `create` role or higher, or with a new space (`spaceId`
    null). If the site had no sections, its previous content becomes the first section. Editors of the site can only add
    drafts."""
    with (
        space_to_add(
            call.context, site, body.space_id, body.template, title=body.title, page_id=body.page_id
        ) as space,
        call.db.write() as tx,
    ):
        space_id = space.id(tx)
        require_publishable(tx, site.organization, {"spaceId": space_id})
        made = changing.add_section(
            tx,
            site,
            space_id,
            title=body.title,
            icon=body.icon,
            draft=body.draft,
            group_id=body.site_section_group_id,
            page_id=body.page_id,
        )
        _locate(call, site, f"sections/{made}")
        return _section(tx, call, site, made)


@operation("updateSiteSectionById", "PATCH", _SECTION, needs=Can.EDIT, minimal=True)
def update_section(
    call: Call, site: SiteAccess, site_section_id: str, body: wire.UpdateSection
) -> wire.SiteSection:
    """Update a section. Its former path redirects to the new path."""
    path = changing.read_path("path", body.path) if isinstance(body.path, str) else body.path
    values = _given(
        title=body.title,
        path=path,
        condition=body.condition,
        icon=body.icon,
        description=body.description,
        draft=_flag(body.draft),
        group_id=body.site_section_group_id,
    )
    chosen = or_none(body.default_site_space)
    with call.db.write() as tx:
        section = changing.get_section(changing.load_seen_structure(tx, site, trashed=True), site_section_id)
        values |= _given(localized=_localized(section, body))
        changing.update_section(tx, site, site_section_id, chosen, values)
        return _section(tx, call, site, site_section_id)


@operation("deleteSiteSectionById", "DELETE", _SECTION, needs=Can.EDIT)
def delete_section(call: Call, site: SiteAccess, site_section_id: str) -> bool:
    """Delete a section. The content of its spaces is kept."""
    with call.db.write() as tx:
        return changing.delete_section(tx, site, site_section_id)


@operation("moveSiteSection", "POST", f"{_SECTION}/move", needs=Can.ADMIN, errors=(400, 404), deprecated=True)
def move_section(
    call: Call, site: SiteAccess, site_section_id: str, body: wire.MoveSection
) -> wire.SiteSection:
    """Move a section before or after another section."""
    with call.db.write() as tx:
        sorting.move(
            tx, site, StructurePart("site-section", site_section_id), **wire.neighbors(body.position)
        )
        return _section(tx, call, site, site_section_id)


# --- groups -------------------------------------------------------------------------------------------


def _group(tx: Transaction, call: Call, site: SiteAccess, group_id: str) -> wire.SiteSectionGroup:
    shown = ShownStructure(tx, call, site)
    group = changing.get_group(shown.structure, group_id)
    shown.require_seen(group)
    return shown.group(group)


@operation("listSiteSectionGroups", "GET", _GROUPS, needs=Can.VIEW)
def list_groups(call: Call, site: SiteAccess, query: PageQuery) -> Listing[wire.SiteSectionGroup]:
    """List the section groups of a site in reading order, each with its contents."""
    with call.db.read() as tx:
        shown = ShownStructure(tx, call, site)
        nodes = shown.seen_nodes(shown.structure.ordered())
        rows = [node for node in nodes if isinstance(node, SectionGroupRow)]
        return present_ordered(rows, query.limit, query.page, shown.structure.key, shown.group)


@operation("addSectionGroupToSite", "POST", _GROUPS, needs=Can.EDIT, status=201)
def add_group(call: Call, site: SiteAccess, body: wire.AddGroup) -> wire.SiteSectionGroup:
    """Add a group that contains sections of the site, at the top level or in another group."""
    with call.db.write() as tx:
        made = changing.add_group(
            tx,
            site,
            title=body.title,
            icon=body.icon,
            section_ids=body.sections,
            parent_id=body.parent,
            draft=body.draft,
        )
        _locate(call, site, f"section-groups/{made}")
        return _group(tx, call, site, made)


@operation("updateSiteSectionGroupById", "PATCH", _GROUP, needs=Can.EDIT, minimal=True)
def update_group(
    call: Call, site: SiteAccess, site_section_group_id: str, body: wire.UpdateGroup
) -> wire.SiteSectionGroup:
    """Update a group, or move it into another group."""
    values = _given(
        title=body.title, icon=body.icon, draft=_flag(body.draft), parent_id=body.parent_section_group_id
    )
    with call.db.write() as tx:
        group = changing.get_group(
            changing.load_seen_structure(tx, site, trashed=True), site_section_group_id
        )
        values |= _given(localized=_localized(group, body))
        changing.update_group(tx, site, site_section_group_id, values)
        return _group(tx, call, site, site_section_group_id)


@operation("deleteSiteSectionGroupById", "DELETE", _GROUP, needs=Can.EDIT)
def delete_group(call: Call, site: SiteAccess, site_section_group_id: str) -> bool:
    """Delete a group. The sections and groups in it take its place."""
    with call.db.write() as tx:
        return changing.delete_group(tx, site, site_section_group_id)


@operation(
    "moveSiteSectionGroup", "POST", f"{_GROUP}/move", needs=Can.ADMIN, errors=(400, 404), deprecated=True
)
def move_group(
    call: Call, site: SiteAccess, site_section_group_id: str, body: wire.MoveGroup
) -> wire.SiteSectionGroup:
    """Move a group before or after a section or another group."""
    with call.db.write() as tx:
        item = StructurePart("site-section-group", site_section_group_id)
        sorting.move(tx, site, item, **wire.neighbors(body.position))
        return _group(tx, call, site, site_section_group_id)


@operation("addSectionToGroup", "POST", f"{_GROUP}/sections", needs=Can.ADMIN, status=201)
def add_section_to_group(
    call: Call, site: SiteAccess, site_section_group_id: str, body: wire.AddSectionToGroup
) -> wire.SiteSectionGroup:
    """Move a section to the end of a group."""
    with call.db.write() as tx:
        changing.add_section_to_group(tx, site, site_section_group_id, body.section_id)
        _locate(call, site, f"section-groups/{site_section_group_id}")
        return _group(tx, call, site, site_section_group_id)


@operation("removeSectionFromGroup", "DELETE", _GROUP + "/sections/{siteSectionId}", needs=Can.ADMIN)
def remove_section_from_group(
    call: Call, site: SiteAccess, site_section_group_id: str, site_section_id: str
) -> bool:
    """Remove a section from a group. The section moves to the end of the site."""
    with call.db.write() as tx:
        return changing.remove_section_from_group(tx, site, site_section_group_id, site_section_id)


# --- external links -----------------------------------------------------------------------------------


def _link(tx: Transaction, call: Call, site: SiteAccess, link_id: str) -> wire.SiteExternalLink:
    shown = ShownStructure(tx, call, site)
    return shown.link(changing.get_link(shown.structure, link_id))


@operation("addExternalLinkToSite", "POST", _LINKS, needs=Can.EDIT, status=201)
def add_link(call: Call, site: SiteAccess, body: wire.AddExternalLink) -> wire.SiteExternalLink:
    """Add a link to another website to the navigation of a site with sections, at the top level or in a group."""
    values: dict[str, object] = {
        "title": body.title,
        "url": body.url,
        "description": body.description,
        "icon": body.icon,
        "condition": body.condition,
        "draft": int(body.draft),
        "localized": or_none(_localized(None, body)),
    }
    with call.db.write() as tx:
        made = links.add_link(tx, site, body.parent, values)
        _locate(call, site, f"external-links/{made}")
        return _link(tx, call, site, made)


@operation("updateSiteExternalLinkById", "PATCH", _LINK, needs=Can.EDIT, minimal=True)
def update_link(
    call: Call, site: SiteAccess, site_external_link_id: str, body: wire.UpdateExternalLink
) -> wire.SiteExternalLink:
    """Update an external link, or move it into a group or to the top level."""
    values = _given(
        title=body.title,
        url=body.url,
        description=body.description,
        icon=body.icon,
        condition=body.condition,
        draft=_flag(body.draft),
        group_id=body.parent,
    )
    with call.db.write() as tx:
        link = changing.get_link(load_structure(tx, site.site_id), site_external_link_id)
        values |= _given(localized=_localized(link, body))
        links.update_link(tx, site, site_external_link_id, values)
        return _link(tx, call, site, site_external_link_id)


@operation("deleteSiteExternalLinkById", "DELETE", _LINK, needs=Can.EDIT)
def delete_link(call: Call, site: SiteAccess, site_external_link_id: str) -> bool:
    """Delete an external link."""
    with call.db.write() as tx:
        return links.delete_link(tx, site, site_external_link_id)


# --- site spaces --------------------------------------------------------------------------------------


def _site_space(tx: Transaction, call: Call, site: SiteAccess, site_space_id: str) -> wire.SiteSpace:
    shown = ShownStructure(tx, call, site)
    return shown.site_space(changing.get_site_space(shown.structure, site_space_id))


@operation("listSiteSpaces", "GET", _SPACES, needs=Can.VIEW)
def list_site_spaces(call: Call, site: SiteAccess, query: wire.SiteSpacesQuery) -> Listing[wire.SiteSpace]:
    """List the site spaces whose spaces the caller can see, in reading order. With `default`, list only defaults
    (`true`) or only other site spaces (`false`)."""
    with call.db.read() as tx:
        shown = ShownStructure(tx, call, site, query.share_key)
        rows = [
            row
            for row in shown.seen(shown.structure.ordered_site_spaces())
            if query.default in (None, bool(row.is_default))
        ]
        return present_ordered(rows, query.limit, query.page, shown.structure.key, shown.site_space)


@operation(
    "addSpaceToSite",
    "POST",
    _SPACES,
    needs=Can.EDIT,
    status=201,
    yields=("content:read",),
    minimal=True,
)
def add_site_space(call: Call, site: SiteAccess, body: wire.AddSiteSpace) -> wire.SiteSpace:
    """Add a space where the caller has the `create` role or higher, or a new space (`spaceId` null), as a variant of a
    section or of the site. Editors of the site can only add drafts."""
    with (
        space_to_add(
            call.context, site, body.space_id, body.template, title=body.title, page_id=body.page_id
        ) as space,
        call.db.write() as tx,
    ):
        space_id = space.id(tx)
        require_publishable(tx, site.organization, {"spaceId": space_id})
        made = changing.add_site_space(
            tx,
            site,
            space_id,
            body.section_id,
            title=body.title,
            page_id=body.page_id,
            draft=body.draft,
        )
        _locate(call, site, f"site-spaces/{made}")
        return _site_space(tx, call, site, made)


@operation("updateSiteSpaceById", "PATCH", _SPACE, needs=Can.EDIT, minimal=True)
def update_site_space(
    call: Call, site: SiteAccess, site_space_id: str, body: wire.UpdateSiteSpace
) -> wire.SiteSpace:
    """Update a site space, or replace its space with another space where the caller has the `create` role or higher.
    Replacing the space resets the home page."""
    path = changing.read_path("path", body.path) if isinstance(body.path, str) else body.path
    values = _given(
        path=path,
        condition=body.condition,
        space_id=body.space_id,
        title=body.title,
        page_id=body.page_id,
        hidden=_flag(body.hidden),
        draft=_flag(body.draft),
    )
    with call.db.write() as tx:
        shown = changing.get_site_space(changing.load_seen_structure(tx, site, trashed=True), site_space_id)
        values |= _given(localized=_localized(shown, body))
        if isinstance(body.space_id, str):
            require_publishable(tx, site.organization, {"spaceId": body.space_id})
        changing.update_site_space(tx, site, site_space_id, values)
        return _site_space(tx, call, site, site_space_id)


@operation(
    "applyTemplateToSite", "POST", f"{_SITE}/template", needs=Can.ADMIN, status=200, yields=("content:write",)
)
def apply_template(call: Call, site: SiteAccess) -> None:
    """Fill an empty site with a starter structure: a section with product documentation and a section with a
    changelog. Returns 409 if the site has content."""
    for template, title in _STARTING:
        choice = TemplateChoice(template)
        with space_to_add(call.context, site, None, choice, title=title) as space, call.db.write() as tx:
            structure = load_structure(tx, site.site_id, trashed=True)
            if template == _STARTING[0][0] and structure.site_spaces:
                raise Conflict(
                    "This site already has content. Only an empty site can be filled from a template."
                )
            changing.add_section(tx, site, space.id(tx), title=title, icon=None, draft=False)


@operation(
    "duplicateSiteSpace",
    "POST",
    f"{_SPACE}/duplicate",
    needs=Can.ADMIN,
    status=201,
    errors=(400, 404),
    yields=("content:write",),
)
def duplicate_site_space(
    call: Call, site: SiteAccess, site_space_id: str, body: wire.DuplicateSiteSpace | None
) -> wire.SiteSpace:
    """Duplicate a space where the caller has the `create` role or higher, and add the duplicate to the site. The
    duplicate becomes a new section after the original's section if that section has no other spaces; otherwise, it
    becomes another variant."""
    draft = body.draft if body is not None else False
    with call.db.read() as tx:
        shown = changing.get_site_space(changing.load_seen_structure(tx, site), site_space_id)
        space = space_access(tx, site.actor, Can.ADMIN, shown.space_id)
    with prepare_copy(call.db, space) as prepared, call.db.write() as tx:
        made = duplicate_space(tx, space, prepared)
        structure = load_structure(tx, site.site_id)
        shown = changing.get_site_space(structure, site_space_id)
        section = structure.sections.get(shown.section_id or "")
        if section is None or len(structure.variants(section.id)) > 1:
            added = changing.add_site_space(tx, site, made.id, shown.section_id, draft=draft)
        else:
            beside = changing.add_section(
                tx, site, made.id, title=None, icon=section.icon, draft=draft, group_id=section.group_id
            )
            place = StructurePart("site-section", section.id)
            sorting.move(tx, site, StructurePart("site-section", beside), before=None, after=place)
            added = load_structure(tx, site.site_id).variants(beside)[0].id
        _locate(call, site, f"site-spaces/{added}")
        return _site_space(tx, call, site, added)


@operation("deleteSiteSpaceById", "DELETE", _SPACE, needs=Can.EDIT)
def delete_site_space(call: Call, site: SiteAccess, site_space_id: str) -> bool:
    """Remove a space from the site. The content of the space is kept."""
    with call.db.write() as tx:
        return changing.delete_site_space(tx, site, site_space_id)


@operation("moveSiteSpace", "POST", f"{_SPACE}/move", needs=Can.ADMIN, errors=(400, 404), deprecated=True)
def move_site_space(
    call: Call, site: SiteAccess, site_space_id: str, body: wire.MoveSiteSpace
) -> wire.SiteSpace:
    """Move a site space before or after another site space in its section."""
    with call.db.write() as tx:
        sorting.move(tx, site, StructurePart("site-space", site_space_id), **wire.neighbors(body.position))
        return _site_space(tx, call, site, site_space_id)
