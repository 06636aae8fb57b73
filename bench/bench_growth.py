"""What a request costs as the installation grows beside it: CPU of the small and of the large case, and their ratio.

    python bench/bench_growth.py [PAGES]

Beside a space of 100 pages are others of PAGES pages together (20,000 unless told), 500 in each. CPU is that of this
process and of the PostgreSQL process that serves it.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from bench_search import applications, engine_cpu, fill

from octavo.access import insert_user
from octavo.kit.context import Context
from octavo.orgs import create_organization
from octavo.search import search_pages, with_snippets

SMALL = 100
EACH = 500
ROUNDS = 15
LIMIT = 10


def cpu(context: Context, work: Callable[[Any], object]) -> float:
    """The median of milliseconds that ``work`` takes in a read."""
    took = []
    with context.db.read() as tx:
        for _ in range(ROUNDS):
            before = engine_cpu(tx)
            work(tx)
            took.append(engine_cpu(tx) - before)
    return statistics.median(took) * 1000


def search(spaces: list[str], queries: list[str], by_space: bool = False) -> Callable[[Any], object]:
    def work(tx: Any) -> None:
        for query in queries:
            with_snippets(tx, search_pages(tx, spaces, query, LIMIT, by_space=by_space).hits[:LIMIT])

    return work


def measure(context: Context, pages: int) -> dict[str, list[float]]:
    with context.db.write() as tx:
        user = insert_user(tx, "bench@example.com", "Bench", verified=True).id
        org = create_organization(tx, user, "Bench").id
    space, queries = fill(context, org, SMALL)
    spaces = [space, *(fill(context, org, SMALL)[0] for _ in range(20))]
    chance = random.Random(7)
    asked = {kind: chance.sample(some, min(5, len(some))) for kind, some in queries.items()}
    found: dict[str, list[float]] = {}

    def look() -> None:
        if context.db.engine == "postgresql":
            with psycopg.connect(context.settings.database, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        for kind, some in asked.items():
            found.setdefault(f"space, {kind}", []).append(cpu(context, search([space], some)) / len(some))
            found.setdefault(f"organization, {kind}", []).append(
                cpu(context, search(spaces, some, by_space=True)) / len(some)
            )

    look()
    spaces += [fill(context, org, EACH)[0] for _ in range(pages // EACH)]
    look()
    return found


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder, applications(Path(folder)) as opened:
        for name, context in opened.items():
            for what, (small, large) in measure(context, pages).items():
                print(
                    f"{name}, {what}: {small:.2f} ms alone, {large:.2f} ms beside {pages} pages: {large / small:.2f}"
                )


if __name__ == "__main__":
    main()
