"""The test world itself."""

import pytest

from world import CAST, NOBODY, STRANGER


@pytest.mark.parametrize("who", CAST)
def test_each_person_of_the_world_has_a_role(world, who):
    answer = world.call(who, "GET", "/user")
    if who == NOBODY:
        assert answer.status_code == 401
    else:
        assert answer.json()["id"] == world.users[who]


def test_the_organizations_are_separate(world):
    home, away = "/orgs/" + world.home["organizationId"], "/orgs/" + world.away["organizationId"]
    assert world.call("admin", "GET", home).status_code == 200
    assert world.call("admin", "GET", away).status_code == 404
    assert world.call(STRANGER, "GET", home).status_code == 404
    assert set(world.home.ids) == set(world.away.ids)
    shared = {name for name in world.home.ids if world.home[name] == world.away[name]}
    repository = {"accountName", "repositoryName", "projectId"}
    own = {"clientId", "pagePath", "emailDomain", "resourceType", "schemaId", "specSlug"}
    assert shared == own | repository


def test_renewing_reverts_all_writes(world):
    before = world.digest()
    # A little and a lot: the database grows, is restored, and grows to another size.
    for length in (1_000_000, 10, 300_000):
        world.post("admin", "/orgs", {"title": "Third"})
        with world.context.db.write() as tx:
            tx.run("UPDATE spaces SET title = :text", text="x" * length)
        assert world.digest() != before
        world.renew()
        assert world.digest() == before
        assert len(world.get("admin", "/orgs")["items"]) == 1
        with world.context.db.read() as tx:
            assert tx.engine != "sqlite" or tx.value("PRAGMA integrity_check") == "ok"
