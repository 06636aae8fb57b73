"""OAuth for the API: an app makes a request without a resource, a person chooses scopes and an organization, and
the token has these permissions in the API and no others."""

from __future__ import annotations

import json
from html import unescape

import pytest

from octavo.kit.http.operation import TABLE, Person
from octavo.operations.installation import load_packages
from octavo.organization.access.api_scopes import API_SCOPES, API_SCOPES_NEEDED
from octavo.organization.access.scopes import Reach, allows
from world import NOBODY, URL

from .test_agents import CHALLENGE, Agent, Connecting

load_packages()


class Calling:
    """App with a token for the API."""

    def __init__(self, connecting, *scopes):
        self.world, self.given = connecting.world, connecting.token(*scopes)

    def call(self, method, path, **options):
        headers = {"authorization": f"Bearer {self.given['access_token']}"}
        return self.world.call(NOBODY, method, path, headers=headers, **options)


@pytest.fixture
def connecting(world):
    return Connecting(world)


def test_an_app_without_a_resource_requests_access_to_the_api(world, connecting):
    server = connecting.raw("GET", "/.well-known/oauth-authorization-server").json()
    assert len(API_SCOPES) == 29 and set(API_SCOPES) <= set(server["scopes_supported"])
    for path in ("", "/v1"):
        resource = connecting.raw("GET", f"/.well-known/oauth-protected-resource{path}").json()
        assert resource["resource"] == f"{URL}/v1" and resource["scopes_supported"] == list(API_SCOPES)
    for resource in (None, URL, f"{URL}/v1", f"{URL}/v1/"):
        page = connecting.authorize(resource=resource, scope=" ".join(server["scopes_supported"]))
        assert page.status_code == 200, page.headers
        asked = json.loads(unescape(page.text.partition('data-asked="')[2].partition('"')[0]))
        assert "organization" not in asked and asked["codeChallenge"] == CHALLENGE
        assert all(f'value="{scope}"' in page.text for scope in API_SCOPES) and "docs:" not in page.text
        # Far-reaching scopes are granted only if the person checks them.
        assert 'value="change-request:merge">' in page.text and 'value="space:read" checked>' in page.text
        assert 'value="integration:publish">' in page.text, "a script may have more scopes than the app"
    narrow = connecting.authorize(resource=None, scope="space:read openapi:write").text
    assert narrow.count('name="scope"') == 2


def test_an_api_token_is_limited_to_its_granted_scopes(world, connecting):
    app = Calling(connecting, "user:read", "space:read", "organization:read")
    assert app.given["access_token"].startswith("oco_") and app.given["expires_in"] == 3600
    assert app.given["scope"].split() == ["user:read", "organization:read", "space:read"]
    org, space = world.home["organizationId"], world.home["spaceId"]
    assert app.call("GET", "/user").json()["id"] == world.users["editor"]
    assert [one["id"] for one in app.call("GET", "/orgs").json()["items"]] == [org]
    assert app.call("GET", f"/spaces/{space}").status_code == 200
    refused = app.call("PATCH", f"/spaces/{space}", json={"title": "Taken"})
    assert refused.status_code == 403 and "space:write" in refused.json()["error"]["message"]
    # Nothing outside its scopes: tokens, and anything that would extend its access.
    for method, path in (("GET", "/user/tokens"), ("POST", "/user/tokens"), ("GET", "/user/agents")):
        assert app.call(method, path, json={"name": "x"} if method == "POST" else None).status_code == 403
    elsewhere = world.away.path("/spaces/{spaceId}")
    assert app.call("GET", elsewhere).status_code == 404
    # It is valid for the API, and not for the tools of agents, whose tokens are valid only there.
    assert Agent(world, app.given["access_token"]).post({}).status_code == 401
    tools = connecting.token("docs:read")["access_token"]
    headers = {"authorization": f"Bearer {tools}"}
    assert world.call(NOBODY, "GET", f"/spaces/{space}", headers=headers).status_code == 401


def test_an_app_has_no_more_permissions_than_its_person(world):
    app = Calling(Connecting(world, "reader"), "space:read", "space:write")
    space = world.home["spaceId"]
    assert app.call("GET", f"/spaces/{space}").status_code == 200
    assert app.call("PATCH", f"/spaces/{space}", json={"title": "Taken"}).status_code == 403


def test_actions_of_an_app_are_recorded_under_its_name(world):
    app = Calling(Connecting(world, "admin"), "space:read", "space:write")
    space = world.home["spaceId"]
    made = app.call("POST", f"/spaces/{space}/change-requests", json={"subject": "By an app"})
    assert made.status_code == 201 and made.json()["agent"] == "Pen", made.text
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    created = app.call("POST", spaces, json={"title": "By an app"}).json()["id"]
    assert app.call("DELETE", f"/spaces/{created}").status_code == 205
    events = world.get("admin", f"/orgs/{world.home['organizationId']}/audit-events")["items"]
    deleted = next(one for one in events if one["action"] == "space.deleted")
    assert deleted["agent"] == "Pen" and deleted["actor"]["id"] == world.users["admin"]


def test_a_token_for_the_api_is_renewed_and_revoked(world, connecting):
    app = Calling(connecting, "user:read")
    form = {
        "grant_type": "refresh_token",
        "refresh_token": app.given["refresh_token"],
        "client_id": connecting.client,
    }
    old, app.given = app.given, connecting.raw("POST", "/oauth/token", data=form).json()
    assert app.given["access_token"].startswith("oco_") and app.call("GET", "/user").status_code == 200
    app.given, new = old, app.given
    assert app.call("GET", "/user").status_code == 401
    app.given = new
    connecting.raw("POST", "/oauth/revoke", data={"token": new["refresh_token"]})
    assert app.call("GET", "/user").status_code == 401


def test_a_link_created_by_an_app_ends_with_its_access(world, connecting):
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    assert Calling(connecting, "site:read").call("GET", f"{site}/publishing/preview").status_code == 403
    app = Calling(connecting, "site:read", "space:read")
    token = app.call("GET", f"{site}/publishing/preview").json()["url"].partition("preview_token=")[2]

    def shown():
        asked = {"url": f"https://preview/{world.home['siteId']}/"}
        headers = {"authorization": f"Bearer {token}"}
        return world.call(NOBODY, "POST", "/urls/published", json=asked, headers=headers).status_code

    assert shown() == 200
    for connected in world.get("editor", "/user/agents")["items"]:
        assert world.call("editor", "DELETE", f"/user/agents/{connected['id']}").status_code == 205
    assert shown() in (401, 404)


@pytest.mark.sqlite_first
def test_scopes_of_the_tools_and_the_api_are_separate(connecting):
    assert connecting.agree("docs:read", "space:read").status_code == 400
    assert connecting.agree("docs:draft").status_code == 400
    assert connecting.agree("nothing:read").status_code == 400


def test_every_operation_named_by_a_scope_exists() -> None:
    assert set(API_SCOPES_NEEDED) <= set(TABLE)
    everything = Reach(Person, frozenset(API_SCOPES), agent=True)
    assert {o.id for o in TABLE.values() if allows(everything, o)} == set(API_SCOPES_NEEDED)
    for operation_id, needed in API_SCOPES_NEEDED.items():
        for scope in needed:
            without = Reach(Person, frozenset(API_SCOPES) - {scope}, agent=True)
            assert not allows(without, TABLE[operation_id]), operation_id


SAY_SO = {
    "organization:ask",
    "organization:search",
    "site:ask",
    "site:search",
    "site:publish",
    "site:auth:read",
    "space:read",
    "space:write",
    "change-request:merge",
    "integration:publish",
    "integration:installations:write",
}
"""Scopes whose text on the consent page says what they include beyond their area."""


def test_operations_require_scopes_for_every_area_they_affect() -> None:
    """An operation that affects another area needs the scope for it, or a scope that says so."""
    reaching = {o.id for o in TABLE.values() if o.yields and o.id in API_SCOPES_NEEDED}
    unsaid = {id for id in reaching if not API_SCOPES_NEEDED[id] & SAY_SO}
    assert all(len(API_SCOPES_NEEDED[id]) > 1 for id in unsaid), unsaid
    # People who can show or send content elsewhere can read it there.
    for id in ("createSite", "addSpaceToSite", "addSectionToSite", "exportToGitRepository"):
        assert "space:read" in API_SCOPES_NEEDED[id], id


def test_read_scopes_name_no_operation_that_writes() -> None:
    """Except questions, which need a body."""
    asking = {"aggregateSiteEvents", "getComputedDocument", "getComputedRevision"}
    for operation_id, needed in API_SCOPES_NEEDED.items():
        if TABLE[operation_id].method != "GET" and all(scope.endswith(":read") for scope in needed):
            assert operation_id in asking, operation_id
