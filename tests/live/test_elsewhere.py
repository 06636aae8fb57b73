"""Live pages and what happens elsewhere: edits through the API, merges, other processes, and ends of processes."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace

import msgspec
import pytest

from agents.test_agents import Agent, Connecting
from changes.working import update
from comments.talking import Talk
from events.listening import listening
from octavo.content.changes import saving as saving_of_changes
from octavo.content.live import saving, store
from octavo.content.live.accepting import EPOCH_LIFETIME, accepting
from octavo.content.live.commands import StepsInput
from octavo.content.live.documents import LivePages
from octavo.content.live.retention import prune_live_pages
from octavo.content.live.saving import save_page
from octavo.kit import clock
from octavo.kit.db.databases import open_database

from .writing import access_of, delete, insert, texts
from .writing import block as write_block


def steps_after(live, client):
    answer = live.call("editor", "GET", "/steps", params={"epoch": client.epoch, "after": client.version})
    assert answer.is_success, answer.text
    return answer.json()["batches"]


def test_an_edit_through_the_api_becomes_steps_of_its_author(live, monkeypatch):
    client = live.open()
    client.type("Typed. ", 1)
    edited = "# A\n\nTyped. First paragraph of A.\n\nSecond paragraph, edited.\n"
    answer = live.world.call(
        "admin",
        "POST",
        f"{live.space.path}/change-requests/{live.change}/content",
        json={"changes": [update(live.page, document={"markdown": edited})]},
    )
    assert answer.is_success, answer.text
    live.later(1, monkeypatch)
    (batch,) = steps_after(live, client)
    assert batch["user"] == live.world.users["admin"] and batch["client"].startswith("server:")
    assert texts(live.get()["document"]) == ["Typed. First paragraph of A.", "Second paragraph, edited."]
    # A client that was behind continues.
    client.type("More. ", 8)
    live.save()
    assert live.markdown() == edited.replace("Typed.", "Typed. More.")


def test_a_copied_block_stays_if_an_edit_through_the_api_arrives_before_its_next_save(live, monkeypatch):
    """Until that save, a copy has the key of its original."""
    client, context = live.open(), live.world.context
    copy = write_block("Copied words.", 0, client.document["content"][0]["attrs"]["key"])
    bodies = [msgspec.convert(client.body(copy), StepsInput)]
    real = saving_of_changes.try_to_save_pending

    def save_before_a_batch(context, change):
        real(context, change)
        while bodies:
            accepting(context).accept(access_of(live, context, "editor"), live.page, bodies.pop()).result()

    monkeypatch.setattr(saving_of_changes, "try_to_save_pending", save_before_a_batch)
    live.space.write(live.change, "A", "# A\n\nFirst paragraph of A.\n\nSecond paragraph, edited.\n")
    assert accepting(context).tidy(live.key)
    expected = ["Copied words.", "First paragraph of A.", "Second paragraph, edited."]
    assert texts(live.get()["document"]) == expected
    live.save()
    assert live.markdown() == "# A\n\n" + "\n\n".join(expected) + "\n"


def test_a_page_edited_before_its_first_step_can_be_continued(live):
    """A page has no row until its first step: its first writer may have an earlier revision."""
    client = live.open()
    live.space.write(live.change, "A", "# A\n\nFirst paragraph of A.\n\nSecond paragraph, edited.\n")
    refused = client.post(client.body(delete(23, 47)))
    assert (refused.status_code, refused.json()["error"]["reason"]) == (409, "behind")
    client.batch, client.version = 0, 0
    client.type("Typed. ", 1)
    live.open("admin").type("More. ", 1)
    live.save()
    assert live.markdown() == "# A\n\nMore. Typed. First paragraph of A.\n\nSecond paragraph, edited.\n"


def test_an_agent_reads_and_edits_text_that_people_type(live, monkeypatch):
    client = live.open()
    client.type("Typed. ", 1)
    connecting = Connecting(live.world)
    agent = Agent(live.world, connecting.token()["access_token"])
    place = {"space": live.space.id, "change_request": live.change}
    assert "Typed. First" in agent.do("read_page", page=live.page, **place)
    seen = live.space.change(live.change)["revision"]
    client.type("More. ", 8)
    block = client.document["content"][1]["attrs"]["key"]
    change = {
        "operation": "update_blocks",
        "page": live.page,
        "set": [{"block": block, "document": {"markdown": "By an agent."}}],
    }
    agent.do("edit_change_request", changes=[change], base_revision=seen, **place)
    live.later(1, monkeypatch)
    (batch,) = steps_after(live, client)
    assert (batch["user"], batch["agent"]) == (live.world.users["editor"], "Pen")
    assert texts(live.get()["document"]) == ["Typed. More. First paragraph of A.", "By an agent."]


def test_changes_of_main_arrive_with_an_update(live, monkeypatch):
    client = live.open()
    client.type("Typed. ", 1)
    other = live.space.create()
    live.space.write(other, "A", "# A\n\nFirst paragraph of A.\n\nSecond paragraph of main.\n")
    live.space.merge(other)
    client.type("More. ", 8)
    live.space.update(live.change)
    live.later(1, monkeypatch)
    assert [batch["client"][:7] for batch in steps_after(live, client)] == ["server:"]
    expected = ["Typed. More. First paragraph of A.", "Second paragraph of main."]
    assert texts(live.get()["document"]) == expected
    live.space.merge(live.change)
    assert live.space.text("A") == f"# A\n\n{expected[0]}\n\n{expected[1]}\n"


def test_followers_of_a_page_get_steps_carets_and_saves(live):
    path = f"/user/events?space={live.space.id}&live={live.change}/{live.page}"
    with listening(live.world, "admin", path) as stream:
        client = live.open()
        client.send(insert("Typed. ", 1), caret={"anchor": 8, "head": 8})
        heard = stream.hear("steps", version=1)
        assert [batch["client"] for batch in heard.data["batches"]] == [client.id]
        assert stream.hear("caret", client=client.id).data["head"] == 8
        saved = live.save()
        assert stream.hear("revision", revisionId=saved["revision"]).data["live"]
        told = stream.hear("saved").data
        assert (told["revision"], told["refused"]) == (saved["revision"], saved["refused"])
        # For people who edit the page, only text written elsewhere is new.
        live.space.write(
            live.change, "A", "# A\n\nTyped. First paragraph of A.\n\nSecond paragraph of all.\n"
        )
        head = live.space.change(live.change)["revision"]
        assert "live" not in stream.hear("revision", revisionId=head).data


def test_a_page_is_loaded_once_by_those_who_read_it(live, monkeypatch):
    client = live.open()
    client.type("x", 1)
    live.world.context.db.caches.pop(LivePages)
    loaded, real = [], store.find_snapshot
    monkeypatch.setattr(store, "find_snapshot", lambda *given: loaded.append(1) or real(*given))
    for _ in range(3):
        live.get()
        steps_after(live, client)
    live.save()
    assert len(loaded) == 1


@pytest.fixture
def other(live):
    """Yield the context of a second process."""
    with closing(open_database(live.world.context.settings.database, 3)) as db:
        yield replace(live.world.context, db=db)


def test_two_processes_see_the_steps_of_each_other(live, other):
    one, two = live.open("editor"), live.open("admin")
    access = access_of(live, other, "admin")

    def send(text, at):
        body = msgspec.convert(two.body(insert(text, at)), StepsInput)
        accepted = accepting(other).accept(access, live.page, body).result()
        two.version = accepted.version
        return [batch.row.client for batch in accepted.batches]

    one.type("One. ", 1)
    assert send("Two.", 22) == [one.id, two.id]
    answer = one.type("Three. ", 6)
    assert [batch["client"] for batch in answer["batches"]] == [two.id, one.id]
    assert send("!", 31) == [one.id, two.id]
    assert texts(live.get()["document"])[0] == "One. Three. First paragraph of A.Two.!"
    live.world.commits += 1


def test_two_processes_that_save_at_once_write_one_revision(live, other):
    live.open().type("Typed. ", 1)
    live.world.commits += 1
    saved = []
    both = threading.Barrier(2)

    def save(context):
        both.wait()
        saved.append(save_page(context, live.key))

    threads = [threading.Thread(target=save, args=(each,)) for each in (live.world.context, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(saved) == 2 and saved[0] == saved[1]
    with live.world.context.db.read() as tx:
        assert (
            tx.value("SELECT count(*) FROM revision_authors WHERE revision_id = :id", id=saved[0].revision)
            == 1
        )


class Killed(BaseException):
    """End of the process."""


def test_a_process_killed_during_a_save_loses_nothing_and_saves_once(live, monkeypatch):
    """All rows of a save are written in one transaction; the next process has only the rows."""
    client = live.open()
    client.type("Typed. ", 1)
    before = live.space.change(live.change)["revision"]

    def end(*given):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(store, "set_saved", end)
        with pytest.raises(Killed):
            saving.save_page(live.world.context, live.key)
    live.world.context.db.caches.pop(LivePages)
    assert live.space.change(live.change)["revision"] == before
    assert texts(live.get()["document"])[0] == "Typed. First paragraph of A."
    live.later(4, monkeypatch)
    saved = live.space.change(live.change)["revision"]
    assert saved != before and "Typed. First" in live.markdown()
    live.world.context.db.caches.pop(LivePages)
    live.later(8, monkeypatch)
    assert live.space.change(live.change)["revision"] == saved
    # The same batch again, because its answer was lost.
    client.batch -= 1
    client.version = 0
    assert client.type("Typed. ", 1)["version"] == 1


def test_expired_steps_return_410(live, monkeypatch):
    old, client = live.open("admin"), live.open()
    client.type("Typed. ", 1)
    live.save()
    real = clock.now
    with monkeypatch.context() as patched:
        patched.setattr("octavo.content.live.retention.now", lambda: real() + EPOCH_LIFETIME + 1000)
        prune_live_pages(live.world.context)
    live.world.context.db.caches.pop(LivePages)
    answer = live.call("editor", "GET", "/steps", params={"epoch": old.epoch, "after": 0})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (410, "gone")
    assert old.post(old.body(insert("x", 1))).status_code == 410
    assert client.type("More. ", 8)["version"] == 2
    old.load()
    assert texts(old.document)[0] == "Typed. More. First paragraph of A."


def test_a_person_who_sends_too_much_must_wait(live, monkeypatch, clock):
    clock.advance(0)
    client = live.open()
    limits = accepting(live.world.context)
    monkeypatch.setattr(limits._posts, "limit", 2)
    monkeypatch.setattr(limits._posts, "_counts", {})
    client.type("a", 1)
    client.type("b", 1)
    answer = client.post(client.body(insert("c", 1)))
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    # Someone else is not affected.
    live.open("admin").type("d", 1)


def discussion(live) -> Talk:
    path = f"{live.space.path}/change-requests/{live.change}"
    return Talk(live.space, path, live.change)


def test_an_applied_suggestion_arrives_and_its_thread_keeps_its_block(live, monkeypatch):
    client, talk = live.open(), discussion(live)
    block = client.document["content"][1]["attrs"]["key"]
    made = talk.post("Better.", page=live.page, node=block, suggestion={"markdown": "Suggested words."})
    plain = talk.post("Hm.", page=live.page, node=block)
    # While people type in front of the block, move nothing of it, and add blocks.
    client.type("Typed. ", 1)
    client.send(write_block("New block.", 0, "new-block"))
    answer = talk.call("editor", "PUT", f"/{made['id']}/suggestion", json={"status": "accepted"})
    assert answer.is_success, answer.text
    live.later(1, monkeypatch)
    batches = steps_after(live, client)
    assert [batch["user"] for batch in batches] == [live.world.users["commenter"]]
    expected = ["New block.", "Typed. First paragraph of A.", "Suggested words."]
    assert texts(live.get()["document"]) == expected
    client.version = batches[-1]["version"]
    client.type("More. ", 1 + sum(len(text) + 2 for text in expected[:2]))
    live.save()
    assert live.markdown() == "# A\n\nNew block.\n\nTyped. First paragraph of A.\n\nMore. Suggested words.\n"
    target = talk.get(plain["id"])["target"]
    assert target["node"]["id"] == block and block in [
        node["attrs"]["key"] for node in live.get()["document"]["content"]
    ]


def test_a_restored_page_arrives_as_steps(live, monkeypatch):
    client = live.open()
    begun = live.space.change(live.change)["revision"]
    live.space.write(live.change, "A", "# A\n\nFirst paragraph of A.\n\nOther words.\n")
    client.type("Typed. ", 1)
    live.space.edit(live.change, {"operation": "revert_page", "page": live.page, "revision": begun})
    live.later(1, monkeypatch)
    assert steps_after(live, client)[-1]["client"].startswith("server:")
    assert texts(live.get()["document"])[-1] == "Second paragraph of A."
    live.save()
    assert live.markdown() == "# A\n\nFirst paragraph of A.\n\nSecond paragraph of A.\n"


def test_text_that_a_deletion_did_not_save_is_saved_once_the_page_is_back(live, monkeypatch):
    client = live.open()
    begun = live.space.change(live.change)["revision"]
    client.type("Typed. ", 1)
    with monkeypatch.context() as patched:
        # As if it had been typed between the save and the deletion.
        patched.setattr(saving_of_changes, "try_to_save_pending", lambda *given: None)
        live.space.edit(live.change, {"operation": "delete_page", "page": live.page})
    live.later(60, monkeypatch)
    live.space.edit(live.change, {"operation": "revert_page", "page": live.page, "revision": begun})
    live.later(60, monkeypatch)
    live.space.merge(live.change)
    assert live.space.text("A").startswith("# A\n\nTyped. First")


def test_steps_after_a_gap_return_410(live):
    """After a clock was wrong for a while, steps between others may be deleted as old ones."""
    old, client = live.open("admin"), live.open()
    for _ in range(3):
        client.type("x", 1)
    live.save()
    with live.world.context.db.write() as tx:
        tx.run("DELETE FROM page_steps WHERE page_id = :page AND version = 2", page=live.page)
    live.world.context.db.caches.pop(LivePages)
    answer = live.call("editor", "GET", "/steps", params={"epoch": old.epoch, "after": 0})
    assert answer.status_code == 410


def test_a_title_is_saved_separately_from_steps_and_announced(live):
    """Titles, descriptions, and options are fields of a page, not part of its steps: the last writer wins."""
    client = live.open()
    client.type("Typed. ", 1)
    with listening(live.world, "admin", f"/user/events?space={live.space.id}") as stream:
        for title in ("One", "Two"):
            live.space.edit(live.change, update(live.page, title=title))
            assert live.page in stream.hear("revision").data["pageIds"]
    client.type("More. ", 8)
    live.save()
    page = live.space.page("A", live.change, format="markdown")
    assert page["title"] == "Two" and "Typed. More. First paragraph of A." in page["markdown"]
