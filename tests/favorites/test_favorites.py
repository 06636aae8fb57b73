"""Tests of the favorites of people: their order, what they show, and when they disappear."""

from __future__ import annotations

import pytest

from octavo.sites.favorites import routes
from world import World

OWN = "/user/favorites"


def favorites(world: World, who: str, **query: str) -> list[dict]:
    found = world.get(who, OWN, params=query)
    assert found["count"] == len(found["items"])
    return found["items"]


def add(world: World, who: str, **body: str) -> str:
    return world.post(who, OWN, body)["id"]


def test_favorites_are_listed_in_the_order_that_their_person_chose(world: World) -> None:
    space, page, site = (world.home[name] for name in ("spaceId", "pageId", "siteId"))
    a_space, a_page = add(world, "reader", space=space), add(world, "reader", space=space, page=page)
    a_site = add(world, "reader", site=site, before=a_page)
    assert add(world, "reader", space=space) == a_space, "adding it again returns the existing favorite"
    assert [one["id"] for one in favorites(world, "reader")] == [a_space, a_site, a_page]
    shown = {one["kind"]: one for one in favorites(world, "reader")}
    assert shown["space"]["urls"]["app"].endswith(f"/s/{space}") and shown["space"]["space"] == space
    assert f"/s/{space}/" in shown["page"]["urls"]["app"] and shown["page"]["page"] == page
    assert shown["site"]["urls"]["app"].endswith(f"/sites/{site}") and "space" not in shown["site"]
    assert {one["organization"] for one in shown.values()} == {world.home["organizationId"]}
    moves = [(a_page, a_space, [a_page, a_space, a_site]), (a_page, None, [a_space, a_site, a_page])]
    for moved, before, expected in moves:
        answer = world.call("reader", "PATCH", f"{OWN}/{moved}", json={"before": before})
        assert answer.json()["id"] == moved
        assert [one["id"] for one in favorites(world, "reader")] == expected
    assert favorites(world, "editor") == [], "favorites belong to one person"
    assert favorites(world, "reader", organization="another") == []
    first = world.get("reader", OWN, params={"limit": 2})
    rest = world.get("reader", OWN, params={"page": first["next"]["page"]})
    assert [one["id"] for one in first["items"] + rest["items"]] == [a_space, a_site, a_page]
    assert world.call("editor", "DELETE", f"{OWN}/{a_site}").status_code == 204
    assert world.call("reader", "DELETE", f"{OWN}/{a_site}").status_code == 205
    assert [one["id"] for one in favorites(world, "reader")] == [a_space, a_page]


def test_wrong_favorites_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    space, site = world.home["spaceId"], world.home["siteId"]
    kept = add(world, "reader", space=space)
    for body, status in (
        ({}, 400),
        ({"space": space, "site": site}, 400),
        ({"site": site, "page": world.home["pageId"]}, 400),
        ({"space": "nowhere"}, 404),
        ({"space": ""}, 404),
        ({"site": "nowhere"}, 404),
        ({"space": space, "page": "nowhere"}, 404),
        ({"site": site, "before": "nowhere"}, 404),
    ):
        answer = world.call("reader", "POST", OWN, json=body)
        assert answer.status_code == status, (body, answer.text)
    assert world.call("reader", "PATCH", f"{OWN}/{kept}", json={"before": "nowhere"}).status_code == 404
    assert world.call("editor", "PATCH", f"{OWN}/{kept}", json={"before": None}).status_code == 404
    assert world.call("reader", "PATCH", f"{OWN}/{kept}", json={"before": kept}).is_success
    monkeypatch.setattr(routes, "MAX_FAVORITES", 1)
    full = world.call("reader", "POST", OWN, json={"site": site})
    assert full.status_code == 409 and "1 favorites" in full.json()["error"]["message"]
    assert [one["id"] for one in favorites(world, "reader")] == [kept]


def test_favorites_disappear_with_access_and_with_their_object(world: World) -> None:
    space, page, site = (world.home[name] for name in ("spaceId", "pageId", "siteId"))
    for who in ("reader", "admin"):
        for body in ({"space": space}, {"space": space, "page": page}, {"site": site}):
            add(world, who, **body)
    at_space, at_site = (
        world.home.path("/spaces/{spaceId}"),
        world.home.path("/orgs/{organizationId}/sites/{siteId}"),
    )
    assert world.call("admin", "PATCH", at_space, json={"defaultLevel": None}).is_success
    assert [one["kind"] for one in favorites(world, "reader")] == ["site"]
    assert world.call("admin", "PATCH", at_space, json={"defaultLevel": "inherit"}).is_success
    assert [one["kind"] for one in favorites(world, "reader")] == ["space", "page", "site"]
    change = {"operation": "delete_page", "page": page}
    world.post("admin", f"{at_space}/content", {"changes": [change]})
    assert [one["kind"] for one in favorites(world, "admin")] == ["space", "site"]
    assert world.call("admin", "DELETE", at_site).is_success
    assert [one["kind"] for one in favorites(world, "admin")] == ["space"]
    assert world.call("admin", "DELETE", at_space).is_success
    assert favorites(world, "admin") == favorites(world, "reader") == []
