"""Lists in custom order, and moves that change it."""

from __future__ import annotations

import pytest


@pytest.fixture
def place(world):
    """Create a collection of five spaces, one after the other."""
    orgs = world.home.path("/orgs/{organizationId}")
    collection = world.post("admin", f"{orgs}/collections", {"title": "Ordered"})["id"]
    spaces = [
        world.post("admin", f"{orgs}/spaces", {"title": title, "parent": collection})["id"]
        for title in "ABCDE"
    ]
    return collection, spaces


def titles(world, path, who="admin", **query):
    found, token = [], None
    while True:
        params = {"orderBy": "rank", "limit": 2, **query, **({"page": token} if token else {})}
        answer = world.get(who, path, params=params)
        found += answer["items"]
        if "next" not in answer:
            assert answer["count"] == len(found)
            return [item["title"] for item in found]
        token = answer["next"]["page"]


@pytest.mark.parametrize("who", ["admin", "reader"])
def test_a_moved_space_is_shown_at_its_new_position(world, place, who):
    collection, spaces = place
    path = f"/collections/{collection}/spaces"
    assert titles(world, path, who) == list("ABCDE")
    position = {"before": {"type": "space", "space": spaces[0]}}
    world.post("admin", f"/spaces/{spaces[4]}/move", {"position": position})
    assert titles(world, path, who) == list("EABCD")
    position = {"after": {"type": "space", "space": spaces[1]}}
    moved = world.post("admin", f"/spaces/{spaces[0]}/move", {"position": position})
    assert titles(world, path, who) == list("EBACD")
    ranks = [world.get(who, f"/spaces/{id}")["rank"] for id in (spaces[1], spaces[0], spaces[2])]
    assert ranks == sorted(ranks) and moved["rank"] == ranks[1]
    newest = world.get(who, path)["items"]
    assert [space["title"] for space in newest] == list("EDCBA"), "without it the newest come first"


def test_collections_and_spaces_have_one_order(world, place):
    collection, _ = place
    orgs = world.home.path("/orgs/{organizationId}")
    first = world.post("admin", f"{orgs}/spaces", {"title": "First"})
    position = {"after": {"type": "space", "space": first["id"]}}
    world.post("admin", f"/collections/{collection}/move", {"position": position})
    both = [
        *world.get("admin", f"{orgs}/collections", params={"orderBy": "rank", "nested": "false"})["items"],
        *world.get("admin", f"{orgs}/spaces", params={"orderBy": "rank"})["items"],
    ]
    top = [item for item in both if "parent" not in item]
    merged = [item["title"] for item in sorted(top, key=lambda item: item["rank"])]
    assert merged.index("Ordered") == merged.index("First") + 1
    assert titles(world, f"{orgs}/collections")[-1] == "Ordered"
    everything = titles(world, f"{orgs}/spaces")
    assert len(everything) == len(set(everything)) == 8
