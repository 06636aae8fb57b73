"""Caches of sites are never visible: every answer equals a fresh one."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.delivery.reader import answering, app, pages
from octavo.delivery.reader.table import View
from octavo.kit.db.database import StaleCachedRead
from settled import settle
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "unsigned": {
            "type": "object",
            "description": "Unsigned claims of the site visitor.",
            "properties": {"beta": {"type": "boolean", "description": "Whether they try things"}},
            "additionalProperties": False,
        }
    },
}
BETA = "visitor.claims.unsigned.beta"
SLUGS = ["a", "b", "c"]


class Manuals:
    """Site that is the same for all, and one with adaptive content; both show the spaces One and Two."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.spaces = [
            self.post(world.home.path("/orgs/{organizationId}/spaces"), {"title": title})["id"]
            for title in ("One", "Two")
        ]
        for space in self.spaces:
            items = [
                {
                    "operation": "insert_reusable_content",
                    "title": "Note",
                    "document": {"markdown": "A note.\n"},
                },
                {"operation": "set_variables", "variables": {"edition": "first"}},
            ]
            self.write(space, [*items, *(self.insert(slug, n) for n, slug in enumerate(SLUGS))])
        self.sites = [self.site(adaptive) for adaptive in (False, True)]
        self.visitor = Visitor(world.context)

    def post(self, path: str, body: Any = None) -> Any:
        return self.world.post("admin", path, body)

    def patch(self, path: str, body: Any) -> None:
        answer = self.world.call("admin", "PATCH", path, json=body)
        assert answer.status_code == 200, answer.text

    def site(self, adaptive: bool) -> tuple[str, list[str], str]:
        """Return its path in the API, its site spaces, and its base."""
        path = self.world.home.path("/orgs/{organizationId}/sites")
        path += f"/{self.post(path, {'title': 'Manuals'})['id']}"
        made = [self.post(f"{path}/site-spaces", {"spaceId": space})["id"] for space in self.spaces]
        if adaptive:
            answer = self.world.call("admin", "PUT", f"{path}/adaptive-schema", json={"jsonSchema": SCHEMA})
            assert answer.status_code == 200, answer.text
            self.patch(path, {"adaptiveContent": {"enabled": True}})
        return path, made, urlsplit(self.post(f"{path}/publish")["urls"]["published"]).path

    def text(self, slug: str, n: int) -> str:
        """Return a page that uses everything that pages can use."""
        other = SLUGS[n % 3]
        parts = [
            f"# Page {slug}\n\nText {n}.",
            (
                f"See [the other]({other}.md) and [its part]({other}.md#part), or "
                f"[elsewhere](https://app.gitbook.com/s/{self.spaces[n % 2]}/{other}#part)."
            ),
            f"## Part{n % 2 or ''}",
            f"{{% if {BETA} %}}\n\n## Secret {n}\n\nFor few: [this](b.md).\n\n{{% endif %}}",
            '<code class="expression">space.vars.edition</code>',
            '{% include ".gitbook/includes/note.md" %}',
            '{% content-ref url="a.md" %}\n[a.md](a.md)\n{% endcontent-ref %}',
        ]
        if n % 7 == 6:
            return f"# Page {slug}\n"
        return (
            "\n\n".join(part for k, part in enumerate(parts) if not k or (n + 3) >> k & 1 or k == n % 7)
            + "\n"
        )

    def insert(self, slug: str, n: int, into: str | None = None) -> dict[str, Any]:
        return {
            "operation": "insert_page",
            "slug": slug,
            "title": slug,
            "into": into,
            "document": {"markdown": self.text(slug, n)},
        }

    def write(self, space: str, changes: list[dict[str, Any]]) -> None:
        change = f"/spaces/{space}/change-requests"
        change += f"/{self.post(change, {'subject': 'x'})['id']}"
        answer = self.world.call("admin", "POST", f"{change}/content", json={"changes": changes})
        if answer.status_code != 409:  # the path is in use
            assert answer.is_success, answer.text
            self.post(f"{change}/merge")

    def pages(self, space: str) -> list[dict[str, Any]]:
        found = list(self.world.get("admin", f"/spaces/{space}/content/pages")["pages"])
        for page in found:
            found += page.get("pages", [])
        return found

    def step(self, kind: str, where: int, n: int) -> None:
        space, site = self.spaces[where % 2], self.sites[where % 2]
        pages = self.pages(space)
        page = pages[n % len(pages)] if pages else {"id": ""}
        update = {"operation": "update_page", "page": page["id"]}
        if kind in STRUCTURE:
            path, body = {
                "site title": ("", {"title": f"Manuals {n}"}),
                "variant": (f"/site-spaces/{site[1][1]}", {"condition": BETA if n % 2 else None}),
                "path": (f"/site-spaces/{site[1][1]}", {"path": f"p{n % 3}"}),
            }[kind]
            self.patch(site[0] + path, body)
        elif kind == "published":
            self.post(f"{site[0]}/{'publish' if n % 2 else 'unpublish'}")
        elif kind == "space title":
            self.patch(f"/spaces/{space}", {"title": f"Space {n}"})
        elif kind == "note":
            found = self.world.get("admin", f"/spaces/{space}/content")["reusableContents"]
            text = {"markdown": f"Note {n} [b](../../b.md)\n\n## Part\n"}
            self.write(
                space,
                [
                    {
                        "operation": "update_reusable_content",
                        "reusableContent": found[0]["id"],
                        "document": text,
                    }
                ],
            )
        elif kind == "variable":
            self.write(space, [{"operation": "set_variables", "variables": {"edition": f"edition {n}"}}])
        elif kind == "insert":
            self.write(
                space,
                [
                    self.insert(
                        SLUGS[n % 3], n, page["id"] if n % 2 and page.get("type") == "document" else None
                    )
                ],
            )
        elif not pages:
            return
        elif kind == "delete":
            if len(pages) > 2:
                self.write(space, [{"operation": "delete_page", "page": page["id"]}])
        else:
            fields = {
                "text": {"document": {"markdown": self.text("a", n)}},
                "title": {"title": f"Title {n}"},
                "slug": {"slug": f"{SLUGS[n % 3]}{where}"},
                "hidden": {"hidden": bool(n % 2)},
                "condition": {"condition": BETA if where else None},
                "move": {"into": None, "at": n % 3},
            }[kind]
            self.write(space, [{**update, **fields}])

    def look(self, visitor: Visitor) -> dict[tuple[str, str], tuple[Any, ...]]:
        found = {}
        for _, _, base in self.sites:
            paths = [
                "",
                "a",
                "b",
                "c.md",
                "sitemap.xml",
                "~feed.xml",
                "llms.txt",
                "nowhere",
                "p1/",
                "two/",
                "two/a",
                "two/b.md",
                "p1/c",
            ]
            for query in ("", "?visitor.beta=true"):
                for path in paths:
                    answer = visitor.get(f"{base}{path}{query}")
                    told = {
                        name: answer.headers.get(name)
                        for name in ("location", "cache-control", "x-robots-tag")
                    }
                    found[base + path, query] = (answer.status_code, answer.text, told)
        return found

    def check(self) -> None:
        kept = self.look(self.visitor)
        with nothing_kept(self.world.context.db.caches):
            anew = self.look(Visitor(self.world.context))
        for address, answer in anew.items():
            assert kept[address] == answer, address
            sees = address[1] and address[0].startswith(self.sites[1][2])
            assert sees or "For few" not in answer[1], address


@contextmanager
def nothing_kept(caches: dict[Any, Any]) -> Iterator[None]:
    before = caches.copy()
    caches.clear()
    try:
        yield
    finally:
        caches.clear()
        caches.update(before)


STRUCTURE = ("site title", "variant", "path")
KINDS = (
    *STRUCTURE,
    "published",
    "space title",
    "note",
    "variable",
    "insert",
    "delete",
    "text",
    "title",
    "slug",
    "hidden",
    "condition",
    "move",
)


@pytest.fixture
def manuals(world: World) -> Manuals:
    return Manuals(world)


STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 1), st.integers(0, 40)), min_size=1, max_size=4
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_cached_responses_equal_fresh_ones(manuals: Manuals, steps: list[tuple[str, int, int]]) -> None:
    for kind, where, n in steps:
        manuals.step(kind, where, n)
        manuals.check()


VARIED: dict[str, tuple[str, ...]] = {
    "host": ("sites.test", "plain.home.test", "adaptive.home.test", "nobody.home.test"),
    "accept": ("text/html", "text/markdown", "*/*"),
    "accept-encoding": ("identity", "gzip", "br", "zstd", "gzip;q=0, br"),
    "accept-language": ("en", "de", "ar"),
    "x-forwarded-host": ("", "evil.test"),
    "x-forwarded-proto": ("", "https"),
    "range": ("", "bytes=0-9"),
}
"""Parts of a request that an answer depends on, or must not depend on."""


def test_cached_responses_are_separate_by_host_language_audience_and_encoding(world: World) -> None:
    manuals = Manuals(world)
    for (path, _, _), name in zip(manuals.sites, ("plain", "adaptive"), strict=True):
        manuals.patch(path, {"hostname": f"{name}.home.test"})
    chance = random.Random(1)
    bases = ("/", *(base for _, _, base in manuals.sites))
    paths = (
        "",
        "a",
        "b",
        "c.md",
        "sitemap.xml",
        "~feed.xml",
        "llms.txt",
        "llms-full.txt",
        "robots.txt",
        "nowhere",
        "two/a",
    )
    asked = [
        (
            f"{chance.choice(bases)}{chance.choice(paths)}{chance.choice(('', '?visitor.beta=true'))}",
            {name: said for name, values in VARIED.items() if (said := chance.choice(values))},
        )
        for _ in range(250)
    ]

    def ask(visitor: Visitor, path: str, headers: dict[str, str]) -> tuple[Any, ...]:
        answer = visitor.get(path, **headers)
        told = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "date")}
        return answer.status_code, answer.content, told

    # Leftovers of the first round must not appear in the second one.
    for path, headers in asked:
        ask(manuals.visitor, path, headers)
    kept = [ask(manuals.visitor, path, headers) for path, headers in reversed(asked)]
    assert {answer[0] for answer in kept} >= {200, 404}
    with nothing_kept(world.context.db.caches):
        for (path, headers), answer in zip(reversed(asked), kept, strict=True):
            assert ask(Visitor(world.context), path, headers) == answer, (path, headers)


LOOKED_AT_AGAIN = frozenset({"sites", "organizations", "spaces", "site_versions", "site_former_hostnames"})
"""Dependencies that every cached answer is checked against after a commit."""
OF_REVISIONS = frozenset({"branches", "revisions", "page_versions", "item_versions", "bodies", "node_keys"})
"""Data that never changes once a revision of main refers to it."""
NOT_SHOWN = frozenset({"space_git_states", "json_each", "sqlite_master"})
"""Columns of a space's row that no visitor sees, and tables without content."""


def test_cached_responses_only_depend_on_tracked_data(sqlite_world: World) -> None:
    manuals = Manuals(sqlite_world)
    database: Any = sqlite_world.context.db
    read: set[str] = set()
    of_kept: set[str] = set()

    def note(action: int, table: str | None, *_: Any) -> int:
        if action == sqlite3.SQLITE_READ and table:
            read.add(table)
        return sqlite3.SQLITE_OK

    class Noting(Visitor):
        def get(self, path: str, params: dict[str, str] | None = None, **headers: Any) -> httpx.Response:
            read.clear()
            answer = super().get(path, params, **headers)
            # Refusals, redirects, and personal answers aren't cached.
            if answer.status_code == 200 and answer.headers["cache-control"].startswith("public"):
                of_kept.update(read)
            return answer

    connect = database._connect
    database._connect = lambda: watched(connect(), note)
    visitor = Noting(sqlite_world.context)
    try:
        with nothing_kept(sqlite_world.context.db.caches):
            answers = manuals.look(visitor)
    finally:
        database._connect = connect
    assert "page_versions" in of_kept and sum(answer[0] == 200 for answer in answers.values()) > 10
    with sqlite_world.context.db.read() as tx:
        rows = tx.all(
            "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%site_versions%'"
        )
    noticed = {table for (table,) in rows}
    assert {"site_spaces", "share_links", "site_redirects"} < noticed
    # Another table needs triggers that change the version of the sites that show its content.
    assert of_kept - noticed - LOOKED_AT_AGAIN - OF_REVISIONS - NOT_SHOWN == set()


def watched(connection: sqlite3.Connection, note: Any) -> sqlite3.Connection:
    connection.set_authorizer(note)
    return connection


def test_writes_of_others_do_not_invalidate_cached_responses(world: World) -> None:
    """Only dependencies count: another space, another site, and comments change nothing."""
    manuals = Manuals(world)
    (path, _, base), (other_path, _, _) = manuals.sites
    assert manuals.visitor.get(f"{base}two/b").status_code == 200
    made = []
    original = answering.answer_visit

    def counted(view: View, host: str, asked: str) -> answering.Visited:
        made.append(asked)
        return original(view, host, asked)

    app.answer_visit = counted
    try:
        for change in (
            lambda: manuals.write(
                world.home["spaceId"], [{"operation": "set_variables", "variables": {"edition": "x"}}]
            ),
            lambda: manuals.patch(other_path, {"title": "Others"}),
            lambda: manuals.post(f"/spaces/{manuals.spaces[1]}/comments", {"body": {"markdown": "Good."}}),
        ):
            change()
            manuals.visitor.get(f"{base}two/b")
        assert made == []
        manuals.write(manuals.spaces[1], [{"operation": "set_variables", "variables": {"edition": "x"}}])
        manuals.visitor.get(f"{base}two/b")
        manuals.patch(path, {"title": "Ours"})
        manuals.visitor.get(f"{base}two/b")
        assert made == [f"{base}two/b", f"{base}two/b"]
    finally:
        app.answer_visit = original


def test_cached_pages_need_no_thread_while_others_write(sqlite_world: World) -> None:
    manuals = Manuals(sqlite_world)
    address = f"{manuals.sites[0][2]}two/b"
    assert manuals.visitor.get(address).status_code == 200
    with nothing_in_threads():
        for text in ("One.", "Two."):
            manuals.post(f"/spaces/{manuals.spaces[1]}/comments", {"body": {"markdown": text}})
            assert manuals.visitor.get(address).status_code == 200
        assert manuals.visitor.get(f"{manuals.sites[0][2]}two/c").status_code == 500


@contextmanager
def nothing_in_threads() -> Iterator[None]:
    async def refuse(*_: Any) -> Any:
        raise RuntimeError("in a thread")

    original, app.in_turn = app.in_turn, refuse
    try:
        yield
    finally:
        app.in_turn = original


def test_a_text_is_rendered_again_only_if_its_content_changed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view of another page doesn't visit all pages of the space either."""
    manuals = Manuals(world)
    space, (_, _, base) = manuals.spaces[0], manuals.sites[0]
    manuals.write(
        space,
        [
            {
                "operation": "insert_page",
                "slug": "x",
                "title": "X",
                "document": {"markdown": "# X\n\nSee [y](y.md).\n"},
            },
            {
                "operation": "insert_page",
                "slug": "y",
                "title": "Y",
                "document": {"markdown": "# Y\n\nText.\n"},
            },
        ],
    )
    drawn: list[str] = []
    original = pages.PageBuilder._draw

    def counted(self: pages.PageBuilder, page: Page, *rest: Any) -> Any:
        drawn.append(page.slug)
        return original(self, page, *rest)

    pages.PageBuilder._draw = counted  # type: ignore[method-assign]
    try:
        before = manuals.visitor.get(f"{base}x").text
        page = next(one["id"] for one in manuals.pages(space) if one["slug"] == "y")
        update = {"operation": "update_page", "page": page}
        manuals.write(space, [{**update, "document": {"markdown": "# Y\n\nAnother text.\n"}}])
        walked: list[str] = []
        walk = PageTree.__iter__

        def walk_counted(tree: PageTree) -> Iterator[Page]:
            for each in walk(tree):
                walked.append(each.slug)
                yield each

        with monkeypatch.context() as counting:
            counting.setattr(PageTree, "__iter__", walk_counted)
            assert manuals.visitor.get(f"{base}x").text == before
        assert drawn == ["x"]
        # Only the home page is looked for.
        assert len(walked) <= 1, walked
        manuals.write(space, [{**update, "slug": "z"}])
        assert f'href="{base}z"' in manuals.visitor.get(f"{base}x").text
        assert drawn == ["x", "x"]
    finally:
        pages.PageBuilder._draw = original  # type: ignore[method-assign]


def test_one_view_after_a_commit_revalidates_the_whole_site(world: World) -> None:
    """Other requests use the rows it fetched; on PostgreSQL, too, nothing is cached beyond a commit."""
    manuals = Manuals(world)
    addresses = [f"{manuals.sites[0][2]}two/{slug}" for slug in SLUGS[1:]]
    settle(world.context.db, world.context.settings.database)
    for address in addresses:
        assert manuals.visitor.get(address).status_code == 200
    manuals.post(f"/spaces/{manuals.spaces[1]}/comments", {"body": {"markdown": "Good."}})
    settle(world.context.db, world.context.settings.database)
    assert manuals.visitor.get(addresses[0]).status_code == 200
    with nothing_in_threads():
        for address in addresses[1:]:
            assert manuals.visitor.get(address).status_code == 200


def test_a_restarted_visit_counts_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    manuals = Manuals(world)
    original, views = answering.answer_visit, []

    def interrupted(view: View, host: str, asked: str) -> answering.Visited:
        views.append(asked)
        found = original(view, host, asked)
        if len(views) == 1:
            raise StaleCachedRead
        return found

    monkeypatch.setattr(app, "answer_visit", interrupted)
    assert manuals.visitor.get(f"{manuals.sites[0][2]}two/nothing-here").status_code == 404
    assert len(views) == 2 and len(manuals.visitor.events._waiting) == 1
