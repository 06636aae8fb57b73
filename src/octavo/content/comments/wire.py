"""Comments on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.changes.commands import DocumentInput
from octavo.core.document.description import DocumentBlocks, DocumentObject
from octavo.kit.db.pagination import Order, PageQuery
from octavo.organization.access.wire import User

from .types import Said, SuggestionStatus

Format = Literal["document", "markdown"] | None
Emojis = Annotated[list[str], Meta(max_length=50)]


class TableCell(Struct):
    record: str
    definition: str


class Id(Struct):
    id: str


class CommentTarget(Struct, rename="camel"):
    """What a comment is about. ``revision``: in which it can be found, the latest one while it is there; ``gone``:
    it is no longer there."""

    space: str
    revision: str
    page: Id | UnsetType = UNSET
    node: Id | UnsetType = UNSET
    table_cell: TableCell | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    review: str | UnsetType = UNSET
    gone: bool | UnsetType = UNSET


class ReactedUser(Struct, rename="camel"):
    user: User
    reacted_at: str


class EmojiReaction(Struct):
    emoji: str
    count: int
    users: list[ReactedUser]


class ReplierItem(Struct, rename="camel"):
    updated_at: str
    count: int
    user: User


class CommentUrls(Struct):
    """``app``: where the thread is shown."""

    app: str
    location: str


class CommentPermissions(Struct):
    """``reply``: also react and, of a comment, resolve."""

    view: bool
    edit: bool
    reply: bool
    delete: bool


class CommentBody(Struct):
    """One of the two."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | UnsetType = UNSET


class CommentReply(Struct, rename="camel", kw_only=True):
    """``agent``: the program by which who posted it wrote it; Octavo's own."""

    id: str
    posted_by: User
    posted_at: str
    reactions: list[EmojiReaction]
    body: CommentBody
    urls: CommentUrls
    permissions: CommentPermissions
    edited_at: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    object: Literal["comment-reply"] = "comment-reply"


class Suggestion(Struct, rename="camel", kw_only=True):
    """An edit of the block that the comment is about: the nodes that it was when this was suggested, and those that are
    to take its place, none where it is to be deleted. ``outdated``: the block was edited since, or is gone; accepting
    may find that both cannot stay. ``revision``: that of the change request which accepting made."""

    status: SuggestionStatus
    before: DocumentBlocks
    after: DocumentBlocks
    outdated: bool
    settled_at: str | UnsetType = UNSET
    settled_by: User | UnsetType = UNSET
    revision: str | UnsetType = UNSET


class Comment(Struct, rename="camel", kw_only=True):
    """``agent``: the program by which who posted it wrote it; Octavo's own."""

    id: str
    posted_by: User
    posted_at: str
    reactions: list[EmojiReaction]
    replies: int
    repliers: list[ReplierItem]
    body: CommentBody
    target: CommentTarget
    status: Literal["open", "resolved"]
    urls: CommentUrls
    permissions: CommentPermissions
    edited_at: str | UnsetType = UNSET
    resolved_at: str | UnsetType = UNSET
    resolved_by: User | UnsetType = UNSET
    suggestion: Suggestion | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    object: Literal["comment"] = "comment"


# --- requests -----------------------------------------------------------------------------------------


class FormatQuery(Struct):
    """How bodies are answered: as nodes unless ``markdown`` is asked for."""

    format: Format = None


class RepliesQuery(PageQuery):
    format: Format = None


class CommentsQuery(RepliesQuery, rename="camel"):
    order: Order = "desc"
    status: Literal["all", "open", "resolved"] = "all"
    target_page: str | None = None
    authors: Annotated[list[str], Meta(max_length=100)] = []
    suggestion: SuggestionStatus | None = None


class PostComment(Struct, rename="camel"):
    """``node``: what holds it is found where ``page`` names that; without a page the comment keeps it as it is.
    ``suggestion``: Octavo's own, in a change request: what is to take the place of the block ``node``, as Markdown or
    nodes. With one, the body may be empty."""

    body: Said
    page: str | None = None
    node: str | None = None
    table_cell: TableCell | None = None
    suggestion: DocumentInput | UnsetType = UNSET


class SettleSuggestion(Struct):
    """``open``: as nobody had settled it; an accepted edit is undone."""

    status: SuggestionStatus


class PostReply(Struct):
    body: Said


class UpdateComment(Struct, rename="camel"):
    """For a comment or a reply. ``resolved`` is about the whole thread."""

    body: Said | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET
    added_reactions: Emojis = []
    removed_reactions: Emojis = []
