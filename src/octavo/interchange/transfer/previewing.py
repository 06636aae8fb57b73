"""Preview an import without importing any content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from octavo.core.import_plan import TextCheck, plan_import, read_pages, unread_in
from octavo.core.problems import Problem
from octavo.core.sources import Source
from octavo.kit.http.schema_names import schema_name

from .importing import OURS_ALONE

MAX_LISTED_PAGES = 5000
"""Maximum number of pages to list in a plan. Additional pages are only counted."""


@schema_name("PlannedPage")
class PreviewedPage(Struct):
    """Page, group, or link in the planned page tree. ``path``: the path of its file in the source."""

    type: Literal["document", "group", "link", "computed"]
    title: str
    path: str | UnsetType = UNSET
    pages: list[PreviewedPage] | UnsetType = UNSET


class PlannedVariant(Struct, rename="camel", omit_defaults=True):
    """Version or language of a source. ``path``: the prefix of its URLs. ``default``: whether readers see this
    variant first. ``pageCount``: the number of pages, if all variants will be imported."""

    title: str
    page_count: int | UnsetType = UNSET
    path: str | UnsetType = UNSET
    language: str | UnsetType = UNSET
    default: bool = False


@schema_name("ImportPlan")
class ImportPreview(Struct, rename="camel"):
    """Plan of an import. ``pages``: the page tree, limited to 5,000 entries; the counts include all pages.
    ``variants``: all versions and languages, if the source has more than one. The rest of the plan describes the
    default variant."""

    pages: list[PreviewedPage]
    page_count: int
    file_count: int
    redirect_count: int
    variants: list[PlannedVariant] | UnsetType = UNSET


def plan_source(
    source: Source, page_size: int, hosts: tuple[str, ...], tick: Callable[[], None]
) -> tuple[ImportPreview, list[Problem]]:
    """Return the plan for importing a source and its parts, and the problems, such as content that would be
    skipped."""
    keys = frozenset(source.parts)
    preview, problems = _plan_one(source, page_size, hosts, keys, tick)
    counts: dict[str, int] = {}
    for key, part in source.parts.items():
        counts[key] = preview.page_count
        if part is not source:
            plan, more = _plan_one(part, page_size, hosts, keys, tick)
            counts[key] = plan.page_count
            problems += more
    if source.structure:
        preview.variants = [
            PlannedVariant(
                one.title, counts.get(one.key, UNSET), one.path or UNSET, one.language or UNSET, one.default
            )
            for one in source.structure
        ]
    return preview, problems


def _plan_one(
    source: Source, page_size: int, hosts: tuple[str, ...], spaces: frozenset[str], tick: Callable[[], None]
) -> tuple[ImportPreview, list[Problem]]:
    """Return the plan for one source. ``spaces``: the names that links use for the spaces that are imported
    together with this space."""
    plan = plan_import(source, unread_in(source, page_size))
    check = TextCheck(plan, spaces.__contains__, hosts)
    made: list[PreviewedPage | None] = []
    preview = ImportPreview([], 0, len(plan.files), len(plan.config.redirects))
    for read in read_pages(plan, source):
        tick()
        planned = read.planned
        path = planned.file_path or ""
        if read.text is not None:
            check.check(path, read.text)
        preview.page_count += planned.kind == "document"
        above = made[planned.parent] if planned.parent is not None else None
        if len(made) >= MAX_LISTED_PAGES or (planned.parent is not None and above is None):
            made.append(None)
            continue
        page = PreviewedPage(planned.kind, read.title, source.origins.get(path, path) or UNSET)
        made.append(page)
        if above is None:
            preview.pages.append(page)
        elif above.pages is UNSET:
            above.pages = [page]
        else:
            above.pages.append(page)
    problems = [
        source.as_original(one) for one in plan.problems if not (source.origins and one.code in OURS_ALONE)
    ]
    return preview, [*source.problems, *problems]
