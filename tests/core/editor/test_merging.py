"""Merging external edits into a page that is edited live."""

from __future__ import annotations

from itertools import count

import pytest
from prosemirror.model import Node

from octavo.core.editor.merging import merge_edit
from octavo.core.editor.reading import read_document, read_top_block
from octavo.core.editor.schema import SCHEMA
from octavo.core.editor.steps import apply_steps, changed_places


def paragraph(key, text):
    leaf = {"object": "leaf", "text": text, "marks": []}
    nodes = [{"object": "text", "leaves": [leaf]}]
    return {"object": "block", "type": "paragraph", "isVoid": False, "key": key, "data": {}, "nodes": nodes}


def document(*blocks):
    return SCHEMA.nodes["doc"].create(None, [read_top_block(block, count(1)) for block in blocks])


def texts(doc):
    return [(node.attrs["key"], node.text_content) for node in doc.children]


@pytest.mark.parametrize(
    ("unsaved", "expected"),
    [((), [("c", "New.")]), (("a",), [("a", "As written."), ("c", "New.")])],
    ids=["saved", "unsaved"],
)
def test_a_saved_block_is_replaced_even_if_its_source_reads_back_in_another_form(unsaved, expected):
    live = document(paragraph("a", "As written."), paragraph("b", "Other."))
    old = [paragraph("a", "As it reads."), paragraph("b", "Other.")]
    steps = merge_edit(live, old, [paragraph("c", "New.")], count(1), unsaved)
    assert sorted(texts(apply_steps(live, steps).doc)) == expected


def test_a_block_that_both_sides_added_keeps_the_words_of_both():
    live = document(paragraph("a", "Here."))
    steps = merge_edit(live, [], [paragraph("a", "There.")], count(1), ("a",))
    assert texts(apply_steps(live, steps).doc) == [("a", "Here."), ("a-2", "There.")]


def test_a_deleted_block_does_not_return_because_its_heading_got_another_id():
    def heading(key, id):
        return {**paragraph(key, "Title"), "type": "heading-1", "meta": {"id": id}}

    new = [heading("b", "title"), heading("a", "title-1")]
    steps = merge_edit(document(paragraph("c", "Here.")), [heading("a", "title")], new, count(1), ())
    assert texts(apply_steps(document(paragraph("c", "Here.")), steps).doc) == [
        ("b", "Title"),
        ("c", "Here."),
    ]


def test_changed_places_contain_texts_marks_attributes_and_deletions():
    bold = {"stepType": "addMark", "mark": {"type": "bold"}, "from": 2, "to": 4}
    key = {"stepType": "attr", "pos": 12, "attr": "key", "value": "new"}
    typed = {
        "stepType": "replace",
        "from": 1,
        "to": 1,
        "slice": {"content": [{"type": "text", "text": "ab"}]},
    }
    deleted = {"stepType": "replace", "from": 20, "to": 25}
    assert changed_places([bold, key, typed, deleted]) == [(4, 6), (14, 15), (1, 3), (20, 20)]
    assert changed_places([{"stepType": "markSet", "steps": [bold]}]) == [(2, 4)]


def test_a_block_whose_content_cannot_be_saved_stays():
    live = read_document({"nodes": [paragraph("a", "Words.")]}, count(1))
    broken = Node.from_json(SCHEMA, live.to_json())
    broken.child(0).attrs["data"] = None
    assert merge_edit(broken, [paragraph("a", "Words.")], [], count(1), ("a",)) == []
