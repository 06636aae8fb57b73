"""Rules of pages that name people or teams who are gone, and restricted pages in unusual places."""

from __future__ import annotations

from typing import Any

from revisions.test_restricted_pages import ADMINISTRATORS, change, grant, insert, restrict, sees
from world import World


def overview(world: World, page: str, end: str = "") -> Any:
    path = world.home.path("/spaces/{spaceId}/content/page/{pageId}/access", pageId=page)
    return world.get("admin", f"{path}{end}")


def kinds(world: World, page: str) -> set[str]:
    return {reason["kind"] for one in overview(world, page, "/people")["items"] for reason in one["reasons"]}


def test_a_rule_for_a_deleted_team_leaves_the_page_to_administrators(world: World) -> None:
    page = insert(world, "plans")
    teams = world.home.path("/orgs/{organizationId}/teams")
    team = world.call("admin", "PUT", teams, json={"title": "Payroll"}).json()["id"]
    members = f"{teams}/{team}/members"
    assert world.call("admin", "PUT", members, json={"add": [world.users["reader"]]}).is_success
    restrict(world, page, grant("team", team))
    assert sees(world, "reader", page) and kinds(world, page) == {"administrators", "team"}
    assert world.call("admin", "DELETE", f"{teams}/{team}").is_success
    assert not sees(world, "reader", page) and sees(world, "creator", page)
    (shown,) = overview(world, page)["rules"][0]["grants"]
    assert shown["id"] == team and "name" not in shown
    assert kinds(world, page) == {"administrators"}
    # Such a rule can't be set again, but the rest of the page can be edited.
    update = {"operation": "update_page", "page": page}
    assert change(world, "admin", {**update, "visibleTo": [grant("team", team)]}).status_code == 404
    assert change(world, "admin", {**update, "description": "New"}).is_success
    assert not sees(world, "reader", page)


def test_a_page_of_a_person_who_left_stays_closed_until_administrators_open_it(world: World) -> None:
    page = insert(world, "plans")
    restrict(world, page, grant("user", world.users["reader"], "edit"))
    person = world.home.path("/orgs/{organizationId}/members") + f"/{world.users['reader']}"
    assert sees(world, "reader", page)
    assert world.call("admin", "DELETE", person).is_success
    assert kinds(world, page) == {"administrators"} and sees(world, "admin", page)
    (shown,) = overview(world, page)["rules"][0]["grants"]
    assert shown["id"] == world.users["reader"] and "name" not in shown
    restrict(world, page)
    assert sees(world, "editor", page)


def test_others_start_at_the_first_page_that_they_see(world: World) -> None:
    way = world.home.path("/spaces/{spaceId}/content/way")
    first = world.get("editor", way)["page"]
    restrict(world, first, ADMINISTRATORS)
    found = world.get("editor", way)
    assert found["page"] != first and first not in str(found)
    assert world.get("admin", way)["page"] == first


def test_a_draft_from_before_the_rule_keeps_the_page_closed(world: World) -> None:
    page = insert(world, "plans")
    changes = world.home.path("/spaces/{spaceId}/change-requests")

    def start(who: str, **edit: Any) -> str:
        number = world.post(who, changes, {"subject": "Edit"})["number"]
        body = {"changes": [{"operation": "update_page", "page": page, **edit}]}
        assert world.call(who, "POST", f"{changes}/{number}/content", json=body).is_success
        return f"{changes}/{number}"

    text, narrow = start("editor", description="New"), start("admin", visibleTo=[ADMINISTRATORS])
    wide = start("admin", visibleTo=[grant("user", world.users["editor"])])
    assert world.post("admin", f"{narrow}/merge")["result"] == "merge"
    assert world.post("admin", f"{text}/merge")["result"] == "merge"
    assert not sees(world, "editor", page) and sees(world, "admin", page)
    # Two drafts with different rules are a conflict, which the editor doesn't see.
    assert world.post("admin", f"{wide}/merge")["result"] == "conflicts"
    assert [one["field"] for one in world.get("admin", f"{wide}/conflicts")["items"]] == ["visibleTo"]
    assert world.get("editor", f"{wide}/conflicts")["items"] == []
    assert not sees(world, "editor", page)
