"""Tests that the cost of a search depends only on the searched space."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from counting import counting_pages, tidy
from octavo.content.search import store
from octavo.content.search.querying import search_pages, suggest, with_snippets
from octavo.organization.spaces.store import insert_space
from world import World

from .test_frequent_words import airships
from .test_large_results import make

QUERIES = [
    "airship captain",
    "captain",
    "captain porridge",
    "airship cptain porridge ",
    "what does the captain eat",
    '"eats porridge"',
    "capt",
    "nowhere balloon dynamo",
]
COPIES = 120
"""Number of copies of the space. For smaller tables, PostgreSQL chooses plans that read them as a whole."""


def grow(world: World, space: str) -> None:
    """Create copies of a space in the same organization."""
    with world.context.db.write() as tx:
        for _ in range(COPIES):
            copy = insert_space(
                tx,
                organization_id=world.home["organizationId"],
                collection_id=None,
                title="Beside",
                created_by=None,
            )
            store.copy_space(tx, space, copy.id)


@pytest.mark.slow
def test_a_search_reads_no_other_space(
    _postgresql_once: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _postgresql_once.renew()
    space = make(world, tmp_path / "s", {**airships(30), "Galley": "A captain eats porridge."})

    def look() -> dict[tuple[int, str], int]:
        tidy(world)
        counts = {}
        # The number of pages from which a word counts as frequent.
        for frequent, query in product((1000, 6), QUERIES):
            monkeypatch.setattr("octavo.content.search.querying._MANY_PAGES", frequent)
            with world.context.db.read() as tx, counting_pages(monkeypatch) as looked:
                with_snippets(tx, search_pages(tx, [space], query, 5).hits)
                suggest(tx, [space], query)
            counts[frequent, query] = looked[0]
        return counts

    grow(world, space)
    few = look()
    grow(world, space)
    many = look()
    assert min(few.values()) > 0
    # An index may be one level deeper.
    assert all(many[query] <= 1.1 * pages + 20 for query, pages in few.items()), (few, many)
