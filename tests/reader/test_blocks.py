"""Blocks of integrations on published pages: fetched by our client script and rendered by us from the output of
scripts."""

from __future__ import annotations

import html
import re
import time
from functools import partial
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from octavo.delivery.reader import blocks
from octavo.delivery.reader.blocks import CannotBeDrawn, draw_output
from octavo.delivery.reader.views import FrameLabels
from octavo.extensions.integrations import event_replies as asking
from octavo.extensions.integrations.contentkit import DEEPEST
from settled import PATIENCE
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

SCRIPT = """
export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  if (event.type !== "ui_render") return new Response("OK");
  %s
} };"""
ECHO = """
  const element = { type: "block", children: [{ type: "text", children: JSON.stringify(event) }] };
  return Response.json({ type: "element", element, state: {}, props: event.props });"""
BLOCKS = [{"id": "card", "title": "Card"}]


class Pages:
    """Site with a page that has a block, its integration, and a visitor."""

    def __init__(self, world, body=ECHO):
        self.world = world
        self.publish(body)
        made = world.post(
            "admin",
            "/integrations/shapes/installations",
            {"organization": world.home["organizationId"]},
        )
        self.installation = f"/integrations/shapes/installations/{made['id']}"
        self.space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Book"})[
            "id"
        ]
        text = '# Page\n\nBefore.\n\n{% @shapes/card n="zqprop" %}\n'
        self.write(
            [{"operation": "insert_page", "slug": "page", "title": "Page", "document": {"markdown": text}}]
        )
        sites = world.home.path("/orgs/{organizationId}/sites")
        self.site = f"{sites}/{world.post('admin', sites, {'title': 'Book'})['id']}"
        world.post("admin", f"{self.site}/site-spaces", {"spaceId": self.space})
        self.base = urlsplit(world.post("admin", f"{self.site}/publish")["urls"]["published"]).path
        self.visitor = Visitor(world.context)

    def publish(self, body, shown=BLOCKS, **more):
        manifest = {
            **more,
            "title": "Shapes",
            "description": "Draws",
            "organization": self.world.home["organizationId"],
            "runtime": "v2",
            "script": SCRIPT % body,
            "scopes": [],
            "blocks": shown,
        }
        self.world.post("admin", "/integrations/shapes", manifest)

    def write(self, changes):
        change = f"/spaces/{self.space}/change-requests"
        change += f"/{self.world.post('admin', change, {'subject': 'x'})['id']}"
        answer = self.world.call("admin", "POST", f"{change}/content", json={"changes": changes})
        assert answer.is_success, answer.text
        self.world.post("admin", f"{change}/merge")

    def address(self):
        page = self.visitor.get(self.base)
        assert page.status_code == 200, page.text
        found = re.search(r'data-block="([^"]+)"', page.text)
        return html.unescape(found[1]) if found else None

    def events(self):
        found = self.world.get("admin", "/integrations/shapes/events")["items"]
        return [event for event in found if "render" in str(event)]


def test_a_page_does_not_wait_for_scripts_and_requests_blocks_later(world):
    pages = Pages(world)
    page = pages.visitor.get(pages.base)
    assert "blocks.js" in page.text and not pages.events()
    address = pages.address()
    # Without our client script, a link is shown instead.
    assert f'<a href="{html.escape(address)}" rel="nofollow">' in page.text
    answer = pages.visitor.get(address, cookie="octavo-visitor=zqcookie")
    assert answer.status_code == 200, answer.text
    told = html.unescape(answer.text)
    assert '"componentId":"card"' in told and '"n":"zqprop"' in told and '"editable":false' in told
    assert "zqcookie" not in told and "auth" not in told and "visitor" not in told
    assert answer.headers["cache-control"] == "no-store" and answer.headers["x-robots-tag"] == "noindex"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    markdown = pages.visitor.get(f"{pages.base}page.md").text
    assert "@shapes/card" in markdown and "data-block" not in markdown


LISTING = "``` Sketch\na -> {b}\n\n\t<c>  \n```"
DRAWS = [{"id": "drawing", "title": "Drawing", "markdown": {"codeblock": "sketch", "body": "content"}}]


def test_a_code_block_is_rendered_by_the_block_for_its_language(world):
    pages = Pages(world)
    change = {
        "operation": "insert_page",
        "slug": "code",
        "title": "Code",
        "document": {"markdown": f"{LISTING}\n\n``` other\na\n```\n\n```mermaid\ngraph TD\n```\n"},
    }
    pages.write([change])
    plain = pages.visitor.get(f"{pages.base}code").text
    assert "data-block" not in plain and 'class="diagram"' in plain
    pages.publish(ECHO, DRAWS)
    page = pages.visitor.get(f"{pages.base}code").text
    (address,) = re.findall(r'data-block="([^"]+)"', page)
    assert "blocks.js" in page and "&lt;c&gt;" in page, "until it is drawn the listing is there"
    told = html.unescape(pages.visitor.get(html.unescape(address)).text)
    assert r'"componentId":"drawing","props":{"content":"a -> {b}\n\n\t<c>  "}' in told
    # The code block stays as it was written.
    assert LISTING in pages.visitor.get(f"{pages.base}code.md").text
    found = world.get("admin", f"/spaces/{pages.space}/content/path/code?format=markdown")["markdown"]
    assert LISTING in found
    # We draw Mermaid unless an integration provides it.
    pages.publish(ECHO, [{**DRAWS[0], "markdown": {"codeblock": "mermaid", "body": "content"}}])
    page = pages.visitor.get(f"{pages.base}code").text
    assert page.count("data-block") == 1 and 'class="diagram"' not in page
    world.call("admin", "DELETE", pages.installation)
    page = pages.visitor.get(f"{pages.base}code").text
    assert "data-block" not in page and 'class="diagram"' in page


def test_rendered_blocks_are_cached_until_the_integration_changes(world, clock):
    pages = Pages(world)
    address = pages.address()
    first = pages.visitor.get(address).text
    assert pages.visitor.get(address).text == first and len(pages.events()) == 1
    clock.advance(1000)
    pages.publish(ECHO.replace("JSON.stringify(event)", "'zqnext'"))
    assert "zqnext" in pages.visitor.get(address).text
    clock.advance(1000)
    pages.publish("return Response.json({ error: 'no' }, { status: 500 });")
    assert pages.visitor.get(address).status_code == 502
    until = time.monotonic() + PATIENCE
    while len(pages.events()) < 3 and time.monotonic() < until:  # recorded after the answer
        time.sleep(0.05)
    assert pages.visitor.get(address).status_code == 502 and len(pages.events()) == 3


def test_without_the_integration_a_page_stays_unchanged(world):
    pages = Pages(world)
    address = pages.address()
    world.call("admin", "DELETE", pages.installation)
    assert pages.address() is None and pages.visitor.get(address).status_code == 404
    page = pages.visitor.get(pages.base)
    assert page.status_code == 200 and "blocks.js" not in page.text


def test_only_visible_blocks_are_requested(world):
    pages = Pages(world)
    address = pages.address()
    assert pages.visitor.get(address.replace("block=", "block=0")).status_code == 404
    assert pages.visitor.get(address.replace("page=", "page=0")).status_code == 404
    for query in ("", "?page=", "?block=%00&page=%00"):
        assert pages.visitor.get(f"{pages.base}~block{query}").status_code == 404
    page = world.get("admin", f"/spaces/{pages.space}/content/pages")["pages"][0]
    hidden = (
        '# Page\n\n{% if visitor.claims.unsigned.beta %}\n\n{% @shapes/card n="zqprop" %}\n\n{% endif %}\n'
    )
    pages.write([{"operation": "update_page", "page": page["id"], "document": {"markdown": hidden}}])
    assert pages.address() is None and pages.visitor.get(address).status_code == 404
    assert pages.visitor.send(address, {}).status_code == 404
    world.post("admin", f"{pages.site}/unpublish")
    assert pages.visitor.get(address).status_code == 404
    assert pages.visitor.send(address, {}).status_code == 404
    assert not pages.events()


DEEP = """
  const open = '{"type":"block","children":[', n = 300000;
  const text = '{"type":"element","state":{},"props":{},"element":' + open.repeat(n) + ']}'.repeat(n) + '}';
  return new Response(text);"""


@pytest.mark.parametrize(
    "body", [DEEP, "for (;;) {}", "return new Response('<script>1</script>');", "return 7;"]
)
def test_unrenderable_blocks_leave_the_page_unchanged(sqlite_world, body, monkeypatch):
    monkeypatch.setattr(asking, "invoke", partial(asking.invoke, seconds=2))
    pages = Pages(sqlite_world, body)
    answer = pages.visitor.get(pages.address())
    assert answer.status_code == 502 and "<script" not in answer.text
    assert pages.visitor.get(pages.base).status_code == 200


# --- drawing --------------------------------------------------------------------------------------------

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"
BAD = [
    "javascript:alert(1)",
    "JaVa\nScript:alert(1)",
    "data:text/html,<script>",
    "//x",
    "https://[",
    "https://",
    " vbscript:x",
    {"url": 1},
    7,
    None,
]


def draw(*children, **state):
    root = {"type": "block", "children": list(children)}
    return draw_output({"type": "element", "element": root, "state": state, "props": {}}, FrameLabels())


def tags_of(text):
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, [name for name, _ in attributes]))
    parser.feed(text)
    return found


def test_markup_in_every_text_stays_text():
    texts = {
        name: EVIL
        for name in ("title", "label", "hint", "tooltip", "content", "syntax", "placeholder", "initialValue")
    }
    kinds = (
        "text",
        "hint",
        "card",
        "button",
        "codeblock",
        "markdown",
        "input",
        "textinput",
        "select",
        "link",
        "box",
        "hstack",
        "stepper",
        "step",
        "webframe",
        "image",
        "switch",
        "checkbox",
        "radio",
        "divider",
    )
    for kind in kinds:
        one = {
            "type": kind,
            **texts,
            "children": [EVIL, {"type": "text", "children": EVIL}],
            "state": EVIL,
            "value": EVIL,
            "source": {"url": f"https://x.test/{EVIL}"},
            "target": {"url": f"https://x.test/{EVIL}"},
            "element": {"type": "text", "children": EVIL},
            "onPress": {"action": "@ui.url.open", "url": f"https://x.test/{EVIL}"},
        }
        drawn = draw(one, **{EVIL: EVIL})
        assert all(
            tag != "script" and not any(name.startswith("on") for name in names)
            for tag, names in tags_of(drawn)
        ), kind
        assert sum(tag == "img" for tag, _ in tags_of(drawn)) <= (kind in ("image", "markdown")), kind


@pytest.mark.parametrize("url", BAD, ids=str)
def test_only_web_urls_are_accepted(url):
    for one in (
        {"type": "link", "target": {"url": url}, "children": ["words"]},
        {"type": "image", "source": {"url": url}, "aspectRatio": 1},
        {"type": "webframe", "source": {"url": url}},
        {"type": "button", "label": "words", "onPress": {"action": "@ui.url.open", "url": url}},
        {"type": "card", "title": "words", "onPress": {"action": "@ui.url.open", "url": url}},
        {"type": "markdown", "content": f"[words]({url})" if isinstance(url, str) else ""},
    ):
        drawn = draw(one)
        assert not re.search(r'(?i)(href|src)="\s*(?!https?://)', drawn) or "markdown" in one["type"], drawn
        assert not re.search(r"(?i)(href|src)=\"\s*(java|vb|data)", drawn)


def test_hints_and_frames_are_rendered():
    words = [{"type": "text", "children": "zqwords"}]
    for one in (
        {"type": "input", "label": "l", "element": {"type": "text", "children": "x"}, "hint": words},
        {"type": "card", "hint": words[0]},
        {"type": "codeblock", "content": "x", "header": words},
        {"type": "codeblock", "content": "x", "footer": words},
    ):
        assert "zqwords" in draw(one)
    deep: object = "x"
    for _ in range(500):
        deep = [deep]
    assert "checked" not in draw({"type": "radio", "state": "a", "value": deep}, a=deep)


def test_a_hint_of_text_and_links_is_one_line():
    link = {"type": "link", "target": {"url": "https://x.test/"}, "children": ["there"]}
    words = [{"type": "text", "children": ["opened "]}, "by Ann ", link]
    for one in (
        {"type": "card", "title": "t", "hint": words},
        {"type": "input", "label": "l", "element": {"type": "text", "children": "x"}, "hint": words},
    ):
        (line,) = re.findall(
            r'class="(?:card-line )?block-line">(.*?)</(?:small|div)>\s*(?:</label>|</div>)', draw(one)
        )
        assert re.sub(r"<[^>]+>", "", line) == "opened by Ann there"
    mixed = draw({"type": "card", "hint": [*words, {"type": "divider"}]})
    assert "block-line" not in mixed and "<hr>" in mixed


def test_cards_and_buttons_have_icons():
    buttons = [
        {
            "type": "button",
            "icon": "maximize",
            "tooltip": "Open preview",
            "onPress": {"action": "@ui.url.open", "url": "https://x.test/"},
        },
        {
            "type": "button",
            "icon": "github",
            "trailingIcon": "check",
            "label": "Go",
            "onPress": {"action": "go"},
        },
    ]
    picture = {"type": "image", "source": {"url": "https://x.test/icon.png"}, "aspectRatio": 1}
    drawn = draw({"type": "card", "title": "Title", "icon": picture, "buttons": buttons})
    assert drawn.index("icon.png") < drawn.index("Title") < drawn.index("<svg")
    assert 'aria-label="Open preview"' in drawn and drawn.count("<svg") == 3 and "Open preview<" not in drawn
    named = [
        "close",
        "edit",
        "github",
        "gitlab",
        "maximize",
        "email",
        "settings",
        "search",
        "delete",
        "star",
        "warning",
        "link",
        "link-external",
        "eye",
        "eye-off",
        "lock",
        "check",
        "check-circle",
    ]
    for name in named:
        assert "<svg" in draw({"type": "card", "title": "t", "icon": name}), name
    assert "<svg" not in draw({"type": "card", "title": "t", "icon": EVIL})


DEMO = """
  const source = { url: event.props.url };
  const element = { type: "block", children: [{ type: "webframe", source, aspectRatio: 2, data: { a: "1" } }] };
  return Response.json({ type: "element", element, state: {}, props: event.props });"""


def test_only_hosts_in_a_manifest_are_framed(world):
    """On pages with its blocks only; the installer sees which."""
    pages = Pages(world, DEMO)

    def frame_sources():
        policy = pages.visitor.get(pages.base).headers["content-security-policy"]
        return next(part for part in policy.split("; ") if part.startswith("frame-src")).split()

    plain = frame_sources()
    assert "https://demo.test" not in plain and plain[-1].endswith("/~integrations/shapes/")
    shown = [
        {**BLOCKS[0], "urlUnfurl": ["https://demo.test/share/**", "https://**", "http://octavo.test/**"]}
    ]
    policy = (
        "frame-src https://*.design.test *.com https: 'self' https://a.test/x;script-src https://evil.test"
    )
    pages.publish(DEMO, shown, contentSecurityPolicy=policy)
    named = ["https://*.design.test", "https://a.test", "https://demo.test", "http://octavo.test"]
    assert world.get("reader", "/integrations/shapes")["frameOrigins"] == named
    assert frame_sources() == [*plain, *named[:3]], "none of our own"
    assert "evil.test" not in pages.visitor.get(pages.base).headers["content-security-policy"]
    page = world.get("admin", f"/spaces/{pages.space}/content/pages")["pages"][0]
    for url, framed in (
        ("https://demo.test/embed/1", True),
        ("https://x.design.test/", True),
        ("https://design.test/", False),
        ("https://demo.test.evil.test/", False),
        ("https://demo.test@evil.test/", False),
        ("https://evil.test/", False),
        ("http://octavo.test/", False),
        ("http://demo.test/", False),
    ):
        text = f'# Page\n\n{{% @shapes/card url="{url}" %}}\n'
        pages.write([{"operation": "update_page", "page": page["id"], "document": {"markdown": text}}])
        drawn = pages.visitor.get(pages.address()).text
        assert ("<iframe" in drawn) is framed, url
        if framed:
            sandbox = re.search(r'sandbox="([^"]*)"', drawn)[1].split()
            assert "allow-same-origin" in sandbox and "allow-top-navigation" not in sandbox
    pages.write(
        [{"operation": "update_page", "page": page["id"], "document": {"markdown": "# Page\n\nNo block.\n"}}]
    )
    assert "https://demo.test" not in frame_sources()


def test_parts_of_blocks_have_urls():
    parts = {"host": "x.test", "pathname": "/a b", "query": {}}
    assert 'href="https://x.test/a%20b"' in draw(
        {"type": "link", "target": {"url": parts}, "children": ["w"]}
    )
    for host in ("x.test/@y", "a@b", "x\\y", "x y"):
        link = {"type": "link", "target": {"url": {"host": host, "pathname": "/"}}, "children": ["w"]}
        assert "href" not in draw(link)


def test_elements_of_blocks_are_rendered():
    drawn = draw(
        {
            "type": "hstack",
            "children": [
                {
                    "type": "text",
                    "children": [
                        "One ",
                        {"type": "link", "target": {"url": "https://x.test/"}, "children": ["two"]},
                    ],
                }
            ],
        },
        {"type": "markdown", "content": "# Head\n\nSome **bold** text, [there](#head)."},
        {"type": "codeblock", "content": {"$state": "code"}, "syntax": "python"},
        {"type": "image", "source": {"url": "https://x.test/a.png"}, "aspectRatio": 1},
        {"type": "divider"},
        {
            "type": "card",
            "title": "Title",
            "hint": "Hint",
            "children": [{"type": "text", "children": "Inside"}],
        },
        {"type": "button", "label": "Go", "onPress": {"action": "@ui.url.open", "url": "https://x.test/go"}},
        {"type": "button", "label": "Vote", "onPress": {"action": "vote"}},
        {"type": "input", "label": "Name", "element": {"type": "textinput", "state": "name"}},
        {"type": "switch", "state": "on"},
        code="pass",
        name="Ann",
        on=True,
    )
    for shown in (
        "<strong>bold</strong>",
        "https://x.test/a.png",
        "<hr>",
        "Title",
        "Hint",
        "Inside",
        'value="Ann"',
        " checked disabled",
    ):
        assert shown in drawn, shown
    assert 'href="https://x.test/go"' in drawn and "pass" in drawn
    assert re.search(r'<button[^>]* disabled title="Not available[^>]*>Vote', drawn)
    # Ids are unique on the page.
    assert ' id="head"' not in drawn
    named = re.search(r' id="([\w-]+head)"', drawn)
    assert named and f'href="#{named[1]}"' in drawn


def test_the_depth_and_size_of_blocks_are_limited(monkeypatch):
    element = {"type": "text", "children": "zqdeep"}
    for _ in range(DEEPEST - 2):
        element = {"type": "vstack", "children": [element]}
    assert "zqdeep" in draw(element)
    unchecked = {
        "type": "complete",
        "element": {"type": "block", "children": [{"type": "link"}]},
        "state": {},
    }
    with pytest.raises(CannotBeDrawn):
        draw_output(unchecked, FrameLabels())
    with pytest.raises(CannotBeDrawn):
        draw_output(
            {"type": "element", "element": {"type": "modal", "children": []}, "state": {}, "props": {}},
            FrameLabels(),
        )
    monkeypatch.setattr(blocks, "_LARGEST", 100)
    with pytest.raises(CannotBeDrawn):
        draw({"type": "text", "children": "x" * 200})
