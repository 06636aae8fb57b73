"""Summaries of imports for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import UNSET

from octavo.core.problems import Problem
from octavo.interchange.transfer.importing import ImportOutcome
from octavo.interchange.transfer.previewing import ImportPreview
from octavo.kit.texts import counted

from .api_import import ApiImportResult
from .archives import ArchiveCounts
from .docs_sites import ImportedSite
from .import_export import CompletedImport, Previewed

_MOST_PROBLEMS = 20
_MOST_PAGES = 200

Imported = CompletedImport | ImportedSite | ApiImportResult | ArchiveCounts | Previewed


def summarize_import(done: Imported) -> str:
    """Return lines that describe the result of an import or of a preview, and the problems with the source."""
    match done:
        case CompletedImport():
            lines = _describe_space(done)
        case ImportedSite():
            lines = _describe_site(done)
        case ApiImportResult():
            lines = _describe_moved(done)
        case Previewed():
            lines = _describe_preview(done)
        case ArchiveCounts():
            lines = iter(
                [
                    f"Imported the organization {done.title} ({done.organization}): {counted(done.spaces, 'space')}"
                ]
            )
    return "\n".join(lines)


def _describe_space(done: CompletedImport) -> Iterator[str]:
    yield f"Imported {_describe_outcome(done.outcome)} into space {done.outcome.space}"
    if done.site_url:
        yield f"Published at {done.site_url}"
    yield from _list_problems(done.outcome.problems)


def _describe_site(done: ImportedSite) -> Iterator[str]:
    yield f"Imported {counted(len(done.spaces), 'space')} into site {done.site}"
    for key, one in done.spaces.items():
        yield f"  {key}: {_describe_outcome(one.outcome)} (space {one.outcome.space})"
    if done.site_url:
        yield f"Published at {done.site_url}"
    yield from _list_problems(
        [*done.problems, *(problem for one in done.spaces.values() for problem in one.outcome.problems)]
    )


def _describe_moved(done: ApiImportResult) -> Iterator[str]:
    yield f"Imported {counted(len(done.spaces), 'space')} and {counted(len(done.sites), 'site')}"
    problems: list[Problem] = []
    for space in done.spaces:
        what = (
            "no changes since the last import" if space.outcome is None else _describe_outcome(space.outcome)
        )
        if space.change_requests:
            what += f", {counted(space.change_requests, 'change request')}"
        yield f"  Space {space.title} ({space.id}): {what}"
        problems += [*(space.outcome.problems if space.outcome else ()), *space.problems]
    for site in done.sites:
        yield f"  Site {site.title} ({site.id}): {counted(site.redirects, 'redirect')}"
        problems += site.problems
    yield from _list_problems(problems)
    if done.stopped:
        yield f"Stopped early: {done.stopped}"
        yield "Run the same command again to continue."


def _describe_preview(done: Previewed) -> Iterator[str]:
    plan = done.plan
    yield (
        f"Source: {done.kind}. An import would add {counted(plan.page_count, 'page')}, "
        f"{counted(plan.file_count, 'file')}, and {counted(plan.redirect_count, 'redirect')}."
    )
    for variant in () if plan.variants is UNSET else plan.variants:
        pages = "" if variant.page_count is UNSET else f": {counted(variant.page_count, 'page')}"
        yield f"  Variant {variant.title}{' (default)' if variant.default else ''}{pages}"
    yield from islice(_list_pages(plan), _MOST_PAGES)
    if (more := plan.page_count - _MOST_PAGES) > 0:
        yield f"  … and {more} more"
    yield from _list_problems(done.problems)
    yield "Nothing was imported. Run the command without --preview to import."


def _describe_outcome(outcome: ImportOutcome) -> str:
    said = (
        f"{counted(outcome.pages, 'page')} and {counted(outcome.files, 'file')} ({outcome.changed} changed)"
    )
    if outcome.changes is not UNSET and outcome.changes.kept:
        said += f", {counted(outcome.changes.kept, 'conflict')}"
        if outcome.changes.change_request is not UNSET:
            said += f" to resolve in change request {outcome.changes.change_request}"
    return said


def _list_pages(plan: ImportPreview) -> Iterator[str]:
    """Yield the titles of all pages in reading order, indented by their depth."""
    waiting = [(1, page) for page in reversed(plan.pages)]
    while waiting:
        depth, page = waiting.pop()
        yield f"{'  ' * depth}{page.title}"
        if page.pages is not UNSET:
            waiting += [(depth + 1, below) for below in reversed(page.pages)]


def _list_problems(problems: Sequence[Problem]) -> Iterator[str]:
    if not problems:
        return
    yield f"{counted(len(problems), 'problem')}:"
    for one in problems[:_MOST_PROBLEMS]:
        place = f"{one.path}:{one.line}" if one.line else one.path
        yield f"  {place}: {one.message}" if place else f"  {one.message}"
    if len(problems) > _MOST_PROBLEMS:
        yield f"  … and {len(problems) - _MOST_PROBLEMS} more; --json lists all"
