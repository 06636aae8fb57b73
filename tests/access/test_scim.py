"""SCIM 2.0: a directory keeps an organization's members and teams, and who is taken out is out at once."""

import pytest

from octavo.access import create_token, upsert_member
from octavo.identity import sessions
from world import MEMBERS, NOBODY, URL


class Directory:
    def __init__(self, world, token):
        self.world, self.base = world, world.home.path("/orgs/{organizationId}/scim/v2")
        self.headers = {"authorization": f"Bearer {token}", "content-type": "application/scim+json"}

    def call(self, method, path, body=None, status=200):
        answer = self.world.call(NOBODY, method, self.base + path, headers=self.headers, json=body)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def patch(self, path, *operations, status=200):
        return self.call("PATCH", path, {"Operations": list(operations)}, status)


@pytest.fixture
def directory(world):
    accounts = world.home.path("/orgs/{organizationId}/service-accounts")
    account = world.post("admin", accounts, {"name": "Directory", "role": "admin"})
    return Directory(
        world, world.post("admin", f"{accounts}/{account['id']}/tokens", {"name": "scim"})["token"]
    )


ADA = {
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
    "userName": "Ada@Example.org",
    "externalId": "0001",
    "name": {"givenName": "Ada", "familyName": "Lovelace"},
    "emails": [{"value": "ada@example.org", "primary": True, "type": "work"}],
    "active": True,
    "title": "Countess",
}


def test_a_member_comes_and_goes(directory):
    world = directory.world
    assert directory.call("GET", "/ServiceProviderConfig")["patch"] == {"supported": True}
    assert directory.call("GET", '/Users?filter=userName eq "ada@example.org"')["totalResults"] == 0
    ada = directory.call("POST", "/Users", ADA, 201)
    assert (ada["userName"], ada["displayName"], ada["externalId"], ada["active"]) == (
        "ada@example.org",
        "Ada Lovelace",
        "0001",
        True,
    )
    assert ada["meta"]["location"] == f"{URL}/v1{directory.base}/Users/{ada['id']}"
    directory.call("POST", "/Users", ADA, 409)
    for text in (
        'userName eq "ADA@example.org"',
        'externalId eq "0001"',
        'emails.value Eq "ada@example.org"',
    ):
        assert directory.call("GET", f"/Users?filter={text}")["Resources"] == [ada]
    org, space = world.home["organizationId"], world.home["spaceId"]
    with world.context.db.write() as tx:
        token = create_token(tx, ada["id"], name="own")
        bound = sessions.begin(tx, ada["id"], "saml", client="", agent="", organization_id=org).secret
        whole = sessions.begin(tx, ada["id"], "password", client="", agent="").secret
    secrets = [token, bound, whole]

    def statuses(path="/user"):
        return [
            world.call(NOBODY, "GET", path, headers={"authorization": f"Bearer {s}"}).status_code
            for s in secrets
        ]

    assert statuses() == statuses(f"/spaces/{space}") == [200] * 3
    off = directory.patch(f"/Users/{ada['id']}", {"op": "Replace", "path": "active", "value": "False"})
    assert off["active"] is False
    assert statuses() == statuses(f"/spaces/{space}") == [401] * 3
    on = directory.patch(f"/Users/{ada['id']}", {"op": "replace", "value": {"active": True}})
    assert on["active"] is True
    assert statuses() == [401] * 3  # what was ended stays ended
    changed = ADA | {"displayName": "Countess Lovelace", "externalId": "2"}
    assert directory.call("PUT", f"/Users/{ada['id']}", changed)["displayName"] == "Countess Lovelace"
    directory.call("DELETE", f"/Users/{ada['id']}", status=204)
    directory.call("DELETE", f"/Users/{ada['id']}", status=404)
    directory.call("GET", f"/Users/{ada['id']}", status=404)


def test_who_is_a_member_elsewhere_loses_this_organization_alone(directory):
    world = directory.world
    reader, away = world.users["reader"], world.away
    with world.context.db.write() as tx:
        upsert_member(tx, away["organizationId"], reader, "read")
        bound = create_token(tx, reader, name="x", organization_id=world.home["organizationId"])
    directory.patch(f"/Users/{reader}", {"op": "replace", "path": "active", "value": False})
    assert world.call("reader", "GET", world.home.path("/spaces/{spaceId}")).status_code == 404
    assert world.call("reader", "GET", away.path("/spaces/{spaceId}")).status_code == 200
    headers = {"authorization": f"Bearer {bound}"}
    assert world.call(NOBODY, "GET", "/user", headers=headers).status_code == 401


def test_a_directory_does_not_rename_who_was_there_before(directory):
    world = directory.world
    stranger = {"userName": "stranger@example.org", "displayName": "Renamed"}
    added = directory.call("POST", "/Users", stranger, 201)
    assert (added["id"], added["displayName"]) == (world.users["stranger"], "Stranger")
    changed = directory.patch(
        f"/Users/{added['id']}", {"op": "replace", "path": "displayName", "value": "Renamed"}
    )
    assert changed["displayName"] == "Stranger"
    other = {"op": "replace", "path": "userName", "value": "eve@example.org"}
    directory.patch(f"/Users/{added['id']}", other, status=400)


def test_the_last_administrator_stays(directory):
    world = directory.world
    admin = world.users["admin"]
    before = world.digest()
    directory.patch(f"/Users/{admin}", {"op": "replace", "path": "active", "value": False}, status=409)
    directory.call("DELETE", f"/Users/{admin}", status=409)
    assert world.digest() == before
    with world.context.db.write() as tx:
        upsert_member(tx, world.home["organizationId"], world.users["creator"], "admin")
    directory.call("DELETE", f"/Users/{admin}", status=204)
    assert world.call("admin", "GET", "/user").status_code == 401  # a member of nothing else


def test_users_are_listed_in_pages(directory):
    seen, start = [], 1
    while True:
        page = directory.call("GET", f"/Users?startIndex={start}&count=3")
        if not page["Resources"]:
            break
        seen += [user["id"] for user in page["Resources"]]
        start += page["itemsPerPage"]
    with directory.world.context.db.read() as tx:
        people = tx.value(
            """SELECT count(*) FROM members m JOIN users u ON u.id = m.user_id
               WHERE m.organization_id = :org AND u.kind = 'person'""",
            org=directory.world.home["organizationId"],
        )
    # Service accounts are left out.
    assert page["totalResults"] == len(seen) == len(set(seen)) == people > len(MEMBERS)
    assert directory.call("GET", "/Users?count=0")["totalResults"] == people


@pytest.mark.parametrize(
    "text", ['userName sw "a"', "userName eq ada", 'password eq "x"', 'userName eq "a" or id eq "b"', "'; --"]
)
def test_other_filters_are_refused(directory, text):
    answer = directory.world.call(
        NOBODY, "GET", directory.base + "/Users", headers=directory.headers, params={"filter": text}
    )
    assert answer.status_code == 400 and "filter" in answer.json()["error"]["message"]


def test_groups_are_teams(directory):
    world = directory.world
    editor, reader = world.users["editor"], world.users["reader"]
    body = {"displayName": "Scribes", "externalId": "g1", "members": [{"value": editor}]}
    group = directory.call("POST", "/Groups", body, 201)
    assert [m["value"] for m in group["members"]] == [editor]
    directory.call("POST", "/Groups", body, 409)
    path = f"/Groups/{group['id']}"

    def members(*operations):
        return sorted(m["value"] for m in directory.patch(path, *operations)["members"])

    assert members({"op": "Add", "path": "members", "value": [{"value": reader}]}) == sorted([editor, reader])
    assert members({"op": "remove", "path": f'members[value eq "{editor}"]'}) == [reader]
    assert members({"op": "replace", "path": "members", "value": [{"value": editor}]}) == [editor]
    assert members({"op": "remove", "path": "members", "value": [{"value": editor}]}) == []
    renamed = directory.patch(path, {"op": "replace", "value": {"displayName": "Authors"}})
    assert renamed["displayName"] == "Authors"
    found = directory.call("GET", '/Groups?filter=displayName eq "Authors"')["Resources"]
    assert [g["externalId"] for g in found] == ["g1"]
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=world.home["spaceId"])
        tx.run(
            """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
               VALUES ('space', :space, 'team', :team, 'read', 1)""",
            space=world.home["spaceId"],
            team=group["id"],
        )
    space = world.home.path("/spaces/{spaceId}")
    assert world.call("reader", "GET", space).status_code == 404
    directory.call("PUT", path, {"displayName": "Authors", "members": [{"value": reader}]})
    assert world.call("reader", "GET", space).status_code == 200
    directory.call("DELETE", path, status=204)
    assert world.call("reader", "GET", space).status_code == 404
    directory.call("GET", path, status=404)


def test_ids_of_another_organization_are_not_there(directory):
    world = directory.world
    stranger = world.users["stranger"]
    group = directory.call("POST", "/Groups", {"displayName": "Scribes"}, 201)["id"]
    foreign = world.away.path("/orgs/{organizationId}/scim/v2")
    before = world.digest()
    add = {"op": "add", "path": "members", "value": [{"value": stranger}]}
    directory.patch(f"/Groups/{group}", add, status=404)
    directory.call("POST", "/Groups", {"displayName": "X", "members": [{"value": stranger}]}, 404)
    directory.call("GET", f"/Users/{stranger}", status=404)
    directory.call("DELETE", f"/Users/{stranger}", status=404)
    for path in (f"/Groups/{group}", f"/Users/{world.users['reader']}"):
        assert world.call("stranger", "GET", foreign + path).status_code == 404
        assert world.call("stranger", "DELETE", foreign + path).status_code == 404
    assert world.call(NOBODY, "GET", f"{foreign}/Users", headers=directory.headers).status_code == 404
    assert world.call("creator", "GET", directory.base + "/Users").status_code == 403
    assert world.digest() == before
