"""Calls of models over real HTTP: for an organization, with its instructions, within its budget, and with any
failure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model_server import KEY, ModelServer, world_with_model
from octavo.assistants.models.calling import Model, find_model
from octavo.assistants.models.provider import ModelFailed, ModelMessage
from octavo.assistants.models.retention import prune_calls
from octavo.errors import TooManyRequests
from octavo.kit.clock import DAY
from octavo.kit.scheduling.deadlines import DeadlineExceeded, limited
from world import World

ORG = "/orgs/{organizationId}"


def model(world: World, who: str = "editor") -> Model:
    with world.context.db.read() as tx:
        found = find_model(world.context, tx, world.home["organizationId"], world.users[who])
    assert found is not None
    return found


def ask(world: World, text: str = "What now?", **options: Any) -> str:
    return model(world).complete("test", [ModelMessage("user", text)], **options)


def calls(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.get("admin", world.home.path(f"{ORG}/model-calls"))["items"]
    return found


def document(*paragraphs: str) -> dict[str, Any]:
    def paragraph(text: str) -> dict[str, Any]:
        leaf = {"object": "leaf", "text": text, "marks": []}
        nodes = [{"object": "text", "leaves": [leaf]}]
        return {"object": "block", "type": "paragraph", "data": {}, "nodes": nodes}

    return {
        "object": "document",
        "data": {"schemaVersion": 1},
        "nodes": [paragraph(each) for each in paragraphs],
    }


@pytest.mark.parametrize("streams", [True, False])
def test_an_answer_is_returned_whole_or_streamed(world: World, server: ModelServer, streams: bool) -> None:
    server.streams = streams
    server.answer = lambda request: "Grüße, and a long answer."
    with world_with_model(world, server, llm_input_price=2.0, llm_output_price=10.0):
        pieces = list(model(world).stream("test", [ModelMessage("user", "What now?")]))
    assert "".join(pieces) == "Grüße, and a long answer." and (len(pieces) > 1) is streams
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions" and request["model"] == "test-model"
    assert request["messages"][-1] == {"role": "user", "content": "What now?"}
    assert server.keys == [f"Bearer {KEY}"]
    (call,) = calls(world)
    assert call["status"] == "ok" and call["purpose"] == "test" and call["user"] == world.users["editor"]
    assert (call["inputTokens"], call["outputTokens"]) == (100, 7)
    assert call["cost"] == pytest.approx((100 * 2 + 7 * 10) / 1_000_000)
    assert "request" not in call and "answer" not in call


def test_content_is_only_logged_if_turned_on(world: World, server: ModelServer) -> None:
    with world_with_model(world, server, llm_log_content=True):
        ask(world, "Something particular")
    (call,) = calls(world)
    assert call["answer"] == "Yes." and "Something particular" in json.dumps(call["request"])


def test_instructions_of_the_organization_are_sent_with_every_call(world: World, server: ModelServer) -> None:
    path = world.home.path(f"{ORG}/agent-instructions")
    empty = world.get("admin", path)
    assert empty["updatedBy"] == "" and empty["instructions"]["nodes"] == []
    given = {"instructions": document("Say organisation with an s.", "Be brief.")}
    answer = world.call("creator", "PUT", path, json=given)
    assert answer.json()["updatedBy"] == world.users["creator"]
    assert world.get("admin", path) == answer.json()
    with world_with_model(world, server):
        ask(world)
    system = server.requests[0]["messages"][0]
    assert system["role"] == "system"
    assert "Say organisation with an s.\nBe brief." in system["content"]
    events = world.get("admin", world.home.path(f"{ORG}/audit-events"))["items"]
    assert events[0]["action"] == "agent_instructions.updated"


@pytest.mark.parametrize(
    "instructions",
    [
        None,
        "Be brief",
        [],
        {"nodes": "x"},
        {"nodes": [{"object": "block", "type": "nothing"}]},
        document("x" * 10_001),
    ],
)
def test_instructions_of_another_type_are_refused(sqlite_world: World, instructions: Any) -> None:
    path = sqlite_world.home.path(f"{ORG}/agent-instructions")
    before = sqlite_world.digest()
    answer = sqlite_world.call("admin", "PUT", path, json={"instructions": instructions})
    assert answer.status_code == 400 and "instructions" in answer.json()["error"]["message"]
    assert sqlite_world.digest() == before


def test_an_organization_without_ai_has_no_model(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        assert world.call("admin", "PATCH", world.home.path(ORG), json={"ai": False}).is_success
        with world.context.db.read() as tx:
            assert find_model(world.context, tx, world.home["organizationId"], None) is None
            assert find_model(world.context, tx, world.away["organizationId"], None) is not None


def test_secrets_are_not_sent(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        ask(world, "Our key is sk-abcdefghijklmnopqrstu and AKIAIOSFODNN7EXAMPLE")
    assert "sk-abcdef" not in server.said and "AKIA" not in server.said and "[secret]" in server.said


def test_the_budget_of_an_organization_ends(world: World, server: ModelServer) -> None:
    with world_with_model(world, server, llm_daily_tokens=1000):
        for _ in range(8):
            ask(world, max_tokens=100)
        with pytest.raises(TooManyRequests):
            ask(world, max_tokens=100)
        assert len(server.requests) == 8
        with world.context.db.read() as tx:
            other = find_model(world.context, tx, world.away["organizationId"], None)
        assert (
            other is not None
            and other.complete("test", [ModelMessage("user", "x")], max_tokens=100) == "Yes."
        )
    with world_with_model(world, server, llm_daily_tokens=0):
        assert ask(world) == "Yes."


def test_transient_errors_are_retried(world: World, server: ModelServer) -> None:
    server.failures = [(500, "no"), (429, "slow down")]
    with world_with_model(world, server):
        assert ask(world) == "Yes."
    assert len(server.requests) == 3 and len(calls(world)) == 1


@pytest.mark.parametrize(
    ("failures", "times", "named"),
    [
        ([(500, "no")] * 5, 3, "status 500"),
        ([(401, f"wrong key {KEY}")], 1, "status 401"),
        ([(400, "x" * 5000)], 1, "status 400"),
        ([(307, "")], 1, "status 307"),
    ],
)
def test_failures_are_reported_without_the_key(
    world: World, server: ModelServer, failures: list[tuple[int, str]], times: int, named: str
) -> None:
    server.failures = list(failures)
    with world_with_model(world, server), pytest.raises(ModelFailed) as failed:
        ask(world)
    assert named in str(failed.value) and KEY not in str(failed.value) and len(str(failed.value)) < 500
    assert len(server.requests) == times
    (call,) = calls(world)
    assert call["status"] == "failed" and KEY not in call["error"]


def _event(value: Any) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


PIECE = _event({"choices": [{"delta": {"content": "half"}}]})


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"no JSON",
        b"[]",
        b"{}",
        b'{"error": {"message": "broke"}}',
        b'{"choices": []}',
        b'{"choices": {}}',
        b'{"choices": [7]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": "cut"}, "finish_reason": "length"}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        PIECE,
        PIECE + b"data: [DONE]\n\n",
        PIECE + _event(b"garbage"),
        PIECE + _event({"error": "overloaded"}),
        b"data: [DONE]\n\n",
        PIECE + _event({"choices": [{"delta": {}, "finish_reason": "content_filter"}]}),
        b"data:" + b"x" * 2_000_000,
    ],
)
def test_an_invalid_response_is_a_failure(sqlite_world: World, server: ModelServer, garbage: bytes) -> None:
    server.answer = lambda request: garbage
    with world_with_model(sqlite_world, server), pytest.raises(ModelFailed):
        ask(sqlite_world)
    assert calls(sqlite_world)[0]["status"] == "failed"


ERROR = {"message": f"Overloaded, says {KEY}", "type": "server_error"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (ERROR, "Overloaded, says [secret]"),
        ("broken", "broken"),
        ({"message": "", "code": 7}, '{"error": {"message": "", "code": 7}}'),
        ({"message": [7]}, '{"error": {"message": [7]}}'),
        ([7], '{"error": [7]}'),
    ],
)
def test_the_error_message_of_a_provider_is_shown(
    sqlite_world: World, server: ModelServer, said: Any, shown: str
) -> None:
    body = json.dumps({"error": said})
    server.answer = lambda request: body.encode()
    with world_with_model(sqlite_world, server), pytest.raises(ModelFailed) as failed:
        ask(sqlite_world)
    assert str(failed.value) == f"The language model failed: the provider returned an error: {shown}"
    server.failures = [(401, body)]
    with world_with_model(sqlite_world, server), pytest.raises(ModelFailed) as failed:
        ask(sqlite_world)
    assert str(failed.value) == f"The language model failed: the provider responded with status 401: {shown}"


def test_a_hanging_provider_is_abandoned_in_time(sqlite_world: World, server: ModelServer) -> None:
    server.hang = 30
    with world_with_model(sqlite_world, server, llm_seconds=1), pytest.raises(ModelFailed, match="within"):
        ask(sqlite_world)
    with world_with_model(sqlite_world, server), limited(0.3), pytest.raises((ModelFailed, DeadlineExceeded)):
        ask(sqlite_world)


def test_a_provider_in_a_private_network_must_be_allowed(sqlite_world: World, server: ModelServer) -> None:
    with (
        world_with_model(sqlite_world, server, allow_private_fetch=""),
        pytest.raises(ModelFailed, match="private"),
    ):
        ask(sqlite_world)
    assert server.requests == []


def test_an_abandoned_answer_is_logged(sqlite_world: World, server: ModelServer) -> None:
    server.answer = lambda request: "a long answer " * 20
    with world_with_model(sqlite_world, server):
        stream = model(sqlite_world).stream("test", [ModelMessage("user", "x")])
        next(stream)
        stream.close()
    assert calls(sqlite_world)[0]["status"] == "abandoned"


def test_old_calls_are_deleted(world: World, server: ModelServer) -> None:
    with world_with_model(world, server):
        ask(world)
        ask(world)
    recent = calls(world)[0]["id"]
    with world.context.db.write() as tx:
        tx.run(
            "UPDATE model_calls SET created_at = created_at - :days WHERE id <> :id",
            days=world.context.settings.llm_log_days * DAY + 1,
            id=recent,
        )
    prune_calls(world.context)
    assert [call["id"] for call in calls(world)] == [recent]
