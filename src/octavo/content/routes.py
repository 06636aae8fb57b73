"""Reading content over its bases: main of a space, and any revision of it.

Each base is entered once, by ``_main`` or ``_revision``; what is then read is the same ``Reader``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Raw

from ..access import Can, SpaceAccess
from ..kit.operation import Area, Call
from ..kit.pagination import Listing, PageQuery
from ..references import Links
from . import store
from .computing import Asker, compute_document, compute_revision
from .documents import document_json
from .embedding import find_embed
from .reading import Reader
from .wire import (
    ComputeContent,
    ComputedRevision,
    ContentLocation,
    ContentQuery,
    DocumentQuery,
    Embed,
    EmbedQuery,
    File,
    FilesQuery,
    LinksQuery,
    PageContentQuery,
    Pages,
    ReferenceUsages,
    ReusableContent,
    Revision,
    RevisionPage,
    SchemaQuery,
)

operation = Area("content").operation


@contextmanager
def _main(call: Call, space: SpaceAccess) -> Iterator[Reader]:
    with call.db.read() as tx:
        yield Reader(call, tx, store.main_state(tx, space.space_id))


@contextmanager
def _revision(call: Call, space: SpaceAccess, revision_id: str) -> Iterator[Reader]:
    with call.db.read() as tx:
        yield Reader(call, tx, store.revision_state(tx, space.space_id, revision_id))


# --- main ---------------------------------------------------------------------------------------------


@operation("getCurrentRevision", "GET", "/spaces/{spaceId}/content", needs=Can.VIEW, returns=Revision)
def get_current_revision(call: Call, space: SpaceAccess, query: ContentQuery) -> Revision:
    """All of main: its pages as a tree, files, reusable contents, variables."""
    with _main(call, space) as reader:
        return reader.revision(query)


@operation("listPages", "GET", "/spaces/{spaceId}/content/pages", needs=Can.VIEW, returns=Pages)
def list_pages(call: Call, space: SpaceAccess, query: ContentQuery) -> Pages:
    """The pages of main as a tree."""
    with _main(call, space) as reader:
        return reader.pages(query)


@operation(
    "getPageById", "GET", "/spaces/{spaceId}/content/page/{pageId}", needs=Can.VIEW, returns=RevisionPage
)
def get_page(call: Call, space: SpaceAccess, page_id: str, query: PageContentQuery) -> Raw:
    """One page of main; ``format`` adds its text."""
    with _main(call, space) as reader:
        return reader.page(page_id, query)


@operation(
    "getPageByPath",
    "GET",
    "/spaces/{spaceId}/content/path/{pagePath}",
    needs=Can.VIEW,
    returns=RevisionPage,
)
def get_page_by_path(call: Call, space: SpaceAccess, page_path: str, query: PageContentQuery) -> RevisionPage:
    """One page of main by its path; slashes may be percent-encoded."""
    with _main(call, space) as reader:
        return reader.page_by_path(page_path, query)


@operation("listFiles", "GET", "/spaces/{spaceId}/content/files", needs=Can.VIEW, returns=Listing[File])
def list_files(call: Call, space: SpaceAccess, query: FilesQuery) -> Listing[File]:
    """The files of main, oldest first."""
    with _main(call, space) as reader:
        return reader.files(query)


@operation("getFileById", "GET", "/spaces/{spaceId}/content/files/{fileId}", needs=Can.VIEW, returns=File)
def get_file(call: Call, space: SpaceAccess, file_id: str, query: ContentQuery) -> File:
    """One file of main."""
    with _main(call, space) as reader:
        return reader.file(file_id, query)


@operation(
    "getReusableContentById",
    "GET",
    "/spaces/{spaceId}/content/reusable-contents/{reusableContentId}",
    needs=Can.VIEW,
    returns=ReusableContent,
)
def get_reusable_content(
    call: Call, space: SpaceAccess, reusable_content_id: str, query: ContentQuery
) -> ReusableContent:
    """One reusable content of main."""
    with _main(call, space) as reader:
        return reader.reusable_content(reusable_content_id, query)


# --- references ---------------------------------------------------------------------------------------


@contextmanager
def _links(call: Call, space: SpaceAccess) -> Iterator[Links]:
    with call.db.read() as tx:
        yield Links(call, tx, space, store.main_state(tx, space.space_id))


@operation(
    "listSpaceLinks",
    "GET",
    "/spaces/{spaceId}/links",
    needs=Can.VIEW,
    returns=ReferenceUsages,
    errors=(404,),
)
def list_space_links(call: Call, space: SpaceAccess, query: LinksQuery) -> ReferenceUsages:
    """What main refers to, thing by thing, with the first hundred places where it does."""
    with _links(call, space) as links:
        return links.of_space(query)


@operation(
    "listPageLinksInSpace",
    "GET",
    "/spaces/{spaceId}/content/page/{pageId}/links",
    needs=Can.VIEW,
    returns=ReferenceUsages,
)
def list_page_links(call: Call, space: SpaceAccess, page_id: str, query: LinksQuery) -> ReferenceUsages:
    """What one page of main refers to."""
    with _links(call, space) as links:
        return links.of_page(page_id, query, query.status)


@operation(
    "listSpacePageBacklinks",
    "GET",
    "/spaces/{spaceId}/content/page/{pageId}/backlinks",
    needs=Can.VIEW,
    returns=Listing[ContentLocation],
)
def list_page_backlinks(
    call: Call, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """Where other pages, of all spaces that the caller sees, refer to a page."""
    with _links(call, space) as links:
        return links.to_page(page_id, query)


@operation(
    "listSpaceFileBacklinks",
    "GET",
    "/spaces/{spaceId}/content/files/{fileId}/backlinks",
    needs=Can.VIEW,
    returns=Listing[ContentLocation],
)
def list_file_backlinks(
    call: Call, space: SpaceAccess, file_id: str, query: PageQuery
) -> Listing[ContentLocation]:
    """Where a file is used."""
    with _links(call, space) as links:
        return links.to_file(file_id, query)


@operation(
    "getDocumentById",
    "GET",
    "/spaces/{spaceId}/documents/{documentId}",
    needs=Can.VIEW,
    returns=Raw,
)
def get_document(call: Call, space: SpaceAccess, document_id: str, query: SchemaQuery) -> Raw:
    """A document of the space by the id that pages and reusable contents name."""
    with call.db.read() as tx:
        found = store.get_document(tx, space.space_id, document_id)
        return document_json(tx, found.state, found.owner_id, document_id, found.file_path)


@operation(
    "getEmbedByUrlInSpace",
    "GET",
    "/spaces/{spaceId}/embed",
    needs=Can.VIEW,
    returns=Embed,
    errors=(400,),
)
def get_embed(call: Call, space: SpaceAccess, query: EmbedQuery) -> Embed:
    """What an address shows when it is embedded; one that cannot be reached is a plain link."""
    return find_embed(call.settings, query.url)


# --- a revision ---------------------------------------------------------------------------------------


@operation(
    "getRevisionById", "GET", "/spaces/{spaceId}/revisions/{revisionId}", needs=Can.VIEW, returns=Revision
)
def get_revision(call: Call, space: SpaceAccess, revision_id: str, query: ContentQuery) -> Revision:
    """All that one revision holds."""
    with _revision(call, space, revision_id) as reader:
        return reader.revision(query)


@operation(
    "listPagesInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/pages",
    needs=Can.VIEW,
    returns=Pages,
)
def list_revision_pages(call: Call, space: SpaceAccess, revision_id: str, query: ContentQuery) -> Pages:
    """The pages of a revision as a tree."""
    with _revision(call, space, revision_id) as reader:
        return reader.pages(query)


@operation(
    "getPageInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}",
    needs=Can.VIEW,
    returns=RevisionPage,
)
def get_revision_page(
    call: Call, space: SpaceAccess, revision_id: str, page_id: str, query: PageContentQuery
) -> Raw:
    """One page of a revision."""
    with _revision(call, space, revision_id) as reader:
        return reader.page(page_id, query)


@operation(
    "getPageDocumentInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/page/{pageId}/document",
    needs=Can.VIEW,
    returns=Raw,
)
def get_revision_page_document(
    call: Call, space: SpaceAccess, revision_id: str, page_id: str, query: DocumentQuery
) -> Raw:
    """The document of a page of a revision, as nodes."""
    with _revision(call, space, revision_id) as reader:
        return reader.document(page_id, query)


@operation(
    "getPageInRevisionByPath",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/path/{pagePath}",
    needs=Can.VIEW,
    returns=RevisionPage,
)
def get_revision_page_by_path(
    call: Call, space: SpaceAccess, revision_id: str, page_path: str, query: PageContentQuery
) -> RevisionPage:
    """One page of a revision by its path."""
    with _revision(call, space, revision_id) as reader:
        return reader.page_by_path(page_path, query)


@operation(
    "listFilesInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/files",
    needs=Can.VIEW,
    returns=Listing[File],
)
def list_revision_files(call: Call, space: SpaceAccess, revision_id: str, query: FilesQuery) -> Listing[File]:
    """The files of a revision, oldest first."""
    with _revision(call, space, revision_id) as reader:
        return reader.files(query)


@operation(
    "getFileInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/files/{fileId}",
    needs=Can.VIEW,
    returns=File,
)
def get_revision_file(
    call: Call, space: SpaceAccess, revision_id: str, file_id: str, query: ContentQuery
) -> File:
    """One file of a revision."""
    with _revision(call, space, revision_id) as reader:
        return reader.file(file_id, query)


@operation(
    "getReusableContentInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/reusable-contents/{reusableContentId}",
    needs=Can.VIEW,
    returns=ReusableContent,
)
def get_revision_reusable_content(
    call: Call, space: SpaceAccess, revision_id: str, reusable_content_id: str, query: ContentQuery
) -> ReusableContent:
    """One reusable content of a revision."""
    with _revision(call, space, revision_id) as reader:
        return reader.reusable_content(reusable_content_id, query)


@operation(
    "getReusableContentDocumentInRevisionById",
    "GET",
    "/spaces/{spaceId}/revisions/{revisionId}/reusable-contents/{reusableContentId}/document",
    needs=Can.VIEW,
    returns=Raw,
)
def get_revision_reusable_document(
    call: Call, space: SpaceAccess, revision_id: str, reusable_content_id: str, query: DocumentQuery
) -> Raw:
    """The document of a reusable content of a revision, as nodes."""
    with _revision(call, space, revision_id) as reader:
        return reader.reusable_document(reusable_content_id, query)


# --- computed -----------------------------------------------------------------------------------------


def _asker(space: SpaceAccess) -> Asker:
    return Asker(space.space_id, space.organization_id, space.user_id)


@operation(
    "getComputedDocument",
    "POST",
    "/spaces/{spaceId}/content/computed/document",
    needs=Can.VIEW,
    returns=Raw,
    errors=(400,),
)
def get_computed_document(call: Call, space: SpaceAccess, query: SchemaQuery, body: ComputeContent) -> Raw:
    """The document that a source gives now. The same source, seed and state of what it depends on always give the
    same nodes with the same keys."""
    with call.db.read() as tx:
        return Raw(compute_document(tx, _asker(space), body.source, body.seed))


@operation(
    "getComputedRevision",
    "POST",
    "/spaces/{spaceId}/content/computed/revision",
    needs=Can.VIEW,
    returns=ComputedRevision,
    errors=(400,),
)
def get_computed_revision(call: Call, space: SpaceAccess, body: ComputeContent) -> ComputedRevision:
    """The pages, files and reusable contents that a source gives now; the seed decides their ids."""
    with call.db.read() as tx:
        found, _ = compute_revision(tx, _asker(space), body.source, body.seed)
        return Reader(call, tx, store.main_state(tx, space.space_id)).computed(found)
