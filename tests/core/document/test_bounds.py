"""The number of nodes in a document is bounded for every source text, and no text is lost."""

import pytest

from growing import PAGES, repeated
from octavo.core.document import inline_writer, nodes, reader
from octavo.core.document import markdown as blocks
from octavo.core.document.anchors import list_places
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.html import render
from octavo.core.document.inline import plain
from octavo.core.document.json import from_json, to_json
from octavo.core.document.nodes import Text, walk
from octavo.core.document.page import split_page
from octavo.core.document.reader import may_be_cut, read
from octavo.core.document.text import sections
from octavo.core.document.writing import write

MOST = 400


@pytest.fixture
def small(monkeypatch):
    """Limit documents to 400 nodes and leaves."""
    for module in (blocks, reader):
        monkeypatch.setattr(module, "MAX_NODES", MOST)


def size_of(document):
    return sum(1 + (len(node.leaves) if type(node) is Text else 0) for node in walk(document))


@pytest.mark.parametrize("name", PAGES)
def test_no_text_creates_more_nodes_than_the_limit(name, small):
    body = split_page(PAGES[name](6000))[2]
    document = read(body)
    # The number of nodes is estimated before they are created, from the symbols that can create one.
    assert size_of(document) <= 1.5 * MOST
    assert write(document) == body
    if not may_be_cut(body):
        assert document.whole


def test_content_beyond_the_limit_is_kept_as_source(small):
    text = "".join(f"Paragraph {n}.\n\n" for n in range(1000))
    document = read(text)
    *those, rest = document.nodes
    assert not document.whole and len(those) > MOST / 4
    assert rest.type == "unknown" and rest.data["kind"] == "text"
    assert rest.data["source"].startswith(f"Paragraph {len(those)}.\n\n")
    assert rest.data["source"].endswith("Paragraph 999.")
    assert write(document) == text
    assert from_json(to_json(document)).nodes[-1].data == rest.data
    assert "Paragraph 999." in str(render(document))


def test_unclosed_conditions_apply_beyond_the_limit(small):
    """Content after a condition cut off by the limit belongs to it, like content after an unclosed condition."""
    secret = "".join(f"Secret {n}.\n\n" for n in range(1000))
    text = f"Open.\n\n{{% if visitor.claims.a %}}\n{secret}{{% endif %}}\n\nBehind.\n"
    assert write(read(text)) == text
    shown = [part.text for part in sections(close_conditions(read(text))) if not part.conditions]
    assert len(shown) == 1 and "Open." in shown[0]
    assert "Secret" not in shown[0] and "Behind" not in shown[0]


def test_unclosed_conditions_are_limited():
    document = close_conditions(read(repeated("{% if a %}\n\nb\n\n## c\n\n")(20_000)))
    places = [place for _, place in list_places(document)]
    assert 0 < len(places) <= reader.MAX_TAGS
    assert max(len(place.conditions) for place in places) <= reader.MAX_TAGS + 1


def test_the_largest_real_pages_are_far_below_the_limit():
    """A page of three hundred kilobytes as reference documentation has them: four thousand blocks."""
    part = "## `Name.Of(a, b)`\n\nDoes *this* with `a`, see [there](b.md).\n\n| a | b |\n| - | - |\n| `c` | d |\n\n"
    document = read(part * 2000)
    assert document.whole
    assert size_of(document) < nodes.MAX_NODES / 2


def test_a_paragraph_of_very_many_symbols_is_not_parsed_again(monkeypatch):
    monkeypatch.setattr(inline_writer, "parse_inline", None)
    text = {"object": "text", "leaves": [{"text": "*" * 100_002}]}
    nodes = [{"object": "block", "type": "paragraph", "nodes": [text]}]
    document = from_json({"object": "document", "data": {"schemaVersion": 1}, "nodes": nodes})
    assert write(document) == "\\*" * 100_002 + "\n"


def test_adjacent_text_nodes_are_joined():
    (paragraph,) = read("a\\*b\\_c **d\\*e** f\\#[g\\*h](x)i\\*").nodes
    assert [plain([node]) for node in paragraph.nodes] == ["a*b_c d*e f#", "g*h", "i*"]
