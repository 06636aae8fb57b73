"""Emphasis next to Chinese, Japanese, and Korean characters: the cases of the CJK-friendly rules, with other
words."""

from __future__ import annotations

import unicodedata

import emoji
import pytest

from octavo.core.document.flanking import is_cjk
from octavo.core.document.nodes import Block, Document, Inline, Leaf, Mark, Text, walk
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.summary import plain_title


def marked(text: str, mark: str = "bold") -> list[str]:
    """Return the bold texts (or those with another mark), in order."""
    return [
        leaf.text
        for node in walk(read(text))
        if isinstance(node, Text)
        for leaf in node.leaves
        if any(found.type == mark for found in leaf.marks)
    ]


# A character of the script at either edge of the marked words, or outside the asterisks.
SIGNS = "，。、；：？！“”‘’（）【】《》「」—～…·〃-々︙"
CLOSED = [f"**重点{sign}**后面" for sign in SIGNS]
OPENED = [f"前面**{sign}重点**" for sign in "（【《「“—～…·"]
BOTH = [
    "今日は**晴れです。**だから出かける。",
    "値段は**¥5,200**くらい。",
    "答えは**③**だった。",
    "花子は**「はい」**と答えた",
    '花子は**"はい"**と答えた',
    "花子は**yes**と答えた",
    "**C++**より**C#**が**「好き」**な人",
    "番号は**七番。**です",
    "Rust**「入門」**の本",
    "・**㋑**:二つ目",
    "\N{CJK UNIFIED IDEOGRAPH-30EDE}**(めん)**屋",  # beyond the first plane
    "\N{CJK UNIFIED IDEOGRAPH-20B9F}**(しかる)**",
    "\U000317db**(unassigned once)**",
    "葛\U000e0100**(variant)**城",  # an ideographic variation selector
    "塚\ufe00**(form)**",  # another form of the ideograph
    "〽\ufe0e**(mark)**は",
    "**“\ufe01Zed”\ufe01**Shop",  # quotes of full width
    "ㇿ**(small kana)**",
    "아침**(morning)**입니다.",
    "**점심(lunch)**이라고",
    "\u1161**(vowel)**",
    "**(consonant)**\u110f",
    "a**〰**a",
    "a**㊗**a",
    "a**🈂**a",
    "国際**[基準](a.md)**を",
    "**末尾の`code`**も",
]


@pytest.mark.parametrize("text", [*CLOSED, *OPENED, *BOTH])
def test_bold_works_next_to_cjk_characters(text: str) -> None:
    document = read(text)
    assert marked(text)
    assert not any("**" in leaf.text for n in walk(document) if isinstance(n, Text) for leaf in n.leaves)


@pytest.mark.parametrize(
    "text",
    ["a**a«**a", "a**»a**a", "a**a∇**a", "a**∇a**a", "a**𝜵a**a", "a**🎉a**a", "a**a⌚**a", "a**a”**a"],
)
def test_emphasis_in_other_scripts_is_unchanged(text: str) -> None:
    assert marked(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("__小心__：再看", ["小心"]),
        ("看：__小心__", ["小心"]),
        ("字。\ufe01__new__", ["new"]),
        ("文__文__文", []),
        ("snake__case__name", []),
    ],
)
def test_underscores_stay_within_words(text: str, found: list[str]) -> None:
    assert marked(text) == found


def test_strikethrough_and_italics_work_next_to_cjk_characters() -> None:
    assert marked("旧的~~价格。~~现在", "strikethrough") == ["价格。"]
    assert marked("旧的*价格。*现在", "italic") == ["价格。"]


def test_unmatched_asterisks_do_not_invert_emphasis() -> None:
    assert marked("**一。**二**三。**四") == ["一。", "三。"]


def test_wide_characters_except_emoji_count_as_cjk() -> None:
    for code in range(0x1100, 0x20000):
        char = chr(code)
        status = emoji.EMOJI_DATA.get(char, {}).get("status", emoji.STATUS["unqualified"])
        if unicodedata.east_asian_width(char) == "W":
            assert is_cjk(char) == (status == emoji.STATUS["unqualified"]), hex(code)


@pytest.mark.parametrize(
    ("mark", "written"),
    [("bold", "前**重点。**后"), ("italic", "前*重点。*后"), ("strikethrough", "前~~重点。~~后")],
)
def test_marks_next_to_cjk_characters_are_written_as_marks(mark: str, written: str) -> None:
    leaves = [Leaf("前"), Leaf("重点。", [Mark(mark)]), Leaf("后")]
    text = write(Document([Block("paragraph", {}, [Text(leaves)])]))
    assert text.strip() == written
    assert marked(text, mark) == ["重点。"]


def test_a_letter_next_to_italics_needs_no_escape() -> None:
    link = Inline("link", {"ref": {"kind": "url", "url": "a.md"}}, [Text([Leaf("see")])])
    nodes = [Text([Leaf("un"), Leaf("believ", [Mark("italic")]), Leaf("able, ")]), link]
    assert write(Document([Block("paragraph", {}, list(nodes))])).strip() == "un*believ*able, [see](a.md)"


def test_titles_in_the_navigation_follow_the_same_rules() -> None:
    assert plain_title("第**一。**章") == "第一。章"
