"""Tests of Confluence spaces exported as XML: the tree, macros, attachments, labels, and attacks."""

import pytest

from octavo.core.sources import SourceError
from readers.reading import brought, problems, text, tree


def page(id, title, body, parent="", position="", more=""):
    over = f'<property name="parent" class="Page"><id name="id">{parent}</id></property>' if parent else ""
    place = f'<property name="position">{position}</property>' if position else ""
    body = body.replace("]]>", "]] >")
    return (
        f'<object class="Page"><id name="id">{id}</id><property '
        f'name="title"><![CDATA[{title}]]></property>{over}{place}{more}'
        '<property name="space" class="Space"><id name="id">1</id></property><property '
        'name="contentStatus">current</property></object>'
        f'<object class="BodyContent"><id name="id">b{id}</id><property name="body"><![CDATA[{body}]]></property>'
        f'<property name="content" class="Page"><id name="id">{id}</id></property></object>'
    )


BODY = """<p>See <ac:link><ri:page ri:content-title="Second page" /><ac:plain-text-link-body>\
<![CDATA[the <second>]]></ac:plain-text-link-body></ac:link>,
<ac:link ac:anchor="x"><ri:page ri:content-title="Third" /></ac:link> and <ac:link>\
<ri:page ri:content-title="Nowhere" /></ac:link>&nbsp;here.</p>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter>\
<ac:parameter ac:name="title">a.py</ac:parameter><ac:plain-text-body><![CDATA[if a < b:
    pass]]></ac:plain-text-body></ac:structured-macro>
<ac:structured-macro ac:name="warning"><ac:parameter ac:name="title">Mind</ac:parameter><ac:rich-text-body>\
<p>The <strong>gap</strong>.</p>
<ac:structured-macro ac:name="expand"><ac:parameter ac:name="title">More</ac:parameter><ac:rich-text-body>\
<p>Inside</p></ac:rich-text-body></ac:structured-macro></ac:rich-text-body></ac:structured-macro>
<ac:image ac:width="40"><ri:attachment ri:filename="a b.png" /></ac:image>
<p><ac:link><ri:attachment ri:filename="terms.pdf" /></ac:link></p>
<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>\
<ac:task-body>Done</ac:task-body></ac:task>
<ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>Open</ac:task-body></ac:task></ac:task-list>
<ac:structured-macro ac:name="toc" /><ac:structured-macro ac:name="children" />\
<ac:structured-macro ac:name="weather"><ac:rich-text-body><p>Kept</p></ac:rich-text-body></ac:structured-macro>
<table><tbody><tr><th>A</th><th>B</th></tr><tr><td>1</td><td><ac:structured-macro ac:name="status">\
<ac:parameter ac:name="title">OK</ac:parameter></ac:structured-macro></td></tr></tbody></table>"""

EXPORT = {
    "entities.xml": '<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="2026-01-01">'
    '<object class="Space"><id name="id">1</id><property '
    'name="name"><![CDATA[Acme]]></property><property name="key">AC</property>'
    '<property name="homePage" class="Page"><id name="id">10</id></property></object>'
    + page(10, "Acme Home", BODY)
    + page(12, "Third", "<h2>x</h2>", 10, "2")
    + page(11, "Second page", "<p>Two</p>", 10, "1")
    + page(13, "Below", "<p>Three</p>", 11)
    + page(
        14,
        "Old",
        "<p>Old</p>",
        10,
        "",
        '<property name="originalVersion" class="Page"><id name="id">10</id></property>',
    )
    + '<object class="Attachment"><id name="id">90</id><property name="title">a '
    'b.png</property><property name="version">2</property><property name="containerContent" '
    'class="Page"><id name="id">10</id></property></object>'
    '<object class="Attachment"><id name="id">91</id><property '
    'name="title">terms.pdf</property><property name="version">1</property><property '
    'name="containerContent" class="Page"><id name="id">10</id></property></object>'
    '<object class="Label"><id name="id">70</id><property name="name">howto</property></object>'
    '<object class="Labelling"><id name="id">71</id><property name="label" class="Label"><id '
    'name="id">70</id></property><property name="content" class="Page"><id '
    'name="id">11</id></property></object>'
    '<object class="Comment"><id name="id">60</id></object></hibernate-generic>',
    "exportDescriptor.properties": "x",
    "attachments/10/90/2": b"\x89PNG\r\n\x1a\n",
    "attachments/10/91/1": b"%PDF",
}


def test_a_space_is_read():
    made = brought(EXPORT)
    assert (made.kind, made.name) == ("confluence-xml", "Acme")
    assert tree(made) == {"Acme Home": {}, "Second page": {"Below": {}}, "Third": {}}
    home = text(made, "README.md") if "README.md" in made.paths() else text(made, "acme-home.md")
    for part in (
        "[the \\<second>](second-page.md)",
        "[Third](third.md#x)",
        "Nowhere",
        '{% code title="a.py" %}\n```python\nif a < b:\n    pass\n```\n{% endcode %}',
        (
            '{% hint style="danger" %}\n#### Mind\n\nThe **gap**.\n\n<details>\n\n'
            "<summary>More</summary>\n\nInside\n\n</details>\n{% endhint %}"
        ),
        "attachments/a%20b.png",
        "[terms.pdf](attachments/terms.pdf)",
        "* [x] Done\n* [ ] Open",
        "[Second page](second-page.md)",
        "Kept",
        "| 1   | `OK` |",
    ):
        assert part in home, (part, home)
    assert text(made, "second-page.md") == "---\ntags:\n- howto\n---\n\n# Second page\n\nTwo\n"
    assert [(path, code) for path, _, code in problems(made)] == [
        ("entities.xml", "comments_left_out"),
        ("AC/Acme Home", "unknown_component"),
        ("AC/Acme Home", "broken_link"),
    ]
    assert "display/AC/Second+page: second-page.md" in text(made, ".gitbook.yaml")


def test_pages_in_a_folder_are_read():
    folder = page(20, "Guides", "", 10).replace(
        'class="Page"><id name="id">20<', 'class="Folder"><id name="id">20<', 1
    )
    entities = EXPORT["entities.xml"].replace(
        "</hibernate-generic>", f"{folder}{page(21, 'Install', '<p>x</p>', 20)}</hibernate-generic>"
    )
    assert tree(brought(EXPORT | {"entities.xml": entities}))["Guides"] == {"Install": {}}


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE h [<!ENTITY a "aaaaaaaaaa">%s]>\n'
    '<hibernate-generic><object class="Space"><property '
    'name="name">&z;</property></object></hibernate-generic>'
)


@pytest.mark.parametrize(
    "export",
    [
        BOMB
        % "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghz", strict=True)),
        BOMB % '<!ENTITY z SYSTEM "file:///etc/passwd">',
        f"<!-- <hibernate-generic {'x' * 70_000} -->{BOMB.partition(chr(10))[2]}"
        % "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghz", strict=True)),
        '<?xml version="1.0"?>\n<hibernate-generic><object class="Page"><id name="id">1</id>',
        "<hibernate-generic>" + "<a>" * 5000,
    ],
    ids=["entities", "outside", "entities behind a long comment", "cut off", "deep"],
)
def test_invalid_exports_are_refused(export):
    with pytest.raises(SourceError, match=r"entities\.xml"):
        brought({"entities.xml": export})


def test_wiki_markup_is_shown_unchanged():
    old = page(1, "A", "h1. Old <b>\n* x").replace(
        '<property name="body">', '<property name="bodyType">0</property><property name="body">'
    )
    made = brought({"entities.xml": f"<hibernate-generic>{old}</hibernate-generic>"})
    assert text(made, "a.md") == "# A\n\n```\nh1. Old <b>\n* x\n```\n"
    assert problems(made) == [("A", 0, "format_left_out")]


def test_pages_with_cyclic_parents_are_imported():
    loop = page(1, "A", "<p>a</p>", 2) + page(2, "B", "<p>b</p>", 1)
    made = brought({"entities.xml": f"<hibernate-generic>{loop}</hibernate-generic>"})
    assert {"a.md", "b.md"} <= set(made.paths()) or len(tree(made)) == 2


def test_headings_have_the_anchors_that_links_use():
    links = "".join(
        (
            f'<ac:link ac:anchor="{anchor}"><ac:plain-text-link-body><![CDATA[{anchor}]]></'
            f"ac:plain-text-link-body></ac:link> "
        )
        for anchor in ("OfTwo", "Of-Two", "own")
    )
    body = f"<p>{links}</p><h2>Of <em>Two</em></h2>".replace("]]>", "]] >")
    made = brought({"entities.xml": f"<hibernate-generic>{page(1, 'A', body)}</hibernate-generic>"})
    assert "[OfTwo](#of-two) [Of-Two](#of-two) [own](#own)" in text(made, "a.md")


def macro(name, inside="", **given):
    said = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in given.items())
    return f'<ac:structured-macro ac:name="{name}">{said}{inside}</ac:structured-macro>'


def rich(body):
    return f"<ac:rich-text-body>{body}</ac:rich-text-body>"


def plain(words):
    return f"<ac:plain-text-body><![CDATA[{words}]]></ac:plain-text-body>"


MACROS = {
    "tabs": (
        macro(
            "ui-tabs",
            rich("".join(macro("ui-tab", rich(f"<p>{word}</p>"), title=word.upper()) for word in "ab")),
        ),
        '{% tabs %}\n{% tab title="A" %}\na\n{% endtab %}\n\n{% tab title="B" %}\nb\n{% endtab %}\n{% endtabs %}',
    ),
    "one tab": (macro("deck", rich(macro("card", rich("<p>a</p>"), label="A"))), "#### A\n\na"),
    "opens": (
        macro("ui-expand", rich("<p>in</p>"), title="More"),
        "<details>\n\n<summary>More</summary>\n\nin\n\n</details>",
    ),
    "message": (
        macro("aui-message", rich("<p>x</p>"), type="error"),
        '{% hint style="danger" %}\nx\n{% endhint %}',
    ),
    "panel of the newer editor": (
        (
            '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute '
            'key="panel-type">success</ac:adf-attribute><ac:adf-content><p>y</p></ac:adf-content></'
            "ac:adf-node><ac:adf-fallback><div><p>y</p></div></ac:adf-fallback></ac:adf-extension>"
        ),
        '{% hint style="success" %}\ny\n{% endhint %}',
    ),
    "something of the newer editor": (
        (
            '<ac:adf-extension><ac:adf-node type="odd"><ac:adf-attribute '
            'key="a">no</ac:adf-attribute></ac:adf-node><ac:adf-fallback><p>y</p></ac:adf-fallback></'
            "ac:adf-extension>"
        ),
        "y",
    ),
    "widget": (
        macro("widget", url='<ri:url ri:value="https://example.org/v" />'),
        '{% embed url="https://example.org/v" %}',
    ),
    "formulas": (
        macro("mathblock", plain("a^2")) + f"<p>In {macro('mathinline', body='b_1')} words</p>",
        "$$\na^2\n$$\n\nIn $$b_1$$ words",
    ),
    "Markdown": (
        macro("markdown", plain("* a **b**\n\n> [!NOTE]\n> c")),
        '* a **b**\n\n{% hint style="info" %}\nc\n{% endhint %}',
    ),
    "drawing": (macro("mermaid-cloud", plain("graph TD")), "```mermaid\ngraph TD\n```"),
    "hidden": (macro("excerpt", rich("<p>x</p>"), hidden="true") + "<p>seen</p>", "seen"),
    "unknown in words": (f"<p>a {macro('weather', city='X')} b</p>", "a b"),
    "included": (
        "<p>x</p>" + macro("include", **{"x": '<ac:link><ri:page ri:content-title="B" /></ac:link>'}),
        "x\n\n[B](b.md)",
    ),
    "full addresses": (
        (
            '<p><a href="https://wiki.example.org/wiki/spaces/AC/pages/2/B?x=1#c">b</a> <a '
            'href="https://wiki.example.org/display/AC/B">d</a> <a '
            'href="https://wiki.example.org/pages/viewpage.action?pageId=2">e</a></p>'
        ),
        "[b](b.md#c) [d](b.md) [e](b.md)",
    ),
    "signs": (
        (
            '<p><ac:emoticon ac:name="tick" ac:emoji-id="2705" ac:emoji-fallback=":check:" /> '
            '<ac:emoticon ac:name="warning" /> <ac:emoticon ac:name="odd" /></p>'
        ),
        "✅ ⚠️ :odd:",
    ),
}


@pytest.mark.parametrize("name", MACROS)
def test_macros_are_converted(name):
    body, expected = MACROS[name]
    space = '<object class="Space"><id name="id">1</id><property name="key">AC</property></object>'
    made = brought(
        {
            "entities.xml": f"<hibernate-generic>{space}{page(1, 'A', body)}{page(2, 'B', '')}</hibernate-generic>"
        }
    )
    assert text(made, "a.md") == f"# A\n\n{expected}\n"
