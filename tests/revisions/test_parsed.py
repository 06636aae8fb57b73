"""Parsed texts are cached: each text is parsed once, and every caller gets its own document."""

import pytest
from hypothesis import HealthCheck, given, settings

from changes.working import Space, update
from document_strategies import documents
from growing import PAGES
from octavo.content.revisions import bodies
from octavo.content.revisions.bodies import body_hash, parse_source
from octavo.core.document.keys import assign_keys
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.writing import write


def require_same_again(text):
    bodies._parsed.clear()
    wanted = read(split_page(text)[2])
    first = parse_source(body_hash(text), lambda: text)
    assert first == wanted
    assign_keys(first).nodes.clear()  # as callers are allowed to
    assert parse_source(body_hash(text), pytest.fail) == wanted


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(documents)
def test_cached_documents_equal_parsed_documents(document):
    require_same_again(write(document))


@pytest.mark.parametrize("name", PAGES)
def test_hostile_texts_are_cached_too(name):
    require_same_again(PAGES[name](300))


@pytest.mark.sqlite_first
def test_an_edit_of_front_matter_parses_nothing(world, monkeypatch):
    space = Space(world)
    change = space.create()
    space.write(change, "A", "# A\n\nOne [link](https://example.com), [another](b.md).\n")
    space.merge(change)
    parsed = []
    monkeypatch.setattr(bodies, "read", lambda text: parsed.append(text) or read(text))
    for fields in ({"description": "Said"}, {"title": "Other"}, {"icon": "star"}):
        change = space.create()
        space.edit(change, update(space.pages["A"], **fields))
        space.merge(change)
        space.page("A", format="document")
    assert parsed == []


@pytest.mark.sqlite_first
def test_an_edit_and_its_merge_parse_each_text_once(world, monkeypatch):
    space = Space(world)
    parsed = []
    bodies._parsed.clear()
    monkeypatch.setattr(bodies, "read", lambda text: parsed.append(text) or read(text))
    change = space.create()
    space.write(change, "A", "# A\n\nOne [link](https://example.com), [another](b.md).\n")
    space.merge(change)
    assert len(parsed) == len({*parsed}) == 2  # the existing text and the written one
