"""Editing content on the wire: what a batch of changes holds, and what became of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..core.document.page import MAX_DESCRIPTION
from ..core.emoji import require_emoji
from ..pages import File, VariableName
from .wire import ChangeRequest

PageTitle = Annotated[str, Meta(min_length=1, max_length=500)]
Slug = Annotated[str, Meta(max_length=100)]
Short = Annotated[str, Meta(max_length=50)]
Ref = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,100}\Z")]
FileName = Annotated[str, Meta(min_length=1, max_length=256)]
Index = Annotated[int, Meta(ge=0)]


class DocumentInput(Struct):
    """Exactly one of Markdown, or nodes: a list of blocks or a whole document."""

    markdown: str | UnsetType = UNSET
    document: dict[str, Any] | list[Any] | UnsetType = UNSET

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


class FileInput(Struct, rename={"content_type": "contentType"}, kw_only=True):
    name: FileName
    url: Annotated[str, Meta(max_length=2048)] | None = None
    base64: str | None = None
    content_type: Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?\Z", max_length=200)] | None = None
    ref: Ref | None = None

    def __post_init__(self) -> None:
        if (self.url is None) == (self.base64 is None):
            raise ValueError("expected either `url` or `base64`")
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
MAX_CHANGES = 2000


class ChangeContent(Struct, rename="camel"):
    """``baseRevision``: the revision that the changes were made on. What was saved since is merged with them; without
    one they are applied to what is there now."""

    changes: Annotated[list[ContentChange], Meta(min_length=1, max_length=MAX_CHANGES)]
    base_revision: Annotated[str, Meta(max_length=100)] | None = None


class CompatQuery(Struct):
    compat: bool = True


class MovePage(Struct):
    into: str | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.into is UNSET and self.at is UNSET:
            raise ValueError("expected `into`, `at` or both")


class FileChange(Struct, rename={"content_type": "contentType"}, kw_only=True):
    """A new name, other bytes (from a URL or inline), or both."""

    name: FileName | None = None
    url: Annotated[str, Meta(max_length=2048)] | None = None
    base64: str | None = None
    content_type: Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?\Z", max_length=200)] | None = None


class NewReusableContent(Struct):
    title: PageTitle
    document: DocumentInput


class ReusableContentChange(Struct):
    title: PageTitle | None = None
    document: DocumentInput | None = None


class Variables(Struct):
    """Each value is set; null removes the variable."""

    variables: Annotated[dict[VariableName, VariableValue], Meta(max_length=500)]


class VariablesAnswer(Struct):
    variables: dict[str, Any]


class PageResult(Struct, omit_defaults=True):
    object: str
    page: Any
    ref: str | None = None


class ChangeContentAnswer(Struct, rename="camel"):
    """With ``compat=false``, and for main. ``result``: with ``conflicts`` the change request holds what the edit and
    what was saved since its ``baseRevision`` both changed; main stays as it is. ``revision``: the one that this
    made."""

    changes: list[PageResult]
    result: Literal["edit", "conflicts"]
    change_request: ChangeRequest | UnsetType = UNSET
    inserted_files: list[File] | UnsetType = UNSET
    revision: str | UnsetType = UNSET
