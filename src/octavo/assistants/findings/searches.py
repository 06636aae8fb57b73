"""Find frequent searches by a site's visitors that return no results."""

from __future__ import annotations

from collections.abc import Sequence

from octavo.content.revisions.restrictions import hidden_on_sites
from octavo.content.search.querying import search_pages
from octavo.content.search.store import SectionMatch
from octavo.core.sentences import shorten
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.sites.insights.store import list_frequent_queries

from .gathering import key_of
from .kinds import KINDS
from .types import Evidence, Found

_DAYS = 30
_LEAST, _VISITORS = 5, 3
"""Minimum number of searches with the same query, and minimum number of visitors who made them. A query that only
one person used may contain personal data."""
_MOST = 50
_STEPS = (1000, 500, 250, 100, 50, 25, 10, _LEAST)
"""Numbers to which a finding's number of searches is rounded down, so that not every search updates the finding."""


def find_empty_searches(
    tx: Transaction, site_id: str, organization_id: str, space_ids: Sequence[str]
) -> list[Found]:
    """Return a finding for each frequent search by people and bots that still returns no results from the published
    pages of these spaces."""
    hidden = hidden_on_sites(tx, organization_id)

    def sees(section: SectionMatch) -> bool:
        return section.page_id not in hidden.of(section.space_id)

    since = now() - _DAYS * 24 * 3600 * 1000
    title = KINDS["empty-search"].title
    found: list[Found] = []
    for query, count in list_frequent_queries(tx, site_id, since, _LEAST, _VISITORS, _MOST):
        if search_pages(tx, space_ids, query, sees=sees, counts=False).hits:
            continue
        least = next(step for step in _STEPS if count >= step)
        message = f"Visitors searched for this at least {least} times in {_DAYS} days."
        found.append(
            Found(
                key_of("empty-search", query),
                "empty-search",
                None,
                shorten(f"{title}: {query}", 256),
                KINDS["empty-search"].severity,
                (Evidence("", query, message),),
                (),
            )
        )
    return found
