"""Tests of event streams: their events, recipients, and end."""

from __future__ import annotations

import gc
import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import asgi_client
from octavo.content.events.broadcasting import EventMessages
from octavo.kit.clock import now
from octavo.kit.db.database import Database
from octavo.kit.http.dispatcher import Dispatcher
from octavo.kit.scheduling.shares import Shares
from octavo.kit.work import hub, outbox
from octavo.kit.work.hub import Hub
from octavo.kit.work.worker import Worker
from octavo.operations.admin.credentials import revoke_tokens
from octavo.organization.access.tokens import create_token
from octavo.organization.identity.removal import deactivate_account
from serving import Administrator, serving_new
from set_clock import SetClock
from world import MEMBERS, World

from .listening import Listening, listening

SPACE = "/spaces/{spaceId}/events"
CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}/events"


def comment(world: World, who: str, text: str = "Hello", at: str = "/spaces/{spaceId}") -> str:
    place = world.away if who == "stranger" else world.home
    return str(world.post(who, place.path(f"{at}/comments"), {"body": {"markdown": text}})["id"])


def work(world: World) -> None:
    """Run the jobs that write notifications."""
    Worker(world.context.db, world.context).run_pending()


def mention(world: World, who: str) -> str:
    return f'Look, [@them](/users/{world.users[who]} "mention")'


# --- content of streams -------------------------------------------------------------------------------


@pytest.mark.sqlite_first
def test_a_space_stream_contains_all_its_events(world: World) -> None:
    ids = world.home
    change = ids.path("/spaces/{spaceId}/change-requests")
    with listening(world, "reader", ids.path(SPACE)) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        said = comment(world, "commenter")
        heard = stream.hear("comment", action="created", commentId=said)
        assert heard.data["user"] == {"id": world.users["commenter"], "displayName": "Commenter"}
        assert heard.data["spaceId"] == ids["spaceId"] and "changeRequestId" not in heard.data
        path = f"/spaces/{ids['spaceId']}/comments/{said}"
        world.post("commenter", f"{path}/replies", {"body": {"markdown": "Yes"}})
        assert stream.hear("comment", commentId=said, action="created").data["replyId"]
        assert world.call("commenter", "PUT", path, json={"resolved": True}).is_success
        assert stream.hear("comment", action="updated").data["changed"] == ["resolved"]
        assert world.call("commenter", "DELETE", path).is_success
        stream.hear("comment", action="deleted", commentId=said)

        made = world.post("editor", change, {"subject": "New"})["id"]
        stream.hear("review", action="created", changeRequestId=made)
        edit = {"changes": [{"operation": "update_page", "page": ids["pageId"], "description": "New"}]}
        world.post("editor", f"{change}/{made}/content", edit)
        told = stream.hear("revision", action="edited", changeRequestId=made)
        assert told.data["pageIds"] == [ids["pageId"]] and told.data["user"]["displayName"] == "Editor"
        world.post("editor", f"{change}/{made}/requested-reviewers", {"users": [world.users["reviewer"]]})
        stream.hear("review", action="requested", reviewerId=world.users["reviewer"])
        world.post("reviewer", f"{change}/{made}/reviews", {"status": "approved"})
        stream.hear("review", action="submitted", status="approved")
        merged = world.post("reviewer", f"{change}/{made}/merge")
        main = stream.hear("revision", action="edited")
        assert main.data["revisionId"] == merged["revision"] and "changeRequestId" not in main.data
        assert main.data["pageIds"] == [ids["pageId"]]
        stream.hear("review", action="merged", changeRequestId=made)


def test_a_change_request_stream_contains_its_events_and_those_of_main(world: World) -> None:
    ids = world.home
    here = "/spaces/{spaceId}/change-requests/{changeRequestId}"
    with listening(world, "reader", ids.path(CHANGE)) as stream:
        comment(world, "admin", "elsewhere")
        said = comment(world, "admin", "here", here)
        assert stream.hear("comment").data["commentId"] == said
        edit = {"changes": [{"operation": "update_page", "page": ids["pageId"], "description": "x"}]}
        world.post("admin", ids.path("/spaces/{spaceId}/content"), edit)
        assert "changeRequestId" not in stream.hear("revision").data
        world.post("admin", ids.path(f"{here}/update"))
        stream.hear("revision", action="updated", changeRequestId=ids["changeRequestId"])
        status = world.call("admin", "PATCH", ids.path(here), json={"status": "archived"})
        assert status.is_success
        stream.hear("review", action="statusChanged", status="archived")
        assert stream.kinds() == []


def test_streams_omit_events_of_other_spaces(world: World) -> None:
    other = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})["id"]
    with (
        listening(world, "admin", f"/spaces/{other}/events") as one,
        listening(world, "stranger", world.away.path(SPACE)) as two,
        listening(world, "admin", world.home.path(SPACE)) as three,
    ):
        comment(world, "admin")
        three.hear("comment")
        comment(world, "stranger")
        assert two.hear("comment").data["organizationId"] == world.away["organizationId"]
        assert one.heard == three.heard == [] and two.heard == []


def test_an_event_that_cannot_be_sent_stops_no_stream(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sqlite_world
    real = EventMessages.messages_about
    failed: list[int] = []

    def fail_once(self: EventMessages, tx: Any, event: Any, topics: Any) -> Any:
        if not failed:
            failed.append(event.id)
            raise KeyError("a field that the event lacks")
        return real(self, tx, event, topics)

    with listening(world, "reader", world.home.path(SPACE)) as stream:
        monkeypatch.setattr(EventMessages, "messages_about", fail_once)
        comment(world, "commenter")
        stream.wait(lambda _: bool(failed))
        said = comment(world, "commenter")
        stream.hear("comment", commentId=said)


def test_reconnecting_clients_receive_missed_events(world: World) -> None:
    path = world.home.path(SPACE)
    with listening(world, "reader", path) as stream:
        first = comment(world, "admin", "1")
        stream.hear("comment", commentId=first)
        last = stream.last_id
    missed = [comment(world, "admin", text) for text in "23"]
    with listening(world, "reader", path, last_event_id=last) as stream:
        assert [one.data["commentId"] for one in stream.heard] == []  # they came before "ready"
    stream = Listening(world, "reader", path, {"last-event-id": last})
    stream.wait(lambda one: "ready" in one.kinds())
    assert [one.data.get("commentId") for one in stream.heard] == [*missed, None]
    fourth = comment(world, "admin", "4")
    stream.hear("comment", commentId=fourth)
    stream.leave()
    # For clients that cannot set a header, or cannot keep a stream open.
    answer = world.call("reader", "GET", path, params={"after": last, "seconds": 0})
    told = [line for line in answer.text.split("\n") if line.startswith("data: ")]
    assert [json.loads(line[6:]).get("commentId") for line in told] == [*missed, fourth, None]


def test_clients_that_were_disconnected_too_long_get_a_reset(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_REMEMBERED", 3)
    monkeypatch.setattr(hub, "_BATCH", 3)
    path = world.home.path(SPACE)

    def kinds(after: str) -> list[str]:
        text = world.call("reader", "GET", path, params={"after": after, "seconds": 0}).text
        return [line[7:] for line in text.split("\n") if line.startswith("event: ")]

    with world.context.db.read() as tx:
        [(_, position)] = outbox.latest_events(tx, 1)
    for text in "abc":
        comment(world, "admin", text)
    assert kinds(str(position)) == ["comment", "comment", "comment", "ready"]
    comment(world, "admin", "d")
    assert kinds(str(position)) == ["reset", "ready"]
    assert kinds(str(position.last + 1000)) == ["reset", "ready"], (
        "of another installation, or a restored one"
    )
    for wrong in ("x", "-1", "1-", "9" * 30, "1-2-x"):
        answer = world.call("reader", "GET", path, params={"seconds": 0}, headers={"last-event-id": wrong})
        assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("Last-Event-ID:")
        answer = world.call("reader", "GET", path, params={"seconds": 0, "after": wrong})
        assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("after:")


def test_events_that_commit_late_are_sent_once(database: Database) -> None:
    """PostgreSQL assigns ids before transactions commit."""
    with database.write() as tx:
        for number in (1, 2, 4):
            _insert(tx, number)
    with database.read() as tx:
        found = outbox.latest_events(tx, 10)
    position = found[-1][1]
    assert (position.last, position.missing) == (4, (3,))
    assert outbox.read_position(str(position)) == position
    with database.write() as tx:
        _insert(tx, 3)
        _insert(tx, 5)
    with database.read() as tx:
        behind = outbox.events_after(tx, position, 10)
        assert [event.id for event, _ in behind] == [3, 5]
        assert [str(position) for _, position in behind] == ["4", "5"]
        assert outbox.events_after(tx, behind[-1][1], 10) == []
        assert [event.id for event, _ in outbox.events_after(tx, found[1][1], 10)] == [3, 4, 5]


def _insert(tx: Any, id: int) -> None:
    tx.run("INSERT INTO events (id, type, payload, created_at) VALUES (:id, 'x', '{}', 0)", id=id)


# --- a person -----------------------------------------------------------------------------------------


def test_people_are_notified_of_relevant_events(world: World) -> None:
    here = "/spaces/{spaceId}/change-requests/{changeRequestId}"
    ids = world.home
    with (
        listening(world, "home-colleague", "/user/events") as author,
        listening(world, "reader", "/user/events") as reader,
        listening(world, "reviewer", "/user/events") as reviewer,
    ):
        said = comment(world, "admin", mention(world, "reader"), here)
        work(world)
        told = reader.hear("notification", reason="mentioned", commentId=said)
        assert told.data["changeRequestId"] == ids["changeRequestId"]
        assert told.data["user"]["id"] == world.users["admin"]
        author.hear("notification", reason="commented", commentId=said)
        own = comment(world, "commenter", "Who knows?")
        with listening(world, "commenter", "/user/events") as commenter:
            path = ids.path(f"/spaces/{{spaceId}}/comments/{own}/replies")
            world.post("commenter", path, {"body": {"markdown": "I do"}})
            answered = world.post("admin", path, {"body": {"markdown": "So do I"}})["id"]
            work(world)
            assert commenter.hear("notification").data["replyId"] == answered, (
                "not of what they do themselves"
            )
        world.post(
            "home-colleague", ids.path(f"{here}/requested-reviewers"), {"users": [world.users["reviewer"]]}
        )
        work(world)
        reviewer.hear("notification", reason="reviewRequested")
        world.post("reviewer", ids.path(f"{here}/reviews"), {"status": "changes-requested"})
        work(world)
        author.hear("notification", reason="reviewed", status="changes-requested")
        assert author.heard == reader.heard == reviewer.heard == []


def test_a_mentioned_team_is_notified(world: World) -> None:
    org = world.home.path("/orgs/{organizationId}")
    body = {"title": "Writers", "members": [world.users["editor"]]}
    team = world.call("admin", "PUT", f"{org}/teams", json=body).json()
    with listening(world, "editor", "/user/events") as stream:
        comment(world, "admin", f'Hello [@all](/teams/{team["id"]} "mention")')
        work(world)
        stream.hear("notification", reason="mentioned")


def test_a_token_only_receives_notifications_within_its_reach(world: World) -> None:
    """Events of a space that the person can no longer see, or that the token cannot access, are not sent."""
    with world.context.db.write() as tx:
        bound = create_token(
            tx, world.users["reader"], name="bound", organization_id=world.away["organizationId"]
        )
    with (
        listening(world, "reader", "/user/events", authorization=f"Bearer {bound}") as elsewhere,
        listening(world, "reader", "/user/events") as stream,
        listening(world, "admin", world.home.path(SPACE)) as admin,
    ):
        comment(world, "admin", mention(world, "reader"))
        work(world)
        stream.hear("notification")
        change_default(world, None)
        comment(world, "admin", "Among ourselves")
        # They were mentioned while they could see the space, and no longer can.
        with world.context.db.write() as tx:
            outbox.emit(
                tx,
                "comment_updated",
                organization_id=world.home["organizationId"],
                space_id=world.home["spaceId"],
                comment="late",
                mentioned_users=[world.users["reader"]],
            )
        admin.hear("comment", commentId="late")
        work(world)
        change_default(world, "inherit")
        said = comment(world, "admin", mention(world, "reader"))
        work(world)
        assert stream.hear("notification").data["commentId"] == said
        assert elsewhere.heard == stream.heard == []


def change_default(world: World, role: str | None) -> None:
    answer = world.call("admin", "PATCH", world.home.path("/spaces/{spaceId}"), json={"defaultLevel": role})
    assert answer.is_success, answer.text


def test_a_person_needs_only_one_stream(world: World) -> None:
    space = world.home["spaceId"]
    with listening(world, "reader", f"/user/events?space={space}") as stream:
        comment(world, "admin", mention(world, "reader"))
        stream.hear("comment")
        work(world)
        stream.hear("notification", reason="mentioned")
    foreign = world.away["spaceId"]
    answer = world.call("reader", "GET", f"/user/events?space={space}&space={foreign}&seconds=0")
    assert answer.status_code == 404
    many = "&".join(f"space={space}" for _ in range(11))
    assert world.call("reader", "GET", f"/user/events?seconds=0&{many}").status_code == 400


# --- permissions --------------------------------------------------------------------------------------


def end_membership(world: World) -> None:
    path = world.home.path("/orgs/{organizationId}/members/{user}", user=world.users["reader"])
    assert world.call("admin", "DELETE", path).is_success


def revoke_token(world: World) -> None:
    with world.context.db.write() as tx:
        tx.run("DELETE FROM tokens WHERE user_id = :user", user=world.users["reader"])


def disable(world: World) -> None:
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET disabled = 1 WHERE id = :user", user=world.users["reader"])


def close_space(world: World) -> None:
    change_default(world, None)


def delete_space(world: World) -> None:
    assert world.call("admin", "DELETE", world.home.path("/spaces/{spaceId}")).is_success


WAYS: list[tuple[Callable[[World], None], int]] = [
    (end_membership, 401),
    (revoke_token, 401),
    (disable, 401),
    (close_space, 404),
    (delete_space, 404),
]


@pytest.mark.parametrize("path", [SPACE, CHANGE, "/user/events?space={spaceId}"])
@pytest.mark.parametrize(("take_away", "status"), WAYS, ids=[way.__name__ for way, _ in WAYS])
def test_a_stream_ends_when_access_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, take_away: Callable[[World], None], status: int
) -> None:
    """Further events are not sent, and without events the stream ends as well."""
    monkeypatch.setattr(hub, "QUIET", 0.2)
    with listening(world, "reader", world.home.path(path)) as stream:
        take_away(world)
        emit_revision(world)
        stream.wait(lambda one: one.ended)
        assert stream.kinds() == ["closed"]
        assert (stream.heard[0].data["code"], stream.heard[0].data["message"] != "") == (status, True)


def test_the_tabs_of_a_person_are_checked_together(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, each save of a page that is open in many tabs would delay the next letters."""
    checks: list[str] = []
    check = Dispatcher._check_again
    monkeypatch.setattr(
        Dispatcher, "_check_again", lambda one, call: (checks.append(call.headers), check(one, call))
    )
    path = world.home.path(SPACE)
    with ExitStack() as opened:
        tabs = [opened.enter_context(listening(world, "reader", path)) for _ in range(5)]
        other = opened.enter_context(listening(world, "editor", path))
        checks.clear()
        emit_revision(world)
        for stream in (*tabs, other):
            stream.wait(lambda one: one.kinds() == ["revision"])
        assert len(checks) == 2
        end_membership(world)
        emit_revision(world)
        for stream in tabs:
            stream.wait(lambda one: one.ended)
            assert stream.kinds() == ["revision", "closed"]
        other.wait(lambda one: one.kinds() == ["revision", "revision"])


def deactivate(world: World) -> None:
    with world.context.db.write() as tx:
        deactivate_account(tx, world.users["reader"])


def revoke_by_command(world: World) -> None:
    assert revoke_tokens(world.context, "reader@example.org", None)


@pytest.mark.parametrize("path", [SPACE, CHANGE, "/user/events"])
@pytest.mark.parametrize("take_away", [end_membership, deactivate, revoke_by_command])
def test_silent_streams_end_as_soon_as_a_person_loses_access(
    world: World, path: str, take_away: Callable[[World], None]
) -> None:
    """Long before their access is checked anyway. Those of other people continue."""
    with (
        listening(world, "reader", world.home.path(path)) as stream,
        listening(world, "editor", world.home.path(path)) as other,
    ):
        started = time.monotonic()
        take_away(world)
        stream.wait(lambda one: one.ended)
        assert stream.kinds() == ["closed"] and time.monotonic() - started < hub.QUIET / 2
        assert not other.ended and other.kinds() == []


def emit_revision(world: World) -> None:
    with world.context.db.write() as tx:
        outbox.emit(
            tx,
            "space_content_updated",
            organization_id=world.home["organizationId"],
            space_id=world.home["spaceId"],
            revision="any",
        )


def test_a_stream_ends_when_its_token_expires(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch, clock: SetClock
) -> None:
    """The stream ends even if nothing is committed."""
    monkeypatch.setattr(hub, "QUIET", 0.1)
    monkeypatch.setattr(hub, "_FRESH", 0.0)
    world = sqlite_world
    clock.set(now())
    with world.context.db.write() as tx:
        brief = create_token(tx, world.users["reader"], name="brief", expires_at=now() + 60_000)
    path = world.home.path(SPACE)
    with listening(world, "reader", path, authorization=f"Bearer {brief}") as stream:
        stream.wait(lambda one: one.comments >= 2)
        clock.advance(61_000)
        stream.wait(lambda one: one.ended)
        assert stream.heard[-1].data["code"] == 401


def test_following_a_space_requires_access(world: World) -> None:
    for who in (*MEMBERS, "stranger"):
        for path in (SPACE, CHANGE):
            stream = Listening(world, who, world.home.path(path) + "?seconds=0", {})
            stream.wait(lambda one: one.ended)
            assert stream.status == (404 if who in ("guest", "stranger") else 200), (who, path)


# --- how long, and how many ---------------------------------------------------------------------------


def test_a_stream_sends_keep_alive_messages(sqlite_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "QUIET", 0.1)
    with listening(sqlite_world, "reader", sqlite_world.home.path(SPACE)) as stream:
        assert stream.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in stream.headers and "content-length" not in stream.headers
        stream.wait(lambda one: one.comments >= 3)


def test_a_stream_ends_after_its_maximum_duration(sqlite_world: World) -> None:
    with listening(sqlite_world, "reader", sqlite_world.home.path(SPACE) + "?seconds=1") as stream:
        stream.wait(lambda one: one.ended)
        assert stream.heard == []
    for seconds in (-1, 3601):
        answer = sqlite_world.call(
            "reader", "GET", sqlite_world.home.path(SPACE), params={"seconds": seconds}
        )
        assert answer.status_code == 400


def test_a_client_that_reads_nothing_is_disconnected(
    sqlite_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_UNSENT", 1000)
    with listening(sqlite_world, "reader", sqlite_world.home.path(SPACE)) as stream:
        # The stream waits for the first event to be read, while others arrive.
        monkeypatch.setattr(asgi_client, "_UNREAD", 0)
        stream.takes.clear()
        for text in "abcdefgh":
            comment(sqlite_world, "admin", text)
        stream.takes.set()
        stream.wait(lambda one: one.ended)


def test_the_number_of_streams_of_a_process_is_limited(sqlite_world: World) -> None:
    """An organization leaves room for others."""
    world = sqlite_world
    path = world.home.path(SPACE)
    found = hub_of(world)
    kept, found._places = found._places, Shares("event streams are open", 4, (2, 1))
    try:
        with listening(world, "reader", path), listening(world, "admin", path) as second:
            for who in ("editor", "reader"):
                refused = Listening(world, who, path, {})
                refused.wait(lambda one: one.ended)
                assert refused.status == 503 and "retry-after" in refused.headers
            with listening(world, "stranger", world.away.path(SPACE)) as other:
                assert other.status == 200
            second.leave()
            with listening(world, "editor", path) as third:
                assert third.status == 200
        assert found.count == found._places.held == 0 and not found._by_topic
    finally:
        found._places = kept


def test_streams_opened_while_the_server_stops_end_without_an_error(sqlite_world: World) -> None:
    """Browsers reconnect after the end of a stream, but not after an error."""
    world = sqlite_world
    path = world.home.path(SPACE)
    found = hub_of(world)
    try:
        with listening(world, "reader", path) as before:
            found.close()
            before.wait(lambda one: one.ended)
            with listening(world, "reader", path) as after:
                after.wait(lambda one: one.ended)
                assert after.status == 200 and after.body == ""
        assert found.count == 0
    finally:
        found._closed = False


def hub_of(world: World) -> Hub:
    return next(one for one in gc.get_objects() if isinstance(one, Hub) and one._db is world.context.db)


def test_head_opens_no_stream(sqlite_world: World) -> None:
    answer = sqlite_world.call("reader", "HEAD", sqlite_world.home.path(SPACE))
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/event-stream"
    assert hub_of(sqlite_world).count == 0


# --- processes ----------------------------------------------------------------------------------------


def read_until(connection: socket.socket, word: bytes, seconds: float = 20) -> bytes:
    connection.settimeout(seconds)
    got = b""
    while word not in got:
        piece = connection.recv(65536)
        assert piece, got
        got += piece
    return got


def test_events_of_one_process_reach_streams_of_others(tmp_path: Path) -> None:
    """A server that stops ends its streams instead of waiting for them."""
    with serving_new(tmp_path / "data", "--workers", "2") as served:
        admin = Administrator(served)
        space = admin.create_space("Watched")
        token = (served.data / "admin-token").read_text().strip()
        host, port = served.url.removeprefix("http://").split(":")
        streams = [socket.create_connection((host, int(port))) for _ in range(8)]
        for one in streams:
            head = f"GET /v1/spaces/{space}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
            one.sendall(head.encode())
            read_until(one, b"event: ready")
        for client_id in ("one", "two", "three", "four"):
            admin.client.close()
            admin = Administrator(served)  # another connection, which any process may accept
            admin.call("PUT", f"/spaces/{space}/presence/{client_id}", {"activity": "viewing"})
            admin.call("POST", f"/spaces/{space}/comments", {"body": {"markdown": client_id}})
        for one in streams:
            got = read_until(one, b'"clientId":"four"')
            while got.count(b"event: comment") < 4:
                got += read_until(one, b"\n\n")
            assert got.count(b"event: comment") == 4
        began = time.monotonic()
        assert served.stop() == 0
        assert time.monotonic() - began < 10
        for one in streams:
            while one.recv(65536):
                pass
            one.close()


def test_a_person_who_lost_access_is_checked_again_after_the_next_commit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first check can use values that were cached before the commit."""
    passed = []
    may_listen = hub.Hub._may_listen

    def pass_once(self: Any, listener: Any, generation: int | None, given: Any) -> bool:
        if passed:
            return may_listen(self, listener, generation, given)
        passed.append(listener)
        listener.checked_with, listener.checked_at = generation, time.monotonic()
        return True

    with listening(world, "reader", world.home.path(SPACE)) as stream:
        monkeypatch.setattr(hub.Hub, "_may_listen", pass_once)
        started = time.monotonic()
        deactivate(world)
        stream.wait(lambda _: bool(passed))
        with world.context.db.write() as tx:
            tx.run("UPDATE users SET email = email")
        stream.wait(lambda one: one.ended)
        assert stream.kinds() == ["closed"] and time.monotonic() - started < hub.QUIET / 2
