"""HTML of documents: every block drawn well, and nothing in a document able to become more than text."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

import octavo
from hostile import SCHEMES, VECTORS, every_node, paragraph, scheme_a_browser_sees, text, url, wrapped
from octavo.core.document.formulas import mathml
from octavo.core.document.html import render
from octavo.core.document.html_context import Asset, HtmlContext, HtmlTarget, OutlineHeading
from octavo.core.document.nodes import Block, Document, Fragment, Inline, Mark
from octavo.core.document.parts import emoji
from octavo.core.document.reader import read
from octavo.core.document.schema import BLOCKS, INLINES
from octavo.core.document.urls import FRAME_HOSTS, player, safe_url
from octavo.core.highlighting import COLORED, highlight, token_rows


def drawn(markdown: str, **context: Any) -> str:
    return str(render(read(markdown), HtmlContext(**context)).body)


def block(*nodes: Block, **context: Any) -> str:
    return str(render(Document(list(nodes)), HtmlContext(**context)).body)


# Text and marks


def test_text_is_escaped_and_hard_breaks_are_breaks():
    assert block(paragraph('<b> & "quoted"\nnext')) == "<p>&lt;b&gt; &amp; &#34;quoted&#34;<br>next</p>"


@pytest.mark.parametrize(
    ("mark", "tag"),
    [
        ("bold", "strong"),
        ("italic", "em"),
        ("code", "code"),
        ("keyboard", "kbd"),
        ("strikethrough", "s"),
        ("superscript", "sup"),
        ("subscript", "sub"),
    ],
)
def test_marks(mark, tag):
    assert block(paragraph(text("x", Mark(mark)))) == f"<p><{tag}>x</{tag}></p>"


def test_marks_nest_in_a_fixed_order():
    assert block(paragraph(text("x", Mark("bold"), Mark("code")))) == "<p><strong><code>x</code></strong></p>"


def test_colors_are_classes_of_a_fixed_list():
    color = Mark("color", {"text": "$primary", "background": "yellow"})
    assert block(paragraph(text("x", color))) == '<p><mark class="c-primary b-yellow">x</mark></p>'
    wild = Mark("color", {"text": 'red" onclick="x', "background": {"a": 1}})
    assert block(paragraph(text("x", wild))) == "<p>x</p>"


def test_headings_have_unique_anchors_and_form_the_outline():
    html = render(read('## Set up\n\n### Set up\n\n## Fixed <a href="#here" id="here"></a>\n\n## Où?'))
    assert html.outline == (
        OutlineHeading("set-up", "Set up", 2),
        OutlineHeading("set-up-1", "Set up", 3),
        OutlineHeading("here", "Fixed", 2),
        OutlineHeading("où", "Où?", 2),
    )
    assert '<h2 id="set-up">Set up<a class="anchor" href="#set-up"' in html.body
    assert '<h3 id="set-up-1">' in html.body


def test_headings_in_hints_tabs_and_expandables_are_not_in_the_outline():
    source = (
        '{% hint style="info" %}\n## In hint\n{% endhint %}\n\n{% tabs %}\n{% tab title="A" %}\n## In tab\n'
        "{% endtab %}\n{% endtabs %}\n\n<details>\n\n<summary>More</summary>\n\n## In more\n\n</details>\n\n"
        "{% stepper %}\n{% step %}\n## In step\n{% endstep %}\n{% endstepper %}\n\n## Out"
    )
    assert [h.title for h in render(read(source)).outline] == ["In step", "Out"]


def test_lists_tasks_quotes_and_dividers_are_rendered():
    body = drawn("3. a\n4. b\n\n* x\n  * y\n\n- [x] done\n- [ ] open\n\n> q\n\n***")
    assert '<ol start="3"><li>a</li><li>b</li></ol>' in body
    assert "<ul><li>x<ul><li>y</li></ul></li></ul>" in body
    assert body.count('type="checkbox" disabled') == 2 and body.count(" checked") == 1
    assert "<blockquote><p>q</p></blockquote>" in body and "<hr>" in body
    # Only above a list do the words of an item stand close.
    assert "<li><p>a</p><blockquote>" in drawn("* a\n  > q")


# Blocks


def test_hints_are_rendered():
    body = drawn('{% hint style="warning" %}\nMind *this*.\n{% endhint %}')
    assert body.startswith('<div class="hint warning" role="note" aria-label="Warning">')
    assert "Mind <em>this</em>." in body


def test_tabs_are_a_tablist_with_one_visible_panel():
    body = drawn(
        '{% tabs %}\n{% tab title="A" %}\none\n{% endtab %}\n{% tab title="B" %}\ntwo\n{% endtab %}\n{% endtabs %}'
    )
    assert body.count('role="tab"') == 2 and body.count('role="tabpanel"') == 2
    assert body.count('aria-selected="true"') == 1 and body.count('tabindex="-1"') == 2
    assert body.count('hidden="until-found"') == 1
    ids = Reader(body).ids
    for wanted in Reader(body).values("aria-controls") + Reader(body).values("aria-labelledby"):
        assert wanted in ids


def test_steppers_expandables_and_columns_are_rendered():
    body = drawn("{% stepper %}\n{% step %}\nDo it\n{% endstep %}\n{% endstepper %}")
    assert '<ol class="stepper"><li class="step">' in body
    body = drawn("<details open>\n\n<summary>Why **so**</summary>\n\nBecause\n\n</details>")
    assert '<details class="expandable" id="why-so" open>' in body
    assert "<strong>so</strong>" in body and "<p>Because</p>" in body
    body = drawn(
        '{% columns %}\n{% column width="33.33%" %}\na\n{% endcolumn %}\n{% column %}\nb\n'
        "{% endcolumn %}\n{% endcolumns %}"
    )
    assert 'class="column of-4"' in body and 'class="column"' in body


def test_code_has_a_title_numbers_and_highlighting_and_keeps_its_text():
    body = drawn(
        '{% code title="a.py" lineNumbers="true" overflow="wrap" %}\n```python\nif a < 1:\n    pass\n```\n{% endcode %}'
    )
    assert 'class="code titled wrap numbered"' in body and ">a.py<" in body and ">Python<" in body
    assert '<span class="k">if</span>' in body
    assert Reader(body).text_of("code") == "if a < 1:\n    pass"


def test_marks_and_annotations_work_in_highlighted_code():
    line = Block(
        "code-line",
        {"highlighted": True},
        [
            text("x = "),
            Inline(
                "annotation", {}, [text("len")], [Fragment("n", [paragraph("a builtin")], "annotation-body")]
            ),
            text("(1)", Mark("bold")),
        ],
    )
    body = block(Block("code", {"syntax": "python"}, [line]))
    assert '<span class="line lit">' in body and "<strong>" in body
    assert Reader(body).text_of("code") == "x = len(1)"
    assert body.endswith("<p>a builtin</p></aside>") and 'popovertarget="note-1"' in body


def test_expandable_code_collapses_lines_beyond_its_limit():
    lines: list[Any] = [Block("code-line", {}, [text(str(n))]) for n in range(30)]
    body = block(Block("code", {"expandable": True, "collapsedLineCount": 12}, lines))
    assert body.count('class="line more"') == 18 and 'class="code-more"' in body
    assert 'class="code-more"' not in block(Block("code", {"expandable": True}, lines[:10]))


def test_mermaid_is_code_for_scripts_to_draw():
    for source in ("```mermaid\ngraph TD\n```", '{% @mermaid/diagram content="graph TD" %}'):
        html = render(read(source))
        assert html.diagrams and html.body.startswith('<div class="diagram"><figure class="code">')
    assert not render(read("```js\ngraph TD\n```")).diagrams


def test_mermaid_is_shown_as_code():
    assert "Mermaid" in drawn("```mermaid\ngraph TD; A--&gt;B\n```")


def test_math_is_mathml_and_invalid_formulas_are_shown_as_text():
    assert '<div class="math" tabindex="0"><math display="block">' in drawn("$$\na^2\n$$")
    assert "&amp;" not in str(mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}"))
    assert mathml(r"\nosuchcommand x") is None
    assert "<munder><mo movablelimits" in drawn("$$\n\\lim_{x} y\n$$") and "<munder>" not in drawn(
        "so $$\\lim_{x} y$$"
    )
    assert "<msub>" in drawn("$$\n\\max\\nolimits_{x} y\n$$")
    assert r"<code>\nosuchcommand x</code>" in block(
        paragraph(Inline("inline-math", {"formula": r"\nosuchcommand x"}))
    )


def test_images_have_a_size_and_dark_variant_and_load_lazily():
    def file(ref: dict[str, Any]) -> Asset:
        return Asset(url="/f/" + ref["url"], width=800, height=400)

    image = Block(
        "image",
        {"ref": url("a.png"), "refDark": url("b.png"), "alt": "A", "width": 400},
        [],
        [Fragment("caption", [paragraph("Words")])],
    )
    body = block(
        Block("images", {"align": "left", "withFrame": True}, [image, Block("image", {"ref": url("c.png")})]),
        file=file,
    )
    assert 'class="images gallery at-left framed"' in body
    assert 'class="only-light" src="/f/a.png" alt="A" width="400" height="200"' in body
    assert 'class="only-dark" src="/f/b.png"' in body
    assert 'src="/f/c.png" alt="" width="800" height="400" loading="lazy"' in body
    assert "<figcaption>Words</figcaption>" in body


def test_embeds_load_on_click_and_only_known_players_get_a_frame():
    body = drawn('{% embed url="https://youtu.be/abc-123" %}')
    assert "<iframe" not in body
    assert 'data-frame="https://www.youtube-nocookie.com/embed/abc-123"' in body
    assert "data-frame" not in drawn('{% embed url="https://evil.example/watch" %}')
    assert "<video" in drawn('{% embed url="https://x.example/a.mp4" %}')
    assert drawn('{% embed url="javascript:alert(1)" %}') == ""


@pytest.mark.parametrize(
    ("address", "src"),
    [
        ("https://www.youtube.com/watch?v=abc&t=1", "https://www.youtube-nocookie.com/embed/abc"),
        ("https://www.youtube.com/shorts/abc", "https://www.youtube-nocookie.com/embed/abc"),
        ("https://vimeo.com/123456", "https://player.vimeo.com/video/123456?dnt=1"),
        ("https://www.loom.com/share/0a1b", "https://www.loom.com/embed/0a1b"),
        ("https://open.spotify.com/track/4uLU6h", "https://open.spotify.com/embed/track/4uLU6h"),
        ("https://codepen.io/me/pen/xyz", "https://codepen.io/me/embed/xyz?default-tab=result"),
    ],
)
def test_known_players_are_embedded(address, src):
    found = player(address)
    assert found is not None and found.src == src
    assert any(src.startswith(host + "/") for host in FRAME_HOSTS)


@pytest.mark.parametrize(
    "address",
    [
        "https://youtube.com.evil.example/watch?v=a",
        "https://evil.example/youtube.com/watch?v=a",
        "https://youtu.be/a%22onload=",
        "javascript://youtube.com/watch?v=a",
        "https://user@evil.example:443/",
        "https://www.youtube.com/watch?v=<script>",
        "https://vimeo.com/",
        "http://[::1",
        "data:text/html,x",
    ],
)
def test_unknown_players_are_links(address):
    assert player(address) is None


def test_files_references_mentions_and_buttons_are_rendered():
    def link(ref: dict[str, Any]) -> HtmlTarget | None:
        return HtmlTarget(href="/b", title="Page B", description="About B") if ref["url"] == "b.md" else None

    def file(ref: dict[str, Any]) -> Asset:
        return Asset(url="/f/r.pdf", name="r.pdf", size=2_500_000)

    body = drawn('{% file src="r.pdf" %}', file=file)
    assert 'href="/f/r.pdf" download="r.pdf"' in body and "PDF · 2.5 MB" in body
    body = drawn('{% content-ref url="b.md" %}\n[b.md](b.md)\n{% endcontent-ref %}', link=link)
    assert '<a class="ref" href="/b">' in body and "Page B" in body and "About B" in body
    body = drawn('{% content-ref url="gone.md" %}\n[gone](gone.md)\n{% endcontent-ref %}', link=link)
    assert '<div class="ref broken">' in body and "<a" not in body and "gone" in body
    assert '<a class="mention" href="/b">Page B</a>' in drawn('[b.md](b.md "mention")', link=link)
    assert '<span class="broken">words</span>' in drawn("[words](gone.md)", link=link)
    button = Inline("button", {"label": "Find", "kind": "secondary", "action": "search", "query": "a&b"})
    body = block(paragraph(button), search=lambda q: "/~search?q=" + q)
    assert (
        '<a class="button secondary" href="/~search?q=a&amp;b" data-action="search" data-query="a&amp;b">'
        in body
    )
    assert 'aria-disabled="true"' in block(paragraph(Inline("button", {"label": "x", "kind": "primary"})))


def test_a_button_selects_tabs_by_their_slug():
    body = drawn(
        '{% tabs %}\n{% tab title="npm" slug="Node JS" %}\na\n{% endtab %}\n{% tab title="pip" %}\nb\n{% endtab %}\n'
        '{% endtabs %}\n\n<button type="button" class="button primary" data-size="large" data-action="select"'
        ' data-slug="Node JS">Use npm</button>'
    )
    assert re.findall('data-slug="([^"]+)"', body) == ["node-js"]
    assert '<button type="button" class="button primary large scripted" data-select="node-js">' in body
    # A button that names no tabs does nothing.
    none = Inline("button", {"label": "x", "kind": "primary", "action": "select", "slug": "🎉"})
    assert 'aria-disabled="true"' in block(paragraph(none))


def test_a_table_has_a_search_field_only_if_it_is_set():
    table = "<table{}><thead><tr><th>A</th></tr></thead><tbody><tr><td>x</td></tr></tbody></table>"
    body = drawn(table.format(' data-search="true"'))
    assert '<input type="search" class="table-search scripted" aria-label="Search this table"' in body
    assert "<input" not in drawn(table.format("")) + drawn(table.format(' data-search="false"'))


def test_unevaluated_expressions_and_conditions_render_nothing():
    assert block(paragraph(text("a"), Inline("expression", {"expression": "x"}))) == "<p>a</p>"
    assert block(Block("if", {"expression": "true"}, [paragraph("in")])) == ""
    assert block(Block("reusable-content", {"ref": url("x")})) == ""
    assert block(Block("reusable-content", {"ref": url("x")}, [paragraph("shared")])) == "<p>shared</p>"


def test_ids_in_html_are_kept():
    body = drawn('Here <a id="Top.1"></a> and <a name="b-c"></a>, <a id="d" href="/x">there</a>.')
    assert '<span id="Top.1"></span>' in body
    assert '<span id="b-c"></span>' in body
    assert '<a id="d" href="/x">there</a>' in body
    assert "id=" not in drawn('<a id="a b"></a> <a id="&quot;x"></a> <b name="bold">x</b>')
    assert '<span id="bold"></span>x' in drawn('<b id="bold">x</b>')
    assert drawn('## A\n\n<a id="a"></a>').startswith('<h2 id="a-1">')


def test_tables_have_a_name_and_meaningful_headers():
    body = drawn(
        "| A | |\n| - | - |\n| 1 | 2 |\n\n## Limits\n\n| | |\n| - | - |\n| 1 | 2 |\n\n| B |\n| - |\n| 3 |"
    )
    assert re.findall('aria-label="([^"]*)"><table', body) == ["Table", "Limits", "Limits 2"]
    assert re.findall("<thead>(.*?)</thead>", body) == [
        '<tr><th scope="col">A</th><td></td></tr>',
        '<tr><th scope="col">B</th></tr>',
    ]


def test_a_list_of_operations_shows_a_path_once():
    body = drawn("* [POST /orders](https://a.example/1)\n* [Get one](https://a.example/2) `GET /orders/{id}`")
    assert '<li class="bare"><b class="method post">POST</b>' in body and ">/orders</a>" in body
    assert ">Get one</a>" in body and body.count("<li>") == 1


def test_tables_are_aligned_scrollable_and_typed():
    body = drawn("| A | B |\n| :-: | --: |\n| `x` | 2 |")
    assert 'role="region" tabindex="0"' in body
    assert '<th scope="col" class="align-center">A</th>' in body and '<td class="align-end">2</td>' in body
    columns = {
        "c": {"id": "c", "title": "Done", "type": "checkbox"},
        "r": {"id": "r", "title": "R", "type": "rating", "max": 5},
        "s": {
            "id": "s",
            "title": "S",
            "type": "select",
            "options": [{"value": "v", "label": "Very", "color": "red"}],
        },
        "n": {"id": "n", "title": "N", "type": "number"},
        "h": {"id": "h", "title": "Hidden", "type": "text"},
    }
    table = Block(
        "table",
        {
            "view": {
                "type": "grid",
                "columns": ["c", "r", "s", "n"],
                "columnWidths": {"c": 80},
                "hideHeader": False,
            },
            "definition": columns,
            "records": {
                "2": {"orderIndex": "b", "values": {"n": 2}},
                "1": {"orderIndex": "a", "values": {"c": True, "r": 3, "s": ["v"], "n": 1}},
            },
        },
    )
    body = block(table)
    assert "Hidden" not in body and '<col width="80">' in body
    assert 'aria-label="3/5"' in body and '<span class="tag b-red c-red">Very</span>' in body
    assert body.index(">1</td>") < body.index(">2</td>")


def test_long_code_in_a_cell_can_break_between_words():
    long = "Client::with_max_bytes(maxBytes, https://x.example/a<b)"
    body = drawn(f"`{long}`\n\n| A | B |\n| - | - |\n| `{long}` | `short_one` |\n\n`{long}`")
    whole = long.replace("<", "&lt;")
    assert body.count(f"<code>{whole}</code>") == 2
    assert "<code>short_one</code>" in body
    (cell,) = re.findall(r"<td><code>(.*?)</code>", body)[:1]
    assert cell.replace("<wbr>", "") == whole
    assert "Client:<wbr>:" not in cell
    assert "::<wbr>with_<wbr>max_<wbr>bytes(<wbr>maxBytes, <wbr>https://<wbr>x" in cell
    assert "<code>Read<wbr>Only<wbr>Memory<wbr>Stream</code>" in drawn(
        "| A |\n| - |\n| `ReadOnlyMemoryStream` |"
    )


def test_plain_text_has_no_language_label():
    assert "code-language" not in drawn("```text\nx\n```")
    assert "code-language" in drawn("```python\nx\n```")


def test_cards_are_one_link_over_the_whole_card():
    source = (
        '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th>'
        '<th data-hidden data-card-cover data-type="image"></th></tr></thead><tbody><tr><td><strong>Start</strong></td>'
        '<td><a href="https://x.example/">x</a></td><td><a href="c.png">c</a></td></tr></tbody></table>'
    )
    body = drawn(source)
    assert '<a class="card-link" aria-label="Start" href="https://x.example/" rel="noopener"></a>' in body
    assert 'class="card links"' in body and '<div class="card-cover"><img src="c.png"' in body


def test_updates_prompts_openapi_and_unknown_blocks_are_rendered():
    html = render(
        read(
            '{% updates format="full" %}\n{% update date="2026-11-02" tags="new,api" %}\n## Out\n'
            "{% endupdate %}\n{% endupdates %}"
        )
    )
    assert html.updates and '<time datetime="2026-11-02">2 November 2026</time>' in html.body
    assert html.body.count('class="tag"') == 2
    body = drawn(
        '{% prompt description="Do" openInAIProviders="claude" %}\n```\nWrite & send\n```\n{% endprompt %}'
    )
    assert (
        "Write &amp; send" in body
        and "https://claude.ai/new?q=Write%20%26%20send" in body
        and "ChatGPT" not in body
    )
    operation = Block("openapi-operation", {"ref": url("x"), "path": "/a", "method": "get"})
    assert "GET" in block(operation) and "<code>/a</code>" in block(operation)
    assert (
        block(operation, openapi=lambda type, data: Markup("<p>ours</p>"))
        == '<div class="openapi"><p>ours</p></div>'
    )
    assert "inside" in drawn("{% nonsense %}\n\ninside\n\n{% endnonsense %}")


def test_emoji():
    assert emoji("1f1e9-1f1ea") == "🇩🇪"
    assert [emoji(c) for c in ("", "zz", "d800", "110000", "3c", "0a", 5, "1-" * 40)] == [""] * 3 + [
        "",
        "<",
        "",
        "",
        "",
    ]
    families = ("📘", "👩‍👩‍👧", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏽", "ℹ️")
    assert [emoji(c) for c in families] == list(families)
    assert [emoji(c) for c in ("重点", "é", "#1", "📘" * 17, "📘<b>")] == [""] * 5
    assert block(paragraph(Inline("emoji", {"code": "3c"}))) == '<p><span class="emoji">&lt;</span></p>'


def test_icons_only_come_from_the_set():
    icon = {"rocket": Markup("<svg></svg>")}.get
    body = block(
        paragraph(Inline("icon", {"icon": "rocket", "color": "$primary"}), Inline("icon", {"icon": "<b>"})),
        icon=icon,
    )
    assert (
        body
        == '<p><span class="c-primary"><span class="icon" aria-hidden="true"><svg></svg></span></span></p>'
    )


def test_deep_documents_need_no_recursion():
    node = paragraph("deep")
    deep = sys.getrecursionlimit() * 3 // 2
    for _ in range(deep):
        node = Block("blockquote", {}, [node])
    assert block(node).count("<blockquote>") == deep
    inline: Any = text("deep")
    for _ in range(deep):
        inline = Inline("link", {"ref": url("/a")}, [inline])
    assert block(paragraph(inline)).count('<a href="/a">') == deep


def test_highlighting_keeps_every_character():
    for code in ("a\r\nb", "\n\nx\n", "\tif (a) {}", "", "\x00", "\u202ex"):
        tokens = highlight(code, "javascript")
        assert tokens is None or "".join(t for _, t in tokens) == code
    assert highlight("x", "no-such-language") is None and highlight("x", "") is None


def test_listings_mark_only_colored_tokens():
    style = (Path(octavo.__file__).parent / "delivery/reader/static/octavo.css").read_text()
    for hue in set(COLORED.values()):
        assert re.search(rf"^(\.code )?(\.\w+, )?\.{hue}( |,)", style, re.MULTILINE), hue
        assert COLORED[hue] == hue
    tokens = highlight('{"a": [1,  2, "x\\n", true]}', "json")
    assert tokens is not None
    assert {kind for kind, text in tokens if not text.strip(" {}[]:,")} == {""}
    assert all(one != other for (one, _), (other, _) in pairwise(tokens))


# Nothing becomes more than text


class Reader(HTMLParser):
    """Parse HTML as a browser does: every tag with its attributes, text by element, ids."""

    VOID = frozenset("img input hr br col".split())

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.broken: list[str] = []
        self.feed(html)
        self.close()
        self.ids = [a["id"] for _, a in self.tags if "id" in a]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len({k for k, _ in attrs}) != len(attrs):
            self.broken.append(f"doubled attribute in {tag}")
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.broken.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_comment(self, data: str) -> None:
        self.broken.append("comment")

    handle_decl = unknown_decl = handle_pi = handle_comment

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    def values(self, attribute: str) -> list[str | None]:
        return [a[attribute] for _, a in self.tags if attribute in a]

    def text_of(self, tag: str) -> str:
        return "".join(t for where, t in self.texts if tag in where)


TAGS = frozenset(
    "p h2 h3 h4 h5 h6 ul ol li input div blockquote hr span a em strong code kbd s sup sub mark br "
    "pre figure figcaption "
    "button img small video details summary section header time table colgroup col thead tbody tr "
    "th td aside math mrow "
    "mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable "
    "mtr mtd mstyle mpadded "
    "mphantom menclose merror mmultiscripts".split()
)
ATTRIBUTES = frozenset(
    "class id href src alt title width height loading decoding start type disabled checked role tabindex hidden open "
    "scope datetime download rel target controls preload popover popovertarget aria-label aria-hidden aria-controls "
    "aria-selected aria-labelledby aria-expanded aria-disabled data-copy data-done data-more data-less data-zoom "
    "data-frame data-title data-action data-query data-slug data-select data-none placeholder "
    "display stretchy fence form mathvariant displaystyle scriptlevel "
    "columnalign columnspacing rowspacing lspace rspace accent movablelimits linethickness mathcolor linebreak "
    "maxsize minsize notation separator depth voffset symmetric".split()
)


def assert_inert(html: str) -> None:
    found = Reader(html)
    assert not found.broken, found.broken
    assert not found.open, found.open
    for tag, attributes in found.tags:
        assert tag in TAGS, tag
        for name, value in attributes.items():
            assert name in ATTRIBUTES, (tag, name)
            if name in ("href", "src"):
                assert value is not None and scheme_a_browser_sees(value) in SCHEMES, (tag, value)
            if name == "data-frame":
                assert value is not None and any(value.startswith(h + "/") for h in FRAME_HOSTS), value
    assert len(found.ids) == len(set(found.ids))


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(vector, id=str(n), marks=[pytest.mark.slow] if n % 3 else [])
        for n, vector in enumerate(VECTORS)
    ],
)
def test_no_attack_succeeds_in_any_node(vector):
    def link(ref: dict[str, Any]) -> HtmlTarget | None:
        address = ref.get("url")
        return HtmlTarget(
            href=address, title=vector, description=vector, icon=vector, emoji=vector, external=True
        )

    def file(ref: dict[str, Any]) -> Asset | None:
        address = ref.get("url")
        return Asset(url=address, name=vector) if isinstance(address, str) else None

    for context in (
        HtmlContext(),
        HtmlContext(
            link=link,
            file=file,
            search=lambda q: q,
            ask=lambda q: q,
        ),
    ):
        assert_inert(str(render(every_node(vector), context).body))


@pytest.mark.parametrize("vector", [v for v in VECTORS if len(v) < 600], ids=str.__repr__)
def test_no_attack_succeeds_in_markdown(vector):
    for source in wrapped(vector):
        assert_inert(drawn(source))


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        1,
        1.5,
        True,
        [],
        {},
        [[]],
        {"url": {"a": 1}},
        {"kind": "url", "url": ["javascript:x"]},
        float("nan"),
        10**400,
        "x",
    ],
    ids=repr,
)
def test_wrong_types_in_any_field_render_safely(wrong):
    blocks = []
    for name, kind in BLOCKS.items():
        children: list[Any] = []
        if kind.children in BLOCKS:
            inner = BLOCKS[kind.children or ""]
            children = [Block(inner.type, dict.fromkeys(inner.data, wrong))]
        blocks.append(Block(name, dict.fromkeys(kind.data, wrong), children))
    blocks.append(paragraph(*[Inline(n, dict.fromkeys(k.data, wrong)) for n, k in INLINES.items()]))
    blocks.append(
        Block(
            "table",
            {
                "view": {"type": "cards", "columns": [wrong]},
                "definition": {"a": wrong},
                "records": {"a": {"values": wrong}},
            },
        )
    )
    assert_inert(block(*blocks))


@pytest.mark.parametrize(
    "good",
    [
        "https://a.example/b?c=d#e",
        "http://a",
        "mailto:a@b.c",
        "tel:+49",
        "/a/b",
        "../a",
        "a/b:c",
        "#x",
        "?q=a:b",
        "",
        "ü/ñ",
        "//host/x",
    ],
)
def test_safe_urls_are_kept(good):
    assert safe_url(good) == good


@pytest.mark.parametrize(
    "bad",
    [v for v in VECTORS if scheme_a_browser_sees(v) not in SCHEMES]
    + [
        "https://[",
        "//[x",
        "java\x00script:x",
        "a\x01b",
        "x\ny",
        "\x7f",
        "a:b",
        "1:2",
        "%6aavascript:x",
        "x" * 9000,
        None,
        5,
        ["http://a"],
    ],
    ids=repr,
)
def test_unsafe_urls_are_removed(bad):
    assert safe_url(bad) is None


@given(st.text())
def test_html_escaping_equals_markupsafe(words: str) -> None:
    assert block(paragraph(words)) == f"<p>{escape(words)}</p>".replace("\n", "<br>")


@given(st.lists(st.tuples(st.sampled_from(["", "k", "s1"]), st.text("ab\n<&", min_size=1)), max_size=12))
def test_tokens_of_a_code_block_stay_within_their_lines(tokens: list[tuple[str, str]]) -> None:
    texts = "".join(text for _, text in tokens).split("\n")
    rows = token_rows(tokens, texts)
    assert ["".join(text for _, text in row) for row in rows] == texts
    kinds = [(kind, letter) for kind, text in tokens for letter in text if letter != "\n"]
    assert [(kind, letter) for row in rows for kind, text in row for letter in text] == kinds


def test_a_link_around_an_image_without_alt_text_has_a_name():
    def made(markdown: str) -> str:
        return drawn(
            markdown,
            link=lambda ref: HtmlTarget(href=ref.get("url"), external=True),
            file=lambda ref: Asset(url="/a.png", name="a.png"),
        )

    assert 'aria-label="https://example.com/x"' in made("[![](a.png)](https://example.com/x)\n")
    for named in (
        "[![Chart](a.png)](https://e.com)",
        "[![](a.png) Words](https://e.com)",
        "[Words](https://e.com)",
    ):
        assert "aria-label" not in made(f"{named}\n")
    assert "aria-label" not in made('[![](a.png)](https://e.com "Title")\n')
