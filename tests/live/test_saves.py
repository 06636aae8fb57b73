"""Saves of live pages: their content and authors, and that they happen once."""

from __future__ import annotations

import itertools

import msgspec

from octavo.content.changes import merging, pending
from octavo.content.live import saving
from octavo.content.live.accepting import accepting
from octavo.content.live.commands import StepsInput
from octavo.content.live.documents import LivePages
from octavo.content.live.saving import save_branch, save_page
from octavo.content.live.store import find_live
from octavo.content.revisions.store import BranchMoved
from octavo.errors import Conflict, TemporarilyUnavailable
from octavo.kit.db.database import RetryTransaction

from .writing import Writing, block, delete, insert, texts

PAGE = """---
icon: star
---

# A

First   paragraph, as *written* by hand.

* one
* two

1. deep
   * deeper

| a | b |
|---|---|
| 1 | 2 |

Last.
"""


def history(live):
    return live.world.get("reader", f"{live.space.path}/revisions", params={"changeRequest": live.change})


def head(live):
    return live.space.change(live.change)["revision"]


def test_a_save_keeps_the_bytes_of_other_blocks(world):
    live = Writing(world, PAGE)
    client = live.open()
    size = sum(len(text) for text in texts(client.document))
    assert size
    client.type("New: ", 1)
    client.send(block("Inserted.", 0, "inserted"))
    saved = live.save()
    assert saved["version"] == 2 and saved["refused"] == []
    expected = PAGE.replace("First   paragraph", "Inserted.\n\nNew: First   paragraph")
    assert live.markdown() == expected
    # Saved text stays live, and nothing is saved twice.
    assert live.save() == saved
    assert live.get()["revision"] == saved["revision"] == head(live)
    client.type("Newer. ", 1)
    live.save()
    assert live.markdown() == expected.replace("Inserted.", "Newer. Inserted.")


def test_blocks_are_moved_and_deleted(world):
    live = Writing(world, "# A\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n")
    client = live.open()
    nodes = client.document["content"]
    # Paragraphs of 4, 4, 6, 5 letters: the last one goes to the front, behind a new one, and the second one goes.
    client.send(
        delete(6, 12),
        delete(14, 21),
        {"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [nodes[3]]}},
        block("Zero.", 0, "zero"),
    )
    live.save()
    assert live.markdown() == "# A\n\nZero.\n\nFour.\n\nOne.\n\nThree.\n"
    client.send(block("All new.", 0, "new"), delete(10, 10 + live_size(live)))
    live.save()
    assert live.markdown() == "# A\n\nAll new.\n"


def live_size(live):
    return sum(map(size_of, live.get()["document"]["content"]))


def size_of(node):
    return len(node["text"]) if node["type"] == "text" else 2 + sum(map(size_of, node.get("content", [])))


def test_blocks_that_leave_a_container_are_saved_once_and_in_order(world):
    live = Writing(
        world,
        '# A\n\nOne.\n\n{% hint style="info" %}\nTwo.\n\nThree.\n{% endhint %}\n\nFour.\n\nFive.\n',
    )
    client = live.open()
    one, hint, four, five = client.document["content"]
    two, three = hint["content"]
    two["content"][0]["text"] = "Newer two."
    moved = {"content": [four, one, two, three, five]}
    client.send({"stepType": "replace", "from": 0, "to": live_size(live), "slice": moved})
    live.save()
    assert live.markdown() == "# A\n\nFour.\n\nOne.\n\nNewer two.\n\nThree.\n\nFive.\n"


def test_a_save_names_all_authors(live):
    one, other = live.open("editor"), live.open("admin")
    one.type("x", 1)
    other.type("y", 3)
    before = head(live)
    saved = live.save()
    assert saved["revision"] != before
    with live.world.context.db.read() as tx:
        rows = tx.all("SELECT user_id FROM revision_authors WHERE revision_id = :id", id=saved["revision"])
    assert {row[0] for row in rows} == {live.world.users["editor"], live.world.users["admin"]}
    contributors = live.world.get("reader", f"{live.space.path}/change-requests/{live.change}/contributors")[
        "items"
    ]
    assert {live.world.users["editor"], live.world.users["admin"]} <= {
        item["user"]["id"] for item in contributors
    }


def test_consecutive_saves_of_several_people_are_one_history_entry(live):
    for who in ("editor", "admin", "editor"):
        live.open(who).type("x", 1)
        live.save(who)
    with live.world.context.db.read() as tx:
        row = tx.one(
            """SELECT r.saves_since, r.sequence FROM revisions r JOIN branches b ON b.revision = r.id
               JOIN change_requests c ON c.branch_id = b.id WHERE c.id = :id""",
            id=live.change,
        )
    assert row is not None
    assert row[1] - row[0] == 3


def test_pages_are_saved_after_a_pause(live, monkeypatch):
    client = live.open()
    client.type("Words. ", 1)
    before = head(live)
    live.later(2, monkeypatch)
    assert head(live) == before
    live.later(3.5, monkeypatch)
    saved = head(live)
    assert saved != before and "Words. First" in live.markdown()
    live.later(100, monkeypatch)
    assert head(live) == saved


def test_a_page_that_fails_to_be_saved_stops_no_other(world, monkeypatch):
    failing, other = Writing(world, PAGE), Writing(world, PAGE)
    for each in (failing, other):
        each.open().type("New: ", 1)
    real = saving.save_page

    def fail(context, key):
        if key.page_id == failing.page:
            raise RetryTransaction("the database asks for another attempt")
        return real(context, key)

    monkeypatch.setattr(saving, "save_page", fail)
    other.later(60, monkeypatch)
    monkeypatch.undo()
    with world.context.db.read() as tx:
        assert find_live(tx, other.key).save_at is None
        assert find_live(tx, failing.key).save_at is not None
    assert "New: First" in failing.markdown()


def test_a_save_without_changes_creates_no_revision(live, monkeypatch):
    client = live.open()
    before = head(live)
    client.type("x", 1)
    client.send(delete(1, 2))
    live.later(4, monkeypatch)
    assert head(live) == before
    assert live.get()["savedVersion"] == 2


def test_an_unsavable_block_stays_unchanged(live):
    client = live.open()
    client.send(
        {"stepType": "attr", "pos": 0, "attr": "data", "value": {"unknown": {"a": 1}}},
        insert("Saved. ", 24),
    )
    bad = {"type": "opaque", "attrs": {"json": {"object": "block", "type": "no-type", "key": "bad"}}}
    client.send({"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [bad]}})
    saved = live.save()
    assert saved["refused"] == ["bad"]
    assert "Saved. Second" in live.markdown()
    assert live.save() == saved
    assert live.get()["refused"] == ["bad"]
    # The next save reports it again, as long as the block exists.
    client.type("x", 25)
    assert live.save()["refused"] == ["bad"]
    size = 1
    client.send(delete(0, size))
    assert live.save()["refused"] == live.get()["refused"] == []


def test_duplicate_and_missing_keys_are_corrected(live):
    client = live.open()
    key = client.document["content"][0]["attrs"]["key"]
    client.send(block("Copy.", 0, key), block("No key.", 0))
    live.save()
    assert live.markdown().endswith("No key.\n\nCopy.\n\nFirst paragraph of A.\n\nSecond paragraph of A.\n")
    keys = [node["attrs"]["key"] for node in live.get()["document"]["content"]]
    assert len(set(keys)) == 4 and None not in keys


def test_spaces_around_words_are_not_saved(live):
    client = live.open()
    client.type(" ", 22)
    live.save()
    assert "First paragraph of A.\n" in live.markdown()
    client.type("More. ", 23)
    live.save()
    assert "First paragraph of A. More.\n" in live.markdown()


def test_unsaved_text_is_saved_before_it_is_used(live):
    client = live.open()
    client.type("Unsaved. ", 1)
    save_branch(live.world.context, live.key.branch_id)
    assert "Unsaved. First" in live.markdown()


def test_a_merge_contains_unsaved_text(live):
    live.open().type("Unsaved. ", 1)
    live.space.merge(live.change)
    assert "Unsaved. First" in live.space.page("A", format="markdown")["markdown"]


def test_two_processes_save_the_same_text_once(live):
    """The second save finds that the first one was faster."""
    client = live.open()
    client.type("x", 1)
    one = save_page(live.world.context, live.key)
    other = save_page(live.world.context, live.key)
    assert one == other


def test_text_written_before_the_lock_of_a_merge_is_merged(live, monkeypatch):
    """A batch arrives after the save, and before the merge locks the change request."""
    client = live.open()
    client.type("Saved. ", 1)
    body = {**client.body(insert("Late. ", 1)), "client": "client-of-the-late-batch"}
    batches = [msgspec.convert(body, StepsInput)]
    real = merging._merge

    def merge_after_a_batch(context, access):
        while batches:
            accepting(context).accept(access, live.page, batches.pop()).result()
        return real(context, access)

    monkeypatch.setattr(merging, "_merge", merge_after_a_batch)
    live.space.merge(live.change)
    assert "Late. Saved. First" in live.space.page("A", format="markdown")["markdown"]


def typing(live, client):
    """Return a function that types a number, and whether it was accepted or why not."""
    number, accept = itertools.count(1), accepting(live.world.context).accept

    def type(access):
        body = client.body(insert(f"{next(number)} ", 1))
        try:
            client.version = accept(access, live.page, msgspec.convert(body, StepsInput)).result().version
        except TemporarilyUnavailable as error:
            return error.headers["retry-after"]
        return "accepted"

    return type


def test_a_merge_while_people_type_contains_everything_accepted(live, monkeypatch):
    """Each attempt to merge finds new text. So from the third one on, people who type have to wait."""
    type, results, real = typing(live, live.open()), [], merging._merge

    def merge_after_a_batch(context, access):
        results.append(type(access))
        return real(context, access)

    with monkeypatch.context() as patched:
        patched.setattr(merging, "_merge", merge_after_a_batch)
        live.space.merge(live.change)
    assert results == ["accepted", "accepted", "5"]
    assert live.space.page("A", format="markdown")["markdown"].startswith("# A\n\n2 1 First")
    # Refused text isn't lost: its author still has it, and learns that the change request is merged.
    late = live.call("editor", "GET")
    assert (late.status_code, late.json()["error"]["reason"]) == (409, "conflict")


def test_people_can_continue_typing_after_a_failed_merge(live, monkeypatch):
    type, results = typing(live, live.open()), []

    def refuse(context, access):
        results.append(type(access))
        raise BranchMoved if results[-1] == "accepted" else Conflict("No.")

    with monkeypatch.context() as patched:
        patched.setattr(merging, "_merge", refuse)
        path = f"{live.space.path}/change-requests/{live.change}/merge"
        assert live.world.call("admin", "POST", path, json={}).status_code == 409
    assert results == ["accepted", "accepted", "5"]
    assert live.open().type("z", 1)


def read_paths(live):
    """Paths of reads of a change request that show the text of a page."""
    change = f"{live.space.path}/change-requests/{live.change}"
    page = f"{change}/content/page/{live.page}"
    return (
        *(page, f"{page}?format=markdown", f"{change}/changes", f"{change}/changes/page/{live.page}"),
        *(f"{change}/content/path/a", f"{change}/links", f"{page}/links", f"{change}/pdf"),
    )


def test_each_read_of_a_change_request_contains_earlier_typed_text(live):
    client = live.open()
    for number, path in enumerate(read_paths(live)):
        client.type(f"w{number}z [w{number}z](https://example.com/w{number}z) ", 1)
        before = head(live)
        answer = live.world.call("reader", "GET", path)
        assert answer.is_success, (path, answer.text)
        assert head(live) != before, path
        if f"{live.page}" in path and "/links" not in path:
            assert f"w{number}z" in answer.text, path
    before = head(live)
    client.type("Unsaved. ", 1)
    # Lists don't contain text.
    live.world.get("reader", f"{live.space.path}/change-requests/{live.change}/content/pages")
    assert head(live) == before


def test_reads_do_not_save_continuously(live, monkeypatch, clock):
    clock.advance(0)
    client = live.open()
    client.type("x", 1)
    assert "xFirst" in live.markdown()
    monkeypatch.setattr(live.world.context.db.caches[pending._Reads], "limit", 2)
    for saves in (True, False):
        client.type("x", 1)
        before = head(live)
        path = f"{live.space.path}/change-requests/{live.change}/content/page/{live.page}"
        answer = live.world.call("reader", "GET", path)
        assert (head(live) != before) == saves
        assert answer.headers.get("octavo-unsaved") == (None if saves else "true")
    live.save()
    assert "xxxFirst" in live.markdown()


def test_the_history_of_main_names_all_authors(live):
    live.open("editor").type("x", 1)
    live.open("admin").type("y", 1)
    live.space.merge(live.change)
    first = live.world.get("reader", f"{live.space.path}/revisions")["items"][0]
    assert first["mergedFrom"]["id"] == live.change
    assert {user["id"] for user in first["contributors"]} == {
        live.world.users["editor"],
        live.world.users["admin"],
    }


def test_an_edit_through_the_api_contains_unsaved_text(live):
    live.open().type("Unsaved. ", 1)
    live.space.write(live.change, "B", "# B\n\nEdited.\n")
    assert "Unsaved. First" in live.markdown()


def test_a_review_request_contains_unsaved_text(live):
    live.open().type("Unsaved. ", 1)
    path = f"{live.space.path}/change-requests/{live.change}/requested-reviewers"
    answer = live.world.call("editor", "POST", path, json={"users": [live.world.users["admin"]]})
    assert answer.is_success, answer.text
    assert "Unsaved. First" in live.markdown()


def test_a_deleted_page_with_unsaved_text_does_not_block_a_merge(live):
    client = live.open()
    client.type("Saved. ", 1)
    live.save()
    client.type("Unsaved. ", 1)
    live.space.edit(live.change, {"operation": "delete_page", "page": live.page})
    live.space.merge(live.change)
    assert live.space.change(live.change)["status"] == "merged"


def test_steps_of_a_deleted_page_are_refused(live):
    """Also once a save has noticed that the page is gone: what the server accepts, it keeps."""
    client = live.open()
    client.type("Unsaved. ", 1)
    live.space.edit(live.change, {"operation": "delete_page", "page": live.page})
    for _ in range(2):
        assert client.post(client.body(insert("x", 1))).status_code == 404
        save_page(live.world.context, live.key)
    assert live.space.change(live.change)["status"] == "draft"


def test_an_archived_change_request_contains_unsaved_text(live):
    client = live.open()
    client.type("Typed. ", 1)
    path = f"{live.space.path}/change-requests/{live.change}"
    assert live.world.call("admin", "PATCH", path, json={"status": "archived"}).is_success
    assert "Typed. First" in live.markdown()
    assert client.post(client.body(insert("x", 1))).status_code == 409
    assert live.world.call("admin", "PATCH", path, json={"status": "draft"}).is_success
    client.type("More. ", 8)
    live.save()
    assert "Typed. More. First" in live.markdown()


def test_a_paragraph_with_only_a_space_does_not_stop_later_saves(world):
    live = Writing(world, "# A\n\nOne.\n\nTwo.\n\nThree.\n")
    client = live.open()
    last = client.document["content"][2]
    client.send(block(" q5z", 6, "wordkey00001"))
    live.save()
    client.send(delete(8, 11))
    assert live.save()["refused"] == []
    # Another process has no nodes of the last save, and a block was moved since.
    live.world.context.db.caches.pop(LivePages, None)
    client.send(delete(15, 23))
    client.send({"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [last]}})
    client.send(block("After a space.", 17, "wordkey00002"))
    assert live.save()["refused"] == []
    assert live.markdown().split() == ["#", "A", "Three.", "One.", "After", "a", "space.", "Two."]


def test_a_copy_and_its_original_have_their_own_text(world):
    """The copy is the first block with the key, and the original in the hint gets another one."""
    live = Writing(world, '# A\n\nFirst.\n\n{% hint style="info" %}\nOther.\n{% endhint %}\n\nLast.\n')
    client = live.open()
    hint = client.document["content"][1]
    client.send({"stepType": "replace", "from": 0, "to": 0, "slice": {"content": [hint["content"][0]]}})
    live.save()
    client.load()
    client.type(" copied", 7)
    live.save()
    assert live.markdown().count("copied") == 1
    assert "Other. copied\n\nFirst." in live.markdown()


def test_a_row_with_more_cells_than_columns_is_saved_whole(world):
    """One person adds a row while another one deletes a column."""
    live = Writing(world, "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nBelow.\n")
    one, other = live.open(), live.open("admin")
    head, row = one.document["content"][0]["content"]
    end = 1 + size_of(head) + size_of(row)
    new = [block(text, 0)["slice"]["content"] for text in ("3", "four")]
    cells = [{"type": "table_cell", "content": content} for content in new]
    added = {"type": "table_row", "content": cells}
    last_heading = 1 + size_of(head) - 1 - size_of(head["content"][1])
    last_cell = end - 1 - size_of(row["content"][1])
    other.send(delete(last_cell, end - 1), delete(last_heading, size_of(head)))
    late = {"stepType": "replace", "from": end, "to": end, "slice": {"content": [added]}}
    one.send(late)
    live.save()
    assert "four\n\nBelow." in live.markdown()
    live.world.context.db.caches.pop(LivePages)
    assert "four" in str(live.get()["document"]) and live.save()["refused"] == []
    table = live.get()["document"]["content"][0]
    assert [len(row["content"]) for row in table["content"]] == [1, 1, 1]


def test_all_paragraphs_of_a_caption_are_saved(world):
    image = '<figure><img src="https://example.com/a.png" alt=""><figcaption><p>One</p></figcaption></figure>'
    live = Writing(world, f"# A\n\n{image}\n")
    live.open().send(block("two", 8))
    live.save()
    assert live.markdown() == f"# A\n\n{image}\n".replace("One", "One<br>two")
