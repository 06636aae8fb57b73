"""Tests of webhooks with a local receiver: contents, signatures, and failures."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from local_server import QuietHandler, local_server
from octavo.extensions.deliveries import delivering
from octavo.extensions.webhooks import changing
from octavo.extensions.webhooks.events import EVENTS
from octavo.kit.clock import now
from octavo.kit.work.worker import Worker
from settled import PATIENCE

HOOKS = "/orgs/{organizationId}/webhooks"


class Receiver:
    """``requests``: (path, headers, body) in the order of arrival. ``statuses``: responses by path; 200 by
    default; None: never respond."""

    def __init__(self):
        self.requests = []
        self.statuses = {}
        self.released = threading.Event()

    def at(self, path):
        return [(headers, body) for where, headers, body in self.requests if where == path]

    def told(self, path="/hook"):
        return [msgspec.json.decode(body) for _, body in self.at(path)]


@pytest.fixture
def receiver(world):
    found = Receiver()

    class Handler(QuietHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            found.requests.append(
                (self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            status = found.statuses.get(self.path, 200)
            if status is None:
                found.released.wait(PATIENCE)
                return
            self.send_response(status)
            self.send_header("location", "http://127.0.0.1:1/")
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"said")

    with local_server(Handler) as server:
        found.url = server.url
        before = world.context.settings
        world.context.settings = replace(before, allow_private_fetch=server.host)
        yield found
        world.context.settings = before
        found.released.set()


def make(world, receiver, path="/hook", events=("space_content_updated",), **more):
    body = {"url": receiver.url + path, "events": list(events), **more}
    return world.post("admin", world.home.path(HOOKS), body)


def place_of(world, hook):
    return f"{world.home.path(HOOKS)}/{hook['id']}"


def deliveries(world, hook, **query):
    return world.call("admin", "GET", f"{place_of(world, hook)}/deliveries", params=query).json()


def work(world):
    Worker(world.context.db, world.context).run_pending()


def write(world, text):
    edit = {"changes": [{"operation": "update_page", "page": world.home["pageId"], "description": text}]}
    return world.post("admin", world.home.path("/spaces/{spaceId}/content"), edit)["revision"]


def verifies(secret, headers, body):
    """Return whether one of the signatures matches this secret; the clock of the test can differ from that of
    the library."""
    at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    return (
        Webhook(secret).sign(headers["webhook-id"], at, body.decode()) in headers["webhook-signature"].split()
    )


@pytest.mark.sqlite_first
def test_a_webhook_receives_signed_events(world, receiver):
    hook = make(world, receiver)
    revision = write(world, "Other words")
    world.post(
        "admin", "/orgs/{organizationId}/spaces".format(**world.home.ids), {"title": "Not of interest"}
    )
    work(world)
    ((headers, body),) = receiver.at("/hook")
    told = Webhook(hook["secret"]).verify(body, headers)
    assert told["type"] == "space_content_updated"
    assert told["data"] == {
        "organizationId": world.home["organizationId"],
        "spaceId": world.home["spaceId"],
        "revisionId": revision,
    }
    (delivery,) = deliveries(world, hook)["items"]
    assert (delivery["status"], delivery["answered"], delivery["attempts"]) == ("success", 200, 1)
    assert delivery["payload"] == told and delivery["id"] == headers["webhook-id"]
    with pytest.raises(WebhookVerificationError):
        Webhook(hook["secret"]).verify(body + b" ", headers)


@pytest.mark.sqlite_first
def test_the_secret_is_shown_once_and_stored_encrypted(world, receiver):
    hook = make(world, receiver)
    assert hook["secret"].startswith("whsec_")
    assert "secret" not in world.get("admin", place_of(world, hook))
    assert hook["secret"] not in str(world.get("admin", world.home.path(HOOKS)))
    with world.context.db.read() as tx:
        stored = str(tx.all("SELECT * FROM webhooks")) + str(tx.all("SELECT * FROM audit_events"))
    assert hook["secret"] not in stored


@pytest.mark.sqlite_first
def test_both_secrets_sign_while_they_overlap(world, receiver, clock):
    clock.set(now())
    hook = make(world, receiver)
    old = hook["secret"]
    new = world.post("admin", f"{place_of(world, hook)}/secret", {"overlap": 3600})
    assert new["secret"] != old and "overlapUntil" in new
    write(world, "In between")
    work(world)
    clock.advance(3_601_000)
    write(world, "Afterwards")
    work(world)
    (first, one), (second, two) = receiver.at("/hook")
    assert verifies(old, first, one) and verifies(new["secret"], first, one)
    assert not verifies(old, second, two) and verifies(new["secret"], second, two)
    assert "overlapUntil" not in world.get("admin", place_of(world, hook))
    at_once = world.post("admin", f"{place_of(world, hook)}/secret", {"overlap": 0})
    assert "overlapUntil" not in at_once


def test_failed_deliveries_are_retried_in_order_and_parked_after_three_days(world, receiver, clock):
    clock.set(now() + 1000)
    hook = make(world, receiver)
    receiver.statuses["/hook"] = 500
    revisions = [write(world, "One"), write(world, "Two")]
    work(world)
    assert len(receiver.told()) == 1, "the second one waits behind the first"
    waiting = deliveries(world, hook, status="waiting")["items"]
    assert [row["attempts"] for row in waiting] == [0, 1]
    assert waiting[1]["error"] == "returned 500: said" and "nextAttemptAt" in waiting[1]
    clock.advance(delivering.FIRST_RETRY + 1000)
    receiver.statuses.clear()
    work(world)
    assert [told["data"]["revisionId"] for told in receiver.told()] == [revisions[0], *revisions]
    ids = [headers["webhook-id"] for headers, _ in receiver.at("/hook")]
    assert ids[0] == ids[1] != ids[2]
    receiver.statuses["/hook"] = 404
    write(world, "Three")
    work(world)
    clock.advance(delivering.KEEP_TRYING)
    work(world)
    (failed,) = deliveries(world, hook, status="failed")["items"]
    assert (failed["attempts"], failed["answered"]) == (2, 404)


@pytest.mark.sqlite_first
def test_a_message_can_be_redelivered(world, receiver):
    hook = make(world, receiver)
    receiver.statuses["/hook"] = 410
    write(world, "One")
    work(world)
    (failed,) = deliveries(world, hook, status="failed")["items"]
    receiver.statuses.clear()
    path = f"{place_of(world, hook)}/deliveries/{failed['id']}"
    assert world.post("admin", f"{path}/replay")["status"] == "waiting"
    assert world.call("admin", "POST", f"{path}/replay").status_code == 409
    work(world)
    assert world.get("admin", path)["status"] == "success"
    world.post("admin", f"{path}/replay")
    work(world)
    assert [headers["webhook-id"] for headers, _ in receiver.at("/hook")] == [failed["id"]] * 3


@pytest.mark.sqlite_first
def test_the_test_button_sends_immediately(world, receiver, clock):
    clock.set(now() + 1000)
    hook = make(world, receiver, active=False)
    write(world, "It is not told of this")
    sent = world.post("admin", f"{place_of(world, hook)}/test")
    assert (sent["type"], sent["status"]) == ("webhook_test", "waiting")
    work(world)
    (told,) = receiver.told()
    assert told["type"] == "webhook_test" and told["data"]["webhookId"] == hook["id"]
    with world.context.db.write() as tx:
        tx.run("UPDATE delivery_queues SET paused_until = :until", until=now() + 60_000)
    world.post("admin", f"{place_of(world, hook)}/test")
    work(world)
    assert len(receiver.told()) == 2


@pytest.mark.sqlite_first
def test_an_unresponsive_webhook_is_paused_and_delays_no_others(world, receiver, clock, monkeypatch):
    monkeypatch.setattr("octavo.extensions.webhooks.sending.SECONDS", 0.2)
    clock.set(now() + 1000)
    dead = make(world, receiver, "/dead", ("space_content_updated", "change_request_created"))
    make(world, receiver, "/alive")
    receiver.statuses["/dead"] = None
    revisions = [write(world, str(number)) for number in range(5)]
    world.post("admin", world.home.path("/spaces/{spaceId}/change-requests"), {"subject": "Other"})
    work(world)
    assert [told["data"]["revisionId"] for told in receiver.told("/alive")] == revisions
    assert len(receiver.told("/dead")) == 1, "what waits for it is not tried while it does not answer"
    assert deliveries(world, dead)["count"] == 6
    receiver.statuses.clear()
    clock.advance(delivering.LONGEST_PAUSE)
    work(world)
    assert len(receiver.told("/dead")) == 7


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "http://0x7f.1/",
        "http://user:pass@93.184.216.34/",
        "gopher://x/",
        "not a url",
    ],
)
def test_a_webhook_cannot_reach_private_networks(world, url):
    body = {"url": url, "events": ["space_content_updated"]}
    made = world.call("admin", "POST", world.home.path(HOOKS), json=body)
    assert made.status_code == 400 and made.json()["error"]["message"].startswith("url")
    changed = world.call("admin", "PATCH", world.home.path(HOOKS + "/{webhookId}"), json={"url": url})
    assert changed.status_code == 400


@pytest.mark.sqlite_first
def test_a_url_that_became_private_is_refused_at_delivery(world, receiver):
    hook = make(world, receiver)
    world.context.settings = replace(world.context.settings, allow_private_fetch="")
    write(world, "One")
    work(world)
    (waiting,) = deliveries(world, hook)["items"]
    assert "private network" in waiting["error"] and receiver.requests == []


@pytest.mark.sqlite_first
def test_redirects_are_not_followed(world, receiver):
    hook = make(world, receiver)
    receiver.statuses["/hook"] = 302
    write(world, "One")
    work(world)
    assert deliveries(world, hook)["items"][0]["error"] == "returned 302: said"


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "https://93.184.216.34/", "events": []}, "events"),
        ({"url": "https://93.184.216.34/", "events": ["everything"]}, "events"),
        ({"events": ["space_content_updated"]}, "url"),
        ({"url": "https://93.184.216.34/", "events": ["space_deleted"], "secret": "mine"}, "secret"),
        (
            {"url": "https://93.184.216.34/", "events": ["space_deleted"], "description": "x" * 256},
            "description",
        ),
    ],
)
def test_invalid_input_is_reported_by_field(world, body, field):
    answer = world.call("admin", "POST", world.home.path(HOOKS), json=body)
    assert answer.status_code == 400 and field in answer.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_webhooks_are_limited_and_belong_to_their_organization(world):
    body = {"url": "https://93.184.216.34/", "events": list(EVENTS)}
    there = world.get("admin", world.home.path(HOOKS))["count"]
    for _ in range(changing.MAX_WEBHOOKS - there):
        world.post("admin", world.home.path(HOOKS), body)
    assert world.call("admin", "POST", world.home.path(HOOKS), json=body).status_code == 409
    theirs = world.home.path(HOOKS + "/{webhookId}", webhookId=world.away["webhookId"])
    assert world.call("admin", "GET", theirs).status_code == 404


@pytest.mark.sqlite_first
def test_pending_deliveries_end_with_their_webhook(world, receiver):
    hook = make(world, receiver)
    write(world, "One")
    with world.context.db.write() as tx:
        delivering.queue(
            tx,
            delivering.DeliveryRecipient("webhook", hook["id"]),
            world.home["organizationId"],
            "space_deleted",
            {},
            id="d1",
        )
    world.call("admin", "DELETE", place_of(world, hook))
    work(world)
    assert receiver.requests == []
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM deliveries WHERE id = 'd1'") == 0
