"""What a search found, as it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import UNSET

from octavo.content.revisions.expanding import expand
from octavo.content.revisions.store import main_state, trace_pages
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Next, Slice, decode_token, slice_rows
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.spaces.store import get_titles, list_visible_space_ids

from .drafts import Draft
from .querying import PageHit, Results, Sees, everything, search_pages, with_snippets
from .store import FEW, Organization
from .wire import Ancestor, SearchListing, SearchPage, SearchQuery, SearchSection, SearchSpace, SearchUrls

T = TypeVar("T")
U = TypeVar("U")

Trace = Callable[[str, Sequence[str]], dict[str, list[Page]]]
"""Of the pages of a space with these ids, those that are there, each behind its ancestors."""

_PAGES_OF_SPACE = 10
"""Pages shown of each space, where several are searched."""


def visible_spaces(tx: Transaction, org: OrgAccess) -> Sequence[str] | Organization:
    """Every space of an organization that the caller sees, to be searched."""
    few = list_visible_space_ids(tx, org, most=FEW + 1)
    if len(few) <= FEW:
        return few
    return Organization(org.organization_id, lambda ids: list_visible_space_ids(tx, org, among=ids), few)


def search_space(
    tx: Transaction, to: Recipient, space_id: str, query: SearchQuery
) -> SearchListing[SearchPage]:
    """The pages of a space that match, best first."""
    start, end = _asked(query)
    found = search_pages(tx, [space_id], query.query, end)
    rows = _slice(found.hits[start:end], start, query, found)
    pages = _present_pages(to, tx, rows.rows)
    return _present_slice(rows, [pages[hit] for hit in rows.rows if hit in pages], found)


def search_spaces(
    tx: Transaction,
    to: Recipient,
    spaces: Sequence[str] | Organization,
    query: SearchQuery,
    sees: Sees = everything,
    trace: Trace | None = None,
    draft: Draft | None = None,
) -> SearchListing[SearchSpace]:
    """Those of these spaces that have pages that match, best first, each with its best pages. ``sees`` and ``trace``
    for who does not see all that is written in them; ``draft``: what one of them shows in place of main."""
    start, end = _asked(query)
    found = search_pages(tx, spaces, query.query, end, by_space=True, sees=sees, draft=draft)
    if trace is not None and not found.is_exact:
        # What was estimated counts what they do not see.
        found = Results(found.hits, len({hit.space_id for hit in found.hits}), False)
    grouped: dict[str, list[PageHit]] = {}
    for hit in found.hits:
        grouped.setdefault(hit.space_id, []).append(hit)
    rows = _slice(list(grouped.items())[start:end], start, query, found)
    titles = get_titles(tx, [space_id for space_id, _ in rows.rows])
    hits = [hit for _, hits in rows.rows for hit in hits[:_PAGES_OF_SPACE]]
    pages = _present_pages(to, tx, hits, trace)
    items = [
        SearchSpace(
            id=space_id, title=titles[space_id].title, pages=[pages[hit] for hit in hits if hit in pages]
        )
        for space_id, hits in rows.rows
    ]
    return _present_slice(rows, items, found)


def _present_pages(
    to: Recipient, tx: Transaction, hits: Sequence[PageHit], trace: Trace | None = None
) -> dict[PageHit, SearchPage]:
    """The hits that are to be shown, with their snippets; their pages are read at once. Computed pages that the
    caller may not see, or that are there no longer, are left out."""
    by_space: dict[str, list[str]] = {}
    for hit in hits:
        by_space.setdefault(hit.space_id, []).append(hit.page_id)
    traced = {
        (space_id, page_id): chain
        for space_id, page_ids in by_space.items()
        for page_id, chain in (
            trace(space_id, page_ids) if trace is not None else _trace_pages(to, tx, space_id, page_ids)
        ).items()
    }
    return {
        hit: _present_page(to, quoted, traced[hit.space_id, hit.page_id])
        for hit, quoted in zip(hits, with_snippets(tx, hits), strict=True)
        if (hit.space_id, hit.page_id) in traced
    }


def _trace_pages(
    to: Recipient, tx: Transaction, space_id: str, page_ids: Sequence[str]
) -> dict[str, list[Page]]:
    """Those of these pages that are there for the caller, each behind its ancestors."""
    state = main_state(tx, space_id)
    traced = trace_pages(tx, state, page_ids)
    others = [page_id for page_id in page_ids if page_id not in traced]
    if others:
        # A computed page is there for those who may see what it is made of.
        expansion = expand(tx, state, to.actor)
        for page_id in others:
            if (page := expansion.find(page_id)) is not None:
                traced[page_id] = [*expansion.list_ancestors(tx, state, page), page]
    return traced


def _present_page(to: Recipient, hit: PageHit, chain: Sequence[Page]) -> SearchPage:
    *ancestors, page = chain
    path = "/".join(p.slug for p in chain)
    url = to.app.page(hit.space_id, path)
    return SearchPage(
        id=page.id,
        title=page.title,
        path=path,
        urls=SearchUrls(url),
        sections=[
            SearchSection(
                id=section.anchor or "",
                title=section.heading,
                path=f"{path}#{section.anchor}" if section.anchor else path,
                body="".join(part.text for part in section.snippet),
                urls=SearchUrls(f"{url}#{section.anchor}" if section.anchor else url),
            )
            for section in hit.sections
        ],
        ancestors=[Ancestor(p.title) for p in ancestors],
    )


def _asked(query: SearchQuery) -> tuple[int, int]:
    """Which results to read: from the first of them to one more than asked for.

    They are ranked anew for each call: their page token is how many were gone through."""
    after = decode_token(query.page, int)
    start = after[0] if after and after[0] >= 0 else 0
    return start, start + query.limit + 1


def _slice(results: Sequence[T], start: int, query: SearchQuery, found: Results) -> Slice[T]:
    rows = slice_rows(list(enumerate(results, start + 1)), query.limit, found.count, lambda row: (row[0],))
    return Slice([result for _, result in rows.rows], rows.count, rows.next_token)


def _present_slice(rows: Slice[T], items: list[U], found: Results) -> SearchListing[U]:
    return SearchListing(
        items=items,
        count=rows.count,
        next=Next(rows.next_token) if rows.next_token else UNSET,
        count_is_lower_bound=UNSET if found.is_exact else True,
    )
