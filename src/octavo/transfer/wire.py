"""Import runs on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from ..kit.clock import iso
from .store import RunRow

Status = Literal["pending", "in-progress", "completed", "failed", "cancelled"]


class WebsiteSource(Struct, tag="website"):
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class FileSource(Struct, tag="file"):
    """Keys of uploaded files."""

    files: Annotated[list[str], Meta(min_length=1, max_length=100)]


Source = WebsiteSource | FileSource


class ImportTarget(Struct, rename="camel"):
    """Without ``changeRequest`` the pages go into main; ``page`` is the one they go below."""

    space: str
    change_request: str | UnsetType = UNSET
    page: str | UnsetType = UNSET


class StartImport(Struct):
    source: Source
    target: ImportTarget


class ImportedPage(Struct):
    id: str
    source_url: str | UnsetType = msgspec.field(name="sourceURL", default=UNSET)


class ImportRun(Struct, rename="camel"):
    id: str
    status: Status
    pages: list[ImportedPage]
    started_at: str | UnsetType = UNSET
    completed_at: str | UnsetType = UNSET


class Progress(Struct):
    """``total`` is what is known so far; 0 before anything is."""

    done: int
    total: int


class ImportRunDetails(ImportRun, rename="camel", kw_only=True):
    """``error``: why it failed. ``problems``: what was not understood or left out. ``revision``: what it made."""

    source: Raw
    target: ImportTarget
    progress: Progress
    problems: Raw
    created_at: str
    error: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET


def present_run(run: RunRow) -> ImportRun:
    return ImportRun(
        id=run.id,
        status=run.status,  # type: ignore[arg-type]
        pages=msgspec.json.decode(run.pages, type=list[ImportedPage]),
        started_at=iso(run.started_at) if run.started_at else UNSET,
        completed_at=iso(run.completed_at) if run.completed_at and run.status == "completed" else UNSET,
    )


def present_details(run: RunRow) -> ImportRunDetails:
    return ImportRunDetails(
        **msgspec.structs.asdict(present_run(run)),
        source=Raw(run.source.encode()),
        target=ImportTarget(run.space_id, run.change_id or UNSET, run.page_id or UNSET),
        progress=Progress(run.done, run.total),
        problems=Raw(run.problems.encode()),
        created_at=iso(run.created_at),
        error=run.error or UNSET,
        revision=run.revision or UNSET,
    )
