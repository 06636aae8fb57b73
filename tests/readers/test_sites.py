"""Tests of folders of HTML: the tree of the navigation, links, anchors, and markup of generators."""

from html import escape

from readers.reading import brought, problems, text, tree

NAV = (
    "<nav><ul><li><a href='{0}index.html'>Home</a><li>Guide<ul><li><a "
    "href='{0}guide/one.html'>First</a>{1}</ul><li><a href='https://example.org'>Out</a></ul></nav>"
)


def page(body, up="", more="", title="T | Site"):
    return f"<html><head><title>{title}</title></head><body>{NAV.format(up, more)}<main>{body}</main></body></html>"


SITE = {
    "out/index.html": page(
        "<h1>Start</h1><p id='lead'>See <a href='guide/one.html#deep'>deep</a>, <a "
        "href='guide/'>the guide</a>, <a href='#lead'>here</a> and <a href='gone.html'>gone</a>."
        "<h2 id='more'>More</h2><img src='_images/a.png' alt='A'><img src='data:image/png;base64,iVBORw0KGgo='>"
    ),
    "out/guide/index.html": page("<h1>The guide</h1>", "../"),
    "out/guide/one.html": page(
        "<h1>One<a class='headerlink' href='#one'>¶</a></h1><section id='part'><h2>A "
        "part</h2><p><a id='deep'></a>Deep.</p></section>"
        "<div class='highlight-python notranslate'><div class='highlight'><pre><span>x = "
        "</span><span>1</span></pre></div></div>"
        "<div class='admonition note'><p class='admonition-title'>Note</p><p>Mind.</p></div>"
        "<div class='admonition warning'><p class='admonition-title'>Hot</p><p>It is.</p></div>"
        "<div class='tabbed-set'><input type='radio'><input type='radio'><div "
        "class='tabbed-labels'><label>A</label><label>B</label></div>"
        "<div class='tabbed-content'><div class='tabbed-block'><p>In A</p></div><div "
        "class='tabbed-block'><p>In B</p></div></div></div>"
        "<div class='language-sh highlight'><span class='filename'>run.sh</span><pre><code>ls</code></pre></div>"
        "<table class='highlighttable'><tr><td class='linenos'><pre>1</pre></td><td "
        "class='code'><div class='language-js'><pre>let a</pre></div></td></tr></table>"
        "<div class='fragment'><div class='line'><span class='lineno'>1</span>int a;</div><div "
        "class='line'>int b;</div></div>",
        "../",
        "<li><a href='two.html'>Second</a><ul><li><a href='three.html'>Third</a></ul>",
    ),
    "out/guide/two.html": page("<p>No heading</p>", "../", title="Two | Site"),
    "out/guide/three.html": page("<h1>Three</h1>", "../"),
    "out/old.html": "<meta http-equiv='refresh' content='0; url=guide/one.html'>",
    "out/search.html": page("<h1>Search</h1>"),
    "out/alone.html": page("<h1>Alone</h1>"),
    "out/_images/a.png": b"\x89PNG\r\n\x1a\n",
    "out/style.css": "x",
    "out/terms.pdf": b"%PDF",
}


def test_a_folder_of_html_is_read():
    made = brought(SITE)
    assert made.kind == "html"
    assert tree(made) == {
        "Home": {},
        "Guide": {"First": {}, "Second": {"Third": {}}},
        "Alone": {},
        "The guide": {},
    }
    start = text(made, "README.md")
    assert "[deep](guide/one.md#part), [the guide](guide/README.md), [here](README.md)" in start
    assert 'src="_images/a.png"' in start and start.count("<img") == 2
    assert not {"style.css", "search.md", "old.md"} & set(made.paths()) and "terms.pdf" in made.paths()
    assert problems(made) == [("out/index.html", 0, "broken_link")]
    assert "old: guide/one.md" in text(made, ".gitbook.yaml")


def test_markup_of_site_generators_is_converted():
    one = text(brought(SITE), "guide/one.md")
    assert one.startswith("# One\n")
    assert '## A part <a href="#part" id="part"></a>' in one
    for part in (
        "```python\nx = 1\n```",
        '{% hint style="info" %}\nMind.\n{% endhint %}',
        '{% hint style="warning" %}\n**Hot**\n\nIt is.\n{% endhint %}',
        '{% tab title="B" %}\nIn B\n{% endtab %}',
        '{% code title="run.sh" %}\n```sh\nls\n```\n{% endcode %}',
        "```js\nlet a\n```",
        "```\nint a;\nint b;\n```",
    ):
        assert part in one, part


def test_hostile_navigation_is_limited():
    deep = "<nav>" + "<ul><li><a href='b.html'>x</a>" * 3000 + "</nav>"
    wide = "<nav><ul>" + "<li><a href='a.html'>x</a>" * 5000 + "</ul></nav>"
    made = brought(
        {
            "a.html": deep + "<main><h1>A</h1></main>",
            "b.html": wide + "<main><h1>B</h1></main>",
            "c.html": b"\xff\xfe",
        }
    )
    assert len(tree(made)) == 2


def test_the_tree_and_titles_of_doxygen_are_read():
    def page(title, body):
        return (
            f'<html><head><title>Acme: {title}</title></head><body><div class="header"><div '
            f'class="headertitle"><div class="title">{title}'
            f'<div class="ingroups"><a href="g.html">Group</a></div></div></div></div><div '
            f'class="contents">{body}</div></body></html>'
        )

    members = (
        '<table class="memberdecls"><tr class="heading"><td colspan="2"><h2><a id="pub"></a>Public</h2></td></tr>'
        '<tr class="memitem:1"><td>int</td><td><a href="classA.html#x">x</a></td></tr><tr '
        'class="separator:1"><td colspan="2">&#160;</td></tr></table>'
    )
    made = brought(
        {
            "index.html": page("Acme", "<p>Hello</p>"),
            "g.html": page(
                "Group",
                (
                    "<h1>First words</h1><table><tr><th>A</th><th>B</th></tr><tr><td>x</td><td><pre "
                    'class="fragment">#include &lt;a&gt;</pre></td></tr></table>'
                ),
            ),
            "classA.html": page("A Class Reference", members),
            "a_8h_source.html": page("a.h Source File", "<p>x</p>"),
            "navtreedata.js": (
                '/* a */\nvar NAVTREE =\n[\n  [ "Acme", "index.html", [\n'
                '    [ "The group", "g.html", "g" ],\n    [ "Away", "index.html#x", null ]\n  ] ]\n];\n'
            ),
            "g.js": 'var g =\n[\n    [ "A", "classA.html", null ]\n];\n',
        }
    )
    assert made.kind == "html"
    # Pages missing from the navigation come last, hidden.
    assert tree(made) == {"Acme": {}, "The group": {"A": {}}, "a.h Source File": {}}
    assert text(made, "a_8h_source.md").startswith("---\nhidden: true\n")
    group = text(made, "g.md")
    assert group.startswith("# Group\n\n## First words\n") and "| x   | `#include <a>` |" in group
    a = text(made, "classA.md")
    assert a.startswith("# A Class Reference\n\n## Public") and a.count("<tr>") + a.count("\n| ") <= 3


def test_the_tree_of_sphinx_follows_the_lists_on_its_pages():
    def page(title, listed="", more=""):
        below = f'<div class="toctree-wrapper compound">{listed}</div>' if listed else ""
        return (
            f'<html><head><title>{title} — Acme</title></head><body><div class="body" '
            f'role="main"><h1>{title}</h1>{below}</div>'
            f'<div class="sphinxsidebar" role="navigation"><h3>Related</h3><ul><li>Previous: <a '
            f'href="index.html" title="previous '
            f'chapter">Acme</a></li>{more}</ul></div></body></html>'
        )

    made = brought(
        {
            "index.html": page(
                "Acme",
                (
                    '<p class="caption"><span class="caption-text">Guide</span></p><ul><li '
                    'class="toctree-l1"><a href="b.html">B</a></li><li class="toctree-l1"><a '
                    'href="a.html">A</a></li></ul>'
                ),
            ),
            "a.html": page(
                "A",
                '<ul><li><a href="c.html">C</a></li></ul>',
                '<li><a href="c.html" rel="next">next</a></li>',
            ),
            "b.html": page("B"),
            "c.html": page("C"),
            "loose.html": page("Loose"),
        }
    )
    assert tree(made) == {"Acme": {}, "Guide": {"B": {}, "A": {"C": {}}}, "Loose": {}}


GOOGLE = """<html><head><style>@import url(x);.lst-kix_a-0>li:before{content:"x"}.c1{font-weight:700}.\
c2{font-family:"Courier New"}.c3{font-style:italic;color:#000}</style></head>
<body class="c9 doc-content"><p class="c0 title"><span>The plan</span></p><p><span class="c1">bold</span>\
<span>, </span><span class="c2">code</span><span>, </span><span class="c3">slanted</span><sup>\
<a href="#cmnt1" id="cmnt_ref1">[a]</a></sup>
<a href="https://www.google.com/url?q=https://example.org/%3Fa%3D1&amp;sa=D&amp;ust=1">out</a></p>\
<h1 id="h.a"><span class="c1">Part</span></h1>
<ul class="c7 lst-kix_a-0 start"><li>One</li></ul><ul class="lst-kix_a-1 start"><li>In</li><li>It</li></ul>\
<ul class="lst-kix_a-0"><li>Two</li></ul><p><span></span></p><ol class="lst-kix_b-0 start"><li>n</li></ol>
<div><p><a href="#cmnt_ref1" id="cmnt1">[a]</a><span>Really?</span></p></div></body></html>"""


def test_a_google_docs_page_is_read():
    made = brought({"Plan.html": GOOGLE})
    assert text(made, "README.md") == (
        "# The plan\n\n**bold**, `code`, _slanted_ [out](https://example.org/?a=1)\n\n"
        '## Part <a href="#h.a" id="h.a"></a>\n\n'
        "* One\n  * In\n  * It\n* Two\n\n1. n\n"
    )


CANVAS = (
    '<div><div data-sp-canvascontrol="" data-sp-controldata="{&quot;controlType&quot;:4}"><div '
    'data-sp-rte=""><h2>Part</h2><p>Words <a '
    'href="https://acme.example/sites/t/SitePages/Other.aspx#part">other</a></p></div></div>'
    '<div data-sp-canvascontrol="" data-sp-controldata="{}"><div '
    'data-sp-componentid="">c70391ea</div><div data-sp-htmlproperties=""><div '
    'data-sp-prop-name="items[0].title">Learn</div><a data-sp-prop-name="items[0].sourceItem.url" '
    'href="https://example.org"></a></div></div>'
    '<div data-sp-canvascontrol="" data-sp-controldata="{&quot;controlType&quot;:0}">settings</div></div>'
)


def test_sharepoint_pages_are_read():
    page = (
        '<%@ Page %>\n<html xmlns:mso="x"><head><!--[if gte mso 9]><xml><mso:CanvasContent1 '
        'msdt:dt="string">{}</mso:CanvasContent1></xml><![endif]--><title>{}</title></head></html>'
    )
    made = brought(
        {
            "SitePages/Home.aspx": page.format(escape(CANVAS), "Team"),
            "SitePages/Other.aspx": page.format(escape("<p>x</p><h2>Part</h2>"), "Other"),
        }
    )
    assert tree(made) == {"Team": {}, "Other": {}}
    home = text(made, next(path for path, origin in made.origins.items() if origin.endswith("Home.aspx")))
    assert home == "# Team\n\n## Part\n\nWords [other](Other.md#part)\n\n[Learn](https://example.org)\n"
