"""Parsing and writing of ``docs.yaml``."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.docs_config import DocsConfig, DocsEntry, read_docs, walk_docs, write_docs
from octavo.core.yaml_text import write_yaml

LANGUAGES = ("de", "en")


def read(text: str, max_depth: int = 4) -> DocsConfig:
    return read_docs(text, max_depth=max_depth, languages=LANGUAGES)


def of(*entries: str) -> DocsConfig:
    return read("site:\n  structure:\n" + "".join(f"    - {entry}\n" for entry in entries))


def outline(entries: list[DocsEntry]) -> Any:
    return [(entry.type, entry.key, outline(entry.children)) for entry in entries]


def test_invalid_structures_are_problems() -> None:
    config = of(
        "1",
        "{key: a, content: {directory: x}}",
        "{key: a, content: {directory: y}}",
        "{key: b, content: {directory: ./x/}}",
        "{key: c, content: {directory: 7}}",
    )
    assert [(told.key, told.directory, told.title) for told in config.spaces] == [
        ("a", "x/", "x"),
        ("c", None, "Docs"),
    ]
    assert [(p.code, p.line) for p in config.problems] == [
        ("bad_value", 3),
        ("listed_twice", 5),
        ("bad_path", 7),
        ("listed_twice", 6),
    ]


def test_entry_types_follow_from_their_content() -> None:
    config = of(
        "{key: one, content: {directory: a}}",
        "{key: two, children: [{key: v, content: {directory: b}}]}",
        "{key: three, children: [{key: four, children: []}]}",
    )
    assert outline(config.structure) == [
        # Among sections a space alone is a section of its own.
        ("section", "one", [("space", "one", [])]),
        ("section", "two", [("space", "v", [])]),
        ("section-group", "three", [("section", "four", [])]),
    ]
    assert not config.problems


def test_spaces_alone_are_variants() -> None:
    config = of("{key: a, content: {directory: a}, icon: book}", "{type: section-group, key: g, title: G}")
    assert outline(config.structure) == [("space", "a", []), ("section-group", "g", [])]
    assert [p.code for p in config.problems] == ["unknown_key"]


def test_misplaced_entries_are_moved_next_to_their_parent() -> None:
    config = of("{type: section, key: s, title: SS, children: [{type: section, key: t, title: TT}]}")
    assert outline(config.structure) == [("section", "s", []), ("section", "t", [])]
    deep = "site:\n  structure:\n  - " + "{type: section-group, key: a, title: A, children: [" * 1
    deep += "{type: section-group, key: b, title: B, children: [{type: section, key: s, title: SS}]}]}\n"
    lifted = read(deep, max_depth=1)
    assert outline(lifted.structure) == [("section-group", "a", [("section", "s", [])])]
    assert [p.code for p in [*config.problems, *lifted.problems]] == ["misplaced", "too_deep"]


def test_every_meaningless_value_is_reported() -> None:
    config = read(
        "site:\n  title: X\n  colour: red\n  structure:\n"
        "  - {type: section, key: '', title: A, path: 7, hidden: true, draft: maybe, content: 1, icon: !!str 1}\n"
        "  - {type: sections, key: s2, content: {directory: ../up, language: xx, branch: main}}\n"
        "  - {type: section-group, key: g, title: G, path: g, default: true, localizedTitle: {de: x}, children: 5}\n"
        f"  - {{type: section, key: s3, title: {'x' * 200}, hidden: false}}\n"
    )
    assert config.title is None
    assert [(p.code, p.line) for p in config.problems] == [
        ("unknown_key", 3),
        ("bad_value", 2),
        ("bad_value", 5),
        ("bad_value", 5),
        ("unknown_key", 5),
        ("unknown_key", 5),
        ("bad_value", 5),
        ("bad_value", 5),
        ("bad_value", 6),
        ("unknown_key", 6),
        ("bad_path", 6),
        ("bad_value", 6),
        ("unknown_key", 7),
        ("unknown_key", 7),
        ("bad_value", 7),
        ("bad_value", 8),
    ]
    group = next(entry for entry in config.structure if entry.type == "section-group")
    assert (group.path, group.default) == (None, False)


def test_an_invalid_condition_hides_from_all_visitors() -> None:
    config = of(
        "{type: section, key: a, title: AA, condition: 'visitor.claims.'}",
        "{type: section, key: b, title: BB, condition: true}",
        "{type: section, key: c, title: CC, condition: visitor.claims.beta}",
        "{type: section, key: d, title: DD, condition: ''}",
    )
    assert [entry.condition for entry in config.structure] == ["false", "false", "visitor.claims.beta", None]
    assert {p.line for p in config.problems} == {3, 4}


def test_a_file_without_a_structure_is_empty() -> None:
    for text in ("", "- a\n", "site: 1\n", "site: {structure: {}}\n"):
        config = read(text)
        assert not config.structure and [p.code for p in config.problems] == ["bad_value"]


titles = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=2, max_size=50)
some = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=50)


@st.composite
def configs(draw: st.DrawFn) -> DocsConfig:
    count = 0

    def key() -> str:
        nonlocal count
        count += 1
        return f"{draw(titles)}{count}"

    def space() -> DocsEntry:
        directory = draw(st.none() | st.just(f"d{count}/") | st.just(f"d{count}/é x/"))
        return DocsEntry(
            type="space",
            key=key(),
            title=draw(titles),
            path=draw(some),
            default=draw(st.booleans()),
            condition=draw(st.sampled_from([None, "visitor.claims.a"])),
            directory=directory,
            language=draw(st.sampled_from([None, *LANGUAGES])),
        )

    def section() -> DocsEntry:
        return DocsEntry(
            type="section",
            key=key(),
            title=draw(titles),
            path=draw(some),
            icon=draw(some),
            description=draw(some),
            default=draw(st.booleans()),
            draft=draw(st.booleans()),
            children=[space() for _ in range(draw(st.integers(0, 2)))],
        )

    def nodes(depth: int) -> list[DocsEntry]:
        found = []
        for _ in range(draw(st.integers(0, 3))):
            if depth < 4 and draw(st.booleans()):
                children = nodes(depth + 1)
                found.append(
                    DocsEntry(
                        type="section-group",
                        key=key(),
                        title=draw(titles),
                        icon=draw(some),
                        children=children,
                    )
                )
            else:
                found.append(section())
        return found

    structure = nodes(0)
    if not any(entry.type == "section" for entry in walk_docs(structure)):
        structure += [space() for _ in range(draw(st.integers(0, 3)))]
    return DocsConfig(title=draw(titles), structure=structure)


@settings(deadline=None)
@given(configs())
def test_configurations_round_trip(config: DocsConfig) -> None:
    again = read(write_docs(config))
    for entry in walk_docs(again.structure):
        entry.line, entry.way = 0, ()
    assert again == config


_NAMES = ["type", "key", "title", "children", "content", "directory", "default"]
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner),
)


@settings(deadline=None)
@given(_VALUES)
def test_any_readable_file_gives_a_structure(value: Any) -> None:
    config = read(write_yaml({"site": {"title": "Docs", "structure": value}}))
    again = read(write_docs(DocsConfig(title="Docs", structure=config.structure)))
    assert outline(again.structure) == outline(config.structure) and not again.problems


def test_titles_in_other_languages_are_kept() -> None:
    config = of(
        "{type: section, key: a, title: Guides, localizedTitle: {de: Anleitungen, pt-BR: Guias},"
        " localizedDescription: {de: Wie es geht}, children: [{key: v, title: V, localizedTitle: {de: W}}]}",
        "{type: section-group, key: g, title: More, localizedTitle: {de: Mehr}, localizedDescription: {de: x}}",
        "{type: section, key: b, title: BB, localizedTitle: {de: 7, '': x, fr: ' ', es: Sí}, localizedDescription: x}",
    )
    found = {entry.key: entry.localized for entry in walk_docs(config.structure)}
    assert found == {
        "a": {"title": {"de": "Anleitungen", "pt-BR": "Guias"}, "description": {"de": "Wie es geht"}},
        "v": {"title": {"de": "W"}},
        "g": {"title": {"de": "Mehr"}},
        "b": {"title": {"es": "Sí"}},
    }
    assert [p.code for p in config.problems] == ["unknown_key", *["bad_value"] * 4]
    again = read(write_docs(config))
    assert not again.problems and {e.key: e.localized for e in walk_docs(again.structure)} == found
