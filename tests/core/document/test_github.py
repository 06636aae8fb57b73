"""Markdown is read as GitHub reads it, and comes back byte for byte."""

from __future__ import annotations

import re

import pytest

from octavo.core.document import read, write
from octavo.core.document.html import render


def drawn(source: str) -> str:
    """What readers see of a source, without classes and other attributes that say nothing here."""
    document = read(source)
    assert write(document) == source
    html = str(render(document).body)
    return re.sub(r" (?:class|id|aria-[a-z]+|role|data-[a-z-]+|tabindex|rel)=\"[^\"]*\"", "", html)


def test_footnotes_on_consecutive_lines():
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
def test_what_is_no_email_address_is_text(source: str) -> None:
    assert "<a" not in drawn(source)


def test_one_tilde_or_two_strike_out():
    assert drawn("~one~ and ~~two~~") == "<p><s>one</s> and <s>two</s></p>"
    assert drawn("~a~~ and ~~~b~~~ about ~5 to ~7") == "<p>~a~~ and ~~~b~~~ about ~5 to ~7</p>"


def test_a_line_break_between_ideographs_is_no_space():
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
def test_what_is_no_alert_is_a_quote(source: str) -> None:
    assert "[!" in drawn(source) and read(source).nodes[0].type == "blockquote"
