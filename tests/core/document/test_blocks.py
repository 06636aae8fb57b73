"""Each block and inline form of the format, as it is read."""

from __future__ import annotations

import time
from typing import Any

import pytest

from octavo.core.document import schema
from octavo.core.document.html import render
from octavo.core.document.json import nodes_from_json, nodes_to_json
from octavo.core.document.nodes import Block, Document, Inline, Text, walk
from octavo.core.document.reader import read
from octavo.core.document.writing import write


def one(text: str) -> Block:
    nodes = read(text).nodes
    assert len(nodes) == 1, nodes
    return nodes[0]


def inline(text: str, type_: str) -> Inline:
    found = [node for node in walk(one(text)) if isinstance(node, Inline) and node.type == type_]
    assert len(found) == 1
    return found[0]


def said(block: Any) -> str:
    return "".join(leaf.text for node in walk(block) if isinstance(node, Text) for leaf in node.leaves)


URL = {"kind": "url", "url": "a.md"}
EXAMPLES = [
    ("hello *there*", "paragraph", {}),
    ("# one", "heading-1", {"level": 1}),
    ('## two <a href="#x" id="x"></a>', "heading-1", {"id": "x"}),
    ("#### four", "heading-3", {}),
    ("Title\n=====", "heading-1", {"level": 1}),
    ('<h2 align="center">T</h2>', "heading-1", {"align": "center"}),
    ('<p align="right">T</p>', "paragraph", {"align": "end"}),
    ("* a\n* b", "list-unordered", {}),
    ("3. a", "list-ordered", {"start": 3}),
    ("- [x] a\n- [ ] b", "list-tasks", {}),
    ("***", "divider", {}),
    ("> a", "blockquote", {}),
    ('{% hint style="danger" icon="bolt" %}\nx\n{% endhint %}', "hint", {"style": "danger", "icon": "bolt"}),
    ('{% hint style="odd" %}\nx\n{% endhint %}', "hint", {"style": "info", "attributes": {"style": "odd"}}),
    ("```js a=1\nx\n```", "code", {"syntax": "js", "info": "a=1"}),
    (
        '{% code title="a" overflow="wrap" lineNumbers="true" expandable="true" %}\n```\nx\n```\n{% endcode %}',
        "code",
        {"title": "a", "overflow": "wrap", "lineNumbers": True, "expandable": True},
    ),
    (
        '<pre class="language-py" data-title="t" data-line-numbers><code class="lang-py">a &#x3C; b\n</code></pre>',
        "code",
        {"syntax": "py", "title": "t", "lineNumbers": True},
    ),
    ("$$\na\n$$", "math", {"formula": "a"}),
    ("$$ a $$", "math", {"formula": "a"}),
    ('<figure><img src="x" alt="y"><figcaption></figcaption></figure>', "images", {}),
    (
        '<div data-full-width="true">\n\n<figure><img src="x" alt=""></figure>\n\n</div>',
        "images",
        {"fullWidth": True},
    ),
    ("![a](x)", "images", {}),
    (
        '<img src="x.drawing.svg" alt="" class="gitbook-drawing">',
        "drawing",
        {"ref": {"kind": "url", "url": "x.drawing.svg"}},
    ),
    (
        '<img src="x.svg" alt="A plan" width="40" title="t" class="gitbook-drawing big">',
        "drawing",
        {
            "ref": {"kind": "url", "url": "x.svg"},
            "alt": "A plan",
            "width": 40,
            "attributes": {"class": "big", "title": "t"},
        },
    ),
    ('{% file src="a.md" %}', "file", {"ref": URL}),
    (
        '{% embed url="https://x" fullWidth="true" %}\ncap\n{% endembed %}',
        "embed",
        {"url": "https://x", "fullWidth": True},
    ),
    ('{% content-ref url="a.md" %}\n[a.md](a.md)\n{% endcontent-ref %}', "content-ref", {"ref": URL}),
    (
        '{% content-ref url="a.md" %}\n[T](a.md)\n{% endcontent-ref %}',
        "content-ref",
        {"ref": URL, "label": "T"},
    ),
    ('{% page-ref page="a.md" %}', "content-ref", {"ref": URL}),
    ('{% include "a.md" %}', "reusable-content", {"ref": URL}),
    ("<details open>\n\n<summary>T</summary>\n\nx\n\n</details>", "expandable", {"open": True}),
    ("<details><summary>T</summary>x</details>", "expandable", {}),
    ('{% tabs %}\n{% tab title="a" %}\nx\n{% endtab %}\n{% endtabs %}', "tabs", {}),
    ("{% stepper %}\n{% step %}\nx\n{% endstep %}\n{% endstepper %}", "stepper", {}),
    ('{% columns %}\n{% column width="50%" %}\nx\n{% endcolumn %}\n{% endcolumns %}', "columns", {}),
    ('{% if a === "b" %}\nx\n{% endif %}', "if", {"expression": 'a === "b"'}),
    (
        '{% openapi src="a.md" path="/x" method="get" %}\n[x](y)\n{% endopenapi %}',
        "swagger",
        {"ref": URL, "path": "/x", "method": "get", "body": "[x](y)"},
    ),
    (
        '{% openapi-operation spec="s" path="/x" method="get" %}',
        "openapi-operation",
        {"ref": {"kind": "openapi", "spec": "s"}, "path": "/x", "method": "get"},
    ),
    (
        '{% openapi-schemas spec="s" schemas="A,B" grouped="true" %}',
        "openapi-schemas",
        {"ref": {"kind": "openapi", "spec": "s"}, "schemas": ["A", "B"], "grouped": True},
    ),
    (
        '{% openapi-webhook spec="s" name="n" method="post" %}',
        "openapi-webhook",
        {"ref": {"kind": "openapi", "spec": "s"}, "name": "n", "method": "post"},
    ),
    (
        '{% updates format="full" %}\n{% update date="2026-01-01" tags="a, b" %}\nx\n{% endupdate %}\n{% endupdates %}',
        "updates",
        {"format": "full"},
    ),
    (
        '{% prompt description="d" icon="i" %}\n```\nx\n```\n{% endprompt %}',
        "prompt",
        {"description": "d", "icon": "i"},
    ),
    (
        '{% @supademo/embed url="u" %}',
        "integration",
        {"integration": "supademo", "block": "embed", "props": {"url": "u"}, "url": "u"},
    ),
    (
        '{% api-method method="get" %}\n{% api-method-summary %}\nx\n{% endapi-method-summary %}\n{% endapi-method %}',
        "api-method",
        {"tag": "api-method", "method": "get"},
    ),
    (
        '{% odd a="b" %}\nx\n{% endodd %}',
        "unknown",
        {"source": '{% odd a="b" %}', "end": "{% endodd %}", "kind": "tag"},
    ),
    ("{% hint %}", "unknown", {"source": "{% hint %}", "kind": "tag"}),
    ("<!-- c -->", "unknown", {"source": "<!-- c -->", "kind": "comment"}),
    ("<script>\nalert(1)\n</script>", "unknown", {"source": "<script>\nalert(1)\n</script>", "kind": "html"}),
    ("<host>", "paragraph", {}),
]


@pytest.mark.parametrize(
    ("text", "kind", "data"), EXAMPLES, ids=[f"{n}-{e[1]}" for n, e in enumerate(EXAMPLES)]
)
def test_a_block_round_trips_with_its_data(text: str, kind: str, data: Any) -> None:
    block = one(text)
    assert (block.type, block.data) == (kind, data)
    before = said(block)
    block.source = None
    again = one(write(read(text)).strip("\n"))
    assert (again.type, again.data, said(again)) == (kind, data, before)


@pytest.mark.parametrize(
    "text",
    [
        '<img src="x.svg" alt="" class="gitbook-drawing">',
        '<img src="x.svg" alt="A plan &amp; more" class="gitbook-drawing">',
        '<img src="x.svg" alt="A plan" width="40" class="gitbook-drawing">',
    ],
)
def test_a_drawing_round_trips(text: str) -> None:
    block = one(text)
    block.source = None
    assert write(Document([block])).strip("\n") == text


def test_a_drawing_is_shown_with_its_alternative_text() -> None:
    block = one('<img src="https://x.test/x.svg" alt="A plan" class="gitbook-drawing">')
    assert 'alt="A plan"' in render(Document([block])).body


def test_a_drawing_with_a_caption_keeps_it() -> None:
    text = (
        '<figure><img src="x.svg" alt="a" class="gitbook-drawing"><figcaption><p>What it '
        "shows</p></figcaption></figure>"
    )
    assert said(one(text)) == "What it shows" and one(text).type == "images"


def test_every_block_type_of_the_table_can_be_read() -> None:
    found = {node.type for text, *_ in EXAMPLES for node in walk(one(text)) if isinstance(node, Block)}
    assert found | {"table", "heading-2"} == set(schema.BLOCKS)


INLINE = [
    ("a [b](a.md) c", "link", {"ref": URL}),
    ('a [b](a.md "t") c', "link", {"ref": URL, "title": "t"}),
    ("a https://x.example/y. c", "link", {"ref": {"kind": "url", "url": "https://x.example/y"}}),
    ("a <https://x> c", "link", {"ref": {"kind": "url", "url": "https://x"}}),
    ('a <a href="a.md" target="_blank">b</a>', "link", {"ref": URL, "attributes": {"target": "_blank"}}),
    ("a :white_check_mark: b", "emoji", {"code": "2705"}),
    ('a <span data-gb-custom-inline data-tag="emoji" data-code="2705">x</span>', "emoji", {"code": "2705"}),
    (
        '<i class="fa-bolt" style="color:$primary;">:bolt:</i> x',
        "icon",
        {"icon": "bolt", "color": "$primary"},
    ),
    ('a <code class="expression">space.vars.x</code>', "expression", {"expression": "space.vars.x"}),
    ("a $$x_1*y*$$ b", "inline-math", {"formula": "x_1*y*"}),
    ('a <img src="a.md" alt="b" data-size="line">', "inline-image", {"ref": URL, "alt": "b", "size": "line"}),
    (
        'a <picture><source srcset="d" media="(prefers-color-scheme: dark)"><img src="a.md" alt=""></picture>',
        "inline-image",
        {"ref": URL, "refDark": {"kind": "url", "url": "d"}},
    ),
    ('a [a.md](a.md "mention")', "mention", {"ref": URL}),
    ('<a data-mention href="a.md">L</a> x', "mention", {"ref": URL, "label": "L"}),
    (
        '<a href="a.md" class="button primary" data-icon="x">Go</a> x',
        "button",
        {"label": "Go", "kind": "primary", "ref": URL, "icon": "x"},
    ),
    (
        '<button type="button" class="button secondary" data-action="ask" data-query="q">Go</button>',
        "button",
        {"label": "Go", "kind": "secondary", "action": "ask", "query": "q"},
    ),
    (
        '<a href="a.md" class="button primary" data-size="large">Go</a> x',
        "button",
        {"label": "Go", "kind": "primary", "ref": URL, "size": "large"},
    ),
    (
        '<a href="a.md" class="button primary" data-size="huge">Go</a> x',
        "button",
        {"label": "Go", "kind": "primary", "ref": URL},
    ),
]


@pytest.mark.parametrize(("text", "kind", "data"), INLINE)
def test_an_inline_is_read_with_its_data(text: str, kind: str, data: Any) -> None:
    assert inline(text, kind).data == data


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("**x**", "bold"),
        ("<b>x</b>", "bold"),
        ("_x_", "italic"),
        ("`x`", "code"),
        ("~~x~~", "strikethrough"),
        ("<kbd>x</kbd>", "keyboard"),
        ("<sub>x</sub>", "subscript"),
        ("<sup>x</sup>", "superscript"),
        ('<mark style="color:red;background-color:$info;">x</mark>', "color"),
    ],
)
def test_marks(text: str, mark: str) -> None:
    texts = [node for node in walk(one("a " + text)) if isinstance(node, Text)]
    leaf = texts[-1].leaves[-1]
    assert (leaf.text, [made.type for made in leaf.marks]) == ("x", [mark])


def test_an_annotation_contains_the_blocks_of_its_footnote() -> None:
    document = read("a [word](#user-content-fn-1)[^1] b\n\n[^1]: first\n\n    second\n")
    (note,) = [node for node in walk(document) if isinstance(node, Inline)]
    assert (note.type, said(Block("x", nodes=note.nodes))) == ("annotation", "word")
    assert [said(block) for block in note.fragments[0].nodes] == ["first", "second"]


def test_an_edited_annotation_moves_its_definition() -> None:
    document = read("a[^1]\n\n[^1]: old\n\nb[^2]\n\n[^2]: kept\n")
    document.nodes[0].source = None
    assert write(document) == "a[^1]\n\n[^1]: old\n\nb[^2]\n\n[^2]: kept\n"
    note = document.nodes[0].nodes[1].fragments[0]  # type: ignore[union-attr]
    note.nodes[0].nodes[0].leaves[0].text = "new"  # type: ignore[union-attr]
    assert write(document) == "a[^1]\n\nb[^2]\n\n[^2]: kept\n\n[^1]: new\n"


def test_cards_keep_target_cover_and_hidden_columns() -> None:
    table = one(
        '<table data-view="cards" data-card-size="large"><thead><tr><th></th><th data-hidden data-card-target '
        'data-type="content-ref"></th><th data-hidden data-card-cover data-type="image">C</th></tr></thead>'
        '<tbody><tr><td><strong>T</strong></td><td><a href="a.md">a.md</a></td><td><a href="i.png">i</a></td></tr>'
        "</tbody></table>"
    )
    assert table.data["view"] == {
        "type": "cards",
        "cardSize": "large",
        "columns": ["c1"],
        "targetDefinition": "c2",
        "coverDefinition": "c3",
    }
    values = table.data["records"]["r1"]["values"]
    assert values == {"c1": "r1c1", "c2": URL, "c3": {"kind": "url", "url": "i.png"}}


def test_tags_in_code_are_text() -> None:
    block = one("```\n{% hint %}\n{% endhint %}\n```")
    assert said(block) == "{% hint %}{% endhint %}"


def test_definitions_inside_a_tag_survive_its_edit() -> None:
    document = read('{% hint style="info" %}\n[x]\n\n[x]: https://x\n{% endhint %}\n')
    document.nodes[0].source = None
    assert "[x]: https://x" in write(document)


@pytest.mark.parametrize("scheme", ["javascript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_links_with_script_urls_are_text(scheme: str) -> None:
    document = read(f'[a]({scheme}) <a href="{scheme}">b</a>')
    assert not [n for n in walk(document) if isinstance(n, Inline) and n.type == "link"]


DEEP = 30_000
HOSTILE = [
    "[" * DEEP,
    "![" * DEEP,
    "> " * DEEP,
    "- " * DEEP,
    "{% hint %}\n" * DEEP,
    "{% if a %}\n" * DEEP + "{% endif %}\n" * DEEP,
    "<details>\n" * DEEP,
    "<b>" * DEEP + "x<br>" * DEEP + "</b>" * DEEP,
    "<table><tr><td>" * DEEP,
    "*a **b " * DEEP,
    "$$\n" * DEEP,
    "<!--" * DEEP,
    '{% a x="' * DEEP,
    "[^1]" * DEEP + "\n\n[^1]: " + "x " * 1000,
    "<mark style='color:red'>" * DEEP,
    '<a x="' * DEEP,
    "".join("  " * n + "* a\n" for n in range(300)),
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:12].strip() for text in HOSTILE])
def test_hostile_text_is_cheap_and_round_trips(text: str) -> None:
    assert write(read(text)) == text


def test_blocks_of_integrations_can_span_lines():
    text = """{% @mermaid/diagram content="graph TB
subgraph "Outside"

```
A["HR: Log in"] --> B
```
" fullWidth="false" %}

After.
"""
    document = read(text)
    assert [block.type for block in document.nodes] == ["integration", "paragraph"]
    assert document.nodes[0].data["props"] == {
        "content": 'graph TB\nsubgraph "Outside"\n\n```\nA["HR: Log in"] --> B\n```\n',
        "fullWidth": "false",
    }
    assert write(document) == text
    document.nodes[0].source = None
    assert read(write(document)).nodes[0].data == document.nodes[0].data


@pytest.mark.parametrize(
    "text",
    [
        '{% @a/b content="x',
        '{% @a/b content="x\n{% hint style="info" %}\ny\n{% endhint %}',
        '- {% @a/b content="x\n\ny" %}',
        '{% @a/b content="x\ny" %} more',
        '{% embed url="x\ny" %}',
    ],
)
def test_unterminated_blocks_are_text(text):
    document = read(text)
    assert write(document) == text
    assert "integration" not in {block.type for block in document.nodes}


def test_unterminated_blocks_are_cheap():
    for text in (
        '{% @a/b content="x\n\n' * 20_000,
        '{% @a/b content="x' + "\n\nx" * 100_000,
        "{% @a/b\n" + 'a="' * 50_000 + "\n%}\n",
    ):
        start = time.process_time()
        assert write(read(text)) == text
        assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "text",
    [
        '<img src=" javascript:x" alt="a">',
        '{% file src="java\tscript:x" %}',
        "[a](<java\tscript:x>)",
        '<figure><img src="data:text/html,x"></figure>',
        '{% content-ref url="javascript:x" %}\n[a](a)\n{% endcontent-ref %}',
        (
            '<table><thead><tr><th data-type="content-ref"></th></tr></thead><tbody><tr><td><a '
            'href="javascript:x">a</a></td></tr></tbody></table>'
        ),
    ],
)
def test_script_urls_are_no_references_and_stay_in_the_source(text):
    document = read(text)
    assert write(document) == text
    nodes = [found for node in document.nodes for found in walk(node) if isinstance(found, (Block, Inline))]
    for node in nodes:
        assert node.data.get("ref") in (None, {"kind": "url", "url": "a"}), node
        for record in node.data.get("records", {}).values():
            assert "javascript:x" not in str(record)


@pytest.mark.parametrize(
    ("text", "codes", "rest"),
    [
        (r":white\_check\_mark: done", ["2705"], " done"),
        (r"a :white\_check\_mark::white\_check\_mark: b", ["2705", "2705"], "a  b"),
        (r":white_check_mark:", ["2705"], ""),
        (r"\:white\_check\_mark:", [], ":white_check_mark:"),
        (r":no\_such\_sign: x", [], ":no_such_sign: x"),
        (r"10:30\_11:30", [], "10:30_11:30"),
    ],
)
def test_underscores_in_emoji_names_can_be_escaped(text: str, codes: list[str], rest: str) -> None:
    block = one(text)
    assert [n.data["code"] for n in walk(block) if isinstance(n, Inline)] == codes
    assert said(block) == rest


IMAGE = {"ref": {"kind": "url", "url": "a.png"}}


@pytest.mark.parametrize(
    ("text", "data", "images"),
    [
        ('<img src="a.png" width="375">', {}, [IMAGE | {"width": 375}]),
        ('<div align="left"><img src="a.png"></div>', {"align": "left"}, [IMAGE]),
        ('<div align="left">\n    <img src="a.png">\n</div>', {"align": "left"}, [IMAGE]),
        ('<div align="left">\n\n<img src="a.png">\n\n</div>', {"align": "left"}, [IMAGE]),
        ('<div>\n\n<figure><img src="a.png"></figure>\n</div>', {}, [IMAGE]),
        ('<div data-with-frame="true"><img src="a.png"></div>', {"withFrame": True}, [IMAGE]),
        (
            '<div data-full-width="true"><img src="a.png"><img src="a.png"></div>',
            {"fullWidth": True},
            [IMAGE] * 2,
        ),
        ('<p align="center">\n<img src="a.png">\n<img src="a.png">\n</p>', {"align": "center"}, [IMAGE] * 2),
        ('<center>\n\n<img src="a.png">\n\n</center>', {"align": "center"}, [IMAGE]),
        ("![](a.png) ![](a.png)", {}, [IMAGE] * 2),
        ('<img src="a.png">\n![](a.png)', {}, [IMAGE] * 2),
        (
            '<div data-with-frame="true"><picture>\n<source srcset="b.png" media="(prefers-color-scheme: dark)">\n'
            '<img src="a.png">\n</picture></div>',
            {"withFrame": True},
            [IMAGE | {"refDark": {"kind": "url", "url": "b.png"}}],
        ),
    ],
)
def test_paragraphs_of_only_images_are_image_blocks(
    text: str, data: dict[str, Any], images: list[Any]
) -> None:
    block = one(text)
    assert (block.type, block.data) == ("images", data)
    assert [image.data for image in block.nodes] == images
    block.source = None
    again = write(Document([block]))
    assert [node.data for node in walk(one(again)) if isinstance(node, Block)] == [data, *images]


@pytest.mark.parametrize(
    "text", ['<img src="a.png" data-size="line">', 'see <img src="a.png">', "[![](a.png)](b.md)"]
)
def test_images_within_text_stay_there(text: str) -> None:
    assert one(text).type == "paragraph"


@pytest.mark.parametrize(
    ("text", "types", "data"),
    [
        ('<div align="center">a</div>', ["paragraph"], {"align": "center"}),
        ('<div align="right">\n\n## a\n\n</div>', ["heading-1"], {"align": "end"}),
        ('<div data-full-width="true">\n\n```\na\n```\n\n</div>', ["code"], {"fullWidth": True}),
        ("<div>\n**a**\n</div>", ["paragraph"], {}),
    ],
)
def test_a_wrapper_passes_its_attributes_to_its_content(
    text: str, types: list[str], data: dict[str, Any]
) -> None:
    block = one(text)
    assert ([block.type], block.data) == (types, data)


@pytest.mark.parametrize(
    "text",
    [
        '<div class="x"><p>a</p></div>',
        "<section><p>a</p></section>",
        "<dl><dt>a</dt><dd>b</dd></dl>",
        '<figure><a href="x"><img src="a.png"></a></figure>',
        "<div>\n\na",
        "a\n\n</div>",
        '<p align="left">',
    ],
)
def test_tags_that_contain_blocks_are_never_shown(text: str) -> None:
    shown = render(read(text)).body
    assert "&lt;" not in shown
    assert "raw" not in shown


def cells(text: str) -> list[list[str]]:
    return [[node.type for node in fragment.nodes] for fragment in one(text).fragments]


@pytest.mark.parametrize(
    ("cell", "types"),
    [
        ("<p><code>a</code> b</p><p>**c** [d](e.md)</p>", ["paragraph", "paragraph"]),
        ("<ul><li>a</li><li>b</li></ul> c", ["list-unordered", "paragraph"]),
        ("**<ul><li>a</li></ul>**", ["list-unordered"]),
        ("<p>**a</p><p>b**</p>", ["paragraph", "paragraph"]),
        ("<pre>a<br>b</pre>", ["code"]),
        ("<h3>a</h3>b<hr>c", ["heading-2", "paragraph", "divider", "paragraph"]),
        ("a<br>b", ["paragraph"]),
        ("`<p>`", ["paragraph"]),
    ],
)
def test_cells_of_pipe_tables_can_contain_blocks(cell: str, types: list[str]) -> None:
    text = f"| x |\n| --- |\n| {cell} |"
    assert cells(text) == [types]
    block = one(text)
    block.source = None
    assert cells(write(Document([block]))) == [types]


def test_cells_keep_marks_and_line_breaks() -> None:
    block = one("| x |\n| --- |\n| <p>**a</p><p>b** c</p><pre>one<br>two</pre> |")
    first, second, code = block.fragments[0].nodes
    assert [leaf.text for leaf in second.nodes[0].leaves] == ["b", " c"]
    assert [len(node.nodes[0].leaves[0].marks) for node in (first, second)] == [1, 1]
    assert [said(line) for line in code.nodes] == ["one", "two"]


def test_listings_of_html_need_no_class() -> None:
    for text in ("<pre><code>a &lt;b>\n\n  c</code></pre>", "<pre>\na &lt;b>\n\n  c\n</pre>"):
        block = one(text)
        assert (block.type, [said(line) for line in block.nodes]) == ("code", ["a <b>", "", "  c"])
        assert cells(f"<table><tr><td>{text}</td></tr></table>") == [["code"]]


SWAGGER = """{% swagger method="get" path="/pets" baseUrl="https://x.example" summary="All pets" %}
{% swagger-description %}
Said
{% endswagger-description %}

{% swagger-parameter in="query" name="max" type="number" required="true" %}
How many
{% endswagger-parameter %}
{% endswagger %}"""
METHOD = """{% api-method method="get" host="https://x.example" path="/pets" summary="All pets" %}
{% api-method-response-example httpCode=200 %}
Said
{% endapi-method-response-example %}
{% endapi-method %}"""


def test_both_ways_to_describe_an_operation_by_hand_are_one_node() -> None:
    data = {"method": "get", "host": "https://x.example", "path": "/pets", "summary": "All pets"}
    for text, tag in ((SWAGGER, "swagger"), (METHOD, "api-method")):
        block = one(text)
        assert (block.type, block.data) == ("api-method", {"tag": tag} | data)
        block.source = None
        written = write(Document([block]))
        assert one(written).data == block.data
        assert ("baseUrl=" in written) == ("baseUrl=" in text)
    assert one(SWAGGER).nodes[1].data == {
        "tag": "swagger-parameter",
        "in": "query",
        "name": "max",
        "type": "number",
        "required": True,
    }
    assert one(METHOD).nodes[0].data["status"] == "200"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (r'{% embed url="https://x.example/a\#b\_c" %}', "https://x.example/a#b_c"),
        (r'{% content-ref url="a\_b.md" %}[a](a.md){% endcontent-ref %}', "a_b.md"),
    ],
)
def test_urls_in_tags_need_no_escapes(text: str, url: str) -> None:
    block = one(text)
    assert url in (block.data.get("url"), block.data.get("ref", {}).get("url"))
    assert write(read(text)) == text


@pytest.mark.parametrize("text", ["* [ ] ", "* [ ] a\n* [x] ", "> * [ ] \n> * [x] b"])
def test_an_empty_task_stays_a_task(text: str) -> None:
    def checked(nodes: list[Any]) -> list[Any]:
        blocks = [block for node in nodes for block in walk(node) if isinstance(block, Block)]
        return [block.data.get("checked") for block in blocks if block.type == "list-item"]

    nodes = nodes_from_json([untold(node) for node in nodes_to_json(read(text).nodes)], "nodes").nodes
    again = read(write(Document(nodes)))
    assert checked(again.nodes) == checked(nodes)
    assert None not in checked(nodes)


def untold(node: Any) -> Any:
    """Return the node as a new client sends it: without keys, so that its source text is unknown."""
    if isinstance(node, dict):
        return {name: untold(value) for name, value in node.items() if name != "key"}
    return [untold(one) for one in node] if isinstance(node, list) else node
