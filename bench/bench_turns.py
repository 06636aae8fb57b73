"""Benchmark how long other writers wait during operations on a large space.

    python bench/bench_turns.py [PAGES] [SQLite|PostgreSQL]

Imports a space of PAGES short pages (default: 10,000), changes all of them, and runs every other operation that
writes as much as a space contains. Another process makes small writes throughout. Prints for each operation: its
longest write transaction and the longest small write, in milliseconds of wall time, and the number of small writes.
For the transaction, it also prints the CPU time of its thread, because wall time on a busy machine says more about
the other work. On SQLite, this CPU time is all the work; on PostgreSQL, that of the server comes on top.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

from bench_search import applications
from bench_work import ask
from figures import figure
from msgspec.structs import replace

from octavo.app import api_app
from octavo.content.changes.applying import EditedContent
from octavo.content.changes.authorization import change_access
from octavo.content.changes.saving import revise_change
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.states import State
from octavo.content.revisions.store import Changes
from octavo.core.pages import Page
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Person
from octavo.kit.work.worker import Worker
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.reindexing import reindex
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.purging import purge_space
from octavo.settings import Settings

PAUSE = 0.01
"""Seconds between two small writes."""


def write_folder(folder: Path, pages: int) -> None:
    """Write pages in branches of twenty, each with a link to the one before it."""
    folder.mkdir()
    lines = []
    for n in range(pages):
        lines.append(f"{'  ' if n % 20 else ''}* [Page {n}](p{n}.md)")
        (folder / f"p{n}.md").write_text(
            f"# Page {n}\n\nSome text after [page {n - 1}](p{max(n - 1, 0)}.md).\n"
        )
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")


def keep_writing(settings: Settings, user: str, stop: Event, told: Any) -> None:
    """Make small writes, one after the other, until ``stop``. Report the longest in seconds, and their number."""
    context = open_context(settings)
    took: list[float] = []
    told.put(None)
    while not stop.is_set():
        began = time.monotonic()
        with context.db.write() as tx:
            tx.run("UPDATE users SET display_name = :name WHERE id = :id", id=user, name=f"Name {len(took)}")
        took.append(time.monotonic() - began)
        time.sleep(PAUSE)
    told.put((max(took), len(took)))
    close_context(context)


class Spent(NamedTuple):
    """Duration of a write transaction in seconds: wall time, and CPU time of its thread."""

    clock: float
    cpu: float


class Turns:
    """Measurement of operations of a context."""

    def __init__(self, context: Context, user: str) -> None:
        self.context, self.user = context, user
        self._spent: list[Spent] = []
        self.longest = (0.0, "")
        begin = context.db.write

        @contextmanager
        def timed(*, live: bool = False) -> Iterator[Transaction]:
            turn: list[float] = []
            try:
                with begin(live=live) as tx:
                    turn += [time.monotonic(), time.thread_time()]
                    yield tx
            finally:
                if turn:
                    self._spent.append(Spent(time.monotonic() - turn[0], time.thread_time() - turn[1]))

        context.db.write = timed  # type: ignore[method-assign]

    def measure(self, what: str, work: Callable[[], Any]) -> Any:
        spawn = multiprocessing.get_context("spawn")
        stop, told = spawn.Event(), spawn.Queue()
        other = spawn.Process(target=keep_writing, args=(self.context.settings, self.user, stop, told))
        other.start()
        told.get()
        self._spent.clear()
        try:
            found = work()
        finally:
            stop.set()
            waited, count = told.get()
            other.join()
        clock, cpu = max(self._spent, default=Spent(0.0, 0.0))
        print(
            f"{what:44}{clock * 1000:10,.0f}{cpu * 1000:10,.0f}{waited * 1000:14,.0f}{count:10,}", flush=True
        )
        self.longest = max(self.longest, (waited * 1000, what))
        return found


def measure(engine: str, context: Context, folder: Path, pages: int) -> None:
    with context.db.write() as tx:
        user = insert_user(tx, "turns@example.com", "Turns", verified=True).id
        org, other = (create_organization(tx, user, name).id for name in ("Turns", "Other"))
        token = create_token(tx, user, name="bench")
    api, turns = api_app(context), Turns(context, user)

    def call(method: str, path: str, body: Any = None) -> Any:
        return json.loads(asyncio.run(ask(api, method, f"/v1{path}", token, body)) or b"null")

    def run_jobs() -> None:
        Worker(context.db, context).run_pending()

    write_folder(folder, pages)
    space = turns.measure(
        "import of new pages", lambda: import_space(context, str(folder), organization_id=org, title="Large")
    ).outcome.space
    for file in folder.glob("p*.md"):
        file.write_text(file.read_text() + "\nMore.\n")
    turns.measure("import of changed pages", lambda: import_space(context, str(folder), space_id=space))
    turns.measure("jobs after the import", run_jobs)
    path = f"/spaces/{space}"
    first = call("GET", f"{path}/revisions?limit=2")["items"][1]["id"]
    turns.measure("roll back all pages", lambda: call("POST", f"{path}/revisions/{first}/rollback"))
    change = call("POST", f"{path}/change-requests", {"subject": "All pages"})["id"]

    def change_all(tx: Transaction, state: State, started: State | None) -> EditedContent:
        titled: dict[str, Page | None] = {
            page.id: replace(page, title=f"{page.title}!") for page in list_pages(tx, state)
        }
        return EditedContent(Changes(titled), [], [], [], [])

    def edit_change() -> None:
        with context.db.read() as tx:
            access = change_access(tx, space_access(tx, Person(user, ""), Can.EDIT, space), change)
        revise_change(context, access, change_all)

    turns.measure("change all pages in a change request", edit_change)
    merged = turns.measure(
        "merge the change request", lambda: call("POST", f"{path}/change-requests/{change}/merge")["revision"]
    )
    turns.measure("revert the merge", lambda: call("POST", f"{path}/revisions/{merged}/revert", {}))
    turns.measure("jobs after the revert", run_jobs)
    copy = turns.measure("duplicate the space", lambda: call("POST", f"{path}/duplicate", {})["id"])
    turns.measure("jobs after the duplication", run_jobs)
    turns.measure(
        "transfer the copy to another organization",
        lambda: call("POST", f"/spaces/{copy}/transfer", {"organization": other}),
    )
    turns.measure("jobs after the transfer", run_jobs)
    turns.measure("octavo reindex", lambda: reindex(context.db, ()))
    turns.measure("jobs after octavo reindex", run_jobs)
    turns.measure("move the space to the trash", lambda: call("DELETE", path))

    turns.measure("purge the space", lambda: purge_space(context.db, space, 2**62))
    turns.measure("jobs after the purge", run_jobs)
    waited, what = turns.longest
    figure(f"{engine}, {pages:,} pages: longest small write during “{what}”", waited, "ms", most=250)


def main(arguments: list[str]) -> None:
    pages = int(arguments[0]) if arguments else 10_000
    engines = arguments[1:] or ["SQLite", "PostgreSQL"]
    load_packages()
    with tempfile.TemporaryDirectory() as temporary, applications(Path(temporary)) as contexts:
        for engine in engines:
            print(f"\n{engine}, {pages:,} pages")
            print(f"{'':44}{'longest':>10}{'its CPU':>10}{'small write':>14}{'of':>10}")
            measure(engine, contexts[engine], Path(temporary) / f"pages of {engine}", pages)


if __name__ == "__main__":
    main(sys.argv[1:])
