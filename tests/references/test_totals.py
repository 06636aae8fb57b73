"""The totals stored with references match a recount after any change of a space."""

import random
import sqlite3
from types import SimpleNamespace

import pytest

from changes.working import insert, update
from octavo.content.references import listing, totals
from octavo.content.revisions import staging
from octavo.content.revisions.deriving import check_derived, rebuild_derived, remove_replaced
from octavo.core.links import app_hosts
from octavo.operations.admin.import_export import import_space
from references.test_index import Linked

STEPS = 14


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    monkeypatch.setattr(totals, "_PAUSE", 0)
    monkeypatch.setattr(totals, "_BATCH", 3)
    monkeypatch.setattr(totals, "MOST_LOCATIONS", 3)
    monkeypatch.setattr(listing, "MOST_LOCATIONS", 3)


def wrong(world, *spaces):
    hosts = app_hosts(world.context.settings.url)
    with world.context.db.read() as tx:
        return [what for space in spaces for what in check_derived(tx, space, hosts)]


def is_counted(world, space):
    with world.context.db.read() as tx:
        return totals.read_totals(tx, space) is not None


class Hands:
    """Makes random changes to a space, to a second one that it refers to, and to one of its change requests."""

    def __init__(self, world, tmp_path, monkeypatch, seed):
        self.monkeypatch = monkeypatch
        self.world, self.chance, self.folder = world, random.Random(seed), tmp_path
        (tmp_path / "one").mkdir()
        (tmp_path / "two").mkdir()
        self.space, self.other = Linked(world, tmp_path / "one"), Linked(world, tmp_path / "two")
        self.change = self.space.create_change()
        self.made = 0

    def text(self):
        there = f"https://octavo.test/s/{self.other.id}"
        links = [
            "guides/start.md",
            "guides/README.md#first-steps",
            "guides/README.md#no",
            "guides/start",
            "README.md",
            "new-1.md",
            "gone.md",
            "https://example.org",
            "user:nobody",
            f"user:{self.world.users['editor']}",
            f"collection:{self.world.home['collectionId']}",
            "collection:none",
            there,
            f"{there}/guides/start",
            f"{there}/guides/new",
            f"https://octavo.test/s/{self.space.id}",
            "https://octavo.test/settings",
        ]
        chosen = self.chance.choices(links, k=self.chance.randrange(9))
        heading = self.chance.choice(["", "## First steps\n\n", "## Why\n\n"])
        return heading + " ".join(f"[x]({link})" for link in chosen)

    def some_page(self, of, change=None):
        waiting, found = of.world.get("admin", self.path(of, change))["pages"], []
        while waiting:
            page = waiting.pop()
            waiting += page.get("pages", [])
            if page["type"] == "document":
                found.append(page["id"])
        return self.chance.choice(sorted(found)) if found else None

    @staticmethod
    def path(of, change):
        return f"{of.path}/change-requests/{change}/content/pages" if change else f"{of.path}/content/pages"

    def edit(self, of, change=None):
        page = self.some_page(of, change)
        self.made += 1
        title = f"New {self.made}"
        kind = self.chance.choice(["write", "write", "write", "insert", "delete", "rename", "move"])
        if page is None or kind == "insert":
            of.edit(insert(f"# {title}\n\n{self.text()}\n"), change=change)
        elif kind == "write":
            of.edit(update(page, document={"markdown": f"# {title}\n\n{self.text()}\n"}), change=change)
        elif kind == "delete":
            of.edit({"operation": "delete_page", "page": page}, change=change)
        elif kind == "rename":
            where = f"{of.path}/change-requests/{change}" if change else of.path
            slug = update(page, slug=self.chance.choice(["guides", "start", "new"]))
            answer = self.world.call("admin", "POST", f"{where}/content", json={"changes": [slug]})
            assert answer.status_code in (200, 409), answer.text  # a sibling may have it
        else:
            of.edit(update(page, into=None), change=change)

    def merge(self):
        path = f"{self.space.path}/change-requests/{self.change}"
        self.world.call("admin", "POST", f"{path}/merge")  # conflicting or empty ones stay
        self.change = self.space.create_change()

    def roll_back(self):
        path = f"{self.space.path}/revisions"
        revisions = self.world.get("admin", path)["items"]
        self.world.call("admin", "POST", f"{path}/{self.chance.choice(revisions)['id']}/rollback")

    def import_files(self):
        source = self.folder / "one" / "source"
        (source / "guides" / "start.md").write_text(f"# Imported\n\n{self.text()}\n")
        (source / "README.md").write_text(f"# Home\n\n{self.text()}\n")
        org = self.world.home["organizationId"]
        import_space(self.world.context, str(source), organization_id=org, space_id=self.space.id)

    def rebuild(self):
        space = self.chance.choice([self.space, self.other])
        hosts = app_hosts(self.world.context.settings.url)
        rebuild_derived(self.world.context.db, space.id, hosts)

    def duplicate(self):
        # A job creates the derived data of a large copy.
        self.monkeypatch.setattr(staging, "MOST_AT_ONCE", 10_000)
        copy = self.world.post("admin", f"{self.space.path}/duplicate", {})["id"]
        assert wrong(self.world, copy) == []

    def step(self):
        self.chance.choices(
            [
                lambda: self.edit(self.space),
                lambda: self.edit(self.other),
                lambda: self.edit(self.space, self.change),
                self.merge,
                self.roll_back,
                self.import_files,
                self.rebuild,
                self.duplicate,
                lambda: remove_replaced(self.world.context, self.space.id),
            ],
            [6, 3, 4, 2, 2, 1, 1, 0.5, 1],
        )[0]()

    def answers(self):
        """Return the lists of links of the space and of its change request, for someone who sees both spaces
        and for someone who doesn't."""
        found = []
        for who in ("admin", "reader"):
            for change, contexts in ((None, [None]), (self.change, [None, "space", "change-request"])):
                for status in (None, "broken", "ok"):
                    for context in contexts:
                        query = {"limit": 1000}
                        query |= {"status": status} if status else {}
                        query |= {"brokenContext": context} if context else {}
                        answer = self.space.links(who=who, change=change, **query)
                        assert len(answer["items"]) == answer["count"], (who, change, status, context)
                        assert "next" not in answer
                        found.append(answer)
        return found


@pytest.mark.sqlite_first
@pytest.mark.parametrize("seed", range(6))
def test_stored_totals_equal_counts(world, tmp_path, monkeypatch, seed):
    hands = Hands(world, tmp_path, monkeypatch, seed)
    for _ in range(STEPS):
        # Occasionally, revisions are written like large ones.
        monkeypatch.setattr(staging, "MOST_AT_ONCE", hands.chance.choice([0, 10_000, 10_000]))
        hands.step()
        for space in (hands.space.id, hands.other.id):
            if hands.chance.random() < 0.7:
                totals.finish_counting(world.context.db, space)
                assert is_counted(world, space)
        assert wrong(world, hands.space.id, hands.other.id) == []
    if seed % 2:
        with world.context.db.write() as tx:
            tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=hands.other.id)
    for space in (hands.space.id, hands.other.id):
        totals.finish_counting(world.context.db, space)
    assert wrong(world, hands.space.id, hands.other.id) == []
    kept = hands.answers()
    monkeypatch.setattr(listing, "read_totals", lambda tx, space: None)
    assert hands.answers() == kept


def test_edits_during_counting_are_included(world, tmp_path, monkeypatch):
    """Each batch is counted between two edits, and readers always get correct numbers."""
    hands = Hands(world, tmp_path, monkeypatch, 3)
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(totals, "_BATCH", 2)
    waited = []

    def edit_between(seconds):
        monkeypatch.setattr(staging, "MOST_AT_ONCE", 10_000)
        with world.context.db.read() as tx:
            counted = totals.count_targets(tx, hands.space.id).total()
        assert hands.space.links()["stats"]["total"] == counted
        waited.append(is_counted(world, hands.space.id))
        hands.edit(hands.space)

    monkeypatch.setattr(totals, "time", SimpleNamespace(sleep=edit_between))
    links = " ".join(f"[x](gone-{n}.md) [y](https://example.org/{n})" for n in range(10))
    (tmp_path / "one" / "source" / ".gitbook" / "includes" / "help.md").write_text(f"# New\n\n{links}\n")
    hands.import_files()
    totals.finish_counting(world.context.db, hands.space.id)
    assert waited.count(False) > 2
    assert is_counted(world, hands.space.id)
    assert wrong(world, hands.space.id, hands.other.id) == []


def test_a_job_counts_the_rows_of_a_large_revision(world, tmp_path, monkeypatch):
    hands = Hands(world, tmp_path, monkeypatch, 4)
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    hands.import_files()
    assert not is_counted(world, hands.space.id)
    answers = hands.answers()
    remove_replaced(world.context, hands.space.id)
    assert is_counted(world, hands.space.id)
    assert hands.answers() == answers
    assert wrong(world, hands.space.id) == []


def test_wrong_totals_are_found_and_corrected(world, tmp_path, monkeypatch):
    hands = Hands(world, tmp_path, monkeypatch, 5)
    for table in ("reference_targets", "reference_totals"):
        with world.context.db.write() as tx:
            tx.run(f"UPDATE {table} SET refs = refs + 1 WHERE space_id = :space", space=hands.space.id)
        assert len(wrong(world, hands.space.id)) == 1
        rebuild_derived(world.context.db, hands.space.id, ())
        assert wrong(world, hands.space.id) == []


def steps_of(world, query):
    """Return steps of SQLite's virtual machine, in tens."""
    steps = [0]

    def count():
        steps[0] += 10

    connections: list[sqlite3.Connection] = list(world.context.db._all)
    for connection in connections:
        connection.set_progress_handler(count, 10)
    query()
    for connection in connections:
        connection.set_progress_handler(None, 0)
    return steps[0]


@pytest.mark.parametrize("query", [{}, {"status": "broken"}, {"status": "in-app"}])
def test_cost_of_listing_references_is_independent_of_others(sqlite_world, tmp_path, query):
    costs = []
    for pages in (30, 600):
        files = {"README.md": "# Home\n\n" + " ".join(f"[x](gone-{n}.md)" for n in range(5))}
        files |= {f"p{n}.md": f"# P{n}\n\n[a](README.md) [b](p{n + 1}.md)\n" for n in range(pages)}
        files["SUMMARY.md"] = "* [Home](README.md)\n" + "".join(f"* [P{n}](p{n}.md)\n" for n in range(pages))
        folder = tmp_path / str(pages)
        folder.mkdir()
        linked = Linked(sqlite_world, folder, files)
        change = linked.create_change()
        linked.write("P7", "[x](gone-7.md) [y](p9.md)", change=change)
        page = linked.page("P9")
        for of in (None, change):
            costs.append(steps_of(sqlite_world, lambda li=linked, id=page: li.links(id, limit=2)))
            linked.links(change=of, limit=2, **query)
            costs.append(
                steps_of(sqlite_world, lambda of=of, li=linked: li.links(change=of, limit=2, **query))
            )
    few, many = costs[:4], costs[4:]
    assert all(large < 1.5 * small for small, large in zip(few, many, strict=True)), costs
