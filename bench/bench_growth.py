"""What a request costs as the installation grows beside it: CPU of the small and of the large case, and their ratio.

    python bench/bench_growth.py [PAGES] [search|words|views|requests]

``search``: beside a space of 100 pages are others of PAGES pages together (20,000 unless told), 500 in each. ``words``:
the same queries, and words that are on very many pages, in a space of 100 pages and in one of PAGES. ``views``: what
visitors of a site ask for in such spaces, ``requests``: what is asked for over the API there. CPU is that of this process
and, but for views, of the PostgreSQL processes that serve it.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
from bench_search import applications, engine_cpu, fill
from msgspec.structs import replace

from octavo.access import create_token, insert_user
from octavo.admin.import_export import bring
from octavo.app import api_app
from octavo.content import (
    Changes,
    branch_state,
    commit,
    list_pages,
    main_state,
    prepare_commit,
    prepare_main,
    put_bodies,
    revise_main,
)
from octavo.core.pages import Page, ranks
from octavo.installation import load_packages
from octavo.kit.context import Context
from octavo.orgs import create_organization
from octavo.reader import reader_edge
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


def words(context: Context, pages: int) -> dict[str, list[float]]:
    with context.db.write() as tx:
        user = insert_user(tx, "words@example.com", "Words", verified=True).id
        org = create_organization(tx, user, "Words").id
    found: dict[str, list[float]] = {}
    for size in (SMALL, pages):
        space, queries = fill(context, org, size)
        if context.db.engine == "postgresql":
            with psycopg.connect(context.settings.database, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        chance = random.Random(7)
        frequent = sorted({word for query in queries["two frequent words"] for word in query.split()})
        for number in (3, 12, 32):
            queries[f"{number} frequent words"] = [
                " ".join(chance.sample(frequent, number)) for _ in range(5)
            ]
        for kind, some in queries.items():
            asked = chance.sample(some, min(5, len(some)))
            found.setdefault(f"one space, {kind}", []).append(
                cpu(context, search([space], asked)) / len(asked)
            )
    return found


def write_folder(folder: Path, pages: int) -> None:
    """Pages in branches of twenty, each with links to the two before it."""
    folder.mkdir()
    lines = []
    for n in range(pages):
        lines.append(f"{'  ' if n % 20 else ''}* [Page {n}](p{n}.md)")
        links = " ".join(f"[page {k}](p{k}.md)" for k in (n - 1, n - 2) if k >= 0)
        (folder / f"p{n}.md").write_text(f"# Page {n}\n\n{links}\n\n## Part\n\n{'Some text. ' * 100}\n")
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")


class Site:
    """A published space of so many pages."""

    def __init__(self, context: Context, org: str, folder: Path, pages: int) -> None:
        write_folder(folder, pages)
        brought = bring(context, str(folder), organization_id=org, title=f"Space {pages}", publish=True)
        assert brought.site_url is not None
        self.base = urlsplit(brought.site_url).path
        self.context, self.space, self.pages = context, brought.outcome.space, pages
        self.reader = reader_edge(context)

    def get(self, path: str) -> None:
        async def ask() -> None:
            transport = httpx.ASGITransport(app=self.reader)  # type: ignore[arg-type]
            async with httpx.AsyncClient(transport=transport, base_url="http://sites.test") as client:
                answer = await client.get(f"{self.base}{path}")
                assert answer.status_code == 200, answer.text

        asyncio.run(ask())

    def edit(self, number: int, text: str) -> None:
        """Another text for a page, as a revision of main."""
        context = self.context
        with context.db.read() as tx:
            state = main_state(tx, self.space)
            page = next(page for page in list_pages(tx, state) if page.file_path == f"p{number}.md")
        with context.db.write() as tx:
            body = put_bodies(tx, [f"# Page {number}\n\n{text}\n"])[0]
        changes = Changes({page.id: replace(page, body=body)})
        size = context.settings.page_size
        with prepare_main(context.db, state, changes, (), (), size) as prepared, context.db.write() as tx:
            revise_main(tx, state, changes, prepared)

    def took(self, before: Callable[[int], object], path: str) -> float:
        """The median of milliseconds for a page, each time after ``before``."""
        found = []
        for n in range(ROUNDS):
            before(n)
            began = time.process_time()
            self.get(path)
            found.append(time.process_time() - began)
        return statistics.median(found) * 1000


def views(context: Context, folder: Path, pages: int) -> dict[str, list[float]]:
    with context.db.write() as tx:
        user = insert_user(tx, "views@example.com", "Views", verified=True).id
        org = create_organization(tx, user, "Views").id
    found: dict[str, list[float]] = {}

    def edited(site: Site, page: int) -> Callable[[int], None]:
        return lambda n: site.edit(page, f"Text {n}.")

    def write_elsewhere(n: int) -> None:
        with context.db.write() as tx:
            create_organization(tx, user, f"Other {n}")

    for size in (SMALL, pages):
        site = Site(context, org, folder / f"{context.db.engine}{size}", size)
        last = size // 20 * 20 - 20
        page = f"p{last}"
        site.get(page)
        for what, before in {
            "a view": lambda n: None,
            "a view after a commit elsewhere": write_elsewhere,
            "a view after another page was edited": edited(site, last - 1),
            "a page that was edited": edited(site, last),
        }.items():
            found.setdefault(what, []).append(site.took(before, page))
    return found


def cpu_of(context: Context) -> float:
    """Seconds of this process and of PostgreSQL's."""
    spent = time.process_time()
    if context.db.engine == "postgresql":
        with context.db.read() as tx:
            pids = [
                row[0]
                for row in tx.all("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
            ]
        for pid in pids:
            spent += (
                sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / 100
            )
    return spent


def linked_pages(count: int, first: int = 0) -> dict[str, Page | None]:
    """Pages in branches of twenty, each with a link to the one before it and one that leads nowhere else."""
    ids = [f"{n:020}" for n in range(first, first + count)]
    found: dict[str, Page | None] = {}
    for n, (id, rank) in enumerate(zip(ids, ranks(count), strict=True)):
        refs = [{"kind": "page", "page": ids[n - 1]}, {"kind": "url", "url": f"https://example.org/{id}"}]
        found[id] = Page(
            id=id, parent=ids[n // 20 * 20] if n % 20 else None, rank=rank, slug=f"p{id}", title=f"Page {n}",
            meta_links={"alternates": refs}, created_at=1, updated_at=1,
        )  # fmt: skip
    return found


def requests(context: Context, folder: Path, pages: int) -> dict[str, list[float]]:
    with context.db.write() as tx:
        user = insert_user(tx, "requests@example.com", "Requests", verified=True).id
        org = create_organization(tx, user, "Requests").id
        token = create_token(tx, user, name="bench")
    size = context.settings.page_size
    found: dict[str, list[float]] = {}

    async def measure_space(client: httpx.AsyncClient, count: int) -> None:
        async def call(method: str, path: str, **options: Any) -> Any:
            answer = await client.request(method, f"/v1{path}", timeout=600, **options)
            assert answer.is_success, answer.text
            return answer.json()

        space = (await call("POST", f"/orgs/{org}/spaces", json={"title": f"Space {count}"}))["id"]
        with context.db.read() as tx:
            state = main_state(tx, space)
        changes = Changes(linked_pages(count))
        with prepare_main(context.db, state, changes, (), (), size) as prepared, context.db.write() as tx:
            revise_main(tx, state, changes, prepared)
        path = f"/spaces/{space}"
        change = (await call("POST", f"{path}/change-requests", json={"subject": "Some"}))["id"]
        with context.db.read() as tx:
            branch = tx.value("SELECT branch_id FROM change_requests WHERE id = :id", id=change)
            state = branch_state(tx, space, branch)
        changes = Changes(linked_pages(count // 10, 10**6))
        with prepare_commit(context.db, state, changes, (), size) as ready, context.db.write() as tx:
            commit(tx, state, changes, ready)
        if context.db.engine == "postgresql":
            with psycopg.connect(context.settings.database, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        page = f"{count - 1:020}"

        async def get(below: str, n: int) -> None:
            await call("GET", f"{path}{below}")

        async def edit(n: int) -> None:
            made = (await call("POST", f"{path}/change-requests", json={"subject": "Edit"}))["id"]
            text = {
                "operation": "update_page",
                "page": page,
                "document": {"markdown": f"# Page\n\nText {n}.\n"},
            }
            await call("POST", f"{path}/change-requests/{made}/content", json={"changes": [text]})
            await call("POST", f"{path}/change-requests/{made}/merge")

        asked: dict[str, Callable[[int], Any]] = {
            name: partial(get, below)
            for name, below in {
                "links of a space, 20": "/links?limit=20",
                "broken links of a space": "/links?limit=20&status=broken",
                "links of a page": f"/content/page/{page}/links",
                "backlinks of a page that has none": f"/content/page/{page}/backlinks",
                "10 changes of a change request with a tenth of the pages": f"/change-requests/{change}/changes?limit=10",
                "the tree, again": "/content/pages",
            }.items()
        }
        for name, ask in {**asked, "edit a page in a change request and merge it": edit}.items():
            await ask(-1)
            began = cpu_of(context)
            for n in range(ROUNDS):
                await ask(n)
            found.setdefault(name, []).append((cpu_of(context) - began) * 1000 / ROUNDS)

    async def run() -> None:
        transport = httpx.ASGITransport(app=api_app(context))  # type: ignore[arg-type]
        headers = {"authorization": f"Bearer {token}"}
        base = context.settings.url
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
            for count in (SMALL, pages):
                await measure_space(client, count)

    asyncio.run(run())
    return found


PARTS: dict[str, Callable[[Context, Path, int], dict[str, list[float]]]] = {
    "search": lambda context, folder, pages: measure(context, pages),
    "words": lambda context, folder, pages: words(context, pages),
    "views": views,
    "requests": requests,
}


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    chosen = sys.argv[2:] or list(PARTS)
    load_packages()
    with tempfile.TemporaryDirectory() as folder, applications(Path(folder)) as opened:
        for name, context in opened.items():
            for part in chosen:
                for what, (small, large) in PARTS[part](context, Path(folder), pages).items():
                    ratio = f"{small:.2f} ms alone, {large:.2f} ms with {pages} pages: {large / small:.2f}"
                    print(f"{name}, {what}: {ratio}", flush=True)


if __name__ == "__main__":
    main()
