"""Tests of links to other sites: their states, the rules of hosts, and findings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.assistants.findings import scanning
from octavo.assistants.findings.jobs import check_due_links
from octavo.assistants.findings.outbound import LinkVisit, check_links, list_urls, next_row, visit_hosts
from octavo.assistants.findings.outbound_store import OutboundLinkRow
from octavo.assistants.findings.store import insert_scan
from octavo.core.checks.faults import CheckedPage
from octavo.kit.net.fetch import Fetcher
from world import World

HOUR, DAY = 3_600_000, 24 * 3_600_000
GONE, FINE, UNKNOWN = LinkVisit(False, "client-error", 404), LinkVisit(True, None, 200), LinkVisit()
SITE = "/orgs/{organizationId}/sites/{siteId}"


class Site:
    """Server whose paths name their status. ``robots``: its robots.txt. ``most``: number of requests after which it
    refuses."""

    def __init__(self) -> None:
        self.robots, self.most, self.asked, self.gone = "", 1000, [], False
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                body = site.robots.encode() if self.path == "/robots.txt" else b"x" * 200_000
                status, headers = 200, {}
                if self.path.startswith("/to/"):
                    status, headers = 302, {"location": self.path.removeprefix("/to")}
                elif self.path == "/loop":
                    status, headers = 301, {"location": "/loop"}
                elif self.path.strip("/").isdigit():
                    status = int(self.path.strip("/"))
                elif self.path == "/page":
                    status = 404 if site.gone else 200
                if len(site.asked) > site.most:
                    status = 429
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # The body isn't read.

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def visit(self, *paths: str) -> dict[str, LinkVisit]:
        urls = [f"{self.url}{path}" for path in paths]
        found = visit_hosts(Fetcher(self.host), {"127.0.0.1": urls}, lambda seconds: None)
        return {url.removeprefix(self.url): visit for url, visit in found.items()}


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_link_fails_after_three_checks_and_recovers_after_two() -> None:
    row = OutboundLinkRow("s", "h", "https://docs.org/a", "docs.org", "pending", 0, None, None, None, 0)
    states = []
    for visit in (GONE, UNKNOWN, GONE, GONE, GONE, FINE, GONE, FINE, FINE, GONE, FINE):
        row = next_row(row, visit, 0)
        states.append((row.status, row.next_at // HOUR))
    assert states == [
        ("suspect", 1),
        ("suspect", 24),
        ("suspect", 6),
        ("failed", 24),
        ("failed", 24),
        ("recovering", 6),
        ("failed", 24),
        ("recovering", 6),
        ("healthy", 24 * 7),
        ("suspect", 1),
        ("healthy", 24 * 7),
    ]
    assert next_row(row, LinkVisit(allowed=False), 0).status == "canceled"


def test_responses_are_judged_by_what_they_say_about_the_page(site: Site) -> None:
    found = site.visit("/200", "/404", "/500", "/401", "/to/410", "/to/200", "/loop")
    assert {path: visit.worked for path, visit in found.items()} == {
        "/200": True,
        "/404": False,
        "/500": False,
        "/401": None,
        "/to/410": False,
        "/to/200": True,
        "/loop": False,
    }
    assert found["/loop"].failure == "redirect" and found["/500"].failure == "server-error"
    private = visit_hosts(Fetcher(), {"127.0.0.1": [f"{site.url}/200"]}, lambda seconds: None)
    assert not private[f"{site.url}/200"].allowed
    closed = visit_hosts(Fetcher("127.0.0.1:9"), {"a": ["http://127.0.0.1:9/a"]}, lambda seconds: None)
    assert closed["http://127.0.0.1:9/a"].failure == "connection"


def test_links_to_a_site_that_answers_everything_with_a_page_stay_healthy(site: Site) -> None:
    paths = [f"/200/{number}" for number in range(10)]
    found = site.visit(*paths)
    rows = [OutboundLinkRow("s", "h", path, "h", "pending", 0, None, None, None, 0) for path in paths]
    assert {next_row(row, found[row.url], 0).status for row in rows} == {"healthy"}
    assert len(site.asked) == len(paths) + 1, "no page is asked for twice"


def test_robots_and_blocks_of_a_host_are_respected(site: Site) -> None:
    site.robots = "User-agent: *\nDisallow: /private\nCrawl-delay: nan\n"
    assert not site.visit("/private/a")["/private/a"].allowed and site.asked == ["/robots.txt"]
    site.asked.clear()
    site.most = 4
    paths = [f"/{number}00{number}" for number in range(2, 12)]
    found = site.visit("/200", "/404", "/410", *paths)
    assert [found[path].worked for path in ("/200", "/404", "/410")] == [True, False, False]
    assert {found[path].worked for path in paths} == {None}
    assert len(site.asked) == 6, "two refused requests end the round"


def test_reserved_names_and_placeholders_are_not_checked() -> None:
    urls = [
        "https://example.com/a",
        "https://api.example.org",
        "http://localhost:8000",
        "https://docs.test/",
        "https://{host}/a",
        "https://docs.org/<id>",
        "http://[x",
        "https://docs.org/\x00",
        "https://docs.org/fine",
    ]
    assert list_urls([CheckedPage(urls=dict.fromkeys(urls, ""))]) == {"https://docs.org/fine": "docs.org"}


def test_a_failed_link_is_a_finding_until_it_works_again(
    world: World, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = world.home
    settings = replace(world.context.settings, check_links=True, allow_private_fetch=site.host)
    monkeypatch.setattr(world.context, "settings", settings)
    text = f"Read [this]({site.url}/page#part), [that]({site.url}/200), and [more](https://example.com)."
    change = {"operation": "update_page", "page": place["pageId"], "document": {"markdown": text}}
    world.post("admin", place.path("/spaces/{spaceId}/content"), {"changes": [change]})

    def scan() -> list[dict[str, Any]]:
        with world.context.db.write() as tx:
            started = insert_scan(tx, place["siteId"], "manual")
        scanning.scan_site(world.context, place["siteId"], place["organizationId"], started.id)
        path = place.path(f"{SITE}/findings?kind=external-link&status=open")
        found: list[dict[str, Any]] = world.get("reader", path)["items"]
        return found

    def check() -> set[str]:
        with world.context.db.write() as tx:
            tx.run("UPDATE outbound_links SET next_at = 0")
        return check_links(world.context, lambda seconds: None)

    def states() -> dict[str, str]:
        with world.context.db.read() as tx:
            return dict(tx.all("SELECT url, status FROM outbound_links"))

    assert scan() == [] and set(states().values()) == {"pending"}
    assert check() == set() and set(states().values()) == {"healthy"}
    site.gone = True
    assert check() == set() == check()
    assert check() == {place["spaceId"]}
    (finding,) = scan()
    assert finding["type"] == "outbound-link-error" and finding["title"].endswith(f"{site.url}/page")
    assert finding["evidence"][0]["message"] == "The page doesn't exist (status 404)."
    link = finding["outboundLink"]
    assert (link["status"], link["failureKind"], link["httpStatus"]) == ("failed", "client-error", 404)
    site.gone = False
    assert check() == set() and scan()[0]["outboundLink"]["status"] == "recovering"
    assert check() == {place["spaceId"]} and scan() == []

    # A server without a network doesn't report anything.
    monkeypatch.setattr(world.context, "settings", replace(settings, allow_private_fetch="127.0.0.1:9"))
    with world.context.db.write() as tx:
        tx.run("UPDATE outbound_links SET url = 'http://127.0.0.1:9/a', status = 'pending'")
    assert check() == set() and set(states().values()) == {"pending"}
    monkeypatch.setattr(world.context, "settings", replace(settings, check_links=False))
    check_due_links(world.context)
    assert scan() == [] and states() == {}


def test_frequent_searches_without_results_are_findings(world: World) -> None:
    place = world.home

    def search(query: str, visitor: str) -> None:
        with world.context.db.write() as tx:
            number = tx.value("SELECT count(*) FROM site_events WHERE id LIKE 'search%'")
            tx.run(
                """INSERT INTO site_events (id, site_id, at, month, type, visitor, session, url, display_context,
                     device, browser, os, query) VALUES (:id, :site, :at, 1, 'search_type_query', :visitor, 's', 'https://x',
                     'site', 'd', 'b', 'o', :query)""",
                id=f"search{number}",
                site=place["siteId"],
                at=scanning.now(),
                visitor=visitor,
                query=query,
            )

    for number in range(6):
        search(" Blue green deploy", f"v{number}")
        search("zzz-personal", "v0")
        search("writing", f"v{number}")
    with world.context.db.write() as tx:
        scan = insert_scan(tx, place["siteId"], "manual")
    scanning.scan_site(world.context, place["siteId"], place["organizationId"], scan.id)
    found = world.get("admin", place.path(f"{SITE}/findings?kind=empty-search"))["items"]
    assert [each["title"] for each in found] == ["Search without results: blue green deploy"]
    assert "at least 5 times" in found[0]["evidence"][0]["message"] and found[0]["pages"] == 0
