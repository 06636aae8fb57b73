"""Benchmark reads: all pages of a large space over the API, and a published page that didn't change.

The first is compared with msgspec encoding the same response from ready objects, the second is in microseconds of CPU
time; both go through the real application in one process.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from bench_content import ask, make_source
from figures import figure

from octavo.app import api_app
from octavo.content.pages.wire import Revision
from octavo.delivery.reader.app import reader_edge
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

PAGES = 5_000
ROUNDS = 9
VIEWS = 5_000


async def seconds(run: Callable[[], Awaitable[object]], times: int = 1) -> float:
    """Return the CPU time of this process for each run."""
    before = time.process_time()
    for _ in range(times):
        await run()
    return (time.process_time() - before) / times


async def compare(context: Any, space: str, site: str, token: str) -> None:
    api, reader = api_app(context), reader_edge(context)

    async def read() -> bytes:
        # As after a change, nothing of this revision is cached.
        context.db.caches.clear()
        return await ask(api, f"/v1/spaces/{space}/content", "", token)

    body = await read()
    ready = msgspec.json.decode(body, type=Revision)

    async def encode() -> bytes:
        return msgspec.json.encode(ready)

    async def again() -> bytes:
        return await ask(api, f"/v1/spaces/{space}/content", "", token)

    cold, warm = [], []
    for _ in range(ROUNDS):
        base = await seconds(encode, 20)
        cold.append(await seconds(read) / base)
        warm.append(await seconds(again, 5) / base)
    what = f"read {PAGES:,} pages ({len(body) / 1e6:.1f} MB)"
    against = "relative to the CPU time of JSON encoding"
    figure(f"{what}, first read, {against}", statistics.median(cold))
    figure(f"{what}, repeated read, {against}", statistics.median(warm))
    path = urlsplit(site).path.rstrip("/") + "/section-0/page-0"

    async def view() -> bytes:
        return await ask(reader, path, "", token)

    await view()
    took = [await seconds(view, VIEWS) for _ in range(ROUNDS)]
    figure("view of a published page that didn't change", statistics.median(took) * 1e6, "µs of CPU")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        context = open_context(load({"data": str(folder / "data")}, environ={}))
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True)
            org = create_organization(tx, user.id, "Bench").id
            token = create_token(tx, user.id, name="bench")
        brought = import_space(
            context, str(make_source(folder / "docs", PAGES)), organization_id=org, publish=True
        )
        assert brought.site_url
        asyncio.run(compare(context, brought.outcome.space, brought.site_url, token))
        close_context(context)


if __name__ == "__main__":
    main()
