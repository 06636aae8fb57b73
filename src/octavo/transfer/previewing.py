"""What an import would bring, without bringing any of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from ..core.import_plan import TextCheck, plan_import, read_pages
from ..core.problems import Problem
from .importing import OURS_ALONE
from .sources import Source

MAX_TOLD = 5000
"""Pages that a plan names; of the rest it gives the number."""


class PlannedPage(Struct):
    """A page, group or link of the tree to come. ``path``: of its file in the source."""

    type: Literal["document", "group", "link", "computed"]
    title: str
    path: str | UnsetType = UNSET
    pages: list[PlannedPage] | UnsetType = UNSET


class ImportPlan(Struct, rename="camel"):
    """``pages`` is the tree, of which at most 5,000 places are told; the numbers count all of it."""

    pages: list[PlannedPage]
    page_count: int
    file_count: int
    redirect_count: int


def plan_source(
    source: Source, page_size: int, hosts: tuple[str, ...], tick: Callable[[], None]
) -> tuple[ImportPlan, list[Problem]]:
    """What would come of a source, and what would not."""
    plan = plan_import(source)
    check = TextCheck(plan, lambda space: False, hosts)
    made: list[PlannedPage | None] = []
    told = ImportPlan([], 0, len(plan.files), len(plan.config.redirects))
    for read in read_pages(plan, source, page_size):
        tick()
        planned = read.planned
        path = planned.file_path or ""
        if read.text is not None:
            check.check(path, read.text)
        told.page_count += planned.kind == "document"
        above = made[planned.parent] if planned.parent is not None else None
        if len(made) >= MAX_TOLD or (planned.parent is not None and above is None):
            made.append(None)
            continue
        page = PlannedPage(planned.kind, read.title, source.origins.get(path, path) or UNSET)
        made.append(page)
        if above is None:
            told.pages.append(page)
        elif above.pages is UNSET:
            above.pages = [page]
        else:
            above.pages.append(page)
    problems = [
        source.as_original(one) for one in plan.problems if not (source.origins and one.code in OURS_ALONE)
    ]
    return told, source.problems + problems
