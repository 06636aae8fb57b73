"""Pull requests as Git providers describe them: recorded responses of their public APIs, and a space that
follows them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gitsync.developers import Developer
from gitsync.servers import SECRET, http_server, needs_git
from gitsync.test_remotes import allow, connect
from octavo.interchange.gitsync import pulls
from octavo.interchange.gitsync.credentials import Credential
from octavo.interchange.gitsync.pulls import Pull, list_request, one_request, read_pull
from octavo.interchange.gitsync.urls import read_remote
from world import World

TOKEN = Credential("token", "t0k")
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"


def github(number: int, *, fork: bool = False, **more: Any) -> dict[str, Any]:
    """Return a pull request as GitHub, Gitea, and Forgejo describe one."""
    return {
        "number": number,
        "state": "open",
        "title": "Amazing new feature",
        "draft": False,
        "html_url": f"https://github.com/acme/docs/pull/{number}",
        "merge_commit_sha": SHA,
        "merged_at": None,
        "head": {"label": "dev:topic", "ref": "topic", "sha": SHA, "repo": {"id": 7 if fork else 1}},
        "base": {
            "label": "acme:main",
            "ref": "main",
            "sha": SHA,
            "repo": {"id": 1, "full_name": "acme/docs"},
        },
        **more,
    }


def gitlab(number: int, *, fork: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "id": 1000 + number,
        "iid": number,
        "state": "opened",
        "title": "Amazing new feature",
        "web_url": f"https://gitlab.com/acme/docs/-/merge_requests/{number}",
        "source_branch": "topic",
        "target_branch": "main",
        "source_project_id": 7 if fork else 1,
        "target_project_id": 1,
        "sha": SHA,
        "merge_commit_sha": None,
        "squash_commit_sha": None,
        **more,
    }


def bitbucket(number: int, *, fork: bool = False, **more: Any) -> dict[str, Any]:
    def side(branch: str, name: str) -> dict[str, Any]:
        return {
            "branch": {"name": branch},
            "commit": {"hash": "6dcb09b5b578"},
            "repository": {"full_name": name},
        }

    return {
        "id": number,
        "state": "OPEN",
        "title": "Amazing new feature",
        "type": "pullrequest",
        "links": {"html": {"href": f"https://bitbucket.org/acme/docs/pull-requests/{number}"}},
        "source": side("topic", "dev/docs" if fork else "acme/docs"),
        "destination": side("main", "acme/docs"),
        **more,
    }


SAID = {"github": github, "gitea": github, "gitlab": gitlab, "bitbucket": bitbucket}


@pytest.mark.parametrize(
    ("provider", "remote", "listed", "one"),
    [
        (
            "github",
            "https://github.com/acme/docs.git",
            "https://api.github.com/repos/acme/docs/pulls?state=open&base=main&per_page=100&page=2",
            "https://api.github.com/repos/acme/docs/pulls/3",
        ),
        (
            "gitlab",
            "https://gitlab.com/acme/team/docs.git",
            "https://gitlab.com/api/v4/projects/acme%2Fteam%2Fdocs/merge_requests?state=opened&target_branch=main&per_page=100&page=2",
            "https://gitlab.com/api/v4/projects/acme%2Fteam%2Fdocs/merge_requests/3",
        ),
        (
            "gitea",
            "https://codeberg.org/acme/docs.git",
            "https://codeberg.org/api/v1/repos/acme/docs/pulls?state=open&limit=50&page=2",
            "https://codeberg.org/api/v1/repos/acme/docs/pulls/3",
        ),
        (
            "bitbucket",
            "https://bitbucket.org/acme/docs.git",
            "https://api.bitbucket.org/2.0/repositories/acme/docs/pullrequests?state=OPEN&pagelen=50&page=2",
            "https://api.bitbucket.org/2.0/repositories/acme/docs/pullrequests/3",
        ),
    ],
)
def test_pull_requests_are_requested_in_the_format_of_each_provider(
    provider: str, remote: str, listed: str, one: str
) -> None:
    at = read_remote(remote, local=False)
    assert list_request(at, provider, TOKEN, "main", 2).url == listed
    request = one_request(at, provider, TOKEN, "3")
    assert request.url == one and "t0k" not in request.url
    assert "t0k" in str(request.headers)


def test_responses_of_each_git_provider_are_parsed() -> None:
    refs = {"gitlab": "refs/merge-requests/3/head", "bitbucket": None}
    for provider, said in SAID.items():
        found = read_pull(provider, said(3), "main")
        assert found is not None and (found.number, found.branch, found.ref, found.state) == (
            "3",
            "topic",
            "refs/heads/topic",
            "open",
        ), provider
        assert found.url.endswith("/3") and found.merged is None
        fork = read_pull(provider, said(3, fork=True), "main")
        assert fork is not None and fork.branch is None
        assert fork.ref == refs.get(provider, "refs/pull/3/head")
        assert read_pull(provider, said(3), "other") is None, "one to another branch"


def test_the_outcome_of_a_pull_request_is_parsed() -> None:
    ended: list[tuple[str, dict[str, Any], tuple[str, str | None]]] = [
        ("github", github(3, state="closed", merged=True, merged_at="2026-01-01T00:00:00Z"), ("merged", SHA)),
        ("github", github(3, state="closed"), ("closed", None)),
        ("gitea", github(3, state="closed", merged=True), ("merged", SHA)),
        ("gitlab", gitlab(3, state="merged", squash_commit_sha=SHA), ("merged", SHA)),
        ("gitlab", gitlab(3, state="closed"), ("closed", None)),
        ("bitbucket", bitbucket(3, state="MERGED", merge_commit={"hash": SHA[:12]}), ("merged", None)),
        ("bitbucket", bitbucket(3, state="DECLINED"), ("closed", None)),
        ("bitbucket", bitbucket(3, state="SUPERSEDED"), ("closed", None)),
    ]
    for provider, said, expected in ended:
        found = read_pull(provider, said, "main")
        assert found is not None and (found.state, found.merged) == expected, provider


@pytest.mark.parametrize("provider", SAID)
@pytest.mark.parametrize(
    "said", [None, [], 7, {}, {"number": "3"}, {"base": {"ref": "main"}, "number": True}]
)
def test_non_pull_requests_return_none(provider: str, said: Any) -> None:
    assert read_pull(provider, said, "main") is None


@pytest.fixture
def hoster() -> Iterator[Any]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

        def answer(self, found: Any) -> None:
            body = json.dumps(found).encode()
            self.send_response(server.status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            number = self.path.rpartition("/")[2]
            if number.isdigit():
                self.answer(server.pulls[int(number)])
            else:
                # One per page, regardless of the requested number.
                page = int(parse_qs(urlsplit(self.path).query)["page"][0])
                found = [pull for pull in server.pulls.values() if pull["state"] == "open"]
                self.answer(found[page - 1 : page])

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.told.append((self.path.rpartition("/")[2], body))
            self.answer({})

    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pulls, server.told, server.status = {}, [], 200
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@needs_git
def test_open_pull_requests_are_followed(
    sqlite_world: World, tmp_path: Path, hoster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sqlite_world
    (tmp_path / "acme").mkdir()
    developer = Developer(tmp_path / "acme" / "docs.git")
    developer.commit({"README.md": "# Home\n\nWords.\n", "one.md": "# One\n\nFirst.\n\nSecond.\n"})
    config = developer.where / "config"
    config.write_text(config.read_text() + "[http]\n\treceivepack = true\n")
    parted = developer.head or ""
    for number in range(5):  # The pull request started before the history that a first sync fetches.
        developer.commit({"log.txt": f"{number}\n"})
    topic = Developer(developer.where, "topic")
    topic.commit({"one.md": "# One\n\nVery first.\n\nSecond.\n"}, parents=[parted])
    fork = Developer(developer.where, "elsewhere")
    fork.ref = b"refs/pull/4/head"
    fork.commit({"README.md": "# Home\n\nOther words.\n"}, parents=[parted])
    hoster.pulls = {3: github(3), 4: github(4, fork=True, title="From a fork")}
    with http_server(tmp_path) as server:
        here = f"127.0.0.1:{hoster.server_address[1]}"
        allow(world, server.url.removeprefix("http://"), here)
        real = pulls.repository_api

        def moved(*given: Any) -> tuple[str, dict[str, str]]:
            base, headers = real(*given)
            return base.replace(server.url, f"http://{here}"), headers

        for module in ("pulls", "providers"):
            monkeypatch.setattr(f"octavo.interchange.gitsync.{module}.repository_api", moved)
        synced = connect(
            world,
            developer,
            f"{server.url}/acme/docs.git",
            provider="gitea",
            commitStatuses=True,
            pullRequests=True,
            credential={"type": "token", "secret": SECRET},
        )
        assert synced.connected["pullRequests"] is True
        assert synced.sync() == "synced", synced.state()
        assert "branchesMessage" not in synced.state()
        found = {one["pullRequest"]: one for one in synced.branches()}
        assert [found[number].get("branch") for number in ("3", "4")] == ["topic", None]
        change = world.get("admin", synced.at(f"/change-requests/{found['4']['changeRequest']}"))
        assert (change["subject"], change["status"]) == ("From a fork", "open")
        told = {commit: body for commit, body in hoster.told}
        assert told[topic.head]["state"] == "success" and "/~/changes/" in told[topic.head]["target_url"]
        # One from a fork cannot be pushed to; without a response of the provider, everything stays as it is.
        path = synced.at(f"/change-requests/{found['4']['changeRequest']}/git/push")
        assert world.call("admin", "POST", path, json={}).status_code == 409
        hoster.status = 403
        assert synced.sync() == "synced" and "403" in synced.state()["branchesMessage"]
        assert {one["status"] for one in synced.branches()} == {"open"}
        # One is closed, the other one is squashed into the synced branch.
        hoster.status = 200
        commit = developer.commit({"one.md": topic.files["one.md"]})
        hoster.pulls[3] |= {"state": "closed", "merged": True, "merge_commit_sha": commit}
        hoster.pulls[4] |= {"state": "closed"}
        assert synced.sync() == "synced" and "branchesMessage" not in synced.state()
        assert {one["pullRequest"]: one["status"] for one in synced.branches()} == {
            "3": "merged",
            "4": "closed",
        }
        statuses = {
            number: world.get("admin", synced.at(f"/change-requests/{one['changeRequest']}"))["status"]
            for number, one in found.items()
        }
        assert statuses == {"3": "merged", "4": "archived"}


def test_titles_and_urls_are_safe_to_show() -> None:
    found = read_pull("github", github(3, title="  ", html_url="javascript:1"), "main")
    assert found == Pull("3", "#3", "", "topic", "refs/heads/topic", "open")
