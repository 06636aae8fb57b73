"""The integrations that come with Octavo: reserved names, a copy for each organization."""

from __future__ import annotations

import msgspec
import pytest

from octavo.errors import BadRequest, NotFound
from octavo.extensions.integrations import publishing
from octavo.extensions.integrations.builtin import BUILT, separate_copies
from octavo.extensions.integrations.manifest import PublishIntegration
from octavo.extensions.integrations.public import find_subject_at
from octavo.extensions.integrations.publishing import BUILTIN_NAMES
from octavo.operations.admin import verification
from octavo.operations.developing.examples import list_builtin as list_names
from world import SCRIPT

BUILTIN = "/orgs/{organizationId}/builtin-integrations"


def states(world, place):
    listed = world.get(place.admin, place.path(BUILTIN))
    assert listed["count"] == len(listed["items"]) and "next" not in listed
    return {one["name"]: one["state"] for one in listed["items"]}


def copy_of(place, name="slack"):
    return f"{name}.{place['organizationId']}"


def publication(place, **more):
    body = {"title": "Slack", "description": "Says what changed", "script": SCRIPT, "scopes": []}
    return {**body, "organization": place["organizationId"], **more}


def publish_by_hand(world, place, name, script=SCRIPT):
    """Publish under a name that the API reserves, as was possible before."""
    body = msgspec.convert(publication(place, script=script), PublishIntegration)
    return publishing.publish(world.context, world.actor(place.admin), name, body)


def offered(world, place):
    listed = world.get(place.admin, place.path("/orgs/{organizationId}/integrations"))["items"]
    return [one["name"] for one in listed]


def test_each_organization_installs_its_own_copy(world):
    home, other = world.home, world.away
    assert states(world, home) == dict.fromkeys(("oidc-sign-in", "plausible", "slack"), "available")
    made = world.post("admin", home.path(BUILTIN), {"name": "slack"})
    assert made["status"] == "pending" and made["target"] == {"organization": home["organizationId"]}
    shown = world.get("admin", f"/integrations/{copy_of(home)}")
    assert (shown["version"], shown["owner"]["id"]) == (1, home["organizationId"])
    assert shown["visibility"] == "private"
    assert (states(world, home)["slack"], states(world, other)["slack"]) == ("published", "available")
    # The other organization is neither offered this copy nor reaches it.
    assert copy_of(home) not in offered(world, other)
    assert world.call(other.admin, "GET", f"/integrations/{copy_of(home)}").status_code == 404
    target = {"organization": other["organizationId"]}
    path = f"/integrations/{copy_of(home)}/installations"
    assert world.call(other.admin, "POST", path, json=target).status_code == 404
    theirs = world.post(other.admin, other.path(BUILTIN), {"name": "slack"})
    assert theirs["target"] == target and theirs["id"] != made["id"]
    listed = world.get(other.admin, other.path(BUILTIN))["items"]
    assert [one.get("integration") for one in listed] == [None, None, copy_of(other)]
    # Done again, it stays the version that it is.
    assert world.post("admin", home.path(BUILTIN), {"name": "slack"})["id"] == made["id"]
    assert world.get("admin", f"/integrations/{copy_of(home)}")["version"] == 1
    # Removing a copy doesn't affect other organizations.
    assert world.call("admin", "DELETE", f"/integrations/{copy_of(home)}").status_code == 205
    assert (states(world, home)["slack"], states(world, other)["slack"]) == ("available", "published")


@pytest.mark.parametrize(
    "name", ["slack", "Slack", "SLACK", "slack.1", "oidc-sign-in", "plausible.x", "copy"]
)
def test_names_of_builtin_integrations_are_reserved(world, name):
    """Otherwise, a copy of another organization could be offered as the built-in one."""
    home, other = world.home, world.away
    if name == "copy":
        world.post("admin", home.path(BUILTIN), {"name": "slack"})
        name = copy_of(home)
    before = world.digest()
    for place in (home, other):
        refused = world.call(place.admin, "POST", f"/integrations/{name}", json=publication(place))
        assert refused.status_code == 400
        assert refused.json()["error"]["message"].endswith(
            "is reserved for the built-in integration. Choose another name."
        )
    assert world.digest() == before


def test_an_updated_version_keeps_the_configuration(world):
    home = world.home
    publish_by_hand(world, home, copy_of(home))
    assert states(world, home)["slack"] == "outdated"
    target = {"organization": home["organizationId"]}
    made = world.post("admin", f"/integrations/{copy_of(home)}/installations", target)
    path = f"/integrations/{copy_of(home)}/installations/{made['id']}"
    configuration = {"webhook_url": "https://hooks.slack.com/services/1"}
    assert world.call("admin", "PATCH", path, json={"configuration": configuration}).is_success
    assert world.post("admin", home.path(BUILTIN), {"name": "slack"})["configuration"] == configuration
    assert world.get("admin", f"/integrations/{copy_of(home)}")["version"] == 2
    assert states(world, home)["slack"] == "published"


def test_a_copy_that_was_shared_is_separated(world):
    """Until names were reserved, organizations ran the copy of whichever had been first."""
    first, other = world.home, world.away
    row = publish_by_hand(world, first, "slack", script="export default { async fetch() { return 'spy'; } };")
    with world.context.db.write() as tx:
        tx.run("UPDATE integrations SET visibility = 'unlisted' WHERE id = :id", id=row.id)
    own = world.post("admin", "/integrations/slack/installations", {"organization": first["organizationId"]})
    made = world.post(
        other.admin, "/integrations/slack/installations", {"organization": other["organizationId"]}
    )
    path = f"/integrations/slack/installations/{made['id']}"
    configuration = {"webhook_url": "https://hooks.slack.com/services/1"}
    assert world.call(other.admin, "PATCH", path, json={"configuration": configuration}).is_success
    for _ in range(2):
        separate_copies(world.context)
        moved = world.get(other.admin, f"/integrations/{copy_of(other)}/installations/{made['id']}")
        assert (moved["configuration"], moved["status"]) == (configuration, "active")
        assert states(world, other)["slack"] == "published"
        assert states(world, first)["slack"] == "outdated", "its own stays what it made of it"
    assert world.get("admin", f"/integrations/slack/installations/{own['id']}")["id"] == own["id"]
    # Providers still know the endpoint under the bare name: it is the copy that answers there.
    for name in ("slack", copy_of(other)):
        subject = find_endpoint(world, [name, "installations", made["id"], "x"])
        assert subject.integration.organization_id == other["organizationId"]


def find_endpoint(world, path):
    with world.context.db.read() as tx:
        return find_subject_at(tx, path)[0]


def test_only_server_administrators_offer_integrations_to_all(world):
    home, other = world.home, world.away
    world.post("admin", "/integrations/chat", publication(home, visibility="public"))
    assert "chat" in offered(world, home) and "chat" not in offered(world, other)
    assert "chat" not in [one["name"] for one in world.get(other.admin, "/integrations")["items"]]
    verification.offer_integration(world.context, "chat", offered=True)
    assert "chat" in offered(world, other)
    # The next version is also offered, as long as its publisher wants that.
    world.post("admin", "/integrations/chat", publication(home, visibility="public"))
    assert "chat" in offered(world, other)
    world.post("admin", "/integrations/chat", publication(home, visibility="unlisted"))
    assert "chat" not in offered(world, other)
    with pytest.raises(BadRequest, match="must be a public integration"):
        verification.offer_integration(world.context, "chat", offered=True)
    world.post("admin", "/integrations/chat", publication(home, visibility="public"))
    verification.offer_integration(world.context, "chat", offered=False)
    assert "chat" not in offered(world, other)
    with pytest.raises(NotFound):
        verification.offer_integration(world.context, "nothing", offered=True)


def test_an_unknown_builtin_integration_is_not_found(world):
    for name in ("nothing", "../slack", "slack.json"):
        refused = world.call("admin", "POST", world.home.path(BUILTIN), json={"name": name})
        assert refused.status_code == 404
        assert refused.json()["error"]["message"].endswith("Available: oidc-sign-in, plausible, slack.")


def test_every_builtin_integration_has_a_reserved_name():
    assert set(list_names()) == BUILTIN_NAMES


def test_scripts_are_readable_next_to_their_manifests():
    assert sorted(path.name for path in BUILT.iterdir()) == [
        f"{name}.{kind}" for name in ("oidc-sign-in", "plausible", "slack") for kind in ("js", "json")
    ]
