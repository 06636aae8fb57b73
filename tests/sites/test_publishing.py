"""Publishing a space is for those who administer that very space, when it is done."""

import pytest


@pytest.fixture
def closed(world):
    """A space where the creator may only read; its id."""
    made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Closed"})["id"]
    world.call("admin", "PATCH", f"/spaces/{made}", json={"defaultLevel": None})
    give(world, made, "read")
    return made


def give(world, space, role):
    body = {"role": role, "users": [world.users["creator"]]}
    world.post("admin", f"/spaces/{space}/permissions", body)


def sites(world):
    return world.home.path("/orgs/{organizationId}/sites")


def make(world, *spaces):
    return world.call("creator", "POST", sites(world), json={"title": "Docs", "spaces": list(spaces)})


@pytest.mark.parametrize("role", ["read", "comment", "edit", "review"])
def test_a_site_is_made_over_spaces_that_one_administers(world, closed, role):
    give(world, closed, role)
    before = world.digest()
    answer = make(world, world.home["spaceId"], closed)
    assert answer.status_code == 403 and "spaces[1]" in answer.json()["error"]["message"]
    assert world.digest() == before
    give(world, closed, "create")
    assert make(world, world.home["spaceId"], closed).status_code == 201


def test_a_space_that_is_not_seen_is_not_there(world, closed):
    give(world, closed, None)
    answer = make(world, closed)
    assert answer.status_code == 404
    unknown = make(world, "x" * 20)
    assert answer.text.replace(closed, "") == unknown.text.replace("x" * 20, "")


def test_the_right_counts_when_the_site_is_published(world, closed):
    give(world, closed, "create")
    site = make(world, world.home["spaceId"], closed).json()["id"]
    publish = f"{sites(world)}/{site}/publish"
    give(world, closed, "read")
    assert world.call("creator", "POST", publish).status_code == 403
    assert world.get("admin", f"{sites(world)}/{site}")["published"] is False
    # Closing it again is always possible.
    assert world.call("admin", "POST", publish).status_code == 200
    assert world.call("creator", "POST", f"{sites(world)}/{site}/unpublish").status_code == 200
    give(world, closed, "create")
    assert world.call("creator", "POST", publish).status_code == 200


def test_the_list_of_sites_tells_nothing_of_a_space_that_is_not_seen(world, closed):
    world.post("admin", sites(world), {"title": "Docs", "spaces": [closed]})
    found = [world.get(who, sites(world), params={"space": closed})["count"] for who in ("creator", "reader")]
    assert found == [1, 0]


def test_a_space_is_on_a_site_once(world):
    space = world.home["spaceId"]
    answer = world.call("admin", "POST", sites(world), json={"title": "Twice", "spaces": [space, space]})
    assert answer.status_code == 400, answer.text
    assert "spaces[1]" in answer.json()["error"]["message"]


def test_spaces_in_the_trash_are_not_counted(world):
    made = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Gone"})
    body = {"title": "Counted", "spaces": [world.home["spaceId"], made["id"]]}
    site = world.post("admin", sites(world), body)
    assert site["siteSpaces"] == 2
    assert world.call("admin", "DELETE", f"/spaces/{made['id']}").status_code == 205
    assert world.get("admin", f"{sites(world)}/{site['id']}")["siteSpaces"] == 1
    world.post("admin", f"/spaces/{made['id']}/restore")
    assert world.get("admin", f"{sites(world)}/{site['id']}")["siteSpaces"] == 2


def test_an_organization_begins_with_a_site(world):
    plain = world.post("stranger", "/orgs", {"title": "Plain"})
    assert "defaultContent" not in plain
    assert world.get("stranger", f"/orgs/{plain['id']}/sites")["items"] == []
    made = world.post("stranger", "/orgs", {"title": "Acme"}, params={"withDefaultSite": "true"})
    (site,) = world.get("stranger", f"/orgs/{made['id']}/sites")["items"]
    assert made["defaultContent"] == {"type": "site", "site": site["id"]}
    assert (site["title"], site["published"], site["siteSpaces"]) == ("Acme", False, 1)
    assert world.get("stranger", f"/orgs/{made['id']}")["defaultContent"] == made["defaultContent"]
    (space,) = world.get("stranger", f"/orgs/{made['id']}/spaces")["items"]
    assert space["title"] == "Documentation"
