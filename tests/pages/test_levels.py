"""Parts of a space's tree match the entire tree, on every base."""

import json
from base64 import b64decode, urlsafe_b64encode

import pytest

from changes.working import Space
from tree_parts import check_parts, level


class Tree(Space):
    def get(self, place, /, **query):
        return self.world.get("reader", f"{self.path}/{place}", params=query)

    def insert(self, change, title, **fields):
        kind = fields.pop("operation", "insert_page")
        made = self.edit(change, {"operation": kind, "title": title, **fields})
        return made["changes"][0]["page"]["id"]

    def level(self, base, parent):
        return level(lambda part, /, **query: self.get(f"{base}/{part}", **query), parent)

    def check(self, base):
        return check_parts(lambda part, /, **query: self.get(f"{base}/{part}", **query))


@pytest.fixture
def tree(world):
    return Tree(world)


def test_levels_match_the_whole_tree(tree):
    group = tree.insert(None, "Group", operation="insert_group", into=None)
    for n in range(4):
        tree.insert(None, f"Below {n}", into=group, document={"markdown": ""})
    tree.insert(
        None, "Elsewhere", operation="insert_link", target={"kind": "url", "url": "https://example.com"}
    )
    tree.edit_main({"operation": "update_page", "page": tree.pages["C"], "hidden": True, "emoji": "1f4d8"})
    first = tree.check("content")
    revision = tree.world.get("reader", tree.path)["revision"]

    # A change request moves, deletes, and adds pages while main changes.
    change = tree.create()
    base = f"change-requests/{change}/content"
    tree.check(base)
    tree.edit(change, {"operation": "update_page", "page": tree.pages["C"], "into": None, "at": 0})
    below = tree.level("content", group)
    tree.edit(change, {"operation": "delete_page", "page": below[1]["id"]})
    tree.insert(change, "New", into=tree.pages["A"], at=0, document={"markdown": ""})
    tree.edit(change, {"operation": "update_page", "page": below[3]["id"], "into": group, "at": 0})
    tree.edit_main({"operation": "delete_page", "page": below[2]["id"]})
    tree.check(base)
    tree.check("content")
    assert [page["id"] for page in tree.check(f"revisions/{revision}")] == [page["id"] for page in first]
    found = tree.level(base, None)
    assert [page["title"] for page in found][:2] == ["C", "A"] and found[1]["hasPages"]
    assert not next(page for page in found if page["title"] == "B")["hasPages"]


@pytest.mark.sqlite_first
def test_a_path_without_a_page_resolves_to_the_first_page_with_text(tree):
    assert tree.get("content/way")["page"] == tree.pages["A"]
    for title in "AB":
        tree.edit_main({"operation": "delete_page", "page": tree.pages[title]})
    assert tree.get("content/way") == {
        "page": None,
        "levels": [{"parent": None, "at": 0, "count": 0, "items": []}],
    }
    tree.insert(
        None, "Elsewhere", operation="insert_link", target={"kind": "url", "url": "https://example.com"}
    )
    tree.insert(None, "Empty", operation="insert_group")
    group = tree.insert(None, "Group", operation="insert_group")
    last = tree.insert(None, "Last", document={"markdown": ""})
    assert tree.get("content/way")["page"] == last
    inner = tree.insert(None, "Inner", into=group, document={"markdown": ""})
    way = tree.get("content/way")
    assert way["page"] == inner and [level["count"] for level in way["levels"]] == [4, 1]


def test_several_paths_are_resolved_together(tree):
    asked = [tree.pages["C"], "nothing", tree.pages["A"]]
    found = tree.get("content/ways", pages=asked)["items"]
    assert [(one["page"], [page["path"] for page in one["way"]]) for one in found] == [
        (tree.pages["C"], ["b", "b/c"]),
        (tree.pages["A"], ["a"]),
    ]
    assert [page["hasPages"] for page in found[0]["way"]] == [True, False]
    change = tree.create()
    tree.edit(change, {"operation": "update_page", "page": tree.pages["C"], "title": "Sea", "into": None})
    below = f"change-requests/{change}/content/ways"
    assert [page["title"] for page in tree.get(below, pages=asked)["items"][0]["way"]] == ["Sea"]


@pytest.mark.parametrize("gone", ["deleted", "moved", "hidden"])
def test_a_listing_continues_after_its_last_page_is_gone(tree, gone):
    """Cursors contain no ranks, because gaps between ranks would reveal hidden siblings."""
    names = ["One", "Two", "Three", "Four", "Five"]
    above = tree.insert(None, "Above", document={"markdown": ""})
    pages = {name: tree.insert(None, name, into=above, document={"markdown": ""}) for name in names}
    first = tree.get("content/children", parent=above, limit=2)
    cursor = first["next"]["page"]
    assert json.loads(b64decode(f"{cursor}===", b"-_")) == [2, pages["Two"]]

    def rest():
        found = tree.get("content/children", parent=above, limit=2, page=cursor)
        last = tree.get("content/children", parent=above, limit=2, page=found["next"]["page"])
        past = tree.get("content/children", parent=above, limit=1, page=cursor, at=1)
        assert past["items"] == found["items"][1:]
        return [page["title"] for page in found["items"] + last["items"]]

    assert rest() == names[2:]
    tree.edit_main({"operation": "update_page", "page": pages["One"], "title": "First"})
    change = {"operation": "update_page", "page": pages["Two"], "into": None}
    if gone == "deleted":
        change = {"operation": "delete_page", "page": pages["Two"]}
    elif gone == "hidden":
        change = {
            "operation": "update_page",
            "page": pages["Two"],
            "visibleTo": [{"kind": "administrators"}],
        }
    tree.world.post("admin", f"{tree.path}/content", {"changes": [change]})
    assert rest() == names[2:]


@pytest.mark.parametrize("passed", [-(2**62), -1, 2**62])
def test_cursors_with_any_number_are_accepted(tree, passed):
    page = urlsafe_b64encode(json.dumps([passed, "nothing"]).encode()).decode()
    found = tree.get("content/children", page=page)
    assert found["count"] == 2 and len(found["items"]) == (0 if passed > 0 else 2)


def test_missing_levels_return_errors(tree):
    for query, status in (
        ({"parent": "nothing"}, 404),
        ({"at": -1}, 400),
        ({"at": 2**40}, 400),
        ({"page": "nothing"}, 400),
    ):
        answer = tree.world.call("reader", "GET", f"{tree.path}/content/children", params=query)
        assert answer.status_code == status, answer.text
    for query, status in (
        ({"to": "nothing"}, 404),
        ({"path": "no/thing"}, 404),
        ({"to": "a", "path": "a"}, 400),
    ):
        answer = tree.world.call("reader", "GET", f"{tree.path}/content/way", params=query)
        assert answer.status_code == status, answer.text
    for query in ({}, {"pages": ["a"] * 101}):
        assert tree.world.call("reader", "GET", f"{tree.path}/content/ways", params=query).status_code == 400
    past = tree.get("content/children", at=2)
    assert past == {"items": [], "count": 2}


def test_a_page_is_returned_without_its_subpages(tree):
    at = f"content/page/{tree.pages['B']}"
    whole = tree.get(at)
    assert [page["title"] for page in whole["pages"]] == ["C"]
    assert tree.get(at, pages="false") == {**whole, "pages": []}
    assert tree.get("content/path/b", pages="false") == {**whole, "pages": []}
    assert tree.get(at) == whole
