"""The numbered scenarios of docs/access/permissions.md, and the limits on sharing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from octavo.organization.access.members import upsert_member
from world import World

DOCS = Path(__file__).parents[2] / "docs" / "access" / "permissions.md"


class Scene:
    """Outer and inner collection with a space each, and Eve, whose role is evaluated."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.home = world.home
        made = "/orgs/{organizationId}/"
        self.outer = self.post(made + "collections", {"title": "Outer"})["id"]
        self.inner = self.post(made + "collections", {"title": "Inner", "parent": self.outer})["id"]
        self.space = self.post(made + "spaces", {"parent": self.outer})["id"]
        self.deep = self.post(made + "spaces", {"parent": self.inner})["id"]
        self.eve = world.users["editor"]

    def post(self, path: str, body: Any) -> Any:
        return self.world.post("admin", self.home.path(path), body)

    def be(self, who: str, role: str | None) -> None:
        with self.world.context.db.write() as tx:
            upsert_member(tx, self.home["organizationId"], self.world.users[who], role)

    def level(self, path: str, level: str | None) -> None:
        answer = self.world.call("admin", "PATCH", path, json={"defaultLevel": level})
        assert answer.status_code == 200, answer.text

    def grant(self, path: str, role: str | None, who: str = "editor") -> None:
        self.post(f"{path}/permissions", {"role": role, "users": [self.world.users[who]]})

    def grant_team(self, path: str, role: str | None, title: str = "Team") -> str:
        answer = self.world.call(
            "admin",
            "PUT",
            self.home.path("/orgs/{organizationId}/teams"),
            json={"title": title, "members": [self.eve]},
        )
        team: str = answer.json()["id"]
        self.post(f"{path}/permissions", {"role": role, "teams": [team]})
        return team

    def at(self, space: str | None = None) -> str:
        return f"/spaces/{space or self.space}"

    def around(self, collection: str | None = None) -> str:
        return f"/collections/{collection or self.outer}"

    def role(self, who: str = "editor", space: str | None = None) -> str | None:
        """Return the role at the space after checking that all ways to evaluate it agree."""
        user, space = self.world.users[who], space or self.space
        items = self.world.get("admin", f"{self.at(space)}/permissions/aggregate", params={"limit": 1000})[
            "items"
        ]
        shown = {item["user"]["id"]: item["permission"] for item in items}.get(user)
        one = self.world.call(who, "GET", self.at(space))
        assert (one.status_code == 200) == (shown is not None)
        spaces = self.world.call(who, "GET", self.home.path("/orgs/{organizationId}/spaces?limit=1000"))
        if spaces.status_code == 200:
            listed = {item["id"]: item["permissions"] for item in spaces.json()["items"]}
            assert (space in listed) == (shown is not None)
            assert shown is None or listed[space] == one.json()["permissions"]
            mine = self.home.path("/orgs/{organizationId}/members/{userId}/spaces?limit=1000", userId=user)
            named = {item["space"]["id"]: item["permission"] for item in self.world.get(who, mine)["items"]}
            assert named.get(space) == shown
        explained = self.world.call("admin", "GET", f"{self.at(space)}/permissions/users/{user}")
        if explained.status_code == 404:  # not a member, or disabled
            assert shown is None
            return None
        told = explained.json()
        assert told["permission"] == shown
        assert [place["object"] for place in told["places"] if place["decides"]] == [told["source"]["object"]]
        every = self.home.path(
            "/orgs/{organizationId}/members/{userId}/spaces?limit=1000&closed=true", userId=user
        )
        reached = {item["space"]["id"]: item for item in self.world.get("admin", every)["items"]}[space]
        assert (reached["permission"], reached["source"]) == (shown, told["source"])
        return shown

    def why(self, who: str = "editor") -> dict[str, Any]:
        items = self.world.get("admin", f"{self.at()}/permissions/aggregate", params={"limit": 1000})["items"]
        return next(item["source"] for item in items if item["user"]["id"] == self.world.users[who])


@pytest.fixture
def scene(world: World) -> Scene:
    return Scene(world)


def test_1(scene: Scene) -> None:
    assert scene.role() == "edit"
    assert scene.why() == {
        "type": "organization",
        "object": {"object": "organization", "id": scene.home["organizationId"]},
    }


def test_2(scene: Scene) -> None:
    scene.level(scene.at(), None)
    assert scene.role() is None


def test_3(scene: Scene) -> None:
    scene.level(scene.at(), None)
    scene.grant(scene.at(), "read")
    assert scene.role() == "read"
    assert scene.why() == {"type": "user", "object": {"object": "space", "id": scene.space}}


def test_4(scene: Scene) -> None:
    scene.level(scene.at(), None)
    team = scene.grant_team(scene.at(), "comment")
    assert scene.role() == "comment"
    assert scene.why() == {"type": "team", "object": {"object": "space", "id": scene.space}, "teams": [team]}


def test_5(scene: Scene) -> None:
    scene.level(scene.around(), None)
    assert scene.role() is None


def test_6(scene: Scene) -> None:
    scene.level(scene.around(), None)
    scene.grant(scene.around(), "review")
    assert scene.role() == "review"
    assert scene.why() == {"type": "user", "object": {"object": "collection", "id": scene.outer}}


def test_7(scene: Scene) -> None:
    scene.level(scene.around(), None)
    scene.grant(scene.around(), "review")
    scene.grant(scene.at(), "read")
    assert scene.role() == "read"


def test_8(scene: Scene) -> None:
    scene.grant(scene.at(), "read")
    scene.grant_team(scene.at(), "admin")
    assert scene.role() == "read"


def test_9(scene: Scene) -> None:
    scene.grant_team(scene.at(), "read", "One")
    team = scene.grant_team(scene.at(), "edit", "Two")
    assert scene.role() == "edit"
    assert scene.why()["teams"] == [team]


def test_10(scene: Scene) -> None:
    scene.grant_team(scene.at(), "edit")
    scene.grant(scene.around(), "create")
    assert scene.role() == "edit"


def test_11(scene: Scene) -> None:
    scene.be("editor", "create")
    scene.level(scene.at(), "read")
    assert scene.role() == "read"
    assert scene.why() == {"type": "default", "object": {"object": "space", "id": scene.space}}


def test_12(scene: Scene) -> None:
    scene.level(scene.at(), "edit")
    assert scene.role("guest") is None


def test_13(scene: Scene) -> None:
    scene.grant(scene.around(), "edit", "guest")
    assert scene.role("guest") == "edit"
    assert scene.role("guest", scene.deep) == "edit"
    scene.level(scene.at(scene.deep), "read")
    assert scene.role("guest", scene.deep) is None


def test_14(scene: Scene) -> None:
    scene.grant(scene.at(), None)
    assert scene.role() is None


def test_15(scene: Scene) -> None:
    scene.grant(scene.at(), None, "admin")
    assert scene.role("admin") == "admin"
    assert scene.why("admin")["type"] == "administrator"


def test_16(scene: Scene) -> None:
    scene.grant(scene.at(), "edit")
    with scene.world.context.db.write() as tx:
        tx.run("UPDATE members SET disabled = 1 WHERE user_id = :u", u=scene.eve)
    assert scene.role() is None


def test_17(scene: Scene) -> None:
    scene.grant(scene.around(), "create")
    scene.level(scene.around(scene.inner), "read")
    assert scene.role(space=scene.deep) == "read"
    assert scene.role() == "create"


def test_18(scene: Scene) -> None:
    scene.level(scene.at(), None)
    team = scene.grant_team(scene.at(), "edit")
    assert scene.role() == "edit"
    path = scene.home.path("/orgs/{organizationId}/teams/{t}/members/{u}", t=team, u=scene.eve)
    assert scene.world.call("admin", "DELETE", path).status_code == 205
    assert scene.role() is None


def test_every_scenario_is_in_the_manual() -> None:
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", DOCS.read_text(), re.M)}
    assert told == {int(name[5:]) for name in globals() if re.fullmatch(r"test_\d+", name)}


# --- forbidden changes ---------------------------------------------------------------------------------

PLACES = ["/spaces/{spaceId}", "/collections/{collectionId}"]


def unchanged(world: World, who: str, method: str, path: str, body: Any, status: int) -> None:
    before = world.digest()
    answer = world.call(who, method, path, json=body)
    assert answer.status_code == status, answer.text
    assert world.digest() == before


@pytest.mark.parametrize("template", PLACES)
def test_no_one_grants_more_than_their_own_role(world: World, template: str) -> None:
    home, path = world.home, world.home.path(template)
    other = home["scimUserId"]
    for whom in ({"users": [other]}, {"users": [world.users["creator"]]}, {"teams": [home["teamId"]]}):
        unchanged(world, "creator", "POST", f"{path}/permissions", {"role": "admin", **whom}, 403)
    unchanged(world, "creator", "PATCH", path, {"defaultLevel": "admin"}, 403)
    world.post("creator", f"{path}/permissions", {"role": "create", "users": [other]})
    unchanged(world, "creator", "PATCH", f"{path}/permissions/users/{other}", {"role": "admin"}, 403)


@pytest.mark.parametrize("template", PLACES)
def test_no_one_removes_people_with_a_higher_role(world: World, template: str) -> None:
    home, path = world.home, world.home.path(template)
    other = home["scimUserId"]
    whom = {"users": [other], "teams": [home["teamId"]]}
    world.post("admin", f"{path}/permissions", {"role": "admin", **whom})
    for subject in (f"users/{other}", f"teams/{home['teamId']}"):
        unchanged(world, "creator", "PATCH", f"{path}/permissions/{subject}", {"role": "read"}, 403)
        unchanged(world, "creator", "DELETE", f"{path}/permissions/{subject}", None, 403)
    unchanged(world, "creator", "POST", f"{path}/permissions", {"role": "read", **whom}, 403)


def test_revoking_raises_no_one_above_the_caller(scene: Scene) -> None:
    world, creator = scene.world, scene.world.users["creator"]
    # Their team would make them an administrator, but at the space they are limited to create.
    scene.grant_team(scene.around(), "admin")
    scene.grant(scene.at(), "create")
    scene.be("editor", "create")
    unchanged(world, "creator", "DELETE", f"{scene.at()}/permissions/users/{scene.eve}", None, 403)
    unchanged(world, "editor", "DELETE", f"{scene.at()}/permissions/users/{scene.eve}", None, 403)
    assert scene.role() == "create"
    assert scene.why("creator")["type"] == "organization", creator


def test_opening_or_moving_raises_no_one_above_the_caller(scene: Scene) -> None:
    world = scene.world
    scene.grant(scene.around(), "admin")
    scene.level(scene.at(), "create")
    unchanged(world, "creator", "PATCH", scene.at(), {"defaultLevel": "inherit"}, 403)
    top = scene.post("/orgs/{organizationId}/spaces", {})["id"]
    unchanged(world, "creator", "POST", f"/spaces/{top}/move", {"parent": scene.outer}, 403)


@pytest.mark.parametrize("template", PLACES)
def test_restricting_access_keeps_the_access_of_the_caller(world: World, template: str) -> None:
    path = world.home.path(template)
    answer = world.call("creator", "PATCH", path, json={"defaultLevel": None})
    assert answer.status_code == 200, answer.text
    assert world.get("creator", path)["permissions"]["admin"]
    assert world.call("reviewer", "GET", path).status_code == 404
    users = world.get("creator", f"{path}/permissions/users")["items"]
    # The only others are integrations that are installed in all spaces of the organization.
    people = [(item["user"]["id"], item["permission"]) for item in users]
    assert [one for one in people if one[0] in world.users.values()] == [(world.users["creator"], "create")]
    assert {role for _, role in people[1:]} <= {"read"}


@pytest.mark.parametrize("template", PLACES)
def test_people_and_teams_of_other_organizations_are_refused(world: World, template: str) -> None:
    path, away = world.home.path(template), world.away
    for body in (
        {"users": [away["scimUserId"]]},
        {"teams": [away["teamId"]]},
        {"users": ["no-such-user"]},
        {"users": [world.home["scimUserId"], away["scimUserId"]], "teams": [world.home["teamId"]]},
    ):
        unchanged(world, "admin", "POST", f"{path}/permissions", {"role": "read", **body}, 404)
    for method, body, status in (("PATCH", {"role": "read"}, 404), ("PATCH", {}, 404), ("DELETE", None, 204)):
        unchanged(world, "admin", method, f"{path}/permissions/users/{away['scimUserId']}", body, status)
        unchanged(world, "admin", method, f"{path}/permissions/teams/{away['teamId']}", body, status)
    elsewhere = world.away.path(template)
    unchanged(
        world,
        "admin",
        "POST",
        f"{elsewhere}/permissions",
        {"role": "read", "users": [world.users["admin"]]},
        404,
    )


# --- reasons ------------------------------------------------------------------------------------------------


def test_people_with_permission_to_share_see_every_place(scene: Scene) -> None:
    team = scene.grant_team(scene.around(scene.inner), "comment")
    scene.level(scene.around(), None)
    scene.grant(scene.at(scene.deep), "create", "reviewer")
    path = f"{scene.at(scene.deep)}/permissions/users/{scene.eve}"

    def place(kind: str, id: str, *, decides: bool = False, **more: Any) -> dict[str, Any]:
        return {"object": {"object": kind, "id": id}, "decides": decides, **more}

    open_space = {"teams": [], "defaultLevel": "inherit"}
    inner, outer = ("collection", scene.inner), ("collection", scene.outer)
    told = {
        "inner": {"teams": [{"team": team, "permission": "comment"}], "defaultLevel": "inherit"},
        "outer": {"teams": [], "defaultLevel": None},
    }
    space = place("space", scene.deep, **open_space)
    organization = place("organization", scene.home["organizationId"], role="edit")
    assert scene.world.get("admin", path)["places"] == [
        space,
        place(*inner, decides=True, **told["inner"]),
        place(*outer, **told["outer"]),
        organization,
    ]
    # People who can share only the space see which place decides, but not the grants around the space.
    assert scene.world.get("reviewer", path)["places"] == [
        space,
        place(*inner, decides=True),
        place(*outer),
        organization,
    ]
    answer = scene.world.call("editor", "GET", path)
    assert answer.status_code == 403
    closed = scene.home.path("/orgs/{organizationId}/members/{userId}/spaces?closed=true", userId=scene.eve)
    assert scene.world.call("editor", "GET", closed).status_code == 403


# --- lists and the log ----------------------------------------------------------------------------------


def test_the_aggregate_is_paginated_and_filtered_by_role(world: World) -> None:
    path = world.home.path("/spaces/{spaceId}/permissions/aggregate")
    every = world.get("admin", path)
    seen, token = [], None
    while True:
        answer = world.get("admin", path, params={"limit": 3, **({"page": token} if token else {})})
        assert answer["count"] == every["count"]
        seen += answer["items"]
        if "next" not in answer:
            break
        token = answer["next"]["page"]
    assert seen == every["items"]
    readers = world.get("admin", path, params={"role": "read"})
    assert readers["items"] == [item for item in every["items"] if item["permission"] == "read"]
    assert readers["count"] == len(readers["items"]) > 0


@pytest.mark.parametrize("template", PLACES)
def test_every_change_is_in_the_log(world: World, template: str) -> None:
    home, path = world.home, world.home.path(template)
    user = home["scimUserId"]
    world.post("admin", f"{path}/permissions", {"role": "read", "users": [user]})
    world.post("admin", f"{path}/permissions", {"role": "read", "users": [user]})
    world.call("admin", "PATCH", f"{path}/permissions/users/{user}", json={"role": "edit"})
    world.call("admin", "DELETE", f"{path}/permissions/users/{user}")
    target = path.rpartition("/")[2]
    events = world.get("admin", home.path("/orgs/{organizationId}/audit-events"), params={"target": target})[
        "items"
    ]
    told = [
        (event["action"], event.get("before"), event.get("after"), event["actor"]["id"])
        for event in reversed(events)
        if event["action"].startswith("permission.")
    ]
    admin = world.users["admin"]
    assert told == [
        ("permission.granted", None, {"user": user, "role": "read"}, admin),
        ("permission.changed", {"user": user, "role": "read"}, {"user": user, "role": "edit"}, admin),
        ("permission.removed", {"user": user, "role": "edit"}, None, admin),
    ]
