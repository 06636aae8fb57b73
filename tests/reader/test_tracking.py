"""Events the reader counts: views, searches, questions, and clicks, all anonymous."""

import json
import logging
import re
from urllib.parse import urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.core.expressions import NOBODY
from octavo.errors import TemporarilyUnavailable
from octavo.kit.clock import now
from octavo.kit.http.metrics import Metrics
from octavo.operations.admin.import_export import import_space
from octavo.sites.insights import collecting
from octavo.sites.insights.queueing import EventQueue
from octavo.sites.insights.types import PageView, VisitorLocation, VisitorSession
from visiting import ADDRESS, Visitor

FIREFOX = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"}
PAGES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide.md)\n* [Beta](beta.md)\n",
    "README.md": "# Home\n\nHello.\n",
    "guide.md": "# Guide\n\nHow to install.\n",
    "beta.md": "---\nif: visitor.claims.beta\n---\n\n# Beta\n\nFor few.\n",
}

LOOK = {
    "styling": {},
    "internationalization": {},
    "ai": {"mode": "assistant"},
    "feedback": {"enabled": True},
}


class Site:
    def __init__(self, world, folder):
        for name, content in PAGES.items():
            (folder / name).write_text(content)
        organization = world.home["organizationId"]
        brought = import_space(
            world.context, str(folder), organization_id=organization, title="Handbook", publish=True
        )
        self.world, self.space = world, brought.outcome.space
        self.origin, self.base = re.fullmatch(r"(https?://[^/]+)(/.*)", brought.site_url).groups()
        with world.context.db.read() as tx:
            basename = self.base.split("/")[2]
            self.id = tx.value("SELECT id FROM sites WHERE basename = :basename", basename=basename)
        self.path = f"/orgs/{organization}/sites/{self.id}"
        self.visitor = Visitor(world.context)

    def get(self, below="", status=200, **headers):
        answer = self.visitor.get(self.base + below, **{**FIREFOX, **headers})
        assert answer.status_code == status, answer.text
        return answer

    def say(self, page, *, status=204, headers=None, **what):
        body = json.dumps(what)
        address = f"{self.base}~seen?page={page}"
        answer = self.visitor.send(address, json.loads(body), **{**FIREFOX, **(headers or {})})
        assert answer.status_code == status, answer.text

    def events(self, *columns):
        """Return the recorded events with these columns, in any order."""
        self.visitor.events.write(everything=True)
        with self.world.context.db.read() as tx:
            rows = tx.all(f"SELECT {', '.join(columns)} FROM site_events WHERE site_id = :site", site=self.id)
        return sorted((tuple(row) for row in rows), key=lambda row: [str(value or "") for value in row])

    def of_people(self):
        return [type for type, bot in self.events("type", "bot") if bot is None]


@pytest.fixture
def site(world, tmp_path):
    return Site(world, tmp_path)


def test_each_opened_page_is_a_view(site):
    first = site.get()
    assert site.get().content == first.content, "answered by what is kept"
    assert site.get(status=304, **{"if-none-match": first.headers["etag"]}).status_code == 304
    site.get(
        "guide?utm_source=mail&utm_medium=%00x&jwt_token=secret", referer="https://www.example.com/a?b=c"
    )
    page = re.search(r"page=([^\"]+)", first.text)[1]
    home, guide = f"{site.origin}{site.base}", f"{site.origin}{site.base}guide"
    assert site.events("type", "url", "utm_source", "utm_medium", "referrer", "device") == [
        *[("page_view", home, None, None, None, "desktop")] * 3,
        ("page_view", guide, "mail", "x", "https://www.example.com/a", "desktop"),
    ]
    assert [row[0] for row in site.events("page_id")].count(page) == 3


def test_cookie_consent_is_part_of_the_event(site, monkeypatch):
    told = []
    monkeypatch.setattr(collecting, "_on_events", [lambda tx, rows: told.extend(rows)])
    for answer in ("yes", "no", "maybe", ""):
        site.get(cookie=f"secret=1; __gitbook_cookie_granted={answer}")
    site.get(cookie="secret=1")
    site.events("type")
    assert [row.consent for row in told] == ["yes", "no", None, None, None]


def test_requests_that_are_not_page_views(site):
    """Requests of agents, prefetches, requests without a body, and everything that isn't a page."""
    site.get(**{"user-agent": "Googlebot/2.1"})
    site.get(**{"user-agent": ""})
    for name, value in {
        "sec-purpose": "prefetch;anonymous-client-ip",
        "purpose": "prefetch",
        "x-moz": "prefetch",
    }.items():
        site.get(**{name: value})
    assert site.visitor.head(site.base, **FIREFOX).status_code == 200
    for below in ("guide.md", "llms.txt", "robots.txt", "sitemap.xml", "~search"):
        site.get(below)
    site.get("Guide", status=307)
    site.get("nothing", status=404)
    site.get("beta", status=404)
    assert site.of_people() == []
    site.get()
    assert site.of_people() == ["page_view"]


def test_reads_and_misses_of_agents_are_stored_by_format(site):
    crawler, coder = {"user-agent": "GPTBot/1.2"}, {"user-agent": "opencode/0.9"}
    site.get("guide", **crawler)
    for _ in range(2):  # The second one is answered from the cache.
        site.get("guide.md", **coder)
        site.get("llms.txt", **coder)
    site.get("guide", accept="text/markdown", **coder)
    site.get("guide.md")  # A person looks at the Markdown.
    site.get("gone", 404, **coder)
    site.get("gone", 404)
    site.get("~search.json?q=basalt", **coder)

    def use(tool, **arguments):
        call = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return site.visitor.send(f"{site.base}~mcp", message, **FIREFOX)

    start = f"{site.origin}{site.base}"
    use("search", query="install")
    use("search", query="feldspar")
    use("read_page", address=f"{start}guide")
    use("read_page", address=f"{start}lost")
    use("read_page", address="https://elsewhere.test/secret")
    found = site.events("bot", "type", "display_context", "url", "query")
    programs = [(*row[:3], row[3].removeprefix(start), row[4]) for row in found if row[0]]
    assert programs == sorted(
        [
            ("crawler", "page_view", "site", "guide", None),
            *[("coding-agent", "page_view", "markdown", "guide", None)] * 3,
            *[("coding-agent", "page_view", "markdown", "llms.txt", None)] * 2,
            ("coding-agent", "page_missing", "site", "gone", None),
            ("coding-agent", "search_type_query", "site", "", "basalt"),
            ("coding-agent", "search_missing", "site", "", "basalt"),
            ("unknown", "search_type_query", "mcp", "", "install"),
            ("unknown", "search_type_query", "mcp", "", "feldspar"),
            ("unknown", "search_missing", "mcp", "", "feldspar"),
            ("unknown", "page_view", "mcp", "guide", None),
            ("unknown", "page_missing", "mcp", "lost", None),
        ],
        key=lambda row: [str(value or "") for value in row],
    )
    assert [row for row in found if not row[0]] == []


def test_previews_are_not_counted(site):
    answer = site.world.call("admin", "GET", f"{site.path}/publishing/preview")
    assert answer.status_code == 200, answer.text
    preview = urlsplit(answer.json()["url"])
    sent = site.visitor.get(f"{preview.path}?{preview.query}", **FIREFOX)
    cookie = sent.headers["set-cookie"].partition(";")[0]
    shown = site.get(cookie=cookie)
    assert "data-seen" not in shown.text
    site.get(purpose="prefetch")
    assert site.get(cookie=cookie).status_code == 200, "answered by what is kept"
    site.get("~search?q=install", cookie=cookie)
    page = re.search(r"page=([^\"]+)", site.get(**{"user-agent": "curl/8"}).text)[1]
    site.say(page, type="page_view", headers={"cookie": cookie})
    assert site.events("type", "bot") == [("page_view", "unknown")]


@pytest.mark.parametrize("visibility", ["visitor-auth", "public"])
def test_signed_claims_are_part_of_the_event(site, visibility):
    """Claims in the schema are recorded with everything a visitor does; unsigned ones aren't."""
    claim = {"type": "boolean", "description": "x"}
    unsigned = {
        "type": "object",
        "description": "Unsigned claims of the site visitor.",
        "properties": {"said": claim},
        "additionalProperties": False,
    }
    properties = {"beta": claim, "unsigned": unsigned}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    for method, below, body in (
        ("PUT", "/adaptive-schema", {"jsonSchema": schema}),
        ("PATCH", "", {"visibility": visibility, "adaptiveContent": {"enabled": True}}),
        ("PUT", "/customization", LOOK),
    ):
        answer = site.world.call("admin", method, f"{site.path}{below}", json=body)
        assert answer.status_code == 200, answer.text
    key = site.world.get("admin", f"{site.path}/publishing/auth")["privateKey"]
    claims = {"beta": True, "email": "a@example.org", "exp": now() // 1000 + 600}
    token = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key))
    cookie = f'octavo-visitor={token}; octavo-visitor-public={{"said":true}}'
    page = re.search(r"page=([^\"]+)", site.get(cookie=cookie).text)[1]
    site.get("beta", cookie=cookie)
    site.get("~search?q=install", cookie=cookie)
    for below, form in (("~feedback", {"rating": "good", "page": page}), ("~ask", {"q": "How?"})):
        site.visitor.post(f"{site.base}{below}", form, cookie=cookie, **FIREFOX)
    site.say(
        page, type="link_click", url="https://example.com/", position="content", headers={"cookie": cookie}
    )
    if visibility == "public":
        site.get("guide")
        site.get("guide", cookie="octavo-visitor=e30.e30.")
    known = '{"beta":"true"}'
    assert site.events("type", "claims") == [
        ("ask_question", known),
        ("link_click", known),
        ("page_post_feedback", known),
        *[("page_view", None)] * (2 if visibility == "public" else 0),
        *[("page_view", known)] * 2,
        ("search_type_query", known),
    ]


def test_searches_are_counted_once_typed(site, clock):
    for words in ("i", "in", "inst", "install", "instal", "guid", "guide"):
        site.get(f"~search.json?q={words}")
    site.get("~search?q=guide")
    site.get("~search.json?q=ins", **{"user-agent": FIREFOX["user-agent"].replace("130", "131")})
    site.get("~search.json?q=%20")
    with site.world.context.db.read() as tx:
        site.visitor.events.write()
        assert tx.value("SELECT count(*) FROM site_events") == 0, "they may go on typing"
    clock.advance(2_000)
    site.visitor.events.write()
    assert site.events("type", "query", "page_id") == [
        ("search_type_query", words, None) for words in ("guide", "ins", "install")
    ]


def test_questions_are_counted(site):
    path = f"{site.path}/customization"
    look = site.world.get("admin", path)
    assert site.world.call("admin", "PUT", path, json={**look, "ai": {"mode": "search"}}).status_code == 200
    asked = site.visitor.post(f"{site.base}~ask", {"q": "How to install?"}, **FIREFOX)
    assert asked.status_code == 200, asked.text
    assert site.events("type", "query") == [("ask_question", "How to install?")]


def test_events_sent_by_scripts(site):
    page = re.search(r'data-seen="[^"]*page=([^"]+)"', site.get(purpose="prefetch").text)[1]
    site.say(page, type="page_view")
    site.say(page, type="link_click", url="https://www.example.com/a", position="footer")
    guide = f"{site.origin}{site.base}"
    assert site.events("type", "url", "page_id", "link_domain", "link_position") == [
        ("link_click", guide, page, "www.example.com", "footer"),
        ("page_view", guide, page, None, None),
    ]


def test_opened_results_are_counted(site):
    page = re.search(r'data-seen="[^"]*page=([^"]+)"', site.get(purpose="prefetch").text)[1]
    found = site.get("~search.json?q=install").json()["hits"][0]["href"]
    site.say(page, type="search_open_result", query="install", path=found)
    site.say(page, status=404, type="search_open_result", query="install", path=f"{site.base}beta")
    site.say(page, status=404, type="search_open_result", query="install", path="/elsewhere/")
    assert site.events("type", "query") == [
        ("search_open_result", "install"),
        ("search_type_query", "install"),
    ]


@pytest.mark.sqlite_first
def test_forbidden_script_events_are_refused(site):
    page = re.search(r'data-seen="[^"]*page=([^"]+)"', site.get(purpose="prefetch").text)[1]
    site.say("nothing", status=404, type="page_view")
    pages = site.world.get("admin", f"/spaces/{site.space}/content")["pages"]
    withheld = next(one["id"] for one in pages if one["title"] == "Beta")
    site.say(withheld, status=404, type="page_view")
    for what in (
        {},
        {"type": "search_open"},
        {"type": "link_click", "url": "javascript:alert(1)", "position": "footer"},
        {"type": "link_click", "url": "https://a.test/\0", "position": "footer"},
        {"type": "link_click", "url": "https://a.test/" + "a" * 2048, "position": "footer"},
        {"type": "link_click", "url": "https://a.test/", "position": "elsewhere"},
    ):
        site.say(page, status=400, **what)
    site.say(page, status=413, type="page_view", more="a" * 5000)
    site.say(page, status=403, type="page_view", headers={"origin": "https://other.test"})
    assert site.visitor.post(f"{site.base}~seen?page={page}", {"type": "page_view"}).status_code == 403
    assert site.events("type") == []


def test_events_identify_no_one(site):
    """No table contains IP addresses, cookies, or who typed."""
    site.get(cookie="mine=hidden-cookie", referer=f"http://sites.test{site.base}")
    site.get("~search.json?q=install", cookie="mine=hidden-cookie")
    site.get()
    rows = site.events("*")
    assert len(rows) == 3
    for secret in (ADDRESS, "hidden-cookie"):
        assert secret not in str(rows)
    assert len(set(site.events("visitor"))) == len(set(site.events("session"))) == 3
    assert {row[0] for row in site.events("referrer")} == {None}


# --- the queue ----------------------------------------------------------------------------------------------


def view(site):
    session = VisitorSession("v", "s", {}, FIREFOX["user-agent"], None, None)
    location = VisitorLocation("https://docs.test/", None, None, None, None, None, None)
    return site.world.home["organizationId"], site.id, PageView(session=session, location=location), NOBODY


def test_a_full_queue_drops_events_and_reports_it(site, caplog):
    metrics = Metrics()
    queue = EventQueue(site.world.context, metrics, capacity=2)
    for _ in range(5):
        queue.add(*view(site))
    with caplog.at_level(logging.WARNING, "octavo.sites.insights"):
        queue.write()
        queue.write()
    assert [record.getMessage() for record in caplog.records] == ["dropped 3 views and searches"]
    assert b"octavo_visitor_events_dropped_total 3.0" in metrics.text()
    assert site.events("type") == [("page_view",)] * 2


def test_events_wait_while_the_database_is_unavailable(site, monkeypatch, caplog, clock):
    queue = EventQueue(site.world.context)
    then = clock.advance(0)
    queue.add(*view(site))
    clock.advance(3_600_000)

    def fail():
        raise TemporarilyUnavailable("no disk")

    with monkeypatch.context() as broken, caplog.at_level(logging.WARNING, "octavo.sites.insights"):
        broken.setattr(site.world.context.db, "read", fail)
        queue.write()
    assert "no disk" in caplog.text
    assert site.events("type") == []
    queue.write()
    queue.write()
    assert site.events("type", "at") == [("page_view", then)]


def test_a_deleted_site_does_not_affect_counts_of_others(site):
    queue = site.visitor.events
    organization, _, event, visitor = view(site)
    queue.add(organization, "gone", event, visitor)
    queue.add(*view(site))
    assert site.events("type") == [("page_view",)]
