"""Delivery of events to scripts, on the real runtime: in order, retried after failures, and independent of
each other."""

from __future__ import annotations

from functools import partial

import pytest

from octavo.extensions.deliveries import delivering, store
from octavo.extensions.integrations import delivering as scripts
from octavo.kit.clock import now
from octavo.kit.work.worker import Worker

from .test_installing import ask, install, publish, token

ECHO = """
export default { async fetch(request, env, context) {
  const form = await request.formData();
  const event = JSON.parse(form.get("event")), environment = JSON.parse(form.get("environment"));
  console.log(JSON.stringify(event));
  %s
  return new Response("OK");
} };"""


def work(world):
    Worker(world.context.db, world.context).run_pending()


def told(world, name="chat"):
    """Return the events of an integration, oldest first, each with its log."""
    path = f"/integrations/{name}/events"
    found = []
    for event in reversed(world.get("admin", path)["items"]):
        trace = world.get("admin", f"{path}/{event['id']}")["trace"]
        found.append((event, [line["message"] for line in trace["logs"]]))
    return found


def write(world, text):
    edit = {"changes": [{"operation": "update_page", "page": world.home["pageId"], "description": text}]}
    return world.post("admin", world.home.path("/spaces/{spaceId}/content"), edit)


@pytest.mark.sqlite_first
def test_a_script_receives_its_installation_and_identity(world):
    body = """
      console.log(environment.secrets.KEY, environment.apiTokens.installation, environment.signingSecrets.integration);
      const shown = { name: environment.integration.name, status: environment.installation.status,
        space: environment.spaceInstallation?.space, same: environment.authToken === environment.apiTokens.installation,
        secrets: Object.keys(environment.signingSecrets) };
      console.warn(shown);"""
    publish(world, script=ECHO % body, secrets={"KEY": "a-very-secret-value"})
    made = install(world)
    world.post(
        "admin", f"/integrations/chat/installations/{made['id']}/spaces", {"space": world.home["spaceId"]}
    )
    work(world)
    (setup, logs), (space, more) = told(world)
    assert setup["payload"] == {
        "eventId": setup["id"],
        "type": "installation_setup",
        "installationId": made["id"],
        "status": "active",
    }
    assert (setup["status"], setup["installationId"]) == ("success", made["id"])
    assert logs[1] == "[secret] [secret] [secret]"
    assert '"name":"chat","status":"active","same":true,"secrets":["integration","installation"]' in logs[2]
    assert (space["payload"]["type"], space["payload"]["spaceId"]) == (
        "space_installation_setup",
        world.home["spaceId"],
    )
    assert world.home["spaceId"] in more[2] and "spaceInstallation" in more[2]


def test_content_events_are_sent_in_order_with_the_scope(world):
    publish(world, "reads", script=ECHO % "", scopes=["space:content:read"])
    publish(world, "deaf", script=ECHO % "")
    publish(world, "elsewhere", script=ECHO % "", scopes=["space:content:read"])
    install(world, "reads"), install(world, "deaf")
    path = f"/integrations/elsewhere/installations/{install(world, 'elsewhere')['id']}"
    world.call("admin", "PATCH", path, json={"space_selection": "selected"})
    revisions = [write(world, f"Text {n}")["revision"] for n in range(3)]
    work(world)
    events = [event["payload"] for event, _ in told(world, "reads")][1:]
    assert [event["type"] for event in events] == ["space_content_updated"] * 3
    assert [event["revisionId"] for event in events] == revisions
    assert [event["payload"]["type"] for event, _ in told(world, "deaf")] == ["installation_setup"]
    assert len(told(world, "elsewhere")) == 2


def test_failed_events_are_retried_before_later_ones(world, clock):
    failing = ECHO % "if (event.type === 'space_content_updated') throw new Error('not today');"
    publish(world, script=failing, scopes=["space:content:read"])
    install(world)
    first, second = write(world, "One")["revision"], write(world, "Two")["revision"]
    work(world)
    setup, failed = told(world)
    assert setup[0]["status"] == "success"
    assert (failed[0]["status"], failed[0]["payload"]["revisionId"]) == ("failed", first)
    assert "not today" in failed[1][-1]
    clock.advance(delivering.FIRST_RETRY + 1000)
    work(world)
    assert len(told(world)) == 2, "the second one waits"
    publish(world, script=ECHO % "", scopes=["space:content:read"])
    clock.advance(delivering.LONGEST_RETRY)
    work(world)
    events = [event for event, _ in told(world)]
    assert [event["status"] for event in events] == ["success"] * 3
    assert [event["payload"]["revisionId"] for event in events[1:]] == [first, second]


def test_after_three_days_an_event_is_parked_and_the_next_one_sent(world, clock):
    failing = ECHO % "if (event.revisionId && event.revisionId === 'R') throw new Error('never');"
    publish(
        world,
        script=failing.replace("'R'", "(globalThis.first ??= event.revisionId ?? undefined)"),
        scopes=["space:content:read"],
    )
    made = install(world)
    first = write(world, "One")["revision"]
    work(world)
    write(world, "Two")
    clock.advance(delivering.KEEP_TRYING + 1000)
    work(world)
    events = [event for event, _ in told(world)]
    assert made["id"] == events[0]["installationId"]
    assert [event["status"] for event in events] == ["success", "failed", "success"]
    assert events[1]["payload"]["revisionId"] == first
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM jobs WHERE kind = 'deliverEvents'") == 0


@pytest.mark.sqlite_first
def test_parked_events_can_be_redelivered(world):
    publish(world, script=ECHO % "return Response.json({ error: 'no' }, { status: 400 });")
    install(world)
    work(world)
    event = told(world)[0][0]
    path = f"/integrations/chat/events/{event['id']}"
    publish(world, script=ECHO % "")
    assert world.call("reader", "POST", f"{path}/redeliver").status_code == 403
    assert world.call("admin", "POST", f"{path}/redeliver").status_code == 204
    assert world.call("admin", "POST", f"{path}/redeliver").status_code == 409
    work(world)
    assert world.get("admin", path)["event"]["status"] == "success"


@pytest.mark.sqlite_first
def test_another_worker_delivers_the_queue_of_a_dead_one(world, clock):
    clock.set(now() + 1000)
    publish(world, script=ECHO % "")
    made = install(world)
    with world.context.db.write() as tx:
        owner = store.find_waiting(tx, made["id"]).recipient
        assert store.claim(tx, made["id"], owner, now() + 120_000)
        assert not store.claim(tx, made["id"], owner, now() + 120_000)
    clock.advance(60_000)
    work(world)
    assert told(world) == []
    clock.advance(61_000)
    work(world)
    assert [event["status"] for event, _ in told(world)] == ["success"]


@pytest.mark.sqlite_first
def test_an_event_refused_by_a_script_is_not_retried(world):
    publish(world, script=ECHO % "return Response.json({ error: 'no' }, { status: 400 });")
    publish(world, "other", script=ECHO % "return Response.json({ error: 'no handler' }, { status: 406 });")
    install(world), install(world, "other")
    work(world)
    assert [event["status"] for event, _ in told(world)] == ["failed"]
    assert [event["status"] for event, _ in told(world, "other")] == ["success"]
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM jobs WHERE kind = 'deliverEvents'") == 0


@pytest.mark.sqlite_first
def test_a_hanging_integration_delays_no_others(world, clock, monkeypatch):
    monkeypatch.setattr(scripts, "invoke", partial(scripts.invoke, seconds=2))
    clock.set(now() + 1000)
    publish(world, "hangs", script=ECHO % "for (;;) {}", scopes=["space:content:read"])
    install(world, "hangs")
    for n in range(3):
        publish(world, f"works{n}", script=ECHO % "", scopes=["space:content:read"])
        install(world, f"works{n}")
    revisions = [write(world, f"Text {n}")["revision"] for n in range(4)]
    work(world)
    for n in range(3):
        events = [event["payload"] for event, _ in told(world, f"works{n}")][1:]
        assert [event["revisionId"] for event in events] == revisions
    with world.context.db.read() as tx:
        attempts = tx.all(
            "SELECT attempts FROM deliveries e JOIN integrations i ON i.id = e.integration_id"
            " WHERE i.name = 'hangs'"
        )
    assert sum(row[0] for row in attempts) == 1, "then it is left alone for a while"


@pytest.mark.sqlite_first
def test_the_removal_event_contains_the_former_configuration(world):
    publish(world, script=ECHO % "")
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}"
    world.call("admin", "PATCH", path, json={"configuration": {"token": "xoxb-credential"}})
    world.call("admin", "DELETE", path)
    work(world)
    ((event, _),) = told(world)
    assert event["payload"]["type"] == "installation_deleted"
    assert event["payload"]["previous"] == {"configuration": {"token": "xoxb-credential"}}
    with world.context.db.read() as tx:
        stored = str(tx.all("SELECT * FROM deliveries"))
    assert "xoxb-credential" not in stored.replace(str(event), "").split("sealed1")[0]
    with world.context.db.read() as tx:
        assert all("xoxb" not in row[0] for row in tx.all("SELECT event FROM deliveries"))


def test_scheduled_tasks_run_when_they_are_due(world, clock):
    publish(world, script=ECHO % "")
    for seconds in (0, 3600):
        body = {"task": {"n": seconds}, "schedule": seconds}
        assert ask(world, token(world), "POST", "/integrations/chat/tasks", json=body).status_code == 204
    work(world)
    assert [event["payload"]["task"] for event, _ in told(world)] == [{"n": 0}]
    clock.advance(3_601_000)
    work(world)
    assert [event["payload"]["task"] for event, _ in told(world)] == [{"n": 0}, {"n": 3600}]
    body = {"task": {}, "schedule": 86401}
    assert ask(world, token(world), "POST", "/integrations/chat/tasks", json=body).status_code == 400


@pytest.mark.sqlite_first
def test_a_tunnel_cannot_reach_private_networks(world):
    for url in (
        "http://127.0.0.1:1/",
        "http://169.254.169.254/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://0x7f.1/",
        "http://u:p@93.184.216.34/",
    ):
        path = world.home.path("/integrations/{integrationName}/dev")
        answer = world.call("admin", "PUT", path, json={"tunnelUrl": url})
        assert answer.status_code == 400 and "tunnelUrl" in answer.json()["error"]["message"], url


def test_events_of_other_organizations_are_not_delivered(world):
    publish(world, script=ECHO % "", visibility="public")
    install(world), install(world, who="stranger", place=world.away)
    work(world)
    assert len(told(world)) == 1
    everything = ask(world, token(world), "GET", "/integrations/chat/events").json()
    assert everything["count"] == 2
    theirs = next(event for event in everything["items"] if event["id"] != told(world)[0][0]["id"])
    assert world.call("admin", "GET", f"/integrations/chat/events/{theirs['id']}").status_code == 404


@pytest.mark.sqlite_first
def test_events_in_private_spaces_reach_only_installations_selected_there(world):
    """With ``all`` an installation is on what every member sees."""
    publish(world, script=ECHO % "", scopes=["space:content:read"])
    path = f"/integrations/chat/installations/{install(world)['id']}"
    space = world.home.path("/spaces/{spaceId}")
    world.call("admin", "PATCH", space, json={"defaultLevel": None})
    write(world, "Unseen")
    work(world)
    assert [event["payload"]["type"] for event, _ in told(world)] == ["installation_setup"]
    world.post("admin", f"{path}/spaces", {"space": world.home["spaceId"]})
    revision = write(world, "Seen")["revision"]
    work(world)
    assert told(world)[-1][0]["payload"]["revisionId"] == revision
