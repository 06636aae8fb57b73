"""Translatable parts of a document: only its texts, for every provider."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from document_strategies import documents
from octavo.assistants.translations.segments import _PLACEHOLDER, mark_edited, segments
from octavo.core.document.nodes import Document
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from skeletons import skeleton

MANUAL = Path(__file__).parents[2] / "docs"
PAGES = sorted(MANUAL.rglob("*.md"))


def upper(text: str) -> str:
    """Translate everything translatable."""
    return "".join(
        part if part.startswith(("<", "&")) or _PLACEHOLDER.fullmatch(part) else part.upper()
        for part in re.split(rf"(<[^>]*>|&\w+;|{_PLACEHOLDER.pattern})", text)
    )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_everything_but_the_texts_is_kept(path: Path) -> None:
    before, after = read(path.read_text()), read(path.read_text())
    for segment in segments(after):
        assert segment.put(upper(segment.text)), segment.text
    mark_edited(after)
    again = read(write(after))
    assert skeleton(again) == skeleton(read(write(read(path.read_text())))) == skeleton(before)
    assert [segment.text for segment in segments(again)] == [
        upper(segment.text) for segment in segments(before)
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents)
def test_everything_but_the_texts_of_generated_documents_is_kept(generated: Document) -> None:
    text = write(generated)
    before, after = read(text), read(text)
    for segment in segments(after):
        assert segment.put(upper(segment.text).replace("A", "Q")), segment.text
    mark_edited(before)
    mark_edited(after)
    again = read(write(after))
    assert skeleton(again) == skeleton(read(write(before)))
    mark_edited(again)
    assert skeleton(read(write(again))) == skeleton(again)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PAGES), st.data())
def test_a_translation_with_different_tags_is_refused(path: Path, data: st.DataObject) -> None:
    found = [segment for segment in segments(read(path.read_text())) if "<" in segment.text]
    if not found:
        return
    segment = data.draw(st.sampled_from(found))
    tags = re.findall(r"</?\d+/?>", segment.text)
    tag = data.draw(st.sampled_from(tags))
    wrong = data.draw(
        st.sampled_from(
            [
                segment.text.replace(tag, "", 1),
                segment.text + tag,
                segment.text + "<99/>",
                segment.text + "<99>x</99>",
                segment.text.replace(tag, tag.replace("<", "</", 1) if "/" not in tag else "<0>", 1),
            ]
        )
    )
    assert not segment.put(wrong)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=200))
def test_no_translation_breaks_a_document(text: str) -> None:
    document = read("# A *title* [here](x.md)\n\nSome **bold** text with `code` and {{ expr }}.\n")
    before = skeleton(document)
    for segment in segments(document):
        segment.put(text)
    mark_edited(document)
    write(document)
    assert skeleton(document) == before


def test_protected_text_is_never_sent() -> None:
    document = read(
        "Run `rm -rf` with [the **key**](secret.md) at <code "
        'class="expression">space.vars.x</code> :smile: <kbd>Ctrl</kbd>\n\n```js\nsecret()\n```\n'
    )
    told = " ".join(segment.text for segment in segments(document))
    for hidden in ("rm -rf", "secret", "space.vars", "smile", "secret.md"):
        assert hidden not in told
    assert "key" in told


def test_placeholders_are_kept() -> None:
    (segment,) = segments(read("Hello {name}, see `x` for %s and {{ count }}.\n"))
    assert not segment.put("Hallo {Name}, siehe <1/> für %s und {{ count }}.")
    assert not segment.put("Hallo {name}, siehe <1/> für {{ count }}.")
    assert segment.put("Hallo {name}, {{ count }} und %s: siehe <1/> hier.")


def test_urls_and_placeholders_alone_are_not_translated() -> None:
    source = (
        "<https://example.com/a>\n\nhttps://example.com/b?c=d\n\n**{name}** %s\n\n* See https://example.com\n"
    )
    assert [segment.text for segment in segments(read(source))] == ["See <1>https://example.com</1>"]


def test_anchors_are_kept() -> None:
    document = read("## Getting started\n\nText.\n")
    for segment in segments(document):
        segment.put("Erste Schritte")
    mark_edited(document)
    assert 'id="getting-started"' in write(document)
