"""Tests of comments and replies in both places: bodies, permissions, counts, lists, reactions, and events."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from octavo.content.comments import posting
from octavo.content.comments.authorization import Discussion
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can

from .talking import refused, words

NODES = {
    "object": "document",
    "nodes": [
        {
            "object": "block",
            "type": "paragraph",
            "nodes": [{"object": "text", "leaves": [{"object": "leaf", "text": "As *nodes*.", "marks": []}]}],
        }
    ],
}


@pytest.mark.sqlite_first
def test_bodies_are_accepted_and_returned_as_markdown_and_nodes(talk):
    text = "Is *this* so?\n\n1. One\n2. Two"
    made = talk.post(text)
    assert words(made["body"]["document"]) == "Is this so?OneTwo" and set(made["body"]) == {"document"}
    assert talk.get(made["id"], format="markdown")["body"] == {"markdown": text}
    assert (
        talk.get(made["id"], format="document") == talk.get(made["id"]) == {**made, "permissions": reader()}
    )
    assert (made["status"], made["replies"], made["repliers"], made["reactions"]) == ("open", 0, [], [])
    assert "editedAt" not in made and "resolvedAt" not in made
    assert made["postedBy"]["id"] == talk.world.users["commenter"]
    assert talk.world.get("reader", made["urls"]["location"])["id"] == made["id"]
    noded = talk.post({"document": NODES})
    assert words(noded["body"]["document"]) == "As *nodes*."
    answer = talk.call(
        "commenter", "PUT", f"/{noded['id']}?format=markdown", json={"body": {"markdown": "New."}}
    )
    assert answer.json()["body"] == {"markdown": "New."} and answer.json()["editedAt"] >= made["postedAt"]


def reader():
    return {"view": True, "edit": False, "reply": False, "delete": False}


@pytest.mark.sqlite_first
def test_permissions_on_comments_by_role(talk):
    mine = talk.post(who="commenter")
    assert mine["permissions"] == {"view": True, "edit": True, "reply": True, "delete": True}
    theirs = talk.post(who="admin")
    assert talk.get(theirs["id"], "commenter")["permissions"] == {
        "view": True,
        "edit": False,
        "reply": True,
        "delete": False,
    }
    assert talk.get(mine["id"], "editor")["permissions"] == {
        "view": True,
        "edit": False,
        "reply": True,
        "delete": True,
    }
    before = talk.world.digest()
    refused(talk.try_update(mine["id"], "admin", body={"markdown": "No."}, resolved=True), 403, "body")
    refused(talk.try_update(theirs["id"], "commenter", body={"markdown": "No."}), 403)
    assert talk.delete(theirs["id"], "commenter") == 403
    refused(talk.try_post(who="reader"), 403)
    refused(talk.try_post(who="guest"), 404)
    refused(talk.try_post(who="stranger"), 404)
    assert talk.world.digest() == before
    assert talk.delete(mine["id"], "editor") == 205 and talk.delete(mine["id"], "editor") == 204
    assert talk.call("reader", "GET", f"/{mine['id']}").status_code == 404


def test_threads_have_replies(talk):
    comment = talk.post()["id"]
    first, second = talk.reply(comment, "One", "commenter"), talk.reply(comment, "Two", "editor")
    third = talk.reply(comment, "Three", "commenter")
    assert first["object"] == "comment-reply" and "status" not in first
    shown = talk.get(comment)
    assert shown["replies"] == 3
    users = talk.world.users
    repliers = {r["user"]["id"]: (r["count"], r["updatedAt"]) for r in shown["repliers"]}
    assert repliers == {
        users["commenter"]: (2, third["postedAt"]),
        users["editor"]: (1, second["postedAt"]),
    }
    listed = talk.world.get("reader", f"{talk.path}/{comment}/replies", params={"format": "markdown"})
    assert [r["body"]["markdown"] for r in listed["items"]] == ["One", "Two", "Three"]
    path = f"/{comment}/replies/{second['id']}"
    assert talk.call("reader", "GET", path).json()["id"] == second["id"]
    refused(talk.call("commenter", "PUT", path, json={"body": {"markdown": "No"}}), 403)
    assert talk.call("commenter", "DELETE", path).status_code == 403
    changed = talk.call(
        "editor", "PUT", path, json={"body": {"markdown": "2"}, "addedReactions": ["🎉"]}
    ).json()
    assert words(changed["body"]["document"]) == "2" and changed["reactions"][0]["count"] == 1
    assert talk.call("editor", "DELETE", path).status_code == 205
    assert talk.call("editor", "DELETE", path).status_code == 204
    assert talk.get(comment)["replies"] == 2 and len(talk.get(comment)["repliers"]) == 1
    # A reply cannot be addressed as a comment, and cannot have replies.
    assert talk.call("reader", "GET", f"/{first['id']}").status_code == 404
    assert talk.call("commenter", "GET", f"/{first['id']}/replies").status_code == 404
    answer = talk.call("commenter", "POST", f"/{first['id']}/replies", json={"body": {"markdown": "x"}})
    assert answer.status_code == 404
    assert talk.delete(first["id"], "admin") == 204
    assert talk.delete(comment, "commenter") == 205
    with talk.world.context.db.read() as tx:
        for table in ("comments", "comment_reactions"):
            assert tx.value(f"SELECT count(*) FROM {table} {of_the_space(table)}", space=talk.space.id) == 0


def of_the_space(table):
    if table == "comments":
        return "WHERE space_id = :space"
    return "WHERE comment_id IN (SELECT id FROM comments WHERE space_id = :space)"


def test_threads_are_resolved_reopened_and_counted(talk):
    one, two = talk.post()["id"], talk.post()["id"]
    assert talk.open_ones() == 2
    resolved = talk.update(one, "reviewer", resolved=True)
    assert resolved["status"] == "resolved" and resolved["resolvedBy"]["id"] == talk.world.users["reviewer"]
    assert resolved["resolvedAt"] >= resolved["postedAt"] and "editedAt" not in resolved
    assert talk.open_ones() == 1
    events = len(talk.events())
    assert talk.update(one, "commenter", resolved=True) == {
        **resolved,
        "permissions": talk.get(one, "commenter")["permissions"],
    }
    assert len(talk.events()) == events and talk.open_ones() == 1, "nothing differed"
    assert [c["id"] for c in talk.list(status="resolved")["items"]] == [one]
    assert [c["id"] for c in talk.list(status="open")["items"]] == [two]
    reply = talk.reply(one)["id"]
    answer = talk.call("commenter", "PUT", f"/{one}/replies/{reply}", json={"resolved": False})
    assert answer.status_code == 200
    reopened = talk.get(one)
    assert reopened["status"] == "open" and "resolvedAt" not in reopened and "resolvedBy" not in reopened
    assert talk.open_ones() == 2
    talk.update(two, resolved=True)
    assert talk.delete(two) == 205 and talk.open_ones() == 1
    assert talk.delete(one) == 205 and talk.open_ones() == 0


def test_counts_are_exact_when_many_act_at_once(talk):
    comments = [talk.post()["id"] for _ in range(3)]
    context = talk.world.context

    def act(number):
        who = ("commenter", "editor", "admin")[number % 3]
        with context.db.read() as tx:
            space = space_access(tx, talk.world.actor(who), Can.COMMENT, talk.space.id)
        discussion = Discussion(space, talk.change)

        if number % 4 == 3:
            posting.delete(context, discussion, comments[2]) if who != "commenter" else None
        else:
            resolved = number % 2 == 0
            posting.update(
                context, discussion, comments[number % 2], None, resolved=resolved, added_reactions=["👍"]
            )

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(act, range(24)))
    assert talk.open_ones() == talk.list(status="open")["count"]
    assert talk.list()["count"] == 2
    for comment in comments[:2]:
        (reaction,) = talk.get(comment)["reactions"]
        assert reaction["count"] == len(reaction["users"]) <= 3


def test_lists_are_filtered_sorted_and_paginated(talk):
    page = talk.space.pages["A"]
    ids = [
        talk.post(who=who, **target)["id"]
        for who, target in (
            ("commenter", {}),
            ("editor", {"page": page}),
            ("admin", {}),
            ("commenter", {"page": page}),
            ("editor", {}),
        )
    ]
    users = talk.world.users

    def found(**query):
        listed = talk.list(**query)
        assert listed["count"] == len(listed["items"])
        return [item["id"] for item in listed["items"]]

    assert found() == ids[::-1] and found(order="asc") == ids
    assert found(targetPage=page) == [ids[3], ids[1]]
    assert found(targetPage="nothing") == []
    assert found(authors=[users["commenter"], users["admin"]]) == [ids[3], ids[2], ids[0]]
    assert found(authors=[users["editor"]], targetPage=page, order="asc") == [ids[1]]
    for order in ("asc", "desc"):
        seen, query = [], {"limit": 2, "order": order}
        while True:
            listed = talk.list(**query)
            seen += [item["id"] for item in listed["items"]]
            assert listed["count"] == 5
            if "next" not in listed:
                break
            query["page"] = listed["next"]["page"]
        assert seen == (ids if order == "asc" else ids[::-1])
    talk.reply(ids[0], who="reviewer")
    members, query = [], {"limit": 3}
    while True:
        listed = talk.world.get("reader", f"{talk.place}/commenters", params=query)
        assert listed["count"] == 4
        members += [(member["id"], member["role"]) for member in listed["items"]]
        if "next" not in listed:
            break
        query["page"] = listed["next"]["page"]
    wanted = {"commenter": "comment", "editor": "edit", "admin": "admin", "reviewer": "review"}
    assert sorted(members) == sorted((users[who], role) for who, role in wanted.items())


@pytest.mark.sqlite_first
def test_threads_of_main_and_change_requests_are_separate(space, main):
    from .talking import Talk

    change, other = space.create(), space.create()
    inside, beside = (
        Talk(space, f"{space.path}/change-requests/{change}"),
        Talk(space, f"{space.path}/change-requests/{other}"),
    )
    mine, theirs = main.post()["id"], inside.post()["id"]
    reply = inside.reply(theirs)["id"]
    assert [c["id"] for c in main.list()["items"]] == [mine]
    assert [c["id"] for c in inside.list()["items"]] == [theirs] and beside.list()["count"] == 0
    before = space.world.digest()
    for talk in (main, beside):
        assert talk.call("admin", "GET", f"/{theirs}").status_code == 404
        assert talk.try_update(theirs, "admin", resolved=True).status_code == 404
        assert talk.delete(theirs, "admin") == 204
        assert talk.call("admin", "GET", f"/{theirs}/replies").status_code == 404
        body = {"body": {"markdown": "x"}}
        assert talk.call("admin", "POST", f"/{theirs}/replies", json=body).status_code == 404
        for comment in (theirs, mine):
            path = f"/{comment}/replies/{reply}"
            assert talk.call("admin", "GET", path).status_code == 404
            assert talk.call("admin", "PUT", path, json=body).status_code == 404
            assert talk.call("admin", "DELETE", path).status_code == 204
    assert space.world.digest() == before
    assert space.change(change)["comments"] == 1 and main.open_ones() == 1
    contributors = space.world.get("reader", f"{space.path}/change-requests/{change}/contributors")["items"]
    assert {(c["user"]["id"], c["actionType"], c["count"]) for c in contributors} == {
        (space.world.users["commenter"], "comment", 2)
    }


def test_comments_have_reactions(talk):
    comment = talk.post()["id"]
    users = talk.world.users
    talk.update(comment, "commenter", addedReactions=["👍", "1f44d", "❤"])
    shown = talk.update(comment, "editor", addedReactions=["👍", "👨‍👩‍👧", "1f1e9-1f1ea"])
    found = {r["emoji"]: [u["user"]["id"] for u in r["users"]] for r in shown["reactions"]}
    assert found == {
        "👍": [users["commenter"], users["editor"]],
        "❤️": [users["commenter"]],
        "👨‍👩‍👧": [users["editor"]],
        "🇩🇪": [users["editor"]],
    }
    assert all(r["count"] == len(r["users"]) for r in shown["reactions"]) and "editedAt" not in shown
    # People can only remove their own reactions.
    shown = talk.update(comment, "editor", removedReactions=["❤️", "👍"], addedReactions=["🎉"])
    assert {r["emoji"]: r["count"] for r in shown["reactions"]} == {
        "👍": 1,
        "❤️": 1,
        "👨‍👩‍👧": 1,
        "🇩🇪": 1,
        "🎉": 1,
    }


NO_EMOJI = [
    "",
    "a",
    "ok",
    "1",
    "#",
    ":+1:",
    "👍👍",
    "👍 ",
    "<b>",
    "1f",
    "110000",
    "d800",
    "0041",
    "\u200d",
    "🇩",
    "🏽",
]


@pytest.mark.sqlite_first
def test_invalid_reactions_are_refused(talk):
    comment = talk.post()["id"]
    before = talk.world.digest()
    for wrong in NO_EMOJI:
        body = {"resolved": True, "addedReactions": ["👍", wrong]}
        refused(talk.try_update(comment, "commenter", **body), 400, "addedReactions")
        refused(talk.try_update(comment, "commenter", removedReactions=[wrong]), 400, "removedReactions")
    assert talk.world.digest() == before


@pytest.mark.sqlite_first
def test_the_number_of_reactions_is_limited(main):
    comment = main.post()["id"]
    many = [chr(0x1F600 + n) for n in range(70)]
    refused(main.try_update(comment, addedReactions=many), 400, "addedReactions")
    main.update(comment, addedReactions=many[:50])
    before = main.world.digest()
    refused(main.try_update(comment, "editor", addedReactions=many[50:51]), 400, "50")
    refused(
        main.try_update(comment, "editor", addedReactions=["👍"], removedReactions=["👍"]),
        400,
        "removedReactions",
    )
    assert main.world.digest() == before


@pytest.mark.sqlite_first
def test_invalid_bodies_are_refused(talk):
    comment = talk.post()["id"]
    before = talk.world.digest()
    for body in (
        {"no": "such"},
        {"markdown": ""},
        {"markdown": " \n"},
        {"markdown": "x" * 50_001},
        {"document": {"nodes": []}},
        {"document": {"nodes": [{"object": "block", "type": "no-such"}]}},
        {"document": {"nodes": [{"type": "unknown", "data": {"source": ""}, "nodes": []}]}},
        {"markdown": "x", "document": NODES},
        {"document": "x"},
        {"document": None},
    ):
        refused(talk.try_post(body), 400, "body")
        refused(talk.try_update(comment, body=body), 400, "body")
        answer = talk.call("commenter", "POST", f"/{comment}/replies", json={"body": body})
        refused(answer, 400, "body")
    deep = {"object": "text", "leaves": []}
    for _ in range(200):
        deep = {"object": "block", "type": "blockquote", "nodes": [deep]}
    refused(talk.try_post({"document": {"nodes": [deep]}}), 400, "body")
    assert talk.world.digest() == before


HOSTILE = """<script>alert(1)</script> <img src="x" onerror="alert(1)"> [x](javascript:alert(1))

<iframe src="javascript:alert(1)"></iframe>

<div onclick="alert(1)">

Inside.

</div>

{% openapi %}
</svg><svg onload=alert(1)>
"""


@pytest.mark.sqlite_first
def test_hostile_html_is_text(talk):
    made = talk.post(HOSTILE)
    text = json.dumps(made["body"]["document"])
    assert '"unknown"' not in text and "attributes" not in text
    assert '"url": "javascript' not in text and "<script>alert(1)</script>" in words(made["body"]["document"])
    assert talk.get(made["id"], format="markdown")["body"]["markdown"] == HOSTILE
    # Unsupported nodes are returned as text.
    again = talk.post({"document": made["body"]["document"]})
    assert words(again["body"]["document"]) == words(made["body"]["document"])


@pytest.mark.sqlite_first
def test_each_change_creates_one_event(talk):
    comment = talk.post(page=talk.space.pages["A"])["id"]
    reply = talk.reply(comment)["id"]
    talk.update(comment, body={"markdown": "Else."}, resolved=True, addedReactions=["👍"])
    talk.update(comment, body={"markdown": "Else."}, resolved=True, addedReactions=["👍"])
    talk.call("commenter", "PUT", f"/{comment}/replies/{reply}", json={"addedReactions": ["👍"]})
    talk.call("commenter", "DELETE", f"/{comment}/replies/{reply}")
    talk.call("commenter", "DELETE", f"/{comment}/replies/{reply}")
    talk.delete(comment)
    talk.delete(comment)
    where = {"change_request": talk.change} if talk.change else {}
    assert talk.events() == [
        ("comment_created", {**where, "comment": comment}),
        ("comment_reply_created", {**where, "comment": comment, "reply": reply}),
        ("comment_updated", {**where, "comment": comment, "changed": ["body", "resolved", "reactions"]}),
        ("comment_reply_updated", {**where, "comment": comment, "reply": reply, "changed": ["reactions"]}),
        ("comment_reply_deleted", {**where, "comment": comment, "reply": reply}),
        ("comment_deleted", {**where, "comment": comment}),
    ]
