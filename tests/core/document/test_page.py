"""Page files: heads read, and changed without touching other bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.document.page import front_keys, read_head, split_page, with_head
from octavo.core.page_fields import FRONT_FIELDS, Cover, LayoutOptions, PageFields

PAGE = """---
description: >-
  two
  lines
# a comment
icon: "bolt"
unknownKey: [1, 2]
layout:
  width: wide
  title:
    visible: false
---

# Title *here* <a href="#x" id="x"></a>

Body
"""


def test_front_matter_is_parsed() -> None:
    head = read_head(PAGE)
    assert (head.title, head.description, head.icon) == ("Title here", "two lines", "bolt")
    assert head.extra == {"unknownKey": [1, 2]}
    assert (head.layout.width, head.layout.title, head.layout.outline) == ("wide", False, True)
    assert head.problems == []


def test_all_known_keys_are_parsed() -> None:
    head = read_head(
        "---\nhidden: true\nnoIndex: true\nif: visitor.claims.x\nvars:\n  a: b\ntags:\n  - x\n  - tag: y\n"
        "    primary: true\ncover:\n  light: l.png\n  dark: d.png\ncoverY: -3.5\n---\n"
    )
    assert (head.hidden, head.no_index, head.condition) == (True, True, "visitor.claims.x")
    assert head.variables == {"a": "b"}
    assert head.tags == ("x", {"tag": "y", "primary": True})
    assert head.cover and (head.cover.light, head.cover.dark, head.cover.y) == ("l.png", "d.png", -3.5)


def test_yaml_tags_only_create_plain_data() -> None:
    """Bytes, moments or sets could not be written as JSON."""
    head = read_head(
        "---\na: !!binary aGk=\nb: !!timestamp 2026-01-01\nc: !!set {x}\n2: !!python/name:os.system\n---\n"
    )
    assert head.extra == {"a": "aGk=", "b": "2026-01-01", "c": {"x": None}, "2": None}


BOMB = (
    "---\na0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    + "---\n# T\n"
)


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        ("---\na: [1\nb: 2\n---\n# T\n", 3, "expected ',' or ']'"),
        (BOMB, 2, "more than 50,000 values"),
        ("---\na: &a\n  - *a\n---\n# T\n", 2, "nested"),
        ("---\n&a\n<<: *a\n---\n# T\n", 2, "nested"),
        ("---\n- a\n---\n# T\n", 2, "a YAML mapping"),
        ("---\nicon: x\nhidden: maybe\n---\n# T\n", 3, "hidden: must be true or false"),
        ("---\na: " + "[" * 5000 + "\n---\n# T\n", 2, "nested"),
        ("---\na: " + "x" * 70_000 + "\n---\n# T\n", 1, "at most"),
        ("---\n? [a]\n: b\n---\n# T\n", 2, "a key must be a string"),
    ],
)
def test_invalid_front_matter_is_a_problem_and_the_title_survives(
    source: str, line: int, reason: str
) -> None:
    head = read_head(source)
    assert head.title == "T"
    assert [(problem.line, reason in problem.reason) for problem in head.problems] == [(line, True)]


def test_aliases_and_merged_maps_are_read() -> None:
    head = read_head(
        "---\nvars: &shared\n  one: 1\n  two: 2\nmore:\n  <<: *shared\n  two: 3\nsame: *shared\n"
        "first:\n  <<: [*shared, {one: 9, four: 4}]\n---\n# T\n"
    )
    assert head.problems == []
    assert head.variables == {"one": 1, "two": 2}
    assert head.extra == {
        "more": {"one": 1, "two": 3},
        "same": {"one": 1, "two": 2},
        "first": {"one": 1, "two": 2, "four": 4},
    }


def test_setting_a_key_keeps_aliases_of_its_value() -> None:
    source = "---\ndescription: &said Words\nnote: *said\n---\n\n# T\n"
    changed = with_head(source, {"description": "New"})
    assert changed == "---\ndescription: New\nnote: Words\n---\n\n# T\n"
    assert with_head(source, {"icon": "x"}).startswith(
        "---\ndescription: &said Words\nnote: *said\nicon: x\n"
    )


def test_setting_a_key_keeps_keys_of_unusual_form() -> None:
    changed = with_head("---\nicon: x\nmy key: 1\n---\n\n# T\n", {"icon": "y"})
    assert (read_head(changed).icon, read_head(changed).extra) == ("y", {"my key": 1})
    assert with_head("---\n{icon: x}\n---\n", {"icon": "y"}) == "---\nicon: y\n---\n"


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"icon": "x"}, 'icon: "bolt"', "icon: x"),
        ({"description": "short"}, "description: >-\n  two\n  lines", "description: short"),
        ({"unknownKey": None}, "unknownKey: [1, 2]\n", ""),
        ({"hidden": True}, "    visible: false\n---", "    visible: false\nhidden: true\n---"),
        ({"title": "New_name"}, "Title *here*", "New_name"),
    ],
)
def test_only_changed_values_are_rewritten(changes: dict[str, Any], old: str, new: str) -> None:
    assert with_head(PAGE, changes) == PAGE.replace(old, new)
    windows = PAGE.replace("\n", "\r\n")
    assert with_head(windows, changes) == PAGE.replace(old, new).replace("\n", "\r\n")


def test_a_page_without_front_matter_gets_one() -> None:
    assert with_head("Body\n", {"title": "T", "icon": "x"}) == "---\nicon: x\n---\n\n# T\n\nBody\n"
    assert with_head("", {"title": "T"}) == "# T\n"


@given(
    st.lists(
        st.sampled_from(
            [
                "---\n",
                "---\r\n",
                "a: b\n",
                "icon: [",
                "# T\n",
                "\n",
                "\r",
                "\ufeff",
                "x",
                "===\n",
                "...\n",
                " ",
                "'",
                "title: q\n",
            ]
        ),
        max_size=12,
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_front_matter_and_body_join_to_the_source(source: str) -> None:
    assert "".join(split_page(source)) == source
    read_head(source)
    assert with_head(source, {}) == source


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_a_title_and_description_that_were_set_are_read(text: str) -> None:
    said = " ".join(text.split())
    head = read_head(with_head(PAGE, {"title": said, "description": said}))
    assert head.description == said
    if said and not any(mark in said for mark in ":"):
        assert head.title == said


RULE = "---\n\n# Case\n\nfirst words\n\n---\n\nsecond words\n"


@pytest.mark.parametrize(
    "source",
    [
        RULE,
        RULE.replace("\n", "\r\n"),
        "\ufeff" + RULE,
        "---\nwords\n---\n",
        "---\n\n- item\n- item\n\n---\n",
        "---\n\n# Only\n\n---\n",
    ],
)
def test_a_page_that_starts_with_a_divider_has_no_front_matter(source: str) -> None:
    front, heading, body = split_page(source)
    assert (front, heading, body) == ("", "", source)
    assert read_head(source).problems == []
    assert read_head(with_head(source, {"icon": "x"})).icon == "x"
    assert with_head(source, {"icon": "x"}).endswith(source.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    "source",
    [
        "---\n---\n",
        "---\n# comment\n---\n",
        "---\n\nicon: x\n---\n",
        '---\n\n"odd key": 1\n---\n',
        "---\n\nif: [\n\n---\n",
    ],
)
def test_unusual_front_matter_is_split_from_the_body(source: str) -> None:
    assert split_page(source + "words\n") == (source, "", "words\n")


def test_an_html_heading_is_the_title():
    source = '\n<h1 align="center">Good <b>title</b> &amp; more</h1>\n\ntext\n'
    assert read_head(source).title == "Good title & more"
    assert split_page(source)[2] == "\ntext\n"
    changed = with_head(source, {"title": "A < B"})
    assert changed == '\n<h1 align="center">A &lt; B</h1>\n\ntext\n' and read_head(changed).title == "A < B"
    assert read_head('<h1><img src="logo.png"> Logo</h1>\n').title is None


FIELDS = PageFields(
    emoji="1f600",
    icon="bolt",
    description="Two words",
    hidden=True,
    no_index=True,
    no_robots_index=True,
    condition="visitor.claims.x",
    layout=LayoutOptions(width="wide", title=False, cover=False, cover_size="hero"),
    cover=Cover("l.png", "d.png", -3.5, 200, "black", "white"),
    tags=("x", {"tag": "y", "primary": True}),
    variables={"a": "b"},
    redirect_from=("/old", "/guides/start"),
    owner="Platform team",
    review_every="6 months",
    verified_on="2026-11-28",
    verified_by="Mei Tan",
    meta_links={"canonical": "guide.md", "alternates": ["https://example.org/de"]},
)


@pytest.mark.parametrize("name", FRONT_FIELDS)
def test_a_field_round_trips(name: str) -> None:
    plain = getattr(PageFields(), name)
    assert getattr(FIELDS, name) != plain, "add an example value to FIELDS"
    written = with_head("# T\n", front_keys(FIELDS, name))
    head = read_head(written)
    assert getattr(head, name) == getattr(FIELDS, name) and head.problems == [] and head.extra == {}
    emptied = with_head(written, front_keys(PageFields(), name))
    assert getattr(read_head(emptied), name) == plain and split_page(emptied)[2] == split_page("# T\n")[2]


def test_an_emoji_with_a_numeric_code_is_read() -> None:
    assert read_head("---\nemoji: 2705\n---\n").emoji == "2705"
    head = read_head("---\nemoji: [2705]\n---\n")
    assert head.emoji is None and [(one.line, one.key) for one in head.problems] == [(2, "emoji")]
