"""Tests of the life cycle of a change request: numbers, lists, statuses, reviews, and merge rules."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from octavo.content.changes import merging
from octavo.content.changes.authorization import change_access
from octavo.content.changes.saving import create
from octavo.errors import Forbidden
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can

from .working import insert, update


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]["message"], answer.text


def test_change_requests_are_numbered_counted_and_filtered(space):
    world = space.world
    one, two = space.create("editor", subject="One"), space.create("creator", subject="Two")
    assert [space.change(change)["number"] for change in (one, two)] == [1, 2]
    assert space.change(2)["id"] == two and space.change("1")["id"] == one
    assert world.call("reader", "GET", f"{space.path}/change-requests/3").status_code == 404
    path = f"{space.path}/change-requests"

    def ids(**query):
        return [item["id"] for item in world.get("reader", path, params=query)["items"]]

    assert ids() == [] and ids(status="draft") == [two, one]
    world.post("editor", f"{path}/{two}/requested-reviewers", {"users": [world.users["reviewer"]]})
    assert ids() == [two]
    space.edit(two, insert("# X\n"))
    assert ids(creator=world.users["creator"]) == [two] and ids(creator=world.users["editor"]) == []
    assert ids(contributor=world.users["editor"]) == [two]
    assert ids(contributor=world.users["creator"]) == []
    assert ids(requestedReviewer=world.users["reviewer"]) == [two]
    assert ids(requestedReviewer=world.users["admin"]) == []
    assert ids(conversationsIssuesCluster="x") == []
    shown = world.get("reader", space.path)
    assert (shown["changeRequests"], shown["changeRequestsOpen"], shown["changeRequestsDraft"]) == (2, 1, 1)
    space.merge(two)
    world.call("editor", "PATCH", f"{path}/{one}", json={"status": "archived"})
    shown = world.get("reader", space.path)
    assert (shown["changeRequests"], shown["changeRequestsOpen"], shown["changeRequestsDraft"]) == (2, 0, 0)
    assert ids(status="merged") == [two] and ids(status="archived") == [one]
    organization = world.home.path("/orgs/{organizationId}/change-requests")
    found = world.get("reader", organization, params={"status": "merged"})
    assert two in [item["id"] for item in found["items"]]
    first = world.get("reader", path, params={"status": "archived", "limit": 1})
    assert first["count"] == 1 and "next" not in first
    contributors = world.get("reader", f"{path}/{two}/contributors")["items"]
    assert [(c["user"]["id"], c["count"], c["actionType"]) for c in contributors] == [
        (world.users["editor"], 1, "edit")
    ]


def test_merged_change_requests_name_the_person_who_merged_them(space):
    change = space.create("editor")
    space.edit(change, insert("# X\n"))
    assert "mergedAt" not in space.change(change) and "mergedBy" not in space.change(change)
    space.merge(change, who="reviewer")
    shown = space.change(change)
    assert shown["mergedBy"]["id"] == space.world.users["reviewer"]
    assert shown["createdAt"] < shown["mergedAt"] <= shown["updatedAt"]


def test_links_of_change_requests_are_listed(space):
    world, change = space.world, space.create("editor")
    path = f"{space.path}/change-requests/{change}"

    def give(*links, status=200, **headers):
        answer = world.call("editor", "PATCH", path, json={"links": links}, headers=headers)
        assert answer.status_code == status, answer.text
        return answer

    first = {"ref": {"kind": "url", "url": "https://tickets.example.com/7"}, "title": "Ticket 7"}
    second = {"ref": {"kind": "url", "url": "https://tickets.example.com/8"}}
    kept = give(first, second).json()["links"]
    assert [{name: one[name] for name in one if name != "id"} for one in kept] == [first, second]
    renamed = give({**kept[1], "title": "Ticket 8"}, first).json()["links"]
    assert renamed[0] == {**kept[1], "title": "Ticket 8"} and renamed[1]["id"] != kept[0]["id"]
    refused(give(kept[0], status=400), 400, "links[0].id: ")
    refused(give(renamed[0], renamed[0], status=400), 400, "links[1].id: ")
    refused(give({"ref": {"kind": "url", "url": "javascript:alert(1)"}}, status=400), 400, "url")
    refused(give(*[second] * 11, status=400), 400, "links")
    minimal = give(status=204, prefer="return=minimal")
    assert minimal.content == b"" and minimal.headers["preference-applied"] == "return=minimal"
    assert "links" not in space.change(change)


def test_lists_of_the_organization_are_filtered_by_place_status_and_update(space):
    world = space.world
    one, two = space.create("editor"), space.create("editor")
    organization = world.home.path("/orgs/{organizationId}/change-requests")

    def ids(**query):
        found = world.get("reader", organization, params={"space": space.id, **query})
        return [item["id"] for item in found["items"]]

    assert ids() == [] and ids(status="draft") == [two, one]
    world.call("editor", "PATCH", f"{space.path}/change-requests/{one}", json={"status": "archived"})
    assert ids(status=["draft", "archived"]) == [two, one]
    both = {"status": ["draft", "archived"], "orderBy": "updatedAt"}
    assert ids(**both) == [one, two]
    first = world.get("reader", organization, params={"space": space.id, **both, "limit": 1})
    assert ids(**both, page=first["next"]["page"]) == [two]
    site = world.home["siteId"]
    assert ids(**both, site=site) == []
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}/site-spaces")
    world.post("admin", path, {"spaceId": space.id})
    assert ids(**both, site=site) == [one, two]


def review(space, who, change, status="approved"):
    path = f"{space.path}/change-requests/{change}/reviews"
    return space.world.call(who, "POST", path, json={"status": status})


def test_authors_cannot_approve_their_own_changes(space):
    """An empty change request of another person is edited, approved, and merged by one person."""
    world = space.world
    change = space.create("editor")
    path = f"{space.path}/change-requests/{change}"
    space.set_rules({"rule": "require_at_least_one_review"})
    made = space.try_edit(change, update(space.pages["A"], title="Mine"), who="reviewer")
    assert made.is_success, made.text
    for status in ("approved", "changes-requested"):
        refused(review(space, "reviewer", change, status), 403, "edited")
    refused(space.try_merge(change), 412, "require_at_least_one_review")
    asked = {"users": [world.users["reviewer"]]}
    refused(world.call("editor", "POST", f"{path}/requested-reviewers", json=asked), 400, "users: ", "edited")
    # Once someone else approved it, only later edits exclude a reviewer.
    assert review(space, "admin", change).status_code == 201
    space.edit(change, update(space.pages["B"], title="Others"))
    assert review(space, "reviewer", change).status_code == 201
    made = space.try_edit(change, update(space.pages["A"], title="Mine again"), who="reviewer")
    refused(review(space, "reviewer", change), 403, "edited")
    # A withdrawn approval has no effect.
    assert review(space, "admin", change).status_code == 201
    assert review(space, "admin", change, "changes-requested").status_code == 201
    refused(review(space, "reviewer", change), 403, "edited")


@pytest.mark.parametrize(
    ("suggests", "accepts", "status"), [("commenter", "reviewer", 403), ("reviewer", "editor", 201)]
)
def test_accepting_a_suggestion_is_an_edit_and_suggesting_is_not(space, suggests, accepts, status):
    """The person who accepts a suggestion has seen it, so its author may still approve."""
    world = space.world
    change = space.create("editor")
    path = f"{space.path}/change-requests/{change}"
    space.edit(change, update(space.pages["A"], title="Mine"))
    block = space.page("A", change, "document")["document"]["nodes"][0]["key"]
    said = {"body": "", "page": space.pages["A"], "node": block, "suggestion": {"markdown": "Shorter."}}
    made = world.post(suggests, f"{path}/comments", said)
    answer = world.call(
        accepts, "PUT", f"{path}/comments/{made['id']}/suggestion", json={"status": "accepted"}
    )
    assert answer.is_success, answer.text
    assert review(space, "reviewer", change).status_code == status


@pytest.mark.sqlite_first
def test_numbers_are_never_reused(space):
    with space.world.context.db.read() as tx:
        access = space_access(tx, space.world.actor("editor"), Can.EDIT, space.id)

    def one(_):
        with space.world.context.db.write() as tx:
            return create(tx, access, "").number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(24))) == list(range(1, 25))


def test_fields_refuse_invalid_values(space):
    change = space.create()
    path = f"{space.path}/change-requests/{change}"
    paragraph = {
        "object": "block",
        "type": "paragraph",
        "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "Why", "marks": []}]}],
    }
    document = {"object": "document", "data": {"schemaVersion": 1}, "nodes": [paragraph]}
    body = {"subject": "S", "description": document}
    shown = space.world.call("editor", "PATCH", path, json=body).json()
    assert (
        shown["subject"] == "S" and shown["description"]["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "Why"
    )
    for wrong in ({"status": "merged"}, {"subject": "x" * 101}, {"description": {"nodes": [{"type": "no"}]}}):
        refused(space.world.call("editor", "PATCH", path, json=wrong), 400)
    answer = space.world.call(
        "editor", "POST", f"{space.path}/change-requests", json={"template": {"id": "no"}}
    )
    refused(answer, 404, "template")
    assert (
        space.world.call("editor", "POST", f"{space.path}/change-requests", json={"x": 1}).status_code == 201
    )


def test_merged_and_archived_change_requests_cannot_be_edited(space):
    call = space.world.call
    for status in ("merged", "archived"):
        change = space.create()
        space.edit(change, insert("# X\n"))
        path = f"{space.path}/change-requests/{change}"
        if status == "merged":
            space.merge(change)
        else:
            call("editor", "PATCH", path, json={"status": "archived"})
        before = space.world.digest()
        refused(space.try_edit(change, insert("# Y\n")), 409, status)
        refused(space.try_merge(change), 409, status)
        refused(call("editor", "POST", f"{path}/update"), 409, status)
        refused(call("reviewer", "POST", f"{path}/reviews", json={"status": "approved"}), 409, status)
        users = {"users": [space.world.users["reviewer"]]}
        refused(call("editor", "POST", f"{path}/requested-reviewers", json=users), 409, status)
        refused(call("editor", "PATCH", path, json={"subject": "x"}), 409, status)
        assert space.world.digest() == before
        opened = call("editor", "PATCH", path, json={"status": "open"})
        assert opened.status_code == (409 if status == "merged" else 200)
    shown = space.change(1)
    assert shown["status"] == "merged" and shown["revisionMerged"] and not shown["outdated"]


def test_reviews_approve_or_request_changes(space):
    world, call = space.world, space.world.call
    change = space.create("reviewer")
    path = f"{space.path}/change-requests/{change}"
    refused(call("reviewer", "POST", f"{path}/reviews", json={"status": "approved"}), 403, "creator")
    refused(call("admin", "POST", f"{path}/reviews", json={"status": "fine"}), 400, "status")
    reviewers = f"{path}/requested-reviewers"
    for who, status in (
        ("nobody-known", 404),
        (world.users["stranger"], 404),
        (world.users["reviewer"], 400),
        (world.users["reader"], 400),
    ):
        refused(call("editor", "POST", reviewers, json={"users": [who]}), status, "users")
    body = {"users": [world.users["admin"]], "subject": "Please"}
    asked = world.post("editor", reviewers, body)["users"]
    assert (
        asked[0]["user"]["id"] == world.users["admin"]
        and asked[0]["requestedBy"]["id"] == world.users["editor"]
    )
    assert space.change(change)["status"] == "open" and space.change(change)["subject"] == "Please"
    answer = call("admin", "POST", f"{path}/reviews", json={"status": "changes-requested"})
    assert answer.status_code == 201
    review = answer.json()
    assert review["requestedBy"]["id"] == world.users["editor"] and not review["outdated"]
    assert call("reader", "GET", answer.headers["location"]).json() == review
    space.edit_main(update(space.pages["A"], title="Other"))
    space.update(change)
    assert not world.get("reader", f"{path}/reviews")["items"][0]["outdated"], "an update edits nothing"
    space.edit(change, insert("# X\n"))
    assert world.get("reader", f"{path}/reviews")["items"][0]["outdated"]
    assert world.get("reader", f"{path}/reviews", params={"outdated": "false"})["count"] == 0
    removed = [call("editor", "DELETE", f"{reviewers}/{world.users['admin']}").status_code for _ in range(2)]
    assert removed == [205, 204]
    assert [json.loads(e)["status"] for e in space.events("change_request_review_submitted")] == [
        "changes-requested"
    ]


@pytest.mark.sqlite_first
def test_merge_rules_report_missing_conditions(space):
    world, call = space.world, space.world.call
    change = space.create("creator")
    space.edit(change, insert("# X\n"))
    path = f"{space.path}/change-requests/{change}"

    def rule(*rules, passes=False, says=""):
        space.set_rules(*rules)
        before = world.digest()
        answer = space.try_merge(change)
        if not passes:
            refused(answer, 412, says, rules[0]["rule"])
            assert world.digest() == before
        return answer

    rule({"rule": "require_change_request_subject"}, says="no subject")
    rule({"rule": "require_change_request_description"}, says="no description")
    rule({"rule": "require_at_least_one_review"}, says="the change request hasn't been reviewed")
    rule({"rule": "require_agent_review"}, says="agent")
    rule({"rule": "require_at_least_one_approved_review"}, says="the change request hasn't been approved")
    rule({"rule": "require_author_to_merge"}, says="only the author")
    alone = {
        "rule": "custom",
        "expression": "actor.id == changeRequest.createdBy.id",
        "message": "Ask the author.",
    }
    rule(alone, says="Ask the author.")
    rule({"rule": "no_such_rule"}, says="doesn't support")
    rule({"rule": "require_specific_reviewers", "users": [world.users["admin"]]}, says="Admin")
    users = [world.users["admin"], world.users["reviewer"]]
    rule({"rule": "require_one_of_specific_reviewers", "users": users}, says="Admin, Reviewer")
    rule({"rule": "custom", "expression": "changeRequest.subject == 'Ready'"}, says="isn't true")
    rule(
        {"rule": "custom", "expression": "reviews.filter(r => r.status === 'approved').length > 1"},
        says="isn't true",
    )
    rule({"rule": "custom", "expression": "actor.id == changeRequest.createdBy.id"}, says="isn't true")
    rule({"rule": "custom", "expression": "nonsense("}, says="can't be evaluated")
    for vague in ("changeRequest.subject", "reviews.length", "'yes'", "1", "null"):
        rule({"rule": "custom", "expression": vague}, says="must be true or false")
    call("admin", "POST", f"{path}/reviews", json={"status": "changes-requested"})
    rule({"rule": "require_at_least_one_approved_review"}, says="the change request hasn't been approved")
    rule({"rule": "require_all_reviews_approved"}, says="Admin")
    rule({"rule": "require_one_of_specific_reviewers", "users": users}, {"rule": "no"}, passes=True)
    space.edit_main(update(space.pages["A"], title="Other"))
    rule({"rule": "require_up_to_date_change_request"}, says="main has changed")
    # The first rule that does not pass, in order.
    space.set_rules({"rule": "require_change_request_subject"}, {"rule": "require_all_reviews_approved"})
    refused(space.try_merge(change), 412, "require_change_request_subject")
    call("editor", "PATCH", path, json={"subject": "Ready"})
    refused(space.try_merge(change), 412, "require_all_reviews_approved")
    bypass = {"rule": "allow_bypass", "users": [world.users["admin"]]}
    space.set_rules({"rule": "require_all_reviews_approved"}, bypass)
    refused(space.try_merge(change), 412)
    assert space.merge(change, "admin")["result"] == "merge"


def test_rules_are_inherited_from_the_organization(space):
    change = space.create()
    space.edit(change, insert("# X\n"))
    settings = {"merge_rules": {"type": "rules", "rules": [{"rule": "require_change_request_subject"}]}}
    with space.world.context.db.write() as tx:
        tx.run(
            "UPDATE organizations SET settings = :settings WHERE id = :id",
            id=space.world.home["organizationId"],
            settings=json.dumps(settings),
        )
    refused(space.try_merge(change), 412, "no subject")
    with space.world.context.db.write() as tx:
        tx.run('UPDATE spaces SET merge_rules = \'{"type": "none"}\' WHERE id = :id', id=space.id)
    assert space.merge(change)["result"] == "merge"


def test_mergeability_lists_failing_merge_rules(space):
    world = space.world
    change = space.create("creator")
    space.edit(change, insert("# X\n"))
    path = f"{space.path}/change-requests/{change}"
    admin, reviewer = world.users["admin"], world.users["reviewer"]
    space.set_rules(
        {"rule": "require_specific_reviewers", "users": [admin, reviewer]},
        {"rule": "require_all_reviews_approved"},
        {"rule": "custom", "expression": "changeRequest.subject == 'Ready'"},
        {"rule": "no_such_rule"},
        {"rule": "allow_bypass", "users": [admin]},
    )
    world.post("reviewer", f"{path}/reviews", {"status": "changes-requested"})

    def told(who):
        return world.get(who, f"{path}/merge")

    def failing(answer):
        return {one["check"]: one["reason"] for one in answer["checks"] if not one["passes"]}

    found = told("reviewer")
    assert not found["merges"] and not found["bypasses"]
    assert set(failing(found)) == {
        "require_specific_reviewers",
        "require_all_reviews_approved",
        "custom",
        "unknown",
    }
    rule = next(one for one in found["checks"] if one["check"] == "require_specific_reviewers")
    assert [one["id"] for one in rule["users"]] == [admin, reviewer]
    assert [one["id"] for one in rule["missing"]] == [admin]
    against = next(one for one in found["checks"] if one["check"] == "require_all_reviews_approved")
    assert [one["id"] for one in against["missing"]] == [reviewer]
    # The check reports the same reason as the merge.
    first = failing(found)["require_specific_reviewers"]
    refused(space.try_merge(change), 412, first)
    assert "permission" in failing(told("editor")) and not told("editor")["merges"]
    assert told("admin")["merges"] and told("admin")["bypasses"]
    space.merge(change, "admin")
    found = told("admin")
    assert not found["merges"] and "status" in failing(found)


def test_rules_can_be_tested_without_saving_them(space):
    world = space.world
    org = world.home.path("/orgs/{organizationId}/merge-rules/try")
    change = space.create("creator", subject="Ready")
    space.edit(change, insert("# X\n"))
    ready = [{"rule": "custom", "expression": "changeRequest.subject == 'Ready'"}]
    before = world.digest()

    def tried(path, status=200, **body):
        answer = world.call("admin", "POST", path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    here = f"{space.path}/merge-rules/try"
    assert tried(here, changeRequest=change, rules=ready)["merges"]
    assert not tried(here, changeRequest=change, rules=ready, mergedBy=world.users["editor"])["merges"]
    assert tried(org, changeRequest="1", space=space.id, rules=ready)["merges"]
    assert not tried(org, described={"subject": "Draft"}, rules=ready)["merges"]
    approved = [{"status": "approved"}] * 2
    two = [{"rule": "custom", "expression": "reviews.filter(r => r.status === 'approved').length > 1"}]
    assert tried(here, described={"reviews": approved}, rules=two)["merges"]
    assert not tried(here, described={"reviews": approved[:1]}, rules=two)["merges"]
    late = [{"status": "approved", "outdated": True}]
    once = [{"rule": "require_at_least_one_review"}]
    assert not tried(here, described={"reviews": late}, rules=once)["merges"]
    mine = [{"rule": "custom", "expression": "actor.id != changeRequest.createdBy.id"}]
    by = {"createdBy": world.users["editor"]}
    assert tried(here, described=by, rules=mine)["merges"]
    assert not tried(here, described=by, rules=mine, mergedBy=world.users["editor"])["merges"]
    assert world.digest() == before
    # The saved rules, if none are given.
    space.set_rules({"rule": "require_change_request_description"})
    assert not tried(here, described={})["merges"]
    assert tried(here, described={"description": "Why."})["merges"]
    foreign = world.away["userId"]
    for body, named in (
        ({"described": {}, "changeRequest": change}, "changeRequest"),
        ({}, "changeRequest"),
        ({"described": {}, "space": space.id}, "space"),
        ({"changeRequest": change}, "space"),
    ):
        assert named in tried(org, 400, **body)["error"]["message"]
    tried(org, 404, changeRequest=change, space=world.away["spaceId"])
    tried(here, 404, described={}, mergedBy=foreign)
    tried(here, 404, described={"reviews": [{"status": "approved", "reviewer": foreign}]})
    tried(here, 404, described={}, rules=[{"rule": "allow_bypass", "users": [foreign]}])


@pytest.mark.sqlite_first
def test_losing_permission_stops_a_waiting_merge(space, monkeypatch):
    """Permission is checked again when the merge is written, because up to ten seconds of retries can pass
    after the request."""
    world = space.world
    change = space.create("creator")
    space.edit(change, insert("# X\n"))
    with world.context.db.read() as tx:
        access = change_access(tx, space_access(tx, world.actor("reviewer"), Can.MERGE, space.id), change)
    computed = merging.sides_of
    lower = {"role": "edit", "users": [world.users["reviewer"]]}

    def meanwhile(tx, row):
        monkeypatch.setattr(merging, "sides_of", computed)
        found = computed(tx, row)
        world.post("admin", f"{space.path}/permissions", lower)
        return found

    monkeypatch.setattr(merging, "sides_of", meanwhile)
    with pytest.raises(Forbidden):
        merging.merge(world.context, access)
    assert space.change(change)["status"] == "draft" and "X" not in str(space.tree())
