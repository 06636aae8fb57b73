"""Responses that are cached until the next commit."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

import pytest

from octavo.kit.clock import CLOCK, now
from octavo.organization.access.tokens import create_token
from settled import settle
from world import World

LISTS = {
    "/orgs/{organizationId}/spaces": ("octavo.organization.spaces.store", "list_spaces"),
    "/orgs/{organizationId}/members": ("octavo.organization.orgs.members.store", "list_members"),
    "/spaces/{spaceId}/change-requests": ("octavo.content.changes.store", "list_changes"),
}


class Listing:
    """List in a world. ``threads``: the names of the threads that have read it from the database."""

    def __init__(self, world: World, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.path = world, world.home.path(path)
        self.threads: list[str] = []
        module, name = LISTS[path]
        read = getattr(import_module(module), name)

        def counted(*given: Any, **named: Any) -> Any:
            self.threads.append(threading.current_thread().name)
            return read(*given, **named)

        monkeypatch.setattr(f"{module}.{name}", counted)

    def get(self, who: str, **options: Any) -> Any:
        return self.world.get(who, self.path, **options)

    def commit(self, *statements: str) -> None:
        """Commit, and wait until responses can be cached again."""
        with self.world.context.db.write() as tx:
            for statement in ("UPDATE users SET email = email", *statements):
                tx.run(statement)
        settle(self.world.context.db, self.world.context.settings.database)


@pytest.fixture(params=LISTS)
def listing(world: World, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Listing:
    found = Listing(world, request.param, monkeypatch)
    found.get("editor")  # The first request by a token writes when it was used.
    found.get("reader")
    found.commit()
    found.threads.clear()
    return found


def test_a_list_is_read_once_until_the_next_commit(listing: Listing) -> None:
    # On a busy machine, PostgreSQL's notices can be late. Nothing is cached until then.
    for _ in range(10):
        listing.commit()
        listing.threads.clear()
        first = listing.get("editor")
        assert [listing.get("editor") for _ in range(3)] == [first] * 3
        assert listing.get("editor", params={"limit": 1})["items"] == first["items"][:1] != []
        if len(listing.threads) == 2:
            break
    assert len(listing.threads) == 2 and "MainThread" not in listing.threads
    listing.commit(
        *(
            f"UPDATE {table} SET {column} = 'Renamed'"
            for table, column in (
                ("spaces", "title"),
                ("users", "display_name"),
                ("change_requests", "subject"),
            )
        )
    )
    assert "Renamed" in str(listing.get("editor"))
    assert len(listing.threads) == 3


def test_each_caller_gets_their_own_list(listing: Listing) -> None:
    for _ in range(10):
        listing.commit()
        listing.threads.clear()
        listing.get("editor")
        assert listing.get("reader")["count"] <= listing.get("editor")["count"]
        unchanged = listing.world.call("editor", "GET", listing.path)
        headers = {"if-none-match": unchanged.headers["etag"]}
        assert listing.world.call("editor", "GET", listing.path, headers=headers).status_code == 304
        if len(listing.threads) == 2:
            break
    assert len(listing.threads) == 2


def test_a_cached_list_is_counted_and_checked(listing: Listing) -> None:
    world = listing.world
    listing.get("editor")
    left = [int(world.call("editor", "GET", listing.path).headers["x-ratelimit-remaining"]) for _ in range(2)]
    assert left[0] - left[1] == 1
    assert world.call("nobody", "GET", listing.path).status_code == 401
    with world.context.db.write() as tx:
        tx.run("DELETE FROM members WHERE user_id = :user", user=world.users["editor"])
        tx.run("DELETE FROM grants WHERE subject_id = :user", user=world.users["editor"])
    assert world.call("editor", "GET", listing.path).status_code == 404


def test_a_cached_list_ends_with_the_token(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    world = listing.world
    with world.context.db.write() as tx:
        token = create_token(tx, world.users["editor"], name="brief", expires_at=now() + 60_000)
    headers = {"authorization": f"Bearer {token}"}
    listing.get("nobody", headers=headers)
    for _ in range(10):
        listing.commit()
        listing.get("nobody", headers=headers)
        read = len(listing.threads)
        listing.get("nobody", headers=headers)
        if len(listing.threads) == read:
            break
    assert len(listing.threads) == read
    moment = now() + 120_000
    monkeypatch.setattr(CLOCK, "read", lambda: moment)
    assert world.call("nobody", "GET", listing.path, headers=headers).status_code == 401
    assert len(listing.threads) == read


@pytest.mark.parametrize("path", ["/spaces/{spaceId}", "/spaces/{spaceId}/content/page/{pageId}"])
def test_a_cached_object_follows_commits_and_permissions(world: World, path: str) -> None:
    path = world.home.path(path)
    world.get("editor", path)
    first = world.get("editor", path)
    assert world.get("editor", path) == first
    assert world.get("reader", path).get("permissions") != first.get("permissions", ...)
    change = {"operation": "update_page", "page": world.home["pageId"], "title": "Renamed"}
    world.post(world.home.admin, world.home.path("/spaces/{spaceId}/content"), {"changes": [change]})
    settle(world.context.db, world.context.settings.database)
    assert world.get("editor", path) != first
    with world.context.db.write() as tx:
        tx.run("DELETE FROM members WHERE user_id = :user", user=world.users["editor"])
        tx.run("DELETE FROM grants WHERE subject_id = :user", user=world.users["editor"])
    assert world.call("editor", "GET", path).status_code == 404
