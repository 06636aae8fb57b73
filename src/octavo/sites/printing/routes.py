"""Print a space, a change request, or a page in one of them as a PDF."""

from __future__ import annotations

from octavo.content.revisions.authorization import WrittenState
from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.restrictions import unrestricted
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_space

from .links import hidden_key, print_url
from .store import PrintSubject
from .wire import PrintLink, PrintQuery

operation = Area("printing").operation


@operation("getSpacePDF", "GET", "/spaces/{spaceId}/pdf", needs=Can.VIEW, yields=("content:read",))
@operation(
    "getChangeRequestPDF",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/pdf",
    needs=Can.VIEW,
    yields=("content:read",),
)
def get_pdf(call: Call, read: WrittenState, query: PrintQuery) -> PrintLink:
    """Create a link to a PDF of the current content of a space or change request. The link expires after an
    hour. The PDF is created when the link is first opened."""
    state = read.state
    with call.db.read() as tx:
        title, shown = get_space(tx, state.space_id).title, unrestricted(tx, state.whole)
        if query.page is not None:
            title = get_page(tx, shown, query.page).title
    only = query.only and query.page is not None
    wanted = PrintSubject(
        state.space_id,
        state.revision_id,
        query.page,
        only,
        read.label[:200],
        hidden_key(shown),
    )
    return PrintLink(print_url(call.context, read.space.actor, wanted, title[:60]))
