"""Tests of who is notified of what, and of the states of notifications."""

from __future__ import annotations

import pytest

from octavo.content.notifications import notifying as telling
from octavo.content.notifications import store
from octavo.kit.clock import now
from octavo.kit.work import outbox
from octavo.kit.work.worker import Worker
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from world import World

CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"


def work(world):
    Worker(world.context.db, world.context).run_pending()


def inbox(world, who, **query):
    return world.call(who, "GET", "/user/notifications", params=query).json()["items"]


def counts(world, who):
    return world.get(who, "/user/notifications/counts")


def say(world, who, text, at="/spaces/{spaceId}", reply=None):
    path = f"{world.home.path(at)}/comments" + (f"/{reply}/replies" if reply else "")
    return world.post(who, path, {"body": {"markdown": text}})["id"]


def mention(world, who):
    return f'Look here, [@them](/users/{world.users[who]} "mention")'


def edit(world, page="pageId", who="admin", text="# New\n\nWords.\n"):
    change = {"operation": "update_page", "page": world.home[page], "document": {"markdown": text}}
    world.post(who, world.home.path("/spaces/{spaceId}/content"), {"changes": [change]})


def watch(world, who, level="watching", page=None):
    where = f"content/page/{page}/watch" if page else "watch"
    answer = world.call(who, "PUT", f"/spaces/{world.home['spaceId']}/{where}", json={"level": level})
    assert answer.is_success, answer.text


def test_a_thread_is_one_notification_that_becomes_unread_again(world: World) -> None:
    said = say(world, "admin", mention(world, "commenter"), CHANGE)
    work(world)
    (told,) = inbox(world, "commenter")
    assert (told["reason"], told["state"], told["events"]) == ("mentioned", "unread", 1)
    assert told["comment"] == {"id": said, "excerpt": "Look here, @Commenter"}
    assert told["changeRequest"]["id"] == world.home["changeRequestId"] and told["urls"]["app"].endswith(
        "/~/talk"
    )
    assert told["user"]["id"] == world.users["admin"]
    assert counts(world, "commenter") == {"unread": 1, "inbox": 1, "done": 0}
    # Contributors of the change request are notified as well; the author of the comment is not.
    assert [one["reason"] for one in inbox(world, "home-colleague")][0] == "commented"
    assert all(one.get("comment", {}).get("id") != said for one in inbox(world, "admin"))

    say(world, "commenter", "I do", CHANGE, said)
    reply = say(world, "admin", "And now?", CHANGE, said)
    work(world)
    (again,) = inbox(world, "commenter")
    assert again["id"] == told["id"] and again["events"] == 2 and again["comment"]["reply"] == reply
    assert again["reason"] == "mentioned", "what nobody read yet says more"
    world.call("commenter", "PATCH", f"/user/notifications/{told['id']}", json={"state": "done"})
    assert inbox(world, "commenter") == [] and counts(world, "commenter")["done"] == 1
    say(world, "admin", "Hello?", CHANGE, said)
    work(world)
    (again,) = inbox(world, "commenter")
    assert (again["reason"], again["state"], again["events"]) == ("replied", "unread", 1)
    assert world.call("admin", "DELETE", f"{world.home.path(CHANGE)}/comments/{said}").is_success
    work(world)
    assert inbox(world, "commenter") == [] and counts(world, "commenter") == {
        "unread": 0,
        "inbox": 0,
        "done": 0,
    }


@pytest.mark.sqlite_first
def test_authors_are_notified_of_the_outcome_of_change_requests(world: World) -> None:
    here = world.home.path(CHANGE)
    world.post("home-colleague", f"{here}/requested-reviewers", {"users": [world.users["reviewer"]]})
    work(world)
    (asked,) = inbox(world, "reviewer")
    assert asked["reason"] == "reviewRequested" and asked["urls"]["app"].endswith("/~/review")
    world.post("reviewer", f"{here}/reviews", {"status": "approved"})
    work(world)
    told = inbox(world, "home-colleague")[0]
    assert (told["reason"], told["status"]) == ("reviewed", "approved")
    watch(world, "reader")
    assert world.call("admin", "POST", f"{here}/merge").is_success
    work(world)
    told = inbox(world, "home-colleague")[0]
    assert (told["reason"], told["changeRequest"]["status"]) == ("merged", "merged")
    (watched,) = inbox(world, "reader")
    assert watched["reason"] == "merged" and watched["changeRequest"]["id"] == world.home["changeRequestId"]
    assert [one for one in inbox(world, "admin") if one["reason"] == "merged"] == [], "they did it themselves"


def test_notifications_can_be_marked_as_read_and_done(world: World) -> None:
    for text in ("One", "Two", "Three"):
        say(world, "admin", f"{text}: {mention(world, 'reader')}")
    work(world)
    found = inbox(world, "reader")
    assert [one["comment"]["excerpt"][:3] for one in found] == ["Thr", "Two", "One"]
    path = f"/user/notifications/{found[0]['id']}"
    assert world.call("reader", "PATCH", path, json={"state": "read"}).json()["state"] == "read"
    assert world.get("reader", path)["state"] == "read"
    for who, expected in (("editor", 404), ("nobody", 401)):
        assert world.call(who, "PATCH", path, json={"state": "done"}).status_code == expected
        assert world.call(who, "GET", path).status_code == expected
    assert world.call("reader", "PATCH", path, json={"state": "seen"}).status_code == 400
    assert counts(world, "reader") == {"unread": 2, "inbox": 3, "done": 0}
    assert [one["id"] for one in inbox(world, "reader", status="unread")] == [one["id"] for one in found[1:]]
    until = {"state": "read", "until": found[1]["at"]}
    changed = world.post("reader", "/user/notifications/update", until)
    assert changed["updated"] == 2 and counts(world, "reader")["unread"] == 0
    named = {"state": "done", "notifications": [found[2]["id"], "nobody's"]}
    assert world.post("reader", "/user/notifications/update", named) == {"updated": 1}
    assert [one["id"] for one in inbox(world, "reader", status="done")] == [found[2]["id"]]
    bad = world.call("reader", "POST", "/user/notifications/update", json={"state": "read", "until": "soon"})
    assert bad.status_code == 400 and "until" in bad.json()["error"]["message"]
    pages, token = [], None
    while True:
        answer = world.call(
            "reader", "GET", "/user/notifications", params={"limit": 1, **({"page": token} if token else {})}
        ).json()
        assert answer["count"] == 2
        pages += [one["id"] for one in answer["items"]]
        if "next" not in answer:
            break
        token = answer["next"]["page"]
    assert pages == [one["id"] for one in found[:2]]


@pytest.mark.sqlite_first
def test_notifications_omit_content_without_access(world: World) -> None:
    say(world, "admin", mention(world, "reader"))
    work(world)
    assert len(inbox(world, "reader")) == 1
    path = world.home.path("/spaces/{spaceId}")
    (told,) = inbox(world, "reader")
    assert world.call("admin", "PATCH", path, json={"defaultLevel": None}).is_success
    assert inbox(world, "reader") == [] and counts(world, "reader")["inbox"] == 0
    assert world.call("reader", "GET", f"/user/notifications/{told['id']}").status_code == 404
    refused = world.call(
        "admin", "POST", f"{path}/comments", json={"body": {"markdown": mention(world, "reader")}}
    )
    assert refused.status_code == 404 and world.users["reader"] in refused.json()["error"]["message"]
    with world.context.db.write() as tx:
        outbox.emit(
            tx,
            "comment_created",
            organization_id=world.home["organizationId"],
            space_id=world.home["spaceId"],
            comment="late",
            by=world.users["admin"],
            mentioned_users=[world.users["reader"]],
        )
    work(world)
    assert world.call("admin", "PATCH", path, json={"defaultLevel": "inherit"}).is_success
    assert [one["id"] for one in inbox(world, "reader")] == [told["id"]], "told when they did not see it"
    stranger = world.call("stranger", "GET", "/user/notifications").json()
    assert stranger["count"] == 0


def test_spaces_can_be_watched_and_muted(world: World) -> None:
    page = world.home["pageId"]
    watch(world, "reader", page=page)
    watch(world, "commenter", "muted")
    watch(world, "editor")
    watch(world, "reviewer")
    watch(world, "reviewer", "muted", page=page)
    edit(world)
    edit(world, text="# New\n\nOther words.\n")
    work(world)
    (told,) = inbox(world, "reader")
    assert (told["reason"], told["events"], told["page"]["id"]) == ("edited", 2, page)
    assert len(inbox(world, "editor")) == 1 and inbox(world, "reviewer") == inbox(world, "commenter") == []
    said = say(world, "admin", mention(world, "commenter"))
    work(world)
    assert [one["comment"]["id"] for one in inbox(world, "commenter")] == [said], "they were named"
    assert inbox(world, "editor")[0]["reason"] == "commented" and len(inbox(world, "reader")) == 1
    listed = world.get("reviewer", "/user/watches")
    assert [(one["level"], one.get("page")) for one in listed["items"]] == [
        ("watching", None),
        ("muted", page),
    ]
    assert (
        world.call(
            "reader", "DELETE", f"/spaces/{world.home['spaceId']}/content/page/{page}/watch"
        ).status_code
        == 205
    )
    edit(world, text="# New\n\nLast words.\n")
    work(world)
    assert inbox(world, "reader")[0]["events"] == 2
    foreign = world.call(
        "reader",
        "PUT",
        f"/spaces/{world.home['spaceId']}/content/page/nowhere/watch",
        json={"level": "muted"},
    )
    assert foreign.status_code == 404


def test_turned_off_notifications_are_not_sent(world: World) -> None:
    settings = "/user/notification-settings"
    assert world.get("reader", settings)["channels"]["mentioned"] == "mail"
    changed = world.call("reader", "PATCH", settings, json={"channels": {"mentioned": "off"}})
    assert (
        changed.json()["channels"]["mentioned"]
        == "off"
        == world.get("reader", settings)["channels"]["mentioned"]
    )
    say(world, "admin", mention(world, "reader"))
    work(world)
    assert inbox(world, "reader") == []
    assert world.call("reader", "PATCH", settings, json={"channels": {"sung": "off"}}).status_code == 400


def test_a_merge_writes_one_event_for_any_number_of_watchers(world: World, monkeypatch) -> None:
    """Ten thousand watchers are notified by jobs, in batches, each of them once."""
    monkeypatch.setattr(telling, "BATCH", 50)
    people = 120
    with world.context.db.write() as tx:
        for number in range(people):
            user = insert_user(tx, f"watcher-{number}@example.org", f"Watcher {number}", verified=True)
            upsert_member(tx, world.home["organizationId"], user.id, "read", accepted=True)
            store.put_watch(tx, user.id, world.home["spaceId"], "", "watching")
    before = _rows(world)
    edit(world)
    assert _rows(world) == before, "nothing was written by the edit itself"

    work(world)
    assert _rows(world) == before + people
    with world.context.db.read() as tx:
        counted = tx.value("SELECT sum(unread + read + done) FROM notification_counts")
    assert counted == _rows(world)


def _rows(world):
    with world.context.db.read() as tx:
        return tx.value("SELECT count(*) FROM notifications")


@pytest.mark.parametrize(("state", "days"), telling.KEEP.items())
def test_old_notifications_are_deleted(world: World, state: str, days: int) -> None:
    for _ in range(2):
        say(world, "admin", mention(world, "reader"))
    work(world)
    new, old = inbox(world, "reader")
    world.post("reader", "/user/notifications/update", {"state": state})
    with world.context.db.write() as tx:
        at = now() - (days + 1) * 86_400_000
        tx.run("UPDATE notifications SET at = :at WHERE id = :id", at=at, id=old["id"])
    telling.prune_notifications(world.context)
    status = "done" if state == "done" else "inbox"
    assert [one["id"] for one in inbox(world, "reader", status=status)] == [new["id"]]
    assert counts(world, "reader")[status] == 1


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("event", "where"),
    [
        ("import_failed", "/s/{spaceId}/~/import"),
        ("git_sync_failed", "/s/{spaceId}/~/settings/git"),
        ("translation_failed", "/o/{organizationId}/~/translations/run"),
    ],
)
def test_failures_notify_the_people_concerned(sqlite_world: World, event: str, where: str) -> None:
    world = sqlite_world
    with world.context.db.write() as tx:
        outbox.emit(
            tx,
            event,
            organization_id=world.home["organizationId"],
            space_id=world.home["spaceId"],
            run="run",
            user=world.users["editor"],
            problem="The source has no pages to import.",
        )
    work(world)
    (told,) = inbox(world, "editor")
    assert (told["reason"], told["problem"]) == ("failed", "The source has no pages to import.")
    assert told["urls"]["app"].endswith(world.home.path(where))


def test_a_mentioned_team_is_notified_in_batches(world: World, monkeypatch) -> None:
    monkeypatch.setattr(telling, "BATCH", 3)
    org = world.home["organizationId"]
    team = world.call("admin", "PUT", f"/orgs/{org}/teams", json={"title": "Everybody"}).json()["id"]
    people = []
    with world.context.db.write() as tx:
        for number in range(7):
            user = insert_user(tx, f"teammate-{number}@example.org", f"Teammate {number}", verified=True)
            upsert_member(tx, org, user.id, "read", accepted=True)
            people.append(user.id)
            if number % 2:
                store.put_watch(tx, user.id, world.home["spaceId"], "", "watching")
    for user_id in people:
        path = f"/orgs/{org}/teams/{team}/members/{user_id}"
        assert world.call("admin", "PUT", path, json={}).is_success
    work(world)
    before, told = _rows(world), []
    put = store.put_notification
    monkeypatch.setattr(
        store,
        "put_notification",
        lambda tx, user_id, *rest, **more: told.append(user_id) or put(tx, user_id, *rest, **more),
    )
    say(world, "admin", f'All of [you](/teams/{team} "mention")')
    work(world)
    assert sorted(told) == sorted(people) and _rows(world) == before + len(people)
    with world.context.db.read() as tx:
        reasons = tx.all("SELECT DISTINCT reason FROM notifications WHERE user_id IN :people", people=people)
    assert reasons == [("mentioned",)]


@pytest.mark.sqlite_first
def test_requesting_a_review_notifies_of_a_new_change_request(world: World) -> None:
    watch(world, "reader")
    made = world.post("editor", f"/spaces/{world.home['spaceId']}/change-requests", {"subject": "Asked for"})
    path = f"/spaces/{world.home['spaceId']}/change-requests/{made['id']}"
    world.post("editor", f"{path}/requested-reviewers", {"users": [world.users["reviewer"]]})
    work(world)
    (told,) = inbox(world, "reader")
    assert (told["reason"], told["status"]) == ("statusChanged", "open")
    assert [one["reason"] for one in inbox(world, "reviewer")] == ["reviewRequested"]
