"""Findings that are dismissed with a reason, and assigned to people and teams."""

from __future__ import annotations

from typing import Any

import pytest

from insights.test_insights import Site
from octavo.kit.work.worker import Worker
from world import World

from .test_scans import ScanScene


@pytest.fixture
def scene(world: World) -> ScanScene:
    found = ScanScene(world)
    found.scan()
    return found


def update(scene: ScanScene, body: dict[str, Any], who: str = "admin") -> Any:
    finding = scene.list(query="kind=alt-text")[0]
    return scene.world.call(who, "PATCH", f"{scene.site}/findings/{finding['id']}", json=body)


def inbox(world: World, who: str) -> list[tuple[str, str]]:
    """Return the problem and the page of each notification about an assignment."""
    items = world.get(who, "/user/notifications", headers=world.session(who))["items"]
    return [(one["problem"], one["page"]["id"]) for one in items if one["reason"] == "assigned"]


def deliver(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def test_a_dismissed_finding_keeps_its_reason_until_it_is_reopened(scene: ScanScene) -> None:
    shown = update(scene, {"status": "canceled", "reason": "The image is decoration."}).json()
    assert (shown["status"], shown["reason"]) == ("canceled", "The image is decoration.")
    scene.scan()
    assert scene.list(query="kind=alt-text")[0]["reason"] == "The image is decoration."
    assert update(scene, {"reason": "A script describes it."}).json()["reason"] == "A script describes it."
    assert update(scene, {"status": "canceled"}).json()["reason"] == "A script describes it."
    reopened = update(scene, {"status": "open"}).json()
    assert reopened["status"] == "open" and "reason" not in reopened
    assert "reason" not in update(scene, {"status": "canceled"}).json(), "a reason is optional"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"reason": "Known"}, 400, "reason: only dismissed findings can have a reason"),
        ({"status": "done", "reason": "Known"}, 400, "reason: only dismissed findings can have a reason"),
        ({"status": "canceled", "reason": ""}, 400, "reason"),
        ({"status": "canceled", "reason": "x" * 501}, 400, "reason"),
        ({"status": None}, 400, "status"),
        ({"assignee": "Mei"}, 400, "assignee"),
        ({"assignee": {"kind": "user"}}, 400, "assignee"),
        ({"assignee": {"kind": "role", "role": "admin"}}, 400, "assignee"),
        ({"assignee": {"kind": "user", "user": "x", "team": "y"}}, 400, "assignee"),
        ({"assignee": {"kind": "user", "user": "unknown"}}, 404, "assignee.user: there is no member"),
        ({"assignee": {"kind": "team", "team": "nothing"}}, 404, "assignee.team: there is no team"),
    ],
)
def test_reasons_and_assignees_are_checked(
    scene: ScanScene, body: dict[str, Any], status: int, words: str
) -> None:
    answer = update(scene, body)
    assert answer.status_code == status and words in answer.json()["error"]["message"]
    finding = scene.list(query="kind=alt-text")[0]
    assert (finding["status"], finding.get("assignee"), finding.get("reason")) == ("open", None, None)


def test_an_assigned_person_is_notified_once_and_lists_the_finding(scene: ScanScene) -> None:
    world = scene.world
    editor = world.users["editor"]
    body = {"assignee": {"kind": "user", "user": editor}}
    assert update(scene, body, "reader").status_code == 403
    for _ in range(2):
        shown = update(scene, body).json()
        deliver(world)
    assert (shown["assignee"]["kind"], shown["assignee"]["user"]["id"]) == ("user", editor)
    assert inbox(world, "editor") == [(shown["title"], scene.place["pageId"])]
    assert [one["id"] for one in scene.list(query=f"assignee={editor}")] == [shown["id"]]
    assert scene.list(query=f"assignee={world.users['reader']}") == []
    counts = world.get("admin", f"{scene.site}/stats/findings?assignee={editor}")
    assert counts["total"] == 1
    scene.scan()
    assert scene.list(query="kind=alt-text")[0]["assignee"]["user"]["id"] == editor
    assert "assignee" not in update(scene, {"assignee": None}).json()


def test_members_of_an_assigned_team_are_notified_except_who_assigned_it(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    teams = place.path("/orgs/{organizationId}/teams")
    team = world.call("admin", "PUT", teams, json={"title": "Docs"}).json()["id"]
    for who in ("admin", "editor"):
        assert world.call("admin", "PUT", f"{teams}/{team}/members/{world.users[who]}", json={}).is_success
    shown = update(scene, {"assignee": {"kind": "team", "team": team}}).json()
    assert shown["assignee"] == {"kind": "team", "team": {"id": team, "title": "Docs"}}
    deliver(world)
    assert len(inbox(world, "editor")) == 1 and inbox(world, "admin") == []
    for id in (team, world.users["editor"]):
        assert len(scene.list(query=f"assignee={id}")) == 1
    assert world.call("admin", "DELETE", f"{teams}/{team}").is_success
    assert "assignee" not in scene.list(query="kind=alt-text")[0]


def test_a_finding_is_only_assigned_to_people_who_can_see_its_space(scene: ScanScene) -> None:
    answer = update(scene, {"assignee": {"kind": "user", "user": scene.world.users["guest"]}})
    assert answer.status_code == 400 and "can't see the space" in answer.text


def test_an_assignee_is_not_notified_of_a_finding_that_quotes_a_restricted_page(scene: ScanScene) -> None:
    world = scene.world
    finding = scene.list(query="kind=alt-text")[0]["id"]
    edit = {"operation": "insert_page", "title": "Secret", "document": {"markdown": "Words.\n"}}
    scene.change({**edit, "visibleTo": [{"kind": "user", "user": world.users["admin"], "level": "read"}]})
    with world.context.db.write() as tx:
        secret = tx.value("SELECT page_id FROM page_versions WHERE title = 'Secret' LIMIT 1")
        assert secret is not None
        tx.run(
            "INSERT INTO site_finding_pages (finding_id, page_id) VALUES (:finding, :page)",
            finding=finding,
            page=secret,
        )
    update(scene, {"assignee": {"kind": "user", "user": world.users["editor"]}})
    deliver(world)
    assert scene.list("editor", "kind=alt-text") == [] == inbox(world, "editor")


def test_only_assignees_who_see_the_whole_site_are_notified_of_its_findings(scene: ScanScene) -> None:
    world, site = scene.world, Site(scene.world)
    for number in range(6):
        site.track(site.event("search_type_query", visitor=f"v{number}", query="gherkins"))
    scene.scan()
    [finding] = scene.list(query="kind=empty-search")
    path, teams = f"{scene.site}/findings/{finding['id']}", scene.place.path("/orgs/{organizationId}/teams")
    team = world.call("admin", "PUT", teams, json={"title": "Docs"}).json()["id"]
    for who in ("editor", "reader", "guest"):
        world.call("admin", "PUT", f"{teams}/{team}/members/{world.users[who]}", json={})

    def assign(assignee: dict[str, str]) -> Any:
        answer = world.call("admin", "PATCH", path, json={"assignee": assignee})
        deliver(world)
        return answer

    refused = assign({"kind": "user", "user": world.users["guest"]})
    assert refused.status_code == 400 and "can't see all of its spaces" in refused.text
    assert assign({"kind": "user", "user": world.users["editor"]}).is_success
    [notification] = world.get("editor", "/user/notifications", headers=world.session("editor"))["items"]
    assert notification["reason"] == "assigned" and notification["problem"].endswith(
        ": Search without results"
    )
    assert notification["urls"]["app"].endswith(f"{scene.site}/~/health".replace("/orgs/", "/o/"))
    about = world.get("admin", scene.site)
    assert notification["site"] == {"id": about["id"], "title": about["title"]}
    edit = {"operation": "insert_page", "title": "Secret", "document": {"markdown": "Words.\n"}}
    scene.change({**edit, "visibleTo": [{"kind": "user", "user": world.users["editor"], "level": "read"}]})
    assert assign({"kind": "team", "team": team}).is_success
    found = {
        who: len(world.get(who, "/user/notifications", headers=world.session(who))["items"])
        for who in ("reader", "guest")
    }
    assert found == {"reader": 0, "guest": 0} and scene.list("reader", "kind=empty-search") == []
    [notification] = world.get("editor", "/user/notifications", headers=world.session("editor"))["items"]
    assert notification["events"] == 2
    world.call("admin", "PATCH", scene.site, json={"defaultLevel": None})
    [notification] = world.get("editor", "/user/notifications", headers=world.session("editor"))["items"]
    assert "site" not in notification
