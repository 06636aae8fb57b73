"""Random state machine: people edit on both sides, move, delete, and rewrite history, while syncs are killed
and interrupted anywhere.

Every edit adds a unique word. None is ever lost: it is in main, in the branch, or in a change request, unless
a person who saw it removed it. When nothing changes anymore, both sides are the same, and unedited files have
their bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from gitsync.lfs_server import LfsServer
from gitsync.machine import ATTRIBUTES, MARK, ODD, Machine, large
from octavo.interchange.gitsync.syncing import run_sync
from world import World

__all__ = ["large"]


class SpaceMachine(Machine):
    """A space by itself, with branches as change requests."""

    def __init__(
        self, world: World, folder: Path, seed: int, server: LfsServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        super().__init__(world, Developer(folder), seed, server, monkeypatch)
        self.developer.commit({**ATTRIBUTES, **self.begin("Page")})
        self.synced = Synced(world, self.developer, branchPattern="topic/*")
        assert run_sync(world.context, self.synced.space, "asked", "job") == "synced", self.synced.state()
        self.wire()

    # --- branches ---------------------------------------------------------------------------------------

    def topics(self) -> list[Developer]:
        names = [
            name for name in self.developer.repo.refs.as_dict() if b"/topic/" in name or b"/octavo/" in name
        ]
        return [
            Developer(self.developer.where, name.decode().removeprefix("refs/heads/"))
            for name in sorted(names)
        ]

    def in_topics(self) -> set[str]:
        return {mark for topic in self.topics() for mark in MARK.findall(" ".join(topic.files.values()))}

    def topic_begin(self) -> None:
        if self.developer.head and len(self.topics()) < 3:
            topic = Developer(self.developer.where, f"topic/{self.marks}")
            topic.repo.refs[topic.ref] = self.developer.head.encode()
            self.topic_edit(topic)

    def topic_edit(self, topic: Developer | None = None) -> None:
        if topic is None:
            topics = self.topics()
            if not topics:
                return
            topic = self.random.choice(topics)
        pages = {
            p: t for p, t in topic.files.items() if p.endswith(".md") and p not in ODD and MARK.search(t)
        }
        name = topic.ref.decode().rpartition("/")[2]
        self.log.append(f"{name} is pushed to")
        if pages and self.random.random() < 0.7:
            path = self.random.choice(sorted(pages))
            head, _, body = pages[path].partition("\n\n")
            topic.commit({path: f"{head}\n\n{self.edited(body)}"})
        else:
            topic.commit({f"t{self.marks}.md": f"# T{self.marks}\n\n{self.mark()} t.\n"})

    def topic_end(self) -> None:
        """End a branch: it is merged if it only adds to the synced branch, or deleted by a person who saw it."""
        topics = [topic for topic in self.topics() if b"/topic/" in topic.ref]
        if not topics or not self.developer.head:
            return
        topic = self.random.choice(topics)
        before = self.developer.files
        fork = self.fork(topic)
        if fork is not None and self.random.random() < 0.6:
            old, new, ours = self.developer.entries(fork), topic.entries(), self.developer.entries()
            paths = {p for p in {*old, *new} if old.get(p) != new.get(p)}
            if all(ours.get(path) == old.get(path) for path in paths):
                self.log.append(f"{topic.ref.decode()} is merged")
                self.developer.commit(
                    {path: new.get(path) for path in paths}, parents=[self.developer.head, topic.head or ""]
                )
                self.removed |= set(MARK.findall(" ".join(before.values()))) - self.in_repository()
                if self.random.random() < 0.5:
                    return
        self.log.append(f"{topic.ref.decode()} is deleted")
        gone = self.in_topics()
        del topic.repo.refs[topic.ref]
        self.removed |= gone - self.in_topics() - self.in_repository()

    def fork(self, topic: Developer) -> str | None:
        seen, waiting = set(), [self.developer.head or ""]
        while waiting:
            commit = waiting.pop()
            if commit not in seen:
                seen.add(commit)
                waiting += self.developer.parents(commit)
        waiting = [topic.head or ""]
        while waiting:
            commit = waiting.pop(0)
            if commit in seen:
                return commit
            waiting += self.developer.parents(commit)
        return None

    def change_edit(self) -> None:
        """Edit a change request that has a branch; sometimes one gets a branch."""
        found = [one for one in self.synced.branches() if one["status"] == "open"]
        world = self.world
        if not found or self.random.random() < 0.2:
            made = world.post("admin", self.synced.at("/change-requests"), {"subject": f"C{self.marks}"})
            path = self.synced.at(f"/change-requests/{made['id']}")
            text = f"{self.mark()} c.\n"
            page = {"operation": "insert_page", "title": f"C {self.marks}", "document": {"markdown": text}}
            world.post("admin", f"{path}/content?compat=false", {"changes": [page]})
            world.post("admin", f"{path}/git/push", {})
            self.log.append("a change request is pushed")
            return
        path = self.synced.at(f"/change-requests/{self.random.choice(found)['changeRequest']}")
        if world.get("admin", path)["status"] not in ("open", "draft"):
            return
        pages = [
            page
            for page in world.get("admin", f"{path}/content")["pages"]
            if page["type"] == "document" and page["title"] not in ("Windows", "Tabs", "No newline")
        ]
        page = self.random.choice(pages)
        text = world.get("admin", f"{path}/content/page/{page['id']}?format=markdown")["markdown"]
        if MARK.search(text):
            self.log.append(f"change request edits {page['title']}")
            added = f"{text.rstrip()}\n\n{self.mark()} reviewed.\n"
            change = {"operation": "update_page", "page": page["id"], "document": {"markdown": added}}
            world.post("admin", f"{path}/content?compat=false", {"changes": [change]})

    # --- steps ------------------------------------------------------------------------------------------

    def force(self) -> None:
        """Rewrite history, and decide how to continue."""
        # The last decision, again if the repository has changed since: rewritten history with the
        # same files would be what was decided about.
        while "first" in self.synced.state():
            self.sync()
        before = self.in_repository()
        files: dict[str, Any] = dict(self.developer.read())
        pages = sorted(self._pages())
        if pages and self.random.random() < 0.5:
            files.pop(self.random.choice(pages))
        self.log.append("force push")
        self.developer.commit(files, parents=[], anew=True)
        self.removed |= before - self.in_repository()
        assert self.sync() == "stopped", self.synced.state()

    def decide(self) -> None:
        first = self.random.choice(["import", "export"])
        if first == "export":
            self.removed |= self.in_repository() - self.in_space()
        self.log.append(f"decided: {first}")
        self.world.post("admin", self.synced.at("/git/sync/run"), {"first": first})

    def sync(self) -> str | None:
        found = run_sync(self.world.context, self.synced.space, "asked", "job")
        self.log.append(f"sync: {found}")
        state = self.synced.state()
        was_cut = found == "failed" and state["message"] == "The connection was cut"
        assert found in ("synced", "stopped") or was_cut, state
        if found == "stopped":
            self.decide()
        return found

    def step(self) -> None:
        steps = [
            self.space_edit,
            self.space_edit,
            self.space_edit,
            self.space_new,
            self.space_move,
            self.space_rename,
            self.space_delete,
            self.repository_edit,
            self.repository_edit,
            self.repository_edit,
            self.repository_new,
            self.repository_move,
            self.repository_delete,
            self.repository_reorder,
            self.repository_merge,
            self.sync,
            self.sync,
            self.sync,
            self.sync_and_die,
            self.sync_and_die,
            self.sync_and_cut,
            self.repository_large,
            self.space_large,
            self.topic_begin,
            self.topic_edit,
            self.topic_edit,
            self.topic_end,
            self.change_edit,
            self.change_edit,
        ]
        if self.random.random() < 0.02:
            self.force()
        else:
            self.random.choice(steps)()

    # --- what holds -------------------------------------------------------------------------------------

    def check(self) -> None:
        for _ in range(3):
            while self.sync() == "stopped":
                pass
        assert self.synced.last()["status"] == "nothing", "both sides agree after quiet"
        self.same()
        known = self.in_space()
        expected = {f"mark{n}x" for n in range(1, self.marks + 1)} - self.removed
        missing = expected - known
        if missing:
            missing -= self.in_changes() | self.in_topics()
        assert not missing, f"lost: {sorted(missing)}"


@pytest.mark.sqlite_first
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_is_lost(
    world: World, tmp_path: Path, seed: int, large: LfsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_remotes(world):
        SpaceMachine(world, tmp_path / "repository", seed, large, monkeypatch).run(40, 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_nothing_is_lost_in_long_runs(
    world: World, tmp_path: Path, seed: int, large: LfsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_remotes(world):
        SpaceMachine(world, tmp_path / "repository", seed, large, monkeypatch).run(300, 30)
