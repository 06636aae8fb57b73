"""Edit the structure of a site: add, rename, and remove parts, and update paths.

Every change runs inside ``change_structure``, which locks the site, and compares the paths before and after the change.
No two site spaces can have the same path, and former paths redirect to the new paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.restrictions import published_seen_by
from octavo.core.free_names import free_name
from octavo.core.pages import rank_between, slugify
from octavo.errors import BadRequest, Conflict, Forbidden, NotFound, require_found
from octavo.interchange.gitsync.requesting import notice_project
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, find_kept_space_access, find_space_access
from octavo.organization.access.roles import SITE, Can, at_least
from octavo.organization.spaces.store import get_space, list_spaces_by_id

from ..publishing import require_publish_permission_if_published
from ..store import touch_site
from . import store
from .store import ExternalLinkRow, Row, SectionGroupRow, SectionRow, SiteSpaceRow, Structure

RESERVED = {
    "robots.txt",
    "sitemap.xml",
    "sitemap-pages.xml",
    "llms.txt",
    "llms-full.txt",
    "favicon.ico",
    "healthz",
}
"""Paths that the sites themselves serve, so sections and variants can't use them."""
_PATH = re.compile(r"\w[\w.+-]*")
_PATH_MAX = 90


def read_path(field: str, text: str) -> str:
    """Return a normalized path: one segment in lowercase. Raises BadRequest if the path is invalid."""
    path = text.lower()
    # Slugs can contain a script's combining marks, which aren't letters themselves.
    readable = _PATH.fullmatch(path) or path == slugify(path)
    if not readable:
        raise BadRequest(f"{field}: must contain only letters, digits, and `-_.+`")
    if path in RESERVED or path.endswith(".md"):
        raise BadRequest(f"{field}: {path!r} is reserved. Choose another path.")
    return path


def lock(tx: Transaction, site_id: str) -> None:
    """Lock a site until the transaction ends, so that no other transaction changes the site."""
    tx.one(f"SELECT id FROM sites WHERE id = :id{tx.for_update}", id=site_id)


def load_seen_structure(tx: Transaction, site: SiteAccess, *, trashed: bool = False) -> Structure:
    """Load the structure of a site. Parts that the caller can't see are concealed. ``trashed``: whether to include
    spaces in the trash."""
    structure = store.load_structure(tx, site.site_id, trashed=trashed)
    ids = {shown.space_id for shown in structure.site_spaces.values()}
    seen = list_spaces_by_id(tx, site.organization, list(ids)).keys()
    kept = {id for id in ids - seen if find_kept_space_access(tx, site.actor, Can.VIEW, id) is not None}
    structure.conceal((seen | kept).__contains__)
    return structure


@contextmanager
def change_structure(tx: Transaction, site_id: str, by: SiteAccess | None) -> Iterator[Structure]:
    """Yield the structure before a change, and check the result. ``by``: the actor who makes the change; None for the
    server administrator. Raises BadRequest if two parts have the same path after the change, and Forbidden if a
    published site would show a space to more people and the caller can't publish that space, or if the caller can only
    edit drafts and the change affects live parts."""
    lock(tx, site_id)
    if by is None:
        before = store.load_structure(tx, site_id, trashed=True)
    else:
        before = load_seen_structure(tx, by, trashed=True)
    yield before
    after = store.load_structure(tx, site_id, trashed=True)
    if after.is_same(before):
        return
    if by is not None and (not before.site_spaces or _live_rows(before) != _live_rows(after)):
        require_live_edits(by)
    opened = _newly_visible(before, after)
    if by is not None and opened:
        require_publish_permission_if_published(tx, by, opened)
    bases = {shown.id: after.base(shown).strip("/") for shown in after.site_spaces.values()}
    taken: dict[str, str] = {}
    for shown_id, base in bases.items():
        if taken.setdefault(base, shown_id) != shown_id:
            raise BadRequest(
                f"path: two spaces on the site would have the path /{base}. Change one of their paths."
            )
    left = {
        base: shown.id
        for shown in before.site_spaces.values()
        if shown.id in bases and taken.get(base := before.base(shown).strip("/")) != shown.id
    }
    # If another site space now has a former path, pages may still be looked up there. Visitors can't see drafts, so
    # former paths redirect them until the draft is published.
    live = [base for base, shown_id in taken.items() if not after.is_draft(after.site_spaces[shown_id])]
    store.remove_former_paths(tx, site_id, [base for base in live if base not in left])
    store.put_former_paths(tx, site_id, left)
    touch_site(tx, site_id)
    notice_project(tx, site_id)


def require_live_edits(site: SiteAccess) -> None:
    """Raise Forbidden unless the caller can change the content that visitors see. Editors of a site can only edit
    drafts."""
    role = SITE[Can.ADMIN]
    if not at_least(site.role, role):
        raise Forbidden(
            f"Changes that visitors can see require the `{role}` role or higher, but your role is "
            f"`{site.role}`. Create a draft instead, or ask an administrator for access."
        )


def _live_rows(structure: Structure) -> list[Row]:
    """Return the rows that aren't drafts, in reading order. Their ranks may change when a draft is added."""
    rows: list[Row] = [*structure.variants(None)]
    for node in structure.ordered():
        rows.append(node)
        if isinstance(node, SectionRow):
            rows += structure.variants(node.id)
    return [msgspec.structs.replace(row, rank="") for row in rows if not structure.is_draft(row)]


def _newly_visible(before: Structure, after: Structure) -> set[str]:
    """Return the spaces that more people can see than before, except added spaces, for which permission was
    already checked."""
    return {
        shown.space_id
        for shown in after.site_spaces.values()
        if shown.id in before.site_spaces
        and not before.gates(before.site_spaces[shown.id]) <= after.gates(shown)
    }


def note(
    tx: Transaction,
    site: SiteAccess,
    action: str,
    target: tuple[str, str],
    before: object = None,
    after: object = None,
) -> None:
    """Record a change to a site in its organization's audit log."""
    audit(tx, site.actor, action, site.organization_id, target, before=before, after=after)


# --- lookup -------------------------------------------------------------------------------------------


def _absent(what: str, id: str, field: str) -> str:
    """Return the message for a part that isn't on the site. ``field``: the request field that contains the part's
    ID; empty if the ID is in the path."""
    problem = f"here is no {what} with the ID {id!r} on this site"
    return f"{field}: t{problem}" if field else f"T{problem}."


def get_section(structure: Structure, section_id: str, field: str = "") -> SectionRow:
    """Return a section of this site. ``field``: the request field that contains the ID. Raises NotFound if there is no
    such section."""
    return require_found(
        structure.seen(structure.sections, section_id), _absent("section", section_id, field)
    )


def get_group(structure: Structure, group_id: str, field: str = "") -> SectionGroupRow:
    return require_found(
        structure.seen(structure.groups, group_id), _absent("section group", group_id, field)
    )


def get_link(structure: Structure, link_id: str, field: str = "") -> ExternalLinkRow:
    return require_found(structure.links.get(link_id), _absent("external link", link_id, field))


def get_site_space(structure: Structure, site_space_id: str, field: str = "") -> SiteSpaceRow:
    return require_found(
        structure.seen(structure.site_spaces, site_space_id), _absent("site space", site_space_id, field)
    )


# --- sections -----------------------------------------------------------------------------------------


def _free_section_path(structure: Structure, title: str) -> str:
    default = structure.default_section
    taken = {section.path for section in structure.sections.values()} | RESERVED
    # The paths of the default section's variants are at the same level as those of sections.
    taken |= {shown.path for shown in structure.variants(default.id if default else None)}
    return free_name(slugify(title)[:_PATH_MAX], taken.__contains__)


def rank_at_end(nodes: Sequence[Row]) -> str:
    return rank_between(nodes[-1].rank if nodes else None, None)


def ranked_in_parent(
    structure: Structure, values: Mapping[str, object], column: str, current: str | None, field: str
) -> Mapping[str, object]:
    """Return columns to set, with a rank at the end of the new group if ``column`` moves a part into another group.
    ``current``: its current group. ``field``: the request field with the new group. Raises NotFound if the group
    doesn't exist."""
    parent = values.get(column, current)
    if parent == current:
        return values
    assert parent is None or isinstance(parent, str)
    if parent is not None:
        get_group(structure, parent, field)
    return {**values, "rank": rank_at_end(structure.children(parent))}


def _section_title(title: str) -> str:
    return title if len(title) >= 2 else "Section"


def add_section(
    tx: Transaction,
    site: SiteAccess,
    space_id: str,
    *,
    title: str | None,
    icon: str | None,
    draft: bool,
    group_id: str | None = None,
    page_id: str | None = None,
) -> str:
    """Add a section with one space at the end of a group or of the top level, and return its ID. The
    content of a site without sections becomes its first section. ``page_id``: the home page of the space.

    Raises Conflict if the site is full, and NotFound if the group or page doesn't exist. The caller must have
    checked permission to publish the space."""
    with change_structure(tx, site.site_id, site) as structure:
        if len(structure.sections) >= store.MAX_SECTIONS:
            raise Conflict(
                f"A site can have at most {store.MAX_SECTIONS} sections. Delete one before adding another."
            )
        if group_id is not None:
            get_group(structure, group_id, "siteSectionGroupId")
        _require_page(tx, site, space_id, page_id)
        if not structure.sections and structure.variants(None):
            first = structure.default_site_space(None)
            assert first is not None, "there are some"
            name = get_space(tx, first.space_id).title
            made = store.insert_section(
                tx,
                site.site_id,
                rank=rank_at_end(structure.children(None)),
                path=_free_section_path(structure, name),
                title=_section_title(name),
                icon=None,
                is_default=True,
                draft=False,
            )
            store.move_site_spaces(tx, site.site_id, made)
            structure = store.load_structure(tx, site.site_id, trashed=True)
        name = title or _section_title(get_space(tx, space_id).title)
        section_id = store.insert_section(
            tx,
            site.site_id,
            rank=rank_at_end(structure.children(group_id)),
            path=_free_section_path(structure, name),
            title=name,
            icon=icon,
            is_default=structure.default_section is None,
            draft=draft,
        )
        filled = store.load_structure(tx, site.site_id, trashed=True)
        if group_id is not None:
            store.update_row(tx, filled.sections[section_id], group_id=group_id)
        shown_id = _insert_site_space(tx, filled, site.site_id, space_id, section_id)
        if page_id is not None:
            shown = get_site_space(store.load_structure(tx, site.site_id, trashed=True), shown_id)
            store.update_row(tx, shown, page_id=page_id)
    note(tx, site, "siteSection.created", ("siteSection", section_id), after={"title": name})
    return section_id


def update_section(
    tx: Transaction,
    site: SiteAccess,
    section_id: str,
    default_site_space: str | None,
    values: Mapping[str, Any],
) -> None:
    """Update columns and the default site space of a section. Raises NotFound if the section or site space
    doesn't exist, and BadRequest if a value is invalid."""
    with change_structure(tx, site.site_id, site) as structure:
        section = get_section(structure, section_id)
        if "path" in values:
            _require_free_path(structure, section, values["path"])
        values = ranked_in_parent(structure, values, "group_id", section.group_id, "siteSectionGroupId")
        store.update_row(tx, section, **values)
        if default_site_space is not None:
            chosen = get_site_space(structure, default_site_space, "defaultSiteSpace")
            if chosen.section_id != section_id:
                raise BadRequest(
                    f"defaultSiteSpace: must be a site space in this section, not {default_site_space!r}"
                )
            _set_default_site_space(tx, structure, chosen)
    was = {name: getattr(section, name) for name in values}
    note(tx, site, "siteSection.updated", ("siteSection", section_id), was, values)


def _require_free_path(structure: Structure, section: SectionRow, path: str) -> None:
    for other in structure.sections.values():
        if other.id != section.id and other.path == path:
            raise BadRequest(
                f"path: {path!r} is already used by another section on the site. Choose another path."
            )


def delete_section(tx: Transaction, site: SiteAccess, section_id: str) -> bool:
    """Delete a section and its site spaces. The content of the spaces is kept. Return False if the section doesn't
    exist. Raises Forbidden if the caller can't see all of its spaces."""
    with change_structure(tx, site.site_id, site) as structure:
        section = structure.seen(structure.sections, section_id)
        if section is None:
            return False
        if any(shown.id in structure.concealed for shown in structure.variants(section_id)):
            raise Forbidden(
                "This section contains spaces that you can't see. Ask someone who has access to all of"
                " them to delete the section."
            )
        for shown in structure.variants(section_id):
            store.delete_row(tx, shown)
        store.delete_row(tx, section)
        if section.is_default:
            rest = [n for n in structure.ordered() if isinstance(n, SectionRow) and n.id != section_id]
            if rest:
                store.update_row(tx, rest[0], is_default=1)
    note(tx, site, "siteSection.removed", ("siteSection", section_id), before={"title": section.title})
    return True


def set_default_section(tx: Transaction, structure: Structure, section: SectionRow) -> None:
    """Set the default section of a site."""
    for other in structure.sections.values():
        if other.is_default != (other.id == section.id):
            store.update_row(tx, other, is_default=int(other.id == section.id))


# --- groups -------------------------------------------------------------------------------------------


def add_group(
    tx: Transaction,
    site: SiteAccess,
    *,
    title: str,
    icon: str | None,
    section_ids: Sequence[str],
    parent_id: str | None,
    draft: bool = False,
) -> str:
    """Add a group that contains these sections, and return its ID. ``parent_id``: the group to add it to,
    at the end; None for the top level. Raises NotFound if a section or group doesn't exist, and Conflict if
    the site is full."""
    with change_structure(tx, site.site_id, site) as structure:
        if len(structure.groups) >= store.MAX_GROUPS:
            raise Conflict(
                f"A site can have at most {store.MAX_GROUPS} section groups. Delete one before adding"
                " another."
            )
        if parent_id is not None:
            get_group(structure, parent_id, "parent")
        if structure.depth(parent_id) >= store.MAX_DEPTH:
            raise BadRequest(f"parent: groups can be nested at most {store.MAX_DEPTH} levels deep")
        sections = [
            get_section(structure, id, f"sections[{n}]") for n, id in enumerate(dict.fromkeys(section_ids))
        ]
        rank = rank_at_end(structure.children(parent_id))
        group_id = store.insert_group(
            tx, site.site_id, parent_id=parent_id, rank=rank, title=title, icon=icon, draft=draft
        )
        inside: str | None = None
        for section in sections:
            inside = rank_between(inside, None)
            store.update_row(tx, section, group_id=group_id, rank=inside)
    note(tx, site, "siteSectionGroup.created", ("siteSectionGroup", group_id), after={"title": title})
    return group_id


def update_group(tx: Transaction, site: SiteAccess, group_id: str, values: Mapping[str, object]) -> None:
    with change_structure(tx, site.site_id, site) as structure:
        group = get_group(structure, group_id)
        values = ranked_in_parent(structure, values, "parent_id", group.parent_id, "parentSectionGroupId")
        parent_id = values.get("parent_id", group.parent_id)
        if parent_id != group.parent_id:
            assert parent_id is None or isinstance(parent_id, str)
            require_outside(structure, group, parent_id, "parentSectionGroupId")
        store.update_row(tx, group, **values)
    was = {name: getattr(group, name) for name in values}
    note(tx, site, "siteSectionGroup.updated", ("siteSectionGroup", group_id), was, values)


def require_outside(structure: Structure, group: SectionGroupRow, parent: str | None, field: str) -> None:
    """Raise BadRequest if a group can't be moved to a parent because the parent is the group itself or is inside the
    group, or because groups would be nested too deeply."""
    above = parent
    while above is not None:
        if above == group.id:
            raise BadRequest(f"{field}: a group can't be moved into itself")
        above = structure.groups[above].parent_id
    if structure.depth(parent) + structure.height(group.id) > store.MAX_DEPTH:
        raise BadRequest(f"{field}: groups can be nested at most {store.MAX_DEPTH} levels deep")


def delete_group(tx: Transaction, site: SiteAccess, group_id: str) -> bool:
    """Delete a group. Its contents take its place. Return False if the group doesn't exist."""
    with change_structure(tx, site.site_id, site) as structure:
        group = structure.seen(structure.groups, group_id)
        if group is None:
            return False
        siblings = structure.children(group.parent_id)
        place = siblings.index(group)
        low = siblings[place - 1].rank if place else None
        high = siblings[place + 1].rank if place + 1 < len(siblings) else None
        for child in structure.children(group_id):
            low = rank_between(low, high)
            column = "parent_id" if isinstance(child, SectionGroupRow) else "group_id"
            store.update_row(tx, child, **{column: group.parent_id, "rank": low})
        store.delete_row(tx, group)
    note(tx, site, "siteSectionGroup.removed", ("siteSectionGroup", group_id), {"title": group.title})
    return True


def add_section_to_group(tx: Transaction, site: SiteAccess, group_id: str, section_id: str) -> None:
    """Move a section to the end of a group. Raises NotFound if the group or section doesn't exist, and
    Conflict if the section is already in the group."""
    with change_structure(tx, site.site_id, site) as structure:
        get_group(structure, group_id)
        section = get_section(structure, section_id, "sectionId")
        if section.group_id == group_id:
            raise Conflict("sectionId: the section is already in this group")
        store.update_row(tx, section, group_id=group_id, rank=rank_at_end(structure.children(group_id)))
    state = {"group": group_id}
    note(tx, site, "siteSection.moved", ("siteSection", section_id), {"group": section.group_id}, state)


def remove_section_from_group(tx: Transaction, site: SiteAccess, group_id: str, section_id: str) -> bool:
    """Move a section out of a group to the end of the top level. Return False if it isn't in the group."""
    with change_structure(tx, site.site_id, site) as structure:
        get_group(structure, group_id)
        section = structure.seen(structure.sections, section_id)
        if section is None or section.group_id != group_id:
            return False
        store.update_row(tx, section, group_id=None, rank=rank_at_end(structure.children(None)))
    note(tx, site, "siteSection.moved", ("siteSection", section_id), {"group": group_id}, {"group": None})
    return True


# --- site spaces --------------------------------------------------------------------------------------


def _insert_site_space(
    tx: Transaction, structure: Structure, site_id: str, space_id: str, section_id: str | None
) -> str:
    variants = structure.variants(section_id)
    taken = {shown.path for shown in variants} | RESERVED
    section = structure.sections[section_id] if section_id is not None else None
    if section is None or section.is_default:
        taken |= {other.path for other in structure.sections.values()}
    return store.insert_site_space(
        tx,
        site_id,
        space_id,
        section_id=section_id,
        rank=rank_at_end(variants),
        path=free_name(slugify(get_space(tx, space_id).title)[:_PATH_MAX], taken.__contains__),
        is_default=not any(shown.is_default for shown in variants),
    )


def add_site_space(
    tx: Transaction,
    site: SiteAccess,
    space_id: str,
    section_id: str | None,
    *,
    title: str | None = None,
    page_id: str | None = None,
    draft: bool = False,
) -> str:
    """Add a space as a variant of a section (by default, the default section), and return the ID of the
    site space. ``page_id``: the ID of its home page. Raises NotFound if the section or page doesn't exist,
    and Conflict if the space can't be added.

    The caller must have checked permission to publish the space.
    """
    with change_structure(tx, site.site_id, site) as structure:
        if section_id is not None:
            get_section(structure, section_id, "sectionId")
        elif structure.default_section is not None:
            section_id = structure.default_section.id
        _require_room(structure)
        if any(shown.space_id == space_id for shown in structure.variants(section_id)):
            raise Conflict("spaceId: the space is already in this section")
        _require_page(tx, site, space_id, page_id)
        site_space_id = _insert_site_space(tx, structure, site.site_id, space_id, section_id)
        made = get_site_space(store.load_structure(tx, site.site_id, trashed=True), site_space_id)
        store.update_row(tx, made, title=title, page_id=page_id, draft=int(draft))
    note(tx, site, "siteSpace.created", ("siteSpace", site_space_id), after={"space": space_id})
    return site_space_id


def _require_page(tx: Transaction, site: SiteAccess, space_id: str, page_id: str | None) -> None:
    """Raise NotFound if sites don't show the page or the caller can't see it, and BadRequest if it has no content."""
    if page_id is None:
        return
    space = find_space_access(tx, site.actor, Can.VIEW, space_id)
    page = find_page(tx, published_seen_by(tx, space), page_id) if space is not None else None
    if page is None:
        raise NotFound(f"pageId: there is no page with the ID {page_id!r} in this space")
    if page.kind not in ("document", "group"):
        raise BadRequest("pageId: must be a page, not a link")


def _require_room(structure: Structure) -> None:
    if len(structure.site_spaces) >= store.MAX_SITE_SPACES:
        raise Conflict(
            f"A site can have at most {store.MAX_SITE_SPACES} spaces. Remove one before adding another."
        )


def update_site_space(
    tx: Transaction, site: SiteAccess, site_space_id: str, values: Mapping[str, object]
) -> None:
    """Update columns of a site space. Raises NotFound if the site space doesn't exist, BadRequest if the
    path is in use, and Conflict if the space is already in the section."""
    with change_structure(tx, site.site_id, site) as structure:
        shown = get_site_space(structure, site_space_id)
        others = [other for other in structure.variants(shown.section_id) if other.id != site_space_id]
        if "path" in values and any(other.path == values["path"] for other in others):
            raise BadRequest(
                f"path: {values['path']!r} is already used by another space in the section. Choose another"
                " path."
            )
        if "space_id" in values and any(other.space_id == values["space_id"] for other in others):
            raise Conflict("spaceId: the space is already in this section")
        space_id = values.get("space_id", shown.space_id)
        if space_id != shown.space_id:
            values = {"page_id": None, **values}
        page_id = values.get("page_id")
        if isinstance(page_id, str):
            _require_page(tx, site, str(space_id), page_id)
        store.update_row(tx, shown, **values)
    was = {name: getattr(shown, name) for name in values}
    note(tx, site, "siteSpace.updated", ("siteSpace", site_space_id), was, values)


def delete_site_space(tx: Transaction, site: SiteAccess, site_space_id: str) -> bool:
    """Remove a space from the site. The content of the space is kept. Return False if the site space doesn't exist."""
    with change_structure(tx, site.site_id, site) as structure:
        shown = structure.seen(structure.site_spaces, site_space_id)
        if shown is None:
            return False
        store.delete_row(tx, shown)
        rest = [other for other in structure.variants(shown.section_id) if other.id != site_space_id]
        if shown.is_default and rest:
            store.update_row(tx, rest[0], is_default=1)
    note(tx, site, "siteSpace.removed", ("siteSpace", site_space_id), {"space": shown.space_id})
    return True


def _set_default_site_space(tx: Transaction, structure: Structure, chosen: SiteSpaceRow) -> None:
    for other in structure.variants(chosen.section_id):
        if other.is_default != (other.id == chosen.id):
            store.update_row(tx, other, is_default=int(other.id == chosen.id))


def set_defaults(
    tx: Transaction, site: SiteAccess, section_id: str | None, site_space_id: str | None
) -> None:
    """Set the default section of the site and the default space of a section; None leaves a default unchanged.
    Raises NotFound if the section or site space isn't on the site."""
    with change_structure(tx, site.site_id, site) as structure:
        if section_id is not None:
            set_default_section(tx, structure, get_section(structure, section_id, "defaultSiteSection"))
        if site_space_id is not None:
            _set_default_site_space(
                tx, structure, get_site_space(structure, site_space_id, "defaultSiteSpace")
            )
