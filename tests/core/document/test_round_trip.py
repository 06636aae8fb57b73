"""Every byte comes back, and nodes survive Markdown and JSON."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from document_strategies import documents
from octavo.core.document.inline_writer import comparable
from octavo.core.document.json import from_json, to_json
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Text, walk
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from tools import corpora_folder

CORPORA = corpora_folder()

PIECES = [
    "# a\n",
    "text ",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "* ",
    "1. ",
    "> ",
    "- [x] ",
    "```",
    "```js\n",
    "~~~\n",
    "$$",
    "$$\n",
    '{% hint style="info" %}',
    "{% endhint %}",
    "{% tabs %}\n",
    '{% tab title="a" %}\n',
    "{% endtab %}",
    "{% endtabs %}\n",
    '{% embed url="x" %}',
    "{% if a %}",
    "{% endif %}",
    '{% code title="x" %}\n',
    "{% endcode %}\n",
    '{% include "x" %}',
    "{%",
    "%}",
    "<details>",
    "<summary>",
    "</summary>",
    "</details>",
    '<div align="left">',
    "</div>",
    "<table>",
    "<tr><td>",
    "</table>",
    '<figure><img src="x">',
    "</figure>",
    "<pre><code>",
    "</code></pre>",
    "<host>",
    "<!--",
    "-->",
    "[a]: b\n",
    "[^1]",
    "[^1]: n\n",
    "[a](b)",
    "![a](b)",
    "**",
    "_",
    "~~",
    "`",
    "|",
    "| a |\n|---|\n",
    "\r\n",
    "\r",
    "\ufeff",
    "\0",
    "\u2028",
    "\x85",
    "\x0b",
    "---\n",
    "===\n",
    "\\",
    "&amp;",
    ":smile:",
    "https://x.y ",
    "é漢",
    "</",
    '<a href="#x" id="x"></a>',
    '<mark style="color:red;">',
    "</mark>",
]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_round_trips(text: str) -> None:
    assert write(read(text)) == text


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=500, deadline=None)
def test_any_mix_of_syntax_round_trips(text: str) -> None:
    document = read(text)
    assert write(document) == text
    assert normal(from_json(to_json(document))) == normal(document)


def _corpora() -> list[Any]:
    """Return all pages of the corpora, of which the fast suite parses every third."""
    paths = sorted(CORPORA.rglob("*.md")) if CORPORA else [None]
    return [pytest.param(path, marks=[pytest.mark.slow] if n % 3 else []) for n, path in enumerate(paths)]


@pytest.mark.parametrize("path", _corpora(), ids=lambda path: path.name if path else "corpora")
def test_corpora_round_trip(path: Path | None) -> None:
    if path is None:
        pytest.skip("the corpora are absent (OCTAVO_TEST_CORPORA)")
    source = path.read_bytes().decode()
    document = read(source)
    assert write(document) == source
    assert normal(from_json(to_json(document))) == normal(document)


@pytest.mark.slow
def test_a_hundred_thousand_mixes_round_trip() -> None:
    for number in range(100_000):
        random = Random(number)
        text = "".join(random.choices(PIECES, k=random.randint(1, 30)))
        document = read(text)
        assert write(document) == text, f"case {number}"
        assert normal(from_json(to_json(document))) == normal(document), f"case {number}"


@pytest.mark.parametrize(
    "text",
    [
        "- a\n\n  b\n<div>\n",
        '1. x\n   y\n<div align="left">\n</div>\n',
        '<div title="</div>">\n',
        "* > a\n<div>\nb\n\n<div>\n</div>\n",
    ],
)
def test_elements_can_close_their_container(text: str) -> None:
    assert write(read(text)) == text


def test_a_formula_on_a_line_of_its_own_stays_in_its_paragraph() -> None:
    formula = Inline("inline-math", {"formula": "x"})
    for words in ("a\n", "\n"):
        document = Document([Block("paragraph", {}, [Text([Leaf(words)]), formula])])
        assert normal(read(write(document))) == normal(document)


@given(documents)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_nodes_round_trip_through_markdown(document: Document) -> None:
    text = write(document)
    assert normal(read(text)) == normal(document), text


@given(documents)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_nodes_round_trip_through_json_and_markdown(document: Document) -> None:
    again = from_json(to_json(document))
    assert normal(again) == normal(document)
    shown = to_json(from_json(to_json(read(write(again)))))
    assert normal(from_json(shown)) == normal(document)


@pytest.mark.slow
def test_a_hundred_thousand_documents_round_trip() -> None:
    """Blocks are generated once and combined repeatedly, because generating them takes long."""
    drawn: list[Block] = []

    @seed(1)
    @settings(
        max_examples=4_000, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck)
    )
    @given(documents)
    def draw(document: Document) -> None:
        drawn.extend(document.nodes)

    draw()
    for number in range(100_000):
        random = Random(number)
        document = Document(random.sample(drawn, random.randint(1, 4)))
        again = from_json(to_json(read(write(from_json(to_json(document))))))
        assert normal(again) == normal(document), f"case {number}: {write(document)}"


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.data())
@settings(max_examples=200, deadline=None)
def test_editing_one_block_keeps_every_other_byte(text: str, data: st.DataObject) -> None:
    document = read(text)
    if not document.nodes:
        return
    at = data.draw(st.integers(0, len(document.nodes) - 1))
    sources = [block.source for block in document.nodes]
    document.nodes[at] = Block("divider")
    written = write(document)
    start = 0
    for index, source in enumerate(sources):
        if index != at:
            assert source is not None
            start = written.index(source, start) + len(source)


def normal(document: Document) -> Any:
    """Return a document as plain values, without keys, sources, gaps, and names of footnotes."""

    def show(node: Any) -> Any:
        if isinstance(node, Block):
            if node.nodes and not isinstance(node.nodes[0], Block):
                inner: Any = [inline(nodes) for nodes in [node.nodes]]
            else:
                inner = [show(child) for child in node.nodes]
            return [node.type, data(node), inner, [show(fragment) for fragment in node.fragments]]
        assert isinstance(node, Fragment)
        return [node.type, [show(child) for child in node.nodes]]

    def inline(nodes: list[Any]) -> Any:
        bodies = [
            show(fragment)
            for node in nodes
            for part in walk(node)
            if type(part).__name__ == "Inline"
            for fragment in part.fragments
        ]
        return [comparable(nodes), bodies]

    def data(node: Block) -> Any:
        return msgspec.to_builtins(node.data)

    return [show(block) for block in document.nodes]
