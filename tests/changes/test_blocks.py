"""Tests of update_blocks, which edits individual blocks of a page by key."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.document import reader

from .test_content import refused
from .working import insert, update

TEXT = "# A\n\nOne *way*.\n\n+ a\n+ b\n\n\nMiddle [b](b.md)\n\nEnd\n"


def blocks(page: str, **what: Any) -> dict[str, Any]:
    return {"operation": "update_blocks", "page": page, **what}


def nodes(*given: dict[str, Any]) -> dict[str, Any]:
    return {"document": list(given)}


def words(text: str, **more: Any) -> dict[str, Any]:
    leaves = [{"object": "leaf", "text": text, "marks": []}] if text else []
    return {
        "object": "block",
        "type": "paragraph",
        "nodes": [{"object": "text", "leaves": leaves}] if text else [],
        **more,
    }


@pytest.fixture
def page(space):
    """Return a change request with page A containing the text above."""
    change = space.create()
    space.write(change, "A", TEXT)
    return Page(space, change)


class Page:
    def __init__(self, space: Any, change: str) -> None:
        self.space, self.change, self.id = space, change, space.pages["A"]

    @property
    def document(self) -> list[Any]:
        return self.space.page("A", self.change, format="document")["document"]["nodes"]

    @property
    def keys(self) -> list[str]:
        return [node["key"] for node in self.document]

    @property
    def text(self) -> str:
        return self.space.text("A", self.change)

    @property
    def revision(self) -> str:
        return self.space.change(self.change)["revision"]

    def edit(self, **what: Any) -> Any:
        return self.space.edit(self.change, blocks(self.id, **what))["changes"][0]["blocks"]

    def refused(self, status: int, *said: str, **what: Any) -> None:
        refused(self.space.try_edit(self.change, blocks(self.id, **what)), status, "changes[0]", *said)


def test_editing_one_word_rewrites_only_its_block(page):
    keys = page.keys
    said = page.edit(set=[{"block": keys[0], "document": nodes(words("Another way."))}])
    assert page.text == TEXT.replace("One *way*.", "Another way.")
    assert page.keys == keys
    assert said["set"] == [[page.document[0]]] and said["insert"] == said["move"] == []


@pytest.mark.sqlite_first
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_text_directly_after_the_title_stays_there(space, line_end):
    change = space.create()
    text = "# A\nOne.\n\nTwo.\n".replace("\n", line_end)
    space.write(change, "A", text)
    page = Page(space, change)
    assert page.text == text
    given = space.page("A", change, format="document")["document"]
    space.edit(change, update(page.id, document={"document": given["nodes"]}))
    assert page.text == text
    page.edit(set=[{"block": page.keys[1], "document": nodes(words("Second."))}])
    assert page.text == text.replace("Two", "Second")
    page.edit(set=[{"block": page.keys[0], "document": nodes(words("First."))}])
    assert page.text == text.replace("Two", "Second").replace("One", "First")
    space.edit(change, update(page.id, document={"markdown": f"Body.{line_end}"}))
    assert page.text == f"# A{line_end}Body.{line_end}"


def test_the_response_contains_the_new_keys_of_the_document(page):
    keys = page.keys
    listing = {
        "object": "block",
        "type": "list-unordered",
        "nodes": [{"object": "block", "type": "list-item", "nodes": [words("item")]}],
    }
    said = page.edit(
        insert=[
            {"after": keys[0], "document": nodes(words("New."), listing)},
            {"document": {"markdown": "Last   words"}},
        ]
    )
    assert page.text == TEXT.replace("way*.\n", "way*.\n\nNew.\n\n* item\n") + "\nLast   words\n"
    document = page.document
    assert said["insert"] == [document[1:3], document[-1:]]
    assert [node["key"] for node in document if node["key"] in keys] == keys


@pytest.mark.sqlite_first
def test_new_blocks_keep_their_keys(page):
    keys = page.keys
    gone = page.document[0]
    page.edit(delete=[keys[0]])
    assert page.text == TEXT.replace("One *way*.\n\n", "")
    said = page.edit(
        insert=[{"at": 0, "document": nodes(gone)}, {"document": nodes(words("x", key=keys[1]))}]
    )
    assert said["insert"][0][0]["key"] == keys[0] and said["insert"][1][0]["key"] not in keys
    assert len(set(page.keys)) == len(page.keys) == 5


@pytest.mark.sqlite_first
def test_splitting_and_joining_keep_the_key_of_the_first_part(page):
    keys = page.keys
    page.edit(
        set=[{"block": keys[0], "document": nodes(words("One"))}],
        insert=[{"after": keys[0], "document": nodes(words("way."))}],
    )
    split = page.keys
    assert split[0] == keys[0] and split[2:] == keys[1:] and split[1] not in keys
    page.edit(set=[{"block": keys[0], "document": nodes(words("One way."))}], delete=[split[1]])
    assert page.keys == keys and page.text == TEXT.replace("*way*", "way")


@pytest.mark.sqlite_first
def test_moves_keep_bytes_and_keys(page):
    keys = page.keys
    said = page.edit(move=[{"blocks": [keys[1]], "before": keys[0]}])
    assert page.text == "# A\n\n+ a\n+ b\n\nOne *way*.\n\n\nMiddle [b](b.md)\n\nEnd\n"
    assert page.keys == [keys[1], keys[0], *keys[2:]]
    assert [node["key"] for node in said["move"][0]] == [keys[1]]


def test_blocks_move_between_pages_with_bytes_keys_and_link_targets(page):
    space, keys = page.space, page.keys
    page.edit(set=[{"block": keys[0], "document": nodes(words("Edited once."))}])
    other = space.pages["C"]
    there = space.page("C", page.change, format="document")["document"]["nodes"][0]["key"]
    moved = {"blocks": [keys[0], keys[1], keys[2]], "from": page.id, "after": there}
    answer = space.edit(page.change, blocks(other, move=[moved]))["changes"][0]
    assert answer["page"]["id"] == other
    assert [node["key"] for node in answer["blocks"]["move"][0]] == keys[:3]
    assert page.text == "# A\n\nEnd\n"
    text = space.text("C", page.change)
    assert "First paragraph of C.\n\nEdited once.\n\n+ a\n+ b\n\nMiddle [b](../b.md)\n\nSecond" in text
    document = space.page("C", page.change, format="document")["document"]["nodes"]
    assert [node["key"] for node in document[1:4]] == keys[:3]


def test_nested_blocks_are_addressed_like_others(page):
    items = [item["key"] for item in page.document[1]["nodes"]]
    page.edit(
        set=[
            {
                "block": items[1],
                "document": nodes({"object": "block", "type": "list-item", "nodes": [words("bee")]}),
            }
        ]
    )
    assert [item["key"] for item in page.document[1]["nodes"]] == items
    page.edit(
        insert=[
            {
                "into": page.keys[1],
                "at": 0,
                "document": nodes({"object": "block", "type": "list-item", "nodes": [words("first")]}),
            }
        ]
    )
    assert page.text == TEXT.replace("+ a\n+ b", "+ first\n+ a\n+ bee")


@pytest.mark.sqlite_first
def test_empty_paragraphs_write_nothing(page):
    said = page.edit(insert=[{"after": page.keys[0], "document": nodes(words(""), words("x"), words(""))}])
    assert page.text == TEXT.replace("way*.\n", "way*.\n\nx\n") and len(said["insert"][0]) == 1
    document = page.document
    space = page.space
    space.edit(
        page.change, update(page.id, document=nodes(*document[:1], words(""), *document[1:], words("")))
    )
    assert page.text == TEXT.replace("way*.\n", "way*.\n\nx\n")


@pytest.mark.sqlite_first
def test_links_by_id_and_by_name_become_paths(page):
    space, keys = page.space, page.keys

    def link(ref: dict[str, Any]) -> dict[str, Any]:
        inner = {"object": "inline", "type": "link", "data": {"ref": ref}, "nodes": words("x")["nodes"]}
        return {"object": "block", "type": "paragraph", "nodes": [inner]}

    by_id = link({"kind": "page", "page": space.pages["C"]})
    by_name = link({"kind": "url", "url": "./new.md"})
    space.edit(
        page.change,
        blocks(
            page.id,
            set=[
                {"block": keys[0], "document": nodes(by_id)},
                {"block": keys[3], "document": nodes(by_name)},
            ],
        ),
        insert("# Brand new\n", ref="new"),
    )
    assert "[x](b/c.md)" in page.text and "[x](brand-new.md)" in page.text and "[b](b.md)" in page.text
    assert page.keys == keys


@pytest.mark.sqlite_first
def test_a_batch_can_change_one_page_several_times(page):
    space, keys = page.space, page.keys
    answer = space.edit(
        page.change,
        blocks(page.id, set=[{"block": keys[0], "document": nodes(words("Once."))}]),
        update(page.id, description="About"),
        blocks(page.id, set=[{"block": keys[0], "document": nodes(words("Twice."))}], delete=[keys[3]]),
    )
    assert page.keys == keys[:3]
    assert (
        answer["changes"][0]["blocks"]["set"] == answer["changes"][2]["blocks"]["set"] == [[page.document[0]]]
    )
    assert page.text.endswith(TEXT.replace("One *way*", "Twice").removesuffix("\nEnd\n"))


def test_changed_fields_leave_the_keys_of_blocks(page):
    keys = page.keys
    page.edit(set=[{"block": keys[0], "document": nodes(words("Entirely different."))}])
    page.space.edit(page.change, update(page.id, description="About", title="Else"))
    assert page.keys == keys


@pytest.mark.sqlite_first
def test_an_edit_of_an_older_revision_is_merged(page):
    space, keys, base = page.space, page.keys, page.revision
    page.edit(
        set=[{"block": keys[3], "document": nodes(words("Finish"))}],
        insert=[{"at": 0, "document": nodes(words("Top"))}],
    )

    def late(key: str, text: str) -> Any:
        edit = blocks(page.id, set=[{"block": key, "document": nodes(words(text))}])
        body = {"baseRevision": base, "changes": [edit]}
        path = space.url(page.change)
        return space.world.call("editor", "POST", path, params={"compat": "false"}, json=body).json()

    answer = late(keys[0], "Late")
    assert answer["result"] == "edit"
    assert page.text == "# A\n\nTop\n\nLate\n\n+ a\n+ b\n\n\nMiddle [b](b.md)\n\nFinish\n"
    assert page.keys[1:] == keys and answer["changes"][0]["blocks"]["set"][0][0]["key"] == keys[0]
    answer = late(keys[3], "Clash")
    assert answer["result"] == "conflicts" and page.text.endswith("\nFinish\n")
    assert [conflict["kind"] for conflict in space.conflicts(page.change)] == ["block"]
    # The last writer of the block wins.
    page.edit(set=[{"block": keys[3], "document": nodes(words("Settled"))}])
    assert space.conflicts(page.change) == []


@pytest.mark.sqlite_first
def test_keys_stay_through_a_merge(page):
    space, keys = page.space, page.keys
    page.edit(set=[{"block": keys[0], "document": nodes(words("Told differently."))}])
    assert page.space.merge(page.change)["result"] == "merge"
    main = space.page("A", format="document")["document"]["nodes"]
    assert [node["key"] for node in main] == keys


def test_blocks_of_main_are_edited_in_a_live_space(space):
    key = space.page("A", format="document")["document"]["nodes"][0]["key"]
    answer = space.edit_main(
        blocks(space.pages["A"], set=[{"block": key, "document": {"markdown": "Live."}}])
    )
    assert answer["changes"][0]["blocks"]["set"][0][0]["key"] == key
    assert "Live.\n\nSecond" in space.text("A")


@pytest.mark.sqlite_first
def test_invalid_block_edits_name_the_error(page):
    keys, text = page.keys, page.text
    space = page.space
    group = space.edit(page.change, {"operation": "insert_group", "title": "G"})["changes"][0]["page"]["id"]
    page.refused(404, "set[0].block", "nobody", set=[{"block": "nobody", "document": nodes(words("x"))}])
    page.refused(404, "insert[0].after", insert=[{"after": "nobody", "document": nodes(words("x"))}])
    page.refused(404, "delete[1]", delete=[keys[0], "nobody"])
    page.refused(404, "delete[1]", delete=[keys[0], keys[0]])
    page.refused(404, "move[0].from", move=[{"blocks": ["x"], "from": "nobody"}])
    page.refused(400, "move[0].from", "group", move=[{"blocks": ["x"], "from": group}])
    page.refused(400, "move[0].blocks[0]", move=[{"blocks": [keys[1]], "into": keys[1]}])
    page.refused(
        400, "insert[0].into", "paragraph", insert=[{"into": keys[0], "document": nodes(words("x"))}]
    )
    bad = {"object": "block", "type": "hint", "data": {"style": "loud"}, "nodes": []}
    page.refused(
        400,
        "set[1].document.document[1].data.style",
        set=[
            {"block": keys[1], "document": nodes(words("x"))},
            {"block": keys[0], "document": nodes(words("x"), bad)},
        ],
    )
    page.refused(
        400, "insert[0].document", "list-item", insert=[{"into": keys[1], "document": nodes(words("x"))}]
    )
    page.refused(
        400, "insert[0].document.markdown", insert=[{"into": keys[1], "document": {"markdown": "x"}}]
    )
    ref = {"kind": "page", "page": "nobody", "space": "nobody"}
    link = {"object": "inline", "type": "link", "data": {"ref": ref}, "nodes": words("x")["nodes"]}
    paragraph = {"object": "block", "type": "paragraph", "nodes": [link]}
    page.refused(400, "set[0].document", "nobody", set=[{"block": keys[0], "document": nodes(paragraph)}])
    refused(space.try_edit(page.change, blocks(group, delete=["x"])), 400, "page", "group")
    refused(space.try_edit(page.change, blocks("nobody", delete=["x"])), 404, "page")
    refused(space.try_edit(page.change, blocks(page.id)), 400, "set")
    both = {"after": keys[0], "before": keys[0], "document": nodes(words("x"))}
    refused(space.try_edit(page.change, blocks(page.id, insert=[both])), 400, "after")
    assert page.text == text and page.keys == keys


def test_the_cost_of_an_edit_depends_on_its_size(space, monkeypatch):
    """The amount of Markdown read is independent of the page length and the neighboring blocks."""
    found = {}
    read = reader._Reader
    for count in (40, 400):
        change = space.create()
        space.write(
            change, "A", "# A\n\n" + "\n\n".join(f"Paragraph {n:03} here." for n in range(count)) + "\n"
        )
        page = Page(space, change)
        keys = page.keys
        page.edit(set=[{"block": keys[10], "document": nodes(words("Once, so that the page is known."))}])
        sizes: list[int] = []

        def measured(lines: Any, sizes: list[int] = sizes) -> Any:
            sizes.append(len(lines.text))
            return read(lines)

        with monkeypatch.context() as patched:
            patched.setattr(reader, "_Reader", measured)
            page.edit(
                set=[{"block": keys[20], "document": nodes(words("Another."))}],
                insert=[{"after": keys[5], "document": nodes(words("New."))}],
                move=[{"blocks": [keys[30]], "before": keys[2]}],
                delete=[keys[35]],
            )
            space.edit(change, update(page.id, description=f"About {count}"))
        found[count] = sum(sizes)
    assert 0 < found[40] == found[400]


@pytest.mark.sqlite_first
def test_differences_list_nodes_by_key_with_changed_words(page):
    space = page.space
    space.merge(page.change)
    change = space.create()
    page.change = change
    keys, items = page.keys, [item["nodes"][0]["key"] for item in page.document[1]["nodes"]]
    old = page.document
    page.edit(
        set=[
            {"block": keys[0], "document": nodes(words("One other way."))},
            {"block": items[1], "document": nodes(words("b and more"))},
        ],
        insert=[{"after": keys[1], "document": nodes(words("New."))}],
        move=[{"blocks": [keys[3]], "at": 0}],
        delete=[keys[2]],
    )
    path = f"{space.path}/change-requests/{change}/changes/page/{page.id}"
    said = space.world.get("reader", path, params={"format": "document"})
    now = page.document
    found = [(entry["kind"], entry["key"], entry["behind"]) for entry in said["blocks"]]
    assert found == [
        ("moved", keys[3], None),
        ("changed", keys[0], keys[3]),
        ("changed", keys[1], keys[0]),
        ("removed", keys[2], keys[1]),
        ("added", now[3]["key"], keys[1]),
    ]
    moved, changed, listing, removed, added = said["blocks"]
    assert (changed["before"], changed["after"]) == (old[0], now[1]) and "before" not in added
    assert removed["before"] == old[2] and "after" not in removed and moved["words"] == []
    (runs,) = changed["words"]
    assert runs["key"] == keys[0]
    for kind, text in (("removed", "One way."), ("added", "One other way.")):
        assert "".join(run["text"] for run in runs["words"] if run["kind"] in ("same", kind)) == text
    assert [entry["key"] for entry in listing["words"]] == [items[1]]
    assert "blocks" not in space.world.get("reader", path)
    refused(space.world.call("reader", "GET", path, params={"format": "html"}), 400, "format")
