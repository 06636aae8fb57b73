"""Ids of link targets, and the spellings of links to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.document import anchors as module
from octavo.core.document.anchors import (
    DocumentPlace,
    anchors,
    flow,
    list_places,
    mark_places,
    name_places,
    place_ids,
    slug,
)
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.html import render
from octavo.core.document.json import to_json
from octavo.core.document.nodes import children
from octavo.core.document.reader import read
from octavo.core.document.text import outline, sections

PAGE = """## 1. Set up

## Node.js & you

## What's new?

<details>

<summary>More about it</summary>

Text.

</details>

{% updates format="full" %}
{% update date="2026-02-03" %}
### Inside
{% endupdate %}
{% endupdates %}

A <a id="Old.Place"></a> and <a name="named_here"></a> place.

## Fixed <a href="#by-hand" id="by-hand"></a>
"""


ELEMENTS = """<div id="box">

In a box.

</div>

A <span id="word">word</span>.

<dl><dt id="term">Term</dt><dd>What it is</dd></dl>

<form class="x"><input id="not-its-own"></form>
"""


def test_elements_with_an_id_are_link_targets() -> None:
    document = read(ELEMENTS)
    assert mark_places(document) == ["box", "word", "term"]
    shown = str(render(document))
    assert '<div id="box"><p>In a box.</p></div>' in shown
    assert '<span id="word"></span>word' in shown and '<div id="term"><p>Term</p></div>' in shown


def found(text: str, wanted: str) -> str | None:
    return anchors([place for _, place in list_places(read(text))]).find(wanted)


@pytest.mark.parametrize(
    ("wanted", "id"),
    [
        ("1-set-up", "1-set-up"),
        ("id-1.-set-up", "1-set-up"),
        ("1.-Set-Up", "1-set-up"),
        ("1_set_up", "1-set-up"),
        ("1~set~up", "1-set-up"),
        ("node.js-and-you", "nodejs--you"),
        ("node.js-and-you".replace("-and-", "-"), "nodejs--you"),
        ("Node_js-you", "nodejs--you"),
        ("what-s-new", "whats-new"),
        ("whats-new", "whats-new"),
        ("more-about-it", "more-about-it"),
        ("2026-02-03", "2026-02-03"),
        ("inside", "inside"),
        ("Old.Place", "Old.Place"),
        ("old-place", "Old.Place"),
        ("named-here", "named_here"),
        ("by-hand", "by-hand"),
        ("fixed", None),
        ("", None),
        ("-", None),
    ],
)
def test_a_link_target_is_found_in_any_spelling(wanted: str, id: str | None) -> None:
    assert found(PAGE, wanted) == id


def test_an_exact_id_wins_over_a_similar_one() -> None:
    text = '## A b\n\n<a id="a_b"></a>\n'
    assert (found(text, "a_b"), found(text, "a-b"), found(text, "A.B")) == ("a_b", "a-b", "a-b")


def test_all_callers_get_the_same_id_for_a_link_target() -> None:
    """The page, the API's document, the outline, the sections that search finds."""
    drawn = render(read(PAGE))
    document = read(PAGE)
    shown = [node["meta"]["id"] for node in to_json(document)["nodes"] if node["type"].startswith("heading")]
    assert shown == [h.id for h in drawn.outline if h.title != "Inside"]
    assert {h.id for h in outline(read(PAGE))} == {s.id for s in sections(read(PAGE)) if s.id}
    for name in mark_places(read(PAGE)):
        assert f'id="{name}"' in drawn.body
    assert mark_places(document) == list(place_ids(read(PAGE)).values())


def test_ids_reveal_nothing_about_conditional_content() -> None:
    text = "{% if x %}\n## Part\n{% endif %}\n\n## Part\n"
    document = read(text)
    ids = place_ids(document)
    assert ids[id(document.nodes[1])] == "part"
    assert ids[id(document.nodes[0].nodes[0])] == "part-1"
    places = [place for _, place in list_places(read(text))]
    assert anchors(places, lambda expression: False).find("part-1") is None
    assert anchors(places, lambda expression: True).find("part-1") == "part-1"


def test_anchors_of_a_page_come_before_included_ones() -> None:
    own, other = DocumentPlace("faq"), DocumentPlace("faq", fixed=True, included=True)
    assert name_places([other, own]) == ["faq-1", "faq"]


def test_text_after_an_unclosed_condition_belongs_to_it() -> None:
    document = close_conditions(read("A\n\n{% if x %}\n## B\n\nC\n"))
    assert [(s.id, s.text, s.conditions) for s in sections(document)] == [
        (None, "A", ()),
        ("b", "C", ("x",)),
    ]


def test_sections_are_separated_by_their_conditions() -> None:
    text = (
        "Lead\n\n{% if a %}\nOne\n\n{% if b %}\n## Deep\n\nTwo\n{% endif %}\n\nThree\n{% endif %}\n\nFour\n\n"
        "## Next\n\n{% if a %}\nFive\n{% endif %}\n\nSix\n"
    )
    assert [(s.id, s.text, s.conditions) for s in sections(read(text))] == [
        (None, "Lead\nFour", ()),
        (None, "One\nThree", ("a",)),
        ("deep", "Two", ("a", "b")),
        ("next", "Six", ()),
        ("next", "Five", ("a",)),
    ]


NAME = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=12)


@given(
    st.lists(
        st.builds(
            DocumentPlace, NAME.map(slug), st.booleans(), st.lists(st.just("x"), max_size=1).map(tuple)
        ),
        max_size=12,
    )
)
def test_ids_are_unique_and_resolve_to_themselves(places: list[DocumentPlace]) -> None:
    names = name_places(places)
    assert len(set(names)) == len(names)
    known = anchors(places)
    assert all(known.find(name) == name for name in names if name)


@given(NAME)
def test_a_heading_is_found_by_anchors_of_other_tools(title: str) -> None:
    text = f"## x{title.strip()}x\n"
    places = [place for _, place in list_places(read(text))]
    if len(places) == 1:
        (name,) = name_places(places)
        upper = name.upper() if name.upper().casefold() == name.casefold() else name
        for spelling in (upper, name.replace("-", "_"), name.replace("-", "."), f"-{name}-"):
            assert anchors(places).find(spelling) == name


def test_code_blocks_are_not_searched_for_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def count(node: Any) -> list[Any]:
        nonlocal looked
        looked += 1
        return children(node)

    monkeypatch.setattr(module, "children", count)
    document = read("# Title\n\n```json\n" + "1\n" * 500 + "```\n")
    assert len(list(flow(document))) > 500 and looked < 5
