"""What changed between two states, on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.pages.wire import FileVariant
from octavo.core.diff import BlockChange, WordRun
from octavo.kit.db.pagination import Next


class ChangesQuery(Struct):
    """``since``: a revision of the change request, such as the one that was reviewed last; what it brought in from main
    since is among the changes. ``only``: the id of a page or item, of which alone the changes are told. ``page``:
    `next.page` of the answer before."""

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
    """``variants`` of an image, from narrow to wide."""

    id: str
    name: str
    content_type: str
    download_url: str
    variants: list[FileVariant] | UnsetType = UNSET


class ChangedReusableContent(Struct):
    id: str
    title: str
    document: str | UnsetType = UNSET


class SemanticChange(Struct, rename="camel"):
    """``type`` says what is in it: ``page_created``, ``file_edited``, ``variables_edited`` and so on."""

    type: str
    page: ChangedPage | UnsetType = UNSET
    parent: dict[str, ChangedPage] | UnsetType = UNSET
    file: ChangedFile | UnsetType = UNSET
    reusable_content: ChangedReusableContent | UnsetType = UNSET
    variables: dict[str, Any] | UnsetType = UNSET
    attributes: dict[str, Any] | UnsetType = UNSET


class SemanticChanges(Struct, rename="camel"):
    """``more``: how many changes there are behind these, and ``next`` the page with them."""

    changes: list[SemanticChange]
    more: int | UnsetType = UNSET
    next: Next | UnsetType = UNSET
    merged_from: Any | UnsetType = UNSET


class TextWords(Struct):
    kind: Literal["same", "added", "removed"]
    text: str


class TextChange(Struct, rename="camel"):
    """One block that differs, as Markdown; ``words`` only for changed ones."""

    kind: Literal["added", "removed", "changed", "moved"]
    before: str | None
    after: str | None
    old_index: int | None
    new_index: int | None
    words: list[TextWords]


class BlockWords(Struct):
    """The words of a node that holds text, which is in both states."""

    key: str
    words: list[TextWords]


class BlockDifference(Struct):
    """A block of the page that differs, with its nodes as the two states have them. ``behind``: the key of the block of
    the new state that it stands or stood behind; null for the first."""

    kind: Literal["added", "removed", "changed", "moved"]
    key: str
    behind: str | None
    words: list[BlockWords]
    before: dict[str, Any] | UnsetType = UNSET
    after: dict[str, Any] | UnsetType = UNSET


class TextChanges(Struct):
    """``blocks``: with ``format=document``."""

    changes: list[TextChange]
    blocks: list[BlockDifference] | UnsetType = UNSET


class TextChangesQuery(Struct):
    """``document``: the blocks that differ as nodes with keys, beside their Markdown."""

    format: Literal["markdown", "document"] = "markdown"


class PageChangesQuery(TextChangesQuery):
    """``since``: an earlier revision that it is compared with."""

    since: str | None = None


def present_words(words: Iterable[WordRun]) -> list[TextWords]:
    return [TextWords(run.kind, run.text) for run in words]


def present_text_changes(changes: list[BlockChange]) -> TextChanges:
    return TextChanges(
        [
            TextChange(
                c.kind,
                c.before,
                c.after,
                c.old_index,
                c.new_index,
                present_words(c.words),
            )
            for c in changes
        ]
    )
