"""A random machine: people edit on both sides, move, delete, rewrite history, and syncs are killed anywhere.

Every edit leaves a word of its own. None is ever lost: it is in main, in the branch or in a change request, unless
somebody who saw it took it away. After quiet both sides are the same, and files that nobody wrote have their bytes.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from octavo.changes import get_change
from octavo.gitsync import store
from octavo.gitsync.remotes import Connection
from octavo.gitsync.syncing import Sync, run_sync
from octavo.transfer import export_files
from world import World

ODD = {
    "odd/crlf.md": "# Windows\r\n\r\nA line   with spaces.  \r\n\r\n\r\n* one\r\n* two\r\n",
    "odd/tabs.md": "\ufeff# Tabs\n\n\tcode\n\n1) one\n2) two\n\n***\n",
    "odd/no-newline.md": "# No newline\n\nat the end",
    ".gitbook/assets/picture.bin": bytes(range(256)),
    "code/main.py": "print('1')\n",
}
"""What nobody ever writes."""

MARK = re.compile(r"mark\d+x")


class Killed(BaseException):
    """The process is gone: nothing that comes behind it runs."""


class Machine:
    def __init__(self, world: World, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.random = random.Random(seed)
        self.log: list[str] = []
        self.marks = 0
        self.removed: set[str] = set()
        self.kill_at: int | None = None
        self.points = 0
        developer = Developer(folder)
        pages = {
            f"p{n}.md": f"# Page {n}\n\n{self.mark()} first.\n\n{self.mark()} second.\n\n{self.mark()} third.\n"
            for n in range(4)
        }
        lines = "".join(f"* [Page {n}](p{n}.md)\n" for n in range(4))
        odd = "".join(f"* [{name}]({name})\n" for name in ODD if name.startswith("odd/"))
        developer.commit({**ODD, **pages, "SUMMARY.md": f"# Summary\n\n{lines}\n## Odd\n\n{odd}"})
        self.world, self.developer = world, developer
        self.synced = Synced(world, developer, branchPattern="topic/*")
        assert run_sync(world.context, self.synced.space, "asked", "job") == "synced", self.synced.state()
        self._wire(monkeypatch)

    # --- being killed -----------------------------------------------------------------------------------

    def _wire(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Points where a process may die: before and behind each step that leaves a trace."""

        def around(owner: Any, name: str) -> None:
            real = getattr(owner, name)

            def wrapped(*arguments: Any, **named: Any) -> Any:
                self.point(f"before {name}")
                found = real(*arguments, **named)
                self.point(f"behind {name}")
                return found

            monkeypatch.setattr(owner, name, wrapped)

        for owner, name in (
            (Connection, "fetch"), (Connection, "push"), (Sync, "_arrived"), (Sync, "_merge"),
            (Sync, "entries"), (store, "put_branch"), (store, "put_ahead"), (store, "set_fields"), (store, "end_run"),
        ):  # fmt: skip
            around(owner, name)

    def point(self, name: str) -> None:
        self.points += 1
        if self.kill_at is not None and self.points >= self.kill_at:
            self.kill_at = None
            self.log.append(f"killed {name}")
            raise Killed

    # --- words ------------------------------------------------------------------------------------------

    def mark(self) -> str:
        self.marks += 1
        return f"mark{self.marks}x"

    def in_repository(self) -> set[str]:
        return set(MARK.findall(" ".join(self.developer.files.values())))

    def in_space(self) -> set[str]:
        return set(
            MARK.findall(
                " ".join(data.decode("utf-8", "replace") for data in self.synced.exported().values())
            )
        )

    def in_changes(self) -> set[str]:
        """In what change requests hold, and in their conflicts."""
        found: set[str] = set()
        for status in ("draft", "open", "archived"):
            at = self.synced.at(f"/change-requests?limit=1000&status={status}")
            for change in self.world.get("admin", at)["items"]:
                path = self.synced.at(f"/change-requests/{change['id']}")
                found |= set(
                    MARK.findall(json.dumps(self.world.get("admin", f"{path}/conflicts?limit=1000")))
                )
                with self.world.context.db.read() as tx:
                    files = export_files(tx, self.world.context.files, get_change(tx, change["id"]).state)
                    texts = [b"".join(file.pieces).decode("utf-8", "replace") for file in files]
                found |= set(MARK.findall(" ".join(texts)))
        return found

    def edited(self, text: str) -> str:
        """The text with a paragraph changed, added or taken away."""
        blocks = text.rstrip("\n").split("\n\n")
        words = [place for place, block in enumerate(blocks) if MARK.search(block)]
        what = self.random.choice(["change", "change", "add", "drop"]) if len(words) > 1 else "add"
        if what == "add":
            blocks.insert(self.random.randint(1, len(blocks)), f"{self.mark()} added.")
        else:
            place = self.random.choice(words)
            self.removed |= set(MARK.findall(blocks[place]))
            blocks[place : place + 1] = [f"{self.mark()} changed."] if what == "change" else []
        return "\n\n".join(blocks) + "\n"

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
        """It is merged, where it only adds to the synced branch, or deleted by somebody who saw it."""
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
        self.removed |= self.in_topics()
        del topic.repo.refs[topic.ref]
        self.removed -= self.in_topics() | self.in_repository()

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
        """Somebody edits a change request that has a branch; now and then one gets a branch."""
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
            page for page in world.get("admin", f"{path}/content")["pages"]
            if page["type"] == "document" and page["title"] not in ("Windows", "Tabs", "No newline")
        ]  # fmt: skip
        page = self.random.choice(pages)
        text = world.get("admin", f"{path}/content/page/{page['id']}?format=markdown")["markdown"]
        if MARK.search(text):
            self.log.append(f"change request edits {page['title']}")
            added = f"{text.rstrip()}\n\n{self.mark()} reviewed.\n"
            change = {"operation": "update_page", "page": page["id"], "document": {"markdown": added}}
            world.post("admin", f"{path}/content?compat=false", {"changes": [change]})

    # --- steps ------------------------------------------------------------------------------------------

    def space_pages(self) -> list[dict[str, Any]]:
        return [
            page for page in self.synced.pages().values()
            if page["type"] == "document" and not str(page.get("git", {}).get("path", "")).startswith("odd/")
            and page["title"] not in ("Windows", "Tabs", "No newline") and "odd/" not in page["title"]
        ]  # fmt: skip

    def space_edit(self) -> None:
        if pages := self.space_pages():
            page = self.random.choice(pages)
            text = self.synced.markdown(page["id"])
            body = text.split("\n", 2)[2] if text.startswith("# ") and text.count("\n") > 1 else text
            self.log.append(f"space edits {page['title']}")
            self.synced.edit(
                {
                    "operation": "update_page",
                    "page": page["id"],
                    "document": {"markdown": f"# {page['title']}\n\n{self.edited(body)}"},
                }
            )

    def space_new(self) -> None:
        name = f"New {self.marks}"
        self.log.append(f"space adds {name}")
        text = f"{self.mark()} a.\n\n{self.mark()} b.\n"
        self.synced.edit({"operation": "insert_page", "title": name, "document": {"markdown": text}})

    def space_move(self) -> None:
        pages = self.space_pages()
        if len(pages) > 1:
            page, other = self.random.sample(pages, 2)
            into = self.random.choice([None, other["id"]])
            if into and f"{other['path']}/".startswith(f"{page['path']}/"):
                into = None
            self.log.append(f"space moves {page['title']}")
            self.synced.edit({"operation": "update_page", "page": page["id"], "into": into, "at": 0})

    def space_rename(self) -> None:
        if pages := self.space_pages():
            page = self.random.choice(pages)
            self.log.append(f"space renames {page['title']}")
            self.synced.edit(
                {
                    "operation": "update_page",
                    "page": page["id"],
                    "title": f"Named {self.marks} {self.random.randint(0, 99)}",
                }
            )

    def space_delete(self) -> None:
        pages = [page for page in self.space_pages() if not page.get("pages")]
        if len(pages) > 2:
            page = self.random.choice(pages)
            self.removed |= set(MARK.findall(self.synced.markdown(page["id"])))
            self.log.append(f"space deletes {page['title']}")
            self.synced.edit({"operation": "delete_page", "page": page["id"]})

    def _pages(self) -> dict[str, str]:
        return {
            path: text for path, text in self.developer.files.items()
            if path.endswith(".md") and path not in ODD and path != "SUMMARY.md" and MARK.search(text)
        }  # fmt: skip

    def repository_edit(self) -> None:
        if pages := self._pages():
            path = self.random.choice(sorted(pages))
            head, _, body = pages[path].partition("\n\n")
            self.log.append(f"repository edits {path}")
            self.developer.commit({path: f"{head}\n\n{self.edited(body)}"})

    def repository_new(self) -> None:
        name = f"dir{self.random.randint(0, 2)}/r{self.marks}.md"
        summary = self.developer.files.get("SUMMARY.md", "# Summary\n")
        entry = f"* [Page r{self.marks}]({name})\n"
        cut = summary.find("\n## ")
        summary = (
            f"{summary.rstrip()}\n{entry}" if cut < 0 else f"{summary[:cut].rstrip()}\n{entry}{summary[cut:]}"
        )
        self.log.append(f"repository adds {name}")
        self.developer.commit(
            {name: f"# Page r{self.marks}\n\n{self.mark()} x.\n\n{self.mark()} y.\n", "SUMMARY.md": summary}
        )

    def repository_move(self) -> None:
        if pages := self._pages():
            path = self.random.choice(sorted(pages))
            new = f"moved/{self.marks}-{self.random.randint(0, 999)}.md"
            summary = self.developer.files.get("SUMMARY.md", "")
            text = pages[path]
            if self.random.random() < 0.4:
                head, _, body = text.partition("\n\n")
                text = f"{head}\n\n{self.edited(body)}"
            self.log.append(f"repository moves {path} to {new}")
            self.developer.commit(
                {path: None, new: text, "SUMMARY.md": summary.replace(f"({path})", f"({new})")}
            )

    def repository_delete(self) -> None:
        pages = self._pages()
        if len(pages) > 2:
            path = self.random.choice(sorted(pages))
            self.removed |= set(MARK.findall(pages[path]))
            lines = self.developer.files.get("SUMMARY.md", "").split("\n")
            kept = [line for line in lines if f"({path})" not in line]
            self.log.append(f"repository deletes {path}")
            self.developer.commit({path: None, "SUMMARY.md": "\n".join(kept)})

    def repository_reorder(self) -> None:
        lines = self.developer.files.get("SUMMARY.md", "").split("\n")
        tops = [
            place
            for place, line in enumerate(lines)
            if line.startswith("* ") and not (place + 1 < len(lines) and lines[place + 1].startswith(" "))
        ]
        if len(tops) > 1:
            one, two = self.random.sample(tops, 2)
            lines[one], lines[two] = lines[two], lines[one]
            self.log.append("repository reorders")
            self.developer.commit({"SUMMARY.md": "\n".join(lines)})

    def repository_merge(self) -> None:
        """A merge commit, with a side branch that began before."""
        pages = self._pages()
        before = self.developer.head
        if pages and before:
            path = self.random.choice(sorted(pages))
            head, _, body = pages[path].partition("\n\n")
            changed = f"{head}\n\n{self.edited(body)}"
            side = self.developer.commit({path: changed})
            self.developer.repo.refs[self.developer.ref] = before.encode()
            self.developer.commit({f"notes/{self.marks}.txt": self.mark()})
            self.log.append(f"repository merges {path}")
            self.developer.commit({path: changed}, parents=[self.developer.head or "", side])

    def force(self) -> None:
        """History is rewritten; somebody decides how to go on."""
        if "first" in self.synced.state():
            self.sync()  # what was decided a moment ago
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
        assert found in ("synced", "stopped"), self.synced.state()
        if found == "stopped":
            self.decide()
        return found

    def sync_and_die(self) -> None:
        self.points = 0
        self.kill_at = self.random.randint(1, 40)
        try:
            self.sync()
        except Killed:
            pass
        self.kill_at = None

    def step(self) -> None:
        steps = [
            self.space_edit, self.space_edit, self.space_edit, self.space_new, self.space_move, self.space_rename,
            self.space_delete, self.repository_edit, self.repository_edit, self.repository_edit, self.repository_new,
            self.repository_move, self.repository_delete, self.repository_reorder, self.repository_merge,
            self.sync, self.sync, self.sync, self.sync_and_die, self.sync_and_die,
            self.topic_begin, self.topic_edit, self.topic_edit, self.topic_end, self.change_edit, self.change_edit,
        ]  # fmt: skip
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
        repository, space = self.developer.read(), self.synced.exported()
        assert space == repository
        for path, data in ODD.items():
            assert repository[path] == (data if isinstance(data, bytes) else data.encode()), path
        known = self.in_space()
        expected = {f"mark{n}x" for n in range(1, self.marks + 1)} - self.removed
        missing = expected - known
        if missing:
            missing -= self.in_changes() | self.in_topics()
        assert not missing, f"lost: {sorted(missing)}"

    def run(self, steps: int, every: int) -> None:
        try:
            for number in range(steps):
                self.step()
                if number % every == every - 1:
                    self.check()
            self.check()
        except BaseException:
            print("\n".join(self.log[-60:]))
            raise


@pytest.mark.sqlite_first
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_is_lost(world: World, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_remotes(world):
        Machine(world, tmp_path / "repository", seed, monkeypatch).run(40, 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_nothing_is_lost_at_length(
    world: World, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_remotes(world):
        Machine(world, tmp_path / "repository", seed, monkeypatch).run(300, 30)
