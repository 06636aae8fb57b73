"""Test of the section limit per page: the index has at most that many, and all of the text is found in one of them."""

from octavo.content.search import indexing
from octavo.core.document.reader import read
from octavo.core.document.text import Section, sections


def test_many_sections_are_indexed_as_few(monkeypatch):
    monkeypatch.setattr(indexing, "_MAX_SECTIONS", 10)
    parts = sections(read("".join(f"## word{n}\n\ntext{n}\n\n" for n in range(95))))
    few = indexing._merge_sections(parts)
    assert len(few) <= 10
    assert [part.id for part in few] == [part.id for part in parts[:: len(parts) // len(few) + 1]]
    said = " ".join(f"{part.title} {part.text}" for part in few).split()
    assert said == [word for part in parts for word in f"{part.title} {part.text}".split()]


def test_merged_sections_keep_all_conditions(monkeypatch):
    monkeypatch.setattr(indexing, "_MAX_SECTIONS", 2)
    parts = [Section(f"s{n}", "", f"text{n}", (f"claims.a{n}",) if n % 2 else ()) for n in range(4)]
    assert [part.conditions for part in indexing._merge_sections(parts)] == [("claims.a1",), ("claims.a3",)]


def test_few_sections_stay_as_they_are():
    parts = [Section(None, "", "a"), Section("b", "b", "c", ("d",))]
    assert indexing._merge_sections(parts) == parts
