"""A space's pages as another person sees them, for administrators of the space."""

from __future__ import annotations

from msgspec import Raw
from msgspec.structs import replace

from octavo.content.revisions.restrictions import main_seen_by
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess, other_space_access
from octavo.organization.access.roles import Can

from .reading import ContentReader
from .wire import ContentQuery, PageContentQuery, Pages, RevisionPage

operation = Area("content").operation

_PAGES = "/spaces/{spaceId}/permissions/users/{userId}/pages"


def _reader(call: Call, tx: Transaction, space: SpaceAccess, user_id: str) -> ContentReader:
    seen = main_seen_by(tx, other_space_access(tx, space, user_id))
    # What the content refers to in other spaces depends on the caller's access, not on the person's.
    return ContentReader(call, tx, replace(seen, reader=None))


@operation("listPagesSeenByUser", "GET", _PAGES, needs=Can.ADMIN, errors=(404,))
def list_pages(call: Call, space: SpaceAccess, user_id: str, query: ContentQuery) -> Pages:
    """List the pages in main that a person can see, as a tree."""
    with call.db.read() as tx:
        return _reader(call, tx, space, user_id).pages(query)


@operation(
    "getPageSeenByUser",
    "GET",
    _PAGES + "/{pageId}",
    needs=Can.ADMIN,
    errors=(404,),
    returns=RevisionPage,
)
def get_page(call: Call, space: SpaceAccess, user_id: str, page_id: str, query: PageContentQuery) -> Raw:
    """Get a page in main as another person sees it: without subpages that are hidden from that person, and without
    links to hidden pages."""
    with call.db.read() as tx:
        return _reader(call, tx, space, user_id).page(page_id, query)
