"""Bad input to live pages: each is refused with a reason or accepted, and nothing is lost or fails."""

from __future__ import annotations

import json
import random
import time

import msgspec
import pytest

from octavo.content.live import accepting as accepting_module
from octavo.content.live import adding, documents, saving
from octavo.content.live.accepting import accepting
from octavo.content.live.commands import StepsInput
from octavo.content.live.documents import live_pages
from octavo.content.live.store import PageKey
from octavo.core.editor.schema import SCHEMA
from octavo.kit.clock import now
from seeds import seed

from .writing import access_of, block, delete, insert, texts


def status(answer):
    return answer.status_code, answer.json().get("error", {}).get("reason")


def test_ten_thousand_steps_are_refused_but_can_be_sent_in_parts(live):
    client = live.open()
    steps = [insert("x", 1)] * 10_000
    assert status(client.post(client.body(*steps))) == (413, "too_large")
    assert live.get()["version"] == 0
    client.batch = 0
    for _ in range(3):
        client.send(*steps[:200])
    assert live.get()["version"] == 600


def test_two_megabytes_are_only_accepted_as_one_step(live):
    client = live.open()
    assert status(client.post(client.body(block("y" * 2_200_000, 0)))) == (413, "too_large")
    assert client.post(client.body(*[block("y" * 200_000, 0)] * 2)).status_code == 413
    client.send(block("y" * 200_000, 0))
    assert len(texts(live.get()["document"])[0]) == 200_000


@pytest.mark.parametrize("version", [1, 10**11])
def test_a_version_from_the_future_is_refused(live, version):
    client = live.open()
    client.version = version
    assert status(client.post(client.body(insert("x", 1)))) == (410, "gone")
    # Numbers that no version can have.
    for wrong in (-1, 10**30, 1.5, "1", None):
        assert client.post({**client.body(insert("x", 1)), "version": wrong}).status_code == 400


def test_steps_and_carets_with_the_id_of_another_client_do_not_affect_it(live):
    client, other = live.open("editor"), live.open("admin")
    client.send(insert("x", 1), caret={"anchor": 2, "head": 2})
    other.id = client.id
    other.send(insert("y", 20))
    body = {"client": client.id, "version": 1, "anchor": 0, "head": 0}
    live.call("admin", "PUT", "/caret", json=body)

    def carets():
        return {caret["user"]["id"]: caret["anchor"] for caret in live.get()["carets"]}

    editor, admin = live.world.users["editor"], live.world.users["admin"]
    assert carets() == {editor: 2, admin: 0}
    live.call("admin", "PUT", "/caret", json={**body, "anchor": None, "head": None})
    assert carets() == {editor: 2}


@pytest.mark.parametrize("hours", [-30, 30])
def test_steps_are_saved_even_if_the_clock_jumps(live, monkeypatch, hours):
    client = live.open()
    client.type("Before. ", 1)
    jumped = now() + hours * 3_600_000
    for module in (adding, saving):
        monkeypatch.setattr(module, "now", lambda: jumped)
    client.type("After. ", 9)
    monkeypatch.undo()
    assert live.save()["version"] == 2
    assert "Before. After. First" in live.markdown()


def test_half_a_surrogate_pair_is_refused(live):
    client = live.open()
    client.send(insert("😀", 1))
    content = json.dumps(client.body(insert("\ud83d", 1)))  # which writes it as an escape
    headers = {"content-type": "application/json"}
    refused = live.call("editor", "POST", "/steps", content=content, headers=headers)
    assert refused.status_code == 400, refused.text
    for step in (delete(1, 2), delete(2, 3), insert("x", 2)):
        assert status(client.post(client.body(step))) == (422, "step")
    assert texts(live.get()["document"])[0] == "😀First paragraph of A."


def test_an_outdated_script_must_be_reloaded(live):
    client = live.open()
    client.type("x", 1)
    assert status(client.post({**client.body(insert("y", 1)), "schema": "0" * 16})) == (412, "schema")
    assert status(client.post({**client.body(insert("y", 1)), "epoch": "r" + "0" * 20})) == (410, "gone")
    assert live.get()["version"] == 1


def test_an_unknown_epoch_starts_no_session(live):
    client = live.open()
    for epoch in ("", "r", "r../..", "x" * 64, client.epoch + "0"):
        assert status(client.post({**client.body(insert("y", 1)), "epoch": epoch})) == (410, "gone"), epoch


def test_two_hundred_keys_per_second_are_slowed_down_but_not_lost(live, monkeypatch, clock):
    clock.advance(0)
    client = live.open()
    limits = accepting(live.world.context)
    monkeypatch.setattr(limits._steps, "limit", 400)
    monkeypatch.setattr(limits._steps, "_counts", {})
    client.send(*[insert("a", 1)] * 200)
    client.send(*[insert("b", 1)] * 200)
    body = client.body(*[insert("c", 1)] * 200)
    refused = client.post(body)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
    monkeypatch.setattr(limits._steps, "_counts", {})
    assert client.post(body).json()["version"] == 600


def test_lost_responses_and_repeated_requests_add_steps_once(live):
    """The client doesn't know what was accepted, sends everything again in another batch, and gets a
    response."""
    client = live.open()
    first = client.version
    for number in range(5):
        body = client.body(insert(f"{number} ", 1))
        client.post(body)
        again = client.post({**body, "attempt": 2, "version": first})
        assert again.is_success and again.json()["version"] == number + 1
        client.version = again.json()["version"]
    assert texts(live.get()["document"])[0] == "4 3 2 1 0 First paragraph of A."
    batches = live.call("editor", "GET", "/steps", params={"epoch": client.epoch, "after": 0}).json()[
        "batches"
    ]
    assert [batch["batch"] for batch in batches] == [1, 2, 3, 4, 5]


def test_the_same_batch_twice_in_one_commit_is_added_once(live):
    client = live.open()
    body = msgspec.convert(client.body(insert("x", 1)), StepsInput)
    access = access_of(live, live.world.context, "editor")
    live.world.commits += 1
    both = [accepting(live.world.context).accept(access, live.page, body) for _ in range(2)]
    assert [answer.result().version for answer in both] == [1, 1]
    assert live.get()["version"] == 1


def test_idle_tabs_do_not_prevent_others_from_writing(live):
    for _ in range(45):
        live.open("admin")
    assert live.open().type("x", 1)["version"] == 1


def test_tabs_of_one_person_leave_room_for_others(live):
    tabs = []
    for number in range(accepting_module.MOST_CLIENTS):
        tabs.append(live.open("admin"))
        tabs[-1].type(f"{number} ", 1)
    more = live.open("admin")
    refused = more.post(more.body(insert("more ", 1)))
    assert refused.status_code == 429 and refused.headers["retry-after"] == "60"
    assert live.open("editor").type("x ", 1)["version"] == accepting_module.MOST_CLIENTS + 1
    # Tabs that are already writing continue.
    tabs[0].load()
    tabs[0].type("y ", 1)


def test_a_limited_number_of_people_edits_a_page(live, monkeypatch):
    monkeypatch.setattr(accepting_module, "MOST_WRITERS", 1)
    first, second = live.open("admin"), live.open("editor")
    first.type("x ", 1)
    assert second.post(second.body(insert("y ", 1))).status_code == 429
    live.open("admin").type("z ", 1)
    # The place is free again a minute later.
    monkeypatch.setattr(accepting_module, "_PRESENT", -1)
    second.load()
    assert second.type("y ", 1)["version"] == 3


def test_unused_pages_are_removed_from_memory(live, monkeypatch):
    live.open().type("x", 1)
    pages = live_pages(live.world.context.db)
    assert pages.find(live.key) is not None
    real = time.monotonic
    for seconds, is_kept in ((110, True), (121, False)):
        with monkeypatch.context() as patched:
            patched.setattr(time, "monotonic", lambda seconds=seconds: real() + seconds)
            pages.drop_idle()
        assert (live.key in pages._pages) == is_kept
    assert live.open().type("y", 1)["version"] == 2


def test_the_number_of_pages_in_memory_is_limited(live, monkeypatch):
    live.open().type("x", 1)
    pages = live_pages(live.world.context.db)
    page = pages.find(live.key)
    monkeypatch.setattr(documents, "_MOST_SIZE", 2 * page.doc.content.size)
    for number in range(3):
        pages.keep(PageKey(live.key.branch_id, f"other-{number}"), page)
    assert [key.page_id for key in pages._pages] == ["other-1", "other-2"]
    assert pages._size == 2 * page.doc.content.size
    assert live.open().type("y", 1)["version"] == 2


_ODD = (
    None,
    True,
    -1,
    2**53,
    0.5,
    "",
    "x" * 300,
    "\x00",
    "\u202e",
    [],
    [[]],
    {},
    {"style": {"a": [1]}},
    {"type": "doc"},
)
_PLACES = (-1, 0, 1, 2, 8, 24, 25, 47, 10**6, None, "1", 0.5)


def odd_step(chance):
    """Return a step that is wrong in some way, or only strange."""
    kinds = [
        "replace",
        "replaceAround",
        "addMark",
        "removeMark",
        "addNodeMark",
        "removeNodeMark",
        "attr",
        "docAttr",
    ]
    step = {name: chance.choice(_PLACES) for name in ("from", "to", "gapFrom", "gapTo", "pos", "insert")}
    step["stepType"] = chance.choice([*kinds, "markSet"])
    step["attr"] = chance.choice(["key", "data", "json", "meta", "uid", "blank", "type", "hidden", "nothing"])
    step["value"] = chance.choice(_ODD)
    step["mark"] = {"type": chance.choice([*SCHEMA.marks, "nothing"]), "attrs": odd_attributes(chance)}
    step["slice"] = {
        "content": [odd_node(chance, 0) for _ in range(chance.randrange(3))],
        "openStart": chance.choice((0, 0, 0, 1, 9, -1)),
        "openEnd": chance.choice((0, 0, 0, 1, 9, -1)),
    }
    if step["stepType"] == "markSet":
        step["steps"] = [{**step, "stepType": "addMark"}, chance.choice(_ODD)][: chance.randrange(3)]
    for name in chance.sample(list(step), chance.randrange(3)):
        step[name] = chance.choice(_ODD)
    return step


def odd_attributes(chance):
    names = ("key", "data", "json", "meta", "uid", "blank", "column", "rest", "fragments", "text", "href")
    return {name: chance.choice(_ODD) for name in chance.sample(names, chance.randrange(4))}


def odd_node(chance, depth):
    type = SCHEMA.nodes[chance.choice(list(SCHEMA.nodes))]
    if type.is_text:
        return {"type": "text", "text": chance.choice(("a", "", "😀", "\x00"))}
    inner = type.create_and_fill() if chance.random() < 0.6 and not type.has_required_attrs() else None
    node = inner.to_json() if inner is not None else {"type": type.name}
    if inner is None and depth < 3:
        node["content"] = [odd_node(chance, depth + 1) for _ in range(chance.randrange(3))]
    if chance.random() < 0.5:
        node["attrs"] = {**node.get("attrs", {}), **odd_attributes(chance)}
    return node


@pytest.mark.sqlite_first
def test_odd_steps_break_neither_the_page_nor_what_others_write(live):
    """An attacker and a writer share a page: every odd step is refused with a reason, or is saved."""
    chance = random.Random(seed())
    attacker, writer = live.open("admin"), live.open("editor")
    for number in range(12):
        for _ in range(5):
            body = attacker.body(odd_step(chance))
            answer = attacker.post(body)
            assert answer.status_code in (200, 400, 409, 410, 413, 422), (seed(), number, body, answer.text)
            if answer.is_success:
                attacker.version = answer.json()["version"]
        writer.load()
        word = f"Word{number}."
        writer.send(block(word, 0))
        assert word in " ".join(texts(live.get()["document"])), (seed(), number)
        live.save()
        assert word in live.markdown(), (seed(), number)
        attacker.load()


def test_edits_elsewhere_take_no_place_of_an_editor(live, monkeypatch):
    monkeypatch.setattr(accepting_module, "MOST_CLIENTS", 2)
    live.open("admin").type("x", 1)
    for number in range(3):
        live.space.write(live.change, "A", f"# A\n\nEdit {number}.\n")
        assert accepting_module.accepting(live.world.context).tidy(live.key)
    assert live.open("editor").type("x", 1)["version"] >= 4
