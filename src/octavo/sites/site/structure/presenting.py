"""Structure of a site, as one caller sees it.

Site spaces whose spaces the caller can't see are omitted, because showing a space on a site doesn't mean that
everyone can read its unpublished content. Sections and groups that contain only such site spaces are also
omitted, because their titles and paths are derived from the spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar, assert_never
from urllib.parse import quote

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from octavo.content.revisions.restrictions import HiddenPages, hidden_from, hidden_on_sites
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Next, decode_token, encode_token
from octavo.kit.http.operation import Recipient, Visitor
from octavo.organization.access.authorization import SiteAccess, VisitedSite, find_kept_space_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import SpaceRow, get_space, list_spaces_by_id
from octavo.organization.spaces.wire import Space, present_space_to_visitor, present_spaces

from ..audiences.share_links import find_link_by_key
from ..published import published_url
from ..store import get_site
from . import wire
from .outline import Outline, visitor_outline
from .store import (
    ExternalLinkRow,
    Node,
    Row,
    SectionGroupRow,
    SectionRow,
    SiteSpaceRow,
    load_structure,
    read_localized,
)

T = TypeVar("T")
U = TypeVar("U")


class ShownStructure:
    """Presenter for a site's structure, limited to the parts that the caller or visitor can see.
    ``share_key``: the key to include in URLs. Raises NotFound if the key is unknown."""

    def __init__(
        self, tx: Transaction, to: Recipient, site: SiteAccess | VisitedSite, share_key: str | None = None
    ) -> None:
        self._to, self._tx, self._access = to, tx, site
        self.site = get_site(tx, site.site_id)
        self.organization = get_organization(tx, site.organization_id)
        self.structure = load_structure(tx, site.site_id)
        self._kept = load_structure(tx, site.site_id, trashed=True)
        ids = list({shown.space_id for shown in self.structure.site_spaces.values()})
        self._visitor: Visitor | None = None
        self._outline: Outline | None = None
        self._spaces: dict[str, tuple[SpaceRow, str | None]] = {}
        match site:
            case VisitedSite(visitor=visitor):
                self._visitor = visitor
                self._outline = visitor_outline(tx, visitor)
                self._spaces = {id: (get_space(tx, id), None) for id in visitor.spaces}
            case SiteAccess():
                self._spaces = list_spaces_by_id(tx, site.organization, ids)
            case _:
                assert_never(site)
        self._base: str | None = None
        if share_key is not None and find_link_by_key(tx, site.site_id, share_key) is None:
            raise NotFound("shareKey: there is no active share link with this key")
        if self._visitor is not None:
            self._base = self._visitor.base
        elif self.site.published:
            self._base = published_url(to.settings.sites_url, self.organization, self.site)
            if share_key is not None:
                self._base += f"{share_key}/"

    def _urls(self, path: str | None) -> wire.PublishedUrls:
        if self._base is None or path is None:
            return wire.PublishedUrls()
        return wire.PublishedUrls(f"{self._base}{quote(path)}")

    @cached_property
    def _presented(self) -> dict[str, Space]:
        return {space.id: space for space in present_spaces(self._to, self._tx, list(self._spaces.values()))}

    def site_space(self, shown: SiteSpaceRow) -> wire.SiteSpace:
        """Present a site space. Raises NotFound if the caller can't see its space."""
        if shown.space_id not in self._spaces:
            raise NotFound(f"There is no site space with the ID {shown.id!r} on this site.")
        space, _ = self._spaces[shown.space_id]
        urls = self._urls(None if self._is_unseen(shown) else self.structure.base(shown))
        if self._visitor is None:
            presented = replace(self._presented[space.id])
        else:
            presented = present_space_to_visitor(self._to, space, self._visitor)
        if urls.published is not UNSET:
            presented.urls = replace(presented.urls, published=urls.published)
        return wire.SiteSpace(
            id=shown.id,
            path=shown.path,
            space=presented,
            title=self.title_of(shown),
            urls=urls,
            draft=bool(shown.draft),
            hidden=True if shown.hidden else UNSET,
            page_id=self._home_of(shown) or UNSET,
            localized_title=localized_of(shown, "title"),
            section=shown.section_id or UNSET,
            default=bool(shown.is_default),
            condition=self._condition(shown.condition),
        )

    def _home_of(self, shown: SiteSpaceRow) -> str | None:
        """Return the ID of the home page of a site space, unless it is hidden from the caller."""
        hidden = shown.page_id is not None and shown.page_id in self._hidden.of(shown.space_id)
        return None if hidden else shown.page_id

    @cached_property
    def _hidden(self) -> HiddenPages:
        if isinstance(self._access, SiteAccess):
            return hidden_from(self._tx, self._access.organization)
        return hidden_on_sites(self._tx, self._access.organization_id)

    def _is_unseen(self, row: Row) -> bool:
        """Return whether a row has no URL because it is a draft that members see outside a preview."""
        return self._visitor is None and self.structure.is_draft(row)

    def _condition(self, condition: str | None) -> str | UnsetType:
        """Return the condition, but only for members, because visitors must not learn about content for other
        visitors."""
        return condition if condition and self._visitor is None else UNSET

    def _variants(self, section: SectionRow | None) -> Sequence[SiteSpaceRow]:
        if self._outline is not None:
            return self._outline.variants(section)
        return self.structure.variants(section.id if section is not None else None)

    def _children(self, group_id: str | None) -> Sequence[Node]:
        if self._outline is not None:
            return self._outline.children(group_id)
        return self.seen_nodes(self.structure.children(group_id))

    def seen_nodes(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the nodes, except sections whose spaces the caller can't see and groups that contain only
        such sections."""
        return [node for node in nodes if self._sees(node)]

    def _sees(self, node: Node) -> bool:
        if isinstance(node, SectionRow):
            inside = [shown.space_id for shown in self._kept.variants(node.id)]
            return not inside or any(
                space_id in self._spaces or self._sees_kept(space_id) for space_id in inside
            )
        if isinstance(node, ExternalLinkRow):
            return True
        below = self.structure.children(node.id)
        return not below or any(map(self._sees, below))

    def seen(self, site_spaces: Sequence[SiteSpaceRow]) -> list[SiteSpaceRow]:
        """Return the site spaces whose spaces the caller can see."""
        return [shown for shown in site_spaces if shown.space_id in self._spaces]

    def _sees_kept(self, space_id: str) -> bool:
        return find_kept_space_access(self._tx, self._to.actor, Can.VIEW, space_id) is not None

    def require_seen(self, node: Node) -> None:
        """Raise NotFound if the caller can't see the section or group."""
        if self._visitor is None and not self._sees(node):
            raise NotFound(f"There is no section or group with the ID {node.id!r} on this site.")

    def section(self, section: SectionRow) -> wire.SiteSection:
        shown = self._variants(section)
        path = self.structure.section_base(section) if shown and not self._is_unseen(section) else None
        return wire.SiteSection(
            id=section.id,
            title=section.title,
            path=section.path,
            site_spaces=[self.site_space(one) for one in self.seen(shown)],
            urls=self._urls(path),
            default=bool(section.is_default),
            draft=bool(section.draft),
            localized_title=localized_of(section, "title"),
            localized_description=localized_of(section, "description"),
            description=section.description or UNSET,
            condition=self._condition(section.condition),
            section_group=section.group_id or UNSET,
            icon=section.icon or UNSET,
        )

    def group(self, group: SectionGroupRow) -> wire.SiteSectionGroup:
        children = [self.node(child) for child in self._children(group.id)]
        sections = [child for child in children if isinstance(child, wire.SiteSection)]
        inside = [child.urls.published for child in children if not isinstance(child, wire.SiteExternalLink)]
        first = next((url for url in inside if url is not UNSET), UNSET)
        return wire.SiteSectionGroup(
            id=group.id,
            title=group.title,
            sections=sections,
            children=children,
            urls=wire.PublishedUrls(first),
            draft=bool(group.draft),
            localized_title=localized_of(group, "title"),
            section_group=group.parent_id or UNSET,
            icon=group.icon or UNSET,
        )

    def title_of(self, row: Row) -> str:
        """Return the title of a row that the caller can see on the site."""
        if isinstance(row, SiteSpaceRow):
            return row.title or self._spaces[row.space_id][0].title
        return row.title

    def link(self, link: ExternalLinkRow) -> wire.SiteExternalLink:
        return wire.SiteExternalLink(
            id=link.id,
            title=link.title,
            url=link.url,
            draft=bool(link.draft),
            localized_title=localized_of(link, "title"),
            localized_description=localized_of(link, "description"),
            description=link.description or UNSET,
            icon=link.icon or UNSET,
            section_group=link.group_id or UNSET,
            condition=self._condition(link.condition),
        )

    def node(self, node: Node) -> wire.StructureNode:
        if isinstance(node, ExternalLinkRow):
            return self.link(node)
        return self.section(node) if isinstance(node, SectionRow) else self.group(node)

    def whole(self) -> wire.SiteStructure:
        structure = self.structure
        if structure.sections or structure.groups or structure.links:
            return wire.SectionsStructure([self.node(node) for node in self._children(None)])
        return wire.SiteSpacesStructure([self.site_space(one) for one in self.seen(self._variants(None))])

    def find(self, item_id: str) -> wire.SiteSpace | wire.StructureNode:
        """Present the part of the structure with this ID. Raises NotFound if the caller can't see it."""
        structure = self.structure
        node = (
            structure.sections.get(item_id) or structure.groups.get(item_id) or structure.links.get(item_id)
        )
        if node is not None:
            self.require_seen(node)
            return self.node(node)
        if item_id in structure.site_spaces:
            return self.site_space(structure.site_spaces[item_id])
        raise NotFound(
            f"There is no section, group, link, or site space with the ID {item_id!r} on this site."
        )


def localized_of(row: Row, name: str) -> dict[str, str] | UnsetType:
    """Return the translations of a field, by language."""
    return read_localized(row).get(name) or UNSET


def present_ordered(
    rows: Sequence[T], limit: int, page: str | None, key: Callable[[T], str], present: Callable[[T], U]
) -> Listing[U]:
    """Present one page of rows that were all loaded at once. They are sorted by ``key``, and the page token is the last
    key."""
    after = decode_token(page, str)
    rest = [row for row in rows if after is None or key(row) > after[0]]
    items = [present(row) for row in rest[:limit]]
    more = Next(encode_token(key(rest[limit - 1]))) if 0 < limit < len(rest) else UNSET
    return Listing(items, len(rows), more)
