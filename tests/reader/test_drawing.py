"""Pages drawn from views: complete without scripts, escaped everywhere, and consistent with their own policy."""

import gzip
import hashlib
import re
from base64 import b64encode
from functools import cache

import pytest
from markupsafe import Markup

from octavo.core.color import theme
from octavo.core.document.html_context import Asset, OutlineHeading
from octavo.core.icons import icon
from octavo.delivery.reader import drawing
from octavo.delivery.reader.views import (
    AnnouncementView,
    CoverView,
    Crumb,
    Feedback,
    LinkView,
    MarkedText,
    MessageView,
    NavItem,
    SearchAnswer,
    SearchHit,
    SectionHitView,
    SitePageView,
    SiteView,
    Tab,
    TagView,
    ThemedImage,
    VariantView,
)

EVIL = "\"><script>alert('x')</script>{{ 7*7 }}"

FACTS = '<script type="application/ld+json">'


def site(words: str = "Docs") -> SiteView:
    return SiteView(
        title=words,
        home="/",
        brand="/",
        base="/",
        assets="/~assets",
        theme_css=theme(("#0a7", "#0a7")).css(),
        sections=(
            Tab(title=words, href="/", current=True),
            Tab(title=words, children=(Tab(title=words, href="/c"),)),
        ),
        variants=(
            VariantView(title=words, href="/", current=True),
            VariantView(title=words, href="/v1", language="de"),
        ),
        links=(
            LinkView(title=words, href="/a"),
            LinkView(title=words, children=(LinkView(title=words, href="/b"),)),
        ),
        search="/~search",
        search_json="/~search.json",
        announcement=AnnouncementView(message=words, key=words, link=LinkView(title=words, href="/n")),
        footer_links=(LinkView(title=words, children=(LinkView(title=words, href="/g"),)),),
        footer_logo=ThemedImage(light="/l.png", dark="/d.png"),
        copyright=words,
        emoji=words,
    )


def page(words: str = "Title") -> SitePageView:
    return SitePageView(
        title=words,
        description=words,
        body=Markup("<p>body</p>"),
        outline=(OutlineHeading("here", words, 2),),
        emoji=words,
        cover=CoverView(light=Asset(url="/c.png"), dark=Asset(url="/d.png")),
        tags=(TagView(title=words, href="/t", emoji=words),),
        nav=(
            NavItem(title=words, children=(NavItem(title=words, href="/p", current=True, emoji=words),)),
            NavItem(title=words, href="/q", open=True, children=(NavItem(title=words, href="/r"),)),
        ),
        crumbs=(Crumb(title=words, href="/up"), Crumb(title=words)),
        previous=Crumb(title=words, href="/before"),
        next=Crumb(title=words, href="/after"),
        updated="2026-11-20",
        updated_text=words,
        canonical="https://x.example/p",
        markdown="/p.md",
        edit="https://git.example/p",
        mcp=words,
        printed=True,
        assistants=(LinkView(title=words, href="https://assistant.example/", external=True),),
        feedback=Feedback(action="/~feedback", page=words),
    )


ANSWER = SearchAnswer(
    query=EVIL,
    hits=(
        SearchHit(
            title=EVIL,
            href="/h",
            crumbs=(EVIL,),
            excerpt=(MarkedText(EVIL, True),),
            sections=(SectionHitView(title=EVIL, href="/s"),),
        ),
    ),
)


@cache
def every_page(words: str) -> list[str]:
    shown = site(words)
    nothing = SearchAnswer(query=words, suggestions=(words,))
    message = MessageView(title=words, text=words, reference=words, suggestions=ANSWER.hits)
    return [
        drawing.draw_page(shown, page(words)),
        drawing.draw_search(shown, ANSWER, page(words).nav),
        drawing.draw_search(shown, nothing),
        drawing.draw_not_found(shown, message),
        drawing.draw_not_found(shown),
        drawing.draw_error(shown, message),
    ]


@pytest.mark.parametrize("number", range(6))
def test_no_text_becomes_markup(number):
    html = every_page(EVIL)[number]
    assert "<script>alert" not in html and '"><script' not in html
    assert "{{ 7*7 }}" in html or "7*7" not in html
    # The theme snippet if there is a choice, prefetching rules, our own file; and structured data of pages, which
    # never runs.
    assert html.count(FACTS) < 2
    assert html.count("<script") == 2 + ("data-theme-toggle" in html) + html.count(FACTS)


@pytest.mark.parametrize("number", range(6))
def test_inline_code_is_limited_by_the_policy(number):
    html = every_page("Words")[number]
    assert not re.search(r"<[^>]+\s(on\w+|style)=", html)
    policy = drawing.content_security_policy(site().theme_css)
    run = re.sub(rf"{re.escape(FACTS)}.*?</script>", "", html, flags=re.DOTALL)
    for inline in re.findall(r"<script[^>]*>(.+?)</script>|<style>(.*?)</style>", run, re.DOTALL):
        text = "".join(inline)
        assert b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert "unsafe" not in policy and "default-src 'none'" in policy and "base-uri 'none'" in policy
    for address in re.findall(r'<(?:script|link rel="stylesheet"|img)[^>]+(?:src|href)="([^"]+)"', html):
        assert address.startswith("/")


def test_a_page_has_landmarks_and_one_h1():
    html = drawing.draw_page(site(), page())
    assert html.count("<h1") == 1 and "<p>body</p>" in html
    assert html.count('aria-current="page"') == 1
    for part in (
        'href="#content"',
        "<main id=",
        'rel="prev"',
        'rel="next"',
        'action="/~search"',
        'href="#here"',
        "~feedback",
    ):
        assert part in html, part
    assert 'rel="canonical" href="https://x.example/p"' in html
    quiet = drawing.draw_page(
        SiteView(title="T", home="/", brand="/", base="/", assets="/a"),
        SitePageView(title="P", body=Markup("")),
    )
    assert "noindex" not in quiet and "feedback" not in quiet and "<aside" not in quiet
    assert 'name="robots" content="noindex"' in drawing.draw_not_found(site())


def test_a_tree_of_any_depth_is_rendered():
    item = NavItem(title="leaf", href="/leaf")
    for _ in range(3000):
        item = NavItem(title="up", href="/up", open=True, children=(item,))
    html = drawing.draw_page(site(), SitePageView(title="P", body=Markup(""), nav=(item,)))
    assert html.count("<details open") == 3000 == html.count('class="parent"')
    assert len(re.findall("<li[ >]", html)) == html.count("</li>") and html.count("<details") == html.count(
        "</details>"
    )


def test_static_files_are_small_and_request_no_other_host():
    css, js = drawing.find_asset("octavo.css"), drawing.find_asset("octavo.js")
    assert css and js and len(gzip.compress(css.content)) + len(gzip.compress(js.content)) < 20_000
    # Pages of APIs load little more; content that is opened later isn't included.
    parts = {
        name: asset
        for name in ("reference.css", "reference.js", "samples.js", "try.js", "try.css")
        if (asset := drawing.find_asset(name))
    }
    sizes = {name: len(gzip.compress(asset.content)) for name, asset in parts.items()}
    assert sizes["reference.css"] + sizes["reference.js"] < 11_000 and sizes["samples.js"] < 10_000
    assert sizes["try.js"] + sizes["try.css"] < 18_000
    for found in (css, js):
        hosts = re.findall(rb"https?://[\w.]+", found.content)
        assert set(hosts) <= {b"http://www.w3.org"}
        assert b"@import" not in found.content
    assert css.content.count(b"{") == css.content.count(b"}")
    assert drawing.find_asset("../views.py") is None and drawing.find_asset("") is None


def test_icons_are_rendered():
    found = icon("fa-rocket")
    assert (
        found == icon("rocket") and found is not None and found.startswith("<svg") and "currentColor" in found
    )
    assert (
        icon("sparkles") is not None
        and icon("github") is not None
        and icon("brands/github") == icon("github")
    )
    for name in ("", "no-such-icon", "../rocket", "<b>", "ROCKET" * 40):
        assert icon(name) is None
