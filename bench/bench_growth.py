"""Benchmark the cost of requests as a server grows: the small and the large case of each, and their ratio.

    python bench/bench_growth.py [PAGES] [views|requests|writers|lists|audit|siblings] [SQLite|PostgreSQL]

The small space has 100 pages and the large one PAGES (default: 20,000); the small organization has 40 spaces, and the
large one PAGES / 25 more. ``views``: requests of visitors to a site. ``requests``: requests to the API. ``writers``:
eight at once, each on its own pages. ``lists``: lists of an organization, as an administrator and as a plain member.
``audit``: the log of 1,000 events, and of 2 x PAGES more. ``siblings``: an import of 4,000 and of 16,000 pages in one
place. Measures the CPU time of this process, which sends requests without a network, and of the PostgreSQL processes
that serve it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from growth import Application, Part, Row, Work, add_person, compare, main, servers, settle, spent
from msgspec.structs import replace

from octavo.app import api_app
from octavo.content.revisions.bodies import put_bodies
from octavo.content.revisions.page_versions import get_page, list_pages
from octavo.content.revisions.revising import commit, prepare_commit, prepare_main, revise_main
from octavo.content.revisions.states import branch_state, main_state
from octavo.content.revisions.store import Changes
from octavo.core.pages import Page, ranks
from octavo.delivery.reader.app import reader_edge
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.ids import new_id
from octavo.operations.admin.import_export import import_space
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import insert_collection, insert_space

SMALL = 100
IN_SPACE = "large space compared with small"
WRITERS, EDITS = 8, 5


class Bench:
    """Person with their own organization, and the API authenticated as them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        with context.db.write() as tx:
            self.user = add_person(tx)
            self.org = create_organization(tx, self.user, "Bench").id
            token = create_token(tx, self.user, name="bench")
        self.api = Application(api_app(context), token)

    def asking(self, path: str, application: Application | None = None) -> Work:
        """Return the request, preceded by a commit each time, so that no cached rows or responses are used."""
        return (application or self.api).getting(f"/v1{path}")._replace(before=self._commit)

    def _commit(self) -> None:
        with self.context.db.write() as tx:
            tx.run("UPDATE users SET email = email WHERE id = :id", id=self.user)


def revise(context: Context, space: str, changes: Changes) -> None:
    """Apply changes as a revision of main."""
    with context.db.read() as tx:
        state = main_state(tx, space)
    size = context.settings.page_size
    with prepare_main(context.db, state, changes, (), (), size) as prepared, context.db.write() as tx:
        revise_main(tx, state, changes, prepared)


def edit(context: Context, space: str, page_id: str, text: str) -> None:
    """Replace the text of a page of main."""
    with context.db.read() as tx:
        page = get_page(tx, main_state(tx, space), page_id)
    with context.db.write() as tx:
        body = put_bodies(tx, [f"# {page.title}\n\n{text}\n"])[0]
    revise(context, space, Changes({page.id: replace(page, body=body)}))


# --- sites ----------------------------------------------------------------------------------------------


def write_folder(folder: Path, pages: int) -> None:
    """Write pages in branches of twenty, each with links to the two before it."""
    folder.mkdir()
    lines = []
    for n in range(pages):
        lines.append(f"{'  ' if n % 20 else ''}* [Page {n}](p{n}.md)")
        links = " ".join(f"[page {k}](p{k}.md)" for k in (n - 1, n - 2) if k >= 0)
        (folder / f"p{n}.md").write_text(f"# Page {n}\n\n{links}\n\n## Part\n\n{'Some text. ' * 100}\n")
    (folder / "SUMMARY.md").write_text("\n".join(lines) + "\n")


class Site:
    """Published space with this many pages, and a view of the first page of its last branch."""

    def __init__(self, bench: Bench, folder: Path, pages: int) -> None:
        write_folder(folder, pages)
        self.context = context = bench.context
        brought = import_space(
            context, str(folder), organization_id=bench.org, title=f"Space {pages}", publish=True
        )
        assert brought.site_url is not None
        self.space, self.number = brought.outcome.space, pages // 20 * 20 - 20
        self._address = f"{urlsplit(brought.site_url).path}p{self.number}"
        self._reader = Application(reader_edge(context))
        self._edits = itertools.count()
        with context.db.read() as tx:
            self.pages = {page.file_path: page.id for page in list_pages(tx, main_state(tx, self.space))}

    def view(self, before: Callable[[], object]) -> Work:
        return self._reader.getting(self._address)._replace(before=before)

    def edit(self, number: int) -> Callable[[], None]:
        return lambda: edit(
            self.context, self.space, self.pages[f"p{number}.md"], f"Text {next(self._edits)}."
        )


def views(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    bench, number = Bench(context), itertools.count()
    sites = [Site(bench, folder / f"{context.db.engine}{size}", size) for size in (SMALL, pages)]
    settle(context)

    def commit_elsewhere() -> None:
        with context.db.write() as tx:
            create_organization(tx, bench.user, f"Other {next(number)}")

    asked: dict[str, Callable[[Site], Callable[[], object]]] = {
        "view of a page": lambda site: lambda: None,
        "view of a page after a change in another organization": lambda site: commit_elsewhere,
        "view of a page after another page was edited": lambda site: site.edit(site.number - 1),
        "view of a page after it was edited": lambda site: site.edit(site.number),
    }
    for what, before in asked.items():
        yield Row(f"{what}, {IN_SPACE}", compare(context, *(site.view(before(site)) for site in sites)))


# --- a space over the API -------------------------------------------------------------------------------


def linked_pages(count: int, first: int = 0) -> dict[str, Page | None]:
    """Return pages in branches of twenty, each with a link to the previous one and a unique external link."""
    ids = [f"{n:020}" for n in range(first, first + count)]
    found: dict[str, Page | None] = {}
    for n, (id, rank) in enumerate(zip(ids, ranks(count), strict=True)):
        refs = [{"kind": "page", "page": ids[n - 1]}, {"kind": "url", "url": f"https://example.org/{id}"}]
        found[id] = Page(
            id=id,
            parent=ids[n // 20 * 20] if n % 20 else None,
            rank=rank,
            slug=f"p{id}",
            title=f"Page {n}",
            meta_links={"alternates": refs},
            created_at=1,
            updated_at=1,
        )
    return found


class Linked:
    """Space with this many linked pages, requested over the API."""

    def __init__(self, bench: Bench, pages: int) -> None:
        self.bench, self.context, self.count = bench, bench.context, pages
        with self.context.db.write() as tx:
            self.id = insert_space(
                tx, organization_id=bench.org, collection_id=None, title="S", created_by=None
            ).id
        revise(self.context, self.id, Changes(linked_pages(pages)))
        self.path, self.page = f"/spaces/{self.id}", f"{pages - 1:020}"
        self._edits = itertools.count()

    def asking(self, below: str) -> Work:
        return self.bench.asking(f"{self.path}{below}")

    def add_change_request(self, pages: int) -> str:
        """Add a change request that adds this many pages."""
        made = json.loads(self.bench.api.run(self._call("POST", "/change-requests", {"subject": "Some"})))
        with self.context.db.read() as tx:
            branch = tx.value("SELECT branch_id FROM change_requests WHERE id = :id", id=made["id"])
            state = branch_state(tx, self.id, branch)
        changes, size = Changes(linked_pages(pages, 10**6)), self.context.settings.page_size
        with (
            prepare_commit(self.context.db, state, changes, (), size) as ready,
            self.context.db.write() as tx,
        ):
            commit(tx, state, changes, ready)
        return str(made["id"])

    def edit(self) -> None:
        edit(self.context, self.id, f"{0:020}", f"Text {next(self._edits)}.")

    async def _call(self, method: str, below: str, body: Any = None) -> bytes:
        return await self.bench.api.ask(method, f"/v1{self.path}{below}", body)

    async def merge_edit(self, page: str) -> None:
        """Create a change request, edit a page in it, and merge it."""
        text = {"markdown": f"# Page\n\nText {next(self._edits)}.\n"}
        made = json.loads(await self._call("POST", "/change-requests", {"subject": "Edit"}))["id"]
        change = {"operation": "update_page", "page": page, "document": text}
        await self._call("POST", f"/change-requests/{made}/content", {"changes": [change]})
        await self._call("POST", f"/change-requests/{made}/merge")

    def merging(self) -> Work:
        return Work(lambda: self.bench.api.run(self.merge_edit(self.page)))


def requests(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    bench = Bench(context)
    spaces = [Linked(bench, size) for size in (SMALL, pages)]
    changes = [space.add_change_request(space.count // 10) for space in spaces]
    settle(context)
    asked: dict[str, Callable[[Linked], str]] = {
        "read a page by ID": lambda space: f"/content/page/{space.page}",
        "read a page by path": lambda space: (
            f"/content/path/p{space.count // 20 * 20 - 20:020}/p{space.page}"
        ),
        "list 20 links of a space": lambda space: "/links?limit=20",
        "list broken links of a space": lambda space: "/links?limit=20&status=broken",
        "list links of a page": lambda space: f"/content/page/{space.page}/links",
        "list backlinks of a page that has none": lambda space: f"/content/page/{space.page}/backlinks",
        "list 20 revisions of a space": lambda space: "/revisions?limit=20",
    }
    for what, below in asked.items():
        yield Row(f"{what}, {IN_SPACE}", compare(context, *(space.asking(below(space)) for space in spaces)))
    yield Row(
        f"list 10 changes of a change request with a tenth of the pages, {IN_SPACE}",
        compare(
            context,
            *(
                space.asking(f"/change-requests/{change}/changes?limit=10")
                for space, change in zip(spaces, changes, strict=True)
            ),
        ),
    )
    merging = [space.merging() for space in spaces]
    what = f"create a change request, edit a page in it, and merge it, {IN_SPACE}"
    yield Row(what, compare(context, *merging))
    for what, with_edit in (("first read after a revision", True), ("repeated read", False)):
        works = [space.asking("/content/pages") for space in spaces]
        if with_edit:
            works = [work._replace(before=space.edit) for work, space in zip(works, spaces, strict=True)]
        took = compare(context, *works)
        each = [ms / space.count * 1000 for ms, space in zip(took, spaces, strict=True)]
        label = f"the page tree, {what}, time per page ({took[1]:.0f} ms in total, compared with {took[0]:.1f} ms)"
        yield Row(f"{label}, {IN_SPACE}", each, "µs")


def writers(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    """Measure eight simultaneous writers. Raises for any refused request."""
    bench = Bench(context)
    spaces = [Linked(bench, size) for size in (SMALL, pages)]
    settle(context)

    async def write(space: Linked, page: int) -> None:
        for _ in range(EDITS):
            await space.merge_edit(f"{page:020}")

    async def write_all(space: Linked, number: int) -> None:
        await asyncio.gather(*(write(space, 10 * n) for n in range(number)))

    for number in (1, WRITERS):
        clock, cost = [], []
        for space in spaces:
            bench.api.run(write_all(space, number))
            pids = servers(context)
            began, spent_before = time.monotonic(), spent(pids)
            bench.api.run(write_all(space, number))
            merges = number * EDITS
            clock.append((time.monotonic() - began) * 1000 / merges)
            cost.append((spent(pids) - spent_before) * 1000 / merges)
        writing = f"{number} concurrent writer{'s' if number > 1 else ''}"
        yield Row(f"{writing}, wall time per merge, {IN_SPACE}", clock)
        yield Row(f"{writing}, CPU time per merge, {IN_SPACE}", cost)


# --- an organization ------------------------------------------------------------------------------------


class Organization(Bench):
    """Organization with this many spaces, a quarter of them in one collection and a quarter in others, and with 40
    people, each of whom has a grant for ten spaces. One of these people sends requests as well."""

    def __init__(self, context: Context, spaces: int) -> None:
        super().__init__(context)
        with context.db.write() as tx:
            collections = [
                insert_collection(tx, organization_id=self.org, parent_id=None, title=f"C {n}").id
                for n in range(spaces // 4 + 11)
            ]
            made = [
                insert_space(
                    tx,
                    organization_id=self.org,
                    collection_id=[None, collections[0], None, collections[n // 4]][n % 4],
                    title=f"S {n}",
                    created_by=None,
                ).id
                for n in range(spaces)
            ]
            for n in range(40):
                self.plain = add_person(tx)
                upsert_member(tx, self.org, self.plain, "read", accepted=True)
                tx.run_many(
                    """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
                       VALUES ('space', :space, 'user', :user, 'edit', 1)""",
                    [{"space": made[(n + 4 * k) % spaces], "user": self.plain} for k in range(10)],
                )
            token = create_token(tx, self.plain, name="bench")
        self.as_member = Application(api_app(context), token)
        self.large, self.small = collections[:2]


def lists(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    orgs = [Organization(context, size) for size in (40, pages // 25 + 40)]
    settle(context)
    asked: dict[str, Callable[[Organization], str]] = {
        "list organizations of a person": lambda org: "/orgs",
        "list 20 members": lambda org: f"/orgs/{org.org}/members?limit=20",
        "list 20 spaces": lambda org: f"/orgs/{org.org}/spaces?limit=20",
        "list 20 spaces in manual order": lambda org: f"/orgs/{org.org}/spaces?limit=20&orderBy=rank",
        "list 20 spaces of a member": lambda org: f"/orgs/{org.org}/members/{org.plain}/spaces?limit=20",
        "list 20 collections": lambda org: f"/orgs/{org.org}/collections?limit=20",
        "list 20 collections in manual order": lambda org: (
            f"/orgs/{org.org}/collections?limit=20&orderBy=rank"
        ),
        "list 20 spaces of a collection with a quarter of all spaces": lambda org: (
            f"/collections/{org.large}/spaces?limit=20"
        ),
        "list spaces of a collection with few spaces": lambda org: (
            f"/collections/{org.small}/spaces?limit=20"
        ),
        "list change requests of an organization": lambda org: f"/orgs/{org.org}/change-requests?limit=20",
    }
    for what, path in asked.items():
        for person in ("an administrator", "a member"):
            works = [org.asking(path(org), org.as_member if person == "a member" else None) for org in orgs]
            label = f"{what}, as {person}, large organization compared with small"
            yield Row(label, compare(context, *works))


class Audited(Bench):
    """Organization with this many events, twenty of them by one person."""

    def __init__(self, context: Context, events: int) -> None:
        super().__init__(context)
        self.other = "x" * 20
        for begin in range(0, events, 1000):
            with context.db.write() as tx:
                tx.run_many(
                    """INSERT INTO audit_events (id, organization_id, action, actor_id, target_type, \
target_id, created_at)
                       VALUES (:id, :org, :action, :actor, 'space', :target, :at)""",
                    [
                        {
                            "id": new_id(),
                            "org": self.org,
                            "action": "space.updated" if n % 2 else "page.edited",
                            "actor": self.other if n % (events // 20) == 0 else self.user,
                            "target": f"t{n % 50}",
                            "at": now() + n,
                        }
                        for n in range(begin, begin + 1000)
                    ],
                )


def audit(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    logs = [Audited(context, events) for events in (1_000, 1_000 + 2 * pages)]
    settle(context)
    asked: dict[str, Callable[[Audited], str]] = {
        "list the newest events": lambda log: "",
        "events filtered by a person with 20 events": lambda log: f"&actor={log.other}",
        "events filtered by the most active person": lambda log: f"&actor={log.user}",
        "events filtered by an action that never happened": lambda log: "&action=member.removed",
        "events filtered by an action that half of all events have": lambda log: "&action=page.edited",
        "events filtered by a person with 20 events and by an action": lambda log: (
            f"&actor={log.other}&action=page.edited"
        ),
        "events filtered by the most active person and by an action that half of all events have": lambda log: (
            f"&actor={log.user}&action=page.edited"
        ),
        "events filtered by a target that doesn't exist": lambda log: "&target=nothing",
        "events filtered by a type of target that no event has": lambda log: "&targetType=site",
        "events filtered by a start time in the future": lambda log: "&from=2100-01-01T00:00:00Z",
    }
    for what, query in asked.items():
        works = [log.asking(f"/orgs/{log.org}/audit-events?limit=20{query(log)}") for log in logs]
        yield Row(f"{what}, large audit log compared with small", compare(context, *works))


def siblings(context: Context, folder: Path, pages: int) -> Iterator[Row]:
    org = Bench(context).org
    cost, longest = [], []
    for count in (4_000, 16_000):
        source = folder / f"{context.db.engine}-siblings-{count}"
        source.mkdir()
        for n in range(count):
            (source / f"p{n}.md").write_text(f"# Page {n}\n\nSome text.\n")
        (source / "SUMMARY.md").write_text("".join(f"* [Page {n}](p{n}.md)\n" for n in range(count)))
        pids = servers(context)
        began = spent(pids)
        space = import_space(context, str(source), organization_id=org).outcome.space
        cost.append((spent(pids) - began) * 1000 / count)
        with context.db.read() as tx:
            longest.append(max(len(page.rank) for page in list_pages(tx, main_state(tx, space))))
    yield Row("import of 16,000 pages with the same parent, time per page, compared with 4,000 pages", cost)
    yield Row(
        "longest sort key of 16,000 pages with the same parent, compared with 4,000", longest, "characters"
    )


PARTS: dict[str, Part] = {
    "views": views,
    "requests": requests,
    "writers": writers,
    "lists": lists,
    "audit": audit,
    "siblings": siblings,
}


if __name__ == "__main__":
    main(PARTS)
