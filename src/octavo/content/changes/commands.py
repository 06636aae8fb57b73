"""What a batch of changes says: the commands that edit the content of a state."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import VariableName
from octavo.core.document.description import DocumentBlocks, DocumentObject
from octavo.core.document.page import MAX_DESCRIPTION
from octavo.core.emoji import require_emoji

PageTitle = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
Slug = Annotated[str, Meta(max_length=100)]
Short = Annotated[str, Meta(max_length=50)]
Ref = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,100}\Z")]
FileName = Annotated[str, Meta(min_length=1, max_length=256)]
Index = Annotated[int, Meta(ge=0)]


class DocumentInput(Struct):
    """Exactly one of Markdown, or nodes: a list of blocks or a whole document."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | DocumentBlocks | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.markdown is UNSET) == (self.document is UNSET):
            raise ValueError("expected either `markdown` or `document`")


class PageFields(Struct, rename="camel"):
    title: PageTitle | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    emoji: Short | None | UnsetType = UNSET
    icon: Short | None | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=MAX_DESCRIPTION)] | None | UnsetType = UNSET
    hidden: bool | UnsetType = UNSET
    no_index: bool | UnsetType = UNSET
    no_robots_index: bool | UnsetType = UNSET
    condition: Annotated[str, Meta(max_length=1024)] | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_emoji(self.emoji, "emoji")


class UpdatePage(PageFields, tag_field="operation", tag="update_page", kw_only=True):
    page: str
    document: DocumentInput | UnsetType = UNSET
    into: str | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET


class InsertPage(PageFields, tag_field="operation", tag="insert_page", kw_only=True):
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
    """Other content for a block: nodes or Markdown that take its place. The first of them keeps its key, unless another
    one brings it. For a cell of a table, a caption or the body of an expandable (a fragment): what is in it."""

    block: BlockKey
    document: DocumentInput


class BlockPlace(Struct):
    """Right behind a block, right before one, or into one (or a fragment; null: the page) at an index, without one at
    its end. Blocks that are named here may be anywhere in the page."""

    after: BlockKey | UnsetType = UNSET
    before: BlockKey | UnsetType = UNSET
    into: BlockKey | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        given = [name for name in ("after", "before", "into") if getattr(self, name) is not UNSET]
        if len(given) > 1:
            raise ValueError("expected one of `after`, `before` and `into`")
        if self.at is not UNSET and given and given != ["into"]:
            raise ValueError("expected `at` beside `into` only")


class InsertBlocks(BlockPlace, kw_only=True):
    """New blocks. Keys that they bring stay theirs where the page has none of these."""

    document: DocumentInput


class MoveBlocks(BlockPlace, kw_only=True, rename={"from_": "from"}):
    """Blocks that are there, to be at another place in this order. ``from``: the page that they are on now, where it is
    another one."""

    blocks: Annotated[list[BlockKey], Meta(min_length=1, max_length=MAX_BLOCKS)]
    from_: str | UnsetType = UNSET


class UpdateBlocks(Struct, tag_field="operation", tag="update_blocks", kw_only=True):
    """Octavo's own: some blocks of a page, by their keys. What is set is set first, then what is new is inserted, then
    blocks are moved, then deleted; each list in its order. Nothing else of the page changes, in no byte."""

    page: str
    set: Annotated[list[SetBlock], Meta(max_length=MAX_BLOCKS)] = []
    insert: Annotated[list[InsertBlocks], Meta(max_length=MAX_BLOCKS)] = []
    move: Annotated[list[MoveBlocks], Meta(max_length=MAX_BLOCKS)] = []
    delete: Annotated[list[BlockKey], Meta(max_length=MAX_BLOCKS)] = []

    def __post_init__(self) -> None:
        if not (self.set or self.insert or self.move or self.delete):
            raise ValueError("expected `set`, `insert`, `move` or `delete`")


class FileInput(Struct, rename={"content_type": "contentType"}, kw_only=True):
    """``upload`` is Octavo's own: the key of an upload of the kind ``page_file``, for files of up to 100 MB."""

    name: FileName
    url: Annotated[str, Meta(max_length=2048)] | None = None
    base64: str | None = None
    upload: Annotated[str, Meta(max_length=100)] | None = None
    content_type: Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?\Z", max_length=200)] | None = None
    ref: Ref | None = None

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.url, self.base64, self.upload)) != 1:
            raise ValueError("expected either `url`, `base64` or `upload`")
        if self.base64 is not None and self.content_type is None:
            raise ValueError("expected `contentType` beside `base64`")


class InsertFiles(Struct, tag_field="operation", tag="insert_files"):
    files: Annotated[list[FileInput], Meta(min_length=1, max_length=20)]


class InsertGroup(Struct, tag_field="operation", tag="insert_group", kw_only=True, rename="camel"):
    """Octavo's own: a group of pages. ``into`` null: groups are at the top level only."""

    title: PageTitle
    slug: Slug | UnsetType = UNSET
    emoji: Short | None = None
    icon: Short | None = None
    into: str | None = None
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_emoji(self.emoji, "emoji")


class InsertLink(Struct, tag_field="operation", tag="insert_link", kw_only=True):
    """Octavo's own: a link among the pages."""

    title: PageTitle
    target: dict[str, Any]
    into: str | None = None
    at: Index | UnsetType = UNSET


class UpdateFile(Struct, tag_field="operation", tag="update_file", kw_only=True):
    """Octavo's own: a new name, other bytes, or both."""

    file: str
    name: FileName | None = None
    content: FileInput | None = None


class DeleteFile(Struct, tag_field="operation", tag="delete_file"):
    """Octavo's own."""

    file: str


class InsertReusableContent(Struct, tag_field="operation", tag="insert_reusable_content", kw_only=True):
    """Octavo's own."""

    title: PageTitle
    document: DocumentInput


class UpdateReusableContent(
    Struct,
    tag_field="operation",
    tag="update_reusable_content",
    kw_only=True,
    rename={"reusable_content": "reusableContent"},
):
    """Octavo's own."""

    reusable_content: str
    title: PageTitle | None = None
    document: DocumentInput | None = None


class DeleteReusableContent(
    Struct,
    tag_field="operation",
    tag="delete_reusable_content",
    rename={"reusable_content": "reusableContent"},
):
    """Octavo's own."""

    reusable_content: str


VariableValue = Annotated[str, Meta(max_length=256)] | bool | int | float | None


class SetVariables(Struct, tag_field="operation", tag="set_variables"):
    """Octavo's own: each value is set, null removes the variable."""

    variables: Annotated[dict[VariableName, VariableValue], Meta(max_length=500)]


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
    | SetVariables
)
