"""Wire types for differences between two states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import FileVariant
from octavo.core.diff import BlockChange, WordRun
from octavo.kit.db.pagination import Next


class ChangesQuery(Struct):
    """Query parameters for changes. ``since``: the revision of the change request to compare with, such as the last
    reviewed revision; changes merged from main since then are included. ``only``: the ID of the page or item whose
    changes to return. ``page``: `next.page` of the previous response."""

    since: str | None = None
    only: str | None = None
    limit: Annotated[int, Meta(ge=0, le=1000)] = 10
    page: str | None = None


class ChangedPage(Struct):
    id: str
    type: str
    title: str
    path: str


class ChangedFile(Struct, rename={"content_type": "contentType", "download_url": "downloadURL"}):
    """Changed file. ``variants``: the variants of an image, from narrow to wide."""

    id: str
    name: str
    content_type: str
    download_url: str
    variants: list[FileVariant] | UnsetType = UNSET


class ChangedReusableContent(Struct):
    id: str
    title: str
    document: str | UnsetType = UNSET


class ChangedTag(Struct):
    slug: str
    label: str


class SemanticChange(Struct, rename="camel", kw_only=True):
    """Change to one object in a change request. ``type`` determines the other fields: ``page_created``,
    ``file_edited``, ``variables_edited``, and so on."""

    type: str
    page: ChangedPage | UnsetType = UNSET
    parent: dict[str, ChangedPage] | UnsetType = UNSET
    file: ChangedFile | UnsetType = UNSET
    reusable_content: ChangedReusableContent | UnsetType = UNSET
    tag: ChangedTag | UnsetType = UNSET
    variables: dict[str, Any] | UnsetType = UNSET
    attributes: dict[str, Any] | UnsetType = UNSET


class SemanticChanges(Struct, rename="camel"):
    """Page of a list of changes. ``more``: the number of remaining changes. ``next``: the next page of the list."""

    changes: list[SemanticChange]
    more: int | UnsetType = UNSET
    next: Next | UnsetType = UNSET
    merged_from: Any | UnsetType = UNSET


class TextWords(Struct):
    kind: Literal["same", "added", "removed"]
    text: str


class TextChange(Struct, rename="camel", kw_only=True):
    """Changed block as Markdown. ``words``: the changed words, only for edited blocks."""

    kind: Literal["added", "removed", "changed", "moved"]
    before: str | None
    after: str | None
    old_index: int | None
    new_index: int | None
    words: list[TextWords]


class BlockWords(Struct):
    """Word differences in a text node that exists in both states."""

    key: str
    words: list[TextWords]


class BlockDifference(Struct, kw_only=True):
    """Changed block of the page, with its nodes in the two states. ``behind``: the key of the block before
    it in the new state; null for the first block."""

    kind: Literal["added", "removed", "changed", "moved"]
    key: str
    behind: str | None
    words: list[BlockWords]
    before: dict[str, Any] | UnsetType = UNSET
    after: dict[str, Any] | UnsetType = UNSET


class TextChanges(Struct):
    """Changed blocks of a page. ``blocks``: the blocks as nodes, only with ``format=document``."""

    changes: list[TextChange]
    blocks: list[BlockDifference] | UnsetType = UNSET


class TextChangesQuery(Struct):
    """Query parameters for changed blocks. ``document``: whether to also return the changed blocks as nodes with keys,
    in addition to their Markdown."""

    format: Literal["markdown", "document"] = "markdown"


class PageChangesQuery(TextChangesQuery):
    """Query parameters for page changes. ``since``: the earlier revision to compare with."""

    since: str | None = None


def present_words(words: Iterable[WordRun]) -> list[TextWords]:
    return [TextWords(run.kind, run.text) for run in words]


def present_text_changes(changes: list[BlockChange]) -> TextChanges:
    return TextChanges(
        [
            TextChange(
                kind=c.kind,
                before=c.before,
                after=c.after,
                old_index=c.old_index,
                new_index=c.new_index,
                words=present_words(c.words),
            )
            for c in changes
        ]
    )
