"""Clusters with vectors of a model: paraphrases are grouped, and nothing depends on the model."""

from __future__ import annotations

import json
import random
from array import array
from collections import Counter
from typing import Any

import pytest

from conversations.test_clustering import adjusted_rand, labelled
from conversations.test_conversations import analyse, conversation, ingest, listed
from model_server import ModelServer, embed_words, world_with_model
from octavo.assistants.conversations import embeddings as meaning
from octavo.assistants.conversations.clustering import Clustering, count_words
from octavo.assistants.conversations.embeddings import ClusterMeanings, IssueMeaning, Scale
from octavo.assistants.models import provider
from world import World

SAME = {"invoices": "bill", "bills": "bill", "receipts": "bill", "obtain": "get", "fetch": "get"}
INVOICES = ["Where do we obtain invoices?", "Can people fetch receipts?"]
OTHER = "The colour of headings looks odd"
BILLS = "How would somebody fetch bills?"
ISSUES = "/orgs/{organizationId}/conversations-issues"
MODEL = {"llm_embedding_model": "test-embedding", "llm_model": ""}


def embed(text: str) -> list[float]:
    """Model that knows which words mean the same."""
    words = [word.strip("?.,!").lower() for word in text.split()]
    known = [SAME.get(word, word) for word in words]
    return embed_words(" ".join(known if not {"bill", "get"} <= set(known) else ["bill", "get"]))


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.embed = embed
    return server


def ask(world: World, server: ModelServer, *bodies: str, start: int = 1, **settings: Any) -> None:
    ingest(world, *(conversation(f"m{number}", body) for number, body in enumerate(bodies, start)))
    with world_with_model(world, server, **{**MODEL, **settings}):
        analyse(world)


def clusters(world: World) -> dict[str, str | None]:
    """Return the cluster of each issue of these tests by its title; None if no one else asked that."""
    found = {item["issue"]["title"]: item["issue"].get("cluster") for item in listed(world, ISSUES)}
    return {title: cluster for title, cluster in found.items() if "nstall" not in title}


def stored(world: World) -> dict[str, bytes]:
    with world.context.db.read() as tx:
        return {row[0]: bytes(row[1]) for row in tx.all("SELECT cluster_id, vector FROM cluster_embeddings")}


def test_paraphrases_form_one_cluster_with_a_model(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES, OTHER)
    found = clusters(world)
    cluster = found[INVOICES[0]]
    assert cluster is not None and found[INVOICES[1]] == cluster and found[OTHER] is None
    # In a later analysis, too, the cluster keeps its id; nothing is requested twice.
    before = server.embedded
    ask(world, server, BILLS, start=10)
    assert set(clusters(world).values()) == {cluster, None} and clusters(world)[BILLS] == cluster
    assert len(server.embedded) == len(before) + 1 == len(set(server.embedded))
    calls = listed(world, "/orgs/{organizationId}/model-calls")
    assert {call["purpose"] for call in calls} == {"conversations"}
    assert {call["model"] for call in calls} == {"test-embedding"}


@pytest.mark.sqlite_first
def test_without_a_model_words_determine_clusters(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES, OTHER, llm_embedding_model="")
    assert set(clusters(world).values()) == {None} and not server.requests and not stored(world)


def answer(*vectors: Any) -> str:
    return json.dumps({"data": [{"index": at, "embedding": each} for at, each in enumerate(vectors)]})


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "said", [(500, "broken"), (401, "no"), (200, "x"), (200, answer([1, 0])), (200, answer(*[[0]] * 16))]
)
def test_words_determine_clusters_if_the_model_fails(
    world: World, server: ModelServer, said: tuple[int, str], caplog: pytest.LogCaptureFixture
) -> None:
    server.failures = [said] * 20
    ask(world, server, "How do I export a page as PDF?", "Exporting a page as PDF, how?", *INVOICES)
    found = clusters(world)
    assert found["How do I export a page as PDF?"] == found["Exporting a page as PDF, how?"] is not None
    assert found[INVOICES[0]] is None and not stored(world)
    assert len(server.requests) <= provider.ATTEMPTS, "what fails is not asked for each batch"
    assert "compared by words only" in caplog.text
    assert {call["status"] for call in listed(world, "/orgs/{organizationId}/model-calls")} == {"failed"}


@pytest.mark.sqlite_first
def test_words_determine_clusters_if_the_model_fails_later(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES)
    cluster = clusters(world)[INVOICES[0]]
    kept = stored(world)
    server.failures = [(500, "broken")] * 20
    ask(world, server, "Where do we obtain invoices of this month?", start=10)
    found = clusters(world)
    assert set(found.values()) == {cluster} and stored(world) == kept
    server.failures = []
    ask(world, server, BILLS, start=20)
    assert clusters(world)[BILLS] == cluster


@pytest.mark.sqlite_first
def test_meaningless_vectors_are_not_used(
    world: World, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.embed = lambda text: [1.0] * 8
    ask(world, server, *INVOICES, OTHER)
    assert set(clusters(world).values()) == {None} and "distinguish related texts" in caplog.text


@pytest.mark.sqlite_first
def test_words_determine_clusters_if_the_model_hangs(world: World, server: ModelServer) -> None:
    server.hang = 2
    ask(world, server, *INVOICES, llm_seconds=1)
    assert set(clusters(world).values()) == {None} and len(server.requests) == 1


@pytest.mark.sqlite_first
def test_words_determine_clusters_if_the_budget_is_spent(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES, llm_daily_tokens=1)
    assert set(clusters(world).values()) == {None} and not server.requests


def test_clusters_survive_another_model_and_lost_vectors(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES)
    cluster = clusters(world)[INVOICES[0]]
    server.embed = lambda text: [*embed(text), 0.5]
    ask(world, server, "Where do we obtain old invoices?", start=10, llm_embedding_model="another")
    assert set(clusters(world).values()) == {cluster}
    assert {len(vector) for vector in stored(world).values()} == {4 * 65}
    with world.context.db.write() as tx:
        tx.run("DELETE FROM cluster_embeddings")
        tx.run("DELETE FROM embeddings")
    ask(world, server, "Where do we obtain older invoices?", start=20, llm_embedding_model="another")
    ask(world, server, BILLS, start=30, llm_embedding_model="another")
    assert set(clusters(world).values()) == {cluster}


@pytest.mark.sqlite_first
def test_deleting_a_cluster_deletes_its_vector(world: World, server: ModelServer) -> None:
    ask(world, server, *INVOICES)
    cluster = clusters(world)[INVOICES[0]]
    assert cluster in stored(world)
    ask(world, server, OTHER, OTHER + " today")
    assert cluster not in stored(world)


# --- without a database ---------------------------------------------------------------------------------


def meaning_of(numbers: list[float]) -> IssueMeaning:
    vector = array("f", numbers)
    return IssueMeaning(vector, int("".join("1" if number > 0 else "0" for number in vector), 2))


def test_memory_for_vectors_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "MAX_BYTES", 10 * 4 * 4)
    meanings = ClusterMeanings(Scale(0.0, 1.0))
    dice = random.Random(1)
    for number in range(50):
        meanings.add(f"c{number:02}", meaning_of([dice.gauss(0, 1) for _ in range(4)]))
        meanings.add(f"c{number % 5:02}", meaning_of([dice.gauss(0, 1) for _ in range(4)]))
    kept = [number for number in range(50) if meanings.get(f"c{number:02}") is not None]
    assert kept == list(range(10)) and meanings.is_full
    meanings.forget("c03")
    assert not meanings.is_full and "c03" not in meanings.find_nearest(meaning_of([1, 1, 1, 1]), 50)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_model_overrides_the_comparison_of_words(seed: int) -> None:
    """With vectors of the intent, more of the labeled questions are where a person would put them."""
    questions = labelled(300, seed)
    dice = random.Random(seed)
    centres = {
        name: [dice.gauss(0, 1) for _ in range(32)] for name in sorted({name for name, _ in questions})
    }

    def meant(name: str) -> IssueMeaning:
        numbers = [centre + dice.gauss(0, 0.5) for centre in centres[name]]
        length = sum(number * number for number in numbers) ** 0.5
        return meaning_of([number / length for number in numbers])

    found: dict[bool, list[str]] = {}
    for with_model in (False, True):
        clustering = Clustering(0, {}, Scale(0.0, 0.8) if with_model else None)
        counted: list[Counter[int]] = [count_words(text, text) for _, text in questions]
        for words in counted:
            clustering.learn(words)
        found[with_model] = []
        for (name, _), words in zip(questions, counted, strict=True):
            means = meant(name) if with_model else None
            cluster_id = clustering.find(words, means) or f"{len(clustering.sizes):05}"
            clustering.join(cluster_id, words, means)
            found[with_model].append(cluster_id)
    names = [name for name, _ in questions]
    assert adjusted_rand(names, found[True]) > max(0.95, adjusted_rand(names, found[False]))
