"""Restricted pages stay hidden outside the content: in notifications, events, counts, and live documents."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from msgspec.structs import replace

from events.listening import listening
from findings.test_scans import ScanScene
from insights.test_insights import Site
from model_server import ModelServer, world_with_model
from octavo.content.changes.store import find_state, get_change
from octavo.content.events.presence import write_presence
from octavo.content.live.documents import blocks_of
from octavo.content.notifications import mailing
from octavo.content.revisions.page_versions import get_page, list_pages
from octavo.content.search.computed import index_computed_pages
from octavo.core.pages import Page
from octavo.core.space_config import read_config
from octavo.interchange.transfer.importing import import_files
from octavo.interchange.transfer.opening import open_source
from octavo.kit.ids import new_id
from octavo.kit.net import mail
from octavo.kit.work.worker import Worker
from octavo.sites.printing.links import open_print
from openapi.specs import processed
from transfer.bringing_in import Imports, archive
from visiting import Visitor
from world import World

ADMINISTRATORS = [{"kind": "administrators"}]
SPACE = "/spaces/{spaceId}"
CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"
WORD = "zqsecret"


def edit(world: World, at: str, *changes: dict[str, Any]) -> None:
    answer = world.call("admin", "POST", world.home.path(f"{at}/content"), json={"changes": list(changes)})
    assert answer.is_success, answer.text


def restrict(world: World, at: str, grants: list[dict[str, str]], page: str | None = None) -> None:
    page = page or world.home["pageId"]
    edit(world, at, {"operation": "update_page", "page": page, "visibleTo": grants})


def reading(world: World, who: str) -> list[dict[str, str]]:
    return [{"kind": "user", "user": world.users[who], "level": "read"}]


def insert(world: World, at: str, title: str, into: str | None = None, text: str = "Words.\n") -> str:
    page = {"operation": "insert_page", "title": title, "document": {"markdown": text}}
    edit(world, at, {**page, **({"into": into} if into else {})})
    with world.context.db.read() as tx:
        change = world.home["changeRequestId"] if at == CHANGE else None
        state = find_state(tx, world.home["spaceId"], change)
        return next(one.id for one in list_pages(tx, state) if one.title == title)


def say(world: World, at: str, page: str, text: str = WORD, reply: str = "") -> str:
    path = world.home.path(f"{at}/comments") + (f"/{reply}/replies" if reply else "")
    body = {"body": {"markdown": text}}
    return str(world.post("admin", path, body if reply else {**body, "page": page})["id"])


def mention(world: World, who: str) -> str:
    return f'{WORD}, [@them](/users/{world.users[who]} "mention")'


def work(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def inbox(world: World, who: str) -> list[Any]:
    found: list[Any] = world.get(who, "/user/notifications")["items"]
    return found


# --- notifications ------------------------------------------------------------------------------------


@pytest.fixture
def sent(world: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the emails handed to the mail server."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(mail, "send", lambda url, **message: found.append(message))
    monkeypatch.setattr(mailing, "WAIT", 0)
    before = world.context.settings
    world.context.settings = replace(before, smtp_url="smtp://mail.test")
    yield found
    world.context.settings = before


def test_no_one_is_notified_about_a_page_that_a_change_request_restricts(
    world: World, sent: list[dict[str, Any]]
) -> None:
    page = world.home["pageId"]
    work(world)
    sent.clear()
    restrict(world, CHANGE, ADMINISTRATORS)
    say(world, CHANGE, page, mention(world, "reader"))
    thread = say(world, CHANGE, page)
    say(world, CHANGE, page, mention(world, "editor"), reply=thread)
    work(world)
    for who in ("reader", "editor", "home-colleague"):
        assert not [one for one in inbox(world, who) if WORD in str(one)], who
    assert not [message for message in sent if WORD in str(message)]


def test_notifications_about_a_page_disappear_when_a_change_request_restricts_it(
    world: World, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    work(world)
    monkeypatch.setattr(mailing, "WAIT", 60_000)
    sent.clear()
    before = world.get("reader", "/user/notifications/counts")
    say(world, CHANGE, world.home["pageId"], mention(world, "reader"))
    work(world)
    (told,) = [one for one in inbox(world, "reader") if WORD in str(one)]
    assert world.get("reader", "/user/notifications/counts")["unread"] == before["unread"] + 1
    restrict(world, CHANGE, ADMINISTRATORS)
    assert not [one for one in inbox(world, "reader") if WORD in str(one)]
    assert world.get("reader", "/user/notifications/counts") == before
    path = f"/user/notifications/{told['id']}"
    assert world.call("reader", "GET", path).status_code == 404
    given = {"notifications": [told["id"]], "state": "done"}
    assert world.post("reader", "/user/notifications/update", given) == {"updated": 0}
    mailing.mail_notification(world.context, world.users["reader"], told["id"])
    assert not sent
    restrict(world, CHANGE, [])
    assert world.call("reader", "GET", path).is_success
    mailing.mail_notification(world.context, world.users["reader"], told["id"])
    assert WORD in sent[0]["text"]


@pytest.mark.parametrize("level", ["watching", "muted"])
def test_watches_of_a_restricted_page_do_not_count(world: World, level: str) -> None:
    """Notifications about edits of several pages don't tell that a page that the person can't see is among them."""
    page, other = insert(world, SPACE, "Plans"), world.home["pageId"]
    watches = [world.home.path(f"{SPACE}/content/page/{page}/watch")]
    if level == "muted":
        watches.append(world.home.path(f"{SPACE}/watch"))
    for path, wanted in zip(watches, (level, "watching"), strict=False):
        assert world.call("reader", "PUT", path, json={"level": wanted}).is_success

    def notified(*pages: str) -> bool:
        world.post("reader", "/user/notifications/update", {"state": "done"})
        fields = {"operation": "update_page", "description": new_id()}
        edit(world, SPACE, *({**fields, "page": one} for one in pages))
        work(world)
        return bool(world.get("reader", "/user/notifications", params={"status": "unread"})["items"])

    work(world)
    assert notified(page, other) == (level == "watching")
    restrict(world, SPACE, ADMINISTRATORS, page)
    work(world)
    assert notified(page, other) == notified(other) == (level == "muted")


def test_a_watch_of_a_page_that_was_restricted_does_not_exist(world: World) -> None:
    watch = world.home.path(f"{SPACE}/content/page/{{pageId}}/watch")
    assert world.call("reader", "PUT", watch, json={"level": "watching"}).is_success
    restrict(world, SPACE, ADMINISTRATORS)
    assert world.call("reader", "GET", watch).status_code == 404
    never = world.home.path(f"{SPACE}/content/page/{new_id()}/watch")
    ended = [world.call("reader", "DELETE", path).status_code for path in (watch, never)]
    assert ended[0] == ended[1]
    restrict(world, SPACE, [])
    assert world.get("reader", watch)["level"] == "watching"


@pytest.mark.parametrize("merged", [False, True])
def test_notifications_name_the_only_changed_page_that_their_recipient_sees(
    world: World, merged: bool
) -> None:
    """Otherwise, a missing page would tell that a restricted page was changed at the same time."""
    page, other = insert(world, SPACE, "Plans"), world.home["pageId"]
    restrict(world, SPACE, ADMINISTRATORS, page)
    watch = world.home.path(f"{SPACE}/watch")
    for who in ("reader", "creator"):
        assert world.call(who, "PUT", watch, json={"level": "watching"}).is_success

    def notified_about(who: str, *pages: str) -> Any:
        world.post(who, "/user/notifications/update", {"state": "done"})
        place = SPACE
        if merged:
            made = world.post("admin", world.home.path(f"{SPACE}/change-requests"), {"subject": "Edits"})
            place = f"{SPACE}/change-requests/{made['id']}"
        fields = {"operation": "update_page", "description": new_id()}
        edit(world, place, *({**fields, "page": one} for one in pages))
        if merged:
            world.post("admin", world.home.path(f"{place}/merge"))
        work(world)
        (found,) = world.get(who, "/user/notifications", params={"status": "unread"})["items"]
        return found.get("page", {}).get("id"), found["events"]

    work(world)
    assert notified_about("reader", other) == notified_about("reader", page, other) == (other, 1)
    assert notified_about("creator", page, other) == (None, 1)


def test_change_requests_of_a_page_leave_out_those_that_hide_it(world: World) -> None:
    """A page can be visible in main, and hidden in a change request that edits it."""
    path = world.home.path(f"{SPACE}/content/page/{{pageId}}/change-requests")
    edit(world, CHANGE, {"operation": "update_page", "page": world.home["pageId"], "title": "Plans"})
    assert world.get("reader", path)["count"] == 1
    restrict(world, CHANGE, ADMINISTRATORS)
    assert world.get("reader", path) == {"items": [], "count": 0}
    assert world.get("admin", path)["count"] == 1


# --- events -------------------------------------------------------------------------------------------


def test_streams_reveal_no_page_that_a_change_request_restricts(world: World) -> None:
    page = world.home["pageId"]
    thread = say(world, CHANGE, page)
    with (
        listening(world, "reader", world.home.path(f"{SPACE}/events")) as reader,
        listening(world, "admin", world.home.path(f"{SPACE}/events")) as admin,
    ):
        restrict(world, CHANGE, ADMINISTRATORS)
        hidden = [say(world, CHANGE, page), say(world, CHANGE, page, reply=thread)]
        seen = say(world, SPACE, page)
        admin.hear("comment", commentId=hidden[0])
        heard = admin.hear("comment", replyId=hidden[1])
        assert heard.data["pageId"] == page
        reader.wait(lambda one: any(each.data.get("commentId") == seen for each in one.heard))
        for each in reader.heard:
            if each.data.get("changeRequestId"):
                assert page not in str(each.data) and thread not in str(each.data), each


def test_presence_reveals_no_page_that_a_change_request_restricts(world: World) -> None:
    restrict(world, CHANGE, ADMINISTRATORS)
    here = {"activity": "viewing", "page": world.home["pageId"]}
    path = f"{CHANGE}/presence"
    assert world.call("admin", "PUT", world.home.path(f"{path}/zqsecret"), json=here).is_success
    write_presence(world.context)
    for at in (SPACE, CHANGE):
        path = world.home.path(f"{at}/presence")
        assert [one["id"] for one in world.get("admin", path)["items"]] == [WORD]
        assert not world.get("reader", path)["items"]


def test_streams_tell_nothing_of_people_on_restricted_pages(world: World) -> None:
    page = insert(world, SPACE, "Plans")
    restrict(world, SPACE, ADMINISTRATORS, page)
    stream = world.home.path(f"{SPACE}/events")

    def be_at(page: str | None, name: str = "visitor-1") -> None:
        path = world.home.path(f"{SPACE}/presence/{name}")
        here = {"activity": "viewing", "page": page}
        assert world.call("admin", "PUT" if page else "DELETE", path, json=here if page else None).is_success
        write_presence(world.context)
        expected = {"pageId": page} if page else {"activity": "left"}
        admin.hear("presence", clientId=name, **expected)

    with listening(world, "reader", stream) as reader, listening(world, "admin", stream) as admin:
        for at in (page, world.home["pageId"], page, None):
            be_at(at)
        be_at(world.home["pageId"], "visitor-2")
        reader.wait(lambda one: any(each.data.get("clientId") == "visitor-2" for each in one.heard))
        heard = [(one.data["activity"], one.data["pageId"]) for one in reader.heard[:-1]]
        # The person arrives only at the page that the reader can see, and leaves it for the other one.
        assert heard == [("viewing", world.home["pageId"]), ("left", None)]


def test_streams_do_not_count_conflicts_in_restricted_pages(world: World) -> None:
    page = insert(world, SPACE, "Plans")
    restrict(world, SPACE, ADMINISTRATORS, page)
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    for at, title in ((CHANGE, "Here"), (SPACE, "There")):
        edit(world, at, {"operation": "update_page", "page": page, "title": title})
    with listening(world, "reader", world.home.path(f"{SPACE}/events")) as reader:
        assert world.post("admin", world.home.path(f"{CHANGE}/update"))["result"] == "conflicts"
        assert "conflicts" not in reader.hear("revision", action="updated").data


def test_updates_tell_nothing_of_conflicts_in_restricted_pages(world: World) -> None:
    page = insert(world, SPACE, "Plans")
    world.post("admin", world.home.path(f"{CHANGE}/update"))

    def conflict() -> None:
        for at in (CHANGE, SPACE):
            edit(world, at, {"operation": "update_page", "page": page, "description": f"{at} {new_id()}"})

    def update_as(who: str) -> tuple[str, bool]:
        result = world.post(who, world.home.path(f"{CHANGE}/update"))["result"]
        checks = world.get(who, world.home.path(f"{CHANGE}/merge"))["checks"]
        return result, next(one["passes"] for one in checks if one["check"] == "conflicts")

    def events() -> list[Any]:
        """Return the payloads that webhooks receive of updates."""
        with world.context.db.read() as tx:
            rows = tx.all("SELECT payload FROM events WHERE type = 'change_request_updated' ORDER BY id")
        return [json.loads(payload) for (payload,) in rows]

    conflict()
    assert update_as("editor") == ("conflicts", False) and events()[-1]["conflicts"] == 1
    edit(world, CHANGE, {"operation": "update_page", "page": page, "description": "Resolved"})
    restrict(world, SPACE, ADMINISTRATORS, page)
    conflict()
    assert update_as("editor") == ("update", True) and "conflicts" not in events()[-1]
    assert world.get("admin", world.home.path(CHANGE))["conflicts"] == 1


def test_live_pages_that_are_hidden_look_like_pages_that_never_existed(world: World) -> None:
    hidden, gone = insert(world, SPACE, "Plans"), insert(world, SPACE, "More plans")
    for page in (hidden, gone):
        restrict(world, SPACE, ADMINISTRATORS, page)
    edit(world, SPACE, {"operation": "delete_page", "page": gone})
    space, change = world.home["spaceId"], world.home["changeRequestId"]
    calls: list[tuple[str, str, dict[str, Any] | None]] = [
        ("GET", "", None),
        ("PUT", "/caret", {"client": "client-1", "version": 0, "anchor": 0, "head": 0}),
        ("POST", "/save", None),
        ("GET", "/set-aside", None),
        ("POST", "/set-aside", {"markdown": "Words."}),
    ]

    def ask(page: str) -> list[tuple[int, str]]:
        places = (
            (space, f"/spaces/{space}/pages"),
            (change, f"/spaces/{space}/change-requests/{change}/pages"),
        )
        answers = [
            answer
            for id, path in places
            for answer in (
                world.call("editor", "GET", "/user/events", params={"live": f"{id}/{page}", "seconds": 0}),
                *(
                    world.call("editor", method, f"{path}/{page}/live{rest}", json=body)
                    for method, rest, body in calls
                ),
            )
        ]
        return [(answer.status_code, answer.text.replace(page, "ID")) for answer in answers]

    never = ask(new_id())
    assert {status for status, _ in never} == {404}
    assert ask(hidden) == ask(gone) == never


# --- live documents, counts, and comments -------------------------------------------------------------


def test_live_documents_resolve_no_link_to_a_restricted_page(world: World) -> None:
    other = insert(world, CHANGE, "Target")
    page = insert(world, CHANGE, "Linking", text="[there](target.md)\n")

    def shown() -> str:
        with world.context.db.read() as tx:
            state = get_change(tx, world.home["changeRequestId"]).state
            return str(blocks_of(world.context, tx, state, get_page(tx, state, page)))

    assert other in shown()
    restrict(world, CHANGE, ADMINISTRATORS, other)
    assert other not in shown() and "target.md" in shown()


def test_links_in_the_page_tree_do_not_name_restricted_targets(world: World) -> None:
    page = insert(world, SPACE, "Plans")
    target = {"kind": "page", "page": page}
    edit(world, SPACE, {"operation": "insert_link", "title": "Look", "target": target})
    link = find(world, "Look").id
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    home = f"{site}/site-spaces/{world.home['siteSpaceId']}"
    assert world.call("admin", "PATCH", home, json={"pageId": page}).is_success
    revision = world.get("admin", world.home.path(SPACE))["revision"]
    contents = ("content", f"revisions/{revision}", f"content/page/{link}")
    paths = [
        f"{site}/structure",
        f"{site}/site-spaces",
        *(world.home.path(f"{SPACE}/{at}") for at in contents),
    ]
    restrict(world, SPACE, ADMINISTRATORS, page)
    for path in paths:
        assert page in str(world.get("admin", path)), path
        assert page not in str(world.get("reader", path)), path
    shown = world.get("reader", paths[-1])
    assert shown["target"] == {"kind": "url", "url": ""} and not shown["href"]


def test_links_in_the_page_tree_of_another_space_do_not_name_restricted_targets(world: World) -> None:
    page, home = insert(world, SPACE, "Plans"), world.home["spaceId"]
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Other"})["id"]
    assert world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": "read"}).is_success
    target = {"kind": "url", "url": "https://example.org/target"}
    group = {"operation": "insert_group", "title": "Group"}
    for change in (group, {"operation": "insert_link", "title": "Look", "target": target}):
        world.post("admin", f"/spaces/{space}/content", {"changes": [change]})
    with world.context.db.read() as tx:
        pages = {one.title: one.id for one in list_pages(tx, find_state(tx, space, None))}
    move = {"operation": "update_page", "page": pages["Look"], "into": pages["Group"]}
    world.post("admin", f"/spaces/{space}/content", {"changes": [move]})
    # Imports and archives can contain such targets.
    written = {"kind": "page", "page": page, "space": home}
    with world.context.db.write() as tx:
        names = ("before", "after")
        given = dict(
            zip(names, (json.dumps(one, separators=(",", ":")) for one in (target, written)), strict=True)
        )
        assert tx.run(
            "UPDATE page_versions SET fields = replace(fields, :before, :after) WHERE kind = 'link'", **given
        )
    revision = world.get("admin", f"/spaces/{space}")["revision"]
    paths = [
        f"/spaces/{space}/{at}"
        for at in (
            "content",
            f"revisions/{revision}",
            f"content/page/{pages['Look']}",
            f"content/page/{pages['Group']}?pages=true",
        )
    ]
    restrict(world, SPACE, reading(world, "commenter"), page)
    for _ in range(2):  # The second time, responses come from caches.
        for path in paths:
            for who, sees in (("admin", True), ("reader", False), ("commenter", True)):
                assert (page in str(world.get(who, path))) == sees, (path, who)
    restrict(world, SPACE, ADMINISTRATORS, page)
    for path in paths:
        assert page in str(world.get("admin", path)) and page not in str(world.get("commenter", path)), path


def test_counts_leave_out_restricted_pages(world: World) -> None:
    page = world.home["pageId"]
    path = world.home.path(f"{SPACE}/content/page/{{pageId}}/change-requests")

    def count(who: str) -> int:
        shown = world.get(who, path)["items"]
        return next(int(one["pages"]) for one in shown if one["id"] == world.home["changeRequestId"])

    before = count("editor")
    edit(world, CHANGE, {"operation": "update_page", "page": page, "description": "New"})
    insert(world, CHANGE, "Plans")
    assert count("editor") == before + 1
    added = insert(world, CHANGE, "Secret plans")
    restrict(world, CHANGE, ADMINISTRATORS, added)
    assert (count("admin"), count("editor")) == (before + 2, before + 1)


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_comments_on_restricted_pages_do_not_count(world: World, at: str) -> None:
    page = insert(world, at, "Plans")
    shown, listed = world.home.path(at), world.home.path("/orgs/{organizationId}/spaces")

    def counts(who: str) -> list[int]:
        found = [int(world.get(who, shown)["comments"])]
        if at == SPACE:
            items = world.get(who, listed, params={"limit": 1000})["items"]
            found.append(next(int(one["comments"]) for one in items if one["id"] == world.home["spaceId"]))
        else:
            people = world.get(who, f"{shown}/contributors")["items"]
            comments = [one for one in people if one["actionType"] == "comment"]
            found += [int(one["count"]) for one in comments]
            times.append([one["updatedAt"] for one in comments])
        return found

    times: list[list[str]] = []
    say(world, at, world.home["pageId"])
    before = counts("reader")
    thread = say(world, at, page)
    say(world, at, page, reply=thread)
    assert counts("reader") != before
    restrict(world, at, ADMINISTRATORS, page)
    assert counts("reader") == before != counts("admin")
    # The time of the last comment is also the same.
    assert times[2:3] == times[:1]
    edit(world, at, {"operation": "delete_page", "page": page})
    assert counts("reader") == before


def test_conflicts_in_restricted_pages_do_not_count(world: World) -> None:
    path = world.home.path(f"{SPACE}/change-requests")
    one = f"{path}/{world.home['conflictingChangeRequestId']}"
    (conflict,) = world.get("admin", f"{one}/conflicts")["items"]
    restrict(world, SPACE, ADMINISTRATORS, conflict["targetId"])
    assert world.get("admin", one)["conflicts"] == 1
    assert world.get("editor", one)["conflicts"] == 0
    assert {each["conflicts"] for each in world.get("editor", path)["items"]} == {0}


@pytest.mark.parametrize("first", ["admin", "reader"])
def test_links_of_a_change_request_show_counts_of_the_caller(sqlite_world: World, first: str) -> None:
    """``first``: who reads the links first."""
    world = sqlite_world
    page = insert(world, CHANGE, "Counted")
    link = {"document": {"markdown": "[a](missing.md)\n"}}
    edit(world, CHANGE, {"operation": "update_page", "page": world.home["pageId"], **link})
    say(world, CHANGE, page)
    restrict(world, CHANGE, ADMINISTRATORS, page)

    def counts(who: str) -> set[int]:
        shown = world.get(who, world.home.path(f"{CHANGE}/links"))["items"]
        places = [place for one in shown for place in one["locationReferences"]]
        return {place["versionContext"]["changeRequest"]["comments"] for place in places}

    for who in (first, "reader", "admin"):
        assert counts(who) == {world.get(who, world.home.path(CHANGE))["comments"]}, who
    assert counts("reader") != counts("admin")


def test_search_does_not_count_pages_computed_from_a_restricted_source(sqlite_world: World) -> None:
    world = sqlite_world
    operation = {"operationId": "run", "summary": WORD, "responses": {"200": {"description": "Fine"}}}
    described = {
        "openapi": "3.1.0",
        "info": {"title": "one", "version": "1"},
        "paths": {"/": {"get": operation}},
    }
    processed(world, "one", {"text": json.dumps(described)})
    source = {
        "type": "builtin:openapi",
        "props": {"grouping": "by-operation"},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "one"}}},
    }
    body = {"title": "Api", "computedSource": source}
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), body)["id"]
    searches = [f"/spaces/{space}/search", world.home.path("/orgs/{organizationId}/search")]

    def counts(who: str) -> list[int]:
        index_computed_pages(world.context, space)
        return [world.get(who, path, params={"query": WORD})["count"] for path in searches]

    assert counts("reader") == counts("admin") and all(counts("reader"))
    (page,) = world.get("admin", f"/spaces/{space}/content/pages", params={"computed": "false"})["pages"]
    change = {"operation": "update_page", "page": page["id"], "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{space}/content", {"changes": [change]})
    assert counts("reader") == [0, 0] and all(counts("admin"))


def test_search_corrects_no_word_to_one_of_a_restricted_page(world: World) -> None:
    insert(world, SPACE, "Visible", text="Here is bbankrupt.\n")
    page = insert(world, SPACE, "Hidden", text="Nothing.\n")
    restrict(world, SPACE, ADMINISTRATORS, page)

    def count(who: str) -> int:
        query = {"query": "bankruptes "}
        return int(world.get(who, world.home.path(f"{SPACE}/search"), params=query)["count"])

    assert count("editor") == count("admin") == 1
    edit(world, SPACE, {"operation": "update_page", "page": page, "document": {"markdown": "bankruptees\n"}})
    assert count("editor") == 1
    found = world.get("admin", world.home.path(f"{SPACE}/search"), params={"query": "bankruptes "})
    assert [one["title"] for one in found["items"]] == ["Hidden"]


def test_authors_of_restricted_pages_are_not_suggested_as_reviewers(world: World) -> None:
    path = world.home.path(f"{CHANGE}/suggested-reviewers")

    def wrote(who: str) -> bool:
        shown = world.get(who, path)["items"]
        return any(one["reason"] in ("created", "edited") for one in shown)

    assert wrote("admin") and wrote("editor")
    restrict(world, SPACE, ADMINISTRATORS)
    assert wrote("admin") and not wrote("editor")


def test_people_who_can_only_read_a_page_update_no_comment_on_it(world: World) -> None:
    thread = say(world, SPACE, world.home["pageId"])
    reply = say(world, SPACE, world.home["pageId"], reply=thread)
    path = world.home.path(f"{SPACE}/comments/{thread}")
    restrict(world, SPACE, reading(world, "editor"))
    assert world.call("editor", "GET", path).is_success
    for at, body in (
        (path, {"resolved": True}),
        (path, {"addedReactions": ["👍"]}),
        (f"{path}/replies/{reply}", {"addedReactions": ["👍"]}),
    ):
        assert world.call("editor", "PUT", at, json=body).status_code == 403
    restrict(world, SPACE, [{**reading(world, "editor")[0], "level": "comment"}])
    assert world.call("editor", "PUT", path, json={"resolved": True}).is_success


def test_change_requests_that_verify_restricted_pages_do_not_name_them(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, SPACE, f"{WORD} plans")
    restrict(world, SPACE, ADMINISTRATORS, page)
    path = world.home.path(SPACE)
    assert world.call("admin", "PATCH", path, json={"editMode": "locked"}).is_success
    made = world.post("admin", f"{path}/content/page/{page}/verify")
    assert made["changeRequest"]["subject"] == "Verify a page"
    shown = f"{path}/change-requests/{made['changeRequest']['id']}"
    assert world.call("admin", "PATCH", path, json={"editMode": "live"}).is_success
    assert WORD not in str(world.get("reader", shown)) + str(world.get("reader", f"{path}/revisions"))


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_comments_on_a_page_stay_hidden_after_a_change_request_restricts_and_deletes_it(
    world: World, at: str
) -> None:
    """``at``: where the page and the page below it were created."""
    page = insert(world, at, "Plans")
    below = insert(world, at, "Details", into=page)
    if at == SPACE:
        world.post("admin", world.home.path(f"{CHANGE}/update"))
    said = [
        say(world, CHANGE, page),
        say(world, CHANGE, below),
        say(world, CHANGE, world.home["pageId"], "Open"),
    ]

    def seen(who: str) -> set[str]:
        listed = world.get(who, world.home.path(f"{CHANGE}/comments"), params={"limit": 1000})["items"]
        return {one["id"] for one in listed} & set(said)

    assert seen("reader") == set(said)
    restrict(world, CHANGE, ADMINISTRATORS, page)
    assert seen("reader") == {said[2]}
    edit(world, CHANGE, {"operation": "delete_page", "page": page})
    assert (seen("admin"), seen("reader")) == (set(said), {said[2]})
    comment = world.home.path(f"{CHANGE}/comments/{said[1]}")
    assert world.call("reader", "GET", comment).status_code == 404


def test_a_page_deleted_in_a_change_request_after_its_rule_was_removed_keeps_its_comments(
    world: World,
) -> None:
    page = insert(world, CHANGE, "Plans")
    said = say(world, CHANGE, page)
    restrict(world, CHANGE, ADMINISTRATORS, page)
    restrict(world, CHANGE, [], page)
    edit(world, CHANGE, {"operation": "delete_page", "page": page})
    assert world.call("reader", "GET", world.home.path(f"{CHANGE}/comments/{said}")).is_success


def test_commenters_suggest_edits_of_pages_that_they_cannot_edit(world: World) -> None:
    page = insert(world, CHANGE, "Plans", text="One.\n")
    restrict(world, CHANGE, [{**reading(world, "editor")[0], "level": "comment"}], page)
    path = world.home.path(f"{CHANGE}/content/page/{page}")
    block = world.get("editor", path, params={"format": "document"})["document"]["nodes"][0]["key"]
    body = {
        "body": {"markdown": "Better"},
        "page": page,
        "node": block,
        "suggestion": {"markdown": "Two.\n"},
    }
    comments = world.home.path(f"{CHANGE}/comments")
    said = world.post("editor", comments, body)
    settle = f"{comments}/{said['id']}/suggestion"
    assert world.call("editor", "PUT", settle, json={"status": "accepted"}).status_code == 403
    restrict(world, CHANGE, reading(world, "editor"), page)
    assert world.call("editor", "POST", comments, json=body).status_code == 403


def test_edits_of_older_revisions_keep_slugs_and_paths_unique(world: World) -> None:
    restrict(world, SPACE, ADMINISTRATORS)
    base = world.get("editor", world.home.path(SPACE))["revision"]
    for who in ("admin", "editor"):
        page = {"operation": "insert_page", "title": "Same", "document": {"markdown": "Words.\n"}}
        if who == "admin":
            edit(world, SPACE, page)
            restrict(world, SPACE, ADMINISTRATORS, find(world, "Same").id)
        else:
            given = {"changes": [page], "baseRevision": base}
            world.post(who, world.home.path(f"{SPACE}/content"), given)
    with world.context.db.read() as tx:
        pages = list_pages(tx, find_state(tx, world.home["spaceId"], None))
    same = [(page.parent, page.slug) for page in pages if page.title == "Same"]
    paths = [page.file_path for page in pages if page.file_path]
    assert len(set(same)) == 2 and len(set(paths)) == len(paths)


def find(world: World, title: str) -> Page:
    with world.context.db.read() as tx:
        pages = list_pages(tx, find_state(tx, world.home["spaceId"], None))
        return next(page for page in pages if page.title == title)


def test_links_to_pdfs_end_when_a_page_is_restricted(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, SPACE, "Printed")
    path = world.home.path(f"{SPACE}/pdf")
    tokens = [
        world.get("reader", path, params={"page": of})["url"].split("/~pdf/")[1].split("/")[0]
        for of in (page, world.home["pageId"])
    ]
    for token in tokens:
        assert open_print(world.context, token) is not None
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert [open_print(world.context, token) for token in tokens] == [None, None]
    token = world.get("reader", path)["url"].split("/~pdf/")[1].split("/")[0]
    assert open_print(world.context, token) is not None


# --- sites --------------------------------------------------------------------------------------------


def test_sites_show_a_restricted_page_only_if_all_of_its_rules_say_so(sqlite_world: World) -> None:
    # Tests before this one can have left pages of a site with the same ID and version.
    sqlite_world.context.db.caches.clear()
    world, visitor = sqlite_world, Visitor(sqlite_world.context)
    page = insert(world, SPACE, "Plans", text=f"{WORD} words.\n")
    below = insert(world, SPACE, "Details", into=page, text=f"{WORD} details.\n")
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    assert world.call("admin", "PATCH", path, json={"visibility": "public"}).is_success
    site = world.post("admin", f"{path}/publish")["urls"]["published"].partition("8001")[2]

    def shown(path: str) -> bool:
        status = visitor.get(f"{site}{path}").status_code
        assert status in (200, 404)
        on_site = path in visitor.get(f"{site}llms.txt").text
        assert on_site == (status == 200) == (path in visitor.get(f"{site}sitemap-pages.xml").text)
        return on_site

    access = world.home.path(f"{SPACE}/content/page/{page}/access")
    assert shown("plans") and shown("plans/details") and world.get("admin", access)["published"]
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert not shown("plans") and not world.get("admin", access)["published"]
    restrict(world, SPACE, [*ADMINISTRATORS, {"kind": "sites"}], page)
    assert shown("plans") and shown("plans/details")
    found = world.get("admin", access)
    assert found["published"] and {"kind": "sites"} in found["rules"][0]["grants"]
    # The rule gives no one access to the page in the space.
    for who in ("editor", "reader"):
        one = world.home.path(f"{SPACE}/content/page/{page}")
        assert world.call(who, "GET", one).status_code == 404
        assert (
            world.call(who, "GET", world.home.path(f"{SPACE}/pdf"), params={"page": page}).status_code == 404
        )
    restrict(world, SPACE, ADMINISTRATORS, below)
    assert shown("plans") and not shown("plans/details")
    restrict(world, SPACE, ADMINISTRATORS, page)
    restrict(world, SPACE, [{"kind": "sites"}], below)
    assert not shown("plans") and not shown("plans/details")
    refused = {"operation": "update_page", "page": page, "visibleTo": [{"kind": "sites", "level": "read"}]}
    answer = world.call("admin", "POST", world.home.path(f"{SPACE}/content"), json={"changes": [refused]})
    assert answer.status_code == 400


@pytest.mark.parametrize("heading", ["There", "Elsewhere"])
def test_findings_reveal_no_restricted_page(sqlite_world: World, heading: str) -> None:
    """``heading``: whether the section that a visible page links to exists."""
    world = sqlite_world
    scene = ScanScene(world)
    broken = f"See [it]({WORD}-missing.md) and ![]({WORD}-missing.png)\n\n## {heading}\n"
    page = insert(world, SPACE, f"{WORD} plans", text=broken)
    scene.scan()
    assert WORD in str(scene.list("editor"))
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert WORD not in str(scene.list("editor"))
    insert(world, SPACE, "Probe", text=f"[a](/pages/{page}#there), [b]({WORD}-plans.md#there)\n")
    scene.scan()
    for who in ("reader", "editor", "admin"):
        assert WORD not in str(scene.list(who)) and page not in str(scene.list(who)), who


def test_insights_reveal_no_restricted_page(sqlite_world: World) -> None:
    world, path = sqlite_world, "https://docs.test/"
    site = Site(world)
    page = insert(world, SPACE, f"{WORD} plans")

    def event(of: str | None, name: str, **more: Any) -> dict[str, Any]:
        made: dict[str, Any] = site.event(url=path + name, **more)
        made["location"] |= {"space": world.home["spaceId"], "page": of}
        return made

    def asked(who: str) -> list[Any]:
        body = {
            "range": "last7Days",
            "groupBy": [{"column": "url"}, {"column": "page"}, {"column": "referrer"}],
        }
        answer = world.call(who, "POST", f"{site.path}/insights/events/aggregate", json=body)
        return list(zip(*(column["values"] for column in answer.json()["columns"]), strict=True))

    linked = {"referrer": f"{path}{WORD}"}
    site.track(
        *(event(page, WORD), event(None, f"{WORD}-missing")),
        event(world.home["pageId"], "a", session=linked),
        event(None, "b"),
    )
    before = asked("reader")
    assert len(before) == 4
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert asked("admin") == before
    for who in ("reader", "editor"):
        shown = asked(who)
        assert {row[0] for row in shown} == {f"{path}a"} and page not in str(shown), who
    restrict(world, SPACE, [], page)
    assert asked("reader") == before


def test_insights_name_no_restricted_page_as_target_or_referrer(world: World) -> None:
    site = Site(world)
    page = insert(world, SPACE, f"{WORD} plans")
    # Pages of another space that the site doesn't contain, and addresses that the site had before.
    elsewhere = world.home["spaceId"]
    with world.context.db.write() as tx:
        tx.insert(
            "site_former_hostnames",
            hostname="old.test",
            organization_id=world.home["organizationId"],
            given_up_at=1,
        )

    def event(**more: Any) -> dict[str, Any]:
        made: dict[str, Any] = site.event(**more)
        made["location"] |= {"space": elsewhere, "page": world.home["pageId"]}
        return made

    def click(**target: str) -> dict[str, Any]:
        return event(type="link_click", link={"target": target, "position": "content"})

    sites = world.context.settings.sites_url
    site.track(
        click(kind="page", page=page),
        click(kind="page", page=page, space=elsewhere),
        click(kind="anchor", page=page, anchor="there"),
        click(kind="url", url=f"/{WORD}"),
        click(kind="url", url=f"https://old.test/{WORD}"),
        *(
            event(session={"referrer": f"{at}/{WORD}"})
            for at in (sites, "https://old.test", world.context.settings.url)
        ),
        click(kind="page", page=world.home["pageId"]),
        click(kind="url", url="https://example.org/there"),
        event(session={"referrer": "https://example.org/from"}),
    )

    def asked(who: str, where: list[Any]) -> list[Any]:
        columns = [{"column": name} for name in ("eventLinkTargetValue", "referrer")]
        body = {
            "range": "last7Days",
            "groupBy": columns,
            "select": [{"column": "eventsCount"}],
            "where": where,
        }
        answer = world.call(who, "POST", f"{site.path}/insights/events/aggregate", json=body)
        assert answer.is_success, answer.text
        return list(zip(*(column["values"] for column in answer.json()["columns"]), strict=True))

    before = asked("reader", [])
    assert len(before) == 11
    named = [
        {"column": "eventLinkTargetValue", "operator": "in", "values": [{"kind": "page", "page": page}]},
        {"column": "referrer", "operator": "in", "values": [f"https://old.test/{WORD}"]},
    ]
    assert all(asked("reader", [where]) for where in named)
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert asked("admin", []) == before
    for who in ("reader", "editor"):
        shown = asked(who, [])
        assert sum(row[2] for row in shown) == 11 and len(shown) == 5
        assert page not in str(shown) and WORD not in str(shown)
        for kept in (world.home["pageId"], "example.org/there", "example.org/from"):
            assert kept in str(shown)
        assert not any(asked(who, [where]) for where in named)


# --- translations -------------------------------------------------------------------------------------


def refuse_secrets(request: dict[str, Any]) -> str:
    """Model that doesn't translate some texts."""
    texts = json.loads(request["messages"][-1]["content"].split("<data>\n")[1].split("\n</data>")[0])
    return json.dumps({name: text.upper() for name, text in texts.items() if "refused" not in text})


def translate(world: World, who: str, made: dict[str, Any]) -> dict[str, Any]:
    with world.context.db.write() as tx:
        tx.run("UPDATE translations SET status = 'completed', run = NULL WHERE id = :id", id=made["id"])
    world.post(who, f"{made['urls']['location']}/run")
    work(world)
    found: dict[str, Any] = world.get("admin", made["urls"]["location"])
    assert found["status"] == "completed" and "failed" not in found.get("notice", ""), found
    return found


def test_translations_keep_pages_that_their_runner_cannot_see(sqlite_world: World) -> None:
    world = sqlite_world
    page = insert(world, SPACE, "Plans")
    below = insert(world, SPACE, "Details", into=page)
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
    work(world)
    space = made["result"]["space"]
    assert world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": "edit"}).is_success
    assert world.call("editor", "GET", f"/spaces/{space}/content/page/{page}").is_success
    for grants in (reading(world, "reader"), ADMINISTRATORS, ADMINISTRATORS):
        restrict(world, SPACE, grants, page)
        translate(world, "editor", made)
        for id in (page, below):
            # The translation is restricted like its source.
            path = f"/spaces/{space}/content/page/{id}"
            assert world.call("admin", "GET", path).is_success
            assert world.call("editor", "GET", path).status_code == 404
    restrict(world, SPACE, [], page)
    translate(world, "editor", made)
    assert world.call("editor", "GET", f"/spaces/{space}/content/page/{below}").is_success
    edit(world, SPACE, {"operation": "delete_page", "page": page})
    translate(world, "admin", made)
    assert world.call("admin", "GET", f"/spaces/{space}/content/page/{page}").status_code == 404


@pytest.mark.parametrize("who", ["admin", "editor"])
def test_translated_pages_that_were_moved_are_restricted_like_their_source(world: World, who: str) -> None:
    """They keep the rules of the pages above their source. ``who``: who runs the translation."""
    page = insert(world, SPACE, "Plans")
    inner = insert(world, SPACE, "Inner", into=page)
    below = insert(world, SPACE, "Details", into=inner)
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
    work(world)
    space = f"/spaces/{made['result']['space']}"
    assert world.call("admin", "PATCH", space, json={"defaultLevel": "edit"}).is_success
    for moved in (inner, below):
        change = {"operation": "update_page", "page": moved, "into": None}
        world.post("editor", f"{space}/content", {"changes": [change]})

    def sees(reader: str, id: str) -> bool:
        return world.call(reader, "GET", f"{space}/content/page/{id}").is_success

    restrict(world, SPACE, reading(world, "reader"), page)
    child = insert(world, SPACE, "Child", into=below, text=f"{WORD} words.\n")
    update = {"operation": "update_page", "page": below, "document": {"markdown": f"{WORD} words.\n"}}
    edit(world, SPACE, update)
    for _ in range(2):
        translate(world, who, made)
        for id in (page, inner, below, *([child] if who == "admin" else [])):
            assert sees("admin", id) and sees("reader", id) and not sees("editor", id)
    restrict(world, SPACE, reading(world, "editor"), inner)
    translate(world, who, made)
    assert all(sees("admin", id) and not sees("editor", id) for id in (inner, below))
    assert not sees("reader", below)
    restrict(world, SPACE, [], inner)
    restrict(world, SPACE, [], page)
    for _ in range(2):
        translate(world, who, made)
        assert all(sees("editor", id) for id in (page, inner, below, child))


def test_translated_pages_below_a_page_are_visible_again_when_its_rule_is_removed(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    server.answer = refuse_secrets
    page = insert(world, SPACE, "Plans")
    below = insert(world, SPACE, "Details", into=page)
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    with world_with_model(world, server):
        made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
        work(world)
        space = made["result"]["space"]
        assert world.call("admin", "PATCH", f"/spaces/{space}", json={"defaultLevel": "edit"}).is_success
        path = f"/spaces/{space}/content/page/{below}"
        assert world.call("editor", "GET", path).is_success
        restrict(world, SPACE, ADMINISTRATORS, page)
        translate(world, "editor", made)
        assert world.call("editor", "GET", path).status_code == 404
        restrict(world, SPACE, [], page)
        translate(world, "editor", made)
        assert world.call("editor", "GET", path).is_success


def test_texts_of_restricted_pages_are_in_no_problem_and_no_memory(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    server.answer = refuse_secrets
    page = insert(world, SPACE, "Plans", text=f"{WORD} one.\n\n{WORD} refused.\n")
    restrict(world, SPACE, ADMINISTRATORS, page)
    insert(world, SPACE, "Public", text="Seen one.\n\nSeen refused.\n")
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    with world_with_model(world, server):
        made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
        work(world)
        space = made["result"]["space"]
        done = world.get("admin", made["urls"]["location"])
        shown = world.get("admin", f"/spaces/{space}/content/page/{page}", params={"format": "markdown"})
        assert f"{WORD} one.".upper() in shown["markdown"]
        text = shown["markdown"].replace(f"{WORD} one.".upper(), f"{WORD} by a person.")
        change = {"operation": "update_page", "page": page, "document": {"markdown": text}}
        world.post("admin", f"/spaces/{space}/content", {"changes": [change]})
        done = translate(world, "admin", made)
    assert "Seen refused" in str(done["problems"]) and WORD not in str(done["problems"])
    with world.context.db.read() as tx:
        memory = str(tx.all("SELECT source, target FROM translation_memory"))
    assert "Seen one." in memory and WORD not in memory.lower()


def test_the_memory_learns_nothing_from_pages_that_only_the_translation_restricts(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    page = insert(world, SPACE, "Plans", text="Seen one.\n")
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    with world_with_model(world, server):
        made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
        work(world)
        content = f"/spaces/{made['result']['space']}/content"

        def update(**fields: Any) -> None:
            world.post("admin", content, {"changes": [{"operation": "update_page", "page": page, **fields}]})

        def remembered() -> str:
            translate(world, "admin", made)
            with world.context.db.read() as tx:
                return str(tx.all("SELECT source, target FROM translation_memory WHERE space_id IS NOT NULL"))

        update(title="Open title")
        assert "Open title" in remembered()
        update(visibleTo=ADMINISTRATORS)
        update(title=f"{WORD} title", document={"markdown": f"{WORD} by a person.\n"})
        shown = remembered()
        assert WORD not in shown and "Open title" not in shown


def test_problems_and_counts_of_a_translation_leave_out_pages_restricted_later(
    sqlite_world: World, server: ModelServer
) -> None:
    world = sqlite_world
    server.answer = refuse_secrets
    insert(world, SPACE, "Public", text="Seen refused.\n")
    body = {"source": {"space": world.home["spaceId"], "language": "en"}, "language": "fr"}
    with world_with_model(world, server):
        made = world.post("admin", world.home.path("/orgs/{organizationId}/translations"), body)
        work(world)
        before = translate(world, "admin", made)
        page = insert(world, SPACE, "Plans", text=f"{WORD} one.\n\n{WORD} refused.\n")
        with_page = translate(world, "admin", made)
        assert WORD in str(with_page["problems"]) and with_page["untranslated"] == before["untranslated"] + 1
        restrict(world, SPACE, ADMINISTRATORS, page)
        listed = world.get("reader", world.home.path("/orgs/{organizationId}/translations"))["items"]
        shown = next(one for one in listed if one["id"] == made["id"])
        assert shown == world.get("reader", made["urls"]["location"])
        fields = ("problems", "untranslated", "notice")
        assert [shown.get(name) for name in fields] == [before.get(name) for name in fields]
        assert "Seen refused" in str(shown["problems"])
        edit(
            world,
            SPACE,
            {"operation": "update_page", "page": page, "document": {"markdown": f"{WORD} more.\n"}},
        )
        done = translate(world, "admin", made)
        for count in ("latestPages", "latestWords"):
            assert done["stats"][count] == before["stats"][count]
        restrict(world, SPACE, [], page)
        assert world.get("reader", made["urls"]["location"])["untranslated"] == before["untranslated"]


def test_an_import_keeps_the_restrictions_of_the_pages_it_replaces(world, tmp_path):
    (tmp_path / "README.md").write_text("# Start\n\nPublic words.\n")
    (tmp_path / "pay.md").write_text("# Pay\n\nSecret words.\n")
    (tmp_path / "SUMMARY.md").write_text("* [Start](README.md)\n* [Pay](pay.md)\n")
    space = world.post("admin", f"/orgs/{world.home['organizationId']}/spaces", {"title": "Imported"})["id"]

    def load() -> None:
        with open_source(str(tmp_path), allow_url=str, local=True) as source:
            import_files(world.context, source, space, author=None)

    load()
    page = world.get("admin", f"/spaces/{space}/content/path/pay")["id"]
    rule = {"operation": "update_page", "page": page, "visibleTo": [{"kind": "administrators"}]}
    world.post("admin", f"/spaces/{space}/content", {"changes": [rule]})
    (tmp_path / "pay.md").write_text("# Pay\n\nOther secret words.\n")
    load()
    path = f"/spaces/{space}/content/page/{page}?format=markdown"
    assert "Other secret" in world.get("admin", path)["markdown"]
    assert world.call("reader", "GET", path).status_code == 404


@pytest.mark.parametrize("how", ["restrict", "delete"])
def test_an_update_puts_no_page_below_one_that_its_author_cannot_see(world: World, how: str) -> None:
    """It works in the same way if the page was deleted. Later updates by others apply what it left out."""
    imports = Imports(world)
    texts: dict[str, bytes | str] = {
        "README.md": "# Start\n",
        "area/README.md": "# Area\n",
        "area/old.md": "# Old\n",
        "other.md": "# Other\n",
        "SUMMARY.md": "* [Start](README.md)\n* [Area](area/README.md)\n  * [Old](area/old.md)\n* [Other](other.md)\n",
    }

    def update(who: str, before: str) -> dict[str, Any]:
        source = {"type": "file", "files": [imports.upload("p.zip", archive(texts), who)]}
        body = {"source": source, "target": {"space": imports.space}, "update": before}
        run = world.post(who, imports.runs, body)["id"]
        imports.work()
        found: dict[str, Any] = imports.run(run, who)
        assert found["status"] == "completed", found
        return found

    def tree(who: str) -> Any:
        def titles(pages: list[Any]) -> Any:
            return {page["title"]: titles(page["pages"]) for page in pages}

        return titles(world.get(who, f"/spaces/{imports.space}/content/pages")["pages"])

    first = imports.files(("p.zip", archive(texts)))
    page = imports.page("Area", "markdown")["id"]
    change: dict[str, Any] = {"operation": "delete_page", "page": page}
    if how == "restrict":
        change = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{imports.space}/content", {"changes": [change]})
    texts |= {
        "area/old.md": "# Old\n\nOther words.\n",
        "area/new.md": "# New\n",
        "area/newer.md": "# Newer\n",
        "other.md": "# Other\n\nOther words.\n",
        "SUMMARY.md": """* [Start](README.md)
* [Area](area/README.md)
  * [Old](area/old.md)
  * [New](area/new.md)
    * [Newer](area/newer.md)
  * [Other](other.md)
""",
    }
    second = update("editor", first["id"])
    assert not any("new" in one["path"] for one in second["pages"])
    assert tree("editor") == {"Start": {}, "Other": {}} and "Other words." in imports.text("Other")
    assert tree("admin") == {"Start": {}, **({"Area": {"Old": {}}} if how == "restrict" else {}), "Other": {}}
    update("admin", second["id"])
    if how == "restrict":
        assert tree("editor") == {"Start": {}}
        assert tree("admin") == {"Start": {}, "Area": {"Old": {}, "New": {"Newer": {}}, "Other": {}}}
        area = world.get("admin", f"/spaces/{imports.space}/content/path/area/old?format=markdown")
        assert "Other words." in area["markdown"]
    else:
        assert tree("admin") == {"Start": {}, "Other": {}}


def test_an_update_takes_no_path_of_a_page_that_its_author_cannot_see(world: World) -> None:
    imports = Imports(world)
    texts: dict[str, bytes | str] = {"README.md": "# Start\n", "SUMMARY.md": "* [Start](README.md)\n"}
    first = imports.files(("p.zip", archive(texts)))
    page = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "Secret.\n"}}
    space = f"/spaces/{imports.space}"
    world.post("admin", f"{space}/content", {"changes": [page]})
    secret = world.get("admin", f"{space}/content/path/plans")["id"]
    rule = {"operation": "update_page", "page": secret, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"{space}/content", {"changes": [rule]})
    texts |= {"plans.md": "# Plans\n", "SUMMARY.md": "* [Start](README.md)\n* [Plans](plans.md)\n"}
    source = {"type": "file", "files": [imports.upload("p.zip", archive(texts))]}
    body = {"source": source, "target": {"space": imports.space}, "update": first["id"]}
    run = world.post("editor", imports.runs, body)["id"]
    imports.work()
    assert imports.run(run)["status"] == "completed"
    assert [one["path"] for one in imports.pages()] == ["readme", "plans-1"]
    assert world.get("admin", f"{space}/content/path/plans")["id"] == secret
    with ZipFile(BytesIO(world.call("admin", "GET", f"{space}/archive").content)) as packed:
        names = packed.namelist()
    assert len(names) == len(set(names)) and sum("plans" in name for name in names) == 2


def test_configuration_in_archives_names_no_restricted_page(world: World, tmp_path: Path) -> None:
    for name, text in {
        "README.md": "# Start\n",
        "guide/README.md": "# Guide\n",
        "guide/more.md": "# More\n",
        f"guide/{WORD}.md": "# Pay\n",
        ".gitbook.yaml": f"""# About {WORD}
root: ./guide
structure:
  readme: {WORD}.md
redirects:
  first: more.md#there
  second: more
  third: https://example.org/
  fourth: {WORD}.md
  fifth: {WORD}
""",
        "guide/SUMMARY.md": f"# Contents\n\n<!-- {WORD} -->\n* [More](more.md)\n* [Pay]({WORD}.md)\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    space = world.post("admin", f"/orgs/{world.home['organizationId']}/spaces", {"title": "Imported"})["id"]
    with open_source(str(tmp_path), allow_url=str, local=True) as source:
        import_files(world.context, source, space, author=None)
    with world.context.db.read() as tx:
        [page] = (one.id for one in list_pages(tx, find_state(tx, space, None)) if one.title == "Pay")
    rule = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{space}/content", {"changes": [rule]})

    def download(who: str) -> dict[str, str]:
        answer = world.call(who, "GET", f"/spaces/{space}/archive")
        with ZipFile(BytesIO(answer.content)) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}

    whole, files = download("admin"), download("reader")
    assert whole[".gitbook.yaml"] == (tmp_path / ".gitbook.yaml").read_text()
    assert WORD in whole["guide/SUMMARY.md"] and WORD not in str(files)
    assert files["guide/SUMMARY.md"] == "# Contents\n\n* [More](more.md)\n"
    config = read_config(files[".gitbook.yaml"])
    assert config.root == "guide/" and not config.problems
    assert config.redirects == {
        "first": "more.md#there",
        "second": "more",
        "third": "https://example.org/",
    }


def test_import_runs_name_no_page_that_was_restricted_later(world: World) -> None:
    imports = Imports(world)
    allowed = {"editMode": "live", "defaultLevel": "edit"}
    assert world.call("admin", "PATCH", f"/spaces/{imports.space}", json=allowed).is_success
    texts = {"README.md": "# Start\n", f"{WORD}.md": "---\nicon: [\n---\n\n# Pay\n"}
    run = imports.files(*texts.items())
    path = f"{imports.runs}/{run['id']}"
    assert run["status"] == "completed" and WORD in str(run["problems"]) and len(run["pages"]) == 2, run
    page = next(one["id"] for one in run["pages"] if WORD in one["path"])
    rule = {"operation": "update_page", "page": page, "visibleTo": ADMINISTRATORS}
    world.post("admin", f"/spaces/{imports.space}/content", {"changes": [rule]})
    assert world.get("admin", path) == run
    [listed] = world.get("editor", imports.runs)["items"]
    for shown in (listed, world.get("editor", path)):
        assert page not in str(shown) and len(shown["pages"]) == 1
        assert WORD not in str(shown["pages"]) + str(shown["problems"])
