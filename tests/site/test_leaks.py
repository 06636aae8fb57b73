"""Tests that nothing of a site leaks: random structures, conditions, audiences, and visitors are compared
with everything that can be requested from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest

from octavo.delivery.reader.table import ROUTES
from octavo.delivery.visits.admission import MCP_PATHS
from site_worlds import COMMON, Answer, Guest, MadePage, Shown, SiteWorld, quoted, words_of
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first

AUDIENCES = ["public", "unlisted", "share-link", "visitor-auth", "unpublished"]
GUESTS = [
    Guest({}, {}),
    Guest({"paying": True}, {}),
    Guest({"paying": True, "plan": "pro"}, {"beta": True}),
    Guest({}, {"beta": True}),
    Guest({"plan": "pro", "paying": "true"}, {"beta": "yes", "paying": True}),
]
READ = {
    "readRobots",
    "readSitemap",
    "readPagesSitemap",
    "readSiteFeed",
    "readIndex",
    "readWhole",
    "searchSite",
    "searchPage",
    "readFont",
    "readSiteFile",
    "readSiteImage",
    "readPage",
    "readImage",
    "postMessage",
    "readEmbedScript",
    "readAsk",
    "readQuestions",
    "askQuestion",
    "leadToEmbedded",
    "readSignedIn",
    "readTree",
    "readSkill",
    "readWellKnown",
    "readIndexPart",
    "readTag",
}
"""Routes of sites that are requested here; new ones must be added."""
ASKED_ELSEWHERE = {
    "noteSeen",
    "ratePage",
    "rateAnswer",
    "readTryForm",
    "tryOperation",
    "readBlock",
    "pressBlock",
    "readOperations",
    "readSpecification",
    "readModels",
    "readAccess",
    "askVisitor",
    "connectVisitor",
}
"""Routes derived from a page's content: ``openapi/test_trying.py``, ``openapi/test_pages.py``,
``reader/test_blocks.py``, and ``reader/test_tracking.py`` request them for hidden pages; and what connects
agents, which ``agents/test_site_agents.py`` asks."""


class Case:
    """Visitor of a generated site. ``seen``: the content that they can see; None: the site doesn't exist for
    them."""

    def __init__(
        self, site: SiteWorld, visitor: Visitor, audience: str, guest: Guest, adaptive: bool
    ) -> None:
        self.site, self.visitor, self.audience, self.random = site, visitor, audience, site.random
        self.adaptive = adaptive
        self.cookies: dict[str, str] = {}
        self.prefix = ""
        self.asked: dict[str, Any] = {"unsignedClaims": guest.said}
        proof = self.random.choice(["good", "good", "good", "bad"])
        admitted, signed, said, drafts = True, guest.signed, guest.said, False
        if audience == "share-link":
            self.prefix = f"{site.keys[site.link if proof == 'good' else site.closed]}/"
            admitted = proof == "good"
        if audience == "visitor-auth" or (adaptive and guest.signed):
            token = site.token(guest.signed)
            if proof == "bad":
                token = self.random.choice(
                    [
                        site.token(guest.signed, key="another key of forty-three characters, or so"),
                        site.token(guest.signed, lasts=-3600),
                        "e30.e30.",
                    ]
                )
                signed = {}
                admitted = admitted and audience != "visitor-auth"
            self.cookies["octavo-visitor"] = token
            self.asked["jwtToken"] = token
        self.cookies["octavo-visitor-public"] = quote(json.dumps(guest.said))
        if audience == "unpublished":
            admitted, drafts = proof == "good", self.random.random() < 0.5
            if admitted:
                self.cookies["octavo-preview"] = site.preview(guest, drafts=drafts)
        if not adaptive and audience != "unpublished":
            signed, said = {}, {}
        self.seen = Answer(site, Guest(signed, said), drafts=drafts) if admitted else None
        self.base = site.base + self.prefix

    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.visitor.get(self.base + path, cookie=self.cookie(), **headers)

    def use(self, tool: str, **arguments: Any) -> httpx.Response:
        """Call a tool of the site's MCP server twice, so that cached results are checked as well."""
        params = {"name": tool, "arguments": arguments}
        path = self.base + self.random.choice(MCP_PATHS)
        first, again = (self._send(path, "tools/call", params) for _ in range(2))
        assert (first.status_code, first.content) == (again.status_code, again.content)
        return first

    def _send(self, path: str, method: str, params: dict[str, Any]) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.visitor.send(path, message, cookie=self.cookie())

    # --- the reader -------------------------------------------------------------------------------------

    def places(self) -> Iterator[tuple[str, Shown | None, MadePage | None]]:
        """Yield the paths of everything, including hidden content."""
        for path in (
            "",
            "robots.txt",
            "sitemap.xml",
            "sitemap-pages.xml",
            "~feed.xml",
            "llms.txt",
            "llms-full.txt",
            "sitemap.md",
            "skill.md",
            "rss.xml",
            "~tags/a",
            "~signed-in",
            "~embed/script.js",
            "~embed/",
            "~embed/llms.txt",
            "~gitbook/embed",
        ):
            yield path, None, None
        drawn = Answer(self.site, Guest({}, {}))
        for shown in self.site.shown:
            base = drawn.base(shown)
            yield base, shown, None
            for page in self.random.sample(shown.space.pages, 3):
                yield base + page.path, shown, page
                yield f"{base}{page.path}.md", shown, page
                yield f"{base}{page.path}/rss.xml", shown, page
        for source in self.random.sample(sorted(self.site.redirects), min(3, len(self.site.redirects))):
            yield source, None, None
        for source in sorted(self.site.draft_redirects):
            yield source, None, None
        for section in self.site.sections:
            yield f"{section.path}/", None, None

    def check_reader(self) -> None:
        seen = self.seen
        listed = seen.listed() if seen is not None else set()
        hidden = seen.of_hidden() if seen is not None else set()
        for path, _, page in self.places():
            answer = self.get(path)
            said = words_of(f"{answer.text} {answer.headers}")
            if seen is None:
                assert answer.status_code in (307, 401, 404), (path, answer.status_code)
                assert said <= words_of(path), path
                continue
            may = listed | words_of(path) | (hidden if page is not None and page.hidden else set())
            if path in self.site.draft_redirects and not seen.drafts:
                assert answer.status_code == 404, path
            elif path in self.site.redirects or path in self.site.draft_redirects:
                # A redirect to a hidden page deliberately reveals its URL.
                may |= hidden
            assert answer.status_code in (200, 307, 404), (path, answer.status_code, answer.text[:300])
            assert said <= may, (path, said - may, self.explain(said - may))
            assert not self.is_kept_by_others(answer), path
            if answer.status_code == 307 and answer.headers["location"].startswith("/"):
                onward = self.visitor.get(answer.headers["location"], cookie=self.cookie())
                assert words_of(onward.text) <= may | listed, (path, answer.headers["location"])
        if seen is not None:
            self.check_what_is_seen(seen)
            self.check_lists(seen)
            self.check_search(seen)
        self.check_tools(seen)

    def is_kept_by_others(self, answer: httpx.Response) -> bool:
        personal = self.audience in ("share-link", "visitor-auth", "unpublished") or self.adaptive
        return personal and "public" in answer.headers.get("cache-control", "")

    def within(self, text: str, may: set[str], what: str) -> None:
        said = words_of(text) - may
        assert not said, (
            what,
            said,
            self.explain(said),
            [text[max(0, text.find(word) - 300) : text.find(word) + 100] for word in said],
        )

    def explain(self, words: set[str]) -> str:
        """Return the meaning of names, to make failures readable."""
        found = []
        for space in self.site.spaces:
            for page in space.pages:
                if words & (page.words | (page.block[1] if page.block else set())):
                    found.append(f"page {page.path} of {space.title} {page.condition and page.condition[0]}")
                if words & words_of(" ".join(page.files | page.block_files)):
                    found.append(f"file of {page.path} of {space.title} {page.block and page.block[0][0]}")
        for section in self.site.sections:
            if words & {section.title, section.about, section.path, *section.groups}:
                found.append(f"section {section}")
        for shown in self.site.shown:
            if words & {shown.path, shown.space.title}:
                found.append(f"site space {shown.id} {shown.path} {shown.condition and shown.condition[0]}")
        return "; ".join(found)

    def check_what_is_seen(self, seen: Answer) -> None:
        """Check that every visible page is shown."""
        for shown in self.random.sample(seen.shown, min(2, len(seen.shown))):
            base = seen.base(shown)
            self.check_image(seen, shown)
            for page in seen.pages(shown.space):
                path = base if page is shown.space.pages[0] else base + page.path
                answer = self.get(path)
                assert answer.status_code == 200, (path, answer.status_code)
                missing = seen.words_of_page(page) - words_of(answer.text)
                assert not missing, (path, missing)
                written = self.get(path, accept="text/markdown")
                assert written.headers["content-type"].startswith("text/markdown"), path
                lost = seen.words_of_page(page) - words_of(written.text)
                assert not lost, (path, lost)
                more = words_of(written.text) - words_of(answer.text) - words_of(path)
                assert not more, (path, self.explain(more))
                self.check_feed(seen, path, page, answer.text)
                files = [name for name in seen.files_of_page(page)]
                for name in files:
                    at = answer.text.partition("~files/")[2].partition("/")[0]
                    assert at and self.get(f"{base}~files/{at}/{name}").status_code == 200
                    for other in self.site.shown:
                        if other.space.id not in seen.spaces:
                            there = f"{seen.base(other)}~files/{at}/{name}"
                            assert self.get(there).status_code in (200, 307, 404)
        for space in self.site.spaces:
            if space.id in seen.spaces:
                continue
            for item in self.files_of(space.id):
                for shown in self.site.shown:
                    for width in ("", "480/"):
                        at = f"{seen.base(shown)}~files/{item['id']}/{width}{item['name']}"
                        answer = self.get(at)
                        if not width:
                            tool = self.use("read_file", address=self.base + at).text
                            assert ('"isError":false' in tool) == (answer.status_code == 200), at
                        assert answer.status_code in (307, 404) and b"PNG" not in answer.content

    def check_feed(self, seen: Answer, path: str, page: MadePage, html: str) -> None:
        feed = f"{path.rstrip('/')}/rss.xml".lstrip("/")
        news = seen.news_of_page(page)
        assert (f'href="{self.base}{feed}"' in html) == bool(news), path
        answer = self.get(feed)
        assert answer.status_code == (200 if news else 404), feed
        if news:
            entries = answer.text.partition("<item>")[2]
            assert words_of(entries) - words_of(feed) == news, feed

    def check_image(self, seen: Answer, shown: Shown) -> None:
        """Check that an image, which contains the title, exists only if the page is visible."""
        page = self.random.choice(shown.space.pages)
        image = self.get(f"{seen.base(shown)}~image/{page.id}.png")
        assert image.status_code == (200 if seen.sees(page) else 404), page.path
        assert not self.is_kept_by_others(image), page.path

    def files_of(self, space_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.site.world.get("admin", f"/spaces/{space_id}/content/files")[
            "items"
        ]
        return items

    def check_lists(self, seen: Answer) -> None:
        untold = {
            word
            for space in seen.spaces.values()
            for page in seen.pages(space)
            if not page.told
            for word in page.words
        }
        for path in (".well-known/agent-skills/index.json", ".well-known/mcp/server-card.json", "skill.md"):
            self.within(self.get(path).text, seen.listed() - untold, path)
        for path in (
            "sitemap.xml",
            "sitemap-pages.xml",
            "~feed.xml",
            "sitemap.md",
            "llms.txt",
            "llms-full.txt",
        ):
            answer = self.get(path)
            said = words_of(answer.text)
            assert said <= seen.listed() - untold, (path, self.explain(said - seen.listed()))
            if self.audience in ("unlisted", "share-link", "visitor-auth", "unpublished") and path.endswith(
                ".xml"
            ):
                assert answer.status_code == 404
            elif answer.status_code == 200:
                told = {
                    page.title
                    for space in seen.spaces.values()
                    for page in seen.pages(space)[1:]
                    if page.told and not page.hidden
                }
                assert told <= said, path
        robots = self.get("robots.txt").text
        assert ("Disallow: /\n" in robots) == (self.audience != "public")

    def check_search(self, seen: Answer) -> None:
        unfound = {
            word
            for space in seen.spaces.values()
            for page in seen.pages(space)
            if not page.indexed or page.hidden
            for word in seen.words_of_page(page)
        }
        may = seen.listed() - unfound
        start = next((seen.base(shown) for shown in seen.shown), "")
        unknown = sorted(self.site.words - may)
        asked = [COMMON, "zq", *self.random.sample(unknown, min(4, len(unknown)))]
        for query in asked:
            answer = self.get(f"{start}~search.json?q={quoted(query)}")
            if not seen.shown:
                assert answer.status_code == 404
                continue
            found = json.loads(answer.text)
            assert found.pop("query") == query
            said = words_of(json.dumps(found))
            assert said <= may, (query, self.explain(said - may))
            page = words_of(self.get(f"{start}~search?q={quoted(query)}").text)
            assert page <= seen.listed() | words_of(query), (query, self.explain(page))
            for accept in ("text/html", "text/event-stream"):
                form = {"q": f"What is {query}?", "before": f"And {query}?"}
                answer = self.visitor.post(
                    f"{self.base}{start}~ask", form, cookie=self.cookie(), accept=accept
                )
                assert answer.status_code == 200 and "no-store" in answer.headers["cache-control"]
                self.within(answer.text, seen.listed() | words_of(query), f"ask {query}")
                passages = answer.text.partition('class="answer')[2] or answer.text.partition("data: ")[2]
                quoted_words = words_of(passages.partition("</form>")[0]) - words_of(query)
                assert quoted_words <= may, (query, self.explain(quoted_words - may))
        for path in ("~ask", "~ask/questions"):
            answer = self.get(start + path)
            assert answer.status_code == (200 if seen.shown else 404)
            self.within(answer.text, seen.listed(), path)

    def check_tools(self, seen: Answer | None) -> None:
        listed = self.use("list_pages")
        if seen is None:
            assert listed.status_code in (401, 404) and not words_of(listed.text)
            return
        assert listed.status_code == 200, listed.text
        told = words_of(self.get("llms.txt").text)
        assert words_of(listed.text) <= told
        assert words_of(self._send(f"{self.base}~mcp", "resources/list", {}).text) <= told
        unknown = sorted(self.site.words - seen.listed())
        for query in (COMMON, *self.random.sample(unknown, min(2, len(unknown)))):
            self.within(self.use("search", query=query).text, seen.listed(), f"tool search {query}")
        drawn = Answer(self.site, Guest({}, {}))
        for shown in self.site.shown:
            page = self.random.choice(shown.space.pages[1:])
            read = self.use("read_page", address=f"{self.base}{drawn.base(shown)}{page.path}")
            address = words_of(drawn.base(shown) + page.path)
            may = seen.listed() | address | (seen.of_hidden() if page.hidden else set())
            self.within(read.text, may, f"tool read_page {page.path}")
            at = f"{self.base}{drawn.base(shown)}{page.path}.md"
            resource = self._send(f"{self.base}~mcp", "resources/read", {"uri": at})
            self.within(resource.text, may, f"resource {page.path}")
            home = self.use("read_page", address=f"{self.base}{drawn.base(shown)}", section="2026-01-02")
            self.within(home.text, seen.listed() | address, "tool read_page of a section")
            there = any(
                one.space is shown.space and seen.base(one) == drawn.base(shown) for one in seen.shown
            )
            if there and seen.sees(page):
                assert seen.words_of_page(page) <= words_of(read.text), read.text
            if there:
                assert seen.news_of_page(shown.space.pages[0]) <= words_of(home.text), home.text

    # --- the API ----------------------------------------------------------------------------------------

    def check_api(self) -> None:
        seen, world = self.seen, self.site.world
        answer = self.resolve("")
        if seen is None:
            assert answer.status_code in (401, 404) or "redirect" in answer.json(), answer.text
            return
        while answer.status_code == 200 and answer.json().get("target") == "content":
            answer = self.resolve_url(answer.json()["redirect"])
        if not seen.shown or answer.status_code == 404:
            assert answer.status_code == 404, answer.text
            return
        found = answer.json()
        assert found["space"] in seen.spaces
        assert words_of(answer.text) <= seen.frame(), (answer.text, self.explain(words_of(answer.text)))
        bearer = {"authorization": f"Bearer {found['apiToken']}"}

        def read(path: str, **query: Any) -> httpx.Response:
            return world.call("nobody", "GET", path, headers=bearer, params=query)

        profile = read(f"{self.site.path}/published")
        assert profile.status_code == 200, profile.text
        said = words_of(profile.text)
        assert said <= seen.frame(), self.explain(said - seen.frame())
        assert {section.title for section in seen.sections} <= said and "visitor.claims" not in profile.text
        for space in self.site.spaces:
            got = read(f"/spaces/{space.id}")
            # A token can't belong to a site through a space that the site shows to no one.
            assert got.status_code in ((200,) if space.id in seen.spaces else (401, 404)), got.text
            if got.status_code == 200:
                self.check_space(seen, space, read, got.json())
        self.check_api_search(seen, bearer)
        for source, (shown, page) in self.site.redirects.items():
            got = read(f"{self.site.path}/redirect", source=f"/{source}")
            may = shown in seen.shown and (page is None or seen.sees(page))
            assert got.status_code in ((200, 404) if may else (404,)), (source, got.text)
            self.within(got.text, seen.listed() | {source} | seen.of_hidden(), source)

        for source in self.site.draft_redirects:
            got = read(f"{self.site.path}/redirect", source=f"/{source}")
            assert got.status_code in ((200, 404) if seen.drafts else (404,)), (source, got.text)

    def resolve(self, path: str) -> httpx.Response:
        return self.resolve_url(self.site.url + self.prefix + path)

    def resolve_url(self, url: str) -> httpx.Response:
        headers = {}
        if "octavo-preview" in self.cookies:
            url = f"https://preview/{self.site.id}/" + url.removeprefix(self.site.url).removeprefix(
                f"https://preview/{self.site.id}/"
            )
            headers = {"authorization": f"Bearer {self.cookies['octavo-preview']}"}
        body = {"url": url, "visitor": self.asked, "redirectOnError": True}
        return self.site.world.call("nobody", "POST", "/urls/published", json=body, headers=headers)

    def check_space(self, seen: Answer, space: Any, read: Any, shown: dict[str, Any]) -> None:
        here = f"/spaces/{space.id}/revisions/{shown['revision']}"
        revision = read(here)
        pages = seen.pages(space)
        may = {space.title} | seen.of_hidden()
        for page in pages:
            may |= seen.words_of_page(page) | seen.linked(page) | words_of(" ".join(seen.files_of_page(page)))
        self.within(revision.text, may, "revision")
        found = revision.json()
        listed = [page["title"] for page in found["pages"]] + [
            child["title"] for page in found["pages"] for child in page.get("pages", [])
        ]
        assert sorted(listed) == sorted(page.title for page in pages)
        files = {name for page in pages for name in seen.files_of_page(page)}
        assert {item["name"] for item in found["files"]} == files
        for page in space.pages:
            document = read(f"{here}/page/{page.id}/document")
            assert document.status_code == (200 if page in pages else 404), page.path
            whole = read(f"{here}/page/{page.id}", format="markdown")
            by_path = read(f"{here}/path/{quoted(page.path)}")
            assert whole.status_code == by_path.status_code == document.status_code
            if document.status_code == 200:
                expected = seen.words_of_page(page)
                for got in (document, whole, by_path):
                    assert words_of(got.text) <= may, self.explain(words_of(got.text) - may)
                missing = expected - words_of(document.text + by_path.text)
                assert not missing, (page, document.text)

    def check_api_search(self, seen: Answer, bearer: dict[str, str]) -> None:
        world = self.site.world
        unknown = sorted(self.site.words - seen.listed())
        for query in (COMMON, *self.random.sample(unknown, min(2, len(unknown)))):
            body = {"query": query, "mode": "all"}
            got = world.call("nobody", "POST", f"{self.site.path}/search", headers=bearer, json=body)
            assert got.status_code == 200
            self.within(got.text, seen.listed(), f"search {query}")
            assert got.json()["count"] <= len(seen.spaces)
            body = {"question": f"What is {query}?", "scope": {"mode": "all"}}
            got = world.call("nobody", "POST", f"{self.site.path}/ask", headers=bearer, json=body)
            assert got.status_code == 200
            self.within(got.text, seen.listed() | words_of(query), f"ask {query}")
        got = world.call("nobody", "GET", f"{self.site.path}/ask/questions", headers=bearer)
        assert got.status_code == 200
        self.within(got.text, seen.listed(), "questions")


def run(world: World, seed: int, cases: int) -> None:
    random = Random(seed)
    site = SiteWorld(world, random)
    ai = {"styling": {}, "internationalization": {}, "ai": {"mode": "assistant"}}
    assert world.call("admin", "PUT", f"{site.path}/customization", json=ai).status_code == 200
    settings = world.context.settings
    world.context.settings = msgspec.structs.replace(settings, ask_rate_limit=1_000_000)
    visitor = Visitor(world.context)
    world.context.settings = settings
    for number in range(cases):
        audience, adaptive = AUDIENCES[number % len(AUDIENCES)], random.random() < 0.75
        visibility = random.choice(AUDIENCES[:4]) if audience == "unpublished" else audience
        site.draw(visibility, published=audience != "unpublished", adaptive=adaptive)
        kept: dict[str, tuple[str, bytes]] = {}
        for guest in random.sample(GUESTS, 3):
            case = Case(site, visitor, audience, guest, adaptive)
            try:
                case.check_reader()
                case.check_api()
                if case.seen is not None:
                    check_tags(case, kept)
            except AssertionError as wrong:
                raise AssertionError(
                    f"seed {seed}, case {number}: {audience}, adaptive {adaptive}, {guest}"
                ) from wrong


def check_tags(case: Case, kept: dict[str, tuple[str, bytes]]) -> None:
    """Check that the ETag of one visitor does not validate for another who sees something else."""
    shown = case.seen.shown[:1] if case.seen is not None else []
    for path in ["llms.txt", *(case.seen.base(one) for one in shown if case.seen is not None)]:
        answer = case.get(path)
        if path in kept and answer.status_code == 200:
            tag, body = kept[path]
            again = case.get(path, **{"if-none-match": tag})
            assert (again.status_code == 304) == (body == answer.content), path
        if "etag" in answer.headers:
            kept[path] = (answer.headers["etag"], answer.content)


def test_every_route_of_sites_is_tested() -> None:
    assert {route.name for route in ROUTES} <= READ | ASKED_ELSEWHERE


def test_hidden_content_reaches_no_unauthorized_visitor(world: World) -> None:
    run(world, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_hidden_content_stays_hidden_on_many_more_sites(sqlite_world: World, seed: int) -> None:
    run(sqlite_world, seed, 20)
