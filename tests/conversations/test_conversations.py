"""Conversations through the API: ingested once, masked, analyzed by a job, and the tasks that follow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import msgspec
import pytest

from octavo.assistants.conversations.ingesting import QUESTIONS, record_question
from octavo.assistants.conversations.jobs import analyze_conversations
from octavo.kit.db.tables import find_wrong
from octavo.kit.work.worker import Worker
from octavo.organization.access.tokens import create_integration_token
from world import NOBODY, SCRIPT, World

ORG = "/orgs/{organizationId}"
ISSUES, CLUSTERS = f"{ORG}/conversations-issues", f"{ORG}/conversations-clusters"
DAY = timedelta(days=1)


def conversation(id: str, *bodies: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "parts": [{"type": "message", "role": "user", "body": body} for body in bodies], **more}


def ingest(world: World, *conversations: Any, source: str = "integration:desk:one") -> None:
    world.post(
        "admin", world.home.path(f"{ORG}/conversations"), list(conversations), params={"source": source}
    )


def analyse(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def get(world: World, path: str, who: str = "admin", **query: Any) -> Any:
    return world.get(who, world.home.path(path), params=query)


def listed(world: World, path: str, **query: Any) -> list[Any]:
    return get(world, path, **query)["items"]


def desk(world: World) -> list[Any]:
    return listed(world, f"{ORG}/conversations", source="integration:desk:one")


def test_a_conversation_is_stored_with_the_fields_of_its_source(world: World) -> None:
    metadata = {
        "url": "https://desk.test/1",
        "attributes": {"plan": "pro"},
        "createdAt": "2026-01-05T10:00:00.000Z",
    }
    ingest(world, conversation("a/b ?1", "How do I export?", subject="Export", metadata=metadata))
    (row,) = desk(world)
    assert row["subject"] == "Export" and row["createdAt"] == metadata["createdAt"]
    assert row["urls"]["source"] == "https://desk.test/1" and "processedAt" not in row
    details = world.get("admin", row["urls"]["location"])
    assert details["metadata"] == metadata
    assert details["parts"] == [{"type": "message", "role": "user", "body": "How do I export?"}]


def test_a_repeated_upload_changes_nothing_and_a_new_one_replaces_it(world: World) -> None:
    ingest(world, conversation("1", "How do I export?"))
    analyse(world)
    before = desk(world)
    digest = world.digest()
    ingest(world, conversation("1", "How do I export?"))
    assert world.digest() == digest
    (issue,) = listed(world, ISSUES, conversation=before[0]["id"])
    ingest(world, conversation("1", "How do I delete a space for good?"))
    (row,) = desk(world)
    assert row["id"] == before[0]["id"] and "processedAt" not in row
    analyse(world)
    (again,) = listed(world, ISSUES, conversation=row["id"])
    assert again["issue"]["id"] == issue["issue"]["id"]
    assert again["issue"]["title"] == "How do I delete a space for good?"
    assert desk(world)[0]["processedAt"]


def test_one_id_in_two_sources_is_two_conversations(world: World) -> None:
    ingest(world, conversation("1", "How do I export?"))
    ingest(world, conversation("1", "How do I export?"), source="email")
    assert len(desk(world)) == 1 and len(listed(world, f"{ORG}/conversations", source="email")) == 1


def test_the_later_of_two_conversations_with_one_id_wins(world: World) -> None:
    ingest(world, conversation("1", "first"), conversation("1", "second"))
    (row,) = desk(world)
    assert world.get("admin", row["urls"]["location"])["parts"][0]["body"] == "second"


def test_personal_data_is_masked_before_it_is_stored(world: World) -> None:
    secrets = ["ann@example.org", "+49 30 1234567", "4111 1111 1111 1111", "sk-abcdefghijklmnopqrstu"]
    text = " and ".join(secrets)
    ingest(
        world,
        conversation(
            "1",
            f"I am {text}. Why?",
            subject=f"From {text}",
            metadata={
                "attributes": {"who": text},
                "url": "https://u:p4ssword@desk.test/1?token=abcdef123456",
            },
        ),
    )
    analyse(world)
    with world.context.db.read() as tx:
        for table in ("conversations", "conversation_issues", "issue_clusters"):
            kept = repr(tx.all(f"SELECT * FROM {table}"))
            assert not [secret for secret in (*secrets, "p4ssword", "abcdef123456") if secret in kept]
    assert desk(world)[0]["subject"] == "From [email] and [phone] and [card] and [secret]"


def test_masking_can_be_turned_off(world: World) -> None:
    kept = world.context.settings
    world.context.settings = msgspec.structs.replace(kept, mask_conversations=False)
    try:
        ingest(world, conversation("1", "I am ann@example.org", subject="ann@example.org"))
        assert desk(world)[0]["subject"] == "ann@example.org"
    finally:
        world.context.settings = kept


def test_similar_questions_form_a_cluster_with_a_stable_id(world: World) -> None:
    ingest(world, conversation("1", "How do I connect my own domain name?"))
    analyse(world)
    issue = next(each["issue"] for each in listed(world, ISSUES) if "domain" in each["issue"]["title"])
    assert "cluster" not in issue, "nobody else asked that yet"
    ingest(world, conversation("2", "Connect our own domain name to the site"), source="email")
    analyse(world)
    found = [each for each in listed(world, CLUSTERS) if "domain" in each["label"]]
    assert len(found) == 1
    cluster = found[0]
    assert cluster["stats"]["issues"] == cluster["stats"]["conversations"] == 2
    assert cluster["sources"] == {"email": 1, "integration:desk:one": 1}
    assert sum(cluster["weeklyPulse"]) == 2 and cluster["weeklyPulse"][-1] == 2
    assert {each["issue"]["cluster"] for each in listed(world, ISSUES, cluster=cluster["id"])} == {
        cluster["id"]
    }
    ingest(
        world, *[conversation(f"m{n}", f"My own domain name does not connect, case {n}") for n in range(5)]
    )
    analyse(world)
    again = get(world, f"{CLUSTERS}/{cluster['id']}")
    assert again["stats"]["issues"] == 7 and again["createdAt"] == cluster["createdAt"]
    with world.context.db.read() as tx:
        assert not list(find_wrong(tx, 10))


def test_activity_covers_thirteen_weeks(world: World) -> None:
    moment = datetime.now(UTC)
    asked = [
        conversation(
            str(days),
            "How do I connect my own domain name?",
            metadata={"createdAt": (moment - days * DAY).isoformat()},
        )
        for days in (0, 7, 14, 15, 70, 200)
    ]
    ingest(world, *asked)
    analyse(world)
    (cluster,) = [each for each in listed(world, CLUSTERS) if "domain" in each["label"]]
    assert len(cluster["weeklyPulse"]) == 13 and sum(cluster["weeklyPulse"]) == 5
    assert cluster["stats"]["issues"] == 6


def test_a_cluster_without_issues_is_deleted(world: World) -> None:
    ingest(
        world,
        conversation("1", "How do I connect my own domain name?"),
        conversation("2", "Connect my own domain name"),
    )
    analyse(world)
    (cluster,) = [each for each in listed(world, CLUSTERS) if "domain" in each["label"]]
    ingest(
        world, conversation("1", "Why is the invoice wrong?"), conversation("2", "Where are teams invited?")
    )
    analyse(world)
    answer = world.call("admin", "GET", world.home.path(f"{CLUSTERS}/{cluster['id']}"))
    assert answer.status_code == 404
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM issue_clusters WHERE id = :id", id=cluster["id"]) == 0


ORDERS = ["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"]


def test_clusters_are_listed_in_any_order_without_duplicates(world: World) -> None:
    ingest(
        world,
        *[conversation(f"d{n}", "How do I connect my own domain name?") for n in range(3)],
        *[conversation(f"e{n}", "Where are the invoices of last year?") for n in range(4)],
    )
    analyse(world)
    for order_by, order in product(ORDERS, ("asc", "desc")):
        asked: dict[str, Any] = {"orderBy": order_by, "order": order}
        whole = listed(world, CLUSTERS, **asked)
        assert len(whole) == 3, asked
        found = []
        while True:
            answer = get(world, CLUSTERS, limit=1, **asked)
            assert answer["count"] == 3, asked
            found += answer["items"]
            if "next" not in answer:
                break
            asked["page"] = answer["next"]["page"]
        assert [each["id"] for each in found] == [each["id"] for each in whole], asked
        if order_by == "issues":
            assert [each["stats"]["issues"] for each in whole] == ([2, 3, 4] if order == "asc" else [4, 3, 2])


def test_only_visible_pages_are_suggested_for_a_cluster(world: World) -> None:
    found = get(world, f"{CLUSTERS}/{{clusterId}}/pages")
    assert found["answered"] and world.home["pageId"] in {each["page"] for each in found["items"]}
    body = {"defaultLevel": None}
    assert world.call("admin", "PATCH", world.home.path("/spaces/{spaceId}"), json=body).is_success
    hidden = get(world, f"{CLUSTERS}/{{clusterId}}/pages", who="editor")
    assert world.home["spaceId"] not in {each["space"] for each in hidden["items"]}


def test_a_task_creates_a_change_request_and_ends_with_it(world: World) -> None:
    task = get(world, f"{ORG}/agent-tasks/{{agentTaskId}}")
    cluster = get(world, f"{CLUSTERS}/{{clusterId}}")
    assert task["status"] == "backlog" and task["title"] == cluster["label"]
    assert cluster["stats"]["tasksBacklog"] == cluster["stats"]["tasksTotal"] == 1
    path = world.home.path(f"{ORG}/agent-tasks/{{agentTaskId}}")
    started = world.call("editor", "PATCH", path, json={"status": "started"}).json()
    changes = listed(
        world, "/spaces/{spaceId}/change-requests", status="draft", conversationsIssuesCluster=cluster["id"]
    )
    assert [change["id"] for change in changes] == [started["changeRequest"]]
    assert changes[0]["subject"] == cluster["label"]
    # Dismissed and started again, it has the same one.
    world.call("editor", "PATCH", path, json={"status": "canceled"})
    assert world.call("editor", "PATCH", path, json={"status": "started"}).json() | {
        "updatedAt": ""
    } == started | {"updatedAt": ""}
    change = world.home.path("/spaces/{spaceId}/change-requests/{id}", id=started["changeRequest"])
    edit = {
        "changes": [
            {"operation": "update_page", "page": world.home["pageId"], "description": "How to install"}
        ]
    }
    world.post("admin", f"{change}/content", edit)
    world.post("admin", f"{change}/merge")
    analyse(world)
    assert get(world, f"{ORG}/agent-tasks/{{agentTaskId}}")["status"] == "completed"
    stats = get(world, f"{CLUSTERS}/{{clusterId}}")["stats"]
    assert stats["tasksCompleted"] == 1 and stats["tasksStarted"] == 0
    assert world.call("admin", "PATCH", path, json={"status": "backlog"}).status_code == 409
    setup = get(world, f"{ORG}/agents-setup")["stats"]
    assert setup["completedTasks"] == 1 and setup["conversations"] == 2 and setup["issuesClusters"] == 1


def test_creating_tasks_requires_permission_for_the_space(world: World) -> None:
    body = {"space": world.home["spaceId"], "title": "Write about domains"}
    path = world.home.path(f"{ORG}/agent-tasks")
    assert world.call("commenter", "POST", path, json=body).status_code == 403
    for foreign in ({"space": world.away["spaceId"]}, {"cluster": world.away["clusterId"]}):
        assert world.call("editor", "POST", path, json=body | foreign).status_code == 404
    assert world.call("editor", "POST", path, json={"space": world.home["spaceId"]}).status_code == 400
    instructions = {"instructions": {"nodes": [{"object": "block", "type": "no-such-block"}]}}
    assert world.call("editor", "POST", path, json=body | instructions).status_code == 400


def test_removing_a_space_keeps_clusters(world: World) -> None:
    space = world.post("admin", world.home.path(f"{ORG}/spaces"), {"title": "Leaving"})["id"]
    task = {"space": space, "cluster": world.home["clusterId"]}
    made = world.post("admin", world.home.path(f"{ORG}/agent-tasks"), task)
    assert world.call("admin", "PATCH", made["urls"]["location"], json={"status": "started"}).is_success
    other = world.post("admin", "/orgs", {"title": "Elsewhere"})["id"]
    world.post("admin", f"/spaces/{space}/transfer", {"organization": other})
    assert made["id"] not in {each["id"] for each in listed(world, f"{ORG}/agent-tasks")}
    assert get(world, f"{CLUSTERS}/{{clusterId}}")["stats"]["tasksTotal"] == 1
    with world.context.db.read() as tx:
        assert not list(find_wrong(tx, 10))


def test_an_overtaken_batch_is_repeated(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from octavo.assistants.conversations import jobs

    ingest(world, conversation("1", "How do I connect my own domain name?"))
    # Another process writes between reading and writing the batch.
    analysed = jobs._analyze

    def analyse_late(*arguments: Any) -> Any:
        monkeypatch.setattr(jobs, "_analyze", analysed)
        found = analysed(*arguments)
        late.append(True)
        return found

    late: list[bool] = []
    monkeypatch.setattr(jobs, "_analyze", analyse_late)
    original = world.context.db.write
    state = {"done": False}

    def write_after_rival() -> Any:
        if late and not state["done"]:
            state["done"] = True
            ingest(world, conversation("1", "Where are the invoices of last year?"))
        return original()

    monkeypatch.setattr(world.context.db, "write", write_after_rival)
    analyze_conversations(world.context, world.home["organizationId"])
    assert state["done"]
    (row,) = desk(world)
    (issue,) = listed(world, ISSUES, conversation=row["id"])
    assert issue["issue"]["title"] == "Where are the invoices of last year?"


def test_unanswered_questions_are_stored_once_a_day(world: World) -> None:
    with world.context.db.write() as tx:
        for question in ("How do I fly?", "how do I  FLY?", "How do I swim?"):
            record_question(
                tx, world.context.settings, world.home["organizationId"], world.users["reader"], question
            )
    assert len(listed(world, f"{ORG}/conversations", source=QUESTIONS)) == 2


def test_an_integration_uploads_conversations_as_itself(world: World) -> None:
    manifest = {
        "title": "Desk",
        "description": "Tickets",
        "organization": world.home["organizationId"],
        "runtime": "v2",
        "script": SCRIPT,
        "scopes": ["conversations:ingest"],
    }
    world.post("admin", "/integrations/desk", manifest)
    body = {"organization": world.home["organizationId"]}
    installation = world.post("admin", "/integrations/desk/installations", body)["id"]
    with world.context.db.read() as tx:
        integration = tx.value("SELECT id FROM integrations WHERE name = 'desk'")
    token = create_integration_token(world.context.signer, integration, installation)
    path, own = world.home.path(f"{ORG}/conversations"), f"integration:desk:{installation}"
    for source, status in ((None, 204), (own, 204), ("email", 400), ("integration:other:1", 400)):
        answer = world.call(
            NOBODY,
            "POST",
            path,
            json=conversation("1", "How do I export?"),
            params={"source": source} if source else {},
            headers={"authorization": f"Bearer {token}"},
        )
        assert answer.status_code == status, answer.text
    assert len(listed(world, f"{ORG}/conversations", source=own)) == 1
    refused = world.call(NOBODY, "GET", path, headers={"authorization": f"Bearer {token}"})
    assert refused.status_code == 403


BAD = {
    "id": [conversation(""), conversation("x" * 256), {"parts": []}, conversation(1)],  # type: ignore[arg-type]
    "parts": [
        {"id": "1"},
        {"id": "1", "parts": {}},
        {"id": "1", "parts": [None]},
        conversation("1", *["x"] * 1001),
    ],
    "role": [{"id": "1", "parts": [{"type": "message", "role": "bot", "body": "x"}]}],
    "type": [{"id": "1", "parts": [{"type": "note", "role": "user", "body": "x"}]}],
    "body": [
        {"id": "1", "parts": [{"type": "message", "role": "user"}]},
        conversation("1", "x" * 100_001),
        [conversation(str(n), "x") for n in range(1001)],
    ],
    "subject": [conversation("1", "x", subject="x" * 513), conversation("1", "x", subject=None)],
    "url": [
        conversation("1", "x", metadata={"url": url})
        for url in ("javascript:alert(1)", "no url", "http://", "https://[", "")
    ],
    "createdAt": [
        conversation("1", "x", metadata={"createdAt": at})
        for at in ("yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 12)
    ],
    "attributes": [
        conversation("1", "x", metadata={"attributes": value})
        for value in ({"a": 1}, [], {"a": None}, {str(n): "" for n in range(101)})
    ],
}


@pytest.mark.parametrize(
    ("field", "body"), [(field, body) for field, bodies in BAD.items() for body in bodies]
)
def test_invalid_conversations_name_the_field(sqlite_world: World, field: str, body: Any) -> None:
    world = sqlite_world
    before = world.digest()
    answer = world.call("admin", "POST", world.home.path(f"{ORG}/conversations"), json=body)
    assert answer.status_code == 400 and field in answer.json()["error"]["message"], answer.text
    assert world.digest() == before


@pytest.mark.parametrize("source", ["x", "integration:", "integration:a", "integration:a:b:c", "email\n"])
def test_names_of_sources_are_normalized(sqlite_world: World, source: str) -> None:
    path = sqlite_world.home.path(f"{ORG}/conversations")
    answer = sqlite_world.call("admin", "POST", path, json=conversation("1", "x"), params={"source": source})
    assert answer.status_code == 400 and "source" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\u202e\ufffd",
        "{{ }} {% if %}",
        "<script>alert(1)</script>",
        "x" * 100_000,
        "\ud7ff 日本語の質問です。",
    ],
)
def test_unusual_conversations_are_analyzed(sqlite_world: World, body: str) -> None:
    ingest(sqlite_world, conversation("1", body, body), conversation("2"))
    analyse(sqlite_world)
    assert all(row["processedAt"] for row in desk(sqlite_world))
