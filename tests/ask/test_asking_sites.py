"""Answers at a site: for its visitors, from the content it shows them, and nothing else."""

from __future__ import annotations

import json

import pytest

from asking_scenes import HIDDEN, QUESTION, Asking
from octavo.assistants.ask import site_answers
from octavo.kit.clock import now
from set_clock import SetClock
from world import World


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world)


@pytest.mark.sqlite_first
def test_visitors_get_answers_from_visible_content(asking: Asking) -> None:
    plain = json.dumps(asking.ask(asking.visitor(), QUESTION))
    assert "turn a sprocket by hand" in plain and not any(word in plain for word in HIDDEN)
    assert f"{asking.url}sprockets" in plain and "/s/" not in plain
    beta = json.dumps(asking.ask(asking.visitor(beta=True), QUESTION))
    assert "zqsecretlever" in beta and "zqhiddenpage" not in beta and "zqcomment" not in beta
    member = json.dumps(asking.ask(None, QUESTION))
    assert "zqhiddenpage" in member


@pytest.mark.sqlite_first
def test_recommended_questions_come_from_visible_pages(asking: Asking) -> None:
    found = asking.events("GET", "ask/questions", asking.visitor())
    assert any("Sprockets" in event["question"] for event in found)
    assert not any("Levers" in event["question"] for event in found)
    assert any("Levers" in event["question"] for event in asking.events("GET", "ask/questions"))
    path = f"{asking.path}/ask/questions"
    answer = asking.world.call("admin", "GET", path, params={"siteSpaceId": "other"})
    assert answer.status_code == 404
    space = asking.world.get("admin", f"{asking.path}/site-spaces")["items"][0]["space"]["id"]
    of_space = asking.events("GET", "ask/questions", asking.visitor(), params={"spaceId": space})
    assert of_space == found
    for who in (asking.visitor(), None):
        options = {"params": {"spaceId": asking.world.away["spaceId"]}, "headers": who or {}}
        assert asking.world.call("nobody" if who else "admin", "GET", path, **options).status_code == 404


def test_answers_stay_within_the_scope(asking: Asking) -> None:
    body = {"question": QUESTION, "scope": {"mode": "specific", "siteSpaceIds": ["other"]}}
    answer = asking.world.call("admin", "POST", f"{asking.path}/ask", json=body)
    assert answer.status_code == 404 and "scope.siteSpaceIds" in answer.text
    [shown] = asking.world.get("admin", f"{asking.path}/site-spaces")["items"]
    body["scope"] = {"mode": "specific", "siteSpaceIds": [shown["id"]]}
    assert asking.events("POST", "ask", json=body)[-1]["answer"]["sources"]


def test_a_conversation_continues_for_its_own_visitor_only(asking: Asking, clock: SetClock) -> None:
    visitor = asking.visitor()
    body = {"input": [{"role": "user", "content": QUESTION}]}
    start, document, *_, finish = asking.events("POST", "ai/response", visitor, json=body)
    assert [start["type"], document["type"], finish["type"]] == [
        "response_start",
        "response_document",
        "response_finish",
    ]
    assert document["operation"] == "insert" and document["blocks"]
    again = asking.events("GET", f"ai/response/{finish['responseId']}", visitor)
    assert again[1]["blocks"] == document["blocks"] and again[-1] == finish
    more = {"input": [{"role": "user", "content": "And how?"}], "previousResponseId": finish["responseId"]}
    continued = asking.events("POST", "ai/response", visitor, json=more)
    assert "sprocket" in json.dumps(continued).lower()
    assert finish["response"] == {"id": finish["responseId"]}
    response = {"id": continued[-1]["responseId"], "previous": finish["responseId"]}
    assert continued[-1]["response"] == response
    replayed = asking.events("GET", f"ai/response/{response['id']}", visitor)
    assert replayed[-1]["response"] == response
    path = f"{asking.path}/ai/response/{finish['responseId']}"
    for headers in (asking.visitor(beta=True), {}):
        who = "nobody" if headers else "admin"
        assert asking.world.call(who, "GET", path, headers=headers).status_code == 404
        answer = asking.world.call(who, "POST", f"{asking.path}/ai/response", json=more, headers=headers)
        assert answer.status_code == 404
    clock.set(now() + site_answers.LASTS + 1000)
    site_answers.prune_answers(asking.world.context)
    with asking.world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM site_answers") == 0
