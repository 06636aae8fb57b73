"""Benchmark editing one page and merging a change request in spaces of different sizes, and merging a thousand pages.

CPU time is that of this process. The first figure shows whether the cost depends on the change rather than on the
space.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from bench_content import make_source
from figures import figure

from octavo.content.changes.authorization import ChangeAccess
from octavo.content.changes.commands import DocumentInput, UpdatePage
from octavo.content.changes.merging import merge
from octavo.content.changes.saving import create, edit_change
from octavo.kit.context import Context
from octavo.kit.http.operation import Person
from octavo.operations.admin.import_export import import_space
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.creating import create_organization
from octavo.settings import load

SMALL, LARGE = 100, 50_000
ROUNDS = 15
MANY = 1000


class Bench:
    def __init__(self, context: Context) -> None:
        self.context = context
        with context.db.write() as tx:
            self.user = insert_user(tx, "bench@example.com", "Bench", verified=True).id
            self.org = create_organization(tx, self.user, "Bench").id

    def space(self, folder: Path, size: int) -> tuple[str, list[str]]:
        source = make_source(folder / str(size), size)
        space = import_space(self.context, str(source), organization_id=self.org).outcome.space
        with self.context.db.read() as tx:
            line = tx.value("SELECT main_branch FROM spaces WHERE id = :id", id=space)
            rows = tx.all(
                "SELECT page_id FROM page_versions WHERE branch_id = :line AND parent_id <> '' ORDER BY page_id",
                line=line,
            )
        return space, [row[0] for row in rows]

    def open(self, space_id: str) -> ChangeAccess:
        with self.context.db.read() as tx:
            access = space_access(tx, Person(self.user, "bench"), Can.EDIT, space_id)
        with self.context.db.write() as tx:
            return ChangeAccess(access, create(tx, access, "Bench").id)

    def edit(self, change: ChangeAccess, pages: list[str], said: str) -> None:
        changes = [
            UpdatePage(page=page, document=DocumentInput(markdown=f"# Page {n}\n\n{said} {n}.\n"))
            for n, page in enumerate(pages)
        ]
        edit_change(self.context, change, changes)

    def merge(self, change: ChangeAccess) -> None:
        if merge(self.context, change).conflicts:
            raise RuntimeError("conflicts without other edits")


def main() -> None:
    load_packages()
    with tempfile.TemporaryDirectory() as temporary:
        context = open_context(load({"data": str(Path(temporary) / "data")}, environ={}))
        bench = Bench(context)
        spaces = {size: bench.space(Path(temporary), size) for size in (SMALL, LARGE)}
        costs: dict[tuple[str, int], list[float]] = {}
        for round in range(ROUNDS):
            # Alternate, so that other load on the machine affects both equally; main has moved at every second merge.
            for size, (space, pages) in spaces.items():
                change = bench.open(space)
                if round % 2:
                    rival = bench.open(space)
                    bench.edit(rival, [pages[-1 - round]], "Rival")
                    bench.merge(rival)
                for what, work in (
                    ("edit", partial(bench.edit, change, [pages[round]], "Edited")),
                    ("merge", partial(bench.merge, change)),
                ):
                    before = time.process_time()
                    work()
                    costs.setdefault((what, size), []).append(time.process_time() - before)
        for what in ("edit", "merge"):
            small, large = (statistics.median(costs[what, size]) for size in (SMALL, LARGE))
            figure(
                f"{what} of one page of {LARGE:,}, compared with one page of {SMALL:,}",
                large * 1000,
                "ms of CPU",
                beside=small * 1000,
            )
        space, pages = spaces[LARGE]
        for label, rival_first in (("main unchanged", False), ("main also changed", True)):
            change = bench.open(space)
            bench.edit(change, pages[:MANY], label)
            if rival_first:
                rival = bench.open(space)
                bench.edit(rival, pages[MANY : 2 * MANY], label)
                bench.merge(rival)
            before = time.process_time()
            bench.merge(change)
            took = time.process_time() - before
            figure(f"merge of {MANY:,} pages, {label}", MANY / took, "pages per CPU second")
        close_context(context)


if __name__ == "__main__":
    main()
