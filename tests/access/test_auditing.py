"""The audit log: its events, their recipients, how it is read, and that it can't be changed."""

import ast
import asyncio
import csv
import io
import itertools
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from octavo.kit.db.pagination import MAX_LIMIT
from octavo.kit.work.worker import Worker
from octavo.organization.access.auditing import ACTIONS, Stranger, audit, audit_person
from octavo.organization.identity.removal import remove_member
from world import NOBODY, PASSWORD

EVENTS = "/orgs/{organizationId}/audit-events"


def events(world, place=None, **query):
    place = place or world.home
    return world.get(place.admin, place.path(EVENTS), params={"limit": 1000, **query})["items"]


def who(event):
    return event["actor"]["type"], event["actor"]["id"]


def newest(world, place=None):
    return events(world, place)[0]


def _shifted(moment, milliseconds):
    at = datetime.fromisoformat(moment) + timedelta(milliseconds=milliseconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


# How each change is made (who, method, path below the place, body) and its event in the log.
CHANGES = {
    "member.updated": ("PATCH", "/orgs/{organizationId}/members/{scimUserId}", {"role": "review"}),
    "member.removed": ("DELETE", "/orgs/{organizationId}/members/{scimUserId}", None),
    "team.created": ("PUT", "/orgs/{organizationId}/teams", {"title": "New", "members": []}),
    "team.updated": ("PATCH", "/orgs/{organizationId}/teams/{teamId}", {"title": "Newer"}),
    "team.members-updated": (
        "PUT",
        "/orgs/{organizationId}/teams/{teamId}/members/{scimUserId}",
        {"role": "owner"},
    ),
    "team.removed": ("DELETE", "/orgs/{organizationId}/teams/{teamId}", None),
    "organization.updated": ("PATCH", "/orgs/{organizationId}", {"defaultRole": None, "ai": False}),
    "invitation.created": ("POST", "/orgs/{organizationId}/invites", {"emails": ["a@example.com"]}),
    "invite-link.created": ("POST", "/orgs/{organizationId}/link-invites", {"role": "edit"}),
    "service-account.created": ("POST", "/orgs/{organizationId}/service-accounts", {"name": "Bot"}),
    "service-account.removed": (
        "DELETE",
        "/orgs/{organizationId}/service-accounts/{serviceAccountId}",
        None,
    ),
    "token.created": ("POST", "/user/tokens", {"name": "Phone"}),
    "token.revoked": ("DELETE", "/user/tokens/{personalTokenId}", None),
    "session.ended": ("DELETE", "/user/sessions/{sessionId}", None),
    "password.updated": (
        "PUT",
        "/user/password",
        {"password": "battery staple"},
    ),
    "user.updated": ("PATCH", "/users/{userId}", {"displayName": "Ada"}),
    "saml-provider.created": ("POST", "/orgs/{organizationId}/saml", {"label": "Other"}),
    "saml-provider.updated": ("PATCH", "/orgs/{organizationId}/saml/{samlProviderId}", {"label": "Renamed"}),
    "saml-provider.removed": ("DELETE", "/orgs/{organizationId}/saml/{samlProviderId}", None),
    "member.added": ("POST", "/orgs/{organizationId}/scim/v2/Users", {"userName": "bob@home.test"}),
    "member.disabled": (
        "PATCH",
        "/orgs/{organizationId}/scim/v2/Users/{scimUserId}",
        {"Operations": [{"op": "replace", "path": "active", "value": False}]},
    ),
    "permission.granted": (
        "POST",
        "/spaces/{spaceId}/permissions",
        lambda place: {"role": "edit", "users": [place["scimUserId"]]},
    ),
    "space.created": ("POST", "/orgs/{organizationId}/spaces", {"title": "Another"}),
    "space.deleted": ("DELETE", "/spaces/{spaceId}", None),
    "collection.deleted": ("DELETE", "/collections/{collectionId}", None),
    "font.updated": ("POST", "/orgs/{organizationId}/fonts/{fontId}", {"fontFamily": "New"}),
    "font.removed": ("DELETE", "/orgs/{organizationId}/fonts/{fontId}", None),
    "site.published": ("POST", "/orgs/{organizationId}/sites/{siteId}/publish", None),
    "site.unpublished": ("POST", "/orgs/{organizationId}/sites/{siteId}/unpublish", None),
}


@pytest.mark.parametrize("action", CHANGES)
def test_every_change_is_recorded_where_it_was_made(world, action):
    method, path, body = CHANGES[action]
    home, elsewhere = world.home, len(events(world, world.away))
    session = world.session("admin") if path.startswith("/user/") else None
    known = len(events(world))
    options = {} if body is None else {"json": body(home) if callable(body) else body}
    if session is not None:
        options["headers"] = session
    assert world.call("admin", method, home.path(path), **options).is_success
    told = events(world)
    assert len(told) == known + 1
    event = told[0]
    assert (event["action"], who(event)) == (action, ("user", world.users["admin"]))
    assert event["token"] and event["client"] == "127.0.0.1"
    assert len(events(world, world.away)) == elsewhere


def test_an_event_contains_the_values_before_and_after(world):
    path = world.home.path("/orgs/{organizationId}")
    world.call("admin", "PATCH", path, json={"ai": False, "title": "Home"})
    event = newest(world)
    assert (event["before"], event["after"]) == ({"ai": True}, {"ai": False})
    assert event["target"] == {"type": "organization", "id": world.home["organizationId"]}
    assert event["actor"]["label"] == world.get("admin", "/user")["displayName"] and event["source"] == "api"
    assert event["urls"]["location"].endswith(f"/v1{world.home.path(EVENTS)}/{event['id']}")
    details = world.get("admin", event["urls"]["location"])
    assert details["payload"] == {"before": {"ai": True}, "after": {"ai": False}}
    assert details["schemaVersion"] == 1 and details["correlationId"]
    assert {name: details[name] for name in event} == event
    assert world.call("stranger", "GET", f"{world.away.path(EVENTS)}/{event['id']}").status_code == 404
    world.call("admin", "PATCH", path, json={"ai": False})
    assert newest(world)["id"] == event["id"], "nothing changed, nothing told"


def test_sign_ins_are_recorded_in_the_organizations_of_the_person(world):
    answer = world.call(
        NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", "password": PASSWORD}
    )
    event = newest(world)
    assert (event["action"], event["actor"]["id"]) == ("session.begun", world.users["reader"])
    assert event["after"] == {"method": "password"}
    assert all(
        item["action"] != "session.begun" for item in events(world, world.away, actor=event["actor"]["id"])
    )
    world.call(NOBODY, "POST", "/sign-out", headers=bearer(answer.json()["token"]))
    assert newest(world)["action"] == "session.ended"


def test_failed_sign_ins_are_recorded_without_revealing_accounts(world):
    wrong = {"password": "wrong password"}
    known = world.call(NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", **wrong})
    unknown = world.call(NOBODY, "POST", "/sign-in", json={"email": "no.one@example.org", **wrong})
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content)
    with world.context.db.read() as tx:
        kinds = tx.all("SELECT kind FROM jobs WHERE kind = 'logFailedSignIn'")
    assert len(kinds) == 2, "the same work for both"
    Worker(world.context.db, world.context).run_pending()
    told = events(world, action="sign-in.failed")
    assert [(event["target"]["id"], who(event)) for event in told] == [
        (world.users["reader"], ("system", "system"))
    ]
    assert told[0]["client"] == "127.0.0.1"


def test_the_log_is_filtered_and_paged(world):
    home = world.home
    everything = events(world)
    assert len(everything) > 10
    page, seen = None, []
    while True:
        params = {"limit": 4, **({"page": page} if page else {})}
        answer = world.get("admin", home.path(EVENTS), params=params)
        assert answer["count"] == len(everything)
        seen += answer["items"]
        if "next" not in answer:
            break
        page = answer["next"]["page"]
    assert seen == everything
    one = everything[3]
    at = one["occurredAt"]
    same = {"action": one["action"], "target": one["target"]["id"]}
    assert one in events(world, **{"from": at, "to": at}, **same)
    assert one not in events(world, to=_shifted(at, -1)) + events(world, **{"from": _shifted(at, 1)})
    assert events(world, targetType="nothing") == []
    assert world.call("admin", "GET", home.path(EVENTS), params={"from": "yesterday"}).status_code == 400


def test_every_filter_reports_the_number_of_matching_events(world):
    with world.context.db.write() as tx:
        audit(tx, None, "some.done", world.home["organizationId"], ("thing", "t"))  # by no one
        tx.run(
            """INSERT INTO audit_events (id, organization_id, action, actor_id, target_type, target_id, created_at)
               SELECT id || 'x', organization_id, action, actor_id, target_type, target_id, created_at
               FROM audit_events WHERE organization_id = :org""",
            org=world.home["organizationId"],
        )
    everything = events(world)
    found = {
        "action": {event["action"] for event in everything},
        "actor": {event["actor"]["id"] for event in everything if event["actor"]["type"] != "system"},
        "targetType": {event["target"]["type"] for event in everything},
        "target": {event["target"]["id"] for event in everything},
        "from": {everything[2]["occurredAt"]},
    }
    says = {
        "action": lambda event: event["action"],
        "actor": lambda event: event["actor"]["id"],
        "targetType": lambda event: event["target"]["type"],
        "target": lambda event: event["target"]["id"],
    }
    asked = [{}] + [{name: value} for name, values in found.items() for value in sorted(values)[:4]]
    asked += [{**one, **other} for one, other in itertools.combinations(asked[1:], 2)]
    for query in asked:
        left = [
            event
            for event in everything
            if all(
                event["occurredAt"] >= value if name == "from" else says[name](event) == value
                for name, value in query.items()
            )
        ]
        answer = world.get("admin", world.home.path(EVENTS), params={"limit": 1000, **query})
        assert (answer["items"], answer["count"]) == (left, len(left)), query


def test_counts_of_a_transaction_with_many_events_span_many_rows(world):
    """PostgreSQL scans all versions of a row from the same transaction whenever the transaction changes the
    row again."""
    before = world.get("admin", world.home.path(EVENTS))["count"]
    with world.context.db.write() as tx:
        for _ in range(1500):
            audit(tx, None, "some.done", world.home["organizationId"], ("thing", "t"))
        most = tx.value("SELECT max(events) FROM audit_totals WHERE action = 'some.done'")
    assert world.get("admin", world.home.path(EVENTS))["count"] == before + 1500
    assert most <= 500 or world.context.db.engine == "sqlite"


def test_the_whole_log_is_exported(world):
    path, everything = world.home.path(EVENTS), events(world)
    answer = world.call("admin", "GET", path, params={"format": "ndjson", "limit": 1})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [msgspec.json.decode(line) for line in answer.text.splitlines()] == everything
    answer = world.call("admin", "GET", path, params={"format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["id"] for row in rows] == [event["id"] for event in everything]
    assert world.call("editor", "GET", path, params={"format": "csv"}).status_code == 403


ENDS = {
    "membership": "UPDATE members SET disabled = 1 WHERE user_id = :user",
    "role": "UPDATE members SET role = 'read' WHERE user_id = :user",
    "account": "UPDATE users SET disabled = 1 WHERE id = :user",
    "token": "DELETE FROM tokens WHERE user_id = :user",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("format", ["ndjson", "csv"])
def test_a_long_response_ends_when_the_caller_loses_access(world, format, end):
    user = world.users["admin"]
    with world.context.db.write() as tx:
        for _ in range(MAX_LIMIT + 10):
            audit_person(tx, "user.updated", user, client=None, only=world.home["organizationId"])
    taking = Taking(world, format, lambda tx: tx.run(ENDS[end], user=user))
    asyncio.run(world._app.handle(taking))
    assert taking.status == 200 and not taking.ended
    assert b"".join(taking.pieces).count(b"\n") in (MAX_LIMIT, MAX_LIMIT + 1)


class Taking:
    """Exchange of a client that downloads a log, during which something happens after the first part."""

    method, peer = "GET", "a"

    def check(self):
        pass

    def __init__(self, world, format, happens):
        self.path = f"/v1{world.home.path(EVENTS)}".encode()
        self.query = f"format={format}".encode()
        self.headers = [(b"authorization", f"Bearer {world.token('admin')}".encode())]
        self.status, self.pieces, self.ended = 0, [], False
        self._db, self._happens = world.context.db, happens

    async def gone(self):
        await asyncio.Event().wait()

    async def begin(self, status, headers, size):
        self.status = status

    async def write(self, piece):
        if len(piece) > 1000:
            with self._db.write() as tx:
                self._happens(tx)
        self.pieces.append(piece)

    async def end(self):
        self.ended = True


@pytest.mark.parametrize("statement", ["UPDATE audit_events SET action = 'x'", "DELETE FROM audit_events"])
def test_the_log_cannot_be_changed(world, statement):
    before = events(world)
    with pytest.raises(Exception, match="audit events are never"), world.context.db.write() as tx:
        tx.run(statement)
    assert events(world) == before


def test_an_event_is_recorded_in_the_transaction_of_its_change(world):
    """Events of a transaction that is rolled back disappear."""
    before = events(world)
    path = world.home.path("/orgs/{organizationId}/members/{userId}")
    assert world.call("admin", "PATCH", path, json={"role": "edit"}).status_code == 409
    assert world.call("admin", "DELETE", path).status_code == 409
    assert events(world) == before


def test_the_audit_log_outlives_deleted_accounts(world):
    world.call(NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", "password": PASSWORD})
    with world.context.db.write() as tx:
        remove_member(tx, world.home["organizationId"], world.users["reader"])
    assert events(world, actor=world.users["reader"], action="session.begun")


def test_actions_of_integrations_and_people_are_distinguished(world):
    world.call(NOBODY, "POST", "/sign-in", json={"email": "reader@example.org", "password": PASSWORD})
    reader = world.users["reader"]
    assert who(newest(world)) == ("user", reader)
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET kind = 'integration' WHERE id = :id", id=reader)
    assert who(newest(world)) == ("installation", reader)


def test_events_of_one_action_share_a_correlation_id(world):
    with world.context.db.write() as tx:
        for thing in ("one", "two"):
            audit(
                tx,
                None,
                "site.updated",
                world.home["organizationId"],
                ("site", thing),
                after={"title": thing},
            )
    with world.context.db.write() as tx:
        audit(tx, Stranger("127.0.0.1"), "site.updated", world.home["organizationId"], ("site", "three"))
    three, two, one = (world.get("admin", event["urls"]["location"]) for event in events(world)[:3])
    assert one["correlationId"] == two["correlationId"] != three["correlationId"]
    assert [event["source"] for event in (one, three)] == ["workflow", "ui"]
    assert [event["target"].get("label") for event in (one, two, three)] == ["one", "two", None]


def test_all_actions_have_labels(world):
    with world.context.db.write() as tx:
        audit(tx, None, "of.earlier_versions", world.home["organizationId"], ("thing", "t"))
    path = "/orgs/{organizationId}/audit-event-actions"
    found = {one["id"]: one["label"] for one in world.get("admin", world.home.path(path))["items"]}
    assert found["invite-link.created"] == "Invite link created"
    assert found["siteMcpServer.updated"] == "Site mcp server updated"
    assert found["of.earlier_versions"] == "Of earlier versions"
    assert world.call("creator", "GET", world.home.path(path)).status_code == 403
    assert world.call("stranger", "GET", world.home.path(path)).status_code == 404
    assert "of.earlier_versions" not in json.dumps(world.get("stranger", world.away.path(path)))


_ACTION = re.compile(r"[A-Za-z][A-Za-z_-]*\.[a-z][a-z_-]+")


_RECORDS = re.compile(r"audit|_note$|^note$|changing\.note$|_record$")
"""Functions that record events."""
_MAY_RECORD = re.compile(r"audit|note\(|_record\(")
"""Text of all files that call one of them: only these are parsed, which takes most of the time."""


def _recorded():
    """Return the actions in calls of functions that record events, as patterns with gaps for the values of
    f-strings."""
    texts = [path.read_text() for path in sorted((Path(__file__).parents[2] / "src/octavo").rglob("*.py"))]
    for text in filter(_MAY_RECORD.search, texts):
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not _RECORDS.search(ast.unparse(call.func)):
                continue
            for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
                if isinstance(part, ast.JoinedStr):
                    made = "".join(
                        re.escape(value.value) if isinstance(value, ast.Constant) else r"[\w-]+"
                        for value in part.values
                    )
                    if re.fullmatch(r"[\w\[\]+-]+\\\.[\w\[\]+\\-]+", made):
                        yield made
                elif isinstance(part, ast.Constant) and _ACTION.fullmatch(str(part.value)):
                    yield re.escape(part.value)


def test_the_list_of_actions_contains_every_recorded_action():
    recorded = set(_recorded())
    assert len(recorded) > 80
    assert [one for one in sorted(recorded) if not any(re.fullmatch(one, action) for action in ACTIONS)] == []
