"""Tests that words are looked up in the same way, however their letters are composed in Unicode."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from octavo.content.search.tokens import WantedWords, WordMarker, words
from octavo.operations.admin.import_export import import_space
from world import World

SAME = [
    ("résumé", unicodedata.normalize("NFD", "Résumé")),
    ("resume", unicodedata.normalize("NFD", "résumé")),
    ("angstrom", unicodedata.normalize("NFD", "Ångström")),
    ("اعدادات", "إعدادات"),
    ("احمد", "أَحْمَد"),
    ("كتابخانه يك", "کتابخانه یک"),
    ("שלום", "שָׁלוֹם"),
    ("バックアップ", "ﾊﾞｯｸｱｯﾌﾟ"),
    ("ガイド", unicodedata.normalize("NFD", "ガイド")),
    ("한국어", unicodedata.normalize("NFD", "한국어")),
    ("duong dan", "Đường dẫn"),
    ("lodz", "ŁÓDŹ"),
    ("coeur aesir", "cœur Æsir"),
    ("smorgas", "smørgås"),
    ("donaudampfschiff", "Donau\u00addampf\u00adschiff"),
    ("हिन्दी", "हिन्दी"),
    ("ไทย", "ภาษาไทย"),
]


@pytest.mark.parametrize(("asked", "written"), SAME)
def test_words_of_queries_match_words_of_texts(asked: str, written: str) -> None:
    assert set(words(asked)) <= set(words(written))
    assert set(words(asked)) & set(words("hindsight 中文 hope")) == set()


def test_marks_stay_with_their_words():
    text = unicodedata.normalize("NFD", "the résumé of Ångström")
    found = list(WordMarker(WantedWords(frozenset(words("resume angstrom")))).spans(text))
    assert [text[start:end] for start, end in found] == [
        unicodedata.normalize("NFD", w) for w in ("résumé", "Ångström")
    ]


def test_search_finds_them(world: World, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Home\n")
    for number, (_, written) in enumerate(SAME):
        (tmp_path / f"p{number}.md").write_text(f"# Page {number}\n\n{written}\n")
    space = import_space(
        world.context, str(tmp_path), organization_id=world.home["organizationId"]
    ).outcome.space
    for number, (asked, _) in enumerate(SAME):
        found = world.get("admin", f"/spaces/{space}/search", params={"query": asked})["items"]
        assert f"Page {number}" in [page["title"] for page in found], asked
