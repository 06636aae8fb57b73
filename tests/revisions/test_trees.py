"""The tree of a space as JSON: its content, and that it is held in memory only once."""

import tracemalloc

import msgspec
import pytest

from octavo.content.pages.wire import RevisionPage, encode_tree
from octavo.core.pages import Page

APP = "https://octavo.test/s/1"


def page(id, parent=None, **fields):
    return Page(
        id=id, parent=parent, rank=id, slug=id, title=f"Title {id}", created_at=1, updated_at=1, **fields
    )


def tree(pages, root=None, path=""):
    text = encode_tree(APP, pages, root, path, lambda page, written: {"kind": "url", "url": written})
    return msgspec.json.decode(text, type=list[RevisionPage])


def shape(pages):
    return [(p.id, getattr(p, "path", None), shape(getattr(p, "pages", []))) for p in pages]


def test_pages_are_nested_and_ordered():
    link = {"kind": "url", "url": "https://example.org"}
    pages = [
        page("a"),
        page("b", kind="group"),
        page("c", kind="link", target=link),
        page("d"),
        page("e", "b"),
        page("f", "b"),
        page("g", "c"),
        page("h", "e", description="a\x00b [\x00]"),
        page("i", "gone"),
    ]
    found = tree(pages)
    assert shape(found) == [
        ("a", "a", []),
        ("b", "b", [("e", "b/e", [("h", "b/e/h", [])]), ("f", "b/f", [])]),
        ("c", None, []),
        ("d", "d", []),
    ]
    assert found[1].pages[0].pages[0].description == "a\x00b [\x00]"
    assert shape(tree(pages, "b", "over/b")) == [
        ("e", "over/b/e", [("h", "over/b/e/h", [])]),
        ("f", "over/b/f", []),
    ]
    assert tree(pages, "a", "a") == tree([]) == []


def test_deep_chains_of_pages_need_no_recursion():
    pages = [page("p0"), *(page(f"p{n}", f"p{n - 1}") for n in range(1, 300))]
    text = encode_tree(APP, pages, None, "", lambda page, written: {})
    assert text.count(b'"id"') == 300
    assert shape(tree(pages[:100]))[0][0] == "p0"


@pytest.mark.parametrize("wide", [True, False])
def test_texts_are_in_memory_once(wide):
    pages = [page(f"{n:05}", None if wide or n % 20 == 0 else f"{n // 20 * 20:05}") for n in range(3000)]
    tracemalloc.start()
    try:
        text = encode_tree(APP, pages, None, "", lambda page, written: {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * len(text)
