"""Restricted pages leave no trace in older revisions of change requests, positions, conflicts, and live steps."""

from __future__ import annotations

from typing import Any

import pytest

from events.listening import listening
from findings.test_style_merging import MergeScene
from octavo.organization.access.members import upsert_member
from octavo.organization.access.teams import put_team_member
from revisions.test_restricted_elsewhere import (
    ADMINISTRATORS,
    CHANGE,
    SPACE,
    WORD,
    edit,
    insert,
    restrict,
)
from world import World


@pytest.mark.parametrize("later", ["edited", "deleted"])
@pytest.mark.parametrize("at", ["top", "below"])
def test_older_revisions_of_a_change_request_hide_what_it_restricts_later(
    world: World, at: str, later: str
) -> None:
    """``at``: whether the rule is that of the page or of the page above it. ``later``: what happens to the page
    afterward."""
    above = insert(world, CHANGE, "Above")
    page = insert(world, CHANGE, f"{WORD} plans", above if at == "below" else None, text=f"{WORD} words.\n")
    older = world.get("admin", world.home.path(CHANGE))["revision"]
    path = world.home.path(f"{SPACE}/revisions/{{revisionId}}", revisionId=older)
    reads = ("", "/pages", "/children", f"/page/{page}", "/changes", f"/changes/page/{page}")

    def events_of(who: str) -> list[str]:
        texts = {end: world.call(who, "GET", f"{path}{end}").text for end in reads}
        return [end for end, text in texts.items() if WORD in text or (page in text and page not in end)]

    assert "/changes" in events_of("reader") and f"/page/{page}" in events_of("reader")
    restrict(world, CHANGE, ADMINISTRATORS, above if at == "below" else page)
    if later == "deleted":
        edit(world, CHANGE, {"operation": "delete_page", "page": page})
    assert not events_of("reader") and not events_of("editor")
    assert f"/page/{page}" in events_of("admin")


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_positions_count_only_pages_that_the_author_sees(world: World, at: str) -> None:
    """Otherwise, moving a page would tell where hidden pages are."""
    above = insert(world, at, "Above")
    names = ("One", "Hidden 1", "Two", "Hidden 2", "Three", "Hidden 3")
    pages = {name: insert(world, at, name, above) for name in names}
    for name in names[1::2]:
        restrict(world, at, ADMINISTRATORS, pages[name])

    def order(who: str) -> list[str]:
        path = world.home.path(f"{at}/content/children")
        return [one["title"] for one in world.get(who, path, params={"parent": above})["items"]]

    def move(name: str, to: int) -> tuple[list[str], bool]:
        """Return the order that the author sees, and whether anything was written."""
        path, before = world.home.path(at), world.get("editor", world.home.path(at))["revision"]
        change = {"operation": "update_page", "page": pages[name], "at": to}
        world.post("editor", f"{path}/content", {"changes": [change]})
        return order("editor"), world.get("editor", path)["revision"] != before

    for number, name in enumerate(("One", "Two", "Three")):
        assert move(name, number) == (["One", "Two", "Three"], False)
    assert move("One", 1) == (["Two", "One", "Three"], True)
    assert order("admin") == ["Hidden 1", "Two", "Hidden 2", "One", "Three", "Hidden 3"]
    assert move("Two", 2) == (["One", "Three", "Two"], True)
    assert move("Three", 0) == (["Three", "One", "Two"], True)
    new = {"operation": "insert_page", "title": "New", "document": {"markdown": "."}, "into": above, "at": 1}
    world.post("editor", world.home.path(f"{at}/content"), {"changes": [new]})
    assert order("editor") == ["Three", "New", "One", "Two"]
    assert set(names) < set(order("admin"))


def test_resolved_conflicts_do_not_name_a_hidden_page_that_was_chosen(world: World) -> None:
    page, one, other = (insert(world, SPACE, title) for title in ("Moved", "One", "Other"))
    hidden = insert(world, SPACE, "Hidden")
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    for at, into in ((SPACE, one), (CHANGE, other)):
        edit(world, at, {"operation": "update_page", "page": page, "into": into})
    path = world.home.path(f"{CHANGE}/conflicts")
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    (key,) = (each["id"] for each in world.get("admin", path)["items"] if each["targetId"] == page)
    world.post("admin", f"{path}/{key}/resolve", {"choice": "edited", "value": {"parent": hidden}})
    edit(world, CHANGE, {"operation": "update_page", "page": page, "into": one})

    def settled(who: str) -> str:
        return world.call(who, "GET", path, params={"status": "settled"}).text

    assert hidden in settled("reader")
    restrict(world, SPACE, ADMINISTRATORS, hidden)
    assert hidden not in settled("reader") and hidden in settled("admin")
    assert world.call("editor", "POST", f"{path}/{key}/reopen").status_code == 404


def test_suggestions_show_a_link_to_a_hidden_page_as_its_words(world: World) -> None:
    hidden = insert(world, SPACE, f"{WORD} plans")
    world.post("admin", world.home.path(f"{CHANGE}/update"))
    links = f"See [words](/pages/{hidden}), [more]({WORD}-plans.md), and [nothing](missing.md).\n"
    page = insert(world, CHANGE, "Linking", text=links)
    path = world.home.path(f"{CHANGE}/content/page/{page}")
    block = world.get("admin", path)["document"]["nodes"][0]["key"]
    comments = world.home.path(f"{CHANGE}/comments")
    suggestion = {"markdown": f"New {links}"}
    body = {"body": {"markdown": "Better"}, "page": page, "node": block, "suggestion": suggestion}
    made = world.post("admin", comments, body)["id"]

    def shown(who: str) -> str:
        return str(world.get(who, f"{comments}/{made}")["suggestion"])

    assert hidden in shown("reader")
    restrict(world, SPACE, ADMINISTRATORS, hidden)
    for gone in (False, True):
        if gone:
            edit(world, CHANGE, {"operation": "delete_page", "page": page})
        text = shown("reader")
        assert hidden not in text and WORD not in text and "missing" not in text, text
        assert all(text.count(words) == 2 for words in ("words", "more", "nothing"))
        assert "missing" in shown("admin")


def test_teams_of_a_former_organization_see_no_restricted_page(world: World) -> None:
    home, away, team = world.home, world.away, world.home["teamId"]
    space = (
        f"/spaces/{world.post('admin', home.path('/orgs/{organizationId}/spaces'), {'title': 'Moved'})['id']}"
    )
    page = {"operation": "insert_page", "title": "Plans", "document": {"markdown": "Words.\n"}}
    made = world.post("admin", f"{space}/content", {"changes": [page]})["changes"][0]["page"]["id"]
    rule = [{"kind": "team", "team": team, "level": "edit"}]
    update = {"operation": "update_page", "page": made, "visibleTo": rule}
    world.post("admin", f"{space}/content", {"changes": [update]})
    with world.context.db.write() as tx:
        put_team_member(tx, team, world.users["reader"])
        upsert_member(tx, away["organizationId"], world.users["admin"], "admin")
        upsert_member(tx, away["organizationId"], world.users["reader"], "read")
    path = f"{space}/content/page/{made}"
    assert world.call("reader", "GET", path).status_code == 200
    world.post("admin", f"{space}/transfer", {"organization": away["organizationId"]})
    assert world.call("reader", "GET", space).status_code == 200
    assert world.call("reader", "GET", path).status_code == 404
    people = world.get("admin", f"{path}/access/people")["items"]
    assert world.users["reader"] not in {one["user"]["id"] for one in people}


@pytest.mark.parametrize("at", [SPACE, CHANGE])
@pytest.mark.parametrize("how", ["opened", "moved", "opened in main"])
def test_live_steps_from_the_time_of_another_rule_are_gone(world: World, at: str, how: str) -> None:
    """``how``: how the page becomes visible to the editor."""
    place = SPACE if how == "opened in main" else at
    above = insert(world, place, "Above")
    page = insert(world, place, "Page", above)
    restrict(world, place, ADMINISTRATORS, above)
    if place != at:
        world.post("admin", world.home.path(f"{CHANGE}/update"))
    path = world.home.path(f"{at}/pages/{page}/live")

    def send(who: str, live: Any, version: int, batch: int, *steps: Any) -> Any:
        known = {"epoch": live["epoch"], "schema": live["schema"], "client": f"client-{who}"}
        sent = {**known, "batch": batch, "attempt": 1, "version": version, "steps": steps}
        return world.call(who, "POST", f"{path}/steps", json=sent)

    live = world.get("admin", path)
    text = [{"type": "text", "text": WORD}]
    assert send(
        "admin", live, 0, 1, {"stepType": "replace", "from": 1, "to": 1, "slice": {"content": text}}
    ).is_success
    gone = {"stepType": "replace", "from": 1, "to": 1 + len(WORD)}
    assert send("admin", live, 1, 2, gone).is_success
    world.post("admin", f"{path}/save")
    if how == "moved":
        edit(world, at, {"operation": "update_page", "page": page, "into": None})
    else:
        restrict(world, place, [], above)
        if place != at:
            world.post("admin", world.home.path(f"{CHANGE}/update"))
    shown = world.get("editor", path)
    for after in (0, 1):
        query = {"epoch": shown["epoch"], "after": str(after)}
        assert world.call("editor", "GET", f"{path}/steps", params=query).status_code == 410
        assert send("editor", shown, after, 1, gone).status_code == 410
    now, id = shown["version"], world.home["spaceId" if at == SPACE else "changeRequestId"]
    last = {"stepType": "replace", "from": 1, "to": 2}
    with listening(world, "editor", f"/user/events?live={id}/{page}") as stream:
        assert now == 2 and send("editor", shown, now, 1, last).is_success
        stream.wait(lambda one: "steps" in one.kinds())
        assert WORD not in str(stream.heard)
    query = {"epoch": shown["epoch"], "after": str(now)}
    assert world.get("editor", f"{path}/steps", params=query)["version"] > now


@pytest.mark.parametrize("at", [SPACE, CHANGE])
def test_no_one_finds_a_change_request_by_its_comments_on_a_hidden_page(world: World, at: str) -> None:
    page = insert(world, at, "Plans")
    number = world.get("admin", world.home.path(CHANGE))["number"]
    lists = [world.home.path(f"{place}/change-requests") for place in (SPACE, "/orgs/{organizationId}")]
    if at == SPACE:
        world.post("admin", world.home.path(f"{CHANGE}/update"))
    comments = world.home.path(f"{CHANGE}/comments")

    def found(who: str) -> list[bool]:
        params = {"contributor": world.users["commenter"], "status": "draft"}
        params["status"] = world.get(who, world.home.path(CHANGE))["status"]
        return [
            number in [one["number"] for one in world.get(who, path, params=params)["items"]]
            for path in lists
        ]

    for one in world.get("admin", comments, params={"limit": "1000"})["items"]:
        assert one["postedBy"]["id"] != world.users["commenter"]
    world.post("commenter", comments, {"body": {"markdown": "Yes."}, "page": page})
    assert found("reader") == found("admin") == [True, True]
    restrict(world, at, ADMINISTRATORS, page)
    assert found("reader") == [False, False] and found("admin") == [True, True]
    world.post("commenter", comments, {"body": {"markdown": "Yes."}, "page": world.home["pageId"]})
    assert found("reader") == [True, True]


def test_change_requests_of_a_style_check_do_not_count_pages_that_are_hidden_later(world: World) -> None:
    scene = MergeScene(world)
    rule = "extends: substitution\nmessage: Use %s.\nlevel: error\nswap:\n  utilize: use\n"
    world.post("admin", f"{scene.site}/styleguide/import", {"files": [{"path": "Use.yml", "text": rule}]})
    pages = [insert(world, SPACE, title, text="We utilize it.\n") for title in ("One", "Two")]
    made = world.post("admin", f"{scene.site}/styleguide/runs", {"spaces": [world.home["spaceId"]]})
    path = f"{scene.space}/change-requests/{made['changeRequests'][0]['id']}"

    def counted(who: str) -> bool:
        return "changedPages" in world.get(who, path)["styleguide"]

    assert counted("reader")
    restrict(world, SPACE, ADMINISTRATORS, pages[0])
    assert not counted("reader") and counted("admin")


def test_the_error_of_a_translation_does_not_name_a_restricted_page(world: World) -> None:
    page = insert(world, SPACE, f"{WORD} plans")
    path = world.home.path("/orgs/{organizationId}/translations/{translationId}")

    def notice(error: str) -> str:
        with world.context.db.write() as tx:
            text = f"The last run failed: {error}"
            tx.run(
                "UPDATE translations SET notice = :t WHERE id = :id", t=text, id=world.home["translationId"]
            )
        return str(world.get("editor", path)["notice"])

    error = f"page '{WORD} plans': must have at most 1 MB of Markdown"
    assert notice(error).endswith(error)
    restrict(world, SPACE, ADMINISTRATORS, page)
    assert notice(error) == "The last run failed."
    assert notice("the model has no answer").endswith("no answer")
