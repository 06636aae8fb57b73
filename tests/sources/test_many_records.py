"""A site with as many records as it can have."""

from __future__ import annotations

import time
from typing import Any

import pytest

from octavo.assistants.findings.scanning import scan_site
from octavo.assistants.findings.store import insert_scan
from octavo.assistants.sources.types import MAX_RECORDS
from octavo.kit.ids import new_id
from world import World

SITE = "/orgs/{organizationId}/sites/{siteId}"
QUESTIONS = ("Where do gherkins grow?", "Which gherkins taste sour?", "Who sells gherkins?")


def fill(world: World, site: str) -> None:
    """Store the maximum number of records. Every tenth is about gherkins."""
    with world.context.db.write() as tx:
        connection = tx.value("SELECT id FROM context_connections WHERE site_id = :site", site=site)
        tx.run_many(
            """INSERT INTO context_records (id, connection_id, site_id, external_id, type, title, text, metadata,
                 fingerprint, created_at, processed_at)
               VALUES (:id, :connection, :site, :external, 'ticket', :title, 'Words.', '{}', '', 0, 0)""",
            (
                {
                    "id": new_id(),
                    "connection": connection,
                    "site": site,
                    "external": f"T-{number}",
                    "title": f"{'Gherkins' if number % 10 == 0 else 'Jars'} in order {number}",
                }
                for number in range(1, MAX_RECORDS)
            ),
        )
        tx.run("UPDATE context_connections SET records = :all WHERE id = :id", all=MAX_RECORDS, id=connection)


@pytest.mark.slow
def test_as_many_records_as_possible_are_listed_scanned_and_deleted(world: World) -> None:
    place = world.home
    site, records = place.path(SITE), place.path(f"{SITE}/context-records")

    def put(id: str) -> int:
        body = [{"id": id, "type": "ticket", "title": "Gherkins", "body": "Words."}]
        return world.call("admin", "PUT", records, json=body).status_code

    def read(query: str) -> Any:
        start = time.process_time()
        found = world.get("admin", f"{records}?{query}")
        assert time.process_time() - start < 2, query
        return found

    def scan() -> float:
        with world.context.db.write() as tx:
            scan = insert_scan(tx, place["siteId"], "manual")
        start = time.process_time()
        scan_site(world.context, place["siteId"], place["organizationId"], scan.id)
        assert world.get("admin", f"{site}/scans/{scan.id}")["status"] == "done"
        return time.process_time() - start

    assert put("T-0") == 204
    fill(world, place["siteId"])
    for question in QUESTIONS:
        body = {"question": question, "scope": {"mode": "all"}}
        assert world.call("admin", "POST", f"{site}/ask", json=body).status_code == 200
    assert scan() < 60
    [topic] = world.get("admin", f"{site}/topics")["items"]
    assert topic["records"] == MAX_RECORDS // 10
    # Only records that changed are written again.
    assert scan() < 20
    assert read("limit=50")["count"] == MAX_RECORDS
    first = read(f"limit=50&topic={topic['id']}")
    assert first["count"] == MAX_RECORDS // 10
    second = read(f"limit=50&topic={topic['id']}&page={first['next']['page']}")
    assert {one["id"] for one in first["items"]}.isdisjoint(one["id"] for one in second["items"])
    assert read("type=document&limit=50")["items"] == []
    [finding, *_] = world.get("admin", f"{site}/findings?kind=unanswered-question")["items"]
    assert finding["records"] <= 20
    assert put("T-new") == 409 and put("T-0") == 204
    [connection] = world.get("admin", f"{site}/context-connections")["items"]
    assert world.call("admin", "DELETE", f"{site}/context-connections/{connection['id']}").is_success
    assert world.get("admin", records)["items"] == []
