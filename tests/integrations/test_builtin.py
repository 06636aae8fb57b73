"""The integrations that come with Octavo, installed over the API."""

from __future__ import annotations

from octavo.integrations.builtin import BUILT
from world import SCRIPT

BUILTIN = "/orgs/{organizationId}/builtin-integrations"


def states(world, place):
    listed = world.get(place.admin, place.path(BUILTIN))
    assert listed["count"] == len(listed["items"]) and "next" not in listed
    return {one["name"]: one["state"] for one in listed["items"]}


def test_it_belongs_to_whoever_installs_it_first(world):
    home, other = world.home, world.away
    assert states(world, home) == dict.fromkeys(("oidc-sign-in", "plausible", "slack"), "available")
    made = world.post("admin", home.path(BUILTIN), {"name": "slack"})
    assert made["status"] == "pending" and made["target"] == {"organization": home["organizationId"]}
    shown = world.get(other.admin, "/integrations/slack")
    assert (shown["version"], shown["owner"]["id"]) == (1, home["organizationId"])
    assert states(world, home)["slack"] == "published" and states(world, other)["slack"] == "taken"
    refused = world.call(other.admin, "POST", other.path(BUILTIN), json={"name": "slack"})
    assert refused.status_code == 404 and "choose another one" in refused.json()["error"]["message"]
    # Whoever did not publish it installs it like any other.
    target = {"organization": other["organizationId"]}
    assert world.post(other.admin, "/integrations/slack/installations", target)["status"] == "pending"
    # Done again, it stays the version that it is.
    assert world.post("admin", home.path(BUILTIN), {"name": "slack"})["id"] == made["id"]
    assert world.get("admin", "/integrations/slack")["version"] == 1


def test_another_version_is_replaced_and_its_configuration_stays(world):
    home = world.home
    body = {
        "title": "Slack",
        "description": "An earlier one",
        "organization": home["organizationId"],
        "script": SCRIPT,
        "scopes": [],
    }
    world.post("admin", "/integrations/slack", body)
    assert states(world, home)["slack"] == "outdated"
    target = {"organization": home["organizationId"]}
    made = world.post("admin", "/integrations/slack/installations", target)
    path = f"/integrations/slack/installations/{made['id']}"
    configuration = {"webhook_url": "https://hooks.slack.com/services/1"}
    assert world.call("admin", "PATCH", path, json={"configuration": configuration}).is_success
    assert world.post("admin", home.path(BUILTIN), {"name": "slack"})["configuration"] == configuration
    assert world.get("admin", "/integrations/slack")["version"] == 2
    assert states(world, home)["slack"] == "published"


def test_one_that_does_not_come_along(world):
    for name in ("nothing", "../slack", "slack.json"):
        refused = world.call("admin", "POST", world.home.path(BUILTIN), json={"name": name})
        assert refused.status_code == 404
        assert refused.json()["error"]["message"].endswith("there are: oidc-sign-in, plausible, slack.")


def test_scripts_are_readable_beside_their_manifests():
    assert sorted(path.name for path in BUILT.iterdir()) == [
        f"{name}.{kind}" for name in ("oidc-sign-in", "plausible", "slack") for kind in ("js", "json")
    ]
