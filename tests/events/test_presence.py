"""Tests of presence."""

from __future__ import annotations

import pytest

from octavo.content.events import presence, store
from octavo.content.events.presence import write_presence
from octavo.kit.clock import now
from set_clock import SetClock
from world import World

from .listening import listening

SPACE = "/spaces/{spaceId}"
CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"


@pytest.fixture(autouse=True)
def nobody_is_there(world: World) -> None:
    world.context.db.caches.pop(presence._PendingReports, None)


def say(
    world: World, who: str, at: str = SPACE, client: str = "tab", status: int = 200, **body: object
) -> None:
    answer = world.call(who, "PUT", world.home.path(f"{at}/presence/{client}"), json=body)
    assert answer.status_code == status, answer.text


def there(world: World, at: str = SPACE) -> list[tuple[str, str, str | None, str]]:
    write_presence(world.context)
    listed = world.get("reader", world.home.path(f"{at}/presence"))
    assert listed["count"] == len(listed["items"])
    return [(one["user"]["displayName"], one["id"], one["page"], one["activity"]) for one in listed["items"]]


def test_presence_lists_people_with_their_pages(world: World) -> None:
    page = world.home["pageId"]
    say(world, "admin", page=page, activity="editing")
    say(world, "reader", CHANGE)
    say(world, "reader", client="other", page=page)
    assert sorted(there(world)) == [
        ("Admin", "tab", page, "editing"),
        ("Reader", "other", page, "viewing"),
        ("Reader", "tab", None, "viewing"),
    ]
    assert there(world, CHANGE) == [("Reader", "tab", None, "viewing")]
    say(world, "reader", page=page)  # the same tab in another place
    assert there(world, CHANGE) == []
    path = world.home.path(f"{SPACE}/presence/tab")
    assert world.call("reader", "DELETE", path).status_code == 205
    assert world.call("reader", "DELETE", path).status_code == 204
    assert world.call("editor", "DELETE", path).status_code == 204, "theirs is another one"
    assert sorted(there(world)) == [("Admin", "tab", page, "editing"), ("Reader", "other", page, "viewing")]


def test_presence_lists_are_paginated(world: World) -> None:
    for who in ("admin", "editor", "reader"):
        say(world, who)
        say(world, who, client="second")
    write_presence(world.context)
    found, token = [], {}
    while True:
        answer = world.get("reader", world.home.path(f"{SPACE}/presence"), params={"limit": 2, **token})
        assert answer["count"] == 6
        found += [(one["user"]["id"], one["id"]) for one in answer["items"]]
        if "next" not in answer:
            break
        token = {"page": answer["next"]["page"]}
    assert len(found) == 6 and found == sorted(found)


def test_presence_ends_a_minute_after_the_last_report(world: World, clock: SetClock) -> None:
    clock.set(now())
    say(world, "admin")
    say(world, "reader")
    assert len(there(world)) == 2
    clock.advance(45_000)
    say(world, "reader")
    clock.advance(30_000)
    assert [name for name, *_ in there(world)] == ["Reader"]
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM presence") == 1, "what is over is removed"
    clock.advance(store.LIFETIME)
    assert there(world) == []


def test_unchanged_presence_is_not_written(sqlite_world: World, clock: SetClock) -> None:
    world = sqlite_world
    clock.set(now())
    for who in ("admin", "reader", "editor"):
        say(world, who)
    before = world.commits
    write_presence(world.context)
    assert world.commits == before + 1, "all together"
    clock.advance(20_000)
    say(world, "admin")
    write_presence(world.context)
    assert world.commits == before + 1
    clock.advance(20_000)
    say(world, "admin")
    write_presence(world.context)
    assert world.commits == before + 2


def test_invalid_presence_is_refused(world: World) -> None:
    say(world, "reader", status=403, activity="editing")
    say(world, "guest", status=404)
    say(world, "stranger", status=404)
    say(world, "reader", status=404, page=world.away["pageId"])
    say(world, "reader", status=400, activity="sleeping")
    say(world, "reader", status=400, client="a" * 65)
    say(world, "reader", status=400, client="a%20b")
    for number in range(presence.MOST_CLIENTS):
        say(world, "reader", client=f"tab-{number}")
    say(world, "reader", status=409, client="one-more")
    say(world, "editor", client="one-more")
    write_presence(world.context)
    say(world, "reader", status=409, client="one-more")
    say(world, "reader", client="tab-3")


def test_listeners_receive_arrivals_and_departures(world: World, clock: SetClock) -> None:
    clock.set(now())
    page = world.home["pageId"]
    with (
        listening(world, "reader", world.home.path(f"{SPACE}/events")) as space,
        listening(world, "reader", world.home.path(f"{CHANGE}/events")) as change,
        listening(world, "stranger", world.away.path(f"{SPACE}/events")) as stranger,
    ):
        say(world, "admin", page=page, activity="editing")
        write_presence(world.context)
        told = space.hear("presence", activity="editing", pageId=page, clientId="tab")
        assert told.data["user"] == {"id": world.users["admin"], "displayName": "Admin"} and told.id == ""
        clock.advance(5)
        say(world, "admin", page=page)
        write_presence(world.context)
        space.hear("presence", activity="viewing")
        clock.advance(5)
        say(world, "admin", CHANGE)
        write_presence(world.context)
        change.hear("presence", changeRequestId=world.home["changeRequestId"])
        space.hear("presence", changeRequestId=world.home["changeRequestId"])
        clock.advance(store.LIFETIME + 1)
        write_presence(world.context)
        space.hear("presence", activity="left")
        change.hear("presence", activity="left", pageId=None)
        assert space.heard == change.heard == stranger.heard == []


def test_presence_omits_former_members(world: World) -> None:
    """Buffered reports of a person or space deleted in the meantime are skipped."""
    say(world, "reader")
    say(world, "admin")
    with world.context.db.write() as tx:
        tx.run("DELETE FROM users WHERE id = :id", id=world.users["reader"])
    write_presence(world.context)
    with world.context.db.read() as tx:
        assert tx.all("SELECT user_id FROM presence") == [(world.users["admin"],)]
