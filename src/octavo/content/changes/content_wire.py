"""Wire types for content edits and their results."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import File, VariableName

from .commands import ContentChange, DocumentInput, FileName, Index, MediaType, PageTitle, VariableValue
from .wire import ChangeRequest

MAX_CHANGES = 2000


class ChangeContent(Struct, rename="camel"):
    """Batch of changes. ``baseRevision``: the revision that the changes are based on. The changes are merged with all
    changes saved since that revision. By default, they apply to the current content. ``onConflict``: ``refuse`` writes
    nothing if the batch and later saves changed the same content."""

    changes: Annotated[list[ContentChange], Meta(min_length=1, max_length=MAX_CHANGES)]
    base_revision: Annotated[str, Meta(max_length=100)] | None = None
    on_conflict: Literal["keep", "refuse"] = "keep"


class CompatQuery(Struct):
    compat: bool = True


class MovePage(Struct):
    into: str | None | UnsetType = UNSET
    at: Index | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.into is UNSET and self.at is UNSET:
            raise ValueError("provide `into`, `at`, or both")


class FileChange(Struct, rename={"content_type": "contentType"}, kw_only=True):
    """Update of a file: a new name, new content (from a URL or inline), or both."""

    name: FileName | None = None
    url: Annotated[str, Meta(max_length=2048)] | None = None
    base64: str | None = None
    content_type: MediaType | None = None


class NewReusableContent(Struct):
    title: PageTitle
    document: DocumentInput


class ReusableContentChange(Struct):
    title: PageTitle | None = None
    document: DocumentInput | None = None


class Variables(Struct):
    """Variables to set; null removes a variable."""

    variables: Annotated[dict[VariableName, VariableValue], Meta(max_length=500)]


class VariablesAnswer(Struct):
    variables: dict[str, Any]


class BlocksResult(Struct):
    """Resulting blocks with their keys. Each entry of ``set``, ``insert``, and ``move`` has a list of the blocks that
    remain on the page. They are the same as in the page's document, except for ``meta.id`` of headings, which depends
    on the whole page. A list is empty if no blocks remain, for example if the input was only an empty paragraph, or if
    someone else deleted the blocks."""

    set: list[list[dict[str, Any]]]
    insert: list[list[dict[str, Any]]]
    move: list[list[dict[str, Any]]]


class PageResult(Struct, omit_defaults=True):
    """Result for a page. ``page``: the page, including its ``document`` if it also contains other people's
    changes since ``baseRevision``. ``blocks``: the result of ``update_blocks``."""

    object: str
    page: Any
    ref: str | None = None
    blocks: BlocksResult | None = None


class UnreadCondition(Struct):
    """Invalid condition on a page. No one can see the page's content until the condition is fixed. ``line``: the line
    in the page's file."""

    page: str
    line: int
    message: str


class ChangeContentAnswer(Struct, rename="camel", kw_only=True):
    """Result of a batch, for main and for change requests with ``compat=false``. ``result``: ``conflicts`` means that
    the change request contains the conflicts between the edit and later saves, and main is unchanged; ``refused`` means
    that nothing was written, and the response contains the pages of ``merged_revision``. ``revision``: the
    ``baseRevision`` for the next save. Normally, this is the new revision, which follows ``previous_revision``. If the
    new revision also contains other people's changes, it is the ``baseRevision`` of this save, because the client
    hasn't seen those changes. ``merged_revision`` is then the new revision, for clients that display the pages of this
    response."""

    changes: list[PageResult]
    result: Literal["edit", "conflicts", "refused"]
    change_request: ChangeRequest | UnsetType = UNSET
    inserted_files: list[File] | UnsetType = UNSET
    unread_conditions: list[UnreadCondition] | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    previous_revision: str | UnsetType = UNSET
    merged_revision: str | UnsetType = UNSET
