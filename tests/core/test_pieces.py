import time
from bisect import bisect_right

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_cases import markdown
from octavo.core.alignment import align
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.pieces import cells, inner, match, split, unwrap


def joined(cut):
    between = "".join(gap + piece for gap, piece in zip(cut.gaps, cut.pieces, strict=False))
    return cut.open + between + cut.gaps[-1] + cut.close


def cut_blocks(source):
    """Return the blocks of the document that a piece ends inside of."""
    at, edges = 0, []
    found = split(source)
    for gap, piece in zip(found.gaps, found.pieces, strict=False):
        edges += (at + len(gap), at + len(gap) + len(piece))
        at = edges[-1]
    document, at, bad = read(source), 0, []
    for gap, block in zip(document.gaps, document.nodes, strict=False):
        start = at + len(gap)
        at = start + len(block.source or "")
        edge = bisect_right(edges, start)
        if edge < len(edges) and edges[edge] < at:
            bad.append(block.source)
    return bad


@settings(max_examples=500, deadline=None)
@given(markdown)
def test_splitting_keeps_every_character(source):
    waiting = [split(source)]
    assert joined(waiting[0]) == source
    while waiting:
        for piece in waiting.pop().pieces:
            part = inner(piece)
            if part is not None:
                assert joined(part) == piece
                if part.pieces != [piece]:
                    assert all(len(inside) < len(piece) for inside in part.pieces)
                    waiting.append(part)
            held = unwrap(piece)
            if held is not None:
                wrapping, text = held
                assert wrapping.wrap(text) == piece and len(text) < len(piece)
                waiting.append(split(text))


@pytest.mark.parametrize(
    ("source", "pieces"),
    [
        ("# A\ntext\nmore\n\n\n\nlast", ["# A", "text\nmore", "last"]),
        ("Text:\n* a\n\n  more\n* b\n\nEnd", ["Text:", "* a\n\n  more\n* b", "End"]),
        ("```\n# a\n\nb\n```\nc", ["```\n# a\n\nb\n```", "c"]),
        ("{% hint %}\na\n\n{% hint %}\nb\n{% endhint %}\n{% endhint %}\nc", None),
        ("{% embed url %}\n\na\n\n{% embed url %}\nb\n{% endembed %}", None),
        ("<details>\n\n<summary>x</summary>\n\ny\n\n</details>\n\nz", None),
        ("$$\na\n\nb\n$$\n\nc", ["$$\na\n\nb\n$$", "c"]),
        ("Title\n---\ntext", ["Title\n---", "text"]),
        ("a\n\n    code\n\n    code\n\nb", None),
        ("<!-- a\n\nb -->\n\nc", ["<!-- a\n\nb -->", "c"]),
    ],
)
def test_pieces_are_blocks(source, pieces):
    found = split(source).pieces
    if pieces is not None:
        assert found == pieces
    assert joined(split(source)) == source
    assert cut_blocks(source) == []
    assert len(found) > 1


def test_no_block_of_a_real_page_is_split(corpora):
    for path in sorted(corpora.rglob("*.md"))[::6]:
        with path.open(encoding="utf-8", newline="") as file:
            source = split_page(file.read())[2]
        assert joined(split(source)) == source
        assert cut_blocks(source) == [], path


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_aligned_pieces_are_ordered_and_equal(a, b):
    pairs = align(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in zip(pairs, pairs[1:], strict=False))
    assert len(align(a, a)) == len(a)


def test_edited_moved_and_new_pieces_are_distinguished():
    old = split("one two three\n\nfour five six\n\nseven eight\n\nnine ten\n")
    new = split("nine ten\n\none two drei\n\nbrand new\n\nfour five six\n\nseven eight\n")
    found = match(old, new)
    assert found.to == [1, 3, 4, 0] and found.moved == {3} and found.origin[2] is None


def test_a_row_is_split_into_cells():
    assert cells(r"| a \| b |  c  |  |") == [r"a \| b", "c", ""]
    assert cells("a | b") == ["a", "b"]


@pytest.mark.parametrize(
    "source",
    [
        "{% embed %}\n{% endhint %}\n" * 5_000,
        "<div>\n" * 10_000,
        "```\n" * 10_001,
        "$$ x\n" * 10_000,
        "<!--\n" * 10_000,
        "* " * 10_000,
        "| " * 20_000,
        "    a\n\n" * 10_000,
        "*" * 30_000 + "x",
        "- " * 10_000 + "x",
        "|\\" * 20_000,
    ],
)
def test_hostile_texts_are_split_in_time(source):
    begin = time.process_time()
    for piece in split(source).pieces[:50]:
        inner(piece)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    "source",
    [
        "<ul>\n<li>\n\n**a**\n\n</li>\n<li>b</li>\n</ul>\n\nend\n",
        "<ol>\n<li>\n\n<ol>\n\n<li>a</li>\n</ol>\n\n</li>\n</ol>\n",
        "<blockquote>\n\n# a\n\n</blockquote>\n\nend\n",
        '<p align="center">\n\n![a](b.png)\n\n</p>\n\nend\n',
        "<p>never closed\n\na\n\nb\n",
        "<table>\n<tr><td>\n\n<table>\n<tr><td>\n\na\n\n</td></tr>\n</table>\n\n</td></tr>\n</table>\n\nend\n",
        "words\n[^1]: note\n[^2]: note\n",
        '<video src="a.mp4">\n  <source src="b">\n</video>\n',
    ],
)
def test_elements_with_blank_lines_are_not_split(source):
    assert cut_blocks(source) == []
