"""Tests of words on very many pages: all of these pages are found, the best first, and little is read for
each response."""

from collections.abc import Callable
from typing import Any

import pytest

from octavo.content.search.querying import search_pages
from octavo.kit.db.database import Transaction

from .test_large_results import all_pages, make

SETTINGS = {"_MANY_PAGES": 6, "_WINDOW": 40, "_SMALL_WINDOW": 12, "_FILLED": 6, "_MOST": 6, "MAX_COUNT": 1000}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Reduce the limits for frequent words and windows."""
    for name, value in SETTINGS.items():
        monkeypatch.setattr(f"octavo.content.search.querying.{name}", value)


def airships(pages: int) -> dict[str, str]:
    """Create this many pages with the same words, the last one with them as its title."""
    texts = {
        f"Page {n}": f"The captain steers an airship.\n\n## Part {n}\n\nCaptains, airships."
        for n in range(pages)
    }
    return {**texts, "Airship captain": "What they do."}


@pytest.mark.parametrize(
    "query", ["airship captain ", "airship captain", "captain", "capta", "airship cptain", "airship captian"]
)
def test_all_pages_with_frequent_words_are_paginated(world, tmp_path, query):
    pages = airships(40)
    space = make(world, tmp_path / "s", pages)
    found, first = all_pages(world, f"/spaces/{space}/search", query, 7)
    assert found[0]["title"] == "Airship captain"
    assert sorted(item["title"] for item in found) == sorted(pages)
    assert first["countIsLowerBound"] and 7 < first["count"] <= len(pages)
    assert all(item["sections"] for item in found)


def test_a_rare_word_decides_among_frequent_ones(world, tmp_path):
    space = make(world, tmp_path / "s", {**airships(40), "Galley": "A captain of an airship eats porridge."})
    for query in ("captain airship porridge", "captain airship poridge", "porridge capt"):
        assert [
            item["title"]
            for item in world.get("admin", f"/spaces/{space}/search", params={"query": query})["items"]
        ][:1] == ["Galley"]


def test_results_are_filled_up_for_frequent_words_that_never_co_occur(world, tmp_path):
    texts = {f"Left {n}": "An anchor, a balloon and a compass." for n in range(20)}
    texts |= {f"Right {n}": "A dynamo." for n in range(20)}
    space = make(world, tmp_path / "s", texts)
    found, first = all_pages(world, f"/spaces/{space}/search", "dynamo anchor balloon compass ", 9)
    assert sorted(item["title"] for item in found) == sorted(texts)
    assert first["countIsLowerBound"]
    assert found[0]["title"].startswith("Left")  # most of the words


def test_every_space_with_frequent_words_is_found(world, tmp_path):
    """Also next to a space that has more of them than are read at once."""
    spaces = {make(world, tmp_path / "large", airships(60))}
    spaces |= {make(world, tmp_path / f"s{n}", {f"Airships {n}": "A captain."}) for n in range(20)}
    away = make(world, tmp_path / "away", airships(3), world.away)
    path = world.home.path("/orgs/{organizationId}/search")
    for query in ("airship captain ", "airships captain ", "airships cptain "):
        found, first = all_pages(world, path, query, 6)
        assert [item["id"] for item in found] == list(dict.fromkeys(item["id"] for item in found))
        assert {item["id"] for item in found} >= spaces - {found[0]["id"]}
        assert away not in {item["id"] for item in found}
        assert first["count"] >= 6
    with world.context.db.write() as tx:
        hidden = sorted(spaces)[:3]
        tx.run("UPDATE spaces SET default_level = NULL WHERE id IN :ids", ids=hidden)
    seen = world.get("reader", path, params={"query": "airships captain ", "limit": 100})["items"]
    assert {item["id"] for item in seen} == spaces - set(hidden)


def test_hidden_pages_do_not_affect_results(world, tmp_path):
    space = make(world, tmp_path / "s", airships(30))
    with world.context.db.read() as tx:
        every = {hit.page_id for hit in search_pages(tx, [space], "airship captain ", 100).hits}
        hidden = set(sorted(every)[::2])
        found = search_pages(
            tx, [space], "airship captain ", 100, sees=lambda found: found.page_id not in hidden
        )
    assert {hit.page_id for hit in found.hits} == every - hidden
    assert found.count == len(every - hidden)


def rows_read(world, monkeypatch, work: Callable[[Transaction], object]) -> int:
    """Return how many rows the database reads for it."""
    read = [0]
    every = Transaction.all

    def count(tx: Transaction, sql: str, **parameters: Any) -> list[Any]:
        rows = every(tx, sql, **parameters)
        read[0] += len(rows)
        return rows

    with world.context.db.read() as tx, monkeypatch.context() as counting:
        counting.setattr(Transaction, "all", count)
        work(tx)
    return read[0]


@pytest.mark.parametrize(
    "query", ["airship captain steers ", "airship captain steers", "airship cptain steers "]
)
def test_frequent_words_take_no_longer_in_a_larger_space(world, tmp_path, monkeypatch, query):
    small = make(world, tmp_path / "small", airships(20))
    large = make(world, tmp_path / "large", airships(160))
    costs = [
        rows_read(world, monkeypatch, lambda tx, space=space: search_pages(tx, [space], query, 5))
        for space in (small, large)
    ]
    assert costs[1] <= 1.2 * costs[0], costs


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_ranking_does_not_read_the_list_of_a_frequent_word(world, tmp_path, monkeypatch):
    """FTS5 counts all rows of each word that it ranks by."""
    space = make(world, tmp_path / "s", {**airships(40), "Galley": "A captain of an airship eats porridge."})
    ranked: list[str] = []
    every = Transaction.all

    def look(tx: Transaction, sql: str, **parameters: Any) -> list[Any]:
        if "bm25" in sql:
            ranked.append(parameters["ranking"])
        return every(tx, sql, **parameters)

    with world.context.db.read() as tx, monkeypatch.context() as looking:
        looking.setattr(Transaction, "all", look)
        for query in ("captain airship porridge ", "captain airship ", "captain airship poridge ", "captian"):
            search_pages(tx, [space], query, 5)
    assert any("porridg" in query for query in ranked)
    assert not any("captain" in query or "airship" in query for query in ranked)
