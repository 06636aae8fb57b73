"""Benchmark the cost of single operations on real documentation, through the whole application in one
process.

    python bench/bench_work.py FOLDER...

For each repository: pages imported per second of CPU time, and milliseconds of CPU time of the first view of
a page. Then a change request that is created, edited, and merged over the API, and, for the largest pages of
all repositories, the memory for reading a page in addition to its text.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import in_process
from figures import figure

from octavo.app import api_app, freeze_loaded_objects
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.delivery.reader.app import reader_edge
from octavo.kit.context import Context
from octavo.kit.http.edge import Edge
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

ROUNDS = 21
LARGEST = 40
LEAST = 2_000
"""Minimum characters of a text for which memory is measured."""
PARAGRAPH = "Words of this page, with `code` and a [link](page-1.md), as [pages](page-2.md#one) have them. "


async def ask(edge: Edge, method: str, path: str, token: str = "", body: Any = None) -> bytes:
    """Return the body of the response. Raises RuntimeError for an error."""
    content = b"" if body is None else json.dumps(body).encode()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    headers += [(b"content-length", str(len(content)).encode())] if content else []
    headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
    status, answer = await in_process.ask(edge, method, path, headers, content)
    if status >= 400:
        raise RuntimeError(f"{path}: {status} {answer[:300]!r}")
    return answer


async def first_views(context: Context, base: str) -> list[float]:
    """Return the CPU seconds of the first request for each page of a site, without the first page."""
    reader = reader_edge(context)
    sitemap = (await ask(reader, "GET", f"{base}sitemap.xml")).decode()
    paths = [urlsplit(url).path for url in re.findall(r"<loc>([^<]+)</loc>", sitemap)]
    took = []
    for path in paths:
        before = time.process_time()
        await ask(reader, "GET", path)
        took.append(time.process_time() - before)
    return took[1:]


def pages_of(folder: Path, size: int) -> Path:
    """Return three pages in sections, each of about this many characters."""
    folder.mkdir()
    lines = []
    for n in range(3):
        (folder / f"page-{n}.md").write_text(page_text(n, size, "Unchanged."))
        lines.append(f"* [Page {n}](page-{n}.md)")
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")
    return folder


def page_text(n: int, size: int, said: str) -> str:
    parts = [f"# Page {n}\n", "## One\n", f"{said}\n"]
    while sum(map(len, parts)) < size:
        parts += [f"## Part {len(parts)}\n", PARAGRAPH * 3 + "\n", "* one\n* two **bold**\n* three\n"]
        parts += [
            "```python\nprint(1)\n```\n",
            '{% hint style="info" %}\nA hint.\n{% endhint %}\n',
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        ]
    return "\n".join(parts)


async def changes(context: Context, org: str, token: str, folder: Path, size: int) -> dict[str, float]:
    """Return the median seconds for creating, editing, and merging a change request of one page of about this many
    characters."""
    space = import_space(
        context, str(pages_of(folder / f"edited{size}", size)), organization_id=org
    ).outcome.space
    api = api_app(context)
    tree = json.loads(await ask(api, "GET", f"/v1/spaces/{space}/content/pages", token))
    page = tree["pages"][1]["id"]
    took: dict[str, list[float]] = {"create": [], "edit": [], "merge": []}

    async def step(name: str, path: str, body: Any) -> Any:
        before = time.process_time()
        answer = await ask(api, "POST", f"/v1/spaces/{space}/change-requests{path}", token, body)
        took[name].append(time.process_time() - before)
        return json.loads(answer)

    for n in range(ROUNDS):
        made = await step("create", "", {"subject": "Bench"})
        text = page_text(1, size, f"As it is after {n}.")
        edit = {"changes": [{"operation": "update_page", "page": page, "document": {"markdown": text}}]}
        await step("edit", f"/{made['id']}/content", edit)
        await step("merge", f"/{made['id']}/merge", {})
    return {name: statistics.median(each) for name, each in took.items()}


def memory(texts: list[str]) -> list[float]:
    """Return the peak memory used while a text is read, as a multiple of its size in bytes."""
    read(texts[0])
    found = []
    for text in texts:
        body = split_page(text)[2]
        tracemalloc.start()
        try:
            read(body)
            found.append(tracemalloc.get_traced_memory()[1] / len(body.encode()))
        finally:
            tracemalloc.stop()
    return found


def main() -> None:
    folders = [Path(named) for named in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as temporary:
        context = open_context(load({"data": f"{temporary}/data"}, environ={}))
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            org = create_organization(tx, user.id, "Bench").id
            token = create_token(tx, user.id, name="bench")
        freeze_loaded_objects()
        pages, seconds, views = 0, 0.0, []
        for folder in folders:
            before = time.process_time()
            brought = import_space(context, str(folder), organization_id=org, publish=True)
            took = time.process_time() - before
            pages, seconds = pages + brought.outcome.pages, seconds + took
            assert brought.site_url is not None
            seen = asyncio.run(first_views(context, urlsplit(brought.site_url).path))
            views += seen
            print(
                f"{folder.name}: {brought.outcome.pages / took:.1f} pages imported per CPU second, "
                f"first view of a page {statistics.mean(seen) * 1e3:.2f} ms "
                f"({statistics.median(seen) * 1e3:.2f} median)",
                flush=True,
            )
        if folders:
            figure("pages imported", pages / seconds, "pages per CPU second", least=40)
            figure("first view of a page, median", statistics.median(views) * 1e3, "ms of CPU")
        for size in (300, 7_700):
            found = asyncio.run(changes(context, org, token, Path(temporary), size))
            print(", ".join(f"{name} {each * 1e3:.2f}" for name, each in found.items()))
            figure(
                f"create, edit, and merge a change request for a page with {size:,} characters",
                sum(found.values()) * 1e3,
                "ms of CPU",
            )
        texts = [path.read_text() for folder in folders for path in folder.rglob("*.md")]
        texts = sorted((text for text in texts if len(text) >= LEAST), key=len, reverse=True)
        if texts:
            times = memory(texts[:: max(1, len(texts) // LARGEST)])
            figure("peak memory while a page is parsed, relative to its text", statistics.median(times))
        close_context(context)


if __name__ == "__main__":
    main()
