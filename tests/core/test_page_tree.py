"""The page tree: order, paths, hidden pages, and missing pages."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from octavo.core.page_tree import PageTree
from octavo.core.pages import Page

PAGES = [
    Page(id="home", slug="readme", title="Home", hidden=True),
    Page(id="group", slug="guides", title="Guides", kind="group"),
    Page(id="empty", parent="group", slug="empty", title="Empty", kind="group"),
    Page(id="secret", parent="group", slug="secret", title="Secret", hidden=True),
    Page(id="below", parent="secret", slug="below", title="Below"),
    Page(id="start", parent="group", slug="Start", title="Start"),
    Page(id="gone", slug="gone", title="Gone", condition="no"),
    Page(id="lost", parent="gone", slug="lost", title="Lost"),
    Page(id="away", slug="away", title="Away", kind="link"),
]


def tree() -> PageTree:
    every = PageTree(replace(page, rank=f"{n}1") for n, page in enumerate(PAGES))
    return every.without(every.conditional)


def test_pages_are_in_reading_order_with_their_paths() -> None:
    found = tree()
    assert [page.id for page in found] == ["home", "group", "empty", "secret", "below", "start", "away"]
    assert [page.id for page in found.documents()] == ["home", "secret", "below", "start"]
    below = found.page("below")
    assert below is not None
    assert found.path(below) == "guides/secret/below"
    assert [page.id for page in found.ancestors(below)] == ["group", "secret"]


def test_withheld_pages_and_their_subpages_are_absent() -> None:
    found = tree()
    assert found.page("gone") is None
    assert found.page("lost") is None
    assert found.find("gone/lost") is None


def test_page_paths_are_case_insensitive() -> None:
    found = tree()
    start, home = found.find("/GUIDES/start/"), found.find("")
    assert start is not None and start.id == "start"
    assert home is not None and home.id == "home"
    assert found.url_path(home) == ""
    assert found.url_path(start) == "guides/Start"
    # A link of the contents is no page of its own.
    assert found.find("away") is None


def test_all_pages_under_a_hidden_page_are_hidden() -> None:
    found = tree()
    assert {page.id for page in found if found.is_hidden(page)} == {"home", "secret", "below"}


def test_a_group_links_to_its_first_listed_document() -> None:
    found = tree()
    first = {page.id: found.first_document(page) for page in found}
    assert first["group"] is not None and first["group"].id == "start"
    assert first["empty"] is None
    assert first["secret"] is not None and first["secret"].id == "secret"


def test_previous_and_next_pages_are_listed_pages() -> None:
    found = tree()

    def beside(page_id: str) -> tuple[str | None, str | None]:
        page = found.page(page_id)
        assert page is not None
        before, behind = found.neighbors(page)
        return before.id if before else None, behind.id if behind else None

    assert beside("home") == (None, "start")
    assert beside("secret") == (None, "start")
    assert beside("below") == (None, "start")
    assert beside("start") == (None, None)


IDS = [f"p{n}" for n in range(7)]


def _page(page_id: str) -> st.SearchStrategy[Page]:
    return st.builds(
        Page,
        id=st.just(page_id),
        parent=st.none() | st.sampled_from(IDS),
        rank=st.sampled_from(["1", "2", "3"]),
        slug=st.sampled_from(["a", "A", "b"]),
        kind=st.sampled_from(["document", "group", "link"]),
        hidden=st.booleans(),
        condition=st.none() | st.just("no"),
        title=st.sampled_from(["x", "y"]),
        computed=st.none() | st.just({"type": "openapi"}),
    )


# Made once: to make a strategy takes longer than to draw from it.
_IDS = st.lists(st.sampled_from(IDS), unique=True)
_PAGE_OR_NONE = {page_id: st.none() | _page(page_id) for page_id in IDS}


@st.composite
def some_pages(draw: Callable[[st.SearchStrategy[object]], object]) -> dict[str, Page | None]:
    """Generate pages for some ids, anywhere: also under a missing page, under itself, or in a cycle."""
    ids: list[str] = draw(_IDS)  # type: ignore[assignment]
    return {page_id: draw(_PAGE_OR_NONE[page_id]) for page_id in ids}  # type: ignore[misc]


class Model:
    """A tree by its definition: everything is looked for among all pages."""

    def __init__(self, pages: dict[str, Page], withheld: frozenset[str]) -> None:
        self.order: list[tuple[Page, str, bool]] = []
        self._pages, self._withheld = pages, withheld
        self._walk(None, "", False)

    def _walk(self, parent: str | None, above: str, hidden: bool) -> None:
        below = [p for p in self._pages.values() if p.parent == parent and p.id not in self._withheld]
        for page in sorted(below, key=lambda page: (page.rank, page.id)):
            path = f"{above}/{page.slug}" if above else page.slug
            self.order.append((page, path, hidden or page.hidden))
            self._walk(page.id, path, hidden or page.hidden)


def agree(found: PageTree, model: Model) -> None:
    assert [page.id for page in found] == [page.id for page, _, _ in model.order]
    assert [found.page(id) for id in IDS] == [
        next((page for page, _, _ in model.order if page.id == id), None) for id in IDS
    ]
    listed = [page.id for page, _, hidden in model.order if page.kind == "document" and not hidden]
    documents = [page for page, _, _ in model.order if page.kind == "document"]
    assert [*found.documents()] == documents and found.home == (documents[0] if documents else None)
    assert [*found.computed()] == [page for page, _, _ in model.order if page.computed]
    places = [page.id for page, _, _ in model.order]
    for page, path, hidden in model.order:
        assert (found.path(page), found.is_hidden(page)) == (path, hidden)
        there = {p.id: p for p, other, _ in model.order if other.lower() == path.lower() and p.kind != "link"}
        at = found.find(path)
        assert (at.id if at else None) in (there or {None: None})
        before = [id for id in places[: places.index(page.id)] if id in listed]
        behind = [id for id in places[places.index(page.id) + 1 :] if id in listed]
        beside = [p.id if p else None for p in found.neighbors(page)]
        assert beside == [before[-1] if before else None, behind[0] if behind else None]


@given(some_pages(), st.lists(some_pages(), max_size=4))
def test_an_updated_tree_equals_a_tree_of_the_updated_pages(
    first: dict[str, Page | None], later: list[dict[str, Page | None]]
) -> None:
    pages = {id: page for id, page in first.items() if page is not None}
    found = PageTree(sorted(pages.values(), key=lambda page: (page.rank, page.id)))
    for changes in later:
        before = found
        agree(found, Model(pages, frozenset()))
        shown = [(page.id, page.title, page.slug, page.hidden, page.kind) for page in before]
        found = found.changed(changes)
        pages |= {id: page for id, page in changes.items() if page is not None}
        pages = {id: page for id, page in pages.items() if changes.get(id, page) is not None}
        if found.shape is before.shape:
            assert shown == [(page.id, page.title, page.slug, page.hidden, page.kind) for page in found]
    agree(found, Model(pages, frozenset()))
    assert found.conditional == {page.id for page in pages.values() if page.condition}
    agree(found.without(found.conditional), Model(pages, found.conditional))
