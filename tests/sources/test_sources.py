"""Tests of sources: their settings, secrets, rights, records, and syncs of websites and email."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from octavo.assistants.sources import mail, syncing
from octavo.assistants.sources.connectors import website
from octavo.assistants.sources.store import find_connection
from octavo.assistants.sources.types import SourceRecord
from recorded_platforms import serve
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"
HOME = b"<html><title>Home</title><body><main><h1>Welcome</h1><p>Start here.</p><a href='/a'>A</a></main></body></html>"
PAGE = b"<html><body><main><h1>Part <script>x()</script>A</h1><p>Write to ann@example.org.</p></main></body></html>"


class Sources:
    """The sources of a site, as its administrator uses them."""

    def __init__(self, world: World) -> None:
        self.world, self.place = world, world.home
        self.path = self.place.path(f"{SITE}/context-connections")
        self.records_path = self.place.path(f"{SITE}/context-records")

    def add(self, connector: str, usage: dict[str, Any] | None = None, **setup: str) -> dict[str, Any]:
        body: dict[str, Any] = {"connector": connector, "usageSettings": usage or {}}
        if setup:
            body["setupSettings"] = setup
        found: dict[str, Any] = self.world.post("admin", self.path, body)
        return found

    def sync(self, id: str) -> dict[str, Any]:
        syncing.sync_connection(self.world.context, id)
        found: dict[str, Any] = self.world.get("admin", f"{self.path}/{id}")
        return found

    def records(self, query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.world.get("admin", f"{self.records_path}?limit=1000&{query}")[
            "items"
        ]
        return found

    def put(self, *records: dict[str, Any], who: str = "admin") -> Any:
        full = [{"type": "ticket", "title": "A", "body": "B", **record} for record in records]
        return self.world.call(who, "PUT", self.records_path, json=full)

    def texts(self) -> list[str]:
        with self.world.context.db.read() as tx:
            return [row[0] for row in tx.all("SELECT text FROM context_records ORDER BY external_id")]


@pytest.fixture
def sources(world: World) -> Sources:
    return Sources(world)


@pytest.fixture
def site(sources: Sources, monkeypatch: pytest.MonkeyPatch):
    """A website that this server may read."""
    with serve({"/": HOME, "/a": PAGE}) as found:
        host = found.address.removeprefix("http://")
        settings = replace(sources.world.context.settings, allow_private_fetch=host)
        monkeypatch.setattr(sources.world.context, "settings", settings)
        answer = found.answer

        def answer_html(path: str, headers: Any) -> tuple[int, dict[str, str], bytes]:
            status, _, body = answer(path, headers)
            return status, {"content-type": "text/html"}, body

        found.answer = answer_html
        yield found


def test_records_are_replaced_by_their_id_and_masked(sources: Sources) -> None:
    first = {"id": "1", "title": "Mail ann@example.org", "body": "password: hunter22!", "metadata": {"n": 1}}
    assert sources.put(first, {"id": "2", "type": "document", "body": "ann@example.org"}).status_code == 204
    assert sources.put({**first, "body": "Changed\0"}).status_code in (204, 400)
    assert sources.put({"id": "1", "title": "Later", "body": "Changed"}).status_code == 204
    (newest, oldest) = sources.records()
    assert {newest["title"], oldest["title"]} == {"A", "Later"}
    assert sources.texts() == ["Changed", "ann@example.org"]
    (connection,) = sources.world.get("admin", sources.path)["items"]
    assert (connection["connector"], connection["records"], connection["status"]) == (
        "builtin:api",
        2,
        "succeeded",
    )
    assert len(sources.records("type=document")) == 1 == len(sources.records("type=ticket"))
    assert sources.records("topic=t") == [] == sources.records("connection=none")
    assert sources.put({"id": "3", "url": "javascript:alert(1)"}).status_code == 400
    assert sources.put({"id": "3"}, who="reader").status_code == 403
    assert sources.world.call("reader", "GET", sources.records_path).status_code == 403


def test_settings_are_checked_and_secrets_hidden(sources: Sources) -> None:
    def refused(body: dict[str, Any]) -> str:
        answer = sources.world.call("admin", "POST", sources.path, json=body)
        assert answer.status_code == 400
        return str(answer.json()["error"]["message"])

    assert refused({"connector": "builtin:slack"}).startswith("connector: must be one of builtin:api")
    assert "setupSettings.url: is required" in refused({"connector": "builtin:website"})
    assert "isn't a setting for" in refused({"connector": "builtin:email", "setupSettings": {"token": "t"}})
    wrong = {"connector": "builtin:website", "setupSettings": {"url": "file:///etc/passwd"}}
    assert "must be an http or https URL" in refused(wrong)
    for name in ("search", "sync"):
        assert f"usageSettings.{name}" in refused({"connector": "builtin:api", "usageSettings": {name: True}})
    made = sources.add("builtin:email")
    path = f"{sources.path}/{made['id']}"
    assert sources.world.call("editor", "POST", f"{path}/sync").status_code == 400
    assert sources.world.post("admin", f"{path}/test")["success"]
    assert sources.world.call("editor", "PATCH", path, json={"label": "Mail"}).status_code == 403
    changed = sources.world.call("admin", "PATCH", path, json={"label": "Mail", "filter": "-spam"}).json()
    assert (changed["label"], changed["filter"]) == ("Mail", "-spam")
    assert sources.world.call("admin", "PATCH", path, json={"connector": "builtin:api"}).status_code == 400
    assert sources.world.call("admin", "DELETE", path).status_code == 205
    assert sources.world.call("admin", "DELETE", path).status_code == 204


def test_a_website_is_read_completely_each_time(sources: Sources, site: Any) -> None:
    made = sources.add("builtin:website", url=f"{site.address}/")
    assert sources.world.post("admin", f"{sources.path}/{made['id']}/test")["success"]
    assert sources.sync(made["id"])["records"] == 2
    assert {record["title"] for record in sources.records()} == {"Welcome", "Part A"}
    assert {record["urls"]["source"] for record in sources.records()} == {
        f"{site.address}/",
        f"{site.address}/a",
    }
    site.answers["/"] = HOME.replace(b"<a href='/a'>A</a>", b"")
    assert sources.sync(made["id"])["records"] == 1 == len(sources.records())
    site.answers.clear()
    failed = sources.sync(made["id"])
    assert failed["status"] == "failed" and failed["failureReason"] == "misconfigured"
    assert failed["records"] == 1, "a failed sync deletes nothing"
    result = sources.world.post("admin", f"{sources.path}/{made['id']}/test")
    assert not result["success"] and "status 404" in result["error"]


def test_a_website_that_links_to_new_pages_forever_is_read_in_part(
    sources: Sources, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every URL answers with 200 and a link to another URL."""
    monkeypatch.setattr(website, "_MOST", 5)

    def answer(path: str, headers: Any) -> tuple[int, dict[str, str], bytes]:
        number = int("0" + "".join(filter(str.isdigit, path)))
        link = f"<a href='/{number + 1}'>Next</a>"
        text = f"<html><body><main><h1>Page {number}</h1><p>Words.</p>{link}</main></body></html>"
        return 200, {"content-type": "text/html"}, text.encode()

    site.answer = answer
    made = sources.add("builtin:website", url=f"{site.address}/")
    assert sources.sync(made["id"])["records"] == 5 == sources.sync(made["id"])["records"]


def test_a_filter_selects_records(sources: Sources) -> None:
    sources.put({"id": "0"})
    (made,) = sources.world.get("admin", sources.path)["items"]
    path = f"{sources.path}/{made['id']}"
    assert sources.world.call("admin", "PATCH", path, json={"filter": "billing -internal"}).status_code == 200
    sources.put(
        {"id": "1", "metadata": {"labels": "billing"}},
        {"id": "2", "title": "Billing", "body": "internal"},
        {"id": "3", "title": "Other"},
    )
    assert {record["title"] for record in sources.records()} == {"A"} and len(sources.records()) == 2


def test_a_sync_stops_when_it_is_replaced_or_its_connection_deleted(sources: Sources, site: Any) -> None:
    made = sources.add("builtin:website", url=f"{site.address}/")
    read = syncing.find_connector

    class Replaced:
        def __init__(self, connector: Any) -> None:
            self.connector, self.complete = connector, True

        def read(self, setup: Any) -> Any:
            for batch in self.connector.read(setup):
                with sources.world.context.db.write() as tx:
                    tx.run("UPDATE context_connections SET run = 'other'")
                yield batch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syncing, "find_connector", lambda context, name: Replaced(read(context, name)))
        assert sources.sync(made["id"])["records"] == 0
    sources.world.call("admin", "DELETE", f"{sources.path}/{made['id']}")
    syncing.sync_connection(sources.world.context, made["id"])
    assert sources.records() == []


def test_email_becomes_tickets(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    context = sources.world.context
    monkeypatch.setattr(
        context, "settings", replace(context.settings, mail_from="Docs <docs@docs.example.org>")
    )
    made = sources.add("builtin:email", {"changeRequests": True})
    address = made["email"]["ingestionAddress"]
    assert address == f"{made['id'].lower()}@docs.example.org"
    head = f"To: Docs <{address}>\nMessage-ID: <a@b>\nSubject: =?utf-8?q?Export_f=C3=BCr_me?=\nDate: Mon, 2 Nov 2026"
    plain = f"{head} 10:00:00 +0000\n\nI am ann@example.org.\n"
    html = "Content-Type: text/html; charset=nonsense\n\n<p>One</p><script>x()</script><p>Two</p>"
    assert mail.receive_mail(context, plain.encode()) == 1 == mail.receive_mail(context, plain.encode())
    assert mail.receive_mail(context, html.encode(), [address.upper()]) == 1
    for data in (
        b"",
        b"\0\xff\xfe",
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 50,
        b"Date: 99\nSubject: \xff\n\n",
    ):
        assert mail.receive_mail(context, data, [address]) == 1
    titles = {record["title"] for record in sources.records()}
    assert {"Export für me", "No subject"} <= titles
    assert "I am [email].\n" in sources.texts() and "One\nTwo" in sources.texts()
    with pytest.raises(mail.UnknownRecipient):
        mail.receive_mail(context, plain.encode(), ["nobody@docs.example.org"])
    organization = sources.place["organizationId"]
    with context.db.read() as tx:
        count = tx.value(
            "SELECT count(*) FROM conversations WHERE organization_id = :org AND source = :source",
            org=organization,
            source=f"builtin:email:{made['id']}",
        )
    assert count == len(sources.records())


def test_the_number_of_records_is_limited(sources: Sources) -> None:
    sources.put({"id": "1"})
    with sources.world.context.db.write() as tx:
        tx.run("UPDATE context_connections SET records = 100000")
    answer = sources.put({"id": "2"})
    assert answer.status_code == 409 and "at most 100,000 records" in answer.text
    assert sources.put({"id": "1", "title": "Replaced"}).status_code == 204


def test_hostile_texts_are_limited_and_stored() -> None:
    record = SourceRecord(
        id="x" * 900,
        type="ticket",
        title="\0 ".join(["<script>"] * 200),
        body="\ud800" + "a" * 200_000,
        url="https://x.org/\n",
        metadata={"a" * 500: "b" * 5000},
    ).limited()
    assert len(record.id) == 255 and len(record.title) <= 256 and len(record.body) == 100_000
    assert record.url is None and "\0" not in record.title and record.body[0] == "?"


def test_connections_of_other_sites_are_missing(sources: Sources) -> None:
    made = sources.add("builtin:api")
    with sources.world.context.db.read() as tx:
        assert find_connection(tx, made["id"]) is not None
    organization = sources.place["organizationId"]
    other = sources.world.post("admin", f"/orgs/{organization}/sites", {"title": "Other"})["id"]
    path = f"/orgs/{organization}/sites/{other}/context-connections/{made['id']}"
    assert sources.world.call("admin", "GET", path).status_code == 404
    assert sources.world.call("admin", "DELETE", path).status_code == 204


def test_lists_of_records_know_their_total_by_type_and_source(sources: Sources) -> None:
    made = sources.add("builtin:email")
    assert sources.world.get("admin", sources.records_path)["count"] == 0
    sources.put(*({"id": str(number), "type": "document"} for number in range(3)), {"id": "ticket"})

    def counted(query: str) -> tuple[int, int]:
        found = sources.world.get("admin", f"{sources.records_path}?limit=2&{query}")
        return found["count"], len(found["items"])

    assert counted("") == (4, 2) == counted("connector=builtin:api")
    assert counted("type=document") == (3, 2) and counted("type=ticket&connector=builtin:api") == (1, 1)
    assert counted("connector=builtin:email") == (0, 0) == counted(f"connection={made['id']}")
    assert counted("type=ticket&connector=builtin:email") == (0, 0)
