"""Maintenance mode: nothing is changed, everything can be read, and server administrators can end it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.writing import Writing, insert
from octavo.kit.clock import iso, now
from octavo.kit.work import jobs
from octavo.kit.work.jobs import enqueue
from octavo.kit.work.worker import Worker
from octavo.operations.admin import maintaining
from octavo.operations.admin.diagnosis import check_context
from octavo.organization.identity.signing_in import issue_link
from world import NOBODY, World

HOUR = 3600_000
PATHS = {kind: f"/installation/{kind}" for kind in ("maintenance", "announcement")}


def begin(world: World, kind: str = "maintenance", **body: Any) -> Any:
    answer = world.call("admin", "PUT", PATHS[kind], json=body, headers=world.session("admin"))
    assert answer.status_code == 200, answer.text
    return answer.json()


def end(world: World, kind: str = "maintenance") -> int:
    return world.call("admin", "DELETE", PATHS[kind], headers=world.session("admin")).status_code


def create_space(world: World) -> Any:
    path = world.home.path("/orgs/{organizationId}/spaces")
    return world.call("creator", "POST", path, json={"title": "New"})


def audited(world: World, action: str) -> list[Any]:
    path = world.home.path("/orgs/{organizationId}/audit-events")
    return world.get("admin", path, params={"action": action})["items"]  # type: ignore[no-any-return]


def test_changes_are_refused_in_the_usual_error_format_and_reads_work(world: World) -> None:
    told = begin(world, message="We are moving to a larger server.", endsAt=iso(now() + HOUR))
    assert told["maintenance"]["on"] is True
    refused = create_space(world)
    assert refused.status_code == 503
    error = refused.json()["error"]
    assert (error["code"], error["reason"]) == (503, "maintenance")
    assert "read-only for maintenance until about" in error["message"]
    assert "larger server" in error["message"]
    assert 0 < int(refused.headers["retry-after"]) <= 300
    assert world.call("reader", "GET", world.home.path("/spaces/{spaceId}")).status_code == 200
    assert [event["target"]["type"] for event in audited(world, "maintenance.started")] == ["organization"]
    assert end(world) == 204
    assert create_space(world).status_code == 201
    assert end(world) == 204
    assert len(audited(world, "maintenance.ended")) == 1


def test_people_sign_in_and_administrators_can_end_it(world: World) -> None:
    begin(world)
    with world.context.db.write() as tx:
        link = issue_link(tx, world.context.sealer, world.get("admin", "/user")["email"])
    assert world.post(NOBODY, "/sign-in/link/use", {"link": link})["status"] == "signed-in"
    checked = world.call("admin", "POST", "/installation/check", headers=world.session("admin"))
    assert checked.status_code == 200
    assert end(world) == 204


def test_uploaded_bytes_are_refused(world: World) -> None:
    path = world.home.path("/orgs/{organizationId}/storage/upload")
    body = {"kind": "page_file", "file": {"name": "a.txt", "type": "text/plain", "size": 1}}
    url = world.post("editor", path, body)["url"]
    begin(world)
    assert world.call(NOBODY, "PUT", url, content=b"a").json()["error"]["reason"] == "maintenance"
    end(world)
    assert world.call(NOBODY, "PUT", url, content=b"a").is_success


def test_only_server_administrators_start_and_end_maintenance(world: World) -> None:
    for who in ("creator", "stranger"):
        headers = world.session(who)
        assert world.call(who, "PUT", PATHS["maintenance"], json={}, headers=headers).status_code == 403
        assert world.call(who, "DELETE", PATHS["maintenance"], headers=headers).status_code == 403


def test_live_steps_are_refused_and_accepted_later(world: World) -> None:
    client = Writing(world).open()
    steps = client.body(insert("Kept in the browser", 3))
    begin(world)
    refused = client.post(steps)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (503, "maintenance")
    end(world)
    assert client.post(steps).status_code == 200


def test_scheduled_maintenance_starts_automatically_and_stays_on(world: World, clock: Any) -> None:
    moment = now()
    told = begin(world, startsAt=iso(moment + HOUR), endsAt=iso(moment + 2 * HOUR))
    assert told["maintenance"]["on"] is False
    seen = world.get("reader", "/installation/notices")["maintenance"]
    assert (seen["on"], seen["startsAt"]) == (False, iso(moment + HOUR))
    assert "overdue" not in seen
    assert create_space(world).status_code == 201
    clock.advance(HOUR + 1)
    world.context.gate.forget()
    assert create_space(world).status_code == 503
    clock.advance(2 * HOUR)
    world.context.gate.forget()
    assert create_space(world).status_code == 503, "its end is only announced"
    notices = world.call("admin", "GET", "/installation/notices", headers=world.session("admin")).json()
    assert notices["maintenance"]["overdue"] is True


def test_maintenance_that_is_left_on_is_reported_once_a_day(
    world: World, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(maintaining.mail, "send", lambda settings, to, **rest: sent.append(to))
    world.context.settings = msgspec.structs.replace(world.context.settings, smtp_url="smtp://mail.test")
    try:
        begin(world)
        maintaining.remind(world.context)
        assert sent == []
        clock.advance(5 * HOUR)
        maintaining.remind(world.context)
        maintaining.remind(world.context)
        assert sent == [world.get("admin", "/user")["email"]]
        found = next(each for each in check_context(world.context) if each[0] == "maintenance")
        assert not found[1]
        clock.advance(25 * HOUR)
        maintaining.remind(world.context)
        assert len(sent) == 2
    finally:
        world.context.settings = world._settings


def test_jobs_wait_except_those_that_change_no_content(world: World) -> None:
    begin(world)
    worker = Worker(world.context.db, world.context)
    with world.context.db.write() as tx:
        tx.run("DELETE FROM jobs")
        enqueue(tx, "removeUnused")
        enqueue(tx, "remindOfMaintenance")
    worker.run_pending()
    with world.context.db.read() as tx:
        waiting = {row.kind for row in jobs.list_jobs(tx)[0]}
    assert "removeUnused" in waiting
    assert "remindOfMaintenance" not in waiting
    end(world)
    worker.run_pending()
    with world.context.db.read() as tx:
        assert "removeUnused" not in {row.kind for row in jobs.list_jobs(tx)[0]}


def test_an_announcement_is_shown_from_its_start_to_its_end(world: World, clock: Any) -> None:
    moment = now()
    begin(
        world,
        "announcement",
        message="Docs day on Friday",
        startsAt=iso(moment + HOUR),
        endsAt=iso(moment + 2 * HOUR),
    )
    assert "announcement" not in world.get("reader", "/installation/notices")
    clock.advance(HOUR)
    assert world.get("reader", "/installation/notices")["announcement"]["message"] == "Docs day on Friday"
    assert create_space(world).status_code == 201
    clock.advance(HOUR)
    assert "announcement" not in world.get("reader", "/installation/notices")


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("announcement", {}, "message"),
        ("announcement", {"message": "   "}, "message"),
        ("maintenance", {"message": "x" * 501}, "message"),
        ("maintenance", {"startsAt": "soon"}, "startsAt"),
        ("maintenance", {"startsAt": "10000-01-01T00:00:00Z"}, "startsAt"),
        ("maintenance", {"endsAt": "2001-01-01T00:00:00Z"}, "endsAt"),
        ("maintenance", {"startsAt": iso(now() + 2 * HOUR), "endsAt": iso(now() + HOUR)}, "endsAt"),
    ],
)
def test_impossible_notices_are_refused(world: World, kind: str, body: dict[str, Any], field: str) -> None:
    answer = world.call("admin", "PUT", PATHS[kind], json=body, headers=world.session("admin"))
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
