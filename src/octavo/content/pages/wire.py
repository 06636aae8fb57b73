"""Wire types for content: revisions, pages, files, and reusable content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from octavo.content.images.store import ScaledImage
from octavo.content.revisions.computing import ComputedSource
from octavo.content.revisions.history import RevisionRow, RevisionType
from octavo.content.revisions.item_versions import Item
from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.core.document.urls import safe_url
from octavo.core.json_types import JsonObject
from octavo.core.page_fields import FIELDS, Cover, Field, FieldType, LayoutOptions, PageKind, declare
from octavo.core.pages import Page
from octavo.core.tags import MAX_SLUG, Tag
from octavo.kit.clock import iso
from octavo.kit.db.pagination import DEFAULT_LIMIT, MAX_LIMIT, Next, PageQuery
from octavo.kit.texts import pattern
from octavo.kit.urls import HttpUrl
from octavo.organization.access.wire import User
from octavo.organization.orgs.wire import Organization
from octavo.organization.spaces.wire import Collection, Space

from .access_wire import PageAccess, present_page_access
from .documents import Evaluated
from .tag_wire import PageTag, RevisionTag, present_page_tags, present_tag

Format = Literal["document", "markdown"]


class ContentQuery(Struct, rename="camel"):
    """Query parameters for content. ``metadata``: whether to include Git metadata. ``computed``: whether to evaluate
    computed sources."""

    metadata: bool = True
    computed: bool = True


class RevisionQuery(ContentQuery):
    """Query parameters for a revision. ``pages``: whether to include the page tree."""

    pages: bool = True


class PagesQuery(ContentQuery):
    """Query parameters for a page tree. ``tag`` (an Octavo extension): the tag to filter by; ancestors of the matching
    pages are included."""

    tag: Annotated[str, Meta(max_length=MAX_SLUG)] | None = None


class FilesQuery(PageQuery):
    metadata: bool = True
    computed: bool = True


class PageContentQuery(ContentQuery):
    """Query parameters for a page. ``format``: the format of its content. ``pages``: whether to include its
    subpages."""

    format: Format = "document"
    pages: bool = True
    evaluated: Evaluated = "false"


class PathQuery(PageContentQuery, rename="camel", kw_only=True):
    """Query parameters for a page by its path. ``cachedMetadata`` has no effect, because the current Git metadata is
    always returned."""

    cached_metadata: bool = False


class ChildPagesQuery(PageQuery):
    """Query parameters for one level of the page tree. ``at``: the index to start at, relative to the start of the
    level or to ``page``."""

    parent: str | None = None
    at: Annotated[int, Meta(ge=0, le=2**31)] = 0
    computed: bool = True


class WayQuery(Struct):
    """Query parameters for the location of a page in the page tree. ``to``: the ID of the page. ``path``:
    the path of the page. By default, the page is the first document."""

    to: str | None = None
    path: str | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    computed: bool = True

    def __post_init__(self) -> None:
        if self.to is not None and self.path is not None:
            raise ValueError("provide `to` or `path`, not both")


class WaysQuery(Struct):
    """Query parameters for the locations of several pages in the page tree. ``pages``: the page IDs."""

    pages: Annotated[list[str], Meta(min_length=1, max_length=100)]
    computed: bool = True


class ReusableContentQuery(ContentQuery):
    """Query parameters for reusable content. ``format``: ``markdown`` includes its stored text, without front
    matter."""

    format: Format = "document"


class DocumentQuery(Struct, rename="camel"):
    evaluated: Evaluated = "false"


class SchemaQuery(Struct):
    """Query parameters for a document. ``schema``: the version of the node types, of which there is only one."""

    schema: Literal["current", "next"] = "current"


class GitBlob(Struct):
    """File in the repository that the space is synced with."""

    oid: str
    path: str


class AppUrls(Struct):
    app: str


class PageLayout(Struct, rename="camel", kw_only=True):
    width: str
    cover: bool
    cover_size: str
    title: bool
    description: bool
    table_of_contents: bool
    outline: bool
    pagination: bool
    metadata: bool
    cover_mask: Literal["none", "radial"]
    tags: bool
    actions: bool
    anchors: bool


class PageCover(Struct, rename="camel", kw_only=True):
    y_pos: float
    ref: dict[str, Any] | UnsetType = UNSET
    ref_dark: dict[str, Any] | UnsetType = UNSET
    height: int | UnsetType = UNSET
    text_color: Literal["black", "white"] | UnsetType = UNSET
    text_color_dark: Literal["black", "white"] | UnsetType = UNSET


_TYPES: dict[FieldType, Any] = {
    "flag": bool,
    "mapping": dict[str, Any],
    "links": dict[str, Any],
    "tags": list[PageTag],
    "paths": list[str],
    "people": list[PageAccess],
    "cover": PageCover,
    "layout": PageLayout,
}
"""Types that the API returns for fields that aren't strings."""


_ALWAYS: frozenset[FieldType] = frozenset({"flag", "layout", "tags"})
"""Types of fields that the API always returns."""


class _Fields:
    """Fields from ``FIELDS`` that the API returns for a kind of page: the types of required fields and of optional
    fields."""

    def __init__(self, kind: PageKind, wanted: Callable[[Field], bool] = lambda field: True) -> None:
        found = {
            name: field
            for name, field in FIELDS.items()
            if kind in field.kinds and field.shown != "nobody" and wanted(field)
        }
        types = {name: _TYPES.get(field.type, str) for name, field in found.items()}
        self.always = {name: types[name] for name, field in found.items() if field.type in _ALWAYS}
        self.optional = {name: types[name] | UnsetType for name in found if name not in self.always}
        self._flags = [name for name, field in found.items() if field.type == "flag"]
        self._tags = [name for name, field in found.items() if field.type == "tags"]
        self._people = [name for name, field in found.items() if field.type == "people"]
        self._plain = [
            name for name in self.optional if not found[name].is_struct and name not in self._people
        ]

    def present(self, page: Page) -> JsonObject:
        """Return the field values of a page by name, except structs."""
        values = {name: getattr(page, name) for name in self._flags}
        for name in self._tags:
            values[name] = present_page_tags(getattr(page, name))
        for name in self._people:
            if rule := getattr(page, name):
                values[name] = present_page_access(rule)
        for name in self._plain:
            if value := getattr(page, name):
                values[name] = value
        return values


_FIELDS_BY_KIND = {kind: _Fields(kind) for kind in get_args(PageKind)}
_ENTRY_FIELDS = _Fields("document", lambda field: field.navigation)
_MEMBERS_FIELDS = [name for name, field in FIELDS.items() if field.shown == "members"]


class DocumentPage(Struct, rename="camel", tag_field="type", tag="document", kw_only=True):
    id: str
    title: str
    slug: str
    path: str
    urls: AppUrls
    pages: list[RevisionPage]
    layout: PageLayout
    created_at: str
    updated_at: str
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["document"].always)
    kind: Literal["sheet"] = "sheet"
    link_title: str | UnsetType = UNSET
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["document"].optional, UNSET)
    computed: dict[str, Any] | UnsetType = UNSET
    computed_seed: str | UnsetType = UNSET
    document_id: str | UnsetType = UNSET
    git: GitBlob | UnsetType = UNSET
    markdown: str | UnsetType = UNSET
    document: DocumentNodes | UnsetType = UNSET


class GroupPage(Struct, rename="camel", tag_field="type", tag="group", kw_only=True):
    id: str
    title: str
    slug: str
    path: str
    pages: list[RevisionPage]
    created_at: str
    updated_at: str
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["group"].always)
    kind: Literal["group"] = "group"
    link_title: str | UnsetType = UNSET
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["group"].optional, UNSET)


class LinkPage(Struct, rename="camel", tag_field="type", tag="link", kw_only=True):
    id: str
    title: str
    target: JsonObject
    created_at: str
    updated_at: str
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["link"].always)
    kind: Literal["link"] = "link"
    link_title: str | UnsetType = UNSET
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["link"].optional, UNSET)
    href: str | UnsetType = UNSET


class ComputedPage(Struct, rename="camel", tag_field="type", tag="computed", kw_only=True):
    id: str
    title: str
    computed: JsonObject
    created_at: str
    updated_at: str
    if not TYPE_CHECKING:
        declare(vars(), _FIELDS_BY_KIND["computed"].always)
        declare(vars(), _FIELDS_BY_KIND["computed"].optional, UNSET)


RevisionPage = DocumentPage | GroupPage | LinkPage | ComputedPage


class PageTarget(Struct, tag_field="kind", tag="page"):
    page: str
    space: str | UnsetType = UNSET


class UrlTarget(Struct, tag_field="kind", tag="url"):
    url: str


class PageMetaLinks(Struct):
    """Meta links of a page. ``canonical``: the page that search engines should show instead.
    ``alternates``: other versions of the page."""

    canonical: PageTarget | UrlTarget | UnsetType = UNSET
    alternates: list[PageTarget | UrlTarget] | UnsetType = UNSET


class Pages(Struct):
    pages: list[RevisionPage]


class PageEntry(Struct, rename="camel", kw_only=True):
    """Page as an entry of the tree."""

    id: str
    type: Literal["document", "group", "link", "computed"]
    title: str
    has_pages: bool
    if not TYPE_CHECKING:
        declare(vars(), _ENTRY_FIELDS.always)
    path: str | UnsetType = UNSET
    if not TYPE_CHECKING:
        declare(vars(), _ENTRY_FIELDS.optional, UNSET)


class PageLevel(Struct):
    """Part of one level of the tree: its pages starting at the index ``at``."""

    parent: str | None
    at: int
    count: int
    items: list[PageEntry]


class PageWay(Struct):
    """Location of a page: the levels from the top down to the level of ``page``."""

    page: str | None
    levels: list[PageLevel]


class PageTrace(Struct):
    """Page with its ancestors."""

    page: str
    way: list[PageEntry]


class PageTraces(Struct):
    items: list[PageTrace]


class Dimensions(Struct):
    width: int
    height: int


class ComputeContent(Struct):
    """Request body for computing content. ``source``: the source as ``{type, props, dependencies}``. ``seed``: the seed
    of generated IDs."""

    source: ComputedSource
    seed: Annotated[str, Meta(min_length=1, max_length=256)]


class ConvertText(Struct):
    """Request body with the text to convert. Exactly one of the two fields must be given."""

    markdown: str | UnsetType = UNSET
    document: DocumentObject | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.markdown is UNSET) == (self.document is UNSET):
            raise ValueError("provide exactly one of `markdown` and `document`")


class ConvertedText(Struct):
    """Text as Markdown and as a document."""

    markdown: str
    document: DocumentObject


class ComputedRevision(Struct, rename="camel"):
    pages: list[RevisionPage]
    files: list[File]
    reusable_contents: list[ReusableContent]


class FileVariant(Struct, rename={"download_url": "downloadURL"}):
    width: int
    height: int
    size: int
    download_url: str


class File(Struct, rename={"content_type": "contentType", "download_url": "downloadURL"}, kw_only=True):
    """File of a space. ``dimensions``: the dimensions of an image as browsers display it, after rotation.
    ``variants``: the variants of an image, from narrow to wide."""

    id: str
    name: str
    content_type: str
    download_url: str
    size: int
    object: Literal["file"] = "file"
    dimensions: Dimensions | UnsetType = UNSET
    variants: list[FileVariant] | UnsetType = UNSET
    git: GitBlob | UnsetType = UNSET


class ReusableContent(Struct, kw_only=True):
    id: str
    title: str
    object: Literal["reusable-content"] = "reusable-content"
    document: str | UnsetType = UNSET
    markdown: str | UnsetType = UNSET
    git: GitBlob | UnsetType = UNSET


# --- references ---------------------------------------------------------------------------------------

ReferenceStatus = Literal["ok", "broken", "in-app"]


class LinksQuery(PageQuery):
    status: ReferenceStatus | None = None


class ChangeLinksQuery(LinksQuery, rename="camel"):
    """Query parameters for a change request's links. ``brokenContext``: limits the list to broken links, either links
    that the change request broke or links that were already broken."""

    broken_context: Literal["change-request", "space"] | None = None


class AnchorLocation(Struct, tag_field="type", tag="anchor"):
    anchor: str


class NodeLocation(Struct, tag_field="type", tag="node"):
    node: str


class ChangeRequestContext(Struct, rename="camel", tag_field="type", tag="changeRequest"):
    change_request: Any


class UrlLocation(Struct, tag_field="kind", tag="url"):
    url: str


class PageLocation(Struct, rename="camel", tag_field="kind", tag="page"):
    organization: Organization
    space: Space
    page: RevisionPage
    version_context: ChangeRequestContext | UnsetType = UNSET
    internal_location: AnchorLocation | NodeLocation | UnsetType = UNSET


class FileLocation(Struct, rename="camel", tag_field="kind", tag="file"):
    organization: Organization
    space: Space
    file: File
    version_context: ChangeRequestContext | UnsetType = UNSET


class ReusableContentLocation(Struct, rename="camel", tag_field="kind", tag="reusable-content"):
    organization: Organization
    space: Space
    reusable_content: ReusableContent
    version_context: ChangeRequestContext | UnsetType = UNSET


class SpaceLocation(Struct, tag_field="kind", tag="space"):
    organization: Organization
    space: Space


class CollectionLocation(Struct, tag_field="kind", tag="collection"):
    organization: Organization
    collection: Collection


class SpecLocation(Struct, tag_field="kind", tag="openapi"):
    organization: Organization
    spec: Any = field(name="openAPISpec")


class UserLocation(Struct, tag_field="kind", tag="user"):
    user: User


ContentLocation = (
    UrlLocation
    | PageLocation
    | FileLocation
    | ReusableContentLocation
    | SpaceLocation
    | CollectionLocation
    | SpecLocation
    | UserLocation
)


class ReferenceUsage(Struct, rename="camel"):
    """Target and the locations of the references to it."""

    status: ReferenceStatus
    relation: Literal["reference", "dependsOn"]
    location_references: list[ContentLocation]
    target_reference: ContentLocation | UnsetType = UNSET


class BrokenStats(Struct, rename="camel"):
    total: int
    change_request: int | UnsetType = UNSET


class ReferenceStats(Struct):
    """Number of references. Each location counts as one reference."""

    total: int
    broken: BrokenStats


class ReferenceUsages(Struct):
    items: list[ReferenceUsage]
    count: int
    stats: ReferenceStats
    next: Next | UnsetType = UNSET


class EmbedQuery(Struct):
    url: HttpUrl


class RevisionUrls(Struct):
    app: str


class Revision(Struct, rename="camel", kw_only=True):
    id: str
    parents: list[str]
    pages: list[RevisionPage]
    files: list[File]
    reusable_contents: list[ReusableContent]
    tags: list[RevisionTag]
    variables: JsonObject
    created_at: str
    urls: RevisionUrls
    type: RevisionType
    object: Literal["revision"] = "revision"
    git: dict[str, Any] | UnsetType = UNSET
    merged_from: Any | UnsetType = UNSET


VariableName = Annotated[
    str,
    Meta(
        pattern=pattern(
            r"^[A-Za-z][A-Za-z0-9_]*\Z", "start with a letter and consist of letters, digits, and underscores"
        ),
        max_length=100,
    ),
]

WITH_PATHS = ("document", "group")
"""Kinds of pages that have a path."""

ResolveCover = Callable[[Page, str], dict[str, Any]]


def present_layout(layout: LayoutOptions) -> PageLayout:
    return PageLayout(
        width=layout.width if layout.width in ("default", "wide") else "wide",
        cover=layout.cover,
        cover_size=layout.cover_size if layout.cover_size in ("hero", "background") else "full",
        title=layout.title,
        description=layout.description,
        table_of_contents=layout.table_of_contents,
        outline=layout.outline,
        pagination=layout.pagination,
        metadata=layout.metadata,
        cover_mask="radial" if layout.cover_mask == "radial" else "none",
        tags=layout.tags,
        actions=layout.actions,
        anchors=layout.anchors,
    )


_NO_LAYOUT = LayoutOptions()
_PLAIN_LAYOUT = present_layout(_NO_LAYOUT)


def _color(name: str | None) -> Literal["black", "white"] | UnsetType:
    return "white" if name == "white" else "black" if name == "black" else UNSET


def present_cover(page: Page, cover: Cover, resolve: ResolveCover) -> PageCover:
    return PageCover(
        ref=resolve(page, cover.light),
        ref_dark=resolve(page, cover.dark) if cover.dark else UNSET,
        y_pos=cover.y,
        height=min(700, max(10, cover.height)) if cover.height else UNSET,
        text_color=_color(cover.text_color),
        text_color_dark=_color(cover.text_color_dark),
    )


def present_blob(oids: Mapping[str, str], content: str | None, path: str | None) -> GitBlob | UnsetType:
    """Return the Git blob of a synced page or file. ``oids``: Git object IDs by content hash."""
    oid = oids.get(content or "")
    return GitBlob(oid, path) if oid and path else UNSET


def present_page(
    app_url: str,
    page: Page,
    path: str,
    pages: list[RevisionPage],
    resolve_cover: ResolveCover,
    oids: Mapping[str, str] = {},
) -> RevisionPage:
    """Return a page in its API format. ``pages``: its subpages, which are already in this format."""
    fields: JsonObject = {
        "id": page.id,
        "title": page.title,
        "created_at": iso(page.created_at),
        "updated_at": iso(page.updated_at),
        **_FIELDS_BY_KIND[page.kind].present(page),
    }
    if page.kind == "computed":
        return ComputedPage(computed=page.computed or {}, **fields)
    fields["link_title"] = page.link_title or UNSET
    if page.kind == "group":
        return GroupPage(slug=page.slug, path=path, pages=pages, **fields)
    if page.kind == "link":
        target = page.target or {"kind": "url", "url": ""}
        if target.get("kind") == "url":
            # Files of a repository or archive can contain anything, and renderers put it into links unchanged.
            target = {"kind": "url", "url": safe_url(target.get("url")) or ""}
        href = target.get("url", UNSET) if target.get("kind") == "url" else UNSET
        return LinkPage(target=target, href=href, **fields)
    if page.cover is not None:
        fields["cover"] = present_cover(page, page.cover, resolve_cover)
    return DocumentPage(
        slug=page.slug,
        path=path,
        layout=_PLAIN_LAYOUT if page.layout == _NO_LAYOUT else present_layout(page.layout),
        urls=AppUrls(f"{app_url}/{path}"),
        pages=pages,
        document_id=page.body or UNSET,
        git=present_blob(oids, page.body, page.file_path),
        computed=page.computed or UNSET,
        # The page ID makes the IDs of computed content unique to this page.
        computed_seed=page.id if page.computed else UNSET,
        **fields,
    )


def hide_from_visitors(page: DocumentPage) -> None:
    """Remove the fields that only members can see."""
    for name in _MEMBERS_FIELDS:
        setattr(page, name, UNSET)


def present_entry(page: Page, above: str, has_pages: bool) -> PageEntry:
    """Return an entry of the tree. ``above``: the path of the page's parent."""
    path = (f"{above}/{page.slug}" if above else page.slug) if page.kind in WITH_PATHS else UNSET
    return PageEntry(
        id=page.id,
        type=page.kind,
        title=page.title,
        has_pages=has_pages,
        path=path,
        **_ENTRY_FIELDS.present(page),
    )


_BELOW = [cast(RevisionPage, Raw(b"\x00"))]
"""Placeholder for the subpages of a page: a byte that can't occur in JSON."""


def encode_tree(
    app_url: str,
    pages: Iterable[Page],
    root: str | None,
    root_path: str,
    resolve_cover: ResolveCover,
    oids: Mapping[str, str] = {},
) -> bytes:
    """Encode the pages under ``root`` as JSON: a list of ``RevisionPage``. ``pages`` must contain siblings
    in order.

    Pages are written one by one, so that only one page and the output are in memory.
    """
    children: dict[str | None, list[Page]] = {}
    for page in pages:
        children.setdefault(page.parent, []).append(page)
    encode = msgspec.json.Encoder().encode
    text = BytesIO()
    text.write(b"[")
    first = True
    # Pending output, with the next item at the end: pages with the path of their parent, and the text that
    # closes earlier pages.
    stack: list[tuple[Page, str] | bytes] = [b"]"]
    stack += [(page, root_path) for page in reversed(children.pop(root, ()))]
    while stack:
        entry = stack.pop()
        if isinstance(entry, bytes):
            text.write(entry)
            first = False
            continue
        page, above = entry
        path = f"{above}/{page.slug}" if above else page.slug
        if not first:
            text.write(b",")
        head, *tail = encode(present_page(app_url, page, path, _BELOW, resolve_cover, oids)).split(b"\x00")
        text.write(head)
        first = bool(tail)
        if tail:
            stack.append(tail[0])
            stack += [(child, path) for child in reversed(children.pop(page.id, ()))]
    return text.getvalue()


def present_file(
    item: Item,
    download_url: str,
    picture: ScaledImage | None = None,
    variants: list[FileVariant] | UnsetType = UNSET,
    oids: Mapping[str, str] = {},
) -> File:
    """Return a file in its API format. ``picture``: the scaled image, if the file is an image."""
    shown: ScaledImage | Item = picture or item
    return File(
        id=item.id,
        name=item.name,
        content_type=item.content_type or "application/octet-stream",
        download_url=download_url,
        size=item.size,
        dimensions=Dimensions(shown.width, shown.height) if shown.width and shown.height else UNSET,
        variants=variants,
        git=present_blob(oids, item.content, item.path),
    )


def present_reusable(item: Item, oids: Mapping[str, str] = {}) -> ReusableContent:
    return ReusableContent(
        id=item.id,
        title=item.name,
        document=item.content or UNSET,
        git=present_blob(oids, item.content, item.path),
    )


def present_revision(
    app_url: str,
    revision: RevisionRow,
    *,
    merged_from: object,
    pages: list[RevisionPage],
    files: list[File],
    reusable_contents: list[ReusableContent],
    tags: Iterable[Tag],
    variables: JsonObject,
    metadata: bool,
) -> Revision:
    return Revision(
        id=revision.id,
        parents=revision.parents,
        pages=pages,
        files=files,
        reusable_contents=reusable_contents,
        tags=[present_tag(tag) for tag in tags],
        variables=variables,
        created_at=iso(revision.created_at),
        urls=RevisionUrls(app_url),
        type=revision.type,  # type: ignore[arg-type]
        git=revision.git if revision.git and metadata else UNSET,
        merged_from=merged_from if merged_from is not None else UNSET,
    )
