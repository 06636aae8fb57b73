"""A large space is copied in short transactions, and no one sees the copy before the last of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from httpx import Response

from octavo.content.revisions import staging
from octavo.content.revisions.deriving import check_derived
from octavo.content.revisions.states import FOREVER
from octavo.kit.db import turns
from octavo.kit.work.worker import Worker
from octavo.operations.admin.backup import verify_installation
from octavo.organization.access.authorization import SpaceAccess, space_access
from octavo.organization.access.members import upsert_member
from octavo.organization.access.roles import Can
from octavo.organization.spaces import duplicating
from octavo.organization.spaces.duplicating import prepare_copy
from octavo.organization.spaces.purging import purge_spaces
from set_clock import SetClock
from settled import PATIENCE
from world import URL, World

DAY = 24 * 3_600_000
PAGES = 7


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BATCH", 2)


@pytest.fixture
def in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every space as large."""
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)


@pytest.fixture
def space(world: World) -> str:
    """Create a space in a collection, with some more pages and files, some of them changed or deleted."""
    space = world.home["spaceId"]
    path = f"/spaces/{space}"
    inserts = [
        {
            "operation": "insert_page",
            "document": {"markdown": f"# P{n}\n\nzebra{n}\n"},
        }
        for n in range(PAGES)
    ]
    answer = world.call("admin", "POST", f"{path}/content", json={"changes": inserts})
    assert answer.is_success, answer.text
    titled = {page["title"]: page["id"] for page in pages_of(world, space)}
    changes = [
        {"operation": "update_page", "page": titled["P0"], "document": {"markdown": "# P0\n\ngiraffe\n"}},
        {"operation": "delete_page", "page": titled["P1"]},
    ]
    answer = world.call("admin", "POST", f"{path}/content", json={"changes": changes})
    assert answer.is_success, answer.text
    world.post("admin", f"{path}/move", {"parent": world.home["collectionId"]})
    world.post("admin", f"{path}/permissions", {"role": "edit", "users": [world.users["reader"]]})
    run_jobs(world)
    return space


def run_jobs(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def rows_of(world: World, query: str, **parameters: Any) -> list[Any]:
    with world.context.db.read() as tx:
        return tx.all(query, **parameters)


def pages_of(world: World, space: str) -> list[Any]:
    pages: list[Any] = world.get("admin", f"/spaces/{space}/content/pages")["pages"]
    return pages


def copy(world: World, space: str) -> str:
    made: str = world.post("admin", f"/spaces/{space}/duplicate")["id"]
    return made


def access_to(world: World, space: str) -> SpaceAccess:
    with world.context.db.read() as tx:
        return space_access(tx, world.actor("admin"), Can.ADMIN, space)


def unfinished(world: World) -> list[str]:
    return [row[0] for row in rows_of(world, "SELECT id FROM spaces WHERE deleted_at <= 0")]


def rows_beyond(world: World) -> int:
    return sum(
        rows_of(
            world,
            f"SELECT count(*) FROM {table} v JOIN branches b ON b.id = v.branch_id WHERE v.from_seq > b.sequence",
        )[0][0]
        for table in ("page_versions", "item_versions")
    )


def copy_while(world: World, space: str, act: Callable[[], None]) -> Response:
    """Return the response to a request for a copy, with an action after the second short transaction."""
    return call_while(world, f"/spaces/{space}/duplicate", None, act)


def call_while(world: World, path: str, body: Any, act: Callable[[], None]) -> Response:
    pauses: list[float] = []
    paused, resumed = threading.Event(), threading.Event()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            paused.set()
            resumed.wait(PATIENCE)

    loop = world._loop
    headers = {"authorization": f"Bearer {world.token('admin')}"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turns.time, "sleep", pause)
        request = loop.create_task(world._client.post(f"{URL}/v1{path}", headers=headers, json=body))
        try:
            assert loop.run_until_complete(loop.run_in_executor(None, paused.wait, 30))
            act()
        finally:
            resumed.set()
            answer = loop.run_until_complete(request)
    return answer


def rows_of_space(world: World, space: str) -> dict[str, list[Any]]:
    """Return the rows of a space without its own IDs and creation time."""
    [main] = rows_of(world, "SELECT main_branch FROM spaces WHERE id = :id", id=space)
    own = {
        "id",
        "space_id",
        "branch_id",
        "main_branch",
        "main_revision",
        "revision",
        "rank",
        "created_at",
        "updated_at",
        "object_id",
        "version",
    }
    queries = {
        "spaces": "id = :space",
        "branches": "space_id = :space",
        "revisions": "branch_id = :main",
        "page_versions": "branch_id = :main",
        "item_versions": "branch_id = :main",
        "grants": "object_type = 'space' AND object_id = :space",
        "search_words": "space_id = :space",
        "openapi_sources": "space_id = :space",
    }
    tables = world.tables()
    versioned = ("page_versions", "item_versions")
    found = {}
    for table, where in queries.items():
        columns = [
            name
            for name in tables[table]
            if name not in own or (table in versioned and name.endswith("ed_at"))
        ]
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE {where}"
        given = {"space": space} if ":space" in where else {"main": main[0]}
        found[table] = sorted(rows_of(world, query, **given), key=repr)
    return found


def test_a_copy_in_batches_equals_one_in_a_single_transaction(
    world: World, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = copy(world, space)
    written: list[int] = []
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 0)
    with monkeypatch.context() as patched:
        patched.setattr(turns.time, "sleep", lambda _: written.append(rows_beyond(world)))
        in_parts = copy(world, space)
    run_jobs(world)
    assert len(written) > PAGES // 2
    steps = [after - before for before, after in zip([0, *written], written, strict=False)]
    assert max(steps) <= staging.BATCH and min(steps) > 0
    assert rows_of_space(world, in_parts) == rows_of_space(world, at_once)
    assert rows_beyond(world) == 0
    order = rows_of(
        world, "SELECT id FROM spaces WHERE collection_id = :c ORDER BY rank", c=world.home["collectionId"]
    )
    assert [row[0] for row in order][-3:] == [space, in_parts, at_once]
    with world.context.db.read() as tx:
        assert check_derived(tx, in_parts, ()) == []
    assert verify_installation(world.context) == []
    found = world.get("admin", f"/spaces/{in_parts}/search", params={"query": "giraffe"})
    assert len(found["items"]) == 1
    # Both can be edited and restored from the trash, like any other space.
    for made in (at_once, in_parts):
        insert = {"operation": "insert_page", "document": {"markdown": "# New\n"}}
        assert world.call("admin", "POST", f"/spaces/{made}/content", json={"changes": [insert]}).is_success
        assert len(world.get("admin", f"/spaces/{made}/revisions")["items"]) == 2
        assert world.call("admin", "DELETE", f"/spaces/{made}").is_success
        world.post("admin", f"/spaces/{made}/restore")


@pytest.mark.usefixtures("in_batches")
def test_unfinished_copies_are_invisible(world: World, space: str) -> None:
    org = world.home.path("/orgs/{organizationId}")

    def seen() -> list[Any]:
        answers = [
            world.get("admin", f"{org}/{what}")
            for what in (
                "spaces",
                "trash/spaces",
                "collections",
                f"members/{world.users['admin']}/spaces",
                "search?query=zebra3",
                "audit-events",
            )
        ]
        answers.append(world.get("admin", f"/collections/{world.home['collectionId']}/spaces"))
        return [*answers, rows_of(world, "SELECT * FROM grants"), rows_of(world, "SELECT * FROM events")]

    before = seen()
    looked: list[str] = []

    def look() -> None:
        [made] = unfinished(world)
        assert seen() == before
        assert rows_beyond(world) == 2 * staging.BATCH
        for method, path in (
            ("GET", ""),
            ("GET", "/content/pages"),
            ("GET", "/permissions/users"),
            ("GET", "/search?query=zebra3"),
            ("DELETE", ""),
            ("POST", "/restore"),
            ("POST", "/duplicate"),
        ):
            answers = [world.call("admin", method, f"/spaces/{id}{path}") for id in (made, "nothing")]
            assert answers[0].status_code == answers[1].status_code, path
            assert answers[0].status_code == (204 if method == "DELETE" else 404), path
        site = world.call("admin", "POST", f"{org}/sites", json={"title": "Site", "spaces": [made]})
        assert site.status_code == 404
        purge_spaces(world.context)
        assert unfinished(world) == [made]
        assert verify_installation(world.context) == []
        looked.append(made)

    made = copy_while(world, space, look).json()["id"]
    assert looked == [made]
    assert made in [item["id"] for item in world.get("admin", f"{org}/spaces")["items"]]


@pytest.mark.sqlite_first
@pytest.mark.usefixtures("in_batches")
def test_a_copy_has_the_content_from_its_start(world: World, space: str) -> None:
    """Its place, settings, and permissions are those at the time of completion."""
    before = pages_of(world, space)

    def edit() -> None:
        changes = [
            {"operation": "update_page", "page": page["id"], "document": {"markdown": "# New\n\nelephant\n"}}
            for page in before
            if page["title"].startswith("P")
        ] + [{"operation": "insert_page", "document": {"markdown": "# Later\n"}}]
        answer = world.call("admin", "POST", f"/spaces/{space}/content", json={"changes": changes})
        assert answer.is_success, answer.text
        world.post(
            "admin", f"/spaces/{space}/permissions", {"role": "read", "users": [world.users["reader"]]}
        )
        world.call("admin", "PATCH", f"/spaces/{space}", json={"title": "Renamed"})
        world.post("admin", f"/spaces/{space}/move", {"parent": None})

    made = copy_while(world, space, edit).json()
    run_jobs(world)
    assert [page["title"] for page in pages_of(world, made["id"])] == [page["title"] for page in before]
    assert "Later" in [page["title"] for page in pages_of(world, space)]
    ends = "SELECT DISTINCT v.to_seq FROM spaces s JOIN page_versions v ON v.branch_id = s.main_branch WHERE s.id = :id"
    assert rows_of(world, ends, id=made["id"]) == [(FOREVER,)]
    found = {
        word: len(world.get("admin", f"/spaces/{made['id']}/search", params={"query": word})["items"])
        for word in ("giraffe", "elephant")
    }
    assert found == {"giraffe": 1, "elephant": 0}
    assert made["title"] == "Renamed (copy)" and "parent" not in made
    role = "SELECT role FROM grants WHERE object_id = :space AND subject_id = :user"
    assert rows_of(world, role, space=made["id"], user=world.users["reader"]) == [("read",)]
    assert verify_installation(world.context) == []


@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("how", ["restricted", "moved", "restricted and deleted"])
def test_a_page_that_is_restricted_in_the_meantime_is_not_copied(world: World, space: str, how: str) -> None:
    titled = {page["title"]: page["id"] for page in pages_of(world, space)}
    spaces = len(rows_of(world, "SELECT id FROM spaces"))

    def edit(*changes: dict[str, Any]) -> None:
        world.post("admin", f"/spaces/{space}/content", {"changes": list(changes)})

    def restrict(title: str) -> dict[str, Any]:
        rule = [{"kind": "administrators"}]
        return {"operation": "update_page", "page": titled[title], "visibleTo": rule}

    edit(restrict("P3"))

    def act() -> None:
        if how == "moved":
            edit({"operation": "update_page", "page": titled["P2"], "into": titled["P3"]})
        else:
            edit(restrict("P2"))
        if how == "restricted and deleted":
            edit({"operation": "delete_page", "page": titled["P2"]})

    assert copy_while(world, space, act).status_code == 503
    run_jobs(world)
    assert_gone(world, spaces)
    made = copy_while(world, space, lambda: None).json()["id"]
    run_jobs(world)
    assert world.call("reader", "GET", f"/spaces/{made}/content/page/{titled['P0']}").is_success
    for title in ("P2", "P3"):
        path = f"/spaces/{made}/content/page/{titled[title]}"
        assert world.call("reader", "GET", path).status_code == 404


@pytest.mark.sqlite_first
def test_derived_rows_of_later_revisions_are_not_copied(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if there is little of it and there are many files."""
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Files"})["id"]
    files = [{"name": f"{n}.txt", "base64": "b25l", "contentType": "text/plain"} for n in range(40)]
    upload = {"changes": [{"operation": "insert_files", "files": [file]} for file in files]}
    assert world.call("admin", "POST", f"/spaces/{space}/content", json=upload).is_success
    monkeypatch.setattr(staging, "MOST_AT_ONCE", 30)

    def edit() -> None:
        insert = {"operation": "insert_page", "document": {"markdown": "# Later\n\nelephant\n"}}
        assert world.call("admin", "POST", f"/spaces/{space}/content", json={"changes": [insert]}).is_success

    made = copy_while(world, space, edit).json()["id"]
    run_jobs(world)
    assert pages_of(world, made) == []
    with world.context.db.read() as tx:
        assert check_derived(tx, made, ()) == []


def begin(world: World, space: str) -> AbstractContextManager[str | None]:
    """Run a copy up to its last transaction. Keeping it unfinished leaves what a killed process leaves."""
    begun = prepare_copy(world.context.db, access_to(world, space))
    begun.__enter__()
    return begun


def assert_gone(world: World, spaces: int) -> None:
    assert unfinished(world) == [] and rows_beyond(world) == 0
    assert rows_of(world, "SELECT count(*) FROM spaces") == [(spaces,)]
    for table, column in (
        ("page_versions", "branch_id"),
        ("item_versions", "branch_id"),
        ("revisions", "branch_id"),
    ):
        assert rows_of(world, f"SELECT 1 FROM {table} WHERE {column} NOT IN (SELECT id FROM branches)") == []
    assert rows_of(world, "SELECT 1 FROM audit_events WHERE action = 'space.purged'") == []
    assert rows_of(world, "SELECT 1 FROM events WHERE type = 'space_purged'") == []
    assert verify_installation(world.context) == []


@pytest.mark.usefixtures("in_batches")
def test_rows_of_a_killed_copy_are_removed_after_a_day(world: World, space: str, clock: SetClock) -> None:
    [(spaces,)] = rows_of(world, "SELECT count(*) FROM spaces")
    begun = begin(world, space)
    [made] = unfinished(world)
    clock.advance(DAY - 60_000)
    purge_spaces(world.context)
    assert unfinished(world) == [made]
    clock.advance(120_000)
    purge_spaces(world.context)
    assert_gone(world, spaces)
    released = {row[0] for row in rows_of(world, "SELECT hash FROM unused")}
    bodies = """SELECT body FROM page_versions v JOIN spaces s ON s.main_branch = v.branch_id
                JOIN branches b ON b.id = v.branch_id WHERE s.id = :space AND v.body IS NOT NULL AND \
v.to_seq > b.sequence"""
    assert {row[0] for row in rows_of(world, bodies, space=space)} <= released
    # The process was still alive: its last transaction finds nothing to complete.
    with pytest.raises(duplicating.NotFound), world.context.db.write() as tx:
        duplicating._lock_copy(tx, made)
    del begun


@pytest.mark.sqlite_first
@pytest.mark.usefixtures("in_batches")
def test_a_copy_that_fails_leaves_nothing(world: World, space: str) -> None:
    [(spaces,)] = rows_of(world, "SELECT count(*) FROM spaces")

    with pytest.raises(ZeroDivisionError), prepare_copy(world.context.db, access_to(world, space)):
        assert rows_beyond(world) > 0
        raise ZeroDivisionError
    run_jobs(world)
    assert_gone(world, spaces)


@pytest.mark.sqlite_first
@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("what", ["deleted", "deleted with its collection", "transferred"])
def test_a_source_deleted_in_the_meantime_is_not_copied(world: World, space: str, what: str) -> None:
    [(spaces,)] = rows_of(world, "SELECT count(*) FROM spaces")
    world.call("admin", "DELETE", world.home.path("/orgs/{organizationId}/sites/{siteId}"))
    # A space that others depend on can't be transferred.
    world.call("admin", "DELETE", world.home.path("/orgs/{organizationId}/translations/{translationId}"))
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["admin"], "admin")

    def act() -> None:
        if what == "deleted":
            answer = world.call("admin", "DELETE", f"/spaces/{space}")
        elif what == "transferred":
            body = {"organization": world.away["organizationId"]}
            answer = world.call("admin", "POST", f"/spaces/{space}/transfer", json=body)
        else:
            answer = world.call("admin", "DELETE", f"/collections/{world.home['collectionId']}")
        assert answer.is_success, answer.text

    assert copy_while(world, space, act).status_code == 404
    run_jobs(world)
    assert_gone(world, spaces)


@pytest.mark.sqlite_first
@pytest.mark.usefixtures("in_batches")
def test_a_translation_of_a_large_space_starts_with_a_copy_in_batches(world: World, space: str) -> None:
    begun: list[str] = []
    body = {"source": {"space": space, "language": "en"}, "language": "fr"}
    path = world.home.path("/orgs/{organizationId}/translations")
    made = call_while(world, path, body, lambda: begun.extend(unfinished(world))).json()
    assert begun == [made["result"]["space"]] and unfinished(world) == []
    assert len(pages_of(world, begun[0])) == len(pages_of(world, space))
    assert world.call("admin", "POST", path, json=body).status_code == 400
    assert unfinished(world) == []
