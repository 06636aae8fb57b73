"""Assistant of a site: its greeting, suggestions, and instructions, and the variants that it answers from."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from asking_scenes import QUESTION, Asking
from model_server import ModelServer, world_with_model
from visiting import Visitor
from world import World

AI: dict[str, Any] = {
    "mode": "assistant",
    "greeting": "Ask me about sprockets.",
    "localizedGreeting": {"de": "Frag mich nach Zahnrädern."},
    "suggestions": ["How do I oil a sprocket?"],
    "instructions": "Call every sprocket a zqcogwheel.",
}


@pytest.fixture
def asking(world: World) -> Asking:
    made = Asking(world)
    answer = world.call("admin", "PUT", f"{made.path}/customization", json={"ai": AI})
    assert answer.status_code == 200, answer.text
    return made


def add_variant(asking: Asking, text: str) -> tuple[str, str]:
    """Add a variant with one page; return the site spaces of the first variant and of the new one."""
    space = asking.world.post(
        "admin", asking.world.home.path("/orgs/{organizationId}/spaces"), {"title": "Old"}
    )
    asking.fill(space["id"], {"operation": "insert_page", "document": {"markdown": text}})
    asking.world.post("admin", f"{asking.path}/site-spaces", {"spaceId": space["id"]})
    first, second = asking.world.get("admin", f"{asking.path}/site-spaces")["items"]
    return first["id"], second["id"]


@pytest.mark.sqlite_first
def test_visitors_see_the_greeting_in_their_language(asking: Asking) -> None:
    page = f"{urlsplit(asking.url).path}~ask"
    visitor = Visitor(asking.world.context)
    for path in (page, f"{page}/questions"):
        assert '<p class="ask-greeting">Ask me about sprockets.</p>' in visitor.get(path).text
    asking.world.call("admin", "PATCH", f"/spaces/{asking.space}", json={"language": "de"})
    assert '<p class="ask-greeting">Frag mich nach Zahnrädern.</p>' in visitor.get(page).text


@pytest.mark.sqlite_first
def test_the_suggested_questions_are_those_of_the_site(asking: Asking) -> None:
    expected = [{"question": "How do I oil a sprocket?"}]
    for headers in (None, asking.visitor()):
        found = asking.events("GET", "ask/questions", headers)
        assert [{"question": one["question"]} for one in found] == expected
    shown = Visitor(asking.world.context).get(f"{urlsplit(asking.url).path}~ask").text
    assert 'value="How do I oil a sprocket?"' in shown and "Sprockets”?" not in shown


def test_only_administrators_see_the_instructions(asking: Asking) -> None:
    world = asking.world
    look = f"{asking.path}/customization"
    (site_space,) = world.get("admin", f"{asking.path}/site-spaces")["items"]
    own = f"{asking.path}/site-spaces/{site_space['id']}/customization"
    for path in (look, own):
        assert world.get("admin", path)["ai"]["instructions"] == AI["instructions"]
        for who in ("creator", "editor", "reader"):
            answer = world.call(who, "GET", path)
            assert answer.status_code == 200 and answer.json()["ai"]["greeting"] == AI["greeting"]
            assert "zqcogwheel" not in answer.text, (who, path)
    for headers in ({}, asking.visitor()):
        answer = world.call(
            "nobody" if headers else "admin", "GET", f"{asking.path}/published", headers=headers
        )
        assert answer.status_code == 200 and AI["greeting"] in answer.text
        assert "zqcogwheel" not in answer.text
    assert "zqcogwheel" not in Visitor(world.context).get(urlsplit(asking.url).path).text


def test_the_model_follows_the_instructions_of_the_site(asking: Asking, server: ModelServer) -> None:
    server.answer = lambda request: "By hand [1]."
    with world_with_model(asking.world, server):
        asking.ask(asking.visitor(), QUESTION)
        system = [one["content"] for one in server.requests[-1]["messages"] if one["role"] == "system"]
        assert AI["instructions"] in system[0]
        asking.world.post("admin", asking.world.home.path("/orgs/{organizationId}/ask"), {"query": QUESTION})
        assert "zqcogwheel" not in json.dumps(server.requests[-1]["messages"])


@pytest.mark.sqlite_first
def test_a_question_is_limited_to_the_current_variant_or_the_others(asking: Asking) -> None:
    new, old = add_variant(asking, "# Levers\n\nA sprocket turns by zqoldlever.\n")
    visitor = asking.visitor()

    def answered(**scope: Any) -> str:
        body = {"question": QUESTION, "scope": {"mode": "default", **scope}}
        found = asking.events("POST", "ask", visitor, json=body, params={"format": "markdown"})
        return json.dumps(found[-1]["answer"])

    assert "by hand" in answered(currentSiteSpace=new, restrictTo="currentSiteSpace")
    only_old = answered(currentSiteSpace=old, restrictTo="currentSiteSpace")
    assert "zqoldlever" in only_old and "by hand" not in only_old
    others = answered(currentSiteSpace=old, restrictTo="otherSiteSpaces")
    assert "zqoldlever" not in others
    for scope, status in (
        ({"restrictTo": "currentSiteSpace"}, 400),
        ({"currentSiteSpace": new, "restrictTo": "all"}, 400),
        ({"currentSiteSpace": "elsewhere", "restrictTo": "otherSiteSpaces"}, 404),
    ):
        body = {"question": QUESTION, "scope": {"mode": "default", **scope}}
        assert asking.world.call("admin", "POST", f"{asking.path}/ask", json=body).status_code == status
