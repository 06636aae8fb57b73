"""Vectors of texts, requested over real HTTP: in batches, within the budget, never twice, and with any failure."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from model_server import DIMENSIONS, KEY, ModelServer, embed_words, world_with_model
from octavo.assistants.models import embedding, provider, retention
from octavo.assistants.models.embedding import Embedder, find_embedder
from octavo.assistants.models.provider import ModelFailed
from octavo.assistants.models.retention import prune_embeddings
from octavo.errors import TooManyRequests
from octavo.kit.clock import DAY, now
from world import World

MODEL = "test-embedding"


def embedder(world: World, who: str = "home") -> Embedder:
    organization = (world.home if who == "home" else world.away)["organizationId"]
    with world.context.db.read() as tx:
        found = find_embedder(world.context, tx, organization, None)
    assert found is not None
    return found


def calls(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.get("admin", world.home.path("/orgs/{organizationId}/model-calls"))[
        "items"
    ]
    return found


def kept(world: World) -> int:
    with world.context.db.read() as tx:
        return int(tx.value("SELECT count(*) FROM embeddings"))


def test_vectors_are_in_the_order_of_their_texts(world: World, server: ModelServer) -> None:
    texts = ["export a page", "reset the password", "export a page"]
    with world_with_model(world, server, llm_embedding_model=MODEL, llm_embedding_price=3.0):
        vectors = embedder(world).embed("test", texts)
    for text, vector in zip(texts, vectors, strict=True):
        given = embed_words(text)
        length = math.hypot(*given)
        assert list(vector) == pytest.approx([number / length for number in given], abs=1e-6)
    (request,) = server.requests
    assert request["path"] == "/v1/embeddings" and request["model"] == MODEL
    assert request["input"] == texts[:2] and server.keys == [f"Bearer {KEY}"]
    (call,) = calls(world)
    assert call["status"] == "ok" and call["purpose"] == "test" and call["model"] == MODEL
    assert (call["inputTokens"], call["outputTokens"]) == (20, 0) and "request" not in call
    assert call["cost"] == pytest.approx(20 * 3 / 1_000_000)


def test_texts_are_only_embedded_once(world: World, server: ModelServer) -> None:
    texts = [f"text {number}" for number in range(2 * embedding.BATCH + 1)]
    with world_with_model(world, server, llm_embedding_model=MODEL):
        first = embedder(world).embed("test", texts)
        assert [len(request["input"]) for request in server.requests] == [embedding.BATCH, embedding.BATCH, 1]
        assert embedder(world).embed("test", [*texts, "one more"])[:-1] == first
        assert server.embedded == [*texts, "one more"]
        # Another model and another organization have separate vectors.
        embedder(world, "away").embed("test", texts[:1])
    with world_with_model(world, server, llm_embedding_model="another"):
        embedder(world).embed("test", texts[:1])
    assert len(server.requests) == 6


def test_embeddings_before_a_failure_are_kept(world: World, server: ModelServer) -> None:
    texts = [f"text {number}" for number in range(2 * embedding.BATCH)]

    def fail_late(text: str) -> list[float]:
        return [] if text == texts[-1] else embed_words(text)

    with world_with_model(world, server, llm_embedding_model=MODEL):
        server.embed = fail_late
        with pytest.raises(ModelFailed):
            embedder(world).embed("test", texts)
        assert kept(world) == embedding.BATCH
        server.embed = embed_words
        server.requests.clear()
        embedder(world).embed("test", texts)
    assert server.embedded == texts[embedding.BATCH :]


def test_embeddings_require_the_setting_and_ai_in_the_organization(world: World, server: ModelServer) -> None:
    organization = world.home["organizationId"]
    with world_with_model(world, server), world.context.db.read() as tx:
        assert find_embedder(world.context, tx, organization, None) is None
    with world_with_model(world, server, llm_embedding_model=MODEL):
        path = world.home.path("/orgs/{organizationId}")
        assert world.call("admin", "PATCH", path, json={"ai": False}).is_success
        with world.context.db.read() as tx:
            assert find_embedder(world.context, tx, organization, None) is None


def test_secrets_are_not_sent(world: World, server: ModelServer) -> None:
    with world_with_model(world, server, llm_embedding_model=MODEL):
        embedder(world).embed("test", ["Our key is sk-abcdefghijklmnopqrstu"])
    assert "sk-abcdef" not in server.said and "[secret]" in server.said


def test_all_models_share_one_budget(world: World, server: ModelServer) -> None:
    with world_with_model(world, server, llm_embedding_model=MODEL, llm_daily_tokens=25):
        embedder(world).embed("test", ["one", "two"])
        with pytest.raises(TooManyRequests):
            embedder(world).embed("test", ["three" * 5])
        assert len(server.requests) == 1
        # Cached vectors cost nothing.
        embedder(world).embed("test", ["two", "one"])


def answer(*vectors: Any) -> str:
    return json.dumps({"data": [{"index": at, "embedding": each} for at, each in enumerate(vectors)]})


BAD = {
    "no JSON": "x" * 50,
    "a list": "[]",
    "deep": "[" * 100_000,
    "nothing": "{}",
    "an error": '{"error": {"message": "not today"}}',
    "no vectors": '{"data": []}',
    "fewer": answer([1, 0]),
    "more": answer([1, 0], [1, 0], [1, 0]),
    "one twice": '{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
    "no numbers": answer([1, 0], ["1", "0"]),
    "booleans": answer([1, 0], [True, False]),
    "not a number": answer([1, 0], [math.nan, 0]),
    "endless": answer([1, 0], [math.inf, 0]),
    "too large": '{"data": [{"index": 0, "embedding": [1e400]}, {"index": 1, "embedding": [1]}]}',
    "a huge whole number": answer([1, 0], [10**400, 1]),
    "zero": answer([1, 0], [0, 0]),
    "empty": answer([], []),
    "a text": answer([1, 0], "AACAPw=="),
    "different lengths": answer([1, 0], [1, 0, 0]),
    "too long": answer([1] * 5000, [1] * 5000),
}


@pytest.mark.sqlite_first
@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
def test_invalid_vectors_are_refused_and_not_stored(world: World, server: ModelServer, said: str) -> None:
    server.failures = [(200, said)] * provider.ATTEMPTS
    with world_with_model(world, server, llm_embedding_model=MODEL):
        with pytest.raises(ModelFailed):
            embedder(world).embed("test", ["one", "two"])
        assert kept(world) == 0
        (call,) = calls(world)
        assert call["status"] == "failed" and call["error"]
        # It was attempted as often as usual, and the next call is a new attempt.
        assert len(server.requests) == provider.ATTEMPTS
        assert len(embedder(world).embed("test", ["one", "two"])[0]) == DIMENSIONS


def test_a_temporary_failure_is_retried(world: World, server: ModelServer) -> None:
    server.failures = [(500, "no"), (429, "slow down")]
    with world_with_model(world, server, llm_embedding_model=MODEL):
        embedder(world).embed("test", ["one"])
        server.failures = [(401, f"no such key: {KEY}")]
        with pytest.raises(ModelFailed) as failed:
            embedder(world).embed("test", ["two"])
    assert len(server.requests) == 4 and KEY not in failed.value.message


def test_a_hanging_provider_is_abandoned(world: World, server: ModelServer) -> None:
    server.hang = 3
    hasty = world_with_model(world, server, llm_embedding_model=MODEL, llm_seconds=1)
    with hasty, pytest.raises(ModelFailed):
        embedder(world).embed("test", ["one"])
    assert len(server.requests) == 1


def test_unused_vectors_are_deleted(
    world: World, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world_with_model(world, server, llm_embedding_model=MODEL):
        embedder(world).embed("test", [f"text {number}" for number in range(5)])
        with world.context.db.write() as tx:
            tx.run("UPDATE embeddings SET used_at = :then", then=now() - 29 * DAY)
        # Using a vector keeps it.
        embedder(world).embed("test", ["text 1", "text 2"])
        prune_embeddings(world.context)
        assert kept(world) == 5
        with world.context.db.write() as tx:
            tx.run("UPDATE embeddings SET used_at = used_at - :days", days=2 * DAY)
        prune_embeddings(world.context)
        assert kept(world) == 2
        monkeypatch.setattr(retention, "MAX_VECTORS", 1)
        with world.context.db.write() as tx:
            first = tx.value("SELECT min(digest) FROM embeddings")
            tx.run("UPDATE embeddings SET used_at = used_at + 1 WHERE digest = :key", key=first)
        prune_embeddings(world.context)
        assert kept(world) == 1
