from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_cases import edit_text, lines_of, lost_lines, markdown, text
from octavo.core.merge_text import merge_page_text, merge_text, resolve_text

BASE = "One.\n\nTwo.\n\nThree.\n\nFour.\n"
TABLE = "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n| 3 | z |\n"


def clean(base, ours, theirs):
    """The merged text, the same from both sides and without conflicts."""
    result, back = merge_text(base, ours, theirs), merge_text(base, theirs, ours)
    assert result.conflicts == back.conflicts == []
    assert result.text == back.text
    return result.text


def edit(source, **words):
    for old, new in words.items():
        source = source.replace(old, new)
    return source


def test_edits_of_neighbouring_paragraphs_join():
    assert clean(BASE, edit(BASE, Two="Zwei"), edit(BASE, Three="Drei")) == edit(
        BASE, Two="Zwei", Three="Drei"
    )


def test_equal_edits_are_one():
    ours = edit(BASE, Two="Zwei", Four="Vier")
    assert clean(BASE, ours, edit(BASE, Two="Zwei")) == ours


def test_equal_insertions_at_one_place_are_one():
    ours, theirs = BASE.replace("Two.", "Two.\n\nNew."), BASE.replace("Two.", "Two.\n\nNew.\n\nMore.")
    assert clean(BASE, ours, theirs) == theirs


def test_different_insertions_at_one_place_are_both_there_ours_first():
    merged = merge_text(BASE, BASE + "\nMine.\n", BASE + "\nYours.\n")
    assert merged.text == BASE + "\nMine.\n\nYours.\n" and merged.conflicts == []


def test_equal_blocks_at_two_places_are_two():
    ours, theirs = "***\n\n" + BASE, BASE + "\n***\n"
    assert clean(BASE, ours, theirs) == "***\n\n" + BASE + "\n***\n"


def test_a_moved_block_is_edited_where_it_went():
    ours = "Four.\n\nOne.\n\nTwo.\n\nThree.\n"
    assert clean(BASE, ours, edit(BASE, Two="Zwei", Four="Four")) == edit(ours, Two="Zwei")
    long = "One two three four five.\n\nB b b.\n\nC c c.\n"
    moved = "B b b.\n\nC c c.\n\nOne two three four five.\n"
    assert clean(long, moved, long.replace("four", "vier")) == moved.replace("four", "vier")


def test_a_deletion_joins_an_edit_elsewhere():
    assert clean(BASE, "One.\n\nThree.\n\nFour.\n", edit(BASE, Four="Vier")) == "One.\n\nThree.\n\nVier.\n"


def test_one_block_changed_twice_is_a_conflict():
    result = merge_text(BASE, edit(BASE, Two="Zwei"), edit(BASE, Two="Deux", One="Un"))
    assert result.text == edit(BASE, Two="Zwei", One="Un")
    (conflict,) = result.conflicts
    assert (conflict.base, conflict.ours, conflict.theirs) == ("Two.", "Zwei.", "Deux.")
    assert (conflict.index, conflict.kept, conflict.at) == (1, "ours", result.text.index("Zwei"))


@pytest.mark.parametrize("swap", [False, True])
def test_an_edited_block_stays_when_the_other_side_deletes_it(swap):
    sides = [BASE.replace("Two.\n\n", ""), edit(BASE, Two="Zwei")]
    result = merge_text(BASE, *(sides[::-1] if swap else sides))
    assert result.text == edit(BASE, Two="Zwei")
    (conflict,) = result.conflicts
    assert conflict.kept == ("ours" if swap else "theirs")
    deleted = conflict.theirs if swap else conflict.ours
    assert deleted is None
    assert resolve_text(result.text, conflict, deleted).text == sides[0]


def test_the_last_block_goes_with_the_gap_before_it():
    result = merge_text("A.\n\nB.\n", "A.\n", "A.\n\nC.\n")
    assert result.text == "A.\n\nC.\n"
    assert resolve_text(result.text, result.conflicts[0], None).text == "A.\n"


def test_tables_merge_by_row_and_by_cell():
    ours, theirs = (
        TABLE.replace("x", "xx") + "| 4 | w |\n",
        TABLE.replace("| 2 | y |\n", "").replace("z", "zz"),
    )
    assert clean(TABLE, ours, theirs) == "| a | b |\n| --- | --- |\n| 1 | xx |\n| 3 | zz |\n| 4 | w |\n"
    assert clean(TABLE, TABLE.replace("| 2 |", "| 9 |"), TABLE.replace("y", "yy")) == TABLE.replace(
        "| 2 | y", "| 9 | yy"
    )


def test_padding_a_table_anew_is_no_change_of_its_rows():
    padded = "| a   | b   |\n| --- | --- |\n| 1   | xxx |\n| 2   | y   |\n| 3   | z   |\n"
    result = merge_text(TABLE, padded, TABLE.replace("y", "yyy"))
    assert result.conflicts == []
    assert "| 1   | xxx |" in result.text and "| 2 | yyy |" in result.text


def test_html_tables_merge_by_row_and_cell():
    base = "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>x</td></tr><tr><td>2</td><td>y</td></tr></tbody></table>\n"
    assert clean(base, base.replace("1", "9"), base.replace("x", "z")) == base.replace("1", "9").replace(
        "x", "z"
    )
    assert clean(base, base.replace("x", "w"), base.replace("<tr><td>2</td><td>y</td></tr>", "")) == (
        base.replace("x", "w").replace("<tr><td>2</td><td>y</td></tr>", "")
    )


def test_lists_merge_by_item_at_every_depth():
    base = "* one\n* two\n  * inner a\n  * inner b\n* three\n"
    ours = base.replace("inner a", "inner A").replace("one", "eins")
    theirs = base.replace("inner b", "inner B").replace("* three", "* three\n* four")
    assert clean(base, ours, theirs) == "* eins\n* two\n  * inner A\n  * inner B\n* three\n* four\n"


def test_blocks_inside_tags_merge():
    base = '{% tabs %}\n{% tab title="A" %}\nOne.\n\nTwo.\n{% endtab %}\n{% endtabs %}\n'
    ours, theirs = base.replace("One", "Eins"), base.replace("Two", "Zwei").replace('"A"', '"B"')
    assert clean(base, ours, theirs) == ours.replace("Two", "Zwei").replace('"A"', '"B"')


@pytest.mark.parametrize(
    "base",
    [
        "```js\nONE\n\nkept\nTWO\n```\n",
        "ONE of a paragraph\nkept, and\nTWO at its end\n",
        "- ONE\n  kept\n\n  - TWO\n",
        "<div>\n<p>ONE</p>\n<p>kept</p>\n<p>TWO</p>\n</div>\n",
        "> ONE\n> kept\n> TWO\n",
        "<ul>\n<li>\n\nONE\n\nkept\n\n</li>\n<li>TWO</li>\n</ul>\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_merge_line_by_line(base, end):
    base = base.replace("\n", end)
    ours, theirs = base.replace("ONE", "first"), base.replace("TWO", f"second{end}  more")
    assert clean(base, ours, theirs) == ours.replace("TWO", f"second{end}  more")
    assert clean(base, theirs, ours) == clean(base, ours, theirs)


def test_lines_beside_each_other_are_a_conflict_of_the_block():
    base = "```\na\nb\n```\n"
    (conflict,) = merge_text(base, base.replace("a", "x"), base.replace("b", "y")).conflicts
    assert conflict.base == base.rstrip("\n")


def test_untouched_bytes_stay():
    base = "Setext\n===\n\n\n\n- odd   \n-  list\n\nLast one\r\nline"
    assert clean(base, "New.\n\n" + base, base + " more") == "New.\n\n" + base + " more"


def test_crlf_texts_get_crlf():
    base = BASE.replace("\n", "\r\n")
    merged = merge_text(base, base.replace("One.", "Un."), base + "\r\nFive.\r\n").text
    assert merged == base.replace("One.", "Un.") + "\r\nFive.\r\n"


def test_heads_merge_by_key():
    base = "---\ndescription: d\nicon: i\ncustom: 1\n---\n\n# T\n\nBody.\n"
    ours = base.replace("icon: i", "icon: j").replace("custom: 1", "custom: 2")
    theirs = base.replace("description: d", "description: >-\n  long\n  text").replace("# T", "# U")
    merged = merge_page_text(base, ours, theirs)
    assert merged.conflicts == []
    assert merged.text == "---\ndescription: >-\n  long\n  text\nicon: j\ncustom: 2\n---\n\n# U\n\nBody.\n"


def test_unknown_keys_changed_twice_are_kept_in_a_conflict():
    base = "---\ntitle: t\ncustom: 1\n---\nBody.\n"
    merged = merge_page_text(
        base, base.replace("1", "2").replace(" t", " u"), base.replace("1", "3").replace(" t", " v")
    )
    (conflict,) = merged.conflicts
    assert (conflict.key, conflict.ours, conflict.theirs) == ("custom", "custom: 2\n", "custom: 3\n")
    assert merged.text.startswith(conflict.ours, conflict.at)


def test_the_title_of_an_include_is_text():
    (conflict,) = merge_page_text("# A\n", "# B\n", "# C\n", fields=False).conflicts
    assert (conflict.ours, conflict.theirs) == ("# B\n", "# C\n")


def test_a_place_that_was_edited_away_is_said_to_be_gone():
    result = merge_text(BASE, edit(BASE, Two="Zwei"), edit(BASE, Two="Deux"))
    done = resolve_text("Quite another text.", result.conflicts[0], "Deux.")
    assert (done.applied, done.text) == (False, "Quite another text.")


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**48))
def test_no_line_is_lost_and_conflicts_can_be_settled_in_any_order(seed):
    random = Random(seed)
    base = text(random)
    ours, theirs = edit_text(random, base), edit_text(random, base)
    result = merge_text(base, ours, theirs)
    for conflict in result.conflicts:
        kept = conflict.ours if conflict.kept == "ours" else conflict.theirs
        assert kept and result.text.startswith(kept, conflict.at)
    settled = []
    for turn in (1, -1):
        source, waiting = result.text, list(result.conflicts)
        while waiting:
            conflict = waiting.pop(0 if turn == 1 else -1)
            done = resolve_text(
                source, conflict, "\n".join(filter(None, (conflict.ours, conflict.theirs))), waiting
            )
            assert done.applied
            source, waiting = done.text, done.others
        settled.append(source)
    assert settled[0] == settled[1]
    for side in (ours, theirs):
        assert not lost_lines(base, side, lines_of(settled[0]))


@settings(max_examples=400, deadline=None)
@given(markdown, markdown, markdown)
def test_any_texts_merge_without_loss(base, ours, theirs):
    result = merge_text(base, ours, theirs)
    held = lines_of(result.text)
    for conflict in result.conflicts:
        held |= lines_of("\n".join(filter(None, (conflict.base, conflict.ours, conflict.theirs))))
    assert not lost_lines(base, ours, held) and not lost_lines(base, theirs, held)
    assert merge_text(base, base, theirs).text == theirs
    assert merge_text(base, ours, base).text == ours
    assert merge_text(base, theirs, theirs).text == theirs
