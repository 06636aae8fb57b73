"""Markdown is read as GitHub reads it, and comes back byte for byte."""

from __future__ import annotations

import re

import pytest

from octavo.core.document.html import render
from octavo.core.document.markup import words_of
from octavo.core.document.reader import read
from octavo.core.document.typst import to_typst
from octavo.core.document.writer import write_blocks
from octavo.core.document.writing import write


def drawn(source: str) -> str:
    """Render a source as HTML, without classes and other irrelevant attributes."""
    document = read(source)
    assert write(document) == source
    html = str(render(document).body)
    return re.sub(r" (?:class|id|aria-[a-z]+|role|data-[a-z-]+|tabindex|rel)=\"[^\"]*\"", "", html)


def test_footnotes_on_consecutive_lines_are_separate():
    source = (
        "One[^1], two[^2] and three[^Three].\n\n[^1]: first\n[^2]: second\n    and more\n[^three]: third\n"
    )
    html = drawn(source)
    assert "[^" not in html
    for said in ("first", "second and more", "third"):
        assert html.count(said) == 1


def test_a_footnote_ends_a_paragraph():
    html = drawn("Words[^a]\n[^a]: said below\n")
    assert "[^" not in html and html.count("said below") == 1


def test_labels_of_footnotes_are_compared_without_case():
    html = drawn("Straße[^STRASSE] and more[^Note].\n\n[^straße]: one\n\n[^NOTE]: two\n")
    assert "[^" not in html and html.count("one") == 1 and html.count("two") == 1


@pytest.mark.parametrize(
    ("source", "mail"),
    [
        ("Ask first.last+tag@mail.example today.", "first.last+tag@mail.example"),
        ("Ask john_doe@mail.example.", "john_doe@mail.example"),
        ("(me@mail.example)", "me@mail.example"),
    ],
)
def test_bare_email_addresses_are_links(source: str, mail: str) -> None:
    assert f'<a href="mailto:{mail}">{mail}</a>' in drawn(source)


@pytest.mark.parametrize(
    "source",
    ["npm i pkg@1.2.3", "@scope/pkg", "a@b", "`me@mail.example`", "me\\@mail.example", "me@mail.example-"],
)
def test_invalid_email_addresses_are_text(source: str) -> None:
    assert "<a" not in drawn(source)


def test_one_or_two_tildes_strike_out_text():
    assert drawn("~one~ and ~~two~~") == "<p><s>one</s> and <s>two</s></p>"
    assert drawn("~a~~ and ~~~b~~~ about ~5 to ~7") == "<p>~a~~ and ~~~b~~~ about ~5 to ~7</p>"


def test_a_line_break_between_ideographs_adds_no_space():
    assert (
        drawn("物联网平台\n**提供**\n`数据`\n接入。\n（次）")
        == "<p>物联网平台<strong>提供</strong><code>数据</code>接入。（次）</p>"
    )
    assert drawn("한국어\n문장\nand 数据\nin\n数") == "<p>한국어 문장 and 数据 in 数</p>"


ALERTS = {"NOTE": "info", "TIP": "success", "IMPORTANT": "info", "WARNING": "warning", "CAUTION": "danger"}


@pytest.mark.parametrize("kind", ALERTS)
def test_alerts_are_hints(kind: str) -> None:
    hint = read(f"> [!{kind.lower()}]\n> Words\n> more\n>\n> - item\n").nodes[0]
    assert (hint.type, hint.data) == ("hint", {"style": ALERTS[kind]})
    assert [block.type for block in hint.nodes] == ["paragraph", "list-unordered"]
    assert "[!" not in drawn(f"- a\n\n  > [!{kind}]\n  >\n  > Words\n")


@pytest.mark.parametrize("source", ["> [!NOTE] words", "> [!OTHER]\n> words", "> words\n> [!NOTE]\n"])
def test_malformed_alerts_are_quotes(source: str) -> None:
    assert "[!" in drawn(source) and read(source).nodes[0].type == "blockquote"


def test_markdown_in_html_table_cells_is_parsed():
    html = drawn(
        "<table>\n<tr>\n<td>\n\n**bold** [l](a.md)[^n]\n\n```\n</td><b>\n```\n\n</td>\n<td>\n\n- a\n"
        "- [b]\n\n</td>\n</tr>\n"
        "    <tr>\n\n        <td>deep</td><td>plain *text*</td>\n\n    </tr>\n</table>\n\n[b]: b.md\n\n[^n]: noted\n"
    )
    assert "**" not in html and "```" not in html and "[^n]" not in html and "noted" in html
    assert html.count("<td") == 4 and html.count("<table") == 1
    assert "<strong>bold</strong>" in html and "&lt;/td&gt;&lt;b&gt;" in html and html.count("<li>") == 2
    assert "<td>deep</td>" in html.replace("<p>", "").replace("</p>", "") and "plain *text*" in html


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<ul>\n<li>\n\n**a**\n\n</li>\n<li>b</li>\n</ul>\n", ("<ul>", "<strong>a</strong>", "<li>b</li>")),
        (
            "<ol>\n<li>\n\n1. a\n\n<ol>\n<li>c</li>\n</ol>\n</li>\n</ol>\n\nend\n",
            ("<li>c</li>", "<p>end</p>"),
        ),
        ("<blockquote>\n\n## Head\n\n_words_\n\n</blockquote>\n", ("<blockquote>", "<em>words</em>")),
        ('<p align="center">\n\n**mid**\n\n</p>\n', ("<strong>mid</strong>",)),
        (
            "<figure>\n\n![alt](i.png)\n\n<figcaption>said *so*</figcaption></figure>\n",
            ("<figcaption>", "said *so*"),
        ),
        (
            "<table>\n<tr><td>\n\n<table><tr><td>\n\n*in*\n\n</td></tr></table>\n\n</td></tr>\n</table>\n",
            ("<em>in</em>",),
        ),
    ],
)
def test_markdown_in_other_html_elements_is_parsed(source: str, shown: tuple[str, ...]) -> None:
    html = drawn(source).replace("<p><strong>a</strong></p>", "<strong>a</strong>").replace("<li><p>", "<li>")
    html = html.replace("</p></li>", "</li>")
    assert len(read(source).nodes) == (2 if "end" in source else 1)
    for part in shown:
        assert part in html, html
    assert "&lt;" not in html


@pytest.mark.parametrize(
    "source",
    [
        "<table>\n\n- " * 400,
        "<ul>\n\n" * 5000,
        "<ul>\n<li>\n\n" * 3000 + "</li>\n\n</ul>\n\n" * 3000,
        "".join(" " * n + "- <table>\n\n" for n in range(0, 200, 2)),
        "<p>\n\n" * 5000 + "</p>" * 5000,
    ],
)
def test_unclosed_elements_are_parsed_in_time(source: str) -> None:
    assert write(read(source)) == source


MERGED = (
    '<table><thead><tr><th>Env</th><th colspan="2">Where</th></tr></thead><tbody><tr><td>S</td><td>r</td>'
    '<td rowspan="2">A</td></tr><tr><td>T</td><td>m</td></tr><tr><td colspan="3">wide</td></tr></tbody></table>'
)


def test_merged_cells_are_parsed():
    html = drawn(MERGED)
    assert "&lt;" not in html
    assert '<td rowspan="2">A</td></tr><tr><td>T</td><td>m</td></tr><tr><td colspan="3">wide</td>' in html
    assert '<th scope="col" colspan="2">Where</th>' in html


def test_an_edited_table_keeps_its_merged_cells():
    table = read(MERGED).nodes[0]
    assert table.data["attributes"] == {"colspan-c2": "2", "rowspan-r1c3": "2", "colspan-r3c1": "3"}
    assert write_blocks([table]) == MERGED
    # Content of a cell that is covered by another one is shown.
    next(cell for cell in table.fragments if cell.fragment == "r2c3").nodes = read("new").nodes
    assert write_blocks([table]) == MERGED.replace(' rowspan="2"', "").replace(
        "<td>m</td>", "<td>m</td><td>new</td>"
    )


@pytest.mark.parametrize(
    "spans", ['colspan="60000"', 'rowspan="60000"', 'colspan="0"', 'rowspan="x" colspan="-1"']
)
def test_spans_beyond_the_table_are_cut(spans: str) -> None:
    source = f"<table><tr><td {spans}>a</td><td>b</td></tr>{'<tr><td>c</td></tr>' * 300}</table>"
    assert write(read(source)) == source


def test_a_merged_table_is_printed_as_a_table():
    printed = to_typst(read(MERGED)).code
    assert "tbl(" in printed and "<table" not in printed


@pytest.mark.parametrize(
    ("source", "type_", "url"),
    [
        ('<video src="https://e.example/a.mp4" controls></video>', "embed", "https://e.example/a.mp4"),
        ('<audio controls>\n  <source src="s.ogg" type="audio/ogg">\n  Sorry.\n</audio>', "file", "s.ogg"),
    ],
)
def test_videos_and_audio_are_parsed(source: str, type_: str, url: str) -> None:
    block = read(f"before\n\n{source}\n\nafter").nodes[1]
    assert (block.type, block.data.get("url") or block.data["ref"]["url"]) == (type_, url)
    assert url in drawn(f"before\n\n{source}\n\nafter\n")
    assert url in drawn(f"before {source} after\n") and "&lt;" not in drawn(f"before {source} after\n")
    assert url in drawn(f"<table><tr><td>{source}</td></tr></table>\n")


def test_videos_with_script_urls_are_not_shown():
    assert "<a" not in drawn(
        '<video src="javascript:alert(1)"></video>\n\nx <audio src="javascript:y"></audio>\n'
    )


@pytest.mark.parametrize(
    "inside",
    [
        "| a   | b   |\n| --- | --- |\n| c   | d   |",
        "> [!TIP]\n> a\n>\n> b",
        "```\na\n\nb\n```",
        "- a\n- b",
        "$$\na\n$$",
    ],
)
def test_an_edited_table_keeps_the_blocks_in_its_cells(inside: str) -> None:
    table = read(f"<table>\n<tr>\n<td>\n\n{inside}\n\n</td><td>x</td>\n</tr>\n</table>\n").nodes[0]
    written = write_blocks([table])
    again = read(written).nodes
    assert len(again) == 1 and write_blocks(again) == written
    assert [cell.nodes[0].type for cell in again[0].fragments] == [
        cell.nodes[0].type for cell in table.fragments
    ]
    assert words_of(again[0]) == words_of(table)
