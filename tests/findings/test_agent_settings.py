"""What the agent of a site may do by itself: fixes of findings in change requests, within a budget."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.assistants.findings.agent_settings import fix_by_itself
from octavo.kit.clock import DAY
from world import World

from .test_scans import ScanScene

EMPTY = {"object": "document", "data": {}, "nodes": []}


class AgentScene(ScanScene):
    def put(self, who: str = "admin", editing: object = EMPTY, **findings: object) -> Any:
        body = {
            "scans": {"topics": "auto"},
            "findings": {"changeRequests": "auto-fixable", **findings},
            "editing": {"customInstructions": editing},
        }
        return self.world.call(who, "PUT", f"{self.site}/agent-settings", json=body)

    def fix(self) -> None:
        fix_by_itself(self.world.context, self.place["siteId"], self.place["organizationId"])

    def undo(self, who: str = "admin") -> Any:
        return self.world.call(who, "POST", f"{self.site}/agent-settings/undo")

    def changes(self) -> list[dict[str, Any]]:
        path = self.place.path("/spaces/{spaceId}/change-requests?status=draft")
        found: list[dict[str, Any]] = self.world.get("admin", path)["items"]
        return [one for one in found if one.get("agent") == "Octavo"]


@pytest.fixture
def scene(world: World) -> AgentScene:
    scene = AgentScene(world)
    scene.scan()
    return scene


def test_by_default_the_agent_does_nothing(scene: AgentScene) -> None:
    settings = scene.world.get("admin", f"{scene.site}/agent-settings")
    assert settings["findings"]["changeRequests"] == "never" and "updatedBy" not in settings
    scene.fix()
    assert scene.put(changeRequests="never", kinds=["broken-anchor"]).status_code == 200
    scene.fix()
    assert scene.put(kinds=["style"]).status_code == 200
    scene.fix()
    assert scene.changes() == []


def test_the_agent_fixes_each_finding_once_in_a_change_request_with_evidence(scene: AgentScene) -> None:
    answer = scene.put(kinds=["broken-anchor"]).json()
    assert answer["updatedBy"] == scene.world.users["admin"]
    scene.fix()
    (change,) = scene.changes()
    assert "Link to a missing section: #instal" in str(change["description"])
    page = f"/spaces/{scene.place['spaceId']}/change-requests/{change['id']}/content/page/{scene.place['pageId']}"
    assert "(#install)" in scene.world.get("admin", f"{page}?format=markdown")["markdown"]
    path = scene.place.path(f"/spaces/{{spaceId}}/change-requests/{change['id']}")
    assert scene.world.call("admin", "PATCH", path, json={"status": "archived"}).status_code == 200
    scene.fix()
    assert scene.changes() == []


def test_the_budget_is_kept(scene: AgentScene) -> None:
    scene.put(kinds=["broken-anchor"], changeRequestsPerDay=1)
    scene.fix()
    scene.write("Read [the next step](#instll).\n\n## Install\n")
    scene.scan()
    scene.fix()
    assert len(scene.changes()) == 1
    scene.put(kinds=["broken-anchor"], changeRequestsPerDay=2)
    scene.fix()
    assert len(scene.changes()) == 2


def test_the_changes_of_a_day_are_undone_together(scene: AgentScene) -> None:
    world, space = scene.world, scene.place.path("/spaces/{spaceId}")
    scene.put(kinds=["broken-anchor"])
    scene.fix()
    [merged] = scene.changes()
    world.post("admin", f"{space}/change-requests/{merged['id']}/merge", {})
    assert (
        "(#install)"
        in world.get("admin", f"{space}/content/page/{scene.place['pageId']}?format=markdown")["markdown"]
    )
    scene.write("Read [the next step](#instll).\n\n## Install\n")
    scene.scan()
    scene.fix()
    [draft] = scene.changes()

    assert scene.undo("editor").status_code == 403
    archived, reverted = scene.undo().json()["items"]
    assert archived == {"space": scene.place["spaceId"], "changeRequest": draft["id"], "result": "archived"}
    assert (reverted["changeRequest"], reverted["result"]) == (merged["id"], "reverted")
    assert world.get("admin", f"{space}/change-requests/{draft['id']}")["status"] == "archived"
    revert = world.get("admin", f"{space}/change-requests/{reverted['revert']}")
    assert revert["status"] == "draft" and revert["subject"].startswith(f"Revert #{merged['number']}")
    # What was undone isn't undone again, or fixed again.
    assert scene.undo().json()["items"] == []
    scene.scan()
    scene.fix()
    assert scene.changes() == []


def test_change_requests_that_the_caller_cannot_edit_are_kept(scene: AgentScene) -> None:
    scene.put(kinds=["broken-anchor"])
    scene.fix()
    [draft] = scene.changes()
    body = {"role": "admin", "users": [scene.world.users["reader"]]}
    assert scene.world.call("admin", "POST", f"{scene.site}/permissions", json=body).status_code == 204
    [kept] = scene.undo("reader").json()["items"]
    assert (kept["changeRequest"], kept["result"]) == (draft["id"], "stays") and kept["reason"]
    assert [one["id"] for one in scene.changes()] == [draft["id"]]
    assert [one["result"] for one in scene.undo().json()["items"]] == ["archived"]


def test_archived_change_requests_count_as_undone(scene: AgentScene) -> None:
    scene.put(kinds=["broken-anchor"])
    scene.fix()
    [draft] = scene.changes()
    path = scene.place.path(f"/spaces/{{spaceId}}/change-requests/{draft['id']}")
    assert scene.world.call("admin", "PATCH", path, json={"status": "archived"}).status_code == 200
    assert [one["result"] for one in scene.undo().json()["items"]] == ["already"]
    assert scene.undo().json()["items"] == []


def test_older_changes_and_those_of_people_are_not_undone(scene: AgentScene) -> None:
    scene.put(kinds=["broken-anchor"])
    scene.fix()
    with scene.world.context.db.write() as tx:
        tx.run("UPDATE change_requests SET created_at = created_at - :day", day=DAY)
    scene.write("Read [the next step](#instll).\n\n## Install\n")
    scene.scan()
    [finding] = [one for one in scene.list() if one["kind"] == "broken-anchor"]
    scene.world.post("admin", f"{scene.site}/findings/{finding['id']}/change-requests", {})
    assert scene.undo().json()["items"] == []


def test_the_agent_stops_when_its_person_can_no_longer_set_it_up(scene: AgentScene) -> None:
    scene.put(kinds=["broken-anchor"])
    with scene.world.context.db.write() as tx:
        tx.run("UPDATE site_agent_settings SET updated_by = :user", user=scene.world.users["editor"])
    scene.fix()
    assert scene.changes() == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"changeRequests": "always"}, "findings.changeRequests: can't be `always`"),
        ({"kinds": ["alt-text"]}, "kinds"),
        ({"changeRequestsPerDay": 0}, "changeRequestsPerDay"),
        (
            {
                "editing": {
                    **EMPTY,
                    "nodes": [
                        {
                            "object": "block",
                            "type": "paragraph",
                            "nodes": [
                                {
                                    "object": "text",
                                    "leaves": [{"object": "leaf", "text": "Be brief.", "marks": []}],
                                }
                            ],
                        }
                    ],
                }
            },
            "editing.customInstructions: must be empty",
        ),
    ],
)
def test_settings_without_effect_are_refused(scene: AgentScene, given: Any, reason: str) -> None:
    answer = scene.put(**given)
    assert answer.status_code == 400 and reason in answer.text
