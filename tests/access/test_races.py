"""Guarantees for consecutive requests also hold for concurrent ones."""

from __future__ import annotations

import inspect
from urllib.parse import parse_qs, urlsplit

import pytest

from octavo.kit.http.operation import TABLE
from octavo.organization.access.roles import Can
from world import PASSWORD

ROUNDS = 5


def administrators(world):
    with world.context.db.read() as tx:
        return tx.value(
            "SELECT count(*) FROM members WHERE organization_id = :org AND role = 'admin' AND disabled = 0",
            org=world.home["organizationId"],
        )


def removals(world, how):
    members = world.home.path("/orgs/{organizationId}/members")

    def path(who):
        return f"{members}/{world.users[who]}"

    return {
        "each takes the other's role": [
            ("admin", "PATCH", path("creator"), {"role": "read"}),
            ("creator", "PATCH", path("admin"), {"role": "read"}),
        ],
        "each removes the other": [
            ("admin", "DELETE", path("creator"), None),
            ("creator", "DELETE", path("admin"), None),
        ],
        "both go": [
            ("admin", "DELETE", path("admin"), None),
            ("creator", "DELETE", path("creator"), None),
        ],
        "one goes and is removed": [
            ("admin", "DELETE", path("admin"), None),
            ("admin", "PATCH", path("creator"), {"role": None}),
            ("creator", "PATCH", path("admin"), {"role": None}),
        ],
    }[how]


@pytest.mark.parametrize(
    "how",
    ["each takes the other's role", "each removes the other", "both go", "one goes and is removed"],
)
def test_the_last_administrator_stays(world, how):
    for _ in range(ROUNDS):
        world.renew()
        member = world.home.path("/orgs/{organizationId}/members/") + world.users["creator"]
        assert world.call("admin", "PATCH", member, json={"role": "admin"}).status_code == 200
        statuses = world.call_together(*removals(world, how))
        assert administrators(world) == 1 and max(statuses) < 500, statuses


def test_simultaneous_use_of_an_invitation_creates_one_account(world):
    for _ in range(ROUNDS):
        world.renew()
        path = world.home.path("/orgs/{organizationId}/invites")
        made = world.post("admin", path, {"emails": ["fresh@example.com"], "role": "review"})
        secret = parse_qs(urlsplit(made["links"][0]["url"]).query)["secret"][0]
        body = {"secret": secret, "displayName": "Fresh", "password": PASSWORD}
        statuses = world.call_together(*[("nobody", "POST", "/invitations", body)] * 4)
        # The other requests find the invitation used, or the address in use.
        assert statuses.count(200) == 1 and set(statuses) <= {200, 404, 409}, statuses


def test_simultaneously_created_sites_get_different_names(world):
    sites = world.home.path("/orgs/{organizationId}/sites")
    ids = [world.post("admin", sites, {"title": f"Site {n}"})["id"] for n in range(4)]
    for n in range(ROUNDS):
        calls = [("admin", "PATCH", f"{sites}/{id}", {"basename": f"name-{n}"}) for id in ids]
        statuses = world.call_together(*calls)
        assert sorted(statuses) == [200, 409, 409, 409]


def test_a_host_name_belongs_to_one_organization(world):
    for n in range(ROUNDS):
        calls = [
            (who, "PATCH", place.path("/orgs/{organizationId}"), {"hostname": f"same-{n}"})
            for who, place in (("admin", world.home), ("stranger", world.away))
        ]
        assert sorted(world.call_together(*calls)) == [200, 400]


LEAVES_NO_WAY_BACK = {"endOtherSessions", "updatePasskey", "removePasskey", "connectSamlAccount"}
"""What ends or renames something, or (SAML) asks in the transaction of its own."""


def test_sign_in_changes_require_a_live_session_at_commit() -> None:
    ways = {Can.CHANGE_SIGN_IN, Can.CREATE_TOKEN, Can.CONNECT_AGENT}
    asked = {
        one.id: "require_still_signed_in" in inspect.getsource(one.handler)
        for one in TABLE.values()
        if one.needs in ways and one.method != "GET"
    }
    assert {id for id, asks in asked.items() if not asks} == LEAVES_NO_WAY_BACK
