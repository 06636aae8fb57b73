"""Tests of who a comment can mention, and what mentions must not reveal."""

import pytest

from octavo.kit.clock import now
from octavo.kit.ids import new_id
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member

from .talking import refused, words


def to(*ids, kind="users"):
    return " ".join(f'[somebody](/{kind}/{id} "mention")' for id in ids)


def node(user):
    mention = {
        "object": "inline",
        "type": "mention",
        "data": {"ref": {"kind": "user", "user": user}},
        "isVoid": True,
    }
    return {"document": {"nodes": [{"object": "block", "type": "paragraph", "nodes": [mention]}]}}


def mentions(document):
    found = []
    waiting = [document]
    while waiting:
        here = waiting.pop(0)
        if here.get("type") == "mention":
            found.append(here["data"])
        waiting += here.get("nodes", [])
    return found


@pytest.mark.sqlite_first
def test_people_can_be_mentioned_by_name(talk):
    admin = talk.world.users["admin"]
    made = talk.post(f"Ask {to(admin)}!")
    shown = {"ref": {"kind": "user", "user": admin}, "label": "@Admin"}
    assert mentions(made["body"]["document"]) == [shown] and words(made["body"]["document"]) == "Ask !"
    markdown = talk.get(made["id"], format="markdown")["body"]["markdown"]
    assert markdown == f'Ask [@Admin](/users/{admin} "mention")!\n'
    noded = talk.post(node(admin))
    assert mentions(noded["body"]["document"]) == [shown]
    # A body that was read can be sent back.
    talk.update(noded["id"], body=noded["body"])
    assert talk.get(noded["id"])["body"] == noded["body"] and "editedAt" not in talk.get(noded["id"])
    types = [(type, payload.get("mentioned_users")) for type, payload in talk.events()]
    assert types == [("comment_created", [admin])] * 2


@pytest.mark.sqlite_first
def test_an_edit_only_notifies_newly_mentioned_people(talk):
    users = talk.world.users
    made = talk.post(to(users["admin"]))
    talk.update(made["id"], body={"markdown": f"{to(users['admin'])} and {to(users['reader'])}"})
    assert talk.events()[-1][1]["mentioned_users"] == [users["reader"]]


def test_people_without_access_to_the_space_are_not_mentioned(talk):
    world = talk.world
    comment = talk.post()["id"]
    with world.context.db.write() as tx:
        gone = insert_user(tx, "gone@example.org", "Gone", verified=True).id
        teams = {}
        for name, place, member in (
            ("seeing", "home", "reader"),
            ("blind", "home", "guest"),
            ("empty", "home", None),
            ("away", "away", "stranger"),
        ):
            teams[name] = new_id()
            organization = (world.home if place == "home" else world.away)["organizationId"]
            tx.run(
                "INSERT INTO teams (id, organization_id, title, created_at) VALUES (:id, :org, :title, :at)",
                id=teams[name],
                org=organization,
                title=name.title(),
                at=now(),
            )
            if member:
                tx.run(
                    "INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:team, :user, :at)",
                    team=teams[name],
                    user=world.users[member],
                    at=now(),
                )
    before = world.digest()
    # A guest of the organization, a member of another one, a person without one, and an unknown id: all the
    # same.
    answers = set()
    for who in (world.users["guest"], world.users["stranger"], gone, "0" * 20):
        for body in ({"markdown": to(who)}, node(who)):
            for answer in (
                talk.try_post(body),
                talk.try_update(comment, body=body),
                talk.call("commenter", "POST", f"/{comment}/replies", json={"body": body}),
            ):
                refused(answer, 404, "body")
                answers.add(answer.text.replace(who, "WHO"))
    for team in (teams["blind"], teams["empty"], teams["away"], "0" * 20):
        answer = talk.try_post(to(team, kind="teams"))
        refused(answer, 404, "body")
        answers.add(answer.text.replace(team, "WHO"))
    assert len(answers) == 2, answers
    assert world.digest() == before
    made = talk.post(to(teams["seeing"], kind="teams"))
    assert mentions(made["body"]["document"])[0]["label"] == "@Seeing"
    assert talk.events()[-1][1]["mentioned_teams"] == [teams["seeing"]]


def test_mentions_of_former_members_are_kept(talk):
    world = talk.world
    with world.context.db.write() as tx:
        leaver = insert_user(tx, "leaver@example.org", "Leaver", verified=True).id
        upsert_member(tx, world.home["organizationId"], leaver, "read")
    made = talk.post(f"So says {to(leaver)}.")
    with world.context.db.write() as tx:
        tx.run("DELETE FROM members WHERE user_id = :id", id=leaver)
    talk.update(made["id"], body={"markdown": f"So said {to(leaver)}."})
    assert "mentioned_users" not in talk.events()[-1][1]
    refused(talk.try_post(to(leaver)), 404)


@pytest.mark.sqlite_first
def test_too_many(main):
    many = to(*(f"{n:020d}" for n in range(60)))
    refused(main.try_post(many), 404)
    with main.world.context.db.write() as tx:
        ids = [insert_user(tx, f"m{n}@example.org", f"M{n}", verified=True).id for n in range(51)]
        for id in ids:
            upsert_member(tx, main.world.home["organizationId"], id, "read")
    refused(main.try_post(to(*ids)), 400, "mentions")
    main.post(to(*ids[:50], ids[0]))
