"""Editing content on the wire: what a batch of changes holds, and what became of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import File, VariableName

from .commands import ContentChange, DocumentInput, FileName, Index, PageTitle, VariableValue
from .wire import ChangeRequest

MAX_CHANGES = 2000


class ChangeContent(Struct, rename="camel"):
    """``baseRevision``: the revision that the changes were made on. What was saved since is merged with them; without
    one they are applied to what is there now. ``onConflict``: with ``refuse`` nothing is written where both changed
    the same."""

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


class BlocksResult(Struct):
    """What the blocks are now, with their keys: for each entry of ``set``, ``insert`` and ``move`` the blocks that it
    left, as the page's document shows them (without ``meta.id`` of headings, which depends on the whole page). Empty
    for what is not there: an empty paragraph, or what somebody else deleted."""

    set: list[list[dict[str, Any]]]
    insert: list[list[dict[str, Any]]]
    move: list[list[dict[str, Any]]]


class PageResult(Struct, omit_defaults=True):
    """``page`` has its ``document`` where it holds other people's changes since the ``baseRevision`` too. ``blocks``: of
    ``update_blocks``."""

    object: str
    page: Any
    ref: str | None = None
    blocks: BlocksResult | None = None


class UnreadCondition(Struct):
    """Something in a page that was meant as a condition and is none: nobody sees what it is meant for. ``line``: in the
    page's file."""

    page: str
    line: int
    message: str


class ChangeContentAnswer(Struct, rename="camel"):
    """With ``compat=false``, and for main. ``result``: with ``conflicts`` the change request holds what the edit and
    what was saved since its ``baseRevision`` both changed; main stays as it is. With ``refused`` nothing was written,
    and the pages are as they are at ``merged_revision``. ``revision``: the ``baseRevision`` of
    the next save. It is the revision that this made on top of ``previous_revision``, unless other people's changes came
    between: their blocks are not the client's to replace yet, so it stays the ``baseRevision`` of this save.
    ``merged_revision``: the revision that this made then, for a client that shows the pages of this answer."""

    changes: list[PageResult]
    result: Literal["edit", "conflicts", "refused"]
    change_request: ChangeRequest | UnsetType = UNSET
    inserted_files: list[File] | UnsetType = UNSET
    unread_conditions: list[UnreadCondition] | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    previous_revision: str | UnsetType = UNSET
    merged_revision: str | UnsetType = UNSET
