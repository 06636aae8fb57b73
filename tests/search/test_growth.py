"""Tests that the cost of a search depends only on the searched space."""

from __future__ import annotations

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
COPIES = 60


def grow(world: World, space: str) -> None:
    """Create copies of a space in the same organization."""
    for _ in range(COPIES):
        with world.context.db.write() as tx:
            copy = insert_space(
                tx,
                organization_id=world.home["organizationId"],
                collection_id=None,
                title="Beside",
                created_by=None,
            )
            store.copy_space(tx, space, copy.id)


# PostgreSQL chooses another plan on some runs, and then reads up to three times as many pages beside other spaces.
@pytest.mark.slow
@pytest.mark.parametrize("frequent", [1000, 6])
def test_a_search_reads_no_other_space(
    _postgresql_once: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frequent: int
) -> None:
    """``frequent``: number of pages from which a word counts as frequent."""
    monkeypatch.setattr("octavo.content.search.querying._MANY_PAGES", frequent)
    world = _postgresql_once.renew()
    space = make(world, tmp_path / "s", {**airships(30), "Galley": "A captain eats porridge."})

    def look() -> list[int]:
        tidy(world)
        counts = []
        for query in QUERIES:
            with world.context.db.read() as tx, counting_pages(monkeypatch) as looked:
                with_snippets(tx, search_pages(tx, [space], query, 5).hits)
                suggest(tx, [space], query)
            counts.append(looked[0])
        return counts

    alone = look()
    grow(world, space)
    beside = look()
    assert min(alone) > 0
    # Indexes are one level deeper.
    assert all(after <= 1.5 * before + 20 for before, after in zip(alone, beside, strict=True)), (
        alone,
        beside,
    )
