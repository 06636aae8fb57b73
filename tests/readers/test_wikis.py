"""Tests of wiki exports, small ones written by hand: the result of each construct."""

import json

import pytest

from readers.reading import brought, problems, text, tree


def page_of(made, origin):
    """Return the page of a file or title."""
    return text(made, next(path for path, known in made.origins.items() if known.endswith(origin)))


PNG = b"\x89PNG\r\n\x1a\n"
ONE, TWO = "0a0a0a0a-1111-4222-8333-444455556666", "0b0b0b0b-1111-4222-8333-444455556666"


# --- BookStack ----------------------------------------------------------------------------------------

BOOK = {
    "instance": {"id": "x", "version": "v25.05", "id_ciphertext": "abc"},
    "exported_at": "2026-01-02T03:04:05+00:00",
    "book": {
        "id": 8,
        "name": "Kitchen",
        "description_html": "<p>How we <b>cook</b>.</p>",
        "cover": "cover.png",
        "chapters": [
            {
                "id": 2,
                "name": "Bread",
                "description_html": "",
                "priority": 2,
                "pages": [
                    {
                        "id": 41,
                        "name": "Sour dough",
                        "priority": 1,
                        "markdown": (
                            "Text.\n\n[Soup]([[bsexport:page:40]]#salt) ![A]([[bsexport:image:7]])\n\n"
                            '> quoted\n\n<p class="callout success">Well\n<b>done</b></p>\n\n'
                            "## The third Rise\n"
                        ),
                        "html": "<p>x</p>",
                        "tags": [{"name": "level", "value": "hard"}, {"name": "tested", "value": ""}],
                    },
                ],
            },
        ],
        "pages": [
            {
                "id": 40,
                "name": "Soup",
                "priority": 1,
                "html": '<p id="bkmrk-a">See <a href="[[bsexport:page:41]]#bkmrk-the-third-rise">dough</a>,'
                ' <a href="[[bsexport:chapter:2]]">bread</a>, <a '
                'href="[[bsexport:page:99]]">gone</a>.</p>'
                '<p>&nbsp;</p><p class="callout warning">Mind the <strong>heat</strong>.</p><h2 '
                'id="bkmrk-salt">Salt</h2>'
                '<pre id="bkmrk-c"><code class="language-python">x = 1\ny &lt; 2</code></pre>'
                '<p><a href="[[bsexport:image:7]]"><img src="[[bsexport:image:7]]" alt="Pot"></a> '
                "{{@41}}</p><details><summary>More</summary><p>In</p></details>",
                "attachments": [
                    {"id": 5, "name": "List", "file": "f5.pdf", "order": 2},
                    {"id": 6, "name": "Shop", "link": "https://example.org/a b", "order": 1},
                    {"id": 9, "name": "Lost", "file": "f9.pdf"},
                ],
                "images": [{"id": 7, "name": "pot.png", "file": "i7.png", "type": "gallery"}],
            },
        ],
    },
}


def test_a_portable_archive_of_bookstack_is_read():
    made = brought(
        {"data.json": json.dumps(BOOK), "files/cover.png": PNG, "files/i7.png": PNG, "files/f5.pdf": b"%PDF"}
    )
    assert (made.kind, made.name) == ("bookstack", "Kitchen")
    assert tree(made) == {"Kitchen": {}, "Soup": {}, "Bread": {"Sour dough": {}}}
    assert "How we **cook**." in text(made, "README.md") and "files/cover.png" in text(made, "README.md")
    soup = text(made, "soup.md")
    for part in (
        "[dough](bread/sour-dough.md#the-third-rise)",
        "[bread](bread/sour-dough.md)",
        '{% hint style="warning" %}\nMind the **heat**.\n{% endhint %}',
        "## Salt",
        "```python\nx = 1\ny < 2\n```",
        "files/pot.png",
        "<summary>More</summary>",
        '{% file src="files/List.pdf" %}',
        "[Shop](https://example.org/a%20b)",
    ):
        assert part in soup, (part, soup)
    assert "xa0" not in soup
    assert soup.index("Shop") < soup.index("List.pdf")
    dough = text(made, "bread/sour-dough.md")
    assert dough.startswith("---\ntags:\n- 'level: hard'\n- tested\n---\n\n# Sour dough\n\nText.\n")
    assert "[Soup](../soup.md#salt) ![A](../files/pot.png)" in dough
    assert '{% hint style="success" %}\nWell\n<b>done</b>\n{% endhint %}' in dough
    assert {(path, code) for path, _, code in problems(made)} == {
        ("Kitchen/Soup", "broken_link"),
        ("Kitchen/Soup", "missing_include"),
        ("Kitchen/Soup", "missing_file"),
    }
    led = text(made, ".gitbook.yaml")
    assert "books/kitchen/page/soup: soup.md" in led and "link/41: bread/sour-dough.md" in led


def test_an_html_book_of_bookstack_is_read():
    page = (
        '<html><head><title>Kitchen</title></head><body><h1 style="font-size: '
        '4.8em">Kitchen</h1><div><p>How we cook.</p></div>'
        '<ul class="contents"><li><a href="#page-40">Soup</a></li></ul><div '
        'class="page-break"></div><h1 id="page-40">Soup</h1><p>Hot</p>'
        '<div class="page-break"></div><h1 id="chapter-2">Bread</h1><div></div><div '
        'class="page-break"></div><div class="chapter-hint">Bread</div>'
        '<h1 id="page-41">Dough</h1><p>Sour, as <a '
        'href="https://wiki.example.org/base/books/kitchen/page/soup">soup</a></p></body></html>'
    )
    made = brought({"kitchen.html": page})
    assert (made.kind, made.name) == ("bookstack", "Kitchen")
    assert tree(made) == {"Kitchen": {}, "Soup": {}, "Bread": {"Dough": {}}}
    assert text(made, "soup.md") == "# Soup\n\nHot\n" and "Sour, as [soup](soup.md)" in text(made, "dough.md")


# --- Wiki.js ------------------------------------------------------------------------------------------


def wikijs(title, body, **more):
    said = {
        "title": title,
        "description": "",
        "published": "true",
        "date": "2026-01-02T03:04:05.000Z",
        "tags": "a, b",
        "editor": "markdown",
        "dateCreated": "2026-01-01T00:00:00.000Z",
        **more,
    }
    return "---\n" + "\n".join(f"{key}: {value}" for key, value in said.items()) + f"\n---\n\n{body}"


WIKIJS = {
    "home.md": wikijs(
        "Welcome",
        "# Hello\n\n> Do this.\n> Then that.\n{.is-warning}\n\n> Some read\nbetter.{.is-info}\n\n"
        "H~2~O x^2^ ++x++\n*[CSS]: Styles\n\nSee [steps](/en/guide/steps#two) and [more](/guide).\n"
        "\n![A](/images/a.png =40x){.align-center}\n\n"
        "# Tabs {.tabset}\n## One\n\nFirst\n\n```md\n## No tab\n```\n## Two\n\nSecond\n\n# After\n\n"
        "- x\n- y\n{.links-list}\n",
        description="The start",
    ),
    "guide.md": wikijs("The guide", "Text.\n"),
    "guide/steps.md": wikijs("Steps", "## Two\n\nInline $a^2$.\n", published="false"),
    "old.html": (
        "<!--\ntitle: Old page\ndescription: As HTML\npublished: true\ndate: x\ntags: \n"
        "editor: ckeditor\ndateCreated: x\n-->\n\n"
        '<p>Was <a href="/guide/steps">here</a>.</p><blockquote '
        'class="is-warning"><p>Mind</p></blockquote>'
    ),
    "images/a.png": PNG,
    "fr/home.md": wikijs("Bienvenue", "x"),
    "thing.adoc": "= Thing\n",
}


def test_wikijs_is_read():
    made = brought(WIKIJS)
    assert made.kind == "wikijs"
    assert tree(made) == {"Welcome": {}, "The guide": {"Steps": {}}, "Old page": {}}
    home = page_of(made, "home.md")
    for part in (
        "description: The start\ntags:\n- a\n- b\n",
        "# Welcome\n\n# Hello\n",
        '{% hint style="warning" %}\nDo this.\nThen that.\n{% endhint %}',
        "[steps](guide/steps.md#two) and [more](guide.md)",
        '{% hint style="info" %}\nSome read\nbetter.\n{% endhint %}\n\nH<sub>2</sub>O x<sup>2</sup> ++x++\n\n',
        '<img src="images/a.png" alt="A" width="40">',
        '{% tabs %}\n{% tab title="One" %}\nFirst\n\n```md\n## No tab\n```\n{% endtab %}',
        '{% tab title="Two" %}\nSecond\n{% endtab %}\n{% endtabs %}\n\n# After',
        "- x\n- y\n",
    ):
        assert part in home, (part, home)
    assert "links-list" not in home
    assert text(made, "guide/steps.md").startswith("---\nhidden: true\n") and "$$a^2$$" in text(
        made, "guide/steps.md"
    )
    assert text(made, "old.md") == (
        "---\ndescription: As HTML\n---\n\n# Old page\n\nWas [here](guide/steps.md).\n\n"
        '{% hint style="warning" %}\nMind\n{% endhint %}\n'
    )
    assert [code for _, _, code in problems(made)] == ["format_left_out", "translations_left_out"]
    assert "en/guide/steps: guide/steps.md" in text(made, ".gitbook.yaml")


def test_wikijs_exported_to_disk_is_read():
    items = [
        {"id": "1", "kind": "link", "label": "Start", "target": "/", "targetType": "home"},
        {"id": "2", "kind": "header", "label": "Use"},
        {"id": "3", "kind": "link", "label": "How", "target": "/en/guide", "targetType": "page"},
        {"id": "4", "kind": "divider"},
        {
            "id": "5",
            "kind": "link",
            "label": "Out",
            "target": "https://example.org",
            "targetType": "external",
        },
    ]
    files = {f"pages/{path}": data for path, data in WIKIJS.items() if path.endswith(".md")}
    made = brought(
        {
            **files,
            "assets/images/a.png": PNG,
            "navigation.json": json.dumps({"site": [{"locale": "en", "items": items}]}),
        }
    )
    assert made.kind == "wikijs"
    assert tree(made) == {"Start": {}, "Use": {"How": {"Steps": {}}}, "Out": {}}
    assert "images/a.png" in made.paths()


# --- Outline ------------------------------------------------------------------------------------------

OUTLINE = {
    "Handbook/Zero.md": "# Zero\n\nSee [First](./Zero/First.md) @[Ines](mention://m/1/user/2)\n\n:::tip\nDo *this*.\n"
    ":::\n\n\\\n"
    f'+++\n# More\n\nInside\n\n+++\n\n![](uploads/{ONE}/{TWO}/pot.png " =40x30") ==marked==\n\n'
    f"![again](/api/attachments.redirect?id={TWO})\n\n| A | B |\n| --- | --- |\n| x\\ny | z |\n\n"
    f"```mermaidjs\ngraph TD\n```\n\n[list.pdf 1234](uploads/{ONE}/{TWO}/list.pdf)\n",
    f"Handbook/uploads/{ONE}/{TWO}/pot.png": PNG,
    f"Handbook/uploads/{ONE}/{TWO}/list.pdf": b"%PDF",
    "Handbook/Zero/First.md": "# First\n\n- [x] done\n- [ ] open\n\nBack to [Zero](./../Zero.md)\n",
    "Handbook/Another.md": "Without a heading\n",
}


def test_markdown_of_outline_is_read():
    made = brought(OUTLINE)
    assert (made.kind, made.name) == ("outline", "Handbook")
    # The order of the archive is kept.
    assert tree(made) == {"Zero": {"First": {}}, "Another": {}}
    page = text(made, "Handbook/Zero.md")
    for part in (
        "See [First](Zero/First.md) @Ines",
        '{% hint style="success" %}\nDo *this*.\n{% endhint %}',
        "<summary>More</summary>\n\nInside\n\n</details>",
        'width="40"',
        f'{{% file src="uploads/{ONE}/{TWO}/list.pdf" %}}',
        "<mark",
        f"![again](uploads/{ONE}/{TWO}/pot.png)",
        "| x<br>y | z |",
        "```mermaid\ngraph TD\n```",
    ):
        assert part in page, (part, page)
    assert "\\\n" not in page and problems(made) == []
    assert text(made, "Handbook/Another.md").startswith("# Another\n")


def doc(*content):
    return {"type": "doc", "content": list(content)}


def node(kind, *content, **attrs):
    made = {"type": kind, "attrs": attrs}
    return {**made, "content": [said(one) if isinstance(one, str) else one for one in content]}


def said(text, *marks):
    return {"type": "text", "text": text, "marks": [{"type": name, "attrs": attrs} for name, attrs in marks]}


def test_json_of_outline_is_read():
    first = doc(
        node(
            "paragraph",
            "A ",
            said("bold", ("strong", {})),
            " ",
            said("link", ("link", {"href": "/doc/second-AbCdEfGhIj#part"})),
            " ",
            said("out", ("link", {"href": "/doc/gone-ZzZzZzZzZz"})),
            node("mention", type="user", label="Ines", modelId="u"),
        ),
        node("heading", "Part", level=1),
        node(
            "checkbox_list",
            node("checkbox_item", node("paragraph", "done"), checked=True),
            node("checkbox_item", node("paragraph", "open")),
        ),
        node("code_fence", "x = 1\ny", language="python"),
        node("container_notice", node("paragraph", "Mind"), style="warning"),
        node("container_toggle", node("paragraph", "More"), node("paragraph", "Inside")),
        node("paragraph", node("image", src=f"/api/attachments.redirect?id={ONE}", alt="Pot", width=40)),
        node("attachment", href=f"/api/attachments.redirect?id={TWO}", title="list.pdf", size=3),
        node(
            "table",
            node("tr", node("th", node("paragraph", "H")), node("th", node("paragraph", "I"))),
            node("tr", node("td", node("paragraph", "1")), node("td", node("paragraph", "2"))),
        ),
        node("math_block", "a^2"),
        node("weather", node("paragraph", "Kept <b>")),
        node("embed", href="https://example.org/v"),
    )
    export = {
        "collection": {
            "id": "c",
            "name": "Handbook",
            "data": doc(node("paragraph", "About it.")),
            "documentStructure": [
                {"id": "d2", "title": "Second", "url": "/doc/second-AbCdEfGhIj", "children": []},
                {
                    "id": "d1",
                    "title": "First",
                    "url": "/doc/first-KlMnOpQrSt",
                    "children": [
                        {"id": "d3", "title": "Third", "url": "/doc/third-UuUuUuUuUu", "children": []}
                    ],
                },
            ],
        },
        "documents": {
            "d1": {"id": "d1", "urlId": "KlMnOpQrSt", "title": "First", "data": first},
            "d2": {
                "id": "d2",
                "urlId": "AbCdEfGhIj",
                "title": "Second",
                "data": doc(node("paragraph", node("mention", type="document", label="First", modelId="d1"))),
            },
            "d3": {"id": "d3", "urlId": "UuUuUuUuUu", "title": "Third", "data": doc()},
        },
        "attachments": {
            ONE: {"id": ONE, "name": "pot.png", "key": f"uploads/a/{ONE}/pot.png"},
            TWO: {"id": TWO, "name": "list.pdf", "key": f"uploads/a/{TWO}/list.pdf"},
        },
    }
    made = brought(
        {
            "metadata.json": '{"exportVersion": 1, "version": "0.80.0"}',
            "Handbook.json": json.dumps(export),
            f"uploads/a/{ONE}/pot.png": PNG,
            f"uploads/a/{TWO}/list.pdf": b"%PDF",
        }
    )
    assert (made.kind, made.name) == ("outline", "Handbook")
    assert tree(made) == {"Handbook": {}, "Second": {}, "First": {"Third": {}}}
    page = text(made, "first.md")
    for part in (
        "A **bold** [link](second.md#part) [out](/doc/gone-ZzZzZzZzZz)@Ines",
        "## Part",
        "* [x] done\n* [ ] open",
        "```python\nx = 1\ny\n```",
        '{% hint style="warning" %}\nMind\n{% endhint %}',
        "<summary>More</summary>",
        "uploads/pot.png",
        "[list.pdf](uploads/list.pdf)",
        "| H   | I   |\n| --- | --- |\n| 1   | 2   |",
        "$$\na^2\n$$",
        "Kept \\<b>",
        '{% embed url="https://example.org/v" %}',
    ):
        assert part in page, (part, page)
    assert "[First](first.md)" in text(made, "second.md")
    assert {code for _, _, code in problems(made)} == {"broken_link", "unknown_component"}
    assert "doc/first-KlMnOpQrSt: first.md" in text(made, ".gitbook.yaml")


# --- Docmost ------------------------------------------------------------------------------------------


def test_markdown_of_docmost_is_read():
    pages = {
        "Zero.md": {"pageId": "1", "slugId": "aaaa", "position": "a0", "parentPath": None},
        "Zero/First%20one.md": {"pageId": "2", "slugId": "bbbb", "position": "a1", "parentPath": "Zero.md"},
        "Zero/Before.md": {"pageId": "3", "slugId": "cccc", "position": "a0", "parentPath": "Zero.md"},
        "Another.md": {"pageId": "4", "slugId": "dddd", "position": "Zz", "parentPath": None},
    }
    made = brought(
        {
            "docmost-metadata.json": json.dumps({"source": "docmost", "version": "0.24.0", "pages": pages}),
            "Zero.md": (
                f"# Zero\n\n:::danger\nMind\n:::\n\n"
                f"[First](Zero/First%20one.md) ![](files/{ONE}/a.png) $a$\n\n- [x]  done \n"
            ),
            "Zero/First one.md": "# First one\n\n<details>\n<summary>More</summary>\n\nInside\n\n</details>\n",
            "Zero/Before.md": "# Before\n",
            "Another.md": "# Another\n",
            f"files/{ONE}/a.png": PNG,
        }
    )
    assert made.kind == "docmost"
    assert tree(made) == {"Another": {}, "Zero": {"Before": {}, "First one": {}}}
    page = text(made, "Zero.md")
    assert '{% hint style="danger" %}\nMind\n{% endhint %}' in page and "$$a$$" in page
    assert "(<Zero/First one.md>)" in page or "(Zero/First%20one.md)" in page
    assert f"files/{ONE}/a.png" in page and problems(made) == []
    assert "p/bbbb: Zero/First one.md" in text(made, ".gitbook.yaml")


def test_html_of_docmost_is_read():
    page = (
        "<!DOCTYPE html><html><head><title>Zero</title></head><body><h1>Zero</h1><div "
        'data-type="callout" data-callout-type="success"><p>Well</p></div>'
        '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><label><input '
        'type="checkbox"><span></span></label><div><p>done</p></div></li></ul>'
        '<p>So <span data-type="mathInline" data-katex="true">a^2</span></p><div data-type="mathBlock">b^2</div>'
        f'<div data-type="attachment" data-attachment-url="files/{ONE}/l.pdf" '
        f'data-attachment-name="l.pdf"></div><p><a '
        f'href="Zero/First.html">First</a></p></body></html>'
    )
    made = brought(
        {
            "Zero.html": page,
            "Zero/First.html": "<html><body><h1>First</h1><p>x</p></body></html>",
            f"files/{ONE}/l.pdf": b"%PDF",
        }
    )
    assert made.kind == "docmost" and tree(made) == {"Zero": {"First": {}}}
    for part in (
        '{% hint style="success" %}',
        "* [x] done",
        "$$a^2$$",
        "$$\nb^2\n$$",
        f"[l.pdf](files/{ONE}/l.pdf)",
        "[First](Zero/First.md)",
    ):
        assert part in page_of(made, "Zero.html"), part


# --- ReadMe -------------------------------------------------------------------------------------------


def test_a_synced_readme_project_is_read():
    made = brought(
        {
            "docs/_order.yaml": "- Start here\n- more\n- gone\n",
            "docs/Start here/_order.yaml": "- welcome\n- parent\n- away\n",
            "docs/Start here/welcome.md": "---\ntitle: Welcome\nexcerpt: What it is\nhidden: false\n"
            "metadata:\n  robots: index\n"
            "---\n"
            "See [child](doc:child#a), [ref](ref:get-pet) and [abs](/docs/parent).\n\n"
            '> 📘 Note this\n>\n> *Body*\n\n> **👋** no callout\n\n<Callout icon="🚧" theme="warn">\n'
            "### Watch\n\nout\n</Callout>\n\n"
            '```js A tab\na\n```\n```py\nb\n```\n\n<Table align={["left","left"]}>\n<thead>\n'
            "<tr><th>\nA\n</th><th>\nB | C\n</th></tr>\n</thead>\n<tbody>\n<tr><td>\n`x`\n"
            "</td><td>\ny\n\nz\n</td></tr>\n</tbody>\n</Table>\n\n"
            '<Image align="center" caption="A *pot*" src="https://files.readme.io/a.png" '
            'width="80%" />\n\n<HTMLBlock>{`<b>bold</b><script>x</script>`}</HTMLBlock>\n\n'
            "<Snippet />\n\n<Shiny />\n\n<<name>> <<glossary:term>> <<unknown>>\n\n"
            '[v](https://example.org/v "@embed")\n',
            "docs/Start here/parent/index.md": "---\ntitle: Parent\n---\n",
            "docs/Start here/parent/child.md": "---\ntitle: Child\n---\n## A\n",
            "docs/Start here/away.md": "---\ntitle: Away\nlink:\n  url: https://example.org\n---\n",
            "docs/more/last.md": "---\ntitle: Last\nhidden: true\n---\n",
            "reference/Pets/get-pet.md": "---\ntitle: Get a pet\napi:\n  file: oas.json\n  operationId: getPet\n---\n",
            "reference/Pets/about.md": "---\ntitle: About pets\n---\nText\n",
            "custom_blocks/Snippet.md": "From a **snippet**.\n",
            "custom_pages/hello.md": "---\ntitle: Hello\n---\nHi\n",
            "changelogs/one.md": "---\ntitle: One\n---\n",
            "variables.json": '{"name": "Acme"}',
        }
    )
    assert made.kind == "readme"
    assert tree(made) == {
        "Start here": {"Welcome": {}, "Parent": {"Child": {}}, "Away": {}},
        "More": {"Last": {}},
        "Reference": {"Pets": {"About pets": {}}},
        "Hello": {},
    }
    page = page_of(made, "welcome.md")
    for part in (
        "description: What it is",
        "/child.md#a",
        "[ref](/reference/get-pet)",
        "parent/README.md",
        '{% hint style="info" %}\n#### Note this\n\n*Body*\n{% endhint %}',
        "> **👋** no callout",
        '{% hint style="warning" %}\n### Watch\n\nout\n{% endhint %}',
        '{% tab title="A tab" %}\n```js\na\n```\n{% endtab %}',
        '{% tab title="py" %}',
        "| A | B \\| C |\n| --- | --- |\n| `x` | y<br>z |",
        '<figure><img src="https://files.readme.io/a.png" alt="" width="80%">',
        "<b>bold</b>",
        "From a **snippet**.",
        "Acme term \\<\\<unknown>>",
        '{% embed url="https://example.org/v" %}',
    ):
        assert part in page, (part, page)
    assert "<script" not in page and "metadata" not in page
    assert {code for _, _, code in problems(made)} == {
        "missing_file",
        "blog_left_out",
        "api_left_out",
        "broken_link",
        "unknown_component",
        "variable",
        "script_left_out",
    }


def block(kind, data):
    return f"[block:{kind}]\n{json.dumps(data, indent=2)}\n[/block]\n"


def test_readme_with_json_blocks_is_read():
    table = {"cols": 2, "rows": 1, "data": {"h-0": "A", "h-1": "B", "0-0": "one | two", "0-1": "l\nm"}}
    page = (
        '---\ntitle: "Building"\nslug: "building"\nexcerpt: ""\nhidden: false\n---\n'
        + block("api-header", {"type": "basic", "title": "First steps"})
        + "1. Do it.\n"
        + block("code", {"codes": [{"code": "a {x}\n\n\nb", "language": "shell"}]})
        + "2. And [then](doc:next).\n"
        + block(
            "code",
            {
                "codes": [
                    {"code": "x", "language": "python", "name": "a.py"},
                    {"code": "y", "language": "javascript"},
                ]
            },
        )
        + block("callout", {"type": "danger", "title": "Mind", "body": "the [gap](doc:next)"})
        + block(
            "image",
            {
                "images": [
                    {
                        "image": ["https://files.readme.io/p.png", "p.png", 10, 20, "#fff"],
                        "caption": "Pot",
                        "sizing": "80",
                    }
                ]
            },
        )
        + block("parameters", table)
        + block("embed", {"url": "https://example.org/v", "html": False})
        + block("html", {"html": "<div><em>x</em></div>\n<script>y</script>"})
        + "[block:callout]\n{not json}\n[/block]\nEnd {id}.\n"
        + block("odd", {"text": "kept"})
    )
    made = brought(
        {
            "v1.0/Guides/building.md": page,
            "v1.0/Guides/next.md": "---\ntitle: Next\nslug: next\n---\n[block:api-header]\n{}\n[/block]\nx\n",
            "v0.9/Guides/old.md": "# Old\n",
        }
    )
    assert made.kind == "readme" and tree(made) == {"Guides": {"Building": {}, "Next": {}}}
    said = page_of(made, "building.md")
    for part in (
        "# Building\n\n## First steps",
        "```shell\na {x}\n\n\nb\n```",
        "And [then](next.md).",
        '{% tab title="a.py" %}\n```python\nx\n```\n{% endtab %}',
        '{% tab title="javascript" %}',
        '{% hint style="danger" %}\n#### Mind\n\nthe [gap](next.md)\n{% endhint %}',
        '<img src="https://files.readme.io/p.png" alt="Pot" width="80%"><figcaption><p>Pot</p>',
        "| A | B |\n| --- | --- |\n| one \\| two | l<br>m |",
        '{% embed url="https://example.org/v" %}',
        "<em>x</em>",
        "```json\n{not json}\n```",
        "End {id}.",
        "kept",
    ):
        assert part in said, (part, said)
    assert {code for _, _, code in problems(made)} == {
        "versions_left_out",
        "unclear_markup",
        "unknown_component",
        "script_left_out",
    }


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files",
    [
        {
            "data.json": '{"exported_at": "x", "book": {"name": "B", "pages": [{"name": "P", "html": '
            + "[" * 2000
        },
        {
            "data.json": json.dumps(
                {
                    "exported_at": 1,
                    "book": {
                        "name": "B",
                        "pages": [
                            1,
                            {"name": [], "html": 7, "priority": "x", "tags": [{}], "attachments": [{}]},
                        ],
                        "chapters": {"a": 1},
                    },
                }
            )
        },
        {
            "data.json": json.dumps(
                {"exported_at": 1, "page": {"name": "../../x", "html": "<p>" * 3000 + "t"}}
            )
        },
        {
            "metadata.json": '{"exportVersion": 1}',
            "a.json": '{"collection": {"documentStructure": [{"id": 3}, 7]}}',
            "b.json": "[" * 5000,
        },
        {
            "metadata.json": '{"exportVersion": 1}',
            "a.json": json.dumps(
                {
                    "collection": {"name": "x", "documentStructure": [{"id": "d", "title": "D"}]},
                    "documents": {
                        "d": {
                            "id": "d",
                            "data": {
                                "type": "doc",
                                "content": [
                                    {"type": "paragraph", "content": [{"type": "text", "marks": 3}, 9, None]},
                                    {"type": "table"},
                                    {"type": "heading", "attrs": {"level": "x"}},
                                ],
                            },
                        }
                    },
                }
            ),
        },
        {"docmost-metadata.json": "{", "A.md": "# A\n"},
        {
            "home.md": wikijs("H", "> x\n{.is-info\n\n# {.tabset}\n" + "## a\n" * 3000),
            "navigation.json": "[" * 5000,
        },
        {"docs/_order.yaml": "a: [", "docs/a/b.md": "[block:code]\n" * 3000 + "text\n"},
        {
            "a.md": "[block:parameters]\n"
            + json.dumps({"cols": 10**9, "rows": 10**9, "data": {}})
            + "\n[/block]\n"
            + "> 📘\n" * 2000
            + "```a b\n" * 2000
        },
    ],
)
def test_truncated_and_unusual_exports_do_no_harm(files):
    made = brought(files)
    assert (
        all(".." not in path.split("/") for path in made.paths())
        and "SUMMARY.md" in made.paths()
        or made.kind in ("html", "markdown")
    )
