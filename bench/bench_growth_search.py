"""Benchmark the cost of search next to other spaces and in a large one.

    python bench/bench_growth_search.py [PAGES] [spaces|words] [SQLite|PostgreSQL]

``spaces``: a space of 100 pages next to others with PAGES pages in total (default: 20,000), 500 in each. ``words``:
the same queries, and words that occur on very many pages, in a space of 100 pages and in one of PAGES.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import growth
from bench_search import fill
from growth import Row, Work, add_person, compare, settle

from octavo.content.search.querying import search_pages, with_snippets
from octavo.kit.context import Context
from octavo.organization.orgs.creating import create_organization

SMALL = 100
EACH = 500
LIMIT = 10
QUERIES = 5


def make_organization(context: Context) -> str:
    with context.db.write() as tx:
        return create_organization(tx, add_person(tx), "Bench").id


def searching(context: Context, spaces: Sequence[str], query: str, by_space: bool = False) -> Work:
    def run() -> None:
        with context.db.read() as tx:
            with_snippets(tx, search_pages(tx, list(spaces), query, LIMIT, by_space=by_space).hits[:LIMIT])

    return Work(run)


def drawn(queries: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    chance = random.Random(7)
    for kind, some in queries.items():
        yield kind, chance.sample(some, min(QUERIES, len(some)))


def mean(context: Context, works: list[Work]) -> float:
    return sum(compare(context, *works)) / len(works)


def spaces(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    org = make_organization(context)
    space, queries = fill(context, org, SMALL)
    some = [space, *(fill(context, org, SMALL)[0] for _ in range(20))]
    asked = dict(drawn(queries))

    def look() -> dict[str, float]:
        settle(context)
        found = {}
        for kind, queries in asked.items():
            found[f"search in a space by {kind}"] = mean(
                context, [searching(context, [space], query) for query in queries]
            )
            found[f"search in an organization by {kind}"] = mean(
                context, [searching(context, some, query, by_space=True) for query in queries]
            )
        return found

    alone = look()
    some += [fill(context, org, EACH)[0] for _ in range(pages // EACH)]
    for what, took in look().items():
        yield Row(f"{what}, large organization compared with small", [alone[what], took])


def words(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    org = make_organization(context)
    found: list[dict[str, list[Work]]] = []
    for size in (SMALL, pages):
        space, queries = fill(context, org, size)
        chance = random.Random(7)
        frequent = sorted({word for query in queries["two frequent words"] for word in query.split()})
        for number in (3, 12, 32):
            queries[f"{number} frequent words"] = [
                " ".join(chance.sample(frequent, number)) for _ in range(QUERIES)
            ]
        found.append(
            {kind: [searching(context, [space], query) for query in some] for kind, some in drawn(queries)}
        )
    settle(context)
    for kind, small in found[0].items():
        large = found[1][kind]
        took = compare(context, *small, *large)
        means = [sum(took[: len(small)]) / len(small), sum(took[len(small) :]) / len(large)]
        yield Row(f"search in a space by {kind}, large space compared with small", means)


if __name__ == "__main__":
    growth.main({"spaces": spaces, "words": words})
