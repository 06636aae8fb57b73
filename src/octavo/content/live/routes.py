"""Operations for live editing: the document of a page, its steps, carets, saves, and set-aside text."""

from __future__ import annotations

from concurrent.futures import Future

import msgspec

from octavo.content.revisions.restrictions import seen_by
from octavo.core.editor.schema import VERSION
from octavo.errors import Conflict, NoLongerStored
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.operation import Area, Call, Deferred
from octavo.organization.access.accounts import list_users_by_id
from octavo.organization.access.roles import Can

from . import store
from .accepting import MOST_BYTES_OF_ONE, Accepted, Behind, accepting, new_epoch
from .authorization import LiveAccess, require_live_page
from .branches import LiveBranch, find_branch, require_writable
from .commands import CaretInput, StepsInput
from .documents import batches_after, editable_page, find_first_version, read_page, unwritten_page
from .saving import save_page
from .store import PageKey, SetAsideRow
from .wire import (
    BatchesAfter,
    LiveDocument,
    SavedLive,
    SetAsideInput,
    SetAsideQuery,
    SetAsideText,
    StepsQuery,
    encode_editor,
    present_batches,
    present_caret,
    present_set_aside,
)

operation = Area("changes").operation

_LIVE = "/spaces/{spaceId}/change-requests/{changeRequestId}/pages/{pageId}/live"
_MAIN = "/spaces/{spaceId}/pages/{pageId}/live"
_BATCHES_AT_ONCE = 2_000
_BODY_LIMIT = MOST_BYTES_OF_ONE + 64 * 1024
MOST_SET_ASIDE = 200
"""Maximum number of passages that a person can set aside on a page."""


def _branch(tx: Transaction, access: LiveAccess, page_id: str) -> LiveBranch:
    branch = find_branch(tx, access.space_id, access.change_id)
    require_writable(tx, access, branch, page_id)
    return branch


@operation("getLivePageInMain", "GET", _MAIN, needs=Can.EDIT, errors=(403, 404, 409))
@operation("getLivePage", "GET", _LIVE, needs=Can.EDIT, errors=(404, 409))
def get_live_page(call: Call, access: LiveAccess, page_id: str) -> LiveDocument:
    """Get a page in the format used for live editing: a ProseMirror document with its version."""
    with call.db.read() as tx:
        branch = _branch(tx, access, page_id)
        key = PageKey(branch.id, page_id)
        page = editable_page(tx, branch.state, page_id)
        live = store.find_live(tx, key)
        if live is None:
            epoch, version, saved = new_epoch(branch.revision), 0, 0
            document = unwritten_page(call.context, tx, key, epoch, branch.state, page).doc
        else:
            epoch, version, saved = live.epoch, live.version, live.saved_version
            document = read_page(tx, key, live).doc
        carets = store.list_carets(tx, [key]).get(key, [])
        known = list_users_by_id(tx, [caret.user_id for caret in carets])
        return LiveDocument(
            epoch=epoch,
            version=version,
            revision=live.revision if live is not None else branch.revision,
            saved_version=saved,
            schema=VERSION,
            document=encode_editor(document.to_json()),
            refused=msgspec.json.decode(live.refused) if live is not None else [],
            carets=[present_caret(caret, known) for caret in carets],
        )


@operation("listLiveStepsInMain", "GET", f"{_MAIN}/steps", needs=Can.EDIT, errors=(403, 404, 409, 410))
@operation("listLiveSteps", "GET", f"{_LIVE}/steps", needs=Can.EDIT, errors=(404, 409, 410))
def list_live_steps(call: Call, access: LiveAccess, page_id: str, query: StepsQuery) -> BatchesAfter:
    """List the steps of a page after a version, in batches. If the last batch ends before the response's `version`,
    there are more batches."""
    with call.db.read() as tx:
        branch = _branch(tx, access, page_id)
        key = PageKey(branch.id, page_id)
        editable_page(tx, branch.state, page_id)
        live = store.find_live(tx, key)
        if live is None:
            # No one has changed the page yet.
            if query.after != 0:
                raise _gone()
            return BatchesAfter(0, [])
        if live.epoch != query.epoch or query.after > live.version:
            raise _gone()
        if query.after < find_first_version(tx, key, branch.state):
            raise _gone()
        batches = batches_after(tx, key, read_page(tx, key, live), query.after, _BATCHES_AT_ONCE)
        if batches is None:
            raise _gone()
        return BatchesAfter(live.version, present_batches(batches))


def _known_page(tx: Transaction, access: LiveAccess, page_id: str) -> PageKey:
    """Return a page of a branch, or a deleted page that was edited live on that branch. Raises NotFound if there is no
    such page."""
    branch = find_branch(tx, access.space_id, access.change_id)
    require_live_page(tx, seen_by(tx, access.space, branch.state), page_id)
    return PageKey(branch.id, page_id)


def _gone() -> NoLongerStored:
    return NoLongerStored("after: this version of the page is no longer available. Load the page again.")


@operation(
    "addLiveStepsInMain",
    "POST",
    f"{_MAIN}/steps",
    needs=Can.EDIT,
    returns=BatchesAfter,
    errors=(400, 403, 404, 409, 410, 412, 413, 422),
    quick=True,
    body_limit=_BODY_LIMIT,
)
@operation(
    "addLiveSteps",
    "POST",
    f"{_LIVE}/steps",
    needs=Can.EDIT,
    returns=BatchesAfter,
    errors=(400, 403, 404, 409, 410, 412, 413, 422),
    quick=True,
    body_limit=_BODY_LIMIT,
)
def add_live_steps(call: Call, access: LiveAccess, page_id: str, body: StepsInput) -> Deferred[Accepted]:
    """Change a page with a batch of steps. The response contains all batches after the given version, including this
    batch.

    A late batch is rebased on the batches before it if the result is unambiguous. Otherwise the status is 409, the
    reason is `behind`, and the response contains the batches to rebase on. It is safe to send a batch again, because it
    is added only once.
    """
    return Deferred(accepting(call.context).accept(access, page_id, body), _present_accepted)


def _present_accepted(done: Future[Accepted]) -> BatchesAfter:
    try:
        accepted = done.result()
    except Behind as error:
        error.beside = {"version": error.version, "batches": present_batches(error.missed)}
        raise
    return BatchesAfter(accepted.version, present_batches(accepted.batches))


@operation(
    "setLiveCaretInMain",
    "PUT",
    f"{_MAIN}/caret",
    needs=Can.EDIT,
    errors=(400, 404, 409),
    quick=True,
    in_maintenance=True,
)
@operation(
    "setLiveCaret",
    "PUT",
    f"{_LIVE}/caret",
    needs=Can.EDIT,
    errors=(400, 404, 409),
    quick=True,
    in_maintenance=True,
)
def set_live_caret(call: Call, access: LiveAccess, page_id: str, body: CaretInput) -> Deferred[None]:
    """Report the selection of one of the caller's clients for one minute, or report that this client no
    longer shows the page. Batches of steps also report the selection."""
    return Deferred(accepting(call.context).place_caret(access, page_id, body), Future.result)


@operation("saveLivePageInMain", "POST", f"{_MAIN}/save", needs=Can.EDIT, errors=(404, 409))
@operation("saveLivePage", "POST", f"{_LIVE}/save", needs=Can.EDIT, errors=(404, 409))
def save_live_page(call: Call, access: LiveAccess, page_id: str) -> SavedLive:
    """Save a page as a revision of the change request now. Pages are also saved automatically a few seconds
    after the last step."""
    with call.db.read() as tx:
        branch = _branch(tx, access, page_id)
        editable_page(tx, branch.state, page_id)
    saved = save_page(call.context, PageKey(branch.id, page_id))
    if saved is None:
        return SavedLive(branch.revision, 0)
    return SavedLive(saved.revision, saved.version, saved.refused)


# --- set-aside texts ---------------------------------------------------------------------------------


@operation(
    "listSetAsideTextsInMain",
    "GET",
    f"{_MAIN}/set-aside",
    needs=Can.EDIT,
)
@operation(
    "listSetAsideTexts",
    "GET",
    f"{_LIVE}/set-aside",
    needs=Can.EDIT,
)
def list_set_aside_texts(
    call: Call, access: LiveAccess, page_id: str, query: SetAsideQuery
) -> Listing[SetAsideText]:
    """List the caller's passages that couldn't be added to a page, for example because the page was deleted in the
    meantime."""
    with call.db.read() as tx:
        key = _known_page(tx, access, page_id)
        found = store.list_set_aside(tx, key, access.user_id, query.limit, query.page)
        return present_slice(found, present_set_aside)


@operation(
    "createSetAsideTextInMain",
    "POST",
    f"{_MAIN}/set-aside",
    needs=Can.EDIT,
    status=201,
    errors=(400, 404, 409),
)
@operation(
    "createSetAsideText", "POST", f"{_LIVE}/set-aside", needs=Can.EDIT, status=201, errors=(400, 404, 409)
)
def create_set_aside_text(call: Call, access: LiveAccess, page_id: str, body: SetAsideInput) -> SetAsideText:
    """Set aside a passage that couldn't be added to a page. Only the caller can see it."""
    row = SetAsideRow(ids.new_id(), body.markdown, body.why, now())
    with call.db.write() as tx:
        key = _known_page(tx, access, page_id)
        if store.count_set_aside(tx, key, access.user_id) >= MOST_SET_ASIDE:
            raise Conflict(
                f"You already have {MOST_SET_ASIDE} saved passages on this page, which is the limit. "
                "Delete one of them first."
            )
        store.insert_set_aside(tx, key, access.user_id, row)
    return present_set_aside(row)


@operation("deleteSetAsideTextInMain", "DELETE", f"{_MAIN}/set-aside/{{textId}}", needs=Can.EDIT)
@operation("deleteSetAsideText", "DELETE", f"{_LIVE}/set-aside/{{textId}}", needs=Can.EDIT)
def delete_set_aside_text(call: Call, access: LiveAccess, page_id: str, text_id: str) -> bool:
    """Delete a passage that the caller set aside."""
    with call.db.write() as tx:
        key = _known_page(tx, access, page_id)
        return store.delete_set_aside(tx, key, access.user_id, text_id)
