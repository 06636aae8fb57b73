"""Local copy of a synced repository, with fetched commits, trees, and files, and the commits that Octavo creates.

The copy can disappear at any time; the next fetch recreates it. This module is imported only when needed, because
Git is slow to load."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dulwich.diff_tree import tree_changes
from dulwich.errors import NotGitRepository
from dulwich.graph import find_merge_base
from dulwich.objects import S_ISGITLINK, Blob, Commit, ObjectID, Tree
from dulwich.pack import pack_objects_to_data
from dulwich.repo import Repo
from msgspec import Struct

from octavo.core.paths import unsafe_path
from octavo.kit.net.git_http import GitRefused
from octavo.kit.net.git_packs import DAMAGES, GuardedStore
from octavo.kit.work import jobs

from .commit_authors import CommitPerson
from .failures import Reason, Stopped, clean

FOLDER = "git"
REF = b"refs/heads/synced"
"""Ref name in the copy for the most recently fetched commit."""
_MOST_PACKS = 60
"""Number of fetches after which the copy is recreated, because each fetch leaves a pack behind."""
_MOST_WALKED = 1_000_000
MOST_ENTRIES = 100_000
"""Maximum number of files and folders to read from a commit, because a few trees can refer to billions of files.
Imports have the same limit."""


class RepositoryBusy(Exception):
    """Raised if another sync is using this copy."""


class CommittedFile(Struct, frozen=True):
    """File in a commit: its mode and object ID."""

    mode: int
    oid: str

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


class PathChange(Struct, frozen=True):
    """Change to a path between two commits: the old and the new file, each None if it doesn't exist."""

    path: str
    old: CommittedFile | None
    new: CommittedFile | None


class CommitText(Struct, frozen=True):
    """A commit's author, committer, time in seconds, and message."""

    author: CommitPerson
    committer: CommitPerson
    at: int
    message: str


class _Objects:
    """Git objects that are read one at a time during iteration."""

    def __init__(self, find: Callable[[bytes], Any], oids: Sequence[bytes]) -> None:
        self._find, self._oids = find, oids

    def __len__(self) -> int:
        return len(self._oids)

    def __iter__(self) -> Iterator[object]:
        return (self._find(oid) for oid in self._oids)


class _Counted:
    """Tree reader that stops after a maximum number of entries. A tree that occurs repeatedly is read only once."""

    def __init__(self, store: Any, most: int) -> None:
        self._store, self._left = store, most
        self._read: dict[Any, Any] = {}

    def __getitem__(self, oid: object) -> object:
        self.count()
        found = self._read.get(oid)
        if found is None:
            try:
                found = self._read[oid] = self._store[oid]
            except KeyError:
                raise Stopped(
                    Reason.DAMAGED,
                    "The repository is missing objects. Use a full clone, not a partial or shallow clone.",
                ) from None
        return found

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Stopped(
                Reason.TOO_LARGE,
                f"The branch has more than {MOST_ENTRIES} files and folders. Sync a smaller folder.",
            )


class Repository:
    """Copy of one space's repository. ``folder``: the synced folder; either empty or ending in a slash."""

    def __init__(self, repo: Repo, where: Path, folder: str) -> None:
        self.repo, self.where, self.folder = repo, where, folder
        # Packs are checked when they are received; objects borrowed from another folder never were.
        repo.object_store = GuardedStore(repo.object_store.path)

    # --- commits --------------------------------------------------------------------------------------

    def has(self, commit_id: str | None) -> bool:
        """Return whether the copy has a commit with its files."""
        if not commit_id:
            return False
        found = self._find(commit_id.encode())
        return isinstance(found, Commit) and found.tree in self.repo.object_store

    def keep(self, commit_id: str) -> None:
        """Record the commit in the copy, for the next fetch."""
        self.repo.refs[REF] = ObjectID(commit_id.encode())  # type: ignore[index]

    def forget(self) -> None:
        """Record that the copy doesn't have a commit, so that the next fetch downloads everything."""
        self.repo.refs.remove_if_equals(REF, None)  # type: ignore[arg-type]
        with suppress(OSError):
            (self.where / "shallow").unlink()

    def commit(self, commit_id: str) -> Commit:
        found = self._find(commit_id.encode())
        if not isinstance(found, Commit) or found.tree is None:
            raise Stopped(Reason.DAMAGED, f"{commit_id[:12]} isn't a commit")
        return found

    def _find(self, oid: bytes) -> object:
        try:
            return self.repo.object_store[oid]  # type: ignore[index]
        except KeyError:
            return None

    def since(self, head: str, base: str | None) -> list[Commit] | None:
        """Return the commits in ``head`` that aren't in ``base``, newest first; None if ``base`` isn't an
        ancestor of ``head``, because the history was rewritten."""
        if base is None:
            return []
        below = self._history(base, set())
        seen: set[bytes] = set()
        waiting, found, met = [head.encode()], [], False
        while waiting:
            oid = waiting.pop()
            if oid == base.encode():
                met = True
                continue
            if oid in seen or oid in below or len(seen) > _MOST_WALKED:
                continue
            seen.add(oid)
            commit = self._find(oid)
            if isinstance(commit, Commit):
                found.append(commit)
                waiting.extend(bytes(parent) for parent in commit.parents)
        found.sort(key=lambda commit: commit.commit_time, reverse=True)
        return found if met else None

    def writers(self, head: str, bases: Sequence[str | None]) -> set[CommitPerson]:
        """Return the authors and committers of the commits in ``head`` that aren't in any of ``bases``.
        Bases with unrelated histories are ignored."""
        known = [self.since(head, base) for base in bases if base is not None]
        found = [{bytes(commit.id) for commit in commits} for commits in known if commits is not None]
        new = set.intersection(*found) if found else {head.encode()}
        commits = [self.commit(oid.decode()) for oid in new]
        return {_person(line) for commit in commits for line in (commit.author, commit.committer)}

    def fork(self, one: str, other: str) -> str | None:
        """Return the commit where two histories diverged; None if they don't share a commit in the copy."""
        try:
            found = find_merge_base(self.repo, [ObjectID(one.encode()), ObjectID(other.encode())])
        except KeyError:
            return None
        return bytes(found[0]).decode() if found else None

    def _history(self, base: str, seen: set[bytes]) -> set[bytes]:
        """Return ancestors of ``base`` that are in the copy. Only the nearest ancestors are needed, because the
        traversal of the history stops there."""
        waiting = [base.encode()]
        for _ in range(1000):
            if not waiting:
                break
            commit = self._find(waiting.pop())
            if isinstance(commit, Commit):
                new = [bytes(parent) for parent in commit.parents if bytes(parent) not in seen]
                seen.update(new)
                waiting += new
        return seen

    # --- trees ----------------------------------------------------------------------------------------

    def root_of(self, commit_id: str) -> bytes:
        """Return the ID of the commit's root tree."""
        return bytes(self.commit(commit_id).tree)

    def tree_of(self, commit_id: str | None) -> bytes | None:
        """Return the ID of the synced folder's tree; None if the folder doesn't exist or is empty."""
        if commit_id is None:
            return None
        oid = self.root_of(commit_id)
        for name in [part for part in self.folder.split("/") if part]:
            entry = self._entries(oid).get(name.encode())
            if entry is None or not stat.S_ISDIR(entry[0]):
                return None
            oid = entry[1]
        return oid if self._entries(oid) else None

    def _entries(self, oid: bytes | None) -> dict[bytes, tuple[int, bytes]]:
        if oid is None:
            return {}
        return _entries_of(self._find(oid))

    def changes(self, old: bytes | None, new: bytes | None) -> list[PathChange]:
        """Return the differences between two trees, without reading identical subtrees. Names that aren't
        UTF-8 are returned with surrogates for their bytes."""
        found: dict[str, PathChange] = {}
        looked_into: Any = _Counted(self.repo.object_store, 2 * MOST_ENTRIES)
        for change in tree_changes(looked_into, _oid(old), _oid(new)):
            looked_into.count()
            for entry, is_new in ((change.old, False), (change.new, True)):
                if entry is None or entry.path is None:
                    continue
                path = entry.path.decode("utf-8", "surrogateescape")
                at = found.get(path) or PathChange(path, None, None)
                here = CommittedFile(entry.mode or 0, bytes(entry.sha or b"").decode())
                found[path] = PathChange(path, at.old, here) if is_new else PathChange(path, here, at.new)
        return [found[path] for path in sorted(found)]

    def files(self, tree: bytes | None) -> Iterator[tuple[str, CommittedFile]]:
        """Yield every file, link, and submodule in a tree."""
        waiting = [("", tree)] if tree else []
        looked_at = _Counted(self.repo.object_store, MOST_ENTRIES)
        while waiting:
            above, oid = waiting.pop()
            for name, (mode, item) in _entries_of(looked_at[oid]).items():
                looked_at.count()
                path = above + name.decode("utf-8", "surrogateescape")
                if stat.S_ISDIR(mode):
                    waiting.append((f"{path}/", item))
                else:
                    yield path, CommittedFile(mode, item.decode())

    def folders(self, tree: bytes | None) -> list[str]:
        """Return the names of the folders directly in a tree, in order. Names that aren't valid UTF-8 are omitted."""
        names = [name for name, (mode, _) in self._entries(tree).items() if stat.S_ISDIR(mode)]
        return sorted(name.decode() for name in names if _is_text(name))

    def find(self, tree: bytes | None, path: str) -> tuple[int, str] | None:
        """Return the mode and ID of the file or folder at a path."""
        parts = path.split("/")
        for place, name in enumerate(parts):
            entry = self._entries(tree).get(name.encode("utf-8", "surrogateescape"))
            if entry is None:
                return None
            if place == len(parts) - 1:
                return entry[0], entry[1].decode()
            if not stat.S_ISDIR(entry[0]):
                return None
            tree = entry[1]
        return None

    def size(self, oid: str) -> int:
        return int(self._blob(oid).raw_length())

    def read(self, oid: str) -> bytes:
        return bytes(self._blob(oid).as_raw_string())

    def borrow(self, objects: str) -> None:
        """Make the objects of another repository on this machine available, without copying them."""
        store: Any = self.repo.object_store
        if objects not in [alternate.path for alternate in store.alternates]:
            store.add_alternate_path(objects)

    def pack(self, commit_id: str, parent: str | None) -> object:
        """Return the objects to push for a commit, and the number of objects. Objects that the commit's parent has
        at the same path are omitted."""
        commit = self.commit(commit_id)
        before = _oid(bytes(self.commit(parent).tree)) if parent else None
        found: dict[bytes, None] = {bytes(commit.id): None, bytes(commit.tree): None}
        for change in tree_changes(self.repo.object_store, before, commit.tree, include_trees=True):
            entry = change.new
            if entry is not None and entry.sha and not S_ISGITLINK(entry.mode or 0):
                found[bytes(entry.sha)] = None
        objects: Any = _Objects(self._find, list(found))
        return pack_objects_to_data(objects)

    def holds(self, oid: str) -> bool:
        return ObjectID(oid.encode()) in self.repo.object_store

    def _blob(self, oid: str) -> Any:
        found = self._find(oid.encode())
        if not isinstance(found, Blob):
            raise Stopped(
                Reason.DAMAGED,
                "The repository is missing objects. Use a full clone, not a partial or shallow clone.",
            )
        return found

    # --- writing --------------------------------------------------------------------------------------

    def add_file(self, data: bytes) -> str:
        """Store a file, and return its ID."""
        blob = Blob.from_string(data)
        if blob.id not in self.repo.object_store:
            self.repo.object_store.add_object(blob)
        return str(blob.id.decode())

    def changed_tree(self, root: bytes | None, files: Mapping[str, CommittedFile | None]) -> bytes | None:
        """Return the ID of a tree in which these files are replaced (or deleted if None) and all other files are
        unchanged. Return None if no files are left."""
        here = self._entries(root)
        below: dict[str, dict[str, CommittedFile | None]] = {}
        for path, entry in files.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = entry
            elif entry is None:
                if not stat.S_ISDIR(here.get(name.encode(), (0, b""))[0]):
                    here.pop(name.encode(), None)
            else:
                here[name.encode()] = (entry.mode, entry.oid.encode())
        for name, inner in below.items():
            there = here.get(name.encode())
            old = there[1] if there is not None and stat.S_ISDIR(there[0]) else None
            if old is None and not any(inner.values()):
                continue
            new = self.changed_tree(old, inner)
            if new is None:
                here.pop(name.encode(), None)
            else:
                here[name.encode()] = (stat.S_IFDIR, new)
        if not here:
            return None
        tree = Tree()
        for encoded, (mode, oid) in here.items():
            tree.add(encoded, mode, oid)  # type: ignore[arg-type]
        if tree.id not in self.repo.object_store:
            self.repo.object_store.add_object(tree)
        return bytes(tree.id)

    def add_commit(
        self,
        parent: str | None,
        files: Mapping[str, CommittedFile | None],
        text: CommitText,
        sign: Callable[[bytes], bytes] | None = None,
    ) -> str | None:
        """Create a commit on top of ``parent`` with these files in the synced folder. Return None if the files don't
        change. ``sign``: a function that returns the signature of the commit's bytes."""
        root = bytes(self.commit(parent).tree) if parent else None
        inside = {f"{self.folder}{path}": entry for path, entry in files.items()}
        tree = self.changed_tree(root, inside)
        if tree is None:
            empty = Tree()
            self.repo.object_store.add_object(empty)
            tree = bytes(empty.id)
        if tree == root or (parent is None and not files):
            return None
        commit = Commit()
        commit.tree = ObjectID(tree)
        commit.parents = [ObjectID(parent.encode())] if parent else []
        commit.author, commit.committer = text.author.line(), text.committer.line()
        commit.author_time = commit.commit_time = text.at
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = text.message.encode("utf-8", "replace")
        if sign is not None:
            commit.gpgsig = sign(commit.as_raw_string())
        self.repo.object_store.add_object(commit)
        return str(commit.id.decode())


def _entries_of(tree: object) -> dict[bytes, tuple[int, bytes]]:
    if not isinstance(tree, Tree):
        raise Stopped(
            Reason.DAMAGED,
            "The repository is missing objects. Use a full clone, not a partial or shallow clone.",
        )
    return {bytes(item.path or b""): (item.mode or 0, bytes(item.sha or b"")) for item in tree.iteritems()}


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _oid(value: bytes | None) -> Any:
    return None if value is None else ObjectID(value)


def _person(line: bytes | None) -> CommitPerson:
    """Return the person in a commit header line; an empty person if the line doesn't contain a person."""
    text = clean((line or b"").decode("utf-8", "replace"))
    name, _, rest = text.partition("<")
    return CommitPerson(name.strip(), rest.partition(">")[0].strip())


def message_of(commit: Commit) -> str:
    said: bytes | None = commit.message
    return clean((said or b"").decode("utf-8", "replace")).strip()


def is_safe(path: str) -> bool:
    return unsafe_path(path) is None and not any(part.lower() == ".git" for part in path.split("/"))


# --- the copy on disk -------------------------------------------------------------------------------------


@contextmanager
def open_copy(data_folder: Path, name: str, folder: str, remote: str) -> Iterator[Repository]:
    """Open the repository copy of a space or a project, which the caller has locked. The copy is recreated if it
    belongs to another remote, is damaged, or was fetched too many times.

    Raises RepositoryBusy if another sync is using the copy."""
    above = data_folder / FOLDER
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = above / name
    with (above / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RepositoryBusy from None
        repo = _open(where, remote)
        try:
            with stop_on_damage():
                yield Repository(repo, where, folder)
        finally:
            repo.close()


@contextmanager
def stop_on_damage() -> Iterator[None]:
    """Raise Stopped if objects can't be read or are too large in the ``with`` block."""
    try:
        yield
    except GitRefused as error:
        raise Stopped(Reason.TOO_LARGE, str(error)) from None
    except DAMAGES as error:
        said = (
            f"The repository contains objects that can't be read ({type(error).__name__}:"
            f" {str(error)[:200]}). Octavo will fetch the repository again."
        )
        raise Stopped(Reason.DAMAGED, said) from None


def _open(where: Path, remote: str) -> Repo:
    note = where / "octavo-remote"
    packs = where / "objects" / "pack"
    with suppress(OSError, ValueError, NotGitRepository):
        if note.read_text() == remote and len(list(packs.glob("*.pack"))) <= _MOST_PACKS:
            return Repo(str(where))
    shutil.rmtree(where, ignore_errors=True)
    repo = Repo.init_bare(str(where), mkdir=True)
    note.write_text(remote)
    return repo


def remove_copies(data_folder: Path, kept: Sequence[str]) -> None:
    """Remove copies that are no longer used."""
    above = data_folder / FOLDER
    if not above.is_dir():
        return
    for path in above.iterdir():
        jobs.renew()
        if path.name.removesuffix(".lock") not in kept and path.stat().st_mtime < time.time() - 60:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
