"""Tests that converters keep everything in a source, or report it as skipped."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from typing import get_args

import pytest

from octavo.core.document.nodes import Inline, Text, walk, walk_blocks
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.interchange.transfer.types import SourceKind
from readers.reading import brought, text
from readers.test_confluence_xml import page as confluence_page
from readers.test_opendocument import content
from readers.test_readers import CONFLUENCE
from readers.test_wikis import wikijs
from transfer.bringing_in import PNG, archive, word

EXPECTED = {
    "headings": 3,
    "inline code": 5,
    "links": 4,
    "bold": 1,
    "footnotes": 2,
    "items": 5,
    "cells": 4,
    "images": 1,
    "listings": 1,
    "quotes": 1,
    "rules": 1,
}

MARKDOWN = """## First

Text `one` and [`two`](https://example.org/two) with **bold** and [ref] and [other][ref].

* a `three`
* b
  * c [nested](https://example.org/n)

1. d
2. e

| A | B |
| --- | --- |
| `four` | y |
| x | z |

![alt](img.png)

> Quoted

---

Noted[^1] twice[^2].

[ref]: https://example.org/ref
[^1]: First note with `five`
[^2]: Second note

```js
listing
```

### Second

#### Third
"""
HTML = """<h2>First</h2>
<p>Text <code>one</code> and <a href="https://example.org/two"><code>two</code></a> with <strong>bold</strong> and
<a href="https://example.org/ref">ref</a> and <a href="https://example.org/ref">other</a>.</p>
<ul><li>a <code>three</code></li><li>b<ul><li>c <a href="https://example.org/n">nested</a></li></ul></li></ul>
<ol><li>d</li><li>e</li></ol>
<table><tbody><tr><th>A</th><th>B</th></tr><tr><td><code>four</code></td><td>y</td></tr><tr><td>x</td>\
<td>z</td></tr></tbody></table>
<p>{image}</p><blockquote><p>Quoted</p></blockquote><hr/>
<p>Noted{first} twice{second}.</p>{listing}<h3>Second</h3><h4>Third</h4>{notes}"""
PAGE = HTML.format(
    image='<img src="img.png" alt="alt">',
    first='<sup><a href="#footnote-1" id="footnote-ref-1">[1]</a></sup>',
    second='<sup><a href="#footnote-2" id="footnote-ref-2">[2]</a></sup>',
    listing='<pre><code class="language-js">listing</code></pre>',
    notes='<ol><li id="footnote-1"><p>First note with <code>five</code> <a href="#footnote-ref-1">↑</a></p></li>'
    '<li id="footnote-2"><p>Second note <a href="#footnote-ref-2">↑</a></p></li></ol>',
)
CONFLUENCE_PAGE = HTML.format(
    image='<img src="attachments/1/img.png" alt="alt">',
    first="",
    second="",
    notes="<p><code>five</code></p>",
    listing=(
        '<div class="code panel"><div class="codeContent panelContent"><pre '
        'data-syntaxhighlighter-params="brush: js">listing</pre></div></div>'
    ),
)
STORAGE = HTML.format(
    image='<ac:image><ri:attachment ri:filename="img.png" /></ac:image>',
    first="",
    second="",
    notes="<p><code>five</code></p>",
    listing=(
        '<ac:structured-macro ac:name="code"><ac:parameter '
        'ac:name="language">js</ac:parameter><ac:plain-text-body><![CDATA[listing]]></'
        "ac:plain-text-body></ac:structured-macro>"
    ),
)
RESTRUCTURED = """Counts
======

First
-----

Text ``one`` and ``two`` `two <https://example.org/two>`__ with **bold** and ref_ and `other \
<https://example.org/ref>`__.

* a ``three``
* b

  * c `nested <https://example.org/n>`__

1. d
2. e

======== ===
A        B
======== ===
``four`` y
x        z
======== ===

.. image:: img.png
   :alt: alt

Words:

    Quoted

----

Noted [1]_ twice [#second]_.

.. _ref: https://example.org/ref
.. [1] First note with ``five``
.. [#second] Second note

.. code-block:: js

   listing

Second
~~~~~~

Third
^^^^^
"""
ASCIIDOC = """= Counts

== First

Text `one` and https://example.org/two[`two`] with *bold* and https://example.org/ref[ref] and \
https://example.org/ref[other].

* a `three`
* b
** c https://example.org/n[nested]

. d
. e

[options="header"]
|===
|A |B
|`four` |y
|x |z
|===

image::img.png[alt]

[quote]
Quoted

'''

Noted{empty}footnote:[First note with `five`] twice{empty}footnote:[Second note].

[source,js]
----
listing
----

=== Second

==== Third
"""

A = "1f0e2b3c4d5e6f708192a3b4c5d6e7f8"
FRONT = "---\ntitle: Counts\n---\n\n"
SOURCES = {
    "octavo": (
        {"SUMMARY.md": "* [Counts](counts.md)\n", "counts.md": f"# Counts\n\n{MARKDOWN}", "img.png": PNG},
        {},
    ),
    "markdown": (
        {
            "README.md": "# Home\n",
            "counts.md": f"---\ntitle: Counts\norder: 2\n---\n\n{MARKDOWN}",
            "img.png": PNG,
        },
        {},
    ),
    "docusaurus": (
        {
            "docusaurus.config.js": "module.exports = {title: 'D'}",
            "docs/counts.md": FRONT + MARKDOWN,
            "docs/img.png": PNG,
        },
        {},
    ),
    "mkdocs": (
        {
            "mkdocs.yml": "site_name: M\nnav:\n  - counts.md\n",
            "docs/counts.md": f"# Counts\n\n{MARKDOWN}",
            "docs/img.png": PNG,
        },
        {},
    ),
    "mintlify": (
        {
            "docs.json": '{"name": "M", "navigation": {"pages": ["counts"]}}',
            "counts.mdx": FRONT + MARKDOWN,
            "img.png": PNG,
        },
        {},
    ),
    "vitepress": (
        {
            ".vitepress/config.mts": "export default {title: 'V'}",
            "counts.md": f"# Counts\n\n{MARKDOWN}",
            "img.png": PNG,
        },
        {},
    ),
    "starlight": (
        {
            "astro.config.mjs": "export default defineConfig({integrations: [starlight({title: 'S'})]})",
            "src/content/docs/counts.md": FRONT + MARKDOWN,
            "src/content/docs/img.png": PNG,
        },
        {},
    ),
    "fumadocs": (
        {
            "source.config.ts": "from 'fumadocs-mdx/config'",
            "content/docs/counts.mdx": FRONT + MARKDOWN,
            "content/docs/img.png": PNG,
        },
        {},
    ),
    "nextra": (
        {
            "next.config.mjs": "import nextra from 'nextra'\n",
            "pages/counts.mdx": f"# Counts\n\n{MARKDOWN}",
            "pages/img.png": PNG,
        },
        {},
    ),
    "hugo": (
        {"hugo.toml": 'title = "H"\n', "content/counts.md": FRONT + MARKDOWN, "content/img.png": PNG},
        {},
    ),
    "jekyll": ({"_config.yml": "title: J\n", "counts.md": FRONT + MARKDOWN, "img.png": PNG}, {}),
    "github-wiki": (
        {
            "Home.md": "# Home\n",
            "_Sidebar.md": "* [[Home]]\n* [[Counts]]\n",
            "Counts.md": MARKDOWN,
            "img.png": PNG,
        },
        {},
    ),
    "obsidian": ({".obsidian/app.json": "{}", "Counts.md": MARKDOWN, "img.png": PNG}, {}),
    "sphinx": (
        {
            "conf.py": "project = 'X'\n",
            "index.rst": "Home\n====\n\n.. toctree::\n\n   counts\n",
            "counts.rst": RESTRUCTURED,
            "img.png": PNG,
        },
        {},
    ),
    "notion": ({f"Counts {A}.md": f"# Counts\n\n{MARKDOWN}", "img.png": PNG}, {}),
    "confluence": (
        {
            "SP/index.html": (
                "<html><body><h1>Space Details:</h1><h2>Available Pages:</h2><ul><li><a "
                'href="Counts_1.html">Counts</a></li></ul></body></html>'
            ),
            "SP/Counts_1.html": CONFLUENCE.format(title="Counts", crumbs="", body=CONFLUENCE_PAGE),
            "SP/attachments/1/img.png": PNG,
        },
        {"footnotes": 0},
    ),
    "confluence-xml": (
        {
            "entities.xml": '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<hibernate-generic><object class="Space"><id name="id">1</id><property '
            'name="name"><![CDATA[Acme]]></property>'
            '<property name="key">AC</property><property name="homePage" class="Page"><id '
            'name="id">10</id></property></object>'
            + confluence_page(10, "Counts", STORAGE)
            + (
                '<object class="Attachment"><id name="id">90</id><property '
                'name="title">img.png</property><property name="version">1</property><property '
                'name="containerContent" class="Page"><id '
                'name="id">10</id></property></object></hibernate-generic>'
            ),
            "exportDescriptor.properties": "x",
            "attachments/10/90/1": PNG,
        },
        {"footnotes": 0},
    ),
    "antora": (
        {
            "antora.yml": "name: acme\ntitle: Acme\nnav:\n- modules/ROOT/nav.adoc\n",
            "modules/ROOT/nav.adoc": "* xref:counts.adoc[Counts]\n",
            "modules/ROOT/pages/counts.adoc": ASCIIDOC,
            "modules/ROOT/images/img.png": PNG,
        },
        {},
    ),
    "asciidoc": ({"counts.adoc": ASCIIDOC, "img.png": PNG}, {}),
    "bookstack": (
        {
            "data.json": json.dumps(
                {
                    "instance": {"id": "x", "version": "v25.05", "id_ciphertext": "abc"},
                    "exported_at": "2026-01-02T03:04:05+00:00",
                    "book": {
                        "id": 8,
                        "name": "Book",
                        "description_html": "",
                        "chapters": [],
                        "pages": [
                            {
                                "id": 1,
                                "name": "Counts",
                                "priority": 1,
                                "html": "",
                                "markdown": MARKDOWN.replace("img.png", "https://example.org/img.png"),
                            }
                        ],
                    },
                }
            )
        },
        {},
    ),
    "wikijs": (
        {
            "home.md": wikijs("Home", "x"),
            "counts.md": wikijs("Counts", MARKDOWN.replace("img.png", "/img.png")),
            "img.png": PNG,
        },
        {},
    ),
    "outline": (
        {
            "Handbook/Counts.md": (
                f"# Counts\n\n{MARKDOWN}\n\n[to](./Counts/Below.md) ![](uploads/{A}/{A}/img.png)"
            ).replace("![alt](img.png)", ""),
            "Handbook/Counts/Below.md": "# Below\n",
            f"Handbook/uploads/{A}/{A}/img.png": PNG,
        },
        {"links": 5},
    ),
    "docmost": (
        {
            "docmost-metadata.json": json.dumps(
                {
                    "source": "docmost",
                    "version": "0.24.0",
                    "pages": {
                        "Counts.md": {"pageId": "1", "slugId": "aaaa", "position": "a0", "parentPath": None}
                    },
                }
            ),
            "Counts.md": f"# Counts\n\n{MARKDOWN}",
            "img.png": PNG,
        },
        {},
    ),
    "readme": (
        {
            "docs/_order.yaml": "- Guides\n",
            "docs/Guides/_order.yaml": "- counts\n",
            "docs/Guides/counts.md": FRONT + MARKDOWN.replace("img.png", "https://example.org/img.png"),
        },
        {},
    ),
}
"""For each kind, a source with the same content, and what that kind can't express."""


def counts_of(markdown: str) -> Counter[str]:
    """Count everything on a page, as readers see it."""
    document = read(split_page(markdown)[2])
    found: Counter[str] = Counter()
    names = {
        "list-item": "items",
        "image": "images",
        "code": "listings",
        "blockquote": "quotes",
        "divider": "rules",
        "link": "links",
        "inline-image": "images",
    }
    for top in document.nodes:
        for node in walk(top):
            if isinstance(node, Text):
                for leaf in node.leaves:
                    found["inline code"] += any(mark.type == "code" for mark in leaf.marks)
                    found["bold"] += any(mark.type == "bold" for mark in leaf.marks)
            elif isinstance(node, Inline) and node.type == "annotation":
                found["footnotes"] += bool(node.fragments)
            elif node.type.startswith("heading-"):
                found["headings"] += 1
            elif node.type == "table":
                found["cells"] += len(node.fragments)
            elif node.type in names:
                found[names[node.type]] += 1
    assert not any(block.type == "unknown" for top in document.nodes for block in walk_blocks(top))
    return +found


def test_every_kind_is_counted():
    assert SOURCES.keys() | {"html"} == set(get_args(SourceKind))


@pytest.mark.parametrize("kind", SOURCES)
def test_no_text_is_lost_in_conversion(kind: str) -> None:
    files, lacking = SOURCES[kind]
    made = brought(files, kind if kind not in ("octavo", "markdown") else None)
    assert made.kind == kind
    path = next(path for path in made.paths() if path.endswith(".md") and "First" in text(made, path))
    expected = Counter(EXPECTED | lacking)
    assert counts_of(text(made, path)) == +expected


W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def words(said: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{said}</w:t></w:r>"


def paragraph(inside: str, style: str = "", more: str = "") -> str:
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{styled}{more}</w:pPr>{inside}</w:p>"


def documented() -> bytes:
    """Return a Word document with countable content, two footnotes, and a comment."""
    item = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    cells = "".join(f"<w:tc>{paragraph(words(said))}</w:tc>" for said in "ab")
    noted = [f'<w:r><w:footnoteReference w:id="{number}"/></w:r>' for number in (1, 2)]
    body = (
        paragraph(words("Counts"), "Heading1")
        + paragraph(words("First"), "Heading2")
        + paragraph(
            words("bold", "<w:b/>") + f'<w:hyperlink r:id="rId9">{words("link")}</w:hyperlink>{noted[0]}'
        )
        + paragraph(words("one"), "ListParagraph", item)
        + paragraph(words("two"), "ListParagraph", item)
        + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
        + paragraph(words("Second"), "Heading2")
        + paragraph(words("end") + noted[1] + '<w:r><w:commentReference w:id="0"/></w:r>')
    )
    base = word(("Normal", "x"), image=PNG)
    with zipfile.ZipFile(io.BytesIO(base)) as packed:
        files: dict[str, bytes | str] = {name: packed.read(name) for name in packed.namelist()}
    drawing = files["word/document.xml"].decode().split("</w:p>", 1)[1].removesuffix("</w:body></w:document>")
    files["word/document.xml"] = f"<w:document {W}><w:body>{body}{drawing}</w:body></w:document>"
    files["word/footnotes.xml"] = (
        f"<w:footnotes {W}>"
        + "".join(
            f'<w:footnote w:id="{number}">{paragraph(words(f"Note {number}"))}</w:footnote>'
            for number in (1, 2)
        )
        + "</w:footnotes>"
    )
    files["word/comments.xml"] = (
        f'<w:comments {W}><w:comment w:id="0" w:author="A" '
        f'w:initials="A">{paragraph(words("Hm"))}</w:comment></w:comments>'
    )
    files["word/numbering.xml"] = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt '
        f'w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    related = (
        "".join(
            f'<Relationship Id="rIdX{name}" Target="{name}.xml" Type="{TYPES}/{name}"/>'
            for name in ("footnotes", "comments", "numbering", "styles")
        )
        + f'<Relationship Id="rId9" Target="https://example.org/x" TargetMode="External" Type="{TYPES}/hyperlink"/>'
    )
    name = "word/_rels/document.xml.rels"
    files[name] = (
        files[name]
        .decode()
        .replace('Id="rId9"', 'Id="rId8"')
        .replace("</Relationships>", related + "</Relationships>")
    )
    files["word/document.xml"] = files["word/document.xml"].replace('r:embed="rId9"', 'r:embed="rId8"')
    return archive(files)


def note(number: int) -> str:
    return (
        f"<text:note text:note-class='footnote'><text:note-citation>{number}</text:note-citation>"
        f"<text:note-body><text:p>Note {number}</text:p></text:note-body></text:note>"
    )


def open_document() -> str:
    cells = "".join(f"<table:table-cell><text:p>{said}</text:p></table:table-cell>" for said in "ab")
    items = "".join(f"<text:list-item><text:p>{said}</text:p></text:list-item>" for said in ("one", "two"))
    return content(
        "<text:h text:outline-level='1'>Counts</text:h><text:h text:outline-level='2'>First</text:h>"
        f"<text:p><text:span text:style-name='Strong_20_Emphasis'>bold</text:span><text:a "
        f"xlink:href='https://example.org/x'>link</text:a>{note(1)}</text:p>"
        f"<text:list text:style-name='L2'>{items}</text:list><table:table><table:table-row>{cells}</"
        f"table:table-row></table:table>"
        f"<text:h text:outline-level='2'>Second</text:h><text:p>end{note(2)}</text:p>",
        "document",
    )


DOCUMENTS = {"headings": 2, "links": 1, "bold": 1, "footnotes": 2, "items": 2, "cells": 2}
