"""Edits by block keys: they keep the bytes and keys of everything else, and parsing a part of a page gives
the same as parsing all of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from document_strategies import documents
from octavo.core.document.blocks import (
    BlockEdits,
    BlockPosition,
    EditError,
    Index,
    Missing,
    NotLocal,
    index_blocks,
)
from octavo.core.document.keys import assign_keys, keyed_nodes
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.document.reader import open_ends, read
from octavo.core.document.writing import write

PIECES = [
    "Words of *one* kind.",
    "Other   words\nin two lines.",
    "## Heading",
    "Set\n===",
    "- a\n- b",
    "* c\n\n  more",
    "1. one\n2. two",
    "```js\nlet a;\n\nb\n```",
    "```\nnever closed",
    "| A | B |\n|:--|--:|\n| 1 | `x` |",
    "> quoted\n> [q]: /q",
    "***",
    "<!-- said -->",
    "<!-- open",
    '{% hint style="info" %}\nIn.\n\n- x\n{% endhint %}',
    '{% hint style="info" %}',
    "{% endhint %}",
    '{% tabs %}\n{% tab title="T" %}\nIn.\n{% endtab %}\n{% endtabs %}',
    '{% embed url="https://x.example" %}',
    "{% endembed %}",
    "<details>\n<summary>S</summary>\n\nBody\n\n</details>",
    "</details>",
    "<div>\n<p>x</p>\n</div>",
    "[ref]: /there",
    "A [ref] here.",
    "Note[^1].",
    "[^1]: What it is.",
    "    code",
    "<table>\n<tr><td>x</td></tr>\n</table>",
    "Words of *one* kind.",
    "$$\nx\n$$",
    "<p>x</p>",
]
pages = st.one_of(
    st.builds(
        lambda parts, gaps: "".join(f"{part}{gap}" for part, gap in zip(parts, gaps, strict=False)),
        st.lists(st.sampled_from(PIECES), max_size=8),
        st.lists(st.sampled_from(["\n\n", "\n\n\n", "\n", "\r\n\r\n"]), min_size=8, max_size=8),
    ),
    documents.map(write),
)
made = st.one_of(
    st.sampled_from(PIECES).map(read),
    documents.map(lambda document: Document(document.nodes)),
    st.just(Document([Block("paragraph")])),
)
edits = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "move", "delete"]),
        st.integers(0, 40),
        st.integers(0, 40),
        st.integers(0, 4),
        made,
    ),
    min_size=1,
    max_size=4,
)


def copy(document: Document) -> Document:
    import msgspec

    return msgspec.msgpack.decode(msgspec.msgpack.encode(document), type=Document)


def keyed(text: str) -> Document:
    return assign_keys(read(text))


def apply(document: BlockEdits, keys: list[str], steps: list[Any]) -> set[str]:
    """Apply the edits that are possible, and return the keys that they refer to."""
    named: set[str] = set()
    for kind, first, second, where, new in steps:
        key = keys[first % len(keys)] if keys else None
        other = keys[second % len(keys)] if keys else None
        place = [
            BlockPosition(after=other),
            BlockPosition(before=other),
            BlockPosition(into=other, at=first),
            BlockPosition(),
            BlockPosition(at=second),
        ][where if other else 3]
        try:
            if kind == "insert":
                allowed = document.allowed_at(place)
                if allowed.type == "blocks" and allowed.depth < 3:
                    document.insert(copy(new), place)
            elif key is not None and kind == "set":
                if document.allowed(key, "").type == "blocks":
                    document.set(key, copy(new), "")
            elif key is not None and kind == "move":
                document.move([key], place, "")
            elif key is not None:
                document.delete([key], "")
        except EditError as error:
            # Edits that were refused for the content of a block aren't continued.
            assume(error.field != "document")
        named |= {name for name in (key, other) if name}
    return named


def renamed(text: str, keys: dict[str, str]) -> Index:
    document = keyed(text)
    for node in keyed_nodes(document):
        node.key = keys.get(node.key or "", node.key)
    return index_blocks(document)


@given(pages, edits, st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_part_read_alone_matches_the_whole_page(text, steps, nested):
    document = keyed(text)
    keys = [node.key for node in (keyed_nodes(document) if nested else document.nodes)]
    index = index_blocks(document)
    whole = BlockEdits(text, index, document)
    apply(whole, keys, steps)
    said = whole.finish()
    # Stored keys map the keys of the parsed text to those of the nodes.
    assert renamed(said.text, said.index.kept) == said.index
    everywhere = [key for entry in said.index.entries for key in entry.keys]
    assert len(set(everywhere)) == len(everywhere)
    local = BlockEdits(text, index)
    try:
        apply(local, keys, steps)
        found = local.finish()
    except NotLocal:
        return
    assert found.text == said.text
    assert found.index == said.index


@given(pages, edits)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_untouched_blocks_keep_their_bytes_and_keys(text, steps):
    document = keyed(text)
    keys = [block.key for block in document.nodes]
    edited = BlockEdits(text, index_blocks(document), document)
    steps = [step for step in steps if step[4].nodes and all(node.source is None for node in step[4].nodes)]
    named = apply(edited, keys, steps)
    # Where one of two tags that belong together is moved, they hold something else.
    assume(not any(any(open_ends(block.source or "")) for block in document.nodes if block.key in named))
    said = edited.finish()
    now = keyed(said.text)
    keys_of = {entry.keys[0]: number for number, entry in enumerate(said.index.entries)}
    at = 0
    for block in document.nodes:
        if block.key in named or closes_nothing(block):
            continue
        assert block.source is not None and said.text.find(block.source, at) >= 0
        at = said.text.find(block.source, at)
        assert block.key in keys_of and now.nodes[keys_of[block.key]].source == block.source


def closes_nothing(block: Block) -> bool:
    """Return whether a block is closed, so that it can't absorb content added after it."""
    return block.source is not None and len(read(block.source + "\n\nx\n").nodes) != 2


def words(text: str) -> Document:
    return Document([Block("paragraph", {}, [Text([Leaf(text)])])])


TEXT = "One *way*.\n\n- a\n- b\n\n\nMiddle\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nEnd\n"


def opened(text: str = TEXT) -> tuple[BlockEdits, list[str], Document]:
    document = keyed(text)
    return BlockEdits(text, index_blocks(document)), [block.key or "" for block in document.nodes], document


def after(edited: BlockEdits) -> str:
    found = edited.finish()
    return found.text


def test_setting_a_block_changes_nothing_else():
    page, keys, _ = opened()
    page.set(keys[2], words("Other"), "block")
    found = page.finish()
    assert found.text == TEXT.replace("Middle", "Other")
    assert [entry.keys[0] for entry in found.index.entries] == keys
    assert list(found.nodes) == [keys[2]]


def test_edits_without_effect_keep_the_text():
    page, keys, document = opened()
    same = copy(document).nodes[0]
    same.source = None
    page.set(keys[0], Document([same]), "block")
    assert after(page) == TEXT


def test_inserting_and_deleting_keep_surrounding_lines():
    page, keys, _ = opened()
    page.insert(words("New"), BlockPosition(after=keys[0]))
    page.insert(words("First"), BlockPosition(at=0))
    page.delete([keys[4]], "delete")
    assert (
        after(page)
        == "First\n\nOne *way*.\n\nNew" + TEXT.removeprefix("One *way*.").removesuffix("\n\nEnd\n") + "\n"
    )
    page, keys, _ = opened()
    page.delete(keys, "delete")
    assert after(page).strip() == ""


@pytest.mark.parametrize("is_whole", [True, False])
def test_new_content_uses_the_line_endings_of_the_page(is_whole):
    windows = TEXT.replace("\n", "\r\n")
    document = keyed(windows)
    keys = [block.key or "" for block in document.nodes]
    page = BlockEdits(windows, index_blocks(document), document if is_whole else None)
    page.insert(read("New\\\nline\n\n- x\n- y"), BlockPosition(after=keys[2]))
    page.set(keys[0], words("Two\nlines"), "block")
    expected = TEXT.replace("One *way*.", "Two\\\nlines").replace(
        "Middle\n", "Middle\n\nNew\\\nline\n\n- x\n- y\n"
    )
    assert after(page) == expected.replace("\n", "\r\n")
    mixed = keyed("One\r\n\r\nTwo\n\nThree\r\n")
    page = BlockEdits(write(mixed), index_blocks(mixed), mixed if is_whole else None)
    page.insert(words("New"), BlockPosition(after=mixed.nodes[2].key))
    assert after(page).startswith("One\r\n\r\nTwo\n\nThree")


def test_moving_keeps_bytes_and_keys():
    page, keys, _ = opened()
    page.move([keys[1], keys[0]], BlockPosition(after=keys[4]), "blocks")
    found = page.finish()
    assert found.text == "Middle\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nEnd\n\n- a\n- b\n\nOne *way*.\n"
    assert [entry.keys[0] for entry in found.index.entries] == [keys[n] for n in (2, 3, 4, 1, 0)]


def test_cutting_and_pasting_within_a_page_keeps_bytes_and_keys():
    page, keys, document = opened()
    table = copy(document).nodes[3]
    table.source = None
    page.insert(Document([table]), BlockPosition(at=0))
    page.delete([keys[3]], "delete")
    found = page.finish()
    assert found.text.startswith("| A | B |\n|---|---|\n| 1 | 2 |\n\nOne")
    assert found.index.entries[0].keys[0] == keys[3]


def test_adjacent_lists_stay_separate():
    page, keys, _ = opened("- a\n\nx\n\n- b\n")
    page.delete([keys[1]], "delete")
    with pytest.raises(NotLocal):
        page.finish()
    document = keyed("- a\n\nx\n\n- b\n")
    whole = BlockEdits("- a\n\nx\n\n- b\n", index_blocks(document), document)
    whole.delete([keys[1]], "delete")
    assert after(whole) == "- a\n\n<!-- -->\n\n- b\n"


def test_a_title_cannot_contain_a_list():
    text = "<details>\n\n<summary>One</summary>\n\nBody\n\n</details>\n"
    document = keyed(text)
    title = document.nodes[0].fragments[0].nodes[0]
    edits = BlockEdits(text, index_blocks(document))
    with pytest.raises(EditError, match="one paragraph"):
        edits.set(title.key, read("- a\n- b"), "block")


def test_nested_blocks_and_cells_are_edited():
    page, keys, document = opened()
    items = document.nodes[1].nodes
    page.delete([items[0].key], "delete")
    assert after(page) == TEXT.replace("- a\n- b", "- b")
    page, keys, document = opened()
    page.delete([item.key for item in items], "delete")
    assert "b" not in after(page)
    cells = document.nodes[3].fragments
    page, keys, _ = opened()
    page.set(cells[0].key, words("Cell"), "block")
    found = page.finish()
    assert "| Cell | 2 |" in found.text and cells[0].key in found.nodes


def test_empty_paragraphs_write_nothing():
    page, keys, _ = opened()
    page.insert(Document([Block("paragraph")]), BlockPosition(after=keys[0]))
    assert after(page) == TEXT
    page, keys, _ = opened()
    page.set(keys[2], Document([Block("paragraph")]), "block")
    assert after(page) == TEXT.replace("\n\n\nMiddle", "\n")


def test_impossible_edits_raise_an_error():
    page, keys, document = opened()
    with pytest.raises(Missing):
        page.delete(["nobody"], "delete")
    with pytest.raises(EditError, match="into itself"):
        page.move([keys[1]], BlockPosition(into=document.nodes[1].nodes[0].key), "blocks")
    with pytest.raises(EditError, match="can't contain other blocks"):
        page.insert(words("x"), BlockPosition(into=keys[0]))
    with pytest.raises(EditError, match="list-item"):
        page.move([keys[0]], BlockPosition(into=keys[1]), "blocks")
    with pytest.raises(EditError, match="part of another block"):
        page.delete([document.nodes[3].fragments[0].key], "delete")
    assert after(page) == TEXT
