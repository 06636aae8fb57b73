"""Questions of visitors at a site: as a page without JavaScript, and as events while the answer is written."""

from __future__ import annotations

import json
import re
from typing import Any, get_args, get_type_hints
from urllib.parse import urlencode

import pytest

from mcp_transport import said_by
from model_server import ModelServer, world_with_model
from octavo.delivery.reader import locales
from octavo.kit.work.worker import Worker
from octavo.sites.site.customization.model import Internationalization
from set_clock import SetClock
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first

SPROCKETS = """# Sprockets

## Turning a sprocket

Turn the sprocket by hand, clockwise, until it clicks.

## Cleaning a sprocket

Clean the sprocket with a dry cloth once a month.
"""
QUESTION = "How do I turn a sprocket?"
SAID = """## Turning

Turn it **clockwise** [1], <img src=x onerror=alert(1)> and [see](https://evil.test).
"""


class Asked:
    """Site that answers visitors' questions."""

    def __init__(self, world: World, mode: str = "search", **settings: Any) -> None:
        self.world, self.visitor = world, Visitor(world.context)
        path = world.home.path("/orgs/{organizationId}")
        self.space = world.post("admin", f"{path}/spaces", {"title": "Parts"})["id"]
        self.write(self.space, "# Start\n", SPROCKETS)
        site = world.post("admin", f"{path}/sites", {"title": "Parts", "spaces": [self.space]})
        self.path = f"{path}/sites/{site['id']}"
        self.customize(mode)
        url = world.post("admin", f"{self.path}/publish")["urls"]["published"]
        self.base = re.sub(r"^https?://[^/]+", "", url)

    def write(self, space: str, *pages: str) -> None:
        changes = [{"operation": "insert_page", "document": {"markdown": page}} for page in pages]
        self.world.post("admin", f"/spaces/{space}/content", {"changes": changes})

    def customize(self, mode: str, locale: str = "en") -> None:
        body = {"styling": {}, "internationalization": {"locale": locale}, "ai": {"mode": mode}}
        answer = self.world.call("admin", "PUT", f"{self.path}/customization", json=body)
        assert answer.status_code == 200, answer.text

    def ask(self, question: str, **headers: str) -> Any:
        return self.visitor.post(f"{self.base}~ask", {"q": question}, **headers)

    def events(self, question: str) -> list[str]:
        answer = self.ask(question, accept="text/event-stream")
        assert answer.status_code == 200 and answer.headers["content-type"] == "text/event-stream"
        *events, last = answer.text.strip().split("\n\n")
        assert last == "event: done\ndata: {}", last
        return [json.loads(event.removeprefix("data: ")) for event in events]


@pytest.fixture
def asked(world: World) -> Asked:
    return Asked(world)


@pytest.fixture
def server(server: ModelServer) -> ModelServer:
    server.answer = lambda request: SAID
    return server


def test_without_a_model_the_best_passages_are_quoted_on_a_page(asked: Asked) -> None:
    answer = asked.ask(QUESTION)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    assert "No language model is configured" in answer.text and "clockwise" in answer.text
    assert f'href="{asked.base}sprockets#turning-a-sprocket"' in answer.text
    assert f"<h1>{QUESTION}</h1>" in answer.text
    # The next question is posted together with the previous one.
    assert f'<input type="hidden" name="before" value="{QUESTION}">' in answer.text


def test_scripts_get_the_same_answer_as_a_stream(asked: Asked) -> None:
    events = asked.events(QUESTION)
    assert "clockwise" in events[-1] and "No language model" in events[-1] and "<html" not in events[-1]


def test_a_model_answers_with_sources_and_reveals_nothing_else(asked: Asked, server: ModelServer) -> None:
    with world_with_model(asked.world, server):
        shown = asked.events(QUESTION)[-1]
    assert "<strong" in shown and "clockwise" in shown
    assert "<img" not in shown and "evil.test" not in shown and "<h2" not in shown
    links = re.findall(r'href="([^"]*)"', shown)
    assert links and all(link.startswith(f"{asked.base}sprockets") for link in links)
    assert "A language model wrote this" in shown and shown.count("<li>") == 1


GERMAN = "Drehen Sie das Zahnrad von Hand im Uhrzeigersinn, bis es einrastet, und reinigen Sie es danach [1]."
ENGLISH = "Turn it by hand, clockwise, until it clicks, and clean it with a dry cloth afterwards [1]."
LONG_QUESTION = "Can somebody please explain how I turn a sprocket by hand?"


def test_an_answer_in_another_language_is_requested_once_more(asked: Asked, server: ModelServer) -> None:
    said = [GERMAN, ENGLISH]
    server.answer = lambda request: said.pop(0)
    with world_with_model(asked.world, server):
        assert "Turn it by hand" in asked.events(LONG_QUESTION)[-1]
    assert "in the language of the question" in server.requests[1]["messages"][1]["content"]
    server.requests.clear()
    server.answer = lambda request: GERMAN
    with world_with_model(asked.world, server):
        # An answer in the wrong language twice is better than none.
        assert "Zahnrad" in asked.events(LONG_QUESTION)[-1]
    assert len(server.requests) == 2
    calls = asked.world.get("admin", asked.world.home.path("/orgs/{organizationId}/model-calls"))["items"]
    errors = ["in the language of the question" in call.get("error", "") for call in calls[:4]]
    assert errors == [True, True, False, True]


def test_passages_are_quoted_if_the_model_fails(asked: Asked, server: ModelServer) -> None:
    server.failures = [(500, "{}")] * 3
    with world_with_model(asked.world, server):
        shown = asked.events(QUESTION)[-1]
    assert "respond, so there is no summary" in shown and "clockwise" in shown


def test_previous_questions_are_sent_to_the_model(asked: Asked, server: ModelServer) -> None:
    with world_with_model(asked.world, server):
        form = {"q": "How often does one clean it?", "before": QUESTION}
        assert asked.visitor.post(f"{asked.base}~ask", form).status_code == 200
    assert QUESTION in server.said


def test_a_url_alone_asks_no_question(asked: Asked, server: ModelServer) -> None:
    with world_with_model(asked.world, server):
        page = asked.visitor.get(f"{asked.base}~ask?q=How").text
    assert 'value="How"' in page and "Sprockets" in page and not server.requests
    ideas = asked.visitor.get(f"{asked.base}~ask/questions")
    assert "Sprockets" in ideas.text and "<html" not in ideas.text


def test_pages_of_other_origins_cannot_ask(asked: Asked) -> None:
    for headers in ({"origin": "https://evil.test"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert asked.ask(QUESTION, **headers).status_code == 403
    assert (
        asked.ask(QUESTION, origin="http://sites.test", **{"sec-fetch-site": "same-origin"}).status_code
        == 200
    )


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"q": " "},
        {"q": "x" * 513},
        {"q": "x", "before": "y" * 513},
        {"q": "a\0b"},
        {f"f{number}": "x" for number in range(30)},
    ],
)
def test_invalid_questions_are_refused(asked: Asked, form: dict[str, str]) -> None:
    assert asked.visitor.post(f"{asked.base}~ask", form).status_code == 400


def test_an_enormous_form_is_refused(asked: Asked) -> None:
    assert asked.visitor.post(f"{asked.base}~ask", {"q": "x" * 100_000}).status_code == 413


def test_sites_without_answers_have_no_such_url(asked: Asked) -> None:
    assert 'data-ask="' in asked.visitor.get(asked.base).text
    asked.customize("none")
    page = asked.visitor.get(asked.base).text
    assert "ask.js" not in page and "data-ask" not in page
    for path in ("~ask", "~ask/questions"):
        assert asked.visitor.get(asked.base + path).status_code == 404
    assert asked.ask(QUESTION).status_code == 404


def test_question_buttons_link_to_the_form(asked: Asked) -> None:
    button = '<button type="button" class="button primary" data-action="ask" data-query="Why?">Ask</button>'
    asked.write(asked.space, f"# Buttons\n\n{button}\n")
    shown = asked.visitor.get(f"{asked.base}buttons").text
    assert f'href="{asked.base}~ask?q=Why%3F"' in shown and 'data-action="ask"' in shown
    asked.customize("none")
    assert 'data-action="ask"' not in asked.visitor.get(f"{asked.base}buttons").text


def test_the_form_is_available_in_every_language(sqlite_world: World) -> None:
    asked = Asked(sqlite_world)
    for locale in get_args(get_type_hints(Internationalization)["locale"]):
        asked.customize("assistant", locale)
        labels = locales.read_catalog()[locales.find_locale(locale) or "en"]
        shown = asked.ask("Turn sprocket clockwise").text
        assert labels.ask_no_model in shown and labels.ask_questions in shown
        assert labels.ask_about.partition("{title}")[0] in shown and labels.ask_placeholder in shown


def test_unanswered_questions_are_stored(asked: Asked) -> None:
    assert "Nothing in the documentation" in asked.events("Where are zebras bred?")[-1]
    assert "clockwise" in asked.events(QUESTION)[-1]
    with asked.world.context.db.read() as tx:
        kept = [parts for (parts,) in tx.all("SELECT parts FROM conversations")]
    assert len([parts for parts in kept if "zebras" in parts]) == 1
    assert not any(QUESTION in parts for parts in kept)


def test_unanswered_questions_become_a_cluster(asked: Asked) -> None:
    for question in ("How are zebras bred in winter?", "Breeding zebras in winter: how are zebras bred?"):
        asked.events(question)
    Worker(asked.world.context.db, asked.world.context).run_pending()
    path = asked.world.home.path("/orgs/{organizationId}/conversations-clusters")
    clusters = asked.world.get("admin", path)["items"]
    [cluster] = [each for each in clusters if "zebra" in each["label"].lower()]
    assert cluster["stats"]["issues"] == 2
    # The change request of the task is linked to the cluster.
    tasks = asked.world.home.path("/orgs/{organizationId}/agent-tasks")
    task = asked.world.post("admin", tasks, {"space": asked.space, "cluster": cluster["id"]})
    started = asked.world.call("admin", "PATCH", f"{tasks}/{task['id']}", json={"status": "started"}).json()
    found = asked.world.get(
        "admin",
        f"/spaces/{asked.space}/change-requests",
        params={"status": "draft", "conversationsIssuesCluster": cluster["id"]},
    )["items"]
    assert [each["id"] for each in found] == [started["changeRequest"]]


def test_other_variants_are_not_searched(asked: Asked) -> None:
    path = asked.world.home.path("/orgs/{organizationId}")
    other = asked.world.post("admin", f"{path}/spaces", {"title": "Teile"})["id"]
    asked.write(other, "# Anfang\n", "# Zahnrad\n\nDas sprocket turn clockwise zqother.\n")
    asked.world.post("admin", f"{asked.path}/site-spaces", {"spaceId": other})
    assert "zqother" not in asked.events(QUESTION)[-1]


def test_simultaneous_questions_are_limited(
    asked: Asked, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octavo.delivery.reader.app.QUEUE_SECONDS", 0.01)
    with world_with_model(asked.world, server, ask_connections=1):
        asked.visitor = Visitor(asked.world.context)
        inside: list[Any] = []

        def answer(request: dict[str, Any]) -> str:
            if not inside:
                inside.append(Asked.ask(asked, QUESTION))
                inside.append(Asked.ask(asked, QUESTION, accept="text/event-stream"))
            return SAID

        server.answer = answer
        assert asked.ask(QUESTION).status_code == 200
    assert [answer.status_code for answer in inside[:2]] == [503, 503], "before anything is streamed"


def test_questions_per_minute_are_limited(asked: Asked, clock: SetClock) -> None:
    clock.advance(0)
    limit = asked.world.context.settings.ask_rate_limit
    answers = [asked.ask(QUESTION).status_code for _ in range(limit + 1)]
    assert answers == [200] * limit + [429]


# --- questions of agents --------------------------------------------------------------------------------


def _tool(asked: Asked, name: str, **arguments: Any) -> tuple[bool, str]:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    answer = asked.visitor.send(f"{asked.base}~mcp", call)
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    said_by(name, result)
    return result["isError"], result["content"][0]["text"]


def test_programs_ask_at_the_markdown_url_of_a_page(asked: Asked) -> None:
    plain = asked.visitor.get(f"{asked.base}sprockets.md")
    question = urlencode({"ask": QUESTION, "goal": "I repair one."})
    for address, headers in (
        (f"sprockets.md?{question}", {}),
        (f"sprockets?{question}", {"accept": "text/markdown"}),
    ):
        answer = asked.visitor.get(f"{asked.base}{address}", **headers)
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/markdown")
        assert answer.headers["cache-control"] == "no-store" and "noindex" in answer.headers["x-robots-tag"]
        assert answer.text.startswith(f"# {QUESTION}\n") and "clockwise" in answer.text
        assert f"{asked.base}sprockets#turning-a-sprocket" in answer.text and "](/" not in answer.text
    # No one else gets the answer at the page's URL.
    assert asked.visitor.get(f"{asked.base}sprockets.md").text == plain.text


def test_invalid_questions_of_programs_are_refused(asked: Asked) -> None:
    for query, status in (
        ("ask=", 400),
        ("ask=%20", 400),
        (f"ask={'x' * 600}", 400),
        (f"ask=a&goal={'x' * 600}", 400),
        ("ask=%00", 400),
        ("ask=a&" + "b=1&" * 60, 400),
    ):
        answer = asked.visitor.get(f"{asked.base}sprockets.md?{query}")
        assert answer.status_code == status, (query, answer.text)
    foreign = asked.visitor.get(f"{asked.base}sprockets.md?ask=a", **{"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
    asked.customize("none")
    assert asked.visitor.get(f"{asked.base}sprockets.md?ask=a").status_code == 404
    assert _tool(asked, "search", query="sprocket")[0] is False


def test_questions_of_programs_are_limited(world: World, clock: SetClock) -> None:
    clock.advance(0)
    asked = Asked(world)
    limit = world.context.settings.ask_rate_limit
    statuses = [asked.visitor.get(f"{asked.base}sprockets.md?ask=a").status_code for _ in range(limit + 1)]
    assert (statuses[0], statuses[-1]) == (200, 429)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": "a"}},
    }
    assert asked.visitor.send(f"{asked.base}~mcp", call).status_code == 429
    assert _tool(asked, "search", query="sprocket")[0] is False


def test_a_model_answers_programs_with_its_sources(asked: Asked, server: ModelServer) -> None:
    with world_with_model(asked.world, server):
        wrong, said = _tool(asked, "ask", question=QUESTION, goal="I repair one.")
    assert not wrong and "clockwise" in said and "evil.test" not in said and "<img" not in said
    assert "## Sources" in said and f"{asked.base}sprockets#turning-a-sprocket" in said
    assert "I repair one." in json.dumps(server.requests)


def test_programs_send_feedback_about_a_page(asked: Asked) -> None:
    start = asked.world.get("admin", asked.path)["urls"]["published"]
    assert _tool(asked, "send_feedback", address=f"{start}sprockets", rating="bad", comment="No sizes.")[0]
    look = {
        "styling": {},
        "internationalization": {},
        "ai": {"mode": "search"},
        "feedback": {"enabled": True},
    }
    assert asked.world.call("admin", "PUT", f"{asked.path}/customization", json=look).status_code == 200
    wrong, said = _tool(
        asked, "send_feedback", address=f"{start}sprockets", rating="bad", comment="No sizes."
    )
    assert not wrong, said
    assert _tool(asked, "send_feedback", address=f"{start}nothing", rating="bad")[0]
    assert _tool(asked, "send_feedback", address=f"{start}sprockets", rating="worst")[0]
    asked.visitor.events.write(everything=True)
    with asked.world.context.db.read() as tx:
        kept = tx.all("SELECT type, page_rating, comment, bot FROM site_events WHERE page_rating IS NOT NULL")
    assert sorted(kept) == [
        ("page_post_feedback", "bad", None, "unknown"),
        ("page_post_feedback_comment", "bad", "No sizes.", "unknown"),
    ]
