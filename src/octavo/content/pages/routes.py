"""Read operations on content. Each operation exists for the main version of a space, for revisions, and for change
requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, assert_never

from msgspec import UNSET, Raw

from octavo.content.references.lookup import Owner
from octavo.content.revisions.authorization import ReadState, VisitedState, WrittenState
from octavo.content.revisions.computing import NotFetchedYet, Requester, compute_document, compute_revision
from octavo.content.revisions.item_versions import get_document as find_document
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.core.document.description import DocumentNodes
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import seen_routes
from .access_wire import PageAccessOverview, present_access_overview
from .documents import document_json
from .links import Links
from .people_presenting import PersonPageAccess, present_people_at_page
from .reading import ContentReader
from .visiting import VisitorReader
from .wire import (
    ChildPagesQuery,
    ComputeContent,
    ComputedRevision,
    ContentLocation,
    ContentQuery,
    ConvertedText,
    ConvertText,
    DocumentQuery,
    File,
    FilesQuery,
    LinksQuery,
    PageContentQuery,
    PageEntry,
    PageMetaLinks,
    Pages,
    PagesQuery,
    PageTraces,
    PageWay,
    PathQuery,
    ReferenceUsages,
    ReusableContent,
    ReusableContentQuery,
    Revision,
    RevisionPage,
    RevisionQuery,
    SchemaQuery,
    WayQuery,
    WaysQuery,
)

__all__ = ["seen_routes"]

operation = Area("content").operation
change_operation = Area("changes").operation
"""Decorator for operations on change requests, which require the change request scope."""

_MAIN = "/spaces/{spaceId}/content"
_REVISION = "/spaces/{spaceId}/revisions/{revisionId}"
_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}/content"


@contextmanager
def _reader(call: Call, read: ReadState | VisitedState) -> Iterator[ContentReader | VisitorReader]:
    with call.db.read() as tx:
        match read:
            case VisitedState():
                call.leave_loop()
                yield VisitorReader(call, tx, read)
            case ReadState():
                yield ContentReader(call, tx, read.state, read.view)
            case _:
                assert_never(read)


@contextmanager
def _state_reader(call: Call, read: ReadState) -> Iterator[ContentReader]:
    with call.db.read() as tx:
        yield ContentReader(call, tx, read.state, read.view)


# --- states -------------------------------------------------------------------------------------------


@operation("getCurrentRevision", "GET", _MAIN, needs=Can.VIEW, visitors=True)
@operation("getRevisionById", "GET", _REVISION, needs=Can.VIEW, visitors=True)
@change_operation("getRevisionOfChangeRequestById", "GET", _CHANGE, needs=Can.VIEW)
def get_revision(call: Call, read: ReadState | VisitedState, query: RevisionQuery) -> Revision:
    """Get the entire content: the page tree, files, reusable content, and variables."""
    with _reader(call, read) as reader:
        return reader.revision(query)


@operation("listPages", "GET", _MAIN + "/pages", needs=Can.VIEW, visitors=True, agents="docs:read")
@operation("listPagesInRevisionById", "GET", _REVISION + "/pages", needs=Can.VIEW, visitors=True)
@change_operation("listPagesInChangeRequest", "GET", _CHANGE + "/pages", needs=Can.VIEW, agents="docs:read")
def list_pages(call: Call, read: ReadState | VisitedState, query: PagesQuery) -> Pages:
    """List the pages as a tree. `tag` limits the tree to pages with that tag and their ancestors."""
    with _reader(call, read) as reader:
        return reader.pages(query, query.tag)


@operation("listChildPages", "GET", _MAIN + "/children", needs=Can.VIEW, errors=(404,))
@operation("listChildPagesInRevisionById", "GET", _REVISION + "/children", needs=Can.VIEW, errors=(404,))
@change_operation(
    "listChildPagesInChangeRequest", "GET", _CHANGE + "/children", needs=Can.VIEW, errors=(404,)
)
def list_children(call: Call, read: ReadState, query: ChildPagesQuery) -> Listing[PageEntry]:
    """List one level of the page tree, in order: the subpages of `parent`, or, by default, the top-level
    pages."""
    with _state_reader(call, read) as reader:
        return reader.children(query)


@operation("getWayToPage", "GET", _MAIN + "/way", needs=Can.VIEW, errors=(404,))
@operation("getWayToPageInRevisionById", "GET", _REVISION + "/way", needs=Can.VIEW, errors=(404,))
@change_operation("getWayToPageInChangeRequest", "GET", _CHANGE + "/way", needs=Can.VIEW, errors=(404,))
def get_way(call: Call, read: ReadState, query: WayQuery) -> PageWay:
    """Get the location of a page in the tree: each level from the top to the page's own level. For a long
    level, only the part that contains the page or its ancestor is returned. Levels are divided into parts
    of `limit` pages; use `listChildPages` with the index `at` to get other parts."""
    with _state_reader(call, read) as reader:
        return reader.way(query)


@operation("listWaysToPages", "GET", _MAIN + "/ways", needs=Can.VIEW)
@operation("listWaysToPagesInRevisionById", "GET", _REVISION + "/ways", needs=Can.VIEW)
@change_operation("listWaysToPagesInChangeRequest", "GET", _CHANGE + "/ways", needs=Can.VIEW)
def list_ways(call: Call, read: ReadState, query: WaysQuery) -> PageTraces:
    """List the ancestors of up to a hundred pages, with titles and paths. Pages that don't exist are
    omitted."""
    with _state_reader(call, read) as reader:
        return reader.ways(query)


@operation(
    "getPageById",
    "GET",
    _MAIN + "/page/{pageId}",
    needs=Can.VIEW,
    returns=RevisionPage,
    quick=True,
    cached=True,
    visitors=True,
    agents="docs:read",
)
@operation(
    "getPageInRevisionById",
    "GET",
    _REVISION + "/page/{pageId}",
    needs=Can.VIEW,
    returns=RevisionPage,
    quick=True,
    visitors=True,
)
@change_operation(
    "getPageInChangeRequestById",
    "GET",
    _CHANGE + "/page/{pageId}",
    needs=Can.VIEW,
    returns=RevisionPage,
    quick=True,
    agents="docs:read",
)
def get_page(call: Call, read: WrittenState | VisitedState, page_id: str, query: PageContentQuery) -> Raw:
    """Get a page with its content: as a document of nodes, or with ``format=markdown`` as the original
    Markdown."""
    with _reader(call, read) as reader:
        return reader.page(page_id, query)


@operation(
    "getPageByPath", "GET", _MAIN + "/path/{pagePath}", needs=Can.VIEW, visitors=True, agents="docs:read"
)
@operation("getPageInRevisionByPath", "GET", _REVISION + "/path/{pagePath}", needs=Can.VIEW, visitors=True)
@change_operation("getPageInChangeRequestByPath", "GET", _CHANGE + "/path/{pagePath}", needs=Can.VIEW)
def get_page_by_path(
    call: Call, read: WrittenState | VisitedState, page_path: str, query: PathQuery
) -> RevisionPage:
    """Get a page by its path. Slashes in the path can be percent-encoded."""
    with _reader(call, read) as reader:
        return reader.page_by_path(page_path, query)


@operation(
    "getPageDocumentInRevisionById",
    "GET",
    _REVISION + "/page/{pageId}/document",
    needs=Can.VIEW,
    visitors=True,
)
def get_page_document(
    call: Call, read: WrittenState | VisitedState, page_id: str, query: DocumentQuery
) -> DocumentNodes:
    """Get the document of a page as nodes."""
    with _reader(call, read) as reader:
        return reader.document(page_id, query)


@operation(
    "listSpacePageMetaLinks", "GET", _MAIN + "/page/{pageId}/meta-links", needs=Can.VIEW, visitors=True
)
@operation(
    "listRevisionPageMetaLinks", "GET", _REVISION + "/page/{pageId}/meta-links", needs=Can.VIEW, visitors=True
)
@change_operation(
    "listChangeRequestPageMetaLinks", "GET", _CHANGE + "/page/{pageId}/meta-links", needs=Can.VIEW
)
def list_meta_links(call: Call, read: WrittenState | VisitedState, page_id: str) -> PageMetaLinks:
    """List the meta links of a page that point to external URLs or to pages that the caller can see."""
    with _reader(call, read) as reader:
        return reader.meta_links(page_id)


@operation("listFiles", "GET", _MAIN + "/files", needs=Can.VIEW, visitors=True)
@operation("listFilesInRevisionById", "GET", _REVISION + "/files", needs=Can.VIEW, visitors=True)
@change_operation("listFilesInChangeRequestById", "GET", _CHANGE + "/files", needs=Can.VIEW)
def list_files(call: Call, read: ReadState | VisitedState, query: FilesQuery) -> Listing[File]:
    """List the files, oldest first."""
    with _reader(call, read) as reader:
        return reader.files(query)


@operation("getFileById", "GET", _MAIN + "/files/{fileId}", needs=Can.VIEW, visitors=True)
@operation("getFileInRevisionById", "GET", _REVISION + "/files/{fileId}", needs=Can.VIEW, visitors=True)
@change_operation("getFileInChangeRequestById", "GET", _CHANGE + "/files/{fileId}", needs=Can.VIEW)
def get_file(call: Call, read: ReadState | VisitedState, file_id: str, query: ContentQuery) -> File:
    """Get a file."""
    with _reader(call, read) as reader:
        return reader.file(file_id, query)


@operation("getReusableContentById", "GET", _MAIN + "/reusable-contents/{reusableContentId}", needs=Can.VIEW)
@operation(
    "getReusableContentInRevisionById",
    "GET",
    _REVISION + "/reusable-contents/{reusableContentId}",
    needs=Can.VIEW,
)
@change_operation(
    "getReusableContentInChangeRequestById",
    "GET",
    _CHANGE + "/reusable-contents/{reusableContentId}",
    needs=Can.VIEW,
)
def get_reusable_content(
    call: Call, read: WrittenState, reusable_content_id: str, query: ReusableContentQuery
) -> ReusableContent:
    """Get reusable content. With `format=markdown`, the response includes its text."""
    with _reader(call, read) as reader:
        return reader.reusable_content(reusable_content_id, query)


@operation(
    "getReusableContentDocumentInRevisionById",
    "GET",
    _REVISION + "/reusable-contents/{reusableContentId}/document",
    needs=Can.VIEW,
)
def get_reusable_document(
    call: Call, read: WrittenState, reusable_content_id: str, query: DocumentQuery
) -> DocumentNodes:
    """Get the document of reusable content as nodes."""
    with _reader(call, read) as reader:
        return reader.reusable_document(reusable_content_id, query)


# --- access -------------------------------------------------------------------------------------------


@operation("getPageAccess", "GET", _MAIN + "/page/{pageId}/access", needs=Can.VIEW, errors=(404,))
def get_page_access(call: Call, space: SpaceAccess, page_id: str) -> PageAccessOverview:
    """Get the access rules that determine who can see a page in main. To change the page's own rule, set its
    `visibleTo`."""
    with call.db.read() as tx:
        return present_access_overview(call, tx, space, page_id)


@operation(
    "listPeopleWithPageAccess",
    "GET",
    _MAIN + "/page/{pageId}/access/people",
    needs=Can.ADMIN,
    errors=(404,),
)
def list_page_people(
    call: Call, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[PersonPageAccess]:
    """List everyone who can see a page in main, and why they can see it, sorted by name."""
    with call.db.read() as tx:
        return present_people_at_page(call, tx, space, page_id, query)


# --- references ---------------------------------------------------------------------------------------


@contextmanager
def _links(call: Call, space: SpaceAccess) -> Iterator[Links]:
    with call.db.read() as tx:
        yield Links(call, tx, space, main_seen_by(tx, space))


@operation("listSpaceLinks", "GET", "/spaces/{spaceId}/links", needs=Can.VIEW, errors=(404,))
def list_space_links(call: Call, space: SpaceAccess, query: LinksQuery) -> ReferenceUsages:
    """List all references in main, grouped by target, with up to a hundred locations each."""
    with _links(call, space) as links:
        return links.of_space(query)


@operation("listPageLinksInSpace", "GET", "/spaces/{spaceId}/content/page/{pageId}/links", needs=Can.VIEW)
def list_page_links(call: Call, space: SpaceAccess, page_id: str, query: LinksQuery) -> ReferenceUsages:
    """List all references on a page of main, grouped by target."""
    with _links(call, space) as links:
        return links.of_page(page_id, query, query.status)


@operation(
    "listSpacePageBacklinks", "GET", "/spaces/{spaceId}/content/page/{pageId}/backlinks", needs=Can.VIEW
)
def list_page_backlinks(
    call: Call, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the references to a page from all spaces that the caller can see."""
    with _links(call, space) as links:
        return links.to_page(page_id, query)


@operation(
    "listSpaceFileBacklinks", "GET", "/spaces/{spaceId}/content/files/{fileId}/backlinks", needs=Can.VIEW
)
def list_file_backlinks(
    call: Call, space: SpaceAccess, file_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the locations where a file is used."""
    with _links(call, space) as links:
        return links.to_file(file_id, query)


@operation(
    "listSpaceReusableContentBacklinks",
    "GET",
    "/spaces/{spaceId}/content/reusable-contents/{reusableContentId}/backlinks",
    needs=Can.VIEW,
)
def list_reusable_content_backlinks(
    call: Call, space: SpaceAccess, reusable_content_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """List the locations where reusable content is used."""
    with _links(call, space) as links:
        return links.to_reusable(reusable_content_id, query)


@operation(
    "getDocumentById",
    "GET",
    "/spaces/{spaceId}/documents/{documentId}",
    needs=Can.VIEW,
)
def get_document(call: Call, space: SpaceAccess, document_id: str, query: SchemaQuery) -> DocumentNodes:
    """Get a document of the space by the document ID that is stored in its page or reusable content."""
    with call.db.read() as tx:
        hidden = set(main_seen_by(tx, space).hidden)
        found = find_document(tx, space.space_id, document_id, hidden)
        # A page that the caller sees can have the same text as one that a change request restricts.
        while found.owner_id in (state := seen_by(tx, space, found.state)).hidden:
            hidden |= state.hidden
            found = find_document(tx, space.space_id, document_id, hidden)
        owner = Owner(found.owner_id, found.owner_kind, found.file_path)
        return document_json(tx, state, ContentReader(call, tx, state).resolver, owner, document_id)


# --- computed -----------------------------------------------------------------------------------------


T = TypeVar("T")


def _asker(space: SpaceAccess) -> Requester:
    return Requester(space.space_id, space.organization_id, space.actor)


def _compute(call: Call, compute: Callable[[Transaction], T]) -> T:
    """Return the result of ``compute``. If it needs external data that hasn't been fetched yet, fetch the
    data and try again."""
    try:
        with call.db.read() as tx:
            return compute(tx)
    except NotFetchedYet as missing:
        missing.fetch(call.context)
    with call.db.read() as tx:
        return compute(tx)


@operation(
    "convertText",
    "POST",
    "/spaces/{spaceId}/content/convert",
    needs=Can.VIEW,
    errors=(400, 413),
    in_maintenance=True,
)
def convert_text(call: Call, space: SpaceAccess, body: ConvertText) -> ConvertedText:
    """Convert Markdown to nodes, or nodes to Markdown, using the rules of pages in the space. Nothing is
    stored, and references aren't resolved."""
    try:
        document = read(body.markdown) if body.markdown is not UNSET else from_json(body.document)
    except DocumentError as error:
        raise BadRequest(str(error)) from None
    return ConvertedText(write(document), to_json(document))


@operation(
    "getComputedDocument",
    "POST",
    "/spaces/{spaceId}/content/computed/document",
    needs=Can.VIEW,
    errors=(400,),
    in_maintenance=True,
)
def get_computed_document(
    call: Call, space: SpaceAccess, query: SchemaQuery, body: ComputeContent
) -> DocumentNodes:
    """Get the document that a source currently produces. The same source, seed, and dependencies always
    produce the same nodes with the same keys."""
    asker = _asker(space)
    return Raw(_compute(call, lambda tx: compute_document(tx, asker, body.source, body.seed)))


@operation(
    "getComputedRevision",
    "POST",
    "/spaces/{spaceId}/content/computed/revision",
    needs=Can.VIEW,
    errors=(400,),
    in_maintenance=True,
)
def get_computed_revision(call: Call, space: SpaceAccess, body: ComputeContent) -> ComputedRevision:
    """Get the pages, files, and reusable content that a source currently produces. The seed determines their
    IDs."""
    asker = _asker(space)
    found, _ = _compute(call, lambda tx: compute_revision(tx, asker, body.source, body.seed))
    with call.db.read() as tx:
        return ContentReader(call, tx, main_seen_by(tx, space)).computed(found)
