"""Requests to Git providers, according to their public APIs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gitsync.developers import Developer
from gitsync.servers import SECRET, http_server, needs_git
from gitsync.test_remotes import allow, connect
from octavo.errors import BadRequest
from octavo.interchange.gitsync.credentials import Credential
from octavo.interchange.gitsync.providers import CommitStatus, status_request
from octavo.interchange.gitsync.syncing import run_sync
from octavo.interchange.gitsync.urls import read_remote
from octavo.kit.ids import new_id
from world import World

COMMIT = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
STATUS = CommitStatus(
    COMMIT, "success", "Octavo has it", "https://docs.example.com/s/s1", "octavo/docs", "octavo-s1"
)
TOKEN = Credential("token", "t0k")
SAID = {"target_url": STATUS.url, "description": STATUS.description}

FORMS: list[tuple[str, str, str, dict[str, str], dict[str, str]]] = [
    (
        "github",
        "https://github.com/acme/docs.git",
        f"https://api.github.com/repos/acme/docs/statuses/{COMMIT}",
        {
            "authorization": "Bearer t0k",
            "accept": "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
        },
        {**SAID, "state": "success", "context": "octavo/docs"},
    ),
    (
        "github",
        "https://git.acme.com/acme/docs",
        f"https://git.acme.com/api/v3/repos/acme/docs/statuses/{COMMIT}",
        {"authorization": "Bearer t0k"},
        {**SAID, "state": "success", "context": "octavo/docs"},
    ),
    (
        "gitlab",
        "https://gitlab.com/acme/team/docs.git",
        f"https://gitlab.com/api/v4/projects/acme%2Fteam%2Fdocs/statuses/{COMMIT}",
        {"private-token": "t0k"},
        {**SAID, "state": "success", "name": "octavo/docs"},
    ),
    (
        "gitea",
        "https://codeberg.org/acme/docs.git",
        f"https://codeberg.org/api/v1/repos/acme/docs/statuses/{COMMIT}",
        {"authorization": "token t0k"},
        {**SAID, "state": "success", "context": "octavo/docs"},
    ),
    (
        "gitea",
        "https://acme.com:8443/git/acme/docs",
        f"https://acme.com:8443/git/api/v1/repos/acme/docs/statuses/{COMMIT}",
        {"authorization": "token t0k"},
        {**SAID, "state": "success", "context": "octavo/docs"},
    ),
    (
        "bitbucket",
        "https://bitbucket.org/acme/docs.git",
        f"https://api.bitbucket.org/2.0/repositories/acme/docs/commit/{COMMIT}/statuses/build",
        {"authorization": "Bearer t0k"},
        {
            "state": "SUCCESSFUL",
            "key": "octavo-s1",
            "name": "octavo/docs",
            "url": STATUS.url,
            "description": "Octavo has it",
        },
    ),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[1])
def test_requests_have_the_format_of_each_git_provider(
    form: tuple[str, str, str, dict[str, str], dict[str, str]],
) -> None:
    provider, remote, url, headers, body = form
    made = status_request(read_remote(remote, local=False), provider, TOKEN, STATUS)
    assert made.url == url and json.loads(made.body) == body
    assert headers.items() <= made.headers.items() and "t0k" not in made.url
    wrong = status_request(
        read_remote(remote, local=False),
        provider,
        TOKEN,
        replace(STATUS, state="failure", description="x" * 999),
    )
    said = json.loads(wrong.body)
    assert said["state"] in ("failure", "failed", "FAILED") and len(said["description"]) == 140


@pytest.mark.parametrize(
    ("provider", "remote"),
    [
        ("other", "https://example.com/a/b.git"),
        ("github", "git@github.com:a/b.git"),
        ("github", "https://github.com/b.git"),
        ("bitbucket", "https://bitbucket.acme.com/scm/a/b.git"),
    ],
)
def test_unsupported_git_providers_are_reported(provider: str, remote: str) -> None:
    with pytest.raises(BadRequest, match="commitStatuses"):
        status_request(read_remote(remote, local=False), provider, TOKEN, STATUS)


@pytest.fixture
def hoster() -> Iterator[Any]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            server.told.append((self.path, dict(self.headers), json.loads(body)))
            self.send_response(server.answer)
            self.send_header("content-length", "0")
            self.end_headers()

    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.told, server.answer = [], 201
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@needs_git
def test_the_git_provider_gets_the_status_of_each_commit_once(
    world: World, tmp_path: Path, hoster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme").mkdir()
    developer = Developer(tmp_path / "acme" / "docs.git")
    developer.commit({"README.md": "# Home\n"})
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    with http_server(tmp_path) as server:
        here = f"127.0.0.1:{hoster.server_address[1]}"
        allow(world, server.url.removeprefix("http://"), here)

        def moved(*arguments: Any) -> Any:
            made = status_request(*arguments)
            return replace(made, url=made.url.replace(server.url, f"http://{here}"))

        monkeypatch.setattr("octavo.interchange.gitsync.providers.status_request", moved)
        synced = connect(
            world,
            developer,
            f"{server.url}/acme/docs.git",
            provider="gitea",
            commitStatuses=True,
            credential={"type": "token", "secret": SECRET},
        )
        assert synced.connected["commitStatuses"] is True
        assert synced.sync() == "synced", synced.state()
        [(path, headers, body)] = hoster.told
        assert path == f"/api/v1/repos/acme/docs/statuses/{developer.head}"
        assert headers["authorization"] == f"token {SECRET}" and body["state"] == "success"
        assert body["target_url"].endswith(f"/s/{synced.space}") and body["context"] == "octavo"
        assert synced.sync() == "synced" and len(hoster.told) == 1, "nothing new, nothing told"
        # A commit that Octavo pushed is reported as well; a refusing provider isn't a failure.
        hoster.answer = 403
        synced.edit({"operation": "insert_page", "title": "New", "document": {"markdown": "Text.\n"}})
        assert synced.sync() == "synced", synced.state()
        assert hoster.told[-1][0].endswith(developer.head or "-")
        assert [problem["code"] for problem in synced.last()["problems"]] == ["commit_status"]
        assert SECRET not in str(synced.last())
        # A branch that is not followed: its head gets the failure, once.
        hoster.answer = 201
        developer.commit({"README.md": "# Other\n"}, parents=[], anew=True)
        for _ in range(2):
            assert run_sync(world.context, synced.space, "asked", new_id()) == "stopped"
        told = [body["state"] for path, _, body in hoster.told if path.endswith(developer.head or "-")]
        assert told == ["failure"]
        at = synced.at("/git/sync")
        answer = world.call("admin", "PATCH", at, json={"credential": None})
        assert answer.status_code == 400 and "commitStatuses" in answer.text
        assert world.call("admin", "PATCH", at, json={"commitStatuses": False}).status_code == 200
