"""Tests of the bodies of reviews, which are comments on the change request."""

import pytest

from .talking import Talk, refused, words


def submit(space, change, comment, who="reviewer"):
    path = f"{space.path}/change-requests/{change}/reviews"
    return space.world.call(who, "POST", path, json={"status": "changes-requested", "comment": comment})


@pytest.mark.sqlite_first
def test_a_review_can_have_a_comment(space, main):
    change, other = space.create(), space.create()
    talk = Talk(space, f"{space.path}/change-requests/{change}", change)
    plain = submit(space, change, {}).json()
    assert "comment" not in plain
    review = submit(space, change, {"markdown": "Not *yet*."}).json()
    comment = review["comment"]
    assert words(comment["body"]["document"]) == "Not yet." and comment["object"] == "comment"
    assert comment["target"]["review"] == review["id"] and comment["target"]["changeRequest"] == change
    assert comment["postedBy"]["id"] == space.world.users["reviewer"]
    assert talk.open_ones() == 1 and talk.list()["items"] == [talk.get(comment["id"])]
    assert talk.events() == [
        ("comment_created", {"change_request": change, "review": review["id"], "comment": comment["id"]})
    ]
    talk.reply(comment["id"], who="editor")
    talk.update(comment["id"], "editor", resolved=True)
    path = f"/change-requests/{change}/reviews"
    listed = space.world.get("commenter", space.path + path, params={"format": "markdown"})["items"]
    shown = next(item for item in listed if item["id"] == review["id"])["comment"]
    assert (
        shown["body"] == {"markdown": "Not *yet*."}
        and shown["status"] == "resolved"
        and shown["replies"] == 1
    )
    assert shown["permissions"] == {"view": True, "edit": False, "reply": True, "delete": False}
    # A review and its comment belong to one change request.
    elsewhere = f"/change-requests/{other}/reviews/{review['id']}"
    assert space.world.call("reviewer", "GET", space.path + elsewhere).status_code == 404
    away = space.world.away.path(f"/spaces/{{spaceId}}{path}/{review['id']}")
    assert space.world.call("stranger", "GET", away).status_code == 404
    beside = Talk(space, f"{space.path}/change-requests/{other}", other)
    assert beside.call("reviewer", "GET", f"/{comment['id']}").status_code == 404
    assert talk.delete(comment["id"], "reviewer") == 205
    one = space.world.get("reader", f"{space.path}{path}/{review['id']}")
    assert "comment" not in one


@pytest.mark.sqlite_first
def test_invalid_reviews_are_refused(space):
    change = space.create()
    before = space.world.digest()
    for comment in ({"markdown": ""}, {"markdown": 7}, {"no": "such"}, {"document": {"nodes": [7]}}):
        refused(submit(space, change, comment), 400)
    mention = f'[x](/users/{space.world.users["stranger"]} "mention")'
    refused(submit(space, change, {"markdown": mention}), 404, "body")
    assert space.world.digest() == before
