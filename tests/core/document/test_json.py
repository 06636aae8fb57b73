"""The JSON form: valid against the public description, and strict with input."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from document_strategies import leaves
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.nodes import Block, Document, walk
from octavo.core.document.reader import read
from octavo.core.document.schema import BLOCKS
from octavo.core.document.writing import write

PAGE = """## A

x **b** :rocket: [l](u) $$f$$ <i class="fa-x">:x:</i>

* a
  1. b

- [x] t

> q

***

```js
c
```

{% hint style="info" %}
h
{% endhint %}

{% tabs %}
{% tab title="t" %}
x
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
x
{% endstep %}
{% endstepper %}

<details>

<summary>s</summary>

b

</details>

| a | b |
| --- | :-: |
| 1 | 2 |

<table data-view="cards"><thead><tr><th></th><th data-type="rating" data-max="5">R</th></tr></thead><tbody>\
<tr><td>x</td><td>3</td></tr></tbody></table>

<figure><img src="x" alt=""><figcaption><p>c</p></figcaption></figure>

{% embed url="https://x" %}

{% content-ref url="a.md" %}
[a.md](a.md)
{% endcontent-ref %}

{% openapi-operation spec="s" path="/a" method="get" %}

{% @a/b %}

$$
m
$$
"""


@pytest.fixture(scope="module")
def oracle(public_api: Any, newest_api: Any) -> Any:
    import jsonschema_rs

    description = public_api.description
    # Some of its oneOf overlap (a URL in a table cell is also an image record, a text also a PlainObject).
    components = json.loads(json.dumps(description["components"]).replace('"oneOf"', '"anyOf"'))
    # Marks have the colors of the newest description.
    colors = newest_api.description["components"]["schemas"]["DocumentTextColor"]
    components["schemas"] |= {"DocumentTextColor": colors, "DocumentTextBackgroundColor": colors}
    schema = {"$ref": "#/components/schemas/JSONDocument", "components": components}
    return jsonschema_rs.Draft202012Validator(schema)


def test_a_page_of_public_blocks_is_a_json_document(oracle: Any) -> None:
    shown = to_json(read(PAGE))
    errors = [f"{list(error.instance_path)}: {error.message[:300]}" for error in oracle.iter_errors(shown)]
    assert not errors, errors


def public(document: Document) -> bool:
    """Return whether the document conforms to the description: its types, its kinds of references, and
    heading ids in its characters; parsed texts can have others."""
    allowed = {name for name, kind in BLOCKS.items() if kind.public} - {"if", "columns", "column"}
    unresolved = {"file", "reusable-content", "drawing", "swagger"}
    unresolved.add(
        "integration"
    )  # its PlainObject says no type, so that every text in props fits two branches
    return all(
        not isinstance(n, Block)
        or (
            n.type in allowed
            and n.type not in unresolved
            and re.fullmatch(r"[-a-z0-9.+_]*", n.data.get("id") or "") is not None
        )
        for n in walk(document)
    )


@given(st.lists(leaves, min_size=1, max_size=3).map(Document).filter(public))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_blocks_have_all_required_fields(oracle: Any, document: Document) -> None:
    assert oracle.is_valid(to_json(document))


def text(said: str) -> Any:
    return {"object": "text", "leaves": [{"object": "leaf", "text": said, "marks": []}]}


def paragraph(*nodes: Any) -> Any:
    return {"object": "block", "type": "paragraph", "isVoid": False, "data": {}, "nodes": list(nodes)}


def document(*nodes: Any) -> Any:
    return {"object": "document", "data": {}, "nodes": list(nodes)}


def nested(depth: int) -> Any:
    inner = paragraph(text("x"))
    for _ in range(depth):
        inner = {"object": "block", "type": "blockquote", "data": {}, "nodes": [inner]}
    return inner


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "document: must be an object, not nothing"),
        ([], "document: must be an object, not an array"),
        ({"object": "page", "nodes": []}, 'document.object: must be "document"'),
        ({"object": "document"}, "document.nodes: must be an array, not nothing"),
        (
            document({"object": "block", "type": "odd"}),
            'document.nodes[0].type: must be a block type, not "odd"',
        ),
        (
            document({"object": "block", "type": ["x"]}),
            "document.nodes[0].type: must be a block type, not an array",
        ),
        (
            document(paragraph(), {"object": "block", "type": "hint", "data": {"style": "red"}, "nodes": []}),
            "document.nodes[1].data.style: must be one of info, warning, danger, success",
        ),
        (
            document({"object": "block", "type": "hint", "data": {}}),
            "document.nodes[0].data.style: is required",
        ),
        (
            document({"object": "block", "type": "list-item", "nodes": []}),
            "document.nodes[0].type: list-item isn't allowed here",
        ),
        (
            document({"object": "block", "type": "tabs", "nodes": [paragraph()]}),
            "document.nodes[0].nodes[0].type: must be tabs-item, not paragraph",
        ),
        (
            document(paragraph({"object": "text", "leaves": [{"text": 5}]})),
            "document.nodes[0].nodes[0].leaves[0].text: must be a string, not a number",
        ),
        (
            document(
                paragraph(
                    {
                        "object": "inline",
                        "type": "link",
                        "data": {"ref": {"kind": "url", "url": "javascript:x"}},
                        "nodes": [],
                    }
                )
            ),
            (
                "document.nodes[0].nodes[0].data.ref.url: this type of URL isn't allowed. Use an http, https,"
                " mailto, tel, or relative URL."
            ),
        ),
        (
            document({"object": "block", "type": "code", "data": {"lineNumbers": 1}, "nodes": []}),
            "document.nodes[0].data.lineNumbers: must be true or false, not a number",
        ),
        (
            document(
                {"object": "block", "type": "image", "data": {"ref": URL} if (URL := {"kind": "x"}) else {}}
            ),
            "document.nodes[0].type: image isn't allowed here",
        ),
    ],
)
def test_invalid_documents_are_reported_with_their_path(value: Any, message: str) -> None:
    with pytest.raises(DocumentError) as raised:
        from_json(value)
    assert str(raised.value) == message


@pytest.mark.parametrize("depth", [100, 10_000])
def test_too_many_levels_are_an_error(depth: int) -> None:
    with pytest.raises(DocumentError, match="levels deep"):
        from_json(document(nested(depth)))


def test_a_million_nodes_are_refused() -> None:
    with pytest.raises(DocumentError, match="at most"):
        from_json({"object": "document", "nodes": [None] * 1_000_000})


def test_every_node_of_a_type_that_needs_one_has_a_key() -> None:
    tabs = to_json(read('{% tabs %}\n{% tab title="a" %}\nx\n{% endtab %}\n{% endtabs %}'))["nodes"][0]
    assert tabs["key"] and tabs["nodes"][0]["key"] and tabs["nodes"][0]["meta"]["id"]


def test_adjacent_text_nodes_are_merged() -> None:
    made = from_json(document(paragraph(text("a"), text("b"), text(""))))
    assert [leaf.text for leaf in made.nodes[0].nodes[0].leaves] == ["ab"]  # type: ignore[union-attr]


def test_the_action_of_a_button_is_one_object() -> None:
    source = '<button type="button" class="button primary" data-action="ask" data-query="How?">Ask</button>\n'
    shown = to_json(read(source))
    button = next(node for node in shown["nodes"][0]["nodes"] if node.get("type") == "button")
    assert button["data"]["action"] == {"action": "ask", "query": "How?"} and "query" not in button["data"]
    assert write(from_json(shown)) == source
    # What apps sent before says the same.
    button["data"] |= {"action": "ask", "query": "How?"}
    assert write(from_json(shown)) == source
    button["data"]["action"] = {"action": 1}
    with pytest.raises(DocumentError, match=r"data\.action\.action: must be a string"):
        from_json(shown)


def test_an_action_that_selects_tabs_has_a_slug() -> None:
    source = (
        '<button type="button" class="button primary" data-size="small" data-action="select" data-slug="npm">Use'
        " npm</button>\n"
    )
    shown = to_json(read(source))
    button = next(node for node in shown["nodes"][0]["nodes"] if node.get("type") == "button")
    assert (
        button["data"]["action"] == {"action": "select", "slug": "npm"} and button["data"]["size"] == "small"
    )
    assert write(from_json(shown)) == source
    button["data"]["action"] = {"action": "select"}
    with pytest.raises(DocumentError, match=r"data\.action\.slug: must be a string"):
        from_json(shown)


MERGED = (
    "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody>"
    '<tr><td colspan="2">wide</td></tr><tr><td>x</td><td>y</td></tr></tbody></table>\n'
)


def test_merged_cells_are_named_by_their_row_and_column() -> None:
    shown = to_json(read(MERGED))
    table = shown["nodes"][0]
    merge = {"anchor": {"record": "r1", "column": "c1"}, "rowSpan": 1, "colSpan": 2}
    assert table["data"]["cellMerges"] == [merge]
    assert write(from_json(shown)) == MERGED
    # They count more than the attributes, which say the same.
    table["data"]["cellMerges"] = []
    assert "colspan" not in write(from_json(shown))
    del table["data"]["cellMerges"]
    assert write(from_json(shown)) == MERGED
    del table["meta"]
    assert "colspan" not in write(from_json(shown))
    table["data"]["cellMerges"] = [merge]
    assert write(from_json(shown)) == MERGED


@pytest.mark.parametrize(
    ("merge", "complaint"),
    [
        (
            {"anchor": {"record": "r9", "column": "c1"}, "rowSpan": 1, "colSpan": 2},
            "anchor: must refer to a text cell",
        ),
        (
            {"anchor": {"record": "r1", "column": "c9"}, "rowSpan": 1, "colSpan": 2},
            "anchor: must refer to a text cell",
        ),
        (
            {"anchor": {"record": "r2", "column": "c1"}, "rowSpan": 1, "colSpan": 2},
            "must cover only existing, empty text cells",
        ),
        (
            {"anchor": {"record": "r1", "column": "c1"}, "rowSpan": 1, "colSpan": 3},
            "must cover only existing, empty text cells",
        ),
        (
            {"anchor": {"record": "r1", "column": "c1"}, "rowSpan": 0, "colSpan": 2},
            "rowSpan: must be a whole number",
        ),
        (
            {"anchor": {"record": "r1", "column": "c1"}, "rowSpan": 1, "colSpan": 51},
            "colSpan: must be a whole number",
        ),
        ({"anchor": {"record": "r1", "column": "c1"}, "rowSpan": 1}, "colSpan: must be a whole number"),
        ({"anchor": "r1"}, "anchor: must be an object"),
        ("r1", "anchor: must be an object"),
    ],
)
def test_merged_cells_that_a_table_cannot_have_are_rejected(merge: Any, complaint: str) -> None:
    shown = to_json(read(MERGED))
    shown["nodes"][0]["data"]["cellMerges"] = [merge]
    with pytest.raises(DocumentError, match=rf"cellMerges\[0\](\.|: ){complaint}"):
        from_json(shown)
