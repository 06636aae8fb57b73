"""Pages as somebody meets them: order, paths, what is hidden and what is not there."""

from __future__ import annotations

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
    return PageTree(PAGES, lambda page: page.condition is None)


def test_pages_are_in_reading_order_with_their_paths() -> None:
    found = tree()
    assert [page.id for page in found] == ["home", "group", "empty", "secret", "below", "start", "away"]
    assert [page.id for page in found.order] == ["home", "secret", "below", "start"]
    assert found.paths["below"] == "guides/secret/below"
    below = found.page("below")
    assert below is not None
    assert [page.id for page in found.ancestors(below)] == ["group", "secret"]


def test_what_is_withheld_is_not_there_nor_what_is_below_it() -> None:
    found = tree()
    assert found.page("gone") is None
    assert found.page("lost") is None
    assert found.find("gone/lost") is None


def test_pages_are_found_by_path_whatever_its_case() -> None:
    found = tree()
    start, home = found.find("/GUIDES/start/"), found.find("")
    assert start is not None and start.id == "start"
    assert home is not None and home.id == "home"
    assert found.url_path(home) == ""
    assert found.url_path(start) == "guides/Start"
    # A link of the contents is no page of its own.
    assert found.find("away") is None


def test_below_a_hidden_page_everything_is_hidden() -> None:
    found = tree()
    assert {page.id for page in found if found.is_hidden(page)} == {"home", "secret", "below"}


def test_a_group_leads_to_its_first_document_that_is_listed() -> None:
    found = tree()
    first = {page.id: found.first_document(page) for page in found}
    assert first["group"] is not None and first["group"].id == "start"
    assert first["empty"] is None
    assert first["secret"] is not None and first["secret"].id == "secret"
