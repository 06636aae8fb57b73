"""Tests that only administrators of a space can publish it, checked at the time of publishing."""

import pytest


@pytest.fixture
def closed(world):
    """Create a space that the creator can only read, and return its id."""
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


@pytest.mark.sqlite_first
@pytest.mark.parametrize("role", ["read", "comment", "edit", "review"])
def test_a_site_is_created_with_spaces_that_the_caller_administers(world, closed, role):
    give(world, closed, role)
    before = world.digest()
    answer = make(world, world.home["spaceId"], closed)
    assert answer.status_code == 403 and "spaces[1]" in answer.json()["error"]["message"]
    assert world.digest() == before
    give(world, closed, "create")
    assert make(world, world.home["spaceId"], closed).status_code == 201


def test_a_hidden_space_is_not_found(world, closed):
    give(world, closed, None)
    answer = make(world, closed)
    assert answer.status_code == 404
    unknown = make(world, "x" * 20)
    assert answer.text.replace(closed, "") == unknown.text.replace("x" * 20, "")


def test_permission_is_checked_when_a_site_is_published(world, closed):
    give(world, closed, "create")
    site = make(world, world.home["spaceId"], closed).json()["id"]
    publish = f"{sites(world)}/{site}/publish"
    give(world, closed, "read")
    assert world.call("creator", "POST", publish).status_code == 403
    assert world.get("admin", f"{sites(world)}/{site}")["published"] is False
    # Unpublishing it is always possible.
    assert world.call("admin", "POST", publish).status_code == 200
    assert world.call("creator", "POST", f"{sites(world)}/{site}/unpublish").status_code == 200
    give(world, closed, "create")
    assert world.call("creator", "POST", publish).status_code == 200


def test_the_list_of_sites_does_not_reveal_hidden_spaces(world, closed):
    world.post("admin", sites(world), {"title": "Docs", "spaces": [closed]})
    found = [world.get(who, sites(world), params={"space": closed})["count"] for who in ("creator", "reader")]
    assert found == [1, 0]


def test_a_space_is_only_once_on_a_site(world):
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


def test_an_organization_starts_with_a_site(world):
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


# --- what is published is opened further -------------------------------------------------------------------


@pytest.fixture
def published(world, closed):
    """Return the path of a published site with visitor authentication for the closed space, behind a
    condition that is never met."""
    give(world, closed, "read")
    body = {"title": "Closed", "spaces": [closed], "visibility": "visitor-auth"}
    site = f"{sites(world)}/{world.post('admin', sites(world), body)['id']}"
    section = world.post("admin", f"{site}/sections", {"spaceId": world.home["spaceId"]})["id"]
    for item in world.get("admin", f"{site}/sections")["items"]:
        answer = world.call(
            "admin", "PATCH", f"{site}/sections/{item['id']}", json={"condition": "visitor.claims.staff"}
        )
        assert answer.status_code == 200
    world.call("admin", "PATCH", f"{site}/sections/{section}", json={"condition": None})
    world.post("admin", f"{site}/publish")
    return site


def _ways_to_open(world, site):
    (first, *_) = (item for item in world.get("admin", f"{site}/sections")["items"] if item.get("condition"))
    (shown,) = (
        item for item in world.get("admin", f"{site}/site-spaces")["items"] if item["section"] == first["id"]
    )
    link = world.post("admin", f"{site}/share-links", {"name": "All"})["id"]
    world.call("admin", "PATCH", f"{site}/share-links/{link}", json={"active": False})
    schema = {
        "type": "object",
        "properties": {"plan": {"type": "string", "description": "Plan"}},
        "additionalProperties": False,
    }
    return {
        "public": ("PATCH", site, {"visibility": "public"}),
        "unlisted": ("PATCH", site, {"visibility": "unlisted"}),
        "share-link": ("PATCH", site, {"visibility": "share-link"}),
        "adaptive": ("PATCH", site, {"adaptiveContent": {"enabled": True}}),
        "schema": ("PUT", f"{site}/adaptive-schema", {"jsonSchema": schema}),
        "no condition": ("PATCH", f"{site}/sections/{first['id']}", {"condition": None}),
        "another condition": ("PATCH", f"{site}/sections/{first['id']}", {"condition": "true"}),
        "another condition of a variant": (
            "PATCH",
            f"{site}/site-spaces/{shown['id']}",
            {"condition": "visitor.claims.plan"},
        ),
        "a link": ("POST", f"{site}/share-links", {"name": "Mine"}),
        "the link again": ("PATCH", f"{site}/share-links/{link}", {"active": True}),
        "keys of links": ("GET", f"{site}/share-links", None),
        "the key of visitors": ("GET", f"{site}/publishing/auth", None),
        "sending visitors elsewhere": (
            "PATCH",
            f"{site}/publishing/auth",
            {"backend": "custom", "fallbackURL": "https://a.test/"},
        ),
        "another key of visitors": ("POST", f"{site}/publishing/auth/regenerate", None),
    }


_NARROWS = "another condition of a variant"


@pytest.mark.sqlite_first
def test_no_one_widens_the_audience_of_spaces_they_cannot_publish(world, closed, published):
    before = None
    for name, (method, path, body) in _ways_to_open(world, published).items():
        before = before or world.digest()
        if name == _NARROWS:
            continue
        answer = world.call("creator", method, path, **({"json": body} if body is not None else {}))
        assert answer.status_code == 403, (name, answer.text)
        assert world.digest() == before, name


def test_administrators_of_all_spaces_can_open_a_site(world, closed, published):
    ways = _ways_to_open(world, published)
    give(world, closed, "create")
    for name, (method, path, body) in ways.items():
        answer = world.call("creator", method, path, **({"json": body} if body is not None else {}))
        assert answer.is_success, (name, answer.text)


def test_all_managers_of_a_site_can_close_it(world, closed, published):
    method, path, body = _ways_to_open(world, published)[_NARROWS]
    assert world.call("creator", method, path, json=body).status_code == 200
    world.call("admin", "PATCH", published, json={"visibility": "public"})
    answer = world.call("creator", "PATCH", published, json={"visibility": "visitor-auth", "title": "Other"})
    assert answer.status_code == 200, answer.text
    assert world.call("creator", "POST", f"{published}/unpublish").status_code == 200
    assert world.call("creator", "PATCH", published, json={"visibility": "public"}).status_code == 200
    assert world.call("creator", "POST", f"{published}/publish").status_code == 403


def test_showing_a_draft_requires_administering_it(world, closed, published):
    (first, *_) = (
        item for item in world.get("admin", f"{published}/sections")["items"] if item.get("condition")
    )
    section = f"{published}/sections/{first['id']}"
    assert world.call("creator", "PATCH", section, json={"draft": True}).status_code == 200
    assert world.call("creator", "PATCH", section, json={"draft": False}).status_code == 403
