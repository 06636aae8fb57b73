import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from merge_cases import Case, Library, StateTree, variable
from octavo.content.revisions.item_versions import Item
from octavo.core.merge import (
    EditedValue,
    MergeConflict,
    Tree,
    Versions,
    changes_from,
    merge,
    resolve,
    resolve_field,
)
from octavo.core.page_fields import Cover, LayoutOptions
from octavo.core.pages import Page, rank_between

A = Page(id="a", rank="V", slug="a", title="A")
B = Page(id="b", rank="W", slug="b", title="B")
C = Page(id="c", parent="b", rank="V", slug="c", title="C")


def merge_pages(base, ours, theirs, *, texts=(), items=({}, {}, {}), tree=None):
    """Merge states given as lists of pages; texts are identified by their hash."""
    library = Library()
    for source in texts:
        library.put(source)
    states = [{page.id: page for page in pages} for pages in (base, ours, theirs)]
    touched = [{id: state.get(id) for known in states for id in known} for state in states]
    versions = [Versions(pages, dict(found)) for pages, found in zip(touched, items, strict=True)]
    return merge(*versions, read=library.texts.__getitem__, digest=library.digest, tree=tree)


def only(result):
    (conflict,) = result.conflicts
    return conflict


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**48))
def test_merging_keeps_its_promises(seed):
    Case(random.Random(seed)).check()


@pytest.mark.slow
def test_merging_keeps_its_promises_a_million_times():
    for seed in range(1_000_000):
        try:
            Case(random.Random(seed)).check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_different_fields_of_both_sides_are_merged():
    result = merge_pages([A], [replace(A, title="One")], [replace(A, icon="star", hidden=True)])
    assert result.pages["a"] == replace(A, title="One", icon="star", hidden=True)
    assert result.conflicts == []


def test_a_field_changed_by_both_sides_is_a_conflict_and_keeps_ours():
    result = merge_pages([A], [replace(A, title="One")], [replace(A, title="Two")])
    assert result.pages["a"].title == "One"
    conflict = only(result)
    assert (conflict.kind, conflict.field) == ("field", "title")
    assert (conflict.base, conflict.ours, conflict.theirs) == ("A", "One", "Two")
    assert resolve_field(result.pages["a"], conflict, "theirs").title == "Two"
    assert resolve_field(result.pages["a"], conflict, EditedValue("Both")).title == "Both"
    with pytest.raises(msgspec.ValidationError):
        resolve_field(result.pages["a"], conflict, EditedValue(7))


def test_tags_variables_and_layout_merge_by_element():
    base = replace(A, tags=("x", "y"), variables={"k": "1", "m": "1"}, layout=LayoutOptions(width="wide"))
    ours = replace(
        A, tags=("y", "new"), variables={"k": "2", "m": "1"}, layout=LayoutOptions(width="wide", cover=False)
    )
    theirs = replace(
        A, tags=("x", "y", {"tag": "z", "primary": True}), variables={"k": "1"}, layout=LayoutOptions()
    )
    page = merge_pages([base], [ours], [theirs]).pages["a"]
    assert page.tags == ("y", "new", {"tag": "z", "primary": True})
    assert page.variables == {"k": "2"}
    assert page.layout == LayoutOptions(cover=False)


def test_an_element_edited_and_removed_stays_with_a_conflict():
    base, ours, theirs = (
        replace(A, variables=found) for found in ({"k": "1", "m": "1"}, {"m": "2"}, {"k": "2", "m": "1"})
    )
    result = merge_pages([base], [ours], [theirs])
    assert result.pages["a"].variables == {"m": "2", "k": "2"}
    conflict = only(result)
    assert (conflict.field, conflict.kept, conflict.ours, conflict.theirs) == (
        "variables.k",
        "theirs",
        None,
        "2",
    )
    assert resolve_field(result.pages["a"], conflict, "ours").variables == {"m": "2"}


def test_conflicts_can_be_resolved_after_a_json_round_trip():
    sides = [
        replace(A, cover=Cover("x.png", y=y), layout=LayoutOptions(width=w))
        for y, w in ((0, "a"), (1, "b"), (2, "c"))
    ]
    result = merge_pages(*[[side] for side in sides])
    stored = msgspec.json.decode(msgspec.json.encode(result.conflicts), type=list[MergeConflict])
    assert stored == result.conflicts
    assert {conflict.field for conflict in stored} == {"cover.y", "layout.width"}
    page = result.pages["a"]
    for conflict in stored:
        page = resolve_field(page, conflict, "theirs")
    assert page == sides[2]


def test_an_edit_wins_over_a_deletion_with_a_conflict():
    result = merge_pages([A], [], [replace(A, title="New")])
    assert result.pages["a"].title == "New"
    conflict = only(result)
    assert (conflict.kind, conflict.kept, conflict.ours) == ("deleted", "theirs", None)
    assert resolve_field(result.pages["a"], conflict, "ours") is None
    assert resolve_field(result.pages["a"], conflict, "theirs") == result.pages["a"]
    assert resolve_field(result.pages["a"], conflict, "base") == A


def test_reordering_does_not_prevent_a_deletion():
    result = merge_pages([A], [], [replace(A, rank="X", updated_at=9)])
    assert result.pages == {"a": None} and result.conflicts == []


def test_a_deleted_parent_is_kept_for_an_added_child():
    new = Page(id="n", parent="c", rank="V", slug="n")
    result = merge_pages([B, C], [], [B, C, new])
    assert result.pages == {"b": B, "c": C, "n": new}
    assert result.conflicts == []
    assert {(note.kind, note.id) for note in result.notes} == {("parent", "b"), ("parent", "c")}


def test_a_page_moved_to_two_places_is_a_conflict():
    result = merge_pages([A, B, C], [A, B, replace(C, parent="a")], [A, B, replace(C, parent=None, rank="Z")])
    assert result.pages["c"].parent == "a"
    conflict = only(result)
    assert (conflict.field, conflict.theirs) == ("place", [None, "Z"])
    assert resolve_field(result.pages["c"], conflict, "theirs") == replace(C, parent=None, rank="Z")


def test_moves_that_create_a_cycle_are_merged_without_one():
    under_b, under_a = replace(A, parent="b"), replace(B, parent="a")
    result = merge_pages([A, B], [under_b, B], [A, under_a])
    assert result.pages == {"a": under_b, "b": B}
    assert [(note.kind, note.id, note.before) for note in result.notes] == [("cycle", "b", ["a", "W"])]


def test_cycles_through_untouched_pages_are_avoided():
    one, two = replace(A, id="m1", parent="a"), replace(A, id="m2", parent="b")
    ours = {page.id: page for page in (replace(A, parent="m2"), B, one, two)}
    result = merge_pages(
        [A, B], [replace(A, parent="m2"), B], [A, replace(B, parent="m1")], tree=StateTree(ours)
    )
    assert result.pages["b"] == B and result.notes[0].kind == "cycle"


def test_two_pages_with_one_slug_and_file_get_different_ones():
    mine = Page(id="x", rank="V", slug="new", file_path="new.md")
    yours = Page(id="y", rank="V", slug="new", file_path="new.md")
    result = merge_pages([], [mine], [yours])
    assert result.pages["x"] == mine
    assert result.pages["y"].slug == "new-1" and result.pages["y"].file_path == "new-1.md"
    assert result.pages["y"].rank > "V"
    assert rank_between(mine.rank, result.pages["y"].rank)
    assert {note.kind for note in result.notes} == {"slug", "path", "rank"}


def test_a_slug_of_an_untouched_page_is_not_reused():
    other = Page(id="o", parent="b", rank="A", slug="taken")
    pages = [A, B, replace(C, parent="a")]
    result = merge_pages(
        pages,
        [A, B, replace(C, parent="b")],
        [A, B, replace(C, parent="a", slug="taken")],
        tree=StateTree({page.id: page for page in [A, B, replace(C, parent="b"), other]}),
    )
    assert result.pages["c"].slug == "taken-1" and result.pages["c"].parent == "b"


def test_swapping_slugs_on_one_side_is_kept():
    swapped = [replace(A, slug="b"), replace(B, slug="a")]
    tree = StateTree({"a": A, "b": B})
    assert merge_pages([A, B], [A, B], swapped, tree=tree).pages == {page.id: page for page in swapped}


def test_bodies_are_merged_and_conflicts_contain_the_position():
    base = "# T\n\nOne.\n\nTwo.\n\nThree.\n"
    ours, theirs = (
        base.replace("One", "Eins").replace("Two", "Zwei"),
        base.replace("Three", "Drei").replace("Two", "Deux"),
    )
    library = Library()
    pages = [[replace(A, body=library.put(source))] for source in (base, ours, theirs)]
    result = merge_pages(*pages, texts=(base, ours, theirs))
    merged = result.bodies[result.pages["a"].body]
    assert merged == "# T\n\nEins.\n\nZwei.\n\nDrei.\n"
    conflict = only(result)
    assert (conflict.kind, conflict.field, conflict.index) == ("block", "body", 1)
    assert merged[conflict.at :].startswith("Zwei.")
    assert resolve(merged, conflict, "theirs").text == "# T\n\nEins.\n\nDeux.\n\nDrei.\n"
    assert resolve(merged, conflict, "base").text == "# T\n\nEins.\n\nTwo.\n\nDrei.\n"
    assert resolve(merged, conflict, EditedValue("Both.")).text == "# T\n\nEins.\n\nBoth.\n\nDrei.\n"


def test_a_body_removed_and_edited_keeps_the_text():
    library = Library()
    base, theirs = library.put("One.\n"), library.put("Two.\n")
    pages = [[replace(A, body=body)] for body in (base, None, theirs)]
    result = merge_pages(*pages, texts=("One.\n", "Two.\n"))
    assert result.pages["a"].body == theirs
    assert (only(result).ours, only(result).theirs) == (None, "Two.\n")


def test_cost_depends_on_the_size_of_the_change():
    space = {f"p{n}": Page(id=f"p{n}", rank=f"{n:05}V", slug=f"p{n}") for n in range(2_000)}
    tree = StateTree(space)
    mine, yours = replace(space["p1"], title="x"), replace(space["p2"], slug="y")
    result = merge(
        Versions({"p1": space["p1"], "p2": space["p2"]}),
        Versions({"p1": mine}),
        Versions({"p2": yours}),
        read=str,
        digest=str,
        tree=tree,
    )
    assert result.pages == {"p1": mine, "p2": yours}
    assert changes_from({"p1": mine, "p2": space["p2"]}, result.pages) == {"p2": yours}
    assert tree.asked <= 3


def test_items_are_merged_by_field_and_files_by_their_bytes():
    base = Item(id="f", kind="file", name="a.png", path="a.png", content="h1", size=1)
    ours, theirs = replace(base, name="b.png", content="h2", size=2), replace(base, content="h3", size=3)
    result = merge_pages([], [], [], items=({"f": base}, {"f": ours}, {"f": theirs}))
    assert result.items["f"] == ours
    assert only(result).field == "file" and only(result).theirs["content"] == "h3"
    settled = resolve_field(result.items["f"], only(result), "theirs")
    assert settled == replace(theirs, name="b.png")


def test_variables_with_one_name_become_one():
    mine, yours = variable("v2", "x", '"1"'), variable("v1", "x", '"2"')
    result = merge_pages([], [], [], items=({}, {"v2": mine}, {"v1": yours}))
    assert result.items == {"v1": variable("v1", "x", '"1"'), "v2": None}
    assert (only(result).id, only(result).field) == ("v1", "content")


def test_an_item_missing_in_all_states_stays_missing():
    nothing = {"f": None}
    assert merge_pages([A], [A], [A], items=({}, nothing, nothing)).items == nothing
    assert merge_pages([A], [A], [A], items=({}, nothing, {})).items == nothing


def test_files_at_one_path_are_both_kept():
    mine, yours = (Item(id=id, kind="file", name="a", path="i/a.png", content=id) for id in "mt")
    result = merge_pages([], [], [], items=({}, {"m": mine}, {"t": yours}))
    assert [result.items[id].path for id in "mt"] == ["i/a.png", "i/a-1.png"]


def test_reusable_contents_are_merged_as_texts():
    library = Library()
    texts = ["# A\n\nOne.\n\nTwo.\n", "# A\n\nEins.\n\nTwo.\n", "# A\n\nOne.\n\nZwei.\n"]
    base = Item(id="r", kind="reusable-content", name="r", content=library.put(texts[0]), size=17)
    sides = [replace(base, content=library.put(source), size=len(source)) for source in texts]
    result = merge_pages([], [], [], texts=texts, items=tuple({"r": side} for side in sides))
    merged = result.bodies[result.items["r"].content]
    assert merged == "# A\n\nEins.\n\nZwei.\n" and result.items["r"].size == len(merged)


def test_an_empty_tree_contains_no_pages():
    tree = Tree()
    assert (tree.page("x"), list(tree.children([None])), tree.path_taken("x")) == (None, [], False)
