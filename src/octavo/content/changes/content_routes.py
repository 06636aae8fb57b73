"""Edit the content of change requests, or of main in spaces with live editing. List the references in change
requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import UNSET, Raw

from octavo.content.pages.links import ChangeOverlay, Links
from octavo.content.pages.reading import ContentReader
from octavo.content.pages.wire import (
    ChangeLinksQuery,
    ContentLocation,
    File,
    PageContentQuery,
    ReferenceUsages,
    ReusableContent,
    RevisionPage,
)
from octavo.content.references.index import derive_delta, list_changes_between
from octavo.content.references.listing import Overlay, overlay_of
from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.deriving import MainUpdate
from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.restrictions import seen_by
from octavo.content.revisions.states import State
from octavo.core.app_urls import change_view
from octavo.core.document.page import unread_conditions
from octavo.core.links import app_hosts
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import store
from .applying import EditedContent, PageOutcome
from .authorization import ChangeAccess, WrittenChange
from .commands import (
    ContentChange,
    DeleteFile,
    DeleteReusableContent,
    FileInput,
    InsertReusableContent,
    SetVariables,
    UpdateFile,
    UpdatePage,
    UpdateReusableContent,
)
from .content_wire import (
    BlocksResult,
    ChangeContent,
    ChangeContentAnswer,
    CompatQuery,
    FileChange,
    MovePage,
    NewReusableContent,
    PageResult,
    ReusableContentChange,
    UnreadCondition,
    Variables,
    VariablesAnswer,
)
from .saving import EditedChange, edit_change, edit_main
from .verifying import verify_page
from .wire import ChangeRequest, VerifyAnswer, present_change

operation = Area("changes").operation

_CONTENT = "/spaces/{spaceId}/change-requests/{changeRequestId}/content"
BODY_LIMIT = 40 * 1024 * 1024
"""Maximum size of a request body: twenty files of 1 MB in base64, plus the text of a large batch."""


# --- references ---------------------------------------------------------------------------------------


@contextmanager
def _links(call: Call, change: ChangeAccess) -> Iterator[Links]:
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)

        def found() -> Overlay:
            hosts = app_hosts(call.settings.url)
            delta, before = (
                derive_delta(tx, MainUpdate(row.main, list_changes_between(tx, row.main, state), hosts))
                for state in (row.state, row.below)
            )
            return overlay_of(delta, before)

        # Everyone shares the references, but not the change request, whose counts depend on the caller.
        overlay = call.context.fresh.get(("references", row.id), found)
        over = ChangeOverlay(overlay, present_change(call, tx, row))
        state = seen_by(tx, change.space, row.state)
        yield Links(call, tx, change.space, state, over, change_view(row.number))


@operation(
    "listChangeRequestLinks",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/links",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_links(call: Call, change: WrittenChange, query: ChangeLinksQuery) -> ReferenceUsages:
    """List the references in a change request. `brokenContext` limits the list to broken links, either links that the
    change request broke or links that were already broken."""
    with _links(call, change) as links:
        return links.of_space(query, query.broken_context)


@operation("listPageLinksInChangeRequest", "GET", f"{_CONTENT}/page/{{pageId}}/links", needs=Can.VIEW)
def list_page_links(call: Call, change: WrittenChange, page_id: str, query: PageQuery) -> ReferenceUsages:
    """List the references on a page of a change request."""
    with _links(call, change) as links:
        return links.of_page(page_id, query)


@operation("listChangeRequestPageBacklinks", "GET", f"{_CONTENT}/page/{{pageId}}/backlinks", needs=Can.VIEW)
def list_page_backlinks(
    call: Call, change: WrittenChange, page_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the references from other pages to a page of a change request."""
    with _links(call, change) as links:
        return links.to_page(page_id, query)


@operation("listChangeRequestFileBacklinks", "GET", f"{_CONTENT}/files/{{fileId}}/backlinks", needs=Can.VIEW)
def list_file_backlinks(
    call: Call, change: WrittenChange, file_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the locations where a file is used in a change request."""
    with _links(call, change) as links:
        return links.to_file(file_id, query)


@operation(
    "listChangeRequestReusableContentBacklinks",
    "GET",
    f"{_CONTENT}/reusable-contents/{{reusableContentId}}/backlinks",
    needs=Can.VIEW,
)
def list_reusable_content_backlinks(
    call: Call, change: WrittenChange, reusable_content_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the locations where reusable content is used in a change request."""
    with _links(call, change) as links:
        return links.to_reusable(reusable_content_id, query)


# --- editing ------------------------------------------------------------------------------------------


@operation(
    "updateChangeRequestContent",
    "POST",
    _CONTENT,
    needs=Can.EDIT,
    errors=(400, 404, 409, 413),
    body_limit=BODY_LIMIT,
    agents="docs:draft",
)
def update_content(
    call: Call, change: ChangeAccess, query: CompatQuery, body: ChangeContent
) -> ChangeRequest | ChangeContentAnswer:
    """Update the content of a change request with a batch of changes. They are applied in order, and either all succeed
    or none are saved. With `compat=false`, the response contains the result for each page. The
    `Octavo-Unread-Conditions` header lists pages with invalid conditions, whose content no one can see.

    With `baseRevision`, the batch is merged with all changes saved since that revision. If the batch and later saves
    changed the same content, the saved version is kept and the change request gets an open conflict. With
    `onConflict=refuse`, a conflict writes nothing, and the response contains the current pages instead.
    """
    made = edit_change(
        call.context, change, body.changes, body.base_revision, refuse_conflicts=body.on_conflict == "refuse"
    )
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        shown = present_change(call, tx, row)
        unread = _report_unread_conditions(call, tx, made.state, made.edited)
        if query.compat:
            return shown
        answer = _answer(
            ContentReader(call, tx, seen_by(tx, change.space, made.state), change_view(row.number)),
            made,
            shown,
        )
        _name_revisions(answer, made, body.base_revision)
        answer.unread_conditions = unread or UNSET
        return answer


@operation(
    "updateSpaceContent",
    "POST",
    "/spaces/{spaceId}/content",
    needs=Can.EDIT,
    errors=(400, 403, 404, 409, 413),
    body_limit=BODY_LIMIT,
)
def update_main(call: Call, space: SpaceAccess, body: ChangeContent) -> ChangeContentAnswer:
    """Update the content of main with a batch of changes, as one revision, in spaces with live editing.
    Returns 403 in locked spaces.

    With `baseRevision`, the batch is merged with all changes saved since that revision. If the batch and later saves
    changed the same content, main is left unchanged, and the response contains a new change request with the edit and
    its conflicts. With
    `onConflict=refuse`, a conflict writes nothing, and the response contains the current pages instead.
    """
    made = edit_main(
        call.context, space, body.changes, body.base_revision, refuse_conflicts=body.on_conflict == "refuse"
    )
    with call.db.read() as tx:
        if made.change is None:
            answer = _answer(ContentReader(call, tx, seen_by(tx, space, made.state)), made, UNSET)
        else:
            row = store.get_change(tx, made.change.id)
            reader = ContentReader(call, tx, seen_by(tx, space, made.state), change_view(row.number))
            answer = _answer(reader, made, present_change(call, tx, row))
        unread = _report_unread_conditions(call, tx, made.state, made.edited)
    _name_revisions(answer, made, body.base_revision)
    answer.unread_conditions = unread or UNSET
    return answer


@operation(
    "verifyPage",
    "POST",
    "/spaces/{spaceId}/content/page/{pageId}/verify",
    needs=Can.EDIT,
    errors=(404, 409),
)
def verify(call: Call, space: SpaceAccess, page_id: str) -> VerifyAnswer:
    """Record that you verified today that a page is still correct. In a locked space, this creates a change request,
    which is merged immediately if you can merge it and all merge rules pass; otherwise it needs a review."""
    found = verify_page(call.context, space, page_id)
    if found.change is None:
        return VerifyAnswer(merged=True)
    with call.db.read() as tx:
        return VerifyAnswer(not found.open, present_change(call, tx, store.get_change(tx, found.change.id)))


_NAMED = 20
"""Maximum number of pages named in a header."""


def _report_unread_conditions(
    call: Call, tx: Transaction, state: State, edited: EditedContent
) -> list[UnreadCondition]:
    """Return the invalid conditions on edited pages, and list those pages in a response header."""
    found = []
    written = {body_hash(text): text for text in edited.bodies}
    for page_id in dict.fromkeys(one.page_id for one in edited.outcomes if one.kind != "deleted_page"):
        page = find_page(tx, state, page_id)
        if page is not None and page.body is not None:
            problems = unread_conditions(written.get(page.body) or get_body(tx, page.body))
            found += [UnreadCondition(page_id, one.line, one.reason) for one in problems]
    if found:
        pages = list(dict.fromkeys(one.page for one in found))
        more = ["..."] if len(pages) > _NAMED else []
        call.response_headers["octavo-unread-conditions"] = ", ".join([*pages[:_NAMED], *more])
    return found


def _name_revisions(answer: ChangeContentAnswer, made: EditedChange, base: str | None) -> None:
    """Set the revision to use as the ``baseRevision`` of the next save: the latest revision up to which the client has
    seen all changes."""
    answer.revision, answer.previous_revision = made.state.revision_id, made.before
    if base not in (None, made.before) and made.change is None:
        answer.revision, answer.merged_revision = base, made.state.revision_id


def _answer(reader: ContentReader, made: EditedChange, change: Any) -> ChangeContentAnswer:
    edited = made.edited
    if made.refused:
        ids = dict.fromkeys(outcome.page_id for outcome in edited.outcomes)
        pages = [reader.page(id, _WITH_TEXT) for id in ids if reader.found_page(id) is not None]
        return ChangeContentAnswer(
            changes=[PageResult("updated_page", page) for page in pages],
            result="refused",
            change_request=change,
        )
    results = [
        PageResult(outcome.kind, _page(reader, outcome, edited), outcome.ref, _blocks(reader, outcome))
        for outcome in edited.outcomes
    ]
    files = reader.present_files(edited.files)
    result: Literal["edit", "conflicts"] = "conflicts" if edited.conflicts else "edit"
    return ChangeContentAnswer(
        changes=results, result=result, change_request=change, inserted_files=files or UNSET
    )


_WITH_TEXT = PageContentQuery(pages=False)


def _page(reader: ContentReader, outcome: PageOutcome, edited: EditedContent) -> object:
    if outcome.kind == "deleted_page":
        return outcome.page_id
    found = reader.found_page(outcome.page_id)
    if found is None:
        return {"id": outcome.page_id}
    if outcome.page_id in edited.shared:
        return reader.page(outcome.page_id, _WITH_TEXT)
    return found


def _blocks(reader: ContentReader, outcome: PageOutcome) -> BlocksResult | None:
    made = outcome.blocks
    if made is None:
        return None
    parts = (
        [reader.nodes(outcome.page_id, made.body, nodes) for nodes in part]
        for part in (made.set, made.insert, made.move)
    )
    return BlocksResult(*parts)


@contextmanager
def _editing(
    call: Call, change: ChangeAccess, *changes: ContentChange
) -> Iterator[tuple[ContentReader, EditedContent]]:
    made = edit_change(call.context, change, changes)
    with call.db.read() as tx:
        yield (
            ContentReader(
                call,
                tx,
                seen_by(tx, change.space, made.state),
                change_view(store.get_change(tx, change.change_id).number),
            ),
            made.edited,
        )


@operation(
    "movePageInChangeRequest",
    "POST",
    f"{_CONTENT}/page/{{pageId}}/move",
    needs=Can.EDIT,
    returns=RevisionPage,
    errors=(400, 404, 409),
)
def move_page(call: Call, change: ChangeAccess, page_id: str, body: MovePage) -> Raw:
    """Move a page under another page or to the top level (null), at an index among its new siblings."""
    with _editing(call, change, UpdatePage(page=page_id, into=body.into, at=body.at)) as (reader, _):
        return reader.page(page_id, PageContentQuery())


@operation(
    "updateFileInChangeRequest",
    "PATCH",
    f"{_CONTENT}/files/{{fileId}}",
    needs=Can.EDIT,
    errors=(400, 404, 409, 413),
)
def update_file(call: Call, change: ChangeAccess, file_id: str, body: FileChange) -> File:
    """Rename a file, or replace its content from a URL or base64 data. References to the file stay valid."""
    content = None
    if body.url is not None or body.base64 is not None:
        try:
            content = FileInput(
                name=body.name or "file", url=body.url, base64=body.base64, content_type=body.content_type
            )
        except ValueError as error:
            raise BadRequest(f"body: {error}") from None
    with _editing(call, change, UpdateFile(file=file_id, name=body.name, content=content)) as (reader, _):
        return reader.file(file_id)


@operation("deleteFileInChangeRequest", "DELETE", f"{_CONTENT}/files/{{fileId}}", needs=Can.EDIT)
def delete_file(call: Call, change: ChangeAccess, file_id: str) -> bool:
    """Delete a file in a change request."""
    return _delete_item(call, change, DeleteFile(file_id))


@operation(
    "createReusableContentInChangeRequest",
    "POST",
    f"{_CONTENT}/reusable-contents",
    needs=Can.EDIT,
    status=201,
    errors=(400, 404, 409),
)
def create_reusable_content(call: Call, change: ChangeAccess, body: NewReusableContent) -> ReusableContent:
    """Create reusable content in a change request."""
    new = InsertReusableContent(title=body.title, document=body.document)
    with _editing(call, change, new) as (reader, edited):
        item_id = next(iter(edited.changes.items))
        location = f"/spaces/{change.space_id}/change-requests/{change.change_id}/content/reusable-contents"
        call.response_headers["location"] = call.url(f"{location}/{item_id}")
        return reader.reusable_content(item_id)


@operation(
    "updateReusableContentInChangeRequest",
    "PATCH",
    f"{_CONTENT}/reusable-contents/{{reusableContentId}}",
    needs=Can.EDIT,
    errors=(400, 404, 409),
)
def update_reusable_content(
    call: Call, change: ChangeAccess, reusable_content_id: str, body: ReusableContentChange
) -> ReusableContent:
    """Update the title or document of reusable content."""
    edit = UpdateReusableContent(
        reusable_content=reusable_content_id, title=body.title, document=body.document
    )
    with _editing(call, change, edit) as (reader, _):
        return reader.reusable_content(reusable_content_id)


@operation(
    "deleteReusableContentInChangeRequest",
    "DELETE",
    f"{_CONTENT}/reusable-contents/{{reusableContentId}}",
    needs=Can.EDIT,
)
def delete_reusable_content(call: Call, change: ChangeAccess, reusable_content_id: str) -> bool:
    """Delete reusable content in a change request."""
    return _delete_item(call, change, DeleteReusableContent(reusable_content_id))


def _delete_item(call: Call, change: ChangeAccess, edit: ContentChange) -> bool:
    try:
        edit_change(call.context, change, [edit])
    except NotFound:
        return False
    return True


@operation(
    "updateVariablesInChangeRequest", "PATCH", f"{_CONTENT}/variables", needs=Can.EDIT, errors=(400, 404, 409)
)
def update_variables(call: Call, change: ChangeAccess, body: Variables) -> VariablesAnswer:
    """Update the space's variables; null removes a variable."""
    with _editing(call, change, SetVariables(body.variables)) as (reader, _):
        return VariablesAnswer(reader.variables())
