"""Content of a document that is visible to unauthenticated visitors."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from document_strategies import documents
from octavo.core.document.evaluating import close_conditions, show_document
from octavo.core.document.html import render
from octavo.core.document.nodes import Block, Document, Inline, walk
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from octavo.core.expressions import Shown

SHOWN = Shown({"yes": True, "name": "Ada"}, {})


def shown(text: str) -> str:
    return write(show_document(close_conditions(read(text)), SHOWN))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A.\n\nB __b__.\n", "A.\n\nB __b__.\n"),
        ("A.\n\n<!-- secret -->\n\nC.\n", "A.\n\nC.\n"),
        ("<!-- secret -->\n\nA.\n", "A.\n"),
        ("A.\n\n<!-- secret -->\n", "A.\n"),
        ("A <!-- secret > --> b.\n", "A  b.\n"),
        ("* a\n  <!-- secret -->\n* b\n\n- c\n", "* a\n* b\n\n- c\n"),
        ("{% if no %}\nsecret\n{% endif %}\n\nB __b__.\n", "B __b__.\n"),
        ("{% if space.vars.yes %}\nIn\n\n{% if no %}\nsecret\n{% endif %}\n{% endif %}\n", "In\n"),
        ("{% if space.vars.no %}\nsecret\n", "\n"),
        ("A\n\n{% if no %}\nsecret\n\n## secret\n", "A\n"),
        (
            '{% hint style="info" %}\nA\n{% if no %}\nsecret\n{% endhint %}\n\nB\n',
            '{% hint style="info" %}\nA\n{% endhint %}\n\nB\n',
        ),
        ('Hi <code class="expression">space.vars.name</code>.\n', "Hi Ada.\n"),
        ("A [b][c] d.\n\n__B__\n\n[c]: x.md\n[//]: # (secret)\n", "A [b](x.md) d.\n\n__B__\n"),
        ("A[^1].\n\n[^1]: note\n\n[^2]: secret\n", "A[^1].\n\n[^1]: note\n"),
        ("A.\n\n{% if no %}\nB[^1]\n{% endif %}\n\n[^1]: secret\n", "A.\n"),
        ("> A\n>\n> [x]: secret\n", "> A\n"),
    ],
)
def test_private_content_is_removed_and_the_rest_keeps_its_bytes(text: str, left: str) -> None:
    found = shown(text)
    assert found.strip("\n") == left.strip("\n")
    assert "secret" not in str(render(show_document(close_conditions(read(text)), SHOWN)).body)


def test_deeply_nested_text_that_can_contain_conditions_is_not_shown() -> None:
    text = "> " * 120 + "{% if no %}\n" + "> " * 120 + "secret\n" + "> " * 120 + "{% endif %}\n"
    assert "secret" not in shown(text)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(documents)
def test_blocks_without_private_content_stay_unchanged(document: Document) -> None:
    text = write(document)
    kinds = {"if", "expression", "annotation", "unknown"}
    if not any(isinstance(node, (Block, Inline)) and node.type in kinds for node in walk(read(text))):
        assert shown(text) == text


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(documents)
def test_an_encoded_document_round_trips(document: Document) -> None:
    """As prints hand it to the process that sets them."""
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document
