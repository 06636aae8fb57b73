"""SCIM 2.0: a directory manages an organization's members and teams, and removed people lose access at once."""

import pytest

from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from octavo.organization.directory import store
from octavo.organization.identity import sessions
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


def test_a_member_is_added_and_removed(directory):
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
    assert statuses() == [401] * 3  # ended sessions and tokens stay ended
    changed = ADA | {"displayName": "Countess Lovelace", "externalId": "2"}
    assert directory.call("PUT", f"/Users/{ada['id']}", changed)["displayName"] == "Countess Lovelace"
    directory.call("DELETE", f"/Users/{ada['id']}", status=204)
    directory.call("DELETE", f"/Users/{ada['id']}", status=404)
    directory.call("GET", f"/Users/{ada['id']}", status=404)


def test_members_of_other_organizations_only_lose_this_one(directory):
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


def joined(world, who):
    """Join through the list of one's own invitations, as the page does."""
    items = world.get(who, "/user/invitations")["items"]
    assert [(item["organization"]["id"], item["role"]) for item in items] == [
        (world.home["organizationId"], "read")
    ]
    path = world.home.path("/orgs/{organizationId}/invites/{id}", id=items[0]["id"])
    return world.call(who, "POST", path).status_code


def test_existing_accounts_are_invited_without_revealing_anything(directory):
    world = directory.world
    stranger = world.users["stranger"]
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET display_name = 'Very Private Name' WHERE id = :id", id=stranger)
    body = {"userName": "Stranger@example.org", "displayName": "As sent", "externalId": "7"}
    sent = directory.call("POST", "/Users", body, 201)
    assert (sent["userName"], sent["displayName"], sent["externalId"], sent["active"]) == (
        "stranger@example.org",
        "As sent",
        "7",
        True,
    )
    assert sent["id"] != stranger
    directory.call("POST", "/Users", body, 409)
    # An address without an account gets the same response, so a directory can't find out which accounts exist.
    fresh = directory.call("POST", "/Users", {"userName": "fresh@example.org", "displayName": "As sent"}, 201)
    assert fresh.keys() == sent.keys() - {"externalId"}
    everything = [directory.call("GET", path) for path in ("/Users?count=1000", f"/Users/{sent['id']}")]
    for text in ('userName eq "stranger@example.org"', 'externalId eq "7"', f'id eq "{sent["id"]}"'):
        found = directory.call("GET", f"/Users?filter={text}")
        assert [user["id"] for user in found["Resources"]] == [sent["id"]]
        everything.append(found)
    group = directory.call(
        "POST", "/Groups", {"displayName": "Scribes", "members": [{"value": sent["id"]}]}, 201
    )
    assert group["members"] == [{"value": sent["id"], "display": "As sent"}]
    everything.append(group)
    assert "Very Private" not in str(everything) and stranger not in str(everything)
    # They aren't a member yet: the organization has no access to their account.
    org = world.home.path("/orgs/{organizationId}")
    assert world.call("admin", "GET", f"{org}/members/{stranger}").status_code == 404
    assert world.call("admin", "GET", f"/users/{stranger}").status_code == 404
    assert world.call("stranger", "GET", world.home.path("/spaces/{spaceId}")).status_code == 404
    directory.call("GET", f"/Users/{stranger}", status=404)
    directory.call("POST", "/Groups", {"displayName": "Others", "members": [{"value": stranger}]}, 404)
    # The directory can change its own data about them, which still reveals nothing.
    changed = directory.patch(
        f"/Users/{sent['id']}", {"op": "replace", "path": "displayName", "value": "New"}
    )
    assert changed["displayName"] == "New"
    assert world.get("stranger", "/user")["displayName"] == "Very Private Name"
    # After they accept, the resource keeps its ID and they are in the group.
    assert joined(world, "stranger") == 200
    assert directory.call("GET", f"/Users/{sent['id']}")["displayName"] == "Very Private Name"
    assert directory.call("GET", f"/Groups/{group['id']}")["members"][0]["value"] == sent["id"]
    with world.context.db.read() as tx:
        assert tx.all("SELECT user_id FROM team_members WHERE team_id = :id", id=group["id"]) == [(stranger,)]
        assert tx.value("SELECT count(*) FROM scim_invited_members") == 0
    assert world.get("admin", f"{org}/members/{stranger}")["role"] == "read"
    assert world.get("stranger", "/user/invitations")["items"] == []
    renamed = directory.call("PUT", f"/Users/{sent['id']}", body | {"displayName": "Renamed"})
    assert renamed["displayName"] == "Very Private Name"
    other = {"op": "replace", "path": "userName", "value": "eve@example.org"}
    directory.patch(f"/Users/{sent['id']}", other, status=400)
    members = f"/Groups/{group['id']}"
    left = directory.patch(members, {"op": "remove", "path": f'members[value eq "{sent["id"]}"]'})
    assert left["members"] == []
    directory.call("DELETE", f"/Users/{sent['id']}", status=204)
    directory.call("GET", f"/Users/{sent['id']}", status=404)
    assert world.call("stranger", "GET", "/user").status_code == 200


def test_an_invitation_of_a_directory_is_created_and_removed(directory):
    world = directory.world
    sent = directory.call("POST", "/Users", {"userName": "stranger@example.org"}, 201)
    path = f"/Users/{sent['id']}"

    def invitations():
        return [item["id"] for item in world.get("stranger", "/user/invitations")["items"]]

    assert len(invitations()) == 1
    assert directory.patch(path, {"op": "replace", "path": "active", "value": False})["active"] is False
    assert invitations() == []
    assert directory.patch(path, {"op": "replace", "path": "active", "value": True})["active"] is True
    (invitation,) = invitations()
    # No one else can accept or decline it.
    assert world.call("reader", "DELETE", f"/user/invitations/{invitation}").status_code == 204
    taken = world.home.path("/orgs/{organizationId}/invites/{id}", id=invitation)
    assert world.call("editor", "POST", taken).status_code == 404
    assert invitations() == [invitation]
    assert world.call("stranger", "DELETE", f"/user/invitations/{invitation}").status_code == 205
    assert directory.call("GET", path)["active"] is False
    assert world.call("stranger", "POST", taken).status_code == 404
    directory.patch(path, {"op": "replace", "path": "active", "value": True})
    directory.call("DELETE", path, status=204)
    directory.call("GET", path, status=404)
    assert invitations() == []
    # It depends on its creator: without their permission, it is void.
    directory.call("POST", "/Users", {"userName": "stranger@example.org"}, 201)
    (invitation,) = invitations()
    with world.context.db.write() as tx:
        tx.run(
            "UPDATE members SET role = 'edit' WHERE organization_id = :org AND user_id IN ("
            "SELECT id FROM users WHERE display_name = 'Directory')",
            org=world.home["organizationId"],
        )
    assert invitations() == []
    taken = world.home.path("/orgs/{organizationId}/invites/{id}", id=invitation)
    assert world.call("stranger", "POST", taken).status_code == 404


def test_an_account_with_an_unverified_address_gets_no_directory_data(directory):
    """Its owner can be another person than the directory means."""
    world = directory.world
    with world.context.db.write() as tx:
        tx.run("UPDATE users SET email_verified = 0 WHERE id = :id", id=world.users["stranger"])
    sent = directory.call("POST", "/Users", {"userName": "stranger@example.org"}, 201)
    group = directory.call(
        "POST", "/Groups", {"displayName": "Scribes", "members": [{"value": sent["id"]}]}, 201
    )
    assert world.get("stranger", "/user/invitations")["items"] == []
    invitation = world.get("admin", world.home.path("/orgs/{organizationId}/invites"))["items"][0]["id"]
    taken = world.home.path("/orgs/{organizationId}/invites/{id}", id=invitation)
    assert world.call("stranger", "POST", taken).status_code == 404
    # Joining through a link doesn't link them to the user that the directory sent.
    link = world.post("admin", world.home.path("/orgs/{organizationId}/link-invites"), {"role": "read"})["id"]
    joined = world.call("stranger", "POST", world.home.path("/orgs/{organizationId}/invites/{id}", id=link))
    assert joined.status_code == 200
    with world.context.db.read() as tx:
        assert tx.all("SELECT user_id FROM team_members WHERE team_id = :id", id=group["id"]) == []
        assert tx.value("SELECT user_id FROM scim_resources WHERE id = :id", id=sent["id"]) is None


def test_immediately_added_people_are_returned_by_email_only(directory):
    world = directory.world
    added = world.post(
        "admin", world.home.path("/orgs/{organizationId}/invites"), {"emails": ["stranger@example.org"]}
    )
    assert added["users"] == [world.users["stranger"]]
    found = directory.call("GET", f"/Users/{world.users['stranger']}")
    assert found["displayName"] == found["userName"] == "stranger@example.org"
    # Removing them ends none of their sessions, even if they belong to no other organization.
    with world.context.db.write() as tx:
        tx.run(
            "DELETE FROM members WHERE user_id = :id AND organization_id = :org",
            id=world.users["stranger"],
            org=world.away["organizationId"],
        )
    directory.call("DELETE", f"/Users/{world.users['stranger']}", status=204)
    assert world.call("stranger", "GET", "/user").status_code == 200


def test_a_returning_person_becomes_a_member_again(directory):
    """An account that the organization created and whose address is still unverified."""
    ada = directory.call("POST", "/Users", ADA, 201)
    directory.call("DELETE", f"/Users/{ada['id']}", status=204)
    again = directory.call("POST", "/Users", ADA, 201)
    assert (again["id"], again["displayName"]) == (ada["id"], "Ada Lovelace")


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
    assert world.call("admin", "GET", "/user").status_code == 401  # not a member of any other organization


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
    "text",
    [
        'userName eq "a" and',
        'userName eq "a" and and id eq "b"',
        'and id eq "b"',
        'userName sw "a"',
        "userName eq ada",
        'password eq "x"',
        'userName eq "a" or id eq "b"',
        "'; --",
    ],
)
def test_other_filters_are_refused(directory, text):
    answer = directory.world.call(
        NOBODY, "GET", directory.base + "/Users", headers=directory.headers, params={"filter": text}
    )
    assert answer.status_code == 400 and "filter" in answer.json()["detail"]
    assert answer.json()["scimType"] == "invalidFilter"


def test_names_and_emails_are_patched_or_refused(directory):
    ada = directory.call("POST", "/Users", ADA, 201)
    path = f"/Users/{ada['id']}"

    def patched(**values):
        operations = [{"op": "replace", "path": name, "value": value} for name, value in values.items()]
        return directory.patch(path, *operations)["displayName"]

    assert patched(**{"name.familyName": "King"}) == "Ada King"
    assert (
        patched(**{"name.givenName": "Augusta Ada", "name.familyName": "King-Noel"})
        == "Augusta Ada King-Noel"
    )
    assert patched(name={"givenName": "Ada", "familyName": "Byron"}) == "Ada Byron"
    assert patched(**{"name.formatted": "Countess of Lovelace"}) == "Countess of Lovelace"
    assert patched(displayName="Ada Lovelace", **{"name.familyName": "King"}) == "Ada Lovelace"
    same = {"value": "ada@example.org", "type": "work", "primary": True}
    assert patched(emails=[same]) == patched(**{'emails[type eq "work"].value': "ADA@example.org"})
    for name, value in (
        ("emails", [{"value": "other@example.org", "primary": True}]),
        ('emails[type eq "work"].value', "other@example.org"),
        ("userName", "other@example.org"),
    ):
        answer = directory.patch(path, {"op": "replace", "path": name, "value": value}, status=400)
        assert answer["scimType"] == "mutability" and answer["status"] == "400", answer
    for name in ("emails", "userName", "displayName", "active"):
        assert directory.patch(path, {"op": "remove", "path": name}, status=400)["scimType"] == "mutability"
    bad = directory.patch(path, {"op": "replace", "path": "name.givenName", "value": 7}, status=400)
    assert bad["scimType"] == "invalidValue"
    assert directory.call("GET", path)["emails"] == ada["emails"]


def test_errors_are_those_of_scim(directory):
    urn = "urn:ietf:params:scim:api:messages:2.0:Error"
    ada = directory.call("POST", "/Users", ADA, 201)
    taken = directory.call("POST", "/Users", ADA, 409)
    assert (taken["schemas"], taken["status"], taken["scimType"]) == ([urn], "409", "uniqueness")
    for method, path, body, status in (
        ("GET", "/Users/nobody", None, 404),
        ("DELETE", "/Groups/none", None, 404),
        ("POST", "/Users", {"userName": 7}, 400),
        ("PATCH", f"/Users/{ada['id']}", {"Operations": []}, 400),
        ("POST", "/Groups", {"displayName": "x", "members": [{"value": "nobody"}]}, 404),
    ):
        answer = directory.world.call(
            NOBODY, method, directory.base + path, headers=directory.headers, json=body
        )
        assert answer.status_code == status and answer.headers["content-type"] == "application/scim+json"
        assert answer.json()["schemas"] == [urn] and answer.json()["status"] == str(status)
        assert answer.json()["detail"]
    refused = directory.world.call(NOBODY, "GET", f"{directory.base}/Users")
    assert refused.status_code == 401 and refused.json()["schemas"] == [urn]
    assert refused.headers["www-authenticate"] == "Bearer"
    large = directory.world.call(
        NOBODY, "POST", f"{directory.base}/Users", headers=directory.headers, content=b" " * 2_000_000
    )
    assert large.status_code == 413 and large.json()["schemas"] == [urn]
    for query, status in (("a=" + "a" * directory.world.context.settings.query_limit, 414), ("&" * 200, 400)):
        early = directory.world.call(
            NOBODY, "GET", f"{directory.base}/Users?{query}", headers=directory.headers
        )
        assert early.status_code == status and early.json()["schemas"] == [urn]


def test_even_unexpected_errors_are_those_of_scim(directory, monkeypatch):
    def fail(*_):
        raise RuntimeError("unexpected")

    monkeypatch.setattr(store, "list_users", fail)
    answer = directory.world.call(NOBODY, "GET", f"{directory.base}/Users", headers=directory.headers)
    assert answer.status_code == 500 and answer.headers["content-type"] == "application/scim+json"
    assert answer.json()["status"] == "500" and "unexpected" not in answer.text


def test_attributes_can_be_excluded_and_filters_combined(directory):
    ada = directory.call("POST", "/Users", ADA, 201)
    members = [{"value": ada["id"]}]
    group = directory.call("POST", "/Groups", {"displayName": "Engines", "members": members}, 201)
    directory.call("POST", "/Groups", {"displayName": "Looms"}, 201)
    (listed,) = directory.call("GET", '/Groups?excludedAttributes=members&filter=displayName eq "Engines"')[
        "Resources"
    ]
    assert listed == {name: value for name, value in group.items() if name != "members"}
    assert "members" not in directory.call("GET", f"/Groups/{group['id']}?excludedAttributes=Members,meta")
    urn = "urn:ietf:params:scim:schemas:core:2.0:User"
    only = directory.call("GET", f"/Users/{ada['id']}?attributes={urn}:userName,emails.value")
    assert only == {
        "id": ada["id"],
        "schemas": ada["schemas"],
        "userName": "ada@example.org",
        "emails": [{"value": "ada@example.org"}],
    }
    assert (
        "type" not in directory.call("GET", f"/Users/{ada['id']}?excludedAttributes=emails.type")["emails"][0]
    )

    def found(kind, text):
        return [one["id"] for one in directory.call("GET", f"/{kind}?filter={text}")["Resources"]]

    assert found("Groups", f'id eq "{group["id"]}" and members eq "{ada["id"]}"') == [group["id"]]
    assert found("Groups", f'members.value eq "{ada["id"]}" AND displayName eq "Looms"') == []
    assert found("Users", 'userName eq "ada@example.org" and externalId eq "0001"') == [ada["id"]]
    assert found("Users", 'userName eq "ada@example.org" and externalId eq "0002"') == []


def test_groups_become_teams(directory):
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


def test_ids_of_another_organization_are_not_found(directory):
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
