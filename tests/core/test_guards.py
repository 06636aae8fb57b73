"""Unparsable conditions hide the content they apply to, and are reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.docs_config import read_docs
from octavo.core.document.evaluating import close_conditions, show_document
from octavo.core.document.nodes import plain_text
from octavo.core.document.page import read_head, unread_conditions, with_head
from octavo.core.document.reader import read
from octavo.core.expressions import NOBODY, Shown

PAID = {"claims": {"paid": True, "unsigned": {}}}
GUARD = "visitor.claims.paid"


def shown(markdown: str, visitor: dict = NOBODY) -> str:
    return plain_text(show_document(close_conditions(read(markdown)), Shown({}, {}, visitor)))


UNREAD = [
    "a {% if visitor.claims.paid %}SECRET{% endif %} b\n",
    "a {%- if visitor.claims.paid -%}**SECRET**{%- endif -%} b\n",
    "a {% if visitor.claims.paid %} b\n\nSECRET\n\n{% endif %}\n",
    "a {% if visitor.claims.paid %} b\n\n* x\n* SECRET\n",
    "* a {% if visitor.claims.paid %}\n* SECRET\n\nSECRET\n",
    "## a {% if visitor.claims.paid %}SECRET{% endif %}\n",
    "| a |\n| - |\n| {% if visitor.claims.paid %}SECRET{% endif %} |\n",
    "[{% if visitor.claims.paid %}SECRET{% endif %}](https://a.test)\n",
    '{% tabs %}\n{% tab title="{% if visitor.claims.paid %}SECRET{% endif %}" %}\nx\n{% endtab %}\n{% endtabs %}\n',
    '{% hint style="info" %}\na {% if visitor.claims.paid %}\n{% endhint %}\n\nSECRET\n\n{% endif %}\n',
    "{% If visitor.claims.paid %}\n\nSECRET\n\n{% EndIf %}\n",
    "{% unless visitor.claims.free %}\n\nSECRET\n\n{% endunless %}\n",
    "{% if visitor.claims.paid }\n\nSECRET\n\n{% endif %}\n",
    "{% if !visitor.claims.paid %}\n\nx\n\n{% else %}\n\nSECRET\n\n{% endif %}\n",
    "{% if !visitor.claims.paid %}\n\nx\n\n{% elif visitor.claims.paid %}\n\nSECRET\n\n{% endif %}\n",
    "{% if !visitor.claims.paid %}x{% else %}SECRET{% endif %}\n",
    "{% else %}\n\nSECRET\n",
]


@pytest.mark.parametrize("markdown", UNREAD)
@pytest.mark.parametrize("visitor", [NOBODY, PAID], ids=["nobody", "paid"])
def test_content_behind_unparsable_conditions_is_hidden(markdown: str, visitor: dict) -> None:
    text = shown(f"before\n\n{markdown}", visitor)
    assert "SECRET" not in text and "before" in text
    assert unread_conditions(f"# T\n\nbefore\n\n{markdown}")


@pytest.mark.parametrize(
    "markdown",
    [
        "a `{% if x %}` b\n",
        "```\n{% if x %}\nSHOWN\n{% endif %}\n```\n",
        "{% code %}\n```\n{% else %}\n```\n{% endcode %}\n",
        "{% if visitor.claims.paid %}\n\nSHOWN\n\n{% endif %}\n",
        "{% if visitor.claims.paid %}\n\n{% if visitor.claims.paid %}\n\nSHOWN\n\n{% endif %}\n{% endif %}\n",
        "what if, or else\n",
    ],
)
def test_valid_conditions_and_code_are_not_hidden(markdown: str) -> None:
    assert unread_conditions(markdown) == []
    assert shown(f"{markdown}\nafter\n", PAID).endswith("after")


def test_content_after_the_end_of_a_condition_is_shown() -> None:
    assert shown("a {% if x %}\n\nSECRET\n\n{% endif %} b\n\nafter\n").endswith("after")
    assert "after" in shown("{% if x %}\n\nA\n\n{% else %}\n\nB\n\n{% endif %}\n\nafter\n")
    assert shown("The tag {% if %} begins a condition.\n\nafter\n") == "after"


_PIECES = st.lists(
    st.sampled_from(
        [
            "{% if x %}",
            "{% endif %}",
            "{% else %}",
            "text",
            "\n\n",
            "\n",
            "* ",
            "> ",
            "## ",
            "| a |\n| - |\n",
            "`{% if x %}`",
            "{% hint %}",
            "{% endhint %}",
            "{% unless y %}",
            "{% If z %}",
        ]
    ),
    max_size=12,
)


@given(_PIECES)
def test_gaps_between_blocks_fit_hidden_content(pieces: list[str]) -> None:
    document = close_conditions(read("".join(pieces)))
    assert len(document.gaps) in (0, len(document.nodes) + 1)
    unread_conditions("".join(pieces))


HEADS = [
    "if: [a, b]",
    "if: {a: b}",
    "if:",
    "if: ''",
    "If: true",
    "IF: true",
    "'if ': true",
    "_if: true",
    "if: true\nif: visitor.claims.paid",
    "title: [\nif: true",
    "title: 'a\nif: true",
    "- if: true",
    "a: &x 1\nb: *x\nIf: true",
]


@pytest.mark.parametrize("yaml", HEADS)
@pytest.mark.parametrize(
    "form", ["---\n{}\n---\n# T\n", "\n---\n{}\n---\n# T\n", "---\n{}\n\n# T\n", "\ufeff---\r\n{}\r\n---\r\n"]
)
def test_an_unparsable_condition_hides_its_page(yaml: str, form: str) -> None:
    source = form.format(yaml)
    head = read_head(source)
    assert not Shown({}, {}, PAID).holds(head.condition or "true"), head
    assert unread_conditions(source)
    # Saying the condition as it is written decides.
    decided = with_head(source, {"if": GUARD})
    if form.startswith("---") and not read_head(decided).problems:
        assert read_head(decided).condition == GUARD


@pytest.mark.parametrize("source", ["---\nif: true\n---\n", "---\nif: visitor.claims.paid\n---\n", "# T\n"])
def test_a_valid_condition_does_not_count_as_unparsable(source: str) -> None:
    assert unread_conditions(source) == []


def test_text_resembling_front_matter_hides_nothing() -> None:
    for source in ("---\n\nIf: a sentence\n", "# T\n\n---\nif: x\n", "---\ntitle: [\n---\n# T\n"):
        assert read_head(source).condition is None, source


@pytest.mark.parametrize("key", ["Condition", "if", "conditions", "condition "])
def test_a_misspelled_condition_of_a_site_hides_content(key: str) -> None:
    entry = f"{{type: section, key: a, title: A, '{key}': visitor.claims.paid, children: []}}"
    config = read_docs(f"site:\n  structure:\n    - {entry}\n", max_depth=4, languages=[])
    assert [section.condition for section in config.structure] == ["false"]
    assert any(key in problem.message for problem in config.problems)
