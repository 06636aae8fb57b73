"""Sites under a path of the owner's website: their web server forwards everything under it, where the whole site is
available, and none of it elsewhere."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urldefrag, urljoin, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from lxml import html

from octavo.delivery.reader.app import reader_edge
from octavo.kit.clock import now
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.static_export import export_site
from octavo.sites.insights.queueing import EventQueue
from octavo.sites.site.store import find_site_of_space
from visiting import ADDRESS, Visitor
from world import URL, World

pytestmark = pytest.mark.sqlite_first

PLACE = "www.example.test/docs"
START = f"http://{PLACE}/"
LOGIN = "https://login.example.org/start"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03" + bytes(40)
FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide/README.md)\n  * [Deep](guide/deep.md)\n* [News](news.md)\n",
    "README.md": "# Home\n\nSee [the deep page](guide/deep.md#there).\n\n![A](<.gitbook/assets/ä b.png>)\n\n"
    "```mermaid\nflowchart LR\n  A --> B\n```\n",
    "guide/README.md": "---\ndescription: All\n---\n\n# Guide\n\n[Home](../README.md)\n",
    "guide/deep.md": "# Deep\n\n## There\n\nFar below.\n",
    "news.md": '# News\n\n{% updates %}\n{% update date="2026-01-01" %}\nSee [the guide](guide/README.md).\n'
    "{% endupdate %}\n{% endupdates %}\n",
    ".gitbook/assets/ä b.png": PNG,
    ".gitbook.yaml": "redirects:\n  before: guide/deep.md\n  round: http://www.example.test/docs/round\n"
    "  prices: http://www.example.test/prices\n",
}


class _Web(httpx.AsyncBaseTransport):
    """The owner's web server: forwards everything under a path, and has other pages elsewhere.
    ``names_itself``: whether it sends its public hostname to the reader, as some servers do by default."""

    def __init__(self, app: Any, target: str, *, names_itself: bool) -> None:
        self._inside = httpx.ASGITransport(app.application, client=(ADDRESS, 0))
        self._target = urlsplit(target)
        self._names_itself = names_itself

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        if request.url.host != "www.example.test" or not re.match(r"/docs(?![^/?])", path):
            return httpx.Response(200, text="The owner's own page.", request=request)
        host = "www.example.test" if self._names_itself else self._target.netloc
        url = f"http://{self._target.netloc}{self._target.path}{path.removeprefix('/docs')}"
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"host"]
        sent = httpx.Request(request.method, url, headers=headers, content=await request.aread())
        sent.headers["host"] = host
        return await self._inside.handle_async_request(sent)


class Site:
    """The handbook of the test organization, shown by a proxy at ``PLACE``."""

    def __init__(self, world: World, source: Path, *, names_itself: bool = False) -> None:
        for name, content in FILES.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        organization = world.home["organizationId"]
        brought = import_space(
            world.context, str(source), organization_id=organization, title="Handbook", publish=True
        )
        self.world, self.own = world, brought.site_url
        self.space = brought.outcome.space
        with world.context.db.read() as tx:
            self.id = find_site_of_space(tx, self.space)
        self.path = f"/orgs/{organization}/sites/{self.id}"
        look = {
            "styling": {},
            "internationalization": {},
            "ai": {"mode": "assistant"},
            "feedback": {"enabled": True},
        }
        assert world.call("admin", "PUT", f"{self.path}/customization", json=look).status_code == 200
        self.shown = self.change("", {"proxy": PLACE})
        self.events = EventQueue(world.context)
        self.app = reader_edge(world.context, events=self.events)
        web = _Web(self.app, self.shown["proxy"]["target"], names_itself=names_itself)
        # A browser: it keeps cookies.
        self.browser = httpx.AsyncClient(transport=web, base_url=START)

    def change(self, path: str, body: Any) -> Any:
        answer = self.world.call("admin", "PATCH", f"{self.path}/{path}".rstrip("/"), json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ask(self, path: str = "", method: str = "GET", **options: Any) -> httpx.Response:
        return asyncio.run(self.browser.request(method, urljoin(START, path), **options))


@pytest.fixture(params=[False, True], ids=["host-of-target", "host-of-browser"])
def site(request, world, tmp_path):
    return Site(world, tmp_path / "source", names_itself=request.param)


def sign_in(site: Site, **claims: Any) -> str:
    site.change("", {"visibility": "visitor-auth"})
    key = site.change("publishing/auth", {"backend": "custom", "fallbackURL": LOGIN})["privateKey"]
    made = {"exp": now() // 1000 + 600, **claims}
    return jwt.encode({"alg": "HS256"}, made, OctKey.import_key(key))


def named_in(url: str, answer: httpx.Response) -> list[str]:
    """Return every URL in an answer."""
    text, kind = answer.text, answer.headers.get("content-type", "")
    if "text/html" in kind:
        document = html.document_fromstring(answer.content)
        names = (
            "href",
            "src",
            "action",
            "poster",
            "data-copy-from",
            "data-frame",
            "data-search",
            "data-seen",
        )
        names += ("data-ask", "data-try")
        found = [element.get(name) for element in document.iter() for name in names]
        found += [
            one.get("content") for one in document.xpath("//meta[@property='og:url' or @property='og:image']")
        ]
        found += [
            part.strip().split(" ")[0] for srcset in document.xpath("//@srcset") for part in srcset.split(",")
        ]
        found += re.findall(r'url\("([^"]*)"\)', "".join(document.xpath("//style/text()")))
        for facts in document.xpath("//script[@type='application/ld+json']/text()"):
            found += re.findall(r'"(https?://[^"]*)"', facts)
    elif "xml" in kind:
        found = re.findall(r"<(?:loc|link|guid)[^>]*>([^<]+)<", text) + re.findall(r'href="([^"]+)"', text)
    elif "json" in kind:
        found = re.findall(r'"href":"([^"]+)"', text)
    elif url.endswith("llms.txt"):
        found = re.findall(r"\]\(([^)\s]+)\)", text)
    elif url.endswith(".txt"):
        found = re.findall(r"(?:Sitemap|Source): (\S+)", text)
    elif url.endswith(".html"):
        found = re.findall(r'src="([^"]+)"', text)
    else:
        found = []
    whole = [urldefrag(urljoin(url, one.replace("&amp;", "&")))[0] for one in found if one]
    return [one for one in whole if one.startswith("http")]


NAMED = ("robots.txt", "llms.txt", "llms-full.txt", "~search?q=deep", "~search.json?q=deep")
INDEXED = ("sitemap.xml", "sitemap-pages.xml", "~feed.xml", "news/rss.xml")
POSTED = ("~feedback", "~seen", "~ask", "~gitbook/mcp", "~octavo/mcp", "~mcp")
"""URLs that only accept POST."""


def crawl(site: Site, *names: str) -> dict[str, httpx.Response]:
    """Request everything linked from the start and from these names, through the proxy."""
    own = urlsplit(site.own)
    waiting = [START, *(START + name for name in names)]
    seen: dict[str, httpx.Response] = {}
    while waiting:
        url = waiting.pop()
        if url in seen:
            continue
        parts = urlsplit(url)
        assert parts.netloc != own.netloc, url
        if parts.netloc != "www.example.test":
            assert parts.netloc in (
                "chatgpt.com",
                "claude.ai",
                "schema.org",
                "www.w3.org",
                "www.sitemaps.org",
            ), url
            continue
        assert parts.path.startswith("/docs/"), url
        if any(parts.path.endswith(f"/{name}") for name in POSTED):
            continue
        answer = site.ask(url)
        seen[url] = answer
        if answer.is_redirect:
            waiting.append(urljoin(url, answer.headers["location"]))
            continue
        assert answer.status_code == 200, (url, answer.text)
        if answer.headers["content-type"].split("/")[0] in ("text", "application"):
            assert "~proxied" not in answer.text, url
        waiting += named_in(url, answer)
    return seen


def expect_whole(seen: dict[str, httpx.Response], *, images: bool = True) -> None:
    """Check that every kind of content was found. ``images``: preview images of pages."""
    for part in (
        "guide/deep",
        "guide.md",
        "~assets/octavo.css",
        "~assets/octavo.js",
        "~assets/diagrams.html",
    ):
        assert any(url.startswith(START + part) for url in seen), (part, list(seen))
    for part in ("/~files/", ".woff2", *(("/~image/",) if images else ())):
        assert any(part in url for url in seen), (part, list(seen))


def test_a_site_works_under_the_path_of_a_proxy(site):
    assert site.shown["urls"]["published"] == START
    assert site.shown["proxy"] == {
        "origin": PLACE,
        "target": f"http://{urlsplit(site.own).netloc}/~proxied/{site.id}",
    }
    seen = crawl(site, *NAMED, *INDEXED, "before", "GUIDE")
    expect_whole(seen)
    assert seen[START + "before"].headers["location"] == "/docs/guide/deep"
    assert seen[START + "GUIDE"].headers["location"] == "/docs/guide"
    assert f"Sitemap: {START}sitemap.xml" in seen[START + "robots.txt"].text
    for name in ("sitemap.xml", "~feed.xml", "llms.txt", "llms-full.txt", "news/rss.xml"):
        assert START in seen[START + name].text, name
    assert f'<link rel="canonical" href="{START}guide/deep">' in seen[START + "guide/deep"].text
    # Answers cached for the page's other URL aren't used here, and vice versa.
    for _ in range(2):
        assert 'href="/docs/guide' in site.ask().text
        at_home = Visitor(site.world.context).get(urlsplit(site.own).path).text
        assert "/docs/~assets/" not in at_home and f'href="{urlsplit(site.own).path}guide"' in at_home
        assert f'<link rel="canonical" href="{START}">' in at_home
    missing = site.ask("nowhere")
    assert missing.status_code == 404 and 'href="/docs/"' in missing.text


def test_the_home_page_works_without_a_trailing_slash(site):
    """Web servers that remove the trailing slash would otherwise cause redirect loops."""
    assert site.ask("/docs").text == site.ask("/docs/").text
    token = sign_in(site)
    assert site.ask(f"/docs?jwt_token={token}").status_code == 307
    assert site.ask("/docs").status_code == site.ask("/docs/").status_code == 200
    assert site.ask("/docsx").text == "The owner's own page."


def test_a_site_for_authenticated_visitors_works_behind_a_proxy(site):
    token = sign_in(site)
    sent = site.ask("guide/deep")
    assert sent.status_code == 307 and sent.headers["location"].startswith(LOGIN)
    assert parse_qs(urlsplit(sent.headers["location"]).query)["location"] == ["/guide/deep"]
    let_in = site.ask(f"guide/deep?jwt_token={token}&q=1")
    assert let_in.headers["location"] == "/docs/guide/deep?q=1"
    assert "Path=/docs;" in let_in.headers["set-cookie"]
    shown = site.ask("guide/deep")
    assert shown.status_code == 200 and "private" in shown.headers["cache-control"]
    for name in ("sitemap.xml", "sitemap-pages.xml", "~feed.xml"):
        assert site.ask(name).status_code == 404
    expect_whole(crawl(site, *NAMED), images=False)
    assert site.ask("~logout").headers["location"] == LOGIN
    assert site.ask("guide/deep").status_code == 307


def test_a_share_link_works_through_the_proxy(site):
    site.change("", {"visibility": "share-link"})
    link = site.world.post("admin", f"{site.path}/share-links", {"name": "Friends"})
    url = link["urls"]["published"]
    assert url.startswith(START)
    page = site.ask(url)
    assert page.status_code == 200
    path = urlsplit(url).path.rstrip("/")
    assert f'href="{path}/guide"' in page.text and '"/docs/~assets/' in page.text
    for one in named_in(url, page):
        if one.startswith(START) and not any(one.split("?")[0].endswith(name) for name in POSTED):
            assert site.ask(one).status_code == 200, one
    assert site.ask().status_code == 404


def test_posts_are_accepted_only_from_the_origin_of_the_proxy(site):
    page = site.ask("guide/deep").text
    seen = re.search(r'data-seen="([^"]+)"', page)[1]
    message = {"type": "link_click", "url": "https://example.org/", "position": "body"}
    theirs, ours = "http://evil.example", "http://www.example.test"

    def post(path, body, origin):
        headers = {"origin": origin}
        return site.ask(path, "POST", json=body, headers=headers)

    assert post(seen, message, theirs).status_code == 403
    assert post(seen, message, ours).status_code != 403
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_pages"}}
    assert post("~gitbook/mcp", listed, theirs).status_code == 403
    said = post("~gitbook/mcp", listed, ours).json()["result"]["content"][0]["text"]
    assert f"Deep ({START}guide/deep)" in said

    def read(address):
        asked = {"name": "read_page", "arguments": {"address": address}}
        return post("~gitbook/mcp", {**listed, "params": asked}, ours).json()["result"]

    assert "Far below" in read(f"{START}guide/deep")["content"][0]["text"]
    assert read("http://www.example.test/guide/deep")["isError"]
    asked = [
        site.ask("~ask", "POST", data={"q": "How far?"}, headers={"origin": one}) for one in (theirs, ours)
    ]
    assert asked[0].status_code == 403 and asked[1].status_code == 200
    page_id = re.search(r"page=([^\"&]+)", seen)[1]
    rated = site.ask("~feedback", "POST", data={"rating": "good", "page": page_id})
    assert (rated.status_code, rated.headers["location"]) == (303, "/docs/guide/deep#thanks")


def test_views_are_counted_at_the_public_address(site):
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
    for referrer in (f"{START}guide", "https://search.example/"):
        site.ask("guide/deep", headers={"referer": referrer, "user-agent": firefox})
    site.events.write(everything=True)
    with site.world.context.db.read() as tx:
        rows = tx.all("SELECT url, referrer FROM site_events WHERE site_id = :site", site=site.id)
    # Another page of the same host isn't a referrer.
    address = f"{START}guide/deep"
    assert sorted(map(tuple, rows), key=str) == [(address, "https://search.example/"), (address, None)]


def test_proxied_sites_are_embedded_and_previewed(site):
    script = site.ask("~embed/script.js")
    assert script.status_code == 200
    page = site.ask("~embed/guide/deep")
    assert page.status_code == 200 and 'href="/docs/~embed/guide"' in page.text
    assert '"/docs/~assets/octavo.css' in page.text
    assert f'<link rel="canonical" href="{START}guide/deep">' in page.text
    site.world.post("admin", f"{site.path}/unpublish")
    assert site.ask("guide/deep").status_code == 404
    url = site.world.get("admin", f"{site.path}/publishing/preview")["url"]
    assert url.startswith(f"{START}?")
    let_in = site.ask(url)
    assert let_in.headers["location"] == "/docs/" and "Path=/docs;" in let_in.headers["set-cookie"]
    assert "Far below" in site.ask("guide/deep").text


def test_redirects_can_leave_the_path_but_never_loop(site):
    assert site.ask("prices").headers["location"] == "http://www.example.test/prices"
    assert site.ask("round").status_code == 404
    for url, status in (
        (f"{START}a", 400),
        ("http://WWW.example.test/docs", 400),
        ("http://www.example.test/b", 200),
    ):
        to = {"source": "/a", "destination": {"kind": "url", "url": url}}
        answer = site.world.call("admin", "POST", f"{site.path}/redirects", json=to)
        assert answer.status_code // 100 == status // 100, (url, answer.text)


def test_urls_under_the_path_are_recognized(site):
    def find(url):
        return site.world.call("admin", "GET", "/urls/content", params={"url": url})

    assert find(f"{START}guide/deep").json()["page"]["title"] == "Deep"
    assert find("http://WWW.example.test/docs").json()["space"]["id"] == site.space
    for url in ("http://www.example.test/", "http://www.example.test/docsx", "http://example.test/docs/"):
        assert find(url).status_code == 404, url
    shown = site.world.post("nobody", "/urls/published", {"url": f"{START}guide/deep"})
    assert shown["site"] == site.id
    assert shown["canonicalUrl"].startswith(f"{START}guide/deep")
    sent = site.world.post("nobody", "/urls/published", {"url": "http://WWW.EXAMPLE.test/docs"})
    assert sent["site"] == site.id
    for url in ("http://www.example.test/guide", site.shown["proxy"]["target"]):
        assert site.world.call("nobody", "POST", "/urls/published", json={"url": url}).status_code == 404, url
    space = site.world.get("admin", f"/spaces/{site.space}")
    assert space["urls"]["published"] == START
    token = sign_in(site)
    body = {"url": f"{START}guide/deep", "visitor": {"jwtToken": token}}
    assert site.world.post("nobody", "/urls/published", body)["site"] == site.id


def test_only_sites_with_a_proxy_are_served_at_targets(site):
    target = urlsplit(site.shown["proxy"]["target"]).path
    other = site.world.home["siteId"]
    site.world.post("admin", f"{site.path.rpartition('/')[0]}/{other}/publish")
    visitor = Visitor(site.world.context)
    assert visitor.get(f"{target}/guide").status_code == 200
    for path in (f"/~proxied/{other}/", "/~proxied/", "/~proxied/nothing/", "/~proxied"):
        assert visitor.get(path).status_code == 404, path
    # The site of someone else never answers on this site's host.
    site.world.call(
        "admin", "PATCH", f"{site.path.rpartition('/')[0]}/{other}", json={"hostname": "docs.own.test"}
    )
    assert visitor.get(f"{target}/guide", host="docs.own.test").status_code == 404
    site.world.post("admin", f"{site.path}/unpublish")
    assert visitor.get(f"{target}/guide").status_code == site.ask("guide").status_code == 404
    site.world.post("admin", f"{site.path}/publish")
    assert site.ask("guide").status_code == 200
    gone = site.change("", {"proxy": None})
    assert "proxy" not in gone and gone["urls"]["published"] == site.own
    assert visitor.get(f"{target}/guide").status_code == site.ask("guide").status_code == 404


def test_a_proxied_site_is_exported_as_files(site, tmp_path):
    exported = export_site(
        site.world.context, site.id, tmp_path / "site", base="https://files.example.org/m/"
    )
    assert exported.pages >= 4 and not exported.broken
    text = (tmp_path / "site/guide/deep/index.html").read_text()
    assert "www.example.test" not in text and 'href="https://files.example.org/m/guide/deep/"' in text
    assert '"/m/~assets/octavo.css' in text and "/docs/" not in text
    assert (tmp_path / "site/~assets/octavo.css").is_file()


def test_proxy_urls_are_validated_and_normalized(world):
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    theirs = world.away.path("/orgs/{organizationId}/sites/{siteId}")
    sites = urlsplit(world.context.settings.sites_url).hostname

    def change(who, at, **body):
        return world.call(who, "PATCH", at, json=body)

    for bad in (
        "www.example.test",
        "www.example.test/",
        "https://www.example.test/docs",
        "www.example.test/docs/",
        "www.example.test/do cs",
        "www.example.test/docs\n",
        "www.example.test/dóçs",
        "www.example.test/../docs",
        "www.example.test:8080/docs",
        "localhost/docs",
        f"{'a' * 250}.example.test/docs",
        f"{urlsplit(URL).hostname}/docs",
        f"{sites}/docs",
    ):
        assert change("admin", path, proxy=bad).status_code == 400, bad
    assert "proxy" not in world.get("admin", path)
    for given, spelled in (
        ("WWW.Example.TEST/Docs", "www.example.test/Docs"),
        ("www.bücher.test/Docs", "www.xn--bcher-kva.test/Docs"),
    ):
        assert change("admin", path, proxy=given).json()["proxy"]["origin"] == spelled
        for same in (given, spelled, spelled.replace("www", "WWW")):
            assert change("stranger", theirs, proxy=same).status_code == 409, same
            assert change("admin", path, proxy=same).status_code == 200, same
    # Only its owner can use paths under it.
    assert change("stranger", theirs, proxy="www.xn--bcher-kva.test/Docs/api").status_code == 409
    other = world.post("admin", world.home.path("/orgs/{organizationId}/sites"), {"title": "Other"})["id"]
    below, at = "www.xn--bcher-kva.test/Docs/api", world.home.path(f"/orgs/{{organizationId}}/sites/{other}")
    assert change("admin", at, proxy=below).json()["proxy"]["origin"] == below
    # A site's hostname serves only that site.
    for who, at, body in (
        ("stranger", theirs, {"hostname": "www.xn--bcher-kva.test"}),
        ("admin", path, {"hostname": "www.xn--bcher-kva.test"}),
        ("admin", path, {"hostname": "www.example.test", "proxy": "www.example.test/a"}),
    ):
        assert change(who, at, **body).status_code == 409, body
    assert change("admin", path, hostname="docs.example.test").json()["urls"].get("published") is None
    assert change("stranger", theirs, proxy="docs.example.test/a").status_code == 409
    assert change("admin", path, proxy="docs.example.test/a").status_code == 409
    # One request replaces one with the other.
    moved = change("admin", path, proxy="docs.example.test/a", hostname=None)
    assert moved.json()["proxy"]["origin"] == "docs.example.test/a" and "hostname" not in moved.json()
    moved = change("admin", path, proxy=None, hostname="docs.example.test")
    assert moved.json()["hostname"] == "docs.example.test" and "proxy" not in moved.json()
    assert change("admin", path, proxy="www.xn--bcher-kva.test/Docs").status_code == 200
    # If a site has both, the proxy's URL is the public one, and both work.
    both = world.post("admin", f"{path}/publish")
    assert both["urls"]["published"] == "http://www.xn--bcher-kva.test/Docs/"
    page = Visitor(world.context).get("/", host="docs.example.test")
    assert (
        page.status_code == 200
        and '<link rel="canonical" href="http://www.xn--bcher-kva.test/Docs/' in page.text
    )
