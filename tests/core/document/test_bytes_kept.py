"""Edits inside a block keep the bytes of unedited parts, in saves of documents and of blocks."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.core.document.blocks import BlockEdits, BlockPosition, NotLocal, index_blocks
from octavo.core.document.json import from_json, nodes_from_json, to_json
from octavo.core.document.keys import assign_keys, carry_keys, carry_sources, keyed_nodes
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Text, walk
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write

EXAMPLES = {
    "bullets": "- first  item\n- second __bold__ item\n\n+ other\n",
    "numbers": "1) one\n1) two *emphasis*\n\n    three\n",
    "tasks": "+ [ ] first task\n+ [X] second   task\n",
    "nested": "-   outer words\n    wrapped here\n\n    * inner _words_\n    * more words\n-   last\n",
    "tabs between": "*\tfirst words\n*\tsecond words\n",
    "wrapped": "Words in\nthree *short*\nlines.\nAnd more.\n",
    "emphasis": "An *italic* and _italic_, a __bold__ and **bold** word.\n",
    "table": "|A|Bcd|\n|:-|--:|\n|one|`two`|\n| three \\| x | *four* |\n",
    "padded table": (
        "| Name  | Words       |\n| :---: | :---------- |\n| one   | more words  |\n| two   |             |\n"
    ),
    "hint": '{% hint style="info"  %}\nWords __here__.\n\n- and here\n{% endhint %}\n',
    "tabs": (
        '{% tabs %}\n{% tab title="One" %}\n1) words\n2) other\n{% endtab %}\n\n'
        "{% tab title='Two' %}\nMore *words*  \nhere\n{% endtab %}\n{% endtabs %}\n"
    ),
    "end of file": "Words without a line break at the end",
    "ends of file": "Words\n\n\n\n",
    "parentheses": "Call \\(x\\) or \\[y\\] with words\\.\n",
    "two blanks": "Words  \nbehind two blanks\\\nand a backslash<br>and a tag\n",
    "info": "``` csharp\nvar words = 1;\nmore();\n```\n",
    "tildes": '~~~~js title="x"\nlet words;\n~~~~\n',
    "indented code": "Before\n\n    let words;\n    more words\n\nBehind\n",
    "summary": "<details>\n<summary><strong>Words</strong> here</summary>\n\nBody *words*\n\n</details>\n",
    "summary in one line": "<details><summary>Words</summary>\nBody words\n</details>\n",
    "expression": 'Has <code class="expression">space.vars.a + "b_c"</code> and words\n',
    "embed": '{% embed url="https://a.example/?x=1&y=2" %}\nCaption words\n{% endembed %}\n',
    "attributes": '<figure><img alt="" width="30" src="a.png"><figcaption><p>Caption words</p></figcaption></figure>\n',
    "html table": (
        '<table data-x="1"><thead>\n<tr><th>Head</th><th align=right>Two</th></tr></thead>\n'
        "<tbody><tr><td>one words</td><td><b>two</b></td></tr></tbody></table>\n"
    ),
    "quote": "> quoted words\nlazy words\n> - in *it*\n>\n> ~~~\n> code words\n> ~~~\n",
    "close by": "# Words\nbelow words\n* * *\nand more\n- item\n",
    "underlined": "Heading words\n---\n\nText\n",
    "closed": "## Heading words ##\n\nText\n",
    "reference": "See [the words][there] and [others][two].\n\n[there]: /a 'b'\n[two]: <b c.md>\n",
    "entities": "A &copy; sign, &amp; words &#x41;\n",
    "windows": "- first words\r\n- second\r\n\r\nText *words*\r\nwrapped\r\n",
    "autolink": "Words at <https://a.example/x_y> and https://b.example/x_y here\n",
    "escapes": "snake_case words 2 * 3 * 4, a_b_c and 1. words\n",
    "alone": '<p align="center">Words <img src="a.png"> here</p>\n',
    "footnote": "Words[^1] here.\n\n[^1]: The *note*\n    goes on.\n\nMore words.\n",
    "stepper": "{% stepper %}\n{% step %}\n### Words\nright below\n{% endstep %}\n{% endstepper %}\n",
    "same words": "| a | b |\n|---|---|\n" + "| yes | no |\n" * 30,
}
WORD = re.compile(r"[^\W\d_]{2,}")
MARK = "Zq"


def leaves(nodes: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    for at, top in enumerate(nodes):
        stack = [top]
        while stack:
            node = stack.pop()
            stack += [*node.get("nodes", ()), *node.get("fragments", ())]
            is_address = node.get("type") == "link" and node["data"]["ref"].get("url") == "".join(
                leaf["text"] for text in node["nodes"] for leaf in text.get("leaves", ())
            )
            if is_address:
                del stack[-len(node["nodes"]) :]
            for leaf in node.get("leaves", ()):
                if WORD.search(leaf["text"]):
                    yield at, leaf


def changed(nodes: list[Any], number: int) -> int | None:
    """Mark a word of the leaf with this number, and return its top-level block; None if there is none."""
    for count, (at, leaf) in enumerate(leaves(nodes)):
        if count == number:
            leaf["text"] = WORD.sub(lambda match: match[0] + MARK, leaf["text"], count=1)
            return at
    return None


def saved_whole(text: str, change: Callable[[list[Any]], Any]) -> str | None:
    old = assign_keys(read(text))
    given = to_json(old)
    if change(given["nodes"]) is None:
        return None
    new = from_json(given)
    carry_keys(old, new)
    carry_sources(old, new)
    return write(new, {block.key or "": block for block in old.nodes})


def edited(text: str, edit: Callable[[BlockEdits, list[Block]], Any]) -> str:
    index = index_blocks(assign_keys(read(text)))
    for whole in (None, assign_keys(read(text))):
        edits = BlockEdits(text, index, whole)
        try:
            edit(edits, assign_keys(read(text)).nodes)
            return edits.finish().text
        except NotLocal:
            continue
    raise AssertionError("an edit of the whole document is never NotLocal")


def saved_block(text: str, change: Callable[[list[Any]], int | None]) -> str | None:
    nodes = to_json(assign_keys(read(text)))["nodes"]
    at = change(nodes)
    if at is None:
        return None
    return edited(text, lambda edits, _: edits.set(nodes[at]["key"], nodes_from_json([nodes[at]], ""), ""))


@pytest.mark.parametrize("save", [saved_whole, saved_block])
@pytest.mark.parametrize("name", EXAMPLES)
def test_editing_one_word_of_a_leaf_changes_only_it(name: str, save: Any) -> None:
    text = EXAMPLES[name]
    found = 0
    while (said := save(text, lambda nodes, n=found: changed(nodes, n))) is not None:
        assert said.replace(MARK, "") == text
        assert said.count(MARK) == 1
        found += 1
    assert found


@given(
    st.lists(st.sampled_from(sorted(EXAMPLES)), min_size=1, max_size=4, unique=True),
    st.integers(0, 20),
    st.booleans(),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_editing_one_word_among_other_blocks_changes_only_it(
    names: list[str], number: int, by_block: bool
) -> None:
    text = "\n\n".join(EXAMPLES[name] for name in names if name != "windows")
    document = to_json(read(text))
    count = sum(1 for _ in leaves(document["nodes"]))
    if count:
        save: Any = saved_block if by_block else saved_whole
        assert save(text, lambda nodes: changed(nodes, number % count)).replace(MARK, "") == text


LISTS = (
    "Before *it*\n\n- first  item\n- second __bold__ item\\\n  more\n- third \\(x\\)\n\n"
    '{% hint style="info" %}\nHint *text*  \nin two lines\n\n1) one\n2) two\n{% endhint %}\n\nLast\n'
)


def item(text: str) -> Document:
    return Document([Block("list-item", {}, [Block("paragraph", {}, [Text([Leaf(text)])])])])


def rows(text: str, *numbers: int) -> str:
    return "".join(text.splitlines(keepends=True)[number] for number in numbers)


def test_added_items_follow_the_style_of_their_list() -> None:
    def lines(edit: Any) -> list[str]:
        return edited(LISTS, edit).split("\n")

    old = LISTS.split("\n")
    assert lines(lambda e, n: e.delete([n[1].nodes[0].key], "")) == old[:2] + old[3:]
    assert (
        lines(lambda e, n: e.insert(item("new"), BlockPosition(after=n[1].nodes[0].key)))
        == old[:3] + ["- new"] + old[3:]
    )
    assert (
        lines(lambda e, n: e.insert(item("new"), BlockPosition(after=n[2].nodes[1].nodes[0].key)))
        == old[:12] + ["2) new", "3) two"] + old[13:]
    )


def test_moved_blocks_keep_their_bytes_wherever_they_go() -> None:
    def moved(edit: Any) -> str:
        return edited(LISTS, edit)

    third = moved(lambda e, n: e.move([n[1].nodes[2].key], BlockPosition(before=n[1].nodes[0].key), ""))
    assert third == LISTS.replace("\n- third \\(x\\)", "").replace("- first", "- third \\(x\\)\n- first")
    into = moved(lambda e, n: e.move([n[1].key], BlockPosition(into=n[2].key), ""))
    assert "2) two\n\n- first  item\n- second __bold__ item\\\n  more\n- third \\(x\\)\n{% endhint %}" in into
    out = moved(lambda e, n: e.move([n[2].nodes[0].key], BlockPosition(after=n[0].key), ""))
    assert out.startswith("Before *it*\n\nHint *text*  \nin two lines\n\n- first  item\n")
    assert '{% hint style="info" %}\n1) one\n2) two\n{% endhint %}' in out
    quoted = edited(
        "> - a *b*\n> - c\n\nEnd\n",
        lambda e, n: e.move([n[0].nodes[0].key], BlockPosition(after=n[0].key), ""),
    )
    assert "\n- a *b*\n- c\n" in quoted


def test_removing_a_wrapper_keeps_its_content() -> None:
    def unwrap(edits: BlockEdits, nodes: list[Block]) -> None:
        edits.set(nodes[2].key or "", Document([Block(b.type, b.data, b.nodes) for b in nodes[2].nodes]), "")  # type: ignore[union-attr, arg-type]

    kept = LISTS.replace('{% hint style="info" %}\n', "").replace("{% endhint %}\n", "")
    assert edited(LISTS, unwrap) == kept


def test_copied_content_keeps_its_bytes() -> None:
    def paste(edits: BlockEdits, nodes: list[Block]) -> None:
        copied = Block("list-unordered", {}, nodes[1].nodes)
        edits.insert(read_again(copied), BlockPosition(after=nodes[3].key))

    def read_again(block: Block) -> Document:
        found = from_json(to_json(Document([block])))
        for node in keyed_nodes(found):
            node.key = None
        return found

    assert edited(LISTS, paste) == LISTS + "\n" + rows(LISTS, 2, 3, 4, 5)


def test_an_empty_paragraph_writes_nothing() -> None:
    assert (
        edited(LISTS, lambda e, n: e.insert(Document([Block("paragraph")]), BlockPosition(after=n[0].key)))
        == LISTS
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
def test_edits_are_read_back_as_intended(data: Any) -> None:
    """After any edit of the words of a page, the source has the same meaning as one written from scratch."""
    names = data.draw(st.lists(st.sampled_from(sorted(EXAMPLES)), min_size=1, max_size=3, unique=True))
    text = "\n\n".join(EXAMPLES[name] for name in names)
    old = assign_keys(read(text))
    new = from_json(to_json(old))
    places = [node for top in new.nodes for node in walk(top) if isinstance(node, Text)]
    for _ in range(data.draw(st.integers(1, 3))):
        leaf = data.draw(st.sampled_from(data.draw(st.sampled_from(places)).leaves))
        leaf.text = data.draw(st.text("ab *_`<&|\\[]()\n", min_size=1, max_size=8))
    anew = write(Document([Block(b.type, b.data, b.nodes, b.fragments) for b in new.nodes]))
    carry_keys(old, new)
    carry_sources(old, new)
    said = write(new, {block.key or "": block for block in old.nodes})
    assert kinds(said) == kinds(anew)


def kinds(text: str) -> list[list[str]]:
    """Return the types of the blocks and of their content; a comment that separates two blocks is ignored."""
    return [
        [node.type or "" for node in walk(block) if isinstance(node, Block | Inline)]
        for block in read(text).nodes
        if block.data.get("kind") != "comment"
    ]


@pytest.mark.slow
def test_editing_ten_thousand_random_words_changes_only_them(corpora: Path) -> None:
    files = sorted(corpora.rglob("*.md"))
    chance = random.Random(1)  # noqa: S311
    done = other = 0
    while done < 10_000:
        text = split_page(chance.choice(files).read_bytes().decode("utf-8", "replace"))[2]
        if MARK in text or len(text) > 50_000:
            continue
        count = sum(1 for _ in leaves(to_json(read(text))["nodes"]))
        for _ in range(min(5, count)):
            number = chance.randrange(count)
            save: Any = chance.choice([saved_whole, saved_block])
            other += save(text, lambda nodes, n=number: changed(nodes, n)).replace(MARK, "") != text
            done += 1
    assert other <= done / 1_000
