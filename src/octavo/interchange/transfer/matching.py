"""Match the pages of a source with existing pages, and compute ranks that preserve their order."""

from __future__ import annotations

from collections.abc import Callable

from octavo.core.alignment import align
from octavo.core.document.page import PageHead
from octavo.core.import_plan import PageText
from octavo.core.pages import Page, ranks_between
from octavo.kit import ids

Reads = list[tuple[PageText, PageHead | None, str | None]]
"""Pages of a source in order, parents first, each with its front matter and the hash of its text."""
_ALIKE = 0.6
_MAX_COMPARISONS = 20_000


def longest_in_order(order: list[str], before: list[str]) -> set[str]:
    """Return the longest subsequence of ``order`` whose members have the same order in ``before``. These pages
    don't need new ranks."""
    return {order[place] for place, _ in align(order, before)}


def ranks_of(order: list[str], kept: dict[str, str]) -> list[str]:
    """Return a rank for each page. Existing ranks are kept, and new ranks are inserted between them."""
    found: list[str] = []
    waiting, low = 0, None
    for page_id in order:
        if (rank := kept.get(page_id)) is None:
            waiting += 1
            continue
        found += [*ranks_between(low, rank, waiting), rank]
        waiting, low = 0, rank
    return found + ranks_between(low, None, waiting)


def match_pages(
    reads: Reads,
    old: dict[str, Page],
    text_of: Callable[[str], str],
) -> list[str]:
    """Return the ID for each page, by position: in order of preference, the ID of the page with the same file, the
    ID of the most similar page, or a new ID. A link to a Markdown file is treated as the page that the file used to
    be or will become."""
    free = dict(old)
    by_file = {page.file_path: page.id for page in old.values() if page.file_path}
    by_place: dict[tuple[str | None, str, str], list[str]] = {}
    # Pages with the same title keep their order. They are taken from the end of the list.
    for page in sorted(old.values(), key=lambda page: (page.rank, page.id), reverse=True):
        if not page.file_path:
            leads_to_file = (page.target or {}).get("kind") == "file"
            kind = "file" if leads_to_file else page.kind
            by_place.setdefault((page.parent, kind, page.title), []).append(page.id)
    found: list[str | None] = []
    for read, _, _ in reads:
        planned = read.planned
        above = None if planned.parent is None else found[planned.parent]
        match = by_file.get(planned.file_path or planned.to_file or "")
        if match is None:
            kind = "file" if planned.file_path or planned.to_file else planned.kind
            same = by_place.get((above, kind, read.title))
            match = same.pop() if same else None
        match = match if match in free else None
        if match is not None:
            del free[match]
        found.append(match)
    _match_alike(reads, found, free, text_of)
    return [match or ids.new_id() for match in found]


def _match_alike(
    reads: Reads,
    found: list[str | None],
    free: dict[str, Page],
    text_of: Callable[[str], str],
) -> None:
    """Match pages whose files moved: first the pages with the same text, and then those with the most words in
    common."""
    by_body = {page.body: page.id for page in free.values() if page.body}
    open_places = [n for n, match in enumerate(found) if match is None and reads[n][2] is not None]
    for n in open_places:
        same = by_body.get(reads[n][2] or "")
        if same in free:
            found[n] = same
            del free[same]
    open_places = [n for n in open_places if found[n] is None]
    candidates = {page.id: set(text_of(page.body).split()) for page in free.values() if page.body}
    if not candidates or len(open_places) * len(candidates) > _MAX_COMPARISONS:
        return
    for place in open_places:
        words = set(text_of(reads[place][2] or "").split())
        scored = [
            (len(words & other) / (len(words | other) or 1), page_id) for page_id, other in candidates.items()
        ]
        score, page_id = max(scored, default=(0.0, ""))
        if score >= _ALIKE:
            found[place] = page_id
            del candidates[page_id]
