"""Reach of a token or session: lists, people, and later jobs. For single operations, see
contract/test_reach.py."""

import pytest

from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_token
from world import NOBODY


@pytest.fixture
def both(world):
    """Make the reader a member of both organizations; away has a page that home does not have."""
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["reader"], "edit")
        upsert_member(tx, world.home["organizationId"], world.users["reader"], "edit")
    return world


def force(world, place):
    with world.context.db.write() as tx:
        tx.run(
            """UPDATE organizations SET settings = '{"sso":true}' WHERE id = :id""",
            id=place["organizationId"],
        )


def organizations(world, headers):
    listed = world.call(NOBODY, "GET", "/orgs", headers=headers).json()
    assert listed["count"] == len(listed["items"])
    return {item["id"] for item in listed["items"]}


def test_organizations_out_of_reach_and_their_people_are_not_listed(both):
    home, away = both.home["organizationId"], both.away["organizationId"]
    stranger = f"/users/{both.users['stranger']}"

    def knows(headers):
        return both.call(NOBODY, "GET", stranger, headers=headers).status_code == 200

    by_password, vouched = both.session("reader"), both.session("reader", organization_id=home)
    assert organizations(both, by_password) == {home, away} and knows(by_password)
    assert organizations(both, vouched) == {home} and not knows(vouched)
    force(both, both.away)
    assert organizations(both, by_password) == {home} and not knows(by_password)
    # It stays open to its own sign-in, to personal tokens, and to its administrators.
    assert organizations(both, both.session("reader", organization_id=away)) == {away}
    token = {"authorization": f"Bearer {both.token('reader')}"}
    assert organizations(both, token) == {home, away} and knows(token)
    with both.context.db.write() as tx:
        upsert_member(tx, away, both.users["reader"], "admin")
    assert organizations(both, by_password) == {home, away}


def test_a_template_gives_no_access_to_another_organization(both):
    path = both.home.path("/spaces/{spaceId}/content/template")
    pages = both.home.path("/spaces/{spaceId}/content/pages")
    before = both.get("reader", pages)
    for headers in (
        both.session("reader", organization_id=both.home["organizationId"]),
        both.session("reader"),
    ):
        force(both, both.away)
        answer = both.call(NOBODY, "POST", path, headers=headers, json={"id": both.away["spaceId"]})
        assert answer.status_code == 404
        answer = both.call(
            NOBODY,
            "POST",
            both.home.path("/spaces/{spaceId}/change-requests"),
            headers=headers,
            json={"template": {"id": both.away["spaceId"]}},
        )
        assert answer.status_code == 404
    assert both.get("reader", pages) == before
    assert both.call("reader", "POST", path, json={"id": both.away["spaceId"]}).status_code == 201


def test_the_reach_of_a_session_is_checked_with_each_request(both):
    headers = both.session("reader")
    path = both.away.path("/spaces/{spaceId}")
    assert both.call(NOBODY, "GET", path, headers=headers).status_code == 200
    force(both, both.away)
    assert both.call(NOBODY, "GET", path, headers=headers).status_code == 403
    # People who can't see it don't learn that it exists.
    assert both.call(NOBODY, "GET", path, headers=both.session("editor")).status_code == 404


def test_lists_and_searches_of_a_bound_token_only_cover_its_organization(both):
    with both.context.db.write() as tx:
        home = both.home["organizationId"]
        secret = create_token(tx, both.users["reader"], name="bound", organization_id=home)
    headers = {"authorization": f"Bearer {secret}"}
    for path in ("spaces", "collections", "change-requests", "search?query=install", "sites", "members"):
        for place, status in ((both.home, 200), (both.away, 404)):
            answer = both.call(NOBODY, "GET", place.path(f"/orgs/{{organizationId}}/{path}"), headers=headers)
            assert answer.status_code == status, (path, answer.text)
            assert both.away["spaceId"] not in answer.text
