"""Wire types for change requests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.content.references.concealing import Concealment
from octavo.content.references.lookup import Owner
from octavo.content.revisions.restrictions import seen_by_recipient
from octavo.content.revisions.states import list_branch_content
from octavo.core.app_urls import change_view
from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.ids import new_id
from octavo.kit.urls import HttpUrl
from octavo.organization.access.wire import User, present_people

from .conflicts import list_seen
from .store import ChangeRow, Contributor
from .types import ChangeOrder, Status

Subject = Annotated[str, Meta(max_length=100)]
LinkTitle = Annotated[str, Meta(min_length=1, max_length=256)]
MAX_LINKS = 10


class ChangeRequestUrls(Struct):
    app: str
    location: str


class ChangeRequestLinkTarget(Struct, frozen=True):
    url: HttpUrl
    kind: Literal["url"] = "url"


class ChangeRequestLinkInput(Struct, frozen=True):
    """Link from a change request to an issue or another page outside of Octavo. ``id``: the ID of an existing link."""

    ref: ChangeRequestLinkTarget
    id: str | UnsetType = UNSET
    title: LinkTitle | UnsetType = UNSET


class ChangeRequestLink(Struct, frozen=True):
    id: str
    ref: ChangeRequestLinkTarget
    title: str | UnsetType = UNSET


class ChangeRequestTopic(Struct, kw_only=True):
    """Site topic that a change request was created for, and the finding that the change request fixes."""

    site: str
    topic: str
    finding: str | UnsetType = UNSET


class ChangeRequestStyleguide(Struct, rename="camel", kw_only=True):
    """Style guide check that created a change request. ``changedPages``: the number of pages that the check changed;
    omitted if the caller can't see all of them. ``checkedAt``: the time of the latest check that created or kept the
    change request."""

    site: str
    run: str
    changed_pages: int | UnsetType = UNSET
    checked_at: str | UnsetType = UNSET


class ChangeOrigin(Struct):
    """Topic or style guide check that a change request was created for, if any."""

    topic: ChangeRequestTopic | UnsetType = UNSET
    styleguide: ChangeRequestStyleguide | UnsetType = UNSET


class ChangeRequest(Struct, rename="camel", kw_only=True):
    """Change request. ``conflicts``: the number of open conflicts. ``edits``: the number of edits to its content.
    ``agent``: the agent that its creator used. All three are Octavo extensions."""

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
    conflicts: int
    urls: ChangeRequestUrls
    object: Literal["change-request"] = "change-request"
    description: DocumentNodes | UnsetType = UNSET
    revision_merged_ancestor: str | UnsetType = UNSET
    revision_merged: str | UnsetType = UNSET
    conversations_issues_cluster: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    merged_by: User | UnsetType = UNSET
    merged_at: str | UnsetType = UNSET
    links: list[ChangeRequestLink] | UnsetType = UNSET
    site_topic: ChangeRequestTopic | UnsetType = UNSET
    styleguide: ChangeRequestStyleguide | UnsetType = UNSET
    edits: int | UnsetType = UNSET


class PageChangeRequest(ChangeRequest, kw_only=True):
    """Change request that edits a page. ``pages``: the number of pages that it edits."""

    pages: int


class ChangeRequestsQuery(PageQuery, rename="camel", kw_only=True):
    status: Status = "open"
    creator: str | None = None
    contributor: str | None = None
    requested_reviewer: str | None = None
    conversations_issues_cluster: str | None = None
    topic: str | None = None
    order_by: ChangeOrder = "createdAt"


class OrganizationChangeRequestsQuery(ChangeRequestsQuery, rename="camel", kw_only=True):
    status: list[Status] = msgspec.field(default_factory=lambda: ["open"])  # type: ignore[assignment]
    site: str | None = None
    space: str | None = None
    styleguide_run: str | None = None
    finding: Literal["none", "all"] = "all"


class TemplateParams(Struct, rename="camel", frozen=True):
    """Parameters of a template. ``contentRefs``: the targets of its open references by name: files, pages, or
    URLs."""

    content_refs: Annotated[dict[str, dict[str, Any]], Meta(max_length=100)] = {}


class TemplateChoice(Struct):
    id: str
    params: TemplateParams = TemplateParams()


class CreateChangeRequest(Struct, rename="camel"):
    subject: Subject = ""
    template: TemplateChoice | None = None


class UpdateChangeRequest(Struct, rename="camel"):
    subject: Subject | UnsetType = UNSET
    description: DocumentObject | UnsetType = UNSET
    status: Literal["draft", "open", "archived"] | UnsetType = UNSET
    links: Annotated[list[ChangeRequestLinkInput], Meta(max_length=MAX_LINKS)] | UnsetType = UNSET


class VerifyAnswer(Struct, rename="camel"):
    """Result of a verification. ``changeRequest``: in a locked space, the change request that contains the
    verification. ``merged``: whether the page is verified; if not, the change request is waiting for a
    review."""

    merged: bool
    change_request: ChangeRequest | UnsetType = UNSET


class MergeAnswer(Struct):
    """Result of a merge. ``revision``: the new revision of main; with ``conflicts``, the revision of the
    change request that contains them."""

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


def links_text(change: ChangeRow, links: list[ChangeRequestLinkInput]) -> str | None:
    """Return the links of a change request in their stored form. Raises BadRequest if an ID doesn't exist or is used
    twice."""
    known = {link.id for link in _links(change)}
    found = []
    for number, link in enumerate(links):
        if link.id is not UNSET and link.id not in known:
            raise BadRequest(
                f"links[{number}].id: this change request has no link with this ID. Omit the ID to add a new"
                " link."
            )
        known.discard(link.id or "")
        found.append(ChangeRequestLink(link.id or new_id(), link.ref, link.title))
    return msgspec.json.encode(found).decode() if found else None


def _links(change: ChangeRow) -> list[ChangeRequestLink]:
    return msgspec.json.decode(change.links or "[]", type=list[ChangeRequestLink])


def document_text(value: Mapping[str, object]) -> str:
    """Validate and normalize a description, and return its stored form. Raises BadRequest if it is invalid."""
    try:
        return msgspec.json.encode(to_json(from_json(value))).decode()
    except DocumentError as error:
        raise BadRequest(f"description: {error}") from None


class HiddenComments(Struct, frozen=True):
    """Functions that count comments on hidden pages in a change request: open comments, and comments by author, each
    with the time of the last comment that isn't hidden."""

    count_open: Callable[[Transaction, str, Collection[str]], int]
    count_by_author: Callable[[Transaction, str, Collection[str]], Mapping[str, tuple[int, int | None]]]


_hidden_comments: list[HiddenComments] = []


def register_hidden_comments(counts: HiddenComments) -> None:
    _hidden_comments.append(counts)


_Origins = Callable[[Recipient, Transaction, Sequence[str]], Mapping[str, ChangeOrigin]]
_origins: list[_Origins] = []


def register_origins(find: _Origins) -> None:
    """Register a function that returns the origins of change requests, by ID."""
    _origins.append(find)


def present_change(to: Recipient, tx: Transaction, change: ChangeRow) -> ChangeRequest:
    return present_changes(to, tx, [change])[0]


def present_changes(to: Recipient, tx: Transaction, changes: list[ChangeRow]) -> list[ChangeRequest]:
    known = [person for change in changes for person in (change.created_by, change.merged_by) if person]
    people = present_people(to, tx, known)
    ids = [change.id for change in changes]
    origins = {id: origin for find in _origins for id, origin in find(to, tx, ids).items()}
    return [_present(to, tx, change, people, origins.get(change.id, ChangeOrigin())) for change in changes]


def _present(
    to: Recipient, tx: Transaction, change: ChangeRow, people: Mapping[str, User], origin: ChangeOrigin
) -> ChangeRequest:
    comments, conflicts = change.comments, change.open_conflicts
    if comments or conflicts:
        hidden = seen_by_recipient(tx, to, change.state).hidden
        comments -= sum(counts.count_open(tx, change.id, hidden) for counts in _hidden_comments)
        conflicts = list_seen(conflicts, hidden)
    return ChangeRequest(
        id=change.id,
        number=change.number,
        status=change.status,  # type: ignore[arg-type]
        subject=change.subject,
        created_by=people[change.created_by],
        created_at=iso(change.created_at),
        updated_at=iso(change.updated_at),
        space=change.space_id,
        revision=change.revision,
        revision_initial=change.revision_initial,
        comments=comments,
        outdated=change.outdated,
        conflicts=len(conflicts),
        urls=ChangeRequestUrls(
            app=to.app.space(change.space_id, change_view(change.number)),
            location=to.url(f"/spaces/{change.space_id}/change-requests/{change.id}"),
        ),
        description=_present_description(to, tx, change) if change.description else UNSET,
        revision_merged_ancestor=change.revision_merged_ancestor or UNSET,
        revision_merged=change.revision_merged or UNSET,
        conversations_issues_cluster=change.issues_cluster or UNSET,
        agent=change.agent or UNSET,
        edits=change.edits or UNSET,
        merged_by=people[change.merged_by] if change.merged_by else UNSET,
        merged_at=iso(change.merged_at) if change.merged_at is not None else UNSET,
        links=_links(change) or UNSET,
        site_topic=origin.topic,
        styleguide=_present_styleguide(to, tx, change, origin.styleguide),
    )


def _present_styleguide(
    to: Recipient, tx: Transaction, change: ChangeRow, origin: ChangeRequestStyleguide | UnsetType
) -> ChangeRequestStyleguide | UnsetType:
    """Return a style guide check without the number of changed pages if the recipient can't see some of them."""
    if isinstance(origin, UnsetType) or origin.changed_pages is UNSET:
        return origin
    hidden = seen_by_recipient(tx, to, change.state).hidden
    if hidden.isdisjoint(list_branch_content(tx, change.state.layers[0]).pages):
        return origin
    return msgspec.structs.replace(origin, changed_pages=UNSET)


def _present_description(to: Recipient, tx: Transaction, change: ChangeRow) -> Raw:
    """Return a description without links to pages that the recipient can't see."""
    text = change.description or ""
    if '"ref"' in text:
        concealment = Concealment(to, tx, seen_by_recipient(tx, to, change.state))
        if concealment.is_needed:
            document = concealment.document(from_json(msgspec.json.decode(text)), Owner("", "page", None))
            return Raw(msgspec.json.encode(to_json(document)))
    return Raw(text.encode())


def present_page_changes(
    to: Recipient, tx: Transaction, changes: list[ChangeRow], pages: Mapping[str, int]
) -> list[PageChangeRequest]:
    """Return change requests that edit a page in their API format. ``pages``: the number of pages by branch."""
    return [
        PageChangeRequest(**msgspec.structs.asdict(shown), pages=pages.get(change.branch_id, 0))
        for change, shown in zip(changes, present_changes(to, tx, changes), strict=True)
    ]


def present_change_to_visitor(to: Recipient, tx: Transaction, change: ChangeRow) -> ChangeRequest:
    """Return a change request in the API format for a preview: its content, without details about the people who work
    on it."""
    shown = present_change(to, tx, change)
    return msgspec.structs.replace(
        shown,
        created_by=msgspec.structs.replace(shown.created_by, email=UNSET),
        comments=0,
        conflicts=0,
        description=UNSET,
        revision_merged_ancestor=UNSET,
        revision_merged=UNSET,
        conversations_issues_cluster=UNSET,
        agent=UNSET,
        edits=UNSET,
        merged_by=UNSET,
        links=UNSET,
    )


def list_seen_contributors(
    to: Recipient, tx: Transaction, change: ChangeRow, contributors: Iterable[Contributor]
) -> list[Contributor]:
    """Return contributors, most recent first, without comments on pages that the recipient can't see."""
    hidden = seen_by_recipient(tx, to, change.state).hidden
    unseen: dict[str, tuple[int, int | None]] = {}
    for counts in _hidden_comments:
        unseen |= counts.count_by_author(tx, change.id, hidden)
    seen = []
    for c in contributors:
        if c.action == "comment" and c.user_id in unseen:
            count, last = unseen[c.user_id]
            c = msgspec.structs.replace(c, count=c.count - count, updated_at=last or change.created_at)
        if c.count > 0:
            seen.append(c)
    return sorted(seen, key=lambda c: (-c.updated_at, c.user_id, c.action))


def present_contributors(
    to: Recipient, tx: Transaction, change: ChangeRow, contributors: list[Contributor]
) -> list[ContributorItem]:
    """Return contributors in their API format, most recent first. Comments on pages that the recipient can't see don't
    count."""
    people = present_people(to, tx, [c.user_id for c in contributors])
    seen = list_seen_contributors(to, tx, change, contributors)
    return [ContributorItem(iso(c.updated_at), c.count, people[c.user_id], c.action) for c in seen]  # type: ignore[arg-type]
