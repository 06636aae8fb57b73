import re
from copy import deepcopy
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from merge_cases import edit_text, lines_of, lost_lines, markdown, text
from nested_texts import Writer, words_of
from octavo.core.merge_text import merge_page_text, merge_text, resolve_text

BASE = "One.\n\nTwo.\n\nThree.\n\nFour.\n"
TABLE = "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n| 3 | z |\n"


def clean(base, ours, theirs):
    """Return the merged text, which must be the same from both sides and without conflicts."""
    result, back = merge_text(base, ours, theirs), merge_text(base, theirs, ours)
    assert result.conflicts == back.conflicts == []
    assert result.text == back.text
    return result.text


def edit(source, **words):
    for old, new in words.items():
        source = source.replace(old, new)
    return source


def test_edits_of_adjacent_paragraphs_are_merged():
    assert clean(BASE, edit(BASE, Two="Zwei"), edit(BASE, Three="Drei")) == edit(
        BASE, Two="Zwei", Three="Drei"
    )


def test_equal_edits_are_applied_once():
    ours = edit(BASE, Two="Zwei", Four="Vier")
    assert clean(BASE, ours, edit(BASE, Two="Zwei")) == ours


def test_equal_insertions_at_one_position_are_applied_once():
    ours, theirs = BASE.replace("Two.", "Two.\n\nNew."), BASE.replace("Two.", "Two.\n\nNew.\n\nMore.")
    assert clean(BASE, ours, theirs) == theirs


def test_different_insertions_at_one_position_are_both_kept_ours_first():
    merged = merge_text(BASE, BASE + "\nMine.\n", BASE + "\nYours.\n")
    assert merged.text == BASE + "\nMine.\n\nYours.\n" and merged.conflicts == []


def test_equal_blocks_at_two_positions_are_both_kept():
    ours, theirs = "***\n\n" + BASE, BASE + "\n***\n"
    assert clean(BASE, ours, theirs) == "***\n\n" + BASE + "\n***\n"


def test_a_moved_block_is_edited_at_its_new_position():
    ours = "Four.\n\nOne.\n\nTwo.\n\nThree.\n"
    assert clean(BASE, ours, edit(BASE, Two="Zwei", Four="Four")) == edit(ours, Two="Zwei")
    long = "One two three four five.\n\nB b b.\n\nC c c.\n"
    moved = "B b b.\n\nC c c.\n\nOne two three four five.\n"
    assert clean(long, moved, long.replace("four", "vier")) == moved.replace("four", "vier")


def test_a_deletion_is_merged_with_an_edit_elsewhere():
    assert clean(BASE, "One.\n\nThree.\n\nFour.\n", edit(BASE, Four="Vier")) == "One.\n\nThree.\n\nVier.\n"


def test_a_block_changed_by_both_sides_is_a_conflict():
    result = merge_text(BASE, edit(BASE, Two="Zwei"), edit(BASE, Two="Deux", One="Un"))
    assert result.text == edit(BASE, Two="Zwei", One="Un")
    (conflict,) = result.conflicts
    assert (conflict.base, conflict.ours, conflict.theirs) == ("Two.", "Zwei.", "Deux.")
    assert (conflict.index, conflict.kept, conflict.at) == (1, "ours", result.text.index("Zwei"))


@pytest.mark.parametrize("swap", [False, True])
def test_an_edited_block_is_kept_if_the_other_side_deletes_it(swap):
    sides = [BASE.replace("Two.\n\n", ""), edit(BASE, Two="Zwei")]
    result = merge_text(BASE, *(sides[::-1] if swap else sides))
    assert result.text == edit(BASE, Two="Zwei")
    (conflict,) = result.conflicts
    assert conflict.kept == ("ours" if swap else "theirs")
    deleted = conflict.theirs if swap else conflict.ours
    assert deleted is None
    assert resolve_text(result.text, conflict, deleted).text == sides[0]


def test_a_block_cut_to_a_few_of_its_words_is_an_edit():
    base = "> Kept.\n>\n> Nine other words of the quote are removed here.\n\nLast.\n"
    for sides in (("> Kept.\n", "New.\n\nLast.\n"), ("New.\n\nLast.\n", "> Kept.\n")):
        (conflict,) = merge_text(base, *sides).conflicts
        assert {conflict.ours, conflict.theirs} == {"> Kept.", None}


def test_equal_numbers_do_not_make_items_similar():
    ours = "1. New.\n2. More.\n\n   Kept.\n"
    assert clean("1. Kept.\n", ours, "1. Changed.\n") == ours.replace("Kept", "Changed")


def test_deleting_the_last_block_removes_the_gap_before_it():
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


def test_changing_the_padding_of_a_table_changes_no_row():
    padded = "| a   | b   |\n| --- | --- |\n| 1   | xxx |\n| 2   | y   |\n| 3   | z   |\n"
    result = merge_text(TABLE, padded, TABLE.replace("y", "yyy"))
    assert result.conflicts == []
    assert "| 1   | xxx |" in result.text and "| 2 | yyy |" in result.text


def test_html_tables_merge_by_row_and_cell():
    base = (
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>x</td></tr><tr>"
        "<td>2</td><td>y</td></tr></tbody></table>\n"
    )
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


@pytest.mark.parametrize(
    "base",
    [
        "> ONE\n>\n> TWO\n",
        ">ONE\n>\n>\n> kept\n>TWO\n",
        "> * ONE\n> * TWO\n",
        "> [!NOTE]\n> ONE\n>\n> > TWO\n",
        "* ONE\n\n  TWO\n",
        "1. kept\n2. ONE\n\n   TWO\n   * kept\n",
        "- > ONE\n  >\n  > TWO\n",
        "* ONE\n  * kept\n  * TWO\n\n    kept\n",
        "3. ONE\n  * kept\n  * TWO\n",
        '* ONE\n\n  {% hint style="info" %}\n  kept\n\n  TWO\n  {% endhint %}\n',
        "<table><tbody><tr><td><ul><li>ONE</li><li>TWO</li></ul></td><td>kept</td></tr></tbody></table>\n",
        "<table><tr><td><p>ONE</p><br><p>TWO</p></td></tr></table>\n",
        "<ul><li>ONE</li><li><b>TWO</b></li></ul>\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_in_one_container_are_merged(base, end):
    base = base.replace("\n", end)
    ours, theirs = base.replace("ONE", "first"), base.replace("TWO", "second")
    assert clean(base, ours, theirs) == ours.replace("TWO", "second")


def test_new_blocks_and_items_merge_into_a_split_block():
    assert clean("* a b\n", "* a B\n* c\n", "* a b\n\n  more\n") == "* a B\n\n  more\n* c\n"
    assert clean("> a\n", "> b\n", "> a\n>\n> more\n") == "> b\n>\n> more\n"
    merged = merge_text("> a\n\nb\n", "> a\n>\n> mine\n\nb\n", "> a\n>\n> yours\n\nb\n")
    assert merged.text == "> a\n>\n> mine\n>\n> yours\n\nb\n" and merged.conflicts == []


def test_renumbering_items_is_no_change():
    base = "1. a\n2. b\n\n   c\n3. d\n"
    ours, theirs = "1. new\n2. a\n3. b\n\n   c\n4. d\n", base.replace("   c", "   C")
    assert clean(base, ours, theirs) == ours.replace("   c", "   C")
    assert clean(base, "9. a\n10. b\n\n    c\n11. d\n", theirs) == "9. a\n10. b\n\n    C\n11. d\n"
    assert (
        clean(base, "1. new\n2. a\n3. b\n\n   c\n", "1. a\n2. b\n\n   c\n") == "1. new\n2. a\n3. b\n\n   c\n"
    )


@pytest.mark.parametrize(
    ("base", "block"),
    [
        ("> a\n>\n> b\n", "> {}"),
        ("* a\n\n  b\n  c\n", "  {}\n  c"),
        ("* a\n\n  > b\n", "  > {}"),
        ("* b\n\n  a\n", "* {}"),
        ("<ul><li>b</li><li>0</li></ul>\n", "<li>{}</li>"),
    ],
)
def test_a_conflict_in_a_container_belongs_to_the_inner_block(base, block):
    ours, theirs = base.replace("b", "x").replace("a", "z"), base.replace("b", "y")
    result = merge_text(base, ours, theirs)
    assert result.text == ours
    (conflict,) = result.conflicts
    sides = [block.format(word) for word in "bxy"]
    assert [conflict.base, conflict.ours, conflict.theirs] == sides
    assert resolve_text(result.text, conflict, conflict.theirs).text == ours.replace("x", "y")


def test_an_item_keeps_its_marker_without_its_first_block():
    base = "* a\n* b\n\n  c\n"
    result = merge_text(base, base.replace("b\n\n  c", "c"), base.replace("b", "x"))
    assert result.text == base.replace("b", "x")
    (conflict,) = result.conflicts
    assert (conflict.ours, conflict.theirs) == (None, "x")
    assert resolve_text(result.text, conflict, None).text == "* a\n*   c\n"


def test_edits_of_adjacent_lines_are_a_conflict_of_the_block():
    base = "```\na\nb\n```\n"
    (conflict,) = merge_text(base, base.replace("a", "x"), base.replace("b", "y")).conflicts
    assert conflict.base == base.rstrip("\n")


def test_untouched_bytes_are_kept():
    base = "Setext\n===\n\n\n\n- odd   \n-  list\n\nLast one\r\nline"
    assert clean(base, "New.\n\n" + base, base + " more") == "New.\n\n" + base + " more"


def test_texts_with_crlf_keep_crlf():
    base = BASE.replace("\n", "\r\n")
    merged = merge_text(base, base.replace("One.", "Un."), base + "\r\nFive.\r\n").text
    assert merged == base.replace("One.", "Un.") + "\r\nFive.\r\n"


def test_front_matter_is_merged_by_key():
    base = "---\ndescription: d\nicon: i\ncustom: 1\n---\n\n# T\n\nBody.\n"
    ours = base.replace("icon: i", "icon: j").replace("custom: 1", "custom: 2")
    theirs = base.replace("description: d", "description: >-\n  long\n  text").replace("# T", "# U")
    merged = merge_page_text(base, ours, theirs)
    assert merged.conflicts == []
    assert merged.text == "---\ndescription: >-\n  long\n  text\nicon: j\ncustom: 2\n---\n\n# U\n\nBody.\n"


def test_unknown_keys_changed_by_both_sides_are_kept_in_a_conflict():
    base = "---\ntitle: t\ncustom: 1\n---\nBody.\n"
    merged = merge_page_text(
        base, base.replace("1", "2").replace(" t", " u"), base.replace("1", "3").replace(" t", " v")
    )
    (conflict,) = merged.conflicts
    assert (conflict.key, conflict.ours, conflict.theirs) == ("custom", "custom: 2\n", "custom: 3\n")
    assert merged.text.startswith(conflict.ours, conflict.at)


def test_the_title_of_an_include_is_merged_as_text():
    (conflict,) = merge_page_text("# A\n", "# B\n", "# C\n", fields=False).conflicts
    assert (conflict.ours, conflict.theirs) == ("# B\n", "# C\n")


def test_a_conflict_whose_position_no_longer_exists_is_reported():
    result = merge_text(BASE, edit(BASE, Two="Zwei"), edit(BASE, Two="Deux"))
    done = resolve_text("Quite another text.", result.conflicts[0], "Deux.")
    assert (done.applied, done.text) == (False, "Quite another text.")


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**48))
def test_no_line_is_lost_and_conflicts_can_be_resolved_in_any_order(seed):
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


def written(page, end):
    return page.render().replace("\n", end)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**48), st.sampled_from(["\n", "\r\n"]))
def test_edits_of_different_blocks_never_conflict(seed, end):
    random = Random(seed)
    writer = Writer(random)
    page = writer.page()
    words = sorted(words_of(page))
    random.shuffle(words)
    ours, theirs = deepcopy(page), deepcopy(page)
    new = writer.rewrite(set(words[::2]), ours) | writer.rewrite(set(words[1::2]), theirs)
    wanted = re.sub("|".join(words), lambda word: new[word[0]], written(page, end))
    assert clean(written(page, end), written(ours, end), written(theirs, end)) == wanted


def examples(*seeds):
    """Return a decorator that adds these seeds, with both line endings, to the cases of a property."""

    def add(test):
        for seed in seeds:
            for end in ("\n", "\r\n"):
                test = example(seed, end)(test)
        return test

    return add


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**48), st.sampled_from(["\n", "\r\n"]))
@examples(174, 3449, 4008, 6767, 16477, 16733, 16963, 19239, 19436, 1014104)
def test_no_word_in_a_container_is_lost_or_duplicated(seed, end):
    random = Random(seed)
    writer = Writer(random)
    page = writer.page()
    ours, theirs = deepcopy(page), deepcopy(page)
    for side in (ours, theirs):
        for _ in range(random.randint(1, 3)):
            writer.edit(side)
    result = merge_text(written(page, end), written(ours, end), written(theirs, end))
    there = re.findall(r"word\d+x", result.text)
    disputed = ""
    for conflict in result.conflicts:
        kept = conflict.ours if conflict.kept == "ours" else conflict.theirs
        assert kept and result.text.startswith(kept, conflict.at)
        disputed += f"{conflict.ours} {conflict.theirs} "
    before, mine, yours = words_of(page), words_of(ours), words_of(theirs)
    lost = ((mine | yours) - before | (mine & yours)) - set(there)
    doubled = {word for word in there if there.count(word) > 1}
    gone = (before - mine | before - yours) & set(there)
    assert all(word in disputed for word in lost | doubled | gone)
