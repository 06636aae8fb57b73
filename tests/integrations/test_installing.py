"""Publishing, installing, configuring; and what the tokens of scripts reach."""

from __future__ import annotations

import base64

import msgspec
import pytest

from octavo.errors import NotFound
from octavo.extensions.integrations import installing, store
from octavo.extensions.integrations.authorization import InstallationAccess, SiteInstallationAccess
from octavo.extensions.integrations.wire import UpdateInstallation, UpdatePlace
from octavo.organization.access.members import upsert_member
from octavo.organization.access.tokens import create_integration_token
from world import NOBODY, SCRIPT

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()
INSTALLATIONS = "/integrations/{integrationName}/installations"
INSTALLATION = INSTALLATIONS + "/{installationId}"


def manifest(world, **more):
    return {
        "title": "Chat",
        "description": "Talks",
        "organization": world.home["organizationId"],
        "runtime": "v2",
        "script": SCRIPT,
        "scopes": [],
        **more,
    }


def publish(world, name="chat", who="admin", **more):
    return world.post(who, f"/integrations/{name}", manifest(world, **more))


def install(world, name="chat", who="admin", place=None):
    body = {"organization": (place or world.home)["organizationId"]}
    return world.post(who, f"/integrations/{name}/installations", body)


def integration_id(world, name):
    with world.context.db.read() as tx:
        return tx.value("SELECT id FROM integrations WHERE name = :name", name=name)


def token(world, name="chat", installation=""):
    secret = create_integration_token(world.context.signer, integration_id(world, name), installation)
    return {"authorization": f"Bearer {secret}"}


def ask(world, headers, method, path, **options):
    return world.call(NOBODY, method, world.home.path(path), headers=headers, **options)


# --- publishing -----------------------------------------------------------------------------------------


def test_publishing_again_creates_the_next_version(world):
    block = {"id": "card", "title": "Card", "urlUnfurl": ["https://cards.example.com/x"]}
    first = publish(world, icon=PNG, previewImages=[PNG], blocks=[block], visibility="public", summary="# Hi")
    assert (first["version"], first["name"], first["verified"]) == (1, "chat", False)
    assert first["owner"]["id"] == world.home["organizationId"]
    assert first["blocks"] == [block] and len(first["previewImages"]) == 1 and "icon" in first["urls"]
    made = install(world)
    places = [
        world.post(
            "admin", f"/integrations/chat/installations/{made['id']}/{kind}s", {name: world.home[f"{kind}Id"]}
        )
        for kind, name in (("space", "space"), ("site", "siteId"))
    ]
    for shown in (first, made, *places):
        # What scripts give the frames of their blocks.
        assert shown["urls"]["publicContentEndpoint"] == shown["urls"]["publicEndpoint"]
    second = publish(world)
    assert (second["version"], second["previewImages"], second["visibility"]) == (2, [], "private")
    assert "blocks" not in second and "icon" not in second["urls"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"title": "x"}, "title"),
        ({"title": "x" * 31}, "title"),
        ({"description": "x" * 101}, "description"),
        ({"summary": "x" * 2049}, "summary"),
        ({"scopes": ["space:everything"]}, "scopes"),
        ({"categories": ["none"]}, "categories"),
        ({"icon": "!!"}, "icon"),
        ({"icon": base64.b64encode(b"<svg onload=alert(1)>").decode()}, "icon"),
        ({"icon": base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 256 * 1024).decode()}, "icon"),
        ({"previewImages": [PNG] * 4}, "previewImages"),
        ({"previewImages": [PNG, "eA=="]}, "previewImages[1]"),
        ({"externalLinks": [{"url": "https://x.org", "label": "x"}] * 6}, "externalLinks"),
        ({"externalLinks": [{"url": "javascript:alert(1)", "label": "x"}]}, "externalLinks"),
        ({"externalLinks": [{"url": "https://x.org/\x1b", "label": "x"}]}, "externalLinks"),
        ({"secrets": {str(n): "x" for n in range(21)}}, "secrets"),
        ({"blocks": [{"id": "a", "title": "x" * 41}]}, "blocks"),
        ({"contentSources": [{"id": "a", "title": "Ab"}]}, "configuration"),
        ({"configurations": {"account": {}}}, "configurations.account"),
        ({"configurations": {"site": {"properties": {"a": {"type": "date"}}}}}, "configurations.site"),
        ({"configurations": {"space": {"properties": {}, "required": ["a"]}}}, "configurations.space"),
        ({"contentSecurityPolicy": {"no-such": "x"}}, "contentSecurityPolicy"),
        ({"script": ""}, "script"),
        ({"runtime": "v3"}, "runtime"),
    ],
)
def test_every_limit_of_publishing_is_enforced(sqlite_world, more, field):
    answer = sqlite_world.call("admin", "POST", "/integrations/chat", json=manifest(sqlite_world, **more))
    assert answer.status_code == 400
    assert field.partition("[")[0] in answer.json()["error"]["message"]


def test_links_stored_by_an_earlier_version_are_still_shown(world):
    links = [{"url": "https://x.org/\x1b", "label": "x"}]
    publish(world)
    with world.context.db.write() as tx:
        stored = msgspec.json.encode({"externalLinks": links}).decode()
        tx.run("UPDATE integrations SET manifest = :stored WHERE name = 'chat'", stored=stored)
    assert world.get("admin", "/integrations/chat")["externalLinks"] == links


@pytest.mark.parametrize("name", ["a b", "x" * 101, "..", "a%2Fb"])
def test_invalid_names_are_refused(sqlite_world, name):
    answer = sqlite_world.call("admin", "POST", f"/integrations/{name}", json=manifest(sqlite_world))
    assert answer.status_code in (400, 404, 405)


def test_names_belong_to_their_first_organization(world):
    publish(world, visibility="public")
    body = {**manifest(world), "organization": world.away["organizationId"]}
    assert world.call("stranger", "POST", "/integrations/chat", json=body).status_code == 404
    assert world.call("stranger", "DELETE", "/integrations/chat").status_code == 403
    assert world.call("admin", "DELETE", "/integrations/chat").status_code == 205
    assert world.call("admin", "DELETE", "/integrations/chat").status_code == 204
    assert world.call("stranger", "POST", "/integrations/chat", json=body).status_code == 404, (
        "still its owner's"
    )
    assert publish(world)["version"] == 1


def test_secrets_are_stored_encrypted_and_not_returned(world):
    shown = publish(world, secrets={"KEY": "a-very-secret-value"})
    assert "a-very-secret-value" not in str(shown)
    with world.context.db.read() as tx:
        stored = tx.one("SELECT secrets, signing_secret FROM integrations WHERE name = 'chat'")
    assert all(value.startswith("sealed1.") for value in stored)


def test_lists_of_integrations_are_filtered(world):
    block = {"id": "card", "title": "Card", "urlUnfurl": ["https://Cards.example.com/x"]}
    publish(world, "one", title="First_one", visibility="public", categories=["analytics"], blocks=[block])
    publish(world, "two", title="Second", visibility="public", target="site", scopes=["site:views:read"])
    publish(world, "three", title="Third", visibility="unlisted")
    source = {"id": "s", "title": "Source", "configuration": {"componentId": "c"}}
    publish(world, "four", title="Fourth", visibility="public", target="space", contentSources=[source])

    def names(**query):
        answer = world.get("reader", "/integrations", params=query)
        assert answer["count"] == len(answer["items"])
        return [item["name"] for item in answer["items"]]

    assert names() == ["four", "one", "two"]
    assert names(search="i_s") == [] and names(search="first_") == ["one"]
    assert names(category="analytics") == ["one"]
    assert names(blockDomain="cards.example.com") == ["one"] and names(blockDomain="example.com") == []
    assert names(blocks="true") == ["one"] and names(blocks="false") == ["four", "two"]
    assert names(contentSources="true") == ["four"]
    assert names(owner=world.home["organizationId"]) == ["four", "one", "two"]
    assert names(owner=world.away["organizationId"]) == []
    assert names(scope="site:views:read") == ["two"]
    assert names(target="site") == ["one", "two"] and names(target="all") == ["one"]
    first = world.get("reader", "/integrations", params={"limit": 2})
    rest = world.get("reader", "/integrations", params={"limit": 2, "page": first["next"]["page"]})
    assert [item["name"] for item in first["items"] + rest["items"]] == names() and "next" not in rest
    own = world.get("reader", world.home.path("/orgs/{organizationId}/integrations"))
    assert [item["name"] for item in own["items"]] == ["four", "home-notes", "one", "three", "two"]


def test_visibility_of_private_integrations(world):
    publish(world, "hidden")
    publish(world, "unlisted", visibility="unlisted")
    assert world.call("stranger", "GET", "/integrations/hidden").status_code == 404
    assert world.call("guest", "GET", "/integrations/hidden").status_code == 404
    assert world.call("reader", "GET", "/integrations/hidden").status_code == 200
    shown = world.get("stranger", "/integrations/unlisted")
    assert shown["owner"]["emailDomains"] == [] and shown["permissions"] == {"admin": False}
    assert (
        world.call(
            "stranger",
            "POST",
            "/integrations/hidden/installations",
            json={"organization": world.away["organizationId"]},
        ).status_code
        == 404
    )
    assert install(world, "unlisted", "stranger", world.away)["target"] == {
        "organization": world.away["organizationId"]
    }


# --- configuration --------------------------------------------------------------------------------------

SCHEMA = {
    "properties": {
        "channel": {"type": "string", "enum": ["a", "b"]},
        "count": {"type": "number"},
        "loud": {"type": "boolean", "default": False},
        "connect": {"type": "button", "callback_url": "/oauth", "button_text": "Connect"},
    },
    "required": ["channel", "loud"],
}


@pytest.mark.parametrize("place", ["account", "space", "site"])
def test_configuration_follows_the_schema(world, place):
    publish(world, configurations={place: SCHEMA})
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}"
    if place != "account":
        name = {"space": "space", "site": "siteId"}[place]
        made = world.post("admin", f"{path}/{place}s", {name: world.home[f"{place}Id"]})
        path = f"{path}/{place}s/{world.home[f'{place}Id']}"
    assert made["status"] == "pending"

    def patch(value):
        return world.call("admin", "PATCH", path, json={"configuration": value})

    for wrong in ({"channel": "c"}, {"channel": 1}, {"count": "1"}, {"count": True}, {"loud": "yes"}):
        answer = patch(wrong)
        assert answer.status_code == 400
        assert f"configuration.{next(iter(wrong))}" in answer.json()["error"]["message"]
    assert patch({"count": 1.5}).json()["status"] == "pending"
    good = patch({"channel": "a", "oauth": {"token": "kept by the script"}}).json()
    assert good["status"] == "active" and good["configuration"]["oauth"]["token"]
    assert world.get("reader", path)["configuration"] == {"channel": "a"}
    assert patch({"x": "y" * 70_000}).status_code == 400
    with world.context.db.read() as tx:
        rows = [
            tx.all(f"SELECT configuration FROM {table}")
            for table in ("integration_installations", "integration_places")
        ]
    assert "kept by" not in str(rows)


def test_a_configuration_form_of_a_script_is_active_once_saved(world):
    publish(world, configurations={"account": {"componentId": "config"}})
    made = install(world)
    assert made["status"] == "pending"
    path = f"/integrations/chat/installations/{made['id']}"
    answer = ask(world, token(world, installation=made["id"]), "PATCH", path, json={"configuration": {}})
    assert answer.json()["status"] == "active"


def test_external_ids_find_installations(world):
    publish(world)
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}"
    world.post("admin", f"{path}/spaces", {"space": world.home["spaceId"]})
    space = f"{path}/spaces/{world.home['spaceId']}"
    assert world.call("admin", "PATCH", path, json={"externalIds": ["T1", "T2"]}).status_code == 200
    assert world.call("admin", "PATCH", space, json={"externalIds": ["S1"]}).status_code == 200
    assert world.call("admin", "PATCH", path, json={"externalIds": list("abcdef")}).status_code == 400
    for where, known, unknown in (("installations", "T2", "S1"), ("spaces", "S1", "T2")):
        for external, count in ((known, 1), (unknown, 0)):
            found = ask(world, token(world), "GET", f"/integrations/chat/{where}?externalId={external}")
            assert found.json()["count"] == count, (where, external)
    extended = ask(world, token(world), "GET", "/integrations/chat/spaces?extended=true").json()["items"]
    assert extended[0]["space"]["title"] == "Handbook"


def test_an_integration_is_only_installed_on_its_target(world):
    publish(world, target="site")
    made = install(world)
    assert (made["space_selection"], made["site_selection"]) == ("selected", "all")
    path = f"/integrations/chat/installations/{made['id']}/spaces"
    assert world.call("admin", "POST", path, json={"space": world.home["spaceId"]}).status_code == 400


def test_installing_requires_permission_for_the_space(world):
    path = world.home.path(INSTALLATION + "/spaces")
    private = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Secret"})["id"]
    world.call("admin", "PATCH", f"/spaces/{private}", json={"defaultLevel": None})
    assert world.call("creator", "POST", path, json={"space": private}).status_code == 404
    assert world.call("admin", "POST", path, json={"space": private}).status_code == 201
    seen = {item["space"] for item in world.get("reader", path)["items"]}
    assert seen == {world.home["spaceId"]}
    assert world.get("admin", path)["count"] == 2
    assert world.call("reader", "GET", f"{path}/{private}").status_code == 404


# --- what scripts reach ---------------------------------------------------------------------------------


def test_an_installation_token_is_limited_to_its_scopes(world):
    publish(world, scopes=["space:content:read"])
    made = install(world)
    own = token(world, installation=made["id"])
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 200
    assert ask(world, own, "GET", "/spaces/{spaceId}").status_code == 200
    for method, path in (
        ("GET", "/orgs/{organizationId}/members"),
        ("GET", "/user"),
        ("POST", "/user/tokens"),
        ("PATCH", "/spaces/{spaceId}"),
        ("DELETE", "/spaces/{spaceId}"),
        ("POST", "/spaces/{spaceId}/change-requests"),
        ("GET", "/orgs/{organizationId}/sites/{siteId}"),
    ):
        assert ask(world, own, method, path, json={}).status_code == 403, path
    away = world.call(NOBODY, "GET", world.away.path("/spaces/{spaceId}"), headers=own)
    assert away.status_code == 404
    publish(world, scopes=["space:content:read", "space:content:write"])
    assert ask(world, own, "POST", "/spaces/{spaceId}/change-requests", json={}).status_code == 403
    install(world)
    answer = ask(world, own, "POST", "/spaces/{spaceId}/change-requests", json={"subject": "By a script"})
    assert answer.status_code == 201
    assert answer.json()["createdBy"]["displayName"] == "Chat"
    publish(world, scopes=[])
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 403


def test_an_integration_only_sees_its_own_conversations(world):
    publish(world, scopes=["conversations:ingest"])
    made = install(world)
    own = token(world, installation=made["id"])
    said = {"id": "T1", "parts": [{"type": "message", "role": "user", "body": "How do I install it?"}]}
    path = "/orgs/{organizationId}/conversations"
    assert ask(world, own, "POST", path, json=said, params={"source": "email"}).status_code == 400
    assert ask(world, own, "POST", path, json=said).status_code == 204
    assert ask(world, own, "GET", path).status_code == 403
    listed = world.get("admin", world.home.path(path), params={"limit": 1000})["items"]
    sources = [one["source"] for one in listed if one["source"].endswith(made["id"])]
    assert sources == [f"integration:chat:{made['id']}"]


def test_an_integration_only_reaches_selected_spaces_and_sites(world):
    publish(world, scopes=["space:content:read", "site:metadata:read"])
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}"
    own = token(world, installation=made["id"])
    site = "/orgs/{organizationId}/sites/{siteId}"
    assert ask(world, own, "GET", site).status_code == 200
    chosen = {"space_selection": "selected", "site_selection": "selected"}
    assert world.call("admin", "PATCH", path, json=chosen).status_code == 200
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 404
    assert ask(world, own, "GET", site).status_code == 404
    assert ask(world, own, "PATCH", path, json={"space_selection": "all"}).status_code == 400
    assert ask(world, own, "POST", f"{path}/spaces", json={"space": world.home["spaceId"]}).status_code == 403
    world.post("admin", f"{path}/spaces", {"space": world.home["spaceId"]})
    world.post("admin", f"{path}/sites", {"siteId": world.home["siteId"]})
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 200
    assert ask(world, own, "GET", site).status_code == 200
    assert world.call("admin", "DELETE", f"{path}/spaces/{world.home['spaceId']}").status_code == 205
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 404


def test_tokens_are_revoked_with_the_installation(world):
    publish(world, scopes=["space:content:read"])
    made = install(world)
    own, whole = token(world, installation=made["id"]), token(world)
    path = f"/integrations/chat/installations/{made['id']}"
    assert ask(world, own, "GET", path).status_code == 200
    exchanged = ask(world, whole, "POST", f"{path}/tokens").json()["token"]
    assert ask(world, {"authorization": f"Bearer {exchanged}"}, "GET", path).status_code == 200
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call("admin", "DELETE", path).status_code == 204
    assert ask(world, own, "GET", "/spaces/{spaceId}/content").status_code == 401
    assert ask(world, whole, "GET", "/integrations/chat/installations").json()["items"] == []
    assert world.call("admin", "DELETE", "/integrations/chat").status_code == 205
    assert ask(world, whole, "GET", "/integrations/chat").status_code == 401
    publish(world)
    assert ask(world, whole, "GET", "/integrations/chat").status_code == 401


def test_a_token_is_valid_for_an_hour(world, clock):
    publish(world)
    whole = token(world)
    clock.advance(3_599_000)
    assert ask(world, whole, "GET", "/integrations/chat").status_code == 200
    clock.advance(2_000)
    assert ask(world, whole, "GET", "/integrations/chat").status_code == 401


@pytest.mark.sqlite_first
def test_scripts_cannot_reach_each_other(world):
    publish(world, scopes=["space:content:write", "space:metadata:write"])
    made = install(world)
    for headers in (token(world), token(world, installation=made["id"])):
        assert ask(world, headers, "GET", INSTALLATION).status_code == 404
        assert ask(world, headers, "GET", INSTALLATION + "/spaces/{spaceId}").status_code == 404
        assert ask(world, headers, "GET", INSTALLATION + "/sites/{siteId}").status_code == 404
        assert ask(world, headers, "POST", INSTALLATION + "/tokens").status_code == 404
        assert ask(world, headers, "DELETE", "/integrations/chat").status_code == 403
        body = manifest(world)
        assert ask(world, headers, "POST", "/integrations/chat", json=body).status_code in (403, 404)
    assert ask(world, token(world), "GET", "/spaces/{spaceId}/content").status_code == 403
    own = token(world, installation=made["id"])
    assert ask(world, own, "GET", "/integrations/chat/installations").status_code == 403


def test_an_organization_only_sees_its_own_installations(world):
    publish(world, visibility="public")
    mine, theirs = install(world), install(world, who="stranger", place=world.away)
    listed = world.get("admin", "/integrations/chat/installations")["items"]
    assert [one["id"] for one in listed] == [mine["id"]]
    everything = ask(world, token(world), "GET", "/integrations/chat/installations").json()["items"]
    assert {one["id"] for one in everything} == {mine["id"], theirs["id"]}
    assert world.call("admin", "GET", f"/integrations/chat/installations/{theirs['id']}").status_code == 404
    statuses = world.get(
        "reader", world.home.path("/orgs/{organizationId}/integrations/installations-status")
    )
    assert [(one["integration"]["name"], one["status"]) for one in statuses["items"]] == [
        ("home-notes", "active"),
        ("chat", "active"),
    ]


def test_statuses_name_what_an_integration_is_installed_on(world):
    publish(world)
    made = install(world)
    home, path = world.home, world.home.path("/orgs/{organizationId}/integrations/installations-status")

    def targets(who="admin", **query):
        found = world.get(who, path, params=query)["items"]
        return [one["target"] for one in found if one["integration"]["name"] == "chat"]

    assert targets() == [{"type": "organization", "organizationId": home["organizationId"]}]
    assert targets(target="space") == targets(target="site") == []
    at = f"/integrations/chat/installations/{made['id']}"
    other = world.post("admin", home.path("/orgs/{organizationId}/spaces"), {"title": "Closed"})["id"]
    for space in (home["spaceId"], other):
        world.post("admin", f"{at}/spaces", {"space": space})
    world.post("admin", f"{at}/sites", {"siteId": home["siteId"]})
    assert targets(target="site") == [{"type": "site", "siteId": home["siteId"]}]
    spaces = {one["spaceId"] for one in targets(target="space")}
    assert spaces == {home["spaceId"], other}
    assert targets(target="space", space=home["spaceId"]) == [{"type": "space", "spaceId": home["spaceId"]}]
    with world.context.db.write() as tx:
        tx.run("UPDATE spaces SET default_level = NULL WHERE id = :id", id=other)
    assert {one["spaceId"] for one in targets("reader", target="space")} == {home["spaceId"]}
    assert world.call("admin", "GET", path, params={"site": home["siteId"]}).status_code == 400
    assert targets(target="space", space=world.away["spaceId"]) == []


def test_active_installations_of_spaces_and_sites_are_listed(world):
    block = {"id": "card", "title": "Card"}
    publish(world, blocks=[block], configurations={"account": SCHEMA})
    made = install(world)
    blocks = world.home.path("/spaces/{spaceId}/integration-blocks")
    assert [one["name"] for one in world.get("reader", blocks)] == ["home-notes"]
    path = f"/integrations/chat/installations/{made['id']}"
    world.call("admin", "PATCH", path, json={"configuration": {"channel": "a"}})
    assert {"name": "chat", "blocks": [block]} in world.get("reader", blocks)
    for where in ("/spaces/{spaceId}/integrations", "/orgs/{organizationId}/sites/{siteId}/integrations"):
        listed = world.get("reader", world.home.path(where), params={"search": "CHA"})["items"]
        assert [one["name"] for one in listed] == ["chat"]


def test_a_transferred_space_loses_its_integrations(world):
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["admin"], "admin")
    space = world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": "Moving"})["id"]
    listed = world.home.path(INSTALLATION + "/spaces")
    world.post("admin", listed, {"space": space})
    assert world.get("admin", listed)["count"] == 2
    to = {"organization": world.away["organizationId"]}
    moved = world.call("admin", "POST", f"/spaces/{space}/transfer", json=to)
    assert moved.status_code == 200, moved.text
    assert world.get("admin", listed)["count"] == 1


@pytest.mark.sqlite_first
def test_script_permissions_follow_their_scopes(world):
    publish(world, scopes=["space:content:write"])
    made = install(world)
    seen = ask(world, token(world, installation=made["id"]), "GET", "/spaces/{spaceId}").json()
    assert (seen["permissions"]["view"], seen["permissions"]["edit"]) == (True, True)
    assert seen["permissions"]["admin"] is False


def test_integrations_unpublished_in_the_meantime_return_404(sqlite_world):
    world = sqlite_world
    publish(world)
    made = install(world)
    site = world.home["siteId"]
    world.post("admin", f"/integrations/chat/installations/{made['id']}/sites", {"siteId": site})
    with world.context.db.read() as tx:
        integration = store.find_integration(tx, "chat")
        row = store.find_installation(tx, "chat", made["id"])
        place = store.find_place(tx, row.id, "site", site)
    access = InstallationAccess(row, world.actor("admin"), True)
    at_site = SiteInstallationAccess(row, place, site, world.actor("admin"), True, None, site=None)
    world.call("admin", "DELETE", "/integrations/chat")
    context, actor, change = world.context, world.actor("admin"), {"configuration": {"a": 1}}
    for attempt in (
        lambda tx: installing.install(tx, context, actor, integration, row.organization_id),
        lambda tx: installing.update(tx, context, access, UpdateInstallation(**change)),
        lambda tx: installing.install_at(tx, context, actor, row, "site", site),
        lambda tx: installing.update_at(tx, context, at_site, UpdatePlace(**change)),
    ):
        with pytest.raises(NotFound), world.context.db.write() as tx:
            attempt(tx)
    with world.context.db.write() as tx:
        assert not installing.uninstall_at(tx, context, at_site)
    with world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM deliveries WHERE installation_id = :id", id=row.id) == 0


def test_spaces_in_the_trash_are_in_no_list_of_installations(world):
    publish(world)
    made = install(world)
    path = f"/integrations/chat/installations/{made['id']}/spaces"
    spaces = [
        world.post("admin", world.home.path("/orgs/{organizationId}/spaces"), {"title": t})["id"]
        for t in "AB"
    ]
    for space in spaces:
        world.post("admin", path, {"space": space})
    assert world.call("admin", "DELETE", f"/spaces/{spaces[0]}").status_code == 205
    lists = [
        world.get("admin", path),
        world.call("nobody", "GET", path, headers=token(world, installation=made["id"])).json(),
        world.call("nobody", "GET", "/integrations/chat/spaces", headers=token(world)).json(),
    ]
    for listed in lists:
        assert [one["space"] for one in listed["items"]] == [spaces[1]]
        assert listed["count"] == 1
    world.call("admin", "POST", f"/spaces/{spaces[0]}/restore")
    assert world.get("admin", path)["count"] == 2
