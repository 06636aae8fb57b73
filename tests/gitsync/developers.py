"""People who work in a repository: a bare one in a folder, and commits of it."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo
from msgspec.structs import replace

from octavo.interchange.gitsync.syncing import run_sync
from octavo.kit.ids import new_id
from world import World

HEAD = b"refs/heads/main"


class Developer:
    """Developer with a clone. ``files``: those of the head of the branch."""

    def __init__(self, where: Path, branch: str = "main") -> None:
        self.where = where
        self.ref = f"refs/heads/{branch}".encode()
        self.repo = Repo(str(where)) if where.exists() else Repo.init_bare(str(where), mkdir=True)
        self.clock = 1_700_000_000

    @property
    def url(self) -> str:
        return f"file://{self.where}"

    @property
    def head(self) -> str | None:
        found = self.repo.refs.as_dict().get(self.ref)
        return found.decode() if found else None

    def entries(self, commit: str | None = None) -> dict[str, tuple[int, str]]:
        at = commit or self.head
        if at is None:
            return {}
        found: dict[str, tuple[int, str]] = {}
        waiting = [("", self.repo[at.encode()].tree)]
        while waiting:
            above, oid = waiting.pop()
            for name, mode, sha in self.repo[oid].items():
                path = above + name.decode("utf-8", "surrogateescape")
                if stat.S_ISDIR(mode):
                    waiting.append((f"{path}/", sha))
                else:
                    found[path] = (mode, sha.decode())
        return found

    @property
    def files(self) -> dict[str, str]:
        return {path: data.decode("utf-8", "replace") for path, data in self.read().items()}

    def read(self) -> dict[str, bytes]:
        return {
            path: self.repo[oid.encode()].as_raw_string()
            for path, (mode, oid) in self.entries().items()
            if stat.S_ISREG(mode)
        }

    def tree(self, entries: dict[str, tuple[int, str]]) -> bytes:
        tree, below = Tree(), dict[str, dict[str, tuple[int, str]]]()
        for path, entry in entries.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            else:
                tree.add(name.encode("utf-8", "surrogateescape"), entry[0], entry[1].encode())
        for name, inner in below.items():
            tree.add(name.encode("utf-8", "surrogateescape"), stat.S_IFDIR, self.tree(inner))
        self.repo.object_store.add_object(tree)
        return bytes(tree.id)

    def commit(
        self,
        changes: dict[str, str | bytes | tuple[int, str] | None],
        *,
        message: str = "A commit",
        who: str = "Dev <dev@example.com>",
        parents: list[str] | None = None,
        anew: bool = False,
    ) -> str:
        """Commit on the head (or on ``parents``) with these files changed (None: deleted), and move the
        branch to it. ``anew``: with these files only."""
        before = [] if self.head is None else [self.head]
        parents = before if parents is None else parents
        entries = {} if anew else self.entries(parents[0] if parents else None)
        for path, data in changes.items():
            if data is None:
                entries.pop(path, None)
            elif isinstance(data, tuple):
                entries[path] = data
            else:
                blob = Blob.from_string(data.encode() if isinstance(data, str) else data)
                self.repo.object_store.add_object(blob)
                entries[path] = (0o100644, blob.id.decode())
        commit = Commit()
        commit.tree = self.tree(entries)
        commit.parents = [parent.encode() for parent in parents]
        commit.author = commit.committer = who.encode()
        self.clock += 1
        commit.author_time = commit.commit_time = self.clock
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = message.encode()
        self.repo.object_store.add_object(commit)
        self.repo.refs[self.ref] = commit.id
        return commit.id.decode()

    def message(self, commit: str | None = None) -> str:
        return self.repo[(commit or self.head or "").encode()].message.decode()

    def author(self) -> str:
        return self.repo[(self.head or "").encode()].author.decode()

    def parents(self, commit: str) -> list[str]:
        return [parent.decode() for parent in self.repo[commit.encode()].parents]


@contextlib.contextmanager
def local_remotes(world: World) -> Iterator[None]:
    before = world.context.settings
    world.context.settings = replace(before, allow_file_remotes=True)
    yield
    world.context.settings = before


class Synced:
    """The space of the world's home, synced with a repository."""

    def __init__(self, world: World, developer: Developer, first: str = "import", **more: Any) -> None:
        self.world, self.developer = world, developer
        self.space = world.home["spaceId"]
        body = {"remote": developer.url, "branch": "main", "first": first, **more}
        self.connected = world.post("admin", self.at("/git/sync"), body)

    def at(self, path: str) -> str:
        return f"/spaces/{self.space}{path}"

    def sync(self, cause: str = "asked") -> str | None:
        return run_sync(self.world.context, self.space, cause, new_id())

    def state(self) -> Any:
        return self.world.get("admin", self.at("/git/sync"))

    def last(self) -> Any:
        return self.world.get("admin", self.at("/git/sync/runs"))["items"][0]

    def branches(self) -> list[Any]:
        """Return the branches that change requests are synced with."""
        return list(self.world.get("admin", self.at("/git/sync/branches?limit=1000"))["items"])

    # --- the space --------------------------------------------------------------------------------------

    def pages(self) -> dict[str, Any]:
        """Return every page by its path, without conflicting text."""
        found: dict[str, Any] = {}

        def walk(pages: list[Any]) -> None:
            for page in pages:
                found[page.get("path", page["id"])] = page
                walk(page.get("pages", []))

        walk(self.world.get("admin", self.at("/content"))["pages"])
        return found

    def markdown(self, page_id: str) -> str:
        return str(self.world.get("admin", self.at(f"/content/page/{page_id}?format=markdown"))["markdown"])

    def edit(self, *changes: dict[str, Any]) -> Any:
        """Edit main once, through a change request."""
        made = self.world.post("admin", self.at("/change-requests"), {"subject": "An edit"})
        path = self.at(f"/change-requests/{made['id']}")
        self.world.post("admin", f"{path}/content?compat=false", {"changes": list(changes)})
        self.world.post("admin", f"{path}/merge")
        return made

    def page(self, title: str) -> Any:
        """Return the first page with this title."""
        return next(page for page in self.pages().values() if page["title"] == title)

    def exported(self) -> dict[str, bytes]:
        """Return the files of an export of main."""
        from octavo.content.revisions.states import main_state
        from octavo.interchange.transfer.exporting import export_files

        context = self.world.context
        with context.db.read() as tx:
            found = export_files(tx, context.files, main_state(tx, self.space))
            return {file.path: b"".join(file.pieces) for file in found}
