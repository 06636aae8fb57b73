"""Limits of organizations: nothing is added beyond them, nothing is lost at them, and administrators are warned."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.kit.scheduling.rates import OrganizationRates
from octavo.kit.work.worker import Worker
from octavo.operations.admin import limit_warnings
from octavo.organization.access.limits import ResourceLimits, measure, set_limits
from octavo.organization.access.members import upsert_member
from set_clock import SetClock
from world import World

NEW_PAGE = {"operation": "insert_page", "title": "New", "document": {"markdown": "# New\n\nWords.\n"}}
LIMITS = "/installation/organizations/{organizationId}/limits"


def limit(world: World, **limits: int) -> None:
    with world.context.db.write() as tx:
        set_limits(tx, world.home["organizationId"], ResourceLimits(**limits))
    world.context.organization_rates.forget()


def change(world: World, *changes: dict[str, Any]) -> Any:
    path = world.home.path("/spaces/{spaceId}/content")
    return world.call("admin", "POST", path, json={"changes": list(changes)})


def test_pages_are_refused_beyond_the_limit_and_others_still_change(world: World) -> None:
    with world.context.db.read() as tx:
        pages = measure(tx, world.home["organizationId"]).pages
    limit(world, pages=pages + 1)
    assert change(world, NEW_PAGE).status_code == 200
    before = world.digest()
    refused = change(world, NEW_PAGE)
    assert (refused.status_code, refused.json()["error"]["reason"]) == (403, "limit_reached")
    assert f"limit of {pages + 1} pages" in refused.json()["error"]["message"]
    assert world.digest() == before
    # Below the number of pages that are there, everything stays and can be changed, replaced, and removed.
    limit(world, pages=1)
    words = {"operation": "update_page", "page": world.home["pageId"], "title": "Renamed"}
    assert change(world, words).status_code == 200
    assert change(world, NEW_PAGE).status_code == 403
    limit(world)
    assert change(world, NEW_PAGE).status_code == 200


def test_a_change_request_beyond_the_limit_stays_and_is_merged_later(world: World) -> None:
    space = world.home.path("/spaces/{spaceId}")
    made = world.post("admin", f"{space}/change-requests", {"subject": "More"})
    content = f"{space}/change-requests/{made['id']}/content"
    limit(world, pages=1)
    world.post("admin", content, {"changes": [NEW_PAGE]})
    merge = f"{space}/change-requests/{made['id']}/merge"
    assert world.call("admin", "POST", merge).json()["error"]["reason"] == "limit_reached"
    limit(world, pages=10_000)
    assert world.post("admin", merge)["result"] == "merge"


def test_files_are_refused_beyond_the_limit(world: World) -> None:
    with world.context.db.read() as tx:
        stored = measure(tx, world.home["organizationId"]).storage
    limit(world, storage=stored + 10)
    files = [{"name": "a.txt", "base64": "MTIzNDU2Nzg5MDEyMzQ1", "contentType": "text/plain"}]
    answer = change(world, {"operation": "insert_files", "files": files})
    assert answer.status_code == 403, answer.text
    assert " B of files" in answer.json()["error"]["message"]


def test_members_are_refused_beyond_the_limit(world: World) -> None:
    org = world.home["organizationId"]
    with world.context.db.read() as tx:
        members = measure(tx, org).members
    limit(world, members=members)
    path = world.home.path("/orgs/{organizationId}/invites")
    answer = world.call("admin", "POST", path, json={"emails": ["new@example.com"], "role": "read"})
    assert answer.json()["error"]["reason"] == "limit_reached"
    with world.context.db.write() as tx:
        upsert_member(tx, org, world.users["editor"], "review")
    scim = world.home.path("/orgs/{organizationId}/scim/v2/Users")
    answer = world.call("admin", "POST", scim, json={"userName": "new@example.com", "active": True})
    assert answer.status_code == 403, answer.text


def test_requests_are_counted_for_the_whole_organization(world: World, clock: SetClock) -> None:
    clock.advance(0)
    limit(world, requests=3)
    space = world.home.path("/spaces/{spaceId}")
    statuses = [world.call(who, "GET", space).status_code for who in ("admin", "reader", "editor", "admin")]
    assert statuses == [200, 200, 200, 429]
    assert world.call("admin", "GET", "/user").status_code == 200
    assert world.call(world.away.admin, "GET", world.away.path("/spaces/{spaceId}")).status_code == 200


def test_limits_of_requests_are_read_again_after_ten_seconds(clock: SetClock) -> None:
    clock.advance(0)
    moment, limits = [0.0], {"a": 10}
    rates = OrganizationRates(lambda: dict(limits), clock=lambda: moment[0])
    rates.count("a")
    limits["a"] = 0
    rates.count("a")
    moment[0] = 10
    with pytest.raises(Exception, match="Too many requests"):
        rates.count("a")


def test_limits_are_set_and_shown(world: World) -> None:
    path, headers = world.home.path(LIMITS), world.session("admin")
    limits = {"members": 50, "agents": None, "pages": 2, "storage": None, "requests": 600}
    answer = world.call("admin", "PUT", path, json=limits, headers=headers)
    assert answer.json()["limits"] == limits
    limit_warnings.measure_all(world.context)
    Worker(world.context.db, world.context).run_pending()
    shown = world.get("admin", world.home.path("/orgs/{organizationId}/usage"))
    assert shown["near"] == ["pages"] and shown["used"]["pages"] > 2
    (day,) = shown["days"]
    assert {name: day[name] for name in shown["used"]} == shown["used"]
    assert world.call("reader", "GET", world.home.path("/orgs/{organizationId}/usage")).status_code == 403
    wrong = world.call("admin", "PUT", path, json={"pages": -1}, headers=headers)
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (400, "pages")
