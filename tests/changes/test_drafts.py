"""Tests of finding the change request to continue, suggested reviewers, and empty drafts that are discarded."""

from octavo.content.changes.discarding import DAYS, discard_empty_drafts

from .test_life import refused, review
from .working import insert, update


def of_page(space, title, **query):
    path = f"{space.path}/content/page/{space.pages[title]}/change-requests"
    found = space.world.get("reader", path, params=query)
    return [(one["number"], one["pages"]) for one in found["items"]]


def test_a_page_lists_open_change_requests_that_edit_it(space):
    one, two, three = (space.create("editor", subject=str(at)) for at in range(3))
    space.edit(one, update(space.pages["A"], title="A1"), update(space.pages["B"], title="B1"))
    space.edit(two, update(space.pages["A"], title="A2"))
    assert of_page(space, "A") == [(2, 1), (1, 2)] and of_page(space, "B") == [(1, 2)]
    assert of_page(space, "C") == [] and of_page(space, "A", limit=1) == [(2, 1)]
    space.world.call("editor", "PATCH", f"{space.path}/change-requests/{two}", json={"status": "archived"})
    assert of_page(space, "A") == [(1, 2)]
    space.merge(one)
    assert of_page(space, "A") == []
    missing = f"{space.path}/content/page/none/change-requests"
    refused(space.world.call("reader", "GET", missing), 404, "none")
    assert space.change(three)["status"] == "draft"


def discard(space, change, who="editor"):
    return space.world.call(who, "POST", f"{space.path}/change-requests/{change}/discard")


def test_only_empty_drafts_are_discarded_and_their_numbers_are_not_reused(space):
    world = space.world
    empty, edited, described, said = (space.create("editor") for _ in range(4))
    space.edit(edited, insert("# X\n"))
    path = f"{space.path}/change-requests"
    words = {"object": "document", "nodes": [{"object": "block", "type": "paragraph", "nodes": []}]}
    assert world.call("editor", "PATCH", f"{path}/{described}", json={"description": words}).is_success
    world.post("editor", f"{path}/{said}/comments", {"body": {"markdown": "Hm."}})
    for kept in (edited, described, said):
        refused(discard(space, kept), 409, "isn't empty")
    refused(discard(space, empty, "reader"), 403)
    assert discard(space, empty).status_code == 204
    assert world.call("reader", "GET", f"{path}/{empty}").status_code == 404
    refused(discard(space, empty), 404)
    shown = world.get("reader", space.path)
    assert shown["changeRequestsDraft"] == 3
    last = space.create("editor")
    assert space.change(last)["number"] == 5
    assert discard(space, last).status_code == 204
    assert space.change(space.create("editor"))["number"] == 6


def test_drafts_that_are_empty_for_a_week_are_deleted(space):
    old, edited, fresh = (space.create("editor") for _ in range(3))
    space.edit(edited, insert("# X\n"))
    with space.world.context.db.write() as tx:
        tx.run(
            "UPDATE change_requests SET updated_at = updated_at - :age WHERE id IN :ids",
            age=(DAYS + 1) * 86_400_000,
            ids=[old, edited],
        )
    discard_empty_drafts(space.world.context)
    numbers = {
        one["number"]
        for one in space.world.get("reader", f"{space.path}/change-requests?status=draft")["items"]
    }
    assert numbers == {2, 3}, fresh


def suggested(space, change):
    found = space.world.get("editor", f"{space.path}/change-requests/{change}/suggested-reviewers")
    return [(one["user"]["id"], one["reason"], one["count"]) for one in found["items"]]


def test_authors_of_the_edited_pages_are_suggested_as_reviewers(space):
    users = space.world.users
    for who in ("creator", "editor"):
        change = space.create(who)
        assert space.try_edit(change, update(space.pages["A"], title=who), who=who).is_success
        review(space, "reviewer", change)
        space.merge(change)
    mine = space.create("editor")
    space.edit(mine, update(space.pages["A"], title="Mine"))
    # Pages of the space are made by its editor, who can't review: neither their own change nor at all.
    found = suggested(space, mine)
    assert (users["creator"], "edited", 1) in found
    assert (users["reviewer"], "reviewed", 2) in found
    assert users["editor"] not in {user for user, _, _ in found}
    space.set_rules({"rule": "require_specific_reviewers", "users": [users["admin"]]})
    assert suggested(space, mine)[0] == (users["admin"], "required", 0)


def test_a_team_is_requested_as_its_members_who_can_review(space):
    world, users = space.world, space.world.users
    teams = world.home.path("/orgs/{organizationId}/teams")

    def team(*names):
        body = {"title": f"Team {'-'.join(names)}", "members": [users[name] for name in names]}
        made = world.call("admin", "PUT", teams, json=body)
        assert made.is_success, made.text
        return made.json()["id"]

    able, unable = team("reviewer", "reader", "editor"), team("reader")
    change = space.create("editor")
    path = f"{space.path}/change-requests/{change}/requested-reviewers"
    refused(world.call("editor", "POST", path, json={"teams": [unable]}), 400, "teams: ", unable)
    refused(world.call("editor", "POST", path, json={"teams": ["none"]}), 404, "teams")
    refused(world.call("editor", "POST", path, json={}), 400, "users: ")
    asked = world.post("editor", path, {"teams": [able]})["users"]
    assert [one["user"]["id"] for one in asked] == [users["reviewer"]]


def test_text_of_a_change_request_is_only_found_in_it(space):
    change = space.create("editor")
    other = space.create("creator")
    space.write(change, "A", "# Turbines\n\nA flywheel stores energy.\n")
    space.edit(change, insert("# Gearbox\n\nAnother flywheel.\n"))

    def found(where, **query):
        path = f"{space.path}{where}/search"
        return [page["title"] for page in space.world.get("reader", path, params=query)["items"]]

    in_change = f"/change-requests/{change}"
    assert sorted(found(in_change, query="flywheel")) == ["Gearbox", "Turbines"]
    assert len(found(in_change, query="flywheel", limit=1)) == 1
    assert found("", query="flywheel") == [] == found(f"/change-requests/{other}", query="flywheel")
    # What the change request does not edit is found in main.
    assert found(in_change, query="Second paragraph of B") == []
