"""Tests of connectors, with servers that answer like the services."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.assistants.sources import client, syncing
from octavo.assistants.sources.connectors import pylon
from octavo.assistants.sources.connectors.registry import Freshdesk, Zendesk, ZohoDesk
from octavo.assistants.sources.connectors.service import ServiceConnector
from octavo.assistants.sources.types import SourceFailure
from octavo.kit.clock import milliseconds
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
    for kind in all_subclasses(ServiceConnector):
        if hasattr(kind, "base") and kind.base.startswith("https://"):
            monkeypatch.setattr(kind, "base", service.url)
    monkeypatch.setattr(Zendesk, "base", f"{service.url}/{{subdomain}}")
    monkeypatch.setattr(Freshdesk, "base", f"{service.url}/{{domain}}")
    monkeypatch.setattr(ZohoDesk, "base", f"{service.url}/desk.{{host}}")
    monkeypatch.setattr(ZohoDesk, "accounts", f"{service.url}/accounts.{{host}}")
    return Connected(world, service)


def all_subclasses(kind: type[ServiceConnector]) -> Iterator[type[ServiceConnector]]:
    for each in kind.__subclasses__():
        yield each
        yield from all_subclasses(each)


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


def test_front_messages_are_read_back_to_the_last_known_one(connected: Connected) -> None:
    def event(number: int, type: str = "inbound") -> dict[str, Any]:
        message = {"id": f"msg_{number}", "body": "<p>How do I <b>export</b>?</p>", "text": ""}
        return {
            "id": f"evt_{number}",
            "type": type,
            "emitted_at": 1_760_000_000.25 + number,
            "conversation": {
                "id": "cnv_1",
                "subject": f"Question {number}",
                "status": "assigned",
                "tags": [{"name": "billing"}],
            },
            "target": {"_meta": {"type": "message"}, "data": {**message, "created_at": 1_760_000_000}},
        }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/me":
            return {"id": "cmp_1"}
        assert path == "/events" and query["q[types][]"] == "inbound"
        if query.get("page_token") == "two":
            return {"_pagination": {"next": None}, "_results": [event(1)]}
        following = "https://elsewhere.attacker.test/events?limit=100&page_token=two"
        return {"_pagination": {"next": following}, "_results": [event(3, "outbound"), event(2)]}

    connected.service.answer = answer
    connected.add("builtin:front", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 2
    assert connected.stored()["msg_1"] == ("Question 1", "How do I export?")
    connected.sync()
    assert connected.service.asked[-1][1]["q[after]"] == "1760000001"
    assert connected.service.authorization == {f"Bearer {TOKEN}"}


def test_pylon_issues_are_read_in_periods_of_a_month(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = milliseconds(datetime(2022, 3, 15, tzinfo=UTC))
    monkeypatch.setattr(pylon, "now", lambda: start)
    asked: list[Any] = []

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/me":
            return {"data": {"id": "x"}}
        assert path == "/issues/search"
        asked.append(body)
        number = len(asked)
        one = {"id": f"issue-{number}", "title": f"Issue {number}", "body_html": "<p>How do I export?</p>"}
        one |= {"state": "new", "tags": ["billing"], "created_at": "2022-01-01T10:00:00Z"}
        paging = {"cursor": "next", "has_next_page": number == 1}
        return {"data": [one], "pagination": paging, "request_id": "r"}

    connected.service.answer = answer
    connected.add("builtin:pylon", token=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 4
    assert connected.stored()["issue-1"] == ("Issue 1", "How do I export?")
    periods = [each["filter"]["values"] for each in asked]
    assert periods[0] == periods[1] == ["2022-01-01T00:00:00.000Z", "2022-01-31T00:00:00.000Z"]
    assert asked[1]["cursor"] == "next" and periods[-1][1] == "2022-03-15T00:00:00.000Z"
    asked.clear()
    connected.sync()
    assert [each["filter"]["values"][0] for each in asked] == ["2022-03-14T23:55:00.000Z"] * 2


def test_zoho_desk_tickets_are_read_with_a_token_that_is_renewed(connected: Connected) -> None:
    def ticket(number: int) -> dict[str, Any]:
        return {
            "id": str(number),
            "subject": f"Ticket {number}",
            "description": "<div>How do I export?</div>",
            "status": "Open",
            "webUrl": f"https://desk.zoho.eu/agent/acme/tickets/{number}",
            "createdTime": "2026-11-01T10:00:00.000Z",
            "modifiedTime": f"2026-11-01T10:{number % 60:02}:00.000Z",
        }

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/accounts.zoho.eu/oauth/v2/token":
            assert body["grant_type"] == "refresh_token" and body["client_id"] == "client"
            return {"access_token": "short"} if body["refresh_token"] == TOKEN else {"error": "invalid_code"}
        assert path.startswith("/desk.zoho.eu/tickets")
        start = int(query.get("from", 0))
        return {"data": [ticket(number) for number in range(start, min(start + 100, 130))]}

    connected.service.answer = answer
    setup = {"dataCenter": "eu", "orgId": "7", "clientId": "client", "clientSecret": TOKEN}
    connected.add("builtin:zoho-desk", **setup, refreshToken=TOKEN)
    assert connected.test()["success"] and connected.sync()["records"] == 130
    assert connected.stored()["1"] == ("Ticket 1", "How do I export?")
    assert connected.service.authorization == {None, "Zoho-oauthtoken short"}
    connected.service.answer = lambda path, query, body: (
        {"access_token": "short"} if "accounts" in path else b""
    )
    connected.service.status = 200
    assert connected.sync()["records"] == 130, "Zoho Desk answers with an empty body if nothing changed"
    since, _, _ = connected.service.asked[-1][1]["modifiedTimeRange"].partition(",")
    assert since == "2026-11-01T10:59:00.000Z"
    connected.service.answer = answer
    connected.add("builtin:zoho-desk", **setup, refreshToken="wrong")
    failed = connected.sync()
    assert failed["failureReason"] == "authentication" and "(invalid_code)" in failed["failureMessage"]
    connected.add("builtin:zoho-desk", **setup | {"dataCenter": "attacker.test/#"}, refreshToken=TOKEN)
    assert connected.sync()["failureReason"] == "misconfigured"


def test_youtube_videos_are_read_from_the_feed_of_the_channel(connected: Connected) -> None:
    channel = "UCaaaaaaaaaaaaaaaaaaaaaa"
    feed = """<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]>
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015"
        xmlns:media="http://search.yahoo.com/mrss/"><entry><yt:videoId>v1</yt:videoId><title>Export &x;</title>
        <published>2026-11-01T10:00:00+00:00</published><media:group><media:description>How to export.
        </media:description></media:group></entry></feed>"""
    page = f'<link rel="alternate" href="https://www.youtube.com/feeds/videos.xml?channel_id={channel}">'

    def answer(path: str, query: dict[str, str], body: Any) -> Any:
        if path == "/@acme":
            return page.encode()
        return feed.encode() if query.get("channel_id") == channel else b"<html>"

    connected.service.answer = answer
    connected.add("builtin:youtube", channelId="@acme")
    assert connected.test()["success"] and connected.sync()["records"] == 1
    assert connected.stored()["v1"] == ("Export", "How to export.\n        ")
    connected.add("builtin:youtube", channelId=channel)
    assert connected.sync()["records"] == 1
    connected.add("builtin:youtube", channelId="UC/../../x")
    assert connected.sync()["failureReason"] == "misconfigured"
    connected.service.answer = lambda path, query, body: b"<html>Before you continue"
    connected.add("builtin:youtube", channelId="@acme")
    failed = connected.sync()
    assert failed["failureReason"] == "misconfigured" and "starts with UC" in failed["failureMessage"]
    connected.add("builtin:youtube", channelId=channel)
    assert connected.sync()["failureReason"] == "upstream_unavailable"


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
    assert (
        connected.sync()["failureMessage"]
        == "GitHub returned too many issues with the same update time. Try again later."
    )
    assert len(connected.service.asked) <= 30
    connected.service.answer = lambda *_: [
        {"number": {}, "title": 7, "labels": "x", "created_at": "never"},
        {},
    ]
    assert connected.sync()["status"] == "succeeded"
