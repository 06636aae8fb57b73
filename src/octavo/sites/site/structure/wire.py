"""Wire format of a site's structure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.changes.wire import TemplateChoice
from octavo.core.expression_syntax import parse
from octavo.core.expression_values import ExpressionError
from octavo.kit.db.pagination import PageQuery
from octavo.kit.texts import NOT_BLANK, TWO_SIGNS
from octavo.kit.urls import HttpUrl
from octavo.organization.spaces.wire import Space

from ..localized import LocalizedDescription, LocalizedText, require_languages
from .sorting import Kind, StructurePart

SectionTitle = Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
GroupTitle = Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)]
Path = Annotated[str, Meta(min_length=1, max_length=100)]
Icon = Annotated[str, Meta(max_length=50)]
Condition = Annotated[str, Meta(max_length=1024)]
Description = Annotated[str, Meta(max_length=256)]
LinkTitle = Annotated[str, Meta(min_length=2, max_length=128, pattern=TWO_SIGNS)]
ShareKey = Annotated[str, Meta(max_length=100)]


def require_condition(condition: str | UnsetType | None) -> None:
    """Raise ValueError if the expression is invalid. An empty expression means no condition."""
    if isinstance(condition, str) and condition:
        try:
            parse(condition)
        except ExpressionError as error:
            raise ValueError(f"condition: {error}") from None


class PublishedUrls(Struct):
    published: str | UnsetType = UNSET


class SiteSpace(Struct, rename="camel", tag_field="object", tag="site-space", kw_only=True):
    """Space shown on a site, either by itself or as a variant of a section."""

    id: str
    path: str
    space: Space
    title: str
    urls: PublishedUrls
    section: str | UnsetType = UNSET
    default: bool = False
    condition: str | UnsetType = UNSET
    has_advanced_customization_feature: bool = True
    draft: bool = False
    hidden: bool | UnsetType = UNSET
    page_id: str | UnsetType = UNSET
    localized_title: dict[str, str] | UnsetType = UNSET


class SiteSection(Struct, rename="camel", tag_field="object", tag="site-section", kw_only=True):
    """Section of a site. ``draft``: whether it is hidden from visitors."""

    id: str
    title: str
    path: str
    site_spaces: list[SiteSpace]
    urls: PublishedUrls
    default: bool = False
    draft: bool = False
    description: str | UnsetType = UNSET
    condition: str | UnsetType = UNSET
    section_group: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    localized_title: dict[str, str] | UnsetType = UNSET
    localized_description: dict[str, str] | UnsetType = UNSET


class SiteExternalLink(Struct, rename="camel", tag_field="object", tag="site-external-link", kw_only=True):
    """Link to another website, between sections."""

    id: str
    title: str
    url: str
    draft: bool
    localized_title: dict[str, str] | UnsetType = UNSET
    description: str | UnsetType = UNSET
    localized_description: dict[str, str] | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    section_group: str | UnsetType = UNSET
    condition: str | UnsetType = UNSET


class SiteSectionGroup(Struct, rename="camel", tag_field="object", tag="site-section-group", kw_only=True):
    """Section group. ``sections``: the sections among its ``children``."""

    id: str
    title: str
    sections: list[SiteSection]
    children: list[SiteSection | SiteSectionGroup | SiteExternalLink]
    urls: PublishedUrls
    draft: bool = False
    section_group: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    localized_title: dict[str, str] | UnsetType = UNSET


StructureNode = SiteSection | SiteSectionGroup | SiteExternalLink


class SectionsStructure(Struct, tag="sections"):
    structure: list[SiteSection | SiteSectionGroup | SiteExternalLink]


class SiteSpacesStructure(Struct, tag="siteSpaces"):
    structure: list[SiteSpace]


SiteStructure = SectionsStructure | SiteSpacesStructure


class ShownQuery(Struct, rename="camel"):
    share_key: ShareKey | None = None


class ShownListQuery(PageQuery):
    share_key: ShareKey | None = None


class SiteSpacesQuery(ShownListQuery):
    default: bool | None = None


class AddSection(Struct, rename="camel", kw_only=True):
    """New section. ``draft``: whether to hide the section from visitors until ``draft`` is set to false.
    ``pageId``: the ID of the space's home page. ``spaceId``: the space; null to create a space with the pages of
    ``template``."""

    space_id: str | None
    template: TemplateChoice | None = None
    title: SectionTitle | None = None
    icon: Icon | None = None
    draft: bool = False
    page_id: str | None = None
    site_section_group_id: str | None = None


class UpdateSection(Struct, rename="camel", kw_only=True):
    title: SectionTitle | UnsetType = UNSET
    path: Path | UnsetType = UNSET
    default_site_space: str | UnsetType = UNSET
    condition: Condition | None | UnsetType = UNSET
    icon: Icon | None | UnsetType = UNSET
    description: Description | None | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    site_section_group_id: str | None | UnsetType = UNSET
    localized_title: LocalizedText | UnsetType = UNSET
    localized_description: LocalizedDescription | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_condition(self.condition)
        require_languages(
            localizedTitle=self.localized_title, localizedDescription=self.localized_description
        )


class AddGroup(Struct):
    title: GroupTitle
    icon: Icon | None = None
    sections: Annotated[list[str], Meta(max_length=200)] = []
    parent: str | None = None
    draft: bool = False


class UpdateGroup(Struct, rename="camel"):
    title: GroupTitle | UnsetType = UNSET
    icon: Icon | None | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    parent_section_group_id: str | None | UnsetType = UNSET
    localized_title: LocalizedText | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_languages(localizedTitle=self.localized_title)


class AddExternalLink(Struct, rename="camel", kw_only=True):
    """New external link. ``parent``: the ID of a section group; omitted for the top level."""

    title: LinkTitle
    url: HttpUrl
    localized_title: LocalizedText | UnsetType = UNSET
    description: Description | None = None
    localized_description: LocalizedDescription | None | UnsetType = UNSET
    icon: Icon | None = None
    parent: str | None = None
    draft: bool = False
    condition: Condition | None = None

    def __post_init__(self) -> None:
        require_condition(self.condition)
        require_languages(
            localizedTitle=self.localized_title, localizedDescription=self.localized_description
        )


class UpdateExternalLink(Struct, rename="camel", kw_only=True):
    """Update of an external link. ``parent``: the ID of a section group; null for the top level."""

    title: LinkTitle | UnsetType = UNSET
    url: HttpUrl | UnsetType = UNSET
    localized_title: LocalizedText | UnsetType = UNSET
    description: Description | None | UnsetType = UNSET
    localized_description: LocalizedDescription | None | UnsetType = UNSET
    icon: Icon | None | UnsetType = UNSET
    parent: str | None | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    condition: Condition | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_condition(self.condition)
        require_languages(
            localizedTitle=self.localized_title, localizedDescription=self.localized_description
        )


class AddSectionToGroup(Struct, rename="camel"):
    section_id: str


class AddSiteSpace(Struct, rename="camel", kw_only=True):
    """New site space. ``title``: the title on the site; by default, the space's title. ``pageId``: the ID
    of the start page. ``spaceId``: the space; null to create a space with the pages of ``template``."""

    space_id: str | None
    section_id: str | None = None
    title: LinkTitle | None = None
    page_id: str | None = None
    draft: bool = False
    template: TemplateChoice | None = None


class UpdateSiteSpace(Struct, rename="camel", kw_only=True):
    """Update of a site space. ``title`` and ``localizedTitle`` are Octavo extensions. ``pageId``: the ID of
    the start page; null for the first page. ``hidden``: whether the site space is omitted from the
    navigation."""

    path: Path | UnsetType = UNSET
    condition: Condition | None | UnsetType = UNSET
    space_id: str | UnsetType = UNSET
    title: LinkTitle | None | UnsetType = UNSET
    localized_title: LocalizedText | UnsetType = UNSET
    page_id: str | None | UnsetType = UNSET
    hidden: bool | UnsetType = UNSET
    draft: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_condition(self.condition)
        require_languages(localizedTitle=self.localized_title)


class DuplicateSiteSpace(Struct):
    draft: bool = False


# --- positions ----------------------------------------------------------------------------------------


class ItemPointer(Struct):
    type: Kind
    id: str


class SectionPointer(Struct, rename="camel"):
    type: Literal["site-section"]
    site_section: str


class GroupPointer(Struct):
    type: Literal["site-section", "site-section-group", "site-external-link"]
    id: str


class SiteSpacePointer(Struct, rename="camel"):
    type: Literal["site-space"]
    site_space: str


class ItemPosition(Struct):
    before: ItemPointer | UnsetType = UNSET
    after: ItemPointer | UnsetType = UNSET


class SectionPosition(Struct):
    before: SectionPointer | UnsetType = UNSET
    after: SectionPointer | UnsetType = UNSET


class GroupPosition(Struct):
    before: GroupPointer | UnsetType = UNSET
    after: GroupPointer | UnsetType = UNSET


class SiteSpacePosition(Struct):
    before: SiteSpacePointer | UnsetType = UNSET
    after: SiteSpacePointer | UnsetType = UNSET


class Sort(Struct):
    item: ItemPointer
    position: ItemPosition


class MoveSection(Struct):
    position: SectionPosition


class MoveGroup(Struct):
    position: GroupPosition


class MoveSiteSpace(Struct):
    position: SiteSpacePosition


def neighbors(
    position: ItemPosition | SectionPosition | GroupPosition | SiteSpacePosition,
) -> dict[Literal["before", "after"], StructurePart | None]:
    """Return the requested neighbors, as parameters of ``sorting.move``."""
    return {
        "before": _neighbor(position.before, "position.before"),
        "after": _neighbor(position.after, "position.after"),
    }


def _neighbor(pointer: object, field: str) -> StructurePart | None:
    match pointer:
        case SectionPointer():
            return StructurePart("site-section", pointer.site_section, field)
        case SiteSpacePointer():
            return StructurePart("site-space", pointer.site_space, field)
        case ItemPointer() | GroupPointer():
            return StructurePart(pointer.type, pointer.id, field)
        case _:
            return None
