"""Fields of a page, each declared only once. The file format, the API, merges, reviews, and forms are all derived from
these declarations.

To add one, see "Add a page field" in docs/architecture.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_type_hints

from msgspec import NODEFAULT, Struct

from octavo.core.json_types import JsonObject

PageKind = Literal["document", "group", "link", "computed"]
FieldType = Literal[
    "text",
    "long text",
    "emoji",
    "icon",
    "flag",
    "condition",
    "mapping",
    "links",
    "tags",
    "paths",
    "people",
    "cover",
    "layout",
]
"""Type of a field, which determines how the field is read from and written to front matter
(`document/page.py`), and which control a form shows."""

INTERVAL = r"[1-9]\d{0,3} (?:day|week|month|year)s?"
"""Pattern of the time between two reviews, such as ``6 months``."""
DATE = r"\d{4}-\d{2}-\d{2}"
"""Pattern of a date."""
MAX_DESCRIPTION = 1000
"""Maximum number of characters in a page's description."""


class LayoutOptions(Struct, frozen=True, omit_defaults=True):
    width: str = "default"
    cover: bool = True
    cover_size: str = "full"
    cover_mask: str = "none"
    title: bool = True
    description: bool = True
    table_of_contents: bool = True
    outline: bool = True
    pagination: bool = True
    metadata: bool = True
    tags: bool = True
    actions: bool = True
    anchors: bool = True


COVER_COLORS = ("black", "white")


class Cover(Struct, frozen=True, omit_defaults=True):
    """Cover of a page. ``light`` and ``dark``: references in their original form: a path or a URL. ``y``:
    the vertical offset of the image from its center, in image pixels; positive values shift it down.
    ``text_color`` and ``text_color_dark``: the color of the title if the image is behind it, ``black`` or
    ``white``."""

    light: str
    dark: str | None = None
    y: float = 0
    height: int | None = None
    text_color: str | None = None
    text_color_dark: str | None = None

    def focus(self, width: int, height: int, box_width: int, box_height: int) -> int:
        """Return the vertical position, in percent, of an image of this size in a box that it covers. 0 shows the top
        of the image."""
        scale = max(box_width / width, box_height / height)
        reach = (height * scale - box_height) / 2
        if reach <= 0:
            return 50
        return round(50 - 50 * max(-1.0, min(1.0, self.y * scale / reach)))


class Field(Struct, frozen=True, kw_only=True):
    """Properties of a page field that other code uses.

    ``label``: the key of the label in forms and reviews, in the app's interface text. ``wire``: the name in the API, if
    it isn't the attribute name in camel case. ``keys``: the front-matter keys; empty for fields outside front matter.
    ``kinds``: the kinds of pages that return the field. ``max_length``: the maximum number of characters. ``form``: the
    pattern of valid strings, and its description, worded to follow "must". ``edited``: whether `update_page` and
    `insert_page` can set the field. ``shown``: the people to whom the API returns the field. ``navigation``: whether
    navigation depends on it.
    """

    label: str
    type: FieldType = "text"
    wire: str | None = None
    keys: tuple[str, ...] = ()
    kinds: tuple[PageKind, ...] = ("document",)
    max_length: int | None = None
    form: tuple[str, str] | None = None
    edited: bool = False
    shown: Literal["everyone", "members", "nobody"] = "everyone"
    navigation: bool = False

    @property
    def is_single(self) -> bool:
        """Return whether edits always replace the field's whole value."""
        return not self.is_struct and not self.is_mapping

    @property
    def is_mapping(self) -> bool:
        return self.type in ("mapping", "links")

    @property
    def is_struct(self) -> bool:
        return self.type in ("cover", "layout")

    @property
    def is_named_by_people(self) -> bool:
        """Return whether users choose the names of the field's elements."""
        return self.type == "mapping" or self.is_merged_by_element

    @property
    def is_list(self) -> bool:
        return self.type in ("tags", "paths", "people")

    @property
    def is_merged_by_element(self) -> bool:
        """Return whether the field is a list in which both sides of a merge can change different elements. Access rules
        are excluded: two changes to them always conflict, because together they could show the page to more people than
        either change alone."""
        return self.type in ("tags", "paths")


class PageFields(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Fields of a page other than its position and its text, in the order in which forms and the API list
    them."""

    emoji: Annotated[
        str | None,
        Field(
            label="emoji",
            type="emoji",
            keys=("emoji",),
            kinds=("document", "group", "link", "computed"),
            max_length=50,
            edited=True,
            navigation=True,
        ),
    ] = None
    icon: Annotated[
        str | None,
        Field(
            label="icon",
            type="icon",
            keys=("icon",),
            kinds=("document", "group", "link", "computed"),
            max_length=50,
            edited=True,
            navigation=True,
        ),
    ] = None
    description: Annotated[
        str | None,
        Field(
            label="description",
            type="long text",
            keys=("description",),
            max_length=MAX_DESCRIPTION,
            edited=True,
        ),
    ] = None
    hidden: Annotated[
        bool,
        Field(
            label="hideFromNavigation",
            type="flag",
            keys=("hidden",),
            kinds=("document", "group", "link"),
            edited=True,
            navigation=True,
        ),
    ] = False
    no_index: Annotated[
        bool,
        Field(
            label="hideFromSearch",
            type="flag",
            keys=("noIndex",),
            kinds=("document", "group"),
            edited=True,
        ),
    ] = False
    no_robots_index: Annotated[
        bool,
        Field(
            label="hideFromSearchEngines",
            type="flag",
            keys=("noRobotsIndex",),
            kinds=("document", "group"),
            edited=True,
        ),
    ] = False
    condition: Annotated[
        str | None,
        Field(
            label="condition",
            type="condition",
            keys=("if",),
            max_length=1024,
            edited=True,
            shown="nobody",
            navigation=True,
        ),
    ] = None
    layout: Annotated[LayoutOptions, Field(label="layout", type="layout", keys=("layout",), edited=True)] = (
        LayoutOptions()
    )
    cover: Annotated[
        Cover | None,
        Field(
            label="cover",
            type="cover",
            keys=("cover", "coverY", "coverHeight", "coverTextColor", "coverTextColorDark"),
            edited=True,
        ),
    ] = None
    tags: Annotated[tuple[Any, ...], Field(label="tags", type="tags", keys=("tags",), edited=True)] = ()
    variables: Annotated[
        dict[str, Any],
        Field(label="variables", type="mapping", keys=("vars",), shown="members", edited=True),
    ] = {}
    redirect_from: Annotated[
        tuple[str, ...],
        Field(label="redirects", type="paths", keys=("redirectFrom",), shown="members", edited=True),
    ] = ()
    owner: Annotated[
        str | None,
        Field(
            label="pageOwner",
            keys=("owner",),
            kinds=("document", "group"),
            max_length=200,
            edited=True,
            shown="members",
        ),
    ] = None
    review_every: Annotated[
        str | None,
        Field(
            label="reviewEvery",
            keys=("reviewEvery",),
            kinds=("document", "group"),
            max_length=20,
            form=(INTERVAL, "be a number of days, weeks, months, or years, such as `6 months`"),
            edited=True,
            shown="members",
        ),
    ] = None
    verified_on: Annotated[
        str | None,
        Field(
            label="verifiedOn",
            keys=("verifiedOn",),
            max_length=10,
            form=(DATE, "be a date such as 2026-01-31"),
            edited=True,
        ),
    ] = None
    verified_by: Annotated[
        str | None, Field(label="verifiedBy", keys=("verifiedBy",), max_length=200, edited=True)
    ] = None
    visible_to: Annotated[
        tuple[str, ...],
        Field(
            label="whoCanSeeThisPage",
            type="people",
            kinds=("document", "group", "link", "computed"),
            shown="members",
            edited=True,
            navigation=True,
        ),
    ] = ()
    meta_links: Annotated[
        dict[str, Any],
        Field(label="relatedLinks", type="links", keys=("metaLinks",), shown="members", edited=True),
    ] = {}


def fields_of(struct: type[Struct]) -> dict[str, Field]:
    """Return the fields that a struct declares with ``Field``, by attribute name."""
    hints = get_type_hints(struct, include_extras=True)
    found = ((name, getattr(hints[name], "__metadata__", ())) for name in struct.__struct_fields__)
    return {name: field for name, about in found for field in about if isinstance(field, Field)}


FIELDS = fields_of(PageFields)
FRONT_FIELDS = {name: field for name, field in FIELDS.items() if field.keys}
"""Fields that come from a page's front matter."""
EDITED_FIELDS = {name: field for name, field in FIELDS.items() if field.edited}
"""Fields that can be set through the API."""
FRONT_KEYS = frozenset(key for field in FRONT_FIELDS.values() for key in field.keys)
NAVIGATION = tuple(name for name, field in FIELDS.items() if field.navigation)


def wire_name(name: str) -> str:
    """Return the API name of a field of a page or another object.

    >>> wire_name("no_index")
    'noIndex'
    """
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def declare(body: JsonObject, types: Mapping[str, object], default: object = NODEFAULT) -> None:
    """Declare fields in the body of a struct class. Fields that the class itself declares come first and aren't
    declared again.

    ``body``: the ``vars()`` of the class. ``types``: the types by field name. The type checker doesn't see
    these fields, so code reads them by name; fields that the type checker has to see are declared in the
    class itself.
    """
    annotations = body.setdefault("__annotations__", {})
    for name, type_ in types.items():
        if name not in annotations:
            annotations[name] = type_
            if default is not NODEFAULT:
                body[name] = default
