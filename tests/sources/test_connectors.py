"""Tests of connectors, with servers that answer like the services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.assistants.sources import client, syncing
from octavo.assistants.sources.connectors import freshdesk, github, hubspot, intercom, linear, zendesk
from octavo.assistants.sources.types import SourceFailure
from octavo.kit.net.fetch import Fetcher, Limits
from world import World

from .services import Service, serving

PATH = "/orgs/{organizationId}/sites/{siteId}/context-connections"
TOKEN = "secret-token-of-the-service"


class Connected:
    """A connection to a service. ``service``: the server that stands for it."""

    def __init__(self, world: World, service: Service) -> None:
        self.world, self.service, self.path = world, service, world.home.path(PATH)
        self.id = ""

    def add(self, connector: str, **setup: str) -> dict[str, Any]:
        body = {"connector": connector, "setupSettings": setup}
        found: dict[str, Any] = self.world.post("admin", self.path, body)
        assert TOKEN not in str(found)
        self.id = found["id"]
        return found

    def sync(self) -> dict[str, Any]:
        syncing.sync_connection(self.world.context, self.id)
        found: dict[str, Any] = self.world.get("admin", f"{self.path}/{self.id}")
        return found

    def test(self) -> dict[str, Any]:
        found: dict[str, Any] = self.world.post("admin", f"{self.path}/{self.id}/test")
        return found

    def stored(self) -> dict[str, tuple[str, str]]:
        """Return the title and text of each record by its ID at the source."""
        with self.world.context.db.read() as tx:
            rows = tx.all("SELECT external_id, title, text FROM context_records")
        return {id: (title, text) for id, title, text in rows}


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as found:
        yield found


@pytest.fixture
def connected(world: World, service: Service, monkeypatch: pytest.MonkeyPatch) -> Connected:
    settings = replace(world.context.settings, allow_private_fetch=service.host)
    monkeypatch.setattr(world.context, "settings", settings)
    monkeypatch.setattr(github, "BASE", service.url)
    monkeypatch.setattr(zendesk, "BASE", f"{service.url}/{{subdomain}}")
    for module in (intercom, linear, hubspot):
        monkeypatch.setattr(module, "BASE", service.url)
    monkeypatch.setattr(freshdesk, "BASE", f"{service.url}/{{domain}}")
    return Connected(world, service)


def issue(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": f"Issue {number}",
        "body": "Text",
        "html_url": f"https://github.com/acme/docs/issues/{number}",
        "state": "open",
        "labels": [{"name": "bug"}],
        "created_at": "2026-11-01T10:00:00Z",
        "updated_at": f"2026-11-01T{number % 24:02}:00:00Z",
        **fields,
    }


def test_github_issues_are_read_from_their_last_change(connected: Connected) -> None:
    issues = [issue(number) for number in range(150)]
    issues[3]["pull_request"] = {"url": "x"}

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        assert path == "/repos/acme/docs/issues"
        start = (int(query.get("page", 1)) - 1) * int(query["per_page"])
        return issues[start : start + int(query["per_page"])]

    connected.service.answer = answer
    connected.add("builtin:github-issues", repository="acme/docs", token=TOKEN)
    assert connected.test() == {"object": "context-connection-test-result", "success": True}
    found = connected.sync()
    assert (found["status"], found["records"], found["setupSettings"]["repository"]) == (
        "succeeded",
        149,
        "acme/docs",
    )
    assert connected.service.authorization == {f"Bearer {TOKEN}"}
    issues[:] = [issue(7, title="Changed")]
    assert connected.sync()["records"] == 149
    assert connected.service.asked[-1][1]["since"] == "2026-11-01T23:00:00Z"
    assert connected.stored()["7"][0] == "Changed" and "3" not in connected.stored()


def test_github_discussions_are_read_with_their_answers(connected: Connected) -> None:
    nodes = [
        {
            "number": number,
            "title": f"Question {number}",
            "body": "How?",
            "url": f"https://github.com/acme/docs/discussions/{number}",
            "createdAt": "2026-11-01T10:00:00Z",
            "updatedAt": f"2026-11-0{9 - number}T10:00:00Z",
            "category": {"name": "Q&A"},
            "answer": {"body": "So."} if number == 1 else None,
            "labels": {"nodes": [{"name": "help"}]},
        }
        for number in range(1, 4)
    ]

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        assert path == "/graphql" and body["variables"]["owner"] == "acme"
        at = int(body["variables"]["after"] or 0)
        page = {
            "nodes": nodes[at : at + 2],
            "pageInfo": {"hasNextPage": at + 2 < len(nodes), "endCursor": str(at + 2)},
        }
        return {"data": {"repository": {"discussions": page}}}

    connected.service.answer = answer
    connected.add("builtin:github-discussions", repository="acme/docs", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 3
    assert connected.stored()["1"] == ("Question 1", "How?\n\nSo.")
    connected.service.asked.clear()
    connected.sync()
    assert len(connected.service.asked) == 1, "a second sync stops at known discussions"
    connected.service.answer = lambda *_: {"errors": [{"type": "NOT_FOUND", "message": "No such repository"}]}
    assert "No such repository" in connected.test()["error"]


def test_zendesk_tickets_are_read_with_the_cursor_of_the_export(connected: Connected) -> None:
    def ticket(number: int, status: str = "open") -> dict[str, Any]:
        return {
            "id": number,
            "subject": f"Ticket {number}",
            "description": "I am ann@example.org",
            "status": status,
            "tags": ["billing"],
            "created_at": "2026-11-01T10:00:00Z",
        }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/acme/tickets.json":
            return {"tickets": []}
        assert path == "/acme/incremental/tickets/cursor.json"
        if "cursor" in query:
            return {"tickets": [ticket(3)], "after_cursor": "three", "end_of_stream": True}
        first = [ticket(1), ticket(2, "deleted")]
        return {"tickets": first, "after_cursor": "two", "end_of_stream": False}

    connected.service.answer = answer
    connected.add("builtin:zendesk", subdomain="acme", email="me@acme.org", apiToken=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["1"] == ("Ticket 1", "I am [email]")
    connected.sync()
    assert connected.service.asked[-1][1] == {"cursor": "three"}
    wrong = {"subdomain": "evil.example.org/#", "email": "me@acme.org", "apiToken": TOKEN}
    connected.add("builtin:zendesk", **wrong)
    assert connected.sync()["failureReason"] == "misconfigured"


def test_intercom_conversations_are_read_as_text(connected: Connected) -> None:
    asked: list[Any] = []

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        asked.append(body)
        if path == "/me":
            return {"type": "admin"}
        after = body["pagination"].get("starting_after")
        source = {"subject": "", "body": "<p>How do I <b>export</b>?</p><script>x()</script><p>Thanks</p>"}
        number = 2 if after else 1
        one = {"id": str(number), "source": source, "state": "open", "created_at": 1_760_000_000}
        one |= {"updated_at": 1_760_000_000 + number, "tags": {"tags": [{"name": "billing"}]}}
        return {"conversations": [one], "pages": {"next": None if after else {"starting_after": "x"}}}

    connected.service.answer = answer
    connected.add("builtin:intercom", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["1"] == ("How do I export? Thanks", "How do I export?\nThanks")
    connected.sync()
    assert asked[-1]["query"]["value"] == 1_760_000_001


def test_linear_issues_are_read_from_their_last_change(connected: Connected) -> None:
    asked: list[Any] = []

    def issue_of(number: int) -> dict[str, Any]:
        return {
            "identifier": f"DOC-{number}",
            "title": f"Issue {number}",
            "description": "How do I export?",
            "url": f"https://linear.app/acme/issue/DOC-{number}",
            "createdAt": "2026-11-01T10:00:00.000Z",
            "updatedAt": f"2026-11-0{number}T10:00:00.000Z",
            "state": {"name": "Todo"},
            "labels": {"nodes": [{"name": "docs"}]},
        }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        assert path == "/graphql"
        if "viewer" in body["query"]:
            return {"data": {"viewer": {"id": "me"}}}
        asked.append(body["variables"])
        last = body["variables"]["after"] is not None
        place = {"hasNextPage": not last, "endCursor": "c"}
        return {"data": {"issues": {"nodes": [issue_of(1 if last else 2)], "pageInfo": place}}}

    connected.service.answer = answer
    connected.add("builtin:linear", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["DOC-1"] == ("Issue 1", "How do I export?")
    connected.sync()
    assert asked[-1]["since"] == "2026-11-02T10:00:00.000Z"
    error = {"message": "Authentication required", "extensions": {"code": "AUTHENTICATION_ERROR"}}
    connected.service.answer = lambda path, query, body: {"errors": [error]}
    found = connected.sync()
    assert (found["status"], found["failureReason"]) == ("failed", "authentication")


def test_hubspot_tickets_are_searched_again_after_ten_thousand(connected: Connected) -> None:
    asked: list[Any] = []

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/crm/v3/objects/tickets":
            return {"results": []}
        assert path == "/crm/v3/objects/tickets/search"
        asked.append(body)
        number = len(asked)
        values = {
            "subject": f"Ticket {number}",
            "content": "<p>How do I <b>export</b>?</p>",
            "createdate": "2026-11-01T10:00:00Z",
            "hs_lastmodifieddate": f"2026-11-0{number}T10:00:00Z",
            "hs_ticket_priority": "HIGH",
        }
        paging = {"next": {"after": "10000"}} if number == 1 else None
        return {"results": [{"id": str(number), "properties": values}], "paging": paging}

    connected.service.answer = answer
    connected.add("builtin:hubspot", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["1"] == ("Ticket 1", "How do I export?")
    since = [each["filterGroups"][0]["filters"][0]["value"] for each in asked]
    assert since == ["0", "1793527200000"] and "after" not in asked[1]


def test_freshdesk_tickets_are_read_page_by_page(connected: Connected) -> None:
    def ticket(number: int) -> dict[str, Any]:
        return {
            "id": number,
            "subject": f"Ticket {number}",
            "description_text": "How do I export?",
            "status": 2,
            "tags": ["billing"],
            "created_at": "2026-11-01T10:00:00Z",
            "updated_at": f"2026-11-01T10:{number % 60:02}:00Z",
        }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        assert path == "/acme.freshdesk.com/tickets"
        start = (int(query.get("page", 1)) - 1) * 100
        return [ticket(number) for number in range(start, min(start + 100, 130))]

    connected.service.answer = answer
    connected.add("builtin:freshdesk", domain="acme.freshdesk.com", apiKey=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 130
    assert connected.stored()["1"] == ("Ticket 1", "How do I export?")
    connected.sync()
    assert connected.service.asked[-1][1]["updated_since"] == "2026-11-01T10:59:00Z"
    connected.add("builtin:freshdesk", domain="evil.example.org/#", apiKey=TOKEN)
    assert connected.sync()["failureReason"] == "misconfigured"


def test_jira_issues_are_read_with_the_text_of_their_documents(connected: Connected) -> None:
    text = [{"type": "text", "text": "Open the "}, {"type": "text", "text": "menu."}]
    document = {
        "type": "doc",
        "content": [{"type": "paragraph", "content": text}, {"type": "heading", "content": text}],
    }
    fields = {
        "summary": "Export fails",
        "description": document,
        "status": {"name": "To Do"},
        "labels": ["docs"],
        "created": "2026-11-01T10:00:00.000+0000",
        "updated": "2026-11-03T10:00:00.000+0000",
    }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/rest/api/3/myself":
            return {"accountId": "1"}
        issues = [{"id": "1", "key": "DOC-2" if query.get("nextPageToken") else "DOC-1", "fields": fields}]
        return {"issues": issues, **({} if query.get("nextPageToken") else {"nextPageToken": "next"})}

    connected.service.answer = answer
    connected.add("builtin:jira", baseUrl=f"{connected.service.url}/", apiEmail="me@acme.org", apiToken=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["DOC-1"] == ("Export fails", "Open the menu.\nOpen the menu.")
    connected.sync()
    assert connected.service.asked[-1][1]["jql"].startswith('updated >= "2026-11-03"')


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (401, {}, "authentication"),
        (403, {}, "authentication"),
        (403, {"x-ratelimit-remaining": "0"}, "rate_limited"),
        (429, {"retry-after": "60"}, "rate_limited"),
        (404, {}, "misconfigured"),
        (502, {}, "upstream_unavailable"),
        (418, {}, "unknown"),
        (200, {}, "upstream_unavailable"),
    ],
)
def test_failures_have_a_reason(status: int, headers: dict[str, str], reason: str, service: Service) -> None:
    service.status, service.headers = status, headers
    service.answer = lambda *_: b"[[[["
    with pytest.raises(SourceFailure) as raised:
        client.SourceApi("The service", service.url, Fetcher(service.host), {}).get("/x")
    assert raised.value.reason == reason and raised.value.message.startswith("The service ")


def test_failed_syncs_keep_their_records_and_hanging_ones_end(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = connected.service
    service.answer = lambda path, query, body: [issue(1)]
    connected.add("builtin:github-issues", repository="acme/docs", token=TOKEN)
    assert connected.sync()["records"] == 1
    service.status = 401
    failed = connected.sync()
    assert (failed["status"], failed["failureReason"], failed["records"]) == ("failed", "authentication", 1)
    assert not connected.test()["success"]
    service.status = 200
    assert "failureReason" not in connected.sync()
    service.hangs.set()
    monkeypatch.setattr(client, "_ANSWER", Limits(seconds=0.2))
    assert connected.sync()["failureReason"] == "upstream_unavailable"
    service.hangs.clear()
    # A hidden secret stands for the stored one, and other settings read the source again.
    path = f"{connected.path}/{connected.id}"
    hidden = connected.world.get("admin", path)["setupSettings"]
    changed = connected.world.call(
        "admin", "PATCH", path, json={"setupSettings": {**hidden, "repository": "acme/x"}}
    )
    assert changed.json()["records"] == 0 and changed.json()["status"] == "pending"
    service.authorization.clear()
    connected.sync()
    assert service.authorization == {f"Bearer {TOKEN}"} and "since" not in service.asked[-1][1]


def test_a_hidden_secret_is_never_sent_to_another_server(connected: Connected) -> None:
    connected.add("builtin:jira", baseUrl=connected.service.url, apiEmail="a@b.test", apiToken=TOKEN)
    path = f"{connected.path}/{connected.id}"
    hidden = connected.world.get("admin", path)["setupSettings"]
    refused = connected.world.call(
        "admin", "PATCH", path, json={"setupSettings": {**hidden, "baseUrl": "https://jira.attacker.test"}}
    )
    assert refused.status_code == 400 and "must contain the source's secrets" in refused.text


def test_lists_that_never_end_are_refused(connected: Connected) -> None:
    connected.service.answer = lambda path, query, body: [issue(1)] * 100
    connected.add("builtin:github-issues", repository="acme/docs", token=TOKEN)
    assert connected.sync()["failureMessage"] == "GitHub returned a list that doesn't end. Try again later."
    assert len(connected.service.asked) <= 30
    connected.service.answer = lambda *_: [
        {"number": {}, "title": 7, "labels": "x", "created_at": "never"},
        {},
    ]
    assert connected.sync()["status"] == "succeeded"
