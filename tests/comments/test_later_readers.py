"""Tests that comments stay at their blocks when a later version of Octavo parses the same texts differently."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from changes.working import Space, update
from later_reader import forget_reader, upgrade_reader
from octavo.content.comments.targets import order_commented_nodes
from octavo.content.revisions import keys
from octavo.kit.work.worker import Worker
from upgrades.recording import nodes_of
from world import World

from .talking import Talk

EVERY_NODE = Path(__file__).parents[1] / "core" / "document" / "every_node.md"


def run_jobs(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


def talk_of(space: Space, change: str | None = None) -> Talk:
    path = f"{space.path}/change-requests/{change}" if change else space.path
    return Talk(space, path, change)


def comment_everywhere(space: Space, change: str | None = None) -> list[str]:
    talk, page = talk_of(space, change), space.pages["A"]
    document = space.page("A", change, format="document")["document"]
    return [talk.post(page=page, node=node["key"])["id"] for node in nodes_of(document)]


def targets(space: Space, comments: list[str], change: str | None = None) -> list[dict[str, Any]]:
    talk = talk_of(space, change)
    return [talk.get(comment)["target"] for comment in comments]


@pytest.fixture
def space(world: World) -> Iterator[Space]:
    space = Space(world)
    text = EVERY_NODE.read_text().replace("# Every node", "# A")
    space.edit_main(update(space.pages["A"], document={"markdown": text}))
    yield space
    forget_reader()


@pytest.mark.sqlite_first
def test_a_comment_on_every_node_stays(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    comments = comment_everywhere(space)
    run_jobs(space.world)
    before = targets(space, comments)
    keys_before = [n["key"] for n in nodes_of(space.page("A", format="document")["document"])]
    upgrade_reader(space.world.context.db, monkeypatch)
    assert targets(space, comments) == before
    assert [n["key"] for n in nodes_of(space.page("A", format="document")["document"])] == keys_before


@pytest.mark.sqlite_first
def test_a_comment_stays_through_edits_before_and_after(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    comments = comment_everywhere(space)
    run_jobs(space.world)
    text = space.text("A")
    # Its keys are carried over from the first text, and recorded for the second one.
    space.write(None, "A", text.replace("A quote", "One quote").replace("inner", "inner words"))
    run_jobs(space.world)
    upgrade_reader(space.world.context.db, monkeypatch)
    assert not any(target.get("gone") for target in targets(space, comments))
    space.edit_main(update(space.pages["A"], title="Another title"))
    assert not any(target.get("gone") for target in targets(space, comments))
    space.write(None, "A", space.text("A").replace("One quote", "Any quote").replace("echo one", "echo 1"))
    assert not any(target.get("gone") for target in targets(space, comments))


@pytest.mark.sqlite_first
def test_a_comment_stays_in_a_change_request_and_after_its_merge(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = space.create()
    space.write(change, "A", space.text("A").replace("A quote", "One quote"))
    comments = comment_everywhere(space, change)
    run_jobs(space.world)
    upgrade_reader(space.world.context.db, monkeypatch)
    assert not any(target.get("gone") for target in targets(space, comments, change))
    space.merge(change)
    assert not any(target.get("gone") for target in targets(space, comments, change))


@pytest.mark.sqlite_first
def test_an_outdated_record_does_not_return_a_reassigned_key(space: Space) -> None:
    """An outdated record of the keys does not return a key that an edit reassigned since."""
    page, world = space.pages["A"], space.world
    comment_everywhere(space)
    run_jobs(world)
    with world.context.db.read() as tx:
        body = tx.value(
            "SELECT body FROM page_versions WHERE page_id = :page AND to_seq > 1000000", page=page
        )
        document = keys.keyed_document(tx, page, body)
    first = document.nodes[0].key
    assert first
    with world.context.db.write() as tx:
        keys.put_keys(tx, [keys.KeptKeys(page, body, {first: "given"})])
    with world.context.db.read() as tx:
        assert keys.keyed_document(tx, page, body).nodes[0].key == "given"


def test_keys_of_pages_without_comments_are_not_stored(world: World) -> None:
    space = Space(world)
    space.write(None, "A", "# A\n\nOther words.\n")
    run_jobs(world)
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM node_whereabouts WHERE owner_id = :p", p=space.pages["A"]) == 0


@pytest.mark.sqlite_first
def test_keys_of_imported_comments_are_stored(space: Space) -> None:
    comment_everywhere(space)
    run_jobs(space.world)
    world, page = space.world, space.pages["A"]

    def count() -> int:
        with world.context.db.read() as tx:
            found: int = tx.value("SELECT count(*) FROM node_whereabouts WHERE owner_id = :page", page=page)
            return found

    before = count()
    with world.context.db.write() as tx:
        tx.run("DELETE FROM node_whereabouts WHERE owner_id = :page", page=page)
        order_commented_nodes(tx, world.home["organizationId"], space.id)
    run_jobs(world)
    assert count() == before > 0
