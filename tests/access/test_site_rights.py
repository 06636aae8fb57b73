"""Permissions of sites: who gets which role there, what it allows, and that it never gives access to spaces."""

from __future__ import annotations

from typing import Any

import pytest

from contract.samples import sample_of
from octavo.kit.http.operation import TABLE
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"


class SiteScene:
    """A site, and Eve (the editor), whose role there is evaluated."""

    def __init__(self, world: World) -> None:
        self.world, self.place = world, world.home
        self.at = self.place.path(SITE)
        self.eve = world.users["editor"]

    def level(self, level: str | None, by: str = "admin") -> int:
        status: int = self.world.call(by, "PATCH", self.at, json={"defaultLevel": level}).status_code
        return status

    def grant(self, role: str | None, who: str = "editor", by: str = "admin") -> int:
        body = {"role": role, "users": [self.world.users[who]]}
        return self.world.call(by, "POST", f"{self.at}/permissions", json=body).status_code

    def team(self, *members: str, title: str = "Writers") -> str:
        body = {"title": title, "members": [self.world.users[who] for who in members]}
        made = self.world.call("admin", "PUT", self.place.path("/orgs/{organizationId}/teams"), json=body)
        team: str = made.json()["id"]
        return team

    def aggregate(self, **query: Any) -> dict[str, Any]:
        items = self.world.get("admin", f"{self.at}/permissions/aggregate", params={"limit": 1000, **query})
        return {item["user"]["id"]: item for item in items["items"]}

    def role(self, who: str = "editor") -> str | None:
        """Return the role at the site after checking that all ways to evaluate it agree."""
        user = self.world.users[who]
        shown = self.aggregate().get(user, {}).get("permission")
        one = self.world.call(who, "GET", self.at)
        assert (one.status_code == 200) == (shown is not None)
        sites = self.world.get(who, self.place.path("/orgs/{organizationId}/sites?limit=1000"))
        listed = {item["id"]: item["permissions"] for item in sites["items"]}
        assert (self.place["siteId"] in listed) == (shown is not None)
        assert shown is None or listed[self.place["siteId"]] == one.json()["permissions"]
        members = self.place.path("/orgs/{organizationId}/members/{userId}/sites?limit=1000", userId=user)
        named = {item["site"]["id"]: item["permission"] for item in self.world.get(who, members)["items"]}
        assert named.get(self.place["siteId"]) == shown
        every = self.world.get("admin", f"{members}&closed=true")["items"]
        reached = {item["site"]["id"]: item for item in every}[self.place["siteId"]]
        told = self.world.get("admin", f"{self.at}/permissions/users/{user}")
        assert told["permission"] == reached["permission"] == shown
        assert told["source"] == reached["source"]
        assert [place["object"] for place in told["places"] if place["decides"]] == [told["source"]["object"]]
        return shown


@pytest.fixture
def scene(world: World) -> SiteScene:
    return SiteScene(world)


def test_members_have_their_role_of_the_organization(scene: SiteScene) -> None:
    assert scene.world.get("admin", scene.at)["defaultLevel"] == "inherit"
    assert scene.role() == "edit"
    assert scene.aggregate()[scene.eve]["origin"] == {
        "type": "organization",
        "organization": scene.place["organizationId"],
    }


def test_only_administrators_and_people_with_a_role_see_a_closed_site(scene: SiteScene) -> None:
    assert scene.level(None) == 200
    assert scene.role() is None
    assert scene.role("admin") == "admin"
    assert scene.grant("read") == 204
    assert scene.role() == "read"
    assert scene.aggregate()[scene.eve]["origin"] == {
        "type": "site",
        "site": scene.place["siteId"],
        "reason": "member",
    }


def test_the_default_role_applies_to_members_but_not_to_guests(scene: SiteScene) -> None:
    assert scene.level("read") == 200
    assert scene.role() == "read"
    assert scene.role("guest") is None
    assert scene.aggregate()[scene.eve]["origin"]["reason"] == "default"


def test_teams_grant_roles_and_personal_grants_win(scene: SiteScene) -> None:
    team = scene.team("editor")
    scene.world.post("admin", f"{scene.at}/permissions", {"role": "create", "teams": [team]})
    assert scene.role() == "create"
    assert scene.aggregate()[scene.eve]["origin"] == {
        "type": "site",
        "site": scene.place["siteId"],
        "reason": "team",
        "team": team,
    }
    scene.grant("read")
    assert scene.role() == "read"
    scene.grant(None)
    assert scene.role() is None


def test_guests_with_a_role_see_the_site_and_none_of_its_spaces(scene: SiteScene) -> None:
    world, place = scene.world, scene.place
    assert scene.role("guest") is None
    assert scene.grant("create", "guest") == 204
    assert scene.role("guest") == "create"
    assert world.call("guest", "GET", place.path("/spaces/{spaceId}")).status_code == 404
    assert world.get("guest", place.path("/orgs/{organizationId}/spaces"))["items"] == []
    assert world.get("guest", f"{scene.at}/site-spaces")["items"] == []
    # They can refer to the site, but can't show others content that they can't access themselves.
    assert world.call("guest", "PATCH", scene.at, json={"title": "Renamed"}).status_code == 200
    assert world.call("guest", "POST", f"{scene.at}/publish").status_code == 403
    assert world.call("guest", "GET", f"{scene.at}/publishing/preview").status_code == 403
    added = world.call("guest", "POST", f"{scene.at}/site-spaces", json={"spaceId": place["spaceId"]})
    assert added.status_code in (403, 404)
    members = world.get("admin", place.path("/orgs/{organizationId}/members?limit=1000"))["items"]
    assert {one["id"]: one["sites"] for one in members}[world.users["guest"]] == 1


def test_administrators_of_a_site_read_no_events_of_hidden_spaces(scene: SiteScene) -> None:
    world, place = scene.world, scene.place
    world.post("admin", f"{scene.at}/publish", None)
    view = sample_of(TABLE["trackEventsInSiteById"]).body_for(place)
    view["events"][0]["location"]["url"] = "https://docs.test/zqsecret"
    world.post("admin", f"{scene.at}/insights/events", view)
    world.call("admin", "PATCH", place.path("/spaces/{spaceId}"), json={"defaultLevel": None})
    assert scene.grant("admin") == 204
    asked = {
        "select": [{"column": "eventsCount"}],
        "groupBy": [{"column": "url"}],
        "range": "last7Days",
    }
    path = f"{scene.at}/insights/events/aggregate"
    assert "zqsecret" in world.call("admin", "POST", path, json=asked).text
    read = world.call("editor", "POST", path, json=asked)
    assert read.status_code == 200
    assert "zqsecret" not in read.text


@pytest.mark.parametrize("by", ["editor", "reader", "guest"])
def test_only_managers_of_a_site_can_share_it(scene: SiteScene, by: str) -> None:
    assert scene.grant("read", "guest", by=by) in (403, 404)
    assert scene.level("read", by=by) in (403, 404)


def test_no_one_grants_or_removes_a_role_above_their_own(scene: SiteScene) -> None:
    world = scene.world
    assert scene.grant("admin", by="creator") == 403
    assert scene.level("admin", by="creator") == 403
    assert scene.grant("create", by="creator") == 204
    scene.grant("admin")
    user = f"{scene.at}/permissions/users/{scene.eve}"
    assert world.call("creator", "PATCH", user, json={"role": "read"}).status_code == 403
    assert world.call("creator", "DELETE", user).status_code == 403
    assert scene.role() == "admin"
    assert world.call("admin", "DELETE", user).status_code == 205
    assert world.call("admin", "DELETE", user).status_code == 204
    assert world.call("admin", "PATCH", user, json={"role": "read"}).status_code == 404


def test_closing_a_site_keeps_your_own_role(scene: SiteScene) -> None:
    assert scene.level(None, by="creator") == 200
    assert scene.role("creator") == "create"
    assert scene.role() is None


def test_people_and_teams_of_other_organizations_get_no_role(scene: SiteScene) -> None:
    world = scene.world
    for body in (
        {"users": [world.users["stranger"]]},
        {"teams": [world.away["teamId"]]},
        {"users": [scene.eve, "nobody"]},
    ):
        answer = world.call("admin", "POST", f"{scene.at}/permissions", json={"role": "read", **body})
        assert answer.status_code == 404, answer.text
    with world.context.db.read() as tx:
        assert tx.all("SELECT * FROM grants WHERE object_id = :id", id=scene.place["siteId"]) == []


def test_a_deleted_site_leaves_no_grants(scene: SiteScene) -> None:
    scene.grant("read")
    assert scene.world.call("admin", "DELETE", scene.at).status_code == 205
    with scene.world.context.db.read() as tx:
        assert tx.all("SELECT * FROM grants WHERE object_type = 'site'") == []


def test_the_list_of_people_is_searched_filtered_and_sorted(scene: SiteScene) -> None:
    world = scene.world
    everybody = scene.aggregate()
    names = {id: item["user"]["displayName"] for id, item in everybody.items()}
    assert all(item["disabled"] is False for item in everybody.values())
    some = scene.aggregate(search=names[scene.eve].upper())
    assert scene.eve in some
    assert len(some) < len(everybody)
    assert scene.aggregate(search="%") == {}
    assert set(scene.aggregate(role="edit")) == {
        id for id, item in everybody.items() if item["permission"] == "edit"
    }
    assert set(scene.aggregate(role="guest")) >= {world.users["guest"]}
    team = scene.team("editor", "guest")
    assert set(scene.aggregate(team=team)) == {scene.eve}
    path = f"{scene.at}/permissions/aggregate"
    assert world.call("admin", "GET", path, params={"team": world.away["teamId"]}).status_code == 404
    for sort, key in (("name", lambda item: item["user"]["displayName"].lower()), ("joinedAt", None)):
        for order in ("asc", "desc"):
            query = {"sort": sort, "order": order}
            whole = [item["user"]["id"] for item in scene.aggregate(**query).values()]
            assert sorted(whole) == sorted(everybody)
            if key is not None:
                keys = [key(everybody[id]) for id in whole]
                assert keys == sorted(keys, reverse=order == "desc")
            pages: list[str] = []
            page: str | None = None
            while page is not None or not pages:
                found = world.get(
                    "admin", path, params={**query, "limit": 2, **({"page": page} if page else {})}
                )
                pages += [item["user"]["id"] for item in found["items"]]
                page = found.get("next", {}).get("page")
            assert pages == whole


def test_a_member_who_leaves_loses_their_role(scene: SiteScene) -> None:
    scene.grant("create", "guest")
    path = scene.place.path("/orgs/{organizationId}/members/{userId}", userId=scene.world.users["guest"])
    assert scene.world.call("admin", "DELETE", path).is_success
    with scene.world.context.db.read() as tx:
        assert tx.all("SELECT * FROM grants WHERE object_id = :id", id=scene.place["siteId"]) == []
