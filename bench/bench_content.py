"""Benchmark imports and page reads in spaces of different sizes, through the real application in one process.

CPU time is that of this process. Pass the folder of a documentation repository to import it as well.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import in_process
from figures import figure

from octavo.app import api_app
from octavo.kit.http.edge import Edge
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

SMALL, LARGE = 100, 20_000
READS = 100


def make_source(folder: Path, pages: int) -> Path:
    folder.mkdir()
    lines, sections = [], max(1, pages // 50)
    for s in range(sections):
        (folder / f"section-{s}.md").write_text(f"# Section {s}\n\nWords.\n")
        lines.append(f"* [Section {s}](section-{s}.md)")
        for n in range(s, pages - sections, sections):
            (folder / f"page-{n}.md").write_text(
                f"# Page {n}\n\n## One\n\n" + f"Words of page {n}. " * 20 + "\n"
            )
            lines.append(f"  * [Page {n}](page-{n}.md)")
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")
    return folder


async def ask(edge: Edge, path: str, query: str, token: str) -> bytes:
    """Return the body of the response. Raises RuntimeError for any status but 200."""
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
    target = f"{path}?{query}" if query else path
    status, body = await in_process.ask(edge, "GET", target, headers)
    if status != 200:
        raise RuntimeError(f"{path}: {status} {body!r}")
    return body


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context = open_context(load({"data": str(folder / "data")}, environ={}))
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            org = create_organization(tx, user.id, "Bench").id
            token = create_token(tx, user.id, name="bench")
        for named in sys.argv[1:]:
            before = time.process_time()
            outcome = import_space(context, named, organization_id=org).outcome
            took = time.process_time() - before
            figure(
                f"import of {named}, {outcome.pages:,} pages",
                outcome.pages / took,
                "pages per CPU second",
                least=40,
            )
        spaces = {}
        for size in (SMALL, LARGE):
            source = make_source(folder / str(size), size)
            before = time.process_time()
            outcome = import_space(context, str(source), organization_id=org).outcome
            took = time.process_time() - before
            spaces[size] = outcome.space
            figure(f"import of {size:,} pages", size / took, "pages per CPU second", least=40)
        for size in (SMALL, LARGE):
            (folder / str(size) / "page-7.md").write_text("# Page 7\n\nChanged.\n")
            before = time.process_time()
            outcome = import_space(
                context, str(folder / str(size)), organization_id=org, space_id=spaces[size]
            ).outcome
            what = f"repeated import, {outcome.changed} of {size:,} pages changed"
            figure(what, time.process_time() - before, "s of CPU")
        app = api_app(context)
        asyncio.run(compare(app, spaces, token, context))
        close_context(context)


async def compare(app: Any, spaces: dict[int, str], token: str, context: Any) -> None:
    """Compare cold reads: every page is requested only once, so no cache helps."""
    places: dict[int, list[tuple[str, str]]] = {}
    for size, space in spaces.items():
        with context.db.read() as tx:
            line = tx.value("SELECT main_branch FROM spaces WHERE id = :id", id=space)
            rows = tx.all(
                """SELECT p.page_id, s.slug, p.slug FROM page_versions p JOIN page_versions s
                   ON s.branch_id = p.branch_id AND s.page_id = p.parent_id
                   WHERE p.branch_id = :line AND p.parent_id <> '' ORDER BY p.page_id""",
                line=line,
            )
        places[size] = [(row[0], f"{row[1]}/{row[2]}") for row in rows]
    for what in ("id", "path"):
        ratios = []
        # Repeated queries are answered from memory, so each round uses new words.
        for r, evaluated in enumerate(("false", "true", "deterministic-only")):
            cost = {}
            for size, space in spaces.items():
                asked = places[size]
                picked = [asked[(r * READS + i) % len(asked)] for i in range(min(READS, len(asked)))]
                before = time.process_time()
                for page, path in picked:
                    tail = f"page/{page}" if what == "id" else f"path/{path}"
                    await ask(
                        app,
                        f"/v1/spaces/{space}/content/{tail}",
                        f"format=markdown&evaluated={evaluated}",
                        token,
                    )
                cost[size] = (time.process_time() - before) / len(picked)
            ratios.append(cost[LARGE] / cost[SMALL])
        named = "ID" if what == "id" else what
        label = f"read a page by {named} in a space with {LARGE:,} pages, relative to one with {SMALL:,}"
        figure(label, statistics.median(ratios))


if __name__ == "__main__":
    main()
