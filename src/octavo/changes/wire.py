"""Change requests on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from ..access import User, UserRow, list_users_by_id, present_user
from ..content import ContentQuery, File, RevisionRow, RevisionType, app_url
from ..core.diff import BlockChange
from ..core.document import DocumentError, from_json, to_json
from ..core.merge import Conflict
from ..errors import BadRequest
from ..kit.clock import iso
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.pagination import PageQuery
from .store import ChangeRow, Contributor, Reviewer, ReviewRow

Status = Literal["draft", "open", "archived", "merged"]
Subject = Annotated[str, Meta(max_length=100)]
ReviewStatus = Literal["approved", "changes-requested"]


class ChangeRequestUrls(Struct):
    app: str
    location: str


class ChangeRequest(Struct, rename="camel"):
    id: str
    number: int
    status: Status
    subject: str
    created_by: User
    created_at: str
    updated_at: str
    space: str
    revision: str
    revision_initial: str
    comments: int
    outdated: bool
    urls: ChangeRequestUrls
    object: Literal["change-request"] = "change-request"
    description: Raw | UnsetType = UNSET
    revision_merged_ancestor: str | UnsetType = UNSET
    revision_merged: str | UnsetType = UNSET
    conversations_issues_cluster: str | UnsetType = UNSET


class ChangeRequestsQuery(PageQuery, rename="camel"):
    status: Status = "open"
    creator: str | None = None
    contributor: str | None = None
    requested_reviewer: str | None = None
    conversations_issues_cluster: str | None = None


class TemplateParams(Struct, rename="camel", frozen=True):
    """``contentRefs``: what a template leaves open, by name: references to files, pages or URLs."""

    content_refs: Annotated[dict[str, dict[str, Any]], Meta(max_length=100)] = {}


class TemplateChoice(Struct):
    id: str
    params: TemplateParams = TemplateParams()


class CreateChangeRequest(Struct, rename="camel"):
    subject: Subject = ""
    template: TemplateChoice | None = None


class UpdateChangeRequest(Struct, rename="camel"):
    subject: Subject | UnsetType = UNSET
    description: dict[str, Any] | UnsetType = UNSET
    status: Literal["draft", "open", "archived"] | UnsetType = UNSET


class MergeAnswer(Struct):
    """``revision``: of main, or with ``conflicts`` the one of the change request that holds them."""

    revision: str
    result: Literal["merge", "conflicts"]


class UpdateAnswer(Struct):
    revision: str
    result: Literal["update", "conflicts"]


class ContributorItem(Struct, rename="camel"):
    updated_at: str
    count: int
    user: User
    action_type: Literal["edit", "comment"]


# --- reviews ------------------------------------------------------------------------------------------


class RequestedReviewer(Struct, rename="camel"):
    revision: str
    requested_by: User
    created_at: str
    user: User
    kind: Literal["user"] = "user"
    object: Literal["change-request-requested-reviewer"] = "change-request-requested-reviewer"


class RequestReviewers(Struct):
    users: Annotated[list[str], Meta(min_length=1, max_length=100)]
    subject: Subject | UnsetType = UNSET
    description: dict[str, Any] | UnsetType = UNSET


class RequestedReviewers(Struct):
    users: list[RequestedReviewer]


class ReviewsQuery(PageQuery):
    format: Literal["document", "markdown"] | None = None
    outdated: bool | None = None


class ReviewQuery(Struct):
    format: Literal["document", "markdown"] | None = None


class ReviewUrls(Struct):
    location: str


class Review(Struct, rename="camel"):
    id: str
    revision: str
    reviewer: User
    status: ReviewStatus
    outdated: bool
    created_at: str
    updated_at: str
    urls: ReviewUrls
    object: Literal["change-request-review"] = "change-request-review"
    requested_by: User | UnsetType = UNSET
    comment: Any | UnsetType = UNSET


class SubmitReview(Struct):
    status: ReviewStatus
    comment: dict[str, Any] | None = None


# --- editing content ----------------------------------------------------------------------------------

PageTitle = Annotated[str, Meta(min_length=1, max_length=500)]
Slug = Annotated[str, Meta(max_length=100)]
Short = Annotated[str, Meta(max_length=50)]
Ref = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
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
    description: Annotated[str, Meta(max_length=1000)] | None | UnsetType = UNSET
    hidden: bool | UnsetType = UNSET
    no_index: bool | UnsetType = UNSET
    no_robots_index: bool | UnsetType = UNSET
    condition: Annotated[str, Meta(max_length=1024)] | None | UnsetType = UNSET


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
    content_type: Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?$", max_length=200)] | None = None
    ref: Ref | None = None

    def __post_init__(self) -> None:
        if (self.url is None) == (self.base64 is None):
            raise ValueError("expected either `url` or `base64`")
        if self.base64 is not None and self.content_type is None:
            raise ValueError("expected `contentType` beside `base64`")


class InsertFiles(Struct, tag_field="operation", tag="insert_files"):
    files: Annotated[list[FileInput], Meta(min_length=1, max_length=20)]


class InsertGroup(Struct, tag_field="operation", tag="insert_group", kw_only=True, rename="camel"):
    """Octavo's own: a group of pages, at the top level."""

    title: PageTitle
    slug: Slug | UnsetType = UNSET
    emoji: Short | None = None
    icon: Short | None = None
    at: Index | UnsetType = UNSET


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


VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=100)]
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


class ChangeContent(Struct):
    changes: Annotated[list[ContentChange], Meta(min_length=1, max_length=MAX_CHANGES)]


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
    content_type: Annotated[str, Meta(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?$", max_length=200)] | None = None


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


# --- presenting ---------------------------------------------------------------------------------------


def document_text(value: dict[str, Any]) -> str:
    """A description as it is stored: checked, in the one form. Raises BadRequest."""
    try:
        return msgspec.json.encode(to_json(from_json(value))).decode()
    except DocumentError as error:
        raise BadRequest(f"description: {error}") from None


def view_of(change: ChangeRow) -> str:
    """Where the application shows a change request, below its space."""
    return f"/~/changes/{change.number}"


def present_change(call: Call, tx: Transaction, change: ChangeRow) -> ChangeRequest:
    return present_changes(call, tx, [change])[0]


def present_changes(call: Call, tx: Transaction, changes: list[ChangeRow]) -> list[ChangeRequest]:
    people = present_people(call, tx, [change.created_by for change in changes])
    return [_present(call, change, people[change.created_by]) for change in changes]


def _present(call: Call, change: ChangeRow, creator: User) -> ChangeRequest:
    return ChangeRequest(
        id=change.id,
        number=change.number,
        status=change.status,  # type: ignore[arg-type]
        subject=change.subject,
        created_by=creator,
        created_at=iso(change.created_at),
        updated_at=iso(change.updated_at),
        space=change.space_id,
        revision=change.revision,
        revision_initial=change.revision_initial,
        comments=change.comments,
        outdated=change.outdated,
        urls=ChangeRequestUrls(
            app=app_url(call, change.space_id) + view_of(change),
            location=call.url(f"/spaces/{change.space_id}/change-requests/{change.id}"),
        ),
        description=Raw(change.description.encode()) if change.description else UNSET,
        revision_merged_ancestor=change.revision_merged_ancestor or UNSET,
        revision_merged=change.revision_merged or UNSET,
        conversations_issues_cluster=change.issues_cluster or UNSET,
    )


class _Gone(dict[str, User]):
    """People by id; somebody whose account is gone is shown without a name."""

    def __init__(self, call: Call, known: dict[str, User]) -> None:
        super().__init__(known)
        self._call = call

    def __missing__(self, user_id: str) -> User:
        return present_user(self._call, UserRow(user_id, "", "Deleted user", None, 1, 0))


def present_people(call: Call, tx: Transaction, user_ids: list[str]) -> dict[str, User]:
    found = list_users_by_id(tx, user_ids)
    return _Gone(call, {user_id: present_user(call, row) for user_id, row in found.items()})


def present_contributors(
    call: Call, tx: Transaction, contributors: list[Contributor]
) -> list[ContributorItem]:
    people = present_people(call, tx, [c.user_id for c in contributors])
    return [
        ContributorItem(iso(c.updated_at), c.count, people[c.user_id], c.action)  # type: ignore[arg-type]
        for c in contributors
    ]


def present_reviewers(call: Call, tx: Transaction, reviewers: list[Reviewer]) -> list[RequestedReviewer]:
    people = present_people(call, tx, [i for r in reviewers for i in (r.user_id, r.requested_by)])
    return [
        RequestedReviewer(r.revision, people[r.requested_by], iso(r.created_at), people[r.user_id])
        for r in reviewers
    ]


def present_reviews(
    call: Call, tx: Transaction, change: ChangeRow, reviews: list[ReviewRow], comments: dict[str, Any]
) -> list[Review]:
    """``comments``: the comment of a review as the API shows it, by the review's id."""
    asked = [i for r in reviews for i in (r.reviewer, r.requested_by) if i]
    people = present_people(call, tx, asked)
    return [
        Review(
            id=review.id,
            revision=review.revision,
            reviewer=people[review.reviewer],
            status=review.status,  # type: ignore[arg-type]
            outdated=review.edits < change.edits,
            created_at=iso(review.created_at),
            updated_at=iso(review.updated_at),
            urls=ReviewUrls(
                call.url(f"/spaces/{change.space_id}/change-requests/{change.id}/reviews/{review.id}")
            ),
            requested_by=people[review.requested_by] if review.requested_by else UNSET,
            comment=comments.get(review.id, UNSET),
        )
        for review in reviews
    ]


# --- what changed -------------------------------------------------------------------------------------


class ChangesQuery(Struct):
    limit: Annotated[int, Meta(ge=0, le=1000)] = 10


class RevisionChangesQuery(ContentQuery):
    limit: Annotated[int, Meta(ge=0, le=1000)] = 10


class ChangedPage(Struct):
    id: str
    type: str
    title: str
    path: str


class ChangedFile(Struct, rename={"content_type": "contentType", "download_url": "downloadURL"}):
    id: str
    name: str
    content_type: str
    download_url: str


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
    """``more``: how many changes there are beyond these."""

    changes: list[SemanticChange]
    more: int | UnsetType = UNSET
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


class TextChanges(Struct):
    changes: list[TextChange]


def present_text_changes(changes: list[BlockChange]) -> TextChanges:
    return TextChanges(
        [
            TextChange(
                c.kind,
                c.before,
                c.after,
                c.old_index,
                c.new_index,
                [TextWords(words.kind, words.text) for words in c.words],
            )
            for c in changes
        ]
    )


# --- conflicts ----------------------------------------------------------------------------------------


class OpenConflict(Struct, rename="camel"):
    """What the change request (``ours``) and main (``theirs``) both changed. ``base`` is how it was; a value null
    is "not there". ``kept`` stands in the change request until the conflict is settled."""

    id: str
    kind: Literal["field", "block", "deleted"]
    target: str
    target_id: str
    base: Any
    ours: Any
    theirs: Any
    kept: Literal["ours", "theirs"]
    object: Literal["change-request-conflict"] = "change-request-conflict"
    field: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class ResolveConflict(Struct):
    """``value``: with ``edited``, what to take instead of any side."""

    choice: Literal["ours", "theirs", "base", "edited"]
    value: Any | UnsetType = UNSET


class ResolveAnswer(Struct):
    """``conflicts``: how many are still open."""

    revision: str
    conflicts: int


class RollbackAnswer(Struct, rename="camel"):
    """``revision``: of main, or with ``conflicts`` the one of ``changeRequest`` that holds them."""

    revision: str
    result: Literal["rollback", "conflicts"]
    change_request: ChangeRequest | UnsetType = UNSET


def present_conflict(conflict: Conflict, title: str | None) -> OpenConflict:
    return OpenConflict(
        id=conflict.key,
        kind=conflict.kind,
        target=conflict.target,
        target_id=conflict.id,
        base=conflict.base,
        ours=conflict.ours,
        theirs=conflict.theirs,
        kept=conflict.kept,
        field=conflict.field or UNSET,
        title=title if title is not None else UNSET,
    )


# --- history ------------------------------------------------------------------------------------------


class RevisionItem(Struct, rename="camel"):
    id: str
    parents: list[str]
    type: RevisionType
    created_at: str
    urls: ChangeRequestUrls
    object: Literal["revision-summary"] = "revision-summary"
    author: User | UnsetType = UNSET
    message: str | UnsetType = UNSET
    git: dict[str, Any] | UnsetType = UNSET
    merged_from: ChangeRequest | UnsetType = UNSET


def present_revisions(
    call: Call, tx: Transaction, space_id: str, rows: Sequence[RevisionRow], merged: dict[str, ChangeRow]
) -> list[RevisionItem]:
    """``merged``: change requests by id."""
    people = present_people(call, tx, [row.author for row in rows if row.author])
    shown = present_changes(call, tx, list(merged.values()))
    by_id = {change.id: change for change in shown}
    return [
        RevisionItem(
            id=row.id,
            parents=row.parents,
            type=row.type,  # type: ignore[arg-type]
            created_at=iso(row.created_at),
            urls=ChangeRequestUrls(
                app=f"{app_url(call, space_id)}/~/revisions/{row.id}",
                location=call.url(f"/spaces/{space_id}/revisions/{row.id}"),
            ),
            author=people[row.author] if row.author else UNSET,
            message=row.message or UNSET,
            git=row.git or UNSET,
            merged_from=by_id.get(row.merged_from, UNSET) if row.merged_from else UNSET,
        )
        for row in rows
    ]


# --- what an edit did ---------------------------------------------------------------------------------


class PageResult(Struct, omit_defaults=True):
    object: str
    page: Any
    ref: str | None = None


class ChangeContentAnswer(Struct, rename="camel"):
    """With ``compat=false``."""

    change_request: ChangeRequest | UnsetType
    changes: list[PageResult]
    inserted_files: list[File] | UnsetType = UNSET
    revision: str | UnsetType = UNSET
