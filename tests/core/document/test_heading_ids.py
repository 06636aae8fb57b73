"""Identifiers that writers give to headings: in whichever form, they are no words, keep their bytes, and come
before computed ones."""

from __future__ import annotations

import pytest

from octavo.core.document.anchors import anchors, list_places
from octavo.core.document.html import render
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.document.page import read_head, with_head
from octavo.core.document.reader import read
from octavo.core.document.text import outline
from octavo.core.document.writing import write
from octavo.core.import_plan import leading_title

FORMS = [
    "## Types {{#{id}}}\n",
    "## Types {{: #{id} }}\n",
    "## Types {{#{id}}} ##\n",
    "Types {{#{id}}}\n---\n",
    '## Types <a href="#{id}" id="{id}"></a>\n',
    '<h2 id="{id}">Types</h2>\n',
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("id", ["module_types", "Module-Types", "größe", "a.b:c", "型"])
def test_an_explicit_heading_id_is_used(form: str, id: str) -> None:
    text = "## " + id + "\n\n" + form.format(id=id)
    document = read(text)
    assert [heading.title for heading in outline(document)] == [id, "Types"]
    assert outline(document)[1].id == id, "not the heading that is only called so"
    found = anchors([place for _, place in list_places(document)])
    assert found.find(id) == id
    html = render(read(text)).body
    assert f'id="{id}"' in html and "{" not in html
    assert write(read(text)) == text


def test_an_id_survives_an_edit_and_similar_text_stays_text() -> None:
    document = read("## Types {#module_types}\n")
    document.nodes[0].source = None
    assert outline(read(write(document)))[0].id == "module_types"
    words = Document([Block("heading-1", {}, [Text([Leaf("Types {#no}")])])])
    assert outline(read(write(words)))[0].title == "Types {#no}"
    for text in ("## a \\{#b}\n", "## `{#b}`\n", "## a {b}\n"):
        assert "id" not in read(text).nodes[0].data, text


def test_a_title_can_have_an_explicit_id() -> None:
    text = "# Types {#module_types}\n\nwords\n"
    assert read_head(text).title == leading_title(text) == "Types"
    assert "{#module_types}" in with_head(text, {"title": "Kinds"})
