"""Tests of viewed marks in a change request, and of changes since they were set."""

from __future__ import annotations

import pytest

from octavo.organization.access.members import upsert_member

from .working import update


def marks(space, change, who="reviewer", **query):
    path = f"{space.path}/change-requests/{change}/seen"
    return space.world.call(who, "GET", path, params=query).json()


def see(space, change, id, revision=None, who="reviewer"):
    revision = revision or space.change(change)["revision"]
    path = f"{space.path}/change-requests/{change}/seen/{id}"
    return space.world.call(who, "PUT", path, json={"revision": revision})


def test_a_viewed_mark_is_removed_when_the_content_changes(space):
    change, a, b = space.create(), space.pages["A"], space.pages["B"]
    space.write(change, "A", "# A\n\nNew.\n")
    space.write(change, "B", "# B\n\nNew.\n")
    space.edit(change, {"operation": "set_variables", "variables": {"v": "1"}})
    first = space.change(change)["revision"]
    for id in (a, b, "variables"):
        assert see(space, change, id).json()["id"] == id
    assert [one["id"] for one in marks(space, change)["items"]] == sorted([a, b, "variables"])
    assert marks(space, change, "editor")["items"] == [], "everybody has their own"
    page = marks(space, change, limit=1)
    rest = marks(space, change, page=page["next"]["page"])
    assert (page["count"], len(page["items"]), len(rest["items"])) == (3, 1, 2)
    space.write(change, "A", "# A\n\nNewer.\n")
    assert [one["id"] for one in marks(space, change)["items"]] == sorted([b, "variables"])
    assert see(space, change, a, first).is_success and a not in str(marks(space, change)), (
        "it was seen as it was"
    )
    space.edit(change, {"operation": "set_variables", "variables": {"v": "2"}})
    assert [one["id"] for one in marks(space, change)["items"]] == [b]
    # Changes of main to such a page also make it new.
    space.edit_main(update(b, description="Of main"))
    space.update(change)
    assert marks(space, change)["items"] == []
    assert see(space, change, b).is_success
    path = f"{space.path}/change-requests/{change}/seen/{b}"
    assert [space.world.call("reviewer", "DELETE", path).status_code for _ in range(2)] == [205, 204]


@pytest.mark.sqlite_first
def test_invalid_viewed_marks_are_refused(space):
    change = space.create()
    space.write(change, "A", "# A\n\nNew.\n")
    other = space.create()
    assert see(space, change, space.pages["B"]).status_code == 404
    assert see(space, change, space.pages["A"], "nowhere").status_code == 404
    elsewhere = see(space, change, space.pages["A"], space.change(other)["revision"])
    assert elsewhere.status_code == 400 and "revision" in elsewhere.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_changes_since_a_revision_are_listed(space):
    change = space.create()
    space.write(change, "A", "# A\n\nNew.\n")
    then = space.change(change)["revision"]
    space.write(change, "B", "# B\n\nNew.\n")
    path = f"{space.path}/change-requests/{change}/changes"
    all_of_it = space.world.get("reader", path)["changes"]
    since = space.world.get("reader", path, params={"since": then})["changes"]
    assert len(all_of_it) == 2 and [one["page"]["id"] for one in since] == [space.pages["B"]]
    words = space.world.get("reader", f"{path}/page/{space.pages['A']}", params={"since": then})
    assert words["changes"] == []
    for wrong in ("nowhere", space.world.get("reader", space.path)["revision"]):
        assert space.world.call("reader", "GET", path, params={"since": wrong}).status_code == 400


@pytest.mark.sqlite_first
def test_viewed_marks_end_with_a_membership(space):
    world, change = space.world, space.create()
    space.write(change, "A", "# A\n\nNew.\n")
    assert see(space, change, space.pages["A"]).is_success
    member = world.home.path("/orgs/{organizationId}/members/{user}", user=world.users["reviewer"])
    assert world.call("admin", "DELETE", member).is_success
    with world.context.db.write() as tx:
        upsert_member(tx, world.home["organizationId"], world.users["reviewer"], "review", accepted=True)
    assert marks(space, change).get("items", []) == []
