"""Channels of sites: their fields, what is missing, and who can configure them."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.assistants.channels.store import MAX_CHANNELS, count_answer
from world import World

CHANNELS = "/orgs/{organizationId}/sites/{siteId}/channels"


class ChannelScene:
    def __init__(self, world: World) -> None:
        self.world, self.place = world, world.home
        self.all = self.place.path(CHANNELS)

    def create(self, type: str = "builtin:slack", who: str = "admin", **body: Any) -> Any:
        return self.world.call(who, "POST", self.all, json={"type": type, **body})


@pytest.fixture
def scene(world: World) -> ChannelScene:
    return ChannelScene(world)


def install(world: World, name: str) -> str:
    """Install an integration with this name on the site, and return the ID of the installation."""
    place = world.home
    path = place.path("/integrations/{integrationName}/installations/{installationId}/sites/{siteId}")
    if world.call("admin", "GET", path).status_code == 404:
        world.post("admin", path.rpartition("/")[0], {"siteId": place["siteId"]})
    with world.context.db.write() as tx:
        installation = place["installationId"]
        tx.run(
            "UPDATE integrations SET name = :new WHERE name = :old", new=name, old=place["integrationName"]
        )
        tx.run("UPDATE integration_installations SET status = 'active' WHERE id = :id", id=installation)
        tx.run("UPDATE integration_places SET status = 'active' WHERE installation_id = :id", id=installation)
    return installation


@pytest.mark.parametrize(
    ("type", "setup", "link"),
    [
        ("builtin:slack", {"allowedChannels": ["docs-*"]}, "https://api.slack.com/apps"),
        ("builtin:discord", {"allowedChannels": ["help"]}, "https://discord.com/developers/applications"),
        ("builtin:linear", {"allowedTeams": ["DOC"]}, "https://linear.app/settings/api/applications"),
        ("builtin:github", {"allowedRepositories": ["acme/*"]}, "https://github.com/settings/apps"),
    ],
)
def test_a_pending_channel_says_which_app_is_missing(
    scene: ChannelScene, type: str, setup: dict[str, Any], link: str
) -> None:
    made = scene.create(type, setupSettings=setup, role="support").json()
    assert (made["type"], made["setupSettings"], made["role"]) == (type, setup, "support")
    assert (made["status"], made["answers"]) == ("pending", 0)
    assert link in made["message"]
    assert scene.world.get("reader", made["urls"]["location"]) == made


def test_an_integration_on_the_site_makes_a_channel_active(scene: ChannelScene) -> None:
    made = scene.create().json()
    installation = install(scene.world, "slack")
    with scene.world.context.db.write() as tx:
        count_answer(tx, scene.place["siteId"], installation)
        count_answer(tx, scene.world.away["siteId"], installation)
    after = scene.world.get("admin", made["urls"]["location"])
    assert (after["status"], after["answers"]) == ("active", 1)
    assert "message" not in after


@pytest.mark.parametrize(
    "body",
    [
        {"setupSettings": {"allowedTeams": ["a"]}},
        {"setupSettings": {"allowedChannels": [" "]}},
        {"setupSettings": {"allowedChannels": ["a"] * 101}},
        {"setupSettings": {"allowedChannels": ["#docs"]}},
        {"type": "builtin:github", "setupSettings": {"allowedRepositories": ["docs"]}},
        {"role": "owner"},
        {"type": "builtin:teams"},
    ],
)
def test_settings_of_other_services_are_refused(scene: ChannelScene, body: dict[str, Any]) -> None:
    assert scene.create(**body).status_code == 400


def test_the_type_of_a_channel_cannot_change(scene: ChannelScene) -> None:
    made = scene.create().json()["urls"]["location"]
    for type, status in (("builtin:slack", 200), ("builtin:discord", 400)):
        answer = scene.world.call("admin", "PATCH", made, json={"type": type, "role": "support"})
        assert answer.status_code == status


def test_channels_are_limited(scene: ChannelScene) -> None:
    for _ in range(MAX_CHANNELS):
        assert scene.create().status_code == 201
    assert scene.create().status_code == 409


def test_a_channel_needs_permission_for_every_space_of_the_site(scene: ChannelScene) -> None:
    world = scene.world
    made = scene.create().json()["urls"]["location"]
    world.post(
        "admin",
        scene.place.path("/orgs/{organizationId}/sites/{siteId}/permissions"),
        {
            "role": "create",
            "users": [world.users["guest"]],
        },
    )
    assert scene.create(who="guest").status_code == 403
    assert world.call("guest", "PATCH", made, json={"role": "support"}).status_code == 403
    assert world.call("guest", "DELETE", made).status_code == 205


def test_channels_of_other_sites_are_not_found(scene: ChannelScene) -> None:
    made = scene.create().json()["id"]
    other = scene.world.away.path(f"{CHANNELS}/{made}")
    assert scene.world.call("stranger", "GET", other).status_code == 404
    assert scene.world.call("stranger", "DELETE", other).status_code == 204
    assert scene.world.call("admin", "GET", f"{scene.all}/{made}").status_code == 200
