"""Documents by ID, evaluated documents, and embeds."""

import socket
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from changes.working import Space, insert
from octavo.content.pages.embedding import find_embed
from octavo.settings import Settings

TEXT = """---
vars:
  color: red
---

# Values

It is <code class="expression">page.vars.color</code>, hello <code class="expression">visitor.claims.name</code>.

{% if page.vars.color == "red" %}
Warm.
{% endif %}

{% if page.vars.color == "blue" %}
Cold.
{% endif %}

{% if visitor.claims.unsigned.beta %}
Secret.
{% endif %}
"""


@pytest.fixture
def page(world):
    space = Space(world)
    made = space.edit_main(insert(TEXT))["changes"][0]["page"]["id"]
    return space, made


@pytest.mark.sqlite_first
@pytest.mark.parametrize("by", ["page/{id}", "path/values"])
def test_a_page_contains_its_document_unless_markdown_is_requested(world, page, by):
    """Six independent clients read ``document.nodes`` of a page without requesting a format."""
    space, page_id = page
    change = space.create()
    revision = world.get("reader", space.path)["revision"]
    for base in (
        f"{space.path}/content",
        f"{space.path}/revisions/{revision}",
        f"{space.path}/change-requests/{change}/content",
    ):
        path = f"{base}/{by.format(id=page_id)}"
        plain = world.get("reader", path)
        assert plain["document"]["nodes"][0]["type"] == "paragraph"
        assert "markdown" not in plain
        assert plain == world.get("reader", path, params={"format": "document"})
        written = world.get("reader", path, params={"format": "markdown"})
        assert written["markdown"] == TEXT
        assert "document" not in written


def read(world, page, evaluated, format):
    space, page_id = page
    query = {"format": format, "evaluated": evaluated}
    return world.get("reader", f"{space.path}/content/page/{page_id}", params=query)[format]


@pytest.mark.sqlite_first
def test_documents_can_be_evaluated(world, page):
    assert "Cold." in str(read(world, page, "false", "document"))
    whole = str(read(world, page, "true", "document"))
    assert "'red'" in whole
    assert "Warm." in whole
    assert "Cold." not in whole
    assert "Secret." not in whole
    assert "expression" not in whole
    sure = str(read(world, page, "deterministic-only", "document"))
    assert "'red'" in sure
    assert "Cold." not in sure
    assert "Secret." in sure
    assert sure.count("'type': 'expression'") == 1


@pytest.mark.sqlite_first
def test_markdown_can_be_evaluated(world, page):
    assert read(world, page, "false", "markdown") == TEXT
    text = read(world, page, "true", "markdown")
    assert "It is red, hello ." in text
    assert "{% if" not in text
    assert "Warm." in text
    assert "Cold." not in text
    sure = read(world, page, "deterministic-only", "markdown")
    assert sure.count("{% if") == 1


def test_a_document_is_returned_by_its_id(world, page):
    space, page_id = page
    found = world.get("reader", f"{space.path}/content/page/{page_id}", params={"format": "document"})
    document = world.get("reader", f"{space.path}/documents/{found['documentId']}")
    assert document == found["document"]
    assert world.call("reader", "GET", f"{space.path}/documents/nothing").status_code == 404
    # The ID of a document in another space is unknown here.
    other = world.home.path("/spaces/{spaceId}/documents/" + found["documentId"])
    assert world.call("reader", "GET", other).status_code == 404


# --- embeds ---------------------------------------------------------------------------------------------


class _Page(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        type(self).asked += 1
        body = (
            b"<html><head><title>Plain</title><meta property='og:title' content='A &lt;b&gt; talk'>"
            b"<meta property='og:site_name' content='Talks'><link rel='icon' href='javascript:alert(1)'></head>"
        )
        if self.path == "/odd":
            body = (
                b"<html><head><link rel='icon' href='http://['>"
                b"<link rel='alternate' type='application/json+oembed' href='https://[::1'></head>"
            )
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = HTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    _Page.asked = 0
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def with_settings(world, **settings):
    """Return the context of another application with its own settings that shares the world's database."""
    return replace(world.context, settings=Settings(**settings))


@pytest.mark.sqlite_first
def test_fetched_embeds_are_cached_per_application(sqlite_world, server, database):
    """A response from one application's network must not be shown by another."""
    url = f"http://{server}/talk"
    allowed = with_settings(sqlite_world, allow_private_fetch=server)
    assert find_embed(allowed, url).title == "A <b> talk"
    other = replace(sqlite_world.context, settings=Settings(), db=database)
    assert find_embed(other, url, ask=False).title == url


def test_an_embedded_player_needs_no_request(sqlite_world, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", None)
    embed = find_embed(sqlite_world.context, "https://www.youtube.com/watch?v=dQw4w9WgXcQ")
    assert 'src="https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"' in embed.html
    assert "sandbox=" in embed.html


def test_a_page_shows_its_title_once(sqlite_world, server):
    context = with_settings(sqlite_world, allow_private_fetch=server)
    url = f"http://{server}/talk"
    for _ in range(3):
        embed = find_embed(context, url)
        assert (embed.title, embed.site) == ("A <b> talk", "Talks")
        assert embed.icon is not embed.title
        assert not isinstance(embed.icon, str)
    assert _Page.asked == 1


def test_a_page_with_invalid_metadata_urls_is_embedded(sqlite_world, server):
    embed = find_embed(with_settings(sqlite_world, allow_private_fetch=server), f"http://{server}/odd")
    assert (embed.title, embed.site) == (f"http://{server}/odd", "127.0.0.1")


@pytest.mark.parametrize("url", ["http://[", "https://[::1", "http://a\u2100b/", "http://a:99999999/"])
def test_an_invalid_url_is_shown_unchanged(world, url):
    for path in (world.home.path("/spaces/{spaceId}/embed"), "/urls/embed"):
        assert world.get("reader", path, params={"url": url})["title"] == url


def test_private_addresses_are_not_requested_and_become_links(world, server):
    space = world.home.path("/spaces/{spaceId}/embed")
    found = world.get("reader", space, params={"url": f"http://{server}/private"})
    assert found == {"type": "link", "title": f"http://{server}/private", "site": "127.0.0.1"}
    assert _Page.asked == 0
    for url in ("file:///etc/passwd", "javascript:alert(1)", ""):
        assert world.call("reader", "GET", space, params={"url": url}).status_code == 400
