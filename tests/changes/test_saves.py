"""Tests of consecutive saves by one person: one revision for people, each a separate base for the next save."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.content.revisions import history as revisions
from octavo.content.revisions import store

from .test_blocks import blocks, nodes, words
from .working import Space, update


def save(space: Space, base: str, text: str, who: str = "editor", change: str | None = None) -> str:
    """Save the first paragraph of A based on a revision; return the next one."""
    at = space.page("A", change, format="document")["document"]["nodes"][0]["key"]
    edit = blocks(space.pages["A"], set=[{"block": at, "document": nodes(words(text))}])
    body = {"baseRevision": base, "changes": [edit]}
    query = {"compat": "false"}
    answer = space.world.call(who, "POST", space.url(change), params=query, json=body)
    assert answer.is_success, answer.text
    return answer.json()["revision"]


def history(space: Space) -> Any:
    return space.world.get("reader", f"{space.path}/revisions")


def head(space: Space) -> str:
    return history(space)["items"][0]["id"]


def begun(space: Space) -> str:
    """Create a first revision by another person."""
    answer = space.try_edit(None, update(space.pages["B"], description="Else"), who="admin")
    return answer.json()["revision"]


@pytest.mark.sqlite_first
def test_consecutive_saves_are_one_entry_of_the_history(space):
    before = begun(space)
    count = history(space)["count"]
    one = save(space, before, "One")
    two = save(space, one, "Two")
    three = save(space, two, "Three")
    found = history(space)
    assert found["count"] == count + 1 == len(found["items"])
    last = found["items"][0]
    assert (last["id"], last["saves"], last["parents"]) == (three, 3, [before])
    assert last["begunAt"] <= last["createdAt"] and found["items"][1]["saves"] == 1
    # Each can still be read and used as a base.
    for revision, text in ((one, "One"), (two, "Two")):
        page = f"{space.path}/revisions/{revision}/page/{space.pages['A']}"
        shown = space.world.get("reader", page, params={"format": "markdown"})["markdown"]
        assert f"\n{text}\n" in shown
    late = {"baseRevision": two, "changes": [update(space.pages["A"], description="Late")]}
    assert space.world.call("editor", "POST", space.url(None), json=late).json()["result"] == "edit"
    assert history(space)["items"][1]["id"] == three


@pytest.mark.sqlite_first
def test_the_history_is_paginated_completely(space):
    for round in range(3):
        base = begun(space)
        for number in range(3):
            base = save(space, base, f"Text {round} {number}")
    ids: list[str] = []
    page: str | None = None
    while True:
        query = {"limit": "1", **({"page": page} if page else {})}
        found = space.world.get("reader", f"{space.path}/revisions", params=query)
        ids += [item["id"] for item in found["items"]]
        page = (found.get("next") or {}).get("page")
        if page is None:
            break
    assert len(ids) == len(set(ids)) == found["count"]
    assert ids == [item["id"] for item in history(space)["items"]]


def test_consecutive_saves_are_shown_and_undone_together(space):
    before = space.text("A")
    base = begun(space)
    second = space.page("A", format="document")["document"]["nodes"][1]["key"]
    base = save(space, base, "Changed first")
    edit = blocks(space.pages["A"], delete=[second])
    body = {"baseRevision": base, "changes": [edit]}
    last = space.world.call("editor", "POST", space.url(None), json=body).json()["revision"]
    changes = space.world.get("reader", f"{space.path}/revisions/{last}/changes/page/{space.pages['A']}")
    assert "Changed first" in str(changes) and "Second paragraph" in str(changes)
    undone = space.world.post("editor", f"{space.path}/revisions/{last}/revert")
    assert space.text("A", undone["id"]) == before


def test_another_person_a_pause_or_a_missing_base_start_a_new_revision(space, monkeypatch):
    base = save(space, begun(space), "One")
    base = save(space, base, "Two", who="admin")
    base = save(space, base, "Three")
    assert [item["saves"] for item in history(space)["items"][:3]] == [1, 1, 1]
    space.edit_main(update(space.pages["A"], description="Without a base"))
    assert history(space)["items"][0]["saves"] == 1
    base = save(space, head(space), "Four")
    assert history(space)["items"][0]["saves"] == 2
    moment = revisions.now()

    def set_time(at: int) -> None:
        for module in (revisions, store):
            monkeypatch.setattr(module, "now", lambda: at)

    set_time(moment + revisions.SAVES_APART + 60_000)
    base = save(space, base, "Five")
    assert history(space)["items"][0]["saves"] == 1
    for minutes in range(5, 70, 4):
        set_time(moment + minutes * 60_000 + 60_000)
        base = save(space, base, f"Text after {minutes}")
    # An hour after the first one, the next save starts a new entry.
    assert [item["saves"] for item in history(space)["items"][:2]] == [1, 17]


@pytest.mark.sqlite_first
def test_consecutive_saves_of_a_change_request_count_from_the_first(space):
    change = space.create()
    base = space.change(change)["revision"]
    one = save(space, base, "One", change=change)
    two = save(space, one, "Two", change=change)
    with space.world.context.db.read() as tx:
        assert revisions.get_revision(tx, one).saves_since is None
        assert revisions.get_revision(tx, two).saves_since == revisions.get_revision(tx, one).sequence - 1
    assert space.merge(change)["result"] == "merge"
    assert history(space)["items"][0]["saves"] == 1
