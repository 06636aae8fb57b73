"""Pages that are due for a review: found by scans, and verified again."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from octavo.assistants.findings import reminding
from octavo.kit.clock import now
from octavo.kit.ids import new_id
from octavo.kit.work.worker import Worker
from octavo.sites.insights.store import EventRow, insert_events
from world import World

from .test_scans import ScanScene

VERIFY = "/spaces/{spaceId}/content/page/{pageId}/verify"


def view_of(site_id: str, page_id: str) -> EventRow:
    """Return a view of a page by a person, now."""
    return EventRow(
        id=new_id(),
        site_id=site_id,
        at=now(),
        month=1,
        type="page_view",
        visitor="v",
        session="s",
        url="https://docs.test/a",
        display_context="site",
        device="desktop",
        browser="firefox",
        os="linux",
        page_id=page_id,
    )


@pytest.fixture
def scene(world: World) -> ScanScene:
    return ScanScene(world)


def test_a_due_page_is_found_and_no_longer_found_once_it_is_verified(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    long_ago = {
        "reviewEvery": "2 weeks",
        "verifiedOn": "2026-01-31",
        "verifiedBy": "Mei",
        "owner": "Platform",
    }
    scene.write("Words.", **long_ago)
    scene.scan()
    (found,) = scene.list(query="kind=review-due&status=open")
    (evidence,) = found["evidence"]
    assert evidence["message"] == (
        "The review has been due since 2026-02-14. It was last verified on 2026-01-31. The owner is Platform."
    )
    assert (found["area"], found["severity"]) == ("freshness", "high")
    assert world.call("reader", "POST", place.path(VERIFY)).status_code == 403
    assert world.post("editor", place.path(VERIFY)) == {"merged": True}
    page = world.get("reader", place.path("/spaces/{spaceId}/content/page/{pageId}"))
    assert date.fromisoformat(page["verifiedOn"]) >= datetime(2026, 2, 1, tzinfo=UTC).date()
    assert (page["verifiedBy"], page["owner"]) == (world.get("editor", "/user")["displayName"], "Platform")
    scene.scan()
    assert scene.list(query="kind=review-due&status=open") == []


def test_pages_without_a_review_are_sorted_by_views_and_days(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    page_ids = {}
    for title, verified, views in (
        ("Old", "2025-01-31", 2),
        ("Popular", "2026-01-31", 30),
        ("New", "2026-06-30", 3),
    ):
        page = {
            "operation": "insert_page",
            "title": title,
            "document": {"markdown": "Words."},
            "reviewEvery": "2 weeks",
            "verifiedOn": verified,
        }
        scene.change(page)
        pages = world.get("admin", place.path("/spaces/{spaceId}/content/pages"))["pages"]
        page_ids[title] = next(one["id"] for one in pages if one["title"] == title)
        with world.context.db.write() as tx:
            for _ in range(views):
                insert_events(tx, [view_of(place["siteId"], page_ids[title])])
    scene.scan()
    found = scene.list(query="kind=review-due&status=open&orderBy=priority")
    assert [(one["evidence"][0]["quote"], one["views"]) for one in found] == [
        ("Popular", 30),
        ("Old", 2),
        ("New", 3),
    ]


def test_in_a_locked_space_a_verification_is_merged_or_waits_for_review(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    world.call("admin", "PATCH", place.path("/spaces/{spaceId}"), json={"editMode": "locked"})
    waiting = world.post("editor", place.path(VERIFY))
    assert (waiting["merged"], waiting["changeRequest"]["status"]) == (False, "open")
    merged = world.post("admin", place.path(VERIFY))
    assert (merged["merged"], merged["changeRequest"]["status"]) == (True, "merged")
    page = world.get("reader", place.path("/spaces/{spaceId}/content/page/{pageId}"))
    assert page["verifiedBy"] == world.get("admin", "/user")["displayName"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reviewEvery", "soon"),
        ("reviewEvery", "0 days"),
        ("verifiedOn", "yesterday"),
        ("verifiedOn", "26-1-1"),
    ],
)
def test_invalid_intervals_and_dates_are_refused(scene: ScanScene, field: str, value: str) -> None:
    change = {"operation": "update_page", "page": scene.place["pageId"], field: value}
    answer = scene.world.call(
        "admin", "POST", scene.place.path("/spaces/{spaceId}/content"), json={"changes": [change]}
    )
    assert answer.status_code == 400 and field in answer.json()["error"]["message"]


def inbox(world: World, who: str) -> list[tuple[str, str, str]]:
    """Return the reason, page, and problem of each notification about a review."""
    items = world.get(who, "/user/notifications", headers=world.session(who))["items"]
    return [
        (one["reason"], one["page"]["id"], one["problem"]) for one in items if one["reason"] == "reviewDue"
    ]


def run_reminders(world: World) -> None:
    reminding.remind_of_reviews(world.context)
    Worker(world.context.db, world.context).run_pending()


def test_owners_are_reminded_once_for_each_review(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    email = world.get("editor", "/user")["email"]
    scene.write("Words.", reviewEvery="1 day", verifiedOn="2026-01-31", owner=email.upper())
    for _ in range(2):
        run_reminders(world)
    told = ("reviewDue", place["pageId"], "The review has been due since 2026-02-01.")
    assert inbox(world, "editor") == [told]
    assert inbox(world, "reader") == []
    teams = place.path("/orgs/{organizationId}/teams")
    team = world.call("admin", "PUT", teams, json={"title": "Editors of docs"}).json()["id"]
    for who in ("reader", "editor"):
        member = place.path(f"/orgs/{{organizationId}}/teams/{team}/members/{world.users[who]}")
        assert world.call("admin", "PUT", member, json={}).is_success
    scene.write("Words.", verifiedOn="2026-02-28", owner="editors of Docs")
    run_reminders(world)
    later = ("reviewDue", place["pageId"], "The review has been due since 2026-03-01.")
    assert inbox(world, "reader") == [later]
    assert sorted(inbox(world, "editor")) == [told, later]


@pytest.mark.parametrize("owner", ["nobody@example.com", "No such team", "stranger", None])
def test_an_owner_who_is_no_member_is_not_reminded(scene: ScanScene, owner: str | None) -> None:
    world = scene.world
    if owner == "stranger":
        owner = world.get("stranger", "/user")["email"]
    scene.write("Words.", reviewEvery="1 day", verifiedOn="2026-01-31", owner=owner)
    run_reminders(world)
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM notifications WHERE reason = 'reviewDue'") == 0


def test_pages_that_do_not_exist_are_not_verified(scene: ScanScene) -> None:
    path = scene.place.path("/spaces/{spaceId}/content/page/nowhere/verify")
    assert scene.world.call("admin", "POST", path).status_code == 404
