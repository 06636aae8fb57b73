"""Convert search results to their API format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import UNSET

from octavo.content.revisions.expanding import Expansion, expand
from octavo.content.revisions.page_versions import find_page, list_computed, list_tagged_pages, trace_pages
from octavo.content.revisions.restrictions import hidden_from, main_seen_by, unrestricted
from octavo.content.revisions.states import State, list_branch_content, main_state
from octavo.core.pages import Page
from octavo.core.tags import has_tag
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Next, Slice, decode_token, slice_rows
from octavo.kit.http.operation import Recipient
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.organization.spaces.store import get_titles, list_visible_space_ids

from .drafts import SearchedDraft, draft_of
from .querying import PageHit, Results, SectionHit, Sees, search_pages, sees_everything, with_snippets
from .store import FEW, OrganizationScope, SectionMatch
from .wire import (
    Ancestor,
    ResultType,
    SearchListing,
    SearchPage,
    SearchQuery,
    SearchSection,
    SearchSpace,
    SearchUrls,
)

T = TypeVar("T")
U = TypeVar("U")

Trace = Callable[[str, Sequence[str]], dict[str, list[Page]]]
"""Function that returns the existing pages of a space, by ID, each preceded by its ancestors."""

_PAGES_OF_SPACE = 10
"""Maximum number of pages shown per space when several spaces are searched."""


def visible_spaces(tx: Transaction, org: OrgAccess) -> Sequence[str] | OrganizationScope:
    """Return all spaces of an organization that the caller can see, as a search scope."""
    few = list_visible_space_ids(tx, org, most=FEW + 1)
    if len(few) <= FEW:
        return few
    return OrganizationScope(org.organization_id, lambda ids: list_visible_space_ids(tx, org, among=ids), few)


def search_space(
    tx: Transaction, to: Recipient, space: SpaceAccess, query: SearchQuery, tag: str | None = None
) -> SearchListing[SearchPage]:
    """Search the pages of a space, best matches first. ``tag``: the tag to filter by."""
    start, end = _result_range(query)
    sees = sees_as(tx, space.organization, tag)
    found = search_pages(tx, [space.space_id], query.query, end, sees=sees)
    if sees is not sees_everything:
        found = _without_estimate(found, len(found.hits))
    rows = _slice(found.hits[start:end], start, query, found)
    pages = _present_pages(to, tx, dict(zip(rows.rows, range(start + 1, end + 1), strict=False)))
    return _present_slice(rows, [pages[hit] for hit in rows.rows if hit in pages], found)


def search_draft(
    tx: Transaction, to: Recipient, state: State, query: SearchQuery
) -> SearchListing[SearchPage]:
    """Search the pages that a change request edits, best matches first."""
    start, end = _result_range(query)
    draft = draft_of(tx, state)
    edited = list_branch_content(tx, state.layers[0]).pages - state.hidden
    if draft is None or not edited:
        return SearchListing([], 0)
    found = search_pages(
        tx,
        [state.space_id],
        query.query,
        end,
        sees=lambda match: match.page_id in edited,
        draft=draft,
    )
    found = _without_estimate(found, len(found.hits))
    rows = _slice(found.hits[start:end], start, query, found)

    def trace(space_id: str, page_ids: Sequence[str]) -> dict[str, list[Page]]:
        return trace_pages(tx, state, page_ids)

    pages = _present_pages(to, tx, dict(zip(rows.rows, range(start + 1, end + 1), strict=False)), trace)
    return _present_slice(rows, [pages[hit] for hit in rows.rows if hit in pages], found)


def search_spaces(
    tx: Transaction,
    to: Recipient,
    spaces: Sequence[str] | OrganizationScope,
    query: SearchQuery,
    sees: Sees = sees_everything,
    trace: Trace | None = None,
    draft: SearchedDraft | None = None,
) -> SearchListing[SearchSpace]:
    """Search these spaces and return the spaces with matching pages, best first, each with its best pages. ``sees`` and
    ``trace``: functions that restrict results for callers who can't see all content. ``draft``: the state that one of
    the spaces shows instead of main."""
    start, end = _result_range(query)
    found = search_pages(tx, spaces, query.query, end, by_space=True, sees=sees, draft=draft)
    if sees is not sees_everything:
        found = _without_estimate(found, len({hit.space_id for hit in found.hits}))
    grouped: dict[str, list[PageHit]] = {}
    for hit in found.hits:
        grouped.setdefault(hit.space_id, []).append(hit)
    rows = _slice(list(grouped.items())[start:end], start, query, found)
    titles = get_titles(tx, [space_id for space_id, _ in rows.rows])
    hits = [hit for _, hits in rows.rows for hit in hits[:_PAGES_OF_SPACE]]
    ranks = {hit: rank for rank, hit in enumerate(found.hits, 1)}
    pages = _present_pages(to, tx, {hit: ranks[hit] for hit in hits}, trace)
    items = [
        SearchSpace(
            id=space_id,
            title=titles[space_id].title,
            score=_score(ranks[hits[0]]),
            pages=[pages[hit] for hit in hits if hit in pages],
        )
        for space_id, hits in rows.rows
    ]
    return _present_slice(rows, items, found)


def _without_estimate(found: Results, count: int) -> Results:
    """If the count is a lower bound, limit the count to the results that were read, because an estimate would include
    hidden results."""
    return found if found.is_exact else Results(found.hits, count, False)


def sees_as(tx: Transaction, org: OrgAccess, tag: str | None = None) -> Sees:
    """Return a predicate for matches: whether the caller can see the page and, if a tag is given, whether the page has
    that tag."""
    hidden = hidden_from(tx, org)
    if tag is None and not hidden:
        return sees_everything
    tagged: dict[str, frozenset[str]] = {}
    expansions: dict[str, Expansion | None] = {}

    def hides(found: SectionMatch) -> bool:
        space_id, page_id = found.space_id, found.page_id
        if not hidden.of(space_id) or page_id in hidden.of(space_id):
            return bool(hidden.of(space_id))
        state = hidden.main(space_id)
        if space_id not in expansions:
            # Computed pages are hidden with their source.
            sources = list_computed(tx, state.whole)
            any_hidden = any(source.id in state.hidden for source in sources)
            expansions[space_id] = expand(tx, state, org.actor) if any_hidden else None
        expansion = expansions[space_id]
        if expansion is None or expansion.find(page_id) is not None:
            return False
        return find_page(tx, state, page_id) is None

    def sees(found: SectionMatch) -> bool:
        if hides(found):
            return False
        if tag is None:
            return True
        if found.space_id not in tagged:
            pages = list_tagged_pages(tx, main_state(tx, found.space_id))
            tagged[found.space_id] = frozenset(page.id for page in pages if has_tag(page, tag))
        return found.page_id in tagged[found.space_id]

    return sees


def _present_pages(
    to: Recipient, tx: Transaction, ranks: Mapping[PageHit, int], trace: Trace | None = None
) -> dict[PageHit, SearchPage]:
    """Return hits in their API format, with snippets. The pages of all hits are read together. ``ranks``: the positions
    of the hits among all hits, from 1. Hits on deleted pages, and on computed pages that the caller can't see, are
    omitted."""
    hits = list(ranks)
    by_space: dict[str, list[str]] = {}
    for hit in hits:
        by_space.setdefault(hit.space_id, []).append(hit.page_id)
    traced = {
        (space_id, page_id): chain
        for space_id, page_ids in by_space.items()
        for page_id, chain in (
            trace(space_id, page_ids)
            if trace is not None
            else _trace_pages(to, tx, _main_for(to, tx, space_id), page_ids)
        ).items()
    }
    return {
        hit: _present_page(to, quoted, ranks[hit], traced[hit.space_id, hit.page_id])
        for hit, quoted in zip(hits, with_snippets(tx, hits), strict=True)
        if (hit.space_id, hit.page_id) in traced
    }


def _main_for(to: Recipient, tx: Transaction, space_id: str) -> State:
    space = find_space_access(tx, to.actor, Can.VIEW, space_id)
    return main_seen_by(tx, space) if space is not None else unrestricted(tx, main_state(tx, space_id))


def _trace_pages(
    to: Recipient, tx: Transaction, state: State, page_ids: Sequence[str]
) -> dict[str, list[Page]]:
    """Return the pages that exist for the caller, each preceded by its ancestors."""
    traced = trace_pages(tx, state, page_ids)
    others = [page_id for page_id in page_ids if page_id not in traced]
    if others:
        # Computed pages exist for everyone who can see their source.
        expansion = expand(tx, state, to.actor)
        for page_id in others:
            if (page := expansion.find(page_id)) is not None:
                traced[page_id] = [*expansion.list_ancestors(tx, state, page), page]
    return traced


def _score(rank: int) -> float:
    """Return the score of a result based on its position. The engine's scores would reveal which words occur in
    spaces that the caller can't see."""
    return 1 / rank


def _result_type(sections: Iterable[SectionHit]) -> ResultType:
    return "page" if any(section.names_page for section in sections) else "section"


def _present_page(to: Recipient, hit: PageHit, rank: int, chain: Sequence[Page]) -> SearchPage:
    *ancestors, page = chain
    path = "/".join(p.slug for p in chain)
    url = to.app.page(hit.space_id, path)
    return SearchPage(
        id=page.id,
        title=page.title,
        description=page.description or "",
        path=path,
        score=_score(rank),
        rank=rank,
        result_type=_result_type(hit.sections),
        urls=SearchUrls(url),
        sections=[
            SearchSection(
                id=section.anchor or "",
                title=section.heading,
                path=f"{path}#{section.anchor}" if section.anchor else path,
                score=_score(rank) / at,
                result_type=_result_type([section]),
                body="".join(part.text for part in section.snippet),
                urls=SearchUrls(f"{url}#{section.anchor}" if section.anchor else url),
            )
            for at, section in enumerate(hit.sections, 1)
        ],
        ancestors=[Ancestor(p.title) for p in ancestors],
    )


def _result_range(query: SearchQuery) -> tuple[int, int]:
    """Return the range of results to read. It includes one more result than requested.

    Results are ranked again for every call; the page token is the number of results already returned.
    """
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
