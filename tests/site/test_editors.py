"""Editors of a site create, change, and delete drafts, and nothing that visitors see."""

from __future__ import annotations

from typing import Any

import pytest

from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"
URL = {"kind": "external", "url": "https://example.org/"}


@pytest.fixture
def path(world: World) -> str:
    return world.home.path(SITE)


def _ask(world: World, method: str, path: str, body: Any = None) -> Any:
    return (
        world.call("editor", method, path, json=body)
        if body is not None
        else world.call("editor", method, path)
    )


def _refused(world: World, method: str, path: str, body: Any = None) -> bool:
    before = world.written()
    answer = _ask(world, method, path, body)
    return (
        answer.status_code == 403
        and "Changes that visitors can see" in answer.text
        and world.written() == before
    )


def test_editors_create_change_and_delete_drafts(world: World, path: str) -> None:
    made = {}
    for part, body in {
        "external-links": {"title": "Forum", "url": "https://forum.example.org/"},
        "section-groups": {"title": "Guides"},
        "redirects": {"source": "/before", "destination": URL},
    }.items():
        assert _refused(world, "POST", f"{path}/{part}", body)
        answer = _ask(world, "POST", f"{path}/{part}", {**body, "draft": True})
        assert answer.status_code == 201, answer.text
        made[part] = f"{path}/{part}/{answer.json()['id']}"
    group = made["section-groups"].rpartition("/")[2]
    assert _ask(world, "PATCH", made["external-links"], {"title": "Talk", "parent": group}).status_code == 200
    assert _ask(world, "PATCH", made["redirects"], {"source": "/earlier"}).status_code == 200
    for part in ("section-groups", "redirects"):
        assert _refused(world, "PATCH", made[part], {"draft": False})
    items = [one.rpartition("/")[2] for one in made.values()]
    assert _ask(world, "POST", f"{path}/drafts/publish", {"items": items}).status_code == 403
    for one in made.values():
        assert _ask(world, "DELETE", one).status_code == 205


def test_editors_add_draft_sections_and_variants_of_spaces_that_they_can_publish(
    world: World, path: str
) -> None:
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "More"})["id"]
    body = {"spaceId": space, "title": "More", "draft": True}
    assert _ask(world, "POST", f"{path}/sections", body).status_code == 403
    invited = {"users": [world.users["editor"]], "role": "create"}
    assert world.call("admin", "POST", f"/spaces/{space}/permissions", json=invited).status_code == 204
    assert _refused(world, "POST", f"{path}/sections", {**body, "draft": False})
    section = _ask(world, "POST", f"{path}/sections", body)
    assert section.status_code == 201, section.text
    inside = {"spaceId": space, "sectionId": world.home["siteSectionId"], "title": "Next", "draft": True}
    variant = _ask(world, "POST", f"{path}/site-spaces", inside)
    assert variant.status_code == 201, variant.text
    added = f"{path}/site-spaces/{variant.json()['id']}"
    assert _refused(world, "PATCH", added, {"draft": False})
    at = {
        "item": {"type": "site-section", "id": section.json()["id"]},
        "position": {"before": {"type": "site-section", "id": world.home["siteSectionId"]}},
    }
    assert _ask(world, "PATCH", f"{path}/structure/sort", at).status_code == 200
    live = {"item": at["position"]["before"], "position": {"after": at["item"]}}
    assert _ask(world, "PATCH", f"{path}/structure/sort", live).status_code == 200, "the order stays the same"


def test_editors_change_nothing_that_visitors_see(world: World, path: str) -> None:
    home = world.home
    assert _refused(world, "PATCH", f"{path}/sections/{home['siteSectionId']}", {"title": "Other"})
    assert _refused(world, "PATCH", f"{path}/sections/{home['siteSectionId']}", {"draft": True})
    assert _refused(world, "DELETE", f"{path}/site-spaces/{home['siteSpaceId']}")
    around = {"title": "Around", "draft": True, "sections": [home["siteSectionId"]]}
    assert _refused(world, "POST", f"{path}/section-groups", around)
    redirect = f"{path}/redirects/{home['siteRedirectId']}"
    assert _refused(world, "PATCH", redirect, {"permanent": True})
    assert _refused(world, "DELETE", redirect)
    given = {"redirects": [{"source": "/x", "destination": URL}]}
    assert _refused(world, "PUT", f"{path}/redirects", given)
    draft = {"redirects": [{"source": "/x", "destination": URL, "intent": "draft"}]}
    assert _ask(world, "PUT", f"{path}/redirects", draft).json()["results"][0]["status"] == "created"
    assert _refused(world, "PUT", f"{path}/redirects", {"redirects": [{"source": "/x", "intent": "publish"}]})
    assert _refused(
        world, "POST", f"{path}/redirects/import", {"csv": "source,destination\n/y,https://example.org/\n"}
    )
