"""Operations on change requests: create and update them, merge them, and resolve conflicts."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from octavo.content.revisions.item_versions import find_items
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.core.merge import EditedValue, MergeConflict
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Slice, decode_token, encode_token, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, site_access
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import present_people

from . import (
    access_changes_routes,
    content_routes,
    draft_routes,
    history_routes,
    merging,
    resolving,
    review_routes,
    rule_routes,
    saving,
    space_routes,
    store,
)
from .authorization import ChangeAccess, VisitedChange, WrittenChange, change_access
from .conflict_wire import (
    ConflictsQuery,
    OpenConflict,
    ResolveAnswer,
    ResolveConflict,
    present_conflict,
    present_settlement,
    read_edited,
)
from .conflicts import is_seen, list_seen
from .copying import copy_material
from .differences import states_of_change
from .differences_presenting import present_differences, present_page_changes
from .differences_wire import ChangesQuery, PageChangesQuery, SemanticChanges, TextChanges
from .pending import try_to_save_pending
from .store import ChangeFilter
from .templates import routes as template_routes
from .templates.catalog import get_material
from .wire import (
    ChangeRequest,
    ChangeRequestsQuery,
    ContributorItem,
    CreateChangeRequest,
    MergeAnswer,
    OrganizationChangeRequestsQuery,
    UpdateAnswer,
    UpdateChangeRequest,
    document_text,
    links_text,
    list_seen_contributors,
    present_change,
    present_change_to_visitor,
    present_changes,
    present_contributors,
)

operation = Area("changes").operation

__all__ = [
    "access_changes_routes",
    "content_routes",
    "draft_routes",
    "history_routes",
    "review_routes",
    "rule_routes",
    "space_routes",
    "template_routes",
]

_CHANGES = "/spaces/{spaceId}/change-requests"
_CHANGE = f"{_CHANGES}/{{changeRequestId}}"


def _filter(query: ChangeRequestsQuery | OrganizationChangeRequestsQuery) -> ChangeFilter:
    return ChangeFilter(
        statuses=frozenset([query.status] if isinstance(query.status, str) else query.status),
        creator=query.creator,
        contributor=query.contributor,
        requested_reviewer=query.requested_reviewer,
        issues_cluster=query.conversations_issues_cluster,
        topic=query.topic,
        order_by=query.order_by,
    )


def _without_unseen(call: Call, tx: Transaction, organization_id: str, wanted: ChangeFilter) -> ChangeFilter:
    """Return the filter without change requests whose contributor only commented on pages that the caller can't see."""
    if wanted.contributor is None:
        return wanted
    unseen = []
    for change in store.list_commented(tx, organization_id, wanted):
        seen = list_seen_contributors(call, tx, change, store.list_contributors(tx, change.id))
        if all(one.user_id != wanted.contributor for one in seen):
            unseen.append(change.id)
    return msgspec.structs.replace(wanted, without=unseen)


@operation("listChangeRequestsForSpace", "GET", _CHANGES, needs=Can.VIEW, cached=True, agents="docs:read")
def list_changes(call: Call, space: SpaceAccess, query: ChangeRequestsQuery) -> Listing[ChangeRequest]:
    """List the change requests of a space with one status (`open` by default), newest first."""
    with call.db.read() as tx:
        of_space = msgspec.structs.replace(_filter(query), space=space.space_id)
        wanted = _without_unseen(call, tx, space.organization_id, of_space)
        found = store.list_changes(tx, space.space_id, wanted, query.limit, query.page)
        shown = present_changes(call, tx, list(found.rows))
    return present_slice(Slice(shown, found.count, found.next_token), lambda change: change)


@operation(
    "listChangeRequestsForOrganization",
    "GET",
    "/orgs/{organizationId}/change-requests",
    needs=Can.VIEW,
    agents="docs:read",
)
def list_organization_changes(
    call: Call, org: OrgAccess, query: OrganizationChangeRequestsQuery
) -> Listing[ChangeRequest]:
    """List the change requests with the given statuses (`open` by default) in all spaces of an organization that the
    caller can see, newest first."""
    with call.db.read() as tx:
        if query.site is not None:
            site_access(tx, org.actor, Can.VIEW, org.organization_id, query.site)
        wanted = msgspec.structs.replace(
            _filter(query),
            site=query.site,
            space=query.space,
            styleguide_run=query.styleguide_run,
            finding="none" if query.finding == "none" else None,
        )
        wanted = _without_unseen(call, tx, org.organization_id, wanted)
        found = store.list_organization_changes(tx, org, wanted, query.limit, query.page)
        shown = present_changes(call, tx, list(found.rows))
    return present_slice(Slice(shown, found.count, found.next_token), lambda change: change)


@operation(
    "createChangeRequest",
    "POST",
    _CHANGES,
    needs=Can.EDIT,
    status=201,
    errors=(400, 404),
    agents="docs:draft",
)
def create_change(call: Call, space: SpaceAccess, body: CreateChangeRequest) -> ChangeRequest:
    """Create a change request as a draft based on current main, optionally with the pages of a template."""
    chosen, material = body.template, None
    if chosen is not None:
        with call.db.read() as tx:
            material = get_material(tx, space.actor, chosen.id)
            # Reject an invalid template before anything is created.
            copy_material(tx, main_seen_by(tx, space), material, chosen.params.content_refs)
    with call.db.write() as tx:
        change = saving.create(tx, space, body.subject)
        made = change_access(tx, space, change.id)
    if chosen is not None and material is not None:
        refs = chosen.params.content_refs
        saving.revise_change(
            call.context,
            made,
            lambda tx, state, _: copy_material(tx, state, material, refs),
        )
    with call.db.read() as tx:
        return present_change(call, tx, store.get_change(tx, change.id))


@operation(
    "getChangeRequestById", "GET", _CHANGE, needs=Can.VIEW, errors=(404,), visitors=True, agents="docs:read"
)
def get_change(call: Call, change: ChangeAccess | VisitedChange) -> ChangeRequest:
    """Get a change request by its ID or its number in the space. A preview token gives access only to the
    previewed change request."""
    present = present_change_to_visitor if isinstance(change, VisitedChange) else present_change
    with call.db.read() as tx:
        return present(call, tx, store.get_change(tx, change.change_id))


@operation(
    "updateChangeRequestById",
    "PATCH",
    _CHANGE,
    needs=Can.EDIT,
    errors=(404, 409),
    agents="docs:draft",
    minimal=True,
)
def update_change_fields(call: Call, change: ChangeAccess, body: UpdateChangeRequest) -> ChangeRequest:
    """Update the subject, description, links, or status of a change request. An archived change request can only be
    reopened, and a merged change request can't be changed."""
    description = document_text(body.description) if body.description is not UNSET else UNSET
    given = {"subject": body.subject, "description": description, "status": body.status}
    fields: dict[str, object] = {name: value for name, value in given.items() if value is not UNSET}
    if body.status == "archived":
        # An archived change request can't be saved.
        try_to_save_pending(call.context, change.change_id)
    with call.db.write() as tx:
        if body.links is not UNSET:
            fields["links"] = links_text(store.lock_change(tx, change.change_id), body.links)
        saving.set_change(tx, change, **fields)
        return present_change(call, tx, store.get_change(tx, change.change_id))


@operation(
    "mergeChangeRequest",
    "POST",
    f"{_CHANGE}/merge",
    needs=Can.MERGE,
    errors=(404, 409, 412),
    agents="docs:merge",
    yields=("content:write",),
)
def merge_change(call: Call, change: ChangeAccess) -> MergeAnswer:
    """Merge a change request into main as one revision. If main and the change request changed the same
    content, the result is `conflicts`: main is unchanged, and the change request has open conflicts.
    Returns 412 if a merge rule doesn't pass."""
    made = merging.merge(call.context, change)
    return MergeAnswer(made.revision, "conflicts" if made.conflicts else "merge")


@operation(
    "updateChangeRequest", "POST", f"{_CHANGE}/update", needs=Can.EDIT, errors=(404, 409), agents="docs:draft"
)
def update_change(call: Call, change: ChangeAccess) -> UpdateAnswer:
    """Update a change request with the current content of main."""
    made = merging.update(call.context, change)
    return UpdateAnswer(made.revision, "conflicts" if _count_open(call, change) else "update")


@operation(
    "getContributorsByChangeRequestId", "GET", f"{_CHANGE}/contributors", needs=Can.VIEW, errors=(404,)
)
def list_contributors(call: Call, change: ChangeAccess) -> Listing[ContributorItem]:
    """List the people who edited or commented on a change request, most recent first."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        found = present_contributors(call, tx, row, store.list_contributors(tx, row.id))
    return Listing(found, len(found))


@operation(
    "getChangeRequestChanges",
    "GET",
    f"{_CHANGE}/changes",
    needs=Can.VIEW,
    errors=(400, 404),
    agents="docs:read",
)
def get_changes(call: Call, change: WrittenChange, query: ChangesQuery) -> SemanticChanges:
    """Get the changes in a change request compared with the state of main that it is based on, or with one
    of its earlier revisions (`since`)."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        states = states_of_change(tx, change.space, row, query.since)
        return present_differences(call, tx, states, query.limit, query.page, query.only)


@operation(
    "getPageChangesInChangeRequest",
    "GET",
    f"{_CHANGE}/changes/page/{{pageId}}",
    needs=Can.VIEW,
    errors=(400, 404),
    agents="docs:read",
)
def get_page_changes(call: Call, change: WrittenChange, page_id: str, query: PageChangesQuery) -> TextChanges:
    """Get the blocks of a page that a change request changes, with word-level differences."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        return present_page_changes(
            call, tx, states_of_change(tx, change.space, row, query.since), page_id, query
        )


# --- conflicts ----------------------------------------------------------------------------------------


@operation(
    "listConflictsInChangeRequest",
    "GET",
    f"{_CHANGE}/conflicts",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_conflicts(call: Call, change: ChangeAccess, query: ConflictsQuery) -> Listing[OpenConflict]:
    """List the conflicts between a change request and main. Until a conflict is resolved, the change
    request contains the version named by `kept`. With the `status` `settled` or `all`, the list includes
    conflicts resolved since the last update with main, which can be reopened."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        found = row.open_conflicts if query.status != "settled" else []
        state = seen_by(tx, change.space, row.state)
        decided = store.list_settled(tx, row.id) if query.status != "open" else []
        decided = [one for one in decided if is_seen(one, state.hidden)]
        settled = {}
        for one in decided:
            conflict = one.were_open[0]
            settled[conflict.key] = one
            found.insert(one.position, conflict)
        found = list_seen(found, state.hidden)
        start = _start(query.page, found)
        shown = found[start : start + query.limit]
        pages = find_pages(tx, state, [c.id for c in shown if c.target == "page"])
        items = find_items(tx, row.state, [c.id for c in shown if c.target != "page"])
        titles = {id: page.title for id, page in pages.items()} | {i: item.name for i, item in items.items()}
        here = {conflict.key: settled[conflict.key] for conflict in shown if conflict.key in settled}
        people = present_people(call, tx, [one.settled_by for one in here.values()])
        presented = [
            present_conflict(
                tx,
                conflict,
                titles.get(conflict.id),
                present_settlement(here[conflict.key], people) if conflict.key in here else UNSET,
            )
            for conflict in shown
        ]
    rest = start + query.limit < len(found) and query.limit > 0
    token = encode_token(shown[-1].key) if rest else None
    return present_slice(Slice(presented, len(found), token), lambda conflict: conflict)


def _start(page: str | None, found: list[MergeConflict]) -> int:
    after = decode_token(page, str)
    if after is None:
        return 0
    keys = [conflict.key for conflict in found]
    if after[0] not in keys:
        raise BadRequest(
            "page: a conflict was resolved after this page token was created. Start again from the first page."
        )
    return keys.index(after[0]) + 1


@operation(
    "resolveConflictInChangeRequest",
    "POST",
    f"{_CHANGE}/conflicts/{{conflictId}}/resolve",
    needs=Can.EDIT,
    errors=(400, 404, 409),
)
def resolve_conflict(
    call: Call, change: ChangeAccess, conflict_id: str, body: ResolveConflict
) -> ResolveAnswer:
    """Resolve a conflict with ours (the change request), theirs (main, or an edit to an older revision), the version
    before both, or a custom value. Editing the conflicting content also resolves it."""
    if (body.choice == "edited") != (body.value is not UNSET):
        raise BadRequest("value: is required if `choice` is `edited`, and must be omitted otherwise")
    choice = EditedValue(body.value) if body.choice == "edited" else body.choice
    revision = resolving.resolve_conflict(call.context, change, conflict_id, choice, read_edited)
    return ResolveAnswer(revision, _count_open(call, change))


@operation(
    "reopenConflictInChangeRequest",
    "POST",
    f"{_CHANGE}/conflicts/{{conflictId}}/reopen",
    needs=Can.EDIT,
    errors=(404, 409),
)
def reopen_conflict(call: Call, change: ChangeAccess, conflict_id: str) -> ResolveAnswer:
    """Reopen a resolved conflict: the change request then contains the version named by `kept` again. Returns 409 if
    the content has been edited since the conflict was resolved."""
    revision = resolving.reopen_conflict(call.context, change, conflict_id)
    return ResolveAnswer(revision, _count_open(call, change))


def _count_open(call: Call, change: ChangeAccess) -> int:
    """Return the number of open conflicts that the caller can see."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        return len(list_seen(row.open_conflicts, seen_by(tx, change.space, row.state).hidden))
