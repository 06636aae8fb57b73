"""Git sync through apps at GitHub and GitLab: signing in there, repositories of the person, tokens for one repository,
and webhooks of the app."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from msgspec.structs import replace

from gitsync.app_server import APP_ID, CLIENT_SECRET, GITLAB_ID, GITLAB_SECRET, KEY, AppServer
from gitsync.developers import Developer, Synced
from gitsync.servers import http_server, needs_git
from octavo.interchange.gitsync.apps import GitHubApp
from octavo.interchange.gitsync.syncing import run_sync
from octavo.kit.ids import new_id
from octavo.settings import SettingsError, load
from world import World

pytestmark = needs_git
HOOK_SECRET = "webhook-secret-of-a-test"  # noqa: S105


class AppScene:
    """A space of a server whose administrator registered apps at a provider."""

    def __init__(self, world: World, provider: AppServer, developer: Developer, folder: Path) -> None:
        self.world, self.provider, self.developer = world, provider, developer
        self.id = world.home["spaceId"]
        self.at = f"/git/installations/{self.id}"
        key = folder / "app.pem"
        key.write_bytes(KEY.as_pem(private=True))
        world.context.settings = replace(
            world.context.settings,
            allow_private_fetch=provider.url.removeprefix("http://"),
            github_url=provider.url,
            github_app_id=APP_ID,
            github_app_key_file=str(key),
            github_app_client_secret=CLIENT_SECRET,
            github_app_webhook_secret=HOOK_SECRET,
            gitlab_url=provider.url,
            gitlab_app_id=GITLAB_ID,
            gitlab_app_secret=GITLAB_SECRET,
        )

    def install(self, provider: str = "github") -> Any:
        body = {"provider": provider, "target": {"type": "space", "spaceId": self.id}}
        return self.world.post("admin", "/git/installations", body)

    def begin(self, user: str = "admin") -> Any:
        return self.world.post(user, f"{self.at}/authorization", {})

    def finish(self, redirect: dict[str, str], user: str = "admin") -> tuple[int, Any]:
        answer = self.world.call(user, "POST", "/git/authorizations", json=redirect)
        return answer.status_code, answer.json()

    def sign_in(self, person: str = "alice", user: str = "admin") -> None:
        status, said = self.finish(self.provider.sign_in(self.begin(user)["url"], person), user)
        assert (status, said["installation"]["status"]) == (200, "pending"), said

    def update(self, user: str = "admin", **body: Any) -> tuple[int, Any]:
        answer = self.world.call(user, "PATCH", self.at, json=body)
        return answer.status_code, answer.json()

    def connect(self, repository: str = "acme/docs") -> tuple[int, Any]:
        config = {"repositoryId": repository, "branch": "main"}
        return self.update(providerConfiguration=config, priority="git")

    def sync(self) -> Any:
        state = run_sync(self.world.context, self.id, "asked", new_id())
        return state, self.world.get("admin", f"/spaces/{self.id}/git/sync").get("message")

    def secrets(self) -> list[str]:
        provider = self.provider
        return [*provider.people, *provider.minted, CLIENT_SECRET, GITLAB_SECRET, HOOK_SECRET]


@pytest.fixture
def scene(world: World, tmp_path: Path) -> Iterator[AppScene]:
    (tmp_path / "acme").mkdir()
    developer = Developer(tmp_path / "acme" / "docs.git")
    developer.commit({"README.md": "# Home\n\nWords.\n"})
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    provider = AppServer()
    with http_server(tmp_path, None, provider) as server:
        provider.url = server.url
        yield AppScene(world, provider, developer, tmp_path)


def test_a_repository_is_connected_through_the_github_app(
    scene: AppScene, caplog: pytest.LogCaptureFixture
) -> None:
    listed = scene.world.get("admin", "/git/providers")["items"]
    assert [(one["provider"], one["configured"]) for one in listed] == [("github", True), ("gitlab", True)]
    assert scene.install()["status"] == "unauthenticated"
    links = scene.begin()
    assert links["installUrl"].startswith(f"{scene.provider.url}/apps/octavo/installations/new?state=")
    # The person installs the app, and the redirect has no code: they come back without another effect.
    install = dict(parse_qsl(urlsplit(links["installUrl"]).query))
    assert scene.finish({"state": install["state"]})[1]["installation"]["status"] == "unauthenticated"
    scene.sign_in()
    found = scene.world.get("admin", f"{scene.at}/github/repos")["items"]
    assert [one["fullName"] for one in found] == ["acme/docs", "elsewhere/docs"]
    branches = scene.world.get("admin", f"{scene.at}/github/repos/acme/docs/branches")["items"]
    assert [one["name"] for one in branches] == ["main"]
    status, said = scene.connect()
    assert (status, said["status"], said["access"]) == (200, "active", "app"), said
    assert scene.sync() == ("synced", None)
    space = Synced.__new__(Synced)
    space.world, space.developer, space.space = scene.world, scene.developer, scene.id
    page = space.page("Home")
    space.edit({"operation": "update_page", "page": page["id"], "document": {"markdown": "From Octavo.\n"}})
    assert scene.sync() == ("synced", None)
    assert "From Octavo." in scene.developer.files["README.md"]
    # All requests of the syncs used one token of the app, for this repository only.
    assert list(scene.provider.minted.values()) == [5]
    with scene.world.context.db.read() as tx:
        rows = str(tx.all("SELECT * FROM git_installations")) + str(tx.all("SELECT * FROM git_syncs"))
        assert tx.value("SELECT secret FROM git_installations") is None, "the person's token is deleted"
        log = str(tx.all("SELECT * FROM audit_events"))
    for secret in scene.secrets():
        assert secret not in rows + log + caplog.text + repr(scene.world.get("admin", scene.at))


def test_only_repositories_that_the_person_can_write_to_are_connected(scene: AppScene) -> None:
    """The app itself could write to the repositories of everyone who installed it."""
    scene.install()
    scene.sign_in("alice")
    for repository, reason in (
        ("acme/secret", "have access"),
        ("elsewhere/docs", "write access"),
        ("acme/other", "isn't installed"),
    ):
        status, said = scene.connect(repository)
        assert status in (403, 409), said
        assert reason in said["error"]["message"]
    assert scene.update(providerConfiguration={"repositoryId": 6, "branch": "main"}, priority="git")[0] == 404
    connect = {"branch": "main", "first": "import", "credential": {"type": "app"}}
    for remote in (f"{scene.provider.url}/acme/secret.git", "https://github.com/acme/docs.git"):
        answer = scene.world.call(
            "admin", "POST", f"/spaces/{scene.id}/git/sync", json={**connect, "remote": remote}
        )
        assert answer.status_code in (400, 403), answer.text
        body = {"remote": remote, "branch": "main", "credential": {"type": "app"}}
        answer = scene.world.call("admin", "POST", f"/spaces/{scene.id}/git/preview", json=body)
        assert answer.status_code == 400, answer.text
    assert scene.provider.minted == {}
    own = {**connect, "remote": f"{scene.provider.url}/acme/docs.git"}
    preview = {name: own[name] for name in ("remote", "branch", "credential")}
    assert scene.world.post("admin", f"/spaces/{scene.id}/git/preview", preview)["commit"]
    made = scene.world.post("admin", f"/spaces/{scene.id}/git/sync", own)
    assert made["credential"] == "app"
    assert scene.sync() == ("synced", None)


def test_a_state_works_once_and_only_for_the_person_who_began(scene: AppScene) -> None:
    scene.install()
    redirect = scene.provider.sign_in(scene.begin()["url"], "alice")
    # A person who is sent to the provider with the state of another one doesn't connect their account.
    status, said = scene.finish(redirect, "creator")
    assert status == 400 and said["error"]["message"].startswith("This sign-in has expired")
    assert [scene.finish(redirect)[0] for _ in range(2)] == [200, 400]
    assert scene.finish({"state": "made-up", "code": redirect["code"]})[0] == 400
    again = scene.provider.sign_in(scene.begin()["url"], "alice")
    other = scene.provider.sign_in(scene.begin()["url"], "bob")
    # PKCE: a code of another sign-in doesn't fit.
    assert scene.finish({"state": again["state"], "code": other["code"]})[0] == 400
    scene.sign_in("alice")
    # Another administrator of the space doesn't list repositories with the account of the first.
    answer = scene.world.call("creator", "GET", f"{scene.at}/github/repos")
    assert answer.status_code == 409, answer.text
    assert "Another person signed in" in answer.json()["error"]["message"]
    assert scene.world.call("reader", "POST", f"{scene.at}/authorization", json={}).status_code == 403


def test_a_lost_installation_is_reported_and_recovers(scene: AppScene, clock: Any) -> None:
    scene.install()
    scene.sign_in()
    scene.connect()
    scene.provider.is_suspended = True
    state, message = scene.sync()
    assert state == "failed"
    assert "no longer has access" in message
    scene.provider.is_suspended = False
    assert scene.sync() == ("synced", None)
    first = list(scene.provider.minted)
    clock.advance(3000)
    assert scene.sync() == ("synced", None)
    assert list(scene.provider.minted) == first, "a token is reused"
    clock.advance(3_600_000)
    assert scene.sync() == ("synced", None)
    assert len(scene.provider.minted) == 2
    # A server whose administrator moves the app elsewhere sends no token to the old server.
    settings = scene.world.context.settings
    scene.world.context.settings = replace(settings, github_url="https://github.example.com")
    state, message = scene.sync()
    assert (state, "registered at https://github.example.com" in message) == ("failed", True)
    scene.world.context.settings = replace(settings, github_app_id="")
    assert "has no app registered at" in scene.sync()[1]


def test_webhooks_of_the_app_start_the_syncs_of_their_repository(scene: AppScene) -> None:
    scene.install()
    scene.sign_in()
    scene.connect()
    assert scene.sync() == ("synced", None)

    def send(body: Any, secret: str = HOOK_SECRET) -> tuple[int, int]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        with scene.world.context.db.write() as tx:
            tx.run("DELETE FROM jobs")
        sign = hmac.digest(secret.encode(), data, "sha256").hex()
        headers = {"content-type": "application/json", "x-hub-signature-256": f"sha256={sign}"}
        answer = scene.world.call("nobody", "POST", "/git/github/hook", headers=headers, content=data)
        with scene.world.context.db.read() as tx:
            return answer.status_code, int(tx.value("SELECT count(*) FROM jobs WHERE kind = 'syncGit'"))

    push = {"ref": "refs/heads/main", "installation": {"id": 100}, "repository": {"id": 5}}
    assert send(push) == (204, 1)
    assert send(push, "another secret") == (404, 0)
    assert send({**push, "ref": "refs/heads/other"}) == (204, 0)
    assert send({**push, "repository": {"id": 6}}) == (204, 0)
    assert send({**push, "installation": {"id": 200}}) == (204, 0)
    assert send({"action": "suspend", "installation": {"id": 100}}) == (204, 1)
    for damaged in (
        b"",
        b"[]",
        b"{",
        b'{"installation": {"id": "x"}}',
        b'{"installation": {"id": 1e99}}',
        b"\xff",
    ):
        assert send(damaged) == (204, 0)
    assert scene.world.call("nobody", "POST", "/git/github/hook", json=push).status_code == 400
    settings = scene.world.context.settings
    scene.world.context.settings = replace(settings, github_app_webhook_secret="")
    assert send(push, "") == (404, 0)


def test_tokens_of_gitlab_are_renewed_once(scene: AppScene, clock: Any) -> None:
    scene.install("gitlab")
    scene.sign_in()
    projects = scene.world.get("admin", f"{scene.at}/gitlab/projects")["items"]
    assert [one["fullName"] for one in projects] == ["acme/docs", "acme/other", "elsewhere/docs"]
    body = {"providerConfiguration": {"projectId": 5, "branch": "main"}, "priority": "git"}
    status, said = scene.update(**body)
    assert (status, said["status"], said["access"]) == (200, "active", "app"), said
    assert scene.sync() == ("synced", None)
    asked = scene.provider.asked.count("POST /oauth/token")
    clock.advance(7_200_000)
    assert scene.sync() == ("synced", None)
    assert scene.sync() == ("synced", None)
    assert scene.provider.asked.count("POST /oauth/token") == asked + 1
    with scene.world.context.db.read() as tx:
        rows = str(tx.all("SELECT * FROM git_installations")) + str(tx.all("SELECT * FROM git_syncs"))
    assert not [secret for secret in scene.secrets() if secret in rows]
    # GitLab revoked the access: the person signs in again, and the sync continues.
    scene.provider._refreshes.clear()
    clock.advance(7_200_000)
    state, message = scene.sync()
    assert (state, "Sign in again" in message) == ("failed", True)
    scene.finish(scene.provider.sign_in(scene.begin()["url"], "alice"))
    assert scene.sync() == ("synced", None)
    # An access token replaces the app, and the person's tokens are deleted.
    token = {"credential": {"type": "token", "secret": "glpat-x"}}
    scene.world.call("admin", "PATCH", f"/spaces/{scene.id}/git/sync", json=token)
    with scene.world.context.db.read() as tx:
        assert tx.value("SELECT secret FROM git_installations") is None


def test_servers_without_apps_say_so(scene: AppScene) -> None:
    settings = scene.world.context.settings
    scene.world.context.settings = replace(settings, github_app_id="", gitlab_app_id="")
    scene.install()
    listed = scene.world.get("admin", "/git/providers")["items"]
    assert [one["configured"] for one in listed] == [False, False]
    answer = scene.world.call("admin", "POST", f"{scene.at}/authorization", json={})
    assert answer.status_code == 409
    assert "has no app registered at http" in answer.json()["error"]["message"]
    assert "OCTAVO_GITHUB_APP_ID" in answer.json()["error"]["message"]


def test_settings_of_apps_are_checked_at_the_start(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    good = {"github_app_id": "1", "github_app_key_file": str(key), "github_app_client_secret": "x"}
    for change, named in (
        ({}, "KEY_FILE"),
        ({"github_app_id": "app"}, "APP_ID"),
        ({"github_app_key_file": ""}, "KEY_FILE"),
        ({"github_app_client_secret": ""}, "CLIENT_SECRET"),
        ({"github_url": "https://user:x@github.example.com"}, "GITHUB_URL"),
        ({"gitlab_url": "https://example.com/gitlab"}, "GITLAB_URL"),
        ({"gitlab_url": "file:///etc"}, "GITLAB_URL"),
    ):
        key.write_text("not a key")
        with pytest.raises(SettingsError, match=named):
            load({**good, **change}, environ={})
    key.write_bytes(KEY.as_pem(private=True))
    assert load(good, environ={}).github_app_id == "1"
    assert "x" in load(good, environ={}).secrets


def test_addresses_follow_the_rule_for_outgoing_requests(scene: AppScene) -> None:
    """A private server of a provider has to be allowed like any other."""
    scene.world.context.settings = replace(scene.world.context.settings, allow_private_fetch="")
    scene.install()
    asked = len(scene.provider.asked)
    answer = scene.world.call("admin", "POST", f"{scene.at}/authorization", json={})
    assert answer.status_code == 502, answer.text
    assert len(scene.provider.asked) == asked
    assert GitHubApp(scene.world.context).origin == scene.provider.url
