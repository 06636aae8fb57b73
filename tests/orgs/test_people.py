"""Members, teams, settings, and joining: guarantees and forbidden actions."""

import pytest

from octavo.operations.admin.verification import verify_domain
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from octavo.organization.identity import sessions
from octavo.organization.identity.removal import disable_member, remove_member
from octavo.organization.orgs import store
from visiting import Visitor
from world import NOBODY, PASSWORD

ORG = "/orgs/{organizationId}"


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def member_path(world, who, place=None):
    place = place or world.home
    return place.path(f"{ORG}/members/{{user}}", user=world.users.get(who, who))


def patch(world, who, path, **body):
    return world.call(who, "PATCH", path, json=body)


def write(world, sql, **parameters):
    with world.context.db.write() as tx:
        tx.run(sql, **parameters)


# --- the last administrator -----------------------------------------------------------------------------


def test_the_last_administrator_stays(world):
    path = member_path(world, "admin")
    for role in ("create", None):
        assert patch(world, "admin", path, role=role).status_code == 409
    assert world.call("admin", "DELETE", path).status_code == 409
    scim = world.home.path(f"{ORG}/scim/v2/Users/{{user}}", user=world.users["admin"])
    off = {"Operations": [{"op": "replace", "path": "active", "value": False}]}
    assert world.call("admin", "PATCH", scim, json=off).status_code == 409
    assert world.call("admin", "DELETE", scim).status_code == 409
    assert world.get("admin", path)["role"] == "admin"


@pytest.mark.parametrize("other", ["service account", "disabled member", "disabled person"])
def test_accounts_that_cannot_sign_in_do_not_count_as_administrators(world, other):
    if other == "service account":
        body = {"name": "Bot", "role": "admin"}
        world.post("admin", world.home.path(f"{ORG}/service-accounts"), body)
    else:
        assert patch(world, "admin", member_path(world, "editor"), role="admin").status_code == 200
        table = "members SET disabled = 1 WHERE user_id" if other == "disabled member" else None
        write(world, f"UPDATE {table or 'users SET disabled = 1 WHERE id'} = :id", id=world.users["editor"])
    assert patch(world, "admin", member_path(world, "admin"), role="read").status_code == 409


def test_one_of_two_administrators_can_leave(world):
    assert patch(world, "admin", member_path(world, "editor"), role="admin").status_code == 200
    assert world.call("editor", "DELETE", member_path(world, "admin")).status_code == 205
    assert world.call("editor", "DELETE", member_path(world, "editor")).status_code == 409
    assert world.call("admin", "GET", "/user").status_code == 401


# --- no privilege escalation ---------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["creator", "reviewer", "editor", "commenter", "reader", "guest"])
def test_no_one_raises_their_own_role(world, who):
    before = world.digest()
    own = world.users[who]
    bodies = {
        ("PATCH", member_path(world, who)): {"role": "admin"},
        ("POST", world.home.path(f"{ORG}/invites")): {
            "emails": [{"email": f"{who}@example.org", "role": "admin"}]
        },
        ("POST", world.home.path(f"{ORG}/link-invites")): {"role": "admin"},
        ("POST", world.home.path(f"{ORG}/service-accounts")): {"name": "Me", "role": "admin"},
        ("POST", world.home.path(f"{ORG}/saml")): {"label": "Mine", "defaultRole": "admin"},
        ("PATCH", world.home.path(ORG)): {"defaultRole": "admin"},
        ("PUT", world.home.path(f"{ORG}/teams/{{teamId}}/members/{own}")): {"role": "owner"},
        ("POST", world.home.path(f"{ORG}/scim/v2/Users")): {"userName": "x@example.org", "role": "admin"},
    }
    for (method, path), body in bodies.items():
        assert world.call(who, method, path, json=body).status_code in (403, 404), path
    assert world.digest() == before


def test_read_only_fields_stay_unchanged(world):
    """Mass assignment: a value that is not a field of the body is not written to the row."""
    path = world.home.path("/users/{user}", user=world.users["reader"])
    sent = {"displayName": "R", "role": "admin", "email": "admin@example.org", "id": world.users["admin"]}
    answer = world.call("reader", "PATCH", path, json={**sent, "emailVerified": True, "disabled": False})
    found = world.get("reader", "/user")
    assert found["operator"] is False
    own = {"operator": False, "emailNeeded": False}
    assert {**answer.json(), **own} == {**found, "displayName": "R"}
    assert found["email"] == "reader@example.org"
    path = member_path(world, "reader")
    answer = patch(world, "admin", path, role="edit", sso=True, disabled=True, user={"email": "x@y.z"})
    shown = answer.json()
    assert (shown["role"], shown["sso"], shown["disabled"]) == ("edit", False, False)
    assert shown["user"]["email"] == "reader@example.org"
    for role in ("owner", "guest", "ADMIN", 7, ["admin"]):
        assert patch(world, "admin", path, role=role).status_code == 400


# --- removed members -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["removed", "removed through SCIM", "disabled through SCIM"])
def test_removed_members_lose_access_immediately(world, how):
    """Sessions and tokens end in the transaction that ends the membership."""
    home = world.home
    answer = world.call(
        NOBODY, "POST", "/sign-in", json={"email": "editor@example.org", "password": PASSWORD}
    )
    session = answer.json()["token"]
    space = home.path("/spaces/{spaceId}")
    assert world.call(NOBODY, "GET", space, headers=bearer(session)).status_code == 200
    scim = home.path(f"{ORG}/scim/v2/Users/{{user}}", user=world.users["editor"])
    if how == "removed":
        assert world.call("admin", "DELETE", member_path(world, "editor")).status_code == 205
    elif how == "removed through SCIM":
        assert world.call("admin", "DELETE", scim).status_code == 204
    else:
        off = {"Operations": [{"op": "replace", "value": {"active": False}}]}
        assert world.call("admin", "PATCH", scim, json=off).status_code == 200
    assert world.call(NOBODY, "GET", space, headers=bearer(session)).status_code == 401
    assert world.call("editor", "GET", space).status_code == 401


def test_access_to_other_organizations_stays(world):
    """Leaving one of two organizations ends what was bound to it, and everything else loses access to it."""
    home, away = world.home["organizationId"], world.away["organizationId"]
    user_id = world.users["editor"]
    with world.context.db.write() as tx:
        upsert_member(tx, away, user_id, "edit")
        bound = create_token(tx, user_id, name="bound", organization_id=home)
        there = sessions.begin(tx, user_id, "saml", client="", agent="", organization_id=away).secret
        here = sessions.begin(tx, user_id, "saml", client="", agent="", organization_id=home).secret
        remove_member(tx, home, user_id)
    for secret in (bound, here):
        assert world.call(NOBODY, "GET", "/user", headers=bearer(secret)).status_code == 401
    for secret in (there, world.token("editor")):
        assert world.call(NOBODY, "GET", world.away.path(ORG), headers=bearer(secret)).status_code == 200
        assert world.call(NOBODY, "GET", world.home.path(ORG), headers=bearer(secret)).status_code == 404


def test_a_refused_change_revokes_nothing(world):
    class Undone(Exception):
        pass

    with pytest.raises(Undone), world.context.db.write() as tx:
        disable_member(tx, world.home["organizationId"], world.users["editor"])
        raise Undone
    assert world.call("editor", "GET", world.home.path("/spaces/{spaceId}")).status_code == 200


# --- joining by domain ----------------------------------------------------------------------------------


def open_to(world, *domains, place=None, **more):
    place = place or world.away
    assert patch(world, place.admin, place.path(ORG), emailDomains=domains, **more).status_code == 200
    for domain in domains:
        verify_domain(world.context, place["organizationId"], domain)


def join(world, who, place=None):
    return world.call(who, "POST", (place or world.away).path(f"{ORG}/join")).status_code


def test_colleagues_join_with_the_default_role(world):
    open_to(world, "example.org", defaultRole="comment")
    found = world.get("editor", "/email-domains/Example.ORG/orgs")["organizations"]
    assert [(org["title"], org["permissions"]["view"]) for org in found] == [("Away", False)]
    assert join(world, "editor") == 204
    assert world.get("stranger", member_path(world, "editor", world.away))["role"] == "comment"
    open_to(world, "example.org", defaultRole="admin")
    assert join(world, "editor") == 204
    assert world.get("stranger", member_path(world, "editor", world.away))["role"] == "comment"


def test_an_unverified_address_joins_no_organization(world):
    open_to(world, "example.org")
    write(world, "UPDATE users SET email_verified = 0 WHERE id = :id", id=world.users["editor"])
    assert join(world, "editor") == 400
    assert world.get("editor", "/email-domains/example.org/orgs")["organizations"] == []
    members = world.get("stranger", world.away.path(f"{ORG}/members"))
    assert world.users["editor"] not in [member["id"] for member in members["items"]]


@pytest.mark.parametrize("domain", ["example.com", "xample.org", "sub.example.org", "exampleXorg.org"])
def test_only_the_exact_domain_counts(world, domain):
    open_to(world, domain)
    assert join(world, "editor") == 404
    assert world.get("editor", "/email-domains/example.org/orgs")["organizations"] == []


def test_closed_and_missing_organizations_get_the_same_response(world):
    closed = world.call("editor", "POST", world.away.path(f"{ORG}/join"))
    missing = world.call("editor", "POST", "/orgs/0VbbPKfLF4mQ72JCT942/join")
    assert closed.status_code == missing.status_code == 404
    text = closed.json()["error"]["message"].replace(world.away["organizationId"], "ID")
    assert text == missing.json()["error"]["message"].replace("0VbbPKfLF4mQ72JCT942", "ID")


def test_deactivated_members_cannot_rejoin_by_domain(world):
    open_to(world, "example.org")
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["editor"], "edit")
        disable_member(tx, world.away["organizationId"], world.users["editor"])
    assert join(world, "editor") == 404


def test_email_addresses_are_not_revealed(world):
    """A stranger can't find out who is a member by domain, ID, or team."""
    open_to(world, "example.com", place=world.home)
    assert world.get("stranger", "/email-domains/example.com/orgs")["organizations"] == []
    known = world.call("stranger", "GET", f"/users/{world.users['editor']}")
    unknown = world.call("stranger", "GET", "/users/0VbbPKfLF4mQ72JCT942")
    assert known.status_code == unknown.status_code == 404
    teams = world.away.path(f"{ORG}/teams")
    for name in ("editor@example.org", "nobody@example.org", world.users["editor"]):
        body = {"title": "Probe", "members": [name]}
        assert world.call("stranger", "PUT", teams, json=body).status_code == 404
    sign_in = [
        world.call(NOBODY, "POST", "/sign-in/discover", json={"email": f"{name}@example.org"}).content
        for name in ("editor", "nobody.at.all")
    ]
    assert sign_in[0] == sign_in[1]


# --- members, teams, settings -----------------------------------------------------------------------------


def test_members_are_listed_sorted_filtered_and_paginated(world):
    path = world.home.path(f"{ORG}/members")
    everybody = world.get("reader", path)
    assert everybody["count"] == len(everybody["items"])
    assert [m["role"] for m in world.get("reader", path, params={"role": "guest"})["items"]] == [None]
    found = world.get("reader", path, params={"search": "EDITOR@"})["items"]
    assert [member["id"] for member in found] == [world.users["editor"]]
    assert world.get("reader", path, params={"search": "%"})["count"] == 0
    names = [one["user"]["displayName"].lower() for one in everybody["items"]]
    for order in ("asc", "desc"):
        shown = world.get("reader", path, params={"sort": "name", "order": order})["items"]
        assert [one["user"]["displayName"].lower() for one in shown] == sorted(names, reverse=order == "desc")
    for sort in ("joinedAt", "lastSeenAt", "name"):
        for order in ("asc", "desc"):
            page, seen = None, []
            while True:
                params = {"limit": 4, "sort": sort, "order": order, **({"page": page} if page else {})}
                answer = world.get("reader", path, params=params)
                seen += [member["id"] for member in answer["items"]]
                if "next" not in answer:
                    break
                page = answer["next"]["page"]
            assert len(seen) == len(set(seen)) == everybody["count"]
    assert world.call("guest", "GET", path).status_code == 403


def test_the_time_of_last_activity_is_recorded(world):
    path = member_path(world, "reader")
    assert "lastSeenAt" not in world.get("admin", path)
    assert world.post("reader", world.home.path(f"{ORG}/ping")) == {}
    assert world.get("admin", path)["lastSeenAt"]
    assert world.call("stranger", "POST", world.home.path(f"{ORG}/ping")).status_code == 404


@pytest.mark.parametrize("who", ["guest", "editor"])
def test_signing_in_counts_as_activity(world, who):
    path = member_path(world, who)
    assert "lastSeenAt" not in world.get("admin", path)
    body = {"email": f"{who}@example.org", "password": PASSWORD}
    assert world.call(NOBODY, "POST", "/sign-in", json=body).status_code == 200
    assert world.get("admin", path)["lastSeenAt"]


def test_a_team_owner_only_manages_their_team(world):
    team = world.home.path(f"{ORG}/teams/{{teamId}}")
    mine = f"{team}/members/{world.users['reader']}"
    assert world.call("admin", "PUT", mine, json={"role": "owner"}).status_code == 204
    other = f"{team}/members/{world.users['editor']}"
    assert world.call("editor", "PUT", other).status_code == 403
    assert world.call("reader", "PUT", other).status_code == 204
    assert world.get("reader", team)["permissions"] == {"admin": True, "view": True}
    assert world.get("editor", team)["permissions"] == {"admin": False, "view": True}
    listed = world.get("admin", f"{team}/members")["items"]
    assert {(m["organization"]["id"], m["team"]["role"]) for m in listed} == {
        (world.users["reader"], "owner"),
        (world.users["editor"], "member"),
    }
    assert world.call("editor", "PATCH", team, json={"title": "Mine"}).status_code == 403
    assert world.call("editor", "DELETE", team).status_code == 403
    stranger = f"{team}/members/{world.users['stranger']}"
    assert world.call("reader", "PUT", stranger).status_code == 404
    body = {"add": [world.users["commenter"]], "remove": ["editor@example.org"]}
    assert world.call("reader", "PUT", f"{team}/members", json=body).status_code == 204
    teams = world.get("admin", f"{member_path(world, 'commenter')}/teams")["items"]
    assert [(item["team"]["id"], item["member"]["role"]) for item in teams] == [
        (world.home["teamId"], "member")
    ]
    assert world.call("reader", "DELETE", other).status_code == 204
    assert world.call("reader", "DELETE", f"{team}/members/{world.users['commenter']}").status_code == 205


def test_all_settings_are_stored_and_returned(world):
    path = world.home.path(ORG)
    settings = {
        "title": "  Renamed  ",
        "hostname": "renamed-home",
        "defaultRole": None,
        "defaultContent": {"type": "site", "site": world.home["siteId"]},
        "logo": "https://example.org/logo.png",
        "sso": True,
        "ai": False,
        "inviteLinks": False,
        "emailDomains": ["example.org"],
        "mergeRules": {"type": "rules", "rules": [{"rule": "require_at_least_one_review"}]},
    }
    shown = world.call("admin", "PATCH", path, json=settings).json()
    assert shown == world.get("admin", path)
    assert shown["urls"]["logo"] == settings.pop("logo")
    assert {name: shown[name] for name in settings} == {**settings, "title": "Renamed"}
    cleared = world.call("admin", "PATCH", path, json={"logo": None, "defaultContent": None}).json()
    assert "logo" not in cleared["urls"] and "defaultContent" not in cleared
    assert cleared["mergeRules"] == settings["mergeRules"]


@pytest.mark.parametrize(
    "body",
    [
        {"title": " "},
        {"hostname": "-bad"},
        {"hostname": "Capital"},
        {"hostname": "ab"},
        {"emailDomains": ["no domain"]},
        {"logo": "javascript:alert(1)"},
        {"mergeRules": {"type": "inherit"}},
        {"mergeRules": {"type": "rules", "rules": [{"rule": "custom", "expression": "((("}]}},
        *(
            {"mergeRules": {"type": "rules", "rules": [{"rule": "custom", "expression": expression}]}}
            for expression in (
                "1 + 1",
                "changeRequest.subject",
                "reviews.length",
                "'yes'",
                "null",
                "nonsense == 1",
                "reviews.count() > 1",
                "changeRequest.title ? 'yes' : 'no'",
            )
        ),
        {"defaultRole": "owner"},
        {"sso": None},
    ],
)
def test_invalid_settings_are_refused(world, body):
    before = world.digest()
    assert patch(world, "admin", world.home.path(ORG), **body).status_code == 400
    assert world.digest() == before


@pytest.mark.parametrize(
    "expression",
    [
        "changeRequest.subject == 'Ready'",
        "changeRequest.outdated && reviews.length",
        "reviews[0].status == 'approved'",
        "reviews.some(review => review.status == 'approved' && !review.outdated)",
        "reviews.length ? reviews.every(r => r.reviewer.id != actor.id) : null",
        "/^[A-Z]/.test(changeRequest.description)",
    ],
)
def test_merge_rules_that_can_return_a_boolean_are_accepted(world, expression):
    rules = {"type": "rules", "rules": [{"rule": "custom", "expression": expression}]}
    assert patch(world, "admin", world.home.path(ORG), mergeRules=rules).json()["mergeRules"] == rules


def test_a_hostname_belongs_to_one_organization(world):
    taken = world.get("stranger", world.away.path(ORG))["hostname"]
    assert patch(world, "admin", world.home.path(ORG), hostname=taken).status_code == 400


def test_a_released_hostname_is_reserved_for_a_while(world, clock):
    """Old links keep working for their organization, and no one else can take over the hostname."""
    old = world.get("admin", world.home.path(ORG))["hostname"]
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    address = world.post("admin", f"{site}/publish")["urls"]["published"]
    path = address.removeprefix(world.context.settings.sites_url)
    assert path.split("/")[1] == old
    assert patch(world, "admin", world.home.path(ORG), hostname="renamed-home").status_code == 200
    visitor = Visitor(world.context)
    answer = visitor.get(f"{path}x/y", params={"a": "b"})
    assert (answer.status_code // 100, answer.headers["location"]) == (
        3,
        f"{path}x/y?a=b".replace(old, "renamed-home"),
    )
    assert visitor.get(path.replace(old, "renamed-home")).status_code == 200
    refused = patch(world, "stranger", world.away.path(ORG), hostname=old)
    assert (refused.status_code, "hostname" in refused.text) == (400, True)
    assert world.post("stranger", "/orgs", {"title": old.title()})["hostname"] != old
    # Its organization can use it again, and the other hostname is then reserved.
    assert patch(world, "admin", world.home.path(ORG), hostname=old).status_code == 200
    assert patch(world, "stranger", world.away.path(ORG), hostname="renamed-home").status_code == 400
    for number in range(12):
        assert patch(world, "admin", world.home.path(ORG), hostname=f"name-{number}").status_code == 200
    assert patch(world, "stranger", world.away.path(ORG), hostname=old).status_code == 200, (
        "of few it is kept"
    )
    assert visitor.get(path).status_code == 404
    clock.advance(store.HOSTNAME_RESERVED + 1000)
    assert patch(world, "stranger", world.away.path(ORG), hostname="name-10").status_code == 200


def test_single_sign_on_requires_a_provider(world):
    write(world, "DELETE FROM saml_providers")
    assert patch(world, "admin", world.home.path(ORG), sso=True).status_code == 400
    assert world.call("admin", "POST", f"{member_path(world, 'reader')}/sso").status_code == 412


def test_the_creator_administers_a_new_organization(world):
    made = world.post("reader", "/orgs", {"title": "Mine"})
    assert made["permissions"]["admin"] is True
    assert world.call("admin", "GET", f"/orgs/{made['id']}").status_code == 404
    titles = [org["title"] for org in world.get("reader", "/orgs")["items"]]
    assert titles == ["Mine", "Home"]


def test_accounts_are_updated_by_their_owners(world):
    path = f"/users/{world.users['reader']}"
    assert patch(world, "admin", path, displayName="Renamed").status_code == 403
    assert patch(world, "stranger", path, displayName="Renamed").status_code == 404
    changed = patch(world, "reader", path, displayName=" New ", photoURL="https://example.org/me.png").json()
    assert (changed["displayName"], changed["photoURL"]) == ("New", "https://example.org/me.png")
    assert patch(world, "reader", path, photoURL="data:image/svg+xml,x").status_code == 400
    with world.context.db.write() as tx:
        somebody = insert_user(tx, "alone@example.com", "Alone", verified=True)
    assert patch(world, "reader", f"/users/{somebody.id}", displayName="X").status_code == 404


# --- leaving, owning teams, scopes --------------------------------------------------------------------


@pytest.mark.sqlite_first
@pytest.mark.parametrize("who", ["creator", "reader", "guest"])
def test_a_member_can_leave(world, who):
    path = member_path(world, who)
    other = "editor"
    assert world.call(who, "DELETE", member_path(world, other)).status_code == 403
    assert world.call(who, "DELETE", path).status_code == 205
    # Their token was bound to this organization and ends with the membership.
    assert world.call(who, "GET", world.home.path("/orgs/{organizationId}")).status_code == 401
    assert world.call("admin", "GET", member_path(world, other)).status_code == 200
    events = world.get("admin", world.home.path("/orgs/{organizationId}/audit-events"))["items"]
    assert events[0]["action"] == "member.removed"


def test_the_last_administrator_cannot_leave(world):
    assert world.call("admin", "DELETE", member_path(world, "admin")).status_code == 409


def test_a_team_owner_has_the_permissions_that_the_api_reports(world):
    org = world.home.path("/orgs/{organizationId}")
    team = world.home.path("/orgs/{organizationId}/teams/{teamId}")
    assert world.get("reader", org)["permissions"]["ownTeam"] is False
    assert world.call("reader", "PATCH", team, json={"title": "Mine"}).status_code == 403
    assert world.call("reader", "DELETE", team).status_code == 403
    member = f"{team}/members/{world.users['reader']}"
    assert world.call("admin", "PUT", member, json={"role": "owner"}).is_success
    assert world.get("reader", team)["permissions"]["admin"] is True
    assert world.get("reader", org)["permissions"]["ownTeam"] is True
    assert world.get("reader", "/orgs")["items"][0]["permissions"]["ownTeam"] is True
    assert world.call("reader", "PATCH", team, json={"title": "Mine"}).json()["title"] == "Mine"
    assert world.call("reader", "DELETE", team).status_code == 205
    assert world.get("reader", org)["permissions"]["ownTeam"] is False


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("scopes", "space", "org", "team", "comment"),
    [
        (None, {"edit", "comment", "merge", "admin"}, {"admin", "createContent"}, True, True),
        (["admin"], {"edit", "comment", "merge", "admin"}, {"admin", "createContent"}, True, True),
        (["write"], {"edit", "comment", "merge", "admin"}, {"admin", "createContent"}, True, True),
        (["read"], set(), set(), False, False),
        (["comments:write", "read"], {"comment"}, set(), False, True),
        (["changes:write", "read"], {"edit", "merge"}, set(), False, False),
        (["spaces:write", "read"], {"admin"}, {"createContent"}, False, False),
    ],
)
def test_permissions_depend_on_the_reach_of_the_token(world, scopes, space, org, team, comment):
    body = {"name": "Scoped", **({"scopes": scopes} if scopes else {})}
    made = world.call("admin", "POST", "/user/tokens", json=body, headers=world.session("admin"))
    headers = bearer(made.json()["token"])

    def shown(path):
        answer = world.call("nobody", "GET", world.home.path(path), headers=headers)
        assert answer.is_success, answer.text
        return answer.json()["permissions"]

    def true(found, names):
        return {name for name in names if found[name]}

    found = shown("/spaces/{spaceId}")
    assert found["view"] is True
    assert true(found, ("edit", "comment", "merge", "admin")) == space
    assert shown("/collections/{collectionId}")["view"] is True
    assert true(shown("/orgs/{organizationId}"), ("admin", "createContent")) == org
    assert shown("/orgs/{organizationId}/teams/{teamId}")["admin"] is team
    assert shown("/spaces/{spaceId}/comments/{commentId}")["reply"] is comment
