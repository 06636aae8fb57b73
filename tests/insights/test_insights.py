"""Tests of insights: stored and omitted data about visitors, and queries."""

import threading
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from octavo.kit.clock import now
from octavo.sites.insights.agents import UserAgent, detect_bot, parse_user_agent
from octavo.sites.insights.collecting import forget_events
from settled import PATIENCE

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605 Version/17.0 Mobile/15E Safari/604.1"
BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


class Site:
    def __init__(self, world):
        self.world = world
        self.path = world.home.path("/orgs/{organizationId}/sites/{siteId}")
        world.post("admin", f"{self.path}/publish")

    def track(self, *events, status=204):
        answer = self.world.call(
            "nobody", "POST", f"{self.path}/insights/events", json={"events": list(events)}
        )
        assert answer.status_code == status, answer.text

    def ask(self, status=200, **body):
        body.setdefault("range", "last7Days")
        answer = self.world.call("reader", "POST", f"{self.path}/insights/events/aggregate", json=body)
        assert answer.status_code == status, answer.text
        if status != 200:
            return answer.json()["error"]["message"]
        return [
            tuple(row) for row in zip(*(column["values"] for column in answer.json()["columns"]), strict=True)
        ]

    def event(
        self, type="page_view", visitor="v", agent=FIREFOX, url="https://docs.test/a", session=None, **more
    ):
        session = {
            "visitorId": visitor,
            "sessionId": f"{visitor}-1",
            "cookies": {"secret": "cookie"},
            "ip": "203.0.113.9",
            "userAgent": agent,
            "language": "en",
            "referrer": "https://www.example.com/search?q=private",
            **(session or {}),
        }
        ids = self.world.home
        location = {
            "url": url,
            "siteSection": None,
            "siteSpace": ids["siteSpaceId"],
            "siteShareKey": None,
            "space": None,
            "revision": None,
            "page": ids["pageId"],
        }
        return {"type": type, "session": session, "location": location, **more}


@pytest.fixture
def site(world):
    return Site(world)


def test_views_are_counted(site):
    site.track(site.event(), site.event(visitor="w", agent=SAFARI), site.event())
    counts = [{"column": name} for name in ("eventsCount", "visitorsCount", "sessionsCount")]
    assert site.ask(select=counts) == [(3, 2, 2)]
    assert site.ask() == [(3,)]
    by = {"column": "visitorBrowser"}
    order = {"by": {"column": "eventsCount"}, "direction": "desc"}
    assert site.ask(select=counts[:1], groupBy=[by], order=order) == [("firefox", 2), ("safari", 1)]
    assert site.ask(select=counts[:1], groupBy=[by], order=order, limit=1) == [("firefox", 2)]
    page = {"page": site.world.home["pageId"], "space": site.world.home["spaceId"]}
    assert site.ask(groupBy=[{"column": "page"}]) == [(page,)]
    where = [
        {"column": "page", "values": [page]},
        {"column": "visitorOS", "values": ["ios"], "operator": "notIn"},
    ]
    assert site.ask(where=where) == [(2,)]
    assert site.ask(select=[{"column": "visitorBot"}], where=[{"column": "visitorBot", "values": [None]}])


def test_insights_have_columns_for_times_paths_and_authentication(site):
    at = datetime.now(UTC).replace(hour=0, minute=30, second=0, microsecond=0)
    if at > datetime.now(UTC) - timedelta(minutes=1):
        at -= timedelta(hours=1)
    said = at.isoformat().replace("+00:00", "Z")
    for url in ("https://docs.test", "http://docs.test/a/b", "https://docs.test/a/b?x=/y"):
        site.track(site.event(url=url, timestamp=said))
    by = [{"column": "dayOfWeek"}, {"column": "hourOfDay"}, {"column": "visitorAuthenticated"}]
    assert site.ask(groupBy=by) == [(at.isoweekday(), at.hour, False)]
    paths = {"groupBy": [{"column": "urlPath"}], "select": [{"column": "eventsCount"}]}
    assert sorted(site.ask(**paths)) == [("/", 1), ("/a/b", 2)]
    often = {"column": "eventsCount", "operator": "greaterThan", "values": [1]}
    assert site.ask(**paths, where=[often]) == [("/a/b", 2)]
    assert site.ask(**paths, where=[{"column": "eventsCount", "values": [1]}]) == [("/", 1)]
    assert site.ask(**paths, where=[{"column": "urlPath", "values": ["/a/b"]}]) == [("/a/b", 2)]
    for column, values in {
        "dayOfWeek": [at.isoweekday()],
        "hourOfDay": [at.hour],
        "visitorAuthenticated": [False],
        "eventPageNotFoundType": [None],
        "eventLLMSVariant": [None],
    }.items():
        assert site.ask(where=[{"column": column, "values": values}]) == [(3,)], column
    for column, value in {
        "dayOfWeek": 8,
        "hourOfDay": -1,
        "visitorAuthenticated": "yes",
        "eventsCount": "many",
        "visitorsCount": 2**70,
        "sessionsCount": True,
    }.items():
        assert "where[0].values: " in site.ask(status=400, where=[{"column": column, "values": [value]}]), (
            column
        )


def test_insights_count_formats_read_by_agents(site):
    location = {**site.event()["location"], "displayContext": "markdown"}
    site.track(
        {**site.event("llms_request", agent=BOT, llmsVariant="full"), "location": location},
        {
            **site.event("page_markdown_request", agent=BOT, markdownSource="page-action"),
            "location": location,
        },
    )
    bots = [{"column": "visitorBot", "operator": "notIn", "values": [None]}]
    by = [{"column": "eventType"}, {"column": "eventLLMSVariant"}, {"column": "eventMarkdownSource"}]
    assert sorted(site.ask(groupBy=by, where=bots)) == [
        ("llms_request", "full", None),
        ("page_markdown_request", None, "page-action"),
    ]


def test_agents_give_feedback(site, monkeypatch):
    feedback = {"category": "could-not-accomplish", "summary": "No page explains tokens.", "severity": "high"}

    def give(status=201, subject=None, who="reader", **more):
        subject = subject or {"kind": "generic"}
        body = {
            "subject": subject,
            "feedback": {**feedback, **more},
            "reportedBy": {"userAgent": "claude-code/1"},
        }
        answer = site.world.call(who, "POST", f"{site.path}/agents/feedback", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    comments = [{"column": "eventPageFeedbackComment"}, {"column": "visitorBot"}, {"column": "url"}]
    only = [
        {"column": "eventType", "values": ["agent_feedback"]},
        {"column": "visitorBot", "values": ["coding-agent"]},
    ]
    assert "Thank you" in give(detail="Searched twice.", goal="Sign in", metrics={"callCount": 2})["result"]
    ((comment, bot, url),) = site.ask(groupBy=comments, where=only)
    for part in (
        "No page explains tokens. (could-not-accomplish, high)",
        "Goal: Sign in",
        "Calls: 2",
        "Searched twice.",
    ):
        assert part in comment
    assert url.startswith("http") and bot == "coding-agent"
    give(subject={"kind": "documentation", "url": "https://docs.test/tokens"})
    assert {row[2] for row in site.ask(groupBy=comments, where=only)} == {url, "https://docs.test/tokens"}
    give(400, subject={"kind": "documentation", "url": "javascript:alert(1)"})
    give(400, subject={"kind": "telephone"})
    give(400, summary="")
    give(400, metrics={"callCount": -1})
    give(404, who="stranger")
    settings = msgspec.structs.replace(site.world.context.settings, count_bots=False)
    monkeypatch.setattr(site.world.context, "settings", settings)
    assert "wasn't stored" in give()["result"]


def test_older_feedback_of_agents_belongs_to_a_page(site):
    home = site.world.home
    path = f"{site.path}/agent-feedback"
    body = {
        "feedback": "Outdated.",
        "url": "https://docs.test/a",
        "spaceId": home["spaceId"],
        "pageId": home["pageId"],
    }
    assert site.world.call("reader", "POST", path, json={**body, "source": "mcp"}).status_code == 204
    by = [{"column": "page"}, {"column": "eventPageFeedbackComment"}, {"column": "visitorBot"}]
    where = [{"column": "eventType", "values": ["agent_feedback"]}]
    assert site.ask(groupBy=by, where=where) == [
        ({"page": home["pageId"], "space": home["spaceId"]}, "Outdated.", "unknown")
    ]
    away = site.world.away
    for name, value in {"spaceId": away["spaceId"], "pageId": away["pageId"]}.items():
        answer = site.world.call("reader", "POST", path, json={**body, name: value})
        assert answer.status_code == 404 and name in answer.text


def test_events_of_closed_spaces_are_excluded(site):
    """Hidden from people who cannot see a space: its URLs, searches, feedback, and readers."""
    world = site.world
    shown = world.get("admin", f"{site.path}/site-spaces")["items"]
    closed = next(one for one in shown if one["space"]["id"] != world.home["spaceId"])

    def inside(event, site_space=closed["id"]):
        location = {
            **event["location"],
            "url": "https://docs.test/plan",
            "siteSpace": site_space,
            "page": "p",
        }
        return {**event, "location": location}

    home = world.get("admin", site.path)["urls"]["published"]
    site.track(
        site.event(session={"referrer": f"{home}plan"}),
        inside(site.event()),
        inside(site.event("search_type_query", query="in it")),
        inside(site.event("search_type_query", query="anywhere"), None),
        inside(site.event("page_post_feedback_comment", feedback={"rating": "bad", "comment": "of it"})),
    )
    asked = [
        {"column": name}
        for name in ("url", "page", "eventSearchQuery", "eventPageFeedbackComment", "referrer", "eventsCount")
    ]
    whole = site.ask(select=asked)
    assert len(whole) == 5 and f"{home}plan" in str(whole)
    assert world.call(
        "admin", "PATCH", f"/spaces/{closed['space']['id']}", json={"defaultLevel": None}
    ).is_success
    try:
        found = site.ask(select=asked)
        assert [row[0] for row in found] == ["https://docs.test/a"] and "plan" not in str(found)
        held = {
            "where": [{"column": "referrer", "values": [f"{home}plan"]}],
            "select": [{"column": "eventsCount"}],
        }
        assert site.ask(**held) == [(0,)]
        assert (
            len(
                world.call(
                    "admin",
                    "POST",
                    f"{site.path}/insights/events/aggregate",
                    json={"range": "last7Days", "select": asked},
                ).json()["columns"][0]["values"]
            )
            == 5
        )
    finally:
        world.call("admin", "PATCH", f"/spaces/{closed['space']['id']}", json={"defaultLevel": "inherit"})


def test_no_personal_data_is_stored(site):
    url = "https://docs.test/a?jwt_token=hidden-token&utm_source=mail#part"
    site.track(site.event(url=url))
    with site.world.context.db.read() as tx:
        kept = str(tx.all("SELECT * FROM site_events"))
    for secret in ("203.0.113.9", "cookie", "hidden-token", "private", "'v'", "v-1"):
        assert secret not in kept, secret
    assert site.ask(groupBy=[{"column": "url"}, {"column": "utmSource"}, {"column": "referrerDomain"}]) == [
        ("https://docs.test/a", "mail", "www.example.com")
    ]


PROGRAMS = {
    BOT: "crawler",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)": "crawler",
    "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)": "assistant",
    "Claude-User/1.0": "assistant",
    "Mozilla/5.0 (compatible; Claude-User (claude-code/2.1; +https://support.anthropic.com/))": "coding-agent",
    "opencode/0.9": "coding-agent",
    "curl/8.0": "unknown",
    "": "unknown",
}


def test_programs_are_counted_separately_by_type(site):
    site.track(site.event(), *(site.event(agent=agent) for agent in PROGRAMS))
    assert site.ask() == [(1,)]
    by = {"column": "visitorBot"}
    count = [{"column": "eventsCount"}]
    assert sorted(site.ask(select=count, groupBy=[by]), key=str) == [
        ("assistant", 2),
        ("coding-agent", 2),
        ("crawler", 2),
        ("unknown", 2),
        (None, 1),
    ]
    assert site.ask(where=[{"column": "visitorBot", "values": ["crawler"]}]) == [(2,)]
    assert site.ask(where=[{"column": "visitorBot", "values": [None]}]) == [(1,)]
    with site.world.context.db.read() as tx:
        kept = str(tx.all("SELECT * FROM site_events WHERE bot IS NOT NULL"))
    assert "203.0.113.9" not in kept and "curl" not in kept


def test_counting_programs_can_be_turned_off(site, monkeypatch):
    context = site.world.context
    settings = msgspec.structs.replace(context.settings, count_bots=False)
    monkeypatch.setattr(context, "settings", settings)
    site.track(site.event(), site.event(agent=BOT))
    assert sorted(site.ask(groupBy=[{"column": "visitorBot"}])) == [(None,)]


def test_failed_lookups_by_people_are_not_stored(site):
    site.track(site.event("page_missing"), site.event("search_missing", query="mine"))
    site.track(site.event("search_missing", query="theirs", agent=BOT))
    with site.world.context.db.read() as tx:
        assert tx.all("SELECT type, query FROM site_events") == [("search_missing", "theirs")]


def test_every_type_of_event_is_counted(site):
    operation = {"path": "/pets", "method": "get"}
    more = [
        ("search_type_query", {"query": "pets"}),
        ("search_open_result", {"query": "pets", "result": {"spaceId": "s", "pageId": "p"}}),
        ("page_post_feedback", {"feedback": {"rating": "good"}}),
        ("page_post_feedback_comment", {"feedback": {"rating": "bad", "comment": "Hm"}}),
        ("ask_rate_response", {"query": "why", "rating": -1, "responseId": "r"}),
        (
            "link_click",
            {"link": {"target": {"kind": "url", "url": "https://x.test/y"}, "position": "header"}},
        ),
        ("api_client_request", {"operation": operation}),
        ("trademark_click", {"placement": "footer"}),
        ("ad_click", {"ad": {"domain": "a.test", "zoneId": "z", "placement": "aside"}}),
        ("search_open", {}),
        ("page_markdown_request", {"markdownSource": "page-action"}),
        ("llms_request", {"llmsVariant": "full"}),
        ("mcp_request", {}),
        ("rss_request", {}),
        ("agent_feedback", {}),
    ]
    site.track(*(site.event(type, **fields) for type, fields in more))
    assert sorted(site.ask(groupBy=[{"column": "eventType"}])) == sorted((type,) for type, _ in more)

    def one(type, *columns):
        asked = [{"column": column} for column in columns]
        return site.ask(groupBy=asked, where=[{"column": "eventType", "values": [type]}])

    assert one("search_type_query", "eventSearchQuery") == [("pets",)]
    assert one("page_post_feedback_comment", "eventPageFeedbackRating", "eventPageFeedbackComment") == [
        ("bad", "Hm")
    ]
    assert one("link_click", "eventLinkTargetValue", "eventLinkTargetDomain", "eventLinkPosition") == [
        ({"kind": "url", "url": "https://x.test/y"}, "x.test", "header")
    ]
    assert one("api_client_request", "eventAPIOperationPath", "eventAPIOperationMethod") == [("/pets", "get")]
    ratings = [{"column": "pageFeedbackRating"}, {"column": "askResponseRating"}]
    assert site.ask(select=ratings) == [({"ok": 0, "good": 1, "bad": 1}, {"positive": 0, "negative": 1})]


def test_an_event_of_an_unknown_type_does_not_affect_others(site):
    events = [site.event("page_view"), site.event("hologram_view", depth=3), site.event("rss_request")]
    path = f"{site.path}/insights/events"
    answer = site.world.call("nobody", "POST", path, json={"events": events})
    assert answer.status_code == 204 and answer.headers["octavo-unread-keys"] == "events[1]"
    assert sorted(site.ask(groupBy=[{"column": "eventType"}])) == [("page_view",), ("rss_request",)]
    for wrong, place in (
        ({**events[0], "location": 1}, "events[1].location"),
        ({**events[0], "type": 1}, "events[1].type"),
        ({}, "events[1].type"),
        ([], "events[1].type"),
    ):
        answer = site.world.call("nobody", "POST", path, json={"events": [events[0], wrong]})
        assert answer.status_code == 400 and place in answer.text, answer.text


def test_times_must_be_within_the_last_day(site):
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    for timestamp in (hour.isoformat(), "2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "soon", "9" * 30):
        site.track(site.event(timestamp=timestamp))
    column = {"column": "datetime", "interval": "hour"}
    rows = site.ask(
        select=[{"column": "eventsCount"}], groupBy=[column], order={"by": column, "direction": "asc"}
    )
    assert rows[0] == (hour.isoformat(timespec="milliseconds").replace("+00:00", "Z"), 1)
    assert sum(count for _, count in rows[1:]) == 4
    for interval in ("day", "week", "month"):
        (moments,) = zip(*site.ask(groupBy=[{"column": "datetime", "interval": interval}]), strict=True)
        starts = [datetime.fromisoformat(moment) for moment in moments]
        assert all((m.hour, m.minute) == (0, 0) for m in starts)
        assert interval != "week" or all(m.weekday() == 0 for m in starts)
        assert interval != "month" or all(m.day == 1 for m in starts)


def test_only_signed_claims_are_used(site):
    boolean = {"type": "boolean", "description": "x"}
    schema = {"type": "object", "properties": {"paying": boolean}, "additionalProperties": False}
    site.world.call("admin", "PUT", f"{site.path}/adaptive-schema", json={"jsonSchema": schema})
    key = site.world.get("admin", f"{site.path}/publishing/auth")["privateKey"]
    claims = {"exp": now() // 1000 + 60, "paying": True, "email": "a@example.org"}
    good = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key))
    bad = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key("x" * 43))
    site.track(
        site.event(session={"visitorAuthToken": good}),
        site.event(session={"visitorAuthToken": bad}),
        site.event(session={"visitorAuthClaims": {"paying": True}}),
    )
    found = site.world.get("reader", f"{site.path}/insights/visitor-segments")
    assert [(s["title"], s["claims"], s["events"]) for s in found["items"]] == [
        ("paying: true", {"paying": "true"}, 1)
    ]
    column = {"column": "visitorClaim", "claim": "paying"}
    order = {"by": {"column": "eventsCount"}, "direction": "asc"}
    assert site.ask(groupBy=[column], select=[{"column": "eventsCount"}], order=order) == [
        ("true", 1),
        (None, 2),
    ]
    assert site.ask(where=[{**column, "values": ["true"]}]) == [(1,)]


def test_invalid_queries_are_refused(site):
    assert "groupBy[0]" in site.ask(400, groupBy=[{"column": "eventsCount"}])
    assert "order.by" in site.ask(400, order={"by": {"column": "url"}, "direction": "asc"})
    assert "range" in site.ask(400, range={"from": "2026-02-01", "to": "2026-01-01"})
    assert "range.from" in site.ask(400, range={"from": "soon", "to": "2026-01-01"})
    for where in (
        {"column": "url", "values": [7]},
        {"column": "page", "values": ["x"]},
        {"column": "datetime", "values": ["x"]},
        {"column": "eventAskResponseRating", "values": [2]},
        {"column": "url", "values": ["a", "b"], "operator": "lessThan"},
        {"column": "visitorClaim", "values": []},
        {"column": "visitorClaim", "claim": 'a"; --', "values": []},
    ):
        assert "where" in site.ask(400, where=[where])
    assert site.ask(where=[{"column": "url", "values": []}]) == [(0,)]


def test_insights_only_cover_published_sites(site):
    site.track(*[site.event()] * 101, status=400)
    site.world.post("admin", f"{site.path}/unpublish")
    site.track(site.event(), status=404)
    path = site.world.home.path("/orgs/{organizationId}/sites/unknown/insights/events")
    assert site.world.call("nobody", "POST", path, json={"events": []}).status_code == 404


def test_simultaneous_events_are_written_together(site, monkeypatch):
    context = site.world.context
    write, counted, first, go_on = context.db.write, [], threading.Event(), threading.Event()

    def slow():
        counted.append(1)
        first.set()
        go_on.wait(PATIENCE)
        return write()

    import msgspec

    from octavo.sites.insights import collecting
    from octavo.sites.insights.types import Event

    events = [msgspec.convert(site.event(), Event)]
    ids = site.world.home["organizationId"], site.world.home["siteId"]
    monkeypatch.setattr(context.db, "write", slow)
    threads = [threading.Thread(target=collecting.collect, args=(context, *ids, events)) for _ in range(8)]
    threads[0].start()
    assert first.wait(PATIENCE)
    for thread in threads[1:]:
        thread.start()
    waiting = collecting._batches._waiting
    for _ in range(500):
        waiting = collecting._batches._waiting
        if len(waiting) == 7:
            break
        threading.Event().wait(0.01)
    assert len(waiting) == 7
    go_on.set()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert (len(counted), site.ask()) == (2, [(8,)])


def test_events_are_deleted_after_their_retention_time(site):
    site.track(site.event(), site.event())
    old = now() - 401 * 86_400_000
    with site.world.context.db.write() as tx:
        tx.run("UPDATE site_events SET at = :old WHERE id = (SELECT min(id) FROM site_events)", old=old)
    forget_events(site.world.context)
    assert site.ask() == [(1,)]
    with site.world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM site_events") == 1


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (FIREFOX, UserAgent("desktop", "firefox", "linux")),
        (SAFARI, UserAgent("mobile", "safari", "ios")),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/120 Safari/537 Edg/120",
            UserAgent("desktop", "edge", "windows"),
        ),
        (
            "Mozilla/5.0 (Linux; Android 14; Pixel) Chrome/120 Mobile Safari/537",
            UserAgent("mobile", "chrome", "android"),
        ),
        (
            "Mozilla/5.0 (Linux; Android 14; Tab) Chrome/120 Safari/537",
            UserAgent("tablet", "chrome", "android"),
        ),
        ("something", UserAgent("unknown", "unknown", "unknown")),
    ],
)
def test_agents_are_recognized(agent, said):
    assert (parse_user_agent(agent), detect_bot(agent)) == (said, None)
