"""Conversations with the assistant: whose they are, and what a question in one continues."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.assistants.ask.agent_conversations import MAX_KEPT, record_asked
from octavo.organization.access.authorization import organization_access
from octavo.organization.access.roles import Can
from world import World

ALL = "/orgs/{organizationId}/agent/conversations"


class ConversationScene:
    def __init__(self, world: World) -> None:
        self.world, self.place = world, world.home
        self.all = self.place.path(ALL)
        self.of_change = self.place.path("/spaces/{spaceId}/change-requests/{changeRequestId}/conversations")
        self.about = {"space": self.place["spaceId"], "changeRequest": self.place["changeRequestId"]}

    def put(self, id: str, who: str = "editor", **body: Any) -> int:
        return self.world.call(who, "PUT", f"{self.all}/{id}", **({"json": body} if body else {})).status_code

    def listed(self, who: str = "editor") -> list[str]:
        return [one["id"] for one in self.world.get(who, self.all)["items"]]

    def ask(self, question: str, id: str, who: str = "editor") -> int:
        body = {"query": question, "conversation": id}
        path = self.place.path("/orgs/{organizationId}/ask")
        return self.world.call(who, "POST", path, json=body).status_code


@pytest.fixture
def scene(world: World) -> ConversationScene:
    return ConversationScene(world)


def test_a_conversation_is_created_once_and_titled_after_its_first_question(scene: ConversationScene) -> None:
    assert scene.put("first") == scene.put("first") == 204
    made = scene.world.get("editor", f"{scene.all}/first")
    assert (made["questions"], made["shared"], made.get("title")) == ([], False, None)
    assert scene.ask("How do I install it?", "first") == 200
    assert scene.ask("And on a server?", "first") == 200
    asked = scene.world.get("editor", f"{scene.all}/first")
    assert asked["questions"] == ["How do I install it?", "And on a server?"]
    assert asked["title"] == "How do I install it?"
    renamed = scene.world.call("editor", "PATCH", f"{scene.all}/first", json={"title": "Setup"})
    assert renamed.json()["title"] == "Setup"
    assert scene.world.call("editor", "DELETE", f"{scene.all}/first").status_code == 205
    assert scene.world.call("editor", "DELETE", f"{scene.all}/first").status_code == 204
    assert scene.ask("Still there?", "first") == 404


def test_conversations_belong_to_one_person(scene: ConversationScene) -> None:
    scene.put("same")
    scene.put("same", "admin")
    scene.ask("What is zqsecret?", "same")
    assert scene.listed("reader") == []
    assert scene.world.get("admin", f"{scene.all}/same")["questions"] == []
    assert scene.world.call("admin", "DELETE", f"{scene.all}/same").status_code == 205
    assert scene.listed() == ["same"]
    for method, body in (("GET", None), ("PATCH", {"title": "Mine"})):
        answer = scene.world.call("reader", method, f"{scene.all}/same", json=body)
        assert answer.status_code == 404


def test_conversations_about_a_change_request_are_listed_to_its_readers(scene: ConversationScene) -> None:
    assert scene.put("about", about=scene.about) == 204
    assert scene.put("about", about=scene.about) == 204
    listed = scene.world.get("reader", scene.of_change)["items"]
    assert [(one["id"], one["shared"], one["changeRequest"]) for one in listed] == [
        ("about", True, scene.place["changeRequestId"])
    ]
    assert "questions" not in listed[0]
    path = f"{scene.of_change}/about"
    assert scene.world.call("reader", "PATCH", path, json={"title": "Mine"}).status_code == 403
    assert scene.world.call("reader", "DELETE", path).status_code == 403
    assert scene.world.call("editor", "PATCH", path, json={"title": "Ours"}).json()["title"] == "Ours"
    scene.put("alone")
    assert scene.put("alone", about=scene.about) == 409
    assert scene.world.call("editor", "DELETE", path).status_code == 205
    assert scene.world.call("editor", "DELETE", path).status_code == 204


def test_others_see_the_title_of_a_conversation_only_if_its_owner_wrote_it(scene: ConversationScene) -> None:
    """The first question can be one that Octavo suggests, with the title of a page that others can't see."""
    scene.put("about", about=scene.about)

    def titles(path: str, who: str) -> list[str | None]:
        return [one.get("title") for one in scene.world.get(who, path)["items"]]

    question = f"What should I know about “{'Salaries and ' * 12}bonuses”?"
    with scene.world.context.db.read() as tx:
        actor = scene.world.actor("editor")
        org = organization_access(tx, actor, Can.VIEW, scene.place["organizationId"])
    for number in range(60):
        with scene.world.context.db.write() as tx:
            record_asked(tx, org, "about", f"{number}?" if number else question)
        if number in (0, 1, 59):
            assert titles(scene.of_change, "reader") == [None]
    (own,) = titles(scene.all, "editor")
    assert own is not None and question.startswith(own.rstrip("…"))
    assert titles(scene.of_change, "editor") == [own]
    asked = scene.world.get("editor", f"{scene.all}/about")["questions"]
    assert len(asked) == 50 and asked[:2] == [question, "11?"] and asked[-1] == "59?"
    scene.world.call("editor", "PATCH", f"{scene.all}/about", json={"title": "Ours"})
    assert titles(scene.of_change, "reader") == titles(scene.of_change, "editor") == ["Ours"]


def test_a_conversation_is_about_nothing_that_its_owner_cannot_see(scene: ConversationScene) -> None:
    world = scene.world
    closed = world.call("admin", "PATCH", scene.place.path("/spaces/{spaceId}"), json={"defaultLevel": None})
    assert closed.status_code == 200
    assert scene.put("about", about=scene.about) == 404
    away = {"space": world.away["spaceId"], "changeRequest": world.away["changeRequestId"]}
    assert scene.put("away", "admin", about=away) == 404
    assert scene.put("mixed", "admin", about={**scene.about, "changeRequest": away["changeRequest"]}) == 404
    assert scene.listed() == []


@pytest.mark.parametrize("id", ["a" * 101, "a.b", "%20", "ä"])
def test_ids_are_letters_digits_hyphens_and_underscores(scene: ConversationScene, id: str) -> None:
    assert scene.put(id) == 400


def test_older_conversations_are_deleted(scene: ConversationScene) -> None:
    with scene.world.context.db.write() as tx:
        tx.run_many(
            """INSERT INTO agent_conversations (organization_id, user_id, id, questions, created_at, updated_at)
               VALUES (:org, :user, :id, '[]', :at, :at)""",
            [
                {
                    "org": scene.place["organizationId"],
                    "user": scene.world.users["editor"],
                    "id": f"c{n}",
                    "at": n,
                }
                for n in range(MAX_KEPT + 5)
            ],
        )
    scene.put("newest")
    with scene.world.context.db.read() as tx:
        kept = {row[0] for row in tx.all("SELECT id FROM agent_conversations")}
    assert len(kept) == MAX_KEPT
    assert "newest" in kept
    assert "c0" not in kept


def test_conversations_of_a_member_are_deleted_when_they_leave(scene: ConversationScene) -> None:
    scene.put("mine")
    path = scene.place.path("/orgs/{organizationId}/members/{userId}", userId=scene.world.users["editor"])
    assert scene.world.call("admin", "DELETE", path).is_success
    with scene.world.context.db.read() as tx:
        assert tx.all("SELECT * FROM agent_conversations") == []
