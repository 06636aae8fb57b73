"""Benchmark saving one block of a page, for pages of different lengths, through the whole application in one process.

CPU time is that of this process. The last figures show whether the cost depends on the change rather than on the
page.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench_work import ask
from figures import figure

from octavo.app import api_app
from octavo.kit.context import Context
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

SIZES = (90, 450, 1_800)
ROUNDS = 31
SYLLABLES = "ba do ke mi nu pra sto ti vel wor xen yu zam lin gro fe".split()


def words(chance: random.Random, count: int) -> str:
    """Return words that compress about as well as real text."""
    return " ".join("".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(count))


def page(blocks: int) -> str:
    """Return a page with this many top-level blocks."""
    chance = random.Random(blocks)  # noqa: S311
    found: list[str] = []
    for number in range(blocks):
        said = words(chance, 12)
        found.append(
            [
                f"## Section {number} {words(chance, 3)}",
                (
                    f"{said}, **{words(chance, 2)}** and [{words(chance, 2)}](page-{number}.md), "
                    f"`{words(chance, 1)}` {words(chance, 20)}."
                ),
                f"* {said}\n* {words(chance, 6)}\n* {words(chance, 6)}",
                f"```js\nconst x{number} = {number};\ncall(x{number});\n```",
                f'{{% hint style="info" %}}\n{said}.\n{{% endhint %}}',
                f"{said} {words(chance, 25)}.",
            ][number % 6]
        )
    return "# Page\n\n" + "\n\n".join(found) + "\n"


class Bench:
    def __init__(self, context: Context) -> None:
        self.app = api_app(context)
        with context.db.write() as tx:
            user = insert_user(tx, "bench@example.com", "Bench", verified=True).id
            self.org = create_organization(tx, user, "Bench").id
            self.token = create_token(tx, user, name="bench")

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = await ask(self.app, method, f"/v1{path}", self.token, body)
        return json.loads(answer) if answer else None

    async def pages(self, live: bool) -> dict[int, tuple[str, str, str]]:
        """Create a page of each size. Return where each is edited, its id, and the revision."""
        space = (await self.call("POST", f"/orgs/{self.org}/spaces", {"title": "Bench"}))["id"]
        at = f"/spaces/{space}/content"
        made = [{"operation": "insert_page", "document": {"markdown": page(size)}} for size in SIZES]
        answer = await self.call("POST", at, {"changes": made})
        found = [change["page"]["id"] for change in answer["changes"]]
        if live:
            return {size: (at, id, answer["revision"]) for size, id in zip(SIZES, found, strict=True)}
        edits = {}
        for size, id in zip(SIZES, found, strict=True):
            change = await self.call("POST", f"/spaces/{space}/change-requests", {"subject": "Bench"})
            edits[size] = (f"/spaces/{space}/change-requests/{change['id']}/content", id, change["revision"])
        return edits

    async def measure(self, what: str, live: bool) -> None:
        pages = await self.pages(live)
        costs: dict[int, list[float]] = {size: [] for size in SIZES}
        chance = random.Random(1)  # noqa: S311
        keys = {}
        for size, (at, id, _) in pages.items():
            nodes = (await self.call("GET", f"{at}/page/{id}?format=document"))["document"]["nodes"]
            keys[size] = [node["key"] for node in nodes if node["type"] == "paragraph"]
        for _ in range(ROUNDS):
            # Alternate, so that other load on the machine affects all equally.
            for size, (at, id, base) in pages.items():
                leaves = [{"object": "leaf", "text": words(chance, 30), "marks": []}]
                node = {
                    "object": "block",
                    "type": "paragraph",
                    "nodes": [{"object": "text", "leaves": leaves}],
                }
                edit = [{"block": chance.choice(keys[size]), "document": {"document": [node]}}]
                change = {"operation": "update_blocks", "page": id, "set": edit}
                if what != "one block":
                    change = {"operation": "update_page", "page": id, "description": words(chance, 5)}
                begun = time.process_time()
                answer = await self.call(
                    "POST", f"{at}?compat=false", {"baseRevision": base, "changes": [change]}
                )
                costs[size].append(time.process_time() - begun)
                if what == "one block" and len(answer["changes"][0]["blocks"]["set"][0]) != 1:
                    raise RuntimeError("the block differs from the one that was set")
                pages[size] = (at, id, answer.get("mergedRevision", answer["revision"]))
        found = {size: statistics.median(costs[size][1:]) * 1000 for size in SIZES}
        where, is_block = "main" if live else "a change request", what == "one block"
        label = f"edit {what} of a page with"
        figure(f"{label} 450 blocks, in {where}", found[450], "ms of CPU", most=15 if is_block else None)
        figure(
            f"{label} 1,800 blocks, in {where}, compared with 450 blocks",
            found[1800],
            "ms of CPU",
            beside=found[450],
            most=1.5 if is_block else None,
        )


async def run(context: Context) -> None:
    bench = Bench(context)
    for live in (False, True):
        for what in ("one block", "the description"):
            await bench.measure(what, live)


def main() -> None:
    load_packages()
    with tempfile.TemporaryDirectory() as temporary:
        context = open_context(load({"data": str(Path(temporary) / "data")}, environ={}))
        asyncio.run(run(context))
        close_context(context)


if __name__ == "__main__":
    main()
