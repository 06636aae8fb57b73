"""Webhooks of Git providers: signed, replayed, forged, and from other branches."""

from __future__ import annotations

import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from world import World

BODY = {"ref": "refs/heads/main", "after": "0" * 40}


@pytest.fixture
def synced(sqlite_world: World, tmp_path: Path) -> Any:
    developer = Developer(tmp_path / "repository")
    developer.commit({"README.md": "# Home\n"})
    with local_remotes(sqlite_world):
        found = Synced(sqlite_world, developer)
        assert found.sync() == "synced"
        with sqlite_world.context.db.write() as tx:
            tx.run("DELETE FROM jobs")
        yield found


def waiting(world: World) -> int:
    with world.context.db.read() as tx:
        return int(tx.value("SELECT count(*) FROM jobs WHERE kind = 'syncGit'"))


def send(synced: Synced, headers: dict[str, str], body: Any = BODY) -> int:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **headers}
    path = synced.at("/git/hook")
    return synced.world.call("nobody", "POST", path, headers=headers, content=data).status_code


def signed(synced: Synced, body: Any = BODY) -> str:
    data = json.dumps(body).encode()
    return hmac.digest(synced.connected["hookSecret"].encode(), data, "sha256").hex()


@pytest.mark.parametrize("hoster", ["github", "gitlab", "gitea", "forgejo", "bitbucket"])
def test_each_git_provider_signs_webhooks_in_its_own_way(synced: Synced, hoster: str) -> None:
    body: Any = BODY
    if hoster == "bitbucket":
        body = {"push": {"changes": [{"new": {"type": "branch", "name": "main"}, "old": None}]}}
    sign = signed(synced, body)
    headers = {
        "github": {"X-GitHub-Event": "push", "X-Hub-Signature-256": f"sha256={sign}"},
        "gitlab": {"X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": synced.connected["hookSecret"]},
        "gitea": {"X-Gitea-Event": "push", "X-Gitea-Signature": sign},
        "forgejo": {"X-Forgejo-Event": "push", "X-Forgejo-Signature": sign},
        "bitbucket": {"X-Event-Key": "repo:push", "X-Hub-Signature": f"sha256={sign}"},
    }[hoster]
    for _ in range(3):
        assert send(synced, headers, body) == 204, "one that is sent again does no harm"
    assert waiting(synced.world) == 1
    assert "hookedAt" in synced.state()
    assert (
        send(
            synced,
            {**headers, **{name: "0" * 64 for name in headers if "ature" in name or "Token" in name}},
            body,
        )
        == 404
    )


def test_unsigned_forged_and_foreign_hooks_start_no_sync(synced: Synced) -> None:
    sign = f"sha256={signed(synced)}"
    assert send(synced, {}) == 400
    assert send(synced, {"X-Hub-Signature-256": sign}, {**BODY, "more": 1}) == 404
    assert send(synced, {"X-Hub-Signature": f"sha1={signed(synced)}"}) == 404
    other = {"ref": "refs/heads/other"}
    assert send(synced, {"X-Hub-Signature-256": f"sha256={signed(synced, other)}"}, other) == 204
    assert waiting(synced.world) == 0
    synced.world.post("admin", synced.at("/git/sync/hook-secret"))
    assert send(synced, {"X-Hub-Signature-256": sign}) == 404, "the secret before counts no more"


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[" * 100_000, b'{"ref": 1, "push": {"changes": [1, null]}}']
)
def test_a_webhook_without_branches_starts_a_sync(synced: Synced, body: bytes) -> None:
    sign = hmac.digest(synced.connected["hookSecret"].encode(), body, "sha256").hex()
    assert send(synced, {"X-Hub-Signature-256": f"sha256={sign}"}, body) == 204
    assert waiting(synced.world) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"action": "closed", "number": 3, "pull_request": {"number": 3, "state": "closed", "merged": True}},
        {"object_kind": "merge_request", "object_attributes": {"iid": 3, "state": "merged"}},
        {"pullrequest": {"id": 3, "state": "MERGED"}},
    ],
)
def test_a_webhook_of_a_pull_request_starts_a_sync(synced: Synced, body: Any) -> None:
    """Its content is not trusted: a replayed hook that says "merged" merges nothing."""
    headers = {"X-Hub-Signature-256": f"sha256={signed(synced, body)}"}
    assert send(synced, headers, body) == 204 and waiting(synced.world) == 0, "pull requests are not followed"
    with synced.world.context.db.write() as tx:
        tx.run("UPDATE git_syncs SET pulls = 1")
    for _ in range(3):
        assert send(synced, headers, body) == 204
    assert waiting(synced.world) == 1
    assert send(synced, {"X-Hub-Signature-256": "sha256=" + "0" * 64}, body) == 404


def test_a_push_to_a_matching_branch_starts_a_sync(synced: Synced) -> None:
    path = synced.at("/git/sync")
    assert synced.world.call("admin", "PATCH", path, json={"branchPattern": "topic/*"}).status_code == 200
    for branch, expected in (("other", 0), ("topic/words", 1)):
        body = {"ref": f"refs/heads/{branch}"}
        assert send(synced, {"X-Hub-Signature-256": f"sha256={signed(synced, body)}"}, body) == 204
        assert waiting(synced.world) == expected
