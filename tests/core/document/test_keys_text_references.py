"""Stable keys, the text of a document, and its references."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from octavo.core.document.anchors import anchors, list_places
from octavo.core.document.json import from_json, to_json
from octavo.core.document.keys import _align, assign_keys, carry_keys, carry_sources, keyed_nodes
from octavo.core.document.nodes import Block, Document, Fragment, plain_text, walk
from octavo.core.document.reader import read
from octavo.core.document.references import references, rewrite
from octavo.core.document.text import outline, sections, to_text, word_count
from octavo.core.document.writing import write

PAGE = '## A\n\none two\n\n* x\n* y\n\n## A\n\nthree four five\n\n{% hint style="info" %}\ninner\n{% endhint %}\n'


def keys(text: str) -> list[str | None]:
    return [node.key for node in assign_keys(read(text)).nodes]


def test_keys_are_reproducible_and_unique_within_a_text() -> None:
    document = assign_keys(read(PAGE + "\none two\n"))
    found = [node.key for node in walk(document) if isinstance(node, (Block, Fragment))]
    assert len(set(found)) == len(found)
    assert keys(PAGE) == keys(PAGE)


def test_edited_moved_and_unchanged_blocks_keep_their_keys() -> None:
    old = assign_keys(read(PAGE))
    was = [node.key for node in old.nodes]
    new = carry_keys(
        old,
        read(
            'new here\n\n## A\n\none two changed\n\n* x\n* y\n\n{% hint style="info" %}\ninner\n'
            "{% endhint %}\n\n## A\n\nthree four five\n"
        ),
    )
    now = [node.key for node in new.nodes]
    assert now[1:4] == was[:3]
    assert now[4:] == [was[5], was[3], was[4]]
    assert now[0] not in was


def test_cells_keep_their_keys_when_rows_and_columns_are_inserted() -> None:
    def cells(document: Document) -> dict[str, str | None]:
        return {plain_text(node): node.key for node in walk(document) if isinstance(node, Fragment)}

    old = assign_keys(read("| a | b |\n| - | - |\n| one | two |\n| three | four |\n"))
    was = cells(old)
    for text in (
        "| a | b |\n| - | - |\n| new | row |\n| one | two |\n| three | four |\n",
        "| c | a | b |\n| - | - | - |\n| new | one | two |\n| column | three | four |\n",
    ):
        now = cells(carry_keys(old, read(text)))
        assert was.items() <= now.items() and len(set(now.values())) == 6


@given(
    st.lists(st.sampled_from(["a", "b", "## c", "* d", "> e"]), max_size=8),
    st.lists(st.sampled_from(["a", "b x", "## c", "* d", "> f"]), max_size=8),
)
@example(["* d", "a"], ["* d", "* d", "a", "* d"])
@settings(max_examples=100, deadline=None)
def test_no_two_nodes_ever_share_a_key(before: list[str], after: list[str]) -> None:
    old, new = read("\n\n".join(before)), read("\n\n".join(after))
    carry_keys(old, new)
    found = [node.key for node in walk(new) if isinstance(node, (Block, Fragment))]
    assert None not in found and len(set(found)) == len(found)


def test_unedited_json_round_trips_to_the_same_source() -> None:
    source = "\ufeff# T #\n\n- a\n- b\n\n[x]: y\n\n[x] __b__  \nc\n\n\n***\n"
    old = read(source)
    assert write(carry_sources(old, from_json(to_json(old)))) == source
    new = from_json(to_json(old))
    new.nodes[1] = Block("divider")
    assert (
        write(carry_sources(old, new))
        == source.replace("- a\n- b", "***").replace("\n[x]: y\n", "").rstrip("\n") + "\n\n[x]: y\n"
    )


def test_outline_has_unique_anchors() -> None:
    assert [
        (h.id, h.level, h.title)
        for h in outline(read('## A b!\n\n### A b\n\n## C <a href="#a-b-1" id="a-b-1"></a>\n'))
    ] == [
        ("a-b", 1, "A b!"),
        ("a-b-2", 2, "A b"),
        ("a-b-1", 1, "C"),
    ]


def test_text_sections_and_words_are_extracted() -> None:
    document = read(PAGE)
    assert to_text(document).split("\n") == ["A", "one two", "x", "y", "A", "three four five", "inner"]
    assert [(s.id, s.title, s.text) for s in sections(document)] == [
        ("a", "A", "one two\nx\ny"),
        ("a-1", "A", "three four five\ninner"),
    ]
    assert word_count(document) == 10
    assert word_count(read("漢字 abc it's")) == 4


REFERRING = """a [b](x.md) ![i](i.png) <a href="b.md" class="button primary">B</a>

{% embed url="https://e" %}

{% file src="f.zip" %}

{% include "inc.md" %}

{% content-ref url="c.md" %}
[c.md](c.md)
{% endcontent-ref %}

{% openapi src="o.yaml" path="/" method="get" %}

{% openapi-operation spec="s" path="/" method="get" %}

<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th>\
<th data-type="files"></th></tr></thead><tbody><tr><td><a href="in.md">x</a></td><td><a href="t.md">t</a>\
</td><td><a href="q.pdf">q</a></td></tr></tbody></table>
"""


def test_every_reference_is_found_with_its_position() -> None:
    found = references(assign_keys(read(REFERRING)))
    assert [r.ref.get("url", r.ref.get("spec")) for r in found] == [
        "x.md",
        "i.png",
        "b.md",
        "https://e",
        "f.zip",
        "inc.md",
        "c.md",
        "o.yaml",
        "s",
        "t.md",
        "q.pdf",
        "in.md",
    ]
    assert found[0].path == "nodes[0].nodes[1].data.ref"
    assert found[9].path == "nodes[7].data.records.r1.values.c2"
    assert all(reference.key for reference in found)


def test_rewriting_changes_only_the_blocks_that_refer() -> None:
    document = read("Setext\n---\n\nsee [b](x.md)\n\n* untouched\n")
    rewrite(document, lambda r: {"kind": "url", "url": "y.md"} if r.ref["url"] == "x.md" else None)
    assert write(document) == "Setext\n---\n\nsee [b](y.md)\n\n* untouched\n"


def test_column_titles_are_text_of_tables_but_not_of_cards() -> None:
    rows = "<thead><tr><th>Heading</th></tr></thead><tbody><tr><td>inside</td></tr></tbody></table>"
    assert to_text(read(f"<table>{rows}\n")).split() == ["Heading", "inside"]
    assert to_text(read(f'<table data-view="cards">{rows}\n')).split() == ["inside"]


def test_an_edit_reads_only_changed_blocks(monkeypatch):
    looked = []
    monkeypatch.setattr(
        "octavo.core.document.keys._align", lambda *given: looked.append(given[:2]) or _align(*given)
    )
    parts = [
        f"* item {n}\n  * inner {n}\n\n> quoted\n\n| a | b |\n| --- | --- |\n| {n} | same |"
        for n in range(20)
    ]
    old = assign_keys(read("\n\n".join(parts)))
    parts[7] = parts[7].replace("inner 7", "inner seven")
    new = carry_keys(old, read("\n\n".join(parts)))
    assert len(looked) < 10
    assert [node.key for node in keyed_nodes(new)] == [node.key for node in keyed_nodes(old)]


def test_links_with_the_word_and_find_headings_with_an_ampersand() -> None:
    document = read("## Install & run\n\n## Terms & conditions\n\n## Terms and conditions\n")
    found = anchors([place for _, place in list_places(document)])
    for wanted in ("install--run", "install-and-run", "Install-and-Run", "install-&-run", "install-run"):
        assert found.find(wanted) == "install--run", wanted
    assert found.find("terms-and-conditions") == "terms-and-conditions"
    assert found.find("terms--conditions") == "terms--conditions"
    assert found.find("install-or-run") is None
