import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octavo.core.summary import (
    Summary,
    SummaryEntry,
    infer_summary,
    read_summary,
    same_entries,
    update_summary,
    walk_entries,
    write_summary,
)


def outline(entries, depth=0):
    """Return one line for each entry: indentation, kind, title, target."""
    lines = []
    for entry in entries:
        target = entry.href or (entry.computed or {}).get("type") or entry.slug or ""
        anchor = f"#{entry.anchor}" if entry.anchor else ""
        lines.append("  " * depth + f"{entry.kind} {entry.title}|{target}{anchor}")
        lines += outline(entry.children, depth + 1)
    return lines


def codes(summary):
    return [(problem.line, problem.code) for problem in summary.problems]


def test_groups_pages_and_pinned_slugs_are_read():
    summary = read_summary(
        "# Contents\n\n* [Home](README.md)\n\n"
        '## Getting Started <a href="#start" id="start"></a>\n\n* [A](a.md "Short")\n  * [B](b/README.md)\n'
    )
    assert summary.title == "Contents"
    assert outline(summary.entries) == [
        "page Home|README.md",
        "group Getting Started|start",
        "  page A|a.md",
        "    page B|b/README.md",
    ]
    assert summary.entries[1].children[0].link_title == "Short"
    assert not summary.problems


@pytest.mark.parametrize("step", ["  ", "   ", "    ", "\t"])
@pytest.mark.parametrize("marker", ["*", "-", "+", "1."])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_six_levels_are_read_at_any_indentation(step, marker, end):
    text = end.join(f"{step * level}{marker} [P{level}](p{level}.md)" for level in range(6))
    summary = read_summary(text)
    assert outline(summary.entries) == [f"{'  ' * level}page P{level}|p{level}.md" for level in range(6)]
    assert not summary.problems


def test_mixed_and_slightly_wrong_indentation_is_read():
    summary = read_summary("* A\n  * B\n\t* C\n * D\n    * E\n  * F\n   * G\n* H")
    assert [line.replace("page ", "").rstrip("|") for line in outline(summary.entries)] == [
        "A",
        "  B",
        "    C",
        "D",
        "  E",
        "  F",
        "  G",
        "H",
    ]


def test_targets_are_read():
    summary = read_summary(
        "* [A \\[draft\\]](<my file (1).md>)\n* [B](my%20page.md#part%20one)\n* [C](/root/./x//../y.md)\n"
        "* [D](https://example.org/a_(b))\n* [E](https://app.gitbook.com/s/abc/path)\n* [F](spaced name.md)\n"
        "* [G](folder/)\n* [H](/)\n* [I [nested]](i.md 'T')\n* [mail](mailto:a@example.org)"
    )
    assert outline(summary.entries) == [
        "page A [draft]|my file (1).md",
        "page B|my page.md#part one",
        "page C|root/y.md",
        "link D|https://example.org/a_(b)",
        "link E|https://app.gitbook.com/s/abc/path",
        "page F|spaced name.md",
        "page G|folder/",
        "page H|/",
        "page I [nested]|i.md",
        "link mail|mailto:a@example.org",
    ]
    assert not summary.problems


def test_titles_are_plain_words():
    summary = read_summary(
        "* [**Bold** and _soft_ `code_x`](a.md)\n* [snake_case\\_ &amp; more](b.md)\n"
        "* \u200bText  only\ufeff \n## C#\n## D ##\n"
    )
    assert [entry.title for entry in summary.entries] == [
        "Bold and soft code_x",
        "snake_case_ & more",
        "Text only",
        "C#",
        "D",
    ]


def test_a_file_listed_twice_is_a_link_the_second_time():
    summary = read_summary(
        "* [A](a.md)\n  * [B](b.md)\n* [Again](./a.md)\n  * [C](c.md)\n* [Part](b.md#part)"
    )
    assert outline(summary.entries) == [
        "page A|a.md",
        "  page B|b.md",
        "link Again|a.md",
        "  page C|c.md",
        "link Part|b.md#part",
    ]
    assert codes(summary) == [(3, "listed_twice"), (5, "listed_twice")]


def test_computed_pages_are_read():
    summary = read_summary(
        "## API\n\n* [Overview](README.md)\n* ```yaml\n  # generated\n  type: builtin:openapi\n  props:\n"
        "    models: false\n    on: yes\n  ```\n* [Next](next.md)\n"
    )
    computed = summary.entries[0].children[1]
    assert computed.computed == {"type": "builtin:openapi", "props": {"models": False, "on": "yes"}}
    assert computed.line == 4
    assert outline(summary.entries)[-1] == "  page Next|next.md"
    assert not summary.problems


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("* [A(a.md)", [(1, "broken_link")]),
        ("* [A](a.md", [(1, "broken_link")]),
        ("* [A]()", [(1, "empty_target")]),
        ("* [A](#x)", [(1, "anchor_only")]),
        ("* [A](../../etc/passwd)", [(1, "bad_target")]),
        ("* [A](a\\b.md)", [(1, "bad_target")]),
        ("* [A](%2e%2e/b.md)", [(1, "bad_target")]),
        ("* [A](a%00.md)", [(1, "bad_target")]),
        ("*\n* [A](a.md)", [(1, "empty_item")]),
        ("hello\n", [(1, "unread_line")]),
        ("* [A](a.md) and more", [(1, "unread_text")]),
        ("### Deep\n", [(1, "heading_level")]),
        ("##\n", [(1, "empty_title")]),
        ("* ```yaml\n  type: x\n* [A](a.md)", [(1, "unclosed_block"), (2, "unread_line")]),
        ("* ```yaml\n  a: 1\n  b: [1\n  ```", [(4, "invalid_yaml")]),
        ("* ```yaml\n  - 1\n  ```", [(1, "invalid_computed")]),
        ("```\n* [A](a.md)\n```\n", [(1, "unread_block")]),
        ("<!-- a\n* [A](a.md)\n", [(1, "unclosed_comment")]),
        ("* [A](a.md)" + "x" * 3000, [(1, "long_line")]),
    ],
)
def test_unreadable_lines_are_reported_with_their_number(text, found):
    assert codes(read_summary(text)) == found


def test_front_matter_comments_dividers_and_setext_headings_are_read():
    summary = read_summary(
        "\ufeff---\ntitle: x\ntags:\n  - a\n---\nContents\n====\n<!-- * [No](no.md)\n-->\n* [A](a.md)\n\nPart\n---\n"
        "* [B](b.md)\n\n---\n* [C](c.md)\n"
    )
    assert summary.title == "Contents"
    assert outline(summary.entries) == ["page A|a.md", "group Part|", "  page B|b.md", "page C|c.md"]
    assert not summary.problems


def test_a_divider_at_the_start_is_not_front_matter():
    assert len(read_summary("---\n* [A](a.md)\n---\n* [B](b.md)\n").entries) == 2


def test_a_table_of_contents_has_a_canonical_form():
    text = (
        "# Table of contents\n\n* [Home](README.md)\n\n## Part\n\n"
        '* [A \\[x\\]](a.md "Short")\n  * Words\n    * [Site](https://example.org)\n'
        "* ```yaml\n  type: builtin:openapi\n  props:\n    models: false\n  ```\n\n***\n\n* [Z](<z z.md>)\n"
    )
    assert write_summary(read_summary(text)) == text
    assert write_summary(read_summary(text.replace("* ", "- ").replace("\n", "\r\n"))) == text


def test_an_unchanged_tree_keeps_the_text_byte_for_byte():
    text = "\ufeff# Contents\r\n- [A](./a.md)\r\n\t- [B](b%20b.md)\r\n\r\n"
    summary = read_summary(text)
    assert update_summary(text, summary.entries, entries_of) == text
    summary.entries[0].title = "New"
    changed = update_summary(text, summary.entries, entries_of)
    assert changed == "\ufeff# Contents\r\n- [New](a.md)\r\n\t- [B](b%20b.md)\r\n\r\n"


def entries_of(text):
    return read_summary(text).entries


LONG = """# Table of contents

- [Home](README.md)
<!-- kept -->

## First

-   [A](a%20a.md "short")
    - [B](b.md)

## First

1. Words
   * [C](c.md)
"""


def edited(change):
    entries = entries_of(LONG)
    change(entries)
    return update_summary(LONG, entries, entries_of)


def test_only_the_lines_of_changed_entries_are_rewritten():
    def rename(entries):
        entries[1].children[0].children[0].title = "B2"

    assert edited(rename) == LONG.replace("    - [B](b.md)", "    - [B2](b.md)")

    def remove(entries):
        del entries[1].children[0].children[0]

    assert edited(remove) == LONG.replace("    - [B](b.md)\n", "")

    def insert(entries):
        entries[2].children.append(SummaryEntry(kind="page", title="D", href="d.md"))
        entries[0].children.append(SummaryEntry(kind="page", title="E", href="e.md"))

    assert edited(insert) == LONG.replace("(README.md)\n", "(README.md)\n  - [E](e.md)\n") + "* [D](d.md)\n"

    def group(entries):
        entries.insert(
            1, SummaryEntry(kind="group", title="New", children=[SummaryEntry(kind="page", title="N")])
        )

    assert edited(group) == LONG.replace("(README.md)\n", "(README.md)\n\n## New\n\n- N\n")

    def swap(entries):
        entries[1], entries[2] = entries[2], entries[1]

    swapped = edited(swap)
    assert "<!-- kept -->" in swapped
    assert same_entries(entries_of(swapped), [entries_of(LONG)[n] for n in (0, 2, 1)])


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_edit_of_a_tree_matches_its_new_text(data):
    entries = entries_of(LONG)
    for number in range(data.draw(st.integers(1, 4))):
        lists = [entries, *(entry.children for entry in walk_entries(entries))]
        siblings = data.draw(st.sampled_from(lists))
        new = SummaryEntry(kind="page", title="N", href=f"n{number}.md")
        what = data.draw(st.sampled_from(["insert", "remove", "rename", "move"]))
        if what == "insert" or not siblings:
            siblings.insert(data.draw(st.integers(0, len(siblings))), new)
            continue
        at = data.draw(st.integers(0, len(siblings) - 1))
        if what == "rename":
            siblings[at].title += " x"
        else:
            gone = siblings.pop(at)
            if what == "move":
                entries.append(gone)
    changed = update_summary(LONG, entries, entries_of)
    assert same_entries(entries_of(changed), entries), changed


def test_navigation_is_inferred_from_files():
    summary = infer_summary(
        ["step-10.md", "step-2.md", "guide/two.md", "guide/README.md", "api/x/y.md", "README.md", "a.png"]
        + [".gitbook/includes/i.md", "SUMMARY.md", "guide/one.md"]
    )
    assert outline(summary.entries) == [
        "page README|README.md",
        "page Api|",
        "  page X|",
        "    page Y|api/x/y.md",
        "page Guide|guide/README.md",
        "  page One|guide/one.md",
        "  page Two|guide/two.md",
        "page Step 2|step-2.md",
        "page Step 10|step-10.md",
    ]
    assert summary.inferred


PIECES = st.sampled_from(
    [
        "* ",
        "- ",
        "+ ",
        "1. ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "# ",
        "## ",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "a.md",
        "b c.md",
    ]
    + [
        '"t"',
        "'",
        "```yaml",
        "```",
        "type: x",
        "---",
        "***",
        "_",
        "*",
        "**",
        "`",
        "\\",
        "&amp;",
        "&#10;",
        "&lt;",
    ]
    + [
        "%20",
        "%25",
        "#",
        "/",
        "../",
        "https://e.org/",
        "\u200b",
        "\ufeff",
        "\x00",
        "\u2028",
        "\xa0",
        "<!--",
        "-->",
    ]
    + ["[A](a.md)", "[B](https://b)", '<a href="#s" id="s"></a>', "~~", "~", "x", "Ü", "文", "1)", "\ud800"]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200))
@example("# [x](y)\n* \\# a\n* 1\\. b\n")
def test_any_text_is_read_and_its_canonical_form_is_a_fixpoint(text):
    summary = read_summary(text)
    written = write_summary(summary)
    again = read_summary(written)
    assert same_entries(again.entries, summary.entries), (written, outline(summary.entries))
    assert write_summary(again) == written
    assert update_summary(text, summary.entries, entries_of) == text
    assert all(0 <= problem.line <= text.count("\n") + text.count("\r") + 1 for problem in summary.problems)


WORDS = (
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u200b\u2060\ufeff"), min_size=1
    )
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)
NAMES = (
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="/\\"),
        min_size=1,
        max_size=8,
    )
    .map(str.strip)
    .filter(lambda name: name not in ("", ".", ".."))
)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(WORDS, NAMES | st.none(), st.integers(0, 3), WORDS | st.none()), max_size=8))
def test_any_tree_round_trips(rows):
    top, way, seen = [], [], set()
    for title, name, level, link_title in rows:
        if name is not None and f"d/{name}" in seen:
            name = None
        entry = SummaryEntry(
            kind="page", title=title, href=name and f"d/{name}", link_title=link_title if name else None
        )
        seen.add(entry.href)
        del way[level:]
        (way[-1].children if way else top).append(entry)
        way.append(entry)
    read = read_summary(write_summary(Summary(entries=top)))
    assert same_entries(read.entries, top), outline(read.entries)


@pytest.mark.parametrize(
    "text",
    [
        "<!--\n" * 50_000,
        "```a\n" * 50_000,
        "* ```a\n" * 50_000,
        "* [" * 30_000,
        '* [a](b "' * 150 + "\n",
        "* " + "*a" * 900,
    ]
    + ["".join(f"{'  ' * n}* x\n" for n in range(2000)), "# " + " " * 1900 + "x\n", "\n" * 300_000],
)
def test_hostile_text_is_read_in_time(text):
    start = time.process_time()
    write_summary(read_summary(text))
    assert time.process_time() - start < 3


def test_every_table_of_contents_of_the_corpora_round_trips(corpora: Path):
    found = 0
    for file in corpora.rglob("SUMMARY.md"):
        text = file.read_bytes().decode()
        summary = read_summary(text)
        listed = [
            entry.href for entry in walk_entries(summary.entries) if entry.kind == "page" and entry.href
        ]
        assert len(listed) == len(set(listed)) > 0
        assert {problem.code for problem in summary.problems} <= {"listed_twice", "heading_level"}, (
            summary.problems
        )
        assert update_summary(text, summary.entries, entries_of) == text
        assert same_entries(read_summary(write_summary(summary)).entries, summary.entries)
        found += 1
    assert found >= 11
