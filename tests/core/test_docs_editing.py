"""In-place edits of docs.yaml: unedited parts keep their bytes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.core.docs_config import DocsConfig, DocsEntry, read_docs, walk_docs, write_docs
from octavo.core.docs_editing import edit_docs

TEXT = """\
# The documentation of Acme. Ask docs@acme.example before you change it.
version: 2   # what builds it
site:
  structure:   # from top to bottom

    # Where everybody begins.
    - key: start
      type: section
      title: 'Getting started'   # short
      children:
        - {type: space, key: start-en,  title: "Start 🚀", content: {directory: ./start}}
        # The German one lags behind.
        - type: space
          key: start-de
          content:
            directory: ./start/../de
            language: de
          title: Erste Schritte

    - type: section-group
      key: more
      title: More
      x-owner: team-a
      children:
        - key: api
          title: API
          description: >-
            What programs
            call.
          children:
            - { type: space, key: api-en, content: { directory: reference/api } }
        # Nobody reads this.
        - key: old
          type: section
          title: Old
          default: false
          children: [{type: space, key: old-en, title: Old}]
          # the end of old
  title: Acme docs
# the end
"""


def read(text: str) -> DocsConfig:
    return read_docs(text, max_depth=3, languages=("en", "de"))


def edit(text: str, config: DocsConfig) -> str:
    found = edit_docs(text, config, max_depth=3, languages=("en", "de"))
    assert write_docs(read(found)) == write_docs(config)
    return found


def entry(config: DocsConfig, key: str) -> DocsEntry:
    return next(one for one in walk_docs(config.structure) if one.key == key)


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), f"\ufeff{TEXT}", TEXT.rstrip()])
def test_unchanged_configuration_keeps_its_bytes(text: str) -> None:
    assert edit(text, read(text)) == text


def test_only_different_entries_change() -> None:
    config = read(TEXT)
    config.title = "Acme: docs"
    entry(config, "start").title = "First steps"
    entry(config, "start-en").title = "Start"
    entry(config, "start-de").directory = "de-at/"
    entry(config, "api").description = "Programs call it."
    entry(config, "api").icon = "code"
    entry(config, "old").draft = True
    entry(config, "old").localized["title"] = {"de": "Alt"}
    wanted = TEXT
    for old, new in (
        ("title: Acme docs", "title: 'Acme: docs'"),
        ("'Getting started'", "First steps"),
        ('"Start 🚀"', "Start"),
        ("./start/../de", "./de-at"),
        (">-\n            What programs\n            call.", "Programs call it.\n          icon: code"),
        ("default: false", "default: false\n          draft: true\n          localizedTitle: {de: Alt}"),
    ):
        assert wanted.count(old) == 1
        wanted = wanted.replace(old, new)
    assert edit(TEXT, config) == wanted


def test_values_derived_from_changed_values_are_written_out() -> None:
    text = "site:\n  structure:\n    - {key: a, content: {directory: a}} # one\n"
    config = read(text)
    entry(config, "a").directory = "b/"
    assert edit(text, config) == text.replace(
        "{key: a, content: {directory: a}}", "{key: a, title: a, content: {directory: ./b}}"
    )


def test_entries_move_with_their_comments() -> None:
    config = read(TEXT)
    start, more = config.structure
    api, old = more.children
    config.structure = [more, api, start]
    more.children = [old]
    start.children.reverse()
    found = edit(TEXT, config)
    assert found.startswith("# The documentation of Acme.") and found.endswith(
        "  title: Acme docs\n# the end\n"
    )
    assert (
        "\n        # Nobody reads this.\n        - key: old\n" in found
        and "          # the end of old\n" in found
    )
    assert (
        "\n    - key: api\n      title: API\n      description: >-\n        What programs\n        call.\n"
        in found
    )
    german = found.index(
        "        # The German one lags behind.\n        - type: space\n          key: start-de"
    )
    assert (
        found.index("    # Where everybody begins.\n    - key: start\n")
        < german
        < found.index("start-en,  title")
    )
    assert "x-owner: team-a" in found


def test_entries_are_added_and_removed() -> None:
    config = read(TEXT)
    start, more = config.structure
    space = DocsEntry(type="space", key="new", title="New", directory="new/")
    start.children = [space, start.children[1]]
    more.children = []
    config.structure.insert(0, DocsEntry(type="section-group", key="g", title="G"))
    found = edit(TEXT, config)
    assert (
        "start-en" not in found
        and "# The German one lags behind." in found
        and "'Getting started'   # short" in found
    )
    config = read(found)
    config.structure[0].children = [
        DocsEntry(type="section", key="s", title="Sec", children=[replace(space, key="n2")])
    ]
    assert "# The German one lags behind." in edit(found, config)


def test_a_space_that_is_a_section_stays_one_until_it_is_more() -> None:
    text = (
        "site:\n  structure:\n    # home\n    - {key: home, title: Home, path: /, content: {directory: "
        ".}} # here\n    - {type: section, key: s, title: Sec}\n"
    )
    config = read(text)
    config.structure.reverse()
    assert "    # home\n    - {key: home, title: Home, path: /, content: {directory: .}} # here\n" in edit(
        text, config
    )
    config.structure[1].title = "House"
    assert "title: House" in edit(text, config)


@pytest.mark.parametrize(
    "text",
    [
        "site: {structure: [{key: a, title: A, content: {directory: a}}, {key: b, content: {directory: b}}]}\n",
        "site:\n  structure:\n  -\n    key: a\n    content: {directory: a}\n  - key: b\n    content: {directory: b}",
        '{"site": {"structure": [{"key": "a"}, {"key": "b", "title": "x"}]}}',
        "site: {structure: []}",
        "site: {structure: }\n",
        "site: []",
        "a: [",
        "",
        "- a\n",
        "\x00",
    ],
)
def test_any_text_can_be_edited_to_match_the_structure(text: str) -> None:
    config = DocsConfig(
        title="Docs",
        structure=[
            DocsEntry(type="space", key="b", title="Beta", directory="b/", default=True),
            DocsEntry(type="space", key="c", title="C", directory=None),
        ],
    )
    found = edit_docs(text, config, max_depth=3, languages=())
    assert write_docs(read(found)) == write_docs(config)
    assert edit_docs(found, config, max_depth=3, languages=()) == found


def test_an_unset_language_stays_unset() -> None:
    config = read(TEXT)
    entry(config, "start-en").language = "en"
    assert edit_docs(TEXT, config, max_depth=3, languages=("en", "de")) == TEXT
    entry(config, "start-de").language = "en"
    assert edit_docs(TEXT, config, max_depth=3, languages=("en", "de")) == TEXT.replace(
        "language: de", "language: en"
    )


@pytest.mark.parametrize("seed", range(20))
def test_comments_survive_any_change(seed: int) -> None:
    """Every change in place says what the structure says; no comment is lost but with the entry that it stands at."""
    chance, text = random.Random(seed), TEXT
    for number in range(12):
        config = read(text)
        entries = [one for one in walk_docs(config.structure) if one.type != "space"]
        one: Any = chance.choice(list(walk_docs(config.structure)))
        what = chance.choice(["title", "path", "condition", "add", "reverse", "move"])
        if what == "title":
            one.title = f"Title {number}: #{chance.randint(0, 9)}"
        elif what == "path":
            one.path = chance.choice([None, f"p{number}"]) if one.type != "section-group" else None
        elif what == "condition":
            one.condition = (
                chance.choice([None, "visitor.claims.a == 1"]) if one.type != "section-group" else None
            )
        elif what == "add":
            above = chance.choice(entries)
            space = DocsEntry(type="space", key=f"k{number}", title=f"K{number}", directory=f"k{number}/")
            section = DocsEntry(type="section", key=f"s{number}", title=f"S{number}", children=[space])
            above.children.insert(0, space if above.type == "section" else section)
        elif what == "reverse":
            chance.choice(entries).children.reverse()
        else:
            lists = [config.structure, *(one.children for one in entries if one.type == "section-group")]
            here = chance.choice([found for found in lists if found])
            moved = here.pop(chance.randrange(len(here)))
            inside = [id(one.children) for one in walk_docs([moved])]
            chance.choice([found for found in lists if id(found) not in inside]).insert(0, moved)
        text = edit(text, config)
        for comment in (
            "# The documentation of Acme",
            "# Where everybody",
            "# The German",
            "# Nobody",
            "# the end\n",
        ):
            assert comment in text, (number, what)
