"""The page of blocks in the manual: it shows all blocks, and its examples produce the blocks shown."""

import re
from pathlib import Path

import pytest

from octavo.core.document.nodes import Block, Document, Inline, Text, walk
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.schema import BLOCKS, INLINES, MARKS
from octavo.core.document.writing import write

SOURCE = (Path(__file__).parents[3] / "docs" / "content" / "blocks.md").read_text()


@pytest.fixture(scope="module")
def page() -> Document:
    return read(split_page(SOURCE)[2])


def test_the_manual_shows_every_block_inline_and_mark(page):
    nodes = [node for block in page.nodes for node in walk(block)]
    blocks = {node.type for node in nodes if isinstance(node, Block)}
    inlines = {node.type for node in nodes if isinstance(node, Inline)}
    marks = {
        mark.type for node in nodes if isinstance(node, Text) for leaf in node.leaves for mark in leaf.marks
    }
    assert set(BLOCKS) <= blocks
    assert set(INLINES) <= inlines
    assert set(MARKS) <= marks


def test_the_manual_shows_every_type_of_column(page):
    kinds = {
        column["type"]
        for block in page.nodes
        for node in walk(block)
        if isinstance(node, Block) and node.type == "table"
        for column in node.data["definition"].values()
    }
    assert kinds >= {
        "text",
        "number",
        "checkbox",
        "files",
        "users",
        "rating",
        "select",
        "content-ref",
        "image",
    }


def test_markdown_examples_in_the_manual_produce_the_blocks_shown(page):
    """Every listing of Markdown is made of kinds of blocks that the page shows outside of listings."""
    shown = {node.type for block in page.nodes for node in walk(block) if isinstance(node, Block)}
    listings = re.findall(r"^(`{3,})(?:markdown|html)\n(.*?)^\1$", SOURCE, re.DOTALL | re.MULTILINE)
    assert len(listings) > 15
    for _, listing in listings:
        document = read(listing)
        assert write(document) == listing
        made = {node.type for block in document.nodes for node in walk(block) if isinstance(node, Block)}
        assert made <= shown
        assert "unknown" not in made, listing
