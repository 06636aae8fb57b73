"""What the random machines of Git sync have in common: hands that edit a space and its folder, words that
leave a trace, points where a process dies and connections are cut."""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from gitsync.developers import Developer, Synced
from gitsync.lfs_server import LfsServer, lfs_server, pointer
from octavo.content.changes.store import get_change
from octavo.interchange.gitsync import project_running, store
from octavo.interchange.gitsync.credentials import Credential
from octavo.interchange.gitsync.failures import Reason, Stopped
from octavo.interchange.gitsync.lfs import LargeFiles, read_pointer
from octavo.interchange.gitsync.remotes import RemoteConnection
from octavo.interchange.gitsync.syncing import Sync
from octavo.interchange.transfer.exporting import export_files
from octavo.kit.net.fetch import Fetcher
from world import World

ODD = {
    "odd/crlf.md": "# Windows\r\n\r\nA line   with spaces.  \r\n\r\n\r\n* one\r\n* two\r\n",
    "odd/tabs.md": "\ufeff# Tabs\n\n\tcode\n\n1) one\n2) two\n\n***\n",
    "odd/no-newline.md": "# No newline\n\nat the end",
    ".gitbook/assets/picture.bin": bytes(range(256)),
    "code/main.py": "print('1')\n",
}
"""Unusual files in each space."""
_TITLES = ("Windows", "Tabs", "No newline")
ATTRIBUTES = {".gitattributes": "*.big filter=lfs diff=lfs merge=lfs -text\n"}
MARK = re.compile(r"mark\d+x")


class Killed(BaseException):
    """The process is gone: nothing that comes behind it runs."""


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Iterator[LfsServer]:
    """Return a Git LFS server with the large files of any repository."""
    with lfs_server() as found:
        allowed = Fetcher(found.url.removeprefix("http://"))

        def here(context: Any, space_id: str, branch: str, _: Any) -> LargeFiles:
            url, credential = f"{found.url}/acme/docs", Credential("token", "t")
            connection = RemoteConnection(url, lambda: credential, allowed, local=False, host_key=None)
            return LargeFiles(context, space_id, branch, connection)

        monkeypatch.setattr("octavo.interchange.gitsync.syncing.LargeFiles", here)
        yield found


class Machine:
    """``synced`` and ``folder``: the space that is worked at, and where it is in the repository."""

    synced: Synced
    folder = ""

    def __init__(
        self, world: World, developer: Developer, seed: int, large: LfsServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.world, self.developer, self.large = world, developer, large
        self.random = random.Random(seed)
        self.log: list[str] = []
        self.marks = 0
        self.removed: set[str] = set()
        self.kill_at: int | None = None
        self.cut_at: int | None = None
        self.points = 0
        self._patch = monkeypatch

    def begin(self, title: str) -> dict[str, str | bytes]:
        """Return the files of a new space."""
        pages = {
            f"p{n}.md": f"# {title} {n}\n\n{self.mark()} first.\n\n{self.mark()} second.\n\n{self.mark()} third.\n"
            for n in range(4)
        }
        lines = "".join(f"* [{title} {n}](p{n}.md)\n" for n in range(4))
        odd = "".join(f"* [{name}]({name})\n" for name in ODD if name.startswith("odd/"))
        return {**ODD, **pages, "SUMMARY.md": f"# Summary\n\n{lines}\n## Odd\n\n{odd}"}

    # --- being killed, and cut off ----------------------------------------------------------------------

    def wire(self) -> None:
        """Install points at which a process can die or a connection is cut: before and after each step with
        an effect."""

        def around(owner: Any, name: str) -> None:
            real = getattr(owner, name)

            def wrapped(*arguments: Any, **named: Any) -> Any:
                self._point(f"before {name}", owner is RemoteConnection)
                found = real(*arguments, **named)
                self._point(f"behind {name}", owner is RemoteConnection)
                return found

            self._patch.setattr(owner, name, wrapped)

        for owner, name in (
            (RemoteConnection, "fetch"),
            (RemoteConnection, "push"),
            (Sync, "_record_agreement"),
            (Sync, "_merge"),
            (Sync, "entries"),
            (store, "put_branch"),
            (store, "put_ahead"),
            (store, "set_fields"),
            (store, "end_run"),
            (project_running, "share_settings"),
        ):
            around(owner, name)

    def _point(self, name: str, is_outside: bool) -> None:
        self.points += 1
        if self.kill_at is not None and self.points >= self.kill_at:
            self.kill_at = None
            self.log.append(f"killed {name}")
            raise Killed
        if self.cut_at is not None and is_outside and self.points >= self.cut_at:
            self.cut_at = None
            self.log.append(f"cut {name}")
            raise Stopped(Reason.UNREACHABLE, "The connection was cut")

    def sync(self) -> str | None:
        raise NotImplementedError

    def sync_and_die(self) -> None:
        self.points, self.kill_at = 0, self.random.randint(1, 40)
        try:
            self.sync()
        except Killed:
            pass
        self.kill_at = None

    def sync_and_cut(self) -> None:
        self.points, self.cut_at = 0, self.random.randint(1, 20)
        self.sync()
        self.cut_at = None

    # --- words ------------------------------------------------------------------------------------------

    def mark(self) -> str:
        self.marks += 1
        return f"mark{self.marks}x"

    def in_repository(self) -> set[str]:
        return marks_in(self._bytes_of(data) for data in self.developer.read().values())

    def _bytes_of(self, data: bytes) -> bytes:
        """Return the bytes of a file in the repository, also of one in LFS."""
        found = read_pointer(data)
        return data if found is None else self.large.objects[found.oid]

    def in_space(self) -> set[str]:
        return marks_in(self.synced.exported().values())

    def in_changes(self) -> set[str]:
        """Return the texts of change requests and of their conflicts."""
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
                    found |= marks_in(b"".join(file.pieces) for file in files)
        return found

    def edited(self, text: str) -> str:
        """Return the text with a paragraph changed, added, or removed."""
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

    # --- steps ------------------------------------------------------------------------------------------

    def space_pages(self) -> list[dict[str, Any]]:
        return [
            page
            for page in self.synced.pages().values()
            if page["type"] == "document"
            and not str(page.get("git", {}).get("path", "")).startswith("odd/")
            and page["title"] not in _TITLES
            and "odd/" not in page["title"]
        ]

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

    def files(self) -> dict[str, str]:
        """Return the files of the folder."""
        start = len(self.folder)
        return {
            path[start:]: text for path, text in self.developer.files.items() if path.startswith(self.folder)
        }

    def commit(self, changes: dict[str, Any]) -> str:
        """Commit to the folder."""
        return self.developer.commit({f"{self.folder}{path}": data for path, data in changes.items()})

    def _pages(self) -> dict[str, str]:
        return {
            path: text
            for path, text in self.files().items()
            if path.endswith(".md") and path not in ODD and path != "SUMMARY.md" and MARK.search(text)
        }

    def repository_edit(self) -> None:
        if pages := self._pages():
            path = self.random.choice(sorted(pages))
            head, _, body = pages[path].partition("\n\n")
            self.log.append(f"repository edits {path}")
            self.commit({path: f"{head}\n\n{self.edited(body)}"})

    def repository_new(self) -> None:
        name = f"dir{self.random.randint(0, 2)}/r{self.marks}.md"
        summary = self.files().get("SUMMARY.md", "# Summary\n")
        entry = f"* [Page r{self.marks}]({name})\n"
        cut = summary.find("\n## ")
        summary = (
            f"{summary.rstrip()}\n{entry}" if cut < 0 else f"{summary[:cut].rstrip()}\n{entry}{summary[cut:]}"
        )
        self.log.append(f"repository adds {name}")
        self.commit(
            {name: f"# Page r{self.marks}\n\n{self.mark()} x.\n\n{self.mark()} y.\n", "SUMMARY.md": summary}
        )

    def repository_move(self) -> None:
        if pages := self._pages():
            path = self.random.choice(sorted(pages))
            new = f"moved/{self.marks}-{self.random.randint(0, 999)}.md"
            summary = self.files().get("SUMMARY.md", "")
            text = pages[path]
            if self.random.random() < 0.4:
                head, _, body = text.partition("\n\n")
                text = f"{head}\n\n{self.edited(body)}"
            self.log.append(f"repository moves {path} to {new}")
            self.commit({path: None, new: text, "SUMMARY.md": summary.replace(f"({path})", f"({new})")})

    def repository_delete(self) -> None:
        pages = self._pages()
        if len(pages) > 2:
            path = self.random.choice(sorted(pages))
            self.removed |= set(MARK.findall(pages[path]))
            lines = self.files().get("SUMMARY.md", "").split("\n")
            kept = [line for line in lines if f"({path})" not in line]
            self.log.append(f"repository deletes {path}")
            self.commit({path: None, "SUMMARY.md": "\n".join(kept)})

    def repository_reorder(self) -> None:
        lines = self.files().get("SUMMARY.md", "").split("\n")
        tops = [
            place
            for place, line in enumerate(lines)
            if line.startswith("* ") and not (place + 1 < len(lines) and lines[place + 1].startswith(" "))
        ]
        if len(tops) > 1:
            one, two = self.random.sample(tops, 2)
            lines[one], lines[two] = lines[two], lines[one]
            self.log.append("repository reorders")
            self.commit({"SUMMARY.md": "\n".join(lines)})

    def repository_merge(self) -> None:
        """Create a merge commit, with a side branch that started earlier."""
        pages = self._pages()
        before = self.developer.head
        if pages and before:
            path = self.random.choice(sorted(pages))
            head, _, body = pages[path].partition("\n\n")
            changed = f"{head}\n\n{self.edited(body)}"
            side = self.commit({path: changed})
            self.developer.repo.refs[self.developer.ref] = before.encode()
            self.commit({f"notes/{self.marks}.txt": self.mark()})
            self.log.append(f"repository merges {path}")
            self.developer.commit(
                {f"{self.folder}{path}": changed}, parents=[self.developer.head or "", side]
            )

    # --- large files ------------------------------------------------------------------------------------

    def _large(self) -> bytes:
        return f"{self.mark()} {'large ' * 40}".encode()

    def repository_large(self) -> None:
        path = f".gitbook/assets/r{self.random.randint(0, 3)}.big"
        before = self.developer.read().get(f"{self.folder}{path}")
        if before is not None:
            self.removed |= marks_in([self._bytes_of(before)])
        self.log.append(f"repository has {path}")
        self.commit({path: self.large.add(self._large())})

    def space_large(self) -> None:
        data = base64.b64encode(self._large()).decode()
        name = f"s{self.marks}.big"
        self.log.append(f"space has {name}")
        source = {"name": name, "contentType": "application/octet-stream", "base64": data}
        self.synced.edit({"operation": "insert_files", "files": [source]})

    # --- what holds -------------------------------------------------------------------------------------

    def same(self, *, bare: bool = False) -> None:
        """Both sides have the same, large files as pointers to the same bytes, and untouched bytes are untouched.
        ``bare``: of a space that never had the odd files."""
        start = len(self.folder)
        there = {
            path[start:]: data for path, data in self.developer.read().items() if path.startswith(self.folder)
        }
        here = self.synced.exported()
        assert here == {path: self._bytes_of(data) for path, data in there.items()}, self.folder
        assert all(pointer(here[path]) == data for path, data in there.items() if path.endswith(".big"))
        for path, data in () if bare else ODD.items():
            assert there[path] == (data if isinstance(data, bytes) else data.encode()), path

    def check(self) -> None:
        raise NotImplementedError

    def step(self) -> None:
        raise NotImplementedError

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


def marks_in(texts: Any) -> set[str]:
    return set(MARK.findall(" ".join(data.decode("utf-8", "replace") for data in texts)))
