"""Batch commands that edit the content of a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.access_wire import GivenPageAccess, read_page_access
from octavo.content.pages.tag_wire import GivenPageTags, GivenTag, TagSlug, read_given_tags
from octavo.content.pages.wire import VariableName
from octavo.core.document.description import DocumentBlocks, DocumentObject
from octavo.core.document.urls import safe_url
from octavo.core.emoji import require_emoji
from octavo.core.json_types import JsonObject
from octavo.core.page_fields import EDITED_FIELDS, Field, FieldType, LayoutOptions, declare, wire_name
from octavo.core.redirects import MAX_PATHS, MAX_SOURCE, PATH, read_paths
from octavo.core.tags import MAX_TAGS
from octavo.kit.texts import NOT_BLANK, pattern

PageTitle = Annotated[str, Meta(min_length=1, max_length=500, pattern=NOT_BLANK)]
Slug = Annotated[str, Meta(max_length=100)]
Short = Annotated[str, Meta(max_length=50)]
Ref = Annotated[
    str,
    Meta(
        pattern=pattern(r"^[A-Za-z0-9_-]{1,100}\Z", "be 1 to 100 letters, digits, hyphens, and underscores")
    ),
]
FileName = Annotated[str, Meta(min_length=1, max_length=256)]
Index = Annotated[int, Meta(ge=0)]


class DocumentInput(Struct):
    """Document, as either Markdown or nodes (a list of blocks or a whole document)."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | DocumentBlocks | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.markdown is UNSET) == (self.document is UNSET):
            raise ValueError("provide exactly one of `markdown` and `document`")


class GivenLayout(Struct, rename="camel", forbid_unknown_fields=True):
    """Layout options to set. Other options stay the same."""

    width: Literal["default", "wide", "landing"] | UnsetType = UNSET
    cover: bool | UnsetType = UNSET
    cover_size: Literal["hero", "full", "background"] | UnsetType = UNSET
    cover_mask: Literal["none", "radial"] | UnsetType = UNSET
    title: bool | UnsetType = UNSET
    description: bool | UnsetType = UNSET
    table_of_contents: bool | UnsetType = UNSET
    outline: bool | UnsetType = UNSET
    pagination: bool | UnsetType = UNSET
    metadata: bool | UnsetType = UNSET
    tags: bool | UnsetType = UNSET
    actions: bool | UnsetType = UNSET
    anchors: bool | UnsetType = UNSET


class CoverFile(Struct, tag_field="kind", tag="file", forbid_unknown_fields=True):
    """Cover image that is a file in the same space."""

    file: Annotated[str, Meta(min_length=1, max_length=100)]


class CoverUrl(Struct, tag_field="kind", tag="url", forbid_unknown_fields=True):
    """Cover image at a URL."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]

    def __post_init__(self) -> None:
        if safe_url(self.url) is None:
            raise ValueError(
                "url: this type of URL isn't allowed. Use an http, https, mailto, tel, or relative URL."
            )


MetaLink = Annotated[str, Meta(min_length=1, max_length=2048)]


class GivenCover(Struct, rename="camel", forbid_unknown_fields=True):
    """Cover of a page. ``y_pos``: the vertical offset of the image from its center, in image pixels;
    positive values shift it down."""

    ref: CoverFile | CoverUrl
    ref_dark: CoverFile | CoverUrl | UnsetType = UNSET
    y_pos: Annotated[float, Meta(ge=-100_000, le=100_000)] = 0
    height: Annotated[int, Meta(ge=10, le=700)] | UnsetType = UNSET
    text_color: Literal["black", "white"] | UnsetType = UNSET
    text_color_dark: Literal["black", "white"] | UnsetType = UNSET


class GivenMetaLinks(Struct, forbid_unknown_fields=True):
    """Related links of a page in the same form as in its Markdown: URLs, or paths relative to the page's file."""

    canonical: MetaLink | None = None
    alternates: Annotated[list[MetaLink], Meta(max_length=100)] = []

    def __post_init__(self) -> None:
        for name, links in (
            ("canonical", [self.canonical] if self.canonical else []),
            ("alternates", self.alternates),
        ):
            if not all(safe_url(link) is not None for link in links):
                raise ValueError(f"{name}: must be http or https URLs, or paths")


VariableValue = Annotated[str, Meta(max_length=256)] | bool | int | float | None
GivenVariables = Annotated[dict[VariableName, VariableValue], Meta(max_length=500)]
RedirectPath = Annotated[
    str,
    Meta(
        max_length=MAX_SOURCE,
        pattern=pattern(rf"^{PATH}/?\Z", "be a path, such as /guides/install, without a query or fragment"),
    ),
]
_GIVEN: dict[FieldType, Any] = {
    "tags": GivenPageTags,
    "layout": GivenLayout,
    "cover": GivenCover,
    "mapping": GivenVariables,
    "links": GivenMetaLinks,
    "paths": Annotated[list[RedirectPath], Meta(max_length=MAX_PATHS)],
    "people": GivenPageAccess,
}
"""Types that edits use for fields that aren't strings."""


def _edited_type(field: Field) -> object:
    if field.type == "flag":
        return bool | UnsetType
    if field.type in _GIVEN:
        return _GIVEN[field.type] | None | UnsetType
    limits: dict[str, Any] = {"max_length": field.max_length}
    if field.form is not None:
        valid, described = field.form
        limits["pattern"] = pattern(rf"^(?:{valid})?\Z", described)
    return Annotated[str, Meta(**limits)] | None | UnsetType


_STORED_LISTS: dict[FieldType, Callable[[Any], tuple[object, ...]]] = {
    "tags": read_given_tags,
    "paths": lambda given: read_paths(given)[0],
    "people": read_page_access,
}


def _stored(type: FieldType, value: object, before: object) -> object:
    """Convert a value to its stored form. ``before``: the page's current value."""
    match value, before:
        case GivenLayout(), LayoutOptions():
            given = {name: one for name, one in msgspec.structs.asdict(value).items() if one is not UNSET}
            return msgspec.structs.replace(before, **given)
        case dict(), dict():
            return {name: one for name, one in (before | value).items() if value.get(name, one) is not None}
        case GivenMetaLinks(), _:
            return {name: one for name, one in msgspec.structs.asdict(value).items() if one}
        case list(), _:
            return _STORED_LISTS[type](value)
        case None, _:
            empty = {
                "layout": LayoutOptions(),
                "mapping": {},
                "links": {},
                "tags": (),
                "paths": (),
                "people": (),
            }
            return empty.get(type)
        case _:
            return None if value == "" else value


class EditedPageFields(Struct, rename="camel"):
    """Edited fields of a page: ``title``, ``slug``, and the fields in ``EDITED_FIELDS``. ``variables``: the variables
    to change; null removes a variable."""

    title: PageTitle | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    if not TYPE_CHECKING:
        declare(vars(), {name: _edited_type(field) for name, field in EDITED_FIELDS.items()}, UNSET)

    def __post_init__(self) -> None:
        for name, value in self._given().items():
            if EDITED_FIELDS[name].type == "emoji":
                require_emoji(value, wire_name(name))

    def _given(self) -> dict[str, object]:
        return {name: value for name in EDITED_FIELDS if (value := getattr(self, name)) is not UNSET}

    def edited(self, before: Mapping[str, object]) -> dict[str, object]:
        """Return the given values for ``EDITED_FIELDS`` in their stored form, except covers, whose files depend on the
        page. ``before``: the page's current values."""
        return {
            name: _stored(EDITED_FIELDS[name].type, value, before[name])
            for name, value in self._given().items()
            if EDITED_FIELDS[name].type != "cover"
        }


class UpdatePage(EditedPageFields, tag_field="operation", tag="update_page", kw_only=True):
    page: str
    document: DocumentInput | UnsetType = UNSET
    into: str | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET


class InsertPage(EditedPageFields, tag_field="operation", tag="insert_page", kw_only=True):
    document: DocumentInput
    into: str | None = None
    at: Index | UnsetType = UNSET
    ref: Ref | None = None


class DeletePage(Struct, tag_field="operation", tag="delete_page"):
    page: str


class RevertPage(Struct, tag_field="operation", tag="revert_page"):
    page: str
    revision: str | None = None
    block: Annotated[list[str], Meta(min_length=1, max_length=1000)] | None = None


BlockKey = Annotated[str, Meta(min_length=1, max_length=100)]
MAX_BLOCKS = 1000


class SetBlock(Struct):
    """New content for a block: the nodes or Markdown that replace it. The first node keeps the key of the
    block unless that node already has a key. In a table cell, a caption, or the body of an expandable (a
    fragment), only the content is replaced."""

    block: BlockKey
    document: DocumentInput


class BlockPlace(Struct):
    """Position of blocks: after a block, before a block, or inside a block or fragment (null: the page) at an index (by
    default, at the end). The block or fragment that it names can be anywhere on the page."""

    after: BlockKey | UnsetType = UNSET
    before: BlockKey | UnsetType = UNSET
    into: BlockKey | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = [name for name in ("after", "before", "into") if getattr(self, name) is not UNSET]
        if len(given) > 1:
            raise ValueError("provide only one of `after`, `before`, and `into`")
        if self.at is not UNSET and given and given != ["into"]:
            raise ValueError("`at` can only be used with `into`")


class InsertBlocks(BlockPlace, kw_only=True):
    """New blocks. They keep their own keys unless the page already uses those keys."""

    document: DocumentInput


class MoveBlocks(BlockPlace, kw_only=True, rename={"from_": "from"}):
    """Existing blocks to move, in this order. ``from``: the page that currently contains them; by default, this
    page."""

    blocks: Annotated[list[BlockKey], Meta(min_length=1, max_length=MAX_BLOCKS)]
    from_: str | UnsetType = UNSET


class UpdateBlocks(Struct, tag_field="operation", tag="update_blocks", kw_only=True):
    """Change that edits individual blocks of a page by key (an Octavo extension). The lists are applied in this order:
    set, insert, move, delete. The rest of the page remains the same, byte for byte."""

    page: str
    set: Annotated[list[SetBlock], Meta(max_length=MAX_BLOCKS)] = []
    insert: Annotated[list[InsertBlocks], Meta(max_length=MAX_BLOCKS)] = []
    move: Annotated[list[MoveBlocks], Meta(max_length=MAX_BLOCKS)] = []
    delete: Annotated[list[BlockKey], Meta(max_length=MAX_BLOCKS)] = []

    def __post_init__(self) -> None:
        if not (self.set or self.insert or self.move or self.delete):
            raise ValueError("provide at least one of `set`, `insert`, `move`, and `delete`")


MediaType = Annotated[
    str,
    Meta(
        pattern=pattern(r"^[\w.+-]+/[\w.+-]+(;.*)?\Z", "be a media type, such as image/png"), max_length=200
    ),
]


class FileInput(Struct, rename={"content_type": "contentType"}, kw_only=True):
    """File to add to a space. ``upload`` (an Octavo extension): the key of an upload of the kind ``page_file``, for
    files up to 100 MB."""

    name: FileName
    url: Annotated[str, Meta(max_length=2048)] | None = None
    base64: str | None = None
    upload: Annotated[str, Meta(max_length=100)] | None = None
    content_type: MediaType | None = None
    ref: Ref | None = None

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.url, self.base64, self.upload)) != 1:
            raise ValueError("provide exactly one of `url`, `base64`, and `upload`")
        if self.base64 is not None and self.content_type is None:
            raise ValueError("`contentType` is required if you provide `base64`")


class InsertFiles(Struct, tag_field="operation", tag="insert_files"):
    files: Annotated[list[FileInput], Meta(min_length=1, max_length=20)]


class InsertGroup(Struct, tag_field="operation", tag="insert_group", kw_only=True, rename="camel"):
    """Change that inserts a page group (an Octavo extension). ``into``: must be null, because groups can only be at the
    top level."""

    title: PageTitle
    slug: Slug | UnsetType = UNSET
    emoji: Short | None = None
    icon: Short | None = None
    into: str | None = None
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_emoji(self.emoji, "emoji")


class InsertLink(Struct, tag_field="operation", tag="insert_link", kw_only=True):
    """Change that inserts a link in navigation (an Octavo extension)."""

    title: PageTitle
    target: JsonObject
    into: str | None = None
    at: Index | UnsetType = UNSET


class UpdateFile(Struct, tag_field="operation", tag="update_file", kw_only=True):
    """Change that renames a file, replaces its content, or both (an Octavo extension)."""

    file: str
    name: FileName | None = None
    content: FileInput | None = None


class DeleteFile(Struct, tag_field="operation", tag="delete_file"):
    """Change that deletes a file (an Octavo extension)."""

    file: str


class InsertReusableContent(Struct, tag_field="operation", tag="insert_reusable_content", kw_only=True):
    """Change that inserts reusable content (an Octavo extension)."""

    title: PageTitle
    document: DocumentInput


class UpdateReusableContent(
    Struct,
    tag_field="operation",
    tag="update_reusable_content",
    kw_only=True,
    rename={"reusable_content": "reusableContent"},
):
    """Change that updates reusable content (an Octavo extension)."""

    reusable_content: str
    title: PageTitle | None = None
    document: DocumentInput | None = None


class DeleteReusableContent(
    Struct,
    tag_field="operation",
    tag="delete_reusable_content",
    rename={"reusable_content": "reusableContent"},
):
    """Change that deletes reusable content (an Octavo extension)."""

    reusable_content: str


class SetTags(Struct, tag_field="operation", tag="set_tags"):
    """Change that creates, updates, or removes the space's tags, by slug (an Octavo extension). Null removes a tag from
    the space, but not from the pages that have it."""

    tags: Annotated[dict[TagSlug, GivenTag | None], Meta(max_length=MAX_TAGS)]

    def __post_init__(self) -> None:
        for slug, tag in self.tags.items():
            if tag is not None:
                require_emoji(tag.emoji, f"tags.{slug}.emoji")


class SetVariables(Struct, tag_field="operation", tag="set_variables"):
    """Change that sets variables (an Octavo extension). Null removes a variable."""

    variables: GivenVariables


ContentChange = (
    UpdatePage
    | UpdateBlocks
    | InsertPage
    | DeletePage
    | RevertPage
    | InsertFiles
    | InsertGroup
    | InsertLink
    | UpdateFile
    | DeleteFile
    | InsertReusableContent
    | UpdateReusableContent
    | DeleteReusableContent
    | SetTags
    | SetVariables
)
