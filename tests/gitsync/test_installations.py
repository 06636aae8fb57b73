"""Git installations: from the first step to a sync, and what stays with the server that a token was given for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from octavo.errors import BadRequest, OctavoError
from octavo.interchange.gitsync.credentials import Credential
from octavo.interchange.gitsync.repository_listing import (
    ORIGINS,
    ProviderAccount,
    find_file,
    list_branch_names,
    list_repositories,
    read_origin,
)
from octavo.kit.net.fetch import Fetched
from world import World

from .provider_server import SHA, TOKEN, ProviderServer


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    server = ProviderServer()
    yield server
    server.close()


class InstallationScene:
    """A space, or a site, that is connected with GitLab."""

    def __init__(self, world: World, provider: ProviderServer, kind: str = "space") -> None:
        self.world, self.place = world, world.home
        world.context.settings = replace(world.context.settings, allow_private_fetch=provider.address)
        self.id = self.place[f"{kind}Id"]
        self.at = f"/git/installations/{self.id}"
        self.body = {"provider": "gitlab", "target": {"type": kind, f"{kind}Id": self.id}}

    def install(self) -> Any:
        return self.world.post("admin", "/git/installations", self.body)

    def update(self, **body: Any) -> tuple[int, Any]:
        answer = self.world.call("admin", "PATCH", self.at, json=body)
        return answer.status_code, answer.json()


@pytest.fixture
def scene(world: World, provider: ProviderServer) -> InstallationScene:
    return InstallationScene(world, provider)


def test_an_installation_creates_a_sync(scene: InstallationScene, provider: ProviderServer) -> None:
    made = scene.install()
    assert (made["id"], made["status"], made["object"]) == (
        scene.id,
        "unauthenticated",
        "git-sync-installation",
    )
    config = {"customInstanceURL": provider.url, "accessToken": TOKEN}
    status, said = scene.update(providerConfiguration=config)
    assert (status, said["status"]) == (200, "pending")
    assert said["providerConfiguration"] == {"customInstanceURL": provider.url}
    listed = scene.world.get("admin", f"{scene.at}/gitlab/projects")["items"]
    assert [(one["id"], one["fullName"]) for one in listed] == [(7, "acme/docs"), (8, "acme/empty")]
    status, said = scene.update(providerConfiguration={"projectId": 7, "branch": "refs/heads/main"})
    assert (status, said["error"]["message"].partition(":")[0]) == (400, "priority")
    status, said = scene.update(
        providerConfiguration={"projectId": 7, "branch": "refs/heads/main"},
        projectDirectory="docs",
        priority="gitbook",
    )
    assert (status, said["status"], said["priority"]) == (200, "active", "gitbook")
    assert said["providerConfiguration"] == {
        "projectId": 7,
        "branch": "refs/heads/main",
        "customInstanceURL": provider.url,
    }
    assert said["repositoryConnection"]["repositoryId"] == "acme/docs"
    assert said["repositoryRef"]["name"] == "main"
    assert scene.update(providerConfiguration={"projectId": 8})[0] == 409
    assert scene.update(providerConfiguration={"projectId": 7, "branch": "main"})[0] == 200
    with scene.world.context.db.read() as tx:
        assert tx.value("SELECT secret FROM git_installations WHERE id = :id", id=scene.id) is None
    sync = scene.world.get("admin", f"/spaces/{scene.id}/git/sync")
    assert (sync["remote"], sync["branch"], sync["folder"]) == (
        f"{provider.url}/acme/docs.git",
        "main",
        "docs/",
    )
    state = scene.world.get("admin", f"/spaces/{scene.id}")["gitSync"]
    assert (state["installationId"], state["installationStatus"]) == (scene.id, "active")
    assert state["installationProvider"] == "gitlab"
    assert scene.update(providerConfiguration={"branch": "other"})[0] == 409
    assert scene.update(commitMessageTemplate="Update")[0] == 200
    assert scene.world.call("admin", "DELETE", scene.at).status_code == 205
    assert scene.world.call("admin", "DELETE", scene.at).status_code == 204
    assert "gitSync" not in scene.world.get("admin", f"/spaces/{scene.id}")


def test_a_token_is_not_sent_to_another_server(scene: InstallationScene, provider: ProviderServer) -> None:
    scene.install()
    scene.update(providerConfiguration={"customInstanceURL": provider.url, "accessToken": TOKEN})
    other = ProviderServer()
    allowed = f"{provider.address},{other.address}"
    scene.world.context.settings = replace(scene.world.context.settings, allow_private_fetch=allowed)
    body = {"customInstanceURL": other.url, "projectId": 7}
    assert scene.update(providerConfiguration=body)[0] == 400
    assert (
        scene.update(providerConfiguration={"customInstanceURL": other.url})[1]["status"] == "unauthenticated"
    )
    assert scene.world.call("admin", "GET", f"{scene.at}/gitlab/projects").status_code == 409
    assert other.asked == []
    other.close()


def test_a_token_is_stored_encrypted_and_never_shown(
    scene: InstallationScene, provider: ProviderServer
) -> None:
    scene.install()
    _, said = scene.update(providerConfiguration={"customInstanceURL": provider.url, "accessToken": TOKEN})
    assert TOKEN not in str(said)
    with scene.world.context.db.read() as tx:
        assert TOKEN not in str(tx.all("SELECT * FROM git_installations"))


def test_messages_name_the_missing_app(scene: InstallationScene) -> None:
    scene.install()
    answer = scene.world.call("admin", "GET", f"{scene.at}/gitlab/projects")
    assert answer.status_code == 409
    assert "app registered at https://gitlab.com/" in answer.json()["error"]["message"]
    assert scene.world.call("admin", "GET", f"{scene.at}/github/repos").status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        {"agentInstructions": ["agents"]},
        {"childInstallationProjectDirectories": {"a": "b"}},
        {"providerConfiguration": {"repositoryId": "acme/docs"}},
        {"providerConfiguration": {"customInstanceURL": "https://user:secret@gitlab.example.com"}},
        {"providerConfiguration": {"customInstanceURL": "https://gitlab.example.com/path"}},
        {"providerConfiguration": {"projectId": "../../x"}},
        {"providerConfiguration": {"projectId": "docs"}},
        {"providerConfiguration": {"projectId": 0}},
        {"providerConfiguration": {"projectId": 2**60}},
        {"providerConfiguration": {"branch": "a..b"}},
        {"projectDirectory": "../outside"},
        {"priority": "git"},
    ],
)
def test_settings_without_effect_are_refused(scene: InstallationScene, body: dict[str, Any]) -> None:
    scene.install()
    before = scene.world.written()
    status, said = scene.update(**body)
    assert status == 400, said
    assert scene.world.written() == before


def test_a_second_installation_is_refused(scene: InstallationScene) -> None:
    scene.install()
    assert scene.world.call("admin", "POST", "/git/installations", json=scene.body).status_code == 409
    connect = {"remote": "https://93.184.216.34/docs.git", "branch": "main", "first": "import"}
    scene.world.call("admin", "DELETE", scene.at)
    scene.world.post("admin", f"/spaces/{scene.id}/git/sync", connect)
    assert scene.world.call("admin", "POST", "/git/installations", json=scene.body).status_code == 409


def test_the_repository_of_a_site_must_describe_its_structure(world: World, provider: ProviderServer) -> None:
    scene = InstallationScene(world, provider, "site")
    scene.install()
    wanted = {
        "providerConfiguration": {
            "customInstanceURL": provider.url,
            "accessToken": TOKEN,
            "projectId": 7,
            "branch": "main",
        },
        "priority": "git",
    }
    status, said = scene.update(**wanted)
    assert (status, "docs.yaml" in said["error"]["message"]) == (409, True)
    file = {"file_name": "docs.yaml", "file_path": "docs.yaml", "blob_id": SHA, "size": 9}
    provider.answers["/api/v4/projects/acme%2Fdocs/repository/files/docs.yaml"] = file
    status, said = scene.update(**wanted)
    assert (status, said["status"]) == (200, "active"), said
    site = world.get("admin", world.home.path("/orgs/{organizationId}/sites/{siteId}"))
    assert site["gitSync"]["installationId"] == scene.id
    listed = world.get(
        "admin", world.home.path("/orgs/{organizationId}/sites/{siteId}/spaces/git/installations")
    )
    assert [one["id"] for one in listed["items"]] == [scene.id]


def test_deleted_places_have_no_installation(scene: InstallationScene) -> None:
    scene.install()
    scene.world.call("admin", "DELETE", f"/spaces/{scene.id}")
    assert scene.world.call("admin", "GET", scene.at).status_code == 404
    assert scene.world.call("admin", "POST", "/git/installations", json=scene.body).status_code == 404


# --- the APIs of the providers --------------------------------------------------------------------------


class RecordedFetcher:
    """Answers every request with the same bytes."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self.body, self.status = body, status
        self.urls: list[str] = []

    def fetch(self, url: str, *_: object) -> Fetched:
        self.urls.append(url)
        return Fetched(url, self.status, {}, self.body)  # type: ignore[arg-type]


def account(provider: str, fetcher: RecordedFetcher) -> ProviderAccount:
    return ProviderAccount(provider, ORIGINS[provider], Credential("token", "t"), fetcher)  # type: ignore[arg-type]


def test_requests_go_to_the_public_apis() -> None:
    fetcher = RecordedFetcher(b"[]")
    list_repositories(account("github", fetcher))
    list_branch_names(account("github", fetcher), "acme/docs")
    list_repositories(account("gitlab", fetcher))
    list_branch_names(account("gitlab", fetcher), "acme/team/docs")
    assert fetcher.urls == [
        "https://api.github.com/user/repos?sort=full_name&per_page=100&page=1",
        "https://api.github.com/repos/acme/docs/branches?per_page=100&page=1",
        "https://gitlab.com/api/v4/projects?membership=true&simple=true&per_page=100&page=1",
        "https://gitlab.com/api/v4/projects/acme%2Fteam%2Fdocs/repository/branches?per_page=100&page=1",
    ]


@pytest.mark.parametrize(
    "body", [b"{", b"{}", b"[1]", b'[{"name": 1}]', b"\xff", b"[" * 100_000, b'[{"full_name": null}]']
)
@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_damaged_responses_of_providers_are_reported(provider: str, body: bytes) -> None:
    for ask in (
        list_repositories,
        lambda at: list_branch_names(at, "a/b"),
        lambda at: find_file(at, "a/b", "c", "d"),
    ):
        with pytest.raises(OctavoError):
            ask(account(provider, RecordedFetcher(body)))


@pytest.mark.parametrize("text", ["ftp://a.test", "https://", "https://a.test/b", "https://u@a.test", "a"])
def test_servers_have_no_path_and_no_credentials(text: str) -> None:
    with pytest.raises(BadRequest):
        read_origin(text)
