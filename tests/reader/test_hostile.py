"""Pages of hostile content, published and opened in a real browser: none of it may run."""

import re
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import yaml
from playwright.sync_api import expect

from hostile import VECTORS, wrapped
from serving import import_site, serving_new

pytestmark = pytest.mark.slow

SENT = [vector for vector in VECTORS if len(vector) < 600 and "\ud83d" not in vector]
ALLOWED = {"http:", "https:", "mailto:", "tel:"}
SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" \
height="9" onload="alert(1)">
<script>alert(1)</script><image xlink:href="https://evil.example/x.png"/>\
<a xlink:href="javascript:alert(1)"><text>x</text></a>
<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="alert(1)"><script>alert(1)</script></body>\
</foreignObject></svg>
"""
NAMES = [
    "'onerror='alert(1).svg",
    "&lt;script&gt;.svg",
    "javascript:alert(1).svg",
    "%22onload=%22alert(1).svg",
]


def front_matter(vector: str) -> str:
    told = dict.fromkeys(("title", "description", "icon", "emoji", "cover"), vector)
    return f"---\n{yaml.safe_dump(told | {'tags': [vector], 'vars': {'x': vector}}, allow_unicode=True)}---\n"


def write_space(folder: Path) -> None:
    """Create a page for each vector: in its metadata, title, and each Markdown construct."""
    assets = folder / ".gitbook" / "assets"
    assets.mkdir(parents=True)
    files = []
    for name in NAMES:
        (assets / name).write_text(SVG)
        shown = name.replace("%", "%25").replace("&", "&amp;")
        files.append(f'![{name}](<.gitbook/assets/{shown}>)\n\n{{% file src=".gitbook/assets/{shown}" %}}\n')
    (folder / "README.md").write_text("# Start\n\n" + "\n".join(files))
    lines = ["* [Start](README.md)"]
    for number, vector in enumerate(SENT):
        one = vector.replace("\n", " ").replace("\r", " ").replace("\0", " ")
        value = '<code class="expression">page.vars.x</code>'
        body = "\n\n".join([f"# {one}", value, *wrapped(vector)])
        (folder / f"p{number}.md").write_text(front_matter(vector) + body, newline="")
        lines.append(f"* [{one.replace('[', '').replace(']', '')}](p{number}.md)")
    (folder / "SUMMARY.md").write_text("# Contents\n\n" + "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """URL of the published space."""
    folder = tmp_path_factory.mktemp("hostile")
    write_space(folder / "docs")
    with serving_new(folder / "data") as served:
        yield import_site(served, folder / "docs", "--title", "<img src=x onerror=alert(1)>")


class Watched:
    """Browser page with a record of everything that a page of text doesn't do."""

    def __init__(self, browser, own: str) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.acts: list[str] = []
        self.page = self.context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("popup", lambda opened: self.acts.append(f"popup {opened.url}"))
        self.page.on("pageerror", lambda error: self.acts.append(f"error {error}"))
        self.page.on(
            "framenavigated", lambda frame: self.acts.append(frame.url) if own not in frame.url else None
        )
        self.context.route(lambda url: own not in url, self._away)

    def _dialog(self, dialog) -> None:
        self.acts.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _away(self, route) -> None:
        # Images and videos of other hosts can be shown and so are requested, but without scripts.
        if route.request.resource_type not in ("image", "media"):
            self.acts.append(f"{route.request.resource_type} {route.request.url}")
        route.abort()


@pytest.fixture
def watched(browser, hostile):
    opened = Watched(browser, "/".join(hostile.split("/")[:3]))
    yield opened
    opened.context.close()


LOOK = """() => ({
    scripts: [...document.scripts].filter(s => !s.src.includes('/~assets/')).length,
    handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes].filter(a => \
/^on|^style$|^srcdoc$|^formaction$/.test(a.name)).map(a => e.tagName + ' ' + a.name)),
    schemes: [...new Set([...document.querySelectorAll('[href]')].map(e => e.getAttribute('href'))
        .filter(href => URL.canParse(href, document.baseURI))  // what is no address leads nowhere
        .map(href => new URL(href, document.baseURI).protocol))],
    odd: [...document.querySelectorAll('main :is(script, style, iframe, object, embed, base, meta, link, \
form:not(.search-form), svg script, foreignObject)')].map(e => e.outerHTML),
})"""


def assert_inert(watched: Watched, inline_scripts: int) -> None:
    seen = watched.page.evaluate(LOOK)
    assert seen["scripts"] == inline_scripts
    assert seen["handlers"] == [] and seen["odd"] == []
    assert set(seen["schemes"]) <= ALLOWED, seen["schemes"]
    assert watched.acts == []


def test_no_page_executes_hostile_content(watched, hostile):
    watched.page.goto(hostile)
    inline = watched.page.evaluate(LOOK)["scripts"]
    addresses = watched.page.evaluate("[...document.querySelectorAll('.tree a')].map(a => a.href)")
    assert len(addresses) == len(SENT) + 1
    for address in addresses:
        assert watched.page.goto(address, wait_until="domcontentloaded").status == 200
        # Open everything that can be opened: annotations, expandables, tabs.
        watched.page.evaluate(
            "document.querySelectorAll('.noted, summary, [role=tab], .copy').forEach(e => e.click())"
        )
        assert_inert(watched, inline)


def test_search_executes_no_hostile_content(watched, hostile):
    for words in (
        "alert",
        "script",
        "<img src=x onerror=alert(1)>",
        '"><script>alert(1)</script>',
        "onerror evil",
    ):
        watched.page.goto(f"{hostile}~search?q={quote(words)}")
        assert watched.page.evaluate(LOOK)["odd"] == []
        watched.page.goto(hostile)
        watched.page.keyboard.press("/")
        watched.page.keyboard.insert_text(words)
        watched.page.locator("#found :is(a, p)").first.wait_for()
        expect(watched.page.locator("#found :is(img, script, svg)")).to_have_count(0)
        assert watched.acts == []


def test_no_file_executes_hostile_content(watched, hostile):
    watched.page.goto(hostile)
    sources = watched.page.evaluate(
        "[...document.querySelectorAll('main :is(a.file, a.zoom)')].map(e => e.href)"
    )
    assert len(set(sources)) == len(NAMES)
    for source in set(sources):
        answer = httpx.get(source)
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "\n" not in answer.headers["content-disposition"]
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "sandbox" in policy and "script-src" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        # As an image, and as a separate document if the disposition header is removed.
        watched.page.set_content(f'<img src="{source}"><object data="{source}"></object>')
    assert [act for act in watched.acts if not re.match("(about:|chrome-error:)", act)] == []


def test_markup_in_urls_is_escaped(hostile):
    for vector in SENT:
        if "<" not in vector and '"' not in vector:
            continue
        for address in (f"{hostile}{quote(vector)}", f"{hostile}~search?q={quote(vector)}"):
            answer = httpx.get(address)
            assert vector not in answer.text, address
