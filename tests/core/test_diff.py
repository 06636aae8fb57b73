import time
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from merge_cases import Case, edit_text, text, variable
from octavo.content.revisions.item_versions import Item
from octavo.core.diff import FieldChange, diff_text, diff_words, semantic_changes
from octavo.core.pages import Page
from octavo.core.pieces import split

A = Page(id="a", rank="V", slug="a", title="A")


def test_differences_list_created_edited_moved_and_deleted_pages():
    before = {"a": A, "b": replace(A, id="b"), "c": replace(A, id="c"), "same": A}
    after = {
        "a": replace(A, title="New", parent="p", updated_at=5),
        "b": None,
        "d": replace(A, id="d"),
        "same": A,
    }
    changes = semantic_changes(before, after)
    assert [(change.kind, change.id) for change in changes] == [
        ("created", "d"),
        ("edited", "a"),
        ("moved", "a"),
        ("deleted", "b"),
        ("deleted", "c"),
    ]
    assert changes[1].fields == {"title": FieldChange("A", "New")}
    assert changes[2].fields == {"parent": FieldChange(None, "p")}


def test_a_new_timestamp_is_no_change():
    assert semantic_changes({"a": A}, {"a": replace(A, updated_at=7)}) == []


def test_items_follow_pages_sorted_by_kind():
    file = Item(id="f", kind="file", name="a.png", content="h1", size=1)
    changes = semantic_changes(
        {},
        {"a": A},
        {"v": variable("v", "x", "1"), "f": file},
        {"v": variable("v", "x", "2"), "f": replace(file, size=2)},
    )
    assert [(change.target, change.kind) for change in changes] == [
        ("page", "created"),
        ("file", "edited"),
        ("variable", "edited"),
    ]
    assert changes[2].fields == {"content": FieldChange("1", "2")}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**48))
def test_applying_changes_turns_one_state_into_the_other(seed):
    case = Case(Random(seed))
    state = dict(case.base)
    for change in semantic_changes(case.base, case.ours):
        if change.kind == "created":
            state[change.id] = change.after
        elif change.kind == "deleted":
            del state[change.id]
        else:
            state[change.id] = replace(
                state[change.id], **{name: found.after for name, found in change.fields.items()}
            )
    assert state == case.ours


def test_blocks_and_words_are_compared():
    old = "# T\n\nOne two three.\n\nGone away now.\n\nStays.\n\nStays too.\n\nWanders.\n"
    new = "# T\n\nWanders.\n\nOne new three.\n\nStays.\n\nStays too.\n\nAdded.\n"
    changes = diff_text(old, new)
    assert [(change.kind, change.before, change.after) for change in changes] == [
        ("moved", "Wanders.", "Wanders."),
        ("changed", "One two three.", "One new three."),
        ("removed", "Gone away now.", None),
        ("added", None, "Added."),
    ]
    words = [(word.kind, word.text) for word in changes[1].words]
    assert words == [("same", "One "), ("removed", "two"), ("added", "new"), ("same", " three.")]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**48))
def test_a_text_diff_accounts_for_every_block(seed):
    random = Random(seed)
    old = text(random)
    new = edit_text(random, old)
    changes = diff_text(old, new)
    gone = {change.old_index for change in changes if change.kind != "added"}
    came = {change.new_index: change.after for change in changes if change.kind != "removed"}
    stay = [piece for index, piece in enumerate(split(old).pieces) if index not in gone]
    rebuilt = [came[index] if index in came else stay.pop(0) for index in range(len(split(new).pieces))]
    assert rebuilt == split(new).pieces and not stay


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=30))
def test_changed_words_rebuild_both_texts(old, new):
    words = diff_words(old, new)
    assert "".join(word.text for word in words if word.kind != "added") == old
    assert "".join(word.text for word in words if word.kind != "removed") == new
    assert all(a.kind != b.kind for a, b in zip(words, words[1:], strict=False))


def test_huge_blocks_are_compared_in_time():
    random = Random(1)
    old = " ".join(random.choices("abcdefgh", k=200_000))
    begin = time.process_time()
    diff_text(old, old.replace("a b", "x"))
    diff_text("same\n\n" * 20_000, "other\n\nsame\n\n" * 10_000)
    assert time.process_time() - begin < 10
