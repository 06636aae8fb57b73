"""Wire types for comments."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.changes.commands import DocumentInput
from octavo.core.document.description import DocumentBlocks, DocumentObject
from octavo.kit.db.pagination import Order, PageQuery
from octavo.organization.access.wire import User

from .types import BodyInput, SuggestionStatus

Format = Literal["document", "markdown"] | None
Emojis = Annotated[list[str], Meta(max_length=50)]


class TableCell(Struct):
    record: str
    definition: str


class Id(Struct):
    id: str


class CommentTarget(Struct, rename="camel", kw_only=True):
    """Target of a comment. ``revision``: a revision that contains the target; this is the latest revision as long as
    the target exists. ``gone``: whether the target no longer exists."""

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
    """URLs of a comment. ``app``: the URL of the thread in the app."""

    app: str
    location: str


class CommentPermissions(Struct):
    """The caller's permissions. ``reply``: whether the caller can reply and react, and, for a comment, resolve it."""

    view: bool
    edit: bool
    reply: bool
    delete: bool


class CommentBody(Struct):
    """Body in the requested format. Exactly one of the two fields is set."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | UnsetType = UNSET


class CommentReply(Struct, rename="camel", kw_only=True):
    """Reply to a comment. ``agent`` (an Octavo extension): the agent that the author used to write it."""

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
    """Suggested edit to the block that the comment is about: the block's nodes when the edit was suggested, and the
    nodes to replace them with, which are empty if the block is to be deleted. ``outdated``: whether the block has been
    edited or deleted since the edit was suggested, so accepting the suggestion may cause a conflict. ``revision``: the
    revision of the change request that was created when the suggestion was accepted."""

    status: SuggestionStatus
    before: DocumentBlocks
    after: DocumentBlocks
    outdated: bool
    settled_at: str | UnsetType = UNSET
    settled_by: User | UnsetType = UNSET
    revision: str | UnsetType = UNSET


class Comment(Struct, rename="camel", kw_only=True):
    """Comment on a page or a change request. ``agent`` (an Octavo extension): the agent that the author used to write
    it."""

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


class CommentFormatQuery(Struct):
    """Format of bodies in the response: ``markdown``, or nodes by default."""

    format: Format = None


class RepliesQuery(PageQuery):
    format: Format = None


class CommentsQuery(RepliesQuery, rename="camel", kw_only=True):
    order: Order = "desc"
    status: Literal["all", "open", "resolved"] = "all"
    target_page: str | None = None
    authors: Annotated[list[str], Meta(max_length=100)] = []
    suggestion: SuggestionStatus | None = None


class PostComment(Struct, rename="camel"):
    """New comment. ``node``: the node to comment on, which must be on ``page`` if a page is given; without a page, the
    node isn't checked. ``suggestion`` (an Octavo extension, only in change requests): the replacement for the block
    ``node``, as Markdown or nodes. With a suggestion, the body can be empty."""

    body: BodyInput
    page: str | None = None
    node: str | None = None
    table_cell: TableCell | None = None
    suggestion: DocumentInput | UnsetType = UNSET


class SettleSuggestion(Struct):
    """New status of a suggestion. ``open`` reopens the suggestion and, if it was accepted, reverts the edit."""

    status: SuggestionStatus


class PostReply(Struct):
    body: BodyInput


class UpdateComment(Struct, rename="camel"):
    """Update of a comment or a reply. ``resolved``: the status of the whole thread."""

    body: BodyInput | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET
    added_reactions: Emojis = []
    removed_reactions: Emojis = []
