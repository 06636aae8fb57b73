"""Tests of HTML as pages: the encoding of its bytes, its content, and the parts around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from octavo.core.document.html import render
from octavo.core.document.html_context import OutlineHeading
from octavo.core.document.json import DocumentError
from octavo.core.document.reader import read
from octavo.delivery.reader import drawing
from octavo.delivery.reader.views import Crumb, Feedback, NavItem, SitePageView, SiteView, Tab, TagView
from octavo.interchange.readers.formats import html
from octavo.interchange.readers.formats.html import convert, decode_html, parse_html


def converted(data: bytes | str, told: str | None = None) -> str:
    return convert(parse_html(data, told), link=lambda href: href, image=lambda source: source).text


META = '<meta http-equiv="Content-Type" content="text/html; charset={}">'


@pytest.mark.parametrize(
    ("data", "told", "text"),
    [
        ("<h1>Über 重点</h1>".encode(), None, "Über 重点"),
        ("<h1>Über “uns”</h1>".encode("cp1252"), None, "Über “uns”"),
        ("<h1>Über “uns”</h1>".encode("cp1252"), "iso-8859-1", "Über “uns”"),
        ("<h1>Über</h1>".encode("utf-16"), None, "Über"),
        ("<h1>Über</h1>".encode("utf-8-sig"), "iso-8859-1", "Über"),
        ((META.format("shift_jis") + "<h1>重点</h1>").encode("shift_jis"), None, "重点"),
        ((META.format("gb2312") + "<h1>重點</h1>").encode("gb18030"), None, "重點"),
        ((META.format("utf-16") + "<h1>Über</h1>").encode(), None, "Über"),
        ((META.format("utf-8") + "<h1>重点</h1>").encode("euc_jp"), "euc-jp", "重点"),
        ((META.format("base64") + "<h1>Über</h1>").encode(), "nonsense", "Über"),
        ((META.format("undefined") + "<h1>Über</h1>").encode(), "idna", "Über"),
    ],
)
def test_characters_are_decoded_as_browsers_do(data, told, text):
    assert converted(data, told) == f"# {text}\n"


@given(data=st.binary(max_size=200), told=st.one_of(st.none(), st.text(max_size=12)))
def test_any_bytes_are_decoded(data, told):
    assert isinstance(decode_html(data, told), str)


def test_images_keep_their_display_width():
    text = converted(
        "<h1>T</h1><p><img src=a.png width=300></p><p>x <img src=b.png style='width: 50%; height: 2px'></p>"
        "<figure><img src=c.png width='40px'><figcaption>Said</figcaption></figure><p><img src=d.png width=auto></p>"
    )
    assert '<img src="a.png" alt="" width="300">' in text
    assert 'x <img src="b.png" alt="" width="50%">' in text
    assert '<img src="c.png" alt="" width="40"><figcaption><p>Said</p>' in text
    assert 'src="d.png" alt="">' in text


def test_quotes_keep_their_author():
    text = converted("<h1>T</h1><blockquote><p>Yes</p><footer>by <cite>Ann</cite></footer></blockquote>")
    assert text == "# T\n\n> Yes\n>\n> by _Ann_\n"


SOURCE = """Start.

{% hint style="warning" %}
Careful
{% endhint %}

{% tabs %}
{% tab title="One" %}
First
{% endtab %}
{% tab title="Two" %}
Second
{% endtab %}
{% endtabs %}

{% code title="a.py" %}
```python
x = 1
```
{% endcode %}

<details>

<summary>More</summary>

Inside

</details>

{% updates format="full" %}
{% update date="2026-01-02" %}
New
{% endupdate %}
{% endupdates %}

## End

* [x] done
"""


def test_a_page_published_by_octavo_is_imported_without_its_chrome():
    site = SiteView(
        title="Docs",
        home="/",
        brand="/",
        base="/",
        assets="/~assets",
        search="/~search",
        sections=(Tab(title="Tab", href="/"),),
    )
    page = SitePageView(
        title="Page",
        body=render(read(SOURCE)).body,
        outline=(OutlineHeading("end", "End", 2),),
        description="About it.",
        about="About it.",
        nav=(NavItem(title="Elsewhere", href="/b"),),
        crumbs=(Crumb(title="Above", href="/a"),),
        tags=(TagView(title="tagged", href="/~tags/tagged"),),
        previous=Crumb(title="Before", href="/b"),
        next=Crumb(title="After", href="/c"),
        updated="2026-01-01",
        icon=Markup("<svg></svg>"),
        markdown="/page.md",
        printed=True,
        feedback=Feedback(action="/f", page="p"),
    )
    text = converted(drawing.draw_page(site, page).encode())
    assert text == (
        "---\ndescription: About it.\n---\n\n# Page\n\nStart.\n\n"
        '{% hint style="warning" %}\nCareful\n{% endhint %}\n\n'
        '{% tabs %}\n{% tab title="One" %}\nFirst\n{% endtab %}\n\n{% tab title="Two" %}\nSecond\n'
        "{% endtab %}\n{% endtabs %}\n\n"
        '{% code title="a.py" %}\n```\nx = 1\n```\n{% endcode %}\n\n'
        "<details>\n\n<summary>More</summary>\n\nInside\n\n</details>\n\n"
        "[2 January 2026](#2026-01-02)\n\nNew\n\n## End\n\n* [x] done\n"
    )


def test_the_first_sentence_of_a_page_does_not_become_its_description():
    site = SiteView(title="Docs", home="/", brand="/", base="/", assets="/~assets", search="/~search")
    page = SitePageView(title="Page", body=render(read("Only this.\n\nMore.\n")).body, about="Only this.")
    assert converted(drawing.draw_page(site, page).encode()) == "# Page\n\nOnly this.\n\nMore.\n"


def test_content_hidden_in_print_is_not_imported():
    text = converted(
        "<main><h1>T</h1><p>Words</p><div class='mt-6 print:hidden'><a href=a>Next</a><p>Was this "
        "helpful?</p></div></main>"
    )
    assert text == "# T\n\nWords\n"


def test_images_for_each_theme_become_one_image():
    text = converted(
        '<main><h1>T</h1><figure class="image"><a class="zoom" href="l.png"><img '
        'class="only-light" src="l.png" alt="A">'
        '<img class="only-dark" src="d.png" alt="A"></a></figure></main>'
    )
    assert text == (
        '# T\n\n<figure><picture><source srcset="d.png" media="(prefers-color-scheme: dark)"><img src="l.png" alt="A">'
        "</picture><figcaption></figcaption></figure>\n"
    )


@pytest.mark.parametrize("body", ["<p>x</p>" * 50_001, "<table>" + "<tr><td>x</td><td>y</td></tr>" * 25_001])
def test_a_page_with_too_many_elements_is_refused_early(monkeypatch, body):
    monkeypatch.setattr(html, "NodeBuilder", None)
    with pytest.raises(DocumentError, match="more than 100,000 elements"):
        convert(parse_html(f"<html><body><h1>A</h1>{body}</body></html>"), link=str, image=str)


def test_text_directly_in_a_list_becomes_an_item():
    tree = parse_html("<body><h1>A</h1><ul>one <li>two</li> three<li>four</li></ul></body>")
    assert convert(tree, link=str, image=str).text.endswith("* one\n* two\n* three\n* four\n")


def test_a_line_break_between_elements_is_a_space():
    tree = parse_html("<p>x</p>\n<a href='/a'>a</a>\n<a href='/b'>b</a><br>\n<b>c</b>\n<p>&nbsp;</p>")
    made = convert(tree, link=lambda href: href, image=lambda source: source, fallback_title="T")
    assert made.text == "# T\n\nx\n\n[a](/a) [b](/b)\\\n**c**\n"


def test_a_column_with_a_header_is_a_table():
    one = "<table><tr><th>Kind</th></tr><tr><td>a</td></tr></table>"
    assert "<th>Kind</th>" in converted(one) or "| Kind |" in converted(one)
    assert converted("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>").endswith("a\n\nb\n")
