"""A space, a change request, or a page of either as PDF."""

from __future__ import annotations

from ..access import Can, SpaceAccess
from ..changes import ChangeAccess, get_change
from ..content import State, get_page, main_state
from ..kit.db import Transaction
from ..kit.operation import Area, Call
from ..spaces import get_space
from .links import print_url
from .store import Wanted
from .wire import PrintLink, PrintQuery

operation = Area("printing").operation


@operation("getSpacePDF", "GET", "/spaces/{spaceId}/pdf", needs=Can.VIEW, returns=PrintLink)
def get_space_pdf(call: Call, space: SpaceAccess, query: PrintQuery) -> PrintLink:
    """A link to main as PDF, good for an hour. The PDF is made when the link is first opened."""
    with call.db.read() as tx:
        return _link(call, tx, main_state(tx, space.space_id), query, "")


@operation(
    "getChangeRequestPDF",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/pdf",
    needs=Can.VIEW,
    returns=PrintLink,
)
def get_change_request_pdf(call: Call, change: ChangeAccess, query: PrintQuery) -> PrintLink:
    """A link to what a change request holds now as PDF, good for an hour."""
    with call.db.read() as tx:
        row = get_change(tx, change.change_id)
        subtitle = f"Change request {row.number}: {row.subject}".removesuffix(": ")
        return _link(call, tx, row.state, query, subtitle[:200])


def _link(call: Call, tx: Transaction, state: State, query: PrintQuery, subtitle: str) -> PrintLink:
    title = get_space(tx, state.space_id).title
    if query.page is not None:
        title = get_page(tx, state, query.page).title
    wanted = Wanted(
        state.space_id, state.revision_id, query.page, query.only and query.page is not None, subtitle
    )
    return PrintLink(print_url(call.context, wanted, title[:60]))
