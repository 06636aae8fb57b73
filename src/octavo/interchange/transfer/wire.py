"""Wire format of import runs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.content.changes.store import find_state
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.restrictions import seen_by_recipient
from octavo.core.problems import Problem
from octavo.kit.clock import iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern

from .api_client import FoundSpace
from .platforms import Service
from .previewing import ImportPreview
from .store import MORE_PROBLEMS, ImportChanges, ImportedPage, ImportedVariant, ImportedVariants, ImportRunRow
from .types import (
    ApiLogin,
    Destination,
    FileSource,
    KeptApiSource,
    KeptSource,
    RequestedImport,
    WebsiteSource,
)

Status = Literal["pending", "in-progress", "completed", "failed", "cancelled"]


_Token = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=pattern(r"^[\x21-\x7e]+\Z", "consist of printable ASCII characters without spaces"),
    ),
]
_User = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=254,
        pattern=pattern(
            r"^[\x21-\x39\x3b-\x7e]+\Z", "consist of printable ASCII characters without spaces or colons"
        ),
    ),
]


class ApiSource(Struct, tag="api"):
    """Space to import through another platform's API. ``service``: the platform; `octavo` includes GitBook.
    ``url``: the URL of the API, with or without ``/v1`` for `octavo`. ``space``: the space's ID; for Confluence,
    the space's key; for ReadMe, the version. ``user``: the owner of the token, for Confluence Cloud. ``token`` and
    ``user``: stored encrypted until the run ends, and never returned."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    space: Annotated[str, Meta(min_length=1, max_length=255)]
    token: _Token
    service: Service = "octavo"
    user: _User | UnsetType = UNSET


class CheckImportSource(Struct):
    """Source to check. ``service``, ``url``, ``user``, and ``token``: see ``ApiSource``. Nothing is
    stored."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    token: _Token
    service: Service = "octavo"
    user: _User | UnsetType = UNSET


class ImportSourceCheck(Struct):
    """Result of a check. ``spaces``: the spaces that the token can access, at most 1,000. ``problem``: the reason
    the list is incomplete."""

    spaces: list[FoundSpace]
    problem: str | UnsetType = UNSET


Source = WebsiteSource | FileSource | ApiSource


class ImportTarget(Struct, rename="camel"):
    """Target of an import. Without ``changeRequest``, the pages are imported into the main version. ``page``: the
    parent of the imported pages."""

    space: str
    change_request: str | UnsetType = UNSET
    page: str | UnsetType = UNSET


class StartImport(Struct):
    """Request to start an import. ``preview``: whether to only describe the import in the run's ``plan``, without
    importing any content. ``update``: a completed run in this space that imported an older state of the source.
    Unedited content is updated from the source, all other content is merged, and people's edits are kept.
    ``variants``: whether to import all versions and languages of the source. The default variant is imported into
    the target, and each of the other variants into its own space. The spaces become variants of one site."""

    source: Source
    target: ImportTarget
    preview: bool = False
    update: str | UnsetType = UNSET
    variants: bool = False


class Progress(Struct):
    """Progress of a run. ``total``: the number of items known so far; 0 at first."""

    done: int
    total: int


class ImportRunUrls(Struct):
    location: str


class ImportRun(Struct, rename="camel", kw_only=True):
    """Import run. ``reason``: the reason it failed. ``problems``: content that was skipped or that couldn't be read.
    ``revision``: the created revision. ``kind``: the kind of the source. ``plan``: the result of a preview.
    ``updates``: the first run of the source, if this run imports a newer state of the source. ``changes``: the changes
    that the update caused; omitted if pages of the space are hidden from you. ``createdBy``: the author; omitted for
    command-line imports. ``variants``: all imported versions and languages with their spaces. ``site``: the site that
    shows them."""

    id: str
    status: Status
    pages: list[ImportedPage]
    source: Raw
    target: ImportTarget
    progress: Progress
    problems: Raw
    created_at: str
    urls: ImportRunUrls
    object: Literal["import-run"] = "import-run"
    created_by: str | UnsetType = UNSET
    started_at: str | UnsetType = UNSET
    completed_at: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    preview: bool = False
    plan: ImportPreview | UnsetType = UNSET
    updates: str | UnsetType = UNSET
    changes: ImportChanges | UnsetType = UNSET
    variants: list[ImportedVariant] | UnsetType = UNSET
    site: str | UnsetType = UNSET


class ImportRunsQuery(PageQuery, rename="camel"):
    """Filters for a list of import runs. The ``status`` `active` includes pending and running imports."""

    space: str | None = None
    change_request: str | None = None
    status: Status | Literal["active"] | None = None


def read_import_request(body: StartImport) -> RequestedImport:
    given, target = body.source, body.target
    source: KeptSource
    login = None
    if isinstance(given, ApiSource):
        login = ApiLogin(given.token, or_none(given.user))
        source = KeptApiSource(given.url, given.space, given.service)
    else:
        source = given
    into = Destination(target.space, or_none(target.change_request), or_none(target.page))
    return RequestedImport(source, login, into, body.preview, or_none(body.update), body.variants)


def run_location(to: Recipient, run: ImportRunRow) -> str:
    return to.url(f"/org/{run.organization_id}/imports/{run.id}")


def present_run(to: Recipient, tx: Transaction, run: ImportRunRow) -> ImportRun:
    """Present a run without pages that the recipient can't see, and without problems in their files. If pages of the
    space are hidden from the recipient, the numbers of changed pages are omitted, because these numbers can include
    hidden pages."""
    state = seen_by_recipient(tx, to, find_state(tx, run.space_id, run.change_id))
    hidden = state.hidden
    pages = msgspec.json.decode(run.pages, type=list[ImportedPage])
    problems = Raw(run.problems.encode())
    unseen = [page for page in pages if page.id in hidden]
    if hidden and run.problems != "[]":
        # Pages that were deleted from the source can have problems, too.
        folder = run.folder or ""
        others = find_pages(tx, state.whole, hidden).values()
        names = {(page.file_path or page.slug).removeprefix(folder) for page in others}
        shown = [
            problem
            for problem in msgspec.json.decode(run.problems, type=list[Problem])
            if not (unseen and problem.code == MORE_PROBLEMS)
            and problem.path not in names
            and not any(
                page.path and (page.path in problem.path or page.path in problem.message) for page in unseen
            )
        ]
        problems = Raw(msgspec.json.encode(shown))
    # The progress of a completed run is the number of its pages.
    less = len(unseen) if run.status == "completed" else 0
    variants = (
        msgspec.json.decode(run.variants, type=ImportedVariants) if run.variants else ImportedVariants()
    )
    return ImportRun(
        id=run.id,
        status=run.status,  # type: ignore[arg-type]
        pages=[page for page in pages if page.id not in hidden],
        source=Raw(run.source.encode()),
        target=ImportTarget(run.space_id, run.change_id or UNSET, run.page_id or UNSET),
        progress=Progress(run.done - less, run.total - less),
        problems=problems,
        created_by=run.user_id or UNSET,
        created_at=iso(run.created_at),
        urls=ImportRunUrls(run_location(to, run)),
        started_at=iso(run.started_at) if run.started_at else UNSET,
        completed_at=iso(run.completed_at) if run.completed_at and run.status == "completed" else UNSET,
        reason=run.error or UNSET,
        revision=run.revision or UNSET,
        kind=run.kind or UNSET,
        preview=run.preview,
        plan=msgspec.json.decode(run.plan, type=ImportPreview) if run.plan else UNSET,
        updates=run.origin or UNSET,
        changes=msgspec.json.decode(run.changes, type=ImportChanges) if run.changes and not hidden else UNSET,
        variants=variants.spaces or UNSET,
        site=variants.site,
    )
