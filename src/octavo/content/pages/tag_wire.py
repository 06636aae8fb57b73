"""Wire types for tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.tags import MAX_SLUG, Tag, TagColor, color_of, is_primary, page_tag, slug_of
from octavo.kit.texts import NOT_BLANK, pattern

TagSlug = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_SLUG,
        pattern=pattern(r"^[\w-]+\Z", "consist of letters, digits, hyphens, and underscores"),
    ),
]


class TagRef(Struct, tag_field="kind", tag="tag"):
    """Reference to a tag by its slug. ``space``: the space that the tag belongs to, if it isn't the space of the
    page."""

    tag: str
    space: str | UnsetType = UNSET


class PageTag(Struct):
    """Tag of a page. ``primary``: whether navigation shows the tag."""

    tag: TagRef
    primary: bool | UnsetType = UNSET


def present_page_tags(tags: Iterable[object]) -> list[PageTag]:
    return [PageTag(TagRef(slug_of(tag)), is_primary(tag) or UNSET) for tag in tags]


class RevisionTag(Struct):
    """Tag in a space. ``slug``: the slug that pages refer to, which never changes. A tag has an ``icon``, an ``emoji``,
    or neither."""

    slug: str
    label: str
    color: TagColor
    icon: str | UnsetType = UNSET
    emoji: str | UnsetType = UNSET


def present_tag(tag: Tag) -> RevisionTag:
    return RevisionTag(
        tag.tag,
        tag.label,
        color_of(tag),
        tag.icon or UNSET if not tag.emoji else UNSET,
        tag.emoji or UNSET,
    )


class GivenTagRef(Struct, tag_field="kind", tag="tag", forbid_unknown_fields=True):
    """Reference to a tag in the same space."""

    tag: Annotated[str, Meta(min_length=1, max_length=MAX_SLUG, pattern=NOT_BLANK)]


class GivenPageTag(Struct, forbid_unknown_fields=True):
    """Tag of a page."""

    tag: GivenTagRef
    primary: bool = False


GivenPageTags = Annotated[list[GivenPageTag], Meta(max_length=50)]


def read_given_tags(given: Iterable[GivenPageTag]) -> tuple[object, ...]:
    """Return the tags of a page without duplicates."""
    found = {one.tag.tag: page_tag(one.tag.tag, primary=one.primary) for one in given}
    return tuple(found.values())


class GivenTag(Struct, forbid_unknown_fields=True):
    """Tag to create or update. It has an icon, an emoji, or neither."""

    label: Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)]
    color: TagColor = "default"
    icon: Annotated[str, Meta(max_length=50)] | None = None
    emoji: Annotated[str, Meta(max_length=50)] | None = None

    def __post_init__(self) -> None:
        if self.icon and self.emoji:
            raise ValueError("provide `icon` or `emoji`, not both")

    def tag(self, slug: str) -> Tag:
        color = None if self.color == "default" else self.color
        return Tag(slug, self.label.strip(), self.icon or None, color, self.emoji or None)
